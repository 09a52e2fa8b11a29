// Rows on the device by falling degree (VertexMap).
#pragma once

#include "engine/cuda/device_graph.hpp"

namespace spillway::cuda {

/// By falling degree in the rows that begin at `offsets`.
VertexMap order_by_degree(Device& device, const EdgeIndex* offsets, std::uint64_t vertices, EdgeIndex arcs);

/// Of the rows by their places: where each begins, and the last ends. `offsets` of those by vertex are on the
/// device.
DeviceArray<EdgeIndex> ordered_offsets(Device& device, const EdgeIndex* offsets, std::uint64_t vertices,
                                       const VertexMap& order);

/// Every value becomes the sum of those before it.
void exclusive_scan(Device& device, DeviceArray<EdgeIndex>& values);

/// Each by rising target: lanes that read a row side by side then find what they gather side by side, too.
struct SortedRows {
  DeviceArray<Vertex>        targets;
  DeviceArray<std::uint32_t> weights;

  void sort(Device& device, const EdgeIndex* offsets, std::uint64_t rows);
};

/// The rows of the places from `first` to before `last`, with targets as places, to the beginning of `to`, whose
/// arrays have just the room. `offsets` are those of `ordered_offsets`.
void move_rows(Device& device, const Rows& from, const VertexMap& order, Vertex first, Vertex last,
               const EdgeIndex* offsets, SortedRows& to);

/// The rows of the vertices by their places, with targets as places.
ResidentRows reordered(Device& device, const Rows& rows, std::uint64_t vertices, EdgeIndex arcs, bool weighted,
                       const VertexMap& order);

}  // namespace spillway::cuda
