// What the queries whose answer is a graph share: the result around it, and how it is checked.
#pragma once

#include <functional>
#include <vector>

#include <spillway/algorithms.hpp>

#include "graph/subgraph.hpp"
#include "graph/vertex_set.hpp"

namespace spillway {

/// Closed; a vertex that the list has twice is in once.
VertexSet set_of(const Graph& graph, const std::vector<Vertex>& list);

Result graph_result(Subgraph answer, double prepare_ms, double run_ms);

/// What the answer must be: these vertices, and the arcs between them for which `keeps(source, target)`.
struct ExpectedGraph {
  std::vector<bool>                   members;
  std::function<bool(Vertex, Vertex)> keeps;
};

/// By the oracle: all arcs that should be there, sorted, against all that are. By properties: parallel arcs of the
/// answer are those of the graph, and there are as many arcs as a count of the graph finds.
Verdict verify_graph(const Graph& graph, const Result& result, const VerifyOptions& options,
                     const ExpectedGraph& expected);

/// Those of `list`.
std::vector<bool> plain_set_of(const Graph& graph, const std::vector<Vertex>& list);

}  // namespace spillway
