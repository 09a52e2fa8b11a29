// Belief propagation with state on vertices only, as SIMD-X has it (section 6): a vertex sends what its belief
// says to all neighbours alike, without taking out what each of them said itself. No memory for each arc, another
// fixed point: beliefs come out more certain than with a message for each arc.
#pragma once

#include <array>
#include <cmath>

#include "algorithms/programs/device.hpp"

namespace spillway {

/// Room for N states, of which the model may have fewer: the beliefs in the others are 0.
template <std::uint32_t N>
struct VertexBeliefs {
  struct Global {
    double change = 0;  ///< the largest of a belief

    SPILLWAY_HD void operator+=(const Global& other) { change = other.change > change ? other.change : change; }
  };
  using Value   = std::array<double, N>;
  using Update  = std::array<double, N - 1>;  ///< of each state's ratio to state 0, the logarithm
  using Combine = Sum<Update>;                // products, as sums of logarithms

  static constexpr bool  all_active   = true;
  static constexpr bool  reads_degree = false;
  static constexpr Along along        = Along::simple;

  VertexInput<double>                  priors;  ///< `states` a vertex
  std::uint32_t                        states = N;
  std::array<std::array<double, N>, N> factors{};  ///< [state of one end][state of the other]
  double                               damping        = 0;
  double                               tolerance      = 0;
  std::uint64_t                        max_iterations = 0;

  static constexpr auto inputs = std::tuple{&VertexBeliefs::priors};

  SPILLWAY_HD Value init(Vertex v) const {
    Value belief;
    for (std::uint32_t x = 0; x < N; ++x) belief[x] = prior(v, x);
    return belief;
  }

  SPILLWAY_HD Update publish(const Value& belief, const Step<Global>&) const {
    double sums[N] = {};
    for (std::uint32_t from = 0; from < N; ++from)
      for (std::uint32_t to = 0; to < N; ++to) sums[to] += factors[from][to] * belief[from];
    Update message;
    for (std::uint32_t to = 1; to < N; ++to) message[to - 1] = to < states ? std::log(sums[to] / sums[0]) : 0;
    return message;
  }

  SPILLWAY_HD Update compute(const Update& message, const Edge<>&) const { return message; }

  SPILLWAY_HD bool apply(Value& belief, const Update& logarithms, const Step<Global>& step) const {
    double most = 0, sum = 0, change = 0;
    for (const double logarithm : logarithms) most = logarithm > most ? logarithm : most;
    Value weight;
    for (std::uint32_t x = 0; x < N; ++x) {
      const double logarithm = x == 0 ? 0 : logarithms[x - 1];
      sum += weight[x]       = prior(step.vertex, x) * std::exp(logarithm - most);
    }
    for (std::uint32_t x = 0; x < N; ++x) {
      const double next = (1 - damping) * weight[x] / sum + damping * belief[x];
      const double by   = std::abs(next - belief[x]);
      change            = by > change ? by : change;
      belief[x]         = next;
    }
    *step.total += Global{change};
    return true;
  }

  SPILLWAY_HD bool converged(const Global& global) const { return global.change <= tolerance; }

  static constexpr int columns = N;
  template <int i>
  SPILLWAY_HD double column(const Value& belief) const {
    return belief[i];
  }

 private:
  SPILLWAY_HD double prior(Vertex v, std::uint32_t x) const { return x < states ? priors(v, x) : 0; }
};

SPILLWAY_DEVICE_PROGRAM(VertexBeliefs<2>)
SPILLWAY_DEVICE_PROGRAM(VertexBeliefs<4>)
SPILLWAY_DEVICE_PROGRAM(VertexBeliefs<8>)

}  // namespace spillway
