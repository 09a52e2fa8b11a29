// In-edges and neighbours for oracles: made by hand, so that they share nothing with how a graph makes its own.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <spillway/engine/memory.hpp>
#include <spillway/graph.hpp>

namespace spillway {

struct PlainRows {
  std::vector<EdgeIndex> offsets;
  std::vector<Vertex>    targets;

  std::span<const Vertex> of(Vertex v) const {
    return std::span{targets}.subspan(offsets[v], offsets[v + 1] - offsets[v]);
  }
};

/// Serial; the caller counts its memory: 8 bytes a vertex and 4 an arc.
inline PlainRows turned_round(const Csr& csr) {
  PlainRows rows{std::vector<EdgeIndex>(csr.vertex_count() + 2), std::vector<Vertex>(csr.arc_count())};
  for (const Vertex target : csr.targets) ++rows.offsets[std::size_t{target} + 2];
  for (std::size_t i = 1; i < rows.offsets.size(); ++i) rows.offsets[i] += rows.offsets[i - 1];
  for (Vertex v = 0; v < csr.vertex_count(); ++v)
    for (const Vertex target : csr.neighbors(v)) rows.targets[rows.offsets[std::size_t{target} + 1]++] = v;
  return rows;
}

/// The graph taken as undirected and simple.
struct PlainNeighbors {
  Buffer<EdgeIndex> offsets;
  Buffer<Vertex>    targets;

  std::span<Vertex> of(Vertex v) const { return targets.span().subspan(offsets[v], offsets[v + 1] - offsets[v]); }
};

/// Both ends of every arc that is no loop, in rows that are not sorted and may repeat a neighbour.
inline PlainNeighbors both_ways(const Graph& graph) {
  const Csr&        csr          = graph.out();
  const char* const what         = "verifying the result";
  const auto        n            = csr.vertex_count();
  const auto        for_each_end = [&](auto&& visit) {
    for (Vertex u = 0; u < n; ++u)
      for (const Vertex v : csr.neighbors(u))
        if (u != v) visit(u, v), visit(v, u);
  };
  PlainNeighbors rows{Buffer<EdgeIndex>{n + 2, graph.budget(), what}, {}};
  for_each_end([&](Vertex u, Vertex) { ++rows.offsets[std::uint64_t{u} + 2]; });
  for (std::uint64_t i = 1; i < rows.offsets.size(); ++i) rows.offsets[i] += rows.offsets[i - 1];
  rows.targets = Buffer<Vertex>{rows.offsets[n + 1], graph.budget(), what};
  for_each_end([&](Vertex u, Vertex v) { rows.targets[rows.offsets[std::uint64_t{u} + 1]++] = v; });
  return rows;
}

/// Each neighbour once, ascending.
inline PlainNeighbors plain_neighbors(const Graph& graph) {
  PlainNeighbors rows  = both_ways(graph);
  EdgeIndex      begin = 0, kept = 0;
  for (Vertex v = 0; v < graph.vertex_count(); ++v) {
    Vertex* const first = rows.targets.data() + begin;
    Vertex* const last  = rows.targets.data() + rows.offsets[v + 1];
    begin               = rows.offsets[v + 1];
    std::sort(first, last);
    const auto count = static_cast<EdgeIndex>(std::unique(first, last) - first);
    std::copy_n(first, count, rows.targets.data() + kept);
    rows.offsets[v] = kept;
    kept += count;
  }
  rows.offsets[graph.vertex_count()] = kept;
  return rows;
}

}  // namespace spillway
