// The vertices near one: those that a walk of a few hops finds.
#pragma once

#include <string>
#include <vector>

#include <spillway/graph.hpp>
#include <spillway/program.hpp>
#include <spillway/progress.hpp>

#include "graph/vertex_set.hpp"

namespace spillway {

/// As a person types it.
inline const std::vector<std::string>& along_choices() {
  static const std::vector<std::string> choices{"out", "in", "both"};
  return choices;
}

inline Along along_named(const std::string& name) {
  return name == "out" ? Along::out : name == "in" ? Along::in : Along::both;
}

struct HopsFound {
  VertexSet     vertices;  ///< closed
  std::uint64_t iterations      = 0;
  std::uint64_t edges_processed = 0;
};

/// True when `vertices_within` will walk the in-edges, which may have to be built.
bool needs_in_edges(const Graph& graph, std::uint64_t hops, Along along);

/// All vertices at most `hops` hops from `source`, which is one of them.
HopsFound vertices_within(const Graph& graph, Vertex source, std::uint64_t hops, Along along, int threads,
                          Progress& progress);

/// The same by the plainest means, for oracles.
std::vector<bool> plainly_within(const Graph& graph, Vertex source, std::uint64_t hops, Along along);

}  // namespace spillway
