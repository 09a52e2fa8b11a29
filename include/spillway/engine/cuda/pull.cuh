// Pull: open vertices look for a vote, or gather, along their rows; a lane, a warp or a block to a row.
#pragma once

#include <spillway/engine/cuda/machine.cuh>

namespace spillway::cuda {

template <class P, class Rows>
__device__ void Machine<P, Rows>::pull_word(std::uint64_t index, Word open, unsigned at) {
  if (open == 0) return;
  const Vertex v     = vertex_at(index);
  const bool   wants = v < view_.vertices && ((open >> lane_index()) & 1);
  bool         active;
  if constexpr (T::voting)
    active = pull_vote(v, wants, index, at);
  else
    active = pull_rows(v, wants, at);
  if constexpr (T::all_active) {
    mine_.vertices += active;
  } else {
    const Word mask = __ballot_sync(all_lanes, active);
    if (mask == 0) return;
    if (lane_index() == 0) atomicOr(view_.bits[(at + 1) % 3] + index, mask);
    note_active(v, active, at);
  }
}

/// Each lane tries a few neighbours of its vertex; then the warp helps those that have more.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::pull_vote(Vertex v, bool wants, std::uint64_t index, unsigned at) {
  bool   hit      = false;
  Place  found_at = {};
  Vertex source   = 0;
  int    found_in = 0;
  for (int b = 0; b < view_.pull_blocks; ++b) {
    const Rows&    rows  = view_.pull[b];
    const RowSlice slice = wants ? rows.slice(v) : RowSlice{};
    const unsigned last  = slice.length();
    unsigned       i     = 0;
    if (!hit)
      for (; i < last && i < view_.sizes.probes; ++i) {
        const Place  place  = Rows::place(slice, i);
        const Vertex target = rows.target(place);
        if (!is_active(target, at)) continue;
        hit = true, found_at = place, source = target, found_in = b;
        break;
      }
    mine_.looked_at += i;
    for_each_owner(!hit && i < last, [&](unsigned lane) {
      const RowSlice row  = shuffle(slice, lane);
      const unsigned from = shuffle(i, lane), to = row.length();
      for (unsigned base = from / warp_lanes * warp_lanes; base < to; base += warp_lanes) {
        const unsigned k     = base + lane_index();
        const bool     there = k >= from && k < to;
        const Vertex target = rows.template target_in<false>(rows.template span<1>(row, base, staged()), 0, there);
        const unsigned mask = __ballot_sync(all_lanes, there && is_active(target, at));
        mine_.looked_at += lane_index() == 0 ? warp_lanes : 0;
        if (mask == 0) continue;
        const auto   finder = static_cast<unsigned>(__ffs(static_cast<int>(mask)) - 1);
        const Vertex found  = __shfl_sync(all_lanes, target, static_cast<int>(finder));
        if (lane_index() == lane)
          hit = true, found_at = Rows::place(row, base + finder), source = found, found_in = b;
        break;
      }
    });
  }
  const Word closed = __ballot_sync(all_lanes, hit);
  if (closed == 0) return false;
  if (lane_index() == 0) view_.open[index] &= ~closed;
  if (!hit) return false;
  std::uint32_t weight = 0;
  if constexpr (T::weighted) weight = view_.pull[found_in].weight(found_at);
  ++mine_.closed_vertices;
  mine_.closed_edges += degree(v);
  return applied(view_.values[v], compute(message_of(source), edge_of(weight, source, v), v), v);
}

template <class P, class Rows>
__device__ auto Machine<P, Rows>::nothing(Vertex v) const -> Collected {
  if constexpr (T::in_place)
    return atomics::load(view_.values[v]);
  else
    return detail::converted<Accumulator>(Combine::identity());
}

/// What `width` threads collect from a row; of it, what this one does. Warps that have a row for themselves, or
/// share it, read edges that lie side by side together.
template <class P, class Rows>
template <unsigned width>
__device__ bool Machine<P, Rows>::collect(Collected& all, const Rows& rows, const RowSlice& slice, Vertex v,
                                          unsigned at) const {
  const unsigned number = threadIdx.x % width, end = slice.length();
  if constexpr (width < warp_lanes)
    return collect_edges(all, rows, slice, {number, width, number < end ? (end - number + width - 1) / width : 0},
                         v, at);
  const unsigned lane = lane_index();
  bool           hit  = false;
  for (unsigned base = (number - lane) * pull_batch; base < end; base += pull_batch * width) {
    bool there[pull_batch];
#pragma unroll
    for (unsigned k = 0; k < pull_batch; ++k) there[k] = base + k * warp_lanes + lane < end;
    if constexpr (prefetches)
      if (lane == 0) rows.prefetch(slice, base + pull_batch * width, pull_batch * warp_lanes, T::weighted);
    const Span span = rows.template span<pull_batch>(slice, base, staged());
    const bool some = collect_batch(
        all, there, v, at, [&](unsigned k) { return rows.template target_in<T::all_active>(span, k, there[k]); },
        [&](unsigned k) { return rows.weight_in(span, k, there[k]); });
    hit |= some;
    // By their weights, the best that a lane has found leaves out edges of the others, too.
    if constexpr (in_buckets && CouldImprove<P>)
      if (__any_sync(all_lanes, some)) all = combined_over_lanes<Combine, warp_lanes>(all);
  }
  return hit;
}

/// What one thread collects from some edges of a row.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::collect_edges(Collected& all, const Rows& rows, const RowSlice& slice,
                                                const NodeEdges& edges, Vertex v, unsigned at) const {
  bool hit = false;
  for (unsigned i = 0; i < edges.count; i += pull_batch) {
    bool there[pull_batch];
#pragma unroll
    for (unsigned k = 0; k < pull_batch; ++k) there[k] = i + k < edges.count;
    const auto place = [&](unsigned k) { return Rows::place(slice, edges.at(i + k)); };
    hit |= collect_batch(
        all, there, v, at, [&](unsigned k) -> Vertex { return there[k] ? rows.target(place(k)) : 0; },
        [&](unsigned k) -> std::uint32_t { return there[k] ? rows.weight(place(k)) : 0; });
  }
  return hit;
}

/// Edges of a row, those that are `there`. What several of them need is asked for before any of it is used.
template <class P, class Rows>
template <class TargetOf, class WeightOf>
__device__ bool Machine<P, Rows>::collect_batch(Collected& all, bool (&there)[pull_batch], Vertex v, unsigned at,
                                                const TargetOf& target_of, const WeightOf& weight_of) const {
  Vertex         source[pull_batch];
  Message        message[pull_batch];
  std::uint32_t  weight[pull_batch] = {};
  bool           hit                = false;
  constexpr bool by_weight          = in_buckets && CouldImprove<P>;
  if constexpr (by_weight) {
#pragma unroll
    for (unsigned k = 0; k < pull_batch; ++k) weight[k] = weight_of(k);
  }
  const bool at_once = !by_weight || targets_at_once();
  if (at_once) {
#pragma unroll
    for (unsigned k = 0; k < pull_batch; ++k) source[k] = target_of(k);
  }
  if constexpr (by_weight) {
#pragma unroll
    for (unsigned k = 0; k < pull_batch; ++k) there[k] = there[k] && could_improve(weight[k], all);
  }
  if (!at_once) {
#pragma unroll
    for (unsigned k = 0; k < pull_batch; ++k) source[k] = target_of(k);
  }
#pragma unroll
  for (unsigned k = 0; k < pull_batch; ++k) there[k] = there[k] && is_active(source[k], at);
#pragma unroll
  for (unsigned k = 0; k < pull_batch; ++k) message[k] = message_from(there[k] ? source[k] : 0);
  if constexpr (sums_hubs) {
    const Message sent = message_of(v);
#pragma unroll
    for (unsigned k = 0; k < pull_batch; ++k)
      if (there[k]) send_to_hub(v, sent, source[k]);
  }
  if constexpr (T::weighted && !by_weight) {
#pragma unroll
    for (unsigned k = 0; k < pull_batch; ++k) weight[k] = weight_of(k);
  }
#pragma unroll
  for (unsigned k = 0; k < pull_batch; ++k) {
    if (!there[k] || !was_reached(message[k])) continue;
    hit = true;
    combine_into(all, compute(message[k], edge_of(weight[k], source[k], v), v));
  }
  return hit;
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::combine_into(Collected& all, const Update& update) {
  if constexpr (T::in_place)
    Combine::improve(all, update);
  else
    all = Combine::combine(all, detail::converted<Accumulator>(update));
}

/// Words of vertices, some at once where all of their rows are short; from a word on.
template <class P, class Rows>
__device__ void Machine<P, Rows>::pull_several_words(std::uint64_t from, unsigned at) {
  const std::uint64_t words = word_count();
  for (std::uint64_t first = from + warp_index(); first < words; first += std::uint64_t{several} * warps()) {
    if (view_.pull_blocks == 1 && row_lanes() == 0 && pull_short_rows(first, at)) continue;
    for (unsigned k = 0; k < several; ++k)
      if (const std::uint64_t index = first + std::uint64_t{k} * warps(); index < words)
        pull_word(index, all_lanes, at);
  }
}

/// A row to a lane, and `several` of them at once. False, and nothing is done, if one is not short.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::pull_short_rows(std::uint64_t first, unsigned at) {
  const Rows& rows = view_.pull[0];
  Vertex      v[several];
  RowSlice    slice[several];
  bool        there[several];
  unsigned    longest = 0;
#pragma unroll
  for (unsigned k = 0; k < several; ++k) {
    const std::uint64_t index = first + std::uint64_t{k} * warps();
    v[k]                      = vertex_at(index);
    there[k]                  = index < word_count() && v[k] < view_.vertices;
    slice[k]                  = there[k] ? rows.slice(v[k]) : RowSlice{};
    longest                   = slice[k].length() > longest ? slice[k].length() : longest;
  }
  if (__any_sync(all_lanes, longest >= lane_row || longest >= view_.sizes.large_degree)) return false;
  Value     value[several];
  Collected all[several];
  Message   sent[several];
#pragma unroll
  for (unsigned k = 0; k < several; ++k) {
    if (there[k]) value[k] = view_.values[v[k]];
    if constexpr (sums_hubs) sent[k] = message_of(there[k] ? v[k] : 0);
    all[k] = nothing(v[k]);
  }
  for (unsigned i = 0; i < longest; i += pull_batch) {
    Vertex source[several][pull_batch];
#pragma unroll
    for (unsigned k = 0; k < several; ++k)
#pragma unroll
      for (unsigned j = 0; j < pull_batch; ++j)
        source[k][j] = i + j < slice[k].length() ? rows.target(Rows::place(slice[k], i + j)) : no_vertex;
#pragma unroll
    for (unsigned k = 0; k < several; ++k) {
      Message message[pull_batch];
#pragma unroll
      for (unsigned j = 0; j < pull_batch; ++j)
        message[j] = message_from(source[k][j] != no_vertex ? source[k][j] : 0);
      if constexpr (sums_hubs) {
#pragma unroll
        for (unsigned j = 0; j < pull_batch; ++j) send_to_hub(v[k], sent[k], source[k][j]);
      }
#pragma unroll
      for (unsigned j = 0; j < pull_batch; ++j)
        if (source[k][j] != no_vertex)
          combine_into(all[k], compute(message[j], edge_of(0, source[k][j], v[k]), v[k]));
    }
  }
#pragma unroll
  for (unsigned k = 0; k < several; ++k) {
    if (!there[k]) continue;
    mine_.looked_at += slice[k].length();
    mine_.vertices += settle(v[k], value[k], all[k]);
  }
  return true;
}

/// False only if the program says that nobody of this bucket or a later one improves `all` along an edge like
/// this. Of split rows, weights say nothing before it is known whose they are.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::could_improve(std::uint32_t weight, const Collected& all) const {
  if constexpr (in_buckets && CouldImprove<P>)
    return (T::heeds_trees && view_.tree.any()) ||
           view_.program.could_improve(__builtin_bit_cast(Weight, weight), all,
                                       Operations<P>::bucket_start(bucket_, view_.bucket_width));
  return true;
}

/// Rows of `left`, the lanes that own one, are shared out among groups of `width` lanes; each owner gets what its
/// group has found.
template <class P, class Rows>
template <unsigned width>
__device__ void Machine<P, Rows>::pull_by_groups(unsigned left, const Rows& rows, const OwnRow& own,
                                                 Collected& all, bool& hit, unsigned at) {
  constexpr unsigned groups = warp_lanes / width;
  const unsigned     group = lane_index() / width, before = (1u << lane_index()) - 1;
  while (left != 0) {
    unsigned mine = left, rest = left;  // the group's own row is the lowest of `mine`
    for (unsigned g = 0; g < groups; ++g) {
      if (g == group) mine = rest;
      rest &= rest - 1;
    }
    const unsigned owner = mine != 0 ? static_cast<unsigned>(__ffs(static_cast<int>(mine)) - 1) : 0;
    const Vertex   to    = shuffle(own.vertex, owner);
    const RowSlice row   = shuffle(own.slice, owner);
    Collected      part;
    if constexpr (T::in_place && sizeof(Collected) <= 8)
      part = shuffle(all, owner);  // which has read its value
    else
      part = nothing(to);
    bool any = false;
    if (mine != 0) any = collect<width>(part, rows, row, to, at);
    part                 = combined_over_lanes<Combine, width>(part);
    const unsigned  hits = __ballot_sync(all_lanes, any);
    const unsigned  done = left & ~rest;
    const unsigned  from = (__popc(done & before) * width) % warp_lanes;  // the group that worked for this lane
    const Collected got  = shuffle(part, from);
    if ((done >> lane_index()) & 1) {
      all = Combine::combine(all, got);
      hit |= ((hits >> from) & (all_lanes >> (warp_lanes - width))) != 0;
    }
    left = rest;
  }
}

/// Short rows a lane each, longer ones by a few lanes or the warp. True if anything was there to collect.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::collect_in_bins(Collected& all, const Rows& rows, const OwnRow& own,
                                                  unsigned at) {
  return collect_by(Rows::in_windows ? 0 : row_lanes(), all, rows, own, at);
}

/// By so many lanes a row, whatever its length; 0: as above.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::collect_by(unsigned width, Collected& all, const Rows& rows, const OwnRow& own,
                                             unsigned at) {
  const unsigned length   = own.slice.length();
  const unsigned by_lane  = width == 0 ? lane_row : width == 1 ? ~0u : 1;
  const unsigned by_group = width == 0 ? group_row : width <= 8 ? ~0u : 1;
  bool           hit      = length < by_lane && collect<1>(all, rows, own.slice, own.vertex, at);
  pull_by_groups<8>(__ballot_sync(all_lanes, length >= by_lane && length < by_group), rows, own, all, hit, at);
  pull_by_groups<warp_lanes>(__ballot_sync(all_lanes, length >= by_lane && length >= by_group), rows, own, all,
                             hit, at);
  return hit;
}

/// True if the vertex becomes active.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::pull_rows(Vertex v, bool wants, unsigned at) {
  EdgeIndex edges = 0;
  if (wants)
    for (int b = 0; b < view_.pull_blocks; ++b) edges += view_.pull[b].slice(v).length();
  const bool mine = wants && edges < view_.sizes.large_degree;  // blocks work on the others
  bool       hit  = false;
  Collected  all  = nothing(wants ? v : 0);
  for (int b = 0; b < view_.pull_blocks; ++b) {
    const Rows&    rows  = view_.pull[b];
    const RowSlice slice = mine ? rows.slice(v) : RowSlice{};
    if constexpr (prefetches)
      if (slice.length() >= lane_row) rows.prefetch(slice, 0, warp_lanes, T::weighted);  // shorter ones come first
    hit |= collect_in_bins(all, rows, {v, slice}, at);
  }
  mine_.looked_at += mine ? edges : 0;
  return mine && (hit || T::all_active) && collected(v, all);
}

/// What was collected reaches the vertex.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::collected(Vertex v, const Collected& all) {
  if constexpr (T::in_place) {
    return Combine::improve_atomically(view_.values[v], all) && !comes_later(v, all);
  } else {
    Value      value  = view_.values[v];
    const bool active = settle(v, value, all);
    if constexpr (Opens<P>) close_if_done(v, degree(v));
    return active && view_.replay == nullptr && !waits_for_its_bucket(v);
  }
}

/// The vertex, whose value this is, gets what was collected for it, and publishes if that is for who pulled.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::settle(Vertex v, Value& value, const Collected& all) {
  const bool active = applied(value, detail::converted<Update>(all), v);
  if constexpr (T::live_messages)
    atomics::store_whole(view_.values[v], value);
  else
    view_.values[v] = value;
  if constexpr (publishes_ahead)
    if (next_messages_ != nullptr) publish_ahead(v, value);
  return active;
}

/// A block that is done with a row takes the next one: the longest are a hundred times as long as the shortest.
template <class P, class Rows>
__device__ void Machine<P, Rows>::pull_long_rows(unsigned at) {
  const unsigned count = view_.long_row_count;
  if (view_.fixed) {
    deal<BlockTeam>(count, [&](std::uint64_t i) { pull_large(view_.long_rows[i], at); });
    return;
  }
  if (count == 0) return;
  __shared__ unsigned row;
  if (threadIdx.x == 0) row = atomicAdd(&counters(at + 1).long_rows, 1u);
  __syncthreads();
  for (unsigned i = row; i < count;) {
    unsigned next = 0;
    if (threadIdx.x == 0) next = atomicAdd(&counters(at + 1).long_rows, 1u);  // comes while the row is pulled
    pull_large(view_.long_rows[i], at);
    __syncthreads();
    if (threadIdx.x == 0) row = next;
    __syncthreads();
    i = row;
  }
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::pull_large(Vertex v, unsigned at) {
  if constexpr (tracks_open)
    if (!test(view_.open, v)) return;
  if (is_settled(v)) return;
  alignas(16) __shared__ unsigned char parts[block_warps][sizeof(Collected)];
  __shared__ int                       hits;
  if (threadIdx.x == 0) hits = 0;
  __syncthreads();
  Collected all = nothing(v);
  bool      hit = false;
  for (int b = 0; b < view_.pull_blocks; ++b) {
    const Rows&    rows  = view_.pull[b];
    const RowSlice slice = rows.slice(v);
    hit |= collect<block_threads>(all, rows, slice, v, at);
    if (threadIdx.x == 0) mine_.looked_at += slice.length();
  }
  all = combined_over_lanes<Combine, warp_lanes>(all);
  if (__any_sync(all_lanes, hit) && lane_index() == 0) hits = 1;
  if (lane_index() == 0) memcpy(parts[threadIdx.x / warp_lanes], &all, sizeof(all));
  __syncthreads();
  if (threadIdx.x < warp_lanes) {  // the first warp, together
    bool active = false;
    if (threadIdx.x == 0 && (hits != 0 || T::all_active)) {
      for (unsigned w = 1; w < block_warps; ++w) {
        Collected part;
        memcpy(&part, parts[w], sizeof(part));
        all = Combine::combine(all, part);
      }
      active = collected(v, all);
      if (active && !T::all_active) claim(view_.bits[(at + 1) % 3], v);
    }
    if constexpr (T::all_active)
      mine_.vertices += active;
    else
      note_active(v, active, at);
  }
  __syncthreads();
}

}  // namespace spillway::cuda
