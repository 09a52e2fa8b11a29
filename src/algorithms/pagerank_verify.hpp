// The limits that ranks of the residual form are checked against.
#pragma once

#include "algorithms/pagerank_settings.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/engine/memory.hpp>

namespace spillway {

/// Ranks as they would be if nobody kept any residual, and how far below or above them a run may end. Beside this
/// a rank may have been rounded.
struct RankLimits {
  Buffer<double> ranks;
  Buffer<double> slack;          ///< of each rank; for a run that ended since no residual was left to pass on
  double         all_slack = 0;  ///< of all ranks together, in L1; for a run that was cut short
};

/// `residual` is what the run says that it left, and `source` no_vertex for pagerank.
RankLimits rank_limits(const Graph& graph, Vertex source, const PageRankSettings& settings, double residual);

/// What a run may say that it left.
struct ResidualRange {
  double least = 0, most = 0;
};
ResidualRange residual_range(const Graph& graph, Vertex source, const PageRankSettings& settings,
                             const Result& result);

/// How much one more step may change the ranks, in L1: what property checks allow.
double allowed_change(const Graph& graph, const PageRankSettings& settings, const Result& result);

}  // namespace spillway
