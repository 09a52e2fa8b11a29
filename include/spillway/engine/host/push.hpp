// The CPU executor's push: active vertices, listed, send along their rows.
#pragma once

#include <spillway/engine/host/executor.hpp>

namespace spillway::host {

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::push(const RowBlock& block) {
  if constexpr (T::all_active) {
    push_everyone(block);
  } else {
    push_list(block);
  }
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::push_everyone(const RowBlock& block) {
  if (splits()) {
    NodeGroups groups{block, node_edges_, tuning_.edge_grain};
    return push_pages(groups, {0, n_});
  }
  for_vertices([&](Vertex first, Vertex last, Local& local) {
    for (Vertex v = first; v < last; ++v)
      push_row(v, block.rows, block.rows.offsets[v], block.rows.offsets[v + 1], local);
  });
}

/// Chunks are short, or there are many of them: some at a time to whoever comes.
template <class P, bool bucketed>
template <class ChunkAt>
void HostExecutor<P, bucketed>::push_chunks(const Rows& rows, std::uint64_t count, ChunkAt&& chunk_at) {
  const std::uint64_t grain   = tuning_.push_grain;
  const int           threads = threads_for(count * grain);
  const std::uint64_t nodes   = splits() ? 1 : 0;  // that a chunk is
  for_each_task(threads, (count + grain - 1) / grain, [&](std::uint64_t task, int thread) {
    for (std::uint64_t i = task * grain; i < std::min(count, (task + 1) * grain); ++i)
      if (const RowChunk chunk = chunk_at(i); chunk.length() > 0) {
        push_row(chunk.vertex, rows, chunk.first, chunk.last, local_of(thread));
        local_of(thread).nodes += nodes;
      }
  });
  if constexpr (has_frontier)
    for (int i = 0; i < threads; ++i) local_of(i).next.flush(back_);
}

/// The chunks of active rows that are in it; asynchronously again, as long as anybody in it has something new.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::push_window(const WindowBlock& window) {
  check_cancelled(progress_);
  if constexpr (has_frontier) make_bitmap();
  const ChunkRange range = window.chunks();
  const bool       joins = window.local && joins_next;
  if (!window.again) {
    if (joins) join_next(window, range);
    push_chunks(window.rows, range.last - std::min(range.first, range.last), [&](std::uint64_t i) {
      const RowChunk chunk  = window.chunk(range.first + i);
      const bool     pushes = is_active(chunk.vertex) && !(joins && is_whole(window, range, chunk.vertex));
      return pushes ? chunk : RowChunk{chunk.vertex, 0, 0};
    });
  }
  if (window.local) run_to_fixed_point(window, range);
}

template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::is_whole(const WindowBlock& window, const ChunkRange& range, Vertex v) {
  return window.whole_row(v, range).length() > 0;
}

/// Active rows that are here from end to end, of programs that improve values in place, count as ones with
/// something new: they push when their bucket comes, once for all that they have received by then.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::join_next(const WindowBlock& window, const ChunkRange& range) {
  Local& local = local_of(0);
  for (std::uint64_t k = range.first; k < range.last; ++k) {
    const Vertex v = window.layout.entries[k].vertex;
    if (!is_active(v) || !is_whole(window, range, v) || !next_.claim(v)) continue;
    ++local.vertices;
    local.next.put(back_, v);
  }
  local.next.flush(back_);
}

/// Programs with a priority settle a bucket of the window after the other: whoever goes on with what is not the
/// best yet goes on again later. Rows that are here in part wait for the next iteration. Memory for the chunks of
/// all rows was counted by who brings windows (WindowSizes::layout_bytes).
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::run_to_fixed_point(const WindowBlock& window, const ChunkRange& range) {
  if constexpr (has_frontier && !T::voting && !prioritised) {
    LocalRound round;
    for (;;) {
      reactivate(window, range, round);
      if (round.taken.empty() && round.lowest == no_bucket) return;
      if (round.taken.empty()) {
        round.bucket = round.lowest;
        continue;
      }
      check_cancelled(progress_);
      push_chunks(window.rows, round.taken.size(), [&](std::uint64_t i) { return round.taken[i]; });
      ++counters_.local_rounds;
    }
  }
}

/// Whoever is taken leaves the next frontier: what it has received counts now. In the list of that frontier, those
/// without a row here come first, and are not looked at again.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::reactivate(const WindowBlock& window, const ChunkRange& range, LocalRound& round) {
  const auto    next  = back_.span();
  std::uint64_t kept  = round.elsewhere;
  Local&        local = local_of(0);
  round.taken.clear();
  round.lowest = no_bucket;
  for (std::uint64_t i = round.elsewhere; i < next.size(); ++i) {
    const Vertex   v   = next[i];
    const RowChunk row = window.whole_row(v, range);
    if (row.length() == 0) {
      next[kept++]            = next[round.elsewhere];
      next[round.elsewhere++] = v;
      continue;
    }
    if constexpr (Prioritises<P> && T::in_place)
      if (const std::uint64_t bucket = bucket_of(values_[v]); bucket > round.bucket) {
        round.lowest = std::min(round.lowest, bucket);
        next[kept++] = v;
        continue;
      }
    next_.take(v);
    if constexpr (T::gathers) {
      const bool active = apply(v, narrowed(std::exchange(accumulators_[v], empty())), local);
      if constexpr (Opens<P>) close_if_done(v, degree(v), local);
      if (!active) continue;
    } else {
      --local.vertices;  // was counted when it was found
    }
    if constexpr (stores_messages || Publishes<P>) publish(v, local);
    const EdgeIndex chunk = window.layout.chunk_edges;
    for (EdgeIndex first = row.first; first < row.last; first += chunk)
      round.taken.push_back({v, first, std::min(row.last, first + chunk)});
  }
  back_.clear();
  back_.grow(kept);
}

/// Threads begin with a share each and then help the others. A share is what the same thread found, mostly, so
/// that what it writes is in its own cache: on a grid that is worth a third of the time.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::push_list(const RowBlock& block) {
  const auto list = front_.span();
  if (splits()) {
    const EdgeIndex* const offsets = block.rows.offsets;
    return push_nodes(block.rows, list.size(), [&](std::uint64_t i) {
      return RowChunk{list[i], offsets[list[i]], offsets[list[i] + 1]};
    });
  }
  const int threads = threads_for(frontier_.edges + list.size());
  for (int i = 0; i < threads; ++i) local_of(i).taken = share_begin(list.size(), i, threads);
  on_threads(threads, [&](int thread) {
    for (int other = 0; other < threads; ++other)
      push_share(block.rows, list, (thread + other) % threads, thread, threads);
    if (list.size() > ordered_lists) local_of(thread).next.flush(back_);
  });
  for (int i = 0; i < threads; ++i) local_of(i).next.flush(back_);
  push_hubs(block);
}

template <class P, bool bucketed>
std::uint64_t HostExecutor<P, bucketed>::share_begin(std::uint64_t size, int share, int shares) {
  return size * static_cast<std::uint64_t>(share) / static_cast<std::uint64_t>(shares);
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::push_share(const Rows& rows, std::span<const Vertex> list, int share, int thread,
                                           int threads) {
  const std::uint64_t end   = share_begin(list.size(), share + 1, threads);
  const std::uint64_t grain = tuning_.push_grain;
  const EdgeIndex     hub   = threads > 1 ? tuning_.hub_degree : std::numeric_limits<EdgeIndex>::max();
  Local&              local = local_of(thread);
  std::atomic_ref     next{local_of(share).taken};
  for (std::uint64_t begin = next.fetch_add(grain, std::memory_order_relaxed); begin < end;
       begin               = next.fetch_add(grain, std::memory_order_relaxed))
    for (std::uint64_t i = begin; i < std::min(end, begin + grain); ++i) {
                    const EdgeIndex first = rows.offsets[list[i]], last = rows.offsets[list[i] + 1];
                    if (last - first > hub)
        leave_hub(list[i]);
      else
        push_row(list[i], rows, first, last, local);
    }
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::leave_hub(Vertex v) {
  const std::scoped_lock lock{hub_mutex_};
  hubs_.push_back(v);
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::push_hubs(const RowBlock& block) {
  if (hubs_.empty()) return;
  const EdgeIndex* const offsets = block.rows.offsets;
  push_parts(block.rows, threads_, hubs_.size(), 1, shared_edges(), [&](std::uint64_t i) {
    return RowChunk{hubs_[i], offsets[hubs_[i]], offsets[hubs_[i] + 1]};
  });
  counters_.shared_rows += hubs_.size();
  hubs_.clear();
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::push_row(Vertex v, const Rows& rows, EdgeIndex first, EdgeIndex last,
                                         Local& local) {
  const Message message = message_of(v);
  const Targets to      = targets();
  for_each_wanted(v, message, rows, first, last, to,
                  [&](const EdgeOf<P>& edge) { push_edge(to, message, edge, local); });
  local.looked_at += last - first;
}

/// act(edge) for the edges of a row whose update may count. Where a bit tells, they are picked out a block at a
/// time and without a branch, so that what the picked ones write can be asked for all at once.
template <class P, bool bucketed>
template <class Act>
void HostExecutor<P, bucketed>::for_each_wanted(Vertex v, const Message& message, const Rows& rows,
                                                EdgeIndex first, EdgeIndex last, const Targets& to,
                                                Act&& act) const {
  const auto edge_at = [v, at = rows](EdgeIndex i) {
    return EdgeOf<P>{.source = v, .target = at.targets[i], .weight = weight_at(at, i)};
  };
  if constexpr (!tracks_open) {
    for (EdgeIndex i = first; i < last; ++i) {
      if (i + edge_distance < last) prefetch(to, rows.targets[i + edge_distance]);
      const EdgeOf<P> edge = edge_at(i);
      if (wanted(to, message, edge)) act(edge);
    }
  } else if (last - first < pick_least) {
    for (EdgeIndex i = first; i < last; ++i)
      if (to.open.test(rows.targets[i])) act(edge_at(i));
  } else {
    std::array<std::uint8_t, pick_block> picked;
    for (EdgeIndex begin = first; begin < last; begin += pick_block) {
      const auto  length = static_cast<unsigned>(std::min<EdgeIndex>(last - begin, pick_block));
      std::size_t count  = 0;
      for (unsigned i = 0; i < length; ++i) {
        picked[count] = static_cast<std::uint8_t>(i);
        count += to.open.test(rows.targets[begin + i]) ? 1 : 0;
      }
      for (std::size_t i = 0; i < count; ++i) prefetch(to, rows.targets[begin + picked[i]]);
      for (std::size_t i = 0; i < count; ++i) act(edge_at(begin + picked[i]));
    }
  }
}

template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::wanted(const Targets& to, const Message& message, const EdgeOf<P>& edge) const {
  if constexpr (T::in_place)
    return Combine::improves(atomics::load(to.values[edge.target]), compute(message, edge));
  else
    return true;
}

/// What an update will write. In place few improve: taking lines from the other threads would not pay.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::prefetch(const Targets& to, Vertex v) {
  if constexpr (T::voting)
    __builtin_prefetch(to.values + v, 1);
  else if constexpr (T::in_place)
    __builtin_prefetch(to.values + v, 0);
  else
    __builtin_prefetch(to.accumulators + v, 1);
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::push_edge(const Targets& to, const Message& message, const EdgeOf<P>& edge,
                                          Local& local) {
  const Vertex v = edge.target;
  if constexpr (T::voting) {
    if (!to.open.take(v)) return;
    const EdgeIndex edges = local.sampled([&] { return degree(v); });
    ++local.closed_vertices;
    local.closed_edges += edges;
    if (!apply(v, compute(message, edge), local)) return;
    ++local.vertices;
    local.edges += edges;
    if (to.lists)
      local.next.put(back_, v);
    else
      to.next.claim(v);
  } else if constexpr (T::in_place) {
    if (!Combine::improve_atomically(to.values[v], compute(message, edge))) return;
    if (to.next.test(v) || !to.next.claim(v)) return;
    local.edges += local.sampled([&] { return degree(v); });
    ++local.vertices;
    if (to.lists) local.next.put(back_, v);
  } else {
    if constexpr (Combine::idempotent)
      Combine::improve_atomically(to.accumulators[v], compute(message, edge));
    else
      Combine::combine_atomically(to.accumulators[v], compute(message, edge));
    if constexpr (!T::all_active)
      if (!to.next.test(v) && to.next.claim(v) && to.lists) local.next.put(back_, v);
  }
}

}  // namespace spillway::host
