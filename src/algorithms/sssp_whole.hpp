// Shortest paths over whole weights: how lengths add up, and the search on the CPU.
#pragma once

#include <spillway/algorithms.hpp>
#include <spillway/combine.hpp>

namespace spillway {

/// Whole distances stop here instead of wrapping; one that does is reported as an overflow.
inline constexpr std::uint32_t distance_limit = highest<std::uint32_t>() - 1;

SPILLWAY_HD inline std::uint32_t extended(std::uint32_t distance, std::uint32_t weight) {
  return weight > distance_limit - distance ? distance_limit : distance + weight;
}

/// Distances and parents in one, as columns: where caches are large, that is the faster way.
Result paths_with_parents(const Graph& graph, Vertex source, double delta, const RunOptions& options);

}  // namespace spillway
