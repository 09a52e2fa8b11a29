// Bucket fusion (Zhang et al., Optimizing Ordered Graph Algorithms with GraphIt, CGO 2020), by blocks: a vertex of
// a short row that falls into the bucket at hand is pushed again by the block that found it, without a barrier of
// the grid. On long paths with small frontiers a run is bound by the latency of its grid barriers.
#pragma once

#include <spillway/engine/cuda/machine.cuh>

namespace spillway::cuda {

template <class P, class Rows>
__device__ void Machine<P, Rows>::begin_rounds() {
  if (threadIdx.x < 2) shared_.kept_count[threadIdx.x] = 0;
  __syncthreads();
}

/// True if the block keeps the vertex: there is room. All lanes come. Longer rows are left to whoever deals them
/// out.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::keep(Vertex v, EdgeIndex edges, bool found) {
  const bool     wants = found && edges <= longest_kept_row;
  const unsigned place = reserve(&shared_.kept_count[queue_], wants);
  if (!wants || place >= view_.sizes.bucket_queue) return false;
  shared_.kept[queue_][place] = v;
  return true;
}

/// Rounds of one block, until its queue is empty. Their number is bounded: the other blocks and a cancellation
/// wait for the slowest block.
template <class P, class Rows>
__device__ void Machine<P, Rows>::push_kept(unsigned at) {
  unsigned rounds = 0, pushed = 0;
  for (;;) {
    __syncthreads();
    const unsigned taken = queue_, found = shared_.kept_count[taken];
    const unsigned count = found < view_.sizes.bucket_queue ? found : view_.sizes.bucket_queue;
    if (count == 0) break;
    queue_ = 1 - taken;
    fuses_ = rounds < most_fused_rounds;
    deal_to_lanes_of_block(count, [&](unsigned i, bool mine) {
      const Vertex v = mine ? shared_.kept[taken][i] : 0;
      if (fuses_)
        push_again(v, mine, at);
      else
        note_active(v, mine, at);  // for the next iteration: its bit is set
    });
    if (fuses_) pushed += count, ++rounds;
    __syncthreads();
    if (threadIdx.x == 0) shared_.kept_count[taken] = 0;
  }
  if (threadIdx.x != 0 || rounds == 0) return;
  atomicAdd(&counters(at + 1).fused_vertices, Count{pushed});
  atomicAdd(&view_.visit_counters->fused_rounds, Count{rounds});
}

/// Its bit is cleared before its value is read, and whoever improves a value sets the bit afterwards: nothing new
/// is missed.
template <class P, class Rows>
__device__ void Machine<P, Rows>::push_again(Vertex v, bool mine, unsigned at) {
  if (mine) take_acquiring(view_.bits[(at + 1) % 3], v);
  __syncwarp();  // other lanes may read the value, too
  for (int b = 0; b < view_.push_blocks; ++b) {
    const Rows& rows = view_.push[b];
    push_as_one(rows, v, mine ? rows.slice(v) : RowSlice{}, mine, at);
  }
}

}  // namespace spillway::cuda
