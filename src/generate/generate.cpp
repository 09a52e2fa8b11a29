// The list of kinds, and the checks that are the same for all of them.
#include <spillway/generate.hpp>

#include <algorithm>

#include <spillway/parameters.hpp>
#include "base/fail.hpp"
#include "base/text.hpp"
#include "generate/generators.hpp"

namespace spillway {
namespace {

template <class Entry>
std::vector<std::string> names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

template <class Entry>
const Entry* find(const std::vector<Entry>& entries, const std::string& name) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<Generator>& generators() {
  static const std::vector<Generator> all = {
      kronecker_generator(), uniform_generator(), grid_generator(),     preferential_generator(), star_generator(),
      chain_generator(),     cycle_generator(),   complete_generator(), bipartite_generator(),    tree_generator(),
  };
  return all;
}

Graph generate(const std::string& kind, const ParameterValues& values, const GenerateOptions& options) {
  const Generator* generator = find(generators(), kind);
  if (!generator)
    throw usage_error("there is no generator '{}'; {}", printable(kind), advice(kind, names_of(generators())));
  return generator->make(completed(generator->name, generator->parameters, values), options);
}

}  // namespace spillway
