// Components as a vertex program: the smallest label spreads along arcs in both directions until none is left to
// improve. Slower than Afforest where the graph is in memory; any supply of edges can feed it.
#include "algorithms/cc.hpp"
#include "algorithms/programs/smallest_label.hpp"

#include <spillway/run.hpp>

namespace spillway {

Components components_by_propagation(const Graph& graph, const RunOptions& options) {
  auto outcome = run(SmallestLabel{}, graph, options);
  return {std::move(outcome.values), std::move(outcome.statistics)};
}

Plan plan_propagation(const Graph& graph, const RunOptions& options) {
  return plan_run(SmallestLabel{}, graph, options);
}

}  // namespace spillway
