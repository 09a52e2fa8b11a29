// Local clustering: the published answers of the benchmark that defines it, cases by hand, and checks that find
// mistakes.
#include <gtest/gtest.h>

#include "algorithms/graphalytics.hpp"
#include "support.hpp"
#include "zoo.hpp"

#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::column;
using testing::expect_caught;
using testing::graph_of;
using testing::run;

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t v = 0; v < found.size(); ++v) EXPECT_NEAR(found[v], expected[v], 1e-12) << "vertex " << v;
}

TEST(Lcc, AnswersAsTheBenchmarkDoes) {
  expect_near(column<double>(run("lcc", testing::graphalytics_directed())),
              {2.0 / 3, 1.0 / 6, 0.15, 0.05, 0.25, 0, 0, 5.0 / 6, 0, 0});
  expect_near(column<double>(run("lcc", testing::graphalytics_undirected())),
              {1, 1.0 / 3, 1, 2.0 / 3, 0.2, 1, 2.0 / 3, 1, 0});
}

TEST(Lcc, CountsDirectionsOfTheOppositeSide) {
  // A triangle with arcs both ways on one side only: the vertex opposite sees both.
  expect_near(column<double>(run("lcc", graph_of({{0, 1}, {1, 2}, {2, 1}, {0, 2}}))), {1, 0.5, 0.5});
}

TEST(Lcc, LoopsAndParallelArcsDoNotCount) {
  const Graph plain = graph_of({{0, 1}, {1, 2}, {0, 2}, {2, 3}});
  const Graph messy = graph_of({{0, 1}, {0, 1}, {1, 1}, {1, 2}, {1, 2}, {0, 2}, {0, 0}, {2, 3}, {3, 3}, {2, 3}});
  expect_near(column<double>(run("lcc", messy)), column<double>(run("lcc", plain)));
  const Graph both_plain = graph_of({{0, 1}, {1, 2}, {0, 2}, {2, 3}}, 0, /*undirected=*/true);
  const Graph both_messy = graph_of({{0, 1}, {0, 1}, {1, 1}, {1, 2}, {0, 2}, {2, 3}}, 0, /*undirected=*/true);
  expect_near(column<double>(run("lcc", both_plain)), {1, 1, 1.0 / 3, 0});
  expect_near(column<double>(run("lcc", both_messy)), {1, 1, 1.0 / 3, 0});
}

TEST(Lcc, SaysTheMean) {
  const Result result = run("lcc", testing::graphalytics_undirected());
  EXPECT_EQ(result.facts.at(0).name, "mean coefficient");
  EXPECT_NEAR(std::get<double>(result.facts.at(0).value), (1 + 1.0 / 3 + 1 + 2.0 / 3 + 0.2 + 1 + 2.0 / 3 + 1) / 9,
              1e-12);
  EXPECT_EQ(std::get<double>(run("lcc", Graph{}).facts.at(0).value), 0);
}

/// The same arcs, once known to be symmetric and once not, take different ways to the same answer.
TEST(Lcc, AnswersTheSameForASymmetricGraphGivenAsDirected) {
  GenerateOptions options;
  options.transform.undirected = options.transform.dedup = options.transform.drop_loops = true;
  const Graph         known = generate("kron", {{"scale", "11"}}, options);
  std::vector<Vertex> sources, targets;
  for (Vertex v = 0; v < known.vertex_count(); ++v)
    for (const Vertex u : known.out().neighbors(v)) sources.push_back(v), targets.push_back(u);
  const Graph unknown = from_arcs(sources, targets, {}, WeightType::none, known.vertex_count());
  ASSERT_FALSE(unknown.symmetric());
  EXPECT_EQ(column<double>(run("lcc", unknown)), column<double>(run("lcc", known)));
  EXPECT_EQ(column<double>(run("lcc", unknown, {}, 1)), column<double>(run("lcc", unknown, {}, 2)));
}

TEST(Lcc, CountsAtVerticesOfAnyRank) {
  const Graph  grid   = testing::triangular_grid(250);
  const Result result = run("lcc", grid);
  EXPECT_EQ(testing::verify("lcc", grid, result, {}, CheckBy::oracle).problem, "");
  // Inside the grid 6 of the 30 arcs that could run between 6 neighbours do.
  EXPECT_NEAR(column<double>(result)[100 * 250 + 100], 0.2, 1e-12);
}

TEST(Lcc, ChecksFindMistakes) {
  for (const Graph& graph : {testing::graphalytics_directed(), testing::graphalytics_undirected()}) {
    const Result right = run("lcc", graph);
    expect_caught("lcc", graph, right, testing::with_value(right, 3, column<double>(right)[3] * 0.99));
    Result wrong         = right;
    wrong.facts[0].value = 0.5;
    expect_caught("lcc", graph, right, wrong);
  }
}

TEST(Lcc, PropertiesRefuseWhatIsNoShare) {
  const Graph  graph = testing::graphalytics_directed();
  const Result right = run("lcc", graph);
  for (const double value : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    expect_caught("lcc", graph, right, testing::with_value(right, 6, value));
}

TEST(Lcc, TakesNoParameters) {
  EXPECT_EQ(testing::failure_of([] { run("lcc", Graph{}, {{"depth", "2"}}); }).first, ExitCode::usage);
}

}  // namespace
}  // namespace spillway
