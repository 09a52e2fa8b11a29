// Rows in compressed form (rows.cuh): made by the device, kept by the host, their prefixes kept by the device,
// too.
#pragma once

#include <vector>

#include "engine/cuda/host_memory.hpp"

#include "engine/cuda/order.hpp"
#include "engine/cuda/supplies.hpp"

namespace spillway::cuda {

/// Groups of a row are counted by their place in it up to here; the last bin is of all others.
inline constexpr unsigned prefix_bins = 256;

/// The rows of one side of a graph, hubs first.
class CompressedBlock {
 public:
  /// `from` is read batch by batch, each of at most about `coding_batch_arcs` (0: as there is room for).
  CompressedBlock(Device& device, const Rows& from, std::uint64_t vertices, EdgeIndex arcs, bool weighted,
                  std::shared_ptr<const VertexMap> order, const std::shared_ptr<MemoryBudget>& budget,
                  std::uint64_t coding_batch_arcs);

  /// The device keeps the first groups of all rows, as many as take no more than `room` bytes. Where not all fit,
  /// `places_bytes` more say where they are. True if they were not there before.
  bool keep_prefixes(Device& device, std::uint64_t room);
  /// Gives them up; the rows can still be read.
  void          drop_prefixes();
  std::uint64_t held_bytes() const {
    return resident_bytes() + (prefix_slices_.size() + tail_slices_.size()) * sizeof(RowSlice);
  }

  std::uint64_t places_bytes() const { return 2 * vertices_ * sizeof(RowSlice); }

  /// The parts that rows lie in.
  std::vector<CompressedRows> parts() const;
  std::uint64_t               resident_bytes() const { return prefixes_.size() * sizeof(std::uint32_t); }
  std::uint64_t               bytes() const { return words_ * sizeof(std::uint32_t); }

  /// Words that reading may look at behind the last one.
  static constexpr unsigned words_behind = 2;
  std::uint64_t             words() const { return words_; }
  const std::uint32_t*      on_host_code() const { return readable_.on_host<std::uint32_t>(); }
  /// Whole rows, where their words are at `code`.
  CompressedRows rows_at(const std::uint32_t* code) const { return {slices_.data(), code, shift_, weight_bits_}; }

  const std::shared_ptr<const VertexMap>& order() const { return order_; }

  const Vertex* on_host  = nullptr;  ///< the targets that it was made of
  bool          weighted = false;

 private:
  using RowSlice = CompressedRows::RowSlice;
  /// How many groups of a row are prefixes: one more where the row is before `more_before`.
  struct Cut {
    std::uint64_t groups      = 0;
    Vertex        more_before = 0;
  };
  /// What the groups of some rows take.
  struct Share {
    Vertex        last;
    std::uint64_t words[prefix_bins];
  };
  class Encoder;

  Cut  cut_for(std::uint64_t room) const;
  bool take_prefixes(Device& device, const Cut& cut, std::uint64_t room);

  std::shared_ptr<const VertexMap> order_;
  std::uint64_t                    vertices_ = 0, words_ = 0;
  unsigned                         shift_ = 0, weight_bits_ = 0;
  std::vector<Share>               shares_;
  Buffer<std::uint32_t>            code_;
  HostReadable                     readable_;
  DeviceArray<RowSlice>            slices_;              ///< whole rows, where the host has them
  std::uint64_t                    room_ = no_prefixes;  ///< that prefixes were chosen for
  DeviceArray<std::uint32_t>       prefixes_;
  DeviceArray<RowSlice>            prefix_slices_, tail_slices_;  ///< none where all of every row is there
};

}  // namespace spillway::cuda
