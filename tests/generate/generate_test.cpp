// Generators: small graphs arc by arc, large ones by their statistics, and the same graph for any number of
// threads.
#include <spillway/generate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <spillway/engine/memory.hpp>
#include "generate/random.hpp"
#include "graph/csr.hpp"

#include <spillway/error.hpp>

namespace spillway {
namespace {

using Arcs = std::vector<std::pair<Vertex, Vertex>>;

Arcs arcs_of(const Graph& graph) {
  Arcs arcs;
  for (Vertex v = 0; v < graph.vertex_count(); ++v)
    for (const Vertex target : graph.out().neighbors(v)) arcs.emplace_back(v, target);
  return arcs;
}

std::vector<EdgeIndex> degrees_of(const Graph& graph) {
  std::vector<EdgeIndex> degrees;
  for (Vertex v = 0; v < graph.vertex_count(); ++v) degrees.push_back(graph.out().degree(v));
  return degrees;
}

EdgeIndex largest_degree(const Graph& graph) {
  const auto degrees = degrees_of(graph);
  return *std::max_element(degrees.begin(), degrees.end());
}

bool same_rows(const Csr& a, const Csr& b) {
  return std::ranges::equal(a.offsets.span(), b.offsets.span()) &&
         std::ranges::equal(a.targets.span(), b.targets.span()) &&
         std::ranges::equal(a.weights.span(), b.weights.span());
}

/// Every arc has its reverse, as often and with the same weights.
bool has_all_reverses(const Graph& graph) {
  const BuildContext context{.budget = graph.budget(), .transform = {}, .threads = 2};
  return same_rows(graph.out(), transposed(graph.out(), graph.weight_type(), context));
}

std::uint64_t component_count(const Graph& graph) {
  std::vector<Vertex> parent(graph.vertex_count());
  std::iota(parent.begin(), parent.end(), 0u);
  const auto root = [&](Vertex v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  std::uint64_t components = graph.vertex_count();
  for (const auto& [u, v] : arcs_of(graph)) {
    const Vertex a = root(u), b = root(v);
    if (a == b) continue;
    parent[std::max(a, b)] = std::min(a, b);
    --components;
  }
  return components;
}

/// The error that generating ends with; fails the test when there is none.
Error error_of(const std::string& kind, const ParameterValues& values, const GenerateOptions& options = {}) {
  try {
    generate(kind, values, options);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << kind << " raised no error";
  return {ExitCode::done, ""};
}

void expect_usage_error(const std::string& kind, const ParameterValues& values,
                        const std::vector<std::string>& words) {
  const Error error = error_of(kind, values);
  EXPECT_EQ(error.code(), ExitCode::usage);
  for (const std::string& word : words)
    EXPECT_NE(std::string{error.what()}.find(word), std::string::npos) << error.what();
}

/// Small values for whatever a kind requires.
ParameterValues small_values(const Generator& generator, const std::string& size) {
  ParameterValues values;
  for (const Parameter& parameter : generator.parameters)
    if (parameter.default_value.empty()) values[parameter.name] = parameter.name == "scale" ? "9" : size;
  return values;
}

TEST(Generate, PlainShapesAreExact) {
  EXPECT_EQ(arcs_of(generate("star", {{"vertices", "5"}})), (Arcs{{0, 1}, {0, 2}, {0, 3}, {0, 4}}));
  EXPECT_EQ(arcs_of(generate("chain", {{"vertices", "4"}})), (Arcs{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(arcs_of(generate("cycle", {{"vertices", "3"}})), (Arcs{{0, 1}, {1, 2}, {2, 0}}));
  EXPECT_EQ(
      arcs_of(generate("complete", {{"vertices", "4"}})),
      (Arcs{{0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 2}, {1, 3}, {2, 0}, {2, 1}, {2, 3}, {3, 0}, {3, 1}, {3, 2}}));
  EXPECT_EQ(arcs_of(generate("bipartite", {{"left", "2"}, {"right", "3"}})),
            (Arcs{{0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 4}}));
  EXPECT_EQ(arcs_of(generate("tree", {{"vertices", "7"}, {"arity", "2"}})),
            (Arcs{{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}, {2, 6}}));
  EXPECT_EQ(arcs_of(generate("grid", {{"rows", "3"}, {"columns", "2"}})), (Arcs{{0, 1},
                                                                                {0, 2},
                                                                                {1, 0},
                                                                                {1, 3},
                                                                                {2, 0},
                                                                                {2, 3},
                                                                                {2, 4},
                                                                                {3, 1},
                                                                                {3, 2},
                                                                                {3, 5},
                                                                                {4, 2},
                                                                                {4, 5},
                                                                                {5, 3},
                                                                                {5, 4}}));
}

TEST(Generate, OneVertexIsAGraph) {
  for (const std::string kind : {"star", "chain", "complete", "tree", "ba"}) {
    const Graph graph = generate(kind, {{"vertices", "1"}});
    EXPECT_EQ(graph.vertex_count(), 1u) << kind;
    EXPECT_EQ(graph.arc_count(), 0u) << kind;
  }
  EXPECT_EQ(arcs_of(generate("cycle", {{"vertices", "1"}})), (Arcs{{0, 0}}));
  EXPECT_EQ(generate("grid", {{"rows", "1"}, {"columns", "1"}}).arc_count(), 0u);
}

TEST(Generate, TransformsApply) {
  GenerateOptions options;
  options.transform.undirected = true;
  const Graph chain            = generate("chain", {{"vertices", "3"}}, options);
  EXPECT_EQ(arcs_of(chain), (Arcs{{0, 1}, {1, 0}, {1, 2}, {2, 1}}));
  EXPECT_TRUE(chain.symmetric());
  EXPECT_EQ(generate("complete", {{"vertices", "4"}}, options).arc_count(), 12u) << "it already has both arcs";

  options.transform   = {.dedup = true, .drop_loops = true};
  const Graph uniform = generate("uniform", {{"vertices", "20"}, {"degree", "500"}}, options);
  EXPECT_EQ(uniform.arc_count(), 380u) << "10000 draws from 400 pairs miss none; loops are gone";
  EXPECT_FALSE(uniform.symmetric());
}

TEST(Generate, TheReportSaysWhatHappened) {
  const Graph graph = generate("uniform", {{"vertices", "1000"}});
  EXPECT_EQ(graph.report().format, "generated");
  EXPECT_GE(graph.report().peak_bytes, graph.out().bytes());
  EXPECT_GT(graph.report().read_ms, 0);
  EXPECT_GT(graph.report().build_ms, 0);
}

TEST(Generate, EveryKindIsTheSameForAnyNumberOfThreads) {
  for (const Generator& generator : generators()) {
    const ParameterValues values = small_values(generator, "300");
    GenerateOptions       options{.weight_type = WeightType::u32, .threads = 1};
    const Graph           reference = generate(generator.name, values, options);
    for (const int threads : {2, 5}) {
      options.threads = threads;
      EXPECT_TRUE(same_rows(reference.out(), generate(generator.name, values, options).out()))
          << generator.name << " on " << threads << " threads";
    }
    EXPECT_EQ(reference.symmetric(), has_all_reverses(reference)) << generator.name;
  }
}

TEST(Generate, LargeGraphsAreTheSameForAnyNumberOfThreads) {
  GenerateOptions options{.weight_type = WeightType::f32, .threads = 1};
  options.transform.undirected = true;
  const ParameterValues values{{"scale", "16"}};
  const Graph           reference = generate("kron", values, options);
  for (const int threads : {2, 5}) {
    options.threads = threads;
    EXPECT_TRUE(same_rows(reference.out(), generate("kron", values, options).out())) << threads << " threads";
  }
}

TEST(Generate, SeedsGiveDifferentGraphs) {
  const std::vector<std::pair<std::string, ParameterValues>> random_kinds = {
      {"kron", {{"scale", "10"}}},
      {"uniform", {{"vertices", "500"}}},
      {"ba", {{"vertices", "500"}}},
      {"grid", {{"rows", "20"}, {"columns", "20"}, {"remove", "0.3"}}}};
  for (const auto& [kind, values] : random_kinds) {
    const Graph first  = generate(kind, values, {.seed = 1});
    const Graph second = generate(kind, values, {.seed = 2});
    EXPECT_FALSE(same_rows(first.out(), second.out())) << kind;
  }
}

TEST(Generate, WeightsLeaveTheTopologyAlone) {
  const Graph plain    = generate("kron", {{"scale", "10"}});
  const Graph weighted = generate("kron", {{"scale", "10"}}, {.weight_type = WeightType::f32});
  EXPECT_TRUE(std::ranges::equal(plain.out().targets.span(), weighted.out().targets.span()));
}

TEST(Generate, WholeWeightsReachBothEndsOfTheRange) {
  const Graph                  graph = generate("uniform", {{"vertices", "1000"}},
                                                {.weight_type = WeightType::u32, .weight_min = 3, .weight_max = 6});
  std::array<std::uint64_t, 8> seen{};
  for (const std::uint32_t weight : graph.out().weights) ++seen[std::min(weight, 7u)];
  for (const std::uint32_t weight : {0u, 1u, 2u, 7u}) EXPECT_EQ(seen[weight], 0u) << weight;
  for (const std::uint32_t weight : {3u, 4u, 5u, 6u}) EXPECT_NEAR(seen[weight], 4000, 5 * 55) << weight;
}

TEST(Generate, RealWeightsStayBelowTheEndOfTheRange) {
  // Between 1 and the number after it nothing lies; all but the end is 1.
  const float next  = std::nextafter(1.0f, 2.0f);
  const Graph tight = generate("uniform", {{"vertices", "100"}},
                               {.weight_type = WeightType::f32, .weight_min = 1, .weight_max = next});
  for (const std::uint32_t bits : tight.out().weights) EXPECT_EQ(std::bit_cast<float>(bits), 1.0f);

  const Graph graph = generate("uniform", {{"vertices", "1000"}},
                               {.weight_type = WeightType::f32, .weight_min = -1, .weight_max = 1});
  double      sum   = 0;
  for (const std::uint32_t bits : graph.out().weights) {
    const auto weight = std::bit_cast<float>(bits);
    ASSERT_TRUE(weight >= -1 && weight < 1) << weight;
    sum += weight;
  }
  EXPECT_NEAR(sum / 16000, 0, 5 * 0.577 / std::sqrt(16000));
}

TEST(Generate, AnEmptyRangeOfWeightsIsOneWeight) {
  for (const WeightType type : {WeightType::u32, WeightType::f32}) {
    const Graph graph =
        generate("chain", {{"vertices", "9"}}, {.weight_type = type, .weight_min = 7, .weight_max = 7});
    const std::uint32_t seven = type == WeightType::u32 ? 7u : std::bit_cast<std::uint32_t>(7.0f);
    for (const std::uint32_t bits : graph.out().weights) EXPECT_EQ(bits, seven);
  }
}

TEST(Generate, BothArcsOfAnUndirectedEdgeWeighTheSame) {
  const std::vector<Transform> symmetric = {
      {.undirected = true},
      {.symmetrize = true},
      {.symmetrize = true, .dedup = true},
      {.undirected = true, .symmetrize = true, .dedup = true, .drop_loops = true}};
  for (const Generator& generator : generators())
    for (const Transform& transform : symmetric) {
      const Graph graph = generate(generator.name, small_values(generator, "40"),
                                   {.transform = transform, .weight_type = WeightType::u32});
      EXPECT_TRUE(graph.symmetric()) << generator.name;
      EXPECT_TRUE(has_all_reverses(graph)) << generator.name;
    }
}

TEST(Kronecker, QuadrantsAreChosenWithTheirProbabilities) {
  const Graph graph = generate(
      "kron",
      {{"scale", "1"}, {"degree", "1000000"}, {"a", "0.5"}, {"b", "0.3"}, {"c", "0.15"}, {"scramble", "no"}});
  const double edges = 2e6;
  ASSERT_EQ(graph.arc_count(), edges);
  std::array<double, 4> seen{};
  for (const auto& [row, column] : arcs_of(graph)) ++seen[2 * row + column];
  const std::array<double, 4> wanted = {0.5, 0.3, 0.15, 0.05};
  for (std::size_t q = 0; q < 4; ++q)
    EXPECT_NEAR(seen[q], edges * wanted[q], 5 * std::sqrt(edges * wanted[q] * (1 - wanted[q]))) << q;
}

TEST(Kronecker, EveryLevelIsChosenAlikeAndOnItsOwn) {
  // 13 levels take more than one draw, and not a whole number of them.
  constexpr unsigned scale = 13;
  const Graph        graph = generate("kron", {{"scale", "13"}, {"degree", "64"}, {"scramble", "no"}});
  const double       edges = 64 << scale;
  double             together[scale][scale] = {};  // how often both levels choose quadrant a
  for (const auto& [row, column] : arcs_of(graph)) {
    const Vertex neither = ~(row | column);
    for (unsigned i = 0; i < scale; ++i)
      for (unsigned j = 0; j < scale; ++j) together[i][j] += neither >> i & neither >> j & 1;
  }
  for (unsigned i = 0; i < scale; ++i)
    for (unsigned j = 0; j < scale; ++j) {
      const double chance = i == j ? 0.57 : 0.57 * 0.57;
      EXPECT_NEAR(together[i][j], edges * chance, 5 * std::sqrt(edges * chance * (1 - chance))) << i << ' ' << j;
    }
}

TEST(Kronecker, ImpossibleQuadrantsAreNeverChosen) {
  const Graph diagonal =
      generate("kron", {{"scale", "12"}, {"a", "0.5"}, {"b", "0"}, {"c", "0"}, {"scramble", "no"}});
  for (const auto& [row, column] : arcs_of(diagonal)) ASSERT_EQ(row, column);
  const Graph corner = generate("kron", {{"scale", "12"}, {"a", "0"}, {"b", "1"}, {"c", "0"}, {"scramble", "no"}});
  for (const auto& [row, column] : arcs_of(corner)) ASSERT_TRUE(row == 0 && column == 4095);
}

TEST(Kronecker, DegreesAreSkewed) {
  GenerateOptions options;
  options.transform  = {.undirected = true, .dedup = true, .drop_loops = true};
  const Graph  graph = generate("kron", {{"scale", "14"}}, options);
  const double mean  = static_cast<double>(graph.arc_count()) / static_cast<double>(graph.vertex_count());
  EXPECT_GT(mean, 20);
  EXPECT_GT(static_cast<double>(largest_degree(graph)), 50 * mean);
}

TEST(Kronecker, ScramblingRenumbersTheVerticesAndNothingElse) {
  for (const std::string scale : {"1", "2", "3", "10", "13"}) {
    auto plain     = degrees_of(generate("kron", {{"scale", scale}, {"scramble", "no"}}));
    auto scrambled = degrees_of(generate("kron", {{"scale", scale}}));
    if (scale == "13") {
      EXPECT_NE(plain, scrambled);
    }
    std::ranges::sort(plain);
    std::ranges::sort(scrambled);
    EXPECT_EQ(plain, scrambled) << scale;
  }
}

TEST(Kronecker, ScramblingSpreadsTheHubs) {
  const auto   degrees = degrees_of(generate("kron", {{"scale", "14"}}));
  const double arcs    = 16 << 14;
  // Unscrambled, the lower half of the ids would hold 76 percent of the arcs.
  const double lower =
      static_cast<double>(std::accumulate(degrees.begin(), degrees.begin() + (1 << 13), EdgeIndex{0}));
  EXPECT_NEAR(lower / arcs, 0.5, 0.1);
}

TEST(Uniform, DegreesAreThoseOfChance) {
  const Graph graph = generate("uniform", {{"vertices", "20000"}, {"degree", "32"}});
  EXPECT_EQ(graph.arc_count(), 640000u);
  for (const Csr* side : {&graph.out(), &graph.in()}) {
    double chi_square = 0;
    for (Vertex v = 0; v < 20000; ++v) chi_square += std::pow(static_cast<double>(side->degree(v)) - 32, 2) / 32;
    EXPECT_NEAR(chi_square, 20000, 5 * std::sqrt(2 * 20000));
  }
}

TEST(Grid, RemovesTheShareAskedFor) {
  const Graph  graph = generate("grid", {{"rows", "2048"}, {"columns", "2048"}, {"remove", "0.1"}});
  const double edges = 2.0 * 2048 * 2047;
  EXPECT_NEAR(static_cast<double>(graph.arc_count()), 2 * 0.9 * edges, 2 * 5 * std::sqrt(edges * 0.09));
  EXPECT_TRUE(graph.symmetric());
  EXPECT_LE(largest_degree(graph), 4u);
  EXPECT_EQ(generate("grid", {{"rows", "50"}, {"columns", "50"}, {"remove", "1"}}).arc_count(), 0u);
}

/// Batagelj & Brandes' array of ends, filled one edge after the other.
std::vector<Vertex> ends_by_array(Vertex vertices, Vertex degree, const RandomStream& stream) {
  std::vector<Vertex> ends;
  for (Vertex u = 0; u <= degree; ++u)
    for (Vertex v = u + 1; v <= degree; ++v) ends.insert(ends.end(), {u, v});
  for (Vertex v = degree + 1; v < vertices; ++v) {
    const std::size_t earlier = ends.size();
    for (Vertex i = 0; i < degree; ++i) {
      const Vertex target = ends[stream.below(ends.size() / 2, earlier)];
      ends.insert(ends.end(), {v, target});
    }
  }
  return ends;
}

TEST(Preferential, AgreesWithTheArrayOfAllEnds) {
  constexpr Vertex vertices = 3000, degree = 5;
  const auto       ends = ends_by_array(vertices, degree, RandomStream{42, RandomUse::topology});
  Arcs             arcs;
  for (std::size_t place = 0; place < ends.size(); ++place) arcs.emplace_back(ends[place], ends[place ^ 1]);
  std::ranges::sort(arcs);
  EXPECT_EQ(arcs_of(generate("ba", {{"vertices", "3000"}, {"degree", "5"}}, {.seed = 42})), arcs);
}

TEST(Preferential, HasHubsAndIsConnected) {
  const Graph graph = generate("ba", {{"vertices", "50000"}, {"degree", "4"}});
  EXPECT_EQ(graph.arc_count(), 2u * (10 + 49995 * 4));
  EXPECT_EQ(component_count(graph), 1u);
  for (const auto& [u, v] : arcs_of(graph)) ASSERT_NE(u, v);

  auto degrees = degrees_of(graph);
  EXPECT_GE(*std::min_element(degrees.begin(), degrees.end()), 4u);
  EXPECT_GT(largest_degree(graph), 8u * 40) << "a uniform choice would stay near 30";
  // The share with degree k or more falls as m(m+1)/k(k+1): 20/1640 for k = 40.
  const auto tail = std::ranges::count_if(degrees, [](EdgeIndex degree) { return degree >= 40; });
  EXPECT_NEAR(static_cast<double>(tail) / 50000, 20.0 / 1640, 0.1 * 20.0 / 1640);
}

TEST(Preferential, FewVerticesAreAllJoined) {
  EXPECT_TRUE(same_rows(generate("ba", {{"vertices", "5"}, {"degree", "9"}}).out(),
                        generate("complete", {{"vertices", "5"}}).out()));
}

TEST(GenerateErrors, UnknownWordsGetASuggestion) {
  expect_usage_error("cron", {}, {"'cron'", "'kron'"});
  expect_usage_error("zzzzzzzz", {}, {"kron, uniform"});
  expect_usage_error("kron", {{"scalle", "10"}}, {"kron", "'scalle'", "'scale'"});
  expect_usage_error("star", {{"xxxxxx", "10"}}, {"star", "'xxxxxx'", "vertices"});
}

TEST(GenerateErrors, ValuesOutOfRangeAreNamed) {
  expect_usage_error("kron", {}, {"kron", "--scale"});
  expect_usage_error("kron", {{"scale", "40"}}, {"--scale", "40", "1 to 31"});
  expect_usage_error("kron", {{"scale", "ten"}}, {"--scale", "ten"});
  expect_usage_error("kron", {{"scale", "9"}, {"degree", "0"}}, {"--degree", "is 0"});
  expect_usage_error("kron", {{"scale", "9"}, {"a", "1.5"}}, {"--a", "1.5", "0 to 1"});
  expect_usage_error("kron", {{"scale", "9"}, {"a", "nan"}}, {"--a", "nan"});
  expect_usage_error("kron", {{"scale", "9"}, {"a", "0.9"}}, {"0.9, 0.19 and 0.19", "at most 1"});
  expect_usage_error("kron", {{"scale", "9"}, {"scramble", "maybe"}}, {"--scramble", "maybe", "yes or no"});
  expect_usage_error("star", {{"vertices", "4294967296"}}, {"--vertices", "4294967296", "4294967295"});
  expect_usage_error("chain", {{"vertices", "-1"}}, {"--vertices", "-1"});
  expect_usage_error("grid", {{"rows", "70000"}, {"columns", "70000"}}, {"--rows", "--columns", "4900000000"});
  expect_usage_error("grid", {{"rows", "9"}, {"columns", "9"}, {"remove", "2"}}, {"--remove", "2"});
  expect_usage_error("bipartite", {{"left", "4000000000"}, {"right", "4000000000"}},
                     {"--left", "--right", "8000000000"});
}

TEST(GenerateErrors, RangesOfWeightsAreChecked) {
  const auto code = [](WeightType type, double low, double high) {
    const GenerateOptions options{.weight_type = type, .weight_min = low, .weight_max = high};
    return error_of("chain", {{"vertices", "3"}}, options).code();
  };
  EXPECT_EQ(code(WeightType::u32, 5, 4), ExitCode::usage);
  EXPECT_EQ(code(WeightType::u32, -1, 4), ExitCode::usage);
  EXPECT_EQ(code(WeightType::u32, 0.5, 4), ExitCode::usage);
  EXPECT_EQ(code(WeightType::u32, 0, 4294967296.0), ExitCode::usage);
  EXPECT_EQ(code(WeightType::f32, 2, 1), ExitCode::usage);
  EXPECT_EQ(code(WeightType::f32, 0, 1e300), ExitCode::usage);
  EXPECT_EQ(code(WeightType::f32, std::numeric_limits<double>::quiet_NaN(), 1), ExitCode::usage);
}

TEST(GenerateErrors, WhatDoesNotFitIsRefusedBeforeItIsMade) {
  struct Listener : Progress {
    bool begun = false;
    void begin(std::string_view, std::uint64_t, ProgressUnit) override { begun = true; }
  } listener;
  const Error error = error_of("kron", {{"scale", "20"}}, {.host_memory = 1u << 20, .progress = &listener});
  EXPECT_EQ(error.code(), ExitCode::does_not_fit);
  EXPECT_FALSE(listener.begun);
  EXPECT_EQ(error_of("complete", {{"vertices", "4294967295"}}).code(), ExitCode::does_not_fit);
  EXPECT_EQ(error_of("bipartite", {{"left", "2147483647"}, {"right", "2147483647"}}).code(),
            ExitCode::does_not_fit);
  EXPECT_EQ(error_of("kron", {{"scale", "31"}, {"degree", "4294967295"}}).code(), ExitCode::does_not_fit);
  EXPECT_EQ(error_of("ba", {{"vertices", "4294967295"}, {"degree", "4294967295"}}).code(), ExitCode::does_not_fit);
}

TEST(GenerateProgress, CountsEveryEdgeAndCanBeStopped) {
  struct Listener : Progress {
    std::uint64_t              total = 0;
    std::atomic<std::uint64_t> done{0};
    std::string                stage;
    bool                       stop = false;
    void                       begin(std::string_view name, std::uint64_t count, ProgressUnit) override {
      if (name == "generating") total = count, stage = name;
    }
    void advance(std::uint64_t amount) override {
      if (stage == "generating") done += amount;
    }
    void end() override { stage.clear(); }
    bool cancelled() const override { return stop && done > 0; }
  } listener;
  generate("uniform", {{"vertices", "20000"}}, {.progress = &listener});
  EXPECT_EQ(listener.total, 320000u);
  EXPECT_EQ(listener.done, 320000u);
  listener.stop = true;
  EXPECT_EQ(error_of("uniform", {{"vertices", "20000"}}, {.progress = &listener}).code(), ExitCode::interrupted);
}

TEST(GenerateRegistry, NamesAreUniqueAndExplained) {
  std::set<std::string> kinds;
  for (const Generator& generator : generators()) {
    EXPECT_TRUE(kinds.insert(generator.name).second) << generator.name;
    EXPECT_FALSE(generator.help.empty()) << generator.name;
    std::set<std::string> names;
    for (const Parameter& parameter : generator.parameters) {
      EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
      EXPECT_FALSE(parameter.help.empty()) << parameter.name;
    }
  }
}

}  // namespace
}  // namespace spillway
