// Rows of very different lengths, visited by blocks: the short ones by a lane each, longer ones by a warp, and the
// longest by all threads of a block.
#pragma once

#include "algorithms/gpu/session.cuh"

namespace spillway::gpu {

inline constexpr EdgeIndex warp_row = 16, block_row = 2048;  ///< rows from here on

/// visit(v, i) for the edges i of the vertices v that `wants` says, until it returns true for one of them: the
/// rest of the row is then left out, but for what others are looking at already. All threads of the grid come.
template <class Wants, class Visit>
__device__ void visit_rows(const Rows& rows, std::uint64_t n, Wants&& wants, Visit&& visit) {
  __shared__ Vertex   longest[block_threads];
  __shared__ unsigned count;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * block_threads;
  for (std::uint64_t base = std::uint64_t{blockIdx.x} * block_threads; base < n; base += stride) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    const auto      v     = static_cast<Vertex>(base + threadIdx.x);
    const bool      mine  = base + threadIdx.x < n && wants(v);
    const EdgeIndex first = mine ? rows.offsets[v] : 0, last = mine ? rows.offsets[v + 1] : 0;
    if (last - first < warp_row)
      for (EdgeIndex i = first; i < last && !visit(v, i); ++i) {
      }
    if (last - first >= block_row) longest[atomicAdd(&count, 1u)] = v;
    for_each_owner(last - first >= warp_row && last - first < block_row, [&](unsigned owner) {
      const Vertex    of  = cuda::shuffle(v, owner);
      const EdgeIndex end = cuda::shuffle(last, owner);
      for (EdgeIndex at = cuda::shuffle(first, owner); at < end; at += warp_lanes) {
        const EdgeIndex i = at + lane_index();
        if (__any_sync(all_lanes, i < end && visit(of, i))) break;
      }
    });
    __syncthreads();
    for (unsigned k = 0; k < count; ++k) {
      const EdgeIndex end = rows.offsets[longest[k] + 1];
      for (EdgeIndex at = rows.offsets[longest[k]]; at < end; at += block_threads) {
        const EdgeIndex i = at + threadIdx.x;
        if (__syncthreads_or(i < end && visit(longest[k], i))) break;
      }
    }
    __syncthreads();
  }
}

}  // namespace spillway::gpu
