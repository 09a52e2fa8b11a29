// The loop's choice between push and pull.
#include <spillway/engine/direction.hpp>
#include <spillway/engine/executor.hpp>

namespace spillway {

Direction choose_direction(const ProgramFacts& facts, const Topology& topology, const FrontierSize& frontier,
                           const RunOptions& options) {
  if (facts.push_only || topology.pull.empty()) return Direction::push;
  const bool same_bits = options.deterministic && facts.order_sensitive;
  if (topology.push.empty() || facts.all_active || same_bits)
    return options.direction == Direction::push && !topology.push.empty() && !same_bits ? Direction::push
                                                                                        : Direction::pull;
  if (options.direction != Direction::automatic) return options.direction;
  const DirectionFacts question{.voting        = facts.voting,
                                .gathers       = facts.gathers,
                                .arcs          = static_cast<double>(topology.arcs),
                                .active_edges  = static_cast<double>(frontier.edges),
                                .open_vertices = static_cast<double>(frontier.open_vertices),
                                .open_edges    = static_cast<double>(frontier.open_edges)};
  return pull_is_less_work(question, cpu_direction_costs()) ? Direction::pull : Direction::push;
}

}  // namespace spillway
