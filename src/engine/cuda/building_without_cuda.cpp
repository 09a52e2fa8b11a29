#include "engine/building.hpp"

namespace spillway {

void build_in_edges(const Graph& graph, const RunOptions&, bool) { graph.in(); }

}  // namespace spillway
