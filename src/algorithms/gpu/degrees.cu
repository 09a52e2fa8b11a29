// Degrees on a GPU: lengths of rows, or where in-edges are not at hand, a pass over the targets.
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/gpu/rows.cuh"

namespace spillway::gpu {
namespace {

constexpr const char* what = "the degrees";

__global__ void row_lengths(const EdgeIndex* offsets, std::uint64_t n, Count* lengths) {
  for (std::uint64_t v = first_item(); v < n; v += item_stride()) lengths[v] = offsets[v + 1] - offsets[v];
}

__global__ void count_arrivals(const Vertex* targets, EdgeIndex arcs, Count* counts) {
  for (EdgeIndex i = first_item(); i < arcs; i += item_stride()) atomicAdd(counts + targets[i], Count{1});
}

/// Lengths need no targets: only offsets are brought, and not kept.
void measure(cuda::Device& device, const Csr& csr, DeviceArray<Count>& lengths) {
  DeviceArray<EdgeIndex> offsets{device, csr.vertex_count() + 1, what};
  offsets.upload(csr.offsets.data());
  SPILLWAY_LAUNCH(row_lengths, blocks_for(lengths.size()), block_threads, offsets.data(), lengths.size(),
                  lengths.data());
}

}  // namespace

Degrees degrees(const Graph& graph, const RunOptions& options) {
  const std::uint64_t n      = graph.vertex_count();
  const Csr&          out    = graph.out();
  const bool          counts = !graph.has_in();
  Topology            topology{.vertices = n, .arcs = graph.arc_count(), .push = {}, .pull = {}};
  if (counts) topology.push.push_back(block_of(out));
  Session            session{graph, options, topology};
  cuda::Device&      device = session.device();
  DeviceArray<Count> leaving{device, n, what}, arriving{device, n, what};
  if (counts) {
    const Rows rows = session.rows().push[0];
    arriving.clear();
    SPILLWAY_LAUNCH(row_lengths, blocks_for(n), block_threads, rows.offsets, n, leaving.data());
    SPILLWAY_LAUNCH(count_arrivals, blocks_for(graph.arc_count()), block_threads, rows.targets, graph.arc_count(),
                    arriving.data());
  } else {
    measure(device, out, leaving);
    measure(device, graph.in(), arriving);
  }
  session.computed();
  Degrees result{
      .out = downloaded(device, leaving, graph), .in = downloaded(device, arriving, graph), .statistics = {}};
  result.statistics = session.statistics(n, counts ? graph.arc_count() : 0, 2);
  if (!counts) result.statistics.uploaded_bytes += 2 * (n + 1) * sizeof(EdgeIndex);
  return result;
}

}  // namespace spillway::gpu
