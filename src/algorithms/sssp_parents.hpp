// The tree of shortest paths out of the distances alone.
#pragma once

#include <span>

#include <spillway/engine/memory.hpp>
#include <spillway/graph.hpp>
#include <spillway/progress.hpp>

namespace spillway {

/// For each vertex one that a shortest path comes from; the source's is itself, and unreached ones have none. The
/// distances are those of a fixed point: each is what some arc adds to another, to the last bit. `on_list`: the
/// graph's list of edges is gone over, and no rows are built.
Buffer<Vertex> shortest_path_parents(const Graph& graph, Vertex source, std::span<const double> distances,
                                     int threads, Progress& progress, bool on_list = false);

}  // namespace spillway
