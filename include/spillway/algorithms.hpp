// The registry of algorithms. The command line and the documentation read it, so nothing is listed twice.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <spillway/graph.hpp>
#include <spillway/parameters.hpp>
#include <spillway/result.hpp>

namespace spillway {

struct RunOptions {
  int       threads  = 0;  ///< 0: all cores
  Progress* progress = nullptr;
};

/// How a result was checked, and what was found.
struct Verdict {
  std::string how;      ///< "serial oracle", "property checks"
  std::string problem;  ///< empty: right
};

struct ColumnInfo {
  std::string name;
  std::string meaning;
};

/// `run` and `verify` want a value for every parameter; `completed_parameters` fills in the defaults.
struct Algorithm {
  std::string                                                                    name;
  std::string                                                                    summary;
  std::vector<Parameter>                                                         parameters;
  std::vector<ColumnInfo>                                                        columns;
  std::function<Result(const Graph&, const ParameterValues&, const RunOptions&)> run;
  std::function<Verdict(const Graph&, const ParameterValues&, const Result&)>    verify;
};

const std::vector<Algorithm>& algorithms();

/// The one of this name; an unknown one is Error{usage} with a suggestion.
const Algorithm& algorithm_named(const std::string& name);

/// The given values with defaults filled in; an unknown name or a missing value is Error{usage}.
ParameterValues completed_parameters(const Algorithm& algorithm, const ParameterValues& given);

}  // namespace spillway
