// spillway run ALGORITHM GRAPH
#include "cli/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include <spillway/checkpoint.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/engine/stopwatch.hpp>
#include <spillway/trace.hpp>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/interrupt_watch.hpp"
#include "cli/reading.hpp"
#include "cli/report.hpp"
#include "cli/run_memory.hpp"
#include "devices/devices.hpp"
#include "graph/split.hpp"
#include "io/result_writer.hpp"
#include "plan/history.hpp"
#include "supply/methods.hpp"

#include <spillway/plugin.hpp>

namespace spillway::cli {
namespace {

/// All that can be found wrong without the graph, which may take long to load.
void check(const RunArguments& arguments) {
  number_argument("--top", arguments.top);
  number_argument("--repeat", arguments.repeat, 1);
  if (arguments.verify && !arguments.algorithm->verify)
    throw usage_error("{} has no verification: leave out --verify", arguments.algorithm->name);
  if (arguments.weights && arguments.algorithm->weights == WeightUse::ignored && !is_plugin_path(arguments.named))
    throw usage_error("--weights has no effect: {} does not use weights; leave it out", arguments.algorithm->name);
  if (number_argument("--top", arguments.top) > 0 && arguments.algorithm->makes_a_graph)
    throw usage_error("--top is for answers with columns; {} makes a graph", arguments.algorithm->name);
  if (arguments.resume && !arguments.checkpoint)
    throw usage_error("--resume goes on from --checkpoint DIR; give it");
  if (arguments.temporary && !is_folder(*arguments.temporary))
    throw usage_error("--temporary {}: there is no such folder; make it first", printable(*arguments.temporary));
  if (arguments.checkpoint_every && !arguments.checkpoint)
    throw usage_error("--checkpoint-every is how often --checkpoint DIR saves; give it");
  if (arguments.checkpoint && arguments.device != "auto" && arguments.device != "cpu")
    throw usage_error("--checkpoint is for runs on the CPU; leave out --device {}", arguments.device);
  check_ways(arguments);
  check_streams(arguments);
}

/// One of many sources that is not there should not be found out after the others have run.
void check_sources(const std::vector<Question>& asked, const Algorithm& algorithm, const Graph& graph) {
  const Parameter* source = source_parameter(algorithm);
  if (!source) return;
  for (const Question& question : asked)
    Parameters{algorithm.name, question.parameters}.vertex(graph, source->name);
}

/// Why an option for GPUs changed nothing on one; empty: it did, or may have.
std::string why_idle_on_gpu(const std::string& option, const RunArguments& arguments, const Graph& graph,
                            const RunStatistics& statistics) {
  const bool paged = option == "--streams" || option == "--page-cache";
  if (!graph.pages()) return paged ? "it is for graphs in pages" : "";
  const bool of_sent = paged || option == "--resident" || option == "--balance";
  if (of_sent && statistics.pages_wanted > 0 && statistics.pages_in_place == statistics.pages_wanted)
    return "it is for pages that are sent, and all were read in host memory";
  if (option == "--compress" && arguments.compress != "auto" &&
      arguments.compress != (statistics.compressed ? "on" : "off"))
    return "pages are as the file has them; convert the graph for others";
  return "";
}

/// An option that changed nothing is better noted than overlooked.
void note_idle_options(const Result& result, const RunArguments& arguments, const Graph& graph,
                       const Common& common) {
  const RunStatistics& statistics = result.statistics;
  const std::string&   name       = arguments.algorithm->name;
  const bool           on_cpu     = statistics.device == "cpu";
  const auto           idle       = [&](const std::string& option, const std::string& why) {
    note(common, fmt::format("{} had no effect: {}", option, why));
  };
  if (sends(arguments) && statistics.method != arguments.method)
    idle("--method " + arguments.method, name + " does not run as a vertex program");
  if (arguments.device_memory && on_cpu && statistics.device_note.empty() && !sends(arguments))
    idle("--device-memory", "it limits GPUs, and methods that transfer edges");
  if (statistics.method == unsorted_edges()->name) {
    if (arguments.resident) idle("--resident", "a list is on the device as a whole, or comes in chunks");
    const std::string whole = "it is for lists in chunks, and this one was processed as a whole";
    if (arguments.successors != "changed" && statistics.bytes_sent == 0)
      idle("--successors " + arguments.successors, whole);
    if (arguments.async != "auto" && statistics.per_iteration.empty() && graph.vertex_count() > 0)
      idle("--async " + arguments.async, name + " does not run as a vertex program");
  }
  if (arguments.balance != "auto" && statistics.balance.empty() && graph.vertex_count() > 0)
    idle("--balance", name + " does not run as a vertex program");
  for (const std::string& option : arguments.gpu_options)
    if (const std::string why = on_cpu ? "it is for GPUs, and this run was on the CPU"
                                       : why_idle_on_gpu(option, arguments, graph, statistics);
        !why.empty() && !(option == "--balance" && statistics.balance.empty()))
      idle(option, why);
  const auto parents = arguments.given.find("parents");
  if (name == "sssp" && parents != arguments.given.end() && parents->second == "search" &&
      (graph.pages() || has_tree_vertices(graph)) && graph.weight_type() == WeightType::u32)
    idle("--parents search", "distances carry parents where edges are in pages, or vertices are split");
  const auto followed = [&](const IterationStatistics& iteration) {
    return to_string(iteration.direction) == arguments.direction;
  };
  const bool unrecorded = statistics.per_iteration.empty() && arguments.algorithm->vertex_program;
  if (arguments.direction != "auto" && !unrecorded && !std::ranges::any_of(statistics.per_iteration, followed))
    idle("--direction " + arguments.direction, name + " has one direction only");
  if (number_argument("--top", arguments.top) > 0 && result.columns.empty())
    idle("--top", "the answer has no columns");
}

/// A graph with weights whose weights do not count is not what everybody expects. Plug-ins may read them unsaid.
void note_unused_weights(const RunArguments& arguments, const Graph& graph, const Common& common) {
  if (graph.weight_type() == WeightType::none || is_plugin_path(arguments.named)) return;
  if (arguments.algorithm->weights == WeightUse::ignored)
    note(common, fmt::format("{} does not use the weights of the graph", arguments.algorithm->name));
}

/// What was taken for granted of an edge list, whether or not it was a guess: nothing in the file may say
/// otherwise.
std::string words_on_list(const Graph& graph) {
  if (!graph.report().list) return "";
  const ListLayout& list = *graph.report().list;
  return fmt::format(": each line is an {} column {} {} column {}, {}; both columns name the same vertices",
                     graph.symmetric() ? "edge between" : "arc from", list.source_column,
                     graph.symmetric() ? "and" : "to", list.target_column,
                     list.weight_column > 0 ? fmt::format("weight in column {}", list.weight_column)
                                            : std::string{"without weights"});
}

void write_trace(const Trace& trace, const std::string& path, const Common& common) {
  if (trace.spans().size() < 2)
    note(common, "--trace: only loading is in it, since the algorithm is not a vertex program");
  OutputFile file{path};
  file.append(trace.chrome_json());
  file.commit();
}

Json trace_json(const Trace& trace, const std::string& path) {
  const bool sent = trace.busy_ms(Track::to_device) > 0;
  return {{"file", path},
          {"overlap", sent ? Json(trace.overlap()) : Json(nullptr)},
          {"gathering_ms", trace.busy_ms(Track::gathering)},
          {"to_device_ms", trace.busy_ms(Track::to_device)},
          {"kernels_ms", trace.busy_ms(Track::kernels)},
          {"to_host_ms", trace.busy_ms(Track::to_host)}};
}

/// Seconds of the last change to a file, since 1970.
std::string written_at(const std::string& path) {
  const auto info = information_on(path);
  return info ? fmt::format("{}.{:09}", info->st_mtim.tv_sec, info->st_mtim.tv_nsec) : "an unknown time";
}

/// A checkpoint is resumed only by the same algorithm with the same parameters, over files that have not changed.
CheckpointOptions checkpoints_for(const Question& question, const Graph& graph, const RunArguments& arguments) {
  std::string asked = arguments.algorithm->name;
  if (is_plugin_path(arguments.named))
    asked += fmt::format(" of {} ({})", arguments.named, written_at(arguments.named));
  for (const auto& [name, value] : question.parameters) asked += fmt::format(" --{} {}", name, value);
  asked += fmt::format(" over {}, written at {}", identity_of(graph), written_at(graph.name()));
  return {.folder   = *arguments.checkpoint,
          .question = asked,
          .resume   = arguments.resume,
          .seconds  = static_cast<double>(
              number_argument("--checkpoint-every", arguments.checkpoint_every.value_or("60"), 0))};
}

void tell(const Checkpoints& saved, const Common& common) {
  if (saved.resumed_at())
    note(common, fmt::format("went on from iteration {}, which {} held", *saved.resumed_at(), saved.path()));
  if (!saved.trouble().empty()) warn(fmt::format("the last checkpoint was not saved: {}", saved.trouble()));
  if (!saved.was_asked()) warn("--checkpoint had no effect: the algorithm is not a vertex program");
}

/// Some verifications want edges of a graph in pages at any place.
Verdict verdict_on(const Result& result, const Question& question, const Graph& graph,
                   const RunArguments& arguments, ProgressBar& bar, const Common& common) {
  try {
    return arguments.algorithm->verify(graph, question.parameters, result,
                                       {.threads = common.threads, .progress = &bar});
  } catch (const Error& error) {
    if (!graph.pages() || error.code() != ExitCode::does_not_fit) throw;
    throw does_not_fit("--verify: {}, or leave out --verify: {} itself was computed from the pages", error.what(),
                       arguments.algorithm->name);
  }
}

/// `left`: questions that come after it.
Answer answer(const Question& question, const Graph& graph, const RunArguments& arguments, const Common& common,
              ProgressBar& bar, Trace* trace, Checkpoints* checkpoints, std::uint64_t left) {
  const Algorithm&    algorithm = *arguments.algorithm;
  const std::uint64_t repeat    = number_argument("--repeat", arguments.repeat);
  RunOptions          options   = run_options_of(arguments, common, bar);
  options.trace                 = trace;
  options.checkpoints           = checkpoints;
  if (checkpoints && options.device.kind.automatic()) options.device.kind = device_kind_named("cpu");
  Answer found{
      .source = question.source, .result = {}, .prepare_ms = {}, .run_ms = {}, .transfer_ms = {}, .verdict = {}};
  found.all_iterations = arguments.statistics;
  std::optional<InterruptWatch> running{bar};  // checking a mapped file and building in-edges do not look
  for (std::uint64_t i = 0; i < repeat; ++i) {
    found.result    = {};  // before the next takes its memory
    options.explain = arguments.explain;
    options.runs    = static_cast<unsigned>(std::min<std::uint64_t>(repeat - i + left * repeat, UINT_MAX));
    found.result    = within_memory(arguments, question.parameters, graph, common, [&] {
      return asking(arguments, [&] { return algorithm.run(graph, question.parameters, options); });
    });
    found.prepare_ms.push_back(found.result.statistics.prepare_ms);
    found.run_ms.push_back(found.result.statistics.run_ms);
    found.transfer_ms.push_back(found.result.statistics.transfer_ms);
    check_cancelled(bar);  // a short run may not have looked
  }
  running.reset();
  check_columns(found.result, graph, arguments.named);
  if (!found.result.statistics.device_note.empty()) note(common, found.result.statistics.device_note);
  note_idle_options(found.result, arguments, graph, common);
  check_mapped_files();
  if (!arguments.verify) return found;
  const InterruptWatch watch{bar};
  found.verdict =
      asking(arguments, [&] { return verdict_on(found.result, question, graph, arguments, bar, common); });
  found.verified = true;
  check_cancelled(bar);  // of a check that was done before the watch lost patience
  check_mapped_files();
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

std::string words_on_pages(const RunStatistics& statistics) {
  const auto wanted = static_cast<double>(std::max<std::uint64_t>(statistics.pages_wanted, 1));
  const auto share  = [&](std::uint64_t others) {
    return statistics.pages_wanted == 0 ? 0 : 100 - 100 * static_cast<double>(others) / wanted;
  };
  std::string words = fmt::format(" (pages on disk, {} read; of those wanted {:.0f} % had stayed in memory",
                                  human_bytes(statistics.bytes_read), share(statistics.pages_read));
  if (statistics.device != "cpu")
    words += fmt::format(", {:.0f} % on the GPU", share(statistics.pages_sent + statistics.pages_in_place));
  if (statistics.state_chunks > 1)
    words += fmt::format("; state {}, in {} chunks", statistics.device == "cpu" ? "on disk" : "in host memory",
                         statistics.state_chunks);
  return words + ")";
}

/// Where the edges were, if not all on the GPU.
std::string words_on_edges(const RunStatistics& statistics) {
  if (statistics.method.empty()) return {};
  if (statistics.method == pages_from_disk()->name) return words_on_pages(statistics);
  const std::string sent =
      statistics.bytes_sent > 0 ? fmt::format(", {} transferred", human_bytes(statistics.bytes_sent)) : "";
  if (statistics.method == unsorted_edges()->name)
    return fmt::format(" (unsorted edges, {}{})", human_bytes(statistics.edges_on_host), sent);
  return fmt::format(" (edges in host memory, {} resident {}{})", human_bytes(statistics.edges_resident),
                     statistics.device == "cpu" ? "in the arena" : "on the GPU", sent);
}

/// What was predicted of the candidates, and what the one that ran took; of several repeats, the last.
void print_explanation(std::FILE* out, const Answer& found) {
  const auto& candidates = found.result.statistics.candidates;
  if (candidates.empty()) return fmt::print(out, "nothing was predicted: there was one way to run\n");
  fmt::print(out, "\n{:<30} {:>20} {:>20}\n", "candidate", "prepare ms", "run ms");
  for (const PlanCandidate& each : candidates)
    if (each.excluded.empty())
      fmt::print(out, "{:<30} {:>20.2f} {:>20.2f}\n", candidate_name(each), each.prepare_ms, each.run_ms);
    else
      fmt::print(out, "{:<30} {}\n", candidate_name(each), each.excluded);
  fmt::print(out, "{:<30} {:>20.2f} {:>20.2f}\n", "measured of the first one",
             found.prepare_ms.back() + found.transfer_ms.back(), found.run_ms.back());
}

/// For people. The answer itself is what --quiet leaves.
void print_answer(std::FILE* out, const Answer& found, const Graph& graph, const RunArguments& arguments,
                  const Common& common) {
  if (const std::uint64_t top = number_argument("--top", arguments.top); top > 0)
    print_top(out, *arguments.algorithm, found.result, graph, top);
  if (arguments.statistics) print_iterations(out, found.result.statistics);
  print_facts(out, found.result);
  print_summary(out, *arguments.algorithm, found.result, graph);
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
    fmt::print(out, ", on {}{}, {:.2f} s of transfers", statistics.device, words_on_edges(statistics),
               found.transfer_ms.front() / 1000);
  else
    fmt::print(out, "{}", words_on_edges(statistics));
  fmt::print(out, "{}", words_on_residence(graph));
  if (found.verified && found.verdict.problem.empty()) fmt::print(out, ", verified: {}", found.verdict.how);
  fmt::print(out, "\n");
  if (arguments.explain) print_explanation(out, found);
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
  Json entry       = answer_json(found);
  entry["summary"] = summary_json(*arguments.algorithm, found.result, graph);
  if (const std::uint64_t top = number_argument("--top", arguments.top); top > 0)
    entry["top"] = top_json(*arguments.algorithm, found.result, graph, top);
  if (several) {
    entry["source"] = found.source;
    document["runs"].push_back(std::move(entry));
  } else {
    document["time_ms"].update(entry["time_ms"]);
    entry.erase("time_ms");
    document.update(entry);
  }
}

void run_algorithm(RunArguments& arguments, const Common& common) {
  check(arguments);
  read_id_files(arguments);
  std::vector<Question> asked = questions(arguments);
  const bool            known = !may_name_with_commas(arguments);  // before the graph is there
  if (known) place_answers(asked, arguments, common);

  ProgressBar bar = progress_bar(common);
  Stopwatch   clock;
  Trace       trace;
  Trace*      traced = arguments.trace ? &trace : nullptr;
  const Graph graph  = [&] {
    const TraceSpan span{traced, Track::host, "load"};
    return asked_graph(arguments, common, bar);
  }();
  if (!known) {
    asked = questions(arguments, &graph);
    place_answers(asked, arguments, common);
  }
  if (arguments.checkpoint && (asked.size() > 1 || number_argument("--repeat", arguments.repeat) > 1))
    throw usage_error("--checkpoint is for one question, asked once; leave out --repeat and other sources");
  note_unused_weights(arguments, graph, common);
  check_sources(asked, *arguments.algorithm, graph);
  const double     load_ms  = clock.lap();
  Json             document = run_json(arguments, graph, load_ms);
  std::FILE* const out      = arguments.writes_to_standard_output() ? stderr : stdout;
  if (!common.json && !common.quiet)
    fmt::print(out, "loaded in {:.2f} s{}\n", load_ms / 1000, words_on_list(graph));

  std::string                problem;
  std::optional<Checkpoints> saved;  // of one question
  for (const Question& question : asked) {
    const auto left = static_cast<std::uint64_t>(&asked.back() - &question);
    if (arguments.checkpoint) saved.emplace(checkpoints_for(question, graph, arguments));
    const Answer found = answer(question, graph, arguments, common, bar, traced, saved ? &*saved : nullptr, left);
    if (saved) tell(*saved, common);
    if (!common.json) {
      const InterruptWatch watch{bar};  // --top may be long
      print_answer(out, found, graph, arguments, common);
    }
    write_answer(found, question, graph, common, bar);
    if (common.json) {
      const InterruptWatch watch{bar};
      add_answer(document, found, graph, arguments, asked.size() > 1);
    }
    if (found.verdict.problem.empty()) continue;
    problem = fmt::format("checked by {}, the result{} is wrong: {}", found.verdict.how,
                          asked.size() > 1 ? " from " + printable(found.source) : "", found.verdict.problem);
    break;
  }
  document["memory"] = memory_json(graph);
  if (traced)
    write_trace(trace, *arguments.trace, common), document["trace"] = trace_json(trace, *arguments.trace);
  if (common.json) {
    const InterruptWatch watch{bar};
    print_json(document);
  }
  if (!problem.empty()) throw Error{ExitCode::verification_failed, problem};
  if (saved) saved->finish();
}

}  // namespace

std::vector<std::string> add_run(Command& app, Context& context, std::vector<std::string> words) {
  Command command   = app.subcommand("run", "Run an algorithm on a graph");
  auto    arguments = std::make_shared<RunArguments>();
  add_question(command, arguments);
  command.option("-o,--output", arguments->output,
                 "Write all results: .csv, .tsv, .json or .npy, or - for csv on standard output; graphs in any "
                 "format that is written. {source} in the name becomes the source. An answer without columns "
                 "(tc without --per-vertex) is written as its facts");
  command.option("--id-map", arguments->id_map,
                 "Answers that are graphs: also write the user's id of vertex 0, 1, … one a line");
  command.option("--top", arguments->top,
                 "Print the first N: largest values, nearest vertices or largest groups, as the algorithm has it");
  command.option("--repeat", arguments->repeat, "Run N times; report the median (default: 1)");
  command.flag("--verify", arguments->verify, "Check the result against an independent implementation");
  command.flag("--statistics", arguments->statistics, "Print a line for every iteration");
  command.flag("--explain", arguments->explain,
               "Print the predicted costs of every candidate, and what the run took");
  command.option("--trace", arguments->trace,
                 "Write what ran when (copies, gathering, kernels) to FILE, in the trace format of Chrome, which "
                 "ui.perfetto.dev shows");
  command.option("--checkpoint", arguments->checkpoint,
                 "Save the state of the run, on the CPU, to this folder now and then, so that --resume can go on "
                 "after a crash; removed when the answer is there");
  command.option("--checkpoint-every", arguments->checkpoint_every,
                 "Seconds from one to the next; more where saving would take over 5 % of the time; 0: after every "
                 "iteration (default: 60)");
  command.flag("--resume", arguments->resume, "Go on from the checkpoint in the folder of --checkpoint, if any");
  add_way_options(command, *arguments);
  add_common_options(command, context.common);
  return asked_by(command, context, arguments, std::move(words),
                  [&context, arguments] { run_algorithm(*arguments, context.common); });
}

}  // namespace spillway::cli
