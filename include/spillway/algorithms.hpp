// The registry of algorithms. The command line and the documentation read it, so nothing is listed twice.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <spillway/graph.hpp>
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

struct AlgorithmParameter {
  std::string name;
  std::string help;
  std::string default_value;
};

struct ColumnInfo {
  std::string name;
  std::string meaning;
};

/// Values as a person types them, by parameter name; defaults are filled in.
using ParameterValues = std::map<std::string, std::string>;

struct Algorithm {
  std::string                                                                    name;
  std::string                                                                    summary;
  std::vector<AlgorithmParameter>                                                parameters;
  std::vector<ColumnInfo>                                                        columns;
  std::function<Result(const Graph&, const ParameterValues&, const RunOptions&)> run;
  std::function<Verdict(const Graph&, const ParameterValues&, const Result&)>    verify;
};

const std::vector<Algorithm>& algorithms();

/// The one of this name; an unknown one is Error{usage} with a suggestion.
const Algorithm& algorithm_named(const std::string& name);

}  // namespace spillway
