// The one loop: every method and device runs through here.
#include "base/clock.hpp"
#include "base/fail.hpp"

#include <spillway/engine/executor.hpp>

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

}  // namespace

RunStatistics run_loop(Executor& executor, const Topology& topology, const ProgramFacts& facts,
                       const RunOptions& options, std::uint64_t max_iterations) {
  Progress&     progress = options.progress ? *options.progress : Progress::none();
  RunStatistics statistics;
  Stopwatch     clock;
  FrontierSize  frontier = executor.start();
  progress.begin(facts.stage, 0, ProgressUnit::edges);
  while (frontier.vertices > 0 && statistics.iterations < max_iterations) {
    check_cancelled(progress);
    const Direction direction = choose_direction(facts, topology, frontier, options);
    executor.begin(direction, static_cast<std::uint32_t>(statistics.iterations));
    const BlockWork work = iterate(executor, direction == Direction::pull ? topology.pull : topology.push);
    statistics.per_iteration.push_back({.active_vertices = frontier.vertices,
                                        .active_edges    = work.active_edges,
                                        .direction       = direction,
                                        .milliseconds    = 0});
    frontier                                     = executor.finish();
    statistics.per_iteration.back().milliseconds = clock.lap();
    statistics.edges_processed += work.looked_at;
    ++statistics.iterations;
    progress.advance(work.looked_at);
    if (executor.converged()) break;
  }
  progress.end();
  for (const IterationStatistics& iteration : statistics.per_iteration)
    statistics.run_ms += iteration.milliseconds;
  return statistics;
}

}  // namespace spillway
