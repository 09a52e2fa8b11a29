// Label propagation: the published answers of the benchmark that defines it, cases by hand, and checks that find
// mistakes.
#include <gtest/gtest.h>

#include <map>

#include "algorithms/graphalytics.hpp"
#include "algorithms/label_tally.hpp"
#include "support.hpp"
#include "zoo.hpp"

#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::column;
using testing::expect_caught;
using testing::graph_of;
using testing::run;
using Labels = std::vector<Vertex>;

Labels labels(const Graph& graph, const std::string& iterations = "10") {
  return column<Vertex>(run("cdlp", graph, {{"iterations", iterations}}));
}

std::uint64_t communities(const Result& result) { return std::get<std::uint64_t>(result.facts.at(0).value); }

TEST(Cdlp, AnswersAsTheBenchmarkDoes) {
  // The published labels are those of ids that start at 1 and at 2.
  EXPECT_EQ(labels(testing::graphalytics_directed(), "2"), (Labels{0, 1, 2, 3, 0, 0, 1, 2, 1, 0}));
  EXPECT_EQ(labels(testing::graphalytics_undirected(), "2"), (Labels{0, 1, 0, 0, 4, 3, 0, 3, 3}));
}

TEST(Cdlp, StopsWhenNothingChanges) {
  const Graph graph = graph_of({{1, 2},
                                {1, 3},
                                {1, 7},
                                {2, 1},
                                {2, 3},
                                {3, 1},
                                {3, 2},
                                {4, 5},
                                {4, 6},
                                {5, 4},
                                {5, 6},
                                {5, 7},
                                {6, 5},
                                {6, 7},
                                {7, 5},
                                {7, 6},
                                {7, 8},
                                {8, 6}},
                               1);
  EXPECT_EQ(labels(graph, "5"), (Labels{0, 0, 0, 4, 3, 3, 3, 3}));
  const Result result = run("cdlp", graph, {{"iterations", "100"}});
  EXPECT_EQ(column<Vertex>(result), (Labels{0, 0, 0, 3, 3, 3, 3, 3}));
  EXPECT_EQ(result.statistics.iterations, 7u);
  EXPECT_EQ(result.facts.at(0).name, "communities");
  EXPECT_EQ(communities(result), 2u);
}

TEST(Cdlp, EveryVertexMovesAtTheSameTime) {
  const Graph pair = graph_of({{0, 1}});
  EXPECT_EQ(labels(pair, "1"), (Labels{1, 0}));
  EXPECT_EQ(labels(pair, "2"), (Labels{0, 1}));
  EXPECT_EQ(run("cdlp", pair).statistics.iterations, 10u);
}

TEST(Cdlp, TheSmallestOfEquallyFrequentLabelsWins) {
  EXPECT_EQ(labels(graph_of({{0, 3}, {1, 3}, {2, 3}}), "1"), (Labels{3, 3, 3, 0}));
}

TEST(Cdlp, ArcsCountAsOftenAsTheyStand) {
  EXPECT_EQ(labels(graph_of({{0, 3}, {1, 3}, {1, 3}, {2, 3}}), "1")[3], 1u) << "parallel";
  EXPECT_EQ(labels(graph_of({{0, 3}, {2, 3}, {3, 2}}), "1")[3], 2u) << "both ways";
  // A loop of a directed graph is seen as it leaves and as it arrives.
  EXPECT_EQ(labels(graph_of({{0, 1}, {1, 1}, {2, 3}}), "1"), (Labels{1, 1, 3, 2})) << "loop";
}

TEST(Cdlp, VerticesAloneKeepTheirLabel) {
  const Graph graph = graph_of({{1, 2}}, 0, false, 4);
  EXPECT_EQ(labels(graph, "1"), (Labels{0, 2, 1, 3}));
  EXPECT_EQ(communities(run("cdlp", graph)), 4u);
  EXPECT_EQ(communities(run("cdlp", Graph{})), 0u);
}

TEST(Cdlp, LabelsAreShownAsTheUsersIds) { EXPECT_TRUE(run("cdlp", graph_of({{0, 1}})).columns.at(0).vertices); }

TEST(Cdlp, RefusesNoRounds) {
  for (const char* iterations : {"0", "-1", "ten", "1.5", "1000001"}) {
    const auto [code, message] = testing::failure_of([&] {
      run("cdlp", graph_of({{0, 1}}), {{"iterations", iterations}});
    });
    EXPECT_EQ(code, ExitCode::usage) << iterations;
    EXPECT_NE(message.find("iterations"), std::string::npos);
  }
}

/// Most of such a graph soon has one label, and later rounds follow the changes alone.
TEST(Cdlp, RoundsThatFollowChangesAreRight) {
  GenerateOptions options;
  for (const bool undirected : {false, true}) {
    options.transform.undirected = undirected;
    const Graph graph            = generate("kron", {{"scale", "12"}}, options);
    for (const char* iterations : {"4", "6", "9", "12"}) {
      const ParameterValues given{{"iterations", iterations}};
      const Result          result = run("cdlp", graph, given);
      EXPECT_EQ(testing::verify("cdlp", graph, result, given).problem, "") << iterations << " rounds";
      if (std::string{iterations} == "12") {
        EXPECT_LT(result.statistics.per_iteration.back().active_vertices, graph.vertex_count() / 8);
      }
    }
  }
}

TEST(Cdlp, IsRightForEveryNumberOfRounds) {
  for (const auto& member : testing::zoo()) {
    for (const char* iterations : {"1", "2", "3", "30"}) {
      const ParameterValues given{{"iterations", iterations}};
      EXPECT_EQ(testing::verify("cdlp", member.graph, run("cdlp", member.graph, given), given).problem, "")
          << member.name << ", " << iterations << " rounds";
    }
  }
}

TEST(Cdlp, ChecksFindMistakes) {
  for (const Graph& graph : {testing::graphalytics_directed(), testing::graphalytics_undirected()}) {
    const Result right = run("cdlp", graph);
    const Vertex label = column<Vertex>(right)[4];
    expect_caught("cdlp", graph, right, testing::with_value<Vertex>(right, 4, label == 5 ? 6 : 5));
    Result wrong         = right;
    wrong.facts[0].value = communities(right) + 1;
    expect_caught("cdlp", graph, right, wrong);
  }
}

TEST(Cdlp, StopsWhenAskedTo) { testing::expect_stops("cdlp"); }

TEST(LabelTally, GrowsAndStartsAnew) {
  LabelTally counters{std::make_shared<MemoryBudget>()};
  for (const std::uint64_t count : {5000u, 3u, 70000u, 1u}) {
    counters.begin(count * 2 + 1);
    for (Vertex label = 0; label < count; ++label) counters.add(label * 7919);
    EXPECT_EQ(counters.winner(), 0u);
    const auto last = static_cast<Vertex>((count - 1) * 7919);
    counters.add(last);
    EXPECT_EQ(counters.winner(), last);
    for (Vertex label = 0; label < count; ++label) counters.add(label * 7919);
    EXPECT_EQ(counters.winner(), last);
  }
}

}  // namespace
}  // namespace spillway
