// The CPU executor's unsorted edges (WolfGraph, sections 2.4 and 4): every edge is looked at, and pushed if its
// source is active.
#pragma once

#include <spillway/engine/host/executor.hpp>

namespace spillway::host {

/// Values that change in place and order-free programs may go on within a block until nothing changes there.
template <class P, bool bucketed>
BlockWork HostExecutor<P, bucketed>::visit(const EdgeBlock& block) {
  if constexpr (in_buckets) {
    refuse_block("edges without rows");
  } else {
    if (direction_ != Direction::push) refuse_block("edges without rows, to be pulled");
    if constexpr (has_frontier) make_bitmap();
    if (block.local && runs_lists_to_fixed_point) {
      if (!block.again) clear_changed();
      while (push_run(block, block.edges) | push_run(block, block.successors)) {
        check_cancelled(progress_);
        ++counters_.local_rounds;
      }
    } else {
      push_run(block, block.edges);
      push_run(block, block.successors);
    }
    if constexpr (has_frontier)
      if (lists())
        for (int i = 0; i < threads_; ++i) local_of(i).next.flush(back_);
  }
  std::uint64_t sent = 0;
  for (Local& local : locals_) sent += std::exchange(local.active_edges, 0);
  BlockWork work    = take_work();
  work.active_edges = sent;
  return work;
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::clear_changed() {
  if (changed_.size() == 0) changed_ = {n_, budget_, "the vertices that have changed"};
  for_each_share(threads_for(n_ / Bitmap::bits), changed_.size(),
                 [&](std::uint64_t begin, std::uint64_t end, int) { changed_.clear(begin, end); });
}

/// True if a value changed.
template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::push_run(const EdgeBlock& block, const EdgeRun& run) {
  const std::uint64_t grain   = tuning_.edge_grain;
  const int           threads = threads_for(run.count);
  const bool          local   = block.local && runs_lists_to_fixed_point;
  std::atomic<bool>   changes = false;
  for_each_task(threads, (run.count + grain - 1) / grain, [&](std::uint64_t task, int thread) {
    const std::uint64_t first = task * grain, last = std::min(run.count, first + grain);
    if (push_edges(block, run.part(first, last), local, local_of(thread)))
      changes.store(true, std::memory_order_relaxed);
  });
  return changes;
}

template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::push_edges(const EdgeBlock& block, const EdgeRun& some, bool local,
                                           Local& counts) {
  const Targets to      = targets();
  const auto    sends   = [&](Vertex v) { return is_active(v) || (local && to.next.test_acquiring(v)); };
  bool          changes = false;
  const auto    push    = [&](Vertex from, Vertex target, std::uint32_t weight) {
    ++counts.looked_at;
    if (!sends(from)) return;
    ++counts.active_edges;
    EdgeOf<P> edge{.source = from, .target = target, .weight = {}};
    if constexpr (T::weighted) edge.weight = std::bit_cast<Weight>(weight);
    const Message message = message_of(from);
    if constexpr (tracks_open)
      if (!to.open.test(target)) return;
    if (!wanted(to, message, edge)) return;
    if (local)
      changes |= push_and_note(to, message, edge, counts);
    else
      push_edge(to, message, edge, counts);
  };
  for (std::uint64_t i = 0; i < some.count; ++i) {
    if (i + edge_distance < some.count) {
      if (block.along.forward) prefetch(to, some.target(i + edge_distance));
      if (block.along.backward) prefetch(to, some.source(i + edge_distance));
    }
    const Vertex        u = some.source(i), v = some.target(i);
    const std::uint32_t weight = T::weighted ? some.weight(i) : 0;
    if (block.along.forward) push(u, v, weight);
    if (block.along.backward && !(block.along.loops_once && u == v)) push(v, u, weight);
  }
  return changes;
}

/// A vertex that is in the next frontier may change again: what follows in this block is to see that. Whoever sees
/// it there must see its value, too: what is not reached yet has none to send.
template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::push_and_note(const Targets& to, const Message& message, const EdgeOf<P>& edge,
                                              Local& local) {
  if constexpr (runs_lists_to_fixed_point) {
    const Vertex v = edge.target;
    if (!Combine::improve_atomically(to.values[v], compute(message, edge))) return false;
    if (!changed_.test(v)) changed_.claim(v);
    if (to.next.test(v) || !to.next.claim_releasing(v)) return true;
    local.edges += local.sampled([&] { return degree(v); });
    ++local.vertices;
    if (to.lists) local.next.put(back_, v);
    return true;
  }
  return false;
}

}  // namespace spillway::host
