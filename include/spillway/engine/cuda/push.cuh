// Push: listed vertices send along their rows; short rows by a warp as one, long ones by a block, hubs by all.
#pragma once

#include <spillway/engine/cuda/machine.cuh>

namespace spillway::cuda {

/// Where everyone pushes, a warp has a row.
template <class P, class Rows>
__device__ void Machine<P, Rows>::push_rows(const Rows& rows, unsigned at) {
  const unsigned width = row_lanes();
  if constexpr (T::all_active) {
    if (width == 0)
      return deal<WarpTeam>(view_.vertices,
                            [&](std::uint64_t v) { push_row<WarpTeam>(rows, static_cast<Vertex>(v), at); });
    deal_to_groups(std::uint64_t{0}, view_.vertices, width, [&](std::uint64_t i, bool there) {
      const auto v = static_cast<Vertex>(there ? i : 0);
      push_by_lanes(rows, {v, there ? rows.slice(v) : RowSlice{}}, there, width, at);
    });
  } else {
    const Lists& now = *lists_at_;
    push_listed<GridTeam>(rows, view_.hubs[at % 2], now.hubs, at);
    push_listed<BlockTeam>(rows, view_.large[at % 2], now.large, at);
    if (width == 0) return push_small(rows, view_.small[at % 2], now.small, at);
    deal_to_groups(0u, now.small, width, [&](std::uint64_t i, bool there) {
      const Vertex v = there ? view_.small[at % 2][i] : 0;
      push_by_lanes(rows, {v, there ? rows.slice(v) : RowSlice{}}, there, width, at);
    });
  }
}

/// By virtual warps of `width` lanes; a row of one is a row to a lane.
template <class P, class Rows>
__device__ void Machine<P, Rows>::push_by_lanes(const Rows& rows, const OwnRow& own, bool mine, unsigned width,
                                                unsigned at) {
  const unsigned rank = lane_index() % width, length = mine ? own.slice.length() : 0;
  push_edges_of(rows, own, mine ? sent_by(own.vertex) : Message{},
                {rank, width, rank < length ? (length - rank + width - 1) / width : 0}, at);
}

template <class P, class Rows>
template <class Team>
__device__ void Machine<P, Rows>::push_listed(const Rows& rows, const Vertex* list, unsigned count, unsigned at) {
  deal<Team>(count, [&](std::uint64_t i) { push_row<Team>(rows, list[i], at); });
}

template <class P, class Rows>
template <class Team>
__device__ void Machine<P, Rows>::push_row(const Rows& rows, Vertex v, unsigned at) {
  push_slice<Team>(rows, v, rows.slice(v), at);
}

/// Warps of a team stay together and take some edges that lie side by side each.
template <class P, class Rows>
template <class Team>
__device__ void Machine<P, Rows>::push_slice(const Rows& rows, Vertex v, RowSlice slice, unsigned at) {
  if (slice.length() == 0) return;
  const Message message = sent_by(v);
  if (Team::rank() == 0) note_looked_at(slice.length());
  unsigned lead = 0;
  if constexpr (Rows::line_edges > 0) {
    lead  = rows.lead(slice);
    slice = Rows::with_lead(slice, lead);
  }
  const unsigned length = slice.length(), lane = lane_index();
  for (EdgeIndex first = EdgeIndex{Team::rank() - lane} * push_batch; first < length;
       first += EdgeIndex{push_batch} * Team::size()) {
    const auto     base = static_cast<unsigned>(first);
    const Together edges{rows.template span<push_batch>(slice, base, staged())};
    Sent           sent[push_batch];
#pragma unroll
    for (unsigned k = 0; k < push_batch; ++k) {
      const unsigned edge = base + k * warp_lanes + lane;
      sent[k]             = {v, message, edge >= lead && edge < length};
    }
    push_edges(rows, edges, sent, at);
  }
}

/// Of the slices that lanes have, those of several lines in host memory, one after the other; the others are left.
template <class P, class Rows>
__device__ void Machine<P, Rows>::push_lines(const Rows& rows, Vertex v, RowSlice& slice, unsigned at) {
  if constexpr (Rows::line_edges > 0) {
    if (!rows.on_host) return;
    const bool is_long = slice.length() >= view_.sizes.line_edges;
    for_each_owner(is_long,
                   [&](unsigned lane) { push_slice<WarpTeam>(rows, shuffle(v, lane), shuffle(slice, lane), at); });
    if (is_long) slice = {};
  }
}

/// A warp takes some vertices and walks the edges of all as one row: lane by lane, whatever the degrees.
template <class P, class Rows>
__device__ void Machine<P, Rows>::push_small(const Rows& rows, const Vertex* list, unsigned count, unsigned at) {
  deal_to_lanes(0u, count, [&](std::uint64_t i, bool mine) {
    const Vertex v = mine ? list[i] : 0;
    push_as_one(rows, v, mine ? rows.slice(v) : RowSlice{}, mine, at);
  });
}

/// The slices that lanes have, those with `mine`; the others bring an empty one.
template <class P, class Rows>
__device__ void Machine<P, Rows>::push_as_one(const Rows& rows, Vertex v, RowSlice slice, bool mine, unsigned at) {
  push_lines(rows, v, slice, at);
  const unsigned length  = slice.length();
  const Message  message = mine && length > 0 ? sent_by(v) : Message{};
  const unsigned before  = warp_exclusive_sum(length);
  const unsigned all     = __shfl_sync(all_lanes, before + length, warp_lanes - 1);
  note_looked_at(length);
  for (unsigned step = 0; step < all; step += push_batch * warp_lanes) {
    Sent  sent[push_batch];
    Apart edges;
#pragma unroll
    for (unsigned j = 0; j < push_batch; ++j) {
      const unsigned k     = step + j * warp_lanes + lane_index();
      const unsigned owner = owner_of(k, before);
      const unsigned ahead = __shfl_sync(all_lanes, before, static_cast<int>(owner));
      edges.place[j]       = Rows::place(shuffle(slice, owner), k - ahead);
      sent[j]              = {shuffle(v, owner), shuffle(message, owner), k < all};
    }
    push_edges(rows, edges, sent, at);
  }
}

template <class P, class Rows>
template <class Edges, unsigned batch>
__device__ void Machine<P, Rows>::push_edges(const Rows& rows, const Edges& edges, const Sent (&sent)[batch],
                                             unsigned at) {
  Vertex        to[batch];
  bool          valid[batch];
  std::uint32_t weight[batch] = {};
#pragma unroll
  for (unsigned k = 0; k < batch; ++k) {
    valid[k] = sent[k].valid;
    to[k]    = edges.target(rows, k, valid[k]);
    if constexpr (Rows::in_windows) {
      valid[k] = valid[k] && view_.receivers.has(to[k]);
      if (!valid[k]) to[k] = view_.receivers.first;
    }
  }
  // Fused rounds are bound by latency: the value below decides, without a read of the settled bit before it.
  if constexpr (T::in_place) {
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) {
      valid[k] = valid[k] && (fuses() || !is_settled(to[k]));
      if (!valid[k]) to[k] = view_.receivers.first;
    }
  }
  if constexpr (T::weighted) {
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) weight[k] = edges.weight(rows, k, valid[k]);
  }
  const auto update_of = [&](unsigned k) {
    return compute(sent[k].message, edge_of(weight[k], sent[k].source, to[k]), to[k]);
  };
  std::conditional_t<T::in_place, Value, bool> seen[batch];
  if constexpr (T::in_place) {
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) seen[k] = atomics::load_cached(view_.receiving[to[k]]);
#pragma unroll
    for (unsigned k = 0; k < batch; ++k) valid[k] = valid[k] && Combine::improves(seen[k], update_of(k));
  }
#pragma unroll
  for (unsigned k = 0; k < batch; ++k) {
    if constexpr (T::voting)
      note_pushed(to[k], valid[k] && is_up_for(to[k]) && vote(update_of(k), to[k], at), at);
    else if constexpr (T::in_place)
      note_pushed(to[k], valid[k] && improve(seen[k], update_of(k), to[k], at), at);
    else if (view_.sizes.aggregate)
      note_pushed(to[k], gather_together(valid[k] ? update_of(k) : Update{}, valid[k], to[k], at), at);
    else
      note_pushed(to[k], valid[k] && gather(update_of(k), to[k], at), at);
  }
}

/// False if the vote comes too late, for all that can be seen without taking the vertex's bit.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::is_up_for(Vertex v) const {
  return eager_ || test_now(view_.open, v);
}

template <class P, class Rows>
__device__ bool Machine<P, Rows>::vote(const Update& update, Vertex v, unsigned at) {
  const EdgeIndex edges = degree(v);  // asked for before the bit is, so that one does not wait for the other
  if (!take(view_.open, v)) return false;
  ++mine_.closed_vertices;
  mine_.closed_edges += edges;
  if (!applied(view_.receiving[v], update, v)) return false;
  if (view_.batch == nullptr) claim(view_.bits[(at + 1) % 3], v);
  return true;
}

template <class P, class Rows>
__device__ bool Machine<P, Rows>::improve(const Value& seen, const Update& update, Vertex v, unsigned at) {
  bool improved = false;
  if constexpr (requires(Value & slot) { Combine::improve_atomically(slot, update, seen); })
    improved = Combine::improve_atomically(view_.receiving[v], update, seen);
  else
    improved = Combine::improve_atomically(view_.receiving[v], update);
  return improved && !comes_later(v, update) && touch(v, at);
}

template <class P, class Rows>
__device__ bool Machine<P, Rows>::gather(const Update& update, Vertex v, unsigned at) {
  if constexpr (tracks_open)
    if (!test(view_.open, v)) return false;
  if constexpr (Combine::idempotent)
    Combine::improve_atomically(view_.sums[v], update);
  else
    Combine::combine_atomically(view_.sums[v], update);
  return touch(v, at);
}

/// What some updates for an open vertex came to.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::merge_gathered(const Accumulator& sum, Vertex v, unsigned at) {
  if constexpr (Combine::idempotent)
    Combine::improve_atomically(view_.sums[v], sum);
  else
    Combine::merge_atomically(view_.sums[v], sum);
  return touch(v, at);
}

/// Lanes that write to one vertex combine their updates first, and one of them writes. All lanes come.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::gather_together(const Update& update, bool valid, Vertex v, unsigned at) {
  bool wants = valid;
  if constexpr (tracks_open) wants = wants && test(view_.open, v);
  Accumulator sum = detail::converted<Accumulator>(Combine::identity());
  if (wants) sum = detail::converted<Accumulator>(update);
  const unsigned peers = __match_any_sync(all_lanes, wants ? v : no_vertex);
  const bool     leads = wants && (peers & ((1u << lane_index()) - 1)) == 0;
  unsigned       rest  = leads ? peers & (peers - 1) : 0;
  while (__any_sync(all_lanes, rest != 0)) {
    const Accumulator other =
        shuffle(sum, rest != 0 ? static_cast<unsigned>(__ffs(static_cast<int>(rest)) - 1) : lane_index());
    if (rest != 0) sum = Combine::combine(sum, other);
    rest &= rest - 1;
  }
  return leads && merge_gathered(sum, v, at);
}

/// The vertex has something new: true if it is to be noted, the first time or, for the batch filter, every time.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::touch(Vertex v, unsigned at) {
  if constexpr (T::all_active) return false;
  if (replays_ahead && view_.replay != nullptr) return false;
  if (view_.batch != nullptr) return true;
  Word* const next = view_.bits[(at + 1) % 3];
  if (fuses()) return claim_releasing(next, v);
  return (eager_ || !test_now(next, v)) && claim(next, v);
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::note_pushed(Vertex v, bool found, unsigned at) {
  if (view_.batch != nullptr) {
    const Count place = reserve(&counters(at + 1).batched, found);
    if (found) view_.batch[place] = v;
  } else if constexpr (T::gathers) {
    note_touched(v, found, at);
  } else {
    note_active(v, found, at);
  }
}

}  // namespace spillway::cuda
