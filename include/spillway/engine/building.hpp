// What is built of a graph at its first use.
#pragma once

#include <spillway/graph.hpp>
#include <spillway/options.hpp>

namespace spillway {

/// In-edges that are not at hand are built: on the GPU where the run will be and there is room, else here.
void build_in_edges(const Graph& graph, const RunOptions& options);

}  // namespace spillway
