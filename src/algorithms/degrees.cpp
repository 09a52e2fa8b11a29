// Degrees of every vertex: how many arcs leave it and how many arrive. Parallel arcs and loops count.
#include <atomic>

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "algorithms/checking.hpp"
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/programs/degrees.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/row_visits.hpp"
#include "base/fail.hpp"
#include "graph/csr.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

using Counts = Buffer<std::uint64_t>;

Counts row_lengths(const Csr& csr, const std::shared_ptr<MemoryBudget>& budget, int threads) {
  Counts lengths{csr.vertex_count(), budget, "the result"};
  for_each_share(threads, lengths.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t v = begin; v < end; ++v) lengths[v] = csr.offsets[v + 1] - csr.offsets[v];
  });
  return lengths;
}

/// Counting arrivals needs one pass over the targets, and no in-edges.
Counts arrivals(const Csr& csr, const std::shared_ptr<MemoryBudget>& budget, int threads, Progress& progress) {
  constexpr std::uint64_t block = 1u << 20;
  Counts                  counts{csr.vertex_count(), budget, "the result"};
  progress.begin("degrees", csr.arc_count(), ProgressUnit::edges);
  for_each_task(threads, (csr.arc_count() + block - 1) / block, [&](std::uint64_t task, int) {
    check_cancelled(progress);
    const std::uint64_t end = std::min(csr.arc_count(), (task + 1) * block);
    for (std::uint64_t i = task * block; i < end; ++i)
      std::atomic_ref{counts[csr.targets[i]]}.fetch_add(1, std::memory_order_relaxed);
    progress.advance(end - task * block);
  });
  progress.end();
  return counts;
}

/// What is at hand on the host says it all.
Result by_rows(const Graph& graph, const RunOptions& options) {
  const int  threads    = thread_count(options.threads);
  Progress&  progress   = options.progress ? *options.progress : Progress::none();
  const bool in_at_hand = graph.has_in();
  Stopwatch  clock;
  const Csr& out = graph.out();
  if (in_at_hand) graph.in();
  Result result;
  result.statistics.prepare_ms = clock.lap();
  const auto add               = [&](const char* name, Counts counts) {
    result.columns.push_back({.name = name, .values = std::move(counts).freeze()});
  };
  add("out", row_lengths(out, graph.budget(), threads));
  add("in", in_at_hand ? row_lengths(graph.in(), graph.budget(), threads)
                       : arrivals(out, graph.budget(), threads, progress));
  result.statistics.run_ms          = clock.milliseconds();
  result.statistics.iterations      = 1;
  result.statistics.edges_processed = in_at_hand ? 0 : out.arc_count();
  return result;
}

Result by_program(const Graph& graph, const RunOptions& options) {
  auto   outcome = run(ArcCounts{}, graph, options, {.leave = true});
  Result result;
  result.columns.push_back(outcome.column<0>("out"));
  result.columns.push_back(outcome.column<1>("in"));
  result.statistics = std::move(outcome.statistics);
  return result;
}

/// `by_program(options)`, or `on_cpu()`. Where in-edges are at hand lengths of rows are all, which are not worth
/// the way to a GPU unless it is asked for by name. On the CPU a pass over the targets takes less memory than the
/// program and half its time (kron20 on 2 cores: 0.5 and 1.1 s).
template <class ByProgram, class OnCpu, class Tell>
auto where_it_pays(const Graph& graph, const RunOptions& options, ByProgram&& by_program, OnCpu&& on_cpu,
                   Tell&& tell) {
  if (graph.pages() || options.method->of_edge_lists) return by_program(options);
  RunOptions there           = options;
  const bool lengths_are_all = graph.has_in() && options.device.kind.automatic();
  if (lengths_are_all || gpu::is_left_to_cpu(options, graph) || !cuda::wanted<ArcCounts>(options, {}))
    return on_cpu();
  there.device.kind = cuda_kind();
  return gpu_or_cpu(
      options, [&] { return by_program(there); }, on_cpu, tell);
}

Result run_degrees(const Graph& graph, const ParameterValues&, const RunOptions& options) {
  return where_it_pays(
      graph, options, [&](const RunOptions& there) { return by_program(graph, there); },
      [&] { return by_rows(graph, options); }, note_on_cpu<Result>);
}

Plan plan_degrees(const Graph& graph, const ParameterValues&, const RunOptions& options) {
  return where_it_pays(
      graph, options, [&](const RunOptions& there) { return plan_run(ArcCounts{}, graph, there); },
      [&] { return plan_without_program(options, false); }, tell_in_plan);
}

/// The oracle: walks the arcs one by one and keeps its own iteration_counters.
Verdict verify_degrees(const Graph& graph, const ParameterValues&, const Result& result,
                       const VerifyOptions& options) {
  struct IterationCounters {
    std::uint64_t out = 0, in = 0;
  };
  if (column_of<std::uint64_t>(result, 0).size() != graph.vertex_count() ||
      column_of<std::uint64_t>(result, 1).size() != graph.vertex_count())
    throw internal_error("degrees: the columns are still on the GPU; fetch them first");
  Charge memory{graph.budget(), "verifying the result"};
  memory.raise_to(graph.vertex_count() * sizeof(IterationCounters));
  std::vector<IterationCounters> counters(graph.vertex_count());
  for_each_row_alone(graph, options, [&](Vertex v, std::span<const Vertex> targets, const std::uint32_t*) {
    for (const Vertex target : targets) {
      ++counters[v].out;
      ++counters[target].in;
    }
  });
  const auto& out = std::get<Array<std::uint64_t>>(result.columns.at(0).values);
  const auto& in  = std::get<Array<std::uint64_t>>(result.columns.at(1).values);
  Verdict     verdict{.how = "serial oracle", .problem = {}};
  for (Vertex v = 0; v < graph.vertex_count(); ++v) {
    if (out[v] == counters[v].out && in[v] == counters[v].in) continue;
    verdict.problem = fmt::format("vertex {}: {} out and {} in, expected {} and {}", graph.ids().name(v), out[v],
                                  in[v], counters[v].out, counters[v].in);
    break;
  }
  return verdict;
}

}  // namespace

Algorithm degrees_algorithm() {
  return {.name           = "degrees",
          .summary        = "out- and in-degrees",
          .reference      = "",
          .parameters     = {},
          .columns        = {{"out", "arcs that leave"}, {"in", "arcs that arrive"}},
          .on_gpu         = gpu::built,
          .vertex_program = false,
          .takes_lists    = true,
          .run            = run_degrees,
          .plan           = plan_degrees,
          .verify         = verify_degrees,
          .aliases        = {"degree"}};
}

}  // namespace spillway
