// spillway run ALGORITHM GRAPH
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include <spillway/engine/memory.hpp>

#include "base/clock.hpp"
#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/report.hpp"
#include "io/format.hpp"
#include "io/result_writer.hpp"

#include <spillway/plugin.hpp>

namespace spillway::cli {
namespace {

struct RunArguments {
  std::string              algorithm;
  LoadArguments            load;
  std::string              device = "auto", method = "auto", direction = "auto", output, weights, sources;
  std::string              top = "0", repeat = "1";
  bool                     verify = false, deterministic = false, statistics = false;
  std::vector<std::string> own;      ///< words for the algorithm itself
  std::vector<std::string> options;  ///< names of all that `run` itself takes
};

const Algorithm& algorithm_or_plugin(const std::string& name) {
  return is_plugin_path(name) ? load_plugin(name) : algorithm_named(name);
}

constexpr const char* source_mark = "{source}";

const Parameter* source_parameter(const Algorithm& algorithm) {
  for (const Parameter& parameter : algorithm.parameters)
    if (parameter.kind == ParameterKind::source) return &parameter;
  return nullptr;
}

/// Betweenness counts its sources; for it `--sources` is not a file of questions.
bool has_own_sources(const Algorithm& algorithm) {
  return std::any_of(algorithm.parameters.begin(), algorithm.parameters.end(),
                     [](const Parameter& parameter) { return parameter.name == "sources"; });
}

const Parameter& own_parameter(const Algorithm& algorithm, const std::string& name,
                               std::vector<std::string> options) {
  for (const Parameter& parameter : algorithm.parameters) {
    if (parameter.name == name) return parameter;
    options.push_back(parameter.name);
  }
  const auto near = nearest_word(name, options);
  throw usage_error("'--{}' is no option of run {}{}", printable(name), algorithm.name,
                    near ? fmt::format(" (did you mean '--{}'?)", *near) : std::string{});
}

/// Words that no option of `run` takes are the algorithm's own parameters: --name value, --name=value, or --name
/// alone for those that are yes or no.
ParameterValues parameters_of(const Algorithm& algorithm, const RunArguments& arguments) {
  const std::vector<std::string>& words = arguments.own;
  ParameterValues                 values;
  if (has_own_sources(algorithm) && !arguments.sources.empty()) values["sources"] = arguments.sources;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) throw usage_error("'{}' is not expected here", printable(words[i]));
    const auto        equals    = words[i].find('=');
    const std::string name      = words[i].substr(2, equals == std::string::npos ? equals : equals - 2);
    const Parameter&  parameter = own_parameter(algorithm, name, arguments.options);
    const bool        last      = i + 1 == words.size();
    if (values.contains(name)) throw usage_error("--{} is given twice", name);
    if (equals != std::string::npos) {
      values[name] = words[i].substr(equals + 1);
    } else if (parameter.kind == ParameterKind::flag) {
      const bool worded = !last && (words[i + 1] == "yes" || words[i + 1] == "no");
      values[name]      = worded ? words[++i] : "yes";
    } else if (last) {
      throw usage_error("--{} needs a value: {}", name, parameter.help);
    } else {
      values[name] = words[++i];
    }
  }
  return completed_parameters(algorithm, values);
}

/// The questions to ask: one, or one for each source.
std::vector<ParameterValues> questions(const Algorithm& algorithm, const RunArguments& arguments) {
  const ParameterValues    parameters = parameters_of(algorithm, arguments);
  const Parameter*         source     = source_parameter(algorithm);
  std::vector<std::string> sources;
  if (!arguments.sources.empty() && !has_own_sources(algorithm)) {
    if (!source) throw usage_error("{} takes no --sources", algorithm.name);
    if (parameters.contains(source->name)) throw usage_error("give --source or --sources, not both");
    sources = ids_in_file(arguments.sources);
  } else if (source && parameters.contains(source->name)) {
    sources = ids_in_list(parameters.at(source->name));
  } else if (source) {
    throw usage_error("{} needs a source: --source V with one of the graph's own ids, or --sources FILE for many",
                      algorithm.name);
  }
  if (sources.empty()) return {parameters};
  std::vector<ParameterValues> all(sources.size(), parameters);
  for (std::size_t i = 0; i < all.size(); ++i) all[i][source->name] = sources[i];
  return all;
}

/// Until the GPU engine is there, asking for it is answered, not ignored.
void check_device(const RunArguments& arguments) {
  if (arguments.method != "auto") throw usage_error("--method takes auto, not '{}'", printable(arguments.method));
  if (arguments.device == "auto" || arguments.device == "cpu") return;
  if (!arguments.device.starts_with("cuda"))
    throw usage_error("--device takes auto, cpu, cuda or cuda:N, not '{}'", printable(arguments.device));
  throw usage_error("{} runs on the cpu only; leave out --device {}", arguments.algorithm,
                    printable(arguments.device));
}

void check_output(const Algorithm& algorithm, const RunArguments& arguments, std::size_t answers) {
  const std::string& path = arguments.output;
  if (path.empty()) {
    if (algorithm.makes_a_graph)
      throw usage_error("{} makes a graph: say where with --output FILE", algorithm.name);
    return;
  }
  if (algorithm.makes_a_graph)
    format_to_write(path);
  else
    check_result_path(path);
  if (same_file(path, arguments.load.path))
    throw usage_error("--output {}: this is the graph itself; give the result a file of its own", path);
  if (answers > 1 && path.find(source_mark) == std::string::npos)
    throw usage_error("{} sources would write one file; put {} into its name, as in result-{}.csv", answers,
                      source_mark, source_mark);
}

/// An id as a part of a file name.
std::string output_path(std::string path, const std::string& source) {
  std::string name = source;
  for (char& c : name)
    if (c == '/' || c == '\0') c = '_';
  if (const auto at = path.find(source_mark); at != std::string::npos)
    path.replace(at, std::string_view{source_mark}.size(), name);
  return path;
}

Direction direction_of(const RunArguments& arguments) {
  return arguments.direction == "push"   ? Direction::push
         : arguments.direction == "pull" ? Direction::pull
                                         : Direction::automatic;
}

/// "unit", or "random:SEED".
Graph with_asked_weights(const Graph& graph, const RunArguments& arguments, const Common& common) {
  const std::string& text = arguments.weights;
  if (text.empty()) return graph;
  if (graph.weight_type() != WeightType::none) note(common, "--weights replaces the weights that the graph has");
  if (text == "unit") return with_unit_weights(graph, common.threads);
  const auto seed = text.starts_with("random:") ? parse_number(text.substr(7)) : std::nullopt;
  if (!seed) throw usage_error("--weights takes unit or random:SEED, not '{}'", printable(text));
  return with_random_weights(graph, *seed, 1, 64, common.threads);
}

void check_weights(const Algorithm& algorithm, const Graph& graph) {
  if (algorithm.weights != WeightUse::needed || graph.weight_type() != WeightType::none || graph.arc_count() == 0)
    return;
  throw bad_input(
      "{} needs weights and the graph has none; --weights unit gives every arc 1, --weights random:SEED random "
      "ones "
      "from 1 to 64",
      algorithm.name);
}

Answer answer(const Algorithm& algorithm, const Graph& graph, const ParameterValues& parameters,
              const RunArguments& arguments, const Common& common, ProgressBar& bar) {
  Answer              found;
  const std::uint64_t repeat = number_argument("--repeat", arguments.repeat);
  if (const Parameter* source = source_parameter(algorithm)) found.source = parameters.at(source->name);
  for (std::uint64_t i = 0; i < repeat; ++i) {
    found.result = {};  // before the next takes its memory
    found.result = algorithm.run(graph, parameters,
                                 {.threads       = common.threads,
                                  .deterministic = arguments.deterministic,
                                  .direction     = direction_of(arguments),
                                  .progress      = &bar});
    found.run_ms.push_back(found.result.statistics.run_ms);
  }
  if (arguments.verify) {
    if (!algorithm.verify) throw usage_error("{} comes without a check: leave out --verify", algorithm.name);
    found.verdict =
        algorithm.verify(graph, parameters, found.result, {.threads = common.threads, .progress = &bar});
    found.verified = true;
  }
  return found;
}

void write_answer(const Answer& found, const Graph& graph, const RunArguments& arguments, const Common& common,
                  ProgressBar& bar) {
  if (arguments.output.empty() || !found.verdict.problem.empty()) return;
  const std::string path = output_path(arguments.output, found.source);
  if (found.result.graph)
    note_all(common, save(*found.result.graph, path, "auto", &bar));
  else
    write_result(found.result, graph, path, bar);
}

void print_answer(const Answer& found, const Graph& graph, const RunArguments& arguments, std::uint64_t top) {
  if (top > 0) print_top(found.result, graph, top);
  if (arguments.statistics) print_iterations(found.result.statistics);
  print_facts(found.result);
  const RunStatistics& statistics = found.result.statistics;
  fmt::print("{}{} on {} vertices and {} arcs: {:.2f} ms", arguments.algorithm,
             found.source.empty() ? "" : " from " + printable(found.source), with_commas(graph.vertex_count()),
             with_commas(graph.arc_count()), found.median_ms());
  if (statistics.iterations > 0)
    fmt::print(", {} iteration{}", with_commas(statistics.iterations), statistics.iterations == 1 ? "" : "s");
  if (statistics.prepare_ms >= 1) fmt::print(", prepared in {:.2f} s", statistics.prepare_ms / 1000);
  if (found.verified && found.verdict.problem.empty()) fmt::print(", verified: {}", found.verdict.how);
  fmt::print("\n");
}

Json run_json(const RunArguments& arguments, const Graph& graph, double load_ms) {
  return {{"algorithm", arguments.algorithm},
          {"graph", graph_json(graph)},
          {"device", "cpu"},
          {"method", "auto"},
          {"time_ms", {{"load", load_ms}}},
          {"bytes", {{"host_to_device", 0}, {"disk_read", 0}}},
          {"memory", Json::object()}};
}

void run_algorithm(const RunArguments& arguments, const Common& common) {
  const Algorithm&    algorithm = algorithm_or_plugin(arguments.algorithm);
  const auto          asked     = questions(algorithm, arguments);
  const std::uint64_t top       = number_argument("--top", arguments.top);
  if (number_argument("--repeat", arguments.repeat) == 0)
    throw usage_error("--repeat takes a whole number from 1 on");
  check_device(arguments);
  check_output(algorithm, arguments, asked.size());

  ProgressBar bar = progress_bar(common);
  Stopwatch   clock;
  const Graph loaded = open(arguments.load.path, arguments.load.options(common, bar));
  const Graph graph  = with_asked_weights(loaded, arguments, common);
  note_all(common, loaded.report().notes);
  check_weights(algorithm, graph);
  Json       document = run_json(arguments, graph, clock.lap());
  const bool talks    = !common.json && arguments.output != "-";
  if (talks) fmt::print("loaded in {:.2f} s\n", document["time_ms"]["load"].get<double>() / 1000);

  std::string problem;
  for (const ParameterValues& parameters : asked) {
    const Answer found = answer(algorithm, graph, parameters, arguments, common, bar);
    write_answer(found, graph, arguments, common, bar);
    if (talks) print_answer(found, graph, arguments, top);
    Json entry = answer_json(found);
    if (top > 0) entry["top"] = top_json(found.result, graph, top);
    if (asked.size() > 1) {
      entry["source"] = found.source;
      document["runs"].push_back(std::move(entry));
    } else {
      document["time_ms"].update(entry["time_ms"]);
      entry.erase("time_ms");
      document.update(entry);
    }
    if (!found.verdict.problem.empty())
      problem = fmt::format("checked by {}, the result{} is wrong: {}", found.verdict.how,
                            asked.size() > 1 ? " from " + printable(found.source) : "", found.verdict.problem);
    if (!problem.empty()) break;
  }
  document["memory"]["host_peak"] = graph.budget()->peak();
  if (common.json) print_json(document);
  if (!problem.empty()) throw Error{ExitCode::verification_failed, problem};
}

/// What `spillway run ALGORITHM --help` adds about the algorithm.
std::string help_on(const std::string& name) try {
  const Algorithm& algorithm = algorithm_or_plugin(name);
  std::string      text      = fmt::format("\n{}: {}\n", algorithm.name, algorithm.summary);
  for (const Parameter& parameter : algorithm.parameters)
    text +=
        fmt::format("  {:<30}{}{}\n", "--" + parameter.name, parameter.help,
                    parameter.default_value.empty() ? " (needed)" : " (default: " + parameter.default_value + ")");
  return text;
} catch (const Error&) {
  return {};
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  auto* command   = app.add_subcommand("run", "Run an algorithm on a graph");
  auto  arguments = std::make_shared<RunArguments>();
  auto* name      = command->add_option("ALGORITHM", arguments->algorithm,
                                        "One that `spillway algorithms` lists, or a plug-in: ./mine.so");
  name->required();
  arguments->load.add_to(*command);
  command->add_option("--device", arguments->device, "auto, cpu, cuda or cuda:N (default: auto)");
  command->add_option("--method", arguments->method, "auto (default)");
  command->add_option("-o,--output", arguments->output,
                      "Write all results: .csv, .tsv, .json or .npy; graphs in any format that is written");
  command->add_option("--top", arguments->top, "Print the N vertices with the largest values");
  command->add_option("--repeat", arguments->repeat, "Run N times; report the median (default: 1)");
  command->add_option("--sources", arguments->sources, "Run once for each id in a file, one a line");
  command->add_option("--weights", arguments->weights,
                      "Give every arc weight 1: unit; or random ones: random:SEED");
  command->add_flag("--verify", arguments->verify, "Check the result against an independent one");
  command->add_flag("--statistics", arguments->statistics, "Print a line for every iteration");
  command->add_flag("--deterministic", arguments->deterministic,
                    "Floating results the same bit for bit in every run, at some cost");
  command->add_option("--direction", arguments->direction, "auto, or push or pull throughout")
      ->check(CLI::IsMember({"auto", "push", "pull"}));
  add_common_options(*command, context.common);
  command->allow_extras();
  for (const CLI::Option* option : command->get_options())
    for (const std::string& option_name : option->get_lnames()) arguments->options.push_back(option_name);
  command->footer([name] {
    return name->empty() ? "An algorithm's own options: spillway run ALGORITHM --help"
                         : help_on(name->results()[0]);
  });
  command->callback([&context, command, arguments] {
    arguments->own = command->remaining();
    context.action = [&context, arguments] { run_algorithm(*arguments, context.common); };
  });
}

}  // namespace spillway::cli
