// The one loop: every method and device runs through here.
#include <optional>

#include "base/fail.hpp"
#include "supply/host_windows.hpp"

#include <spillway/engine/executor.hpp>
#include <spillway/engine/stopwatch.hpp>

namespace spillway {
namespace {

BlockWork iterate(Executor& executor, const std::vector<Block>& blocks) {
  BlockWork all;
  for (const Block& block : blocks) {
    const BlockWork work = executor.process(block);
    all.looked_at += work.looked_at;
    all.active_edges += work.active_edges;
  }
  return all;
}

/// Edges come through an arena of the size that the device may have.
BlockWork iterate(HostWindows& windows, IterationStatistics& made, RunStatistics& statistics) {
  const WindowsSent sent = windows.supply();
  note(sent, made, statistics);
  return windows.take_work();
}

void note(const HostWindows& windows, const RunOptions& options, RunStatistics& statistics) {
  statistics.method                = to_string(options.method);
  statistics.device_bytes          = windows.device_bytes();
  statistics.edges_resident        = windows.resident_bytes();
  statistics.edges_outside         = windows.outside_bytes();
  statistics.counters.local_rounds = windows.local_rounds();
}

}  // namespace

RunStatistics run_loop(Executor& executor, const Topology& topology, const ProgramFacts& facts,
                       const RunOptions& options, std::uint64_t max_iterations,
                       const std::shared_ptr<MemoryBudget>& budget) {
  Progress&                  progress = options.progress ? *options.progress : Progress::none();
  RunStatistics              statistics;
  std::optional<HostWindows> windows;
  if (in_windows(options.method))
    windows.emplace(
        executor, topology,
        WindowNeeds{.weighted = facts.weighted, .everyone = facts.all_active, .local = facts.may_go_on}, options,
        budget);
  Stopwatch    clock;
  FrontierSize frontier = executor.start();
  progress.begin(facts.stage, 0, ProgressUnit::edges);
  while (frontier.vertices > 0 && statistics.iterations < max_iterations) {
    check_cancelled(progress);
    const Direction direction = choose_direction(facts, topology, frontier, options);
    executor.begin(direction, static_cast<std::uint32_t>(statistics.iterations));
    IterationStatistics made{.active_vertices = frontier.vertices, .direction = direction};
    const BlockWork     work = windows
                                   ? iterate(*windows, made, statistics)
                                   : iterate(executor, direction == Direction::pull ? topology.pull : topology.push);
    made.active_edges        = work.active_edges;
    frontier                 = executor.finish();
    made.milliseconds        = clock.lap();
    statistics.per_iteration.push_back(made);
    statistics.edges_processed += work.looked_at;
    ++statistics.iterations;
    progress.advance(work.looked_at);
    if (executor.converged()) break;
  }
  progress.end();
  for (const IterationStatistics& iteration : statistics.per_iteration)
    statistics.run_ms += iteration.milliseconds;
  if (windows) note(*windows, options, statistics);
  return statistics;
}

}  // namespace spillway
