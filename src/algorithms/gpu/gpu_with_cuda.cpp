#include "algorithms/gpu/gpu.hpp"

#include "engine/cuda/device_graph.hpp"
#include "engine/rows.hpp"

namespace spillway::gpu {

const bool built = true;

bool wanted(const RunOptions& options) {
  const DeviceKind asked = options.device.kind;
  if (!asked.automatic()) return asked == cuda_kind();
  return !options.method->requires_cpu && cuda::device_count() > 0;
}

bool make_room(const Graph& graph, const RunOptions& options) {
  return cuda::DeviceGraph::of(graph, options.device)->make_room();
}

}  // namespace spillway::gpu
