// Results as files: .csv, .tsv, .json and .npy, one line or record a vertex, under the user's own ids.
#pragma once

#include <string>

#include "base/files.hpp"

#include <spillway/graph.hpp>
#include <spillway/result.hpp>

namespace spillway {

/// The format is the suffix; any other is Error{usage}.
void write_result(const Result& result, const Graph& graph, const std::string& path, Progress& progress);

/// Throws the usage error that write_result would, before the work.
void check_result_path(const std::string& path);

/// Entry `v` of a column as text; nothing for a missing vertex.
void append_value(std::string& out, const Column& column, Vertex v, const IdMap& ids);

}  // namespace spillway
