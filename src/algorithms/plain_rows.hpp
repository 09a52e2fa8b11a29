// In-edges for oracles: made by hand, so that they share nothing with how a graph turns its own arcs round.
#pragma once

#include <span>
#include <vector>

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

}  // namespace spillway
