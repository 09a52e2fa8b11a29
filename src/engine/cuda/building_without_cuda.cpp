#include "engine/building.hpp"

namespace spillway {

void build_in_edges(const Graph& graph, const RunOptions&, bool) { graph.in(); }
void build_rows(const Graph& graph, const RunOptions& options, bool) { build_rows_here(graph, options); }

}  // namespace spillway
