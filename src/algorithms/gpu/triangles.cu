// Triangles on a GPU. Every edge points to its end of higher rank (more neighbours, then the larger number), which
// bounds the rows by the square root of twice the edges; for each edge, a warp looks the shorter of the two rows
// up in the longer one.
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/gpu/rows.cuh"

#include "engine/cuda/order.hpp"

namespace spillway::gpu {
namespace {

/// Rows of a simple undirected graph, sorted.
struct Ranked {
  Rows rows;

  __device__ bool above(Vertex v, Vertex u) const {
    const EdgeIndex of_v = rows.degree(v), of_u = rows.degree(u);
    return of_v != of_u ? of_v > of_u : v > u;
  }
};

/// How many neighbours of higher rank each vertex has; one more entry, so that the sum before it is the end.
__global__ void count_above(Ranked graph, std::uint64_t n, EdgeIndex* counts) {
  const unsigned lane = threadIdx.x % warp_lanes;
  deal<WarpTeam>(n, [&](std::uint64_t v) {
    EdgeIndex count = 0;
    deal_edges<WarpTeam>(graph.rows.offsets[v], graph.rows.offsets[v + 1], [&](EdgeIndex i) {
      count += graph.above(graph.rows.targets[i], static_cast<Vertex>(v));
    });
    count = warp_sum(count);
    if (lane == 0) counts[v] = count;
  });
  if (first_item() == 0) counts[n] = 0;
}

/// Writes them down, in the order of the row.
__global__ void keep_above(Ranked graph, std::uint64_t n, const EdgeIndex* offsets, Vertex* targets) {
  const unsigned lane = threadIdx.x % warp_lanes;
  deal<WarpTeam>(n, [&](std::uint64_t v) {
    EdgeIndex       place = offsets[v];
    const EdgeIndex first = graph.rows.offsets[v], last = graph.rows.offsets[v + 1];
    for (EdgeIndex base = first; base < last; base += warp_lanes) {
      const EdgeIndex i    = base + lane;
      const Vertex    u    = i < last ? graph.rows.targets[i] : 0;
      const bool      keep = i < last && graph.above(u, static_cast<Vertex>(v));
      const unsigned  mask = __ballot_sync(all_lanes, keep);
      if (keep) targets[place + __popc(mask & ((1u << lane) - 1))] = u;
      place += __popc(mask);
    }
  });
}

/// `at`: how many triangles each vertex is in, or null.
__global__ void count_triangles(const EdgeIndex* offsets, const Vertex* targets, std::uint64_t n, Count* at,
                                Count* total) {
  const unsigned lane = threadIdx.x % warp_lanes;
  Count          all  = 0;
  deal<WarpTeam>(n, [&](std::uint64_t u) {
    const EdgeIndex first = offsets[u], last = offsets[u + 1];
    Count           of_u = 0;
    for (EdgeIndex e = first; e < last; ++e) {
      const Vertex    v     = targets[e];
      const EdgeIndex other = offsets[v], length = offsets[v + 1] - other, mine = last - first;
      const bool      shorter = length < mine;
      const EdgeIndex from = shorter ? other : first, count = shorter ? length : mine;
      const EdgeIndex in = shorter ? first : other, room = shorter ? mine : length;
      Count           found = 0;
      for (EdgeIndex k = lane; k < count; k += warp_lanes) {
        const Vertex w = targets[from + k];
        if (!contains(targets + in, room, w)) continue;
        ++found;
        if (at != nullptr) atomicAdd(at + w, Count{1});
      }
      found = warp_sum(found);
      if (lane == 0 && found != 0 && at != nullptr) atomicAdd(at + v, found);
      of_u += found;
    }
    if (lane == 0 && of_u != 0 && at != nullptr) atomicAdd(at + u, of_u);
    all += of_u;
  });
  if (lane == 0 && all != 0) atomicAdd(total, all);
}

}  // namespace

CountedTriangles triangles(const Graph& graph, bool at_vertices, const RunOptions& options) {
  const Csr&          simple = graph.simple();
  const std::uint64_t n      = simple.vertex_count();
  const auto          what   = "the triangles";
  const AlgorithmWork work   = work_of_triangles(simple);
  Session             session{graph, options, work};
  cuda::Device&       device = session.device();
  const Ranked        ranked{session.rows().push[0]};

  DeviceArray<EdgeIndex> offsets{device, n + 1, what};
  DeviceArray<Vertex>    targets{device, simple.arc_count() / 2, what};
  DeviceArray<Count>     total{device, 1, what}, at{device, at_vertices ? n : 0, what};
  total.clear();
  at.clear();
  if (n > 0) {
    const unsigned blocks = blocks_for(n * warp_lanes);
    SPILLWAY_LAUNCH(count_above, blocks, block_threads, ranked, n, offsets.data());
    cuda::exclusive_scan(device, offsets);
    SPILLWAY_LAUNCH(keep_above, blocks, block_threads, ranked, n, offsets.data(), targets.data());
    SPILLWAY_LAUNCH(count_triangles, blocks, block_threads, offsets.data(), targets.data(), n, at.data(),
                    total.data());
  }
  session.computed();
  CountedTriangles result;
  Count            found = 0;
  total.download(&found);
  result.total = found;
  if (at_vertices) result.at = downloaded(device, at, graph);
  result.statistics = session.statistics(n, simple.arc_count(), 4);
  return result;
}

}  // namespace spillway::gpu
