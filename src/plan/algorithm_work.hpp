// What algorithms that are no vertex programs do with the rows of a graph, for the planner: they have no frontiers
// that it could predict.
#pragma once

#include <functional>
#include <vector>

#include <spillway/engine/executor.hpp>
#include <spillway/engine/transfer.hpp>
#include "plan/graph_sample.hpp"
#include "plan/history.hpp"

namespace spillway {

struct AlgorithmWork {
  using Passes = std::function<std::vector<Activity>(const GraphSample&)>;

  Topology      topology;
  RowForm       form    = RowForm::whole;
  std::uint64_t state   = 0;   ///< bytes that it holds on a GPU beside rows in host memory
  Passes        on_gpu  = {};  ///< over the rows, where these are
  Passes        on_cpu  = {};  ///< likewise, where its way is another one
  double        lookups = 0;   ///< in what it has made of the rows, on either device
};

/// So many passes over all rows.
inline AlgorithmWork::Passes passes_over_all(double passes) {
  return [passes](const GraphSample&) { return std::vector<Activity>{{passes, 1}}; };
}

/// Weakly connected components by sampling (Afforest): two edges of every row, then the rows of those that are not
/// in the largest component; all rows where a directed graph has no in-edges.
AlgorithmWork work_of_components(const Graph& graph);
/// Strongly connected components: a GPU makes a sweep over what is left for every level of two searches, the CPU
/// follows frontiers.
AlgorithmWork work_of_strong_components(const Graph& graph);
/// Triangles of undirected simple rows: they are counted and copied, and looked up in the copy.
AlgorithmWork work_of_triangles(const Csr& simple);
/// Arcs between neighbours in a directed graph: likewise, of out- and in-edges.
AlgorithmWork work_of_neighbor_arcs(const Graph& graph);
/// Labels of all neighbours, counted in every round.
AlgorithmWork work_of_labels(const Graph& graph, double rounds);
/// Belief propagation with a message each way of every arc, of as many ratios as there are states less one.
AlgorithmWork work_of_messages(const Csr& simple, std::uint64_t iterations, std::uint64_t states);

/// Out-edges, and in-edges where they differ.
Topology neighbor_topology(const Graph& graph);

}  // namespace spillway
