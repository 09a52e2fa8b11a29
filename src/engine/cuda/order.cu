#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cuda/std/functional>

#include <algorithm>

#include "engine/cuda/grid.cuh"

#include "engine/cuda/order.hpp"

namespace spillway::cuda {
namespace {

constexpr EdgeIndex block_row = 2048;  // rows from here on are moved by a block

__global__ void degrees_of(const EdgeIndex* offsets, std::uint64_t n, std::uint32_t* degrees, Vertex* vertices) {
  for (std::uint64_t v = first_item(); v < n; v += item_stride()) {
    const EdgeIndex degree = offsets[v + 1] - offsets[v];
    degrees[v]             = static_cast<std::uint32_t>(degree < 0xFFFFFFFFu ? degree : 0xFFFFFFFFu);
    vertices[v]            = static_cast<Vertex>(v);
  }
}

__global__ void places_of(const Vertex* original, std::uint64_t n, Vertex* place) {
  for (std::uint64_t i = first_item(); i < n; i += item_stride()) place[original[i]] = static_cast<Vertex>(i);
}

/// One more than there are rows, so that the sum of those before it is the end.
__global__ void row_lengths(const EdgeIndex* offsets, const Vertex* original, std::uint64_t n,
                            EdgeIndex* lengths) {
  for (std::uint64_t i = first_item(); i <= n; i += item_stride())
    lengths[i] = i < n ? offsets[original[i] + 1] - offsets[original[i]] : 0;
}

__global__ void less_the_first(const EdgeIndex* offsets, std::uint64_t count, EdgeIndex* from_zero) {
  for (std::uint64_t i = first_item(); i < count; i += item_stride()) from_zero[i] = offsets[i] - offsets[0];
}

template <class Team>
__device__ void move_row(const Rows& from, EdgeIndex first, EdgeIndex last, const Vertex* place, EdgeIndex to,
                         Vertex* targets, std::uint32_t* weights) {
  deal_edges<Team>(first, last, [&](EdgeIndex i) {
    targets[to + i - first] = place[from.targets[i]];
    if (weights != nullptr) weights[to + i - first] = from.weights[i];
  });
}

/// The rows of `original[0]` to `original[n - 1]`; the first one begins at `offsets[0]`, which is at `targets`.
__global__ void move_rows(Rows from, const Vertex* original, const Vertex* place, std::uint64_t n,
                          const EdgeIndex* offsets, Vertex* targets, std::uint32_t* weights) {
  const EdgeIndex start = offsets[0];
  const auto      move  = [&]<class Team>(Team, std::uint64_t i, bool long_rows) {
    const EdgeIndex first = from.offsets[original[i]], last = from.offsets[original[i] + 1];
    if ((last - first >= block_row) == long_rows)
      move_row<Team>(from, first, last, place, offsets[i] - start, targets, weights);
  };
  deal<BlockTeam>(n, [&](std::uint64_t i) { move(BlockTeam{}, i, true); });
  deal<WarpTeam>(n, [&](std::uint64_t i) { move(WarpTeam{}, i, false); });
}

EdgeIndex sum_of_first(Device& device, const DeviceArray<std::uint32_t>& degrees, std::uint64_t count) {
  const auto             what = "the order of the vertices";
  DeviceArray<EdgeIndex> sum{device, 1, what};
  std::size_t            bytes = 0;
  const auto             add   = [&](void* room) {
    check(cub::DeviceReduce::Reduce(room, bytes, degrees.data(), sum.data(), count, ::cuda::std::plus<EdgeIndex>{},
                                                  EdgeIndex{0}),
                        "adding degrees");
  };
  add(nullptr);
  const DeviceArray<char> room{device, std::max<std::size_t>(bytes, 1), what};
  add(room.data());
  EdgeIndex total = 0;
  sum.download(&total);
  return total;
}

}  // namespace

VertexMap order_by_degree(Device& device, const EdgeIndex* offsets, std::uint64_t n, EdgeIndex arcs) {
  const auto                 what = "the order of the vertices";
  VertexMap                  order;
  DeviceArray<std::uint32_t> degrees{device, n, what}, sorted{device, n, what};
  order.original = {device, n, what};
  order.place    = {device, n, what};
  if (n == 0) return order;
  SPILLWAY_LAUNCH(degrees_of, blocks_for(n), block_threads, offsets, n, degrees.data(), order.place.data());
  std::size_t bytes = 0;
  const auto  sort  = [&](void* room) {
    check(cub::DeviceRadixSort::SortPairsDescending(room, bytes, degrees.data(), sorted.data(), order.place.data(),
                                                      order.original.data(), n),
            "sorting the vertices");
  };
  sort(nullptr);
  const DeviceArray<char> room{device, std::max<std::size_t>(bytes, 1), what};
  sort(room.data());
  SPILLWAY_LAUNCH(places_of, blocks_for(n), block_threads, order.original.data(), n, order.place.data());

  order.skewed = sum_of_first(device, sorted, n / 16 + 1) >= arcs / 2;
  return order;
}

DeviceArray<EdgeIndex> ordered_offsets(Device& device, const EdgeIndex* offsets, std::uint64_t n,
                                       const VertexMap& order) {
  const auto             what = "the rows in another order";
  DeviceArray<EdgeIndex> moved{device, n + 1, what};
  SPILLWAY_LAUNCH(row_lengths, blocks_for(n + 1), block_threads, offsets, order.original.data(), n, moved.data());
  exclusive_scan(device, moved);
  return moved;
}

void exclusive_scan(Device& device, DeviceArray<EdgeIndex>& values) {
  std::size_t bytes = 0;
  const auto  sum   = [&](void* room) {
    check(cub::DeviceScan::ExclusiveSum(room, bytes, values.data(), values.data(), values.size()), "adding up");
  };
  sum(nullptr);
  const DeviceArray<char> room{device, std::max<std::size_t>(bytes, 1), "sums"};
  sum(room.data());
}

void move_rows(Device& device, const Rows& from, const VertexMap& order, Vertex first, Vertex last,
               const EdgeIndex* offsets, SortedRows& to) {
  const std::uint64_t rows = last - first;
  SPILLWAY_LAUNCH(move_rows, blocks_for(rows * warp_lanes), block_threads, from, order.original.data() + first,
                  order.place.data(), rows, offsets + first, to.targets.data(), to.weights.data());
  to.sort(device, offsets + first, rows);
}

void SortedRows::sort(Device& device, const EdgeIndex* offsets, std::uint64_t rows) {
  if (targets.size() == 0) return;
  const auto                 what = "the rows in another order";
  DeviceArray<EdgeIndex>     from_zero{device, rows + 1, what};
  DeviceArray<Vertex>        other_targets{device, targets.size(), what};
  DeviceArray<std::uint32_t> other_weights{device, weights.size(), what};
  cub::DoubleBuffer          keys{targets.data(), other_targets.data()};
  cub::DoubleBuffer          values{weights.data(), other_weights.data()};
  SPILLWAY_LAUNCH(less_the_first, blocks_for(rows + 1), block_threads, offsets, rows + 1, from_zero.data());
  const EdgeIndex* const begins = from_zero.data();
  const auto  count = static_cast<std::int64_t>(targets.size()), segments = static_cast<std::int64_t>(rows);
  std::size_t bytes = 0;
  const auto  sort  = [&](void* room) {
    check(weights.size() > 0
                ? cub::DeviceSegmentedSort::SortPairs(room, bytes, keys, values, count, segments, begins, begins + 1)
                : cub::DeviceSegmentedSort::SortKeys(room, bytes, keys, count, segments, begins, begins + 1),
          "sorting the rows");
  };
  sort(nullptr);
  const DeviceArray<char> room{device, std::max<std::size_t>(bytes, 1), what};
  sort(room.data());
  if (keys.Current() != targets.data()) targets = std::move(other_targets);
  if (values.Current() != weights.data()) weights = std::move(other_weights);
}

ResidentRows reordered(Device& device, const Rows& rows, std::uint64_t n, EdgeIndex arcs, bool weighted,
                       const VertexMap& order) {
  const auto   what = "the rows in another order";
  ResidentRows moved;
  moved.offsets = ordered_offsets(device, rows.offsets, n, order);
  SortedRows sorted{{device, arcs, what}, {device, weighted ? arcs : 0, what}};
  move_rows(device, rows, order, 0, static_cast<Vertex>(n), moved.offsets.data(), sorted);
  moved.targets = std::move(sorted.targets), moved.weights = std::move(sorted.weights);
  return moved;
}

}  // namespace spillway::cuda
