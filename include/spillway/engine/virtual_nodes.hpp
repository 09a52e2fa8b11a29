// Virtual nodes: parts of at most K edges that the row of a vertex is cut into (A. H. N. Sabet, J. Qiu, Z. Zhao:
// Tigr, ASPLOS 2018, section 4). Which node has which edges follows from the degree and K.
#pragma once

#include <cstdint>

#include <spillway/program.hpp>

namespace spillway {

/// Of a row: so many edges, from one on, so far apart.
struct NodeEdges {
  std::uint32_t first = 0, step = 0, count = 0;

  SPILLWAY_HD std::uint32_t at(std::uint32_t i) const { return first + i * step; }
};

/// Virtual nodes of a row of so many edges.
template <class N>
SPILLWAY_HD constexpr N nodes_of(N edges, N degree_bound) {
  return edges / degree_bound + (edges % degree_bound != 0);
}

/// Those of a node. Coalesced (section 4.4), the nodes of a row take turns with its edges, so that threads side by
/// side read edges side by side; otherwise each has edges that lie side by side.
SPILLWAY_HD inline NodeEdges edges_of_node(std::uint32_t edges, std::uint32_t number, std::uint32_t degree_bound,
                                           bool coalesced) {
  const std::uint32_t nodes = nodes_of(edges, degree_bound);
  if (coalesced) return {number, nodes, (edges - number + nodes - 1) / nodes};
  const std::uint32_t first = number * degree_bound, left = edges - first;
  return {first, 1, left < degree_bound ? left : degree_bound};
}

}  // namespace spillway
