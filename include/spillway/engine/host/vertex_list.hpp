// A list of vertices that many threads append to: each through a small buffer of its own, so that the shared end
// is moved once in a while only.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include <spillway/engine/memory.hpp>
#include <spillway/types.hpp>

namespace spillway::host {

class VertexList {
 public:
  VertexList() = default;
  explicit VertexList(Buffer<Vertex> entries) : entries_(std::move(entries)) {}

  std::span<Vertex> span() const { return {entries_.data(), size()}; }
  std::uint64_t     size() const { return size_; }
  void              clear() { size_ = 0; }

  /// Room for `count` entries that the caller fills.
  Vertex* grow(std::uint64_t count) {
    return entries_.data() + std::atomic_ref{size_}.fetch_add(count, std::memory_order_relaxed);
  }

 private:
  Buffer<Vertex> entries_;
  std::uint64_t  size_ = 0;
};

/// One thread's way into a list. Flush before the list is read.
class ListWriter {
 public:
  void put(VertexList& list, Vertex v) {
    if (count_ == buffer_.size()) flush(list);
    buffer_[count_++] = v;
  }

  void flush(VertexList& list) {
    if (count_ == 0) return;
    std::copy_n(buffer_.data(), count_, list.grow(count_));
    count_ = 0;
  }

 private:
  std::array<Vertex, 1024> buffer_;
  std::size_t              count_ = 0;
};

}  // namespace spillway::host
