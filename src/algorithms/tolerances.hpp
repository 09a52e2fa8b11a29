// How far floating answers may be from their oracle's, each derived from what its arithmetic can lose.
// Verification compares with these, and the tests that tamper with answers change them by ten times as much.
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/checking.hpp"

#include <spillway/engine/memory.hpp>

namespace spillway {

/// The largest relative error of one operation.
inline constexpr double float_rounding  = 0x1p-24;
inline constexpr double double_rounding = 0x1p-53;
inline constexpr double large_rounding  = 0x1p-40;  ///< of the counts of spillway/large.hpp

/// Rounding errors cancel far more often than they add up: where the bounds below, which add them all up, exceed
/// this, it is this that no run has come near.
inline constexpr double most_relative = 1e-5;

inline Tolerance relative_to(double roundings, double each) {
  return {std::min(most_relative, roundings * each), 0};
}

/// Sums of whole numbers below this are exact in f64.
inline constexpr double exact_counts = 0x1p53;

/// A larger count has been rounded once for each arc that paths to it go through, here and in the oracle.
inline Tolerance path_count_tolerance(const Graph& graph, double expected) {
  if (expected < exact_counts) return exact;
  return relative_to(2 * static_cast<double>(graph.arc_count()), double_rounding);
}

/// Nothing is subtracted, so relative errors add up: for each arc one in counting paths and one in adding shares,
/// for each vertex four (the share, the product, two conversions). Below the smallest normal number digits go.
inline Tolerance centrality_tolerance(const Graph& graph) {
  const double arcs = static_cast<double>(graph.arc_count()), vertices = static_cast<double>(graph.vertex_count());
  return {relative_to(2 * arcs + 4 * vertices, 2 * large_rounding).relative, 1e-300};
}

/// Sums of as many numbers, none of them negative, in two orders.
inline Tolerance mean_coefficient_tolerance(std::uint64_t vertices) {
  return relative_to(2 * static_cast<double>(vertices + 1), double_rounding);
}

/// A power of two and a quotient: libraries for the host and for devices differ in the last two bits of the first.
inline constexpr Tolerance reach_tolerance{8 * double_rounding, 0};

/// Beside what rounding the totals can do to it, which radius_verify.cpp works out.
inline constexpr Tolerance diameter_tolerance{1e-12, 1e-12};

/// A rank is rounded four times an iteration: as a share, with its degree, as a sum and as itself; sums are f64.
/// Nothing is subtracted, so that relative errors add up at worst; over many iterations they cancel like the steps
/// of a random walk, of which this is four standard deviations. Ranks near the smallest float have lost digits.
inline Tolerance rank_tolerance(std::uint64_t iterations) {
  constexpr double a_step = 4, deviations = 4;
  const auto       steps = static_cast<double>(iterations + 1);
  return {std::min(a_step * steps, deviations * a_step * std::sqrt(steps)) * float_rounding, 1e-30};
}

/// The residual form rounds whenever a vertex passes something on, and how often that is depends on the order.
inline constexpr Tolerance residual_form_tolerance{most_relative, 1e-30};

/// What floats lose of ranks that sum to 1 in one step, in all; twice, for two steps that are compared.
inline constexpr double step_rounding = 8 * float_rounding;

/// In all steps: it comes back with every one, less by the damping each time.
inline double rank_rounding(double damping) { return step_rounding / (1 - damping); }

/// Beliefs that sum to 1, of up to eight states.
inline constexpr Tolerance belief_sum_tolerance{0, 1e-12};

/// Arcs that lead to or from the busiest vertex.
inline std::uint64_t largest_degree(const Graph& graph) {
  const Buffer<EdgeIndex> degree{graph.vertex_count(), graph.budget(), "verifying the result"};
  for (Vertex v = 0; v < graph.vertex_count(); ++v) degree[v] += graph.out().degree(v);
  for (const Vertex target : graph.out().targets) ++degree[target];
  return graph.vertex_count() == 0 ? 0 : *std::ranges::max_element(degree.span());
}

/// Where neighbours pull with equal strength an iteration magnifies what was lost before it; f64 has six digits to
/// spare for that. What a vertex hears is added up as logarithms, which lose more as the sum grows: the error of n
/// of them is about n^1.5 roundings.
inline Tolerance belief_tolerance(const Graph& graph) {
  const auto degree = static_cast<double>(largest_degree(graph));
  return {std::clamp(8 * degree * std::sqrt(degree) * double_rounding, 1e-9, most_relative), 1e-10};
}

}  // namespace spillway
