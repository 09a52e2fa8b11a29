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

bool holds_weighted_rows(const Graph& graph, const RunOptions& options) {
  constexpr std::uint64_t bytes_a_vertex = 32;  // of a run in buckets, about
  if (!options.method.automatic()) return options.method->all_resident;
  const Topology topology{
      .vertices = graph.vertex_count(), .arcs = graph.arc_count(), .push = {block_of(graph.out())}, .pull = {}};
  const auto there = cuda::DeviceGraph::of(graph, options.device);
  there->device().enter();
  return there->could_hold(topology, /*weighted=*/true, graph.vertex_count() * bytes_a_vertex);
}

}  // namespace spillway::gpu
