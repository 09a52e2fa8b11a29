// What is built of a graph at its first use.
#pragma once

#include <spillway/graph.hpp>
#include <spillway/options.hpp>

namespace spillway {

/// In-edges that are not at hand are built: on the GPU if the run will be there and there is room, else here.
void build_in_edges(const Graph& graph, const RunOptions& options, bool on_gpu);

}  // namespace spillway
