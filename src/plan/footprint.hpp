// How much memory running on a graph takes, where: said by `info`, before anything is run, and by errors of runs
// that do not fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <spillway/algorithms.hpp>
#include <spillway/graph.hpp>

#include "graph/graph_size.hpp"

namespace spillway {

struct Footprint {
  std::string   way;
  std::uint64_t device_bytes = 0;  ///< on the GPU
  std::uint64_t host_bytes   = 0;
};

/// Topology by its real size; vertex state by the most that the engine allows a program.
std::vector<Footprint> footprints(const GraphSize& size);

/// What is known of a graph that is loaded.
GraphSize size_of(const Graph& graph);
/// Likewise of the rows that runs walk: of split vertices there are more.
GraphSize size_of_rows(const Graph& graph);

/// Host memory that a run on the CPU holds at its peak beside the graph.
struct RunMemory {
  std::uint64_t peak      = 0;
  bool          builds_in = false;  ///< in-edges, which the file does not have
};

/// `graph` is null where it could not be loaded; with it, the building of in-edges is predicted by its own rows.
/// Pulling needs in-edges where the algorithm itself would do without.
RunMemory memory_of_run(const std::string& algorithm, const ParameterValues& values, const GraphSize& size,
                        const Graph* graph, int threads, bool pulls);

}  // namespace spillway
