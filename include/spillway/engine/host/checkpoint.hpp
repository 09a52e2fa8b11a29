// What the CPU's executor is made of between two iterations.
#pragma once

#include <spillway/checkpoint.hpp>
#include <spillway/engine/host/executor.hpp>

namespace spillway::host {

/// Accumulators are empty then, and messages are published anew, unless that was done ahead.
template <class P, bool bucketed>
std::optional<FrontierSize> HostExecutor<P, bucketed>::exchange_state(StateExchange& with) {
  std::uint64_t sizes[]{n_,          sizeof(Value), sizeof(Message), sizeof(Global),
                        tracks_open, has_frontier,  prioritised,     input_.record || input_.replay};
  const auto    own = std::to_array(sizes);
  with.exchange(sizes);
  if (std::to_array(sizes) != own) refuse_checkpoint(sizes[6] != own[6]);
  for (std::uint64_t i = 0; i < chunks_.count; ++i) {
    const VertexRange chunk = chunks_.chunk(i, n_);
    with.exchange(values_.data() + chunk.first, (chunk.last - chunk.first) * sizeof(Value));
    if (chunks_.on_disk()) evict(chunk);
  }
  if constexpr (tracks_open) with.exchange(open_.data(), open_.size() * sizeof(std::uint64_t));
  if constexpr (has_frontier) {
    if (!with.is_reading()) make_bitmap();
    with.exchange(active_.data(), active_.size() * sizeof(std::uint64_t));
    is_bitmap_ = true;
    if (with.is_reading()) is_list_ = false;
    exchange_schedule(with);
  }
  with.exchange(published_ahead_);
  if constexpr (stores_messages)
    if (published_ahead_) with.exchange(messages_.data(), n_ * sizeof(Message));
  with.exchange(ahead_);
  with.exchange(total_);
  with.exchange(global_);
  with.exchange(frontier_);
  with.exchange(history_);
  if constexpr (prioritised) exchange_buckets(with);
  if constexpr (in_buckets) return with.is_reading() ? next_bucket() : FrontierSize{};
  return frontier_;
}

/// Frontiers that were recorded, or how many have been walked again.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::exchange_schedule(StateExchange& with) {
  if (input_.record) input_.record->exchange(with);
  if (!input_.replay) return;
  with.exchange(replayed_);
  if (replayed_ > input_.replay->levels()) refuse_checkpoint();
}

/// Those that wait, whose values say in which bucket.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::exchange_buckets(StateExchange& with) {
  const auto for_each_bin = [&](auto&& visit) {
    buckets_->for_each_bin(visit);
    if constexpr (in_buckets)
      for (const Buckets::Bin* bin : buckets_->taken()) visit(*bin);  // of the next iteration
  };
  if constexpr (in_buckets) with.exchange(settled_.data(), n_ * sizeof(Value));
  with.exchange(waiting_.data(), waiting_.size() * sizeof(std::uint64_t));
  std::uint64_t current = buckets_->current(), count = 0;
  if (!with.is_reading()) for_each_bin([&](const Buckets::Bin& bin) { count += bin.count; });
  with.exchange(current);
  with.exchange(count);
  std::vector<Vertex> some(1u << 14);
  if (!with.is_reading()) {
    std::size_t filled = 0;
    const auto  write  = [&] { with.exchange(some.data(), std::exchange(filled, 0) * sizeof(Vertex)); };
    for_each_bin([&](const Buckets::Bin& bin) {
      if (filled + bin.count > some.size()) write();
      std::ranges::copy(bin.span(), some.data() + filled);
      filled += bin.count;
    });
    return write();
  }
  if constexpr (in_buckets) recycle_bucket();
  buckets_->restart(current);
  for (std::uint64_t here = 0; count > 0; count -= here) {
    here = std::min<std::uint64_t>(count, some.size());
    with.exchange(some.data(), here * sizeof(Vertex));
    for (const Vertex v : std::span{some}.first(here)) {
      if (v >= n_) refuse_checkpoint();
      buckets_->put(0, v, bucket_of(values_[v]));
    }
  }
}

}  // namespace spillway::host
