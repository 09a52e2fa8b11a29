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

}  // namespace
}  // namespace spillway
