// Edges that come to a device in windows: what is sent, and when. That answers are right is the matrix's business;
// here are the sizes and the branches, on the CPU and on GPUs.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "algorithms/trying.hpp"
#include "ways.hpp"
#if defined(SPILLWAY_TEST_ON_GPU)
#include "devices/devices.hpp"
#endif

#include <spillway/algorithms.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

#if defined(SPILLWAY_TEST_ON_GPU)
const DeviceKind device = cuda_kind();
#else
const DeviceKind device = cpu_kind();
#endif

class Windows : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(SPILLWAY_TEST_ON_GPU)
    if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
#endif
  }

  static RunOptions in_windows(Method method, std::uint64_t resident, std::uint64_t window) {
    RunOptions options{.device = {.kind = device}, .method = method};
    options.supply = {.resident = resident, .async = Async::off, .window = window};
    return options;
  }

  static RunStatistics ask(const std::string& name, const Graph& graph, const RunOptions& options) {
    const Algorithm&      algorithm = algorithm_named(name);
    const ParameterValues values    = testing::filled(algorithm, graph, {}).value();
    const Result          result    = algorithm.run(graph, values, options);
    EXPECT_EQ(algorithm.verify(graph, values, result, {}).problem, "") << name;
    EXPECT_EQ(result.statistics.method, options.method->name) << name;
    return result.statistics;
  }

  static std::uint64_t edge_bytes(const Graph& graph) { return graph.arc_count() * sizeof(Vertex); }

  const Graph kron = generate("kron", {{"scale", "9"}});
  const Graph grid = generate("grid", {{"rows", "30"}, {"columns", "30"}});
};

TEST_F(Windows, AreGatheredFromFewAndWholeForMany) {
  RunOptions way                 = in_windows(method_named("subgraph"), 0, 4096);
  way.supply.rates               = Rates{};  // whatever others do to the bus meanwhile
  const RunStatistics statistics = ask("sssp", with_unit_weights(kron), way);
  bool                gathered = false, whole = false;  // of single parts, too
  for (const IterationStatistics& iteration : statistics.per_iteration) {
    const std::uint64_t active = iteration.active_edges * 2 * sizeof(Vertex);
    gathered |= iteration.transfer == std::string{"gathered"};
    whole |= iteration.transfer == std::string{"whole"} || iteration.transfer == std::string{"mixed"};
    if (iteration.transfer == std::string{"gathered"}) {
      EXPECT_LE(iteration.bytes_sent, active);
      if (!whole) {
        EXPECT_EQ(iteration.bytes_sent, active) << "no slot holds anything yet";
      }
    }
    EXPECT_LE(iteration.bytes_sent, 2 * edge_bytes(kron)) << "more than all";
  }
  EXPECT_TRUE(gathered && whole);
}

/// Where one way costs next to nothing, all goes that way.
TEST_F(Windows, ComeInTheWayThatTakesLeast) {
  constexpr double fast = 1e18, slow = 1e6;
  const Rates      none{slow, slow, slow, slow, slow, 0};
  const auto       transfer = [&](const Rates& rates) {
    RunOptions options   = in_windows(method_named("mixed"), 0, 4096);
    options.supply.rates = rates;
    return ask("sssp", with_unit_weights(kron), options);
  };
  Rates sent = none, gathered = none, read = none;
  sent.sent         = fast;
  gathered.gathered = gathered.gathered_chunks = fast;
  read.read = read.read_chunks = fast;
  for (const auto& [rates, how] :
       {std::pair{sent, "whole"}, std::pair{gathered, "gathered"}, std::pair{read, "in place"}}) {
    const RunStatistics statistics = transfer(rates);
    EXPECT_GT(statistics.iterations, 2u);
    for (const IterationStatistics& iteration : statistics.per_iteration)
      if (iteration.active_edges > 0) {
        const bool kept = iteration.transfer == std::string{"kept"};  // of what was sent whole before
        EXPECT_EQ(kept ? "whole" : iteration.transfer, std::string{how});
        EXPECT_FALSE(kept && iteration.bytes_sent > 0);
      }
    EXPECT_EQ(statistics.bytes_sent == 0, how == std::string{"in place"}) << how;
  }
  const RunStatistics   some = transfer(testing::balanced());
  std::set<std::string> ways;
  for (const IterationStatistics& iteration : some.per_iteration) ways.insert(iteration.transfer);
  EXPECT_GT(ways.size(), 1u) << *ways.begin();
#if defined(SPILLWAY_TEST_ON_GPU)  // where some iterations never ask the host
  EXPECT_GT(some.counters.handed_over, 0u);
  EXPECT_LT(some.counters.handed_over, some.iterations);
#endif
}

/// Parts that are wanted whole are sent beside parts of which little is gathered or read.
TEST_F(Windows, ComeInSeveralWaysAtOnce) {
  RunOptions options                = in_windows(method_named("mixed"), 512, 256);
  options.supply.chunk              = 16;
  options.supply.rates              = testing::balanced();
  options.supply.rates->read_chunks = 4e7;  // of five edges and more
  const RunStatistics statistics    = ask("sssp", with_unit_weights(kron), options);
  const auto          is_mixed = [](const IterationStatistics& i) { return i.transfer == std::string{"mixed"}; };
  EXPECT_TRUE(std::ranges::any_of(statistics.per_iteration, is_mixed));
  std::uint64_t sent = 0;
  for (const IterationStatistics& iteration : statistics.per_iteration) {
    sent += iteration.bytes_sent;
    EXPECT_LE(iteration.bytes_sent, 2 * edge_bytes(kron)) << "more than all";
    if (is_mixed(iteration)) {
      EXPECT_GT(iteration.predicted_ms, 0);
    }
  }
  EXPECT_EQ(sent, statistics.bytes_sent);
  EXPECT_GT(statistics.bytes_read, 0u);
  EXPECT_GT(statistics.bytes_sent, 0u);
}

/// What is there is not thrown out for others before its turn: no more is sent than was reckoned with.
TEST_F(Windows, SendWhatWasReckonedWith) {
  for (const Async async : {Async::off, Async::on})
    for (const char* name : {"bfs", "sssp", "cc"})
      for (const Graph& graph : {kron, grid}) {
        SCOPED_TRACE(std::string{name} + (async == Async::on ? " asynchronously" : ""));
        const bool walks_both_ways = std::string_view{name} == "cc";
        if (walks_both_ways && async == Async::on) continue;
        RunOptions options              = in_windows(method_named("partitions"), 600, 400);
        options.supply.async            = async;
        options.supply.rates            = testing::balanced();
        const Algorithm&      algorithm = algorithm_named(name);
        const ParameterValues given     = testing::filled(algorithm, with_unit_weights(graph), {}).value();
        const Result          result    = algorithm.run(with_unit_weights(graph), given, options);
        EXPECT_GT(result.statistics.bytes_sent, 0u);
        for (const IterationStatistics& iteration : result.statistics.per_iteration) {
          EXPECT_NEAR(iteration.predicted_ms,
                      static_cast<double>(iteration.bytes_sent) * 1e3 / options.supply.rates->sent, 1e-9);
          EXPECT_NE(iteration.transfer, std::string{"mixed"});
        }
      }
}

/// However little the host is told of and gathers at once.
TEST_F(Windows, AreGatheredInTurns) {
  RunOptions          options = in_windows(method_named("subgraph"), 0, 4096);
  const RunStatistics usual   = ask("sssp", with_unit_weights(kron), options);
  for (const unsigned told : {0u, 1u, 5u, 1000u})
    for (const std::uint64_t staged : {1u, 40u, 1000u}) {
      options.supply.descriptors = told, options.supply.staged = staged;
      EXPECT_EQ(ask("sssp", with_unit_weights(kron), options).bytes_sent, usual.bytes_sent)
          << told << " " << staged;
    }
}

/// Without a budget of its own, or with a large one, the arena keeps to the host's.
TEST_F(Windows, FitTheHostsMemory) {
  if (device != cpu_kind()) GTEST_SKIP() << "a GPU has memory of its own";
  const Graph   small  = generate("kron", {{"scale", "12"}});
  MemoryBudget& budget = *small.budget();
  Charge        others{small.budget(), "others"};
  others.raise_to(budget.limit() - budget.used() - 3 * edge_bytes(small));
  for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{1} << 40})
    ask("bfs", small,
        RunOptions{.device = {.kind = device, .memory = memory}, .method = method_named("subgraph")});
}

TEST_F(Windows, OfSeveralWaysAreNotAsynchronous) {
  RunOptions options   = in_windows(method_named("mixed"), 0, 0);
  options.supply.async = Async::on;
  EXPECT_THROW(ask("bfs", kron, options), Error);
}

TEST_F(Windows, SendNothingWhereAllIsThere) {
  const RunStatistics statistics =
      ask("bfs", kron, in_windows(method_named("subgraph"), 3 * 256 + edge_bytes(kron) + 4096, 256));
  EXPECT_EQ(statistics.bytes_sent, 0u);
  EXPECT_EQ(statistics.edges_resident, edge_bytes(kron));
}

/// All is there, and the last part is shorter than the others: it is summed up once.
TEST_F(Windows, OfWhichTheLastIsShortAreVisitedOnce) {
  for (const Method method : {method_named("subgraph"), method_named("partitions"), method_named("mixed")})
    for (const std::uint64_t window : {std::uint64_t{256}, edge_bytes(kron) / 3, 2 * edge_bytes(kron)})
      for (const char* name : {"pagerank", "ssnsp", "bc"}) {
        SCOPED_TRACE(std::string{name} + " " + std::string{method->name} + " " + std::to_string(window));
        const auto statistics = ask(name, kron, in_windows(method, 16 * edge_bytes(kron), window));
        EXPECT_EQ(statistics.bytes_sent, 0u);
      }
}

/// What came last is visited first, and need not come again.
TEST_F(Windows, SendWhatIsNotThereOnce) {
  constexpr std::uint64_t window = 1024, slots = 3;
  const auto              statistics =
      ask("pagerank", kron, in_windows(method_named("partitions"), edge_bytes(kron) / 2, window));
  EXPECT_GT(statistics.edges_resident, edge_bytes(kron) / 4);
  const std::uint64_t outside = edge_bytes(kron) - statistics.edges_resident;
  const std::uint64_t rest = outside % window, with_the_last = (slots - 1) * window + (rest ? rest : window);
  ASSERT_GT(statistics.iterations, 3u);
  for (std::size_t i = 0; i < statistics.per_iteration.size(); ++i) {
    const std::uint64_t there = i == 0 ? 0 : i % 2 == 1 ? with_the_last : slots * window;
    EXPECT_EQ(statistics.per_iteration[i].bytes_sent, outside - there) << i;
  }
}

/// The side of edges that came last is the first one in the next iteration.
TEST_F(Windows, OfTwoSidesAreNotAllSentAgain) {
  const Algorithm& algorithm = algorithm_named("cc");
  ParameterValues  values    = completed_parameters(algorithm, {{"form", "propagate"}});
  const RunOptions options   = in_windows(method_named("partitions"), 0, edge_bytes(kron) / 2);
  const Result     result    = algorithm.run(kron, values, options);
  EXPECT_EQ(algorithm.verify(kron, values, result, {}).problem, "");
  ASSERT_GT(result.statistics.per_iteration.size(), 1u);
  EXPECT_EQ(result.statistics.per_iteration[0].bytes_sent, 2 * edge_bytes(kron));
  EXPECT_LE(result.statistics.per_iteration[1].bytes_sent, edge_bytes(kron) + sizeof(Vertex));
}

/// What was sent whole is there for the next iteration, until something else comes.
TEST_F(Windows, ThatAreThereAreNotSentAgain) {
  constexpr double fast = 1e18, slow = 1e6;
  RunOptions       options       = in_windows(method_named("mixed"), 0, 2 * edge_bytes(kron));
  options.supply.rates           = Rates{fast, slow, slow, slow, slow, 0};
  const RunStatistics statistics = ask("sssp", with_unit_weights(kron), options);
  EXPECT_GT(statistics.iterations, 2u);
  EXPECT_EQ(statistics.bytes_sent, 2 * edge_bytes(kron)) << "one window holds all";
}

TEST_F(Windows, OfAllPartitionsAreMoreThanOfActiveOnes) {
  RunOptions options       = in_windows(method_named("partitions"), 0, 512);
  const auto tracked       = ask("bfs", grid, options);
  options.supply.all_parts = true;
  const auto all           = ask("bfs", grid, options);
  EXPECT_EQ(all.bytes_sent, all.iterations * edge_bytes(grid));
  EXPECT_LT(tracked.bytes_sent, all.bytes_sent / 2);
}

/// A chain of so many parallel arcs at each step, with loops, and its end: a neighbour of the source that leads to
/// every so-many-th vertex of the chain.
Graph chain_with_shortcuts(Vertex length, unsigned parallel, Vertex every) {
  std::vector<Vertex> sources, targets;
  const auto          add = [&](Vertex from, Vertex to, unsigned times) {
    sources.insert(sources.end(), times, from);
    targets.insert(targets.end(), times, to);
  };
  const Vertex end = length + 1;
  for (Vertex v = 0; v < length; ++v) add(v, v + 1, parallel), add(v, v, 1);
  add(0, end, 1);
  for (Vertex v = every; v <= length; v += every) add(end, v, 1);
  return from_arcs(sources, targets);
}

/// The chain is walked before the window with the shortcuts comes: what was counted on the way does not count.
TEST_F(Windows, SupersedePathsThatAreTooLong) {
  for (const Method method : {method_named("subgraph"), method_named("partitions")})
    for (const unsigned parallel : {1u, 2u, 5u})
      for (const std::uint64_t window : {64u, 256u, 1024u}) {
        SCOPED_TRACE(std::string{method->name} + " " + std::to_string(parallel) + " " + std::to_string(window));
        const Graph graph              = chain_with_shortcuts(60, parallel, 7);
        RunOptions  options            = in_windows(method, 0, window);
        options.supply.async           = Async::on;
        const RunStatistics statistics = ask("ssnsp", graph, options);
        EXPECT_GT(statistics.counters.local_rounds, 0u);
        if (window == 256) {  // smaller ones have little of the chain, larger ones all at once
          EXPECT_GT(statistics.edges_processed, graph.arc_count()) << "nothing was counted twice";
        }
      }
}

/// 2^1200 of them, which a double cannot hold, along a way that is not the shortest.
TEST_F(Windows, SupersedePathsBeyondNumber) {
  constexpr Vertex   length   = 200;
  constexpr unsigned parallel = 64;
  RunOptions         options = in_windows(method_named("partitions"), 0, (parallel + 1) * length * sizeof(Vertex));
  options.supply.async       = Async::on;
  EXPECT_GT(ask("ssnsp", chain_with_shortcuts(length, parallel, 1), options).counters.local_rounds, length / 2);
}

/// A row of many windows: each has a part of it.
TEST_F(Windows, ShareOutAHub) {
  std::vector<Vertex> hub(1000, 0), leaves(1000);
  std::iota(leaves.begin(), leaves.end(), 1);
  const Graph star = from_arcs(hub, leaves, {}, WeightType::none, 1001, {.transform = {.undirected = true}});
  for (const Method method : {method_named("subgraph"), method_named("partitions")}) {
    const RunStatistics statistics = ask("bfs", star, in_windows(method, 0, 64));
    EXPECT_GE(statistics.per_iteration.front().windows, 1000u / 16) << method->name;
  }
}

TEST_F(Windows, TakeFewerRoundsAsynchronously) {
  RunOptions options      = in_windows(method_named("subgraph"), 4096, 0);
  const auto one_by_one   = ask("bfs", grid, options);
  options.supply.async    = Async::on;
  const auto as_they_come = ask("bfs", grid, options);
  EXPECT_EQ(one_by_one.counters.local_rounds, 0u);
  EXPECT_GT(as_they_come.counters.local_rounds, 0u);
  EXPECT_LT(as_they_come.iterations, one_by_one.iterations / 2);
}

/// Every path as short as it gets before others go on from it: the work of buckets over all edges, whether one
/// window has all of them or each has some. Without buckets it is four times as much.
TEST_F(Windows, SettleInBucketsAsynchronously) {
  const Graph roads = with_random_weights(generate("grid", {{"rows", "60"}, {"columns", "60"}}), 3);
  const auto  work  = [&](const char* delta, const RunOptions& options) {
    const Algorithm& algorithm = algorithm_named("sssp");
    ParameterValues  values    = testing::filled(algorithm, roads, {}).value();
    values["delta"]            = delta;
    const Result result        = algorithm.run(roads, values, options);
    EXPECT_EQ(algorithm.verify(roads, values, result, {}).problem, "");
    return result.statistics.edges_processed;
  };
  // Buckets within a window are 32 times as wide.
  const std::uint64_t all_there = work("96", {.device = {.kind = device}, .method = method_named("frontier")});
  const std::uint64_t bytes     = 2 * edge_bytes(roads);
  for (const Method method : {method_named("subgraph"), method_named("partitions")})
    for (const auto& [resident, window] : {std::pair{std::uint64_t{0}, bytes}, std::pair{4 * bytes, bytes},
                                           std::pair{std::uint64_t{0}, bytes / 4}, std::pair{bytes, bytes / 4}}) {
      SCOPED_TRACE(std::string{method->name} + ", " + std::to_string(resident) + ", " + std::to_string(window));
      RunOptions options   = in_windows(method, resident, window);
      options.supply.async = Async::on;
      EXPECT_LE(work("3", options), all_there * 5 / 4);
    }
}

/// Rows of many chunks go on inside a window, too: each hub is reached through a leaf of the one before.
TEST_F(Windows, RunLongRowsAgain) {
  constexpr Vertex    hubs = 8, leaves = 40;
  std::vector<Vertex> from, to;
  for (Vertex hub = 0; hub < hubs; ++hub)
    for (Vertex leaf = 0; leaf < leaves; ++leaf) {
      from.push_back(hub), to.push_back(hubs + hub * leaves + leaf);
      if (leaf == leaves / 2 && hub + 1 < hubs) from.push_back(to.back()), to.push_back(hub + 1);
    }
  const Graph graph = from_arcs(from, to, {}, WeightType::none, hubs + hubs * leaves, {});
  for (const std::uint64_t hub_degree : {5u, 1000u})
    for (const std::uint64_t resident : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
      RunOptions options        = in_windows(method_named("subgraph"), resident, 2 * edge_bytes(graph));
      options.supply.chunk      = 4;
      options.supply.async      = Async::on;
      options.cuda.large_degree = 5, options.cuda.hub_degree = hub_degree;
      const RunStatistics statistics = ask("bfs", graph, options);
      EXPECT_LE(statistics.iterations, 2u) << hub_degree << ", " << resident;  // leaves have no row anywhere
      EXPECT_GE(statistics.counters.local_rounds, 2u * hubs - 1);
    }
}

/// What stays is visited to its fixed point before anything is sent, and once more after that.
TEST_F(Windows, KeepSomeAsynchronously) {
  RunOptions options               = in_windows(method_named("partitions"), 0, 512);
  options.supply.async             = Async::on;
  const auto              all_sent = ask("bfs", grid, options);
  constexpr std::uint64_t beside   = 2 * 512 + 1024;  // slots, and where windows begin
  options.supply.resident          = edge_bytes(grid) / 2 + beside;
  const auto half_sent             = ask("bfs", grid, options);
  options.supply.resident          = edge_bytes(grid) + beside;
  const auto nothing_sent          = ask("bfs", grid, options);
  EXPECT_EQ(all_sent.edges_resident, 0u);
  EXPECT_GT(half_sent.edges_resident, edge_bytes(grid) / 2 - 512);
  EXPECT_LT(half_sent.bytes_sent, all_sent.bytes_sent * 2 / 3);
  EXPECT_EQ(nothing_sent.edges_resident, edge_bytes(grid));
  EXPECT_EQ(nothing_sent.bytes_sent, 0u);
  EXPECT_EQ(nothing_sent.iterations, 1u);
}

/// Programs that improve values and ones that add up, over rows of several chunks and of several windows, with
/// nothing, some and all on the device.
TEST_F(Windows, AnswerRightlyAsynchronously) {
#if defined(SPILLWAY_EMULATED)  // which takes its time
  const Graph directed = generate("kron", {{"scale", "5"}}),
              road     = generate("grid", {{"rows", "7"}, {"columns", "6"}});
  const std::vector<std::pair<unsigned, unsigned>> sizes{{0, 128}, {300, 128}};
  std::size_t                                      turn = testing::seed();
#else
  const Graph                                      directed = kron, road = grid;
  const std::vector<std::pair<unsigned, unsigned>> sizes{{0, 128}, {1500, 128}, {0, 1000}, {1u << 30, 1000}};
#endif
  const std::vector<std::pair<const char*, ParameterValues>> programs{{"bfs", {}},
                                                                      {"sssp", {}},
                                                                      {"sssp", {{"delta", "9"}}},
                                                                      {"sswp", {}},
                                                                      {"cc", {{"form", "propagate"}}},
                                                                      {"pagerank", {{"form", "residual"}}},
                                                                      {"ppr", {{"form", "residual"}}}};
  for (const auto& [name, given] : programs)
    for (const Graph& graph : {with_random_weights(directed, 5), with_random_weights(road, 6)})
      for (const Method method : {method_named("subgraph"), method_named("partitions")})
        for (const auto& [resident, window] : sizes) {
          if (name == std::string{"cc"} && !graph.symmetric()) continue;  // walks both ways
#if defined(SPILLWAY_EMULATED)
          if (++turn % 3 != 0 && !testing::full_matrix()) continue;
#endif
          RunOptions options   = in_windows(method, resident, window);
          options.supply.async = Async::on;
          options.supply.chunk = 3;
          options.cuda         = testing::on_gpu(Filter::just_in_time, Fusion::all, true);
          SCOPED_TRACE(std::string{name} + " " + std::string{method->name} + ", " + std::to_string(resident) +
                       ", " + std::to_string(window));
          const Algorithm&      algorithm = algorithm_named(name);
          const ParameterValues values    = testing::filled(algorithm, graph, given).value();
          const Result          result    = algorithm.run(graph, values, options);
          for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
            EXPECT_EQ(algorithm.verify(graph, values, result, {.by = by}).problem, "");
          EXPECT_GT(result.statistics.counters.local_rounds, 0u);
          EXPECT_LE(result.statistics.edges_resident, resident);
        }
}

TEST_F(Windows, StayWithinTheBudget) {
  for (const Method method : {method_named("subgraph"), method_named("partitions"), method_named("mixed")})
    for (const char* name : {"bfs", "pagerank", "kcore"})
      for (const std::uint64_t memory : {4u << 20, 1u << 20, 300'000u, 100'000u, 30'000u, 1000u}) {
        SCOPED_TRACE(std::string{name} + " " + std::string{method->name} + " " + std::to_string(memory));
        RunOptions options    = in_windows(method, 1u << 30, 0);
        options.device.memory = memory;
        options.supply.rates  = testing::balanced();
        try {
          EXPECT_LE(ask(name, kron, options).device_bytes, memory);
          EXPECT_GT(memory, 1000u) << "less than the state";
        } catch (const Error& error) {
          EXPECT_LT(memory, 4u << 20) << error.what();
          EXPECT_EQ(error.code(), ExitCode::does_not_fit) << error.what();
          EXPECT_NE(std::string{error.what()}.find("--device-memory"), std::string::npos) << error.what();
        }
      }
}

/// What stays is not to make windows so small that there are millions of them.
TEST_F(Windows, AreNotTinyWhereLittleStays) {
  RunOptions options = in_windows(method_named("partitions"), 64, 0);
  EXPECT_LE(ask("bfs", kron, options).per_iteration.front().windows, 2u);
}

/// Half of the edges, a fiftieth, and as few as there can be: the same levels.
TEST_F(Windows, MayBeFewOrMany) {
  for (const std::uint64_t edges :
       {kron.arc_count(), kron.arc_count() / 2 + 1, kron.arc_count() / 50, EdgeIndex{16}}) {
    RunOptions options       = in_windows(method_named("partitions"), 0, edges * sizeof(Vertex));
    options.supply.all_parts = true;
    const auto windows       = ask("bfs", kron, options).per_iteration.front().windows;
    EXPECT_EQ(windows, (kron.arc_count() + edges - 1) / edges) << edges;
  }
}

TEST_F(Windows, AreNotNeededWhereNobodyIsActive) {
  const Graph apart = from_arcs(std::vector<Vertex>{1}, std::vector<Vertex>{2}, {}, WeightType::none, 4, {});
  const RunStatistics statistics = ask("bfs", apart, in_windows(method_named("subgraph"), 0, 0));
  EXPECT_EQ(statistics.bytes_sent, 0u) << "vertex 0 has no edges";
  const Graph none = from_arcs(std::vector<Vertex>{}, std::vector<Vertex>{}, {}, WeightType::none, 3, {});
  EXPECT_EQ(ask("pagerank", none, in_windows(method_named("partitions"), 0, 0)).bytes_sent, 0u);
}

#if defined(SPILLWAY_TEST_ON_GPU)
TEST_F(Windows, OfCompressedEdgesAreFewerBytes) {
  RunOptions          options = in_windows(method_named("partitions"), 0, 2048);
  const RunStatistics plain   = ask("pagerank", kron, options);
  options.supply.compress     = Compress::on;
  const RunStatistics fewer   = ask("pagerank", kron, options);
  EXPECT_TRUE(fewer.compressed);
  EXPECT_FALSE(plain.compressed);
  EXPECT_GT(fewer.per_iteration.front().windows, 2u);
  EXPECT_LT(fewer.per_iteration.front().bytes_sent, plain.per_iteration.front().bytes_sent * 3 / 4);
  EXPECT_EQ(fewer.per_iteration.size(), plain.per_iteration.size());
}

/// Rows in another order, with weights, pushed and pulled, all of them, some and none on the device.
TEST_F(Windows, OfCompressedEdgesAnswerRightly) {
#if defined(SPILLWAY_EMULATED)  // which takes its time
  const char* scale = "6";
#else
  const char* scale = "8";
#endif
  const Graph directed = with_random_weights(generate("kron", {{"scale", scale}}), 3);
  for (const char* name : {"bfs", "sssp", "sswp", "kcore", "bc", "ppr", "radius"})
    for (const std::uint64_t resident : {0u, 800u, 1u << 30})
      for (const std::uint64_t window : {64u, 1000u, 0u}) {
        SCOPED_TRACE(std::string{name} + " " + std::to_string(resident) + " " + std::to_string(window));
        RunOptions options      = in_windows(method_named("partitions"), resident, window);
        options.supply.compress = Compress::on;
        const auto statistics   = ask(name, directed, options);
        EXPECT_TRUE(statistics.compressed);
        EXPECT_LE(statistics.edges_resident, resident);
      }
}

TEST_F(Windows, OfCompressedEdgesStayWithinTheBudget) {
  for (const std::uint64_t memory : {4u << 20, 1u << 20, 300'000u, 100'000u, 30'000u}) {
    RunOptions options      = in_windows(method_named("partitions"), 1u << 30, 0);
    options.device.memory   = memory;
    options.supply.compress = Compress::on;
    try {
      EXPECT_LE(ask("pagerank", kron, options).device_bytes, memory);
    } catch (const Error& error) {
      EXPECT_LT(memory, 4u << 20) << error.what();
      EXPECT_EQ(error.code(), ExitCode::does_not_fit) << error.what();
    }
  }
}
#endif

TEST_F(Windows, AreRefusedWhereTheyCannotAnswerRightly) {
  RunOptions options     = in_windows(method_named("subgraph"), 0, 0);
  options.deterministic  = true;
  const Algorithm& ranks = algorithm_named("pagerank");
  EXPECT_THROW(ranks.run(kron, completed_parameters(ranks, {}), options), Error);
  options.deterministic = false;
  options.supply.async  = Async::on;
  const Algorithm& core = algorithm_named("kcore");
  EXPECT_THROW(core.run(kron, completed_parameters(core, {}), options), Error);
  options.supply.async    = Async::off;
  options.supply.compress = Compress::on;
  EXPECT_THROW(core.run(kron, completed_parameters(core, {}), options), Error)
      << "compressed rows are not gathered";
}

}  // namespace
}  // namespace spillway
