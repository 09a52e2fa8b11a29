// Beliefs on a GPU, with every number of states: kernels have room for some of them only.
#include <gtest/gtest.h>

#include "devices/devices.hpp"
#include "support.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

class GpuBeliefs : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  }

  static void expect_right(const Graph& graph, ParameterValues given) {
    const Algorithm& algorithm = algorithm_named("bp");
    given["form"]              = GetParam();
    const auto   values        = completed_parameters(algorithm, given);
    const Result result        = algorithm.run(graph, values, {.device = {.kind = cuda_kind()}});
    std::string  what;
    for (const auto& [name, value] : given) what += " --" + name + " " + value;
    EXPECT_EQ(result.statistics.device, "cuda:0") << what;
    EXPECT_EQ(std::to_string(result.columns.size()), values.at("states")) << what;
    EXPECT_EQ(result.columns.back().name, "belief_" + std::to_string(result.columns.size() - 1));
    for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
      EXPECT_EQ(algorithm.verify(graph, values, result, {.by = by}).problem, "") << what;
  }
};

TEST_P(GpuBeliefs, OfEveryNumberOfStates) {
  for (std::uint64_t states = 2; states <= 8; ++states)
    expect_right(testing::random_graph(states), {{"states", std::to_string(states)}, {"tolerance", "0"}});
}

/// What is as good as impossible, and what is as good as certain, must not become infinite or no number.
TEST_P(GpuBeliefs, OfExtremeFactors) {
  const testing::TemporaryFolder folder;
  const std::string              priors = folder.write("priors", "0 1e-20 1e20 1e-20\n3 1e20 1e-20 1\n");
  const Graph                    graph  = generate("star", {{"vertices", "300"}});
  for (const char* coupling : {"1e-20", "1e20"})
    for (const char* damping : {"0", "0.5"})
      expect_right(graph, {{"states", "3"}, {"priors", priors}, {"coupling", coupling}, {"damping", damping}});
}

INSTANTIATE_TEST_SUITE_P(Forms, GpuBeliefs, ::testing::Values("arc", "vertex"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace spillway
