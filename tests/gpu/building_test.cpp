// Rows and in-edges that a GPU builds are those that the CPU makes, arc by arc.
#include <gtest/gtest.h>

#include "devices/devices.hpp"
#include "graph/csr.hpp"
#include "graph/edge_list.hpp"
#include "zoo.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/generate.hpp>
#include "engine/building.hpp"
#include "engine/cuda/building.hpp"

namespace spillway {
namespace {

void expect_same(const Graph& graph, const std::string& what) {
  const Csr expected =
      transposed(graph.out(), graph.weight_type(), {.budget = graph.budget(), .transform = {}, .threads = 1});
  build_in_edges(graph, {.device = {.kind = cuda_kind()}, .cuda = {.build_from = 0}}, true);
  const Csr& found = graph.in();
  EXPECT_TRUE(std::ranges::equal(found.offsets.span(), expected.offsets.span())) << what;
  EXPECT_TRUE(std::ranges::equal(found.targets.span(), expected.targets.span())) << what;
  EXPECT_TRUE(std::ranges::equal(found.weights.span(), expected.weights.span())) << what;
}

TEST(GpuBuilding, TurnsGraphsRound) {
  if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  for (const auto& member : testing::zoo())
    if (!member.graph.symmetric()) expect_same(member.graph, member.name);
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    if (const Graph graph = testing::random_graph(seed); !graph.symmetric())
      expect_same(graph, "seed " + std::to_string(seed));
}

/// The last edge first; of symmetric graphs each stands for both arcs.
Graph backwards(const Graph& graph) {
  const auto                 list = as_edges(graph).edges();
  const EdgeRun              run  = list->edges(1);
  std::vector<Vertex>        sources, targets;
  std::vector<std::uint32_t> weights;
  for (std::uint64_t i = run.count; i-- > 0;) {
    sources.push_back(run.source(i)), targets.push_back(run.target(i));
    if (list->weighted()) weights.push_back(run.weight(i));
  }
  LoadOptions options;
  options.edges                = true;
  options.transform.undirected = list->both_ways();
  return from_arcs(sources, targets, weights, graph.weight_type(), graph.vertex_count(), options);
}

/// In how many parts a GPU sorted them; 0: there was no room for it.
std::size_t built_parts(const Graph& list, std::uint64_t memory, std::uint64_t stretch, const std::string& what) {
  const RunOptions options{.device = {.kind = cuda_kind(), .memory = memory},
                           .cuda   = {.build_from = 0, .sort_stretch = stretch}};
  const Graph      expected = with_rows(list);
  std::size_t      parts    = 0;
  try {
    parts = cuda::build_rows_on(list, options);
  } catch (const DeviceError& error) {
    EXPECT_NE(memory, 0u) << what << ": " << error.what();
    return 0;
  }
  const Csr &found = list.out(), &known = expected.out();
  EXPECT_TRUE(std::ranges::equal(found.offsets.span(), known.offsets.span())) << what;
  EXPECT_TRUE(std::ranges::equal(found.targets.span(), known.targets.span())) << what;
  EXPECT_TRUE(std::ranges::equal(found.weights.span(), known.weights.span())) << what;
  return parts;
}

TEST(GpuBuilding, SortsListsIntoRows) {
  if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  std::uint64_t built = 0;
  const auto    build = [&](const Graph& graph, const std::string& what) {
    if (graph.arc_count() == 0) return;
    EXPECT_EQ(built_parts(backwards(graph), 0, built % 2 == 0 ? 7 : 1u << 20, what), 1u);
    ++built;
  };
  for (const auto& member : testing::zoo()) build(member.graph, member.name);
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    build(testing::random_graph(seed), "seed " + std::to_string(seed));
  EXPECT_GT(built, 60u);
}

TEST(GpuBuilding, SortsInPartsWhereMemoryIsShort) {
  if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  for (const WeightType type : {WeightType::none, WeightType::f32}) {
    const Graph graph = generate("kron", {{"scale", "10"}}, {.weight_type = type});
    std::size_t most  = 0;
    for (const std::uint64_t kibibytes : {90, 150, 200, 250})
      most =
          std::max(most, built_parts(backwards(graph), kibibytes << 10, 500, std::to_string(kibibytes) + " KiB"));
    EXPECT_GT(most, 2u);
  }
  // Who asked for rows has them from the CPU.
  const Graph list = backwards(generate("kron", {{"scale", "8"}}));
  build_rows(list, {.device = {.kind = cuda_kind(), .memory = 1000}, .cuda = {.build_from = 0}}, true);
  EXPECT_TRUE(list.has_rows());
}

}  // namespace
}  // namespace spillway
