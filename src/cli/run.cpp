// spillway run ALGORITHM GRAPH
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/clock.hpp"
#include "base/fail.hpp"
#include "base/files.hpp"
#include <spillway/engine/memory.hpp>
#include "base/text.hpp"
#include "cli/command.hpp"
#include "io/result_writer.hpp"

#include <spillway/plugin.hpp>

namespace spillway::cli {
namespace {

struct RunArguments {
  std::string              algorithm;
  LoadArguments            load;
  std::string              device = "auto", method = "auto", output;
  std::string              top = "0", repeat = "1";
  bool                     verify = false;
  std::vector<std::string> own;      ///< words for the algorithm itself
  std::vector<std::string> options;  ///< names of all that `run` itself takes
};

/// Words that no option of `run` takes are the algorithm's own parameters: --name value, or --name=value.
ParameterValues parameters_of(const Algorithm& algorithm, const std::vector<std::string>& words,
                              std::vector<std::string> options) {
  ParameterValues          values;
  std::vector<std::string> names;
  for (const Parameter& parameter : algorithm.parameters) names.push_back(parameter.name);
  options.insert(options.end(), names.begin(), names.end());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) throw usage_error("'{}' is not expected here", printable(words[i]));
    const auto        equals = words[i].find('=');
    const std::string name   = words[i].substr(2, equals == std::string::npos ? equals : equals - 2);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const auto near = nearest_word(name, options);
      throw usage_error("'--{}' is no option of run {}{}", printable(name), algorithm.name,
                        near ? fmt::format(" (did you mean '--{}'?)", *near) : std::string{});
    }
    if (equals != std::string::npos) {
      values[name] = words[i].substr(equals + 1);
    } else {
      values[name] = i + 1 < words.size() ? words[++i] : "";
    }
  }
  return completed_parameters(algorithm, values);
}

/// Until the GPU engine is there, asking for it is answered, not ignored.
void check_device(const RunArguments& arguments) {
  if (arguments.device == "auto" || arguments.device == "cpu") return;
  if (!arguments.device.starts_with("cuda"))
    throw usage_error("--device takes auto, cpu, cuda or cuda:N, not '{}'", printable(arguments.device));
  throw usage_error("{} runs on the cpu only; leave out --device {}", arguments.algorithm,
                    printable(arguments.device));
}

/// The vertices with the largest values of the first column; the smaller id first where values are the same.
std::vector<Vertex> top_vertices(const Result& result, const Graph& graph, std::uint64_t top) {
  if (result.columns.empty() || top == 0) return {};
  std::vector<Vertex> order(graph.vertex_count());
  std::iota(order.begin(), order.end(), 0);
  order.resize(std::min<std::uint64_t>(top, order.size()));
  std::visit(
      [&](const auto& values) {
        const auto before = [&](Vertex a, Vertex b) {
          return values[a] != values[b] ? values[a] > values[b] : a < b;
        };
        std::make_heap(order.begin(), order.end(), before);
        for (std::uint64_t v = order.size(); v < graph.vertex_count(); ++v) {
          if (!before(static_cast<Vertex>(v), order.front())) continue;
          std::pop_heap(order.begin(), order.end(), before);
          order.back() = static_cast<Vertex>(v);
          std::push_heap(order.begin(), order.end(), before);
        }
        std::sort_heap(order.begin(), order.end(), before);
      },
      result.columns.front().values);
  return order;
}

std::string value_text(const Column& column, Vertex v, const IdMap& ids) {
  std::string text;
  append_value(text, column, v, ids);
  return text;
}

void print_top(const Result& result, const Graph& graph, const std::vector<Vertex>& top) {
  fmt::print("{:>20}", "vertex");
  for (const Column& column : result.columns) fmt::print(" {:>14}", column.name);
  fmt::print("\n");
  for (const Vertex v : top) {
    fmt::print("{:>20}", printable(graph.ids().name(v)));
    for (const Column& column : result.columns) fmt::print(" {:>14}", value_text(column, v, graph.ids()));
    fmt::print("\n");
  }
}

Json top_json(const Result& result, const Graph& graph, const std::vector<Vertex>& top) {
  Json list = Json::array();
  for (const Vertex v : top) {
    Json entry{{"vertex", graph.ids().name(v)}};
    for (const Column& column : result.columns) entry[column.name] = value_text(column, v, graph.ids());
    list.push_back(std::move(entry));
  }
  return list;
}

Json to_json(const RunArguments& arguments, const Graph& graph, const Result& result, double load_ms,
             const std::vector<double>& run_ms, const Verdict& verdict) {
  Json verified = nullptr;
  if (arguments.verify)
    verified = {{"how", verdict.how}, {"right", verdict.problem.empty()}, {"problem", verdict.problem}};
  return {{"algorithm", arguments.algorithm},
          {"graph", graph_json(graph)},
          {"device", "cpu"},
          {"method", "auto"},
          {"time_ms", {{"load", load_ms}, {"prepare", result.statistics.prepare_ms}, {"run", run_ms}}},
          {"iterations", result.statistics.iterations},
          {"edges_processed", result.statistics.edges_processed},
          {"bytes", {{"host_to_device", 0}, {"disk_read", 0}}},
          {"memory", {{"host_peak", graph.budget()->peak()}}},
          {"verified", verified}};
}

void run_algorithm(const RunArguments& arguments, const Common& common) {
  const Algorithm&      algorithm  = is_plugin_path(arguments.algorithm) ? load_plugin(arguments.algorithm)
                                                                         : algorithm_named(arguments.algorithm);
  const ParameterValues parameters = parameters_of(algorithm, arguments.own, arguments.options);
  check_device(arguments);
  if (arguments.method != "auto") throw usage_error("--method takes auto, not '{}'", printable(arguments.method));
  if (!arguments.output.empty()) check_result_path(arguments.output);

  const std::uint64_t top    = number_argument("--top", arguments.top);
  const std::uint64_t repeat = number_argument("--repeat", arguments.repeat);
  if (repeat == 0) throw usage_error("--repeat takes a whole number from 1 on");
  if (!arguments.output.empty() && same_file(arguments.output, arguments.load.path))
    throw usage_error("--output {}: this is the graph itself; give the result a file of its own",
                      arguments.output);

  ProgressBar  bar = progress_bar(common);
  Stopwatch    clock;
  const Graph  graph   = open(arguments.load.path, arguments.load.options(common, bar));
  const double load_ms = clock.lap();
  note_all(common, graph.report().notes);

  Result              result;
  std::vector<double> run_ms;
  for (std::uint64_t i = 0; i < repeat; ++i) {
    result = algorithm.run(graph, parameters, {.threads = common.threads, .progress = &bar});
    run_ms.push_back(result.statistics.run_ms);
  }
  Verdict verdict;
  if (arguments.verify) verdict = algorithm.verify(graph, parameters, result, {.threads = common.threads, .progress = &bar});
  if (!arguments.output.empty() && verdict.problem.empty()) write_result(result, graph, arguments.output, bar);

  if (common.json) {
    Json document = to_json(arguments, graph, result, load_ms, run_ms, verdict);
    if (top > 0) document["top"] = top_json(result, graph, top_vertices(result, graph, top));
    print_json(document);
  } else {
    if (top > 0) print_top(result, graph, top_vertices(result, graph, top));
    std::sort(run_ms.begin(), run_ms.end());
    fmt::print("{} on {} vertices and {} arcs: {:.2f} ms (loaded in {:.2f} s{})\n", arguments.algorithm,
               with_commas(graph.vertex_count()), with_commas(graph.arc_count()), run_ms[run_ms.size() / 2],
               load_ms / 1000,
               arguments.verify && verdict.problem.empty() ? fmt::format("; verified: {}", verdict.how) : "");
  }
  if (!verdict.problem.empty())
    throw Error{ExitCode::verification_failed, fmt::format("the {} disagrees: {}", verdict.how, verdict.problem)};
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  auto* command   = app.add_subcommand("run", "Run an algorithm on a graph");
  auto  arguments = std::make_shared<RunArguments>();
  command->add_option("ALGORITHM", arguments->algorithm, "One of `spillway algorithms`, or a plug-in")->required();
  arguments->load.add_to(*command);
  command->add_option("--device", arguments->device, "auto, cpu, cuda or cuda:N (default: auto)");
  command->add_option("--method", arguments->method, "auto (default)");
  command->add_option("-o,--output", arguments->output, "Write all results: .csv, .tsv, .json or .npy");
  command->add_option("--top", arguments->top, "Print the N vertices with the largest values");
  command->add_option("--repeat", arguments->repeat, "Run N times; report the median (default: 1)");
  command->add_flag("--verify", arguments->verify, "Check the result against an independent one");
  add_common_options(*command, context.common);
  command->allow_extras();
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) arguments->options.push_back(name);
  command->callback([&context, command, arguments] {
    arguments->own = command->remaining();
    context.action = [&context, arguments] { run_algorithm(*arguments, context.common); };
  });
}

}  // namespace spillway::cli
