// Belief propagation with state on vertices only, as SIMD-X has it (section 6): a vertex sends what its belief
// says to all neighbours alike, without taking out what each of them said itself. No memory for each arc, another
// fixed point: beliefs come out more certain than with a message for each arc.
#include <cmath>

#include "algorithms/bp.hpp"
#include "algorithms/checking.hpp"
#include "base/fail.hpp"
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
Beliefs run_with(const Graph& simple, const BeliefModel& model, int threads, Progress& progress) {
  const VertexBeliefs<N> program{.table          = &model.table,
                                 .priors         = model.priors.data(),
                                 .damping        = model.damping,
                                 .tolerance      = model.tolerance > 0 ? model.tolerance : -1,
                                 .max_iterations = model.iterations};
  auto    outcome = run(program, simple, {.threads = threads, .deterministic = true, .progress = &progress});
  Beliefs beliefs{.values     = {simple.vertex_count() * N, simple.budget(), "the beliefs"},
                  .change     = outcome.global.change,
                  .statistics = std::move(outcome.statistics)};
  for (Vertex v = 0; v < simple.vertex_count(); ++v)
    std::copy(outcome.values[v].begin(), outcome.values[v].end(), beliefs.values.data() + std::uint64_t{v} * N);
  return beliefs;
}

template <std::size_t N = 2, class... Arguments>
Beliefs with_states(std::uint64_t states, Arguments&&... arguments) {
  if constexpr (N == most_states) {
    return run_with<N>(std::forward<Arguments>(arguments)...);
  } else {
    return states == N ? run_with<N>(std::forward<Arguments>(arguments)...)
                       : with_states<N + 1>(states, std::forward<Arguments>(arguments)...);
  }
}

}  // namespace

Beliefs beliefs_by_vertices(const Graph& graph, const BeliefModel& model, int threads, Progress& progress) {
  if (model.oriented)
    throw usage_error("bp: the vertex form knows no directions and needs a symmetric table; use --form arc");
  Graph::Parts parts;
  parts.out       = graph.simple();
  parts.symmetric = true;
  parts.budget    = graph.budget();
  return with_states(model.states, Graph{std::move(parts)}, model, threads, progress);
}

/// The oracle: the formula, with long doubles and without logarithms, over neighbours that it collects by itself.
std::vector<double> serial_vertex_beliefs(const Graph& graph, const BeliefModel& model, std::uint64_t iterations) {
  const std::uint64_t              states = model.states;
  const auto                       n      = static_cast<Vertex>(graph.vertex_count());
  std::vector<std::vector<Vertex>> neighbors(n);
  for (Vertex u = 0; u < n; ++u)
    for (const Vertex v : graph.out().neighbors(u))
      if (u != v) neighbors[u].push_back(v), neighbors[v].push_back(u);
  for (auto& list : neighbors) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  std::vector<double> now(model.priors.data(), model.priors.data() + n * states);
  for (std::uint64_t step = 0; step < iterations; ++step) {
    const std::vector<double> then = now;
    for (Vertex v = 0; v < n; ++v) {
      std::vector<long double> product(model.prior(v), model.prior(v) + states);
      for (const Vertex u : neighbors[v]) {
        long double all = 0;
        for (std::uint64_t to = 0; to < states; ++to) {
          long double sum = 0;
          for (std::uint64_t from = 0; from < states; ++from)
            sum += static_cast<long double>(model.table[from][to] * then[u * states + from]);
          all += product[to] *= sum;
        }
        for (long double& value : product) value /= all;  // or hubs would underflow
      }
      long double all = 0;
      for (const long double value : product) all += value;
      for (std::uint64_t x = 0; x < states; ++x)
        now[v * states + x] =
            static_cast<double>((1 - model.damping) * product[x] / all) + model.damping * then[v * states + x];
    }
  }
  return now;
}

std::string vertex_belief_problem(const Graph& graph, const BeliefModel& model, const Result& result,
                                  bool by_serial) {
  const std::vector<double> expected =
      by_serial ? serial_vertex_beliefs(graph, model, result.statistics.iterations) : std::vector<double>{};
  for (Vertex v = 0; v < graph.vertex_count(); ++v) {
    double sum = 0;
    for (std::uint64_t x = 0; x < model.states; ++x) {
      const double belief = column_of<double>(result, x)[v];
      if (!(belief >= 0 && belief <= 1))
        return fmt::format("vertex {}: a belief is {}", graph.ids().name(v), belief);
      if (by_serial && !near(belief, expected[v * model.states + x]))
        return fmt::format("vertex {}: belief_{} is {}, expected {}", graph.ids().name(v), x, belief,
                           expected[v * model.states + x]);
      sum += belief;
    }
    if (!near(sum, 1)) return fmt::format("vertex {}: the beliefs sum to {}", graph.ids().name(v), sum);
  }
  return {};
}

}  // namespace spillway
