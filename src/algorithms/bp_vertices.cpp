// Belief propagation with state on vertices only, as SIMD-X has it (section 6): a vertex sends what its belief
// says to all neighbours alike, without taking out what each of them said itself. No memory for each arc, another
// fixed point: beliefs come out more certain than with a message for each arc.
#include <cmath>

#include "algorithms/bp.hpp"
#include "algorithms/checking.hpp"
#include "algorithms/plain_rows.hpp"
#include "algorithms/tolerances.hpp"
#include "generate/random.hpp"
#include "graph/csr.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

template <std::size_t N>
struct VertexBeliefs {
  struct Global {
    double change = 0;  ///< the largest of a belief

    SPILLWAY_HD void operator+=(const Global& other) { change = other.change > change ? other.change : change; }
  };
  using Value   = std::array<double, N>;
  using Update  = std::array<double, N>;
  using Combine = Sum<Update>;  // products, as sums of logarithms

  static constexpr bool all_active = true;

  const PotentialTable* table;
  const double*         priors;
  double                damping;
  double                tolerance;
  std::uint64_t         max_iterations;

  SPILLWAY_HD Value init(Vertex v) const {
    Value belief;
    for (std::size_t x = 0; x < N; ++x) belief[x] = priors[v * N + x];
    return belief;
  }

  SPILLWAY_HD Update publish(const Value& belief, const Step<Global>&) const {
    Update message;
    for (std::size_t to = 0; to < N; ++to) {
      double sum = 0;
      for (std::size_t from = 0; from < N; ++from) sum += (*table)[from][to] * belief[from];
      message[to] = std::log(sum);
    }
    return message;
  }

  SPILLWAY_HD Update compute(const Update& message, const Edge<>&) const { return message; }

  SPILLWAY_HD bool apply(Value& belief, const Update& logarithms, const Step<Global>& step) const {
    Update weight = logarithms;
    double most = lowest<double>(), sum = 0;
    for (std::size_t x = 0; x < N; ++x) {
      weight[x] += std::log(priors[step.vertex * N + x]);
      most = weight[x] > most ? weight[x] : most;
    }
    for (double& w : weight) sum += w = std::exp(w - most);
    double change = 0;
    for (std::size_t x = 0; x < N; ++x) {
      const double next = (1 - damping) * weight[x] / sum + damping * belief[x];
      change            = std::max(change, std::abs(next - belief[x]));
      belief[x]         = next;
    }
    *step.total += Global{change};
    return true;
  }

  SPILLWAY_HD bool converged(const Global& global) const { return global.change <= tolerance; }
};

template <std::size_t N>
VertexBeliefs<N> program_of(const BeliefModel& model) {
  return {.table          = &model.table,
          .priors         = model.priors.data(),
          .damping        = model.damping,
          .tolerance      = model.tolerance > 0 ? model.tolerance : -1,
          .max_iterations = model.iterations};
}

template <std::size_t N>
Beliefs run_with(const Graph& simple, const BeliefModel& model, const RunOptions& options) {
  auto    outcome = run(program_of<N>(model), simple, options);
  Beliefs beliefs{.values     = {simple.vertex_count() * N, simple.budget(), "the beliefs"},
                  .change     = outcome.global.change,
                  .statistics = std::move(outcome.statistics)};
  for (Vertex v = 0; v < simple.vertex_count(); ++v)
    std::copy(outcome.values[v].begin(), outcome.values[v].end(), beliefs.values.data() + std::uint64_t{v} * N);
  return beliefs;
}

template <std::size_t N = 2, class Body>
auto with_states(std::uint64_t states, Body&& body) {
  if constexpr (N == most_states)
    return body.template operator()<N>();
  else
    return states == N ? body.template operator()<N>() : with_states<N + 1>(states, body);
}

Graph simple_graph_of(const Graph& graph) {
  Graph::Parts parts;
  parts.out       = graph.simple();
  parts.symmetric = true;
  parts.budget    = graph.budget();
  return Graph{std::move(parts)};
}

}  // namespace

Beliefs beliefs_by_vertices(const Graph& graph, const BeliefModel& model, const RunOptions& options) {
  const Graph simple = simple_graph_of(graph);
  return with_states(model.states, [&]<std::size_t N>() { return run_with<N>(simple, model, options); });
}

Plan plan_by_vertices(const Graph& graph, const BeliefModel& model, const RunOptions& options) {
  const Graph simple = simple_graph_of(graph);
  return with_states(model.states,
                     [&]<std::size_t N>() { return plan_run(program_of<N>(model), simple, options); });
}

namespace {

constexpr const char* verifying = "verifying the beliefs";

/// The formula, with long doubles and without logarithms: what a vertex believes after a step, when its neighbours
/// believe belief(u)[x] before it.
template <class Neighbors, class BeliefOf>
void step_at(Vertex v, const BeliefModel& model, Neighbors&& neighbors, BeliefOf&& belief,
             std::array<double, most_states>& next) {
  const std::uint64_t                  states = model.states;
  std::array<long double, most_states> product{};
  const auto                           scale = [&] {  // or hubs would underflow
    long double all = 0;
    for (std::uint64_t x = 0; x < states; ++x) all += product[x];
    for (std::uint64_t x = 0; x < states; ++x) product[x] /= all;
  };
  std::copy_n(model.prior(v), states, product.begin());
  for (const Vertex u : neighbors) {
    for (std::uint64_t to = 0; to < states; ++to) {
      long double sum = 0;
      for (std::uint64_t from = 0; from < states; ++from)
        sum += static_cast<long double>(model.table[from][to] * belief(u, from));
      product[to] *= sum;
    }
    scale();
  }
  scale();
  for (std::uint64_t x = 0; x < states; ++x)
    next[x] = static_cast<double>((1 - model.damping) * product[x]) + model.damping * belief(v, x);
}

/// The oracle: every step, over neighbours that it collects by itself.
struct SerialBeliefs {
  Buffer<double> values;
  double         change = 0;  ///< the largest of the last step
};

SerialBeliefs serial_vertex_beliefs(const Graph& graph, const BeliefModel& model, std::uint64_t iterations) {
  const std::uint64_t             states = model.states;
  const PlainNeighbors            rows   = plain_neighbors(graph);
  Buffer<double>                  now{model.priors.size(), graph.budget(), verifying};
  Buffer<double>                  then{model.priors.size(), graph.budget(), verifying};
  std::array<double, most_states> next{};
  double                          change = 0;
  std::copy_n(model.priors.data(), model.priors.size(), now.data());
  for (std::uint64_t step = 0; step < iterations; ++step) {
    std::swap(now, then);
    change            = 0;
    const auto before = [&](Vertex u, std::uint64_t x) { return then[u * states + x]; };
    for (Vertex v = 0; v < graph.vertex_count(); ++v) {
      step_at(v, model, rows.of(v), before, next);
      for (std::uint64_t x = 0; x < states; ++x) change = std::max(change, std::abs(next[x] - before(v, x)));
      std::copy_n(next.data(), states, now.data() + v * states);
    }
  }
  return {std::move(now), change};
}

using BeliefColumns = std::vector<std::span<const double>>;

std::string range_problem(const Graph& graph, const BeliefColumns& columns) {
  for (Vertex v = 0; v < graph.vertex_count(); ++v) {
    double sum = 0;
    for (const auto column : columns) {
      if (!(column[v] >= 0 && column[v] <= 1))
        return fmt::format("vertex {}: a belief is {}", graph.ids().name(v), column[v]);
      sum += column[v];
    }
    if (!near(sum, 1, belief_sum_tolerance))
      return fmt::format("vertex {}: the beliefs sum to {}", graph.ids().name(v), sum);
  }
  return {};
}

std::string oracle_problem(const Graph& graph, const BeliefModel& model, const BeliefColumns& columns,
                           const Result& result) {
  const SerialBeliefs expected  = serial_vertex_beliefs(graph, model, result.statistics.iterations);
  const Tolerance     tolerance = belief_tolerance(graph);
  if (const auto stated = fact_of<double>(result, "change"); !near(stated, expected.change, tolerance))
    return fmt::format("the last change is said to be {}, and is {}", stated, expected.change);
  for (Vertex v = 0; v < graph.vertex_count(); ++v)
    for (std::uint64_t x = 0; x < model.states; ++x)
      if (const double wanted = expected.values[v * model.states + x]; !near(columns[x][v], wanted, tolerance))
        return fmt::format("vertex {}: belief_{} is {}, expected {}", graph.ids().name(v), x, columns[x][v],
                           wanted);
  return {};
}

/// The most that one more step can change a belief of a vertex if the last one changed none by more than `change`:
/// the sums in a message by that much of the largest entry of the table, of which each is at least the smallest.
double allowed_change(const BeliefModel& model, std::uint64_t degree, double change) {
  constexpr double rounding = 1e-9;
  double           least = most_factor, most = least_factor;
  for (std::uint64_t x = 0; x < model.states; ++x)
    for (std::uint64_t y = 0; y < model.states; ++y) {
      least = std::min(least, model.table[x][y]);
      most  = std::max(most, model.table[x][y]);
    }
  const double by_neighbors = static_cast<double>(model.states * degree) * most / least * change;
  return (1 - model.damping) * by_neighbors + model.damping * change + rounding;
}

/// One more step, at some of the vertices.
std::string step_problem(const Graph& graph, const BeliefModel& model, const BeliefColumns& columns,
                         double change) {
  constexpr std::uint64_t         most_checked = 1u << 16;
  const std::uint64_t             n            = graph.vertex_count();
  const Csr&                      simple       = graph.simple();
  const RandomStream              random{1, RandomUse::samples};
  const auto                      found = [&](Vertex u, std::uint64_t x) { return columns[x][u]; };
  std::array<double, most_states> next{};
  for (std::uint64_t i = 0; i < std::min(n, most_checked); ++i) {
    const auto   v       = static_cast<Vertex>(n <= most_checked ? i : random.below(i, n));
    const double allowed = allowed_change(model, simple.degree(v), change);
    step_at(v, model, simple.neighbors(v), found, next);
    for (std::uint64_t x = 0; x < model.states; ++x)
      if (!(std::abs(next[x] - columns[x][v]) <= allowed))
        return fmt::format("vertex {}: belief_{} is {}, and one more step makes it {}", graph.ids().name(v), x,
                           columns[x][v], next[x]);
  }
  return {};
}

}  // namespace

std::string vertex_belief_problem(const Graph& graph, const BeliefModel& model, const Result& result,
                                  bool by_serial) {
  BeliefColumns columns;
  for (std::uint64_t x = 0; x < model.states; ++x) columns.push_back(column_of<double>(result, x).span());
  if (std::string problem = range_problem(graph, columns); !problem.empty()) return problem;
  return by_serial ? oracle_problem(graph, model, columns, result)
                   : step_problem(graph, model, columns, fact_of<double>(result, "change"));
}

}  // namespace spillway
