// Results as files: .csv, .tsv, .json and .npy, one line or record a vertex, under the user's own ids. A result
// without columns is written as its facts.
#pragma once

#include <string>

#include "base/files.hpp"

#include <spillway/graph.hpp>
#include <spillway/result.hpp>

namespace spillway {

/// The format is the suffix, and csv on standard output ("-"); any other is Error{usage}.
void write_result(const Result& result, const Graph& graph, const std::string& path, Progress& progress);

/// Throws the usage error that write_result would, before the work.
void check_result_path(const std::string& path);

/// Entry `v` of a column as text; nothing for a missing vertex.
void append_value(std::string& out, const Column& column, Vertex v, const IdMap& ids);

/// Columns have names of their own and one entry a vertex; `owner` is who made them. Else Error{internal_error}.
void check_columns(const Result& result, const Graph& graph, const std::string& owner);

/// What stands in JSON for a vertex: its number, or its name in quotes.
std::string json_id(Vertex v, const IdMap& ids);
/// What stands in JSON for an entry: a number; "inf" or null where there is none.
std::string json_value(const Column& column, Vertex v, const IdMap& ids);

}  // namespace spillway
