// Triangle counting. The graph is taken as undirected and simple, whatever it was; triangles.cpp has the method.
#include <atomic>
#include <numeric>
#include <utility>

#include "algorithms/checking.hpp"
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/neighbor_checks.hpp"
#include "algorithms/plain_rows.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/triangles.hpp"

#include <spillway/engine/stopwatch.hpp>

namespace spillway {
namespace {

gpu::CountedTriangles on_cpu(const Graph& graph, bool per_vertex, const RunOptions& options) {
  const TriangleContext context{.budget   = graph.budget(),
                                .threads  = thread_count(options.threads),
                                .progress = options.progress ? options.progress : &Progress::none()};
  const Stopwatch       clock;
  Triangles             found = count_triangles({graph.simple()}, per_vertex, context);
  gpu::CountedTriangles counted{.total = found.total, .at = std::move(found.at), .statistics = {}};
  counted.statistics.run_ms          = clock.milliseconds();
  counted.statistics.iterations      = 1;
  counted.statistics.edges_processed = graph.simple().arc_count();
  return counted;
}

Result run_tc(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const bool per_vertex = Parameters{"tc", values}.yes("per-vertex");
  Stopwatch  clock;
  graph.simple();
  const double prepared = clock.lap();
  auto         counted  = gpu::or_else(
               graph, options, [&] { return work_of_triangles(graph.simple()); },
               [&] { return gpu::triangles(graph, per_vertex, options); },
               [&] { return on_cpu(graph, per_vertex, options); });
  Result result;
  result.facts.push_back({"triangles", counted.total});
  if (per_vertex) result.columns.push_back({.name = "triangles", .values = std::move(counted.at).freeze()});
  result.statistics = std::move(counted.statistics);
  result.statistics.prepare_ms += prepared;
  return result;
}

Plan plan_tc(const Graph& graph, const ParameterValues&, const RunOptions& options) {
  return gpu::planned(graph, options, [&] { return work_of_triangles(graph.simple()); });
}

struct Expected {
  std::uint64_t         total = 0;
  Buffer<std::uint64_t> at;
};

/// The oracle: paths a < b < c, and a look whether c is a neighbour of a.
Expected expected_triangles(const Graph& graph) {
  Expected             expected{.at = {graph.vertex_count(), graph.budget(), "verifying the result"}};
  const PlainNeighbors neighbors = plain_neighbors(graph);
  for (Vertex a = 0; a < graph.vertex_count(); ++a) {
    const auto row = neighbors.of(a);
    for (const Vertex b : row) {
      if (b < a) continue;
      for (const Vertex c : neighbors.of(b)) {
        if (c < b || !std::binary_search(row.begin(), row.end(), c)) continue;
        for (const Vertex corner : {a, b, c}) ++expected.at[corner];
        ++expected.total;
      }
    }
  }
  return expected;
}

std::string oracle_problem(const Graph& graph, std::uint64_t total, const Result& result) {
  const Expected expected = expected_triangles(graph);
  if (total != expected.total) return fmt::format("{} triangles, expected {}", total, expected.total);
  if (result.columns.empty()) return {};
  return difference<std::uint64_t, std::uint64_t>(graph, "triangles", column_of<std::uint64_t>(result, 0).span(),
                                                  expected.at.span());
}

/// Neighbours that come later in an order by degree: few of a hub's are (Chiba and Nishizeki 1985). What is left
/// is one arc of each edge.
void keep_later_neighbors(PlainNeighbors& rows, Vertex n) {
  std::vector<EdgeIndex> degree(n);
  for (Vertex v = 0; v < n; ++v) degree[v] = rows.of(v).size();
  EdgeIndex begin = 0, kept = 0;
  for (Vertex v = 0; v < n; ++v) {
    const EdgeIndex end = rows.offsets[std::uint64_t{v} + 1];
    rows.offsets[v]     = kept;
    for (EdgeIndex i = begin; i < end; ++i) {
      const Vertex u = rows.targets[i];
      if (std::pair{degree[v], v} < std::pair{degree[u], u}) rows.targets[kept++] = u;
    }
    begin = end;
  }
  rows.offsets[n] = kept;
}

std::uint64_t common(std::span<const Vertex> a, std::span<const Vertex> b) {
  std::uint64_t count = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Vertex in_a = a[i], in_b = b[j];
    count += in_a == in_b;
    i += in_a <= in_b;
    j += in_b <= in_a;
  }
  return count;
}

/// All triangles once more, by rows that are merged: for graphs whose hubs the oracle would take too long for.
std::uint64_t triangles_by_merging(const Graph& graph, int threads) {
  Charge memory{graph.budget(), "verifying the result"};
  memory.raise_to(graph.vertex_count() * sizeof(EdgeIndex));
  PlainNeighbors rows = plain_neighbors(graph);
  keep_later_neighbors(rows, static_cast<Vertex>(graph.vertex_count()));
  std::atomic<std::uint64_t> total{0};
  constexpr std::uint64_t    block = 256;
  for_each_task(threads, (graph.vertex_count() + block - 1) / block, [&](std::uint64_t task, int) {
    const std::uint64_t end   = std::min(graph.vertex_count(), (task + 1) * block);
    std::uint64_t       found = 0;
    for (std::uint64_t v = task * block; v < end; ++v)
      for (const Vertex u : rows.of(static_cast<Vertex>(v)))
        found += common(rows.of(static_cast<Vertex>(v)), rows.of(u));
    total += found;
  });
  return total;
}

/// Pairs of neighbours of one vertex that an arc leads between, one way or both.
std::uint64_t pairs_among(const Graph& graph, std::span<const Vertex> neighbors, std::uint64_t& lookups) {
  const auto leads = [&](Vertex from, Vertex to) {
    const auto row = graph.out().neighbors(from);
    return std::binary_search(row.begin(), row.end(), to);
  };
  std::uint64_t pairs = 0;
  for (const Vertex a : neighbors) {
    Vertex previous = a;
    lookups += graph.out().degree(a);
    for (const Vertex b : graph.out().neighbors(a)) {
      const bool first = b != a && b != std::exchange(previous, b);
      if (first && std::binary_search(neighbors.begin(), neighbors.end(), b)) pairs += a < b || !leads(b, a);
    }
  }
  return pairs;
}

/// Three corners to a triangle; and the counts at a sample of vertices hold.
std::string corner_problem(const Graph& graph, std::uint64_t total, std::span<const std::uint64_t> at,
                           int threads) {
  if (at.size() != graph.vertex_count())
    return fmt::format("triangles has {} entries, expected {}", at.size(), graph.vertex_count());
  const std::uint64_t corners = std::accumulate(at.begin(), at.end(), std::uint64_t{0});
  if (corners != 3 * total) return fmt::format("{} triangles, but {} corners of triangles", total, corners);
  const std::vector<Vertex> sample = vertices_to_check(graph.out());
  const SampleNeighbors     neighbors{graph, sample};
  return first_complaint(sample, threads, [&](Vertex v, std::uint64_t& lookups) {
    const std::uint64_t pairs = pairs_among(graph, neighbors.of(v), lookups);
    if (pairs == at[v]) return std::string{};
    return fmt::format("vertex {}: triangles is {}, expected {}", graph.ids().name(v), at[v], pairs);
  });
}

std::string property_problem(const Graph& graph, std::uint64_t total, const Result& result, int threads) {
  const std::uint64_t expected = triangles_by_merging(graph, threads);
  if (total != expected) return fmt::format("{} triangles, expected {}", total, expected);
  if (result.columns.empty()) return {};
  return corner_problem(graph, total, column_of<std::uint64_t>(result, 0).span(), threads);
}

Verdict verify_tc(const Graph& graph, const ParameterValues&, const Result& result, const VerifyOptions& options) {
  const auto total = std::get<std::uint64_t>(result.facts.at(0).value);
  if (use_neighbor_oracle(graph, options)) return {by_oracle, oracle_problem(graph, total, result)};
  return {by_properties, property_problem(graph, total, result, thread_count(options.threads))};
}

}  // namespace

Algorithm tc_algorithm() {
  return {.name       = "tc",
          .summary    = "triangle count; directions, loops and parallel arcs do not count",
          .reference  = "Schank and Wagner, Finding, counting and listing all triangles in large graphs, WEA 2005",
          .parameters = {{.name          = "per-vertex",
                          .help          = "also count the triangles of each vertex",
                          .default_value = "no",
                          .kind          = ParameterKind::flag}},
          .columns    = {{"triangles", "triangles the vertex is in; with --per-vertex"}},
          .on_gpu     = gpu::built,
          .vertex_program = false,
          .run            = run_tc,
          .plan           = plan_tc,
          .verify         = verify_tc,
          .aliases        = {"triangles", "triangle_count"}};
}

}  // namespace spillway
