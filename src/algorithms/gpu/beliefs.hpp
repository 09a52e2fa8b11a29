// Belief propagation on a GPU that holds the graph and all messages.
#pragma once

#include "algorithms/bp.hpp"

namespace spillway::gpu {

/// With a message for each arc (see bp_messages.cpp).
Beliefs beliefs_by_messages(const Graph& graph, const BeliefModel& model, const RunOptions& options);

}  // namespace spillway::gpu
