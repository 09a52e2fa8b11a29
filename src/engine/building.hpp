// What is built of a graph at its first use.
#pragma once

#include <spillway/graph.hpp>
#include <spillway/options.hpp>

namespace spillway {

/// In-edges that are not at hand are built: on the GPU if the run will be there and there is room, else here.
void build_in_edges(const Graph& graph, const RunOptions& options, bool on_gpu);
/// Likewise rows of a graph that is a list of edges.
void build_rows(const Graph& graph, const RunOptions& options, bool on_gpu);
/// Here, by as many threads as the run has, which may be interrupted.
void build_rows_here(const Graph& graph, const RunOptions& options);

}  // namespace spillway
