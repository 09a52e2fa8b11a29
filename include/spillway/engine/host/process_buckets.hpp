// The CPU executor's buckets: vertices wait in the order of their priority and are settled a bucket at a time.
#pragma once

#include <spillway/engine/host/executor.hpp>

namespace spillway::host {

template <class P, bool bucketed>
std::uint64_t HostExecutor<P, bucketed>::bucket_of(const Value& value) const {
  return Operations<P>::bucket_of(program_, value, bucket_width_);
}

/// The lowest bucket: as bins for programs that settle in place, as a list for those that work in rounds.
template <class P, bool bucketed>
FrontierSize HostExecutor<P, bucketed>::next_bucket() {
  const auto current_bucket = [&](Vertex v) {
    if constexpr (T::in_place)
      return bucket_of(atomics::load(values_[v]));
    else
      return bucket_of(values_[v]);
  };
  while (buckets_->advance(current_bucket)) {
    if constexpr (in_buckets) {
      return {buckets_->taken_entries(), 0, 0, 0};
    } else {
      list_bucket();
      if (frontier_.vertices > 0) return frontier_;
    }
  }
  return {};
}

/// Drops what is stale: vertices that are closed or have moved to another bucket.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::list_bucket() {
  front_.clear();
  const auto& bins = buckets_->taken();
  for_each_task(threads_for(buckets_->taken_entries()), bins.size(), [&](std::uint64_t task, int thread) {
    Local& local = local_of(thread);
    for (const Vertex v : bins[task]->span()) {
      if (!is_open(v) || !waiting_.test(v)) continue;  // it moved, and was listed before
      if (const auto bucket = bucket_of(values_[v]); bucket > buckets_->current()) {
        buckets_->put(thread, v, bucket);
        continue;
      }
      if (!waiting_.take(v)) continue;
      ++local.vertices;
      local.edges += degree(v);
      local.next.put(front_, v);
    }
    local.next.flush(front_);
    buckets_->recycle(thread, bins[task]);
  });
  is_list_   = true;
  is_bitmap_ = false;
  frontier_  = collect();
}

template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::is_open(Vertex v) const {
  if constexpr (Opens<P>) return open_.test(v);
  return true;
}

/// As in a push, threads begin with the bins that they filled themselves, mostly.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::process_bucket(const RowBlock& block) {
  if (splits()) return process_bucket_of_nodes(block);
  const auto& bins    = buckets_->taken();
  const int   threads = threads_for(buckets_->taken_entries() * 8);
  for (int i = 0; i < threads; ++i) local_of(i).taken = share_begin(bins.size(), i, threads);
  on_threads(threads, [&](int thread) {
    Local& local = local_of(thread);
    for (int other = 0; other < threads; ++other) {
      const int           share = (thread + other) % threads;
      const std::uint64_t end   = share_begin(bins.size(), share + 1, threads);
      std::atomic_ref     next{local_of(share).taken};
      for (std::uint64_t i = next++; i < end; i = next++) settle_bin(*bins[i], block.rows, local, thread);
    }
    if (one_block()) settle_own(block.rows, local, thread);
  });
}

/// As long as what a thread itself finds for this bucket is little, it goes on without waiting for the others.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::settle_own(const Rows& rows, Local& local, int thread) {
  while (buckets_->own_is_small(thread, tuning_.fusion_entries)) {
    if (splits() && !own_rows_are_short(rows, thread)) return;
    Buckets::Bin* bin = buckets_->take_own(thread);
    if (!bin) return;
    while (bin) {
      ++local.fused_bins;
      settle_bin(*bin, rows, local, thread);
      Buckets::Bin* const next = bin->next;
      buckets_->recycle(thread, bin);
      bin = next;
    }
  }
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::settle_bin(const Buckets::Bin& bin, const Rows& rows, Local& local, int thread) {
  const Targets to = targets();
  for (const Vertex v : bin.span()) {
    const Value value = atomics::load(to.values[v]);
    if (one_block() && told_already(v, value)) continue;
    settle_row(v, value, rows, rows.offsets[v], rows.offsets[v + 1], to, local, thread);
    if (splits()) local.nodes += nodes_of(rows.degree(v));
  }
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::settle_row(Vertex v, const Value& value, const Rows& rows, EdgeIndex first,
                                           EdgeIndex last, const Targets& to, Local& local, int thread) {
  for_each_wanted(v, value, rows, first, last, to, [&](const EdgeOf<P>& edge) {
    const Update update = compute(value, edge);
    if (Combine::improve_atomically(to.values[edge.target], update))
      buckets_->put(thread, edge.target, bucket_of(update));
  });
  local.looked_at += last - first;
}

/// Bins that were taken out keep those that send; then their virtual nodes are dealt out. The value of a vertex
/// may have improved in between: the vertex waits again, and sends once more.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::process_bucket_of_nodes(const RowBlock& block) {
  const auto& bins = buckets_->taken();
  const Rows& rows = block.rows;
  make_room_for_work(bins.size());
  for_each_share(threads_for(buckets_->taken_entries() * 8), bins.size(),
                 [&](std::uint64_t begin, std::uint64_t end, int) {
                   for (std::uint64_t i = begin; i < end; ++i) work_[i + 1] = keep_senders(*bins[i], rows);
                 });
  const auto          counted = work_.begin() + 1;
  const std::uint64_t work =
      std::accumulate(counted, counted + static_cast<std::ptrdiff_t>(bins.size()), std::uint64_t{0});
  const auto in_block = [&](std::uint64_t i, auto&& visit) {
    for (const Vertex v : bins[i]->span())
      if (!visit(RowChunk{v, rows.offsets[v], rows.offsets[v + 1]})) return;
  };
  const Targets to = targets();
  deal_parts(
      threads_for(work), bins.size(), node_edges_, in_block,
      [&](const RowChunk& part, int thread) {
        Local& local = local_of(thread);
        settle_row(part.vertex, atomics::load(to.values[part.vertex]), rows, part.first, part.last, to, local,
                   thread);
        local.nodes += nodes_of(part.length());
      },
      [&](int thread) {
        if (one_block()) settle_own(rows, local_of(thread), thread);
      });
}

/// What visiting their rows takes. Where rows come in several blocks, a vertex sends along each of them.
template <class P, bool bucketed>
std::uint64_t HostExecutor<P, bucketed>::keep_senders(Buckets::Bin& bin, const Rows& rows) {
  std::uint64_t kept = 0, work = 0;
  for (const Vertex v : bin.span()) {
    if (one_block() && told_already(v, atomics::load(values_[v]))) continue;
    bin.entries[kept++] = v;
    work += rows.degree(v) + 1;
  }
  bin.count = kept;
  return work;
}

/// Longer ones wait, and are dealt out to all threads.
template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::own_rows_are_short(const Rows& rows, int thread) const {
  const EdgeIndex most = std::max(node_edges_, shared_edges());
  return buckets_->all_of_own(thread, [&](Vertex v) { return rows.degree(v) <= most; });
}

/// Improved twice, a vertex waits twice; the first turn has told all there is to tell. Its value decides, not
/// its priority, which may be coarser.
template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::told_already(Vertex v, const Value& value) {
  if (same_bits(atomics::load(settled_[v]), value)) return !waiting_.test(v) || !waiting_.take(v);
  atomics::store(settled_[v], value);
  return false;
}

template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::same_bits(const Value& a, const Value& b) {
  using Bits = std::array<std::byte, sizeof(Value)>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::recycle_bucket() {
  int thread = 0;  // in turns: one that gets none back would take new ones for every bucket
  for (Buckets::Bin* bin : buckets_->taken()) buckets_->recycle(thread++ % threads_, bin);
}

}  // namespace spillway::host
