// Strongly connected components, with what decides between the steps, so that tests can reach each of them.
#pragma once

#include <cstdint>

#include <spillway/engine/memory.hpp>
#include <spillway/graph.hpp>

namespace spillway::scc {

struct Limits {
  /// One thread finishes when no more vertices than this are left (Slota et al. take 100,000).
  std::uint64_t serial_vertices = 100'000;
  /// Colouring may look at this many arcs for each that is left before one thread takes over: a colour that has
  /// far to travel, or many components one behind the other, would make it quadratic.
  std::uint64_t colouring_work = 16;
  /// Colouring looks at an arc several times where one thread does once, so it takes several threads to pay.
  int colouring_threads = 8;
};

struct StrongComponents {
  Buffer<Vertex> labels;  ///< the smallest vertex of each one's component
  std::uint64_t  components      = 0;
  std::uint64_t  largest         = 0;  ///< vertices of the largest component
  std::uint64_t  iterations      = 0;  ///< levels, sweeps and rounds
  std::uint64_t  edges_processed = 0;

  /// Vertices that each step settled.
  std::uint64_t trimmed = 0, by_pivot = 0, by_colour = 0, serially = 0;
};

StrongComponents strong_components(const Graph& graph, const Limits& limits, int threads, Progress& progress);

}  // namespace spillway::scc
