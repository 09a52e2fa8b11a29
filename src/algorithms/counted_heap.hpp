// A heap for oracles whose memory is counted: how far it grows is known only while it does.
#pragma once

#include <algorithm>
#include <vector>

#include <spillway/engine/memory.hpp>

namespace spillway {

/// The entry that `Later` puts behind no other is on top.
template <class Entry, class Later>
class CountedHeap {
 public:
  CountedHeap(const std::shared_ptr<MemoryBudget>& budget, std::string_view what) : memory_(budget, what) {}

  bool empty() const { return entries_.empty(); }

  void push(const Entry& entry) {
    if (entries_.size() == entries_.capacity()) grow();
    entries_.push_back(entry);
    std::push_heap(entries_.begin(), entries_.end(), Later{});
  }

  Entry pop() {
    std::pop_heap(entries_.begin(), entries_.end(), Later{});
    const Entry top = entries_.back();
    entries_.pop_back();
    return top;
  }

 private:
  /// While entries move, the old memory and the new are held.
  void grow() {
    constexpr std::size_t at_first = 1024;
    const std::size_t     capacity = std::max(at_first, 2 * entries_.capacity());
    memory_.raise_to((capacity + entries_.capacity()) * sizeof(Entry));
    entries_.reserve(capacity);
  }

  Charge             memory_;
  std::vector<Entry> entries_;
};

}  // namespace spillway
