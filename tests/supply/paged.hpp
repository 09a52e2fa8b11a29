// What tests over pages share: graphs that are written in them, and what is not tried there.
#pragma once

#include <string>

#include "store/spill_file.hpp"

#include <spillway/algorithms.hpp>

namespace spillway::testing {

inline std::string in_pages(const Graph& graph, const std::string& path, const store::PageOptions& options) {
  OutputFile file{path};
  store::write(graph, options, file, Progress::none());
  file.commit();
  return path;
}

/// Afforest hooks edges where they lie, and messages are for each of them. From every vertex takes long.
inline bool is_left_out(const Algorithm& algorithm, const ParameterValues& values, const Graph& graph) {
  if (algorithm.name == "bp") return values.at("form") != "vertex";
  const bool hooks = algorithm.name == "cc" && values.contains("form") && values.at("form") == "afforest";
  const bool all   = values.contains("sources") && values.at("sources") == "all" && graph.vertex_count() > 16;
  return hooks || all;
}

}  // namespace spillway::testing
