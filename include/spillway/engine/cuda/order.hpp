// Vertices in another order on the device, hubs first: what most arcs point to then lies close together and stays
// in the caches. Nobody outside sees it.
#pragma once

#include <spillway/engine/cuda/memory.hpp>

namespace spillway::cuda {

struct DeviceOrder {
  DeviceArray<Vertex> original;        ///< of a place: the vertex
  DeviceArray<Vertex> place;           ///< of a vertex: its place
  bool                skewed = false;  ///< a sixteenth of the vertices has half of the arcs, or more
};

/// By falling degree in `rows`.
DeviceOrder order_by_degree(Device& device, const Rows& rows, std::uint64_t vertices, EdgeIndex arcs);

/// The rows of the vertices by their places, with targets as places.
ResidentRows reordered(Device& device, const Rows& rows, std::uint64_t vertices, EdgeIndex arcs, bool weighted,
                       const DeviceOrder& order);

}  // namespace spillway::cuda
