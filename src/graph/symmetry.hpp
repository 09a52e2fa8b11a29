// Whether every arc has its reverse: what undirected formats promise, and what some can hold nothing else than.
#pragma once

#include <optional>

#include "graph/arc_collector.hpp"

#include <spillway/edge_list.hpp>
#include <spillway/graph.hpp>

namespace spillway {

struct LoneArc {
  Vertex        source = 0;
  Vertex        target = 0;
  std::uint32_t weight = 0;  ///< raw bits; 0 without weights
};

/// An arc that lacks a reverse of the same weight, if there is one; parallel arcs pair off one by one.
/// Rows must be checked and ascend. It takes no memory, where comparing with the transposed rows would double it.
std::optional<LoneArc> find_lone_arc(const Csr& csr, int threads, const Progress& progress);

/// True when `back` holds the arcs of `csr` transposed, but for an accident once in 2^64. It takes no memory.
bool are_transposed(const Csr& csr, const Csr& back, int threads, const Progress& progress);

/// True when nearly all of some arcs, spread over the graph, have their reverse: the input lists edges from both
/// ends. Loops do not count. Rows must ascend.
bool lists_both_ways(const Csr& csr);

/// The same of rows in which each edge of the input became two arcs. Edges from both ends leave an even number of
/// arcs between two vertices, and have led upwards as often as downwards.
bool doubles_both_ways(const Csr& csr, const Directions& directions);

/// Both of edges without rows, in a pass over them.
bool lists_both_ways(const EdgeList& list, int threads);
bool doubles_both_ways(const EdgeList& list, const Directions& directions, int threads);

}  // namespace spillway
