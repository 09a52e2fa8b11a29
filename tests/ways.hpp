// Every way the CPU engine has through a run: threads, directions, and sizes as they are or so small that graphs
// of the zoo need many tasks, shared rows and all threads.
#pragma once

#include <cstdlib>
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

/// Sizes so small that every row class, bin and filter of the GPU engine is needed by graphs of the zoo.
inline CudaTuning on_gpu(Filter filter, Fusion fusion, bool tiny) {
  CudaTuning tuning{.filter = filter, .fusion = fusion};
  if (tiny)
    tuning.large_degree = 4, tuning.hub_degree = 8, tuning.probes = 1, tuning.build_from = 0,
    tuning.line_edges = 2;
  // The online filter by itself fails where bins are too small.
  if (filter == Filter::online)
    tuning.bin_entries = 1u << 20;
  else if (tiny)
    tuning.bin_entries = 1;
  return tuning;
}

/// All combinations instead of pairs: `make gpu-test-full`.
inline bool full_matrix() { return std::getenv("SPILLWAY_FULL_MATRIX") != nullptr; }

/// A machine on which every way to bring edges is the best one for some parts of a graph of the zoo: pieces of
/// three edges and more are read, shorter ones gathered, and a part of which most is wanted is sent whole.
inline Rates balanced() {
  return {.sent = 1e9, .gathered = 0.5e9, .gathered_pieces = 1e9, .read = 1e9, .read_pieces = 1e8, .step = 0};
}

/// Filters, fusions, directions and sizes: in pairs, or all with all.
inline std::vector<RunOptions> ways_on_gpu() {
  std::vector<RunOptions> ways;
  const auto              add = [&](Fusion fusion, Filter filter, Direction direction, bool tiny) {
    RunOptions way{.direction = direction, .cuda = on_gpu(filter, fusion, tiny)};
    way.device.kind    = DeviceChoice::Kind::cuda;
    way.cuda.order     = ways.size() % 3 == 0 ? VertexOrder::natural : VertexOrder::degree;
    way.cuda.aggregate = ways.size() % 2 == 1;
    ways.push_back(way);
  };
  using enum Direction;
  using enum Fusion;
  using enum Filter;
  if (full_matrix()) {
    for (const Fusion fusion : {Fusion::none, push_pull, all})
      for (const Filter filter : {just_in_time, online, ballot, batch})
        for (const Direction direction : {automatic, push, pull})
          for (const bool small : {false, true}) add(fusion, filter, direction, small);
  }
  const auto outside = [&](Compress compress, std::uint64_t resident, std::uint64_t chunk_arcs) {
    ways.back().method = Method::zerocopy;
    ways.back().supply = {.compress = compress, .resident = resident, .chunk_arcs = chunk_arcs};
  };
  const auto windows = [&](Method method, Async async, std::uint64_t resident, std::uint64_t window,
                           unsigned piece) {
    ways.back().method = method;
    ways.back().supply = {.resident = resident, .async = async, .window = window, .piece = piece};
    // Pieces of small windows are told of and gathered in several turns.
    if (window > 0) ways.back().supply.staged = window / 3, ways.back().supply.told = 7;
    if (method == Method::mixed) ways.back().supply.rates = balanced();
  };
#if defined(SPILLWAY_EMULATED)  // which takes its time
  add(all, just_in_time, automatic, true);
  windows(Method::subgraph, Async::automatic, 200, 128, 3);
  add(all, just_in_time, automatic, false);
  windows(Method::mixed, Async::off, 200, 128, 3);
  add(all, just_in_time, push, false);
  windows(Method::partitions, Async::off, 0, 0, 256);
  add(all, just_in_time, automatic, true);
  outside(Compress::on, 256, 24);
  add(Fusion::none, ballot, pull, false);
  outside(Compress::off, 64, 0);
  add(all, just_in_time, push, true);
  add(all, ballot, automatic, true);
  add(Fusion::none, online, pull, false);
  add(push_pull, batch, push, true);
  return ways;
#endif
  add(all, just_in_time, automatic, false);
  add(all, just_in_time, push, true);
  add(all, ballot, automatic, true);
  add(all, online, pull, false);
  add(Fusion::none, just_in_time, pull, true);
  add(Fusion::none, ballot, push, false);
  add(Fusion::none, online, automatic, true);
  add(push_pull, just_in_time, automatic, true);
  add(push_pull, ballot, pull, false);
  add(push_pull, online, push, false);
  add(all, batch, push, true);
  add(Fusion::none, batch, automatic, false);
  add(all, just_in_time, automatic, false);
  ways.back().deterministic = true;
  ways.back().cuda.order    = VertexOrder::automatic;
  add(all, just_in_time, automatic, true);
  outside(Compress::on, 256, 24);
  add(Fusion::none, online, push, false);
  outside(Compress::on, 0, 0);
  add(push_pull, ballot, pull, true);
  outside(Compress::on, 1u << 30, 1u << 20);
  add(all, just_in_time, automatic, false);
  outside(Compress::off, 64, 0);
  add(all, ballot, push, true);
  outside(Compress::off, 0, 0);
  add(all, just_in_time, automatic, true);
  windows(Method::subgraph, Async::automatic, 200, 128, 3);
  add(all, ballot, push, false);
  windows(Method::subgraph, Async::off, 0, 4096, 8);
  add(all, just_in_time, automatic, false);
  windows(Method::partitions, Async::off, 300, 256, 5);
  add(all, just_in_time, automatic, true);
  windows(Method::mixed, Async::off, 200, 128, 3);
  return ways;
}

inline std::vector<RunOptions> ways_to_run() {
#if defined(SPILLWAY_TEST_ON_GPU)
  return ways_on_gpu();
#endif
  std::vector<RunOptions> ways;
  for (const int threads : {1, 2})
    for (const Direction direction : {Direction::automatic, Direction::push, Direction::pull})
      ways.push_back({.threads = threads, .direction = direction, .tuning = threads == 1 ? HostTuning{} : tiny()});
  ways.push_back({.threads = 2, .deterministic = true});
  ways.push_back({.threads = 2, .tuning = tiny(), .method = Method::subgraph});
  ways.back().supply = {.resident = 200, .window = 128, .piece = 3, .staged = 40, .told = 7};
  ways.push_back({.threads = 1, .method = Method::partitions});
  ways.back().supply = {.resident = 300, .async = Async::off, .window = 256, .piece = 5, .staged = 40, .told = 7};
  ways.push_back({.threads = 2, .method = Method::mixed});
  ways.back().supply = {.resident = 200, .window = 128, .piece = 3, .staged = 40, .told = 7, .rates = balanced()};
  for (RunOptions& way : ways) way.device.kind = DeviceChoice::Kind::cpu;
  return ways;
}

inline std::string as_text(const RunOptions& way) {
  return " with " + std::to_string(way.threads) + " threads, " + std::string{to_string(way.direction)} +
         (way.deterministic ? ", deterministic" : "") + ", filter " +
         std::to_string(static_cast<int>(way.cuda.filter)) + ", fusion " +
         std::to_string(static_cast<int>(way.cuda.fusion)) + ", bins " + std::to_string(way.cuda.bin_entries) +
         (way.cuda.order == VertexOrder::degree ? ", hubs first" : "") +
         (way.cuda.aggregate ? ", aggregated" : "") +
         (way.method == Method::zerocopy
              ? (way.supply.compress == Compress::off ? ", outside, " : ", coded outside, ") +
                    std::to_string(*way.supply.resident) + " bytes resident"
              : "") +
         (way.method == Method::subgraph || way.method == Method::partitions || way.method == Method::mixed
              ? ", " + std::string{to_string(way.method)} + ", async " +
                    std::to_string(static_cast<int>(way.supply.async)) + ", " +
                    std::to_string(*way.supply.resident) + " bytes resident, windows of " +
                    std::to_string(way.supply.window)
              : "");
}

}  // namespace spillway::testing
