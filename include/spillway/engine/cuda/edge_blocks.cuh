// Blocks of unsorted edges whose updates meet in shared memory, so that each block writes a vertex once
// (WolfGraph, sections 3.2 and 3.4). On today's GPUs the vertices' own memory takes atomic operations as fast, and
// this is for comparison (docs/performance.md).
#pragma once

#include <spillway/engine/cuda/grid_barrier.cuh>
#include <spillway/engine/cuda/kernels.cuh>

namespace spillway::cuda {

#if defined(SPILLWAY_EMULATED)
static_assert(SharedIndex::most_bytes <= emulated_storage_bytes);
#endif

/// One entry for each vertex that a block's edges lead to.
template <class P, class Rows>
struct Machine<P, Rows>::LocalValues {
  Local* updates;
  Word*  received;  ///< bits: whether there were any
};

template <class P, class Rows>
struct Machine<P, Rows>::ListedArc {
  Vertex        from, to;
  std::uint32_t weight;
  unsigned      place;   ///< among the block's targets
  unsigned      number;  ///< among its arcs: twice that of its edge, and one more in the reverse direction
  bool          there;
};

template <class P, class Rows>
__device__ typename Machine<P, Rows>::LocalValues Machine<P, Rows>::local_values_of(
    const SharedIndex& index) const {
  Word* const received = reinterpret_cast<Word*>(block_storage());
  return {reinterpret_cast<Local*>(received + SharedIndex::received_words(index.block_targets)), received};
}

template <class P, class Rows>
__device__ typename Machine<P, Rows>::LocalValues Machine<P, Rows>::stored_values_of(const SharedIndex& index,
                                                                                     std::uint64_t      b) const {
  return {reinterpret_cast<Local*>(index.values) + b * index.block_targets,
          index.received + b * SharedIndex::received_words(index.block_targets)};
}

/// Whole warps come to body, each as often as the others of its block or once less.
template <class P, class Rows>
template <class Body>
__device__ void Machine<P, Rows>::for_arcs_of_block(const EdgeBlock& block, std::uint64_t b, Body&& body) {
  const EdgeRun&      run   = block.edges;
  const std::uint64_t first = b * block.shared.block_edges;
  const std::uint64_t last =
      first + block.shared.block_edges < run.count ? first + block.shared.block_edges : run.count;
  const std::uint16_t* const back = block.shared.places + (block.along.forward ? run.count : 0);
  for (std::uint64_t base = first + threadIdx.x - lane_index(); base < last; base += blockDim.x) {
    const std::uint64_t i     = base + lane_index();
    const bool          there = i < last;
    const Vertex        from = there ? run.source(i) : 0, to = there ? run.target(i) : 0;
    const std::uint32_t weight = T::weighted && there ? run.weight(i) : 0;
    const auto          number = static_cast<unsigned>(2 * (i - first));
    if (block.along.forward) body(ListedArc{from, to, weight, there ? block.shared.places[i] : 0u, number, there});
    if (!block.along.backward) continue;
    const bool returns = there && !(block.along.loops_once && from == to);
    body(ListedArc{to, from, weight, returns ? back[i] : 0u, number + 1, returns});
  }
}

template <class P, class Rows>
__device__ typename Machine<P, Rows>::Local Machine<P, Rows>::first_local(Vertex v) const {
  if constexpr (T::voting)
    return 0;
  else if constexpr (T::in_place)
    return atomics::load(view_.values[v]);
  else
    return detail::converted<Accumulator>(Combine::identity());
}

template <class P, class Rows>
template <bool local>
__device__ void Machine<P, Rows>::combine_locally(const LocalValues& values, const ListedArc& arc) {
  Local& local_value = values.updates[arc.place];
  if constexpr (T::voting) {
    if (!is_up_for(arc.to) || atomicCAS(&local_value, 0u, arc.number + 1) != 0) return;
  } else {
    const Update update = compute(sent_in_list<local>(arc.from), edge_of(arc.weight, arc.from, arc.to), arc.to);
    if constexpr (tracks_open)
      if (!test(view_.open, arc.to)) return;
    if constexpr (T::in_place) {
      if (!Combine::improves(atomics::load(local_value), update) ||
          !Combine::improve_atomically(local_value, update))
        return;
    } else if constexpr (Combine::idempotent) {
      Combine::improve_atomically(local_value, update);
    } else {
      Combine::combine_atomically(local_value, update);
    }
  }
  Word&      word = values.received[arc.place / warp_lanes];
  const Word bit  = 1u << (arc.place % warp_lanes);
  if ((atomics::load(word) & bit) == 0) atomicOr(&word, bit);
}

/// False if no source in the block sends: then nothing was touched.
template <class P, class Rows>
template <bool local>
__device__ bool Machine<P, Rows>::combine_block(const EdgeBlock& block, std::uint64_t b, unsigned at) {
  static_assert(2 * SharedIndex::most_edges <= 64 * block_threads, "a bit for every arc of a thread");
  std::uint64_t sending = 0, turn = 1;
  for_arcs_of_block(block, b, [&](const ListedArc& arc) {
    note_looked_at(arc.there ? 1 : 0);
    if (arc.there && sends_in_list<local>(arc.from, at)) sending |= turn;
    turn <<= 1;
  });
  if (!__syncthreads_or(sending != 0)) return false;
  if constexpr (local) __threadfence();  // values are to be as new as bits
  const LocalValues values  = local_values_of(block.shared);
  const unsigned    targets = block.shared.counts[b];
  const Vertex*     target  = block.shared.targets + b * block.shared.block_targets;
  for (unsigned i = threadIdx.x; i < targets; i += blockDim.x) values.updates[i] = first_local(target[i]);
  for (unsigned i = threadIdx.x; i < SharedIndex::received_words(targets); i += blockDim.x) values.received[i] = 0;
  __syncthreads();
  turn = 1;
  for_arcs_of_block(block, b, [&](const ListedArc& arc) {
    if (sending & turn) combine_locally<local>(values, arc);
    turn <<= 1;
  });
  __syncthreads();
  return true;
}

/// The vertices get what the block's updates came to. True if a value changed, in a round of a list that is run to
/// a fixed point.
template <class P, class Rows>
template <bool local>
__device__ bool Machine<P, Rows>::flush_block(const EdgeBlock& block, std::uint64_t b, const LocalValues& values,
                                              unsigned at) {
  const unsigned targets = block.shared.counts[b];
  const Vertex*  target  = block.shared.targets + b * block.shared.block_targets;
  bool           changes = false;
  for (unsigned base = threadIdx.x - lane_index(); base < targets; base += blockDim.x) {
    const unsigned i     = base + lane_index();
    const bool     there = i < targets && (values.received[i / warp_lanes] >> (i % warp_lanes)) & 1;
    const Vertex   v     = there ? target[i] : 0;
    if constexpr (T::voting) {
      bool got = false;
      if (there && is_up_for(v)) {
        const unsigned      number = values.updates[i] - 1;
        const std::uint64_t edge   = b * block.shared.block_edges + number / 2;
        const Vertex        from   = number % 2 == 0 ? block.edges.source(edge) : block.edges.target(edge);
        const std::uint32_t weight = T::weighted ? block.edges.weight(edge) : 0;
        got                        = vote(compute(sent_in_list<false>(from), edge_of(weight, from, v), v), v, at);
      }
      note_pushed(v, got, at);
    } else if constexpr (local) {
      const bool improved = there && Combine::improves(atomics::load_cached(view_.values[v]), values.updates[i]) &&
                            Combine::improve_atomically(view_.values[v], values.updates[i]);
      if (!__any_sync(all_lanes, improved)) continue;
      __threadfence();  // values before bits
      changes |= note_improved(v, improved, at);
    } else if constexpr (T::in_place) {
      const Value seen = atomics::load_cached(view_.receiving[v]);
      const bool  wins = there && Combine::improves(seen, values.updates[i]);
      note_pushed(v, wins && improve(seen, values.updates[i], v, at), at);
    } else {
      note_pushed(v, there && merge_gathered(values.updates[i], v, at), at);
    }
  }
  return changes;
}

/// A block of threads has a block of edges. Local values that are stored are flushed behind a barrier: nobody has
/// seen a value of this round before.
template <class P, class Rows>
template <bool local>
__device__ bool Machine<P, Rows>::push_blocks(const EdgeBlock& block, unsigned at) {
  const SharedIndex&  index   = block.shared;
  const std::uint64_t blocks  = index.blocks(block.edges.count);
  bool                changes = false;
  deal<BlockTeam>(blocks, [&](std::uint64_t b) {
    const bool     any     = combine_block<local>(block, b, at);
    const unsigned targets = index.counts[b];
    if (index.stored) {
      const LocalValues values = local_values_of(index), kept = stored_values_of(index, b);
      for (unsigned i = threadIdx.x; i < SharedIndex::received_words(targets); i += blockDim.x)
        kept.received[i] = any ? values.received[i] : 0;
      for (unsigned i = threadIdx.x; any && i < targets; i += blockDim.x) kept.updates[i] = values.updates[i];
    } else if (any) {
      changes |= flush_block<local>(block, b, local_values_of(index), at);
    }
    __syncthreads();
  });
  if (!index.stored) return changes;
  cooperative_groups::this_grid().sync();
  deal<BlockTeam>(
      blocks, [&](std::uint64_t b) { changes |= flush_block<local>(block, b, stored_values_of(index, b), at); });
  return changes;
}

}  // namespace spillway::cuda
