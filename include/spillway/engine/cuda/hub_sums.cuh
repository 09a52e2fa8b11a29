// Pulls of all vertices over undirected edges, in an order by falling degree. A pull of a hub gathers messages
// from all over memory; its neighbours read their own rows anyway, in which hubs come first. So they send the hub
// what it would have pulled: the accumulators of as many hubs as fit, and the hubs' messages, are in the shared
// memory of every multiprocessor, and are merged in global memory at the end. Of hubs' rows only the edges between
// hubs are read. On an H200 this takes a seventh less time for PageRank on a Kronecker graph (docs/performance.md,
// docs/experiments.md).
#pragma once

#include <spillway/engine/cuda/machine.cuh>

namespace spillway::cuda {

template <class P, class Rows>
__device__ auto Machine<P, Rows>::message_from(Vertex source) const -> Message {
  if constexpr (sums_hubs)
    if (source < view_.summed_hubs) return hub_messages()[source];
  return message_of(source);
}

/// Nothing if `to` is no hub, or `no_vertex`.
template <class P, class Rows>
__device__ void Machine<P, Rows>::send_to_hub(Vertex from, const Message& message, Vertex to) const {
  if (to < view_.summed_hubs)
    Combine::combine_atomically(hub_sums()[to], compute(message, edge_of(0, from, to), to));
}

/// body(v), by a warp each. The longest rows come first: those that follow one another go to different blocks.
template <class P, class Rows>
template <class Body>
__device__ void Machine<P, Rows>::spread_rows(Vertex first, Vertex last, Body&& body) {
  for (std::uint64_t v = std::uint64_t{first} + threadIdx.x / warp_lanes * gridDim.x + blockIdx.x; v < last;
       v += warps())
    body(static_cast<Vertex>(v));
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::pull_around_hubs(unsigned at) {
  for (unsigned i = threadIdx.x; i < view_.summed_hubs; i += blockDim.x) {
    hub_sums()[i]     = detail::converted<Accumulator>(Combine::identity());
    hub_messages()[i] = message_of(i);
  }
  __syncthreads();
  spread_rows(0, view_.summed_hubs, [&](Vertex v) { pull_among_hubs(v); });
  spread_rows(view_.summed_hubs, view_.warp_rows, [&](Vertex v) { pull_by_warp(v, at); });
  pull_several_words((view_.warp_rows + warp_lanes - 1) / warp_lanes, at);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < view_.summed_hubs; i += blockDim.x)
    Combine::merge_atomically(view_.sums[i], hub_sums()[i]);
}

/// Targets ascend: the hubs among them come first.
template <class P, class Rows>
__device__ void Machine<P, Rows>::pull_among_hubs(Vertex v) {
  const Rows&    rows = view_.pull[0];
  const RowSlice row  = rows.slice(v);
  Collected      all  = nothing(v);
  for (unsigned base = 0; base < row.length(); base += pull_batch * warp_lanes) {
    const Span span = rows.template span<pull_batch>(row, base, staged());
    Vertex     source[pull_batch];
#pragma unroll
    for (unsigned k = 0; k < pull_batch; ++k) {
      const bool there = base + k * warp_lanes + lane_index() < row.length();
      source[k]        = there ? rows.template target_in<true>(span, k, true) : no_vertex;
    }
    const bool may_have_more = source[pull_batch - 1] < view_.summed_hubs;
#pragma unroll
    for (unsigned k = 0; k < pull_batch; ++k)
      if (source[k] < view_.summed_hubs)
        combine_into(all, compute(hub_messages()[source[k]], edge_of(0, source[k], v), v));
    if (!__all_sync(all_lanes, may_have_more)) break;
  }
  all = combined_over_lanes<Combine, warp_lanes>(all);
  if (lane_index() != 0) return;
  mine_.looked_at += row.length();
  Combine::merge_atomically(view_.sums[v], all);
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::pull_by_warp(Vertex v, unsigned at) {
  const RowSlice row   = view_.pull[0].slice(v);
  Value          value = view_.values[v];
  Collected      all   = nothing(v);
  collect<warp_lanes>(all, view_.pull[0], row, v, at);
  all = combined_over_lanes<Combine, warp_lanes>(all);
  if (lane_index() != 0) return;
  mine_.looked_at += row.length();
  mine_.vertices += settle(v, value, all);
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::apply_to_hubs(unsigned at) {
  const auto ahead = mine_.ahead;
  begin_phase();
  mine_.ahead = ahead;
  for (std::uint64_t v = thread(); v < view_.summed_hubs; v += threads()) {
    mine_.vertices += apply_accumulated(static_cast<Vertex>(v));
    publish_ahead(static_cast<Vertex>(v), view_.values[v]);
  }
  end_phase(counters(at + 1), slot(2, at));
  note_ahead(at);
}

/// Where the rows that are for a warp end, and how many edges hubs have.
struct HubRows {
  Vertex    warp_rows;
  EdgeIndex edges;
};

/// Of rows that lie one behind the other, in falling order of their lengths. For one thread.
template <class Rows>
__global__ void find_hub_rows(const Rows rows, std::uint64_t vertices, Vertex hubs, EdgeIndex short_row,
                              HubRows* found) {
  if (LaneTeam::number() != 0) return;
  std::uint64_t low = hubs, high = vertices;
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    if (rows.slice(static_cast<Vertex>(middle)).length() >= short_row)
      low = middle + 1;
    else
      high = middle;
  }
  low             = (low + warp_lanes - 1) / warp_lanes * warp_lanes;
  const auto last = rows.slice(hubs - 1);
  *found          = {static_cast<Vertex>(low < vertices ? low : vertices),
                     last.first + last.length() - rows.slice(0).first};
}

}  // namespace spillway::cuda
