// Triangles of a graph: how many in all, how many at each vertex, and how many arcs run between a vertex's
// neighbours.
#pragma once

#include "algorithms/ranked_rows.hpp"

namespace spillway {

struct TriangleContext {
  std::shared_ptr<MemoryBudget> budget;
  int                           threads  = 1;
  Progress*                     progress = &Progress::none();
};

/// Which rows are searched. Ranking pays where some vertices have far more neighbours than others.
enum class TriangleRows { automatic, plain, ranked };

struct Triangles {
  std::uint64_t         total = 0;
  Buffer<std::uint64_t> at;  ///< how many each vertex is in; empty unless asked for
};

Triangles count_triangles(const SimpleRows& graph, bool at_vertices, const TriangleContext& context,
                          TriangleRows rows = TriangleRows::automatic);

/// For each vertex the number of arcs that lead from one of its neighbours to another, parallel arcs once.
Buffer<std::uint64_t> arcs_between_neighbors(const DirectedRows& graph, const TriangleContext& context);

}  // namespace spillway
