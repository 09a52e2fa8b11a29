#include "engine/cuda/outside.hpp"

#include <algorithm>

#include "engine/cuda/grid.cuh"

#include <spillway/engine/cuda/order.hpp>
#include <spillway/engine/cuda/warp.cuh>

namespace spillway::cuda {
namespace {

constexpr auto what_rows = "the rows of the graph";

__device__ EdgeIndex head_of(const EdgeIndex* offsets, std::uint64_t v, EdgeIndex longest) {
  const EdgeIndex edges = offsets[v + 1] - offsets[v];
  return edges < longest ? edges : longest;
}

__global__ void add_heads(const EdgeIndex* offsets, std::uint64_t n, EdgeIndex longest, Count* sum) {
  Count mine = 0;
  for (std::uint64_t v = first_item(); v < n; v += item_stride()) mine += head_of(offsets, v, longest);
  mine = sum_over_warp(mine);
  if (lane_index() == 0 && mine != 0) atomicAdd(sum, mine);
}

__global__ void head_lengths(const EdgeIndex* offsets, std::uint64_t n, EdgeIndex longest, EdgeIndex* lengths,
                             EdgeIndex* tails) {
  for (std::uint64_t v = first_item(); v <= n; v += item_stride()) {
    lengths[v] = v < n ? head_of(offsets, v, longest) : 0;
    if (v < n) tails[v] = offsets[v] + lengths[v];
  }
}

/// A warp for every row.
__global__ void copy_heads(Rows from, std::uint64_t n, const EdgeIndex* offsets, Vertex* targets,
                           std::uint32_t* weights) {
  for (std::uint64_t v = first_item() / warp_lanes; v < n; v += item_stride() / warp_lanes) {
    const EdgeIndex to = offsets[v], count = offsets[v + 1] - to, first = from.offsets[v];
    for (EdgeIndex i = lane_index(); i < count; i += warp_lanes) {
      targets[to + i] = from.targets[first + i];
      if (weights != nullptr) weights[to + i] = from.weights[first + i];
    }
  }
}

}  // namespace

OutsideRows::OutsideRows(Device& device, const Block& block, const Graph& graph)
    : on_host_{block.rows.offsets, block.rows.targets, nullptr},
      budget_(graph.budget()),
      vertices_(std::uint64_t{block.last} - block.first),
      arcs_(block.rows.offsets[vertices_]),
      offsets_(device, vertices_ + 1, what_rows) {
  refuse_long_rows(block);
  offsets_.upload(block.rows.offsets);
}

void OutsideRows::pin() {
  if (targets_.bytes() == 0) targets_ = {on_host_.targets, arcs_ * sizeof(Vertex), budget_, what_rows};
  if (weights_.bytes() == 0 && on_host_.weights)
    weights_ = {on_host_.weights, arcs_ * sizeof(std::uint32_t), budget_, what_rows};
}

Rows OutsideRows::pinned() {
  pin();
  return {on_host_.offsets, targets_.on_host<Vertex>(), weights_.on_host<std::uint32_t>()};
}

Rows OutsideRows::whole() {
  pin();
  return {offsets_.data(), targets_.as<Vertex>(), weights_.as<std::uint32_t>()};
}

/// Of how many edges heads may be, so that all have at most `most`.
EdgeIndex OutsideRows::longest_heads(Device& device, EdgeIndex most) const {
  DeviceArray<Count> sum{device, 1, what_rows};
  const auto         fits = [&](EdgeIndex longest) {
    sum.clear();
    SPILLWAY_LAUNCH(add_heads, blocks_for(vertices_), block_threads, offsets_.data(), vertices_, longest,
                            sum.data());
    Count edges = 0;
    sum.download(&edges);
    return edges <= most;
  };
  EdgeIndex low = 0, high = 1;
  while (high < most && fits(high)) low = high, high *= 2;
  high = std::min(high, most + 1);
  while (high - low > std::max<EdgeIndex>(low / 16, 1)) {
    const EdgeIndex middle      = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

bool OutsideRows::keep_heads(Device& device, std::uint64_t room) {
  const bool weighted = on_host_.weights != nullptr && arcs_ > 0;
  if (serve(room_, room) && (head_weights_.size() > 0) == weighted) return false;
  drop_heads();
  const EdgeIndex longest = longest_heads(device, room / (weighted ? 8 : 4));
  if (longest > 0) {
    DeviceArray<EdgeIndex> offsets{device, vertices_ + 1, what_rows}, tails{device, vertices_, what_rows};
    SPILLWAY_LAUNCH(head_lengths, blocks_for(vertices_ + 1), block_threads, offsets_.data(), vertices_, longest,
                    offsets.data(), tails.data());
    sum_before_each(device, offsets);
    EdgeIndex all = 0;
    device.download(&all, offsets.data() + vertices_, sizeof(all));
    DeviceArray<Vertex>        targets{device, all, what_rows};
    DeviceArray<std::uint32_t> weights{device, weighted ? all : 0, what_rows};
    SPILLWAY_LAUNCH(copy_heads, blocks_for(vertices_ * warp_lanes), block_threads, whole(), vertices_,
                    offsets.data(), targets.data(), weights.data());
    check(cudaGetLastError(), "keeping rows");
    device.wait();
    head_offsets_ = std::move(offsets), tail_begins_ = std::move(tails);
    head_targets_ = std::move(targets), head_weights_ = std::move(weights);
  }
  room_ = room;
  return true;
}

void OutsideRows::drop_heads() {
  head_offsets_ = {}, tail_begins_ = {};
  head_targets_ = {}, head_weights_ = {};
  room_ = no_heads;
}

std::uint64_t OutsideRows::held_bytes() const {
  return (head_offsets_.size() + tail_begins_.size()) * sizeof(EdgeIndex) + resident_bytes();
}

std::vector<PlainRows> OutsideRows::parts() {
  const EdgeIndex* const ends = offsets_.data() + 1;
  const Rows             all  = whole();
  if (head_offsets_.size() == 0) return {{offsets_.data(), ends, all.targets, all.weights, true}};
  return {{head_offsets_.data(), head_offsets_.data() + 1, head_targets_.data(), head_weights_.data()},
          {tail_begins_.data(), ends, all.targets, all.weights, true}};
}

}  // namespace spillway::cuda
