// Shortest paths over whole weights on the CPU.
#pragma once

#include <spillway/algorithms.hpp>

namespace spillway {

/// Distances and parents in one, as columns: where caches are large, that is the faster way.
Result paths_with_parents(const Graph& graph, Vertex source, double delta, const RunOptions& options);
Plan   plan_paths_with_parents(const Graph& graph, Vertex source, double delta, const RunOptions& options);

}  // namespace spillway
