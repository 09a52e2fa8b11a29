// Which programs have kernels. A plug-in that nvcc compiles has them in the same file; the kernels of the
// library's own programs are compiled apart (src/algorithms/programs/).
#pragma once

#include <spillway/engine/prepared_run.hpp>

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

/// The GPU that the request names, or the first (run.cuh). The request must outlive it.
template <class P>
std::unique_ptr<RunDevice<P>> device_for(const RunRequest<P>& request, double delta);

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
