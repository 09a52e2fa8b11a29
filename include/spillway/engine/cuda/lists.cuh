// Frontiers as lists: of small, large and huge rows; filled as vertices are found, from the bitmap, or from a
// record.
#pragma once

#include <spillway/engine/cuda/grid_barrier.cuh>
#include <spillway/engine/cuda/machine.cuh>

namespace spillway::cuda {

/// The vertices of the frontier's bitmap are listed, in their order: SIMD-X's ballot filter. Each warp has some
/// words: it counts, and when all have counted it knows where to write. Rows that are not small are noted in the
/// bitmap of the last frontier, which is cleared later, so that degrees are looked up once.
template <class P, class Rows>
__device__ void Machine<P, Rows>::list_frontier(unsigned at) {
  const Word* const bits      = view_.bits[at % 3];
  Word* const       not_small = view_.bits[(at + 2) % 3];
  Lists             mine{};
  for_own_word_batches([&](std::uint64_t base, bool own) {
    const Word word = own ? bits[base + lane_index()] : 0;
    if (!__any_sync(all_lanes, word != 0)) return;
    const unsigned   wants = across(word);
    const RowClasses rows  = classes_of(base, wants);
    const Word       noted = along(rows.large | rows.hubs);
    if (own) not_small[base + lane_index()] = noted;
    mine.small += static_cast<unsigned>(__popc(wants & ~rows.large & ~rows.hubs));
    mine.large += static_cast<unsigned>(__popc(rows.large));
    mine.hubs += static_cast<unsigned>(__popc(rows.hubs));
  });
  Lists place = listed_before(mine);
  for_own_word_batches([&](std::uint64_t base, bool own) {
    const Word word = own ? bits[base + lane_index()] : 0;
    if (!__any_sync(all_lanes, word != 0)) return;
    const Word noted = own ? not_small[base + lane_index()] : 0;
    place.small += put(base, word & ~noted, view_.small[at % 2] + place.small);
    if (!__any_sync(all_lanes, noted != 0)) return;
    const Word hubs = along(classes_of(base, across(noted)).hubs);
    place.large += put(base, noted & ~hubs, view_.large[at % 2] + place.large);
    place.hubs += put(base, hubs, view_.hubs[at % 2] + place.hubs);
  });
  if (warp_index() == warps() - 1 && lane_index() == 0) counters(at).balloted = place;
}

/// What the warps before this one are to list, when all have counted their own. Blocks add up the counts of their
/// warps, so that there are few to read.
template <class P, class Rows>
__device__ auto Machine<P, Rows>::listed_before(Lists mine) -> Lists {
  const unsigned warp = threadIdx.x / warp_lanes;
  mine                = warp_total(mine);
  if (lane_index() == 0) shared_.listed[warp] = mine;
  __syncthreads();
  Lists before{};
  for (unsigned i = 0; i < warp; ++i) before += shared_.listed[i];
  if (warp == block_warps - 1 && lane_index() == 0) {
    view_.listed[blockIdx.x] = before;
    view_.listed[blockIdx.x] += mine;
  }
  cooperative_groups::this_grid().sync();
  Lists of_blocks{};
  for (unsigned i = lane_index(); i < blockIdx.x; i += warp_lanes) of_blocks += view_.listed[i];
  before += warp_total(of_blocks);
  return before;
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

template <class P, class Rows>
__device__ void Machine<P, Rows>::replay(unsigned at, std::uint64_t first, std::uint64_t last, bool applies) {
  begin_phase();
  Count               edges_of_all = 0;
  const std::uint64_t stride       = std::uint64_t{warps()} * warp_lanes;
  for (std::uint64_t base = first + warp_index() * warp_lanes; base < last; base += stride) {
    const bool      mine  = base + lane_index() < last;
    const Vertex    v     = mine ? view_.replay[base + lane_index()] : 0;
    const EdgeIndex edges = mine ? degree(v) : 0;
    if (mine) {
      if constexpr (replays_ahead)
        if (applies) apply_accumulated(v);
      claim(view_.bits[at % 3], v);
      if constexpr (!publishes_on_push) publish_vertex(v);
    }
    edges_of_all += edges;
    list(v, edges, mine, at, counters(at).balloted);
  }
  edges_of_all = warp_sum(edges_of_all);
  if (lane_index() == 0 && edges_of_all != 0) atomicAdd(&counters(at).replayed_edges, edges_of_all);
  // Ahead of its iteration, the counters of the one after the next are still being cleared.
  end_phase(counters(applies ? at : at + 1), slot(0, at));
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
  if (fuses()) active &= !keep(v, edges, active);  // all lanes come
  mine_.vertices += active;
  mine_.edges += active ? edges : 0;
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
__device__ void Machine<P, Rows>::list(Vertex v, EdgeIndex edges, bool wants, unsigned at, Lists& lists) {
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

/// Of this lane's vertices of a chunk, by their bits: whose rows are large, whose are huge, and the edges of all.
template <class P, class Rows>
__device__ auto Machine<P, Rows>::classes_of(std::uint64_t base, unsigned wants) const -> RowClasses {
  RowClasses rows{};
#pragma unroll
  for (unsigned k = 0; k < chunk; ++k) {
    const bool      wanted = (wants >> k) & 1;
    const EdgeIndex own    = wanted ? degree(vertex_at(base + k)) : 0;
    rows.hubs |= (own >= view_.sizes.hub_degree) << k;
    rows.large |= (own >= view_.sizes.large_degree) << k;
    rows.edges += own;
  }
  rows.large &= ~rows.hubs;
  return rows;
}

/// This lane's vertices of a chunk, by their bits, go into the lists; their edges are returned. All lanes come.
template <class P, class Rows>
__device__ EdgeIndex Machine<P, Rows>::list_word_batch(std::uint64_t base, unsigned wants, unsigned at,
                                                       Lists& lists) {
  const RowClasses rows = classes_of(base, wants);
  append(base, wants & ~rows.large & ~rows.hubs, &lists.small, view_.small[at % 2]);
  if (!__any_sync(all_lanes, (rows.large | rows.hubs) != 0)) return rows.edges;
  append(base, rows.large, &lists.large, view_.large[at % 2]);
  append(base, rows.hubs, &lists.hubs, view_.hubs[at % 2]);
  return rows.edges;
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

/// The vertices of a chunk's words, of which the first lanes have one each, in their order; how many there are.
template <class P, class Rows>
__device__ unsigned Machine<P, Rows>::put(std::uint64_t base, Word word, Vertex* to) {
  unsigned count = 0;
  for (unsigned k = 0; k < chunk; ++k) {
    const Word     of_all = __shfl_sync(all_lanes, word, static_cast<int>(k));
    const unsigned before = static_cast<unsigned>(__popc(of_all & ((1u << lane_index()) - 1)));
    if ((of_all >> lane_index()) & 1) to[count + before] = vertex_at(base + k);
    count += static_cast<unsigned>(__popc(of_all));
  }
  return count;
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
