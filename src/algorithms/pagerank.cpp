#include "algorithms/pagerank.hpp"

#include <numeric>

#include "algorithms/checking.hpp"
#include "algorithms/registry.hpp"

namespace spillway {
namespace {

constexpr double        default_tolerance  = 1e-6;
constexpr std::uint64_t default_iterations = 1000;

struct Settings {
  double        damping, tolerance;
  std::uint64_t iterations;
  bool          drop_dangling, residual_form, fixed_iterations;
};

Settings settings_of(const char* name, const ParameterValues& values) {
  const Parameters parameters{name, values};
  Settings         settings{};
  settings.damping          = parameters.real("damping", 0, 0.999999);
  settings.drop_dangling    = parameters.choice("dangling", {"redistribute", "drop"}) == "drop";
  settings.residual_form    = parameters.choice("form", {"pull", "residual"}) == "residual";
  settings.fixed_iterations = parameters.text("iterations") != "auto";
  settings.iterations =
      settings.fixed_iterations ? parameters.number("iterations", 1, 1u << 30) : default_iterations;
  settings.tolerance = parameters.text("tolerance") != "auto" ? parameters.real("tolerance", 0, 2)
                       : settings.fixed_iterations            ? 0
                                                              : default_tolerance;
  return settings;
}

Restart restart_of(const Graph& graph, Vertex source) {
  return {source, 1.0 / static_cast<double>(std::max<std::uint64_t>(graph.vertex_count(), 1))};
}

Result pull(const Graph& graph, Vertex source, const Settings& settings, const RunOptions& options) {
  const PageRank program{.restart        = restart_of(graph, source),
                         .damping        = settings.damping,
                         .tolerance      = settings.tolerance,
                         .drop_dangling  = settings.drop_dangling,
                         .max_iterations = settings.iterations};
  auto           outcome = run(program, graph, options);
  Result         result;
  result.facts      = {{"residual", outcome.global.change}};
  result.statistics = std::move(outcome.statistics);
  result.columns.push_back(outcome.column("rank"));
  return result;
}

/// Dropping the mass of dangling vertices gives the same ranks but for a factor when the restart is where it would
/// have gone: dividing by the sum puts it right.
Result accumulate(const Graph& graph, Vertex source, const Settings& settings, const RunOptions& options) {
  using Value           = AccumulativePageRank::Value;
  const double a_vertex = settings.tolerance * (1 - settings.damping) /
                          static_cast<double>(std::max<std::uint64_t>(graph.vertex_count(), 1));
  const AccumulativePageRank program{
      .restart = restart_of(graph, source), .damping = settings.damping, .smallest = static_cast<float>(a_vertex)};
  auto   outcome = run(program, graph, options);
  double held = 0, sum = 0;
  for (const Value& value : outcome.values.span()) {
    held += static_cast<double>(value.residual);
    sum += static_cast<double>(value.rank) + static_cast<double>(value.residual);
  }
  const double scale = settings.drop_dangling || sum == 0 ? 1 : 1 / sum;
  Result       result;
  result.columns.push_back(outcome.column("rank", [&](const Value& value) {
    return static_cast<float>((static_cast<double>(value.rank) + static_cast<double>(value.residual)) * scale);
  }));
  result.facts      = {{"residual", held}};
  result.statistics = std::move(outcome.statistics);
  return result;
}

/// The oracle: power iteration in f64, pushing along the arcs one by one. Returns the L1 change of the last step.
double serial_step(const Graph& graph, const Restart& restart, const Settings& settings,
                   std::vector<double>& ranks) {
  std::vector<double> next(ranks.size());
  double              dangling = 0;
  for (Vertex v = 0; v < ranks.size(); ++v) {
    const auto neighbors = graph.out().neighbors(v);
    if (neighbors.empty()) dangling += ranks[v];
    for (const Vertex to : neighbors) next[to] += ranks[v] / static_cast<double>(neighbors.size());
  }
  const double restarting = 1 - settings.damping + (settings.drop_dangling ? 0 : settings.damping * dangling);
  double       change     = 0;
  for (Vertex v = 0; v < ranks.size(); ++v) {
    next[v] = restart.at(v) * restarting + settings.damping * next[v];
    change += std::abs(next[v] - ranks[v]);
  }
  ranks.swap(next);
  return change;
}

std::vector<double> serial_ranks(const Graph& graph, const Restart& restart, const Settings& settings,
                                 std::uint64_t iterations, double tolerance) {
  std::vector<double> ranks(graph.vertex_count());
  for (Vertex v = 0; v < ranks.size(); ++v) ranks[v] = restart.at(v);
  for (std::uint64_t i = 0; i < iterations; ++i)
    if (serial_step(graph, restart, settings, ranks) <= tolerance) break;
  return ranks;
}

/// How far the ranks are from what one more step makes of them, in L1; and their sum, which is 1 unless mass is
/// lost.
std::string fixed_point_problem(const Graph& graph, const Restart& restart, const Settings& settings,
                                std::span<const float> found, double allowed) {
  std::vector<double> ranks(found.begin(), found.end());
  const double        sum = std::accumulate(ranks.begin(), ranks.end(), 0.0);
  if (!settings.drop_dangling && !near(sum, 1, 1e-4)) return fmt::format("the ranks sum to {}, not to 1", sum);
  for (const double rank : ranks)
    if (!(rank >= 0)) return fmt::format("a rank is {}", rank);
  const double change = serial_step(graph, restart, settings, ranks);
  if (change > allowed)
    return fmt::format("one more step changes the ranks by {}, allowed is {}", change, allowed);
  return {};
}

}  // namespace

Result run_pagerank(const char* name, const Graph& graph, Vertex source, const ParameterValues& values,
                    const RunOptions& options) {
  const Settings settings = settings_of(name, values);
  if (!settings.residual_form) return pull(graph, source, settings, options);
  if (settings.fixed_iterations)
    throw Error{ExitCode::usage,
                std::string{name} + ": the residual form runs to a tolerance; leave out --iterations"};
  return accumulate(graph, source, settings, options);
}

Verdict verify_pagerank(const char* name, const Graph& graph, Vertex source, const ParameterValues& values,
                        const Result& result, const VerifyOptions& options) {
  const Settings settings = settings_of(name, values);
  const Restart  restart  = restart_of(graph, source);
  const auto&    ranks    = column_of<float>(result, 0);
  if (graph.vertex_count() == 0) return {by_oracle, ""};
  if (options.use_oracle(graph) && !settings.residual_form) {
    const auto expected = serial_ranks(graph, restart, settings, result.statistics.iterations, -1);
    return {by_oracle, difference<float, double>(graph, "rank", ranks.span(), expected)};
  }
  // Floats hold a rank to about 1e-7 of itself, and the ranks sum to 1; a step shrinks a distance by the damping.
  const double rounding = 1e-6;
  const double reached  = std::get<double>(result.facts.at(0).value);
  const double allowed  = (settings.residual_form ? settings.tolerance : reached) * 2 + rounding;
  return {by_properties, fixed_point_problem(graph, restart, settings, ranks.span(), allowed)};
}

std::vector<Parameter> pagerank_parameters() {
  return {{.name = "damping", .help = "chance that the walk follows an arc", .default_value = "0.85"},
          {.name          = "tolerance",
           .help          = "stop when the ranks change by no more than this in all (L1); auto: 1e-6",
           .default_value = "auto"},
          {.name          = "iterations",
           .help          = "run this many, whatever the change; auto: until the tolerance",
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
      .summary    = "how often a random walk is at each vertex",
      .reference  = "Page, Brin, Motwani, Winograd: The PageRank Citation Ranking, 1999",
      .parameters = pagerank_parameters(),
      .columns    = {{"rank", "share of the walk's time; all sum to 1"}},
      .run        = [](const Graph& graph, const ParameterValues& values,
                const RunOptions& options) { return run_pagerank("pagerank", graph, no_vertex, values, options); },
      .verify =
          [](const Graph& graph, const ParameterValues& values, const Result& result,
             const VerifyOptions& options) {
            return verify_pagerank("pagerank", graph, no_vertex, values, result, options);
          }};
}

}  // namespace spillway
