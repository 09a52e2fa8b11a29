// What the planner says of balances: of rows that are easy to count, and what an H200 took.
#include <gtest/gtest.h>

#include <map>

#include "plan/balance_pricing.hpp"
#include "plan/planner.hpp"

#include <spillway/generate.hpp>

namespace spillway {
namespace {

GraphSample sample_of(const Graph& graph) {
  const Csr& out = graph.out();
  return sampled({{out.offsets.data(), out.targets.data()}, 0, static_cast<Vertex>(out.vertex_count())},
                 out.vertex_count(), false);
}

Graph undirected(const char* kind, const ParameterValues& values) {
  GenerateOptions options;
  options.transform = {.undirected = true, .dedup = true, .drop_loops = true};
  return generate(kind, values, options);
}

BalanceTuning split(std::uint64_t degree_bound) {
  return {.kind = Balance::split, .split = {.degree_bound = degree_bound}};
}

/// A ring with chords: every row has four edges.
Graph rows_of_four() {
  std::vector<Vertex> sources, targets;
  constexpr Vertex    n = 40'000;
  for (Vertex v = 0; v < n; ++v)
    for (const Vertex step : {1u, 2u, 3u, 4u}) sources.push_back(v), targets.push_back((v + step) % n);
  return from_arcs(sources, targets, {}, WeightType::none, n);
}

TEST(Balances, RowsOfOneLengthKeepNoLaneWaiting) {
  const GraphSample sample = sample_of(rows_of_four());
  EXPECT_EQ(sample.longest, 4);
  const SharedOut thread = shared_out(sample, 1000, {.kind = Balance::thread});
  EXPECT_NEAR(thread.steps, 4 + 1.5, 1.1);  // one to turn to it, half a step of a lane
  EXPECT_EQ(thread.longest, 4);
  const SharedOut two = shared_out(sample, 1000, split(2));
  EXPECT_NEAR(two.parts, 2, 0.6);
  EXPECT_EQ(two.longest, 2);
  EXPECT_NEAR(shared_out(sample, 1000, split(100)).parts, 1, 0.01) << "rows of one part";
  EXPECT_EQ(shared_out(sample, 1000, {.kind = Balance::warp, .lanes = 8}).longest, 1);
}

TEST(Balances, LanesWaitForHubs) {
  const GraphSample hubs   = sample_of(undirected("kron", {{"scale", "16"}}));
  const double      degree = 31;
  EXPECT_GT(shared_out(hubs, 1e5, {.kind = Balance::thread}).steps, 4 * degree);
  EXPECT_LT(shared_out(hubs, 1e5, split(10)).steps, 2 * degree);
  EXPECT_GT(shared_out(hubs, 1e5, {.kind = Balance::thread}).longest, 1000);
  EXPECT_EQ(shared_out(hubs, 1e5, split(10)).longest, 10);
}

/// From 16,384 rows, what the longest of all is: about so many edges.
TEST(Balances, TheLongestRowIsEstimated) {
  for (const char* scale : {"17", "18"}) {
    const Graph       graph   = undirected("kron", {{"scale", scale}});
    const GraphSample sample  = sample_of(graph);
    double            longest = 0;
    for (Vertex v = 0; v < graph.vertex_count(); ++v)
      longest = std::max(longest, static_cast<double>(graph.out().degree(v)));
    EXPECT_GT(sample.longest, longest / 16) << scale;
    EXPECT_LT(sample.longest, longest * 16) << scale;
  }
  EXPECT_EQ(sample_of(undirected("grid", {{"rows", "300"}, {"columns", "300"}})).longest, 4);
  EXPECT_EQ(sample_of(Graph{}).longest, 0);
}

/// Predicted for ten iterations of pagerank over all edges, by balance.
std::map<std::string, double> predicted(const GraphSample& sample, std::uint64_t vertices, std::uint64_t arcs,
                                        const RunOptions& options = {}) {
  const RunFacts  run{.options        = options,
                      .vertices       = vertices,
                      .arcs           = arcs,
                      .all_active     = true,
                      .max_iterations = 10,
                      .state          = vertices * 24};
  const GpuFacts  device{.name      = "made up",
                         .room      = 140'000'000'000,
                         .holds_all = true,
                         .cache     = 50'000'000,
                         .rates     = [] { return Rates{}; },
                         .sample    = [&] { return sample; }};
  const Placement placement = chosen_placement(run, device, /*all=*/true);
  EXPECT_TRUE(placement.best().balance.by_bins() || !options.balance.by_bins());
  std::map<std::string, double> all;
  for (const PlanCandidate& each : placement.candidates)
    if (each.excluded.empty() && each.method->all_resident) all[name_of(each.balance)] = each.run_ms;
  return all;
}

/// grid2048 and urand22 on an H200, as a multiple of what bins take (docs/performance.md); of kron24 that hubs
/// make lanes wait for a thousand times as long.
TEST(Balances, ArePredictedAsTheyWereMeasured) {
  const auto uniform = predicted(sample_of(undirected("uniform", {{"vertices", "65536"}, {"degree", "16"}})),
                                 4'194'304, 134'200'000);
  EXPECT_NEAR(uniform.at("thread") / uniform.at("bins"), 1.30, 0.35);
  EXPECT_NEAR(uniform.at("split:10") / uniform.at("bins"), 1.33, 0.35);
  EXPECT_NEAR(uniform.at("warp:8") / uniform.at("bins"), 1.00, 0.5);
  const auto grid =
      predicted(sample_of(undirected("grid", {{"rows", "512"}, {"columns", "512"}})), 4'194'304, 15'100'000);
  EXPECT_GT(grid.at("split:10") / grid.at("bins"), 1.3);
  EXPECT_GT(grid.at("warp:8") / grid.at("bins"), 1.3);
  const auto hubs = predicted(sample_of(undirected("kron", {{"scale", "16"}})), 16'777'216, 520'800'000);
  EXPECT_NEAR(hubs.at("split:10") / hubs.at("bins"), 1.46, 0.5);
  EXPECT_GT(hubs.at("thread") / hubs.at("bins"), 2);
}

/// Whoever asks for one gets it, and nothing else is compared.
TEST(Balances, ThatAreAskedForAreTaken) {
  const GraphSample sample = sample_of(rows_of_four());
  RunOptions        asked;
  asked.balance  = split(7);
  const auto all = predicted(sample, 40'000, 160'000, asked);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.begin()->first, "split:7");
  RunOptions fixed;
  fixed.deterministic = true;
  EXPECT_FALSE(predicted(sample, 40'000, 160'000, fixed).contains("split:10")) << "adds up parts in any order";
  EXPECT_TRUE(predicted(sample, 40'000, 160'000).contains("split:10"));
}

}  // namespace
}  // namespace spillway
