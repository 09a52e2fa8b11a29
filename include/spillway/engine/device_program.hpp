// Which programs have kernels. A plug-in that nvcc compiles has them in the same file; the kernels of the
// library's own programs are compiled apart (src/algorithms/programs/).
#pragma once

#include <spillway/engine/outcome.hpp>

#if defined(__CUDACC__)
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

/// Whether a program's kernels are compiled in a translation unit of their own.
template <class P>
inline constexpr bool compiled_apart = false;

/// Whether programs of this file run on GPUs, too: where nvcc compiles it.
#if defined(__CUDACC__)
static constexpr bool built_for_gpu = true;
#else
static constexpr bool built_for_gpu = false;
#endif

template <class P>
inline constexpr bool has_device_code = built_for_gpu || compiled_apart<P>;

}  // namespace spillway
