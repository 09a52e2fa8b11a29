#include <spillway/plan.hpp>

#include <spillway/engine/executor.hpp>
#include <spillway/engine/fallback.hpp>
#include <spillway/engine/pieces.hpp>

#include "algorithms/gpu/gpu.hpp"
#include "plan/devices.hpp"

namespace spillway {
namespace {

constexpr auto own_way = "it is no program over vertices: it goes its own way over the graph";

/// Unless it is known already why a GPU was given up.
void say_why_on_cpu(const RunOptions& options) {
  if (!options.plan->why.empty()) return;
  const CudaDevices found = cuda_devices();
  note_in_plan(options, !found.devices.empty() ? "the CPU was asked for, or --deterministic and no GPU was"
                                               : "there is no GPU: " + found.absence);
}

}  // namespace

void note_in_plan(const RunOptions& options, const std::string& why) {
  if (options.plan) options.plan->why.push_back(why);
}

void plan_on_cpu(const RunOptions& options, const Topology& topology, const ProgramFacts& facts) {
  Plan& plan      = *options.plan;
  plan.weighted   = facts.weighted;
  plan.vertices   = topology.vertices;
  plan.arcs       = topology.arcs;
  plan.edge_bytes = topology.arcs * (facts.weighted ? 8 : 4);
  plan.method     = to_string(in_windows(options.method) ? options.method : Method::frontier);
  plan.room       = options.device.memory;
  say_why_on_cpu(options);
  if (in_windows(options.method)) plan.rates = options.supply.rates.value_or(Rates{});
  throw Planned{};
}

void gpu::plan_own_way(const RunOptions& options) {
  Plan& plan  = *options.plan;
  plan.device = wanted(options) ? "cuda:" + std::to_string(options.device.index) : "cpu";
  plan.method.clear();
  if (!wanted(options)) say_why_on_cpu(options);
  plan.why.emplace_back(own_way);
  throw Planned{};
}

Plan plan_of(const Algorithm& algorithm, const Graph& graph, const ParameterValues& parameters, RunOptions options) {
  Plan plan;
  plan.vertices = graph.vertex_count();
  plan.arcs     = graph.arc_count();
  options.plan  = &plan;
  if (!algorithm.makes_a_graph) {
    try {
      const Result result = algorithm.run(graph, parameters, options);
      plan.device         = result.statistics.device;
    } catch (const Planned&) {
      return plan;
    }
  }
  plan.method.clear();
  plan.why.emplace_back(own_way);
  return plan;
}

}  // namespace spillway
