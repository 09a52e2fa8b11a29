#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cuda/std/functional>

#include <algorithm>

#include "engine/cuda/grid.cuh"

#include <spillway/engine/cuda/order.hpp>

namespace spillway::cuda {
namespace {

constexpr EdgeIndex block_row = 2048;  // rows from here on are moved by a block

__global__ void degrees_of(Rows rows, std::uint64_t n, std::uint32_t* degrees, Vertex* vertices) {
  for (std::uint64_t v = first_item(); v < n; v += item_stride()) {
    const EdgeIndex degree = rows.offsets[v + 1] - rows.offsets[v];
    degrees[v]             = static_cast<std::uint32_t>(degree < 0xFFFFFFFFu ? degree : 0xFFFFFFFFu);
    vertices[v]            = static_cast<Vertex>(v);
  }
}

__global__ void places_of(const Vertex* original, std::uint64_t n, Vertex* place) {
  for (std::uint64_t i = first_item(); i < n; i += item_stride()) place[original[i]] = static_cast<Vertex>(i);
}

/// One more than there are rows, so that the sum of those before it is the end.
__global__ void row_lengths(Rows rows, const Vertex* original, std::uint64_t n, EdgeIndex* lengths) {
  for (std::uint64_t i = first_item(); i <= n; i += item_stride())
    lengths[i] = i < n ? rows.offsets[original[i] + 1] - rows.offsets[original[i]] : 0;
}

__device__ void move_row(const Rows& from, EdgeIndex first, EdgeIndex last, const Vertex* place, EdgeIndex to,
                         Vertex* targets, std::uint32_t* weights, unsigned lane, unsigned lanes) {
  for (EdgeIndex i = first + lane; i < last; i += lanes) {
    targets[to + i - first] = place[from.targets[i]];
    if (weights != nullptr) weights[to + i - first] = from.weights[i];
  }
}

__global__ void move_rows(Rows from, const Vertex* original, const Vertex* place, std::uint64_t n,
                          const EdgeIndex* offsets, Vertex* targets, std::uint32_t* weights) {
  for (std::uint64_t i = blockIdx.x; i < n; i += gridDim.x) {
    const EdgeIndex first = from.offsets[original[i]], last = from.offsets[original[i] + 1];
    if (last - first >= block_row)
      move_row(from, first, last, place, offsets[i], targets, weights, threadIdx.x, blockDim.x);
  }
  const std::uint64_t warps = item_stride() / warp_lanes;
  for (std::uint64_t i = first_item() / warp_lanes; i < n; i += warps) {
    const EdgeIndex first = from.offsets[original[i]], last = from.offsets[original[i] + 1];
    if (last - first < block_row)
      move_row(from, first, last, place, offsets[i], targets, weights, threadIdx.x % warp_lanes, warp_lanes);
  }
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

/// Each row by rising target: lanes that read it side by side then find what they gather side by side, too.
void sort_rows(Device& device, ResidentRows& rows, std::uint64_t n, EdgeIndex arcs) {
  const auto                 what = "the rows in another order";
  DeviceArray<Vertex>        other_targets{device, arcs, what};
  DeviceArray<std::uint32_t> other_weights{device, rows.weights.size(), what};
  cub::DoubleBuffer          targets{rows.targets.data(), other_targets.data()};
  cub::DoubleBuffer          weights{rows.weights.data(), other_weights.data()};
  const EdgeIndex* const     offsets = rows.offsets.data();
  const auto                 count = static_cast<std::int64_t>(arcs), segments = static_cast<std::int64_t>(n);
  std::size_t                bytes = 0;
  const auto                 sort  = [&](void* room) {
    check(rows.weights.size() > 0
                               ? cub::DeviceSegmentedSort::SortPairs(room, bytes, targets, weights, count, segments, offsets,
                                                                     offsets + 1)
                               : cub::DeviceSegmentedSort::SortKeys(room, bytes, targets, count, segments, offsets, offsets + 1),
          "sorting the rows");
  };
  sort(nullptr);
  const DeviceArray<char> room{device, std::max<std::size_t>(bytes, 1), what};
  sort(room.data());
  if (targets.Current() != rows.targets.data()) rows.targets = std::move(other_targets);
  if (weights.Current() != rows.weights.data()) rows.weights = std::move(other_weights);
}

}  // namespace

DeviceOrder order_by_degree(Device& device, const Rows& rows, std::uint64_t n, EdgeIndex arcs) {
  const auto                 what = "the order of the vertices";
  DeviceOrder                order;
  DeviceArray<std::uint32_t> degrees{device, n, what}, sorted{device, n, what};
  order.original = {device, n, what};
  order.place    = {device, n, what};
  if (n == 0) return order;
  SPILLWAY_LAUNCH(degrees_of, blocks_for(n), block_threads, rows, n, degrees.data(), order.place.data());
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
  check(cudaGetLastError(), "sorting the vertices");

  order.skewed = sum_of_first(device, sorted, n / 16 + 1) >= arcs / 2;
  return order;
}

ResidentRows reordered(Device& device, const Rows& rows, std::uint64_t n, EdgeIndex arcs, bool weighted,
                       const DeviceOrder& order) {
  const auto   what = "the rows in another order";
  ResidentRows moved;
  moved.offsets = {device, n + 1, what};
  moved.targets = {device, arcs, what};
  if (weighted) moved.weights = {device, arcs, what};
  {
    DeviceArray<EdgeIndex> lengths{device, n + 1, what};
    SPILLWAY_LAUNCH(row_lengths, blocks_for(n + 1), block_threads, rows, order.original.data(), n, lengths.data());
    std::size_t bytes = 0;
    const auto  sum   = [&](void* room) {
      check(cub::DeviceScan::ExclusiveSum(room, bytes, lengths.data(), moved.offsets.data(), n + 1),
               "reordering the rows");
    };
    sum(nullptr);
    const DeviceArray<char> room{device, std::max<std::size_t>(bytes, 1), what};
    sum(room.data());
  }
  SPILLWAY_LAUNCH(move_rows, blocks_for(n * warp_lanes), block_threads, rows, order.original.data(),
                  order.place.data(), n, moved.offsets.data(), moved.targets.data(), moved.weights.data());
  check(cudaGetLastError(), "reordering the rows");
  if (arcs > 0) sort_rows(device, moved, n, arcs);
  return moved;
}

}  // namespace spillway::cuda
