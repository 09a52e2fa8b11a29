// What runs leave for the planner of the next, and what it makes of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "plan/history.hpp"
#include "plan/planner.hpp"
#include "support.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/generate.hpp>
#include <spillway/graph.hpp>

namespace spillway {
namespace {

class HistoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* const cache = std::getenv("XDG_CACHE_HOME")) before = cache;
    setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
    save(generate("kron", {{"scale", "8"}}), path);
  }
  void TearDown() override {
    if (before)
      setenv("XDG_CACHE_HOME", before->c_str(), 1);
    else
      unsetenv("XDG_CACHE_HOME");
  }

  testing::TemporaryFolder    folder;
  std::optional<std::string>  before;
  const std::string           path     = folder / "a.spill";
  const std::vector<Activity> activity = {{2, 0.5, 0.25, 0.25}, {1, 0.125, 0.0625, -1}};
};

TEST_F(HistoryTest, IterationsThatAreAlikeAreTakenTogether) {
  std::vector<IterationStatistics> made;
  for (const std::uint64_t edges : {1000, 990, 500, 3, 3, 3, 0})
    made.push_back({.active_vertices = edges / 2, .active_edges = edges, .edges_processed = edges / 5});
  const auto summary = summary_of(made, 500, 1000, true);
  double     edges = 0, iterations = 0;
  for (const Activity& each : summary) edges += each.iterations * each.edges, iterations += each.iterations;
  EXPECT_EQ(iterations, 7);
  EXPECT_NEAR(edges, 2.499, 1e-9);
  ASSERT_EQ(summary.size(), 4u);
  EXPECT_NEAR(summary[0].edges, 0.995, 1e-9);
  EXPECT_EQ(summary[2].iterations, 3);
  EXPECT_NEAR(summary[0].looked_at, 0.199, 1e-9);
  EXPECT_LT(summary_of(made, 500, 1000, false)[0].looked_at, 0);
  EXPECT_TRUE(summary_of({}, 0, 0, true).empty());
}

TEST_F(HistoryTest, IsOfTheGraphAndTheProgram) {
  const Graph graph = open(path);
  RunHistory::of(graph)->note(graph, "one", activity, History::process);
  EXPECT_EQ(RunHistory::of(graph)->find(graph, "one", History::process), activity);
  EXPECT_TRUE(RunHistory::of(graph)->find(graph, "one", History::off).empty());
  EXPECT_TRUE(RunHistory::of(graph)->find(graph, "other", History::process).empty());
  const Graph again = open(path);
  EXPECT_TRUE(RunHistory::of(again)->find(again, "one", History::kept).empty());
  EXPECT_FALSE(std::filesystem::exists(history_path()));
}

TEST_F(HistoryTest, IsKeptForOtherProcessesUntilTheGraphChanges) {
  {
    const Graph graph = open(path);
    RunHistory::of(graph)->note(graph, "one", activity, History::kept);
    RunHistory::of(graph)->note(graph, "two", {{7, 1, 1}}, History::kept);
  }
  {
    const Graph graph = open(path);
    EXPECT_EQ(RunHistory::of(graph)->find(graph, "one", History::kept), activity);
    EXPECT_EQ(RunHistory::of(graph)->find(graph, "two", History::kept), (std::vector<Activity>{{7, 1, 1}}));
    EXPECT_TRUE(RunHistory::of(open(path))->find(graph, "one", History::process).empty());
  }
  save(generate("kron", {{"scale", "8"}, {"a", "0.4"}, {"b", "0.3"}, {"c", "0.2"}}), path);
  const Graph other = open(path);
  EXPECT_TRUE(RunHistory::of(other)->find(other, "one", History::kept).empty());
}

TEST_F(HistoryTest, WhatIsDamagedIsNone) {
  const auto find = [&] {
    const Graph graph = open(path);
    return RunHistory::of(graph)->find(graph, "one", History::kept);
  };
  {
    const Graph graph = open(path);
    RunHistory::of(graph)->note(graph, "one", activity, History::kept);
  }
  ASSERT_EQ(find(), activity);
  std::ifstream     file{history_path()};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  for (const auto& [from, to] : {std::pair{"0.5", "1.5"}, std::pair{"0.5", "-2"}, std::pair{"0.5", "null"},
                                 std::pair{"\"format\": 1", "\"format\": 2"}, std::pair{"{", "["}}) {
    std::string damaged = text;
    damaged.replace(damaged.find(from), std::string_view{from}.size(), to);
    std::ofstream{history_path()} << damaged;
    EXPECT_TRUE(find().empty()) << to;
  }
}

TEST_F(HistoryTest, ManyGraphsPushOutTheOldest) {
  const auto file_of = [&](int i) { return folder / ("g" + std::to_string(i) + ".spill"); };
  for (int i = 0; i < 70; ++i) {
    save(generate("chain", {{"vertices", std::to_string(i + 2)}}), file_of(i));
    const Graph graph = open(file_of(i));
    RunHistory::of(graph)->note(graph, "one", activity, History::kept);
  }
  const auto known = [&](int i) {
    const Graph graph = open(file_of(i));
    return !RunHistory::of(graph)->find(graph, "one", History::kept).empty();
  };
  EXPECT_FALSE(known(0));
  EXPECT_FALSE(known(5));
  EXPECT_TRUE(known(6));
  EXPECT_TRUE(known(69));
}

TEST_F(HistoryTest, OfOtherWeightsIsAnother) {
  const Graph unit = with_unit_weights(open(path)), random = with_random_weights(open(path), 1);
  RunHistory::of(unit)->note(unit, "one", activity, History::kept);
  EXPECT_TRUE(RunHistory::of(random)->find(random, "one", History::kept).empty());
  const Graph again = with_unit_weights(open(path));
  EXPECT_EQ(RunHistory::of(again)->find(again, "one", History::kept), activity);
}

TEST_F(HistoryTest, IsKeptAlsoAfterRunsThatWereNot) {
  const Graph graph = open(path);
  RunHistory::of(graph)->note(graph, "one", activity, History::process);
  RunHistory::of(graph)->note(graph, "one", activity, History::kept);
  EXPECT_EQ(RunHistory::of(open(path))->find(open(path), "one", History::kept), activity);
}

/// A search from a vertex without edges, and a run in windows, which does not know what kernels would look at.
TEST_F(HistoryTest, IsNotReplacedByLess) {
  const Graph graph = open(path);
  const auto  found = [&] { return RunHistory::of(graph)->find(graph, "one", History::process); };
  RunHistory::of(graph)->note(graph, "one", activity, History::process);
  RunHistory::of(graph)->note(graph, "one", {{1, 0, 0, 0}}, History::process);
  EXPECT_EQ(found(), activity);
  RunHistory::of(graph)->note(graph, "one", {{2, 0.5, 0.25, -1}, {1, 0.125, 0.0625, -1}}, History::process);
  EXPECT_EQ(found(), activity);
  RunHistory::of(graph)->note(graph, "one", {{9, 0.5, 0.25, -1}}, History::process);
  EXPECT_EQ(found().front().iterations, 9);
}

TEST_F(HistoryTest, PathsMayBeAnyBytes) {
  const std::string odd = folder / "\xe4.spill";
  save(generate("chain", {{"vertices", "9"}}), odd);
  const Graph graph = open(odd);
  RunHistory::of(graph)->note(graph, "one", activity, History::kept);
  EXPECT_TRUE(std::filesystem::exists(history_path()));
}

/// Of a run that was cut off it is not known how many iterations there would have been.
TEST_F(HistoryTest, RunsThatWereCutOffLeaveNone) {
  const Graph      graph     = open(path);
  const Algorithm& algorithm = algorithm_named("pagerank");
  const auto       known     = [&](const char* iterations) {
    algorithm.run(graph, completed_parameters(algorithm, {{"iterations", iterations}}),
                            {.device = {.kind = cpu_kind()}});
    return !RunHistory::of(graph)->find(graph, "N8spillway8PageRankE", History::process).empty();
  };
  EXPECT_FALSE(known("4"));
  EXPECT_TRUE(known("auto"));
}

/// The planner believes it, within the iterations that a run may make.
TEST_F(HistoryTest, ReplacesWhatIsExpected) {
  const RunOptions options;
  const RunFacts   run{.options        = options,
                       .vertices       = 100,
                       .arcs           = 1000,
                       .max_iterations = 6,
                       .history        = {{8, 0.5, 0.2}, {4, 0.1, 0.1}}};
  GraphSample      sample;
  sample.nonempty     = 0.5;
  const auto expected = expected_activity(run, sample);
  ASSERT_EQ(expected.size(), 2u);
  EXPECT_NEAR(expected[0].iterations, 4, 1e-9);
  EXPECT_NEAR(expected[1].iterations, 2, 1e-9);
  EXPECT_NEAR(expected[0].rows, 0.4, 1e-9);
}

/// Pulls look at more than is active, and votes at less: kernels that may choose cost what they look at.
TEST_F(HistoryTest, EdgesThatWereLookedAtArePriced) {
  const RunOptions  options;
  const RunFacts    run{.options = options, .vertices = 1'000'000, .arcs = 100'000'000};
  const GraphSample sample;
  PlanCandidate     in_place, sent;
  in_place.method = method_named("zerocopy"), sent.method = method_named("subgraph");
  const auto seconds = [&](const PlanCandidate& candidate, double looked_at) {
    return predicted_iteration(run, Rates{}, sample, candidate, {1, 0.25, 0.25, looked_at}, 0).seconds;
  };
  EXPECT_NEAR(seconds(in_place, 1) / seconds(in_place, 0.25), 4, 0.5);
  EXPECT_EQ(seconds(in_place, -1), seconds(in_place, 0.25));
  EXPECT_EQ(seconds(sent, 1), seconds(sent, 0.25));
}

TEST_F(HistoryTest, RunsLeaveTheirs) {
  const Graph      graph     = open(path);
  const Algorithm& algorithm = algorithm_named("bfs");
  const auto       programs  = [&](History history) {
    algorithm.run(graph, {{"source", "0"}}, {.device = {.kind = cpu_kind()}, .history = history});
    const auto found = RunHistory::of(graph)->find(graph, "N8spillway3BfsE", History::process);
    return std::accumulate(found.begin(), found.end(), 0.0,
                                  [](double all, const Activity& each) { return all + each.iterations; });
  };
  EXPECT_EQ(programs(History::off), 0);
  EXPECT_GT(programs(History::process), 2);
}

}  // namespace
}  // namespace spillway
