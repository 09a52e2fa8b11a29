// Strong components on a GPU: every step of the search, on graphs that need it, and how many levels many pivots
// spare.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "devices/devices.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using Arcs = std::vector<std::pair<Vertex, Vertex>>;

Graph graph_of(const Arcs& arcs, std::uint64_t vertices = 0) {
  std::vector<Vertex> sources, targets;
  for (const auto& [source, target] : arcs) sources.push_back(source), targets.push_back(target);
  return from_arcs(sources, targets, {}, WeightType::none, vertices);
}

class GpuStrongComponents : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  }

  static Result ask(const Graph& graph, const std::string& method = "auto") {
    const Algorithm& scc = algorithm_named("scc");
    Result result        = scc.run(graph, {}, {.device = {.kind = cuda_kind()}, .method = method_named(method)});
    for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
      EXPECT_EQ(scc.verify(graph, {}, result, {.by = by}).problem, "") << method;
    EXPECT_EQ(result.statistics.device, "cuda:0");
    EXPECT_EQ(result.statistics.iterations, result.statistics.per_iteration.size());
    return result;
  }

  static std::uint64_t components(const Result& result) {
    return std::get<std::uint64_t>(result.facts.at(0).value);
  }

#if defined(SPILLWAY_EMULATED)  // which takes its time
  static constexpr Vertex length = 60, cycles = 5;
  static constexpr auto   side = "24";
#else
  static constexpr Vertex length = 2000, cycles = 12;
  static constexpr auto   side = "300";
#endif
};

/// Many pivots, each with its surroundings, a core, and the rest by colours; over rows on the device and in place.
TEST_F(GpuStrongComponents, OfStreetsThatLeadOneWay) {
  for (const char* one_way : {"0.3", "0.8", "1"})
    for (const char* remove : {"0", "0.2"}) {
      const Graph graph =
          generate("grid", {{"rows", side}, {"columns", side}, {"one-way", one_way}, {"remove", remove}});
      ask(graph);
      EXPECT_EQ(ask(graph, "zerocopy").statistics.method, "zerocopy");
    }
}

/// A search from one pivot takes as many levels each way as there are steps to the farthest corner. Who meets whom
/// first differs from run to run, and with it how many levels are left: 26 to some 300.
TEST_F(GpuStrongComponents, PivotsShareOutLongPaths) {
  const Graph   graph  = generate("grid", {{"rows", "4"}, {"columns", "300"}, {"one-way", "0.1"}});
  std::uint64_t levels = ~std::uint64_t{0};
  for (int i = 0; i < 5; ++i) levels = std::min<std::uint64_t>(levels, ask(graph).statistics.iterations);
  EXPECT_LT(levels, 250u);
}

TEST_F(GpuStrongComponents, APathIsTrimmedEitherWay) {
  Arcs path;
  for (Vertex v = 0; v + 1 < length; ++v) path.emplace_back(v, v + 1);
  EXPECT_EQ(components(ask(graph_of(path))), length);
  path.emplace_back(length - 1, length - 1);  // a loop is no cycle to stay for
  path.emplace_back(0, 0);
  EXPECT_EQ(components(ask(graph_of(path))), length);
}

/// What leads to a cycle and what leads away from it is trimmed from different sides.
TEST_F(GpuStrongComponents, TailsOnBothSidesOfACycle) {
  Arcs arcs;
  for (Vertex v = 0; v + 1 < 3 * length; ++v) arcs.emplace_back(v, v + 1);
  arcs.emplace_back(2 * length, length);
  EXPECT_EQ(components(ask(graph_of(arcs))), 3u * length - (length + 1) + 1);
}

/// Whoever is smallest reaches all: colours settle one cycle in each round, and what lies between is no component.
TEST_F(GpuStrongComponents, CyclesOneBehindTheOther) {
  constexpr Vertex each = length / 4;
  Arcs             arcs;
  for (Vertex c = 0; c < cycles; ++c) {
    for (Vertex i = 0; i < each; ++i) arcs.emplace_back(c * each + i, c * each + (i + 1) % each);
    if (c + 1 < cycles)
      arcs.emplace_back(c * each + 1, cycles * each + c), arcs.emplace_back(cycles * each + c, (c + 1) * each);
  }
  EXPECT_EQ(components(ask(graph_of(arcs))), 2u * cycles - 1);
}

TEST_F(GpuStrongComponents, ManySmallOnes) {
  Arcs arcs;
  for (Vertex v = 0; v + 1 < 4 * length; v += 2) {
    arcs.emplace_back(v, v + 1), arcs.emplace_back(v + 1, v);
    if (v > 0) arcs.emplace_back(v, v - 2);
  }
  EXPECT_EQ(components(ask(graph_of(arcs))), 2u * length);
}

TEST_F(GpuStrongComponents, OfHubsByOnePivot) {
  const Graph graph = generate("kron", {{"scale", "7"}, {"degree", "10"}});
  ASSERT_FALSE(has_long_paths(graph.vertex_count(), graph.arc_count()));
  ask(graph);
  ask(graph, "zerocopy");
}

TEST_F(GpuStrongComponents, OfNothingAndOfNoArcs) {
  EXPECT_EQ(components(ask(graph_of({}, 1))), 1u);
  EXPECT_EQ(components(ask(graph_of({{0, 0}, {3, 3}}, 40))), 40u);
  const Result none = algorithm_named("scc").run(Graph{}, {}, {.device = {.kind = cuda_kind()}});
  EXPECT_EQ(components(none), 0u);
}

}  // namespace
}  // namespace spillway
