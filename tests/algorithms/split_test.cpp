// Programs on graphs whose vertices are split (Tigr, theorem 1 and its corollaries): paths, connectivity,
// distances, bottlenecks and ranks are those of the graph, on the zoo and on random graphs, in all ways; and what
// does not survive a split is refused.
#include <gtest/gtest.h>

#include <set>

#include "algorithms/trying.hpp"
#include "devices/devices.hpp"
#include "graph/split.hpp"
#include "support.hpp"
#include "ways.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::all_ways;
using testing::failure_of;
using testing::filled;
using testing::Turns;
using testing::variants_of;
using testing::with_weights_for;

/// What an error says; nothing: there is none.
template <class Body>
std::string complaint(Body&& body) {
  return failure_of(body).second;
}

const std::vector<SplitForm> forms{
    {SplitKind::udt, 2},        {SplitKind::udt, 3, true},   {SplitKind::star, 3},
    {SplitKind::star, 4, true}, {SplitKind::udt, 7},         {SplitKind::circular, 5},
    {SplitKind::udt, 2, true},  {SplitKind::clique, 6},      {SplitKind::circular, 3, true},
    {SplitKind::udt, 100'000},  {SplitKind::clique, 9, true}};

const std::set<std::string> survivors{"bc", "bfs", "cc", "pagerank", "ppr", "ssnsp", "sssp", "sswp"};

/// What counts ways needs exactly one to each part of a vertex; what divides by degrees needs those of the graph.
bool is_for(const std::string& algorithm, const SplitForm& form) {
  const bool ranks = algorithm == "pagerank" || algorithm == "ppr";
  if (ranks && !form.in_edges) return false;
  return form.kind != SplitKind::clique || !(ranks || algorithm == "bc" || algorithm == "ssnsp");
}

bool asks_for_another_form(const ParameterValues& values, const SplitForm& split) {
  const auto is = [&](const char* name, const char* value) {
    return values.contains(name) && values.at(name) == value;
  };
  if (is("form", "residual") && split.kind == SplitKind::circular) return true;
  return is("form", "afforest") || is("form", "levels") ||
         (values.contains("iterations") && values.at("iterations") != "auto");
}

class OnSplitVertices : public ::testing::TestWithParam<std::string> {
 protected:
  void expect_right(const Graph& given, const std::string& what) {
    const Graph     graph  = with_weights_for(algorithm_, given);
    const SplitForm form   = forms[turn_++ % forms.size()];
    const auto      all    = variants_of(algorithm_.name);
    auto            values = filled(algorithm_, graph, all[variant_++ % all.size()]);
    while (values && asks_for_another_form(*values, form))
      values = filled(algorithm_, graph, all[variant_++ % all.size()]);
    if (!values || !is_for(algorithm_.name, form)) return;
    if (values->contains("sources") && values->at("sources") == "all" && graph.vertex_count() > 16) return;
    // Cliques of many parts are large; chains take an iteration for each, and ranks that hardly fade many more.
    if (form.kind == SplitKind::clique && graph.arc_count() > 5000) return;
    if (form.kind == SplitKind::circular && largest_degree(form.in_edges ? graph.in() : graph.out()) > 40) return;
    if (values->contains("damping") && values->at("damping") == "0.99") (*values)["damping"] = "0.9";
#if defined(SPILLWAY_EMULATED)  // which takes its time for every iteration
    if (values->contains("tolerance")) (*values)["tolerance"] = "0.01", (*values)["damping"] = "0.5";
#endif
    const Graph split = spillway::split(graph, form);
    for (const std::size_t which : next_ways()) {
      const RunOptions  way   = testing::for_any_program(all_ways()[which]);
      const std::string asked = algorithm_.name + testing::as_text(*values) + " on " + what + ", " +
                                text_of(form) + testing::as_text(way);
      if (way.device.kind->of_cpu_executors && algorithm_.name == "cc") continue;
      const Result result = algorithm_.run(split, *values, way);
      for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
        EXPECT_EQ(algorithm_.verify(split, *values, result, {.by = by}).problem, "") << asked;
      if (graph.vertex_count() == 0) continue;
      EXPECT_EQ(result.statistics.device, way.device.kind == cuda_kind() ? "cuda:0" : way.device.kind->name)
          << asked;
      if (split.split()->tree_vertices() == 0) continue;
      EXPECT_EQ(testing::deviation(way, result.statistics, algorithm_.name), "") << asked;
      forms_.insert(text_of(form)), ways_.used(which);
    }
  }

  /// In turns; later those that have not had theirs, which may have met the same few forms each time.
  std::vector<std::size_t> next_ways() {
    const std::vector<std::size_t> left = late_ ? waiting() : std::vector<std::size_t>{};
    return left.empty() ? ways_.next() : std::vector{left[turn_ % left.size()]};
  }

  /// Ways that are still to have their turn. Emulated, there is time for a few.
  std::vector<std::size_t> waiting() const {
    std::vector<std::size_t> all;
#if !defined(SPILLWAY_EMULATED)
    for (const std::size_t which : ways_.unused())
      if (!(all_ways()[which].device.kind->of_cpu_executors && GetParam() == "cc")) all.push_back(which);
#endif
    return all;
  }

  /// Forms that are still to have theirs.
  std::vector<std::string> forms_left() const {
    std::vector<std::string> left;
    for (const SplitForm& form : forms)
      if (is_for(GetParam(), form) && form.degree_bound < 100'000 && !forms_.contains(text_of(form)))
        left.push_back(text_of(form));
    return left;
  }

  void expect_all_used() {
    for (const std::string& form : forms_left()) ADD_FAILURE() << GetParam() << " was never run on " << form;
    for (const std::size_t which : waiting())
      ADD_FAILURE() << GetParam() << " was never run" << testing::as_text(all_ways()[which]);
  }

  const Algorithm&      algorithm_ = algorithm_named(GetParam());
  Turns                 ways_{all_ways().size(), 1, "split" + GetParam()};
  std::size_t           turn_ = GetParam().size(), variant_ = 0;
  bool                  late_ = false;
  std::set<std::string> forms_;
};

TEST_P(OnSplitVertices, AnswersAreThoseOfTheGraph) {
#if defined(SPILLWAY_TEST_ON_GPU)
  if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
#endif
#if defined(SPILLWAY_EMULATED)
  constexpr std::uint64_t random_graphs = 8;
  const bool              all           = testing::full_matrix();
#else
  constexpr std::uint64_t random_graphs = 60;
  constexpr bool          all           = true;
#endif
  std::size_t skip = 0;
  for (const auto& member : testing::zoo())
    if ((all || ++skip % 4 == 0) && (GetParam() != "sssp" || member.name != "weights_large"))
      expect_right(member.graph, member.name);
  const auto              left = [&] { return !waiting().empty() || !forms_left().empty(); };
  constexpr std::uint64_t most = random_graphs + 600;  // a GPU has 65 ways
  for (std::uint64_t i = 0; i < random_graphs || (left() && i < most); ++i) {
    late_                    = i >= random_graphs;
    const std::uint64_t seed = testing::seed() * 1'000'000 + i;
    expect_right(testing::random_graph(seed), "random graph " + std::to_string(seed));
  }
  expect_all_used();
}

INSTANTIATE_TEST_SUITE_P(Registry, OnSplitVertices, ::testing::ValuesIn(survivors),
                         [](const auto& test) { return test.param; });

#if !defined(SPILLWAY_TEST_ON_GPU)

TEST(OnSplit, WhatLooksAtNeighboursIsRefused) {
  const Graph graph = split(with_random_weights(generate("kron", {{"scale", "6"}}, {}), 1), {SplitKind::udt, 4});
  for (const Algorithm& algorithm : algorithms()) {
    if (survivors.contains(algorithm.name)) continue;
    const auto values = filled(algorithm, graph, {});
    EXPECT_NE(complaint([&] { algorithm.run(graph, *values, {}); }).find("split (udt:4), and"), std::string::npos)
        << algorithm.name << ": " << complaint([&] { algorithm.run(graph, *values, {}); });
  }
}

/// Whatever needs neighbours or more paths than a double counts runs as ever.
TEST(OnSplit, WhereNothingWasSplitAllRuns) {
  const Graph graph =
      split(with_random_weights(generate("kron", {{"scale", "5"}}, {}), 1), {SplitKind::clique, 100'000});
  for (const Algorithm& algorithm : algorithms()) {
    const auto   values = filled(algorithm, graph, {});
    const Result result = algorithm.run(graph, *values, {});
    if (!algorithm.verify) continue;
    EXPECT_EQ(algorithm.verify(graph, *values, result, {}).problem, "") << algorithm.name;
  }
}

TEST(OnSplit, WhatASplitOfThisKindChangesIsRefused) {
  const Graph graph = generate("kron", {{"scale", "6"}}, {});
  const auto  why   = [&](const char* name, const SplitForm& form, ParameterValues given = {}) {
    const Algorithm& algorithm = algorithm_named(name);
    const Graph      on        = split(graph, form);
    return complaint([&] { algorithm.run(on, *filled(algorithm, on, given), {}); });
  };
  for (const char* name : {"pagerank", "ppr"}) {
    EXPECT_NE(why(name, {SplitKind::udt, 4}).find("reads out-degrees"), std::string::npos);
    EXPECT_NE(why(name, {SplitKind::clique, 4, true}).find("counts every way"), std::string::npos);
    EXPECT_NE(why(name, {SplitKind::udt, 4, true}, {{"iterations", "3"}}).find("leave out --iterations"),
              std::string::npos);
  }
  for (const char* name : {"bc", "ssnsp"})
    EXPECT_NE(why(name, {SplitKind::clique, 4}).find("counts every way"), std::string::npos);
  EXPECT_NE(why("cc", {SplitKind::udt, 4}, {{"form", "afforest"}}).find("--form propagate"), std::string::npos);
  EXPECT_NE(why("ssnsp", {SplitKind::udt, 4}, {{"form", "levels"}}).find("--form accumulative"),
            std::string::npos);
  EXPECT_NE(why("pagerank", {SplitKind::circular, 4, true}, {{"form", "residual"}}).find("--form pull"),
            std::string::npos);
}

#endif

}  // namespace
}  // namespace spillway
