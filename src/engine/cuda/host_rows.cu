#include "engine/cuda/host_rows.hpp"

#include <algorithm>

#include "engine/cuda/grid.cuh"

#include <spillway/engine/cuda/warp.cuh>
#include "engine/cuda/order.hpp"

namespace spillway::cuda {
namespace {

constexpr auto what_rows = "the rows of the graph";

/// Rows that are kept have so many edges or fewer: of longer ones the beginning.
constexpr EdgeIndex whole_row = 8;

__device__ EdgeIndex prefix_of(const EdgeIndex* offsets, std::uint64_t v, const PrefixLengths& lengths) {
  const EdgeIndex edges = offsets[v + 1] - offsets[v],
                  most  = v < lengths.first ? lengths.of_first : lengths.of_all;
  return edges < most ? edges : most;
}

__global__ void add_prefixes(const EdgeIndex* offsets, std::uint64_t n, PrefixLengths lengths, Count* sum) {
  Count mine = 0;
  for (std::uint64_t v = first_item(); v < n; v += item_stride()) mine += prefix_of(offsets, v, lengths);
  mine = warp_sum(mine);
  if (lane_index() == 0 && mine != 0) atomicAdd(sum, mine);
}

__global__ void lay_out_prefixes(const EdgeIndex* offsets, std::uint64_t n, PrefixLengths lengths,
                                 EdgeIndex* prefixes, EdgeIndex* tails) {
  for (std::uint64_t v = first_item(); v <= n; v += item_stride()) {
    prefixes[v] = v < n ? prefix_of(offsets, v, lengths) : 0;
    if (v < n) tails[v] = offsets[v] + prefixes[v];
  }
}

/// A warp for every row.
__global__ void copy_prefixes(Rows from, std::uint64_t n, const EdgeIndex* offsets, Vertex* targets,
                              std::uint32_t* weights) {
  deal<WarpTeam>(n, [&](std::uint64_t v) {
    const EdgeIndex to = offsets[v], first = from.offsets[v];
    deal_edges<WarpTeam>(0, offsets[v + 1] - to, [&](EdgeIndex i) {
      targets[to + i] = from.targets[first + i];
      if (weights != nullptr) weights[to + i] = from.weights[first + i];
    });
  });
}

}  // namespace

HostRows::HostRows(Device& device, const RowBlock& block, const Graph& graph)
    : on_host_{block.rows.offsets, block.rows.targets, nullptr},
      budget_(graph.budget()),
      vertices_(std::uint64_t{block.last} - block.first),
      arcs_(block.arcs()),
      offsets_(device, vertices_ + 1, what_rows) {
  refuse_long_rows(block);
  offsets_.upload(block.rows.offsets);
}

void HostRows::pin() {
  if (targets_.bytes() == 0) targets_ = {on_host_.targets, arcs_ * sizeof(Vertex), budget_, what_rows};
  if (weights_.bytes() == 0 && on_host_.weights)
    weights_ = {on_host_.weights, arcs_ * sizeof(std::uint32_t), budget_, what_rows};
  targets_pinned_ = true, weights_pinned_ = on_host_.weights != nullptr;
}

Rows HostRows::pinned() {
  pin();
  return {on_host_.offsets, targets_.on_host<Vertex>(), weights_.on_host<std::uint32_t>()};
}

Rows HostRows::whole() {
  pin();
  return {offsets_.data(), targets_.as<Vertex>(), weights_.as<std::uint32_t>()};
}

/// So that all prefixes have at most `most` edges.
PrefixLengths HostRows::prefix_lengths(Device& device, EdgeIndex most) const {
  DeviceArray<Count> sum{device, 1, what_rows};
  const auto         fit = [&](const PrefixLengths& lengths) {
    sum.clear();
    SPILLWAY_LAUNCH(add_prefixes, blocks_for(vertices_), block_threads, offsets_.data(), vertices_, lengths,
                            sum.data());
    Count edges = 0;
    sum.download(&edges);
    return edges <= most;
  };
  EdgeIndex low = 0, high = 1;
  while (high < most && fit({high})) low = high, high *= 2;
  high = std::min(high, most + 1);
  while (high - low > std::max<EdgeIndex>(low / 16, 1)) {
    const EdgeIndex middle       = low + (high - low) / 2;
    (fit({middle}) ? low : high) = middle;
  }
  if (low > 0 || most == 0 || !some_rows_) return {low};
  PrefixLengths       lengths{0, whole_row};
  const std::uint64_t step = vertices_ / 64 + 1;
  for (std::uint64_t end = vertices_; end - lengths.first > step;) {
    const std::uint64_t middle                          = lengths.first + (end - lengths.first) / 2;
    (fit({0, whole_row, middle}) ? lengths.first : end) = middle;
  }
  return lengths;
}

bool HostRows::keep_prefixes(Device& device, std::uint64_t room) {
  const bool weighted = on_host_.weights != nullptr && arcs_ > 0;
  const bool as_asked = lengths_.of_all > 0 || chosen_with_some_ == some_rows_;
  if (serve(room_, room) && (prefix_weights_.size() > 0) == weighted && as_asked) return false;
  drop_prefixes();
  const PrefixLengths lengths = lengths_ = prefix_lengths(device, room / edge_bytes(weighted));
  chosen_with_some_                      = some_rows_;
  if (lengths.of_all > 0 || lengths.first > 0) {
    DeviceArray<EdgeIndex> offsets{device, vertices_ + 1, what_rows}, tails{device, vertices_, what_rows};
    SPILLWAY_LAUNCH(lay_out_prefixes, blocks_for(vertices_ + 1), block_threads, offsets_.data(), vertices_,
                    lengths, offsets.data(), tails.data());
    exclusive_scan(device, offsets);
    EdgeIndex all = 0;
    device.download(&all, offsets.data() + vertices_, sizeof(all));
    DeviceArray<Vertex>        targets{device, all, what_rows};
    DeviceArray<std::uint32_t> weights{device, weighted ? all : 0, what_rows};
    SPILLWAY_LAUNCH(copy_prefixes, blocks_for(vertices_ * warp_lanes), block_threads, whole(), vertices_,
                    offsets.data(), targets.data(), weights.data());
    device.wait();
    prefix_offsets_ = std::move(offsets), tail_begins_ = std::move(tails);
    prefix_targets_ = std::move(targets), prefix_weights_ = std::move(weights);
  }
  room_ = room;
  return true;
}

void HostRows::drop_prefixes() {
  prefix_offsets_ = {}, tail_begins_ = {};
  prefix_targets_ = {}, prefix_weights_ = {};
  first_ = {};
  room_  = no_prefixes;
}

std::uint64_t HostRows::held_bytes() const {
  return (prefix_offsets_.size() + tail_begins_.size()) * sizeof(EdgeIndex) + resident_bytes() + first_.bytes();
}

std::vector<PlainRows> HostRows::parts() {
  const EdgeIndex* const ends = offsets_.data() + 1;
  const Rows             all  = whole();
  if (prefix_offsets_.size() == 0) return {{offsets_.data(), ends, all.targets, all.weights, true}};
  return {{prefix_offsets_.data(), prefix_offsets_.data() + 1, prefix_targets_.data(), prefix_weights_.data()},
          {tail_begins_.data(), ends, all.targets, all.weights, true}};
}

}  // namespace spillway::cuda
