// Every row of a graph once, wherever its edges are: what verifications by properties walk over.
#pragma once

#include <mutex>
#include <span>

#include "graph/csr.hpp"
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
/// each part. `weights` are raw bits; null: there are none. Pages of whose vertices nothing is `wanted` are left
/// out.
template <class Body>
void for_each_paged_row(const store::PagedRows& rows, int threads, const char* doing, Progress& progress,
                        Body&& body, const std::function<bool(VertexRange)>& wanted = {}) {
  const auto visit = [&](std::uint64_t, const PageRows& page) {
    for (Vertex u = page.first; u < page.last; ++u) {
      const auto [first, last, compact] = page.row(u);
      if (first < last)
        body(u, std::span{page.rows.targets + first, last - first},
             page.rows.weights ? page.rows.weights + first : nullptr);
    }
  };
  store::for_each_page(rows, threads, doing, progress, visit, wanted);
}

/// The same, wherever the rows are.
template <class Body>
void for_each_row(const Graph& graph, const VerifyOptions& options, Body&& body) {
  const int threads = thread_count(options.threads);
  if (graph.pages()) {
    Progress& progress = options.progress ? *options.progress : Progress::none();
    for_each_paged_row(*graph.pages(), threads, "verifying", progress, body);
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
