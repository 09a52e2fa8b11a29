// The files of a run: which it reads, which it writes, and that no two of them are one.
#include <algorithm>
#include <filesystem>
#include <map>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/id_lists.hpp"
#include "base/text.hpp"
#include "cli/overwriting.hpp"
#include "cli/run.hpp"
#include "io/format.hpp"
#include "io/result_writer.hpp"

#include <spillway/plugin.hpp>

namespace spillway::cli {
namespace {

constexpr std::string_view source_mark = "{source}";

/// A parameter's value as the file it may name.
std::string file_of(const std::string& value) { return value.starts_with('@') ? value.substr(1) : value; }

/// Parameters are text; one that names a file may be read as that file.
std::vector<Input> parameter_files(const RunArguments& arguments) {
  std::vector<Input> files;
  for (const auto& [name, value] : arguments.given)
    if (file_of(value) == "-" || file_exists(file_of(value))) files.push_back({file_of(value), "--" + name});
  return files;
}

/// PATH, or PATH:NAME, of an algorithm that comes from a file.
std::vector<Input> plugin_file(const RunArguments& arguments) {
  const std::string& named = arguments.named;
  if (!is_plugin_path(named)) return {};
  return {{file_exists(named) ? named : named.substr(0, named.rfind(':')), "the plug-in"}};
}

std::vector<Input> inputs_of(const RunArguments& arguments) {
  std::vector<Input> inputs = parameter_files(arguments);
  for (const auto& more : {inputs_of(arguments.load), plugin_file(arguments)})
    inputs.insert(inputs.end(), more.begin(), more.end());
  for (const auto& [name, values] : arguments.lists)
    for (const std::string& value : values)
      for (const std::string& file : files_in_list(value)) inputs.push_back({file, "--" + name});
  return inputs;
}

/// An id as a part of a file name: it neither makes folders nor leaves the one it is in.
std::string as_file_name(std::string id) {
  const bool dots = id.find_first_not_of('.') == std::string::npos;
  for (char& c : id)
    if (c == '/' || c == '\0' || dots) c = '_';
  return id;
}

std::string with_source(const std::string& pattern, const std::string& source) {
  const std::string name = as_file_name(source);
  std::string       path;
  std::size_t       begin = 0;
  for (auto at = pattern.find(source_mark); at != std::string::npos; at = pattern.find(source_mark, begin)) {
    path += pattern.substr(begin, at - begin) + name;
    begin = at + source_mark.size();
  }
  return path + pattern.substr(begin);
}

/// What can be said of --output or --id-map before sources are put into it.
void check_pattern(const std::string& option, const std::string& pattern, const std::vector<Question>& asked) {
  const bool marked = pattern.find(source_mark) != std::string::npos;
  if (pattern.empty()) throw usage_error("{}: the name of the file is empty", option);
  if (marked && asked.front().source.empty())
    throw usage_error("{} {}: there is no source to put into the name", option, pattern);
  if (asked.size() > 1 && !marked)
    throw usage_error("{} sources would write one file; put {} into its name, as in result-{}.csv",
                      with_commas(asked.size()), source_mark, source_mark);
}

/// Remembers who writes where.
class Places {
 public:
  explicit Places(const RunArguments& arguments) : inputs_(inputs_of(arguments)) {}

  void add(const std::string& option, const std::string& path, const std::string& source) {
    refuse_to_overwrite(option, path, inputs_);
    if (path == "-") return;
    check_can_write(path);
    std::error_code   none;
    const std::string place =
        std::filesystem::weakly_canonical(std::filesystem::absolute(followed(path)), none).string();
    const auto [known, fresh] = taken_.emplace(place, Taken{option, source});
    if (!fresh && option != known->second.option)
      throw usage_error("{} {}: {} writes this file", option, path, known->second.option);
    if (!fresh && source == known->second.source)
      throw usage_error("{} {}: {} would be written twice", option, path,
                        source.empty() ? "it" : fmt::format("the answer from '{}'", printable(source)));
    if (!fresh)
      throw usage_error("{} {}: the answers from '{}' and '{}' would both go to this file", option, path,
                        printable(known->second.source), printable(source));
  }

 private:
  struct Taken {
    std::string option, source;
  };

  std::vector<Input>           inputs_;
  std::map<std::string, Taken> taken_;  ///< by file
};

/// Columns that come on request were not asked for: the answer is facts, and an array holds none. That is known
/// before anything is read.
void refuse_facts_as_array(const RunArguments& arguments) {
  const Algorithm&  algorithm  = *arguments.algorithm;
  const std::string on_request = "per-vertex";
  const bool        may_have_columns =
      std::ranges::any_of(algorithm.parameters, [&](const Parameter& each) { return each.name == on_request; });
  if (!may_have_columns || !lower_case(*arguments.output).ends_with(".npy")) return;
  const ParameterValues values = completed_parameters(algorithm, arguments.given);
  if (!Parameters{algorithm.name, values}.yes(on_request))
    throw usage_error("{}: without --{}, {} has no columns to write, only facts, which .csv, .tsv and .json hold",
                      *arguments.output, on_request, algorithm.name);
}

void place_output(std::vector<Question>& asked, const RunArguments& arguments, Places& places) {
  check_pattern("--output", *arguments.output, asked);
  refuse_facts_as_array(arguments);
  for (Question& question : asked) {
    question.output = with_source(*arguments.output, question.source);
    arguments.algorithm->makes_a_graph ? static_cast<void>(format_to_write(*question.output))
                                       : check_result_path(*question.output);
    places.add("--output", *question.output, question.source);
  }
}

void place_id_map(std::vector<Question>& asked, const RunArguments& arguments, Places& places) {
  check_pattern("--id-map", *arguments.id_map, asked);
  for (Question& question : asked) {
    question.id_map = with_source(*arguments.id_map, question.source);
    places.add("--id-map", *question.id_map, question.source);
  }
}

}  // namespace

void place_answers(std::vector<Question>& asked, const RunArguments& arguments, const Common& common) {
  const Algorithm& algorithm = *arguments.algorithm;
  if (algorithm.makes_a_graph && !arguments.output)
    throw usage_error("{} makes a graph: say where with --output FILE", algorithm.name);
  if (arguments.id_map && !algorithm.makes_a_graph)
    throw usage_error("--id-map is for answers that are graphs; results of {} have ids in them", algorithm.name);
  if (common.json && arguments.writes_to_standard_output())
    throw usage_error("--json and the result cannot both go to standard output");
  if (common.json && arguments.id_map == "-")
    throw usage_error("--json and --id-map cannot both go to standard output");
  if (arguments.writes_to_standard_output() && arguments.id_map == "-")
    throw usage_error("--output and --id-map cannot both go to standard output");
  Places places{arguments};
  if (arguments.output) place_output(asked, arguments, places);
  if (arguments.id_map) place_id_map(asked, arguments, places);
  if (!arguments.trace) return;
  if (arguments.trace->empty() || *arguments.trace == "-") throw usage_error("--trace needs the name of a file");
  places.add("--trace", *arguments.trace, "");
}

void check_streams(const RunArguments& arguments) {
  const auto inputs = inputs_of(arguments);
  const auto reads_standard_input =
      std::count_if(inputs.begin(), inputs.end(), [](const Input& input) { return input.path == "-"; });
  if (reads_standard_input > 1) throw usage_error("standard input can be read for one thing only");
  const bool reads_twice = arguments.verify || number_argument("--repeat", arguments.repeat) > 1;
  for (const Input& input : parameter_files(arguments))
    if (reads_twice && is_stream(input.path))
      throw usage_error("{} {}: a pipe can be read once, and {} reads it again; give it a file", input.what,
                        input.path, arguments.verify ? "--verify" : "--repeat");
}

}  // namespace spillway::cli
