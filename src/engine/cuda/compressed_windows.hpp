// Compressed rows that reach the device in windows: cut into parts of whole rows, which are sent as they are, kept
// on the device as they are, and decoded where they are visited.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/cuda/compression.hpp"
#include "supply/windows.hpp"

namespace spillway::cuda {

/// What a part may take: as it is sent, and decoded.
struct PartBounds {
  std::uint64_t words = 0;
  EdgeIndex     edges = 0;
};

class CompressedWindows {
 public:
  /// `offsets`: of the rows, in the order of the block's.
  CompressedWindows(Device& device, std::shared_ptr<CompressedBlock> block, const EdgeIndex* offsets,
                    std::uint64_t vertices);

  /// Of the longest row: no part can do with less.
  const PartBounds& longest_row() const { return longest_; }
  /// The parts, none beyond `bounds`.
  std::vector<PartCut> cut(PartBounds bounds);
  /// Where they begin, in edges, on the device.
  const EdgeIndex* edges_at_cuts() const { return edges_at_cuts_.data(); }

  /// The first words stay on the device.
  void keep(std::uint64_t words);

  const std::uint32_t* on_host() const { return block_->on_host_code(); }
  /// The words of a part that stays on the device.
  const std::uint32_t* kept(std::size_t part) const { return kept_.data() + cuts_[part].word; }
  /// Where a part begins and ends among all edges.
  std::pair<EdgeIndex, EdgeIndex> edges_of(std::size_t part) const {
    return {cuts_[part].edge, cuts_[part + 1].edge};
  }

  /// Queues the decoding of a part whose words begin at `code`, after what is queued already.
  void decode(std::size_t part, const std::uint32_t* code, const EdgePointers& to) const;

 private:
  Device&                          device_;
  std::shared_ptr<CompressedBlock> block_;
  const EdgeIndex*                 offsets_;
  std::uint64_t                    vertices_;
  PartBounds                       longest_;
  std::vector<PartCut>             cuts_;
  std::vector<Vertex>              rows_at_cuts_;
  DeviceArray<EdgeIndex>           edges_at_cuts_;
  DeviceArray<std::uint32_t>       kept_;
};

}  // namespace spillway::cuda
