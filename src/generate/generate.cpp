// The list of kinds, and the checks that are the same for all of them.
#include <spillway/generate.hpp>

#include <algorithm>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "generate/generators.hpp"

namespace spillway {
namespace {

template <class Entry>
std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

/// "did you mean …", or all there are.
std::string advice(const std::string& word, const std::vector<std::string>& candidates) {
  if (const auto near = nearest_word(word, candidates)) return fmt::format("did you mean '{}'?", *near);
  return fmt::format("there are {}", joined(candidates));
}

template <class Entry>
const Entry* find(const std::vector<Entry>& entries, const std::string& name) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

GeneratorValues completed(const Generator& generator, const GeneratorValues& given) {
  for (const auto& [name, value] : given)
    if (!find(generator.parameters, name))
      throw usage_error("{} has no parameter '{}'; {}", generator.name, printable(name),
                        advice(name, names_of(generator.parameters)));
  GeneratorValues values = given;
  for (const GeneratorParameter& parameter : generator.parameters)
    if (!parameter.default_value.empty()) values.try_emplace(parameter.name, parameter.default_value);
  return values;
}

}  // namespace

const std::vector<Generator>& generators() {
  static const std::vector<Generator> all = {
      kronecker_generator(), uniform_generator(), grid_generator(),     preferential_generator(), star_generator(),
      chain_generator(),     cycle_generator(),   complete_generator(), bipartite_generator(),    tree_generator(),
  };
  return all;
}

Graph generate(const std::string& kind, const GeneratorValues& values, const GenerateOptions& options) {
  const Generator* generator = find(generators(), kind);
  if (!generator)
    throw usage_error("there is no generator '{}'; {}", printable(kind), advice(kind, names_of(generators())));
  return generator->make(completed(*generator, values), options);
}

}  // namespace spillway
