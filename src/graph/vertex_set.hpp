// A set of vertices, and the place of each in their order: ids that appear in an edge list, members of a subgraph.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include <spillway/engine/memory.hpp>

#include <spillway/types.hpp>

namespace spillway {

class VertexSet {
 public:
  VertexSet(std::uint64_t universe, std::shared_ptr<MemoryBudget> budget)
      : budget_(std::move(budget)), words_((universe + 63) / 64, budget_, "the set of vertex ids") {}

  /// True if it was not in. Safe from many threads. Looks before it writes, since nearly all ids are repeated.
  bool insert(Vertex v) {
    const std::uint64_t            bit = std::uint64_t{1} << (v & 63);
    std::atomic_ref<std::uint64_t> word{words_[v >> 6]};
    if (word.load(std::memory_order_relaxed) & bit) return false;
    return !(word.fetch_or(bit, std::memory_order_relaxed) & bit);
  }

  /// Safe from many threads.
  void erase(Vertex v) {
    std::atomic_ref{words_[v >> 6]}.fetch_and(~(std::uint64_t{1} << (v & 63)), std::memory_order_relaxed);
  }

  /// Whether any from `first` to before `last` is in. Safe while others insert and erase.
  bool any(std::uint64_t first, std::uint64_t last) const {
    for (std::uint64_t i = first >> 6; i << 6 < last; ++i) {
      std::uint64_t word = std::atomic_ref{words_[i]}.load(std::memory_order_relaxed);
      if (i << 6 < first) word &= ~std::uint64_t{0} << (first & 63);
      if (last - (i << 6) < 64) word &= (std::uint64_t{1} << (last & 63)) - 1;
      if (word != 0) return true;
    }
    return false;
  }

  /// Safe while others insert.
  bool contains(Vertex v) const {
    return std::atomic_ref{words_[v >> 6]}.load(std::memory_order_relaxed) >> (v & 63) & 1;
  }

  /// To be called once all are in; rank and size hold afterwards.
  void close() {
    ranks_            = Buffer<std::uint32_t>{words_.size() + 1, budget_, "the set of vertex ids"};
    std::uint32_t sum = 0;
    for (std::uint64_t i = 0; i < words_.size(); ++i) {
      ranks_[i] = sum;
      sum += static_cast<std::uint32_t>(std::popcount(words_[i]));
    }
    ranks_[words_.size()] = sum;
  }

  std::uint64_t size() const { return ranks_[words_.size()]; }

  /// How many members are below v.
  Vertex rank(std::uint64_t v) const {
    const std::uint64_t word = v >> 6;
    if ((v & 63) == 0) return ranks_[word];
    return ranks_[word] + static_cast<Vertex>(std::popcount(words_[word] << (64 - (v & 63))));
  }

  /// All of it, to be kept and put back before it is closed.
  std::span<std::uint64_t> words() const { return words_.span(); }

  std::uint64_t universe() const { return words_.size() * 64; }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for_each_in_words(0, words_.size(), visit);
  }

  /// Shares of the set for threads: the members from 64 * begin up to 64 * end.
  std::uint64_t word_count() const { return words_.size(); }

  template <class Visit>
  void for_each_in_words(std::uint64_t begin, std::uint64_t end, Visit&& visit) const {
    for (std::uint64_t i = begin; i < end; ++i)
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1)
        visit(static_cast<Vertex>(i * 64 + static_cast<std::uint64_t>(std::countr_zero(word))));
  }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  Buffer<std::uint64_t>         words_;
  Buffer<std::uint32_t>         ranks_;
};

}  // namespace spillway
