#include <spillway/engine/host/buckets.hpp>

namespace spillway::host {
namespace {

constexpr std::uint64_t slab_bins = 4096;  // 2 MiB: a huge page
constexpr std::uint64_t batch     = 16;    // bins a thread takes at a time
constexpr auto          what      = "vertices waiting for their turn";

}  // namespace

Buckets::Buckets(int threads, std::shared_ptr<MemoryBudget> budget)
    : budget_(std::move(budget)), room_(budget_, what) {
  for (int i = 0; i < threads; ++i) threads_.push_back(std::make_unique<Thread>());
}

void Buckets::refill(Thread& own) {
  const std::scoped_lock lock{mutex_};
  if (slabs_.empty() || handed_out_ == slab_bins) {
    room_.lower_by(slab_bins * sizeof(Bin));
    slabs_.emplace_back(slab_bins, budget_, what);
    handed_out_ = 0;
  }
  for (std::uint64_t i = 0; i < batch; ++i) {
    Bin* const bin = slabs_.back().data() + handed_out_++;
    bin->next      = own.free;
    own.free       = bin;
  }
}

/// Whoever moves leaves an entry behind: there are more than vertices, about half as many again.
std::uint64_t Buckets::bytes_for(std::uint64_t vertices, int threads) {
  constexpr std::uint64_t for_thread = batch + window / 4;
  const std::uint64_t     bins =
      vertices / Bin{}.entries.size() * 3 / 2 + static_cast<std::uint64_t>(threads) * for_thread;
  return (bins + slab_bins - 1) / slab_bins * slab_bins * sizeof(Bin);
}

void Buckets::reserve(std::uint64_t vertices) {
  room_.raise_to(bytes_for(vertices, static_cast<int>(threads_.size())));
}

/// All bins go to the thread that fills them anew.
void Buckets::restart(std::uint64_t bucket) {
  for (const auto& thread : threads_) {
    for (Bin*& head : thread->heads)
      while (head) recycle(0, std::exchange(head, head->next));
    while (Bin* const bin = thread->free) {
      if (thread == threads_.front()) break;
      thread->free = bin->next;
      recycle(0, bin);
    }
  }
  base_ = current_ = bucket;
}

bool Buckets::take(std::uint64_t place) {
  taken_.clear();
  taken_entries_ = 0;
  for (const auto& thread : threads_) {
    for (Bin* bin = thread->heads[place]; bin; bin = bin->next) {
      taken_.push_back(bin);
      taken_entries_ += bin->count;
    }
    thread->heads[place] = nullptr;
  }
  return !taken_.empty();
}

}  // namespace spillway::host
