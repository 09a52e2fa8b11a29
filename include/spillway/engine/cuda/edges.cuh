// Unsorted edges (WolfGraph, sections 2.4 and 4): a lane has some, that lie side by side with those of its warp,
// and pushes those whose source is active.
#pragma once

#include <spillway/engine/cuda/edge_blocks.cuh>
#include <spillway/engine/cuda/grid_barrier.cuh>
#include <spillway/engine/cuda/kernels.cuh>

namespace spillway::cuda {

/// Some edges of a list for each lane of a warp. To `push_edges` they are like those of rows.
template <class P, class Rows>
struct Machine<P, Rows>::Listed {
  Vertex        from[list_batch], to[list_batch];
  std::uint32_t weights[list_batch];
  bool          there[list_batch];

  /// Those from `first` on, which is a multiple of the edges of a warp, up to the end of the list.
  __device__ Listed(const EdgeRun& run, std::uint64_t first) {
    if (run.stride == 2 && list_batch % 2 == 0)
      load_pairs(run, first / 2);
    else
      load_one_by_one(run, first);
  }

  /// Two side by side at a time.
  __device__ void load_pairs(const EdgeRun& run, std::uint64_t first) {
    const auto* const two = reinterpret_cast<const ulonglong2*>(run.words);
#pragma unroll
    for (unsigned k = 0; k + 1 < list_batch; k += 2) {
      const std::uint64_t i = first + k / 2 * warp_lanes + lane_index();
      ulonglong2          edges{0, 0};
      there[k]     = 2 * i < run.count;
      there[k + 1] = 2 * i + 1 < run.count;
      if (there[k + 1])
        edges = __ldcs(two + i);
      else if (there[k])
        edges.x = __ldcs(reinterpret_cast<const unsigned long long*>(two + i));
      from[k] = static_cast<Vertex>(edges.x), to[k] = static_cast<Vertex>(edges.x >> 32);
      from[k + 1] = static_cast<Vertex>(edges.y), to[k + 1] = static_cast<Vertex>(edges.y >> 32);
      weights[k] = weights[k + 1] = 0;
    }
  }

  __device__ void load_one_by_one(const EdgeRun& run, std::uint64_t first) {
#pragma unroll
    for (unsigned k = 0; k < list_batch; ++k) {
      const std::uint64_t i = first + k * warp_lanes + lane_index();
      there[k]              = i < run.count;
      from[k] = to[k] = weights[k] = 0;
      if (!there[k]) continue;
      from[k] = __ldcs(run.words + i * run.stride);
      to[k]   = __ldcs(run.words + i * run.stride + 1);
      if constexpr (T::weighted)
        if (run.stride > 2) weights[k] = __ldcs(run.words + i * run.stride + 2);
    }
  }

  __device__ unsigned count() const {
    unsigned edges = 0;
#pragma unroll
    for (unsigned k = 0; k < list_batch; ++k) edges += there[k] ? 1 : 0;
    return edges;
  }

  /// From their targets to their sources.
  __device__ void reverse(bool without_loops) {
#pragma unroll
    for (unsigned k = 0; k < list_batch; ++k) {
      const Vertex source = from[k];
      from[k] = to[k], to[k] = source;
      there[k] = there[k] && !(without_loops && from[k] == to[k]);
    }
  }

  __device__ Vertex target(const Rows&, unsigned k, bool wants) const { return wants ? to[k] : 0; }
  __device__ std::uint32_t weight(const Rows&, unsigned k, bool) const { return weights[k]; }
};

/// Where lists are run to a fixed point (`local`), who has changed in this iteration sends, too.
template <class P, class Rows>
template <bool local>
__device__ bool Machine<P, Rows>::sends_in_list(Vertex v, unsigned at) const {
  return is_active(v, at) || (local && test_now(view_.bits[(at + 1) % 3], v));
}

/// Those whose source sends. True if a value changed, in a round of a list that is run to a fixed point.
template <class P, class Rows>
template <bool local>
__device__ bool Machine<P, Rows>::push_list(const Listed& edges, unsigned at) {
  bool sends[list_batch], any = false;
  note_looked_at(edges.count());
#pragma unroll
  for (unsigned k = 0; k < list_batch; ++k) {
    sends[k] = edges.there[k] && view_.receivers.has(edges.to[k]) && sends_in_list<local>(edges.from[k], at);
    any |= sends[k];
  }
  if (!__any_sync(all_lanes, any)) return false;
  if constexpr (local) __threadfence();  // the value is to be as new as the bit (improve_listed)
  Sent sent[list_batch];
#pragma unroll
  for (unsigned k = 0; k < list_batch; ++k) {
    const Vertex v = edges.from[k];
    sent[k]        = {v, sends[k] ? sent_in_list<local>(v) : Message{}, sends[k]};
  }
  if constexpr (local) return improve_listed(edges, sent, at);
  push_edges(Rows{PlainRows{}}, edges, sent, at);
  return false;
}

/// Between rounds there is a barrier, but within one a vertex may change that pushes in it, too.
template <class P, class Rows>
template <bool local>
__device__ typename Machine<P, Rows>::Message Machine<P, Rows>::sent_in_list(Vertex v) {
  if constexpr (local)
    return atomics::load(view_.values[v]);
  else
    return sent_by(v);
}

/// A vertex that is in the next frontier may change again: what follows in this list is to see that. Whoever sees
/// it there must see its value, too: what is not reached yet has none to send.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::improve_listed(const Listed& edges, const Sent (&sent)[list_batch],
                                                 unsigned      at) {
  Value seen[list_batch];
  bool  improved[list_batch], changes = false;
#pragma unroll
  for (unsigned k = 0; k < list_batch; ++k) seen[k] = atomics::load_cached(view_.values[edges.to[k]]);
#pragma unroll
  for (unsigned k = 0; k < list_batch; ++k) {
    const Vertex v = edges.to[k];
    improved[k]    = sent[k].valid;
    if (improved[k]) {
      const Update update = compute(sent[k].message, edge_of(edges.weights[k], sent[k].source, v), v);
      improved[k] = Combine::improves(seen[k], update) && Combine::improve_atomically(view_.values[v], update);
    }
    changes |= improved[k];
  }
  if (!__any_sync(all_lanes, changes)) return false;
  __threadfence();  // values before bits
#pragma unroll
  for (unsigned k = 0; k < list_batch; ++k) note_improved(edges.to[k], improved[k], at);
  return changes;
}

template <class P, class Rows>
__device__ bool Machine<P, Rows>::note_improved(Vertex v, bool improved, unsigned at) {
  if (improved && !test_now(view_.changed, v)) claim(view_.changed, v);
  note_pushed(v, improved && touch(v, at), at);
  return improved;
}

template <class P, class Rows>
template <bool local>
__device__ bool Machine<P, Rows>::push_run(const EdgeBlock& block, const EdgeRun& run, unsigned at) {
  constexpr unsigned together = list_batch * warp_lanes;
  bool               changes  = false;
  deal<WarpTeam>((run.count + together - 1) / together, [&](std::uint64_t i) {
    Listed edges{run, i * together};
    if (block.along.forward) changes |= push_list<local>(edges, at);
    if (!block.along.backward) return;
    edges.reverse(block.along.loops_once);
    changes |= push_list<local>(edges, at);
  });
  return changes;
}

template <class P, class Rows>
template <bool local>
__device__ bool Machine<P, Rows>::push_lists(const EdgeBlock& block, unsigned at) {
  bool changes =
      block.shared.block_edges != 0 ? push_blocks<local>(block, at) : push_run<local>(block, block.edges, at);
  changes |= push_run<local>(block, block.successors, at);
  return changes;
}

/// Rounds until nothing changes, but not so many that an interrupt has to wait: vertices that have changed are in
/// the next frontier, and push again then. Three flags take turns, so that a barrier a round is enough.
template <class P, class Rows>
__device__ void Machine<P, Rows>::run_list_to_fixed_point(const EdgeBlock& block, unsigned at) {
  const auto grid_barrier = [] { cooperative_groups::this_grid().sync(); };
  if (!block.again) {
    for (std::uint64_t i = thread(); i < word_count(); i += threads()) view_.changed[i] = 0;
    grid_barrier();
  }
  bool goes_on = true;
  for (unsigned round = 0; goes_on; ++round) {
    unsigned* const flag    = &view_.rounds[round % 3].taken.small;
    const bool      changes = push_lists<true>(block, at);
    const bool      last    = round + 1 == most_list_rounds;
    if (__any_sync(all_lanes, changes && !last) && lane_index() == 0 && __ldcg(flag) == 0) atomicOr(flag, 1u);
    grid_barrier();
    goes_on = __ldcg(flag) != 0;
    if (thread() != 0) continue;
    view_.rounds[(round + 2) % 3].taken.small = 0;
    if (goes_on) atomicAdd(&view_.visit_counters->local_rounds, Count{1});
  }
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::visit(const EdgeBlock& block, unsigned at) {
  count_visit(at, [&] {
    if constexpr (runs_lists_to_fixed_point)
      if (block.local) return run_list_to_fixed_point(block, at);
    push_lists<false>(block, at);
  });
}

}  // namespace spillway::cuda
