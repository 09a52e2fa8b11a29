// The vertex programs that a search on a GPU is made of (programs/strong_components.hpp), each over values that
// are resident on the device.
#pragma once

#include <memory>

#include <spillway/algorithms.hpp>
#include <spillway/engine/executor.hpp>
#include "plan/algorithm_work.hpp"

namespace spillway::scc {

struct Searched {
  std::shared_ptr<Resident> values;
  RunStatistics             statistics;
};

/// How many pivots search at once, a power of two. One finds a giant component in a few steps, unless paths are
/// long.
std::uint64_t pivots_at_once(const Graph& graph);

/// What all of it takes, for the planner.
AlgorithmWork work_of_searches(const Graph& graph);

/// Trim, Reach: along out- or in-edges.
Searched trimmed(const Graph& graph, Along way, std::shared_ptr<Resident> values, const RunOptions& options);
Searched reached(const Graph& graph, Along way, std::shared_ptr<Resident> values, const RunOptions& options);
/// Color, ColorBack.
Searched colored(const Graph& graph, std::shared_ptr<Resident> values, const RunOptions& options);
Searched colored_back(const Graph& graph, std::shared_ptr<Resident> values, const RunOptions& options);

}  // namespace spillway::scc
