// Counts labels and keeps the winner: a hash table that is as small as the vertex in hand allows, and kept between
// vertices.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "base/fail.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/types.hpp>

namespace spillway {

/// A label and how often it occurs in one number, that of the winner being the largest: the count above, and below
/// it the label with its bits turned round, so that of equally frequent labels the smallest wins.
class LabelCount {
 public:
  static constexpr std::uint64_t one = std::uint64_t{1} << 32;

  static std::uint64_t of(Vertex label, std::uint64_t count = 1) {
    return count * one + static_cast<Vertex>(~label);
  }
  static Vertex label(std::uint64_t label_count) { return ~static_cast<Vertex>(label_count); }
};

/// The winner among few labels, which is faster found without a table.
inline Vertex most_frequent_of_few(std::span<const Vertex> labels) {
  std::uint64_t best = 0;
  for (const Vertex label : labels) {
    std::uint64_t count = 0;
    for (const Vertex other : labels) count += other == label;
    best = std::max(best, LabelCount::of(label, count));
  }
  return LabelCount::label(best);
}

class LabelTally {
 public:
  explicit LabelTally(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}

  /// Starts anew, for up to `labels` of them.
  void begin(EdgeIndex labels) {
    if (labels >= LabelCount::one)
      throw does_not_fit("a vertex with {} arcs; at most 2^32-1 can be counted", labels);
    resize(std::bit_ceil(2 * std::min<std::uint64_t>(labels, most_at_first)));
    used_ = 0;
    best_ = 0;
  }

  void add(Vertex label) {
    std::uint64_t& slot = slot_of(label);
    used_ += slot == 0;
    slot  = slot == 0 ? LabelCount::of(label) : slot + LabelCount::one;
    best_ = std::max(best_, slot);
    if (2 * used_ > size_) grow();
  }

  /// The most frequent label, the smallest of those that are.
  Vertex winner() const { return LabelCount::label(best_); }

 private:
  /// Most vertices see few labels, however many neighbours they have: the table starts small and grows.
  static constexpr std::uint64_t most_at_first = 256;

  void resize(std::uint64_t size) {
    if (slots_.size() < size) slots_ = Buffer<std::uint64_t>{size, budget_, "counting labels"};
    std::memset(slots_.data(), 0, size * sizeof(std::uint64_t));
    size_  = size;
    shift_ = 64 - std::countr_zero(size);
  }

  std::uint64_t& slot_of(Vertex label) {
    constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15u;  // Knuth's multiplicative hashing
    std::uint64_t           place        = label * golden_ratio >> shift_;
    while (slots_[place] != 0 && LabelCount::label(slots_[place]) != label) place = (place + 1) & (size_ - 1);
    return slots_[place];
  }

  void grow() {
    const std::uint64_t full = size_;
    std::swap(slots_, spare_);
    resize(2 * full);
    for (const std::uint64_t slot : spare_.span().first(full))
      if (slot != 0) slot_of(LabelCount::label(slot)) = slot;
  }

  std::shared_ptr<MemoryBudget> budget_;
  Buffer<std::uint64_t>         slots_;      ///< label counts; 0: free
  Buffer<std::uint64_t>         spare_;      ///< to grow into
  std::uint64_t                 size_  = 0;  ///< slots in use now, a power of two
  int                           shift_ = 0;
  std::uint64_t                 used_  = 0;
  std::uint64_t                 best_  = 0;
};

}  // namespace spillway
