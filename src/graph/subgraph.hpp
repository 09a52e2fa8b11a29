// A part of a graph as a graph of its own: weights, parallel arcs, loops and the user's ids stay.
#pragma once

#include <spillway/graph.hpp>
#include <spillway/progress.hpp>

#include "graph/vertex_set.hpp"

namespace spillway {

struct Subgraph {
  Graph         graph;
  std::uint64_t edges_processed = 0;  ///< arcs looked at
};

/// All of `members`, which must be closed, and the arcs among them. Its memory counts in the budget of `graph`.
Subgraph induced_subgraph(const Graph& graph, const VertexSet& members, int threads, Progress& progress);

/// All of `members` and the arcs that lead from one of `sources` to one of `targets`; in a symmetric graph also
/// those that lead back. The members, which must be closed, include both.
Subgraph subgraph_between(const Graph& graph, const VertexSet& members, const VertexSet& sources,
                          const VertexSet& targets, int threads, Progress& progress);

}  // namespace spillway
