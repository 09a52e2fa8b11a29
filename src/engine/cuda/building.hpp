// What is built of a graph on a GPU.
#pragma once

#include <cstddef>

#include <spillway/graph.hpp>
#include <spillway/options.hpp>

namespace spillway::cuda {

/// In-edges of a graph in rows.
void build_in_edges_on(const DeviceChoice& choice, const Graph& graph);
/// Rows of a graph that is a list of edges. Returns in how many parts they were sorted.
std::size_t build_rows_on(const Graph& graph, const RunOptions& options);

}  // namespace spillway::cuda
