// Shortest, widest and counted paths where numbers get large, small or many.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "algorithms/programs/path_counts.hpp"
#include "algorithms/tolerances.hpp"
#include "command_line.hpp"
#include "ways.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::failure_of;

struct Arc {
  Vertex from, to;
  double weight;
};

Graph graph_of(const std::vector<Arc>& arcs, WeightType type) {
  std::vector<Vertex>        sources, targets;
  std::vector<std::uint32_t> weights;
  for (const Arc& arc : arcs) {
    sources.push_back(arc.from), targets.push_back(arc.to);
    weights.push_back(type == WeightType::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(arc.weight))
                                              : static_cast<std::uint32_t>(arc.weight));
  }
  return from_arcs(sources, targets, weights, type);
}

Result run_and_verify(const std::string& name, const Graph& graph, const ParameterValues& given,
                      const RunOptions& options = {}) {
  const Algorithm&      algorithm = algorithm_named(name);
  const ParameterValues values    = completed_parameters(algorithm, given);
  Result                result    = algorithm.run(graph, values, options);
  for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
    EXPECT_EQ(algorithm.verify(graph, values, result, {.by = by}).problem, "");
  return result;
}

template <class T>
const Array<T>& column(const Result& result, std::size_t index) {
  return std::get<Array<T>>(result.columns.at(index).values);
}

TEST(Sssp, RealDistancesKeepTheirDigits) {
  constexpr Vertex length = 1'000'000;
  std::vector<Arc> arcs;
  for (Vertex v = 0; v < length; ++v) arcs.push_back({v, v + 1, 0.1});
  const Result result = run_and_verify("sssp", graph_of(arcs, WeightType::f32), {{"source", "0"}});
  const double exact  = length * static_cast<double>(0.1f);
  EXPECT_NEAR(column<double>(result, 0)[length], exact, 1e-5 * exact);
}

TEST(Sssp, RealDistancesGrowBeyondWhatAFloatCounts) {
  const Graph  graph  = graph_of({{0, 1, 0x1p24}, {1, 2, 1}, {2, 3, 1}}, WeightType::f32);
  const Result result = run_and_verify("sssp", graph, {{"source", "0"}});
  EXPECT_EQ(column<double>(result, 0)[3], 0x1p24 + 2);
}

/// Arcs of no length, and such that are lost beside the distance: parents must not go round in the cycles.
TEST(Sssp, ParentsAreATreeWhereArcsAddNothing) {
  std::vector<Arc> arcs{{0, 1, 1e20}};
  for (Vertex v = 1; v < 200; ++v) {
    arcs.push_back({v, v % 199 + 1, v % 2 == 0 ? 0 : 1.0});
    arcs.push_back({v % 199 + 1, v, 0});
    arcs.push_back({v, v, 0});
  }
  for (const RunOptions& way : testing::some_ways())
    run_and_verify("sssp", graph_of(arcs, WeightType::f32), {{"source", "0"}}, way);
  for (Arc& arc : arcs) arc.weight = 0;
  for (const RunOptions& way : testing::some_ways())
    run_and_verify("sssp", graph_of(arcs, WeightType::f32), {{"source", "7"}}, way);
}

TEST(Sssp, WholeDistancesThatDoNotFitAreRefused) {
  const Graph      graph     = graph_of({{0, 1, 4e9}, {1, 2, 4e9}}, WeightType::u32);
  const Algorithm& algorithm = algorithm_named("sssp");
  const auto [code, message] = failure_of([&] {
    algorithm.run(graph, completed_parameters(algorithm, {{"source", "0"}}), {});
  });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_NE(message.find("the distance of vertex 2 exceeds"), std::string::npos) << message;
}

class Widest : public testing::CommandLineTest {};

TEST_F(Widest, OnlyTheSourceIsInfinite) {
  folder_.write("g.txt", "0 1 4294967295\n1 2 4294967294\n");
  EXPECT_EQ(spillway("run sswp g.txt --source 0 -o r.csv --verify").code, 0);
  EXPECT_EQ(testing::read_file(folder_ / "r.csv"),
            "vertex,width,parent\n0,inf,0\n1,4294967295,0\n2,4294967294,1\n");
}

/// A chain with 64 arcs from each vertex to the next: 64 times as many paths at each step.
Graph bundles(Vertex steps) {
  std::vector<Vertex> sources, targets;
  for (Vertex v = 0; v < steps; ++v) {
    sources.insert(sources.end(), 64, v);
    targets.insert(targets.end(), 64, v + 1);
  }
  return from_arcs(sources, targets);
}

TEST(Paths, AreCountedWhereLongDoublesEnd) {
  const Result few = run_and_verify("ssnsp", bundles(150), {{"source", "0"}});
  EXPECT_EQ(column<double>(few, 1)[150], 0x1p900);
  const Result many = run_and_verify("bc", bundles(2800), {{"source", "0"}});  // 2^16800 paths to the end
  EXPECT_NEAR(column<double>(many, 0)[1], 2799, 1e-5 * 2799);
}

TEST(Paths, BeyondAllNumbersAreRefusedInEveryForm) {
  const Algorithm& algorithm = algorithm_named("ssnsp");
  const Graph      graph     = bundles(200);  // 2^1200 paths to the end
  const auto       refusal   = [&](const char* form, const RunOptions& options) {
    return failure_of([&] {
      algorithm.run(graph, completed_parameters(algorithm, {{"source", "0"}, {"form", form}}), options);
    });
  };
  RunOptions asynchronous{.device = {.kind = cpu_kind()}, .method = method_named("subgraph")};
  asynchronous.supply.async = Async::on;
  for (const auto& [code, message] :
       {refusal("levels", {}), refusal("accumulative", {}), refusal("auto", asynchronous)}) {
    EXPECT_EQ(code, ExitCode::bad_input);
    EXPECT_NE(message.find("has more shortest paths than"), std::string::npos) << message;
  }
  const auto [code, message] = refusal("levels", asynchronous);
  EXPECT_EQ(code, ExitCode::usage);
  EXPECT_NE(message.find("asynchronously"), std::string::npos) << message;
}

TEST(Paths, OfOneLevelAddUpAndLowerLevelsReplaceHigherOnes) {
  const auto both = [](const ArrivingPaths& a, const ArrivingPaths& b) {
    const ArrivingPaths one = ShortestPaths::combine(a, b), other = ShortestPaths::combine(b, a);
    EXPECT_EQ(one.level, other.level);
    EXPECT_EQ(one.paths, other.paths);
    return std::pair{one.level, one.paths};
  };
  using Counted = std::pair<std::uint64_t, double>;
  EXPECT_EQ(both({3, 5}, {4, 5}), (Counted{5, 7}));
  EXPECT_EQ(both({3, 5}, {4, 6}), (Counted{5, 3}));
  EXPECT_EQ(both({3, 5}, ShortestPaths::identity()), (Counted{5, 3}));
  EXPECT_EQ(both({HUGE_VAL, 6}, {4, 5}), (Counted{5, 4}));
  EXPECT_EQ(both({HUGE_VAL, 5}, {HUGE_VAL, 5}), (Counted{5, HUGE_VAL}));
}

/// Levels fall while all count; of the last one, none is lost and none too many.
TEST(Paths, ArriveFromSeveralThreadsAtOnce) {
  constexpr int           threads = 4, rounds = 20'000;
  constexpr std::uint64_t first = 1000, a_level = 50;
  ArrivingPaths           slot = ShortestPaths::identity();
  on_threads(threads, [&](int) {
    for (std::uint64_t i = 0; i < rounds; ++i) ShortestPaths::combine_atomically(slot, {3, first - i / a_level});
  });
  EXPECT_EQ(slot.level, first - (rounds - 1) / a_level);
  EXPECT_EQ(slot.paths, 3.0 * threads * a_level);
}

/// The result with one number changed to another.
Result with_number(Result result, std::size_t index, Vertex v, double number) {
  const Array<double>& right = column<double>(result, index);
  std::vector<double>  numbers{right.begin(), right.end()};
  numbers[v]                   = number;
  result.columns[index].values = Array<double>::own(std::move(numbers));
  return result;
}

void expect_noticed(const std::string& name, const Graph& graph, const ParameterValues& given,
                    const Result& wrong) {
  const Algorithm& algorithm = algorithm_named(name);
  for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
    EXPECT_NE(algorithm.verify(graph, completed_parameters(algorithm, given), wrong, {.by = by}).problem, "");
}

TEST(Paths, AreCheckedToTheLastOne) {
  const ParameterValues given{{"source", "0"}};
  const Graph           graph = bundles(20);
  const Result          right = run_and_verify("ssnsp", graph, given);
  const Array<double>&  paths = column<double>(right, 1);
  ASSERT_EQ(paths[8], 0x1p48);
  for (const double wrong : {paths[8] - 1, paths[8] + 1})
    expect_noticed("ssnsp", graph, given, with_number(right, 1, 8, wrong));
  ASSERT_EQ(paths[20], 0x1p120);
  const double ten_times = 10 * path_count_tolerance(graph, paths[20]).at(paths[20]);
  for (const double wrong : {paths[20] - ten_times, paths[20] + ten_times})
    expect_noticed("ssnsp", graph, given, with_number(right, 1, 20, wrong));
}

/// Where the oracle may not walk from all sources it walks from four. The fifth, the end of a path, adds nothing:
/// the bounds are what is there.
TEST(Betweenness, IsCheckedByBoundsWhereSourcesAreMany) {
  const Graph           graph     = generate("chain", {{"vertices", "10"}});
  const Algorithm&      algorithm = algorithm_named("bc");
  const ParameterValues values    = completed_parameters(algorithm, {{"source", "0,6,7,8,9"}});
  const Result          right     = algorithm.run(graph, values, {});
  const auto            verdict   = [&](const Result& result) {
    return algorithm.verify(graph, values, result, {.by = CheckBy::properties, .oracle_arcs = 0});
  };
  EXPECT_EQ(verdict(right).how, "lower bounds by 4 of 5 sources");
  EXPECT_EQ(verdict(right).problem, "");
  for (Vertex v = 1; v < 9; ++v) {
    const double centrality = column<double>(right, 0)[v];
    const double ten_times  = 10 * centrality_tolerance(graph).at(centrality);
    EXPECT_NE(verdict(with_number(right, 0, v, centrality - ten_times)).problem, "") << v;
    EXPECT_EQ(verdict(with_number(right, 0, v, centrality + ten_times)).problem, "") << v;
  }
}

TEST(Betweenness, ListsIterationsOfASingleSource) {
  const Graph graph = bundles(20);
  EXPECT_FALSE(run_and_verify("bc", graph, {{"source", "0"}}).statistics.per_iteration.empty());
  const Result all = run_and_verify("bc", graph, {{"sources", "all"}});
  EXPECT_TRUE(all.statistics.per_iteration.empty());
  EXPECT_GT(all.statistics.iterations, 0u);
}

}  // namespace
}  // namespace spillway
