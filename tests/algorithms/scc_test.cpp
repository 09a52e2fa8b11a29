// Strong components: answers worked out by hand, every step of the method, shapes that make naive methods slow or
// deep, and a verification that notices each kind of mistake.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "algorithms/scc/strong_components.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using Arcs   = std::vector<std::pair<Vertex, Vertex>>;
using Labels = std::vector<Vertex>;

Graph graph_of(const Arcs& arcs, std::uint64_t vertices = 0) {
  std::vector<Vertex> sources, targets;
  for (const auto& [source, target] : arcs) sources.push_back(source), targets.push_back(target);
  return from_arcs(sources, targets, {}, WeightType::none, vertices);
}

Labels labels_of(const Result& result) {
  const auto& values = std::get<Array<Vertex>>(result.columns.at(0).values);
  return {values.begin(), values.end()};
}

std::uint64_t fact(const Result& result, std::size_t index) {
  return std::get<std::uint64_t>(result.facts.at(index).value);
}

Result run(const Graph& graph, int threads = 2) {
  return algorithm_named("scc").run(graph, {}, {.threads = threads});
}

std::string problem(const Graph& graph, const Result& result, CheckBy by) {
  return algorithm_named("scc").verify(graph, {}, result, {.by = by}).problem;
}

TEST(Scc, TwoCyclesAndWhatHangsOnThem) {
  // 4 and 2 and 7 make a cycle, 3 and 5 another; 0 leads in, 1 hangs off, 6 has a loop only.
  const Graph  graph  = graph_of({{0, 4}, {4, 2}, {2, 7}, {7, 4}, {7, 5}, {5, 3}, {3, 5}, {3, 1}, {6, 6}}, 9);
  const Result result = run(graph);
  EXPECT_EQ(labels_of(result), (Labels{0, 1, 2, 3, 2, 3, 6, 2, 8}));
  EXPECT_EQ(fact(result, 0), 6u);
  EXPECT_EQ(fact(result, 1), 3u);
  EXPECT_TRUE(result.columns[0].vertices);
}

TEST(Scc, ParallelArcsAndLoopsJoinNothing) {
  const Result result = run(graph_of({{0, 1}, {0, 1}, {1, 1}, {1, 2}, {2, 1}, {2, 1}}));
  EXPECT_EQ(labels_of(result), (Labels{0, 1, 1}));
}

TEST(Scc, OfNothingIsNothing) {
  const Result result = run(Graph{});
  EXPECT_TRUE(labels_of(result).empty());
  EXPECT_EQ(fact(result, 0), 0u);
  EXPECT_EQ(fact(result, 1), 0u);
}

TEST(Scc, SymmetricGraphsGiveConnectedComponents) {
  GenerateOptions both;
  both.transform.undirected = true;
  const Graph graph         = generate("uniform", {{"vertices", "3000"}, {"degree", "1"}}, both);
  ASSERT_TRUE(graph.symmetric());
  const auto found =
      scc::strong_components(graph, {.pivot_vertices = 0, .serial_vertices = 0}, 2, Progress::none());
  Labels weak(graph.vertex_count());
  std::iota(weak.begin(), weak.end(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (Vertex v = 0; v < weak.size(); ++v)
      for (const Vertex w : graph.out().neighbors(v))
        if (weak[w] > weak[v]) weak[w] = weak[v], changed = true;
  }
  EXPECT_EQ((Labels{found.labels.span().begin(), found.labels.span().end()}), weak);
  EXPECT_GT(found.by_pivot, 0u);
}

// --- every step ---

struct Step {
  const char*   name;
  scc::Limits   limits;
  std::uint64_t scc::StrongComponents::*taken;
};

class SccSteps : public ::testing::TestWithParam<Step> {};

constexpr std::uint64_t unlimited = 1u << 20;

/// Some members of the zoo leave a step nothing to do; over all of them it must have done something.
TEST_P(SccSteps, AgreesWithTheOracleAndRuns) {
  std::uint64_t taken = 0;
  const auto    check = [&](const Graph& graph, const std::string& what) {
    for (const int threads : {1, 2, 5}) {
      auto found = scc::strong_components(graph, GetParam().limits, threads, Progress::none());
      EXPECT_EQ(found.trimmed + found.by_pivot + found.by_colour + found.serially, graph.vertex_count()) << what;
      taken += found.*GetParam().taken;
      Result result;
      result.facts = {{"components", found.components}, {"largest", found.largest}};
      result.columns.push_back(
             {.name = "component", .values = std::move(found.labels).freeze(), .vertices = true});
      EXPECT_EQ(problem(graph, result, CheckBy::oracle), "") << what << ", " << threads << " threads";
      EXPECT_EQ(problem(graph, result, CheckBy::properties), "") << what << ", " << threads << " threads";
    }
  };
  for (const auto& member : testing::zoo()) check(member.graph, member.name);
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    check(testing::random_graph(seed), "seed " + std::to_string(seed));
  // Sparse enough for components of every size: one giant, many small, one behind the other.
  for (const char* degree : {"1", "2", "3"})
    check(generate("uniform", {{"vertices", "20000"}, {"degree", degree}}), std::string{"degree "} + degree);
  EXPECT_GT(taken, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Each, SccSteps,
    ::testing::Values(
        Step{"trim", {}, &scc::StrongComponents::trimmed},
        Step{"pivot", {.pivot_vertices = 1}, &scc::StrongComponents::by_pivot},
        Step{"colouring",
             {.pivot_vertices = 0, .serial_vertices = 0, .colouring_work = unlimited, .colouring_threads = 1},
             &scc::StrongComponents::by_colour},
        Step{"colouring_given_up_at_once",
             {.pivot_vertices = 0, .serial_vertices = 0, .colouring_work = 0, .colouring_threads = 1},
             &scc::StrongComponents::serially},
        Step{"colouring_given_up",
             {.pivot_vertices = 0, .serial_vertices = 0, .colouring_work = 1, .colouring_threads = 1},
             &scc::StrongComponents::serially},
        Step{"serial", {.pivot_vertices = unlimited}, &scc::StrongComponents::serially}),
    [](const auto& test) { return test.param.name; });

// --- long and deep ---

constexpr Vertex length = 500'000;

Labels shuffled_numbers() {
  Labels numbers(length);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::shuffle(numbers.begin(), numbers.end(), std::mt19937{1});
  return numbers;
}

/// A path over shuffled numbers, closed to a cycle or not.
Graph path_over(const Labels& numbers, bool closed) {
  Arcs arcs;
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i) arcs.emplace_back(numbers[i], numbers[i + 1]);
  if (closed) arcs.emplace_back(numbers.back(), numbers.front());
  return graph_of(arcs);
}

TEST(Scc, ALongPathIsTrimmed) {
  const Graph graph = path_over(shuffled_numbers(), false);
  const auto  found = scc::strong_components(graph, {}, 2, Progress::none());
  EXPECT_EQ(found.components, length);
  EXPECT_EQ(found.trimmed, length);
}

TEST(Scc, ALongCycleIsOneComponentByAnyStep) {
  const Graph graph = path_over(shuffled_numbers(), true);
  for (const std::uint64_t pivot : {std::uint64_t{0}, std::uint64_t{length}}) {
    const auto found = scc::strong_components(graph, {.pivot_vertices = pivot}, 2, Progress::none());
    EXPECT_EQ(found.components, 1u);
    EXPECT_EQ(found.largest, length);
    EXPECT_EQ(pivot == 0 ? found.by_pivot : found.serially, length);
  }
}

/// Numbers that descend along the arcs make a colour travel the whole way: one thread must take over.
TEST(Scc, ManyLongCyclesDoNotMakeColouringQuadratic) {
  constexpr Vertex cycles = 20, steps = 20'000;
  Arcs             arcs;
  for (Vertex c = 0; c < cycles; ++c)
    for (Vertex i = 0; i < steps; ++i) arcs.emplace_back(c * steps + (i + 1) % steps, c * steps + i);
  for (Vertex c = 0; c + 1 < cycles; ++c) arcs.emplace_back(c * steps, (c + 1) * steps);
  const Graph graph = graph_of(arcs);
  const auto  found = scc::strong_components(
       graph, {.pivot_vertices = 0, .serial_vertices = 0, .colouring_threads = 1}, 2, Progress::none());
  EXPECT_EQ(found.components, cycles);
  EXPECT_EQ(found.largest, steps);
  EXPECT_GT(found.serially, 0u);
  EXPECT_LT(found.edges_processed, 60 * graph.arc_count());
}

TEST(Scc, ALargeRmatIsTheSameOnAnyNumberOfThreads) {
  const Graph  graph = generate("kron", {{"scale", "15"}});
  const Result one   = run(graph, 1);
  EXPECT_EQ(problem(graph, one, CheckBy::oracle), "");
  EXPECT_EQ(problem(graph, one, CheckBy::properties), "");
  for (const int threads : {2, 8}) EXPECT_EQ(labels_of(run(graph, threads)), labels_of(one)) << threads;
}

// --- mistakes are noticed ---

class SccMistakes : public ::testing::TestWithParam<CheckBy> {
 protected:
  /// 0 → {1, 2, 3} → {4, 5} → 6.
  Graph graph_ = graph_of({{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}, {4, 5}, {5, 4}, {5, 6}});

  std::string problem_with(Labels labels) {
    Result result            = run(graph_);
    result.columns[0].values = Array<Vertex>::own(std::move(labels));
    return problem(graph_, result, GetParam());
  }
};

TEST_P(SccMistakes, TheRightAnswerPasses) {
  EXPECT_EQ(labels_of(run(graph_)), (Labels{0, 1, 1, 1, 4, 4, 6}));
  EXPECT_EQ(problem_with({0, 1, 1, 1, 4, 4, 6}), "");
}

TEST_P(SccMistakes, AComponentThatIsTwo) {
  EXPECT_NE(problem_with({0, 1, 1, 1, 1, 1, 6}), "");
  EXPECT_NE(problem_with({0, 0, 0, 0, 4, 4, 6}), "");
  EXPECT_NE(problem_with({0, 1, 1, 1, 4, 4, 4}), "");
}

TEST_P(SccMistakes, AComponentThatIsHalf) {
  EXPECT_NE(problem_with({0, 1, 1, 1, 4, 5, 6}), "");
  EXPECT_NE(problem_with({0, 1, 2, 3, 4, 4, 6}), "");
  EXPECT_NE(problem_with({0, 1, 1, 3, 4, 4, 6}), "");
}

TEST_P(SccMistakes, ALabelThatIsNotTheSmallest) { EXPECT_NE(problem_with({0, 2, 2, 2, 4, 4, 6}), ""); }

TEST_P(SccMistakes, ALabelOfAnotherComponent) { EXPECT_NE(problem_with({0, 1, 1, 2, 4, 4, 6}), ""); }

TEST_P(SccMistakes, AMissingEntry) { EXPECT_NE(problem_with({0, 1, 1, 1, 4, 4}), ""); }

TEST_P(SccMistakes, AWrongFact) {
  for (const std::size_t index : {0u, 1u}) {
    Result result             = run(graph_);
    result.facts[index].value = fact(result, index) + 1;
    EXPECT_NE(problem(graph_, result, GetParam()), "");
  }
}

INSTANTIATE_TEST_SUITE_P(By, SccMistakes, ::testing::Values(CheckBy::oracle, CheckBy::properties),
                         [](const auto& test) { return test.param == CheckBy::oracle ? "oracle" : "properties"; });

}  // namespace
}  // namespace spillway
