// Belief propagation: exact on trees, against the oracle elsewhere; its files, its parameters, and broken results.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using Edges  = std::vector<std::pair<Vertex, Vertex>>;
using Values = std::vector<double>;

Graph made(const Edges& edges, std::uint64_t vertices, bool undirected = false) {
  std::vector<Vertex> sources, targets;
  for (const auto& [u, v] : edges) {
    sources.push_back(u);
    targets.push_back(v);
  }
  LoadOptions options;
  options.transform.undirected = undirected;
  return from_arcs(sources, targets, {}, WeightType::none, vertices, options);
}

const Algorithm& bp() { return algorithm_named("bp"); }

Result run(const Graph& graph, const ParameterValues& given = {}, int threads = 2) {
  return bp().run(graph, completed_parameters(bp(), given), {.threads = threads, .device = {.kind = cpu_kind()}});
}

std::string problem(const Graph& graph, const ParameterValues& given, const Result& result,
                    CheckBy by = CheckBy::oracle) {
  return bp().verify(graph, completed_parameters(bp(), given), result, {.by = by}).problem;
}

Values column(const Result& result, std::size_t state) {
  const auto& values = std::get<Array<double>>(result.columns.at(state).values);
  return {values.begin(), values.end()};
}

void replace(Result& result, std::size_t state, Vertex v, double value) {
  Values values                = column(result, state);
  values[v]                    = value;
  result.columns[state].values = Array<double>::own(std::move(values));
}

template <class T>
T fact(const Result& result, const std::string& name) {
  for (const Fact& fact : result.facts)
    if (fact.name == name) return std::get<T>(fact.value);
  throw std::runtime_error{"no fact " + name};
}

class Bp : public ::testing::Test {
 protected:
  /// Numbers in rows of the given length.
  std::string file(const std::string& name, const Values& numbers, std::size_t columns) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      text += std::to_string(numbers[i]) + (i % columns + 1 == columns ? "\n" : " ");
    return folder_.write(name, text);
  }

  std::string priors(const std::vector<Values>& rows) {
    std::string text = "# a comment\n\n";
    for (std::size_t v = 0; v < rows.size(); ++v) {
      text += std::to_string(v);
      for (const double number : rows[v]) text += ", " + std::to_string(number);
      text += "  # of vertex " + std::to_string(v) + "\n";
    }
    return folder_.write("priors.txt", text);
  }

  void refuses(const ParameterValues& given, const std::string& says, ExitCode code = ExitCode::bad_input,
               const Graph& graph = made({{0, 1}}, 2, true)) {
    const auto [found, message] = testing::failure_of([&] { run(graph, given); });
    EXPECT_EQ(found, code) << message;
    EXPECT_NE(message.find(says), std::string::npos) << message;
  }

  testing::TemporaryFolder folder_;
};

/// Marginals by adding up the weight of every assignment of states.
std::vector<Values> marginals(std::uint64_t vertices, std::uint64_t states,
                              const std::function<double(const std::vector<std::uint64_t>&)>& weight) {
  std::vector<Values>        sums(states, Values(vertices, 0.0));
  std::vector<std::uint64_t> assigned(vertices, 0);
  double                     whole = 0;
  for (;;) {
    const double here = weight(assigned);
    whole += here;
    for (std::uint64_t v = 0; v < vertices; ++v) sums[assigned[v]][v] += here;
    std::uint64_t v = 0;
    while (v < vertices && ++assigned[v] == states) assigned[v++] = 0;
    if (v == vertices) break;
  }
  for (Values& row : sums)
    for (double& value : row) value /= whole;
  return sums;
}

const Edges tree{{0, 1}, {2, 0}, {1, 3}, {4, 1}, {2, 5}, {6, 5}};

std::vector<Values> uneven_priors(std::uint64_t vertices, std::uint64_t states) {
  std::vector<Values> rows(vertices, Values(states));
  for (std::uint64_t v = 0; v < vertices; ++v)
    for (std::uint64_t x = 0; x < states; ++x) rows[v][x] = 0.25 * static_cast<double>(1 + (v * 5 + x * 3) % 7);
  return rows;
}

TEST_F(Bp, TwoVerticesByHand) {
  const ParameterValues given{{"coupling", "3"}, {"priors", folder_.write("p", "0 0.9 0.1\n")}};
  const Result          result = run(made({{0, 1}}, 2, true), given);
  EXPECT_NEAR(column(result, 0)[0], 0.9, 1e-12);
  EXPECT_NEAR(column(result, 0)[1], 0.7, 1e-12);  // (3 * 0.9 + 0.1) : (0.9 + 3 * 0.1)
  EXPECT_NEAR(column(result, 1)[1], 0.3, 1e-12);
  EXPECT_EQ(result.columns[1].name, "belief_1");
}

TEST_F(Bp, ExactOnTrees) {
  for (const std::uint64_t states : {2u, 3u, 4u}) {
    Values table(states * states);
    for (std::uint64_t x = 0; x < states; ++x)
      for (std::uint64_t y = 0; y < states; ++y)
        table[x * states + y] = 0.5 + static_cast<double>(x * y + (x == y));
    const auto            rows = uneven_priors(7, states);
    const ParameterValues given{{"states", std::to_string(states)},
                                {"potentials", file("table", table, states)},
                                {"priors", priors(rows)}};
    const auto            expected = marginals(7, states, [&](const auto& assigned) {
      double weight = 1;
      for (std::uint64_t v = 0; v < 7; ++v) weight *= rows[v][assigned[v]];
      for (const auto& [u, v] : tree) weight *= table[assigned[u] * states + assigned[v]];
      return weight;
    });
    for (const bool undirected : {false, true}) {
      const Result result = run(made(tree, 7, undirected), given);
      EXPECT_EQ(fact<std::string>(result, "converged"), "yes");
      for (std::uint64_t x = 0; x < states; ++x)
        for (std::uint64_t v = 0; v < 7; ++v) EXPECT_NEAR(column(result, x)[v], expected[x][v], 1e-12);
    }
  }
}

/// Arcs both ways between 1 and 3: their factor is the geometric mean.
TEST_F(Bp, DirectedTablesFollowTheArcs) {
  const std::uint64_t   states = 3;
  const Values          table{1, 2, 3, 4, 5, 6, 7, 8, 2};
  const auto            rows = uneven_priors(7, states);
  Edges                 arcs = tree;
  const ParameterValues given{
      {"states", "3"}, {"potentials", file("table", table, states)}, {"priors", priors(rows)}};
  arcs.emplace_back(3, 1);
  arcs.emplace_back(4, 1);
  arcs.emplace_back(5, 5);
  const auto   expected = marginals(7, states, [&](const auto& assigned) {
    const auto factor = [&](Vertex u, Vertex v) { return table[assigned[u] * states + assigned[v]]; };
    double     weight = 1;
    for (std::uint64_t v = 0; v < 7; ++v) weight *= rows[v][assigned[v]];
    for (const auto& [u, v] : tree) weight *= u == 1 ? std::sqrt(factor(u, v) * factor(v, u)) : factor(u, v);
    return weight;
  });
  const Graph  graph    = made(arcs, 7);
  const Result result   = run(graph, given);
  for (std::uint64_t x = 0; x < states; ++x)
    for (std::uint64_t v = 0; v < 7; ++v) EXPECT_NEAR(column(result, x)[v], expected[x][v], 1e-12);
  EXPECT_EQ(problem(graph, given, result, CheckBy::oracle), "");
  EXPECT_EQ(problem(graph, given, result, CheckBy::properties), "");
  refuses(given, "symmetric", ExitCode::bad_input, made(tree, 7, true));
}

TEST_F(Bp, EveryNumberOfStates) {
  for (std::uint64_t states = 2; states <= 8; ++states)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const Graph           graph = testing::random_graph(seed);
      const ParameterValues given{
          {"states", std::to_string(states)}, {"seed", std::to_string(seed)}, {"tolerance", "0"}};
      const Result result = run(graph, given);
      EXPECT_EQ(result.columns.size(), states);
      EXPECT_EQ(problem(graph, given, result, CheckBy::oracle), "") << states << " states, seed " << seed;
      EXPECT_EQ(problem(graph, given, result, CheckBy::properties), "") << states << " states, seed " << seed;
    }
}

/// The program has room for more states than some models have.
TEST_F(Bp, EveryNumberOfStatesOnVertices) {
  const std::string priors = folder_.write("p", "0 1e-20 1e20 1\n3 1e20 1e-20 1\n");
  for (std::uint64_t states = 2; states <= 8; ++states)
    for (const char* coupling : {"1e-20", "0.4", "3", "1e20"})
      for (const char* damping : {"0", "0.3"}) {
        const Graph     graph = testing::random_graph(states);
        ParameterValues given{{"form", "vertex"},
                              {"states", std::to_string(states)},
                              {"coupling", coupling},
                              {"damping", damping},
                              {"tolerance", "0"}};
        if (states == 3 && graph.vertex_count() > 3) given["priors"] = priors;
        const Result result = run(graph, given);
        EXPECT_EQ(result.columns.size(), states);
        EXPECT_EQ(problem(graph, given, result, CheckBy::oracle), "")
            << states << " states, coupling " << coupling;
        EXPECT_EQ(problem(graph, given, result, CheckBy::properties), "") << states << ", coupling " << coupling;
      }
}

TEST_F(Bp, HubsOfTheVertexFormDoNotUnderflow) {
  const Graph graph = generate("star", {{"vertices", "100001"}});
  for (const char* states : {"2", "3"}) {
    const ParameterValues given{{"form", "vertex"}, {"states", states}, {"coupling", "50"}};
    const Result          result = run(graph, given);
    EXPECT_EQ(problem(graph, given, result, CheckBy::oracle), "") << states;
    EXPECT_EQ(problem(graph, given, result, CheckBy::properties), "") << states;
  }
}

TEST_F(Bp, StrongAndWeakCouplingsWithDamping) {
  const Graph graph = generate("grid", {{"rows", "12"}, {"columns", "15"}, {"remove", "0.1"}});
  for (const char* coupling : {"1e-20", "0.001", "0.4", "1", "1.1", "30", "1e20"})
    for (const char* damping : {"0", "0.5", "1"}) {
      const ParameterValues given{{"coupling", coupling}, {"damping", damping}, {"states", "3"}};
      const Result          result = run(graph, given);
      EXPECT_EQ(problem(graph, given, result, CheckBy::oracle), "") << coupling << " " << damping;
      EXPECT_EQ(problem(graph, given, result, CheckBy::properties), "") << coupling << " " << damping;
    }
}

/// The product of the first half of the messages is far below the smallest double, and the second half undoes it.
TEST_F(Bp, HubsDoNotUnderflow) {
  const Vertex leaves = 100000;
  for (const char* states : {"2", "3"}) {
    const std::string rest = states[0] == '2' ? "\n" : " 0.1\n";
    std::string       text = "0 0.6 0.4" + rest;
    for (Vertex v = 1; v <= leaves; ++v)
      text += std::to_string(v) + (v <= leaves / 2 ? " 0.9 0.1" : " 0.1 0.9") + rest;
    const ParameterValues given{{"states", states}, {"priors", folder_.write("p", text)}, {"iterations", "3"}};
    const Graph           graph  = generate("star", {{"vertices", std::to_string(leaves + 1)}});
    const Result          result = run(graph, given);
    EXPECT_NEAR(column(result, 0)[0], 0.6, 1e-7);
    EXPECT_NEAR(column(result, 1)[0], 0.4, 1e-7);
    EXPECT_EQ(problem(graph, given, result, CheckBy::oracle), "");
    EXPECT_EQ(problem(graph, given, result, CheckBy::properties), "");
  }
}

TEST_F(Bp, DecidedHubs) {
  const Graph  graph  = generate("star", {{"vertices", "100001"}});
  const Result result = run(graph, {{"coupling", "50"}});
  EXPECT_NEAR(column(result, 0)[0] + column(result, 1)[0], 1, 1e-12);
  EXPECT_EQ(problem(graph, {{"coupling", "50"}}, result, CheckBy::oracle), "");
  EXPECT_EQ(problem(graph, {{"coupling", "50"}}, result, CheckBy::properties), "");
}

TEST_F(Bp, TheSameBitForBitWhateverTheThreads) {
  const Graph graph = generate("kron", {{"scale", "12"}});
  for (const char* damping : {"0", "0.3"}) {
    const Result one = run(graph, {{"damping", damping}}, 1);
    for (const int threads : {2, 5})
      EXPECT_EQ(column(run(graph, {{"damping", damping}}, threads), 1), column(one, 1));
  }
}

TEST_F(Bp, StopsWhereTheToleranceSays) {
  const Graph  graph   = testing::random_graph(4);
  const Result settled = run(graph, {{"iterations", "1000"}, {"tolerance", "1e-8"}});
  EXPECT_LT(fact<std::uint64_t>(settled, "iterations"), 1000u);
  EXPECT_LE(fact<double>(settled, "change"), 1e-8);
  EXPECT_EQ(fact<std::string>(settled, "converged"), "yes");
  EXPECT_EQ(settled.statistics.edges_processed, settled.statistics.iterations * graph.simple().arc_count());
  EXPECT_EQ(fact<std::uint64_t>(run(graph, {{"iterations", "300"}, {"tolerance", "0"}}), "iterations"), 300u);
  EXPECT_EQ(fact<std::string>(run(graph, {{"iterations", "1"}}), "converged"), "no");
}

TEST_F(Bp, RandomPriorsFollowTheSeed) {
  const Graph graph = made({}, 50);
  EXPECT_EQ(column(run(graph), 0), column(run(graph, {{"seed", "1"}}), 0));
  EXPECT_NE(column(run(graph), 0), column(run(graph, {{"seed", "2"}}), 0));
}

TEST_F(Bp, RefusesBadParameters) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"states", "1"},
                                                                                    {"states", "9"},
                                                                                    {"iterations", "0"},
                                                                                    {"tolerance", "-1"},
                                                                                    {"damping", "1.5"},
                                                                                    {"coupling", "0"},
                                                                                    {"coupling", "-2"},
                                                                                    {"seed", "x"},
                                                                                    {"form", "arcs"}})
    refuses({{name, value}}, name, ExitCode::usage);
}

TEST_F(Bp, RefusesBadTables) {
  const auto table = [&](const std::string& text) {
    return ParameterValues{{"potentials", folder_.write("t", text)}};
  };
  refuses({{"potentials", folder_ / "none"}}, "none");
  refuses(table(""), "ends after 0 rows");
  refuses(table("1 2\n"), "ends after 1 rows");
  refuses(table("1 2 3\n"), "t:1: a row of 3");
  refuses(table("1 2\n2 1\n# more\n1 1\n"), "t:4: more rows");
  refuses(table("1 2\n2 -1\n"), "t:2: '-1'");
  refuses(table("1 2\n2 0\n"), "'0'");
  refuses(table("1 2\n2 nan\n"), "'nan'");
  refuses(table("1 2\n2 1e300\n"), "'1e300'");
  refuses(table("1 2\n3 1\n"), "row 1 column 2 is 2, row 2 column 1 is 3");
}

TEST_F(Bp, RefusesBadPriors) {
  const auto given = [&](const std::string& text) {
    return ParameterValues{{"priors", folder_.write("p", text)}};
  };
  refuses({{"priors", folder_ / "none"}}, "none");
  refuses(given("0 1 1\n7 1 1\n"), "p:2: vertex '7'");
  refuses(given("0 1\n"), "p:1: 1 numbers");
  refuses(given("0 1 1 1\n"), "p:1: 3 numbers");
  refuses(given("0 1 1\n\n0 1 1\n"), "p:3: vertex '0' has its priors already");
  refuses(given("0 1 x\n"), "'x'");
}

TEST_F(Bp, StaysWithinItsMemory) {
  const Graph   graph  = generate("grid", {{"rows", "200"}, {"columns", "200"}});
  MemoryBudget& budget = *graph.budget();
  budget.take(budget.limit() - budget.used() - (1u << 20), "all but a MiB");
  refuses({}, "a message each way for every arc", ExitCode::does_not_fit, graph);
}

TEST_F(Bp, StopsWhenAsked) {
  struct Impatient : Progress {
    bool cancelled() const override { return true; }
  } impatient;
  const Graph graph = made({{0, 1}}, 2);
  const auto  code  = testing::failure_of([&] {
                      bp().run(graph, completed_parameters(bp(), {}), {.progress = &impatient});
                    }).first;
  EXPECT_EQ(code, ExitCode::interrupted);
}

TEST_F(Bp, BrokenBeliefsAreCaught) {
  const Graph           graph = made({{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}}, 6, true);
  const ParameterValues given{{"iterations", "200"}, {"tolerance", "1e-10"}};
  const Result          right = run(graph, given);
  ASSERT_EQ(fact<std::string>(right, "converged"), "yes");
  const auto expect_caught = [&](double first, double second, Vertex v) {
    Result wrong = right;
    replace(wrong, 0, v, first);
    replace(wrong, 1, v, second);
    EXPECT_NE(problem(graph, given, wrong, CheckBy::oracle), "");
    EXPECT_NE(problem(graph, given, wrong, CheckBy::properties), "");
  };
  const double belief = column(right, 0)[1], alone = column(right, 0)[5];
  expect_caught(belief + 1e-3, 1 - belief - 1e-3, 1);
  expect_caught(belief, 1 - belief + 1e-3, 1);
  expect_caught(1 - belief, belief, 1);
  expect_caught(alone + 1e-4, 1 - alone - 1e-4, 5);
  expect_caught(-0.5, 1.5, 2);
  expect_caught(std::nan(""), 1, 3);
  EXPECT_EQ(problem(graph, given, right, CheckBy::oracle), "");
  EXPECT_EQ(problem(graph, given, right, CheckBy::properties), "");
}

TEST_F(Bp, RunsThatStopAtTheWrongIterationAreCaught) {
  const Graph graph = testing::random_graph(4);
  Result      early = run(graph, {{"iterations", "3"}, {"tolerance", "0"}});
  EXPECT_NE(problem(graph, {{"tolerance", "1e-9"}}, early), "");
  EXPECT_NE(problem(graph, {{"iterations", "2"}}, early), "");
  const Result late = run(graph, {{"iterations", "100"}, {"tolerance", "0"}});
  EXPECT_NE(problem(graph, {{"iterations", "100"}, {"tolerance", "1e-3"}}, late), "");
  early.columns.pop_back();
  EXPECT_NE(problem(graph, {}, early), "");
}

TEST_F(Bp, LargeRunsAreCheckedByProperties) {
  const Graph   graph  = testing::random_graph(4);
  const Result  result = run(graph);
  const Verdict verdict =
      bp().verify(graph, completed_parameters(bp(), {}), result, {.oracle_arcs = graph.arc_count() + 1});
  EXPECT_EQ(verdict.how, "property checks");
  EXPECT_EQ(verdict.problem, "");
}

}  // namespace
}  // namespace spillway
