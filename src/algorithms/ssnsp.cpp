// Single source, number of shortest paths (in edges): what betweenness needs, as an answer of its own.
// Brandes, Journal of Mathematical Sociology 2001. Parallel arcs are different paths.
#include <queue>

#include "algorithms/checking.hpp"
#include "algorithms/path_counts.hpp"
#include "algorithms/registry.hpp"
#include "base/fail.hpp"

namespace spillway {
namespace {

Result run_ssnsp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  auto   outcome = run(PathCounts<PathCount>{Parameters{"ssnsp", values}.vertex(graph)}, graph, options);
  Result result;
  result.columns.push_back(outcome.column("level", [](const PathCount& value) { return value.level; }));
  result.columns.push_back(outcome.column("paths", [](const PathCount& value) { return value.paths; }));
  refuse_too_many_paths("ssnsp", graph, column_of<double>(result, 1).span());
  result.columns[0].missing = Missing::blank;
  result.statistics         = std::move(outcome.statistics);
  return result;
}

Verdict verify_ssnsp(const Graph& graph, const ParameterValues& values, const Result& result,
                     const VerifyOptions& options) {
  const Vertex           source = Parameters{"ssnsp", values}.vertex(graph);
  const auto&            levels = column_of<std::uint32_t>(result, 0);
  const auto&            paths  = column_of<double>(result, 1);
  const SerialPathCounts expected{graph, source};
  // The serial count is one pass over the arcs, so there is no graph it would be too slow for.
  (void)options;
  Verdict verdict{by_oracle,
                  difference<std::uint32_t, std::uint32_t>(graph, "level", levels.span(), expected.levels)};
  if (verdict.problem.empty())
    verdict.problem = difference<double, long double>(graph, "paths", paths.span(), expected.paths);
  return verdict;
}

}  // namespace

Algorithm ssnsp_algorithm() {
  return {.name       = "ssnsp",
          .summary    = "number of shortest paths from a source to each vertex",
          .reference  = "Brandes: A Faster Algorithm for Betweenness Centrality, 2001",
          .parameters = {{.name = "source",
                          .help = "where to start, by the graph's own ids",
                          .kind = ParameterKind::source}},
          .columns    = {{"level", "edges from the source; none if it is not reached"},
                         {"paths", "how many paths have that length; parallel arcs are different paths"}},
          .run        = run_ssnsp,
          .verify     = verify_ssnsp};
}

}  // namespace spillway
