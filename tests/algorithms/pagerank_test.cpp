// When PageRank stops, what it says about that, and how its verification tells.
#include <gtest/gtest.h>

#include <spillway/algorithms.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

Graph cycle(const std::string& vertices) { return generate("cycle", {{"vertices", vertices}}); }

Graph star() {
  GenerateOptions both;
  both.transform.undirected = true;
  return generate("star", {{"vertices", "1000"}}, both);
}

ParameterValues values_of(const ParameterValues& given) {
  return completed_parameters(algorithm_named("pagerank"), given);
}

Result ranks_of(const Graph& graph, const ParameterValues& given) {
  return algorithm_named("pagerank").run(graph, values_of(given), {});
}

std::string problem_of(const Graph& graph, const ParameterValues& given, const Result& result, CheckBy by) {
  return algorithm_named("pagerank").verify(graph, values_of(given), result, {.by = by}).problem;
}

std::string converged(const Result& result) { return std::get<std::string>(result.facts.at(1).value); }

TEST(PageRank, ResidualsGoRoundInACycleOnlySoLong) {
  const Graph           graph = cycle("12");
  const ParameterValues given{{"form", "residual"}, {"tolerance", "0"}};
  const Result          result = ranks_of(graph, given);
  EXPECT_EQ(problem_of(graph, given, result, CheckBy::automatic), "");
}

/// On a star ranks go back and forth between its middle and its leaves, less by the damping each time.
TEST(PageRank, SaysWhetherItConverged) {
  EXPECT_EQ(converged(ranks_of(star(), {})), "yes");
  EXPECT_EQ(converged(ranks_of(star(), {{"iterations", "3"}})), "no");
  EXPECT_EQ(converged(ranks_of(star(), {{"damping", "0.999999"}})), "no");
  EXPECT_EQ(converged(ranks_of(star(), {{"form", "residual"}})), "yes");
  EXPECT_EQ(converged(ranks_of(star(), {{"form", "residual"}, {"iterations", "3"}})), "no");
  EXPECT_EQ(converged(ranks_of(star(), {{"form", "residual"}, {"damping", "0.999999"}})), "no");
}

/// A chain whose last vertex is dangling.
Graph chain() { return generate("chain", {{"vertices", "50"}}); }

TEST(PageRank, ResidualsThatWereLeftAreAccountedFor) {
  for (const Graph& graph : {star(), chain(), cycle("12")})
    for (const char* dangling : {"redistribute", "drop"})
      for (const char* iterations : {"1", "2", "10", "100", "auto"}) {
        const ParameterValues given{{"form", "residual"}, {"iterations", iterations}, {"dangling", dangling}};
        const Result          result  = ranks_of(graph, given);
        const bool            limited = std::string{iterations} != "auto";
        EXPECT_LE(result.statistics.iterations, limited ? std::stoul(iterations) : 1000);
        for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
          EXPECT_EQ(problem_of(graph, given, result, by), "") << dangling << " " << iterations;
      }
}

TEST(PageRank, ResidualFormHasAnOracle) {
  const Algorithm& algorithm = algorithm_named("pagerank");
  const auto       values    = values_of({{"form", "residual"}});
  EXPECT_EQ(algorithm.verify(star(), values, ranks_of(star(), values), {}).how, "serial oracle");
}

/// The ranks of a run that was cut short, said to be those of one that was not.
TEST(PageRank, VerificationNoticesResidualsThatAreDenied) {
  const ParameterValues given{{"form", "residual"}};
  Result                wrong = ranks_of(star(), {{"form", "residual"}, {"iterations", "2"}});
  EXPECT_NE(problem_of(star(), given, wrong, CheckBy::oracle), "");
  wrong.facts.at(0).value = 0.0;
  wrong.facts.at(1).value = std::string{"yes"};
  for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
    EXPECT_NE(problem_of(star(), given, wrong, by), "");
}

TEST(PageRank, VerificationNoticesARunThatStoppedTooSoon) {
  const Result early = ranks_of(star(), {{"iterations", "3"}});
  EXPECT_EQ(problem_of(star(), {{"iterations", "3"}}, early, CheckBy::oracle), "");
  EXPECT_EQ(problem_of(star(), {{"iterations", "3"}}, early, CheckBy::properties), "");
  for (const CheckBy by : {CheckBy::oracle, CheckBy::properties}) EXPECT_NE(problem_of(star(), {}, early, by), "");
}

TEST(PageRank, VerificationNoticesSmallRanks) {
  const Graph        graph = generate("uniform", {{"vertices", "100000"}, {"degree", "4"}});
  Result             wrong = ranks_of(graph, {});
  const auto&        right = std::get<Array<float>>(wrong.columns[0].values);
  std::vector<float> ranks{right.begin(), right.end()};
  ranks[17] *= 1.0001f;
  wrong.columns[0].values = Array<float>::own(std::move(ranks));
  EXPECT_NE(problem_of(graph, {}, wrong, CheckBy::oracle), "");
}

}  // namespace
}  // namespace spillway
