// Graphs transposed on a GPU are those that the CPU makes, arc by arc.
#include <gtest/gtest.h>

#include "devices/devices.hpp"
#include "graph/csr.hpp"
#include "zoo.hpp"

#include <spillway/engine/memory.hpp>
#include "engine/building.hpp"

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

}  // namespace
}  // namespace spillway
