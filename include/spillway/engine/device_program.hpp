// Which programs have kernels, and where those are compiled. A plug-in that nvcc compiles has them in the same
// file. The library's own programs lie in headers (src/algorithms/programs/); a line
// SPILLWAY_DEVICE_PROGRAM(Program) there makes the build compile a translation unit of its own for it, which sees
// the program and the kernels and nothing else.
#pragma once

#include <spillway/engine/outcome.hpp>

#if defined(__CUDACC__) || defined(SPILLWAY_DEVICE_CODE)
#include <spillway/engine/cuda/continuation.hpp>
#endif

namespace spillway {

namespace cuda {

/// Whether this run is to be made on a GPU (continuation.hpp).
template <class P>
bool wanted(const RunOptions& options, const Continuation<ValueOf<P>>& continuation);

/// What a device holds for a run that is made elsewhere after all is copied to the host; frontiers go to `on_host`
/// (continuation.hpp).
template <class Value>
void copy_to_host(Continuation<Value>& continuation, Schedule& on_host, const Graph& graph);

/// The run itself (run.cuh).
template <class P>
Outcome<P> run_on_device(const P& program, const Graph& graph, const Topology& topology, const RunOptions& options,
                         double delta, std::uint64_t max_iterations, Continuation<ValueOf<P>>& continuation);

}  // namespace cuda

/// Whether a program's kernels are compiled apart. A program that says so and has no such unit does not link.
template <class P>
inline constexpr bool compiled_apart = false;

#if defined(SPILLWAY_DEVICE_CODE)
#define SPILLWAY_DEVICE_PROGRAM(...) \
  template <>                        \
  inline constexpr bool compiled_apart<__VA_ARGS__> = true;
#else
#define SPILLWAY_DEVICE_PROGRAM(...) static_assert(sizeof(__VA_ARGS__) > 0);
#endif

#if defined(__CUDACC__)
static constexpr bool built_for_gpu = true;
#else
/// Whether programs of this file run on GPUs, too: where nvcc compiles it.
static constexpr bool built_for_gpu = false;
#endif

template <class P>
inline constexpr bool has_device_code = built_for_gpu || compiled_apart<P>;

}  // namespace spillway
