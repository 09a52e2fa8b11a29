// The CPU executor's pull: open vertices gather along their rows; all-active programs are swept in one pass.
#pragma once

#include <spillway/engine/host/executor.hpp>

namespace spillway::host {

/// Ranges of about equal work that start at bitmap words.
template <class P, bool bucketed>
std::vector<Vertex> HostExecutor<P, bucketed>::cut(const RowBlock& block) const {
  std::vector<Vertex> ends{block.first};
  const EdgeIndex*    offsets = block.rows.offsets;
  const auto work = [&](std::uint64_t v) { return offsets[v] - offsets[block.first] + (v - block.first); };
  for (std::uint64_t v = block.first; v < block.last;) {
    const std::uint64_t end = partition_point(
        v + 1, std::uint64_t{block.last}, [&](std::uint64_t u) { return work(u) - work(v) < tuning_.edge_grain; });
    v = std::min<std::uint64_t>(block.last, (end + Bitmap::bits - 1) / Bitmap::bits * Bitmap::bits);
    ends.push_back(static_cast<Vertex>(v));
  }
  return ends;
}

/// Gathers, applies and publishes in one pass over the vertices.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::sweep(const RowBlock& block, const std::vector<Vertex>& ends) {
  const std::uint64_t tasks = ends.size() - 1;
  partial_.assign(tasks, Global{});
  partial_ahead_.assign(tasks, Global{});
  for_each_task(threads_for(topology_.arcs + n_), tasks, [&](std::uint64_t task, int thread) {
    check_cancelled(progress_);
    const auto [now, ahead] = sweep_range(block.rows, ends[task], ends[task + 1]);
    partial_[task]          = now.total;
    partial_ahead_[task]    = ahead.total;
    Counts counts           = now;
    counts.total            = {};
    local_of(thread) += counts;
  });
  ahead_ = {};
  for (const Global& part : partial_) total_ += part;
  for (const Global& part : partial_ahead_) ahead_ += part;
  std::swap(messages_, next_messages_);
  published_ahead_ = true;
}

/// Everything the loop needs is in variables of its own, which no store can change.
template <class P, bool bucketed>
auto HostExecutor<P, bucketed>::sweep_range(const Rows rows, Vertex first, Vertex last) const
    -> std::pair<Counts, Counts> {
  const P              program  = program_;
  const Global         global   = global_;
  const Message* const messages = messages_.data();
  Message* const       next     = next_messages_.data();
  Value* const         values   = values_.data();
  const TreeArcs       tree     = topology_.tree;
  const EdgeIndex*     leaving  = topology_.push.size() == 1 ? topology_.push.front().rows.offsets : nullptr;
  Counts               now, ahead;
  EdgeIndex            begin = rows.offsets[first];
  now.looked_at              = rows.offsets[last] - begin;
  for (Vertex v = first; v < last; ++v) {
    const EdgeIndex   end   = rows.offsets[v + 1];
    Value             value = values[v];
    const Accumulator sum   = combined(begin, end, [&](EdgeIndex i) {
      const Vertex    u = rows.targets[i];
      const EdgeOf<P> edge{.source = u, .target = v, .weight = weight_at(rows, i)};
      return Operations<P>::compute(program, tree, messages[u], edge, [&]() -> const Value& { return value; });
    });
    StepOf<P>         step{.vertex = v, .iteration = iteration_, .global = &global, .total = &now.total};
    now.vertices +=
        Operations<P>::apply(program, value, narrowed(sum), [&]() -> const StepOf<P>& { return step; });
    values[v] = value;
    if constexpr (Publishes<P>) {
      step.iteration = iteration_ + 1;
      step.degree    = leaving ? leaving[v + 1] - leaving[v] : degree(v);
      step.total     = &ahead.total;
      next[v]        = program.publish(std::as_const(value), step);
    } else {
      next[v] = value;
    }
    begin = end;
  }
  return {now, ahead};
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::pull(const RowBlock& block, const std::vector<Vertex>& ends) {
  const std::uint64_t tasks = ends.size() - 1;
  everyone_                 = T::all_active || frontier_.vertices == n_;
  if constexpr (T::has_global) partial_.assign(tasks, Global{});
  const int threads = topology_.arcs + n_ < tuning_.serial_work ? 1 : threads_;
  for_each_task(threads, tasks, [&](std::uint64_t task, int thread) {
    check_cancelled(progress_);
    Counts counts;
    if constexpr (T::all_active && !tracks_open)
      for (Vertex v = ends[task]; v < ends[task + 1]; ++v) pull_gather(block.rows, v, counts, thread);
    else
      for (std::uint64_t i = ends[task] / Bitmap::bits; i < Bitmap::word_count(ends[task + 1]); ++i)
        pull_word(block.rows, i, counts, thread);
    if constexpr (T::has_global) partial_[task] = std::exchange(counts.total, Global{});
    local_of(thread) += counts;
  });
  if constexpr (T::has_global)
    for (const Global& part : partial_) total_ += part;
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::pull_word(const Rows& rows, std::uint64_t index, Counts& counts, int thread) {
  const std::uint64_t left = n_ - index * Bitmap::bits;
  std::uint64_t       open = left >= Bitmap::bits ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
  if constexpr (tracks_open) open &= open_.word(index);
  if constexpr (!T::all_active) count_active_edges(rows, index, counts);
  if constexpr (T::voting)
    Bitmap::for_each(open, index, [&](Vertex v) { __builtin_prefetch(rows.targets + rows.offsets[v]); });
  std::uint64_t active = 0;
  Bitmap::for_each(open, index, [&](Vertex v) {
    if (pull_row(rows, v, counts, thread)) active |= std::uint64_t{1} << (v % Bitmap::bits);
  });
  if constexpr (!T::all_active) {
    if (blocks_done_ == 0)
      next_.word(index) = active;
    else
      next_.word(index) |= active;
  }
}

/// Of symmetric graphs, the rows at hand are those of the senders too; otherwise the senders' own are asked.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::count_active_edges(const Rows& rows, std::uint64_t index, Counts& counts) {
  if (blocks_done_ > 0) return;
  const bool  own = !topology_.push.empty() && topology_.push.size() == 1;
  const Rows& of  = own ? topology_.push.front().rows : rows;
  Bitmap::for_each(active_.word(index), index, [&](Vertex v) {
    counts.active_edges += own || topology_.push.empty() ? of.degree(v) : degree(v);
  });
}

template <class P, bool bucketed>
auto HostExecutor<P, bucketed>::edge_to(Vertex v, const Rows& rows, EdgeIndex i) const -> EdgeOf<P> {
  return {.source = rows.targets[i], .target = v, .weight = weight_at(rows, i)};
}

/// True if the vertex becomes active.
template <class P, bool bucketed>
template <bool shared>
bool HostExecutor<P, bucketed>::pull_row(const Rows& rows, Vertex v, Counts& counts, int thread) {
  if constexpr (T::voting)
    return pull_vote<shared>(rows, v, counts);
  else if constexpr (T::in_place)
    return pull_in_place(rows, v, counts);
  else
    return pull_gather(rows, v, counts, thread);
}

template <class P, bool bucketed>
template <bool shared>
bool HostExecutor<P, bucketed>::pull_vote(const Rows& rows, Vertex v, Counts& counts) {
  const EdgeIndex first = rows.offsets[v], last = rows.offsets[v + 1];
  EdgeIndex       i = first;
  while (i < last && !is_active(rows.targets[i])) ++i;
  counts.looked_at += i - first;
  if (i == last) return false;
  return close_by_vote<shared>(v, compute(message_of(rows.targets[i]), edge_to(v, rows, i)), counts);
}

template <class P, bool bucketed>
template <bool shared>
bool HostExecutor<P, bucketed>::close_by_vote(Vertex v, const Update& update, Counts& counts) {
  if constexpr (shared) {
    if (!open_.take(v)) return false;
  } else {
    open_.word(v / Bitmap::bits) &= ~(std::uint64_t{1} << (v % Bitmap::bits));
  }
  const EdgeIndex edges = degree(v);
  ++counts.closed_vertices;
  counts.closed_edges += edges;
  if (!apply(v, update, counts)) return false;
  ++counts.vertices;
  counts.edges += edges;
  return true;
}

template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::pull_in_place(const Rows& rows, Vertex v, Counts& counts) {
  const EdgeIndex first = rows.offsets[v], last = rows.offsets[v + 1];
  Value           value   = values_[v];
  bool            changed = false;
  for (EdgeIndex i = first; i < last; ++i)
    if (is_active(rows.targets[i]))
      changed |= Combine::improve(value, compute(message_of(rows.targets[i]), edge_to(v, rows, i)));
  counts.looked_at += last - first;
  if (!changed) return false;
  publish_value(v, value);
  if (blocks_done_ > 0 && next_.test(v)) return true;  // counted with the block before
  ++counts.vertices;
  counts.edges += degree(v);
  return true;
}

/// Others may be reading the value.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::publish_value(Vertex v, const Value& value) {
  if constexpr (!T::live_messages)
    values_[v] = value;
  else if constexpr (atomics::exchangeable<Value>)
    atomics::store(values_[v], value);
  else
    Combine::improve_atomically(values_[v], value);
}

template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::pull_gather(const Rows& rows, Vertex v, Counts& counts, int thread) {
  const EdgeIndex   first = rows.offsets[v], last = rows.offsets[v + 1];
  bool              hit = false;
  const Accumulator sum =
      T::all_active || everyone_ ? gather_all(rows, v, first, last) : gather_active(rows, v, first, last, hit);
  counts.looked_at += last - first;
  hit |= everyone_ && first < last;
  if (pull_tasks_.size() > 1) {
    if (hit) accumulators_[v] = Combine::combine(accumulators_[v], sum);
    return hit;
  }
  if constexpr (T::all_active) {
    counts.vertices += apply(v, narrowed(sum), counts);
    return false;
  } else {
    return hit && note_applied(v, apply_while_read(v, narrowed(sum), counts), counts, thread);
  }
}

/// Which neighbours are active cannot be guessed: they are picked out without branches first, a stretch at a time.
template <class P, bool bucketed>
auto HostExecutor<P, bucketed>::gather_active(const Rows& rows, Vertex v, EdgeIndex first, EdgeIndex last,
                                              bool& hit) const -> Accumulator {
  constexpr EdgeIndex            stretch = 64;
  std::array<EdgeIndex, stretch> active;
  Accumulator                    sum = empty();
  while (first < last) {
    const EdgeIndex end   = std::min(last, first + stretch);
    std::size_t     count = 0;
    for (; first < end; ++first) {
      active[count] = first;
      count += active_.test(rows.targets[first]) ? 1 : 0;
    }
    for (std::size_t k = 0; k < count; ++k) {
      const EdgeIndex i = active[k];
      sum = Combine::combine(sum, widened(compute(message_of(rows.targets[i]), edge_to(v, rows, i))));
    }
    hit |= count > 0;
  }
  return sum;
}

template <class P, bool bucketed>
auto HostExecutor<P, bucketed>::gather_all(const Rows& rows, Vertex v, EdgeIndex first, EdgeIndex last) const
    -> Accumulator {
  return combined(first, last,
                  [&](EdgeIndex i) { return compute(message_of(rows.targets[i]), edge_to(v, rows, i)); });
}

/// The updates at(first), …, at(last - 1) as one. Only what a block of them adds up to needs the accumulator's
/// digits. The compiler unrolls blocks of one length: the fewer instructions an edge takes, the more of the
/// scattered loads are under way at once.
template <class P, bool bucketed>
template <class At>
auto HostExecutor<P, bucketed>::combined(EdgeIndex first, EdgeIndex last, const At& at) -> Accumulator {
  Accumulator sum = empty();
  for (; last - first >= row_block; first += row_block) {
    Update part = Combine::identity();
    for (EdgeIndex i = 0; i < row_block; ++i) part = Combine::combine(part, at(first + i));
    sum = Combine::combine(sum, widened(part));
  }
  Update part = Combine::identity();
  for (; first < last; ++first) part = Combine::combine(part, at(first));
  return Combine::combine(sum, widened(part));
}

}  // namespace spillway::host
