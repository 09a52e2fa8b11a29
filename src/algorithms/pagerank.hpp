// PageRank and its personalised form, which pagerank.cpp and ppr.cpp register.
#pragma once

#include <vector>

#include "algorithms/programs/pagerank.hpp"

#include <spillway/algorithms.hpp>

namespace spillway {

/// What pagerank and ppr share of running and checking; `source` is no_vertex for pagerank.
Result  run_pagerank(const char* name, const Graph& graph, Vertex source, const ParameterValues& values,
                     const RunOptions& options);
Plan    plan_pagerank(const char* name, const Graph& graph, Vertex source, const ParameterValues& values,
                      const RunOptions& options);
Verdict verify_pagerank(const char* name, const Graph& graph, Vertex source, const ParameterValues& values,
                        const Result& result, const VerifyOptions& options);
/// The parameters both take.
std::vector<Parameter> pagerank_parameters();

}  // namespace spillway
