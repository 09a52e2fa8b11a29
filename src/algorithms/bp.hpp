// Belief propagation: what it computes on (states, potentials and priors, as the parameters and their files say),
// the ways to compute it, and how a result is checked.
#pragma once

#include <array>
#include <cstdint>

#include <spillway/algorithms.hpp>
#include <spillway/engine/memory.hpp>

namespace spillway {

inline constexpr std::uint64_t most_states = 8;

/// Numbers of the files and the coupling lie within these, so that dividing one message out of a product in
/// doubles loses nothing that a belief could show.
inline constexpr double least_factor = 1e-20;
inline constexpr double most_factor  = 1e20;

using PotentialTable = std::array<std::array<double, most_states>, most_states>;

/// The directions in which the graph itself has arcs between two neighbours of the simple graph.
enum ArcsBetween : std::uint8_t { neither = 0, forward = 1, backward = 2, both = 3 };

struct BeliefModel {
  std::uint64_t  states     = 2;
  std::uint64_t  iterations = 0;
  double         tolerance  = 0;
  double         damping    = 0;
  PotentialTable table{};           ///< [state of u][state of v] for an arc from u to v
  bool           oriented = false;  ///< the table is not symmetric, so directions matter
  Buffer<double> priors;            ///< `states` a vertex, which sum to 1

  const double* prior(Vertex v) const { return priors.data() + v * states; }

  /// The factor of an edge, by the states of its ends. With arcs in both directions it is the geometric mean of
  /// theirs, so that a symmetric table is the same whatever the directions.
  double factor(std::uint64_t from, std::uint64_t to, ArcsBetween arcs) const;
};

/// Reads and checks all of it. What is wrong with a file is Error{bad_input} with its line.
BeliefModel belief_model(const Graph& graph, const ParameterValues& values, int threads);

struct Beliefs {
  Buffer<double> values;      ///< `states` a vertex, which sum to 1
  double         change = 0;  ///< the largest of a belief in the last iteration
  RunStatistics  statistics;
};

/// With a message for each arc, as Pearl has it.
Beliefs beliefs_by_messages(const Graph& graph, const BeliefModel& model, const RunOptions& options);

struct BeliefColumns {
  std::vector<Column> columns;     ///< one a state
  double              change = 0;  ///< the largest of a belief in the last iteration
  RunStatistics       statistics;
};

/// What the column of a state is called.
std::string belief_column(std::uint64_t state);

/// With state on vertices only, as SIMD-X has it (programs/beliefs.hpp). The model must not be oriented.
BeliefColumns beliefs_by_vertices(const Graph& graph, const BeliefModel& model, const RunOptions& options);

Plan plan_by_vertices(const Graph& graph, const BeliefModel& model, const RunOptions& options);

/// What is wrong with a result of the vertex form; nothing if it is right.
std::string vertex_belief_problem(const Graph& graph, const BeliefModel& model, const Result& result,
                                  bool by_serial);

Verdict verify_bp(const Graph& graph, const ParameterValues& values, const Result& result,
                  const VerifyOptions& options);

}  // namespace spillway
