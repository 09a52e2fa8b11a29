#include "algorithms/sssp_parents.hpp"

#include <atomic>
#include <bit>

#include "algorithms/row_visits.hpp"
#include "graph/csr.hpp"
#include "graph/vertex_queue.hpp"

#include <spillway/combine.hpp>

namespace spillway {
namespace {

class ParentSearch {
 public:
  ParentSearch(const Graph& graph, std::span<const double> distances, int threads, Progress& progress)
      : graph_(graph),
        distances_(distances),
        threads_(threads),
        progress_(progress),
        parents_(Buffer<Vertex>::where_it_fits(graph.vertex_count(), graph.budget(), "the result")) {}

  Buffer<Vertex> run(Vertex source) && {
    std::fill_n(parents_.data(), parents_.size(), no_vertex);
    parents_[source] = source;
    if (graph_.pages()) {
      search_pages();
    } else {
      take_nearer_ones();
      if (std::uint64_t left = orphans(); left > 0) take_equal_ones(left);
    }
    return std::move(parents_);
  }

 private:
  using Weights = const std::uint32_t*;

  /// The same two steps.
  void search_pages() {
    const store::PageVisit how{threads_, "looking for parents", progress_, graph_.budget()};
    for_each_paged_row(*graph_.pages(), how, [&](Vertex u, std::span<const Vertex> targets, Weights weights) {
      for_each_tight(u, targets, weights, [&](Vertex v) { take_nearer(u, v); });
    });
    if (orphans() == 0) return;
    AwaitedRows adopting{graph_};
    for (Vertex u = 0; u < graph_.vertex_count(); ++u)
      if (has_parent(u)) adopting.add(u);
    adopting.visit(*graph_.pages(), how, [&](Vertex u, std::span<const Vertex> targets, Weights weights) {
      for_each_tight(u, targets, weights, [&](Vertex v) {
        if (adopt(u, v)) adopting.add(v);
      });
    });
  }

  /// Any vertex that is nearer to the source will do: along such parents distances fall.
  void take_nearer_ones() {
    for_each_row_range(graph_.out(), threads_, [&](Vertex first, Vertex last, int) {
      for (Vertex u = first; u < last; ++u) for_each_tight(u, [&](Vertex v) { take_nearer(u, v); });
    });
  }

  void take_nearer(Vertex u, Vertex v) {
    if (distances_[u] < distances_[v]) std::atomic_ref{parents_[v]}.store(u, std::memory_order_relaxed);
  }

  std::uint64_t orphans() const {
    std::atomic<std::uint64_t> all{0};
    for_each_share(threads_, parents_.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      std::uint64_t own = 0;
      for (std::uint64_t v = begin; v < end; ++v)
        own += parents_[v] == no_vertex && distances_[v] != highest<double>();
      all += own;
    });
    return all;
  }

  /// What is left hangs on arcs that add nothing. There a parent is taken from a vertex that has one already, so
  /// that no parents go round in a circle.
  void take_equal_ones(std::uint64_t orphans) {
    VertexQueue queue{orphans, graph_.budget(), "a list of vertices"};
    for_each_row_range(graph_.out(), threads_, [&](Vertex first, Vertex last, int) {
      VertexQueue::Appender found{queue};
      for (Vertex u = first; u < last; ++u) adopt_from(u, found);
    });
    for (queue.slide(); !queue.window().empty(); queue.slide())
      for_each_block(queue.window(), queue, queue.window().size(), threads_, progress_,
                     [&](auto block, auto& found) {
                       for (const Vertex u : block) adopt_from(u, found);
                     });
  }

  void adopt_from(Vertex u, VertexQueue::Appender& found) {
    if (!has_parent(u)) return;
    for_each_tight(u, [&](Vertex v) {
      if (adopt(u, v)) found.push(v);
    });
  }

  bool has_parent(Vertex u) { return std::atomic_ref{parents_[u]}.load(std::memory_order_relaxed) != no_vertex; }

  bool adopt(Vertex u, Vertex v) {
    Vertex none = no_vertex;
    return std::atomic_ref{parents_[v]}.compare_exchange_strong(none, u, std::memory_order_relaxed);
  }

  /// visit(v) for the arcs from u that a shortest path may end with.
  template <class Visit>
  void for_each_tight(Vertex u, std::span<const Vertex> targets, Weights weights, Visit&& visit) const {
    if (distances_[u] == highest<double>()) return;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Vertex v = targets[i];
      if (distances_[u] + static_cast<double>(std::bit_cast<float>(weights[i])) == distances_[v]) visit(v);
    }
  }
  template <class Visit>
  void for_each_tight(Vertex u, Visit&& visit) const {
    const Csr& out = graph_.out();
    for_each_tight(u, out.neighbors(u), out.weights.data() + out.offsets[u], visit);
  }

  const Graph&            graph_;
  std::span<const double> distances_;
  int                     threads_;
  Progress&               progress_;
  Buffer<Vertex>          parents_;
};

}  // namespace

Buffer<Vertex> shortest_path_parents(const Graph& graph, Vertex source, std::span<const double> distances,
                                     int threads, Progress& progress) {
  return ParentSearch{graph, distances, threads, progress}.run(source);
}

}  // namespace spillway
