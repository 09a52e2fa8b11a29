// Breadth-first search: levels and a tree of parents, along out-edges.
// Direction-optimising (Beamer, Asanović, Patterson, SC 2012): a vertex takes the first parent that votes for it.
#include <functional>

#include "algorithms/checking.hpp"
#include "algorithms/programs/bfs.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/tree_checks.hpp"
#include "graph/split.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

template <class P>
Result search(const P& program, const Graph& graph, const RunOptions& options) {
  auto outcome = run(program, graph, options, {.leave = !graph.split()});
  name_originals(graph, std::get<1>(outcome.columns).span(), outcome.threads);
  Result result;
  result.columns.push_back(outcome.template column<0>("level"));
  result.columns.push_back(outcome.template column<1>("parent"));
  result.columns[0].missing  = Missing::blank;
  result.columns[1].vertices = true;
  result.statistics          = std::move(outcome.statistics);
  return result;
}

/// Levels are iterations, unless those of different parts of the graph do not wait for one another, or a split
/// makes some ways longer.
bool is_loose(const Graph& graph, const RunOptions& options) {
  return has_tree_vertices(graph) || goes_asynchronously(options, graph.vertex_count(), graph.arc_count());
}

Result run_bfs(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Vertex source = Parameters{"bfs", values}.vertex(graph);
  if (is_loose(graph, options)) return search(LooseBfs{source}, graph, options);
  return search(Bfs{source}, graph, options);
}

Plan plan_bfs(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Vertex source = Parameters{"bfs", values}.vertex(graph);
  return is_loose(graph, options) ? plan_run(LooseBfs{source}, graph, options)
                                  : plan_run(Bfs{source}, graph, options);
}

/// The oracle: a queue.
Buffer<std::uint32_t> serial_levels(const Graph& graph, Vertex source) {
  const char* const     what = "verifying the levels";
  Buffer<std::uint32_t> levels{graph.vertex_count(), graph.budget(), what};
  const Buffer<Vertex>  queue{graph.vertex_count(), graph.budget(), what};
  std::fill_n(levels.data(), levels.size(), no_level);
  std::uint64_t filled = 0;
  levels[source]       = 0;
  queue[filled++]      = source;
  for (std::uint64_t i = 0; i < filled; ++i)
    for (const Vertex to : graph.out().neighbors(queue[i])) {
      if (levels[to] != no_level) continue;
      levels[to]      = levels[queue[i]] + 1;
      queue[filled++] = to;
    }
  return levels;
}

Verdict verify_bfs(const Graph& graph, const ParameterValues& values, const Result& result,
                   const VerifyOptions& options) {
  const Vertex source = Parameters{"bfs", values}.vertex(graph);
  const auto&  levels = column_of<std::uint32_t>(result, 0);
  Verdict      verdict{.how = options.use_oracle(graph) ? by_oracle : by_properties, .problem = {}};
  if (options.use_oracle(graph)) {
    const auto expected = serial_levels(graph, source);
    verdict.problem     = difference<std::uint32_t, std::uint32_t>(graph, "level", levels.span(), expected.span());
  }
  if (!verdict.problem.empty()) return verdict;
  const PathTree<std::uint32_t> tree{.source    = source,
                                     .root      = 0,
                                     .unreached = no_level,
                                     .labels    = levels.span(),
                                     .parents   = column_of<Vertex>(result, 1).span()};
  verdict.problem = tree_problem(
      graph, tree, [](std::uint32_t level, std::uint32_t) { return level + 1; }, std::less<>{}, options);
  return verdict;
}

}  // namespace

Algorithm bfs_algorithm() {
  return {.name       = "bfs",
          .summary    = "levels and parents of a breadth-first search from a source",
          .reference  = "Beamer, Asanović, Patterson: Direction-Optimizing Breadth-First Search, SC 2012",
          .parameters = {{.name = "source",
                          .help = "where to start, by the graph's own ids",
                          .kind = ParameterKind::source}},
          .columns = {{"level", "edges from the source; none if it is not reached", ColumnOrder::smallest_first},
                      {"parent", "the vertex before it on a shortest path; the source's is itself"}},
          .on_gpu  = gpu::built && has_device_code<Bfs>,
          .run     = run_bfs,
          .plan    = plan_bfs,
          .verify  = verify_bfs,
          .aliases = {"breadth_first_search"}};
}

}  // namespace spillway
