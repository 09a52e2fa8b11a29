// Building rows: right for every shape of input, the same for every number of threads, within its memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include <spillway/engine/memory.hpp>
#include "graph/arc_collector.hpp"
#include "graph/csr.hpp"
#include "support.hpp"
#include "zoo.hpp"

namespace spillway {
namespace {

using Triple = std::tuple<Vertex, Vertex, std::uint32_t>;

struct Input {
  std::vector<Vertex>        sources, targets;
  std::vector<std::uint32_t> weights;
};

Input random_input(std::uint64_t seed, Vertex vertices, std::size_t arcs, bool weighted) {
  std::mt19937_64 random{seed};
  Input           input;
  for (std::size_t i = 0; i < arcs; ++i) {
    input.sources.push_back(static_cast<Vertex>(random() % vertices));
    input.targets.push_back(static_cast<Vertex>(random() % vertices));
    if (weighted) input.weights.push_back(static_cast<std::uint32_t>(random() % 4));
  }
  return input;
}

std::vector<Triple> triples(const Graph& graph) {
  std::vector<Triple> list;
  const Csr&          csr = graph.out();
  for (Vertex v = 0; v < graph.vertex_count(); ++v)
    for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i)
      list.emplace_back(v, csr.targets[i], csr.weights.empty() ? 0 : csr.weights[i]);
  return list;
}

/// What the transform means, said in the plainest way: over a sorted list of arcs.
std::vector<Triple> expected(const Input& input, const Transform& transform) {
  std::vector<Triple> list;
  for (std::size_t i = 0; i < input.sources.size(); ++i) {
    const std::uint32_t weight = input.weights.empty() ? 0 : input.weights[i];
    if (transform.drop_loops && input.sources[i] == input.targets[i]) continue;
    list.emplace_back(input.sources[i], input.targets[i], weight);
    if (transform.undirected && input.sources[i] != input.targets[i])
      list.emplace_back(input.targets[i], input.sources[i], weight);
  }
  if (transform.symmetrize) {
    std::map<Triple, std::size_t> count;
    for (const Triple& arc : list) ++count[arc];
    std::map<Triple, std::size_t> both = count;
    for (const auto& [arc, times] : count) {
      auto& reverse = both[{std::get<1>(arc), std::get<0>(arc), std::get<2>(arc)}];
      reverse       = std::max(reverse, times);
    }
    list.clear();
    for (const auto& [arc, times] : both) list.insert(list.end(), times, arc);
  }
  std::sort(list.begin(), list.end());
  if (transform.dedup) {
    const auto same = [](const Triple& a, const Triple& b) {
      return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
    };
    list.erase(std::unique(list.begin(), list.end(), same), list.end());
  }
  return list;
}

class Building : public ::testing::TestWithParam<std::tuple<int, bool, int>> {};

TEST_P(Building, GivesTheArcsThatWentIn) {
  const auto [bits, weighted, threads] = GetParam();
  LoadOptions options;
  options.threads              = threads;
  options.transform.undirected = (bits & 1) != 0;
  options.transform.symmetrize = (bits & 2) != 0;
  options.transform.dedup      = (bits & 4) != 0;
  options.transform.drop_loops = (bits & 8) != 0;
  // Few vertices give many duplicates; 100,000 span several buckets.
  for (const Vertex vertices : {1u, 7u, 100'000u}) {
    const Input input = random_input(static_cast<std::uint64_t>(bits) + vertices, vertices, 5000, weighted);
    const Graph graph = from_arcs(input.sources, input.targets, input.weights,
                                  weighted ? WeightType::u32 : WeightType::none, vertices, options);
    EXPECT_EQ(graph.vertex_count(), vertices);
    EXPECT_EQ(triples(graph), expected(input, options.transform));
    EXPECT_EQ(graph.symmetric(), options.transform.undirected || options.transform.symmetrize);
  }
}

INSTANTIATE_TEST_SUITE_P(Transforms, Building,
                         ::testing::Combine(::testing::Range(0, 16), ::testing::Bool(), ::testing::Values(1, 3)));

TEST(Building, TransposesBackToItself) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Graph  graph = testing::random_graph(seed);
    BuildContext context{.budget = graph.budget(), .transform = {}, .threads = 2};
    const Csr    back = transposed(graph.in(), graph.weight_type(), context);
    const Csr&   out  = graph.out();
    EXPECT_TRUE(std::ranges::equal(back.offsets.span(), out.offsets.span()));
    EXPECT_TRUE(std::ranges::equal(back.targets.span(), out.targets.span()));
    EXPECT_TRUE(std::ranges::equal(back.weights.span(), out.weights.span()));
  }
}

TEST(Building, SortsAHubThatIsTooLargeForTheRadixSort) {
  // One row with all arcs, in falling order: more than the scratch space of a bucket, so sorted in place.
  constexpr Vertex    count = 12'000'000;
  std::vector<Vertex> sources(count, 0), targets(count);
  for (Vertex i = 0; i < count; ++i) targets[i] = count - 1 - i;
  const Graph graph = from_arcs(sources, targets, {}, WeightType::none, count);
  const auto  row   = graph.out().neighbors(0);
  ASSERT_EQ(row.size(), count);
  EXPECT_TRUE(std::is_sorted(row.begin(), row.end()));
}

TEST(Building, HoldsLittleMoreThanTheResult) {
  // Many threads share the arcs into many small blocks; a weight makes both sides larger.
  for (const bool weighted : {false, true}) {
    const Input input = random_input(3, 1u << 20, 16u << 20, weighted);
    for (const int threads : {1, 2, 16}) {
      LoadOptions options;
      options.threads    = threads;
      const Graph  graph = from_arcs(input.sources, input.targets, input.weights,
                                    weighted ? WeightType::u32 : WeightType::none, 0, options);
      const double ratio =
          static_cast<double>(graph.report().peak_bytes) / static_cast<double>(graph.out().bytes());
      EXPECT_LT(ratio, 2.2) << threads << " threads";
      EXPECT_GT(ratio, 1.0) << "the peak cannot be below the result: the count is wrong";
    }
  }
}

TEST(Building, RefusesWhatTheBudgetCannotHold) {
  const Input input = random_input(3, 1000, 1'000'000, false);
  LoadOptions options;
  options.host_memory = 2u << 20;
  const auto [code, message] =
      testing::failure_of([&] { from_arcs(input.sources, input.targets, {}, WeightType::none, 0, options); });
  EXPECT_EQ(code, ExitCode::does_not_fit);
  EXPECT_NE(message.find("--host-memory"), std::string::npos) << message;
}

TEST(Building, GivesEverythingBackWhenItFails) {
  const Input input = random_input(5, 1u << 18, 4u << 20, false);
  LoadOptions options;
  options.threads = 2;
  options.host_memory =
      from_arcs(input.sources, input.targets, {}, WeightType::none, 0, options).report().peak_bytes + (2u << 20);
  const Graph graph = from_arcs(input.sources, input.targets, {}, WeightType::none, 0, options);
  const auto  held  = graph.budget()->used();
  EXPECT_EQ(testing::failure_of([&] { graph.in(); }).first, ExitCode::does_not_fit);
  EXPECT_EQ(graph.budget()->used(), held);
}

TEST(Building, MakesInEdgesOnceForManyThreads) {
  const Graph              graph = testing::random_graph(11);
  std::vector<std::thread> threads;
  std::vector<const Csr*>  seen(8);
  for (std::size_t i = 0; i < seen.size(); ++i)
    threads.emplace_back([&, i] {
      (void)graph.has_in();
      seen[i] = &graph.in();
    });
  for (auto& thread : threads) thread.join();
  for (const Csr* each : seen) EXPECT_EQ(each->arc_count(), graph.arc_count());
}

TEST(Building, RefusesWeightsThatAreNotFinite) {
  const std::vector<Vertex>        ends{0};
  const std::vector<std::uint32_t> infinite{0x7F800000u};
  EXPECT_EQ(testing::failure_of([&] { from_arcs(ends, ends, infinite, WeightType::f32); }).first,
            ExitCode::bad_input);
}

TEST(Building, TakesCsrArraysInPlaceAndSortsOthers) {
  const std::vector<EdgeIndex> offsets{0, 2, 3};
  const std::vector<Vertex>    sorted{0, 1, 0}, unsorted{1, 0, 0};
  EXPECT_EQ(from_csr(offsets, sorted).out().targets.data(), sorted.data()) << "a sorted graph is not copied";
  EXPECT_EQ(triples(from_csr(offsets, unsorted)), triples(from_csr(offsets, sorted)));
}

TEST(Building, RefusesCsrArraysThatPointOutside) {
  const std::vector<EdgeIndex> good{0, 1, 2}, falling{0, 2, 1}, late{1, 1, 2}, beyond{0, 1, 9};
  const std::vector<Vertex>    targets{0, 1}, far{0, 2};
  for (const auto& offsets : {falling, late, beyond})
    EXPECT_EQ(testing::failure_of([&] { from_csr(offsets, targets); }).first, ExitCode::bad_input);
  EXPECT_EQ(testing::failure_of([&] { from_csr(good, far); }).first, ExitCode::bad_input);
  EXPECT_EQ(testing::failure_of([&] { from_csr({}, {}); }).first, ExitCode::usage);
}

TEST(Budget, CountsPeakAndGivesBack) {
  const auto budget = std::make_shared<MemoryBudget>(10u << 20);
  {
    const Buffer<char> a{4u << 20, budget, "a"};
    const Buffer<char> b{4u << 20, budget, "b"};
    EXPECT_EQ(budget->used(), 8u << 20);
    EXPECT_EQ(testing::failure_of([&] { Buffer<char>(4u << 20, budget, "c"); }).first, ExitCode::does_not_fit);
  }
  EXPECT_EQ(budget->used(), 0u);
  EXPECT_EQ(budget->peak(), 8u << 20);
}

TEST(Statistics, CountWhatIsThere) {
  // 0->0, 0->1 twice, 1->2; 3 and 4 alone.
  const Graph graph =
      from_arcs(std::vector<Vertex>{0, 0, 0, 1}, std::vector<Vertex>{0, 1, 1, 2}, {}, WeightType::none, 5);
  const GraphStatistics counts = statistics(graph, 2, Progress::none());
  EXPECT_EQ(counts.loops, 1u);
  EXPECT_EQ(counts.duplicates, 1u);
  EXPECT_EQ(counts.sinks, 3u);
  EXPECT_EQ(counts.isolated, 2u);
  EXPECT_EQ(counts.max_degree, 3u);
  EXPECT_EQ(counts.max_degree_vertex, 0u);
  EXPECT_EQ(counts.degree_bins[0], 3u);
  EXPECT_EQ(counts.degree_bins[1], 1u);
  EXPECT_EQ(counts.degree_bins[2], 1u);
}

TEST(Attachments, AreKeptForEachDevice) {
  struct Held : Graph::Attachment {
    explicit Held(int& count) : alive(count) { ++alive; }
    ~Held() override { --alive; }
    int& alive;
  };
  int alive = 0;
  {
    const Graph graph;
    EXPECT_EQ(graph.attachment("cuda:0"), nullptr);
    graph.attach("cuda:0", std::make_shared<Held>(alive));
    graph.attach("cuda:1", std::make_shared<Held>(alive));
    EXPECT_NE(graph.attachment("cuda:0"), nullptr) << "another device has its own";
    EXPECT_NE(graph.attachment("cuda:0"), graph.attachment("cuda:1"));
    graph.attach("cuda:0", nullptr);
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0) << "they go with the graph";
}

}  // namespace
}  // namespace spillway
