// How much memory running on a graph takes, where: said by `info`, before anything is run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <spillway/graph.hpp>

namespace spillway {

struct Footprint {
  std::string   way;
  std::uint64_t device_bytes = 0;  ///< on the GPU
  std::uint64_t host_bytes   = 0;
};

/// Topology by its real size; vertex state by the most that the engine allows a program.
std::vector<Footprint> footprints(const Graph& graph);

}  // namespace spillway
