// Any vertex that is nearer to the source, by the length of the arc between, will do as a parent: along such ones
// distances fall, and no path goes round. What is left hangs on arcs that add nothing; there a parent is taken
// from a vertex that has one already, and a parent once taken stays, so that these do not go round either.
#include "algorithms/gpu/parents.hpp"

#include "algorithms/gpu/visit_rows.cuh"
#include "base/fail.hpp"

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

  __device__ bool reached(Vertex v) const { return distances[v] != highest<Distance>(); }
  __device__ bool orphaned(Vertex v) const { return parents[v] == no_vertex && reached(v); }

  /// Whether a shortest path to `v` may end with the edge `i` from `u`.
  __device__ bool fits(Vertex u, Vertex v, EdgeIndex i) const {
    const Sum to = static_cast<Sum>(distances[v]), weight = static_cast<Sum>(weight_of(i));
    if (weight > to) return false;  // most edges, and no other distance is read
    return static_cast<Sum>(distances[u]) + weight == to;
  }
  __device__ bool nearer(Vertex u, Vertex v) const { return distances[u] < distances[v]; }

  /// True for the one that makes `u` the parent.
  __device__ bool adopt(Vertex u, Vertex v) const { return atomicCAS(parents + v, no_vertex, u) == no_vertex; }

  __device__ Weight weight_of(EdgeIndex i) const { return __builtin_bit_cast(Weight, rows.weights[i]); }
};

/// Rows of in-edges: every vertex looks for a nearer one itself.
template <class Distance>
__global__ void look_back(Search<Distance> search) {
  visit_rows(
      search.rows, search.n, [&](Vertex v) { return search.orphaned(v); },
      [&](Vertex v, EdgeIndex i) {
        const Vertex u = search.rows.targets[i];
        if (!search.fits(u, v, i) || !search.nearer(u, v)) return false;
        search.adopt(u, v);
        return true;
      });
}

/// Rows of out-edges: every vertex offers itself to those that are farther.
template <class Distance>
__global__ void offer_all(Search<Distance> search) {
  visit_rows(
      search.rows, search.n, [&](Vertex u) { return search.reached(u); },
      [&](Vertex u, EdgeIndex i) {
        const Vertex v = search.rows.targets[i];
        if (search.orphaned(v) && search.fits(u, v, i) && search.nearer(u, v)) search.adopt(u, v);
        return false;
      });
}

/// Rows of out-edges: those that have a parent, all of them (`from` is null) or those listed, offer themselves to
/// whoever has none. Who takes one is listed.
template <class Distance>
__global__ void offer(Search<Distance> search, const Vertex* from, std::uint64_t count, Vertex* taken,
                      Count* taken_count) {
  deal<WarpTeam>(count, [&](std::uint64_t k) {
    const Vertex u = from != nullptr ? from[k] : static_cast<Vertex>(k);
    if (search.parents[u] == no_vertex) return;
    deal_edges<WarpTeam>(search.rows.offsets[u], search.rows.offsets[u + 1], [&](EdgeIndex i) {
      const Vertex v = search.rows.targets[i];
      if (search.orphaned(v) && search.fits(u, v, i) && search.adopt(u, v))
        taken[atomicAdd(taken_count, Count{1})] = v;
    });
  });
}

template <class Distance>
__global__ void count_orphans(Search<Distance> search, Count* left) {
  Count mine = 0;
  for (std::uint64_t v = first_item(); v < search.n; v += item_stride())
    mine += search.orphaned(static_cast<Vertex>(v));
  mine = warp_sum(mine);
  if (lane_index() == 0 && mine != 0) atomicAdd(left, mine);
}

/// The host's side: what is launched, and how often.
template <class Distance>
class Parents {
 public:
  Parents(cuda::Device& device, std::uint64_t n, const Distance* distances, Vertex source)
      : device_(device), n_(n), distances_(distances), parents_(device, n, what), count_(device, 1, what) {
    check(cudaMemsetAsync(parents_.data(), 0xFF, n * sizeof(Vertex), nullptr), what);
    device.upload(parents_.data() + source, &source, sizeof(source));
  }

  void take_nearer_ones(const Rows& rows, bool of_in_edges) {
    SPILLWAY_LAUNCH((of_in_edges ? look_back<Distance> : offer_all<Distance>), blocks_for(n_), block_threads,
                    search(rows));
    ++kernels_;
  }

  Count orphans(const Rows& rows) {
    count_.clear();
    SPILLWAY_LAUNCH(count_orphans, blocks_for(n_), block_threads, search(rows), count_.data());
    return counted();
  }

  void take_equal_ones(const Rows& out, Count orphans, const Progress& progress) {
    DeviceArray<Vertex> lists[2] = {{device_, orphans, what}, {device_, orphans, what}};
    const Vertex*       from     = nullptr;
    for (Count count = n_, round = 0; count != 0; ++round) {
      check_cancelled(progress);
      Vertex* const taken = lists[round % 2].data();
      count_.clear();
      SPILLWAY_LAUNCH(offer, blocks_for(count * warp_lanes), block_threads, search(out), from, count, taken,
                      count_.data());
      count = counted();
      from  = taken;
    }
  }

  const DeviceArray<Vertex>& found() const { return parents_; }
  std::uint64_t              kernels() const { return kernels_; }

 private:
  static constexpr const char* what = "the parents";

  Search<Distance> search(const Rows& rows) const { return {rows, n_, distances_, parents_.data()}; }

  Count counted() {
    ++kernels_;
    Count count = 0;
    count_.download(&count);
    return count;
  }

  cuda::Device&       device_;
  std::uint64_t       n_;
  const Distance*     distances_;
  DeviceArray<Vertex> parents_;
  DeviceArray<Count>  count_;
  std::uint64_t       kernels_ = 0;
};

}  // namespace

template <class Distance>
ShortestPaths<Distance> parents(const Graph& graph, Vertex source, const std::shared_ptr<Resident>& distances,
                                const RunOptions& options) {
  const std::uint64_t n        = graph.vertex_count();
  const Progress&     progress = options.progress ? *options.progress : Progress::none();
  const auto&         values   = dynamic_cast<const cuda::KeptValues<Distance>&>(*distances).values;
  AlgorithmWork       work{
            .topology = {.vertices = n, .arcs = graph.arc_count(), .push = {block_of(graph.out())}, .pull = {}}};
  if (graph.has_in()) work.topology.pull = {block_of(graph.in())};
  work.on_gpu = passes_over_all(1);
  Session session{graph, options, work, /*weighted=*/true};

  const RowsOfSides rows = session.rows();
  const Rows&       out  = rows.push[0];
  const bool        back = !rows.pull.empty();
  Parents<Distance> search{session.device(), n, values.data(), source};
  search.take_nearer_ones(back ? rows.pull[0] : out, back);
  if (const Count left = search.orphans(out); left != 0) search.take_equal_ones(out, left, progress);
  session.computed();

  ShortestPaths<Distance> paths;
  paths.distances = {n, graph.budget(), "the result"};
  paths.parents   = {n, graph.budget(), "the result"};
  values.download(paths.distances.data());
  search.found().download(paths.parents.data());
  paths.statistics = session.statistics(n, graph.arc_count(), search.kernels());
  return paths;
}

template ShortestPaths<std::uint32_t> parents(const Graph&, Vertex, const std::shared_ptr<Resident>&,
                                              const RunOptions&);
template ShortestPaths<double> parents(const Graph&, Vertex, const std::shared_ptr<Resident>&, const RunOptions&);

}  // namespace spillway::gpu
