// Every row of a graph once, wherever its edges are: what verifications by properties walk over.
#pragma once

#include <algorithm>
#include <mutex>
#include <span>

#include "graph/csr.hpp"
#include "graph/vertex_set.hpp"
#include "store/paged_rows.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/progress.hpp>

namespace spillway {

/// Without its rows.
inline EdgeIndex out_degree(const Graph& graph, Vertex v) {
  if (!graph.pages()) return graph.out().degree(v);
  const auto& offsets = graph.pages()->offsets();
  return offsets[v + std::uint64_t{1}] - offsets[v];
}

/// body(u, targets, weights) for every row that is not empty, on all threads; of one that takes several pages, for
/// each part. `weights` are raw bits; null: there are none.
template <class Body>
void for_each_paged_row(const store::PagedRows& rows, const store::PageVisit& visit, Body&& body) {
  store::for_each_page(rows, visit, [&](std::uint64_t, const PageRows& page) {
    for (Vertex u = page.first; u < page.last; ++u) {
      const auto [first, last, compact] = page.row(u);
      if (first < last)
        body(u, std::span{page.rows.targets + first, last - first},
             page.rows.weights ? page.rows.weights + first : nullptr);
    }
  });
}

/// A queue of vertices whose rows are to be visited, over pages: passes over those that have such rows, until the
/// queue is empty. A vertex is added once at most, also while rows are visited.
class AwaitedRows {
 public:
  explicit AwaitedRows(const Graph& graph)
      : waiting_(graph.vertex_count(), graph.budget()), now_(graph.vertex_count(), graph.budget()) {}

  /// Safe from many threads.
  void add(Vertex v) { waiting_.insert(v); }

  /// body(v, targets, weights), on all threads. A vertex that is added to be visited later in a pass is visited in
  /// that pass, unless its row comes in parts: of those, all come in the same.
  template <class Body>
  void visit(const store::PagedRows& rows, store::PageVisit how, Body&& body) {
    how.wanted = [this](VertexRange range) { return waiting_.any(range.first, range.last); };
    while (waiting_.any(0, waiting_.universe())) {
      std::ranges::copy(waiting_.words(), now_.words().begin());
      for_each_paged_row(rows, how, [&](Vertex v, std::span<const Vertex> targets, const std::uint32_t* weights) {
        if (!waiting_.contains(v)) return;
        const bool whole = targets.size() == rows.offsets()[v + std::uint64_t{1}] - rows.offsets()[v];
        if (!whole && !now_.contains(v)) return;
        if (whole) waiting_.erase(v);
        body(v, targets, weights);
      });
      for (std::uint64_t i = 0; i < now_.words().size(); ++i) waiting_.words()[i] &= ~now_.words()[i];
    }
  }

 private:
  VertexSet waiting_, now_;
};

/// The same, wherever the rows are.
template <class Body>
void for_each_row(const Graph& graph, const VerifyOptions& options, Body&& body) {
  const int threads = thread_count(options.threads);
  if (graph.pages()) {
    Progress& progress = options.progress ? *options.progress : Progress::none();
    for_each_paged_row(*graph.pages(), {threads, "verifying", progress, graph.budget()}, body);
    return;
  }
  const Csr& out = graph.out();
  for_each_row_range(out, threads, [&](Vertex first, Vertex last, int) {
    for (Vertex u = first; u < last; ++u)
      if (out.degree(u) > 0)
        body(u, out.neighbors(u), out.weights.size() > 0 ? out.weights.data() + out.offsets[u] : nullptr);
  });
}

/// The same, one row at a time; in memory in the order of the vertices.
template <class Body>
void for_each_row_alone(const Graph& graph, const VerifyOptions& options, Body&& body) {
  VerifyOptions alone = options;
  if (!graph.pages()) alone.threads = 1;  // of pages, at least decoding is on all threads
  std::mutex mutex;
  for_each_row(graph, alone, [&](Vertex u, std::span<const Vertex> targets, const std::uint32_t* weights) {
    const std::scoped_lock lock{mutex};
    body(u, targets, weights);
  });
}

}  // namespace spillway
