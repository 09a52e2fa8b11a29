// How beliefs are checked: by the formula as textbooks have it, in logarithms and with no division of messages; on
// graphs too large for that by their range, by what the neighbours of a vertex can do at most, and by whether
// beliefs that have settled explain each other.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "algorithms/bp.hpp"
#include "algorithms/checking.hpp"
#include "algorithms/tolerances.hpp"
#include "base/fail.hpp"
#include "generate/random.hpp"

namespace spillway {
namespace {

using Values = std::vector<double>;
using Logs   = std::vector<long double>;  // sums over a hub's neighbours grow large, and only differences count

/// The oracle: edges found by sorting pairs, messages normalised, one array for the old and one for the new.
class Textbook {
 public:
  Textbook(const Graph& graph, const BeliefModel& model)
      : graph_(graph), model_(model), states_(model.states), memory_(graph.budget(), "verifying the beliefs") {
    constexpr std::uint64_t bytes_a_pair = sizeof(Pair) + sizeof(std::uint64_t);
    memory_.raise_to(2 * graph.arc_count() * (bytes_a_pair + 2 * states_ * sizeof(double)) +
                     graph.vertex_count() * (states_ * sizeof(double) + sizeof(std::uint64_t)));
    for (Vertex u = 0; u < graph.vertex_count(); ++u)
      for (const Vertex v : graph.out().neighbors(u))
        if (u != v) pairs_.insert(pairs_.end(), {{u, v}, {v, u}});
    std::sort(pairs_.begin(), pairs_.end());
    pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
    for (const auto& [u, v] : pairs_) reverse_.push_back(place_of({v, u}));
    for (std::uint64_t v = 0; v <= graph.vertex_count(); ++v)
      rows_.push_back(place_of({static_cast<Vertex>(v), 0}));
    messages_.assign(pairs_.size() * states_, 1.0 / static_cast<double>(states_));
    renewed_ = messages_;
    beliefs_.resize(graph.vertex_count() * states_);
    for (Vertex v = 0; v < graph.vertex_count(); ++v) believe(v);
  }

  /// Sends every message once; returns the largest change of a belief.
  double iterate() {
    for (Vertex v = 0; v < graph_.vertex_count(); ++v) send_from(v);
    messages_.swap(renewed_);
    double largest = 0;
    for (Vertex v = 0; v < graph_.vertex_count(); ++v) largest = std::max(largest, believe(v));
    return largest;
  }

  Values column(std::uint64_t state) const {
    Values values;
    for (std::uint64_t i = state; i < beliefs_.size(); i += states_) values.push_back(beliefs_[i]);
    return values;
  }

 private:
  using Pair = std::pair<Vertex, Vertex>;

  std::uint64_t place_of(Pair pair) const {
    return static_cast<std::uint64_t>(std::lower_bound(pairs_.begin(), pairs_.end(), pair) - pairs_.begin());
  }

  double factor(Vertex u, std::uint64_t x, Vertex v, std::uint64_t y) const {
    if (!model_.oriented) return model_.table[x][y];
    const auto leads = [&](Vertex from, Vertex to) {
      const auto row = graph_.out().neighbors(from);
      return std::find(row.begin(), row.end(), to) != row.end();
    };
    if (!leads(v, u)) return model_.table[x][y];
    if (!leads(u, v)) return model_.table[y][x];
    return std::sqrt(model_.table[x][y] * model_.table[y][x]);
  }

  /// Probabilities in proportion.
  static Values from_logs(const Logs& logs) {
    const long double top   = *std::max_element(logs.begin(), logs.end());
    double            whole = 0;
    Values            values;
    for (const long double log : logs) whole += values.emplace_back(std::exp(static_cast<double>(log - top)));
    for (double& value : values) value /= whole;
    return values;
  }

  /// Products over all neighbours but one: those before it times those after it.
  void send_from(Vertex u) {
    const std::uint64_t begin = rows_[u], end = rows_[u + 1];
    Logs                after(states_ * (end - begin + 1)), before(states_), others(states_);
    Values              message(states_);
    for (std::uint64_t i = end; i-- > begin;)
      for (std::uint64_t x = 0; x < states_; ++x)
        after[(i - begin) * states_ + x] =
            after[(i - begin + 1) * states_ + x] + std::log(messages_[i * states_ + x]);
    for (std::uint64_t x = 0; x < states_; ++x) before[x] = std::log(model_.prior(u)[x]);
    for (std::uint64_t i = begin; i < end; ++i) {
      for (std::uint64_t x = 0; x < states_; ++x) others[x] = before[x] + after[(i - begin + 1) * states_ + x];
      const Values rest = from_logs(others);
      for (std::uint64_t y = 0; y < states_; ++y) {
        message[y] = 0;
        for (std::uint64_t x = 0; x < states_; ++x) message[y] += factor(u, x, pairs_[i].second, y) * rest[x];
      }
      const double whole = std::accumulate(message.begin(), message.end(), 0.0);
      for (std::uint64_t y = 0; y < states_; ++y) {
        const std::uint64_t place = reverse_[i] * states_ + y;
        renewed_[place]           = (1 - model_.damping) * message[y] / whole + model_.damping * messages_[place];
      }
      for (std::uint64_t x = 0; x < states_; ++x) before[x] += std::log(messages_[i * states_ + x]);
    }
  }

  double believe(Vertex v) {
    Logs logs(states_);
    for (std::uint64_t x = 0; x < states_; ++x) logs[x] = std::log(model_.prior(v)[x]);
    for (std::uint64_t i = rows_[v]; i < rows_[v + 1]; ++i)
      for (std::uint64_t x = 0; x < states_; ++x) logs[x] += std::log(messages_[i * states_ + x]);
    const Values belief = from_logs(logs);
    double       change = 0;
    for (std::uint64_t x = 0; x < states_; ++x) {
      double& known = beliefs_[v * states_ + x];
      change        = std::max(change, std::abs(known - belief[x]));
      known         = belief[x];
    }
    return change;
  }

  const Graph&               graph_;
  const BeliefModel&         model_;
  std::uint64_t              states_;
  Charge                     memory_;
  std::vector<std::uint64_t> rows_;                ///< where the pairs of each vertex begin
  std::vector<Pair>          pairs_;               ///< both of each edge, ascending: rows by their first vertex
  std::vector<std::uint64_t> reverse_;             ///< where the same edge stands the other way round
  Values                     messages_, renewed_;  ///< what the second of each pair tells the first
  Values                     beliefs_;
};

/// The run must have stopped where the tolerance says; the slack is for the rounding of changes.
std::string fault_by_oracle(const Graph& graph, const BeliefModel& model, const Result& result,
                            const VerifyOptions& options) {
  constexpr double slack      = 1e-9;
  const auto       iterations = fact_of<std::uint64_t>(result, "iterations");
  if (iterations == 0 || iterations > model.iterations)
    return fmt::format("{} iterations, where at most {} are allowed", iterations, model.iterations);
  Textbook textbook{graph, model};
  double   change = 0;
  for (std::uint64_t i = 1; i <= iterations; ++i) {
    if (options.progress) check_cancelled(*options.progress);
    change = textbook.iterate();
    if (i < iterations && model.tolerance > 0 && change < model.tolerance - slack)
      return fmt::format("iteration {} changes no belief by more than {}, and the run went on", i, change);
    if (i == iterations && i < model.iterations && change > model.tolerance + slack)
      return fmt::format("the run stopped at iteration {}, which changes a belief by {}", i, change);
  }
  const Tolerance tolerance = belief_tolerance(graph);
  if (const auto stated = fact_of<double>(result, "change"); !near(stated, change, tolerance))
    return fmt::format("the last change is said to be {}, and is {}", stated, change);
  for (std::uint64_t x = 0; x < model.states; ++x) {
    const Values expected = textbook.column(x);
    std::string  problem  = difference(graph, fmt::format("belief_{}", x), column_of<double>(result, x).span(),
                                       std::span<const double>{expected}, tolerance);
    if (!problem.empty()) return problem;
  }
  return {};
}

/// What can be said of beliefs without computing them.
class Properties {
 public:
  Properties(const Graph& graph, const BeliefModel& model, const Result& result)
      : graph_(graph), simple_(graph.simple()), model_(model) {
    for (std::uint64_t x = 0; x < model.states; ++x) columns_.push_back(column_of<double>(result, x).span());
    double least = most_factor, most = least_factor;
    for (std::uint64_t x = 0; x < model.states; ++x)
      for (std::uint64_t y = 0; y < model.states; ++y) {
        least = std::min(least, model.table[x][y]);
        most  = std::max(most, model.table[x][y]);
      }
    reach_ = std::log(most / least);
  }

  /// Probabilities, and no further from the prior than a message from each neighbour can bring them.
  std::string fault_at(Vertex v) const {
    double whole = 0;
    for (const auto column : columns_) {
      if (!(column[v] >= 0 && column[v] <= 1))
        return fmt::format("a belief of vertex {} is {}", name(v), column[v]);
      whole += column[v];
    }
    if (!near(whole, 1, belief_sum_tolerance))
      return fmt::format("the beliefs of vertex {} sum to {}", name(v), whole);
    constexpr double smallest_log = -570;  // beliefs below are given as 0
    const double     most         = static_cast<double>(simple_.degree(v)) * reach_ * (1 + 1e-9) + 1e-6;
    for (std::uint64_t x = 1; x < model_.states; ++x) {
      const double from_prior = log_ratio(belief(v), x) - std::log(model_.prior(v)[x] / model_.prior(v)[0]);
      if (most < -smallest_log / 2 && !(std::abs(from_prior) <= most))
        return fmt::format("vertex {}: belief_{} is {}, too far from its prior for {} neighbours", name(v), x,
                           columns_[x][v], simple_.degree(v));
    }
    return {};
  }

  /// Where nothing changes any more, two beliefs and the factor between them determine the messages of an edge;
  /// with its prior, those of all its edges must give a vertex the belief that it has. `change` is how settled
  /// they are.
  std::string unexplained_at(Vertex v, double change) const {
    constexpr std::uint64_t most_neighbours = 64;
    if (simple_.degree(v) == 0 || simple_.degree(v) > most_neighbours) return {};
    const Values own   = belief(v);
    double       least = *std::min_element(own.begin(), own.end());
    Values       logs(model_.states);
    for (std::uint64_t x = 0; x < model_.states; ++x) logs[x] = std::log(model_.prior(v)[x]);
    for (const Vertex u : simple_.neighbors(v)) {
      const Values theirs = belief(u);
      least               = std::min(least, *std::min_element(theirs.begin(), theirs.end()));
      if (least < 1e-3 || !add_message(v, own, u, theirs, logs)) return {};  // ill-conditioned: nothing to be said
    }
    const double slack = 1e-6 + 100 * static_cast<double>(simple_.degree(v)) * change / least;
    for (std::uint64_t x = 1; x < model_.states; ++x)
      if (std::abs(logs[x] - logs[0] - log_ratio(own, x)) > slack)
        return fmt::format("vertex {}: belief_{} is {}, which its neighbours' do not explain", name(v), x,
                           columns_[x][v]);
    return {};
  }

 private:
  std::string name(Vertex v) const { return graph_.ids().name(v); }

  Values belief(Vertex v) const {
    Values values;
    for (const auto column : columns_) values.push_back(column[v]);
    return values;
  }

  static double log_ratio(const Values& values, std::uint64_t x) { return std::log(values[x] / values[0]); }

  ArcsBetween arcs_between(Vertex u, Vertex v) const {
    if (!model_.oriented) return forward;
    const auto leads = [&](Vertex from, Vertex to) {
      const auto row = graph_.out().neighbors(from);
      return std::binary_search(row.begin(), row.end(), to);
    };
    return static_cast<ArcsBetween>((leads(u, v) ? forward : neither) | (leads(v, u) ? backward : neither));
  }

  /// Adds what `u` tells `v`, in logarithms: scales the rows and columns of the factor in turn until its margins
  /// are the two beliefs (Sinkhorn & Knopp 1967). False where that takes too long.
  bool add_message(Vertex v, const Values& own, Vertex u, const Values& theirs, Values& logs) const {
    const ArcsBetween arcs = arcs_between(v, u);
    Values            rows(model_.states, 1.0), columns(model_.states, 1.0);
    const auto        refit = [&](Values& fitted, const Values& margin, const Values& other, bool by_rows) {
      double change = 0;
      for (std::uint64_t x = 0; x < model_.states; ++x) {
        double sum = 0;
        for (std::uint64_t y = 0; y < model_.states; ++y)
          sum += other[y] * (by_rows ? model_.factor(x, y, arcs) : model_.factor(y, x, arcs));
        change    = std::max(change, std::abs(fitted[x] * sum / margin[x] - 1));
        fitted[x] = margin[x] / sum;
      }
      return change;
    };
    bool settled = false;
    for (int round = 0; round < 1000 && !settled; ++round) {
      refit(columns, theirs, rows, false);
      settled = refit(rows, own, columns, true) < 1e-13;
    }
    for (std::uint64_t x = 0; x < model_.states; ++x) logs[x] += std::log(own[x] / rows[x]);
    return settled;
  }

  const Graph&                         graph_;
  const Csr&                           simple_;
  const BeliefModel&                   model_;
  std::vector<std::span<const double>> columns_;
  double                               reach_ = 0;  ///< the largest logarithm of a ratio in a message
};

std::string fault_by_properties(const Graph& graph, const BeliefModel& model, const Result& result,
                                const VerifyOptions& options) {
  constexpr std::uint64_t most_explained = 4096;
  constexpr std::uint64_t between_checks = 1u << 16;
  const std::uint64_t     n              = graph.vertex_count();
  const Properties        properties{graph, model, result};
  for (std::uint64_t v = 0; v < n; ++v) {
    if (v % between_checks == 0 && options.progress) check_cancelled(*options.progress);
    if (std::string fault = properties.fault_at(static_cast<Vertex>(v)); !fault.empty()) return fault;
  }
  const double change = fact_of<double>(result, "change") / (1 - model.damping);
  if (!(change <= 1e-5)) return {};
  const RandomStream random{1, RandomUse::samples};
  for (std::uint64_t i = 0; i < std::min(n, most_explained); ++i) {
    const std::uint64_t v     = n <= most_explained ? i : random.below(i, n);
    std::string         fault = properties.unexplained_at(static_cast<Vertex>(v), change);
    if (!fault.empty()) return fault;
  }
  return {};
}

}  // namespace

Verdict verify_bp(const Graph& graph, const ParameterValues& values, const Result& result,
                  const VerifyOptions& options) {
  const BeliefModel model = belief_model(graph, values, 1);
  if (result.columns.size() != model.states)
    return {by_oracle, fmt::format("{} columns for {} states", result.columns.size(), model.states)};
  for (std::uint64_t x = 0; x < model.states; ++x)
    if (column_of<double>(result, x).size() != graph.vertex_count())
      return {by_oracle, fmt::format("belief_{} has {} entries, expected {}", x,
                                     column_of<double>(result, x).size(), graph.vertex_count())};
  if (const auto change = fact_of<double>(result, "change"); !(change >= 0 && change <= 1))
    return {by_oracle, fmt::format("the last change is {}", change)};
  const bool converged = fact_of<double>(result, "change") <= model.tolerance;
  if (fact_of<std::string>(result, "converged") != (converged ? "yes" : "no"))
    return {by_oracle, fmt::format("the last change is {}, and the run is said to have converged or not",
                                   fact_of<double>(result, "change"))};
  if (fact_of<std::uint64_t>(result, "iterations") != result.statistics.iterations)
    return {by_oracle, fmt::format("{} iterations are stated, {} were counted",
                                   fact_of<std::uint64_t>(result, "iterations"), result.statistics.iterations)};
  if (values.at("form") == "vertex") {
    const bool by_serial = options.use_oracle(graph);
    return {by_serial ? by_oracle : by_properties, vertex_belief_problem(graph, model, result, by_serial)};
  }
  // The oracle looks at every arc in every iteration, and takes logarithms there.
  const bool affordable = graph.arc_count() * fact_of<std::uint64_t>(result, "iterations") <= options.oracle_arcs;
  if (options.by == CheckBy::oracle || (options.use_oracle(graph) && affordable))
    return {by_oracle, fault_by_oracle(graph, model, result, options)};
  return {by_properties, fault_by_properties(graph, model, result, options)};
}

}  // namespace spillway
