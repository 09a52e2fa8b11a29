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

/// By falling degree in the rows that begin at `offsets`.
DeviceOrder order_by_degree(Device& device, const EdgeIndex* offsets, std::uint64_t vertices, EdgeIndex arcs);

/// Of the rows by their places: where each begins, and the last ends. `offsets` of those by vertex are on the
/// device.
DeviceArray<EdgeIndex> ordered_offsets(Device& device, const EdgeIndex* offsets, std::uint64_t vertices,
                                       const DeviceOrder& order);

/// Every value becomes the sum of those before it.
void sum_before_each(Device& device, DeviceArray<EdgeIndex>& values);

/// Each by rising target: lanes that read a row side by side then find what they gather side by side, too.
struct SortedRows {
  DeviceArray<Vertex>        targets;
  DeviceArray<std::uint32_t> weights;

  void sort(Device& device, const EdgeIndex* offsets, std::uint64_t rows);
};

/// The rows of the places from `first` to before `last`, with targets as places, to the beginning of `to`, whose
/// arrays have just the room. `offsets` are those of `ordered_offsets`.
void move_rows(Device& device, const Rows& from, const DeviceOrder& order, Vertex first, Vertex last,
               const EdgeIndex* offsets, SortedRows& to);

/// The rows of the vertices by their places, with targets as places.
ResidentRows reordered(Device& device, const Rows& rows, std::uint64_t vertices, EdgeIndex arcs, bool weighted,
                       const DeviceOrder& order);

}  // namespace spillway::cuda
