// Belief propagation with state on vertices only: the program that runs it, and how its results are checked.
#include <cmath>

#include "algorithms/bp.hpp"
#include "algorithms/checking.hpp"
#include "algorithms/plain_rows.hpp"
#include "algorithms/programs/beliefs.hpp"
#include "algorithms/tolerances.hpp"
#include "generate/random.hpp"
#include "graph/csr.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

template <std::uint32_t N>
VertexBeliefs<N> program_of(const BeliefModel& model) {
  const auto       states = static_cast<std::uint32_t>(model.states);
  VertexBeliefs<N> program{.priors         = VertexInput<double>{model.priors.span(), states},
                           .states         = states,
                           .damping        = model.damping,
                           .tolerance      = model.tolerance > 0 ? model.tolerance : -1,
                           .max_iterations = model.iterations};
  for (std::uint64_t x = 0; x < model.states; ++x)
    for (std::uint64_t y = 0; y < model.states; ++y) program.factors[x][y] = model.table[x][y];
  return program;
}

/// Each width has kernels of its own, which take nvcc a quarter of a minute: those between are left out.
template <class Body>
auto with_program(const BeliefModel& model, Body&& body) {
  if (model.states <= 2) return body(program_of<2>(model));
  if (model.states <= 4) return body(program_of<4>(model));
  return body(program_of<most_states>(model));
}

/// Of the states that the model has.
template <class P>
std::vector<Column> columns_of(Outcome<P>& outcome, std::uint64_t states) {
  std::vector<Column> columns;
  for_each_column<P>(outcome.columns, [&](auto, Buffer<double>& column) {
    if (columns.size() < states)
      columns.push_back({.name = belief_column(columns.size()), .values = std::move(column).freeze()});
  });
  return columns;
}

}  // namespace

BeliefColumns beliefs_by_vertices(const Graph& graph, const BeliefModel& model, const RunOptions& options) {
  return with_program(model, [&](const auto& program) {
    auto outcome = run(program, graph, options);
    return BeliefColumns{.columns    = columns_of(outcome, model.states),
                         .change     = outcome.global.change,
                         .statistics = std::move(outcome.statistics)};
  });
}

Plan plan_by_vertices(const Graph& graph, const BeliefModel& model, const RunOptions& options) {
  return with_program(model, [&](const auto& program) { return plan_run(program, graph, options); });
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

using Spans = std::vector<std::span<const double>>;

std::string range_problem(const Graph& graph, const Spans& columns) {
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

std::string oracle_problem(const Graph& graph, const BeliefModel& model, const Spans& columns,
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
std::string step_problem(const Graph& graph, const BeliefModel& model, const Spans& columns, double change) {
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
  Spans columns;
  for (std::uint64_t x = 0; x < model.states; ++x) columns.push_back(column_of<double>(result, x).span());
  if (std::string problem = range_problem(graph, columns); !problem.empty()) return problem;
  return by_serial ? oracle_problem(graph, model, columns, result)
                   : step_problem(graph, model, columns, fact_of<double>(result, "change"));
}

}  // namespace spillway
