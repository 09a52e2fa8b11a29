// What reading a text of edges will take, found by a pass over it that holds nothing.
#pragma once

#include "graph/graph_size.hpp"
#include "io/edge_lines.hpp"

namespace spillway {

/// Counts the lines of the text, and estimates its distinct ids to about 1 %. It takes as long as reading the
/// file; a pipe cannot be read twice and yields nothing.
std::optional<GraphSize> forecast(const EdgeText& text, const ReadJob& job);

}  // namespace spillway
