#include "algorithms/gpu/gpu.hpp"

namespace spillway::gpu {

const bool built = false;

bool wanted(const RunOptions&) { return false; }

bool make_room(const Graph&, const RunOptions&) { return false; }

Components components(const Graph&, const RunOptions&) {
  throw Error{ExitCode::internal_error, "built without CUDA"};
}

Components strong_components(const Graph&, const RunOptions&) {
  throw Error{ExitCode::internal_error, "built without CUDA"};
}

CountedTriangles triangles(const Graph&, bool, const RunOptions&) {
  throw Error{ExitCode::internal_error, "built without CUDA"};
}

Components propagated_labels(const Graph&, std::uint64_t, const RunOptions&) {
  throw Error{ExitCode::internal_error, "built without CUDA"};
}

NeighborArcs arcs_between_neighbors(const Graph&, const RunOptions&) {
  throw Error{ExitCode::internal_error, "built without CUDA"};
}

Degrees degrees(const Graph&, const RunOptions&) { throw Error{ExitCode::internal_error, "built without CUDA"}; }

}  // namespace spillway::gpu
