// What the verifications of algorithms share: comparing a column with the oracle's, and saying where they differ.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/fail.hpp"

#include <spillway/algorithms.hpp>

namespace spillway {

inline constexpr const char* by_oracle     = "serial oracle";
inline constexpr const char* by_properties = "property checks";

/// Floating results may differ from an f64 oracle by this much, relative to the larger of the two…
inline constexpr double relative_tolerance = 1e-5;
/// …and below this a difference is rounding, not an answer, where answers are about 1. Where they are smaller
/// (ranks share 1 among all vertices), so is what may be overlooked.
inline constexpr double absolute_tolerance = 1e-9;

inline bool near(double a, double b, double relative = relative_tolerance, double absolute = absolute_tolerance) {
  if (a == b) return true;  // infinities too
  return std::abs(a - b) <= std::max(relative * std::max(std::abs(a), std::abs(b)), absolute);
}

template <class T>
const Array<T>& column_of(const Result& result, std::size_t index) {
  return std::get<Array<T>>(result.columns.at(index).values);
}

template <class T>
const T& fact_of(const Result& result, std::string_view name) {
  for (const Fact& fact : result.facts)
    if (fact.name == name) return std::get<T>(fact.value);
  throw internal_error("the result does not state '{}'", name);
}

/// Where `found` differs from `expected`, in words; nothing if it does not. Floating values are compared by
/// `near`.
template <class T, class E>
std::string difference(const Graph& graph, const std::string& column, std::span<const T> found,
                       std::span<const E> expected, double absolute = absolute_tolerance) {
  if (found.size() != expected.size())
    return fmt::format("{} has {} entries, expected {}", column, found.size(), expected.size());
  for (std::size_t v = 0; v < found.size(); ++v) {
    bool same = false;
    if constexpr (std::is_floating_point_v<T> || std::is_floating_point_v<E>)
      same = near(static_cast<double>(found[v]), static_cast<double>(expected[v]), relative_tolerance, absolute);
    else
      same = found[v] == expected[v];
    if (!same)
      return fmt::format("vertex {}: {} is {}, expected {}", graph.ids().name(static_cast<Vertex>(v)), column,
                         found[v], expected[v]);
  }
  return {};
}

}  // namespace spillway
