// Push: listed vertices send along their rows; short rows by a warp as one, long ones by a block, hubs by all.
#pragma once

#include <spillway/engine/cuda/machine.cuh>

namespace spillway::cuda {

template <class P>
__device__ void Machine<P>::push_everyone(unsigned at) {
  for (int b = 0; b < view_.push_blocks; ++b) {
    const Rows& rows = view_.push[b];
    for (std::uint64_t u = warp_index(); u < view_.vertices; u += warps()) {
      const auto    v       = static_cast<Vertex>(u);
      const Message message = sent_by(v);
      for_row(rows.offsets[v], rows.offsets[v + 1], lane_index(), warp_lanes,
              [&](EdgeIndex i, bool valid) { push_edge(rows, i, v, message, valid, at); });
    }
  }
}

/// body(i, valid) for the edges from first + begin on; warps stay together.
template <class P>
template <class Body>
__device__ void Machine<P>::for_row(EdgeIndex first, EdgeIndex last, EdgeIndex begin, EdgeIndex stride,
                                    Body&& body) {
  const EdgeIndex lane = lane_index();
  for (EdgeIndex base = first + begin - lane; base < last; base += stride) body(base + lane, base + lane < last);
  if (begin == 0) mine_.looked_at += last - first;
}

template <class P>
__device__ void Machine<P>::push_hubs(const Rows& rows, unsigned count, unsigned at) {
  for (unsigned i = 0; i < count; ++i) push_row(rows, view_.hubs[at % 2][i], thread(), threads(), at);
}

template <class P>
__device__ void Machine<P>::push_large(const Rows& rows, unsigned count, unsigned at) {
  for (unsigned i = blockIdx.x; i < count; i += gridDim.x)
    push_row(rows, view_.large[at % 2][i], threadIdx.x, blockDim.x, at);
}

template <class P>
__device__ void Machine<P>::push_row(const Rows& rows, Vertex v, EdgeIndex begin, EdgeIndex stride, unsigned at) {
  const Message message = sent_by(v);
  for_row(rows.offsets[v], rows.offsets[v + 1], begin, stride,
          [&](EdgeIndex i, bool valid) { push_edge(rows, i, v, message, valid, at); });
}

/// A warp takes some vertices and walks the edges of all as one row: lane by lane, whatever the degrees. Of few
/// vertices it takes fewer, so that all warps have some.
template <class P>
__device__ void Machine<P>::push_small(const Rows& rows, unsigned count, unsigned at) {
  const unsigned some  = (count + warps() - 1) / warps();
  const unsigned group = some < warp_lanes ? some : warp_lanes;
  if (group == 0) return;
  for (unsigned base = warp_index() * group; base < count; base += warps() * group) {
    const bool      mine    = lane_index() < group && base + lane_index() < count;
    const Vertex    v       = mine ? view_.small[at % 2][base + lane_index()] : 0;
    const EdgeIndex first   = mine ? rows.offsets[v] : 0;
    const auto      edges   = static_cast<unsigned>(mine ? rows.offsets[v + 1] - first : 0);
    const Message   message = mine ? sent_by(v) : Message{};
    const unsigned  before  = sum_before(edges);
    const unsigned  all     = __shfl_sync(all_lanes, before + edges, warp_lanes - 1);
    mine_.looked_at += edges;
    for (unsigned k = lane_index(); k - lane_index() < all; k += warp_lanes) {
      const unsigned  owner = owner_of(k, before);
      const EdgeIndex i = from_lane(first, owner) + (k - __shfl_sync(all_lanes, before, static_cast<int>(owner)));
      push_edge(rows, i, from_lane(v, owner), from_lane(message, owner), k < all, at);
    }
  }
}

/// The lane whose edges include the k-th of all: the last one with no more than k before it.
template <class P>
__device__ unsigned Machine<P>::owner_of(unsigned k, unsigned before) {
  unsigned low = 0;
  for (unsigned half = warp_lanes / 2; half > 0; half /= 2)
    if (__shfl_sync(all_lanes, before, static_cast<int>(low + half)) <= k) low += half;
  return low;
}

template <class P>
__device__ void Machine<P>::push_edge(const Rows& rows, EdgeIndex i, Vertex source, const Message& message,
                                      bool valid, unsigned at) {
  const Vertex v = valid ? rows.targets[i] : 0;
  if constexpr (T::voting)
    note_pushed(v, valid && vote(rows, i, source, v, message, at), at);
  else if constexpr (T::in_place)
    note_pushed(v, valid && improve(rows, i, source, v, message, at), at);
  else if (view_.sizes.aggregate)
    note_pushed(v, gather_together(rows, i, source, v, message, valid, at), at);
  else
    note_pushed(v, valid && gather(rows, i, source, v, message, at), at);
}

template <class P>
__device__ bool Machine<P>::vote(const Rows& rows, EdgeIndex i, Vertex source, Vertex v, const Message& message,
                                 unsigned at) {
  if (!test_now(view_.open, v) || !take(view_.open, v)) return false;
  ++mine_.closed_vertices;
  mine_.closed_edges += degree(v);
  if (!applied(view_.values[v], compute(message, edge_at(rows, i, source, v), v), v)) return false;
  if (view_.batch == nullptr) claim(view_.bits[(at + 1) % 3], v);
  return true;
}

template <class P>
__device__ bool Machine<P>::improve(const Rows& rows, EdgeIndex i, Vertex source, Vertex v, const Message& message,
                                    unsigned at) {
  if constexpr (settles)
    if (test(view_.settled, v)) return false;
  const Update update = compute(message, edge_at(rows, i, source, v), v);
  if (!Combine::improves(atomics::glance(view_.values[v]), update)) return false;
  if (!Combine::improve_atomically(view_.values[v], update)) return false;
  if constexpr (in_buckets) {
    if (bucket_of(update) > bucket_) {
      if (!test_now(view_.waiting, v)) claim(view_.waiting, v);
      return false;
    }
    if (test_now(view_.waiting, v)) take(view_.waiting, v);
  }
  return touch(v, at);
}

template <class P>
__device__ bool Machine<P>::gather(const Rows& rows, EdgeIndex i, Vertex source, Vertex v, const Message& message,
                                   unsigned at) {
  if constexpr (tracks_open)
    if (!test(view_.open, v)) return false;
  const Update update = compute(message, edge_at(rows, i, source, v), v);
  if constexpr (Combine::idempotent)
    Combine::improve_atomically(view_.sums[v], update);
  else
    Combine::combine_atomically(view_.sums[v], update);
  return touch(v, at);
}

/// Lanes that write to one vertex combine their updates first, and one of them writes. All lanes come.
template <class P>
__device__ bool Machine<P>::gather_together(const Rows& rows, EdgeIndex i, Vertex source, Vertex v,
                                            const Message& message, bool valid, unsigned at) {
  bool wants = valid;
  if constexpr (tracks_open) wants = valid && test(view_.open, v);
  Accumulator sum = detail::converted<Accumulator>(Combine::identity());
  if (wants) sum = detail::converted<Accumulator>(compute(message, edge_at(rows, i, source, v), v));
  const unsigned peers = __match_any_sync(all_lanes, wants ? v : no_vertex);
  const bool     leads = wants && (peers & ((1u << lane_index()) - 1)) == 0;
  unsigned       rest  = leads ? peers & (peers - 1) : 0;
  while (__any_sync(all_lanes, rest != 0)) {
    const Accumulator other =
        from_lane(sum, rest != 0 ? static_cast<unsigned>(__ffs(static_cast<int>(rest)) - 1) : lane_index());
    if (rest != 0) sum = Combine::combine(sum, other);
    rest &= rest - 1;
  }
  if (!leads) return false;
  if constexpr (Combine::idempotent)
    Combine::improve_atomically(view_.sums[v], sum);
  else
    Combine::combine_atomically(view_.sums[v], sum);
  return touch(v, at);
}

/// The vertex has something new: true if it is to be noted, the first time or, for the batch filter, every time.
template <class P>
__device__ bool Machine<P>::touch(Vertex v, unsigned at) {
  if constexpr (T::all_active) return false;
  if (view_.batch != nullptr) return true;
  Word* const next = view_.bits[(at + 1) % 3];
  return !test_now(next, v) && claim(next, v);
}

template <class P>
__device__ void Machine<P>::note_pushed(Vertex v, bool found, unsigned at) {
  if (view_.batch != nullptr) {
    const Count place = reserve(&tally(at + 1).batched, found);
    if (found) view_.batch[place] = v;
  } else if constexpr (T::gathers) {
    note_touched(v, found, at);
  } else {
    note_active(v, found, at);
  }
}

template <class P>
__device__ void Machine<P>::note_touched(Vertex v, bool touched, unsigned at) {
  if constexpr (T::all_active) return;
  if (!__any_sync(all_lanes, touched)) return;
  Tally&         next  = tally(at + 1);
  const bool     wants = in_bin(touched, next.touched_overflowed);
  const unsigned place = reserve(&next.touched, wants);
  if (wants) view_.touched[place] = v;
}

}  // namespace spillway::cuda
