// Vertices waiting in the order of their priority. Each thread drops them into bins of its own; the lowest bin of
// all threads is the next frontier (GAP's delta-stepping, Beamer et al. 2015; the window is Julienne's, Dhulipala
// et al. 2017). Entries are not searched for: a vertex that moved on leaves a stale one behind, which whoever
// reads it recognises by the vertex's value.
#pragma once

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <spillway/engine/memory.hpp>
#include <spillway/types.hpp>

namespace spillway::host {

class Buckets {
 public:
  struct Bin {  // 512 bytes
    Bin*                    next  = nullptr;
    std::uint64_t           count = 0;
    std::array<Vertex, 124> entries;

    std::span<const Vertex> span() const { return {entries.data(), count}; }
    bool                    full() const { return count == entries.size(); }
  };

  /// Bins of this many neighbouring buckets are open; what lies beyond waits in one bin until they are done.
  static constexpr std::uint64_t window = 1024;

  Buckets(int threads, std::shared_ptr<MemoryBudget> budget);

  /// Keeps room for as many to wait, before others take all that is left.
  void                 reserve(std::uint64_t vertices);
  static std::uint64_t bytes_for(std::uint64_t vertices, int threads);

  std::uint64_t current() const { return current_; }
  std::uint64_t moves() const { return moves_; }

  /// `bucket` below the current one counts as the current one.
  void put(int thread, Vertex v, std::uint64_t bucket) {
    const std::uint64_t place = bucket <= current_ ? current_ - base_ : std::min(bucket - base_, window);
    Thread&             own   = *threads_[static_cast<std::size_t>(thread)];
    Bin*&               head  = own.heads[place];
    if (!head || head->full()) {
      Bin* const fresh = allocate(own);
      fresh->next      = head;
      head             = fresh;
    }
    head->entries[head->count++] = v;
  }

  /// Moves to the lowest bucket that holds anything and takes its bins out. `bucket_of(v)` is asked for those that
  /// waited beyond the window. False: nothing is left.
  template <class BucketOf>
  bool advance(BucketOf&& bucket_of) {
    while (true) {
      for (; current_ < base_ + window; ++current_)
        if (take(current_ - base_)) return true;
      if (!reopen(bucket_of)) return false;
    }
  }

  /// The bins that `advance` took out, and the vertices in them.
  const std::vector<Bin*>& taken() const { return taken_; }
  std::uint64_t            taken_entries() const { return taken_entries_; }

  /// visit(bin) of those that have not been taken out.
  template <class Visit>
  void for_each_bin(Visit&& visit) const {
    for (const auto& own : threads_)
      for (const Bin* bin : own->heads)
        for (; bin; bin = bin->next) visit(*bin);
  }

  /// Empties all buckets; `bucket` is the current one.
  void restart(std::uint64_t bucket);

  /// Gives a bin back to the thread that emptied it.
  void recycle(int thread, Bin* bin) {
    Thread& own = *threads_[static_cast<std::size_t>(thread)];
    bin->next   = own.free;
    own.free    = bin;
  }

  /// The thread's own bins of the current bucket, the oldest first, as a chain; null if there are none.
  Bin* take_own(int thread) {
    Bin* newest = std::exchange(threads_[static_cast<std::size_t>(thread)]->heads[current_ - base_], nullptr);
    Bin* oldest = nullptr;
    while (newest) {
      Bin* const next = std::exchange(newest->next, oldest);
      oldest          = std::exchange(newest, next);
    }
    return oldest;
  }

  /// Whether the thread's own part of the current bucket is at most `entries`.
  bool own_is_small(int thread, std::uint64_t entries) const {
    const Bin* bin = threads_[static_cast<std::size_t>(thread)]->heads[current_ - base_];
    for (std::uint64_t count = 0; bin; bin = bin->next)
      if ((count += bin->count) > entries) return false;
    return true;
  }

  /// Whether it holds for all of that part.
  template <class Holds>
  bool all_of_own(int thread, Holds&& holds) const {
    const Bin* bin = threads_[static_cast<std::size_t>(thread)]->heads[current_ - base_];
    for (; bin; bin = bin->next)
      if (!std::ranges::all_of(bin->span(), holds)) return false;
    return true;
  }

 private:
  struct alignas(128) Thread {
    std::array<Bin*, window + 1> heads{};
    Bin*                         free = nullptr;
  };

  Bin* allocate(Thread& own) {
    if (!own.free) refill(own);
    Bin* const bin = own.free;
    own.free       = bin->next;
    bin->count     = 0;
    return bin;
  }

  void refill(Thread& own);
  bool take(std::uint64_t place);

  /// Opens the next window: at the lowest bucket among those that waited beyond the last one.
  template <class BucketOf>
  bool reopen(BucketOf&& bucket_of) {
    if (!take(window)) return false;
    ++moves_;
    // What has moved meanwhile may belong to a bucket that is over, and counts as the one that comes next.
    const std::uint64_t over   = current_;
    std::uint64_t       lowest = UINT64_MAX;
    for (const Bin* bin : taken_)
      for (const Vertex v : bin->span()) lowest = std::min(lowest, std::max(over, bucket_of(v)));
    base_ = current_ = lowest;
    waiting_.swap(taken_);
    for (Bin* bin : waiting_) {
      for (const Vertex v : bin->span()) put(0, v, bucket_of(v));
      recycle(0, bin);
    }
    return true;
  }

  std::shared_ptr<MemoryBudget>        budget_;
  Charge                               room_;  ///< reserved, and not in use
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Bin*>                    taken_, waiting_;
  std::uint64_t                        taken_entries_ = 0;
  std::uint64_t                        base_          = 0;
  std::uint64_t                        current_       = 0;
  std::uint64_t                        moves_         = 0;  ///< of the window

  std::mutex               mutex_;
  std::vector<Buffer<Bin>> slabs_;
  std::uint64_t            handed_out_ = 0;  ///< of the last slab
};

}  // namespace spillway::host
