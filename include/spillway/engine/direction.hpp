// Push or pull: by the work that each would do. One rule for all devices; what they differ in was measured.
#pragma once

#include <spillway/engine/atomics.hpp>

namespace spillway {

/// What it takes to push an arc, and to turn to a vertex that pulls (its offsets and the first line of its row),
/// in units of one arc pulled.
struct DirectionCosts {
  double push_vote, push_improvement, push_gather, pull_vertex;
};

/// Two ARM cores with kron20 and urand20: an arc pulled is a sequential read and a test of a bit or a gather,
/// 1.2 ns. A vote pushed is a test in cache and now and then an exchange; an improvement a random read; a gathered
/// update an addition that waits for its line, 12 ns.
SPILLWAY_HD constexpr DirectionCosts cpu_direction_costs() {
  return {.push_vote = 2, .push_improvement = 4, .push_gather = 8, .pull_vertex = 2};
}
/// An H200 with kron24 and grid2048 (docs/experiments.md).
SPILLWAY_HD constexpr DirectionCosts gpu_direction_costs() {
  return {.push_vote = 4, .push_improvement = 2, .push_gather = 4, .pull_vertex = 2};
}

/// What the choice depends on.
struct DirectionFacts {
  bool   voting = false, gathers = false;
  bool   skips_by_weight = false;  ///< a pull leaves most edges out by their weight
  bool   over_bus        = false;  ///< edges are read where the host has them: each costs the same
  double arcs            = 0;      ///< of the graph
  double active_edges    = 0;      ///< that leave the frontier
  double open_vertices = 0, open_edges = 0;
};

/// A vertex with d in-edges finds an active one among them after about min(d, 1/p) steps when a share p of all
/// arcs leaves active vertices.
SPILLWAY_HD inline double pull_work(const DirectionFacts& facts, const DirectionCosts& costs) {
  if (!facts.voting) return costs.pull_vertex * facts.open_vertices + facts.open_edges;
  const double degree  = facts.open_edges / (facts.open_vertices > 1 ? facts.open_vertices : 1);
  const double to_find = facts.arcs / (facts.active_edges > 1 ? facts.active_edges : 1);
  return facts.open_vertices * (costs.pull_vertex + (degree < to_find ? degree : to_find));
}

SPILLWAY_HD inline bool pull_is_less_work(const DirectionFacts& facts, const DirectionCosts& costs) {
  constexpr double left_out = 4;  // of so many edges one is looked at
  // A vote is found in the first edges of a row, which may be cached: then it is not the bus that counts.
  if (facts.over_bus && !facts.voting) return facts.active_edges > facts.open_edges;
  const double an_arc    = facts.voting    ? costs.push_vote
                           : facts.gathers ? costs.push_gather
                                           : costs.push_improvement;
  const double push_work = an_arc * facts.active_edges * (facts.skips_by_weight ? left_out : 1);
  // A small frontier needs no division, which a GPU would wait for in every iteration.
  return push_work > costs.pull_vertex * facts.open_vertices && push_work > pull_work(facts, costs);
}

}  // namespace spillway
