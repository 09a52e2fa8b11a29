// A graph transposed on a GPU: arcs sorted by their targets. The sort is stable and rows ascend, so the rows
// that come out ascend, too, and parallel arcs stay in the order of their weights.
#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <bit>

#include "engine/cuda/grid.cuh"
#include "engine/rows.hpp"

#include <spillway/error.hpp>
#include "engine/building.hpp"
#include "engine/cuda/building.hpp"
#include "engine/cuda/device_graph.hpp"

namespace spillway {
namespace cuda {
namespace {

const char* const what = "the in-edges";

/// What travels with the target of an arc: where it comes from, and its weight.
struct Origin {
  std::uint32_t weight;
  Vertex        source;
};

__device__ Vertex made(Vertex source, std::uint32_t, Vertex*) { return source; }
__device__ Origin made(Vertex source, std::uint32_t weight, Origin*) { return {weight, source}; }

template <class Carried>
__global__ void carry_origins(Rows rows, std::uint64_t n, Carried* carried) {
  deal<WarpTeam>(n, [&](std::uint64_t u) {
    deal_edges<WarpTeam>(rows.offsets[u], rows.offsets[u + 1], [&](EdgeIndex i) {
      carried[i] = made(static_cast<Vertex>(u), rows.weights != nullptr ? rows.weights[i] : 0, carried);
    });
  });
}

/// Where each target begins among the sorted ones: before the first that is not below it.
__global__ void find_offsets(const Vertex* sorted, EdgeIndex arcs, std::uint64_t n, EdgeIndex* offsets) {
  for (std::uint64_t v = first_item(); v <= n; v += item_stride())
    offsets[v] = partition_point(EdgeIndex{0}, arcs, [&](EdgeIndex i) { return sorted[i] < v; });
}

__global__ void part(const Origin* origins, EdgeIndex arcs, Vertex* sources, std::uint32_t* weights) {
  for (EdgeIndex i = first_item(); i < arcs; i += item_stride()) {
    sources[i] = origins[i].source;
    weights[i] = origins[i].weight;
  }
}

/// What each arc carries, in the order of the targets, which are found in `sorted`.
template <class Carried>
DeviceArray<Carried> by_target(Device& device, const Rows& rows, std::uint64_t n, EdgeIndex arcs,
                               DeviceArray<Vertex>& sorted) {
  DeviceArray<Carried> before{device, arcs, what}, after{device, arcs, what};
  SPILLWAY_LAUNCH(carry_origins, blocks_for(n * warp_lanes), block_threads, rows, n, before.data());
  const int   bits  = std::bit_width(n - 1);
  std::size_t bytes = 0;
  const auto  sort  = [&](void* room) {
    check(cub::DeviceRadixSort::SortPairs(room, bytes, rows.targets, sorted.data(), before.data(), after.data(),
                                            arcs, 0, std::max(bits, 1)),
            "turning the graph round");
  };
  sort(nullptr);
  const DeviceArray<char> room{device, std::max<std::size_t>(bytes, 1), what};
  sort(room.data());
  return after;
}

ResidentRows transposed(Device& device, const Rows& rows, std::uint64_t n, EdgeIndex arcs, bool weighted) {
  ResidentRows        back;
  DeviceArray<Vertex> sorted{device, arcs, what};
  back.offsets = {device, n + 1, what};
  if (weighted) {
    const auto origins = by_target<Origin>(device, rows, n, arcs, sorted);
    back.targets       = {device, arcs, what};
    back.weights       = {device, arcs, what};
    SPILLWAY_LAUNCH(part, blocks_for(arcs), block_threads, origins.data(), arcs, back.targets.data(),
                    back.weights.data());
  } else {
    back.targets = by_target<Vertex>(device, rows, n, arcs, sorted);
  }
  SPILLWAY_LAUNCH(find_offsets, blocks_for(n + 1), block_threads, sorted.data(), arcs, n, back.offsets.data());
  return back;
}

template <class T>
Array<T> downloaded(const DeviceArray<T>& there, const Graph& graph) {
  Buffer<T> here{there.size(), graph.budget(), what};
  there.download(here.data());
  return std::move(here).freeze();
}

}  // namespace

void build_in_edges_on(const DeviceChoice& choice, const Graph& graph) {
  const Csr&          out = graph.out();
  const std::uint64_t n = out.vertex_count(), arcs = out.arc_count();
  const bool          weighted = !out.weights.empty();
  const auto          there    = DeviceGraph::of(graph, choice);
  const Topology      topology{.vertices = n, .arcs = arcs, .push = {block_of(out)}, .pull = {}};
  there->device().enter();
  const DeviceTopology rows = there->topology(topology, weighted);
  ResidentRows         back = transposed(there->device(), rows.push.front(), n, arcs, weighted);
  graph.give_in(
      {downloaded(back.offsets, graph), downloaded(back.targets, graph), downloaded(back.weights, graph)});
  const Csr& in = graph.in();
  back.on_host  = {in.offsets.data(), in.targets.data(), weighted ? in.weights.data() : nullptr};
  refuse_long_rows({.rows = back.on_host, .first = 0, .last = static_cast<Vertex>(n)});
  there->keep(std::move(back));
}

}  // namespace cuda

namespace {

bool is_worth_it(const Graph& graph, const RunOptions& options) {
  return graph.arc_count() >= std::max<EdgeIndex>(options.cuda.build_from, 1);
}

}  // namespace

void build_in_edges(const Graph& graph, const RunOptions& options, bool on_gpu) {
  if (on_gpu && !graph.has_in() && is_worth_it(graph, options)) {
    try {
      return cuda::build_in_edges_on(options.device, graph);
    } catch (const DeviceError&) {  // no room, or no GPU after all
    }
  }
  graph.in();
}

void build_rows(const Graph& graph, const RunOptions& options, bool on_gpu) {
  if (on_gpu && !graph.has_rows() && is_worth_it(graph, options)) {
    try {
      cuda::build_rows_on(graph, options);
      return;
    } catch (const DeviceError&) {
    }
  }
  build_rows_here(graph, options);
}

}  // namespace spillway
