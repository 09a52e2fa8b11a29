// Strongly connected components, with what decides between the steps, so that tests can reach each of them.
#pragma once

#include <cstdint>

#include <spillway/engine/memory.hpp>
#include <spillway/graph.hpp>

namespace spillway::scc {

struct Limits {
  /// A hub is reached from and to when more vertices than this are left: where there is a giant component that
  /// takes a fraction of the arcs, elsewhere two passes over them.
  std::uint64_t pivot_vertices = 1000;
  /// Colouring leaves what has no more vertices than this to one thread (Slota et al. take 100,000).
  std::uint64_t serial_vertices = 100'000;
  /// Colouring may look at this many arcs for each that is left before one thread takes over. Where it does well
  /// (small components, few arcs between them) it needs about three; where a colour has far to travel, or
  /// components lie one behind the other, no number would do.
  std::uint64_t colouring_work = 4;
  /// All threads together take three times as long over colouring as one does over its walk, if colouring does
  /// well.
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
