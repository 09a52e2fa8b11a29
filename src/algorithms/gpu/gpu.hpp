// Algorithms that are no vertex programs, on a GPU that holds the whole graph. Built without CUDA, none is wanted.
#pragma once

#include "algorithms/cc.hpp"

#include <spillway/error.hpp>

namespace spillway::gpu {

/// Whether this build has code for GPUs at all.
extern const bool built;

/// Whether a GPU is asked for, or nobody minds and there is one.
bool wanted(const RunOptions& options);

/// `on_gpu()` where it is wanted and fits, else `on_cpu()`. What was asked for by name is not replaced.
template <class OnGpu, class OnCpu>
auto or_else(const RunOptions& options, OnGpu&& on_gpu, OnCpu&& on_cpu) {
  if (!wanted(options)) return on_cpu();
  try {
    return on_gpu();
  } catch (const Error& error) {
    if (options.device.kind == DeviceChoice::Kind::cuda || error.code() != ExitCode::does_not_fit) throw;
  }
  return on_cpu();
}

/// Afforest (see afforest.cpp).
Components components(const Graph& graph, const RunOptions& options);

}  // namespace spillway::gpu
