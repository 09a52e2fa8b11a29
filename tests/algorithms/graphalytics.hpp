// What the tests of tc, lcc and cdlp share: the two example graphs of the LDBC Graphalytics benchmark, whose
// answers are published with it, and short ways to run, verify and spoil a result.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "algorithms/checking.hpp"

#include <spillway/algorithms.hpp>

namespace spillway::testing {

/// The vertex v is called v + first in the benchmark.
inline Graph graph_of(std::initializer_list<std::pair<Vertex, Vertex>> edges, Vertex first = 0,
                      bool undirected = false, std::uint64_t vertices = 0) {
  std::vector<Vertex> sources, targets;
  for (const auto& [u, v] : edges) sources.push_back(u - first), targets.push_back(v - first);
  LoadOptions options;
  options.transform.undirected = undirected;
  return from_arcs(sources, targets, {}, WeightType::none, vertices, options);
}

inline Graph graphalytics_directed() {
  return graph_of({{1, 3},
                   {1, 5},
                   {2, 4},
                   {2, 5},
                   {2, 10},
                   {3, 1},
                   {3, 5},
                   {3, 8},
                   {3, 10},
                   {5, 3},
                   {5, 4},
                   {5, 8},
                   {6, 3},
                   {6, 4},
                   {7, 4},
                   {8, 1},
                   {9, 4}},
                  1);
}

inline Graph graphalytics_undirected() {
  return graph_of(
      {{2, 3}, {2, 4}, {3, 4}, {3, 5}, {3, 8}, {5, 6}, {5, 8}, {6, 7}, {6, 8}, {6, 9}, {6, 10}, {7, 9}}, 2,
      /*undirected=*/true);
}

/// A square of side × side vertices with a diagonal in each small square; every arc leads to a larger vertex.
inline Graph triangular_grid(Vertex side) {
  std::vector<Vertex> sources, targets;
  const auto          add = [&](Vertex from, Vertex to) { sources.push_back(from), targets.push_back(to); };
  for (Vertex row = 0; row < side; ++row) {
    for (Vertex at = 0; at < side; ++at) {
      const Vertex v = row * side + at;
      if (at + 1 < side) add(v, v + 1);
      if (row + 1 < side) add(v, v + side);
      if (at + 1 < side && row + 1 < side) add(v, v + side + 1);
    }
  }
  return from_arcs(sources, targets);
}

inline Result run(const std::string& name, const Graph& graph, const ParameterValues& given = {},
                  int threads = 2) {
  const Algorithm& algorithm = algorithm_named(name);
  return algorithm.run(graph, completed_parameters(algorithm, given), {.threads = threads});
}

inline Verdict verify(const std::string& name, const Graph& graph, const Result& result,
                      const ParameterValues& given = {}, CheckBy by = CheckBy::automatic) {
  const Algorithm& algorithm = algorithm_named(name);
  return algorithm.verify(graph, completed_parameters(algorithm, given), result, {.by = by});
}

template <class T>
std::vector<T> column(const Result& result, std::size_t index = 0) {
  const auto& values = column_of<T>(result, index);
  return {values.begin(), values.end()};
}

/// The result with another value at one vertex.
template <class T>
Result with_value(Result result, Vertex v, T value) {
  std::vector<T> values    = column<T>(result);
  values[v]                = value;
  result.columns[0].values = Array<T>::own(std::move(values));
  return result;
}

/// `verify` takes the right result, and finds fault with the wrong one, by its oracle and by properties.
inline void expect_caught(const std::string& name, const Graph& graph, const Result& right, const Result& wrong,
                          const ParameterValues& given = {}) {
  for (const CheckBy by : {CheckBy::oracle, CheckBy::properties}) {
    const std::string how = by == CheckBy::oracle ? by_oracle : by_properties;
    EXPECT_EQ(verify(name, graph, right, given, by).how, how);
    EXPECT_EQ(verify(name, graph, right, given, by).problem, "") << how;
    EXPECT_NE(verify(name, graph, wrong, given, by).problem, "") << how;
  }
}

}  // namespace spillway::testing
