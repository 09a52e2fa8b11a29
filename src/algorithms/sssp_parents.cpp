#include "algorithms/sssp_parents.hpp"

#include <atomic>
#include <bit>

#include "graph/csr.hpp"
#include "graph/vertex_queue.hpp"

#include <spillway/combine.hpp>

namespace spillway {
namespace {

class ParentSearch {
 public:
  ParentSearch(const Graph& graph, std::span<const double> distances, int threads, const Progress& progress)
      : graph_(graph),
        out_(graph.out()),
        distances_(distances),
        threads_(threads),
        progress_(progress),
        parents_(graph.vertex_count(), graph.budget(), "the result") {}

  Buffer<Vertex> run(Vertex source) && {
    std::fill_n(parents_.data(), parents_.size(), no_vertex);
    parents_[source] = source;
    take_nearer_ones();
    if (std::uint64_t left = orphans(); left > 0) take_equal_ones(left);
    return std::move(parents_);
  }

 private:
  /// Any vertex that is nearer to the source will do: along such parents distances fall.
  void take_nearer_ones() {
    for_each_row_range(out_, threads_, [&](Vertex first, Vertex last, int) {
      for (Vertex u = first; u < last; ++u)
        for_each_tight(u, [&](Vertex v) {
          if (distances_[u] < distances_[v]) std::atomic_ref{parents_[v]}.store(u, std::memory_order_relaxed);
        });
    });
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
    for_each_row_range(out_, threads_, [&](Vertex first, Vertex last, int) {
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
    if (std::atomic_ref{parents_[u]}.load(std::memory_order_relaxed) == no_vertex) return;
    for_each_tight(u, [&](Vertex v) {
      Vertex none = no_vertex;
      if (std::atomic_ref{parents_[v]}.compare_exchange_strong(none, u, std::memory_order_relaxed)) found.push(v);
    });
  }

  /// visit(v) for the arcs from u that a shortest path may end with.
  template <class Visit>
  void for_each_tight(Vertex u, Visit&& visit) const {
    if (distances_[u] == highest<double>()) return;
    for (EdgeIndex i = out_.offsets[u]; i < out_.offsets[u + 1]; ++i) {
      const Vertex v = out_.targets[i];
      if (distances_[u] + static_cast<double>(std::bit_cast<float>(out_.weights[i])) == distances_[v]) visit(v);
    }
  }

  const Graph&            graph_;
  const Csr&              out_;
  std::span<const double> distances_;
  int                     threads_;
  const Progress&         progress_;
  Buffer<Vertex>          parents_;
};

}  // namespace

Buffer<Vertex> shortest_path_parents(const Graph& graph, Vertex source, std::span<const double> distances,
                                     int threads, const Progress& progress) {
  return ParentSearch{graph, distances, threads, progress}.run(source);
}

}  // namespace spillway
