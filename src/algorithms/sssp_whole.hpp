// Shortest paths over whole weights, each distance with its parent.
#pragma once

#include <spillway/algorithms.hpp>

namespace spillway {

/// Distances and parents in one, as columns: where caches are large, or a search for parents would have to bring
/// edges once more, that is the faster way.
Result paths_with_parents(const Graph& graph, Vertex source, double delta, const RunOptions& options);
Plan   plan_paths_with_parents(const Graph& graph, Vertex source, double delta, const RunOptions& options);

}  // namespace spillway
