// Large unsorted lists: what takes many warps at once to go wrong.
#include <gtest/gtest.h>

#include "devices/devices.hpp"
#include "graph/edge_list.hpp"
#include "supply/methods.hpp"
#include "support.hpp"

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

/// Lists that are read for a GPU lie there when they have been read, whatever they are read from; runs do not send
/// them again.
TEST(GpuEdges, AreSentWhileTheyAreRead) {
  if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  const testing::TemporaryFolder folder;
  const Graph made = generate("kron", {{"scale", scale}}, {.weight_type = WeightType::u32, .edges = true});
  const Graph rows = with_rows(made);
  struct Source {
    const char* file;
    LoadOptions options;
  };
  const DeviceChoice gpu{.kind = cuda_kind()};
  const Source       kinds[] = {
            {"dense.pairs", {.format = "pairs", .ids = IdMode::dense, .weight_type = WeightType::u32}},
            {"gaps.pairs", {.format = "pairs", .weight_type = WeightType::u32}},
            {"lines.el", {.vertices = made.vertex_count()}},
            {"kept.spill", {}},
  };
  for (const Source& source : kinds) {
    const std::string path = folder / source.file;
    save(made, path, source.options.format);
    LoadOptions options = source.options;
    options.edges = true, options.edges_to = gpu;
    const Graph list = open(path, options);
    ASSERT_TRUE(list.edges()) << source.file;
    const bool sent = std::string_view{source.file} != "kept.spill";  // that is sent when it is looked at first
    EXPECT_EQ(list.edges()->is_copied(), sent) << source.file;
    const std::uint64_t bytes = list.edges()->words().size() * sizeof(std::uint32_t);
    const auto          run   = [&](std::uint64_t window) {
      const Result result = algorithm_named("degrees").run(
                     list, {}, {.device = gpu, .method = unsorted_edges(), .supply = {.window = window}});
      EXPECT_EQ(algorithm_named("degrees").verify(with_rows(list), {}, result, {}).problem, "") << source.file;
      return result.statistics.uploaded_bytes;
    };
    EXPECT_EQ(run(0), sent ? 0 : bytes) << source.file;
    EXPECT_EQ(run(0), 0u) << source.file << ": it is there";
    run(bytes / 3);  // in chunks, which take its place
    EXPECT_EQ(run(0), bytes) << source.file;
  }
  LoadOptions options{.format = "pairs", .ids = IdMode::dense, .weight_type = WeightType::u32, .edges = true};
  options.edges_to = {.kind = cuda_kind(), .memory = 4096};
  EXPECT_FALSE(open(folder / "dense.pairs", options).edges()->is_copied()) << "there is no room";
  options.edges_to = gpu, options.vertices = 3;
  EXPECT_THROW(open(folder / "dense.pairs", options), Error) << "ids are looked at on the way";
}

/// Rows that a GPU builds are built of what lies there.
TEST(GpuEdges, BecomeRowsWhereTheyLie) {
  if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  const testing::TemporaryFolder folder;
  const Graph                    made = generate("kron", {{"scale", scale}}, {.edges = true});
  save(made, folder / "list.pairs", "pairs");
  LoadOptions options{.format = "pairs", .ids = IdMode::dense, .edges = true};
  options.edges_to = {.kind = cuda_kind()};
  const Graph list = open(folder / "list.pairs", options);
  const auto  values =
      completed_parameters(algorithm_named("bfs"), {{"source", std::to_string(made.edges()->edges(1).source(0))}});
  const Result result =
      algorithm_named("bfs").run(list, values, {.device = {.kind = cuda_kind()}, .cuda = {.build_from = 1}});
  EXPECT_EQ(algorithm_named("bfs").verify(with_rows(made), values, result, {.by = CheckBy::oracle}).problem, "");
  EXPECT_TRUE(list.has_rows());
}

}  // namespace
}  // namespace spillway
