#include "algorithms/gpu/gpu.hpp"
#include "devices/devices.hpp"

namespace spillway::gpu {

const bool built = false;

bool wanted(const RunOptions& options) {
  if (options.device.kind == cuda_kind()) refuse_gpu();
  return false;
}

bool make_room(const Graph&, const RunOptions&) { return false; }

Components components(const Graph&, const RunOptions&) { refuse_gpu(); }

Components strong_components(const Graph&, const RunOptions&) { refuse_gpu(); }

CountedTriangles triangles(const Graph&, bool, const RunOptions&) { refuse_gpu(); }

Components propagated_labels(const Graph&, std::uint64_t, const RunOptions&) { refuse_gpu(); }

NeighborArcs arcs_between_neighbors(const Graph&, const RunOptions&) { refuse_gpu(); }

}  // namespace spillway::gpu
