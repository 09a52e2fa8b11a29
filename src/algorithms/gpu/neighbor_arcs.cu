// Arcs between the neighbours of each vertex of a directed graph, on a GPU. Directions aside, they are the sides
// of triangles: every two neighbours are joined by an edge that points to its end of higher rank (more arcs, then
// the larger number), triangles are found as in triangles.cu, and each corner gets as many arcs as run along the
// side opposite to it.
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/gpu/rows.cuh"

#include "engine/cuda/order.hpp"

namespace spillway::gpu {
namespace {

constexpr const char* what = "the neighbours";

// --- rows walked by a warp or a block ---

struct Warp : WarpTeam {
  /// How many of the lanes before this one keep something; `all`: how many of all.
  __device__ unsigned before(bool keeps, unsigned& all) const {
    const unsigned mask = __ballot_sync(all_lanes, keeps);
    all                 = __popc(mask);
    return __popc(mask & ((1u << rank()) - 1));
  }
  __device__ unsigned count(bool keeps) const { return __popc(__ballot_sync(all_lanes, keeps)); }
};

struct WholeBlock : BlockTeam {
  unsigned* of_warps;  ///< shared

  __device__ explicit WholeBlock(unsigned* shared) : of_warps(shared) {}
  __device__ unsigned before(bool keeps, unsigned& all) const {
    unsigned before = Warp{}.before(keeps, all);
    if (lane_index() == 0) of_warps[threadIdx.x / warp_lanes] = all;
    __syncthreads();
    all = 0;
    for (unsigned warp = 0; warp < cuda::block_warps; ++warp) {
      before += warp < threadIdx.x / warp_lanes ? of_warps[warp] : 0;
      all += of_warps[warp];
    }
    __syncthreads();  // before they are written again
    return before;
  }
  __device__ unsigned count(bool keeps) const { return static_cast<unsigned>(__syncthreads_count(keeps)); }
};

/// visit(u, fresh) for every entry of an ascending row, a team's lanes together. The first of equal ones is fresh,
/// unless it is `v`.
template <class Team, class Visit>
__device__ void for_row(const Team&, const Vertex* row, EdgeIndex length, Vertex v, Visit&& visit) {
  for (EdgeIndex base = 0; base < length; base += Team::size()) {
    const EdgeIndex i = base + Team::rank();
    const Vertex    u = i < length ? row[i] : v;
    visit(u, u != v && (i == 0 || row[i - 1] != u));
  }
}

/// visit(u, is, leaving) for each neighbour once, a team's lanes together: first those that arcs lead to,
/// ascending, then the others, ascending. Where a lane has none, `is` is false.
template <class Team, class Visit>
__device__ void for_neighbors(const Team& team, const Neighbors& all, Vertex v, Visit&& visit) {
  for_row(team, all.out, all.out_degree, v, [&](Vertex u, bool fresh) { visit(u, fresh, true); });
  for_row(team, all.in, all.in_degree(), v,
          [&](Vertex u, bool fresh) { visit(u, fresh && !contains(all.out, all.out_degree, u), false); });
}

struct LongRows {
  EdgeIndex     from;  ///< so many arcs
  const Vertex* list;
  unsigned      count;
};

/// body(v, team) for the rows that are not long…
template <class Body>
__device__ void for_short_rows(const Neighborhoods& graph, std::uint64_t n, const LongRows& longs, Body&& body) {
  deal<WarpTeam>(n, [&](std::uint64_t v) {
    if (graph.degree(static_cast<Vertex>(v)) < longs.from) body(static_cast<Vertex>(v), Warp{});
  });
}

/// …and for those that are.
template <class Body>
__device__ void for_long_rows(const LongRows& longs, unsigned* shared, Body&& body) {
  deal<BlockTeam>(longs.count, [&](std::uint64_t i) { body(longs.list[i], WholeBlock{shared}); });
}

__global__ void list_long_rows(Neighborhoods graph, std::uint64_t n, EdgeIndex from, Vertex* list,
                               unsigned* count) {
  cuda::list_vertices(
      n, [&](Vertex v) { return graph.degree(v) >= from; }, list, count);
}

// --- edges that point upwards ---

__device__ bool above(const Neighborhoods& graph, Vertex v, Vertex u) {
  const EdgeIndex of_v = graph.degree(v), of_u = graph.degree(u);
  return of_v != of_u ? of_v > of_u : v > u;
}

struct Counts {
  Count*     neighbors;
  EdgeIndex* higher;   ///< of them, those of higher rank; one more entry, so that the sum before it is the end
  Vertex*    leaving;  ///< of these, those that an arc leads to
};

template <class Team>
__device__ void count_row(const Neighborhoods& graph, Vertex v, const Team& team, const Counts& counts) {
  Count     neighbors = 0;
  EdgeIndex to = 0, from = 0;
  for_neighbors(team, graph.of(v), v, [&](Vertex u, bool is, bool leaving) {
    neighbors += team.count(is);
    (leaving ? to : from) += team.count(is && above(graph, u, v));
  });
  if (team.rank() != 0) return;
  counts.neighbors[v] = neighbors;
  counts.higher[v]    = to + from;
  counts.leaving[v]   = static_cast<Vertex>(to);
}

__global__ void __launch_bounds__(block_threads)
    count_rows(Neighborhoods graph, std::uint64_t n, LongRows longs, Counts counts) {
  __shared__ unsigned shared[cuda::block_warps];
  const auto          count = [&](Vertex v, const auto& team) { count_row(graph, v, team, counts); };
  for_long_rows(longs, shared, count);
  for_short_rows(graph, n, longs, count);
  if (first_item() == 0) counts.higher[n] = 0;
}

/// Writes down who is of higher rank: those that arcs lead to, then the others.
template <class Team>
__device__ void split_row(const Neighborhoods& graph, Vertex v, const Team& team, const EdgeIndex* offsets,
                          Vertex* targets) {
  EdgeIndex  place = offsets[v];
  const auto keep  = [&](Vertex u, bool is, bool) {
    const bool     keeps  = is && above(graph, u, v);
    unsigned       all    = 0;
    const unsigned before = team.before(keeps, all);
    if (keeps) targets[place + before] = u;
    place += all;
  };
  for_neighbors(team, graph.of(v), v, keep);
}

__global__ void __launch_bounds__(block_threads)
    split_rows(Neighborhoods graph, std::uint64_t n, LongRows longs, const EdgeIndex* offsets, Vertex* targets) {
  __shared__ unsigned shared[cuda::block_warps];
  const auto          split = [&](Vertex v, const auto& team) { split_row(graph, v, team, offsets, targets); };
  for_long_rows(longs, shared, split);
  for_short_rows(graph, n, longs, split);
}

/// Edges to ends of higher rank, ascending within a row.
struct Upward {
  const EdgeIndex* offsets;
  Vertex*          targets;
  std::uint8_t*    both;  ///< beside the targets, 1: arcs lead both ways
};

/// Both halves of a split row ascend and have nothing in common: an entry's place is its own and how many of the
/// other half come before it.
__global__ void merge_rows(Neighborhoods graph, std::uint64_t n, const Vertex* split, const Vertex* leaving,
                           Upward edges) {
  deal<WarpTeam>(n, [&](std::uint64_t u) {
    const auto          v     = static_cast<Vertex>(u);
    const EdgeIndex     first = edges.offsets[v], length = edges.offsets[v + 1] - first, half = leaving[v];
    const Vertex* const to   = split + first;
    const Vertex* const from = to + half;
    const Neighbors     all  = graph.of(v);
    deal_edges<WarpTeam>(0, length, [&](EdgeIndex i) {
      const bool      leaves = i < half;
      const Vertex    w      = to[i];
      const EdgeIndex others = leaves ? place_in(from, length - half, w) : place_in(to, half, w);
      const EdgeIndex place  = first + others + (leaves ? i : i - half);
      edges.targets[place]   = w;
      edges.both[place]      = leaves && contains(all.in, all.in_degree(), w);
    });
  });
}

// --- triangles ---

/// A warp looks the shorter of two rows up in the longer one, for every edge.
__global__ void count_arcs(Upward edges, std::uint64_t n, Count* arcs) {
  deal<WarpTeam>(n, [&](std::uint64_t v) {
    const EdgeIndex first = edges.offsets[v], mine = edges.offsets[v + 1] - first;
    Count           at_v = 0;
    for (EdgeIndex e = first; e < first + mine; ++e) {
      const Vertex    u     = edges.targets[e];
      const EdgeIndex other = edges.offsets[u], length = edges.offsets[u + 1] - other;
      const bool      shorter = length < mine;  // the row of u
      const EdgeIndex walked = shorter ? other : first, walked_length = shorter ? length : mine;
      const EdgeIndex searched = shorter ? first : other, searched_length = shorter ? mine : length;
      Count           at_u = 0;
      for (EdgeIndex i = walked + lane_index(); i < walked + walked_length; i += warp_lanes) {
        const Vertex    w = edges.targets[i];
        const EdgeIndex k = searched + place_in(edges.targets + searched, searched_length, w);
        if (k == searched + searched_length || edges.targets[k] != w) continue;
        atomicAdd(arcs + w, Count{1} + edges.both[e]);
        at_u += 1 + edges.both[shorter ? k : i];  // from v to w
        at_v += 1 + edges.both[shorter ? i : k];  // from u to w
      }
      at_u = warp_sum(at_u);
      if (lane_index() == 0 && at_u != 0) atomicAdd(arcs + u, at_u);
    }
    at_v = warp_sum(at_v);
    if (lane_index() == 0 && at_v != 0) atomicAdd(arcs + v, at_v);
  });
}

/// The edges that point upwards, and how many neighbours each vertex has.
class UpwardEdges {
 public:
  UpwardEdges(Session& session, const Graph& graph, const RunOptions& options)
      : device_(session.device()),
        graph_(neighborhoods_of(session.rows())),
        n_(graph.vertex_count()),
        neighbors_(device_, n_, what),
        offsets_(device_, n_ + 1, what) {
    if (n_ == 0) return;
    const EdgeIndex       from = std::max<EdgeIndex>(options.cuda.large_degree, 1);
    DeviceArray<Vertex>   list{device_, std::min<std::uint64_t>(n_, 2 * graph.arc_count() / from), what};
    DeviceArray<unsigned> count{device_, 1, what};
    count.clear();
    SPILLWAY_LAUNCH(list_long_rows, blocks_for(n_), block_threads, graph_, n_, from, list.data(), count.data());
    LongRows longs{from, list.data(), 0};
    count.download(&longs.count);
    make(longs);
  }

  Upward                    edges() const { return {offsets_.data(), targets_.data(), both_.data()}; }
  const DeviceArray<Count>& neighbors() const { return neighbors_; }

 private:
  void make(const LongRows& longs) {
    const unsigned      blocks = blocks_for(n_ * warp_lanes);
    DeviceArray<Vertex> leaving{device_, n_, what};
    const Counts        counts{neighbors_.data(), offsets_.data(), leaving.data()};
    SPILLWAY_LAUNCH(count_rows, blocks, block_threads, graph_, n_, longs, counts);
    cuda::exclusive_scan(device_, offsets_);
    EdgeIndex edges = 0;
    device_.download(&edges, offsets_.data() + n_, sizeof(edges));
    targets_ = {device_, edges, what};
    both_    = {device_, edges, what};
    DeviceArray<Vertex> split{device_, edges, what};
    SPILLWAY_LAUNCH(split_rows, blocks, block_threads, graph_, n_, longs, offsets_.data(), split.data());
    SPILLWAY_LAUNCH(merge_rows, blocks, block_threads, graph_, n_, split.data(), leaving.data(), this->edges());
  }

  cuda::Device&             device_;
  Neighborhoods             graph_;
  std::uint64_t             n_;
  DeviceArray<Count>        neighbors_;
  DeviceArray<EdgeIndex>    offsets_;
  DeviceArray<Vertex>       targets_;
  DeviceArray<std::uint8_t> both_;
};

}  // namespace

NeighborArcs arcs_between_neighbors(const Graph& graph, const RunOptions& options) {
  const std::uint64_t n    = graph.vertex_count();
  const AlgorithmWork work = work_of_neighbor_arcs(graph);
  Session             session{graph, options, work};
  const UpwardEdges   made{session, graph, options};
  DeviceArray<Count>  arcs{session.device(), n, what};
  arcs.clear();
  if (n > 0) SPILLWAY_LAUNCH(count_arcs, blocks_for(n * warp_lanes), block_threads, made.edges(), n, arcs.data());
  session.computed();
  NeighborArcs result{.neighbors  = downloaded(session.device(), made.neighbors(), graph),
                      .arcs       = downloaded(session.device(), arcs, graph),
                      .statistics = {}};
  result.statistics = session.statistics(n, 2 * graph.arc_count(), n > 0 ? 5 : 0);
  return result;
}

}  // namespace spillway::gpu
