#include "algorithms/sssp_parents.hpp"

#include <atomic>
#include <bit>

#include "algorithms/row_visits.hpp"
#include "base/fail.hpp"
#include "graph/csr.hpp"
#include "graph/vertex_queue.hpp"

#include <spillway/combine.hpp>
#include <spillway/edge_list.hpp>

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

  /// Over the edges of a list instead of rows, a pass over all of them for each step.
  Buffer<Vertex> run_on_list(Vertex source) && {
    std::fill_n(parents_.data(), parents_.size(), no_vertex);
    parents_[source] = source;
    for_each_tight_edge([&](Vertex u, Vertex v) {
      take_nearer(u, v);
      return false;
    });
    if (orphans() == 0) return std::move(parents_);
    while (for_each_tight_edge([&](Vertex u, Vertex v) { return has_parent(u) && adopt(u, v); })) {
    }
    return std::move(parents_);
  }

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

  /// visit(u, v) for the edges that a shortest path may end with; true if it was for any.
  template <class Visit>
  bool for_each_tight_edge(Visit&& visit) const {
    const EdgeList&   list  = *graph_.edges();
    const EdgeRun     edges = list.edges(threads_);
    std::atomic<bool> any   = false;
    check_cancelled(progress_);
    for_each_share(threads_, edges.count, [&](std::uint64_t begin, std::uint64_t end, int) {
      const auto look = [&](Vertex u, Vertex v, double weight) {
        if (distances_[u] != highest<double>() && distances_[u] + weight == distances_[v] && visit(u, v))
          any.store(true, std::memory_order_relaxed);
      };
      for (std::uint64_t i = begin; i < end; ++i) {
        const Vertex u = edges.source(i), v = edges.target(i);
        const auto   weight = static_cast<double>(std::bit_cast<float>(edges.weight(i)));
        look(u, v, weight);
        if (list.both_ways() && u != v) look(v, u, weight);
      }
    });
    return any;
  }

  const Graph&            graph_;
  std::span<const double> distances_;
  int                     threads_;
  Progress&               progress_;
  Buffer<Vertex>          parents_;
};

}  // namespace

Buffer<Vertex> shortest_path_parents(const Graph& graph, Vertex source, std::span<const double> distances,
                                     int threads, Progress& progress, bool on_list) {
  if (on_list) return ParentSearch{graph, distances, threads, progress}.run_on_list(source);
  return ParentSearch{graph, distances, threads, progress}.run(source);
}

}  // namespace spillway
