// Afforest on a GPU: every vertex hangs under its smallest neighbour, one more arc of each is united, and only
// those outside the tree that most are in then look at all their arcs. Climbing halves the paths (Jaiganesh &
// Burtscher, "A High-Performance Connected Components Implementation for GPUs", HPDC 2018).
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/gpu/session.cuh"

namespace spillway::gpu {
namespace {

using cuda::PlainRows;

constexpr unsigned  samples    = 1024;
constexpr EdgeIndex hub_degree = 4096;  // longer rows are walked by all threads

/// Every parent is smaller than its child. Any thread may read an old parent: it is an ancestor still, so the
/// first-level cache may serve it; only hooking a root looks at memory itself.
struct Forest {
  Vertex* parents;

  __device__ Vertex parent(Vertex v) const { return atomics::load_cached(parents[v]); }
  __device__ void   set(Vertex v, Vertex p) const { atomics::store(parents[v], p); }

  /// The root; those on the way skip one.
  __device__ Vertex climb(Vertex v) const {
    Vertex above = parent(v);
    while (above != v) {
      const Vertex two_above = parent(above);
      if (two_above != above) set(v, two_above);
      v     = above;
      above = two_above;
    }
    return v;
  }

  __device__ void unite(Vertex a, Vertex b) const {
    a = climb(a), b = climb(b);
    while (a != b) {
      const Vertex larger = a > b ? a : b, smaller = a > b ? b : a;
      const Vertex seen = atomicCAS(parents + larger, larger, smaller);
      if (seen == larger) return;
      a = climb(seen), b = smaller;
    }
  }
};

__global__ void hook(PlainRows rows, std::uint64_t n, Forest forest, Vertex* second) {
  for (std::uint64_t u = first_item(); u < n; u += item_stride()) {
    const auto      v   = static_cast<Vertex>(u);
    const EdgeIndex row = rows.begins[v], degree = rows.ends[v] - row;
    const Vertex    first = degree > 0 ? rows.targets[row] : v;
    forest.parents[v]     = first < v ? first : v;
    second[v]             = first > v ? first : degree > 1 ? rows.targets[row + 1] : v;
  }
}

/// Hangs every vertex close to its root: chains as long as a side of a grid become short ones. Threads shorten
/// each other's paths, so that one may end a little below its root again.
__global__ void shorten(std::uint64_t n, Forest forest) {
  for (std::uint64_t u = first_item(); u < n; u += item_stride()) {
    const auto v = static_cast<Vertex>(u);
    forest.set(v, forest.climb(v));
  }
}

/// Hangs every vertex right under its root.
__global__ void flatten(std::uint64_t n, Forest forest) {
  for (std::uint64_t u = first_item(); u < n; u += item_stride()) {
    // Without shortening the paths of others, who may have written down their roots already.
    const auto v    = static_cast<Vertex>(u);
    Vertex     root = v;
    for (Vertex above = forest.parent(root); above != root; above = forest.parent(root)) root = above;
    forest.set(v, root);
  }
}

__global__ void unite_second(std::uint64_t n, Forest forest, const Vertex* second) {
  for (std::uint64_t u = first_item(); u < n; u += item_stride())
    if (second[u] != u) forest.unite(static_cast<Vertex>(u), second[u]);
}

__global__ void sample(std::uint64_t n, Forest forest, Vertex* labels) {
  // Multiples of a large odd number visit places that have nothing to do with each other.
  const std::uint64_t place = (threadIdx.x * 0x9E3779B97F4A7C15ull) % n;
  labels[threadIdx.x]       = forest.parents[place];
}

template <class Team>
__device__ void unite_row(const PlainRows& rows, const Forest& forest, Vertex v, EdgeIndex first, EdgeIndex last) {
  deal_edges<Team>(first, last, [&](EdgeIndex i) {
    if (forest.parent(v) != forest.parent(rows.targets[i])) forest.unite(v, rows.targets[i]);
  });
}

/// A warp takes 32 vertices and walks the rows of those not right under `skipped`, one after the other.
__global__ void unite_rows(PlainRows rows, std::uint64_t n, Forest forest, Vertex skipped, Vertex* hubs,
                           unsigned* hub_count, Count* looked_at) {
  Count seen = 0;
  deal<WarpTeam>((n + warp_lanes - 1) / warp_lanes, [&](std::uint64_t word) {
    const std::uint64_t u     = word * warp_lanes + lane_index();
    const auto          v     = static_cast<Vertex>(u < n ? u : 0);
    const EdgeIndex     first = u < n ? rows.begins[v] : 0, last = u < n ? rows.ends[v] : 0;
    bool                wants = first < last && forest.parent(v) != skipped;
    if (wants && last - first >= hub_degree) {
      hubs[atomicAdd(hub_count, 1)] = v;
      wants                         = false;
    }
    seen += wants ? last - first : 0;
    for_each_owner(wants, [&](unsigned owner) {
      unite_row<WarpTeam>(rows, forest, cuda::shuffle(v, owner), cuda::shuffle(first, owner),
                          cuda::shuffle(last, owner));
    });
  });
  seen = warp_sum(seen);
  if (lane_index() == 0 && seen != 0) atomicAdd(looked_at, seen);
}

__global__ void unite_hubs(PlainRows rows, Forest forest, const Vertex* hubs, const unsigned* hub_count,
                           Count* looked_at) {
  deal<GridTeam>(*hub_count, [&](std::uint64_t h) {
    const Vertex    v     = hubs[h];
    const EdgeIndex first = rows.begins[v], last = rows.ends[v];
    unite_row<GridTeam>(rows, forest, v, first, last);
    if (GridTeam::rank() == 0) atomicAdd(looked_at, static_cast<Count>(last - first));
  });
}

}  // namespace

Components components(const Graph& graph, const RunOptions& options) {
  const std::uint64_t n = graph.vertex_count();
  // As on the CPU, in-edges matter only where rows are skipped; without them nothing is.
  const AlgorithmWork work = work_of_components(graph);
  Session             session{graph, options, work};
  cuda::Device&       device = session.device();
  const auto&         rows   = session.parts().push;
  const auto          what   = "the components";
  DeviceArray<Vertex> parents{device, n, what};
  const Forest        forest{parents.data()};
  DeviceArray<Count>  looked_at{device, 1, what};
  looked_at.clear();
  const unsigned blocks  = blocks_for(n);
  std::uint64_t  kernels = 0;
  {
    DeviceArray<Vertex>   second{device, n, what};  // later: rows that all threads walk
    DeviceArray<Vertex>   labels{device, samples, what};
    DeviceArray<unsigned> hub_count{device, 1, what};
    if (n > 0) {
      SPILLWAY_LAUNCH(hook, blocks, block_threads, rows[0], n, forest, second.data());
      SPILLWAY_LAUNCH(shorten, blocks, block_threads, n, forest);
      SPILLWAY_LAUNCH(unite_second, blocks, block_threads, n, forest, second.data());
      SPILLWAY_LAUNCH(shorten, blocks, block_threads, n, forest);
      Vertex     skipped  = no_vertex;
      const bool may_skip = graph.symmetric() || work.topology.push.size() > 1;
      if (may_skip) {
        std::vector<Vertex> sampled(samples);
        SPILLWAY_LAUNCH(sample, 1, samples, n, forest, labels.data());
        labels.download(sampled.data());
        skipped = frequent_label(sampled);
      }
      for (const PlainRows& side : rows) {
        hub_count.clear();
        SPILLWAY_LAUNCH(unite_rows, blocks, block_threads, side, n, forest, skipped, second.data(),
                        hub_count.data(), looked_at.data());
        SPILLWAY_LAUNCH(unite_hubs, 256, block_threads, side, forest, second.data(), hub_count.data(),
                        looked_at.data());
      }
      SPILLWAY_LAUNCH(shorten, blocks, block_threads, n, forest);
      SPILLWAY_LAUNCH(flatten, blocks, block_threads, n, forest);
      kernels = 6 + (may_skip ? 1 : 0) + 2 * rows.size();
    }
  }
  session.computed();
  Components result;
  result.labels = {n, graph.budget(), what};
  parents.download(result.labels.data());
  Count arcs = 0;
  looked_at.download(&arcs);
  result.statistics = session.statistics(n, arcs + 2 * n, kernels);
  return result;
}

}  // namespace spillway::gpu
