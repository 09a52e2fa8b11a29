// What radius.cpp and its verification share: nothing but names.
#pragma once

#include <spillway/algorithms.hpp>

namespace spillway {

inline constexpr const char* effective_diameter_fact = "effective diameter";

Verdict verify_radius(const Graph& graph, const ParameterValues& values, const Result& result,
                      const VerifyOptions& options);

}  // namespace spillway
