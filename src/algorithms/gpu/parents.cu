// Any vertex that is nearer to the source, by the length of the arc between, will do as a parent: along such ones
// distances fall, and no path goes round. What is left hangs on arcs that add nothing; there a parent is taken
// from a vertex that has one already.
#include "algorithms/gpu/parents.hpp"

#include "algorithms/gpu/visit_rows.cuh"

namespace spillway::gpu {
namespace {

template <class Distance>
struct Search {
  using Weight = std::conditional_t<std::is_same_v<Distance, double>, float, std::uint32_t>;
  using Sum    = std::conditional_t<std::is_same_v<Distance, double>, double, std::uint64_t>;

  Rows            rows;
  std::uint64_t   n;
  const Distance* distances;
  Vertex*         parents;
  Count*          left;  ///< without a parent

  __device__ bool reached(Vertex v) const { return distances[v] != highest<Distance>(); }
  __device__ bool orphaned(Vertex v) const { return parents[v] == no_vertex && reached(v); }

  /// Whether a shortest path to `v` may end with the edge `i` from `u`.
  __device__ bool fits(Vertex u, Vertex v, EdgeIndex i, bool nearer) const {
    const Sum to = static_cast<Sum>(distances[v]), weight = static_cast<Sum>(weight_of(i));
    if (weight > to) return false;  // most edges, and no other distance is read
    const Distance from = distances[u];
    if (static_cast<Sum>(from) + weight != to) return false;
    return nearer ? from < distances[v] : parents[u] != no_vertex;
  }

  __device__ Weight weight_of(EdgeIndex i) const { return __builtin_bit_cast(Weight, rows.weights[i]); }
};

/// Rows of in-edges: every vertex looks for itself.
template <class Distance>
__global__ void look_back(Search<Distance> search, bool nearer) {
  visit_rows(
      search.rows, search.n, [&](Vertex v) { return search.orphaned(v); },
      [&](Vertex v, EdgeIndex i) {
        const Vertex u = search.rows.targets[i];
        if (!search.fits(u, v, i, nearer)) return false;
        search.parents[v] = u;
        return true;
      });
}

/// Rows of out-edges: every vertex offers itself.
template <class Distance>
__global__ void offer(Search<Distance> search, bool nearer) {
  visit_rows(
      search.rows, search.n,
      [&](Vertex u) { return search.reached(u) && (nearer || search.parents[u] != no_vertex); },
      [&](Vertex u, EdgeIndex i) {
        const Vertex v = search.rows.targets[i];
        if (search.reached(v) && search.parents[v] == no_vertex && search.fits(u, v, i, nearer))
          search.parents[v] = u;
        return false;
      });
}

template <class Distance>
__global__ void count_orphans(Search<Distance> search) {
  Count left = 0;
  for (std::uint64_t v = first_item(); v < search.n; v += item_stride())
    left += search.orphaned(static_cast<Vertex>(v));
  left = sum_over_warp(left);
  if (lane_index() == 0 && left != 0) atomicAdd(search.left, left);
}

Block rows_of(const Csr& csr) {
  return {.rows  = {csr.offsets.data(), csr.targets.data(), csr.weights.data()},
          .first = 0,
          .last  = static_cast<Vertex>(csr.vertex_count())};
}

}  // namespace

template <class Distance>
ShortestPaths<Distance> parents(const Graph& graph, Vertex source, const std::shared_ptr<Resident>& distances,
                                const RunOptions& options) {
  const std::uint64_t n      = graph.vertex_count();
  const bool          pulls  = graph.symmetric() || graph.has_in();
  const auto          what   = "the parents";
  const auto&         values = dynamic_cast<const cuda::KeptValues<Distance>&>(*distances).values;
  const Topology      topology{
           .vertices = n, .arcs = graph.arc_count(), .push = {rows_of(pulls ? graph.in() : graph.out())}, .pull = {}};
  Session             session{graph, options, topology, /*weighted=*/true};
  cuda::Device&       device = session.device();
  DeviceArray<Vertex> found{device, n, what};
  DeviceArray<Count>  left{device, 1, what};
  check(cudaMemsetAsync(found.data(), 0xFF, n * sizeof(Vertex), nullptr), "looking for parents");
  device.upload(found.data() + source, &source, sizeof(source));

  const Search<Distance> search{session.rows().push[0], n, values.data(), found.data(), left.data()};
  std::uint64_t          sweeps  = 0;
  const auto             orphans = [&](bool nearer) {
    (pulls ? look_back<Distance> : offer<Distance>)<<<blocks_for(n), block_threads>>>(search, nearer);
    left.clear();
    count_orphans<<<blocks_for(n), block_threads>>>(search);
    check(cudaGetLastError(), "looking for parents");
    Count now = 0;
    left.download(&now);
    ++sweeps;
    return now;
  };
  for (Count now = orphans(true), before = 0; now != 0 && now != before;) {
    before = now;
    now    = orphans(false);
  }
  session.computed();
  ShortestPaths<Distance> paths;
  paths.distances = {n, graph.budget(), "the result"};
  paths.parents   = {n, graph.budget(), "the result"};
  values.download(paths.distances.data());
  found.download(paths.parents.data());
  paths.statistics = session.statistics(n, graph.arc_count() * sweeps, 2 * sweeps);
  return paths;
}

template ShortestPaths<std::uint32_t> parents(const Graph&, Vertex, const std::shared_ptr<Resident>&,
                                              const RunOptions&);
template ShortestPaths<double> parents(const Graph&, Vertex, const std::shared_ptr<Resident>&, const RunOptions&);

}  // namespace spillway::gpu
