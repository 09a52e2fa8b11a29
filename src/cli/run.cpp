// spillway run ALGORITHM GRAPH
#include "cli/run.hpp"

#include <fmt/format.h>

#include <memory>

#include <spillway/engine/memory.hpp>

#include "base/clock.hpp"
#include "base/fail.hpp"
#include "base/text.hpp"
#include "cli/interrupt_watch.hpp"
#include "cli/report.hpp"
#include "io/result_writer.hpp"
#include "plan/devices.hpp"

#include <spillway/plugin.hpp>

namespace spillway::cli {
namespace {

/// cuda or cuda:N, and that there is such a GPU. Without one, "auto" is the CPU.
DeviceChoice device_of(const RunArguments& arguments) {
  using Kind = DeviceChoice::Kind;
  DeviceChoice choice{.kind   = Kind::automatic,
                      .memory = size_argument("--device-memory", arguments.device_memory)};
  if (arguments.device == "auto") return choice;
  if (arguments.device == "cpu") return {.kind = Kind::cpu, .memory = choice.memory};
  const auto index = arguments.device == "cuda"              ? std::optional<std::uint64_t>{0}
                     : arguments.device.starts_with("cuda:") ? parse_number(arguments.device.substr(5))
                                                             : std::nullopt;
  if (!index) throw usage_error("--device takes auto, cpu, cuda or cuda:N, not '{}'", printable(arguments.device));
  const CudaDevices found = cuda_devices();
  if (found.devices.empty())
    throw usage_error("--device {}: there is no GPU to use here ({}); --device cpu works everywhere",
                      arguments.device, found.absence);
  if (*index >= found.devices.size())
    throw usage_error("--device {}: this machine has {}, the first is cuda:0", arguments.device,
                      counted(found.devices.size(), "GPU", "GPUs"));
  if (!arguments.algorithm->on_gpu)
    throw usage_error("{} runs on the cpu only; leave out --device {}", arguments.algorithm->name,
                      arguments.device);
  choice.kind  = Kind::cuda;
  choice.index = static_cast<int>(*index);
  return choice;
}

CudaTuning cuda_tuning_of(const RunArguments& arguments) {
  CudaTuning tuning;
  tuning.filter      = arguments.filter == "online"   ? Filter::online
                       : arguments.filter == "ballot" ? Filter::ballot
                       : arguments.filter == "batch"  ? Filter::batch
                                                      : Filter::just_in_time;
  tuning.fusion      = arguments.fusion == "none"       ? Fusion::none
                       : arguments.fusion == "pushpull" ? Fusion::push_pull
                                                        : Fusion::all;
  tuning.order       = arguments.order == "degree"    ? VertexOrder::degree
                       : arguments.order == "natural" ? VertexOrder::natural
                                                      : VertexOrder::automatic;
  tuning.bin_entries = arguments.bin_entries;
  tuning.aggregate   = arguments.aggregate;
  return tuning;
}

Method method_of(const RunArguments& arguments) {
  for (const Method method : {Method::frontier, Method::zerocopy, Method::subgraph, Method::partitions})
    if (arguments.method == to_string(method)) return method;
  return Method::automatic;
}

bool sends(const RunArguments& arguments) {
  return method_of(arguments) == Method::subgraph || method_of(arguments) == Method::partitions;
}

SupplyOptions supply_of(const RunArguments& arguments) {
  SupplyOptions supply;
  supply.compress = arguments.compress == "on"    ? Compress::on
                    : arguments.compress == "off" ? Compress::off
                                                  : Compress::automatic;
  if (arguments.resident)
    supply.resident = arguments.resident == "0" ? 0 : size_argument("--resident", arguments.resident);
  supply.async = arguments.async == "on" ? Async::on : arguments.async == "off" ? Async::off : Async::automatic;
  supply.all_parts = arguments.all_partitions;
  return supply;
}

/// The seed of "random:SEED"; nothing of "unit".
std::optional<std::uint64_t> weight_seed(const std::string& text) {
  if (text == "unit") return std::nullopt;
  const auto seed = text.starts_with("random:") ? parse_number(text.substr(7)) : std::nullopt;
  if (!seed) throw usage_error("--weights takes unit or random:SEED, not '{}'", printable(text));
  return seed;
}

/// An option that would change nothing is a mistake somewhere: it is better told than overlooked.
void check_gpu_options(const RunArguments& arguments) {
  if (arguments.device == "cpu" && !arguments.gpu_option.empty())
    throw usage_error("{} is for GPUs; leave it out, or --device cpu", arguments.gpu_option);
  if (arguments.method != "frontier" || (arguments.compress != "on" && !arguments.resident)) return;
  throw usage_error("--method frontier keeps all edges on the GPU as they are; leave it out, or {}",
                    arguments.resident ? "--resident" : "--compress on");
}

/// All that can be found wrong without the graph, which may take long to load.
void check(const RunArguments& arguments) {
  number_argument("--top", arguments.top);
  number_argument("--repeat", arguments.repeat, 1);
  if (arguments.verify && !arguments.algorithm->verify)
    throw usage_error("{} comes without a check: leave out --verify", arguments.algorithm->name);
  if (arguments.weights) weight_seed(*arguments.weights);
  if (arguments.method == "zerocopy" && arguments.device == "cpu")
    throw usage_error("--method zerocopy is a way of GPUs; leave out --device cpu");
  check_gpu_options(arguments);
  if (sends(arguments) && (arguments.compress == "on" || arguments.direction == "pull"))
    throw usage_error(
        "--method {} sends edges as they are, to be pushed unless all vertices are active; leave out {}",
        arguments.method, arguments.compress == "on" ? "--compress on" : "--direction pull");
  if ((arguments.async == "on" || arguments.all_partitions) && !sends(arguments))
    throw usage_error("{} is for edges that are sent: use it with --method subgraph or partitions",
                      arguments.async == "on" ? "--async on" : "--all-partitions");
  device_of(arguments);
  supply_of(arguments);
  if (arguments.method == "zerocopy")
    if (const CudaDevices found = cuda_devices(); found.devices.empty())
      throw usage_error("--method zerocopy is a way of GPUs; there is none to use here ({}): leave it out",
                        found.absence);
  check_streams(arguments);
}

Direction direction_of(const RunArguments& arguments) {
  return arguments.direction == "push"   ? Direction::push
         : arguments.direction == "pull" ? Direction::pull
                                         : Direction::automatic;
}

Graph with_asked_weights(const Graph& graph, const RunArguments& arguments, const Common& common) {
  if (!arguments.weights) return graph;
  if (graph.weight_type() != WeightType::none) note(common, "--weights replaces the weights that the graph has");
  if (const auto seed = weight_seed(*arguments.weights))
    return with_random_weights(graph, *seed, 1, 64, common.threads);
  return with_unit_weights(graph, common.threads);
}

void check_weights(const Algorithm& algorithm, const Graph& graph) {
  if (algorithm.weights != WeightUse::needed || graph.weight_type() != WeightType::none || graph.arc_count() == 0)
    return;
  throw bad_input(
      "{} needs weights and the graph has none; --weights unit gives every arc 1, --weights random:SEED random "
      "ones from 1 to 64",
      algorithm.name);
}

/// One of many sources that is not there should not be found out after the others have run.
void check_sources(const std::vector<Question>& asked, const Algorithm& algorithm, const Graph& graph) {
  const Parameter* source = source_parameter(algorithm);
  if (!source) return;
  for (const Question& question : asked)
    Parameters{algorithm.name, question.parameters}.vertex(graph, source->name);
}

/// Calls into the algorithm. A plug-in may throw anything; what says nothing of where it comes from gets its name.
template <class Body>
auto asking(const RunArguments& arguments, Body&& body) {
  const std::string& name = arguments.named;
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw internal_error("{}: {}", name, error.what());
  } catch (...) {
    throw internal_error("{}: threw something that is no std::exception", name);
  }
}

Answer answer(const Question& question, const Graph& graph, const RunArguments& arguments, const Common& common,
              ProgressBar& bar) {
  const Algorithm&    algorithm = *arguments.algorithm;
  const std::uint64_t repeat    = number_argument("--repeat", arguments.repeat);
  const RunOptions    options{.threads       = common.threads,
                              .deterministic = arguments.deterministic,
                              .direction     = direction_of(arguments),
                              .progress      = &bar,
                              .tuning        = {},
                              .device        = device_of(arguments),
                              .cuda          = cuda_tuning_of(arguments),
                              .method        = method_of(arguments),
                              .supply        = supply_of(arguments)};
  Answer              found{
                   .source = question.source, .result = {}, .prepare_ms = {}, .run_ms = {}, .transfer_ms = {}, .verdict = {}};
  for (std::uint64_t i = 0; i < repeat; ++i) {
    found.result = {};  // before the next takes its memory
    found.result = asking(arguments, [&] { return algorithm.run(graph, question.parameters, options); });
    found.prepare_ms.push_back(found.result.statistics.prepare_ms);
    found.run_ms.push_back(found.result.statistics.run_ms);
    found.transfer_ms.push_back(found.result.statistics.transfer_ms);
    check_cancelled(bar);  // a short run may not have looked
  }
  check_columns(found.result, graph, arguments.named);
  if (!found.result.statistics.device_note.empty()) note(common, found.result.statistics.device_note);
  if (sends(arguments) && found.result.statistics.method != arguments.method)
    note(common, fmt::format("{} goes its own way over edges: --method {} has changed nothing", algorithm.name,
                             arguments.method));
  if (!arguments.verify) return found;
  const InterruptWatch watch{bar};
  found.verdict  = asking(arguments, [&] {
    return algorithm.verify(graph, question.parameters, found.result,
                             {.threads = common.threads, .progress = &bar});
  });
  found.verified = true;
  check_cancelled(bar);  // of a check that was done before the watch lost patience
  return found;
}

void write_answer(const Answer& found, const Question& question, const Graph& graph, const Common& common,
                  ProgressBar& bar) {
  if (!question.output || !found.verdict.problem.empty()) return;
  if (found.result.graph)
    return save_graph(*found.result.graph, {.path = *question.output, .id_map = question.id_map}, common, bar);
  write_result(found.result, graph, *question.output, bar);
  if (found.result.columns.empty())
    note(common, fmt::format("{}: there are no columns to write, so it holds the facts", *question.output));
}

/// Where the edges were, if not all on the GPU.
std::string words_on_edges(const RunStatistics& statistics) {
  if (statistics.method.empty()) return {};
  const std::string sent =
      statistics.bytes_sent > 0 ? fmt::format(", {} sent", human_bytes(statistics.bytes_sent)) : "";
  return fmt::format(" (edges in host memory, {} of them {}{})", human_bytes(statistics.edges_resident),
                     statistics.device == "cpu" ? "in the arena" : "on the GPU, too", sent);
}

/// For people. The answer itself is what --quiet leaves.
void print_answer(std::FILE* out, const Answer& found, const Graph& graph, const RunArguments& arguments,
                  const Common& common) {
  if (const std::uint64_t top = number_argument("--top", arguments.top); top > 0)
    print_top(out, found.result, graph, top);
  if (arguments.statistics) print_iterations(out, found.result.statistics);
  print_facts(out, found.result);
  if (common.quiet) return;
  fmt::print(out, "{}{} on {} and {}: {:.2f} ms", arguments.algorithm->name,
             found.source.empty() ? "" : " from " + printable(found.source),
             counted(graph.vertex_count(), "vertex", "vertices"), counted(graph.arc_count(), "arc", "arcs"),
             found.median_ms());
  if (const std::uint64_t iterations = found.result.statistics.iterations; iterations > 0)
    fmt::print(out, ", {}", counted(iterations, "iteration", "iterations"));
  constexpr double worth_telling_ms = 10;
  if (found.prepare_ms.front() >= worth_telling_ms)
    fmt::print(out, ", prepared in {:.2f} s", found.prepare_ms.front() / 1000);
  if (const RunStatistics& statistics = found.result.statistics; statistics.device != "cpu")
    fmt::print(out, ", on {}{}, {:.2f} s to and from it", statistics.device, words_on_edges(statistics),
               found.transfer_ms.front() / 1000);
  else
    fmt::print(out, "{}", words_on_edges(statistics));
  if (found.verified && found.verdict.problem.empty()) fmt::print(out, ", verified: {}", found.verdict.how);
  fmt::print(out, "\n");
}

Json run_json(const RunArguments& arguments, const Graph& graph, double load_ms) {
  return {{"algorithm", arguments.algorithm->name},
          {"graph", graph_json(graph)},
          {"method", arguments.method},
          {"time_ms", {{"load", load_ms}}},
          {"memory", Json::object()}};
}

void add_answer(Json& document, const Answer& found, const Graph& graph, const RunArguments& arguments,
                bool several) {
  Json entry = answer_json(found);
  if (const std::uint64_t top = number_argument("--top", arguments.top); top > 0)
    entry["top"] = top_json(found.result, graph, top);
  if (several) {
    entry["source"] = found.source;
    document["runs"].push_back(std::move(entry));
  } else {
    document["time_ms"].update(entry["time_ms"]);
    entry.erase("time_ms");
    document.update(entry);
  }
}

void run_algorithm(const RunArguments& arguments, const Common& common) {
  check(arguments);
  std::vector<Question> asked = questions(arguments);
  place_answers(asked, arguments, common);

  ProgressBar bar = progress_bar(common);
  Stopwatch   clock;
  const Graph loaded = open(arguments.load.path, arguments.load.options(common, bar));
  const Graph graph  = with_asked_weights(loaded, arguments, common);
  note_all(common, loaded.report().notes);
  check_weights(*arguments.algorithm, graph);
  check_sources(asked, *arguments.algorithm, graph);
  const double     load_ms  = clock.lap();
  Json             document = run_json(arguments, graph, load_ms);
  std::FILE* const out      = arguments.writes_to_standard_output() ? stderr : stdout;
  if (!common.json && !common.quiet) fmt::print(out, "loaded in {:.2f} s\n", load_ms / 1000);

  std::string problem;
  for (const Question& question : asked) {
    const Answer found = answer(question, graph, arguments, common, bar);
    if (!common.json) print_answer(out, found, graph, arguments, common);
    write_answer(found, question, graph, common, bar);
    add_answer(document, found, graph, arguments, asked.size() > 1);
    if (found.verdict.problem.empty()) continue;
    problem = fmt::format("checked by {}, the result{} is wrong: {}", found.verdict.how,
                          asked.size() > 1 ? " from " + printable(found.source) : "", found.verdict.problem);
    break;
  }
  document["memory"]["host_peak"] = graph.budget()->peak();
  if (common.json) print_json(document);
  if (!problem.empty()) throw Error{ExitCode::verification_failed, problem};
}

void add_parameters(CLI::App& command, RunArguments& arguments) {
  const Algorithm& algorithm = *arguments.algorithm;
  for (const Parameter& parameter : algorithm.parameters) {
    const std::string name = "--" + parameter.name;
    if (command.get_option_no_throw(name))
      throw bad_input("{}: its parameter '{}' has the name of an option of run; give it another", arguments.named,
                      parameter.name);
    auto* option = command.add_option_function<std::string>(
        name, [&arguments, key = parameter.name](const std::string& value) { arguments.given[key] = value; },
        with_default(parameter));
    option->group("Options of " + algorithm.name);
    if (parameter.kind == ParameterKind::flag) option->type_name("[yes|no]");
  }
}

/// The first option that was given of those that say how a GPU works; empty if there is none.
std::string given_gpu_option(const CLI::App& command, const RunArguments& arguments) {
  for (const char* name : {"--compress", "--filter", "--bin-entries", "--aggregate", "--fusion", "--order"})
    if (command.count(name) > 0) return name;
  return command.count("--resident") > 0 && !sends(arguments) ? "--resident" : "";
}

/// Where the words name an algorithm, its parameters become options. Returns the words to parse.
std::vector<std::string> add_algorithm_options(CLI::App& command, RunArguments& arguments, Context& context,
                                               std::vector<std::string> words) {
  const auto name = algorithm_word(command, words);
  if (!name) return words;
  arguments.named      = *name;
  arguments.algorithm  = &(is_plugin_path(*name) ? load_plugin(*name) : algorithm_named(*name));
  context.taker        = arguments.algorithm->name;
  const bool asks_each = source_parameter(*arguments.algorithm) && !has_parameter(*arguments.algorithm, "sources");
  if (!asks_each) command.remove_option(command.get_option("--sources"));
  add_parameters(command, arguments);
  command.footer(fmt::format("{}: {}", arguments.algorithm->name, arguments.algorithm->summary));
  return with_flags_spelled_out(*arguments.algorithm, std::move(words));
}

}  // namespace

std::vector<std::string> add_run(CLI::App& app, Context& context, std::vector<std::string> words) {
  auto* command   = app.add_subcommand("run", "Run an algorithm on a graph");
  auto  arguments = std::make_shared<RunArguments>();
  auto  word      = std::make_shared<std::string>();
  command->add_option("ALGORITHM", *word, "One that `spillway algorithms` lists, or a plug-in: ./mine.so")
      ->required();
  arguments->load.add_to(*command);
  command->add_option("--device", arguments->device, "auto, cpu, cuda or cuda:N (default: auto)");
  command->add_option("--device-memory,--gpu-memory", arguments->device_memory,
                      "Most memory to hold on the device, e.g. 4GiB (default: what is free); on the CPU with "
                      "--method subgraph or partitions");
  command
      ->add_option(
          "--method", arguments->method,
          "Where edges are: all on the device (frontier), in host memory that the GPU reads (zerocopy), or sent "
          "from there: those of active vertices (subgraph), whole partitions (partitions); auto (default): the "
          "first where they fit, else the second, or the last where all edges are wanted every time")
      ->check(CLI::IsMember({"auto", "frontier", "zerocopy", "subgraph", "partitions"}));
  command
      ->add_option(
          "--compress", arguments->compress,
          "Edges that do not fit a GPU are coded, which takes a moment and halves the bytes: on, off or auto "
          "(default: where that pays)")
      ->check(CLI::IsMember({"auto", "on", "off"}));
  command->add_option(
      "--resident", arguments->resident,
      "Of edges that do not fit, most to keep on the GPU, e.g. 1GiB (default: what there is room for)");
  command
      ->add_option("--async", arguments->async,
                   "Edges that were sent are worked on until nobody there has anything new: on, off, or auto "
                   "(default): on graphs with few neighbours, where the algorithm can")
      ->check(CLI::IsMember({"auto", "on", "off"}));
  command->add_flag("--all-partitions", arguments->all_partitions,
                    "--method partitions sends all of them, whether anybody there is active or not, for study");
  command->add_option(
      "-o,--output", arguments->output,
      "Write all results: .csv, .tsv, .json or .npy, or - for csv on standard output; graphs in any "
      "format that is written. {source} in the name becomes the source. An answer without columns "
      "(tc without --per-vertex) is written as its facts");
  command->add_option("--id-map", arguments->id_map,
                      "Answers that are graphs: also write the user's id of vertex 0, 1, … one a line");
  command->add_option("--top", arguments->top, "Print the N vertices with the largest values");
  command->add_option("--repeat", arguments->repeat, "Run N times; report the median (default: 1)");
  command->add_option("--sources", arguments->sources,
                      "Run once for each id in a file, one a line (- is standard input; # starts a comment)");
  command->add_option("--weights", arguments->weights,
                      "Give every arc weight 1: unit; or random ones: random:SEED");
  command->add_flag("--verify", arguments->verify, "Check the result against an independent one");
  command->add_flag("--statistics", arguments->statistics, "Print a line for every iteration");
  command->add_flag("--deterministic", arguments->deterministic,
                    "Floating results the same bit for bit in every run, at some cost");
  command
      ->add_option("--direction", arguments->direction,
                   "push or pull throughout, or auto (default): what is less work")
      ->check(CLI::IsMember({"auto", "push", "pull"}));
  command
      ->add_option("--filter", arguments->filter,
                   "How a GPU lists its frontiers, for study: jit (default), online, ballot or batch")
      ->check(CLI::IsMember({"jit", "online", "ballot", "batch"}));
  command
      ->add_option(
          "--bin-entries", arguments->bin_entries,
          fmt::format("Vertices that a GPU thread may find before a ballot takes over, for study (default: {})",
                      arguments->bin_entries))
      ->check(CLI::Range(1u, 1u << 20));
  command->add_flag("--aggregate", arguments->aggregate,
                    "GPU lanes whose updates go to one vertex combine them first, for study");
  command
      ->add_option("--fusion", arguments->fusion,
                   "What a kernel does at once, for study: none, pushpull or all (default)")
      ->check(CLI::IsMember({"none", "pushpull", "all"}));
  command
      ->add_option("--order", arguments->order,
                   "How vertices lie on a GPU: natural, degree (hubs first; where all are active), or auto "
                   "(default: whichever pays)")
      ->check(CLI::IsMember({"auto", "natural", "degree"}));
  add_common_options(*command, context.common);
  command->footer("An algorithm's own options: spillway run ALGORITHM --help");
  command->callback([&context, arguments, word, command] {
    if (*word != arguments->named)
      throw usage_error("'{}' was taken for the algorithm; name it before its options",
                        printable(arguments->named));
    arguments->gpu_option = given_gpu_option(*command, *arguments);
    context.action        = [&context, arguments] { run_algorithm(*arguments, context.common); };
  });
  if (words.empty() || words.front() != "run") return words;
  words.erase(words.begin());
  words = add_algorithm_options(*command, *arguments, context, std::move(words));
  words.insert(words.begin(), "run");
  return words;
}

}  // namespace spillway::cli
