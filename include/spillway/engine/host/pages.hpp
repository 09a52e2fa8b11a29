// The CPU executor's rows from disk: threads take decoded pages as they come, and push or pull the rows in them. A
// row that takes several pages comes in parts.
#pragma once

#include <spillway/engine/host/executor.hpp>

namespace spillway::host {

template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::wants_rows(Vertex first, Vertex last) {
  if constexpr (!has_frontier) {
    return true;
  } else {
    if (direction_ == Direction::pull && !tracks_open) return true;
    if (direction_ == Direction::push) make_bitmap();
    Bitmap&             of    = direction_ == Direction::push ? active_ : open_;
    const std::uint64_t begin = first / Bitmap::bits, end = Bitmap::word_count(last);
    for (std::uint64_t i = begin; i < end; ++i) {
      std::uint64_t word = atomics::load(of.word(i));  // of open ones others may leave meanwhile
      if (i == begin) word &= ~std::uint64_t{0} << (first % Bitmap::bits);
      if (i + 1 == end && last % Bitmap::bits != 0) word &= (std::uint64_t{1} << (last % Bitmap::bits)) - 1;
      if (word != 0) return true;
    }
    return false;
  }
}

/// body(page, thread) for every page, on all threads.
template <class P, bool bucketed>
template <class Body>
void HostExecutor<P, bucketed>::for_pages(PageFeed& feed, Body&& body) {
  on_threads(threads_, [&](int thread) {
    PageRows page;
    while (feed.next(thread, page)) {
      check_cancelled(progress_);
      body(page, thread);
    }
  });
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::push_pages(PageFeed& feed, VertexRange targets) {
  const bool some = targets.first > 0 || targets.last < n_;
  sending_        = 0;
  bins_.begin(targets.first);
  for_pages(feed, [&](const PageRows& page, int thread) {
    Local& local = local_of(thread);
    if (some) leave_senders_before(page.first, targets);
    if (splits())
      local.nodes += nodes_in(page, [&](Vertex v) {
        if constexpr (has_frontier) return active_.test(v);
        return true;
      });
    for (Vertex v = page.first; v < page.last; ++v) {
      if constexpr (has_frontier)
        if (!active_.test(v)) continue;
      const EdgeRange row = some ? edges_to(targets, page, v) : page.row(v);
      if (row.first >= row.last) continue;
      if (bins_.in_use())
        push_to_bins(v, page.rows, row, local, thread);
      else
        push_row(v, page.rows, row.first, row.last, local);
    }
    if constexpr (has_frontier)
      if (lists()) local.next.flush(back_);
  });
  if (!bins_.in_use()) return;
  for_each_task(threads_, bins_.count(), [&](std::uint64_t bin, int thread) {
    Local& local = local_of(thread);
    bins_.empty(bin, [&](auto entries) { empty_bin(entries, local); });
    if constexpr (has_frontier)
      if (lists()) local.next.flush(back_);
  });
}

/// As `push_row` does, and what it sends waits for others that go to the same vertices.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::push_to_bins(Vertex v, const Rows& rows, const EdgeRange& row, Local& local,
                                             int thread) {
  if constexpr (T::gathers) {
    const Message                 message = message_of(v);
    typename Bins<Update>::Writer writer{bins_, thread};
    for (EdgeIndex i = row.first; i < row.last; ++i) {
      const EdgeOf<P> edge{.source = v, .target = rows.targets[i], .weight = weight_at(rows, i)};
      if constexpr (tracks_open)
        if (!open_.test(edge.target)) continue;
      writer.put(edge.target, compute(message, edge), [&](auto entries) {
        ++local.full_bins;
        empty_bin(entries, local);
      });
    }
    local.looked_at += row.last - row.first;
  }
}

/// No other thread updates vertices of this bin meanwhile.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::empty_bin(std::span<const typename Bins<Update>::Entry> entries, Local& local) {
  if constexpr (T::gathers) {
    for (const auto& [v, update] : entries) {
      accumulators_[v] = Combine::combine(accumulators_[v], widened(update));
      if constexpr (has_frontier)
        if (!next_.test(v) && next_.claim(v) && lists()) local.next.put(back_, v);
    }
  }
}

/// Rows are in the order of their targets.
template <class P, bool bucketed>
EdgeRange HostExecutor<P, bucketed>::edges_to(VertexRange targets, const PageRows& page, Vertex v) {
  const EdgeRange row   = page.row(v);
  const auto      below = [&](EdgeIndex from, std::uint64_t bound) {
    return partition_point(from, row.last, [&](EdgeIndex i) { return page.rows.targets[i] < bound; });
  };
  const EdgeIndex first = below(row.first, targets.first);
  return {first, below(first, targets.last), false};
}

/// Pages come in the order of their vertices, about: a chunk of state that all have sent from need not stay.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::leave_senders_before(Vertex v, VertexRange targets) {
  const std::uint64_t   chunk = v / chunks_.size;
  const std::atomic_ref sending{sending_};
  std::uint64_t         before = sending.load(std::memory_order_relaxed);
  if (chunk <= before || !sending.compare_exchange_strong(before, chunk, std::memory_order_relaxed)) return;
  if (before * chunks_.size != targets.first) evict(chunks_.chunk(before, n_));
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::evict(VertexRange vertices) {
  values_.evict(vertices.first, vertices.last);
  messages_.evict(vertices.first, vertices.last);
  accumulators_.evict(vertices.first, vertices.last);
  for (const auto* blocks : {&topology_.push, &topology_.pull})
    for (const RowBlock& block : *blocks) evict_offsets(block, vertices);
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::pull_pages(PageFeed& feed) {
  everyone_ = T::all_active || frontier_.vertices == n_;
  if constexpr (has_frontier)
    if (blocks_done_ == 0)
      for_each_share(threads_for(n_ / Bitmap::bits), next_.size(),
                     [&](std::uint64_t begin, std::uint64_t end, int) { next_.clear(begin, end); });
  partial_.assign(feed.count(), Global{});
  for_pages(feed, [&](const PageRows& page, int thread) {
    Counts counts;
    if (splits())
      local_of(thread).nodes += nodes_in(page, [&](Vertex v) {
        if constexpr (tracks_open) return open_.test(v);
        return true;
      });
    if (page.in_part)
      pull_part(page, counts);
    else
      for (Vertex v = page.first; v < page.last; ++v) {
        if constexpr (tracks_open)
          if (!open_.test(v)) continue;
        if (!pull_row</*shared=*/true>(page.rows, v, counts, thread)) continue;
        if constexpr (has_frontier) next_.claim(v);
      }
    partial_[page.number] = std::exchange(counts.total, Global{});
    local_of(thread) += counts;
  });
  for (const Global& part : partial_) total_ += part;
  end_parts([&](Vertex v, const Accumulator& sum, Local& local) {
    if constexpr (T::gathers) {
      if (pull_tasks_.size() > 1) {
        accumulators_[v] = Combine::combine(accumulators_[v], sum);
        if constexpr (has_frontier) next_.claim(v);
      } else if constexpr (T::all_active) {
        local.vertices += apply(v, narrowed(sum), local);
      } else if (note_applied(v, apply(v, narrowed(sum), local), local, 0)) {
        next_.claim(v);
      }
    }
  });
}

/// Some edges of one row: what does not have to be added up counts at once.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::pull_part(const PageRows& page, Counts& counts) {
  const Vertex    v      = page.first;
  const EdgeRange row    = page.row(v);
  const auto      update = [&](EdgeIndex i) {
    return compute(message_of(page.rows.targets[i]), edge_to(v, page.rows, i));
  };
  if constexpr (tracks_open)
    if (!open_.test(v)) return;
  counts.looked_at += row.last - row.first;
  if constexpr (T::voting) {
    EdgeIndex i = row.first;
    while (i < row.last && !is_active(page.rows.targets[i])) ++i;
    if (i < row.last && close_by_vote</*shared=*/true>(v, update(i), counts)) next_.claim(v);
  } else if constexpr (T::in_place) {
    bool changed = false;
    for (EdgeIndex i = row.first; i < row.last; ++i)
      if (is_active(page.rows.targets[i])) changed |= Combine::improve_atomically(values_[v], update(i));
    if (!changed || !next_.claim(v)) return;
    ++counts.vertices;
    counts.edges += degree(v);
  } else {
    bool              hit = everyone_;
    const Accumulator sum = everyone_ ? gather_all(page.rows, v, row.first, row.last)
                                      : gather_active(page.rows, v, row.first, row.last, hit);
    if (!hit) return;
    const std::scoped_lock lock{hub_mutex_};
    parts_.push_back({page.number, v, sum});
  }
}

/// settle(v, sum, local) for every row that came in parts, which are added up in their order.
template <class P, bool bucketed>
template <class Settle>
void HostExecutor<P, bucketed>::end_parts(Settle&& settle) {
  if constexpr (T::gathers) {
    std::ranges::sort(parts_, {}, &RowPart::number);
    for (std::size_t i = 0; i < parts_.size();) {
      const Vertex v   = parts_[i].vertex;
      Accumulator  sum = parts_[i].sum;
      while (++i < parts_.size() && parts_[i].vertex == v) sum = Combine::combine(sum, parts_[i].sum);
      settle(v, sum, local_of(0));
    }
    parts_.clear();
  }
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::sweep_pages(PageFeed& feed) {
  everyone_ = true;
  partial_.assign(feed.count(), Global{});
  partial_ahead_.assign(feed.count(), Global{});
  for_pages(feed, [&](const PageRows& page, int thread) {
    Counts counts;
    if (splits()) local_of(thread).nodes += nodes_in(page, [](Vertex) { return true; });
    if (page.in_part) {
      pull_part(page, counts);
    } else {
      const auto [now, ahead]     = sweep_range(page.rows, page.first, page.last);
      partial_[page.number]       = now.total;
      partial_ahead_[page.number] = ahead.total;
      counts                      = now;
      counts.total                = {};
    }
    local_of(thread) += counts;
  });
  Counts now, ahead;
  end_parts([&](Vertex v, const Accumulator& sum, Local&) { settle_swept(v, sum, now, ahead); });
  ahead_ = ahead.total;
  total_ += std::exchange(now.total, Global{});
  local_of(0) += now;
  for (const Global& part : partial_) total_ += part;
  for (const Global& part : partial_ahead_) ahead_ += part;
  std::swap(messages_, next_messages_);
  published_ahead_ = true;
}

/// Applies and publishes, as `sweep_range` does.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::settle_swept(Vertex v, const Accumulator& sum, Counts& now, Counts& ahead) {
  Value&    value = values_[v];
  StepOf<P> step{.vertex = v, .iteration = iteration_, .global = &global_, .total = &now.total};
  now.vertices += Operations<P>::apply(program_, value, narrowed(sum), [&]() -> const StepOf<P>& { return step; });
  if constexpr (Publishes<P>) {
    step.iteration    = iteration_ + 1;
    step.degree       = degree(v);
    step.total        = &ahead.total;
    next_messages_[v] = program_.publish(std::as_const(value), step);
  } else {
    next_messages_[v] = value;
  }
}

}  // namespace spillway::host
