// Queries whose answer is a graph: small answers by hand, what is kept of ids, weights and loops, parameters, and
// a verification that notices each kind of mistake.
#include <gtest/gtest.h>

#include <algorithm>

#include "support.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::arcs_of;
using testing::failure_of;
using testing::NamedArc;
using testing::names_of;
using Names = std::vector<std::string>;
using Arcs  = std::vector<NamedArc>;

const testing::TemporaryFolder& folder() {
  static const testing::TemporaryFolder own;
  return own;
}

/// a → b → c → d → e, c → a, twice a → c, a loop at b, f alone to e; weights tell the arcs apart.
Graph lettered(const LoadOptions& options = {}) {
  const std::string text = "a b 1\nb c 2\nc d 3\nd e 4\nc a 5\na c 6\na c 7\nb b 8\nf e 9\n";
  return open(folder().write("letters.wel", text), options);
}

Graph numbered(const std::string& name, const std::string& text, bool undirected = false) {
  LoadOptions options;
  options.transform.undirected = undirected;
  return open(folder().write(name, text), options);
}

Result run(const Graph& graph, const std::string& name, const ParameterValues& values, int threads = 2) {
  const Algorithm& algorithm = algorithm_named(name);
  return algorithm.run(graph, completed_parameters(algorithm, values), {.threads = threads});
}

Graph answer(const Graph& graph, const std::string& name, const ParameterValues& values) {
  return run(graph, name, values).graph.value();
}

std::string problem(const Graph& graph, const std::string& name, const ParameterValues& values,
                    const Result& result, CheckBy by) {
  const Algorithm& algorithm = algorithm_named(name);
  return algorithm.verify(graph, completed_parameters(algorithm, values), result, {.by = by}).problem;
}

TEST(Neighborhood, GoesAsManyHopsAsAsked) {
  const Graph graph = lettered();
  EXPECT_EQ(names_of(answer(graph, "neighborhood", {{"source", "b"}, {"hops", "0"}})), (Names{"b"}));
  EXPECT_EQ(names_of(answer(graph, "neighborhood", {{"source", "b"}, {"hops", "1"}})), (Names{"b", "c"}));
  EXPECT_EQ(names_of(answer(graph, "neighborhood", {{"source", "b"}})), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(names_of(answer(graph, "neighborhood", {{"source", "b"}, {"hops", "900"}})),
            (Names{"a", "b", "c", "d", "e"}));
}

TEST(Neighborhood, KeepsEveryArcAmongItsVertices) {
  const Graph part = answer(lettered(), "neighborhood", {{"source", "b"}, {"hops", "2"}});
  EXPECT_EQ(arcs_of(part), (Arcs{{"a", "b", 1},
                                 {"a", "c", 6},
                                 {"a", "c", 7},
                                 {"b", "b", 8},
                                 {"b", "c", 2},
                                 {"c", "a", 5},
                                 {"c", "d", 3}}));
}

TEST(Neighborhood, GoesAgainstTheArcsOrBothWays) {
  const Graph graph = lettered();
  const auto  near  = [&](const char* along, const char* hops) {
    return names_of(answer(graph, "neighborhood", {{"source", "e"}, {"hops", hops}, {"along", along}}));
  };
  ASSERT_FALSE(graph.has_in());
  EXPECT_EQ(near("out", "3"), (Names{"e"}));
  EXPECT_EQ(near("in", "1"), (Names{"d", "e", "f"}));
  EXPECT_EQ(near("in", "2"), (Names{"c", "d", "e", "f"}));
  EXPECT_EQ(near("both", "1"), (Names{"d", "e", "f"}));
  EXPECT_FALSE(graph.has_in()) << "a few hops are not worth building in-edges";
  EXPECT_EQ(near("in", "50"), (Names{"a", "b", "c", "d", "e", "f"}));
  EXPECT_TRUE(graph.has_in());
  EXPECT_EQ(near("in", "2"), (Names{"c", "d", "e", "f"}));
  EXPECT_EQ(near("both", "3"), (Names{"a", "b", "c", "d", "e", "f"}));
}

TEST(Neighborhood, TellsItsSize) {
  const Result result = run(lettered(), "neighborhood", {{"source", "d"}});
  ASSERT_EQ(result.facts.size(), 2u);
  EXPECT_EQ(result.facts[0].name, "vertices");
  EXPECT_EQ(std::get<std::uint64_t>(result.facts[0].value), 2u);
  EXPECT_EQ(result.facts[1].name, "arcs");
  EXPECT_EQ(std::get<std::uint64_t>(result.facts[1].value), 1u);
  EXPECT_TRUE(result.columns.empty());
  EXPECT_GT(result.statistics.edges_processed, 0u);
}

TEST(Neighborhood, RefusesWhatMakesNoSense) {
  const Graph graph = lettered();
  const auto  code  = [&](const ParameterValues& values) {
    return failure_of([&] { run(graph, "neighborhood", values); }).first;
  };
  EXPECT_EQ(code({}), ExitCode::usage);
  EXPECT_EQ(code({{"source", "zebra"}}), ExitCode::bad_input);
  EXPECT_EQ(code({{"source", "a"}, {"hops", "-1"}}), ExitCode::usage);
  EXPECT_EQ(code({{"source", "a"}, {"hops", "many"}}), ExitCode::usage);
  EXPECT_EQ(code({{"source", "a"}, {"along", "up"}}), ExitCode::usage);
  EXPECT_EQ(code({{"source", "a"}, {"depth", "1"}}), ExitCode::usage);
}

TEST(Egonet, HasNeighboursOnBothSidesAndTheArcsAmongThem) {
  const Graph part = answer(lettered(), "egonet", {{"source", "c"}});
  EXPECT_EQ(names_of(part), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(part.arc_count(), 7u);
  EXPECT_EQ(names_of(answer(lettered(), "egonet", {{"source", "f"}})), (Names{"e", "f"}));
}

TEST(Induced, TakesEachMemberOnce) {
  const Graph part = answer(lettered(), "induced", {{"members", "c,a,f, a,c"}});
  EXPECT_EQ(names_of(part), (Names{"a", "c", "f"}));
  EXPECT_EQ(arcs_of(part), (Arcs{{"a", "c", 6}, {"a", "c", 7}, {"c", "a", 5}}));
  EXPECT_EQ(part.ids().kind(), IdMap::Kind::strings);
  EXPECT_EQ(part.ids().find("f", 3), std::optional<Vertex>{2});
  EXPECT_FALSE(part.ids().find("b", 3));
}

TEST(Induced, ReadsAFile) {
  const std::string list = folder().write("members.txt", "# who\nb\n\n c # the third\nb\n");
  const Graph       part = answer(lettered(), "induced", {{"members", "@" + list}});
  EXPECT_EQ(arcs_of(part), (Arcs{{"b", "b", 8}, {"b", "c", 2}}));
}

TEST(Induced, KeepsNumbersAsIds) {
  const Graph sparse = numbered("sparse.el", "10 20\n20 900000000000\n900000000000 10\n");
  EXPECT_EQ(arcs_of(answer(sparse, "induced", {{"members", "900000000000,10"}})),
            (Arcs{{"900000000000", "10", 0}}));
  const Graph counted = numbered("counted.el", "1 2\n2 3\n3 4\n4 5\n5 1\n");
  const Graph middle  = answer(counted, "induced", {{"members", "4,2,3"}});
  EXPECT_EQ(middle.ids().kind(), IdMap::Kind::consecutive);
  EXPECT_EQ(arcs_of(middle), (Arcs{{"2", "3", 0}, {"3", "4", 0}}));
  const Graph ends = answer(counted, "induced", {{"members", "1,5"}});
  EXPECT_EQ(ends.ids().kind(), IdMap::Kind::numbers);
  EXPECT_EQ(arcs_of(ends), (Arcs{{"5", "1", 0}}));
}

TEST(Induced, StaysSymmetricAndOnlyThen) {
  const Graph both = answer(numbered("both.el", "0 1\n1 2\n2 0\n2 2\n", true), "induced", {{"members", "0,2"}});
  EXPECT_TRUE(both.symmetric());
  EXPECT_EQ(arcs_of(both), (Arcs{{"0", "2", 0}, {"2", "0", 0}, {"2", "2", 0}}));
  EXPECT_FALSE(answer(lettered(), "induced", {{"members", "a,c"}}).symmetric());
}

TEST(Induced, CountsInTheBudgetOfTheGraph) {
  const Graph         graph  = generate("uniform", {{"vertices", "20000"}, {"degree", "8"}});
  const std::uint64_t before = graph.budget()->used();
  std::string         members;
  for (int v = 0; v < 10000; ++v) members += std::to_string(v) + ",";
  const Result result = run(graph, "induced", {{"members", members + "0"}});
  EXPECT_EQ(result.graph->budget(), graph.budget());
  EXPECT_GE(graph.budget()->used(), before + result.graph->out().bytes());
}

TEST(Induced, SaysWhoIsMissing) {
  const auto failed = failure_of([] { run(lettered(), "induced", {{"members", "a,zebra"}}); });
  EXPECT_EQ(failed.first, ExitCode::bad_input);
  EXPECT_NE(failed.second.find("'zebra'"), std::string::npos);
  EXPECT_EQ(failure_of([] { run(lettered(), "induced", {}); }).first, ExitCode::usage);
}

TEST(Crossedges, GoFromOneSetToTheOther) {
  const Graph part = answer(lettered(), "crossedges", {{"from", "a,b"}, {"to", "c,e"}});
  EXPECT_EQ(names_of(part), (Names{"a", "b", "c", "e"}));
  EXPECT_EQ(arcs_of(part), (Arcs{{"a", "c", 6}, {"a", "c", 7}, {"b", "c", 2}}));
}

TEST(Crossedges, OfSetsThatOverlap) {
  const Graph part = answer(lettered(), "crossedges", {{"from", "a,b,c"}, {"to", "b,a"}});
  EXPECT_EQ(arcs_of(part), (Arcs{{"a", "b", 1}, {"b", "b", 8}, {"c", "a", 5}}));
}

TEST(Crossedges, OfUndirectedGraphsGoBothWays) {
  const Graph square = numbered("square.el", "0 1\n1 2\n2 3\n3 0\n0 2\n", true);
  const Graph part   = answer(square, "crossedges", {{"from", "0,1"}, {"to", "2,3"}});
  EXPECT_TRUE(part.symmetric());
  EXPECT_EQ(arcs_of(part),
            (Arcs{{"0", "2", 0}, {"0", "3", 0}, {"1", "2", 0}, {"2", "0", 0}, {"2", "1", 0}, {"3", "0", 0}}));
}

TEST(Crossedges, NeedBothSets) {
  EXPECT_EQ(failure_of([] { run(lettered(), "crossedges", {{"from", "a"}}); }).first, ExitCode::usage);
  EXPECT_EQ(failure_of([] { run(lettered(), "crossedges", {{"to", "a"}}); }).first, ExitCode::usage);
}

TEST(GraphAnswers, AreSavedAndReadBack) {
  const Graph       part = answer(lettered(), "egonet", {{"source", "c"}});
  const std::string path = folder() / "part.spill";
  save(part, path);
  EXPECT_EQ(arcs_of(open(path)), arcs_of(part));
}

TEST(GraphAnswers, AreTheSameOnAnyNumberOfThreads) {
  const Graph           graph = generate("kron", {{"scale", "13"}});
  const ParameterValues values{{"source", "5"}, {"along", "both"}};
  const Result          one = run(graph, "neighborhood", values, 1);
  ASSERT_GT(one.graph->arc_count(), 10000u);
  for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
    EXPECT_EQ(problem(graph, "neighborhood", values, one, by), "");
  for (const int threads : {2, 7}) {
    const Result other = run(graph, "neighborhood", values, threads);
    const auto [a, b]  = std::pair{one.graph->out().targets.span(), other.graph->out().targets.span()};
    EXPECT_TRUE(std::ranges::equal(a, b)) << threads;
  }
}

// --- mistakes are noticed ---

struct Case {
  const char*     algorithm;
  ParameterValues values;
  ParameterValues others;  ///< whose answer is another
};

std::vector<Case> cases() {
  return {{"neighborhood", {{"source", "a"}, {"hops", "1"}}, {{"source", "a"}, {"hops", "2"}}},
          {"neighborhood", {{"source", "a"}, {"hops", "2"}}, {{"source", "a"}, {"hops", "1"}}},
          {"egonet", {{"source", "c"}}, {{"source", "a"}}},
          {"induced", {{"members", "a,b,c"}}, {{"members", "a,b,d"}}},
          {"crossedges", {{"from", "a,b"}, {"to", "c"}}, {{"from", "a,c"}, {"to", "b"}}}};
}

/// The answer with its arcs as `edit` leaves them.
Result edited(const Result& right, const std::function<void(Arcs&)>& edit) {
  Arcs arcs = arcs_of(*right.graph);
  edit(arcs);
  std::vector<Vertex>        sources, targets;
  std::vector<std::uint32_t> weights;
  for (const auto& [source, target, weight] : arcs) {
    sources.push_back(*right.graph->ids().find(source, right.graph->vertex_count()));
    targets.push_back(*right.graph->ids().find(target, right.graph->vertex_count()));
    weights.push_back(static_cast<std::uint32_t>(weight));
  }
  const Graph made = from_arcs(sources, targets, weights, WeightType::u32, right.graph->vertex_count());
  Result      wrong;
  wrong.graph = Graph{{.out         = made.out(),
                       .in          = {},
                       .ids         = right.graph->ids(),
                       .weight_type = WeightType::u32,
                       .symmetric   = false,
                       .trusted     = true,
                       .name        = {},
                       .report      = {},
                       .budget      = {}}};
  wrong.facts = {{"vertices", made.vertex_count()}, {"arcs", made.arc_count()}};
  return wrong;
}

class GraphMistakes : public ::testing::TestWithParam<CheckBy> {};

TEST_P(GraphMistakes, AreFound) {
  const Graph graph = lettered();
  for (const Case& each : cases()) {
    const Result right   = run(graph, each.algorithm, each.values);
    const auto   verdict = [&](const Result& result) {
      return problem(graph, each.algorithm, each.values, result, GetParam());
    };
    EXPECT_EQ(verdict(right), "") << each.algorithm;
    EXPECT_EQ(verdict(edited(right, [](Arcs&) {})), "") << each.algorithm;
    EXPECT_NE(verdict(run(graph, each.algorithm, each.others)), "") << each.algorithm << ": other vertices";
    EXPECT_NE(verdict(edited(right, [](Arcs& arcs) { arcs.pop_back(); })), "") << each.algorithm << ": one less";
    EXPECT_NE(verdict(edited(right, [](Arcs& arcs) { arcs.push_back(arcs.front()); })), "")
        << each.algorithm << ": one twice";
    EXPECT_NE(verdict(edited(right, [](Arcs& arcs) { std::get<2>(arcs.front()) += 1; })), "")
        << each.algorithm << ": another weight";
    EXPECT_NE(verdict(edited(right, [](Arcs& arcs) { arcs.emplace_back("c", "c", 1); })), "")
        << each.algorithm << ": an arc that is not in the graph";
    Result told         = right;
    told.facts[1].value = std::uint64_t{0};
    EXPECT_NE(verdict(told), "") << each.algorithm << ": a wrong fact";
    EXPECT_NE(verdict(Result{}), "") << each.algorithm << ": no graph";
  }
}

TEST_P(GraphMistakes, AFalseClaimOfSymmetryIsFound) {
  const Graph  graph = lettered();
  Result       wrong = run(graph, "induced", {{"members", "a,b"}});
  Graph::Parts parts;
  parts.out         = wrong.graph->out();
  parts.ids         = wrong.graph->ids();
  parts.weight_type = wrong.graph->weight_type();
  parts.symmetric   = true;
  wrong.graph       = Graph{std::move(parts)};
  EXPECT_NE(problem(graph, "induced", {{"members", "a,b"}}, wrong, GetParam()), "");
}

TEST_P(GraphMistakes, AreNotSeenWhereThereAreNone) {
  for (const auto& member : testing::zoo()) {
    if (member.graph.vertex_count() == 0) continue;
    const ParameterValues values{{"source", member.graph.ids().name(0)}, {"along", "both"}, {"hops", "1"}};
    const Result          result = run(member.graph, "neighborhood", values);
    EXPECT_EQ(problem(member.graph, "neighborhood", values, result, GetParam()), "") << member.name;
  }
}

INSTANTIATE_TEST_SUITE_P(By, GraphMistakes, ::testing::Values(CheckBy::oracle, CheckBy::properties),
                         [](const auto& test) { return test.param == CheckBy::oracle ? "oracle" : "properties"; });

}  // namespace
}  // namespace spillway
