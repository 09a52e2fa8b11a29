// spillway plan ALGORITHM GRAPH: what `run` would do, and why, without doing it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "cli/interrupt_watch.hpp"
#include "cli/reading.hpp"
#include "cli/report.hpp"
#include "cli/run.hpp"
#include "cli/run_memory.hpp"
#include "cli/what_if.hpp"

#include <spillway/engine/stopwatch.hpp>
#include <spillway/engine/transfer.hpp>
#include <spillway/plan.hpp>

namespace spillway::cli {
namespace {

/// The predicted time to transfer the edges of an iteration by each strategy, by the share of edges that is
/// active.
struct Prediction {
  double      share;
  double      read, gathered, sent;  ///< milliseconds
  const char* best;
};

/// Of the ways that a method has.
const char* taken(Method method, const Prediction& line) {
  if (method->reads_in_place && (!method->transfers || (line.read <= line.gathered && line.read <= line.sent)))
    return "in place";
  return method->gathers && line.gathered < line.sent ? "gathered" : "whole partitions";
}

std::vector<Prediction> predictions(const Plan& plan) {
  std::vector<Prediction> table;
  if (!plan.rates || plan.compressed || plan.edge_bytes == 0) return table;
  const TransferCosts costs{*plan.rates, plan.weighted};
  const double outside = 1 - static_cast<double>(plan.resident_bytes) / static_cast<double>(plan.edge_bytes);
  const double edges   = static_cast<double>(plan.arcs) * outside;
  const double rows    = static_cast<double>(plan.vertices) * outside;
  for (const double share : {1.0, 0.5, 0.1, 0.01, 0.001, 0.00001}) {
    Prediction line{share, 1e3 * costs.read(share * edges, share * rows),
                    1e3 * (costs.step() + costs.gathered(share * edges, share * rows)),
                    1e3 * (costs.step() + costs.sent(edges)), ""};
    line.best = taken(method_named(plan.method), line);
    table.push_back(line);
  }
  return table;
}

std::string method_text(const Plan& plan) {
  if (plan.method.empty()) return "does not apply";
  return plan.method + (plan.compressed ? ", edges compressed" : "");
}

std::string milliseconds(double ms) { return ms < 9.995 ? fmt::format("{:.2f}", ms) : fmt::format("{:.0f}", ms); }

/// Best first; then what would have to change for the others.
void print_candidates(const Plan& plan) {
  if (plan.candidates.size() < 2) return;
  fmt::print("\n{:<8} {:<22} {:>10} {:>11} {:>10} {:>10} {:>10} {:>10}\n", "device", "candidate", "prepare ms",
             "transfer ms", "compute ms", "run ms", "memory", "over bus");
  for (const PlanCandidate& each : plan.candidates)
    if (each.excluded.empty())
      fmt::print("{:<8} {:<22} {:>10} {:>11} {:>10} {:>10} {:>10} {:>10}\n", each.device, candidate_name(each),
                 milliseconds(each.prepare_ms), milliseconds(each.transfer_ms), milliseconds(each.compute_ms),
                 milliseconds(each.run_ms), human_bytes(each.device_bytes), human_bytes(each.bus_bytes));
    else
      fmt::print("{:<8} {:<22} {}\n", each.device, candidate_name(each), each.excluded);
  fmt::print("\ntransfer and computing overlap where they can; {}\n",
             plan.knows_activity ? "active vertices are expected as in the last run over this graph"
                                 : "not known before a first run: how many vertices are active in each iteration");
}

void print_plan(const Plan& plan, const Graph& graph, const RunArguments& arguments) {
  const auto line = [](const char* name, const std::string& value) { fmt::print("{:<12} {}\n", name, value); };
  line("run", fmt::format("{} on {} and {}", arguments.algorithm->name,
                          counted(graph.vertex_count(), "vertex", "vertices"),
                          counted(graph.arc_count(), "arc", "arcs")));
  line("device", plan.room > 0 ? fmt::format("{}, {} to use", plan.device, human_bytes(plan.room)) : plan.device);
  line("method", method_text(plan));
  for (const std::string& why : plan.why) line(&why == plan.why.data() ? "why" : "", why);
  if (!arguments.forms.empty()) line(plan.why.empty() ? "why" : "", text_of_forms(arguments));
  if (plan.state_bytes > 0)
    line("state",
         plan.state_chunks > 1
             ? fmt::format("{}, {}, in {} chunks with a pass over the pages each", human_bytes(plan.state_bytes),
                           plan.device == "cpu" ? "on disk" : "the rest in host memory", plan.state_chunks)
             : human_bytes(plan.state_bytes));
  if (plan.method == pages_from_disk()->name)
    line("pages", fmt::format("{}, {} of them stay {} once read", human_bytes(plan.edge_bytes),
                              plan.resident_bytes == plan.edge_bytes ? "all" : human_bytes(plan.resident_bytes),
                              plan.device == "cpu" ? "in memory" : "on the GPU"));
  else if (plan.edge_bytes > 0 && (plan.device != "cpu" || plan.rates))
    line("edges", fmt::format("{}, {} of them on the device", human_bytes(plan.edge_bytes),
                              plan.resident_bytes == plan.edge_bytes ? "all" : human_bytes(plan.resident_bytes)));
  print_candidates(plan);
  const std::vector<Prediction> table = predictions(plan);
  if (table.empty()) return;
  fmt::print("\nedges active   in place ms   gathered ms   whole partitions ms   chosen\n");
  for (const Prediction& way : table)
    fmt::print("{:>11.3g}% {:>13.3f} {:>13.3f} {:>21.3f}   {}\n", 100 * way.share, way.read, way.gathered,
               way.sent, way.best);
}

Json plan_json(const Plan& plan, const Graph& graph, const RunArguments& arguments, double load_ms,
               double plan_ms) {
  Json table = Json::array();
  for (const Prediction& way : predictions(plan))
    table.push_back({{"active_share", way.share},
                     {"in_place_ms", way.read},
                     {"gathered_ms", way.gathered},
                     {"whole_partitions_ms", way.sent},
                     {"chosen", way.best}});
  Json document{{"algorithm", arguments.algorithm->name},
                {"graph", graph_json(graph)},
                {"device", plan.device},
                {"method", plan.method.empty() ? Json(nullptr) : Json(plan.method)},
                {"compressed", plan.compressed},
                {"why", plan.why},
                {"device_memory", plan.room},
                {"state_bytes", plan.state_bytes},
                {"state_chunks", plan.state_chunks},
                {"edge_bytes", plan.edge_bytes},
                {"resident_bytes", plan.resident_bytes},
                {"knows_activity", plan.knows_activity},
                {"candidates", candidates_json(plan.candidates)},
                {"predicted", table},
                {"time_ms", {{"load", load_ms}, {"plan", plan_ms}}}};
  if (plan.rates) document["rates"] = rates_json(*plan.rates);
  for (const FormPrice& each : arguments.forms)
    document["forms"].push_back({{"form", to_string(each.form)},
                                 {"device", each.on_gpu ? "cuda" : "cpu"},
                                 {"seconds", each.seconds},
                                 {"excluded", each.excluded.empty() ? Json(nullptr) : Json(each.excluded)}});
  return document;
}

/// From any vertex the plan is the same: if none is given, it is the first.
ParameterValues parameters_of(const RunArguments& arguments, const Graph& graph) {
  const Parameter* const source = source_parameter(*arguments.algorithm);
  if (!source || arguments.lists.contains(source->name)) return questions(arguments, &graph).front().parameters;
  if (graph.vertex_count() == 0)
    throw bad_input("the graph has no vertices: there is none that {} could start from",
                    arguments.algorithm->name);
  ParameterValues given = arguments.given;
  given[source->name]   = graph.ids().name(0);
  return completed_parameters(*arguments.algorithm, given);
}

/// A plan is made with the graph and its state at hand; without room for them it is what a run would need.
void tell_that_it_does_not_fit(const MemoryRefusal& refusal, const Graph* graph, const RunArguments& arguments,
                               const Common& common) {
  if (common.json) {
    Json document{{"algorithm", arguments.algorithm->name}};
    if (graph) document["graph"] = graph_json(*graph);
    document.update(Json{{"estimated", true},
                         {"fits", false},
                         {"why", {refusal.what()}},
                         {"host_memory_needed", refusal.needed()},
                         {"memory", {{"resident_peak", resident_peak()}}}});
    return print_json(document);
  }
  fmt::print("{:<12} {} on {}\n", "run", arguments.algorithm->name, arguments.load.path);
  fmt::print("{:<12} about {} of host memory, estimated\n", "needs", sufficient_size(refusal.needed()));
  fmt::print("{:<12} {}\n", "why", refusal.what());
}

void plan(RunArguments& arguments, const Common& common) {
  arguments.planned = true;
  check_ways(arguments);
  read_id_files(arguments);
  ProgressBar          bar = progress_bar(common);
  Stopwatch            clock;
  std::optional<Graph> loaded;
  try {
    loaded = asked_graph(arguments, common, bar);
  } catch (const MemoryRefusal& refusal) {
    return tell_that_it_does_not_fit(refusal, nullptr, arguments, common);
  }
  const InterruptWatch   watch{bar};
  const Graph&           graph      = *loaded;
  const double           load_ms    = clock.lap();
  const ParameterValues  parameters = parameters_of(arguments, graph);
  const Parameter* const source     = source_parameter(*arguments.algorithm);
  const bool             lists      = source && arguments.lists.contains(source->name);
  const std::uint64_t    runs       = lists ? questions(arguments, &graph).size() : 1;
  Plan                   plan;
  try {
    plan = within_memory(arguments, parameters, graph, common, [&] {
      return asking(arguments, [&] {
        return plan_of(*arguments.algorithm, graph, parameters, run_options_of(arguments, common, bar, runs));
      });
    });
  } catch (const MemoryRefusal& refusal) {
    return tell_that_it_does_not_fit(refusal, &graph, arguments, common);
  }
  check_cancelled(bar);
  if (common.json)
    print_json(plan_json(plan, graph, arguments, load_ms, clock.lap()));
  else
    print_plan(plan, graph, arguments);
}

constexpr auto what_if_help =
    "Instead of GRAPH, facts of one that need not be there, and of a machine: \"vertices=4G edges=64G gpus=2 "
    "ssds=2\"; what streaming its pages to GPUs would take";

/// Without a graph there are no options of how to run.
std::vector<std::string> add_what_if(Command& command, Context& context, std::vector<std::string> words) {
  struct Asked {
    std::string algorithm, facts;
  };
  const auto asked = std::make_shared<Asked>();
  command.option("ALGORITHM", asked->algorithm, "One that `spillway algorithms` lists").required();
  command.option("--what-if", asked->facts, what_if_help).required();
  command.footer("Facts are " + WhatIf::keys());
  add_common_options(command, context.common);
  command.on_parsed([&context, asked] {
    context.action = [&context, asked] {
      tell_what_if(algorithm_named(asked->algorithm), asked->facts, context.common);
    };
  });
  return words;
}

}  // namespace

std::vector<std::string> add_plan(Command& app, Context& context, std::vector<std::string> words) {
  Command    command   = app.subcommand("plan", "What running an algorithm on a graph would do, and why");
  const auto asks_what = [](const std::string& word) { return word.starts_with("--what-if"); };
  if (!words.empty() && words.front() == command.name() && std::ranges::any_of(words, asks_what))
    return add_what_if(command, context, std::move(words));
  auto arguments = std::make_shared<RunArguments>();
  add_question(command, arguments);
  add_way_options(command, *arguments);
  const auto elsewhere = std::make_shared<std::string>();
  command.option("--what-if", *elsewhere, what_if_help);
  add_common_options(command, context.common);
  return asked_by(command, context, arguments, std::move(words),
                  [&context, arguments, elsewhere] { plan(*arguments, context.common); });
}

}  // namespace spillway::cli
