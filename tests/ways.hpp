// Every way the CPU engine has through a run: threads, directions, and sizes as they are or so small that graphs
// of the zoo need many tasks, shared rows and all threads.
#pragma once

#include <string>
#include <vector>

#include <spillway/options.hpp>

namespace spillway::testing {

inline HostTuning tiny() {
  return {.vertex_grain   = 64,
          .edge_grain     = 8,
          .push_grain     = 1,
          .hub_degree     = 4,
          .serial_work    = 0,
          .fusion_entries = 3};
}

inline std::vector<RunOptions> ways_to_run() {
  std::vector<RunOptions> ways;
  for (const int threads : {1, 2})
    for (const Direction direction : {Direction::automatic, Direction::push, Direction::pull})
      ways.push_back({.threads = threads, .direction = direction, .tuning = threads == 1 ? HostTuning{} : tiny()});
  ways.push_back({.threads = 2, .deterministic = true});
  return ways;
}

inline std::string as_text(const RunOptions& way) {
  return " with " + std::to_string(way.threads) + " threads, " + std::string{to_string(way.direction)} +
         (way.deterministic ? ", deterministic" : "");
}

}  // namespace spillway::testing
