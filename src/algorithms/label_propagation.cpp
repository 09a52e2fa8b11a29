// Components as a vertex program: the smallest label spreads along arcs in both directions until none is left to
// improve. Slower than Afforest where the graph is in memory; any supply of edges can feed it.
#include "algorithms/cc.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

struct SmallestLabel {
  using Value   = Vertex;
  using Combine = Min<Vertex>;

  static constexpr bool  order_free = true;
  static constexpr Along along      = Along::both;

  SPILLWAY_HD Vertex init(Vertex v) const { return v; }
  SPILLWAY_HD Vertex compute(Vertex label, const Edge<>&) const { return label; }
};

}  // namespace

Components components_by_propagation(const Graph& graph, const RunOptions& options) {
  auto outcome = run(SmallestLabel{}, graph, options);
  return {std::move(outcome.values), std::move(outcome.statistics)};
}

}  // namespace spillway
