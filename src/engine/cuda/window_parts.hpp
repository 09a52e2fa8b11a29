// What windows on a GPU are made of: slots that edges are brought to, descriptors for the host, and what the
// device has of each block of rows.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "engine/cuda/compressed_windows.hpp"
#include "engine/cuda/event.hpp"
#include "engine/cuda/host_rows.hpp"
#include "engine/cuda/staging.hpp"
#include "supply/windows.hpp"

namespace spillway::cuda {

inline constexpr auto what_windows = "windows of edges";

/// Where a window is brought to.
struct Slot {
  Slot(Device& device, std::uint64_t edges, bool weighted)
      : targets(device, edges, what_windows), weights(device, weighted ? edges : 0, what_windows) {}

  EdgePointers at(EdgeIndex place) const {
    return {targets.data() + place, weights.size() > 0 ? weights.data() + place : nullptr};
  }

  DeviceArray<Vertex>        targets;
  DeviceArray<std::uint32_t> weights;
  Event                      arrived, visited;
};

/// What the host is told of a layout: some chunks, while it works on those before.
struct DescriptorBatch {
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  static std::uint64_t bytes_of(std::uint64_t chunks) {
    return chunks * sizeof(ChunkDescriptor) + (chunks + 1) * sizeof(EdgeIndex);
  }

  StagingRing::Buffer& buffer;
  std::uint64_t        most;  ///< chunks
  std::uint64_t        first = none, count = 0;

  EdgeIndex*       starts() const { return buffer.memory.as<EdgeIndex>(); }
  ChunkDescriptor* entries() const { return reinterpret_cast<ChunkDescriptor*>(starts() + most + 1); }
};

/// What a GPU has of one block.
struct GpuSide {
  const EdgeIndex*                   offsets = nullptr;
  std::unique_ptr<CompressedWindows> compressed;    ///< none: edges are as they are
  FirstEdges                         first;         ///< all the time
  std::shared_ptr<HostRows>          first_of;      ///< these rows; none: edges are compressed
  DeviceArray<PartAt>                parts;         ///< where windows of the whole array begin among chunks
  DeviceArray<EdgeIndex>             below, above;  ///< where rows lie in the first edges, and in the others
  Rows                               on_host;       ///< all edges, where the host has them
  bool                               all_here = false;

  /// Rows whose edges from place `from` on are here.
  Rows rows(const Vertex* some_targets, const std::uint32_t* some_weights, EdgeIndex from = 0) const {
    return {offsets, some_targets + from, some_weights != nullptr ? some_weights + from : nullptr};
  }

  /// Rows to be read without windows: as far as they are here, and on the host.
  std::vector<PlainRows> in_place() const {
    const PlainRows here{below.data(), below.data() + 1, first.targets.data(), first.weights.data()};
    if (all_here) return {here};
    if (below.size() == 0) return {{offsets, offsets + 1, on_host.targets, on_host.weights, true}};
    return {here, {above.data(), above.data() + 1, on_host.targets, on_host.weights, true}};
  }
};

/// A side, before it is known what of it stays.
struct SideToCome {
  WindowSide                         side;
  Rows                               on_host;  ///< where the device reads it in place; offsets are its own
  std::unique_ptr<CompressedWindows> compressed;
  FirstEdges                         first = {};  ///< that the last run has left, as many as will stay
  std::shared_ptr<HostRows>          rows  = {};
};

/// What a window's memory is shared out into.
struct SlotSizes {
  EdgeIndex words   = 0;  ///< of a slot
  EdgeIndex decoded = 0;  ///< edges of the slot that compressed ones are decoded to; 0: none are
};

/// Edges of a side that stay on the device, for which there are `bytes`.
inline EdgeIndex edges_that_stay(const WindowSide& side, const WindowSizes& sizes, const WindowNeeds& needs,
                                 std::uint64_t bytes) {
  const std::uint64_t told = (side.parts() + 1) * sizeof(PartAt);
  return sizes.resident_edges(side.arcs, bytes - std::min(bytes, told), needs);
}

}  // namespace spillway::cuda
