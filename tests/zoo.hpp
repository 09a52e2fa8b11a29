// The zoo: one collection of graphs that every algorithm, method and format is tried on.
#pragma once

#include <string>
#include <vector>

#include <spillway/graph.hpp>

namespace spillway::testing {

struct ZooGraph {
  std::string name;
  Graph       graph;
};

/// Small enough for serial oracles; made once.
const std::vector<ZooGraph>& zoo();

/// The member as a test parameter's name.
std::string zoo_name(const ZooGraph& member);

/// A random graph that only `seed` decides: up to a few hundred vertices, loops, parallel arcs, weights or none.
Graph random_graph(std::uint64_t seed);

}  // namespace spillway::testing
