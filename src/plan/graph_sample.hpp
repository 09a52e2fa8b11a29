// What a few rows tell of a graph: how long its rows are, how well they compress, how far apart vertices are. For
// the planner, which cannot wait for a pass over all edges.
#pragma once

#include <array>
#include <cstdint>

#include <spillway/engine/block.hpp>

namespace spillway {

struct GraphSample {
  static constexpr unsigned lengths = 24;

  std::array<double, lengths> within{};            ///< share of edges among the first 2^i of their rows
  std::array<double, lengths> longer{};            ///< share of vertices that have more than 2^i edges
  double                      nonempty = 1;        ///< share of vertices that have edges
  double                      longest  = 0;        ///< edges of the longest row
  std::array<double, 6>       longest_of_group{};  ///< edges of the longest of 2^i rows, on average
  double code_bytes   = sizeof(Vertex);  ///< of an edge without weight, compressed, hubs first, headers included
  double weight_bytes = sizeof(std::uint32_t);  ///< of its weight, compressed
  double levels       = 8;                      ///< of a search that reaches most vertices

  /// How many edges of each row there are in a share of all of them, if it is made of the first ones of rows.
  double prefix_length(double share) const;
  /// Share of vertices that have more than so many edges.
  double longer_than(double length) const;
  /// Edges of the longest of so many rows, drawn at random.
  double longest_of(double rows) const;
  /// Share of the edges that are in the longest rows, of a share of the vertices; `degree` on average.
  double edges_of_longest(double share, double degree) const;
};

/// The same for the same rows. Looks at some 100,000 places of them, wherever they rest.
GraphSample sampled(const RowBlock& rows, std::uint64_t vertices, bool weighted, int threads = 1);

}  // namespace spillway
