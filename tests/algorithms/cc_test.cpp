// Connected components: answers worked out by hand, graphs that reach every branch of the sampling, and broken
// results.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "support.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using Labels = std::vector<Vertex>;
using Edges  = std::vector<std::pair<Vertex, Vertex>>;

Graph made(const Edges& edges, std::uint64_t vertices, const LoadOptions& options = {}) {
  Labels sources, targets;
  for (const auto& [u, v] : edges) {
    sources.push_back(u);
    targets.push_back(v);
  }
  return from_arcs(sources, targets, {}, WeightType::none, vertices, options);
}

LoadOptions undirected() {
  LoadOptions options;
  options.transform.undirected = true;
  return options;
}

const Algorithm& cc() { return algorithm_named("cc"); }

Result run(const Graph& graph, int threads = 2) {
  return cc().run(graph, completed_parameters(cc(), {}), {.threads = threads});
}

Labels labels_of(const Result& result) {
  const auto& values = std::get<Array<Vertex>>(result.columns.at(0).values);
  return {values.begin(), values.end()};
}

std::uint64_t fact(const Result& result, const std::string& name) {
  for (const Fact& fact : result.facts)
    if (fact.name == name) return std::get<std::uint64_t>(fact.value);
  ADD_FAILURE() << "no fact " << name;
  return 0;
}

std::string problem(const Graph& graph, const Result& result, CheckBy by) {
  return cc().verify(graph, completed_parameters(cc(), {}), result, {.by = by}).problem;
}

/// Right by the oracle and by its properties, and the same whatever the threads.
void expect_right(const Graph& graph) {
  const Result first = run(graph, 1);
  EXPECT_EQ(problem(graph, first, CheckBy::oracle), "");
  EXPECT_EQ(problem(graph, first, CheckBy::properties), "");
  for (const int threads : {2, 5}) EXPECT_EQ(labels_of(run(graph, threads)), labels_of(first));
}

Labels shuffled(std::uint64_t count) {
  Labels order(count);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64{11});
  return order;
}

TEST(Cc, LabelsAreTheSmallestVertices) {
  const Result result = run(made({{4, 2}, {2, 6}, {5, 1}, {3, 3}}, 8));
  EXPECT_EQ(labels_of(result), (Labels{0, 1, 2, 3, 2, 1, 2, 7}));
  EXPECT_TRUE(result.columns[0].vertices);
  EXPECT_EQ(fact(result, "components"), 5u);
  EXPECT_EQ(fact(result, "largest"), 3u);
}

TEST(Cc, DirectionsDoNotCount) {
  EXPECT_EQ(labels_of(run(made({{2, 1}, {0, 2}}, 3))), (Labels{0, 0, 0}));
  EXPECT_EQ(labels_of(run(made({{1, 2}, {0, 2}, {0, 3}}, 4))), (Labels{0, 0, 0, 0}));
}

TEST(Cc, CountsWhereThereIsLittleToCount) {
  EXPECT_EQ(fact(run(Graph{}), "components"), 0u);
  EXPECT_EQ(fact(run(Graph{}), "largest"), 0u);
  EXPECT_EQ(fact(run(made({}, 7)), "components"), 7u);
  EXPECT_EQ(fact(run(made({}, 7)), "largest"), 1u);
}

TEST(Cc, FindsTheLargestAmongMany) {
  Edges edges;
  for (Vertex v = 0; v < 9000; v += 3) edges.insert(edges.end(), {{v, v + 1}, {v + 1, v + 2}});
  edges.emplace_back(6, 4500);
  const Result result = run(made(edges, 9000, undirected()));
  EXPECT_EQ(fact(result, "components"), 2999u);
  EXPECT_EQ(fact(result, "largest"), 6u);
}

TEST(Cc, InEdgesAtHandChangeNothing) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Graph  without = generate("uniform", {{"vertices", "3000"}, {"degree", "1"}}, {.seed = seed});
    const Graph  with    = generate("uniform", {{"vertices", "3000"}, {"degree", "1"}}, {.seed = seed});
    const Result plain   = run(without);
    with.in();
    EXPECT_EQ(labels_of(run(with)), labels_of(plain));
    EXPECT_EQ(problem(without, plain, CheckBy::oracle), "");
  }
}

TEST(Cc, LongChainsInAnyOrder) {
  const Vertex n = 100000;
  Edges        up, down, random;
  const Labels order = shuffled(n);
  for (Vertex v = 0; v + 1 < n; ++v) {
    up.emplace_back(v, v + 1);
    down.emplace_back(v + 1, v);
    random.emplace_back(order[v], order[v + 1]);
  }
  for (const Edges& edges : {up, down, random}) {
    expect_right(made(edges, n));
    expect_right(made(edges, n, undirected()));
  }
}

/// Rows longer than a task, one of them outside the component that is skipped.
TEST(Cc, HubsOfSeveralTasks) {
  const Vertex n     = 400000;
  const Labels order = shuffled(n);
  Edges        out, in;
  for (Vertex v = 2; v < n; ++v) {
    if (v % 1000 == 0) continue;
    out.emplace_back(order[v % 5 < 2 ? 0 : 1], order[v]);
    in.emplace_back(order[v], order[v % 5 < 2 ? 0 : 1]);
  }
  expect_right(made(out, n));
  expect_right(made(in, n));
  expect_right(made(out, n, undirected()));
}

TEST(Cc, DenseAndRoadLikeGraphs) {
  GenerateOptions both;
  both.transform.undirected = true;
  expect_right(generate("kron", {{"scale", "14"}}, both));
  expect_right(generate("kron", {{"scale", "14"}}));
  expect_right(generate("uniform", {{"vertices", "20000"}, {"degree", "8"}}, both));
  expect_right(generate("grid", {{"rows", "200"}, {"columns", "300"}, {"remove", "0.4"}}));
}

TEST(Cc, LooksAtFewArcs) {
  GenerateOptions both;
  both.transform.undirected = true;
  const Graph graph         = generate("uniform", {{"vertices", "20000"}, {"degree", "32"}}, both);
  EXPECT_LT(run(graph).statistics.edges_processed, graph.arc_count() / 10);
}

TEST(Cc, RefusesAnUnknownForm) {
  const auto [code, message] = testing::failure_of([] { cc().run(Graph{}, {{"form", "aforest"}}, {}); });
  EXPECT_EQ(code, ExitCode::usage);
  EXPECT_NE(message.find("afforest"), std::string::npos) << message;
}

TEST(Cc, StaysWithinItsMemory) {
  LoadOptions options;
  options.host_memory        = 12u << 20;
  const Graph graph          = made({{0, 1}}, 1u << 20, options);
  const auto [code, message] = testing::failure_of([&] { run(graph); });
  EXPECT_EQ(code, ExitCode::does_not_fit);
  EXPECT_NE(message.find("components"), std::string::npos) << message;
}

TEST(Cc, StopsWhenAsked) {
  struct Impatient : Progress {
    bool cancelled() const override { return true; }
  } impatient;
  const Graph graph = made({{0, 1}}, 10);
  const auto  code  = testing::failure_of([&] {
                      cc().run(graph, completed_parameters(cc(), {}), {.progress = &impatient});
                    }).first;
  EXPECT_EQ(code, ExitCode::interrupted);
}

TEST(Cc, BrokenLabelsAreCaught) {
  const Graph  graph = made({{0, 1}, {1, 2}, {4, 3}, {5, 6}}, 8);
  const Labels right{0, 0, 0, 3, 3, 5, 5, 7};
  Result       result = run(graph);
  ASSERT_EQ(labels_of(result), right);
  const Labels parted{0, 0, 2, 3, 3, 5, 5, 7}, merged{0, 0, 0, 3, 3, 3, 3, 7}, alone{0, 0, 0, 3, 3, 5, 5, 5},
      not_smallest{0, 0, 0, 4, 4, 5, 5, 7}, not_its_own{0, 0, 0, 0, 3, 5, 5, 7}, outside{0, 0, 0, 3, 3, 5, 5, 9},
      too_few{0, 0, 0, 3, 3, 5, 5};
  for (const Labels& wrong : {parted, merged, alone, not_smallest, not_its_own, outside, too_few}) {
    result.columns[0].values = Array<Vertex>::own(wrong);
    EXPECT_NE(problem(graph, result, CheckBy::oracle), "");
    EXPECT_NE(problem(graph, result, CheckBy::properties), "");
  }
}

TEST(Cc, SaysHowItWasChecked) {
  const Graph  graph  = made({{0, 1}}, 2);
  const Result result = run(graph);
  EXPECT_EQ(cc().verify(graph, {}, result, {.by = CheckBy::oracle}).how, "serial oracle");
  EXPECT_EQ(cc().verify(graph, {}, result, {.by = CheckBy::properties}).how, "property checks");
  EXPECT_EQ(cc().verify(graph, {}, result, {.oracle_arcs = 0}).how, "property checks");
}

}  // namespace
}  // namespace spillway
