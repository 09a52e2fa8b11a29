#include "algorithms/pagerank.hpp"

#include <limits>
#include <numeric>

#include "algorithms/checking.hpp"
#include "algorithms/registry.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

/// Ranks in f32 settle to about 1e-6 where mass goes back and forth between two sides of a graph.
constexpr double        default_tolerance  = 1e-5;
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

Fact converged_fact(bool converged) { return {"converged", std::string{converged ? "yes" : "no"}}; }

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
  result.facts      = {{"residual", outcome.global.change},
                       converged_fact(outcome.global.change <= settings.tolerance)};
  result.statistics = std::move(outcome.statistics);
  result.columns.push_back(outcome.column("rank"));
  return result;
}

/// A residual that a vertex may keep. Below the smallest normal float no product is sure to shrink, and mass could
/// go round in a cycle for ever.
double kept_residual(const Graph& graph, const Settings& settings) {
  const auto n = static_cast<double>(std::max<std::uint64_t>(graph.vertex_count(), 1));
  return std::max<double>(settings.tolerance * (1 - settings.damping) / n, std::numeric_limits<float>::min());
}

/// Dropping the mass of dangling vertices gives the same ranks but for a factor when the restart is where it would
/// have gone: dividing by the sum puts it right.
Result accumulate(const Graph& graph, Vertex source, const Settings& settings, const RunOptions& options) {
  using Value = AccumulativePageRank::Value;
  const AccumulativePageRank program{.restart  = restart_of(graph, source),
                                     .damping  = settings.damping,
                                     .smallest = static_cast<float>(kept_residual(graph, settings))};
  auto                       outcome = run(program, graph, options);
  double                     held = 0, sum = 0;
  for (const Value& value : outcome.values.span()) {
    held += static_cast<double>(value.residual);
    sum += static_cast<double>(value.rank) + static_cast<double>(value.residual);
  }
  const double scale = settings.drop_dangling || sum == 0 ? 1 : 1 / sum;
  Result       result;
  result.columns.push_back(outcome.column("rank", [&](const Value& value) {
    return static_cast<float>((static_cast<double>(value.rank) + static_cast<double>(value.residual)) * scale);
  }));
  result.facts      = {{"residual", held}, converged_fact(true)};
  result.statistics = std::move(outcome.statistics);
  return result;
}

/// What floats lose of ranks that sum to 1, in all. Where mass goes back and forth (between the sides of a
/// bipartite graph) what each step loses adds up to 1 / (1 - damping) times as much.
constexpr double rounding = 2e-6;

/// The oracle: power iteration in f64, pushing along the arcs one by one.
class PowerIteration {
 public:
  /// At the restart.
  PowerIteration(const Graph& graph, Vertex source, const Settings& settings)
      : graph_(graph),
        source_(source),
        settings_(settings),
        ranks_(graph.vertex_count(), graph.budget(), "verifying the ranks"),
        next_(graph.vertex_count(), graph.budget(), "verifying the ranks") {
    for (Vertex v = 0; v < ranks_.size(); ++v) ranks_[v] = restarts_at(v);
  }

  void set(std::span<const float> ranks) { std::copy(ranks.begin(), ranks.end(), ranks_.data()); }

  std::span<const double> ranks() const { return ranks_.span(); }

  /// Returns the change, in L1.
  double step() {
    double dangling = 0;
    std::fill_n(next_.data(), next_.size(), 0.0);
    for (Vertex v = 0; v < ranks_.size(); ++v) {
      const auto neighbors = graph_.out().neighbors(v);
      if (neighbors.empty()) dangling += ranks_[v];
      for (const Vertex to : neighbors) next_[to] += ranks_[v] / static_cast<double>(neighbors.size());
    }
    const double lost       = settings_.drop_dangling ? 0 : settings_.damping * dangling;
    const double restarting = 1 - settings_.damping + lost;
    double       change     = 0;
    for (Vertex v = 0; v < ranks_.size(); ++v) {
      next_[v] = restarts_at(v) * restarting + settings_.damping * next_[v];
      change += std::abs(next_[v] - ranks_[v]);
    }
    std::swap(ranks_, next_);
    return change;
  }

 private:
  double restarts_at(Vertex v) const {
    if (source_ == no_vertex) return 1 / static_cast<double>(graph_.vertex_count());
    return v == source_ ? 1 : 0;
  }

  const Graph&    graph_;
  Vertex          source_;
  const Settings& settings_;
  Buffer<double>  ranks_, next_;
};

/// What the facts say of how the run ended, compared with the change that the last iteration should have made.
std::string ending_problem(const Settings& settings, const Result& result, double change) {
  const std::uint64_t iterations = result.statistics.iterations;
  const double        stated     = fact_of<double>(result, "residual");
  if (iterations > settings.iterations)
    return fmt::format("{} iterations, where at most {} are allowed", iterations, settings.iterations);
  if (iterations < settings.iterations && change > settings.tolerance + rounding)
    return fmt::format("the run stopped at iteration {}, which changes the ranks by {}", iterations, change);
  if (!near(stated, change, relative_tolerance, rounding))
    return fmt::format("the residual is said to be {}, and is {}", stated, change);
  return {};
}

std::string fault_by_oracle(const Graph& graph, Vertex source, const Settings& settings, const Result& result) {
  PowerIteration oracle{graph, source, settings};
  double         change = 0;
  for (std::uint64_t i = 0; i < result.statistics.iterations; ++i) change = oracle.step();
  if (std::string problem = ending_problem(settings, result, change); !problem.empty()) return problem;
  return difference<float, double>(graph, "rank", column_of<float>(result, 0).span(), oracle.ranks(),
                                   absolute_tolerance / static_cast<double>(graph.vertex_count()));
}

/// How much one more step may change the ranks: less than the last did, since a step shrinks distances by the
/// damping; and no more than the tolerance where that ended the run.
double allowed_change(const Graph& graph, const Settings& settings, const Result& result) {
  const double stated = fact_of<double>(result, "residual");
  if (settings.residual_form) {
    // What is held is spread along the arcs: ranks are off by what becomes of it, and change by that at most.
    const double held = kept_residual(graph, settings) * static_cast<double>(graph.vertex_count());
    return std::min(stated, held) * 2 / (1 - settings.damping) + rounding;
  }
  const bool by_tolerance = result.statistics.iterations < settings.iterations;
  return (by_tolerance ? std::min(stated, settings.tolerance) : stated) * settings.damping + rounding;
}

/// How far the ranks are from what one more step makes of them, in L1; and their sum, which is 1 unless mass is
/// lost.
std::string fixed_point_problem(const Graph& graph, Vertex source, const Settings& settings,
                                const Result& result) {
  const std::span<const float> found = column_of<float>(result, 0).span();
  const double                 sum   = std::accumulate(found.begin(), found.end(), 0.0);
  if (!settings.drop_dangling && !near(sum, 1, 1e-4)) return fmt::format("the ranks sum to {}, not to 1", sum);
  for (const float rank : found)
    if (!(rank >= 0)) return fmt::format("a rank is {}", rank);
  PowerIteration iteration{graph, source, settings};
  iteration.set(found);
  const double change = iteration.step(), allowed = allowed_change(graph, settings, result);
  if (change > allowed)
    return fmt::format("one more step changes the ranks by {}, allowed is {}", change, allowed);
  return {};
}

/// What can be said of the facts without computing the ranks.
std::string fact_problem(const Graph& graph, const Settings& settings, const Result& result) {
  const double stated    = fact_of<double>(result, "residual");
  const double most_held = kept_residual(graph, settings) * static_cast<double>(graph.vertex_count());
  if (settings.residual_form && !(stated >= 0 && stated <= most_held * (1 + relative_tolerance)))
    return fmt::format("the residual is {}, where no more than {} may be left", stated, most_held);
  const bool converged = settings.residual_form || stated <= settings.tolerance;
  if (fact_of<std::string>(result, "converged") != (converged ? "yes" : "no"))
    return fmt::format("the residual is {}, and the run is said to have converged or not", stated);
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
  const Settings settings  = settings_of(name, values);
  const bool     by_serial = options.use_oracle(graph) && !settings.residual_form;
  const auto     how       = by_serial ? by_oracle : by_properties;
  if (column_of<float>(result, 0).size() != graph.vertex_count()) return {how, "rank has the wrong length"};
  if (graph.vertex_count() == 0) return {how, ""};
  if (std::string problem = fact_problem(graph, settings, result); !problem.empty()) return {how, problem};
  return {how, by_serial ? fault_by_oracle(graph, source, settings, result)
                         : fixed_point_problem(graph, source, settings, result)};
}

std::vector<Parameter> pagerank_parameters() {
  return {{.name = "damping", .help = "chance that the walk follows an arc", .default_value = "0.85"},
          {.name          = "tolerance",
           .help          = "stop when the ranks change by no more than this in all (L1); auto: 1e-5",
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
      .on_gpu     = has_device_code<PageRank>,
      .run        = [](const Graph& graph, const ParameterValues& values,
                const RunOptions& options) { return run_pagerank("pagerank", graph, no_vertex, values, options); },
      .verify =
          [](const Graph& graph, const ParameterValues& values, const Result& result,
             const VerifyOptions& options) {
            return verify_pagerank("pagerank", graph, no_vertex, values, result, options);
          }};
}

}  // namespace spillway
