// What an algorithm answers: typed columns with one entry a vertex, facts about the whole, and what the run took.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <spillway/array.hpp>
#include <spillway/graph.hpp>
#include <spillway/types.hpp>

namespace spillway {

/// What the largest value of a column's integer type stands for.
enum class Missing {
  never,     ///< for itself
  blank,     ///< no answer: empty in text, null in JSON, -1 in binary
  infinite,  ///< inf, in binary too (the column is then written as f64)
};

struct Column {
  using Values = std::variant<Array<std::uint32_t>, Array<std::uint64_t>, Array<float>, Array<double>>;

  std::string name;
  Values      values;
  /// The entries are vertices (u32): shown as the user's ids. `no_vertex` is shown as nothing.
  bool    vertices = false;
  Missing missing  = Missing::never;
};

/// One number or word about the whole graph: how many components, which residual was reached.
struct Fact {
  std::string                                      name;
  std::variant<std::uint64_t, double, std::string> value;
};

enum class Direction { automatic, push, pull };

constexpr std::string_view to_string(Direction direction) {
  return direction == Direction::push ? "push" : direction == Direction::pull ? "pull" : "auto";
}

struct IterationStatistics {
  std::uint64_t active_vertices = 0;
  std::uint64_t active_edges    = 0;  ///< that leave the active vertices
  Direction     direction       = Direction::push;
  double        milliseconds    = 0;
};

struct RunStatistics {
  double                           prepare_ms = 0;  ///< in-edges, orders, state: what a second run may not need
  double                           run_ms     = 0;
  std::uint64_t                    iterations = 0;
  std::uint64_t                    edges_processed = 0;  ///< arcs looked at
  std::vector<IterationStatistics> per_iteration;
};

struct Result {
  std::vector<Column>  columns;
  std::vector<Fact>    facts;
  std::optional<Graph> graph;  ///< of algorithms whose answer is a graph; it has no columns
  RunStatistics        statistics;
};

}  // namespace spillway
