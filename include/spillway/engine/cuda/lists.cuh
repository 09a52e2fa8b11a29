// Frontiers as lists: of small, large and huge rows; filled as vertices are found, from the bitmap, or from a
// record.
#pragma once

#include <spillway/engine/cuda/machine.cuh>

namespace spillway::cuda {

/// The vertices of the frontier's bitmap are listed: SIMD-X's ballot filter. Sorted within a warp's words.
template <class P, class Rows>
__device__ void Machine<P, Rows>::list_frontier(unsigned at) {
  begin_phase();
  for_word_batches([&](std::uint64_t base, bool mine) {
    const Word word = mine ? view_.bits[at % 3][base + lane_index()] : 0;
    if (__any_sync(all_lanes, word != 0)) list_word_batch(base, across(word), at, counters(at).balloted);
  });
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::publish(unsigned at, bool listed) {
  begin_phase();
  if constexpr (T::all_active) {
    for (std::uint64_t v = thread(); v < view_.vertices; v += threads()) publish_vertex(static_cast<Vertex>(v));
  } else if (listed) {
    const IterationCounters::Lists& now = *lists_at_;
    for (std::uint64_t i = thread(); i < now.small; i += threads()) publish_vertex(view_.small[at % 2][i]);
    for (std::uint64_t i = thread(); i < now.large; i += threads()) publish_vertex(view_.large[at % 2][i]);
    for (std::uint64_t i = thread(); i < now.hubs; i += threads()) publish_vertex(view_.hubs[at % 2][i]);
  } else {
    for_set_words(view_.bits[at % 3], [&](std::uint64_t index, Word word) {
      if ((word >> lane_index()) & 1) publish_vertex(vertex_at(index));
    });
  }
  end_phase(counters(at + 1), slot(0, at));
}

/// The frontier is written down, behind the `before` vertices of those before it.
template <class P, class Rows>
__device__ void Machine<P, Rows>::record(unsigned at, bool listed, Count before) {
  Vertex* const to = view_.record + before;
  if (listed) {
    const IterationCounters::Lists& now = *lists_at_;
    for (std::uint64_t i = thread(); i < now.small; i += threads()) to[i] = view_.small[at % 2][i];
    for (std::uint64_t i = thread(); i < now.large; i += threads()) to[now.small + i] = view_.large[at % 2][i];
    for (std::uint64_t i = thread(); i < now.hubs; i += threads())
      to[now.small + now.large + i] = view_.hubs[at % 2][i];
  } else {
    for_set_words(view_.bits[at % 3], [&](std::uint64_t index, Word word) {
      const bool     active = (word >> lane_index()) & 1;
      const unsigned place  = reserve(&counters(at).recorded, active);
      if (active) to[place] = vertex_at(index);
    });
  }
}

/// A recorded frontier becomes the one at hand, and its messages are published.
template <class P, class Rows>
__device__ void Machine<P, Rows>::replay(unsigned at, std::uint64_t first, std::uint64_t last) {
  begin_phase();
  Count               edges_of_all = 0;
  const std::uint64_t stride       = std::uint64_t{warps()} * warp_lanes;
  for (std::uint64_t base = first + warp_index() * warp_lanes; base < last; base += stride) {
    const bool      mine  = base + lane_index() < last;
    const Vertex    v     = mine ? view_.replay[base + lane_index()] : 0;
    const EdgeIndex edges = mine ? degree(v) : 0;
    if (mine) {
      claim(view_.bits[at % 3], v);
      if constexpr (!publishes_on_push) publish_vertex(v);
    }
    edges_of_all += edges;
    list(v, edges, mine, at, counters(at).balloted);
  }
  edges_of_all = warp_sum(edges_of_all);
  if (lane_index() == 0 && edges_of_all != 0) atomicAdd(&counters(at).replayed_edges, edges_of_all);
  end_phase(counters(at + 1), slot(0, at));
}

/// The batch filter: of what a push has found, every vertex once.
template <class P, class Rows>
__device__ void Machine<P, Rows>::filter_batch(unsigned at) {
  begin_phase();
  const Count count = counters(at + 1).batched, stride = Count{warps()} * warp_lanes;
  for (Count base = Count{warp_index()} * warp_lanes; base < count; base += stride) {
    const bool   mine    = base + lane_index() < count;
    const Vertex v       = mine ? view_.batch[base + lane_index()] : 0;
    const bool   claimed = mine && claim(view_.bits[(at + 1) % 3], v);
    if constexpr (T::gathers)
      note_touched(v, claimed, at);
    else
      note_active(v, claimed, at);
  }
  end_phase(counters(at + 1), slot(2, at));
}

/// The last frontier's bits are cleared for the one after the next.
template <class P, class Rows>
__device__ void Machine<P, Rows>::clear_last(unsigned at) {
  if constexpr (!T::all_active) {
    Word* const         last  = view_.bits[(at + 2) % 3];
    const std::uint64_t words = word_count();
    for (std::uint64_t i = thread(); i < words; i += threads()) last[i] = 0;
  }
  if (thread() == 0) counters(at + 2) = IterationCounters{.lowest = ~Count{0}};
}

/// A found vertex is counted and listed; its bit is set already. All lanes come.
template <class P, class Rows>
__device__ void Machine<P, Rows>::note_active(Vertex v, bool active, unsigned at) {
  if (!__any_sync(all_lanes, active)) return;
  const EdgeIndex edges = active ? degree(v) : 0;
  mine_.vertices += active;
  mine_.edges += edges;
  IterationCounters& next = counters(at + 1);
  list(v, edges, in_bin(active, next.overflowed), at + 1, next.found);
}

/// The online filter: every thread may find so many; beyond that the bitmap has to be scanned.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::in_bin(bool found, unsigned& overflowed) {
  if (!found) return false;
  if (lists_ && mine_.found++ < view_.sizes.bin_entries) return true;
  if (!mine_.overflow_noted) overflowed = 1;  // millions that write the same word wait for one another
  mine_.overflow_noted = true;
  return false;
}

/// Small, large and huge rows go into lists of their own. All lanes come.
template <class P, class Rows>
__device__ void Machine<P, Rows>::list(Vertex v, EdgeIndex edges, bool wants, unsigned at,
                                       IterationCounters::Lists& lists) {
  const bool     hub   = wants && edges >= view_.sizes.hub_degree;
  const bool     large = wants && !hub && edges >= view_.sizes.large_degree;
  const bool     small = wants && !hub && !large;
  const unsigned place = reserve(&lists.small, small);
  if (small) view_.small[at % 2][place] = v;
  if (!__any_sync(all_lanes, hub || large)) return;
  const unsigned large_place = reserve(&lists.large, large), hub_place = reserve(&lists.hubs, hub);
  if (large) view_.large[at % 2][large_place] = v;
  if (hub) view_.hubs[at % 2][hub_place] = v;
}

/// This lane's vertices of a chunk, by their bits, go into the lists; their edges are returned. All lanes come.
template <class P, class Rows>
__device__ EdgeIndex Machine<P, Rows>::list_word_batch(std::uint64_t base, unsigned wants, unsigned at,
                                                       IterationCounters::Lists& lists) {
  EdgeIndex edges = 0;
  unsigned  large = 0, hubs = 0;
#pragma unroll
  for (unsigned k = 0; k < chunk; ++k) {
    const bool      wanted = (wants >> k) & 1;
    const EdgeIndex own    = wanted ? degree(vertex_at(base + k)) : 0;
    hubs |= (own >= view_.sizes.hub_degree) << k;
    large |= (own >= view_.sizes.large_degree) << k;
    edges += own;
  }
  large &= ~hubs;
  append(base, wants & ~large & ~hubs, &lists.small, view_.small[at % 2]);
  if (!__any_sync(all_lanes, (large | hubs) != 0)) return edges;
  append(base, large, &lists.large, view_.large[at % 2]);
  append(base, hubs, &lists.hubs, view_.hubs[at % 2]);
  return edges;
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::append(std::uint64_t base, unsigned wants, unsigned* count, Vertex* to) {
  const auto     own    = static_cast<unsigned>(__popc(wants));
  const unsigned before = warp_exclusive_sum(own);
  const unsigned all    = __shfl_sync(all_lanes, before + own, warp_lanes - 1);
  if (all == 0) return;
  unsigned place = 0;
  if (lane_index() == 0) place = atomicAdd(count, all);
  place = __shfl_sync(all_lanes, place, 0) + before;
  for (; wants != 0; wants &= wants - 1)
    to[place++] = vertex_at(base + static_cast<unsigned>(__ffs(static_cast<int>(wants)) - 1));
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::note_touched(Vertex v, bool touched, unsigned at) {
  if constexpr (T::all_active) return;
  if (!__any_sync(all_lanes, touched)) return;
  IterationCounters& next  = counters(at + 1);
  const bool         wants = in_bin(touched, next.touched_overflowed);
  const unsigned     place = reserve(&next.touched, wants);
  if (wants) view_.touched[place] = v;
}

}  // namespace spillway::cuda
