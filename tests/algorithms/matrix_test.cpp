// Every registered algorithm on the whole zoo and on random graphs, with one and with several threads, in every
// direction, with the engine's sizes as they are and so small that every way through it is taken, against its own
// oracle and its own property checks. An algorithm joins by registering.
#include <gtest/gtest.h>

#include "algorithms/trying.hpp"
#include "plan/devices.hpp"
#include "ways.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>

namespace spillway {
namespace {

using testing::as_text;
using testing::filled;
using testing::variants_of;
using testing::ways_to_run;
using testing::with_weights_for;

class EveryAlgorithm : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
#if defined(SPILLWAY_TEST_ON_GPU)
    if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
    if (!algorithm_named(GetParam()).on_gpu) GTEST_SKIP() << "not on GPUs yet";
#endif
  }
};

#if defined(SPILLWAY_TEST_ON_GPU)
#if defined(SPILLWAY_EMULATED)
const std::uint64_t random_graphs = 3;
#else
const std::uint64_t random_graphs = testing::full_matrix() ? 200 : 20;
#endif
#else
constexpr std::uint64_t random_graphs = 200;
#endif

/// A run from every vertex, in every way, is for small graphs.
bool takes_too_long(const ParameterValues& values, const Graph& graph) {
  const auto sources = values.find("sources");
  return sources != values.end() && sources->second == "all" && graph.vertex_count() > 64;
}

void expect_right(const Algorithm& algorithm, const Graph& given, const std::string& what) {
  const Graph graph = with_weights_for(algorithm, given);
  for (const ParameterValues& variant : variants_of(algorithm.name)) {
    const auto values = filled(algorithm, graph, variant);
    if (!values || takes_too_long(*values, graph)) continue;
#if defined(SPILLWAY_EMULATED)
    static unsigned turn = 0;  // each time every third way, and others the next time: emulating takes its time
#endif
    for (const RunOptions& way : ways_to_run()) {
#if defined(SPILLWAY_EMULATED)
      if (++turn % 3 != 0) continue;
#endif
      const Result result = algorithm.run(graph, *values, way);
#if defined(SPILLWAY_TEST_ON_GPU)
      if (graph.vertex_count() > 0) {  // otherwise nobody need compute
        EXPECT_EQ(result.statistics.device, "cuda:0") << algorithm.name << as_text(*values) << " on " << what;
      }
#endif
      for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
        EXPECT_EQ(algorithm.verify(graph, *values, result, {.by = by}).problem, "")
            << algorithm.name << as_text(*values) << " on " << what << as_text(way);
      ASSERT_EQ(result.graph.has_value(), algorithm.makes_a_graph);
    }
  }
}

/// Distances over weights near 2^32 do not fit, which sssp says (paths_test.cpp); there is nothing to compare.
bool overflows(const std::string& algorithm, const std::string& member) {
  return algorithm == "sssp" && member == "weights_large";
}

TEST_P(EveryAlgorithm, IsRightOnTheZoo) {
  for (const auto& member : testing::zoo())
    if (!overflows(GetParam(), member.name)) expect_right(algorithm_named(GetParam()), member.graph, member.name);
}

TEST_P(EveryAlgorithm, IsRightOnRandomGraphs) {
  for (std::uint64_t seed = 0; seed < random_graphs; ++seed)
    expect_right(algorithm_named(GetParam()), testing::random_graph(seed), "seed " + std::to_string(seed));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Algorithm& algorithm : algorithms()) all.push_back(algorithm.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace spillway
