// The examples as they stand in examples/: their answers on small graphs by hand, and on random ones against plain
// serial loops, in every way to run them.
#include <sys/wait.h>

#include <bit>
#include <cstdio>

#include "program/trying.hpp"

#include <spillway/plugin.hpp>

// Here they are functions like any other; each of them as a plug-in would define the same entry point.
#undef SPILLWAY_PLUGIN
#define SPILLWAY_PLUGIN(...)
#include "../../examples/label_spread.cpp"
#include "../../examples/personal_rank.cpp"
#include "../../examples/widest_path.cpp"

namespace spillway {
namespace {

using testing::as_text;
using testing::edges_of;
using testing::PlainEdge;
using testing::some_ways;

template <class T>
std::vector<T> column(const Result& result, std::size_t index) {
  const auto& values = std::get<Array<T>>(result.columns.at(index).values);
  return {values.begin(), values.end()};
}

Result answer(const Algorithm& algorithm, const Graph& graph, const ParameterValues& values,
              const RunOptions& way = {}) {
  return algorithm.run(graph, completed_parameters(algorithm, values), way);
}

/// body(graph, way, what) for random graphs and every way.
template <class Body>
void on_random_graphs(Body&& body) {
  for (std::uint64_t seed = 0; seed < 15; ++seed)
    for (const RunOptions& way : some_ways())
      body(testing::random_graph(seed), way, "seed " + std::to_string(seed) + as_text(way));
}

Graph weighted(const std::vector<Vertex>& sources, const std::vector<Vertex>& targets,
               const std::vector<std::uint32_t>& weights, std::uint64_t vertices) {
  return from_arcs(sources, targets, weights, WeightType::u32, vertices);
}

// --- widest_path ---

TEST(WidestPathExample, TakesTheDetourThatCarriesMore) {
  // 0 -2-> 3 directly; 0 -9-> 1 -5-> 2 -7-> 3 carries 5; 4 is not reached.
  const Graph graph = weighted({0, 0, 1, 2, 4}, {3, 1, 2, 3, 0}, {2, 9, 5, 7, 8}, 5);
  for (const RunOptions& way : some_ways()) {
    const Result result = answer(widest_path(), graph, {{"source", "0"}}, way);
    EXPECT_EQ(column<std::uint32_t>(result, 0), (std::vector<std::uint32_t>{highest<std::uint32_t>(), 9, 5, 5, 0}))
        << as_text(way);
  }
}

template <class W>
std::vector<W> plain_widths(const Graph& graph) {
  std::vector<W> widths(graph.vertex_count(), W{0});
  widths[0]          = highest<W>();
  const auto edges   = edges_of(graph);
  bool       changed = true;
  while (std::exchange(changed, false))
    for (const PlainEdge& edge : edges) {
      const W width = std::min(widths[edge.from], std::bit_cast<W>(edge.weight));
      if (width > widths[edge.to]) widths[edge.to] = width, changed = true;
    }
  return widths;
}

TEST(WidestPathExample, IsRightOnRandomGraphs) {
  on_random_graphs([](const Graph& given, const RunOptions& way, const std::string& what) {
    const Graph  graph  = given.weight_type() == WeightType::none ? with_random_weights(given, 2) : given;
    const Result result = answer(widest_path(), graph, {{"source", "0"}}, way);
    if (graph.weight_type() == WeightType::f32) {
      EXPECT_EQ(column<float>(result, 0), plain_widths<float>(graph)) << what;
    } else {
      EXPECT_EQ(column<std::uint32_t>(result, 0), plain_widths<std::uint32_t>(graph)) << what;
    }
  });
}

// --- label_spread ---

TEST(LabelSpreadExample, GivesEveryVertexTheNearestSeed) {
  // A chain 0 → 1 → 2 → 3 → 4 with seeds 0 and 3, and 5 that leads in but is not led to.
  const std::vector<Vertex> sources{0, 1, 2, 3, 5}, targets{1, 2, 3, 4, 0};
  const Graph               graph = from_arcs(sources, targets, {}, WeightType::none, 6);
  for (const RunOptions& way : some_ways()) {
    const Result result = answer(label_spread(), graph, {{"seeds", "0,3"}}, way);
    EXPECT_EQ(column<Vertex>(result, 0), (std::vector<Vertex>{0, 0, 0, 3, 3, no_vertex})) << as_text(way);
    EXPECT_EQ(column<std::uint32_t>(result, 1),
              (std::vector<std::uint32_t>{0, 1, 2, 0, 1, highest<std::uint32_t>()}))
        << as_text(way);
  }
}

TEST(LabelSpreadExample, RefusesASeedThatTheGraphDoesNotHave) {
  EXPECT_EQ(testing::failure_of([] {
              answer(label_spread(), testing::random_graph(1), {{"seeds", "0,99999"}});
            }).first,
            ExitCode::bad_input);
}

TEST(LabelSpreadExample, IsRightOnRandomGraphs) {
  on_random_graphs([](const Graph& graph, const RunOptions& way, const std::string& what) {
    std::vector<Vertex>                     seeds;
    std::vector<std::vector<std::uint32_t>> from_seed;
    std::string                             list;
    for (Vertex seed = 0; seed < graph.vertex_count(); seed += 1 + static_cast<Vertex>(graph.vertex_count() / 4)) {
      seeds.push_back(seed);
      from_seed.push_back(testing::plain_levels(graph, Along::out, {seed}));
      list += (list.empty() ? "" : ",") + graph.ids().name(seed);
    }
    const Result result = answer(label_spread(), graph, {{"seeds", list}}, way);
    const auto   labels = column<Vertex>(result, 0);
    const auto   hops   = column<std::uint32_t>(result, 1);
    EXPECT_EQ(hops, testing::plain_levels(graph, Along::out, seeds)) << what;
    for (Vertex v = 0; v < graph.vertex_count(); ++v) {
      const auto seed = std::find(seeds.begin(), seeds.end(), labels[v]);
      ASSERT_EQ(seed == seeds.end(), hops[v] == highest<std::uint32_t>()) << what;
      if (seed == seeds.end()) continue;
      EXPECT_EQ(from_seed[static_cast<std::size_t>(seed - seeds.begin())][v], hops[v]) << what << ": " << v;
    }
  });
}

// --- personal_rank ---

TEST(PersonalRankExample, FollowsTwoVerticesByHand) {
  // 0 → 1, and 1 leads nowhere: the walk is at 0 after a restart, and at 1 a step later unless it restarts then.
  // x = r + (1-r) y and y = (1-r) x with r = 1/2: x = 2/3, y = 1/3.
  const std::vector<Vertex> sources{0}, targets{1};
  const Graph               graph = from_arcs(sources, targets, {}, WeightType::none, 2);
  for (const RunOptions& way : some_ways()) {
    const Result result = answer(personal_rank(), graph, {{"source", "0"}, {"restart", "0.5"}}, way);
    const auto   ranks  = column<double>(result, 0);
    EXPECT_NEAR(ranks[0], 2.0 / 3, 1e-8) << as_text(way);
    EXPECT_NEAR(ranks[1], 1.0 / 3, 1e-8) << as_text(way);
    EXPECT_LE(std::get<double>(result.facts.at(0).value), 1e-9) << as_text(way);
  }
}

std::vector<double> plain_ranks(const Graph& graph, double restart) {
  std::vector<double> ranks(graph.vertex_count());
  ranks[0] = 1;
  for (int step = 0; step < 400; ++step) {
    std::vector<double> next(graph.vertex_count());
    next[0] = restart;
    for (Vertex v = 0; v < graph.vertex_count(); ++v) {
      const auto neighbors = graph.out().neighbors(v);
      if (neighbors.empty()) next[0] += (1 - restart) * ranks[v];
      for (const Vertex to : neighbors)
        next[to] += (1 - restart) * ranks[v] / static_cast<double>(neighbors.size());
    }
    ranks.swap(next);
  }
  return ranks;
}

TEST(PersonalRankExample, IsRightOnRandomGraphs) {
  on_random_graphs([](const Graph& graph, const RunOptions& way, const std::string& what) {
    const auto ranks    = column<double>(answer(personal_rank(), graph, {{"source", "0"}}, way), 0);
    const auto expected = plain_ranks(graph, 0.15);
    double     sum      = 0;
    for (Vertex v = 0; v < graph.vertex_count(); ++v) {
      EXPECT_NEAR(ranks[v], expected[v], 1e-7) << what << ": " << v;
      sum += ranks[v];
    }
    EXPECT_NEAR(sum, 1, 1e-9) << what;
  });
}

// --- twenty_lines ---

std::pair<int, std::string> twenty_lines(const std::string& arguments) {
  std::FILE* const pipe = popen(("'" SPILLWAY_TWENTY_LINES "' " + arguments + " 2>&1").c_str(), "r");
  std::string      text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

TEST(TwentyLinesExample, CountsPieces) {
  const testing::TemporaryFolder folder;
  folder.write("g.txt", "0 1\n2 1\n7 8\n8 9\n9 7\n20 20\n");
  EXPECT_EQ(twenty_lines("'" + folder / "g.txt" + "'"), (std::pair{0, std::string{"3 pieces\n"}}));
  EXPECT_EQ(twenty_lines("'" + folder / "missing.txt" + "'").first, 3);
}

}  // namespace
}  // namespace spillway
