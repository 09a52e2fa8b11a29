#include "algorithms/registry.hpp"

#include "base/fail.hpp"
#include "base/text.hpp"

namespace spillway {

namespace {

/// Adding must not move what others hold a reference to, hence the room.
constexpr std::size_t most_algorithms = 1024;

/// Graphs are made on the CPU; asked to make one elsewhere, an algorithm says so.
void refuse_gpus(Algorithm& algorithm) {
  algorithm.run = [run = std::move(algorithm.run), name = algorithm.name](
                      const Graph& graph, const ParameterValues& values, const RunOptions& options) {
    if (options.device.kind == DeviceChoice::Kind::cuda)
      throw usage_error("{} runs on the cpu only; ask for no GPU", name);
    return run(graph, values, options);
  };
}

std::vector<Algorithm>& registry() {
  static std::vector<Algorithm> all = [] {
    std::vector<Algorithm> own;
    own.reserve(most_algorithms);
#define SPILLWAY_ADD_ALGORITHM(name) own.push_back(name##_algorithm());
    SPILLWAY_ALGORITHMS(SPILLWAY_ADD_ALGORITHM)
#undef SPILLWAY_ADD_ALGORITHM
    for (Algorithm& algorithm : own)
      if (algorithm.makes_a_graph) refuse_gpus(algorithm);
    return own;
  }();
  return all;
}

}  // namespace

const std::vector<Algorithm>& algorithms() { return registry(); }

const Algorithm& add_algorithm(Algorithm algorithm) {
  for (const Algorithm& other : registry())
    if (other.name == algorithm.name) throw usage_error("there is an algorithm '{}' already", algorithm.name);
  if (registry().size() == most_algorithms)
    throw usage_error("no room for more than {} algorithms", most_algorithms);
  return registry().emplace_back(std::move(algorithm));
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
