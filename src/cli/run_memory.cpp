#include "cli/run_memory.hpp"

#include <spillway/engine/parallel.hpp>

#include "base/text.hpp"
#include "plan/footprint.hpp"

namespace spillway::cli {
namespace {

bool pulls(const RunArguments& arguments) { return arguments.direction == "pull" || arguments.deterministic; }

/// The command that makes a file of which nothing counts, with in-edges where runs would build them.
std::string conversion(const std::string& path, bool in_edges) {
  return fmt::format("'spillway convert {} GRAPH.spill{}'", path == "-" ? "FILE" : path,
                     in_edges ? " --in-edges" : "");
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
    ways.push_back(fmt::format("{} stores in-edges, so that no run builds them{}",
                               conversion(arguments.load.path, true),
                               mapped ? "" : ", in a file that is mapped and not counted"));
  else if (!mapped)
    ways.push_back(
        fmt::format("{} makes a file that is mapped and not counted", conversion(arguments.load.path, false)));
  std::string text;
  for (const std::string& way : ways) text += (text.empty() ? "" : "; ") + way;
  return text;
}

/// --weights puts an array beside the rows, and the run sees a graph that has it.
std::uint64_t add_asked_weights(const RunArguments& arguments, GraphSize& size) {
  if (!arguments.weights) return 0;
  size.weight_type = WeightType::u32;
  size.has_in      = false;  // those of the file have other weights
  return size.arcs * sizeof(std::uint32_t);
}

}  // namespace

MemoryRefusal explained(const LoadRefusal& refusal, const RunArguments& arguments, const Common& common) {
  GraphSize             size   = refusal.size();
  const std::uint64_t   added  = add_asked_weights(arguments, size);
  const ParameterValues values = completed_parameters(*arguments.algorithm, arguments.given);
  const RunMemory       run    = memory_of_run(arguments.algorithm->name, values, size, nullptr,
                                               thread_count(common.threads), pulls(arguments));
  return refusal.raised_to(size.held_bytes + added + run.peak)
      .with_ways_out(ways_out(arguments, values, size, run.builds_in));
}

MemoryRefusal explained(const MemoryRefusal& refusal, const RunArguments& arguments, const ParameterValues& values,
                        const Graph& graph, std::uint64_t held, const Common& common, Weights weights) {
  GraphSize size = size_of(graph);
  size.has_in    = graph.has_in();
  if (weights == Weights::to_come) held += add_asked_weights(arguments, size);
  const RunMemory run = memory_of_run(arguments.algorithm->name, values, size, &graph,
                                      thread_count(common.threads), pulls(arguments));
  return refusal.raised_to(held + run.peak).with_ways_out(ways_out(arguments, values, size, run.builds_in));
}

}  // namespace spillway::cli
