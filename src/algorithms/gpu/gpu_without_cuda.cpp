#include "algorithms/gpu/gpu.hpp"
#include "devices/devices.hpp"

namespace spillway::gpu {

const bool built = false;

bool wanted(const RunOptions& options) {
  if (options.device.kind == cuda_kind()) refuse_gpu();
  return false;
}

bool make_room(const Graph&, const RunOptions&) { return false; }

DeviceChosen chosen_device(const Graph&, const RunOptions&, const AlgorithmWork&) { refuse_gpu(); }

Plan planned(const Graph&, const RunOptions& options, const std::function<AlgorithmWork()>&) {
  return plan_without_program(options);
}

Components components(const Graph&, const RunOptions&) { refuse_gpu(); }

Components strong_components(const Graph&, const RunOptions&) { refuse_gpu(); }

CountedTriangles triangles(const Graph&, bool, const RunOptions&) { refuse_gpu(); }

Components propagated_labels(const Graph&, std::uint64_t, const RunOptions&) { refuse_gpu(); }

NeighborArcs arcs_between_neighbors(const Graph&, const RunOptions&) { refuse_gpu(); }

}  // namespace spillway::gpu
