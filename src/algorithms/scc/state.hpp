// What the steps of finding strongly connected components share: which vertices are still live, and marks on them.
#pragma once

#include <atomic>
#include <memory>

#include "algorithms/scc/strong_components.hpp"
#include "graph/vertex_queue.hpp"

namespace spillway::scc {

using Marks = std::uint8_t;

inline constexpr Marks forward  = 1;  ///< reached from the pivot
inline constexpr Marks backward = 2;  ///< reaches the pivot
inline constexpr Marks queued   = 4;  ///< its colour is to be passed on
inline constexpr Marks settled  = 8;  ///< its component is known

struct State {
  State(const Graph& graph, const Limits& limits, int threads, Progress& progress);

  bool has(Vertex v, Marks bits) const { return std::atomic_ref{marks[v]}.load(std::memory_order_relaxed) & bits; }

  /// Sets the mark; true for the one thread that did.
  bool claim(Vertex v, Marks bit) const {
    if (has(v, bit)) return false;
    return !(std::atomic_ref{marks[v]}.fetch_or(bit, std::memory_order_acq_rel) & bit);
  }

  void count_arcs(std::uint64_t arcs) { arcs_seen.fetch_add(arcs, std::memory_order_relaxed); }

  /// visit(vertex) for every vertex of the list, in equal shares.
  template <class Visit>
  void for_all(std::span<const Vertex> list, Visit&& visit) const {
    for_each_share(threads, list.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      for (const Vertex v : list.subspan(begin, end - begin)) visit(v);
    });
  }

  /// `vertices` were settled, in `components` components: `live` goes without them.
  void note_settled(std::uint64_t vertices, std::uint64_t components, std::uint64_t largest);

  const Graph&  graph;
  const Limits  limits;
  const int     threads;
  Progress&     progress;
  const Csr&    out;
  const Csr&    in;
  Buffer<Marks> marks;
  /// Live neighbours of live vertices, themselves left out, as trimming counted them.
  Buffer<std::uint32_t>      out_left, in_left;
  VertexQueue                live;
  VertexQueue                queue;
  StrongComponents           found;
  std::atomic<std::uint64_t> arcs_seen{0};
};

void trim(State& state);
void take_largest(State& state);
void take_colours(State& state);
void finish_serially(State& state);

}  // namespace spillway::scc
