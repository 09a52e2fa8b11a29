// How the graph that is asked about is read.
#pragma once

#include <string>

#include <spillway/graph.hpp>

namespace spillway {
class Progress;
}

namespace spillway::cli {

struct Common;
struct RunArguments;

/// Loaded, with the weights that were asked for; Error{bad_input} where the algorithm needs some and there are
/// none. Of a fresh list of edges, where nothing else is asked for, the form is chosen by predicted time; that of
/// edges as they lie is the method `edges`.
Graph asked_graph(RunArguments& arguments, const Common& common, Progress& progress);

/// That --weights says something.
void check_asked_weights(const RunArguments& arguments);

/// What was predicted of the forms, if any was.
std::string text_of_forms(const RunArguments& arguments);

}  // namespace spillway::cli
