#include <set>
#include <spillway/plan.hpp>

#include <spillway/engine/executor.hpp>
#include <spillway/engine/fallback.hpp>
#include <spillway/engine/transfer.hpp>

#include "algorithms/gpu/gpu.hpp"
#include "algorithms/registry.hpp"
#include "devices/devices.hpp"
#include "store/paged_rows.hpp"
#include "supply/edges.hpp"
#include "supply/windows.hpp"

namespace spillway {
namespace {

/// Unless a GPU was given up: whoever gave it up says why.
void say_why_on_cpu(Plan& plan, const RunOptions& options) {
  const DeviceKind asked = options.device.kind;
  if (asked == cpu_kind()) return plan.why.emplace_back("the CPU was asked for"), void();
  if (!asked.automatic()) return plan.why.emplace_back(asked->help), void();
  const CudaDevices found = cuda_devices();
  if (found.devices.empty())
    plan.why.push_back("there is no GPU: " + found.absence);
  else if (options.deterministic)
    plan.why.emplace_back("--deterministic, and no GPU was asked for");
  else if (options.method->requires_cpu)
    plan.why.push_back("--method " + std::string{options.method->name} + " requires the CPU");
}

void plan_windows(Plan& plan, const RunOptions& options, const Topology& topology, const ProgramFacts& facts,
                  const MemoryBudget& budget) {
  const WindowNeeds needs = WindowNeeds::of(facts);
  EdgeIndex         most = 0, kept = 0;
  for (const RowBlock& block : topology.push) most = std::max(most, block.arcs());
  const std::uint64_t to_come =
      plan.state_bytes + WindowSizes::layout_bytes(topology.vertices, most, needs, options);
  const std::uint64_t room  = WindowSizes::room_on_cpu(plan.state_bytes, needs, options, budget, to_come);
  const WindowSizes   sizes = WindowSizes::of(room, most, topology.vertices, needs, options);
  for (const RowBlock& block : topology.push)
    kept += sizes.resident_edges(block.arcs(), sizes.left / topology.push.size(), needs);
  plan.room           = options.device.memory;
  plan.resident_bytes = kept * edge_bytes(facts.weighted);
  plan.rates          = options.supply.rates.value_or(Rates{});
  plan.why.emplace_back("edges are transferred within host memory, for study; times are predicted as for a GPU");
}

void plan_list(Plan& plan, const RunOptions& options, const Topology& topology, const ProgramFacts& facts) {
  const EdgeRun       all    = topology.push.front().edges->unchecked();
  const ListOrder     order  = ListOrder::of(facts, options);
  const std::uint64_t stated = options.device.memory;
  plan.edge_bytes            = all.bytes();
  if (stated > 0) require_room_for_list(all, plan.state_bytes, order.concatenates(), {}, stated, stated);
  const auto room = stated > 0 ? std::optional{stated - plan.state_bytes} : std::nullopt;
  plan.why.push_back(
      "unsorted edges are processed without rows" +
      text_of_chunks(ChunkSizes::of(all, room, EdgeRounds::slots, order.concatenates(), {}, options)));
}

/// What the state leaves of the memory is for pages that stay once they have been read.
void plan_pages(Plan& plan, const Topology& topology, const MemoryBudget& budget) {
  std::set<const store::PagedRows*> sides;
  for (const auto* blocks : {&topology.push, &topology.pull})
    for (const RowBlock& block : *blocks) sides.insert(block.pages);
  plan.edge_bytes = 0;
  for (const store::PagedRows* side : sides) plan.edge_bytes += side->bytes();
  const std::uint64_t held = budget.used() + plan.state_bytes;
  plan.resident_bytes      = std::min(plan.edge_bytes, budget.limit() - std::min(budget.limit(), held));
  plan.why.emplace_back("edges are in pages on disk, which are streamed to the CPU");
}

}  // namespace

Plan plan_on_cpu(const RunOptions& options, const Topology& topology, const ProgramFacts& facts,
                 std::uint64_t state, const MemoryBudget& budget) {
  Plan plan;
  if (!options.device.kind.automatic()) plan.device = options.device.kind->name;
  plan.state_bytes = state;
  plan.weighted    = facts.weighted;
  plan.vertices    = topology.vertices;
  plan.arcs        = topology.arcs;
  plan.edge_bytes  = topology.arcs * edge_bytes(facts.weighted);
  if (options.method->of_edge_lists) plan_list(plan, options, topology, facts);
  const bool sends = options.method->in_blocks();
  plan.method      = (sends ? options.method : resident_edges())->name;
  if (options.method->streams_pages)
    plan_pages(plan, topology, budget);
  else
    say_why_on_cpu(plan, options);
  if (options.device.kind->of_cpu_executors) plan.resident_bytes = plan.edge_bytes;
  if (options.method->transfers) plan_windows(plan, options, topology, facts, budget);
  return plan;
}

Plan plan_without_program(const RunOptions& options, bool may_use_gpu) {
  Plan       plan;
  const bool on_gpu = may_use_gpu && gpu::wanted(options);
  if (on_gpu) plan.device = "cuda:" + std::to_string(options.device.index);
  if (!on_gpu) say_why_on_cpu(plan, options);
  const bool of_list = options.method->of_edge_lists;
  if (of_list) plan.method = options.method->name;
  if (of_list) plan.why.emplace_back("unsorted edges are processed without rows");
  plan.why.emplace_back(of_list ? "it is not a vertex program: directions do not apply"
                                : "it is not a vertex program: methods and directions do not apply");
  return plan;
}

Plan plan_of(const Algorithm& algorithm, const Graph& graph, const ParameterValues& parameters,
             const RunOptions& options) {
  refuse_device(algorithm, options);
  refuse_list(algorithm, options);
  const bool may_use_gpu = algorithm.on_gpu && !algorithm.makes_a_graph;
  Plan       plan =
      algorithm.plan ? algorithm.plan(graph, parameters, options) : plan_without_program(options, may_use_gpu);
  if (graph.pages() && plan.method.empty() && !algorithm.makes_a_graph) graph.out();  // refuses, as the run does
  if (plan.method.empty() && plan.device != "cpu" && gpu::is_left_to_cpu(options, graph))
    plan.device = "cpu", plan.why.insert(plan.why.begin(), "the CPU is done before a GPU would be ready");
  if (plan.why.empty() || (!may_use_gpu && plan.why.size() == 1 && options.device.kind.automatic()))
    plan.why.insert(plan.why.begin(), algorithm.name + " runs on the CPU");
  if (!algorithm.plan && algorithm.vertex_program && !algorithm.makes_a_graph)
    plan.why.back() = "it does not say which program it runs (Algorithm::plan)";
  if (plan.vertices == 0) plan.vertices = graph.vertex_count(), plan.arcs = graph.arc_count();
  return plan;
}

}  // namespace spillway
