#include <spillway/engine/host/buckets.hpp>

namespace spillway::host {
namespace {

constexpr std::uint64_t slab_bins = 4096;  // 2 MiB: a huge page
constexpr std::uint64_t batch     = 16;    // bins a thread takes at a time

}  // namespace

Buckets::Buckets(int threads, std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {
  for (int i = 0; i < threads; ++i) threads_.push_back(std::make_unique<Thread>());
}

void Buckets::refill(Thread& own) {
  const std::scoped_lock lock{mutex_};
  if (slabs_.empty() || handed_out_ == slab_bins) {
    slabs_.emplace_back(slab_bins, budget_, "vertices waiting for their turn");
    handed_out_ = 0;
  }
  for (std::uint64_t i = 0; i < batch; ++i) {
    Bin* const bin = slabs_.back().data() + handed_out_++;
    bin->next      = own.free;
    own.free       = bin;
  }
}

void Buckets::restart(std::uint64_t bucket) {
  for (int i = 0; i < static_cast<int>(threads_.size()); ++i)
    for (Bin*& head : threads_[static_cast<std::size_t>(i)]->heads)
      while (head) recycle(i, std::exchange(head, head->next));
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
