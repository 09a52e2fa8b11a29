// From words to questions.
#include <algorithm>
#include <unordered_set>

#include "base/fail.hpp"
#include "base/id_lists.hpp"
#include "base/text.hpp"
#include "cli/run.hpp"

namespace spillway::cli {
namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word.starts_with('-'); }

/// "--top=3" and "-ofile" hold their value themselves.
std::string option_name(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

std::string default_of(const Algorithm& algorithm, const std::string& name) {
  for (const Parameter& parameter : algorithm.parameters)
    if (parameter.name == name) return parameter.default_value;
  return {};
}

bool names_an_algorithm(const std::string& word) {
  return word.ends_with(".so") || word.find(".so:") != std::string::npos || find_algorithm(word) != nullptr;
}

void check_needed(const Algorithm& algorithm, const ParameterValues& given) {
  for (const Parameter& parameter : algorithm.parameters)
    if (parameter.default_value.empty() && parameter.kind != ParameterKind::source &&
        !given.contains(parameter.name))
      throw usage_error("{} needs --{}: {}", algorithm.name, parameter.name, parameter.help);
}

void check_flags(const Algorithm& algorithm, const ParameterValues& values) {
  for (const Parameter& parameter : algorithm.parameters)
    if (parameter.kind == ParameterKind::flag) Parameters{algorithm.name, values}.yes(parameter.name);
}

/// The ids of one value; an empty one is a slip.
std::vector<std::string> listed_ids(const std::string& option, const std::string& text, const Graph* graph) {
  if (text.empty()) throw usage_error("--{} needs a value: one of the graph's own ids", option);
  std::vector<std::string> ids = ids_in_list(text, graph);
  if (std::find(ids.begin(), ids.end(), "") != ids.end())
    throw usage_error("--{} {}: an id is missing beside a comma", option, printable(text));
  return ids;
}

/// All values of one parameter as one list of ids, each once.
std::vector<std::string> all_ids(const std::string& option, const std::vector<std::string>& values,
                                 const Graph* graph) {
  std::vector<std::string>        ids;
  std::unordered_set<std::string> known;
  for (const std::string& value : values)
    for (std::string& id : listed_ids(option, value, graph))
      if (known.insert(id).second) ids.push_back(std::move(id));
  return ids;
}

/// Ids to ask for in turn; none where the algorithm has no source.
std::vector<std::string> asked_sources(const RunArguments& arguments, const Graph* graph) {
  const Parameter* source = source_parameter(*arguments.algorithm);
  if (!source) return {};
  const auto given = arguments.read_lists.find(source->name);
  if (given == arguments.read_lists.end())
    throw usage_error(
        "{} needs a source: --{} V with one of the graph's own ids, or several: --{} A,B or --{} @FILE",
        arguments.algorithm->name, source->name, source->name, source->name);
  return all_ids(source->name, given->second, graph);
}

/// What was given, with lists of vertices as the algorithm takes them.
ParameterValues given_values(const RunArguments& arguments, const Graph* graph) {
  ParameterValues given = arguments.given;
  for (const auto& [name, values] : arguments.read_lists) {
    // The default of such a parameter is a word, not a vertex.
    const bool is_word = values.size() == 1 && values.front() == default_of(*arguments.algorithm, name);
    given[name]        = is_word ? values.front() : list_of(all_ids(name, values, graph));
  }
  return given;
}

}  // namespace

std::optional<std::string> algorithm_word(const Command& command, const std::vector<std::string>& words) {
  std::vector<std::string> candidates;
  bool                     certain = true;  // no unknown option that a candidate may be the value of
  bool                     options = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (options && words[i] == "--") {
      options = false;
    } else if (!options || !is_option(words[i])) {
      if (certain) return words[i];
      candidates.push_back(words[i]);
    } else {
      const std::string name = option_name(words[i]);
      if (!command.has_option(name))
        certain = false;
      else if (command.takes_value(name) && name == words[i])
        ++i;
    }
  }
  const auto known = std::find_if(candidates.begin(), candidates.end(), names_an_algorithm);
  if (known != candidates.end()) return *known;
  return candidates.empty() ? std::nullopt : std::optional{candidates.front()};
}

std::vector<std::string> with_flags_spelled_out(const Algorithm& algorithm, std::vector<std::string> words) {
  const auto is_flag = [&](const std::string& word) {
    return std::any_of(algorithm.parameters.begin(), algorithm.parameters.end(), [&](const Parameter& parameter) {
      return parameter.kind == ParameterKind::flag && word == "--" + parameter.name;
    });
  };
  std::vector<std::string> spelled;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool worded = i + 1 < words.size() && (words[i + 1] == "yes" || words[i + 1] == "no");
    if (!is_flag(words[i])) {
      spelled.push_back(words[i]);
    } else if (worded) {
      spelled.push_back(words[i] + "=" + words[i + 1]);
      ++i;
    } else {
      spelled.push_back(words[i] + "=yes");
    }
  }
  return spelled;
}

const Parameter* source_parameter(const Algorithm& algorithm) {
  for (const Parameter& parameter : algorithm.parameters)
    if (parameter.kind == ParameterKind::source) return &parameter;
  return nullptr;
}

bool has_parameter(const Algorithm& algorithm, const std::string& name) {
  return std::any_of(algorithm.parameters.begin(), algorithm.parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
}

void read_id_files(RunArguments& arguments) {
  for (const auto& [name, values] : arguments.lists)
    for (const std::string& value : values) arguments.read_lists[name].push_back(with_files_read(value));
}

bool may_name_with_commas(const RunArguments& arguments) {
  const auto is_unclear = [](const std::string& value) {
    return value.find(',') != std::string::npos && value.find('"') == std::string::npos &&
           value.find_first_not_of("0123456789, ") != std::string::npos;
  };
  return std::ranges::any_of(arguments.read_lists,
                             [&](const auto& list) { return std::ranges::any_of(list.second, is_unclear); });
}

std::vector<Question> questions(const RunArguments& arguments, const Graph* graph) {
  const Algorithm& algorithm = *arguments.algorithm;
  // Betweenness has both: one names its sources, the other counts them.
  if (arguments.lists.contains("source") && arguments.given.contains("sources"))
    throw usage_error("give --source or --sources, not both");
  const ParameterValues given = given_values(arguments, graph);
  check_needed(algorithm, given);
  const ParameterValues values = completed_parameters(algorithm, given);
  check_flags(algorithm, values);
  const std::vector<std::string> sources = asked_sources(arguments, graph);
  if (sources.empty()) return {{.parameters = values, .source = {}, .output = {}, .id_map = {}}};
  std::vector<Question> asked;
  for (const std::string& source : sources) {
    asked.push_back({.parameters = values, .source = source, .output = {}, .id_map = {}});
    asked.back().parameters[source_parameter(algorithm)->name] = source;
  }
  return asked;
}

}  // namespace spillway::cli
