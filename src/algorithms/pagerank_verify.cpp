// How ranks are checked. With pull, by as many steps of the power method in f64. In the residual form, where every
// order of passing residuals on is right, by the limit of those steps, and by how far from it the residuals that
// are left can keep a rank: what is left passes on to others, and all that comes of it is missing from them.
#include "algorithms/pagerank_verify.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "algorithms/checking.hpp"
#include "algorithms/pagerank.hpp"
#include "algorithms/row_visits.hpp"
#include "algorithms/tolerances.hpp"
#include "graph/split.hpp"

namespace spillway {
namespace {

using Settings = PageRankSettings;

constexpr const char* verifying = "verifying the ranks";

/// The oracle: power iteration in f64, pushing along the arcs one by one.
class PowerIteration {
 public:
  /// At the restart.
  PowerIteration(const Graph& graph, Vertex source, double damping, bool drop_dangling)
      : graph_(graph),
        source_(source),
        damping_(damping),
        drop_dangling_(drop_dangling),
        ranks_(graph.vertex_count(), graph.budget(), verifying),
        next_(graph.vertex_count(), graph.budget(), verifying) {
    for (Vertex v = 0; v < ranks_.size(); ++v) ranks_[v] = restarts_at(v);
  }

  void set(std::span<const float> ranks) { std::copy(ranks.begin(), ranks.end(), ranks_.data()); }

  std::span<const double> ranks() const { return ranks_.span(); }
  Buffer<double>          take_ranks() && { return std::move(ranks_); }

  /// Returns the change, in L1.
  double step() {
    double dangling = 0;
    std::fill_n(next_.data(), next_.size(), 0.0);
    for (Vertex v = 0; v < ranks_.size(); ++v)
      if (out_degree(graph_, v) == 0) dangling += ranks_[v];
    for_each_row_alone(graph_, {}, [&](Vertex v, std::span<const Vertex> targets, const std::uint32_t*) {
      const double sent = ranks_[v] / static_cast<double>(out_degree(graph_, v));
      for (const Vertex to : targets) next_[to] += sent;
    });
    const double restarting = 1 - damping_ + (drop_dangling_ ? 0 : damping_ * dangling);
    double       change     = 0;
    for (Vertex v = 0; v < ranks_.size(); ++v) {
      next_[v] = restarts_at(v) * restarting + damping_ * next_[v];
      change += std::abs(next_[v] - ranks_[v]);
    }
    std::swap(ranks_, next_);
    return change;
  }

  /// Steps until what is missing from the limit is negligible; returns how much that is at most, in L1. Each step
  /// shrinks the change by the damping.
  double go_to_limit() {
    constexpr double        negligible = 1e-14;
    constexpr std::uint64_t most_steps = 10'000;
    double                  missing    = 1;
    for (std::uint64_t i = 0; i < most_steps && missing > negligible; ++i)
      missing = step() * damping_ / (1 - damping_);
    return missing;
  }

 private:
  double restarts_at(Vertex v) const {
    if (source_ == no_vertex) return 1 / static_cast<double>(graph_.vertex_count());
    return v == source_ ? 1 : 0;
  }

  const Graph&   graph_;
  Vertex         source_;
  double         damping_;
  bool           drop_dangling_;
  Buffer<double> ranks_, next_;
};

std::span<const float> ranks_of(const Result& result) { return column_of<float>(result, 0).span(); }

double stated_residual(const Result& result) { return fact_of<double>(result, "residual"); }

bool said_to_converge(const Result& result) { return fact_of<std::string>(result, "converged") == "yes"; }

template <class Rank>
double dangling_mass(const Graph& graph, std::span<const Rank> ranks) {
  double mass = 0;
  for (Vertex v = 0; v < ranks.size(); ++v)
    if (out_degree(graph, v) == 0) mass += static_cast<double>(ranks[v]);
  return mass;
}

/// Vertices that may keep a residual.
double holders(const Graph& graph) {
  return static_cast<double>(graph.split() ? graph.split()->vertex_count() : graph.vertex_count());
}

/// The most that a vertex keeps in the residual form: then all of them together change no rank by more than the
/// tolerance. Residuals below the smallest normal float stay where they are.
double most_kept(const Graph& graph, const Settings& settings) {
  const double share = (1 - settings.damping) / holders(graph);
  return std::max<double>(settings.tolerance * share, std::numeric_limits<float>::min());
}

/// The sum of all ranks, of which each step loses some and all but the damping of what was lost before.
Tolerance sum_tolerance(const Settings& settings, std::uint64_t iterations) {
  constexpr double most = 1e-4, roundings_a_step = 4;
  const double     steps = std::min(static_cast<double>(iterations + 1), 1 / (1 - settings.damping));
  return {std::min(most, roundings_a_step * steps * float_rounding), 0};
}

// --- pull ---

/// What the facts say of how the run ended, compared with the change that the last iteration should have made.
std::string ending_problem(const Settings& settings, const Result& result, double change) {
  const std::uint64_t iterations = result.statistics.iterations;
  if (iterations < settings.iterations && change > settings.tolerance + rank_rounding(settings.damping))
    return fmt::format("the run stopped at iteration {}, which changes the ranks by {}", iterations, change);
  if (!near(stated_residual(result), change, {0, rank_rounding(settings.damping)}))
    return fmt::format("the residual is said to be {}, and is {}", stated_residual(result), change);
  return {};
}

std::string step_problem(const Graph& graph, Vertex source, const Settings& settings, const Result& result) {
  PowerIteration oracle{graph, source, settings.damping, settings.drop_dangling};
  double         change = 0;
  for (std::uint64_t i = 0; i < result.statistics.iterations; ++i) change = oracle.step();
  if (std::string problem = ending_problem(settings, result, change); !problem.empty()) return problem;
  return difference<float, double>(graph, "rank", ranks_of(result), oracle.ranks(),
                                   rank_tolerance(result.statistics.iterations));
}

/// With the vertices split, what one iteration should have made of them depends on the split. But all that the
/// last one changed, in trees too, comes to no more than so much of a difference from the limit: it is damped
/// whenever it goes along an arc of the graph.
double outstanding(const Graph& graph, const Settings& settings, const Result& result) {
  if (!has_tree_vertices(graph)) return 0;
  const auto hops = static_cast<double>(graph.split()->most_hops());
  return stated_residual(result) / (1 - settings.damping) + (1 + hops) * rank_rounding(settings.damping);
}

std::string split_problem(const Graph& graph, Vertex source, const Settings& settings, const Result& result) {
  PowerIteration limit{graph, source, settings.damping, settings.drop_dangling};
  const double   allowed = limit.go_to_limit() + outstanding(graph, settings, result);
  const auto     found   = ranks_of(result);
  double         apart   = 0;
  for (Vertex v = 0; v < found.size(); ++v) apart += std::abs(static_cast<double>(found[v]) - limit.ranks()[v]);
  if (apart <= allowed) return {};
  return fmt::format("the ranks are {} from their limit, where the residual accounts for {}", apart, allowed);
}

// --- the residual form ---

std::string limit_problem(const Graph& graph, Vertex source, const Settings& settings, const Result& result) {
  const auto [least, most] = residual_range(graph, source, settings, result);
  if (const double stated = stated_residual(result); !(stated >= least && stated <= most))
    return fmt::format("the residual is {}, which should be from {} to {}", stated, least, most);
  const RankLimits limits = rank_limits(graph, source, settings, stated_residual(result));
  const auto       found  = ranks_of(result);
  double           apart  = 0;
  for (Vertex v = 0; v < found.size(); ++v) {
    const auto rank = static_cast<double>(found[v]);
    if (!(rank >= 0)) return fmt::format("vertex {}: rank is {}", graph.ids().name(v), rank);
    const double off = std::abs(rank - limits.ranks[v]), rounding = residual_form_tolerance.at(limits.ranks[v]);
    if (said_to_converge(result) && !(off <= limits.slack[v] + rounding))
      return fmt::format("vertex {}: rank is {}, expected {}, or {} less or more", graph.ids().name(v), rank,
                         limits.ranks[v], limits.slack[v]);
    apart += std::max(0.0, off - rounding);
  }
  if (apart <= limits.all_slack) return {};
  return fmt::format("the ranks are {} from their limit, where the residual accounts for {}", apart,
                     limits.all_slack);
}

// --- properties ---

/// How far the ranks are from what one more step makes of them, in L1; and their sum, which is 1 unless mass is
/// lost.
std::string fixed_point_problem(const Graph& graph, Vertex source, const Settings& settings,
                                const Result& result) {
  const std::span<const float> found     = ranks_of(result);
  const double                 sum       = std::accumulate(found.begin(), found.end(), 0.0);
  Tolerance                    tolerance = sum_tolerance(settings, result.statistics.iterations);
  tolerance.absolute += outstanding(graph, settings, result);
  if (!settings.drop_dangling && !near(sum, 1, tolerance))
    return fmt::format("the ranks sum to {}, not to 1", sum);
  for (const float rank : found)
    if (!(rank >= 0)) return fmt::format("a rank is {}", rank);
  PowerIteration iteration{graph, source, settings.damping, settings.drop_dangling};
  iteration.set(found);
  const double change  = iteration.step(),
               allowed = allowed_change(graph, settings, result) + 2 * outstanding(graph, settings, result);
  if (!(change <= allowed))
    return fmt::format("one more step changes the ranks by {}, allowed is {}", change, allowed);
  return {};
}

// --- both ---

/// A run ends when no vertex has more to pass on than it may keep, or else at its last iteration.
std::string residual_fact_problem(const Graph& graph, const Settings& settings, const Result& result) {
  const double stated = stated_residual(result);
  const double most   = most_kept(graph, settings) * holders(graph);
  if (!(stated >= 0 && stated <= 1 + most_relative)) return fmt::format("the residual is {}", stated);
  if (said_to_converge(result) && stated > most * (1 + most_relative))
    return fmt::format("the residual is {}, where no more than {} may be left", stated, most);
  if (!said_to_converge(result) && result.statistics.iterations < settings.iterations)
    return fmt::format("the run is said not to have converged, and ended at iteration {} of {}",
                       result.statistics.iterations, settings.iterations);
  return {};
}

/// What can be said of the facts without computing the ranks.
std::string fact_problem(const Graph& graph, const Settings& settings, const Result& result) {
  const std::uint64_t iterations = result.statistics.iterations;
  if (settings.runs_all && iterations != settings.iterations)
    return fmt::format("{} iterations, where {} were asked for", iterations, settings.iterations);
  if (iterations > settings.iterations)
    return fmt::format("{} iterations, where at most {} are allowed", iterations, settings.iterations);
  if (settings.residual_form) return residual_fact_problem(graph, settings, result);
  const double stated = stated_residual(result);  // a distance of two distributions
  if (!(stated >= 0 && stated <= 2 * (1 + most_relative))) return fmt::format("the residual is {}", stated);
  if (said_to_converge(result) != (stated <= settings.tolerance))
    return fmt::format("the residual is {}, and the run is said to have converged or not", stated);
  return {};
}

}  // namespace

/// With x the ranks before they are divided by their sum, r what is left and P the walk, x = (1 - d) s + d P (x -
/// r): one step of x, which loses the mass of dangling vertices, differs from x by d P r. Its sum is d times what
/// is left, but for what dangling vertices hold.
ResidualRange residual_range(const Graph& graph, Vertex source, const Settings& settings, const Result& result) {
  const auto found = ranks_of(result);
  if (said_to_converge(result)) return {0, most_kept(graph, settings) * holders(graph) * (1 + most_relative)};
  if (!settings.drop_dangling) return {0, 1};  // they were divided by a sum that nobody knows
  PowerIteration iteration{graph, source, settings.damping, /*drop_dangling=*/true};
  iteration.set(found);
  iteration.step();
  const double before   = std::accumulate(found.begin(), found.end(), 0.0);
  const double after    = std::accumulate(iteration.ranks().begin(), iteration.ranks().end(), 0.0);
  const double passed   = (after - before) / settings.damping,
               rounding = rank_rounding(settings.damping) / settings.damping;
  return {std::max(0.0, passed - rounding), passed + dangling_mass(graph, found) + rounding};
}

/// All that comes of residuals r is e = d P r + (d P)² r + …. If none exceeds some θ, then e is at most θ (y - 1)
/// with y = 1 + d P 1 + (d P)² 1 + …, which are the ranks of a walk that restarts anywhere, times n / (1 - d). In
/// all it is at most d / (1 - d) times the residual. Ranks that are divided by their sum, which without residuals
/// would be c, are off by e / c, and all of them by the share that is missing from the sum.
RankLimits rank_limits(const Graph& graph, Vertex source, const Settings& settings, double residual) {
  const auto     n      = static_cast<double>(graph.vertex_count());
  const double   family = graph.split() ? static_cast<double>(graph.split()->largest_family()) : 0;
  const double   d = settings.damping, most = most_kept(graph, settings) * (1 + family);
  PowerIteration limit{graph, source, d, settings.drop_dangling};
  const double   missing  = limit.go_to_limit();
  const double   dangling = settings.drop_dangling ? 0 : dangling_mass(graph, limit.ranks());
  const double   whole    = (1 - d) / (1 - d + d * dangling);

  PowerIteration anywhere{graph, no_vertex, d, /*drop_dangling=*/true};
  const double   uncounted = anywhere.go_to_limit() * n / (1 - d) * most;
  RankLimits     limits{.ranks = {}, .slack = {graph.vertex_count(), graph.budget(), verifying}};
  double         all = 0;
  for (const double rank : anywhere.ranks()) all += most * (rank * n / (1 - d) - 1);
  for (Vertex v = 0; v < graph.vertex_count(); ++v) {
    const double here = most * (anywhere.ranks()[v] * n / (1 - d) - 1) + uncounted;
    const double gone = settings.drop_dangling ? 0 : (all + uncounted) * limit.ranks()[v];
    limits.slack[v]   = (std::max(0.0, here) + gone) / whole + missing;
  }
  const double lost = d / (1 - d) * residual;
  limits.all_slack =
      missing + rank_rounding(d) + (settings.drop_dangling ? lost : 2 * lost / std::max(1 - d, whole - lost));
  limits.ranks = std::move(limit).take_ranks();
  return limits;
}

/// Less than the last step did, since a step shrinks distances by the damping; and no more than the tolerance
/// where that ended the run.
double allowed_change(const Graph& graph, const Settings& settings, const Result& result) {
  const double stated = stated_residual(result);
  if (settings.residual_form) {
    // What is left is spread along the arcs: ranks are off by what becomes of it, and change by that at most.
    const double most = most_kept(graph, settings) * holders(graph);
    return (said_to_converge(result) ? std::min(stated, most) : stated) * 2 / (1 - settings.damping) +
           rank_rounding(settings.damping);
  }
  const bool by_tolerance = result.statistics.iterations < settings.iterations;
  return (by_tolerance ? std::min(stated, settings.tolerance) : stated) * settings.damping + 2 * step_rounding;
}

Verdict verify_pagerank(const char* name, const Graph& graph, Vertex source, const ParameterValues& values,
                        const Result& result, const VerifyOptions& options) {
  const Settings settings  = pagerank_settings(name, graph, values);
  const bool     by_serial = options.use_oracle(graph);
  const auto     how       = by_serial ? by_oracle : by_properties;
  if (ranks_of(result).size() != graph.vertex_count()) return {how, "rank has the wrong length"};
  if (graph.vertex_count() == 0) return {how, ""};
  if (std::string problem = fact_problem(graph, settings, result); !problem.empty()) return {how, problem};
  if (!by_serial) return {how, fixed_point_problem(graph, source, settings, result)};
  if (has_tree_vertices(graph) && !settings.residual_form)
    return {how, split_problem(graph, source, settings, result)};
  return {how, settings.residual_form ? limit_problem(graph, source, settings, result)
                                      : step_problem(graph, source, settings, result)};
}

}  // namespace spillway
