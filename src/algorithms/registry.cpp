#include "algorithms/registry.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/split.hpp"

namespace spillway {

namespace {

/// Adding must not move what others hold a reference to, hence the room.
constexpr std::size_t most_algorithms = 1024;

/// Where what is a neighbour's neighbour matters, or what a vertex has of them.
void refuse_split(const Algorithm& algorithm, const Graph& graph) {
  if (has_tree_vertices(graph) && !algorithm.survives_split)
    throw usage_error(
        "{}: the vertices of {} are split ({}), and {} depends on who is whose neighbour; convert it with --split "
        "none",
        algorithm.name, graph.name(), text_of(graph.split()->form()), algorithm.name);
}

/// Algorithms that do not leave it to a program say where they do not run, and on which graphs.
void check_devices(Algorithm& algorithm) {
  algorithm.run = [run = std::move(algorithm.run), facts = Algorithm{algorithm}](
                      const Graph& graph, const ParameterValues& values, const RunOptions& options) {
    refuse_device(facts, options);
    refuse_split(facts, graph);
    refuse_list(facts, options);
    return run(graph, values, options);
  };
  if (algorithm.plan)
    algorithm.plan = [plan = std::move(algorithm.plan), facts = Algorithm{algorithm}](
                         const Graph& graph, const ParameterValues& values, const RunOptions& options) {
      refuse_split(facts, graph);
      refuse_list(facts, options);
      return plan(graph, values, options);
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
      if (algorithm.makes_a_graph || !algorithm.vertex_program) check_devices(algorithm);
    return own;
  }();
  return all;
}

}  // namespace

void refuse_list(const Algorithm& algorithm, const RunOptions& options) {
  const bool is_program = algorithm.vertex_program && !algorithm.makes_a_graph;
  if (options.method->of_edge_lists && !is_program && !algorithm.takes_lists)
    throw usage_error("{} needs rows, and --method {} does without; leave it out", algorithm.name,
                      options.method->name);
}

void refuse_device(const Algorithm& algorithm, const RunOptions& options) {
  if (algorithm.makes_a_graph && options.device.kind == cuda_kind())
    throw usage_error("{} runs on the CPU only; leave out the GPU", algorithm.name);
  if (options.device.kind->of_cpu_executors && (algorithm.makes_a_graph || !algorithm.vertex_program))
    throw usage_error("{} is no vertex program, and '{}' computes nothing else; use --device cpu", algorithm.name,
                      options.device.kind->name);
}

const std::vector<Algorithm>& algorithms() { return registry(); }

const Algorithm& add_algorithm(Algorithm algorithm) {
  for (const Algorithm& other : registry())
    if (other.name == algorithm.name) throw usage_error("there is an algorithm '{}' already", algorithm.name);
  if (registry().size() == most_algorithms)
    throw usage_error("at most {} algorithms can be registered", most_algorithms);
  return registry().emplace_back(std::move(algorithm));
}

namespace {

/// connected-components, ConnectedComponents and connected_components are one name.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : lower_case(name))
    if (c != '-' && c != '_' && c != ' ') plain += c;
  return plain;
}

bool is_called(const Algorithm& algorithm, const std::string& plain) {
  const auto same = [&](const std::string& name) { return plain_name(name) == plain; };
  return same(algorithm.name) || std::any_of(algorithm.aliases.begin(), algorithm.aliases.end(), same);
}

}  // namespace

const Algorithm* find_algorithm(const std::string& name) {
  for (const Algorithm& algorithm : algorithms())
    if (algorithm.name == name) return &algorithm;
  const std::string plain = plain_name(name);
  for (const Algorithm& algorithm : algorithms())
    if (is_called(algorithm, plain)) return &algorithm;
  return nullptr;
}

const Algorithm& algorithm_named(const std::string& name) {
  if (const Algorithm* const found = find_algorithm(name)) return *found;
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms()) names.push_back(algorithm.name);
  std::vector<std::string> aliases;
  for (const Algorithm& algorithm : algorithms())
    aliases.insert(aliases.end(), algorithm.aliases.begin(), algorithm.aliases.end());
  auto near = nearest_word(name, names);
  if (!near) near = nearest_word(name, aliases);
  throw usage_error("unknown algorithm '{}'; {}", printable(name),
                    near ? fmt::format("did you mean '{}'?", *near) : "there are " + joined(names));
}

ParameterValues completed_parameters(const Algorithm& algorithm, const ParameterValues& given) {
  return completed(algorithm.name, algorithm.parameters, given);
}

}  // namespace spillway
