#include "algorithms/pagerank.hpp"

#include <limits>

#include "algorithms/pagerank_settings.hpp"
#include "algorithms/registry.hpp"
#include "base/fail.hpp"
#include "graph/split.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

/// Ranks in f32 settle to about 1e-6 where mass goes back and forth between two sides of a graph.
constexpr double        default_tolerance  = 1e-5;
constexpr std::uint64_t default_iterations = 1000;

using Settings = PageRankSettings;

Fact converged_fact(bool converged) { return {"converged", std::string{converged ? "yes" : "no"}}; }

Restart restart_of(const Graph& graph, Vertex source) {
  return {.source   = source,
          .share    = 1.0 / static_cast<double>(std::max<std::uint64_t>(graph.vertex_count(), 1)),
          .vertices = graph.split() ? static_cast<Vertex>(graph.vertex_count()) : no_vertex};
}

PageRank pulled_form(const Graph& graph, Vertex source, const Settings& settings) {
  return {.restart        = restart_of(graph, source),
          .damping        = settings.damping,
          .tolerance      = settings.runs_all ? PageRank::never : settings.tolerance,
          .drop_dangling  = settings.drop_dangling,
          .max_iterations = settings.iterations};
}

Result pull(const Graph& graph, Vertex source, const Settings& settings, const RunOptions& options) {
  auto   outcome = run(pulled_form(graph, source, settings), graph, options, {.leave = true});
  Result result;
  result.facts      = {{"residual", outcome.global.change},
                       converged_fact(outcome.global.change <= settings.tolerance)};
  result.statistics = std::move(outcome.statistics);
  result.columns.push_back(outcome.column("rank"));
  return result;
}

/// A residual that a vertex may keep. Below the smallest normal float no product is sure to shrink, and mass could
/// go round in a cycle for ever.
double kept_residual(const Graph& graph, const Settings& settings) {
  const std::uint64_t rows = graph.split() ? graph.split()->vertex_count() : graph.vertex_count();
  const auto          n    = static_cast<double>(std::max<std::uint64_t>(rows, 1));
  return std::max<double>(settings.tolerance * (1 - settings.damping) / n, std::numeric_limits<float>::min());
}

AccumulativePageRank residual_form(const Graph& graph, Vertex source, const Settings& settings) {
  return {.restart        = restart_of(graph, source),
          .damping        = settings.damping,
          .smallest       = static_cast<float>(kept_residual(graph, settings)),
          .max_iterations = settings.iterations};
}

/// Dropping the mass of dangling vertices gives the same ranks but for a factor when the restart is where it would
/// have gone: dividing by the sum puts it right. The run has converged if nobody holds more than it may keep, and
/// not if it ended before that.
Result accumulate(const Graph& graph, Vertex source, const Settings& settings, const RunOptions& options) {
  using Value                        = AccumulativePageRank::Value;
  const AccumulativePageRank program = residual_form(graph, source, settings);
  auto                       outcome = run(program, graph, options);
  double                     held = 0, sum = 0;
  float                      most = 0;
  in_parts(outcome.values.size(), [&](std::uint64_t begin, std::uint64_t end) {
    for (const Value& value : outcome.values.span().subspan(begin, end - begin)) {
      held += static_cast<double>(value.residual);
      sum += static_cast<double>(value.rank) + static_cast<double>(value.residual);
      most = std::max(most, value.residual);
    }
  });
  // What tree vertices hold is not among the values: no more than they may keep, where the run ended by itself.
  const bool ended = !has_tree_vertices(graph) || outcome.statistics.iterations < settings.iterations;
  if (has_tree_vertices(graph))
    held += settings.damping * static_cast<double>(program.smallest) *
            static_cast<double>(graph.split()->tree_vertices());
  const double scale = settings.drop_dangling || sum == 0 ? 1 : 1 / sum;
  Result       result;
  result.columns.push_back(outcome.column("rank", [&](const Value& value) {
    return static_cast<float>((static_cast<double>(value.rank) + static_cast<double>(value.residual)) * scale);
  }));
  result.facts      = {{"residual", held}, converged_fact(ended && most <= program.smallest)};
  result.statistics = std::move(outcome.statistics);
  return result;
}

}  // namespace

PageRankSettings pagerank_settings(const char* name, const Graph& graph, const ParameterValues& values) {
  const Parameters parameters{name, values};
  Settings         settings{};
  settings.damping       = parameters.real("damping", 0, 0.999999);
  settings.drop_dangling = parameters.choice("dangling", {"redistribute", "drop"}) == "drop";
  settings.residual_form = parameters.choice("form", {"pull", "residual"}) == "residual";
  const bool fixed       = parameters.text("iterations") != "auto";
  settings.iterations    = fixed ? parameters.number("iterations", 1, 1u << 30) : default_iterations;
  // An arc of the graph may take as many iterations as there are hops in a tree.
  constexpr std::uint64_t a_hop = 100;
  if (has_tree_vertices(graph)) settings.iterations += a_hop * graph.split()->most_hops();
  const bool stated  = parameters.text("tolerance") != "auto";
  settings.runs_all  = fixed && !stated && !settings.residual_form;
  settings.tolerance = stated                            ? parameters.real("tolerance", 0, 2)
                       : fixed && settings.residual_form ? 0
                                                         : default_tolerance;
  return settings;
}

namespace {

/// Trees take iterations of their own, more or fewer by how high they are. Along a chain, what is passed on is
/// rounded in every vertex of it.
void refuse_for_split(const char* name, const Graph& graph, const ParameterValues& values) {
  if (!has_tree_vertices(graph)) return;
  if (graph.split()->form().kind == SplitKind::circular && Parameters{name, values}.text("form") == "residual")
    throw usage_error(
        "{}: --form residual loses too much along the chains of {} ({}); use --form pull, or another split", name,
        graph.name(), text_of(graph.split()->form()));
  if (Parameters{name, values}.text("iterations") != "auto")
    throw usage_error(
        "{}: the vertices of {} are split, and so many iterations are not those of the graph; leave out "
        "--iterations, "
        "or convert it with --split none",
        name, graph.name());
}

}  // namespace

Result run_pagerank(const char* name, const Graph& graph, Vertex source, const ParameterValues& values,
                    const RunOptions& options) {
  refuse_for_split(name, graph, values);
  const Settings settings = pagerank_settings(name, graph, values);
  return settings.residual_form ? accumulate(graph, source, settings, options)
                                : pull(graph, source, settings, options);
}

Plan plan_pagerank(const char* name, const Graph& graph, Vertex source, const ParameterValues& values,
                   const RunOptions& options) {
  refuse_for_split(name, graph, values);
  const Settings settings = pagerank_settings(name, graph, values);
  return settings.residual_form ? plan_run(residual_form(graph, source, settings), graph, options)
                                : plan_run(pulled_form(graph, source, settings), graph, options);
}

std::vector<Parameter> pagerank_parameters() {
  return {{.name = "damping", .help = "probability that the walk follows an arc", .default_value = "0.85"},
          {.name          = "tolerance",
           .help          = "stop when the ranks change by no more than this in all (L1); auto: 1e-5",
           .default_value = "auto"},
          {.name          = "iterations",
           .help          = "exactly this many; auto: until the tolerance is met",
           .default_value = "auto"},
          {.name          = "dangling",
           .help          = "mass of vertices without out-edges: redistribute where the walk restarts, or drop",
           .default_value = "redistribute"},
          {.name = "form",
           .help = "pull: every vertex in every iteration; residual: only those that still have mass to pass on",
           .default_value = "pull"}};
}

Algorithm pagerank_algorithm() {
  return {
      .name       = "pagerank",
      .summary    = "PageRank: the share of time that a random walk spends at each vertex",
      .reference  = "Page, Brin, Motwani, Winograd: The PageRank Citation Ranking, 1999",
      .parameters = pagerank_parameters(),
      .columns    = {{"rank", "share of the walk's time; all sum to 1"}},
      .on_gpu     = gpu::built && has_device_code<PageRank>,
      .run        = [](const Graph& graph, const ParameterValues& values,
                const RunOptions& options) { return run_pagerank("pagerank", graph, no_vertex, values, options); },
      .plan =
          [](const Graph& graph, const ParameterValues& values, const RunOptions& options) {
            return plan_pagerank("pagerank", graph, no_vertex, values, options);
          },
      .verify =
          [](const Graph& graph, const ParameterValues& values, const Result& result,
             const VerifyOptions& options) {
            return verify_pagerank("pagerank", graph, no_vertex, values, result, options);
          },
      .aliases = {"page_rank", "pr"}};
}

}  // namespace spillway
