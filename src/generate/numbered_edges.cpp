#include "generate/numbered_edges.hpp"

#include <cmath>

#include "base/text.hpp"
#include "graph/build_size.hpp"

namespace spillway {
namespace {

// Above this the number of bytes would no longer fit 64 bits; no machine comes near.
constexpr std::uint64_t max_edges = std::uint64_t{1} << 56;

/// --symmetrize on its own adds what is missing to finished rows; otherwise reverses are collected with the arcs.
bool merges_reverses(const Transform& asked) { return asked.symmetrize && !asked.dedup && !asked.undirected; }

}  // namespace

bool fits_memory(const NumberedEdges& shape, const GenerateOptions& options, const BuildContext& context) {
  if (shape.edges > max_edges) throw does_not_fit("{} edges are more than any machine holds", shape.edges);
  const bool both_ways = context.transform.undirected || (context.transform.symmetrize && context.transform.dedup);
  const EdgeIndex arcs = both_ways ? shape.edges * 2 : shape.edges;
  const bool      weighted = options.weight_type != WeightType::none;
  BuildSize       size{.vertices = shape.vertices, .arcs = arcs, .weighted = weighted, .threads = context.threads};
  const std::uint64_t in_edges = rows_bytes(shape.vertices, arcs, weighted) + building_peak(size);
  if (shape.one_hub) size.largest_bucket = std::min<EdgeIndex>(arcs, shape.edges + (EdgeIndex{1} << bucket_bits));
  std::uint64_t peak = building_peak(size);
  if (options.in_edges && !both_ways && !context.transform.symmetrize) peak = std::max(peak, in_edges);
  if (merges_reverses(context.transform)) {
    // The arcs, their reverses and the union are held at once; where few pair off the union is as large as both.
    const std::uint64_t one_way = rows_bytes(shape.vertices, shape.edges, weighted);
    peak = std::max(peak, 2 * one_way + rows_bytes(shape.vertices, 2 * shape.edges, weighted));
  }
  if (options.rows && !merges_reverses(context.transform) && !context.budget->has_room(peak)) return false;
  context.budget->expect(
      peak, fmt::format("a graph of {} vertices and {} arcs", with_commas(shape.vertices), with_commas(arcs)));
  return true;
}

void expect_bucket_to_fit(const std::vector<EdgeIndex>& arcs, std::uint64_t bytes_an_arc, std::uint64_t vertices,
                          MemoryBudget& budget) {
  const EdgeIndex fullest = arcs.empty() ? 0 : *std::ranges::max_element(arcs);
  budget.expect((fullest * bytes_an_arc + vertices * sizeof(EdgeIndex)) / 8 * 10,
                fmt::format("{} arcs of neighbouring sources", with_commas(fullest)));
}

std::vector<BucketRange> ranges_of(const std::vector<EdgeIndex>& arcs, std::uint64_t buckets,
                                   std::uint64_t waiting_bytes, std::uint64_t building_bytes,
                                   const MemoryBudget& budget) {
  const EdgeIndex          fullest = arcs.empty() ? 0 : *std::ranges::max_element(arcs);
  const std::uint64_t      free    = (budget.limit() - std::min(budget.limit(), budget.used())) / 10 * 8;
  const std::uint64_t      room    = free - std::min(free, fullest * building_bytes);
  std::vector<BucketRange> ranges;
  std::uint64_t            bytes = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    const std::uint64_t more = bucket < arcs.size() ? arcs[bucket] * waiting_bytes : 0;
    if (ranges.empty() || bytes + more > room) ranges.push_back({bucket, bucket}), bytes = 0;
    ranges.back().last = bucket + 1;
    bytes += more;
  }
  return ranges;
}

Graph generated_graph(Csr csr, std::shared_ptr<const EdgeList> edges, const GenerateOptions& options,
                      const BuildContext& context, double read_ms, double build_ms) {
  Graph::Parts parts;
  parts.out               = std::move(csr);
  parts.edges             = std::move(edges);
  parts.weight_type       = options.weight_type;
  parts.symmetric         = context.transform.undirected || context.transform.symmetrize;
  parts.name              = "generated graph";
  parts.report.format     = "generated";
  parts.report.read_ms    = read_ms;
  parts.report.build_ms   = build_ms;
  parts.report.peak_bytes = context.budget->peak();
  parts.budget            = context.budget;
  return Graph{std::move(parts)};
}

// Seen from the last edge, row k of the triangle starts at k(k+1)/2; the root may be off by one either way.
NumberedEdge complete_edge(std::uint64_t n, std::uint64_t number) {
  const std::uint64_t from_last = n * (n - 1) / 2 - 1 - number;
  auto                k = static_cast<std::uint64_t>((std::sqrt(8 * static_cast<double>(from_last) + 1) - 1) / 2);
  while (k * (k + 1) / 2 > from_last) --k;
  while ((k + 1) * (k + 2) / 2 <= from_last) ++k;
  return {static_cast<Vertex>(n - 2 - k), static_cast<Vertex>(n - 1 - (from_last - k * (k + 1) / 2))};
}

}  // namespace spillway
