// Whole-graph steps over sorted rows: checking, transposing, rebuilding under a transform, counting.
#pragma once

#include <array>
#include <string>

#include <spillway/engine/parallel.hpp>
#include "graph/arc_collector.hpp"

#include <spillway/graph.hpp>

namespace spillway {

/// Splits [0, n) into ranges with about equal vertices plus arcs; body(first, last, thread).
template <class Body>
void for_each_row_range(const Csr& csr, int threads, Body&& body);

/// Checks all that indexing relies on: offsets ascend from 0 to m, targets are below n; and that
/// weights are finite. Throws bad_input naming `where`.
void check_indices(const Csr& csr, WeightType weight_type, const std::string& where, int threads);

/// Refuses weights that are not finite.
void check_weights(std::span<const std::uint32_t> weights, const std::string& where, int threads);

/// The same, and that rows are sorted, which every graph promises.
void check_rows(const Csr& csr, WeightType weight_type, const std::string& where, int threads);

/// True when every row ascends, parallel arcs by weight; offsets and targets must be valid.
bool rows_sorted(const Csr& csr, WeightType weight_type, int threads);

/// True when no row has a loop or parallel arcs; rows must be sorted.
bool rows_simple(const Csr& csr, int threads);

/// The same arcs, transposed.
Csr transposed(const Csr& csr, WeightType weight_type, const BuildContext& context);

/// The rows after sorting and `context.transform`.
Csr rebuilt(const Csr& csr, WeightType weight_type, const BuildContext& context);

/// The smallest symmetric multigraph that contains the arcs: of (u,v,w) as many as (u,v,w) or (v,u,w) has.
Csr symmetrized(const Csr& csr, WeightType weight_type, const BuildContext& context);

/// Smallest and largest weight.
/// False where rows went elsewhere while they were built, and there are offsets alone.
inline bool has_rows(const Csr& csr) { return csr.arc_count() == csr.offsets[csr.vertex_count()]; }

struct WeightRange {
  double least = 0, most = 0;
};
WeightRange weight_range(const Csr& csr, WeightType type, int threads);
WeightRange weight_range(const EdgeList& list, int threads);

struct GraphStatistics {
  std::uint64_t                 loops             = 0;
  std::uint64_t                 duplicates        = 0;  ///< arcs that repeat the source and target of another
  std::uint64_t                 sinks             = 0;  ///< vertices without out-edges
  std::uint64_t                 isolated          = 0;  ///< vertices without any edge
  EdgeIndex                     max_degree        = 0;
  Vertex                        max_degree_vertex = 0;
  std::array<std::uint64_t, 65> degree_bins{};  ///< [0]: degree 0; [k]: 2^(k-1) to 2^k - 1
  double                        min_weight       = 0;
  double                        max_weight       = 0;
  std::uint64_t                 negative_weights = 0;
};

GraphStatistics statistics(const Graph& graph, int threads, Progress& progress);

// --- implementation of the template ---

/// The first row at or past an even share of the work.
Vertex row_at_share(const Csr& csr, std::uint64_t part, std::uint64_t parts);

template <class Body>
void for_each_row_range(const Csr& csr, int threads, Body&& body) {
  const auto parts = static_cast<std::uint64_t>(threads);
  on_threads(threads, [&](int thread) {
    const Vertex first = row_at_share(csr, static_cast<std::uint64_t>(thread), parts);
    const Vertex last  = row_at_share(csr, static_cast<std::uint64_t>(thread) + 1, parts);
    if (first < last) body(first, last, thread);
  });
}

}  // namespace spillway
