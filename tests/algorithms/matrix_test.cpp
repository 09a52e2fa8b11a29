// Every registered algorithm on the whole zoo and on random graphs, with one and with several threads, against
// its own oracle. An algorithm joins by registering.
#include <gtest/gtest.h>

#include "zoo.hpp"

#include <spillway/algorithms.hpp>

namespace spillway {
namespace {

class EveryAlgorithm : public ::testing::TestWithParam<std::string> {};

void expect_right(const Algorithm& algorithm, const Graph& graph, const std::string& what) {
  const ParameterValues parameters = completed_parameters(algorithm, {});
  for (const int threads : {1, 2}) {
    const Result  result  = algorithm.run(graph, parameters, {.threads = threads});
    const Verdict verdict = algorithm.verify(graph, parameters, result, {});
    EXPECT_EQ(verdict.problem, "") << algorithm.name << " on " << what << " with " << threads << " threads";
    ASSERT_LE(result.columns.size(), algorithm.columns.size());
  }
}

TEST_P(EveryAlgorithm, IsRightOnTheZoo) {
  for (const auto& member : testing::zoo()) expect_right(algorithm_named(GetParam()), member.graph, member.name);
}

TEST_P(EveryAlgorithm, IsRightOnRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    expect_right(algorithm_named(GetParam()), testing::random_graph(seed), "seed " + std::to_string(seed));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Algorithm& algorithm : algorithms()) all.push_back(algorithm.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(Degrees, TheOracleCatchesABrokenResult) {
  const Graph graph  = testing::random_graph(3);
  Result      result = algorithm_named("degrees").run(graph, {}, {});
  const auto& right = std::get<Array<std::uint64_t>>(result.columns[1].values);
  std::vector<std::uint64_t> wrong{right.begin(), right.end()};
  wrong[0] += 1;
  result.columns[1].values = Array<std::uint64_t>::own(std::move(wrong));
  EXPECT_NE(algorithm_named("degrees").verify(graph, {}, result, {}).problem, "");
}

}  // namespace
}  // namespace spillway
