// What algorithms over weights ask of a graph before they run.
#pragma once

#include <spillway/algorithms.hpp>

namespace spillway {

/// Throws Error{bad_input} that names the first negative weight, if there is one.
void refuse_negative_weights(const Graph& graph, const char* algorithm, const RunOptions& options);

}  // namespace spillway
