#include <spillway/plan.hpp>

#include <spillway/engine/executor.hpp>
#include <spillway/engine/fallback.hpp>
#include <spillway/engine/pieces.hpp>

#include "algorithms/gpu/gpu.hpp"
#include "devices/devices.hpp"
#include "supply/windows.hpp"

namespace spillway {
namespace {

constexpr auto own_way = "it is not a vertex program: methods and directions do not apply";

/// Unless it is known already why a GPU was given up.
void say_why_on_cpu(const RunOptions& options) {
  if (!options.plan->why.empty()) return;
  const CudaDevices found = cuda_devices();
  note_in_plan(options, !found.devices.empty() ? "--deterministic, and no GPU was asked for"
                                               : "there is no GPU: " + found.absence);
}

void plan_windows(const RunOptions& options, const Topology& topology, const ProgramFacts& facts,
                  const MemoryBudget& budget) {
  Plan&               plan = *options.plan;
  const WindowNeeds   needs{.weighted = facts.weighted, .everyone = facts.all_active, .local = facts.may_go_on};
  const std::uint64_t room = WindowSizes::room_on_cpu(plan.state_bytes, needs, options, budget);
  const auto          arcs = [&](const Block& block) { return block.rows.offsets[topology.vertices]; };
  EdgeIndex           most = 0, kept = 0;
  for (const Block& block : topology.push) most = std::max(most, arcs(block));
  const WindowSizes sizes = WindowSizes::of(room, most, topology.vertices, needs, options);
  for (const Block& block : topology.push)
    kept += sizes.resident_edges(arcs(block), sizes.left / topology.push.size(), needs);
  plan.room           = options.device.memory;
  plan.resident_bytes = kept * (facts.weighted ? 8 : 4);
  plan.rates          = options.supply.rates.value_or(Rates{});
  note_in_plan(options, "edges are transferred within host memory, for study; times are predicted as for a GPU");
}

}  // namespace

void note_in_plan(const RunOptions& options, const std::string& why) {
  if (options.plan) options.plan->why.push_back(why);
}

void plan_on_cpu(const RunOptions& options, const Topology& topology, const ProgramFacts& facts,
                 std::uint64_t state, const MemoryBudget& budget) {
  Plan& plan       = *options.plan;
  plan.state_bytes = state;
  if (!options.device.kind.automatic()) plan.device = options.device.kind->name;
  plan.weighted    = facts.weighted;
  plan.vertices    = topology.vertices;
  plan.arcs        = topology.arcs;
  plan.edge_bytes  = topology.arcs * (facts.weighted ? 8 : 4);
  plan.method      = (options.method->transfers ? options.method : resident_edges())->name;
  say_why_on_cpu(options);
  if (options.method->transfers) plan_windows(options, topology, facts, budget);
  throw Planned{};
}

void gpu::plan_own_way(const RunOptions& options) {
  Plan& plan  = *options.plan;
  plan.device = wanted(options) ? "cuda:" + std::to_string(options.device.index) : "cpu";
  if (!wanted(options)) say_why_on_cpu(options);
  plan.why.emplace_back(own_way);
  throw Planned{};
}

Plan plan_of(const Algorithm& algorithm, const Graph& graph, const ParameterValues& parameters,
             RunOptions options) {
  Plan plan;
  plan.vertices = graph.vertex_count();
  plan.arcs     = graph.arc_count();
  options.plan  = &plan;
  if (options.device.kind == cpu_kind()) plan.why.emplace_back("the CPU was asked for");
  if (!algorithm.makes_a_graph) {
    try {
      const Result result = algorithm.run(graph, parameters, options);
      plan.device         = result.statistics.device;
    } catch (const Planned&) {
      return plan;
    }
  }
  plan.why.emplace_back(own_way);
  return plan;
}

}  // namespace spillway
