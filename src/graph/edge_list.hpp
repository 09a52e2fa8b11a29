// What is done with all edges of a list: rows are built from it, or some of its edges are looked for.
#pragma once

#include <spillway/edge_list.hpp>
#include <spillway/graph.hpp>

#include "graph/arc_collector.hpp"

namespace spillway {

/// Sorted rows of all arcs.
Csr rows_of(const EdgeList& list, const BuildContext& context);

/// With each edge for both arcs, or without loops, as far as that is asked for.
std::shared_ptr<const EdgeList> transformed(const std::shared_ptr<const EdgeList>& list,
                                            const Transform& transform, int threads,
                                            const std::shared_ptr<MemoryBudget>& budget);
/// Words of its edges without weights that are not read.
Array<std::uint32_t> packed(const EdgeList& list, const std::shared_ptr<MemoryBudget>& budget);
/// The same edges, their weights not read.
std::shared_ptr<const EdgeList> without_weights(const EdgeList& list);

/// Offsets that state how many vertices and arcs there are, where there are no rows.
Array<EdgeIndex> stated_sizes(std::uint64_t vertices, EdgeIndex arcs);

/// What a list of edges cannot be changed by without rows: Error{usage}.
void refuse_changes(const Transform& transform, const std::string& name);

/// A graph without rows, of these edges in this order. `words`: source and target and, if there are weights, their
/// bits, one edge behind the other.
Graph graph_of_edges(EdgeList::Parts parts, std::shared_ptr<MemoryBudget> budget = nullptr);

/// The edges of a graph in the order of its rows, those of a symmetric one once; a graph without rows is returned
/// as it is.
Graph as_edges(const Graph& graph);
/// The same edges with weights: triples of words.
Graph with_words(const Graph& graph, Array<std::uint32_t> triples, WeightType weight_type);
/// The same graph with rows.
Graph with_rows(const Graph& graph);

/// The first edge whose real weight is negative, or none: their number.
std::uint64_t find_negative(const EdgeRun& edges, int threads);

/// Of some of the weights; 0: there are none.
double mean_weight(const EdgeList& list);

}  // namespace spillway
