// Triangle counting: answers known by hand, plain against ranked rows, and checks that find mistakes.
#include <gtest/gtest.h>

#include <numeric>

#include "algorithms/graphalytics.hpp"
#include "algorithms/triangles.hpp"
#include "support.hpp"
#include "zoo.hpp"

#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::column;
using testing::expect_caught;
using testing::graph_of;
using testing::run;

const ParameterValues per_vertex{{"per-vertex", "yes"}};

std::uint64_t total_of(const Result& result) { return std::get<std::uint64_t>(result.facts.at(0).value); }

Graph simple_kron(const std::string& scale) {
  GenerateOptions options;
  options.transform.undirected = options.transform.dedup = options.transform.drop_loops = true;
  return generate("kron", {{"scale", scale}}, options);
}

TEST(Tc, CountsSmallGraphs) {
  const Graph  two_on_an_edge = graph_of({{0, 1}, {1, 2}, {2, 0}, {1, 3}, {3, 2}, {3, 4}});
  const Result result         = run("tc", two_on_an_edge, per_vertex);
  EXPECT_EQ(result.facts.at(0).name, "triangles");
  EXPECT_EQ(total_of(result), 2u);
  EXPECT_EQ(column<std::uint64_t>(result), (std::vector<std::uint64_t>{1, 2, 2, 1, 0}));
}

TEST(Tc, TakesTheGraphAsUndirectedAndSimple) {
  const Graph graph = graph_of({{0, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 2}, {2, 1}, {0, 2}, {2, 2}, {2, 3}, {2, 3}});
  EXPECT_EQ(total_of(run("tc", graph)), 1u);
  EXPECT_EQ(column<std::uint64_t>(run("tc", graph, per_vertex)), (std::vector<std::uint64_t>{1, 1, 1, 0}));
}

TEST(Tc, CountsACompleteGraph) {
  const Result result = run("tc", generate("complete", {{"vertices", "100"}}), per_vertex);
  EXPECT_EQ(total_of(result), 100u * 99 * 98 / 6);
  EXPECT_EQ(column<std::uint64_t>(result), std::vector<std::uint64_t>(100, 99 * 98 / 2));
}

TEST(Tc, HasNoColumnsUnlessAskedFor) {
  const Graph graph = testing::graphalytics_undirected();
  EXPECT_TRUE(run("tc", graph).columns.empty());
  EXPECT_EQ(total_of(run("tc", graph)), 4u);
  EXPECT_EQ(column<std::uint64_t>(run("tc", graph, per_vertex)),
            (std::vector<std::uint64_t>{1, 2, 1, 2, 2, 1, 2, 1, 0}));
}

TEST(Tc, RefusesAFlagThatIsNeitherYesNorNo) {
  const auto [code, message] = testing::failure_of([] { run("tc", Graph{}, {{"per-vertex", "maybe"}}); });
  EXPECT_EQ(code, ExitCode::usage);
  EXPECT_NE(message.find("per-vertex"), std::string::npos);
}

/// Plain and ranked rows hold the same triangles, whichever of the two a graph would get.
void expect_same_by_both_rows(const Graph& graph, const std::string& what) {
  const Csr& simple = graph.simple();
  for (const int threads : {1, 2}) {
    const TriangleContext context{.budget = graph.budget(), .threads = threads};
    const Triangles       plain  = count_triangles({simple}, true, context, TriangleRows::plain);
    const Triangles       ranked = count_triangles({simple}, true, context, TriangleRows::ranked);
    EXPECT_EQ(plain.total, ranked.total) << what;
    EXPECT_TRUE(std::ranges::equal(plain.at.span(), ranked.at.span())) << what;
    EXPECT_EQ(std::accumulate(plain.at.span().begin(), plain.at.span().end(), std::uint64_t{0}), 3 * plain.total);
    for (const TriangleRows rows : {TriangleRows::plain, TriangleRows::ranked, TriangleRows::automatic})
      EXPECT_EQ(count_triangles({simple}, false, context, rows).total, plain.total) << what;
  }
}

TEST(Tc, FindsTheSameInPlainAndRankedRows) {
  for (const auto& member : testing::zoo()) expect_same_by_both_rows(member.graph, member.name);
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    expect_same_by_both_rows(testing::random_graph(seed), "seed " + std::to_string(seed));
}

/// Large enough that ranks past those that threads count for themselves have triangles.
TEST(Tc, CountsAtVerticesOfAnyRank) {
  const Graph graph = testing::triangular_grid(300);
  expect_same_by_both_rows(graph, "triangular grid");
  EXPECT_EQ(total_of(run("tc", graph)), 2u * 299 * 299);
}

TEST(Tc, ChecksFindMistakes) {
  for (const Graph& graph : {testing::graphalytics_undirected(), simple_kron("9")}) {
    const Result right   = run("tc", graph, per_vertex);
    Result       wrong   = right;
    wrong.facts[0].value = total_of(right) + 1;
    expect_caught("tc", graph, right, wrong, per_vertex);
    wrong.columns.clear();
    expect_caught("tc", graph, run("tc", graph), wrong);
    const auto& counts  = column<std::uint64_t>(right);
    const auto  busiest = static_cast<Vertex>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    expect_caught("tc", graph, right, testing::with_value(right, busiest, counts[busiest] - 1), per_vertex);
  }
}

TEST(Tc, PropertiesFindCornersThatMoved) {
  const Graph graph   = simple_kron("9");
  const auto  right   = run("tc", graph, per_vertex);
  const auto  counts  = column<std::uint64_t>(right);
  const auto  busiest = static_cast<Vertex>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  Result      wrong   = testing::with_value(right, busiest, counts[busiest] - 1);
  wrong               = testing::with_value(wrong, busiest == 0 ? 1 : 0, counts[busiest == 0 ? 1 : 0] + 1);
  expect_caught("tc", graph, right, wrong, per_vertex);
}

/// The oracle would look at every pair of the hub's neighbours.
TEST(Tc, ChecksGraphsWithHubsByProperties) {
  constexpr Vertex    rim = 40000;
  std::vector<Vertex> sources, targets;
  for (Vertex v = 1; v <= rim; ++v) {
    sources.insert(sources.end(), {0, v});
    targets.insert(targets.end(), {v, v % rim + 1});
  }
  const Graph  wheel  = from_arcs(sources, targets);
  const Result result = run("tc", wheel);
  EXPECT_EQ(total_of(result), rim);
  EXPECT_EQ(testing::verify("tc", wheel, result).how, by_properties);
  EXPECT_EQ(testing::verify("tc", wheel, result).problem, "");
}

TEST(Tc, GivesBackItsMemory) {
  const Graph graph  = simple_kron("12");
  const auto  before = graph.budget()->used();
  run("tc", graph, per_vertex);
  EXPECT_EQ(graph.budget()->used(), before);
}

TEST(Tc, StopsWhenAskedTo) {
  struct Impatient : Progress {
    bool cancelled() const override { return true; }
  } progress;
  for (const char* name : {"tc", "lcc", "cdlp"}) {
    const Algorithm& algorithm = algorithm_named(name);
    for (const Graph& graph : {simple_kron("9"), testing::graphalytics_directed()}) {
      const auto stopped = testing::failure_of([&] {
        algorithm.run(graph, completed_parameters(algorithm, {}), {.threads = 2, .progress = &progress});
      });
      EXPECT_EQ(stopped.first, ExitCode::interrupted) << name;
    }
  }
}

}  // namespace
}  // namespace spillway
