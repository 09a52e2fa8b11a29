// What the parameters of pagerank and ppr say.
#pragma once

#include <cstdint>

#include <spillway/graph.hpp>
#include <spillway/parameters.hpp>

namespace spillway {

struct PageRankSettings {
  double        damping, tolerance;
  std::uint64_t iterations;  ///< the most
  bool          drop_dangling, residual_form;
  bool          runs_all;  ///< so many exactly, whatever they change
};

PageRankSettings pagerank_settings(const char* name, const Graph& graph, const ParameterValues& values);

}  // namespace spillway
