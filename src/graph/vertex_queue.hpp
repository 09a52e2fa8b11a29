// A list of vertices that many threads append to and that is read window by window, as walking a graph level by
// level does.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"

#include <spillway/types.hpp>

namespace spillway {

class VertexQueue {
 public:
  class Appender;

  VertexQueue(std::uint64_t capacity, const std::shared_ptr<MemoryBudget>& budget, std::string_view what)
      : list_(capacity, budget, what) {}

  std::span<const Vertex> all() const { return {list_.data(), tail_}; }
  std::span<const Vertex> window() const { return {list_.data() + begin_, end_ - begin_}; }

  /// What was appended since the window was set.
  std::span<const Vertex> ahead() const { return {list_.data() + end_, tail_ - end_}; }

  /// That becomes the window. Not while anyone appends.
  void slide() {
    begin_ = end_;
    end_   = tail_;
  }

  void clear() { begin_ = end_ = tail_ = 0; }

 private:
  Buffer<Vertex> list_;
  std::uint64_t  begin_ = 0, end_ = 0;
  std::uint64_t  tail_ = 0;
};

/// One thread's way in: places are taken from the queue many at a time. What is pushed is in once it is gone.
class VertexQueue::Appender {
 public:
  explicit Appender(VertexQueue& queue) : queue_(queue) {}
  Appender(const Appender&) = delete;
  ~Appender() { flush(); }

  void push(Vertex v) {
    if (count_ == held_.size()) flush();
    held_[count_++] = v;
  }

 private:
  void flush() {
    if (count_ == 0) return;
    const std::uint64_t place = std::atomic_ref{queue_.tail_}.fetch_add(count_, std::memory_order_relaxed);
    std::memcpy(queue_.list_.data() + place, held_.data(), count_ * sizeof(Vertex));
    count_ = 0;
  }

  VertexQueue&            queue_;
  std::size_t             count_ = 0;
  std::array<Vertex, 512> held_;
};

/// Waking threads for fewer vertices and arcs than this costs more than it brings.
inline constexpr std::uint64_t little_work = 4096;

/// body(block, appender to `found`) over all of `list`, block by block. `work` is about how many vertices and arcs
/// that touches.
template <class Body>
void for_each_block(std::span<const Vertex> list, VertexQueue& found, std::uint64_t work, int threads,
                    const Progress& progress, Body&& body) {
  constexpr std::uint64_t longest_block = 512, blocks_a_thread = 16;
  if (work < little_work) {
    check_cancelled(progress);
    VertexQueue::Appender appender{found};
    return body(list, appender);
  }
  const std::uint64_t share = list.size() / (static_cast<std::uint64_t>(threads) * blocks_a_thread);
  const std::uint64_t block = std::clamp<std::uint64_t>(share, 1, longest_block);
  for_each_task(threads, (list.size() + block - 1) / block, [&](std::uint64_t task, int) {
    check_cancelled(progress);
    VertexQueue::Appender appender{found};
    body(list.subspan(task * block, std::min(block, list.size() - task * block)), appender);
  });
}

}  // namespace spillway
