// How rows are dealt to threads, so that all have about as much to do: whole teams to a row, by its length, or a
// warp to the edges of several rows. What push, pull, windows and the algorithms that are no programs share.
#pragma once

#include <spillway/engine/cuda/warp.cuh>

namespace spillway::cuda {

// Teams: threads that work on one row together. A team knows its number among the `count()` that the grid has, and
// a thread its rank among the `size()` of its team.

struct LaneTeam {
  __device__ static unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }
  __device__ static unsigned count() { return gridDim.x * blockDim.x; }
  __device__ static unsigned rank() { return 0; }
  __device__ static unsigned size() { return 1; }
};

struct WarpTeam {
  __device__ static unsigned number() { return LaneTeam::number() / warp_lanes; }
  __device__ static unsigned count() { return LaneTeam::count() / warp_lanes; }
  __device__ static unsigned rank() { return lane_index(); }
  __device__ static unsigned size() { return warp_lanes; }
};

struct BlockTeam {
  __device__ static unsigned number() { return blockIdx.x; }
  __device__ static unsigned count() { return gridDim.x; }
  __device__ static unsigned rank() { return threadIdx.x; }
  __device__ static unsigned size() { return blockDim.x; }
};

struct GridTeam {
  __device__ static unsigned number() { return 0; }
  __device__ static unsigned count() { return 1; }
  __device__ static unsigned rank() { return LaneTeam::number(); }
  __device__ static unsigned size() { return LaneTeam::count(); }
};

/// body(i) for every i below `count`, by a team each.
template <class Team, class Body>
__device__ void deal(std::uint64_t count, Body&& body) {
  for (std::uint64_t i = Team::number(); i < count; i += Team::count()) body(i);
}

/// body(i) for the edges i of a row, by the threads of a team.
template <class Team, class Body>
__device__ void deal_edges(EdgeIndex first, EdgeIndex last, Body&& body) {
  for (EdgeIndex i = first + Team::rank(); i < last; i += Team::size()) body(i);
}

/// body(i, there) for the items from `first` to before `last`, one to a lane. Of few items a warp takes fewer than
/// it has lanes, so that all warps have some. All lanes call body; `there` is false for those without an item.
template <class N, class Body>
__device__ void deal_to_lanes(N first, N last, Body&& body) {
  if (first >= last) return;
  const std::uint64_t some  = (std::uint64_t{last - first} + WarpTeam::count() - 1) / WarpTeam::count();
  const unsigned      group = some < warp_lanes ? static_cast<unsigned>(some) : warp_lanes;
  for (std::uint64_t base = std::uint64_t{first} + WarpTeam::number() * group; base < last;
       base += WarpTeam::count() * group)
    body(base + lane_index(), lane_index() < group && base + lane_index() < last);
}

/// The same for items that a block has for itself.
template <class Body>
__device__ void deal_to_lanes_of_block(unsigned count, Body&& body) {
  const unsigned some = (count + block_warps - 1) / block_warps, group = some < warp_lanes ? some : warp_lanes;
  for (unsigned base = threadIdx.x / warp_lanes * group; base < count; base += block_warps * group)
    body(base + lane_index(), lane_index() < group && base + lane_index() < count);
}

/// body(i, there) for the items from `first` to before `last`, one to each `width` lanes of a warp. All lanes call
/// body, those of a group with the same item.
template <class N, class Body>
__device__ void deal_to_groups(N first, N last, unsigned width, Body&& body) {
  const std::uint64_t groups = warp_lanes / width;
  for (std::uint64_t base = std::uint64_t{first} + WarpTeam::number() * groups; base < last;
       base += WarpTeam::count() * groups)
    body(base + lane_index() / width, base + lane_index() / width < last);
}

/// body(owner) for every lane that has a row which is for the whole warp, one after the other. All lanes come.
template <class Body>
__device__ void for_each_owner(bool wants, Body&& body) {
  for (unsigned left = __ballot_sync(all_lanes, wants); left != 0; left &= left - 1)
    body(static_cast<unsigned>(__ffs(static_cast<int>(left)) - 1));
}

/// The vertices below `n` that `wants` says, in any order.
template <class Wants>
__device__ void list_vertices(std::uint64_t n, Wants&& wants, Vertex* list, unsigned* count) {
  deal<LaneTeam>(n, [&](std::uint64_t v) {
    if (wants(static_cast<Vertex>(v))) list[atomicAdd(count, 1)] = static_cast<Vertex>(v);
  });
}

/// Among the rows of a warp's lanes that are walked as one, the lane whose edges include the k-th of all: the last
/// one with no more than k `before` it.
__device__ inline unsigned owner_of(unsigned k, unsigned before) {
  unsigned low = 0;
  for (unsigned half = warp_lanes / 2; half > 0; half /= 2)
    if (__shfl_sync(all_lanes, before, static_cast<int>(low + half)) <= k) low += half;
  return low;
}

}  // namespace spillway::cuda
