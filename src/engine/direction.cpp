// Push or pull: by the work each would do.
#include <algorithm>

#include <spillway/engine/executor.hpp>

namespace spillway {
namespace {

// Measured on two ARM cores with kron20 and urand20, in units of one arc pulled: a sequential read and a test of a
// bit or a gather, 1.2 ns. A vote pushed is a test in cache and now and then an exchange; an improvement a random
// read; a gathered update an addition that waits for its line, 12 ns.
constexpr double push_vote = 2, push_improvement = 4, push_gather = 8;
// Turning to a vertex: its offsets and the first line of its row.
constexpr double pull_vertex = 2.0;

/// A vertex with d in-edges finds an active one among them after about min(d, 1/p) steps when a share p of all
/// arcs leaves active vertices.
double voting_pull_work(const Topology& topology, const FrontierSize& frontier) {
  const auto open    = static_cast<double>(frontier.open_vertices);
  const auto degree  = static_cast<double>(frontier.open_edges) / std::max(open, 1.0);
  const auto to_find = static_cast<double>(topology.arcs) / std::max(static_cast<double>(frontier.edges), 1.0);
  return open * (pull_vertex + std::min(degree, to_find));
}

double pull_work(const ProgramFacts& facts, const Topology& topology, const FrontierSize& frontier) {
  if (facts.voting) return voting_pull_work(topology, frontier);
  return pull_vertex * static_cast<double>(frontier.open_vertices) + static_cast<double>(frontier.open_edges);
}

}  // namespace

Direction choose_direction(const ProgramFacts& facts, const Topology& topology, const FrontierSize& frontier,
                           const RunOptions& options) {
  if (facts.push_only || topology.pull.empty()) return Direction::push;
  if (topology.push.empty() || facts.all_active || (options.deterministic && facts.order_shows))
    return options.direction == Direction::push && !topology.push.empty() && !options.deterministic
               ? Direction::push
               : Direction::pull;
  if (options.direction != Direction::automatic) return options.direction;
  const double an_arc    = facts.voting ? push_vote : facts.gathers ? push_gather : push_improvement;
  const double push_work = an_arc * static_cast<double>(frontier.edges);
  return push_work > pull_work(facts, topology, frontier) ? Direction::pull : Direction::push;
}

}  // namespace spillway
