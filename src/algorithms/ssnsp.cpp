// Single source, number of shortest paths (in edges): what betweenness needs, as an answer of its own.
// Brandes, Journal of Mathematical Sociology 2001. Parallel arcs are different paths.
#include <atomic>

#include "algorithms/checking.hpp"
#include "algorithms/path_counts.hpp"
#include "algorithms/programs/path_counts.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/row_visits.hpp"
#include "algorithms/tolerances.hpp"
#include "base/fail.hpp"
#include "graph/csr.hpp"
#include "graph/split.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

constexpr const char* accumulative = "accumulative";

struct Choice {
  Vertex source;
  bool   accumulates;
  bool   by_itself;  ///< since only that form runs asynchronously, or on split vertices
};

Choice choice_of(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Parameters   parameters{"ssnsp", values};
  const std::string& form      = parameters.choice("form", {"auto", "levels", accumulative});
  const bool         split     = has_tree_vertices(graph);
  const bool         by_itself = form == "auto" && (options.supply.async == Async::on || split);
  if (split && form == "levels")
    throw usage_error("ssnsp: paths to vertices that are split have no levels to wait for; use --form {}",
                      accumulative);
  return {parameters.vertex(graph), by_itself || form == accumulative, by_itself};
}

template <class Program>
Result counted(const Program& program, const Graph& graph, const RunOptions& options) {
  auto   outcome = run(program, graph, options);
  Result result;
  if constexpr (makes_columns<Program>) {
    result.columns.push_back(outcome.template column<0>("level"));
    result.columns.push_back(outcome.template column<1>("paths"));
  } else {
    result.columns.push_back(outcome.column("level", [](const auto& value) { return value.level; }));
    result.columns.push_back(outcome.column("paths", [](const auto& value) { return value.paths; }));
  }
  refuse_too_many_paths("ssnsp", graph, column_of<double>(result, 1).span());
  result.columns[0].missing = Missing::blank;
  result.statistics         = std::move(outcome.statistics);
  return result;
}

Result run_ssnsp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Choice choice = choice_of(graph, values, options);
  Result       result = choice.accumulates ? counted(AccumulativePathCounts{choice.source}, graph, options)
                                           : counted(PathCounts<PathCount>{choice.source}, graph, options);
  if (choice.by_itself) result.facts.push_back({"form", std::string{accumulative}});
  return result;
}

Plan plan_ssnsp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Choice choice = choice_of(graph, values, options);
  Plan         plan   = choice.accumulates ? plan_run(AccumulativePathCounts{choice.source}, graph, options)
                                           : plan_run(PathCounts<PathCount>{choice.source}, graph, options);
  if (choice.by_itself)
    plan.why.push_back(fmt::format("{} a form that any order of updates suits: the form is {}",
                                   has_tree_vertices(graph) ? "split vertices need" : "--async on needs",
                                   accumulative));
  return plan;
}

std::string fault_by_oracle(const Graph& graph, Vertex source, std::span<const std::uint32_t> levels,
                            std::span<const double> paths) {
  const SerialPathCounts expected{graph, source};
  std::string            problem = difference(graph, "level", levels, expected.levels());
  for (Vertex v = 0; v < graph.vertex_count() && problem.empty(); ++v)
    if (const double count = expected.paths()[v].value();
        !near(paths[v], count, path_count_tolerance(graph, count)))
      problem = fmt::format("vertex {}: paths is {}, expected {}", graph.ids().name(v), paths[v], count);
  return problem;
}

/// Levels and counts are right if the source alone has level 0, with one path; no arc leads to a level beyond the
/// next; and everyone else has as many paths, more than none where it is reached, as those before it together.
std::string fault_by_properties(const Graph& graph, Vertex source, std::span<const std::uint32_t> levels,
                                std::span<const double> paths, const VerifyOptions& options) {
  const auto           name = [&](std::uint64_t v) { return graph.ids().name(static_cast<Vertex>(v)); };
  const Buffer<double> arriving{graph.vertex_count(), graph.budget(), "verifying the paths"};
  std::atomic<Vertex>  beyond{no_vertex};
  for_each_row(graph, options, [&](Vertex u, std::span<const Vertex> targets, const std::uint32_t*) {
    if (levels[u] == no_level) return;
    for (const Vertex v : targets) {
      if (levels[v] > levels[u] + 1) beyond.store(v, std::memory_order_relaxed);
      if (levels[v] == levels[u] + 1) std::atomic_ref{arriving[v]}.fetch_add(paths[u], std::memory_order_relaxed);
    }
  });
  if (beyond != no_vertex) return fmt::format("vertex {} could be reached sooner", name(beyond));
  if (levels[source] != 0) return fmt::format("the source {} has level {}", name(source), levels[source]);
  arriving[source] = 1;
  for (std::uint64_t v = 0; v < graph.vertex_count(); ++v) {
    if (!near(paths[v], arriving[v], path_count_tolerance(graph, arriving[v])))
      return fmt::format("vertex {}: paths is {}, and {} arrive", name(v), paths[v], arriving[v]);
    if ((paths[v] > 0) != (levels[v] != no_level) || (levels[v] == 0 && v != source))
      return fmt::format("vertex {}: {} paths at level {}", name(v), paths[v], levels[v]);
  }
  return {};
}

Verdict verify_ssnsp(const Graph& graph, const ParameterValues& values, const Result& result,
                     const VerifyOptions& options) {
  const Vertex source    = Parameters{"ssnsp", values}.vertex(graph);
  const auto   levels    = column_of<std::uint32_t>(result, 0).span();
  const auto   paths     = column_of<double>(result, 1).span();
  const bool   by_serial = options.use_oracle(graph);
  const auto   how       = by_serial ? by_oracle : by_properties;
  if (levels.size() != graph.vertex_count() || paths.size() != graph.vertex_count())
    return {how, "a column has the wrong length"};
  return {how, by_serial ? fault_by_oracle(graph, source, levels, paths)
                         : fault_by_properties(graph, source, levels, paths, options)};
}

}  // namespace

Algorithm ssnsp_algorithm() {
  return {
      .name       = "ssnsp",
      .summary    = "number of shortest paths from a source to each vertex",
      .reference  = "Brandes: A Faster Algorithm for Betweenness Centrality, 2001",
      .parameters = {{.name = "source",
                      .help = "where to start, by the graph's own ids",
                      .kind = ParameterKind::source},
                     {.name = "form",
                      .help = "levels: all paths to a level before any to the next; accumulative: paths are "
                              "passed on as they arrive, in any order; auto: accumulative with --async on, "
                              "else levels",
                      .default_value = "auto"}},
      .columns    = {{"level", "edges from the source; none if it is not reached", ColumnOrder::smallest_first},
                     {"paths", "how many paths have that length; parallel arcs are different paths"}},
      .on_gpu  = gpu::built && has_device_code<PathCounts<PathCount>> && has_device_code<AccumulativePathCounts>,
      .run     = run_ssnsp,
      .plan    = plan_ssnsp,
      .verify  = verify_ssnsp,
      .aliases = {"path_counts"}};
}

}  // namespace spillway
