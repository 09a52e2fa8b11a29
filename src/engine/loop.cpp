// The one loop: every program, device and supply runs through here.
#include "base/fail.hpp"

#include <spillway/checkpoint.hpp>
#include <spillway/engine/executor.hpp>
#include <spillway/engine/stopwatch.hpp>
#include <spillway/trace.hpp>

namespace spillway {
namespace {

constexpr std::size_t few_iterations = 1024;  // what is noted of them is not counted in any budget

/// Whether the loop is to make the next iteration itself, after those that the executor made.
bool stopped_for_loop(FusedStop stop, RunStatistics& statistics) {
  if (stop == FusedStop::cancelled) throw Error{ExitCode::interrupted, "interrupted"};
  if (stop == FusedStop::needs_transfer) ++statistics.counters.handed_over;
  return stop == FusedStop::unsupported || stop == FusedStop::needs_transfer;
}

}  // namespace

RunStatistics run_loop(Executor& executor, EdgeSupply& supply, const Topology& topology, const ProgramFacts& facts,
                       const RunOptions& options, std::uint64_t max_iterations,
                       const std::shared_ptr<MemoryBudget>& budget) {
  Progress&     progress = options.progress ? *options.progress : Progress::none();
  RunStatistics statistics;
  Charge        iterations{budget, "what is noted of iterations"};
  Stopwatch     clock;
  FrontierSize  frontier = executor.start();
  if (options.checkpoints) frontier = options.checkpoints->begin(executor, statistics).value_or(frontier);
  progress.begin("iterating", 0, ProgressUnit::edges);
  while (frontier.vertices > 0 && statistics.iterations < max_iterations) {
    check_cancelled(progress);
    if (options.checkpoints) options.checkpoints->offer(executor, statistics);
    if (statistics.per_iteration.capacity() > few_iterations)
      iterations.raise_to(statistics.per_iteration.capacity() * sizeof(IterationStatistics));
    if (supply.may_fuse()) {
      const FusedStop stop = executor.run_fused(statistics);
      if (stop == FusedStop::finished) break;
      if (!stopped_for_loop(stop, statistics)) continue;
      clock.lap();
    }
    const Direction direction = choose_direction(facts, topology, frontier, options);
    if (!executor.begin(direction, static_cast<std::uint32_t>(statistics.iterations))) break;
    const TraceSpan     span{options.trace, Track::host, direction == Direction::pull ? "pull" : "push"};
    IterationStatistics made{.active_vertices = frontier.vertices, .direction = direction};
    BlockWork           work = supply.bring(executor, direction, made, statistics);
    frontier                 = executor.finish(made, work);
    made.active_edges        = work.active_edges;
    made.edges_processed     = work.looked_at;
    made.milliseconds        = clock.lap();
    statistics.per_iteration.push_back(made);
    statistics.edges_processed += work.looked_at;
    ++statistics.iterations;
    progress.advance(work.looked_at);
    if (executor.converged()) break;
  }
  progress.end();
  executor.complete(statistics);
  supply.complete(statistics);
  return statistics;
}

}  // namespace spillway
