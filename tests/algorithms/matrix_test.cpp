// Every registered algorithm on the whole zoo and on random graphs, with one and with several threads, in every
// direction, with the engine's sizes as they are and so small that every way through it is taken, against its own
// oracle and its own property checks. An algorithm joins by registering.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "ways.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>

namespace spillway {
namespace {

using testing::as_text;
using testing::ways_to_run;

class EveryAlgorithm : public ::testing::TestWithParam<std::string> {};

/// What an algorithm is tried with beside its defaults.
std::vector<ParameterValues> variants_of(const std::string& algorithm) {
  static const std::map<std::string, std::vector<ParameterValues>> variants{
      {"bc", {{}, {{"sources", "all"}, {"normalized", "yes"}}}},
      {"bp",
       {{}, {{"form", "vertex"}}, {{"form", "vertex"}, {"states", "5"}, {"iterations", "4"}, {"tolerance", "0"}}}},
      {"cc", {{}, {{"form", "propagate"}}}},
      {"kcore", {{}, {{"k", "2"}}, {{"k", "4"}}}},
      {"pagerank",
       {{}, {{"iterations", "7"}}, {{"dangling", "drop"}}, {{"form", "residual"}}, {{"damping", "0.5"}}}},
      {"ppr", {{}, {{"iterations", "5"}}, {{"form", "residual"}}}},
      {"radius", {{}, {{"sketches", "8"}, {"steps", "3"}}}},
      {"tc", {{}, {{"per-vertex", "yes"}}}},
      {"sssp", {{}, {{"delta", "1"}}, {{"delta", "1000"}}}},
      {"neighborhood",
       {{},
        {{"hops", "0"}},
        {{"hops", "1"}, {"along", "in"}},
        {{"hops", "3"}, {"along", "both"}},
        {{"hops", "100"}, {"along", "in"}}}},
  };
  const auto found = variants.find(algorithm);
  return found == variants.end() ? std::vector<ParameterValues>{{}} : found->second;
}

/// Every `step`th id with commas between, and the first once more at the end.
std::string some_ids(const Graph& graph, Vertex step) {
  std::string list;
  for (Vertex v = 0; v < graph.vertex_count(); v += step) list += graph.ids().name(v) + ",";
  return list + graph.ids().name(0);
}

/// A value for each parameter that has no default; none if the graph has no vertex to name.
std::optional<ParameterValues> filled(const Algorithm& algorithm, const Graph& graph, ParameterValues values) {
  static const std::map<std::string, Vertex> lists{{"members", 2}, {"from", 2}, {"to", 3}};
  for (const Parameter& parameter : algorithm.parameters) {
    const auto list = lists.find(parameter.name);
    if (!parameter.default_value.empty() || values.contains(parameter.name)) continue;
    if (parameter.kind != ParameterKind::source && list == lists.end()) continue;
    if (graph.vertex_count() == 0) return std::nullopt;
    values[parameter.name] = list == lists.end() ? graph.ids().name(0) : some_ids(graph, list->second);
  }
  return completed_parameters(algorithm, values);
}

/// A run from every vertex, in every way, is for small graphs.
bool takes_too_long(const ParameterValues& values, const Graph& graph) {
  const auto sources = values.find("sources");
  return sources != values.end() && sources->second == "all" && graph.vertex_count() > 64;
}

std::string as_text(const ParameterValues& values) {
  std::string text;
  for (const auto& [name, value] : values) text += " --" + name + " " + value.substr(0, 40);
  return text;
}

void expect_right(const Algorithm& algorithm, const Graph& given, const std::string& what) {
  const bool  lacks_weights = algorithm.weights == WeightUse::needed && given.weight_type() == WeightType::none;
  const Graph graph         = lacks_weights ? with_random_weights(given, 1) : given;
  for (const ParameterValues& variant : variants_of(algorithm.name)) {
    const auto values = filled(algorithm, graph, variant);
    if (!values || takes_too_long(*values, graph)) continue;
    for (const RunOptions& way : ways_to_run()) {
      const Result result = algorithm.run(graph, *values, way);
      for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
        EXPECT_EQ(algorithm.verify(graph, *values, result, {.by = by}).problem, "")
            << algorithm.name << as_text(*values) << " on " << what << as_text(way);
      ASSERT_EQ(result.graph.has_value(), algorithm.makes_a_graph);
    }
  }
}

/// Distances over weights near 2^32 do not fit, which sssp says (see sssp_test); there is nothing to compare.
bool overflows(const std::string& algorithm, const std::string& member) {
  return algorithm == "sssp" && member == "weights_large";
}

TEST_P(EveryAlgorithm, IsRightOnTheZoo) {
  for (const auto& member : testing::zoo())
    if (!overflows(GetParam(), member.name)) expect_right(algorithm_named(GetParam()), member.graph, member.name);
}

TEST_P(EveryAlgorithm, IsRightOnRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    expect_right(algorithm_named(GetParam()), testing::random_graph(seed), "seed " + std::to_string(seed));
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Algorithm& algorithm : algorithms()) all.push_back(algorithm.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(Degrees, TheOracleCatchesABrokenResult) {
  const Graph                graph  = testing::random_graph(3);
  Result                     result = algorithm_named("degrees").run(graph, {}, {});
  const auto&                right  = std::get<Array<std::uint64_t>>(result.columns[1].values);
  std::vector<std::uint64_t> wrong{right.begin(), right.end()};
  wrong[0] += 1;
  result.columns[1].values = Array<std::uint64_t>::own(std::move(wrong));
  EXPECT_NE(algorithm_named("degrees").verify(graph, {}, result, {}).problem, "");
}

}  // namespace
}  // namespace spillway
