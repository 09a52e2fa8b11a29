// The CPU executor's frontier: a list, a bitmap or both, and recorded ones that are walked again.
#pragma once

#include <spillway/engine/host/executor.hpp>

namespace spillway::host {

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::make_list() {
  if (is_list_) return;
  front_.clear();
  for_each_share(threads_for(n_ / Bitmap::bits), active_.size(),
                 [&](std::uint64_t begin, std::uint64_t end, int thread) {
                   ListWriter& writer = local_of(thread).next;
                   for (std::uint64_t i = begin; i < end; ++i)
                     Bitmap::for_each(active_.word(i), i, [&](Vertex v) { writer.put(front_, v); });
                   writer.flush(front_);
                 });
  is_list_ = true;
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::make_bitmap() {
  if (is_bitmap_) return;
  const auto list = front_.span();
  for_each_share(threads_for(n_ / Bitmap::bits), active_.size(),
                 [&](std::uint64_t begin, std::uint64_t end, int) { active_.clear(begin, end); });
  for_each_share(threads_for(list.size()), list.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t i = begin; i < end; ++i) active_.claim(list[i]);
  });
  is_bitmap_ = true;
}

/// The bits of a list are set back: word by word, or all at once when there are many.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::clear_bits(Bitmap& bitmap, std::span<const Vertex> list) {
  if (list.size() > bitmap.size()) {
    for_each_share(threads_for(bitmap.size()), bitmap.size(),
                   [&](std::uint64_t begin, std::uint64_t end, int) { bitmap.clear(begin, end); });
  } else {
    for_each_share(threads_for(list.size()), list.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      for (std::uint64_t i = begin; i < end; ++i) bitmap.clear_word_of(list[i]);
    });
  }
}

/// Replayed frontiers come from a list; everything else about them is known.
template <class P, bool bucketed>
FrontierSize HostExecutor<P, bucketed>::replay_next() {
  const Schedule& schedule = *input_.replay;
  if (replayed_ == schedule.levels()) return {};
  const std::uint64_t level = schedule.levels() - ++replayed_;
  const auto [begin, end]   = schedule.level(level);
  const std::uint64_t count = end - begin;
  const auto          found = schedule.vertices().subspan(begin, count);
  if (!lists()) return replay_bitmap(found);
  if constexpr (T::in_place)
    if (is_bitmap_) {  // whose bits are not those of the frontier that comes
      make_list();
      clear_bits(active_, front_.span());
    }
  front_.clear();
  Vertex* const list = front_.grow(count);
  for_each_share(threads_for(count), count, [&](std::uint64_t from, std::uint64_t to, int thread) {
    for (std::uint64_t i = from; i < to; ++i) {
      list[i] = found[i];
      local_of(thread).edges += degree(list[i]);
    }
  });
  is_list_           = true;
  is_bitmap_         = false;
  frontier_          = collect();
  frontier_.vertices = count;
  return frontier_;
}

/// They were recorded from a bitmap: they are in order.
template <class P, bool bucketed>
FrontierSize HostExecutor<P, bucketed>::replay_bitmap(std::span<const Vertex> found) {
  for (Bitmap* bitmap : {&active_, &next_}) bitmap->clear(0, bitmap->size());
  for (const Vertex v : found) {
    active_.claim(v);
    local_of(0).edges += degree(v);
  }
  input_.replay->evict();
  evict({0, n_});
  is_bitmap_         = true;
  frontier_          = collect();
  frontier_.vertices = found.size();
  return frontier_;
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::record() {
  if (frontier_.vertices == 0) return;
  if (lists()) {
    make_list();
    input_.record->extend(front_.span());
  } else {
    for (std::uint64_t i = 0; i < active_.size(); ++i) {
      std::array<Vertex, Bitmap::bits> some;
      std::size_t                      count = 0;
      Bitmap::for_each(active_.word(i), i, [&](Vertex v) { some[count++] = v; });
      input_.record->extend({some.data(), count});
    }
  }
  input_.record->end_level();
}

}  // namespace spillway::host
