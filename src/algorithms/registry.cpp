#include "algorithms/registry.hpp"

#include "base/fail.hpp"
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
  const auto near = nearest_word(name, names);
  throw usage_error("unknown algorithm '{}'{}; known are: {}", printable(name),
                    near ? fmt::format(" (did you mean '{}'?)", *near) : std::string{}, joined(names));
}

}  // namespace spillway
