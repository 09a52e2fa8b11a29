#include "cli/run_memory.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <spillway/engine/parallel.hpp>
#include <spillway/plan.hpp>

#include "base/text.hpp"
#include "graph/split.hpp"
#include "plan/footprint.hpp"

namespace spillway::cli {
namespace {

bool pulls(const RunArguments& arguments) { return arguments.direction == "pull" || arguments.deterministic; }

/// As they were given.
std::string options_of(const Transform& transform) {
  return std::string{transform.undirected ? " --undirected" : ""} + (transform.symmetrize ? " --symmetrize" : "") +
         (transform.dedup ? " --dedup" : "") + (transform.drop_loops ? " --drop-loops" : "");
}

/// The command that makes a file of which nothing counts, with in-edges where runs would build them.
std::string conversion(const RunArguments& arguments, bool in_edges) {
  const LoadArguments& load  = arguments.load;
  const bool           lists = method_named(arguments.method)->of_edge_lists;
  return fmt::format("'spillway convert {} GRAPH.spill{}{}'", load.path == "-" ? "FILE" : load.path,
                     options_of(load.transform),
                     lists      ? " --layout edges"
                     : in_edges ? " --in-edges"
                                : "");
}

/// All ways that exist for this algorithm on this graph, in one sentence.
std::string ways_out(const RunArguments& arguments, const ParameterValues& values, const GraphSize& size,
                     bool builds_in) {
  std::vector<std::string> ways;
  const auto               form = values.find("form");
  if (builds_in && form != values.end() && form->second == "pull")
    ways.emplace_back("--form residual needs no in-edges");
  const bool mapped = size.format == "spill" && !arguments.load.transform.any();
  if (builds_in)
    ways.push_back(fmt::format("{} stores in-edges, so that no run builds them{}", conversion(arguments, true),
                               mapped ? "" : ", in a file that is mapped and not counted"));
  else if (!mapped)
    ways.push_back(fmt::format("{} makes a file that is mapped and not counted", conversion(arguments, false)));
  std::string text;
  for (const std::string& way : ways) text += (text.empty() ? "" : "; ") + way;
  return text;
}

/// Whether the forecast knows of all that the command does. How many vertices wait in buckets, and what the
/// threads of bc and lcc hold, differs from run to run, and how large a graph will be that is the answer only the
/// run finds out.
bool is_foreseen(const RunArguments& arguments) {
  const Algorithm&           algorithm = *arguments.algorithm;
  constexpr std::string_view growing[] = {"sssp", "kcore", "bc", "lcc"};
  const bool grows = algorithm.makes_a_graph || std::ranges::find(growing, algorithm.name) != std::end(growing);
  return !grows && !arguments.verify && !arguments.load.transform.symmetrize && arguments.method == "auto";
}

MemoryRefusal raised(const MemoryRefusal& refusal, const RunArguments& arguments, std::uint64_t needed) {
  return is_foreseen(arguments) ? refusal.covered_by(needed) : refusal.raised_to(needed);
}

/// --weights puts an array beside the rows, and the run sees a graph that has it.
std::uint64_t add_asked_weights(const RunArguments& arguments, GraphSize& size) {
  if (!arguments.weights) return 0;
  size.weight_type = WeightType::u32;
  size.has_in      = false;  // those of the file have other weights
  return size.arcs * sizeof(std::uint32_t);
}

/// Of a graph in pages, whose state and buffers are asked for one after the other: as much as a plan with as much
/// finds enough, and an eighth for what grows while a run goes on.
MemoryRefusal of_pages(const MemoryRefusal& refusal, const RunArguments& arguments, const ParameterValues& values,
                       const Graph& graph, const Common& common) {
  constexpr int    most_tries = 8;
  std::uint64_t    needed     = refusal.needed();
  const RunOptions options    = run_options_of(arguments, common, Progress::none());
  for (int i = 0; i < most_tries; ++i) try {
      needed += needed / 8;
      const Graph again =
          open(graph.name(),
               {.host_memory = needed, .temporary = arguments.temporary.value_or(""), .threads = common.threads});
      plan_of(*arguments.algorithm, again, values, options);
      break;
    } catch (const MemoryRefusal& more) {
      needed = std::max(needed, more.needed());
    } catch (const Error&) {
      break;  // what else hinders a run is not for this message
    }
  return refusal.raised_to(needed);
}

}  // namespace

MemoryRefusal explained(const LoadRefusal& refusal, const RunArguments& arguments, const Common& common) {
  GraphSize             size   = refusal.size();
  const std::uint64_t   added  = add_asked_weights(arguments, size);
  const ParameterValues values = completed_parameters(*arguments.algorithm, arguments.given);
  const RunMemory       run    = memory_of_run(arguments.algorithm->name, values, size, nullptr,
                                               thread_count(common.threads), pulls(arguments));
  return raised(refusal, arguments, size.held_bytes + added + run.peak)
      .with_ways_out(ways_out(arguments, values, size, run.builds_in));
}

namespace {

/// The form that runs where vertices are split, which values leave open.
ParameterValues with_form_for(const Graph& graph, const std::string& algorithm, ParameterValues values) {
  static const std::map<std::string, const char*> forms{
      {"bc", "split"}, {"cc", "propagate"}, {"ssnsp", "accumulative"}};
  if (const auto form = forms.find(algorithm); has_tree_vertices(graph) && form != forms.end())
    values["form"] = form->second;
  return values;
}

}  // namespace

MemoryRefusal explained(const MemoryRefusal& refusal, const RunArguments& arguments, const ParameterValues& given,
                        const Graph& graph, std::uint64_t held, const Common& common, Weights weights) {
  if (graph.edges()) return refusal;  // how much rows would take is another question
  if (graph.pages()) return of_pages(refusal, arguments, given, graph, common);
  const ParameterValues values = with_form_for(graph, arguments.algorithm->name, given);
  GraphSize             size   = size_of_rows(graph);
  if (weights == Weights::to_come) held += add_asked_weights(arguments, size);
  const RunMemory run = memory_of_run(arguments.algorithm->name, values, size, graph.split() ? nullptr : &graph,
                                      thread_count(common.threads), pulls(arguments));
  return raised(refusal, arguments, held + run.peak)
      .with_ways_out(ways_out(arguments, values, size, run.builds_in));
}

}  // namespace spillway::cli
