// Updates that wait in bins, by ranges of the vertices that they go to: applied a bin at a time, they meet in
// cache and need no atomics (propagation blocking; Blaze's bins).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <spillway/engine/block.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/options.hpp>

namespace spillway::host {

/// Every thread has a buffer for each bin. The thread that fills one empties it; of a bin, one buffer is emptied
/// at a time.
template <class Update>
class Bins {
 public:
  struct Entry {
    Vertex target;
    Update update;
  };

  static constexpr std::uint64_t most_bins = 256;  ///< the lines that are written to stay in the first cache
  static constexpr std::uint64_t worth_it  = 64;   ///< entries: with less room, emptying is all there is

  Bins() = default;
  /// Of up to `vertices` that receive, within `bytes`; unused where that is too little or one bin would have them
  /// all.
  Bins(int threads, std::uint64_t vertices, const HostTuning& tuning, std::uint64_t bytes,
       const std::shared_ptr<MemoryBudget>& budget) {
    const std::uint64_t least =
        std::max({(vertices + most_bins - 1) / most_bins, tuning.bin_vertices, std::uint64_t{64}});
    shift_             = static_cast<unsigned>(std::bit_width(least - 1));
    count_             = vertices == 0 ? 0 : ((vertices - 1) >> shift_) + 1;
    const auto buffers = static_cast<std::uint64_t>(threads) * count_;
    if (count_ < 2) return;
    const std::uint64_t room = bytes / (buffers * sizeof(Entry));
    if (room < worth_it) return;
    capacity_ = std::min(room, std::max<std::uint64_t>(tuning.bin_entries, 1));
    entries_  = {buffers * capacity_, budget, "updates in bins"};
    filled_.assign(buffers, 0);
    emptying_ = std::make_unique<std::mutex[]>(count_);
  }

  bool          in_use() const { return capacity_ > 0; }
  std::uint64_t count() const { return count_; }

  /// Of a push to vertices from `first` on, a multiple of 64.
  void begin(std::uint64_t first) { first_ = first; }

  /// One thread's way into them.
  class Writer {
   public:
    Writer(Bins& bins, int thread)
        : bins_(bins),
          entries_(bins.entries_.data() + static_cast<std::uint64_t>(thread) * bins.count_ * bins.capacity_),
          filled_(bins.filled_.data() + static_cast<std::uint64_t>(thread) * bins.count_) {}

    /// apply(entries) where the bin is full.
    template <class Apply>
    void put(Vertex target, const Update& update, Apply&& apply) {
      const std::uint64_t bin = (target - bins_.first_) >> bins_.shift_;
      Entry* const        at  = entries_ + bin * bins_.capacity_;
      at[filled_[bin]++]      = {target, update};
      if (filled_[bin] < bins_.capacity_) return;
      const std::scoped_lock lock{bins_.emptying_[bin]};
      apply(std::span<const Entry>{at, bins_.capacity_});
      filled_[bin] = 0;
    }

   private:
    Bins&          bins_;
    Entry*         entries_;
    std::uint32_t* filled_;
  };

  /// What all threads have left in a bin, once none of them writes any more.
  template <class Apply>
  void empty(std::uint64_t bin, Apply&& apply) {
    for (std::uint64_t i = bin; i < filled_.size(); i += count_) {
      apply(std::span<const Entry>{entries_.data() + i * capacity_, filled_[i]});
      filled_[i] = 0;
    }
  }

 private:
  unsigned                      shift_ = 0;
  std::uint64_t                 count_ = 0, capacity_ = 0, first_ = 0;
  Buffer<Entry>                 entries_;
  std::vector<std::uint32_t>    filled_;
  std::unique_ptr<std::mutex[]> emptying_;
};

}  // namespace spillway::host
