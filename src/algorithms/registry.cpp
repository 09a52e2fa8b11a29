#include "algorithms/registry.hpp"

#include "base/fail.hpp"
#include "base/parameters.hpp"
#include "base/text.hpp"

namespace spillway {

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> all{degrees_algorithm()};
  return all;
}

const Algorithm& algorithm_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.name == name) return algorithm;
    names.push_back(algorithm.name);
  }
  throw usage_error("unknown algorithm '{}'; {}", printable(name), advice(name, names));
}

ParameterValues completed_parameters(const Algorithm& algorithm, const ParameterValues& given) {
  return completed(algorithm.name, algorithm.parameters, given);
}

}  // namespace spillway
