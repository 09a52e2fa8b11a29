#include "algorithms/sssp_whole.hpp"

#include "algorithms/programs/sssp.hpp"
#include "graph/split.hpp"

#include <spillway/run.hpp>

namespace spillway {

Plan plan_paths_with_parents(const Graph& graph, Vertex source, double delta, const RunOptions& options) {
  return plan_run(Paths{source, delta}, graph, options);
}

Result paths_with_parents(const Graph& graph, Vertex source, double delta, const RunOptions& options) {
  auto outcome = run(Paths{source, delta}, graph, options, {.leave = !graph.split()});
  name_originals(graph, std::get<1>(outcome.columns).span(), outcome.threads);
  Result result;
  result.columns.push_back(outcome.column<0>("distance"));
  result.columns.push_back(outcome.column<1>("parent"));
  result.statistics = std::move(outcome.statistics);
  return result;
}

}  // namespace spillway
