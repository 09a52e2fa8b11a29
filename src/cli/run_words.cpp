// From words to questions.
#include <algorithm>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/run.hpp"

namespace spillway::cli {
namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word.starts_with('-'); }

/// "--top=3" and "-ofile" hold their value themselves.
std::string option_name(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

bool names_an_algorithm(const std::string& word) {
  if (word.ends_with(".so") || word.find(".so:") != std::string::npos) return true;
  return std::any_of(algorithms().begin(), algorithms().end(),
                     [&](const Algorithm& algorithm) { return algorithm.name == word; });
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

std::vector<std::string> listed_sources(const std::string& option, const std::string& text) {
  if (text.empty()) throw usage_error("--{} needs a value: one of the graph's own ids", option);
  std::vector<std::string> sources = ids_in_list(text);
  if (std::find(sources.begin(), sources.end(), "") != sources.end())
    throw usage_error("--{} {}: an id is missing beside a comma", option, printable(text));
  return sources;
}

/// Ids to ask for in turn; none where the algorithm has no source.
std::vector<std::string> asked_sources(const RunArguments& arguments) {
  const Algorithm& algorithm = *arguments.algorithm;
  const Parameter* source    = source_parameter(algorithm);
  const bool       listed    = source && arguments.given.contains(source->name);
  if (listed && arguments.sources) throw usage_error("give --{} or --sources, not both", source->name);
  if (arguments.sources) return ids_in_file(*arguments.sources);
  if (listed) return listed_sources(source->name, arguments.given.at(source->name));
  if (source)
    throw usage_error("{} needs a source: --{} V with one of the graph's own ids, or --sources FILE for many",
                      algorithm.name, source->name);
  return {};
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

std::vector<Question> questions(const RunArguments& arguments) {
  const Algorithm& algorithm = *arguments.algorithm;
  // Betweenness has both for itself: one names its sources, the other counts them.
  if (arguments.given.contains("source") && arguments.given.contains("sources"))
    throw usage_error("give --source or --sources, not both");
  check_needed(algorithm, arguments.given);
  const ParameterValues values = completed_parameters(algorithm, arguments.given);
  check_flags(algorithm, values);
  const std::vector<std::string> sources = asked_sources(arguments);
  if (sources.empty()) return {{.parameters = values, .source = {}, .output = {}, .id_map = {}}};
  std::vector<Question> asked;
  for (const std::string& source : sources) {
    asked.push_back({.parameters = values, .source = source, .output = {}, .id_map = {}});
    asked.back().parameters[source_parameter(algorithm)->name] = source;
  }
  return asked;
}

}  // namespace spillway::cli
