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

/// How far a floating answer may be from the expected one. tolerances.hpp derives them.
struct Tolerance {
  double relative = 0;  ///< of the larger of the two
  double absolute = 0;

  double at(double value) const { return std::max(relative * std::abs(value), absolute); }
};

/// Whole numbers, minima and maxima, and what is computed from such in one way only.
inline constexpr Tolerance exact{};

inline bool near(double a, double b, const Tolerance& tolerance) {
  if (a == b) return true;                                   // infinities too
  if (!std::isfinite(a) || !std::isfinite(b)) return false;  // a share of infinity is infinity
  return std::abs(a - b) <= tolerance.at(std::max(std::abs(a), std::abs(b)));
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

/// Where `found` differs from `expected`, in words; nothing if it does not. Floating values may differ by
/// `tolerance`.
template <class T, class E>
std::string difference(const Graph& graph, const std::string& column, std::span<const T> found,
                       std::span<const E> expected, const Tolerance& tolerance = exact) {
  if (found.size() != expected.size())
    return fmt::format("{} has {} entries, expected {}", column, found.size(), expected.size());
  for (std::size_t v = 0; v < found.size(); ++v) {
    bool same = false;
    if constexpr (std::is_floating_point_v<T> || std::is_floating_point_v<E>)
      same = near(static_cast<double>(found[v]), static_cast<double>(expected[v]), tolerance);
    else
      same = found[v] == expected[v];
    if (!same)
      return fmt::format("vertex {}: {} is {}, expected {}", graph.ids().name(static_cast<Vertex>(v)), column,
                         found[v], expected[v]);
  }
  return {};
}

}  // namespace spillway
