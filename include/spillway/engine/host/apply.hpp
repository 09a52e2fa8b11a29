// What the CPU executor does to one vertex at a time: publishing, applying, closing.
#pragma once

#include <spillway/engine/host/executor.hpp>

namespace spillway::host {

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::publish(Vertex v, Local& local) {
  if constexpr (Publishes<P>) {
    StepOf<P> at = step(v, local);
    at.degree    = degree(v);
    if constexpr (T::no_message)
      program_.publish(values_[v], at);
    else
      messages_[v] = program_.publish(values_[v], at);
    close_if_done(v, at.degree, local);
  } else {
    messages_[v] = values_[v];
  }
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::publish_all() {
  if constexpr (T::all_active) {
    for_vertices_in_order([&](Vertex first, Vertex last, Local& local) {
      for (Vertex v = first; v < last; ++v) publish(v, local);
    });
  } else {
    if (direction_ == Direction::push && lists()) {
      const auto list = front_.span();
      for_each_share(threads_for(list.size()), list.size(),
                     [&](std::uint64_t begin, std::uint64_t end, int thread) {
                       for (std::uint64_t i = begin; i < end; ++i) publish(list[i], local_of(thread));
                     });
    } else {
      for_vertices_in_order([&](Vertex first, Vertex last, Local& local) {
        for (std::uint64_t i = first / Bitmap::bits; i < Bitmap::word_count(last); ++i)
          Bitmap::for_each(active_.word(i), i, [&](Vertex v) { publish(v, local); });
      });
    }
    if constexpr (T::has_global) add_totals();
  }
}

/// As `for_vertices`, and the ranges' totals are added up in the order of the ranges, whoever worked on them.
template <class P, bool bucketed>
template <class Body>
void HostExecutor<P, bucketed>::for_vertices_in_order(Body&& body) {
  if constexpr (!T::has_global) {
    for_vertices(body);
  } else {
    partial_.assign((n_ + tuning_.vertex_grain - 1) / tuning_.vertex_grain, Global{});
    for_vertices([&](Vertex first, Vertex last, Local& local) {
      body(first, last, local);
      partial_[first / tuning_.vertex_grain] = std::exchange(local.total, Global{});
    });
    for (const Global& part : partial_) total_ += part;
  }
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::end_totals() {
  if constexpr (!T::has_global) return;
  add_totals();
  history_.push_back(total_);
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::add_totals() {
  for (Local& local : locals_) total_ += std::exchange(local.total, Global{});
}

template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::apply(Vertex v, const Update& update, Counts& counts) {
  return Operations<P>::apply(program_, values_[v], update, [&] { return step(v, counts); });
}

/// Where messages are the values themselves, others read one before or after it is applied to, never between.
template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::apply_while_read(Vertex v, const Update& update, Counts& counts) {
  if constexpr (!T::live_messages) {
    return apply(v, update, counts);
  } else {
    Value      value  = values_[v];
    const bool active = Operations<P>::apply(program_, value, update, [&] { return step(v, counts); });
    atomics::store_whole(values_[v], value);
    return active;
  }
}

/// Programs with `open` may close a vertex in `publish` and in `apply`; voting ones close it by the vote.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::close_if_done(Vertex v, EdgeIndex edges, Counts& counts) {
  if constexpr (Opens<P> && !T::voting) {
    if (!open_.test(v) || program_.open(values_[v])) return;
    open_.take(v);
    ++counts.closed_vertices;
    counts.closed_edges += edges;
  }
}

/// Push of programs that gather: everyone in `back_` has updates waiting.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::apply_list() {
  front_.clear();
  const auto list = back_.span();
  for_each_share(threads_for(list.size()), list.size(), [&](std::uint64_t begin, std::uint64_t end, int thread) {
    Local& local = local_of(thread);
    for (std::uint64_t i = begin; i < end; ++i) {
      const Vertex v = list[i];
      if (apply_accumulated(v, local, thread)) local.next.put(front_, v);
    }
    local.next.flush(front_);
  });
  clear_bits(next_, list);
  is_list_   = true;
  is_bitmap_ = false;
  frontier_  = collect();
}

/// Applies and empties the accumulator of one vertex; true if it belongs to the next frontier list.
template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::apply_accumulated(Vertex v, Local& local, int thread) {
  const Update update = narrowed(std::exchange(accumulators_[v], empty()));
  const bool   active = apply(v, update, local);
  return note_applied(v, active, local, thread);
}

template <class P, bool bucketed>
bool HostExecutor<P, bucketed>::note_applied(Vertex v, bool active, Counts& counts, int thread) {
  if constexpr (Opens<P>) close_if_done(v, degree(v), counts);
  if (!active || input_.replay) return false;
  if constexpr (prioritised) {
    if (!waiting_.test(v)) waiting_.claim(v);
    buckets_->put(thread, v, bucket_of(values_[v]));
    return false;
  } else {
    ++counts.vertices;
    counts.edges += degree(v);
    return true;
  }
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::apply_everywhere() {
  for_vertices_in_order([&](Vertex first, Vertex last, Local& local) {
    for (Vertex v = first; v < last; ++v)
      local.vertices += apply(v, narrowed(std::exchange(accumulators_[v], empty())), local);
  });
}

/// After a pull over several blocks: everyone in the bitmap `next_` has updates waiting.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::apply_bitmap() {
  for_vertices_in_order([&](Vertex first, Vertex last, Local& local) {
    const int thread = static_cast<int>(&local - locals_.data());
    for (std::uint64_t i = first / Bitmap::bits; i < Bitmap::word_count(last); ++i) {
      std::uint64_t active = 0;
      Bitmap::for_each(next_.word(i), i, [&](Vertex v) {
        if (apply_accumulated(v, local, thread)) active |= std::uint64_t{1} << (v % Bitmap::bits);
      });
      next_.word(i) = active;
    }
  });
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::apply_gathered() {
  if (direction_ == Direction::push && lists()) return apply_list();
  if (direction_ == Direction::push || pull_tasks_.size() > 1) apply_bitmap();
  end_pull();
}

/// What a pull leaves in `next_` is the frontier; the old one's bitmap becomes the next `next_`, whose words a
/// pull overwrites and a push wants clear.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::end_pull() {
  std::swap(active_, next_);
  is_bitmap_ = true;
  is_list_   = false;
  frontier_  = collect();
  clear_next();
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::clear_next() {
  if (T::voting && lists()) return;  // votes are claimed in `open_`
  for_each_share(threads_for(n_ / Bitmap::bits), next_.size(),
                 [&](std::uint64_t begin, std::uint64_t end, int) { next_.clear(begin, end); });
}

/// Push of programs that do not gather: `back_` is the next frontier; in place, `next_` holds its bits.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::end_push() {
  if constexpr (T::in_place) {
    if (is_bitmap_) clear_bits(active_, front_.span());
    std::swap(active_, next_);
  }
  std::swap(front_, back_);
  is_list_   = true;
  is_bitmap_ = T::in_place;
  frontier_  = collect();
}

}  // namespace spillway::host
