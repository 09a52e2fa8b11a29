// Large unsorted lists: what takes many warps at once to go wrong.
#include <gtest/gtest.h>

#include "devices/devices.hpp"
#include "graph/edge_list.hpp"
#include "supply/methods.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

#if defined(SPILLWAY_EMULATED)  // which takes its time
constexpr auto scale   = "8";
constexpr int  sources = 2;
#else
constexpr auto scale   = "21";
constexpr int  sources = 8;
#endif

/// A vertex may be seen to be active in the round in which it was reached: its value must be seen, too. On kron24
/// distances of 0 once came of those that were not.
TEST(GpuEdges, WhoeverSeesAnActiveVertexSeesItsValue) {
  if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  const Graph list = generate(
      "kron", {{"scale", scale}},
      {.transform = {.undirected = true, .drop_loops = true}, .weight_type = WeightType::u32, .edges = true});
  const Graph      rows = with_rows(list);
  const Algorithm& sssp = algorithm_named("sssp");
  for (int i = 0; i < sources; ++i) {
    const auto values = completed_parameters(sssp, {{"source", std::to_string(list.edges()->edges(1).source(i))}});
    const Result result = sssp.run(list, values, {.device = {.kind = cuda_kind()}, .method = unsorted_edges()});
    EXPECT_EQ(result.statistics.device, "cuda:0");
    EXPECT_EQ(result.statistics.method, "edges");
    EXPECT_EQ(sssp.verify(rows, values, result, {.by = CheckBy::properties}).problem, "") << values.at("source");
  }
}

/// Updates that are combined in shared memory, or in passes, come to the same as those that go to the vertices at
/// once.
TEST(GpuEdges, UpdatesAreCombinedAnywhere) {
  if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  for (const bool both_ways : {false, true}) {
    const Graph list =
        generate("kron", {{"scale", scale}},
                 {.transform = {.undirected = both_ways}, .weight_type = WeightType::u32, .edges = true});
    const Graph rows = with_rows(list);
    for (const char* name : {"bfs", "cc", "sssp", "pagerank"}) {
      const Algorithm& algorithm = algorithm_named(name);
      ParameterValues  given;
      if (algorithm.name == "bfs" || algorithm.name == "sssp")
        given["source"] = std::to_string(list.edges()->edges(1).source(0));
      if (algorithm.name == "cc") given["form"] = "propagate";
      if (algorithm.name == "pagerank") given["iterations"] = "5";
      const auto values = completed_parameters(algorithm, given);
      const auto run    = [&](EdgeValues where, unsigned passes) {
        RunOptions options{.device = {.kind = cuda_kind()}, .method = unsorted_edges()};
        options.cuda.edge_values = where;
        options.cuda.edge_passes = passes;
        const Result result      = algorithm.run(list, values, options);
        EXPECT_EQ(result.statistics.method, "edges");
        EXPECT_EQ(algorithm.verify(rows, values, result, {.by = CheckBy::properties}).problem, "")
            << name << static_cast<int>(where) << passes;
        return result.statistics;
      };
      const RunStatistics plain = run(EdgeValues::global, 1), shared = run(EdgeValues::shared, 0),
                          stored = run(EdgeValues::stored, 0);
      const std::uint64_t edges = list.edges()->edge_count(), ways = both_ways ? 2 : 1;
      EXPECT_GE(shared.device_bytes, plain.device_bytes + edges * ways * (2 + 4)) << name;
      EXPECT_GE(stored.device_bytes, shared.device_bytes + edges * ways * 4) << name;
      if (algorithm.name != "pagerank") continue;
      const RunStatistics passed = run(EdgeValues::global, 3);
      EXPECT_EQ(passed.edges_processed, plain.edges_processed);
      EXPECT_EQ(passed.counters.kernel_launches, plain.counters.kernel_launches + 2 * plain.iterations);
    }
  }
}

}  // namespace
}  // namespace spillway
