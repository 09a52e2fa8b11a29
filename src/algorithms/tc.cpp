// Triangle counting. The graph is taken as undirected and simple, whatever it was; triangles.cpp has the method.
#include <numeric>

#include "algorithms/checking.hpp"
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/neighbor_checks.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/triangles.hpp"
#include "base/clock.hpp"

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
               graph, options, [&] { return gpu::triangles(graph, per_vertex, options); },
               [&] { return on_cpu(graph, per_vertex, options); });
  Result result;
  result.facts.push_back({"triangles", counted.total});
  if (per_vertex) result.columns.push_back({.name = "triangles", .values = std::move(counted.at).freeze()});
  result.statistics = std::move(counted.statistics);
  result.statistics.prepare_ms += prepared;
  return result;
}

/// Neighbours of every vertex, ascending, each once: made from the arcs, not from Graph::simple().
std::vector<std::vector<Vertex>> neighbor_lists(const Graph& graph) {
  std::vector<std::vector<Vertex>> lists(graph.vertex_count());
  for (Vertex v = 0; v < graph.vertex_count(); ++v) {
    for (const Vertex target : graph.out().neighbors(v)) {
      if (target == v) continue;
      lists[v].push_back(target);
      lists[target].push_back(v);
    }
  }
  for (auto& list : lists) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return lists;
}

struct Expected {
  std::uint64_t              total = 0;
  std::vector<std::uint64_t> at;
};

/// The oracle: paths a < b < c, and a look whether c is a neighbour of a.
Expected expected_triangles(const Graph& graph) {
  Expected   expected{.total = 0, .at = std::vector<std::uint64_t>(graph.vertex_count())};
  const auto lists = neighbor_lists(graph);
  for (Vertex a = 0; a < graph.vertex_count(); ++a) {
    for (const Vertex b : lists[a]) {
      if (b < a) continue;
      for (const Vertex c : lists[b]) {
        if (c < b || !std::binary_search(lists[a].begin(), lists[a].end(), c)) continue;
        for (const Vertex corner : {a, b, c}) ++expected.at[corner];
        ++expected.total;
      }
    }
  }
  return expected;
}

std::string oracle_problem(const Graph& graph, std::uint64_t total, const Result& result) {
  Charge memory{graph.budget(), "verifying the result"};
  memory.raise_to(graph.vertex_count() * (sizeof(std::vector<Vertex>) + sizeof(std::uint64_t)) +
                  graph.arc_count() * 4 * sizeof(Vertex));
  const Expected expected = expected_triangles(graph);
  if (total != expected.total) return fmt::format("{} triangles, expected {}", total, expected.total);
  if (result.columns.empty()) return {};
  return difference(graph, "triangles", column_of<std::uint64_t>(result, 0).span(),
                    std::span<const std::uint64_t>{expected.at});
}

/// What v has is counted anew: pairs of its neighbours that are neighbours of each other.
std::string problem_at(const Graph& graph, Vertex v, std::uint64_t found, std::uint64_t& lookups) {
  const Csr&    simple = graph.simple();
  const auto    row    = simple.neighbors(v);
  std::uint64_t pairs  = 0;
  for (const Vertex a : row) {
    lookups += simple.degree(a);
    for (const Vertex b : simple.neighbors(a)) pairs += a < b && std::binary_search(row.begin(), row.end(), b);
  }
  if (pairs == found) return {};
  return fmt::format("vertex {}: triangles is {}, expected {}", graph.ids().name(v), found, pairs);
}

/// Three corners to a triangle; and the counts at a sample of vertices hold. Without a column the counts are made
/// for the occasion.
std::string property_problem(const Graph& graph, std::uint64_t total, const Result& result,
                             const VerifyOptions& options) {
  const int            threads = thread_count(options.threads);
  const Csr&           simple  = graph.simple();
  Array<std::uint64_t> at;
  if (result.columns.empty()) {
    const TriangleContext context{.budget   = graph.budget(),
                                  .threads  = threads,
                                  .progress = options.progress ? options.progress : &Progress::none()};
    at = std::move(count_triangles({simple}, /*at_vertices=*/true, context).at).freeze();
  } else {
    at = column_of<std::uint64_t>(result, 0);
  }
  if (at.size() != graph.vertex_count())
    return fmt::format("triangles has {} entries, expected {}", at.size(), graph.vertex_count());
  const std::uint64_t corners = std::accumulate(at.begin(), at.end(), std::uint64_t{0});
  if (corners != 3 * total) return fmt::format("{} triangles, but {} corners of triangles", total, corners);
  return first_complaint(vertices_to_check(simple), threads,
                         [&](Vertex v, std::uint64_t& lookups) { return problem_at(graph, v, at[v], lookups); });
}

Verdict verify_tc(const Graph& graph, const ParameterValues&, const Result& result, const VerifyOptions& options) {
  const auto total = std::get<std::uint64_t>(result.facts.at(0).value);
  if (use_neighbor_oracle(graph, graph.simple(), graph.simple(), options))
    return {by_oracle, oracle_problem(graph, total, result)};
  return {by_properties, property_problem(graph, total, result, options)};
}

}  // namespace

Algorithm tc_algorithm() {
  return {.name       = "tc",
          .summary    = "how many triangles there are; directions, loops and parallel arcs do not count",
          .reference  = "Schank and Wagner, Finding, counting and listing all triangles in large graphs, WEA 2005",
          .parameters = {{.name          = "per-vertex",
                          .help          = "also say how many triangles each vertex is in",
                          .default_value = "no",
                          .kind          = ParameterKind::flag}},
          .columns    = {{"triangles", "triangles the vertex is in; with --per-vertex"}},
          .on_gpu     = gpu::built,
          .run        = run_tc,
          .verify     = verify_tc};
}

}  // namespace spillway
