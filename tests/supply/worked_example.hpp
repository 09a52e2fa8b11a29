// The worked example of WolfGraph's paper (figures 2, 9 and 10, table 1). Both executables of tests have it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "algorithms/programs/sssp.hpp"
#include "graph/edge_list.hpp"
#if defined(__CUDACC__)
#include "devices/devices.hpp"
#endif

#include <spillway/run.hpp>

namespace spillway::testing {

inline constexpr std::uint32_t none = Paths::no_distance;

/// Goes on from given distances, every known one active at first.
struct Relaxation {
  using Value   = std::uint32_t;
  using Weight  = std::uint32_t;
  using Combine = Min<Value>;

  static constexpr bool order_free = true;

  std::uint64_t max_iterations;

  SPILLWAY_HD Value init(Vertex) const { return none; }
  SPILLWAY_HD bool  starts(Vertex, const Value& value) const { return value != none; }
  SPILLWAY_HD Value compute(const Value& value, const Edge<Weight>& edge) const {
    return extended(value, edge.weight);
  }
};

struct WorkedExample : ::testing::Test {
#if defined(__CUDACC__)
  void SetUp() override {
    if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  }
  static DeviceKind device() { return cuda_kind(); }
#else
  static DeviceKind device() { return cpu_kind(); }
#endif
  static RunOptions on_edges() { return {.threads = 1, .device = {.kind = device()}, .method = unsorted_edges()}; }

  std::vector<Vertex>            sources{2, 2, 0, 1, 4, 0, 2, 3, 3};
  std::vector<Vertex>            targets{3, 1, 2, 3, 5, 1, 4, 4, 5};
  std::vector<std::uint32_t>     weights{1, 6, 12, 5, 9, 3, 6, 7, 2};
  static constexpr std::uint64_t first_chunk = 5;

  Graph of_edges(std::size_t first, std::size_t last) const {
    LoadOptions options;
    options.edges   = true;
    const auto part = [&](const auto& all) { return std::span{all}.subspan(first, last - first); };
    return from_arcs(part(sources), part(targets), part(weights), WeightType::u32, 6, options);
  }

  /// Distances after so many rounds; 0: all.
  static std::vector<std::uint32_t> after(const Graph& graph, std::uint64_t rounds, RunOptions options,
                                          std::vector<std::uint32_t> from, std::uint64_t* made = nullptr) {
    Continuation<std::uint32_t> given;
    given.values = {from.size(), graph.budget(), "distances"};
    std::ranges::copy(from, given.values.data());
    const auto outcome =
        run(Relaxation{rounds == 0 ? ~std::uint64_t{0} : rounds}, graph, options, std::move(given));
    if (made) *made = outcome.statistics.iterations;
    EXPECT_EQ(outcome.statistics.method, "edges");
    return {outcome.values.data(), outcome.values.data() + outcome.values.size()};
  }

  /// Two chunks, of five edges and of four.
  static RunOptions in_chunks(Successors successors) {
    RunOptions options        = on_edges();
    options.supply.window     = first_chunk * 12;
    options.supply.successors = successors;
    return options;
  }

  const std::vector<std::uint32_t> start{0, none, none, none, none, none};
};

TEST_F(WorkedExample, StepsWithinAChunk) {
  RunOptions plain   = on_edges();
  plain.supply.async = Async::off;
  using Row          = std::vector<std::uint32_t>;
  const Graph chunk0 = of_edges(0, first_chunk), chunk1 = of_edges(first_chunk, 9);
  EXPECT_EQ(after(chunk0, 1, plain, start), (Row{0, none, 12, none, none, none}));
  const Row settled{0, 18, 12, 13, none, none};
  EXPECT_EQ(after(chunk0, 2, plain, start), settled);
  std::uint64_t made = 0;
  EXPECT_EQ(after(chunk0, 0, plain, start, &made), settled);
  EXPECT_EQ(made, 3u) << "the third changes nothing";
  EXPECT_EQ(after(chunk1, 1, plain, settled), (Row{0, 3, 12, 13, 18, 15}));
}

TEST_F(WorkedExample, RoundsWithoutConcatenatedLists) {
  const Graph      graph = of_edges(0, 9);
  const RunOptions way   = in_chunks(Successors::none);
  using Row              = std::vector<std::uint32_t>;
  EXPECT_EQ(after(graph, 1, way, start), (Row{0, 3, 12, 13, 18, 15}));
  EXPECT_EQ(after(graph, 2, way, start), (Row{0, 3, 12, 8, 15, 10}));
  std::uint64_t made = 0;
  EXPECT_EQ(after(graph, 0, way, start, &made), (Row{0, 3, 12, 8, 15, 10}));
  EXPECT_EQ(made, 3u);
}

TEST_F(WorkedExample, RoundsWithConcatenatedLists) {
  const Graph graph = of_edges(0, 9);
  using Row         = std::vector<std::uint32_t>;
  for (const Successors successors : {Successors::changed, Successors::all}) {
    EXPECT_EQ(after(graph, 1, in_chunks(successors), start), (Row{0, 3, 12, 8, 15, 10}));
    std::uint64_t made = 0;
    after(graph, 0, in_chunks(successors), start, &made);
    EXPECT_EQ(made, 2u);
  }
}

}  // namespace spillway::testing
