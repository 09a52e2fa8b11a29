// That the matrix reaches every branch of the GPU engine: its own counters say so. And a small set of runs that
// the sanitizers can watch in a short time.
#include <gtest/gtest.h>

#include <set>

#include "algorithms/programs/path_counts.hpp"
#include "algorithms/trying.hpp"
#include "devices/devices.hpp"
#include "ways.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/engine/stopwatch.hpp>
#include <spillway/generate.hpp>
#include <spillway/run.hpp>
#include <spillway/trace.hpp>

namespace spillway {
namespace {

class GpuBranches : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  }

  static Result ask(const std::string& name, const Graph& given, const RunOptions& way) {
    const Algorithm& algorithm = algorithm_named(name);
    const Graph      graph     = testing::with_weights_for(algorithm, given);
    return algorithm.run(graph, testing::filled(algorithm, graph, {}).value(), way);
  }

  static Graph both_ways(const char* name, const ParameterValues& values) {
    return generate(name, values, {.transform = {.undirected = true, .dedup = true}});
  }

#if defined(SPILLWAY_EMULATED)  // which takes its time
  const Graph kron = generate("kron", {{ "scale", "7" }});
  const Graph grid = generate("grid", {{"rows", "12"}, { "columns", "12" }});
#else
  const Graph kron = generate("kron", {{"scale", "9"}});
  const Graph grid = generate("grid", {{"rows", "30"}, {"columns", "30"}});
#endif
};

/// Edges that stay on the device beside windows stay for the next run, too, unless it is to have others.
TEST_F(GpuBranches, WindowsFindWhatTheLastRunLeft) {
  for (const char* method : {"partitions", "mixed"})
    for (const char* name : {"bfs", "sssp"}) {
      const Algorithm&      algorithm = algorithm_named(name);
      const Graph           graph     = testing::with_weights_for(algorithm, kron);
      const ParameterValues values    = testing::filled(algorithm, graph, {}).value();
      const std::uint64_t   all       = graph.arc_count() * (algorithm.weights == WeightUse::ignored ? 4 : 8);
      RunOptions way{.device = {.kind = cuda_kind()}, .method = method_named(method), .supply = {.window = 512}};
      const auto run = [&](std::uint64_t resident) {
        way.supply.resident   = resident;
        Result        result  = algorithm.run(graph, values, way);
        const Verdict verdict = algorithm.verify(graph, values, result, {});
        EXPECT_EQ(verdict.problem, "") << method << " " << name;
        return result.statistics;
      };
      const auto first = run(all / 2), again = run(all / 2), more = run(all / 4 * 3), none = run(0);
      EXPECT_GT(first.edges_resident, 0u) << method;
      EXPECT_EQ(first.uploaded_bytes, first.edges_resident) << method;
      EXPECT_EQ(again.edges_resident, first.edges_resident) << method;
      EXPECT_EQ(again.uploaded_bytes, 0u) << method;
      EXPECT_GT(more.edges_resident, first.edges_resident) << method;
      EXPECT_EQ(more.uploaded_bytes, more.edges_resident) << method;
      EXPECT_EQ(none.edges_resident, 0u) << method;
      EXPECT_LE(again.device_bytes, first.device_bytes) << method;
    }
}

/// Within a bucket a block goes on with what it found; without room for that the grid meets for every step.
TEST_F(GpuBranches, BlocksGoOnWithinABucket) {
  const Algorithm& algorithm = algorithm_named("sssp");
  const Graph      graph     = testing::with_weights_for(algorithm, grid);
  const auto       went      = [&](const RunOptions& way, const char* parents = "carry") {
    const auto values = completed_parameters(
                   algorithm, {{"source", "0"}, {"delta", "1000000"}, {"parents", parents}});  // all is one bucket
    const Result result = algorithm.run(graph, values, way);
    EXPECT_EQ(algorithm.verify(graph, values, result, {.by = CheckBy::oracle}).problem, "")
        << testing::as_text(way);
    return result.statistics;
  };
  for (const char* parents : {"carry", "search"})
    for (const unsigned queue : {1u, 5u, 256u}) {
      const RunStatistics some = went({.device = {.kind = cuda_kind()}, .cuda = {.bucket_queue = queue}}, parents);
      EXPECT_GT(some.counters.fused_rounds, 0u) << queue;
      if (queue == 256) {
        EXPECT_LT(some.iterations, 8u);
      }
    }
  const RunStatistics none = went({.device = {.kind = cuda_kind()}, .cuda = {.bucket_queue = 0}});
  EXPECT_EQ(none.counters.fused_rounds, 0u);
  EXPECT_GT(none.iterations, 20u);
  // What was pushed again is in the account of its iteration.
  const RunStatistics all    = went({.device = {.kind = cuda_kind()}});
  std::uint64_t       active = 0, edges = 0, looked_at = 0;
  for (const IterationStatistics& each : all.per_iteration)
    active += each.active_vertices, edges += each.active_edges, looked_at += each.edges_processed;
  EXPECT_GE(active, graph.vertex_count());
  EXPECT_EQ(edges, looked_at);
  EXPECT_GE(looked_at, graph.arc_count()) << "every vertex pushes its row once at least";
  // In other launches, and over rows elsewhere.
  std::vector<RunOptions> ways(3, RunOptions{.device = {.kind = cuda_kind()}});
  ways[0].cuda.fusion = Fusion::push_pull;
  ways[1].method = edges_in_place(), ways[1].supply.resident = 200, ways[1].cuda.line_edges = 2;
  ways[2].method = edges_in_place(), ways[2].supply.compress = Compress::on;
  for (const RunOptions& way : ways) EXPECT_GT(went(way).counters.fused_rounds, 0u) << testing::as_text(way);
}

/// Hubs get what they are sent in shared memory, however many of the vertices are hubs; where rows differ by
/// direction, or sums are to be the same in every run, they are pulled as others.
TEST_F(GpuBranches, SumsOfHubsMeetInSharedMemory) {
  const Graph undirected = both_ways("kron", {{"scale", "7"}}), star = both_ways("star", {{"vertices", "300"}});
  const auto  summed = [&](const std::string& name, const Graph& graph, std::optional<unsigned> hubs,
                          bool deterministic = false, CudaTuning tuning = {}) {
    tuning.order = VertexOrder::degree, tuning.hub_sums = hubs;
    const Algorithm& algorithm = algorithm_named(name);
    const auto       values    = testing::filled(algorithm, graph, {}).value();
    const Result     result    = algorithm.run(
                graph, values, {.deterministic = deterministic, .device = {.kind = cuda_kind()}, .cuda = tuning});
    EXPECT_EQ(algorithm.verify(graph, values, result, {.by = CheckBy::oracle}).problem, "") << name;
    EXPECT_EQ(result.statistics.edges_processed % graph.arc_count(), 0u) << "every edge in every iteration";
    return result.statistics.counters.summed_hubs;
  };
  for (const char* name : {"pagerank", "ppr"})
    for (const Graph* graph : {&undirected, &star}) {
      const std::uint64_t all = graph->vertex_count();
      EXPECT_EQ(summed(name, *graph, std::nullopt), all);
      EXPECT_EQ(summed(name, *graph, 64), 64u);
      EXPECT_EQ(summed(name, *graph, 70), 64u) << "whole words of vertices";
      EXPECT_EQ(summed(name, *graph, 20), 0u);
      EXPECT_EQ(summed(name, *graph, 32, false, {.large_degree = 2}), 32u) << "rows that others leave to blocks";
      EXPECT_EQ(summed(name, *graph, 32, false, {.fusion = Fusion::none}), 32u);
      EXPECT_EQ(summed(name, *graph, 0), 0u);
      EXPECT_EQ(summed(name, *graph, std::nullopt, /*deterministic=*/true), 0u);
    }
  EXPECT_EQ(summed("pagerank", kron, std::nullopt), 0u) << "directed";
}

/// Answers may stay where they were made, longer than the graph that was asked.
TEST_F(GpuBranches, AnswersStayThere) {
  for (const char* name : {"bfs", "pagerank", "ppr", "sssp", "degrees"}) {
    const Algorithm&     algorithm = algorithm_named(name);
    std::optional<Graph> graph     = testing::with_weights_for(algorithm, both_ways("kron", {{"scale", "7"}}));
    const auto           values    = testing::filled(algorithm, *graph, {}).value();
    const RunOptions     usual{.device = {.kind = cuda_kind()}, .method = resident_edges()};
    RunOptions           leaving = usual;
    leaving.leave_answer         = true;
    const Result expected        = algorithm.run(*graph, values, usual);
    Result       left            = algorithm.run(*graph, values, leaving);
    const auto   budget          = graph->budget();
    graph.reset();
    ASSERT_EQ(left.columns.size(), expected.columns.size());
    for (std::size_t i = 0; i < left.columns.size(); ++i) {
      Column&    column = left.columns[i];
      const auto size   = [&] {
        return std::visit([](const auto& entries) { return entries.size(); }, column.values);
      };
      EXPECT_EQ(expected.columns[i].on_device, nullptr);
      ASSERT_NE(column.on_device, nullptr) << name << " " << column.name;
      EXPECT_NE(column.on_device->data(), nullptr);
      const std::uint64_t all = column.on_device->size();
      EXPECT_EQ(size(), column.name == "distance" ? all : 0) << "overflow is looked for there";
      fetch(column, budget);
      fetch(column, budget);
      EXPECT_EQ(size(), all);
      EXPECT_EQ(column.on_device, nullptr);
      if (column.name == "parent") continue;  // any of several
      std::visit(
          [&]<class Entry>(const Array<Entry>& entries) {
            const auto& wanted = std::get<Array<Entry>>(expected.columns[i].values);
            for (std::size_t v = 0; v < entries.size(); ++v)
              EXPECT_NEAR(static_cast<double>(entries[v]), static_cast<double>(wanted[v]), 1e-6) << name;
          },
          column.values);
    }
  }
}

/// A path that is longer than the rounds that a block may make: the grid meets in between.
TEST_F(GpuBranches, BlocksDoNotGoOnForEver) {
  std::vector<Vertex>        from, to;
  std::vector<std::uint32_t> weights;
  for (Vertex v = 0; v < 600; ++v) from.push_back(v), to.push_back(v + 1), weights.push_back(1 + v % 3);
  const Graph      chain     = from_arcs(from, to, weights, WeightType::u32);
  const Algorithm& algorithm = algorithm_named("sssp");
  const auto       values    = completed_parameters(algorithm, {{"source", "0"}, {"delta", "1000000"}});
  const Result     result    = algorithm.run(chain, values, {.device = {.kind = cuda_kind()}});
  EXPECT_EQ(algorithm.verify(chain, values, result, {.by = CheckBy::oracle}).problem, "");
  EXPECT_GT(result.statistics.counters.fused_rounds, 256u);
  EXPECT_GT(result.statistics.iterations, 2u);
  EXPECT_LT(result.statistics.iterations, 60u);
}

/// Where half of the edges leave active vertices, a pull reads from all vertices: those that nothing has reached,
/// whose distance is the largest number, are not to improve anybody.
TEST_F(GpuBranches, PullsFromAllLeaveOutTheUnreached) {
  constexpr Vertex           reached = 60, all = 90;
  std::vector<Vertex>        from, to;
  std::vector<std::uint32_t> weights;
  const auto                 add = [&](Vertex u, Vertex v) {
    from.push_back(u), to.push_back(v), weights.push_back(1 + (u * 7 + v * 13) % 40);
  };
  for (Vertex v = 1; v < reached; ++v) add(0, v);
  for (Vertex u = 1; u < all; ++u)
    for (Vertex v = 1; v < reached; ++v) add(u, v);
  const Graph      graph     = from_arcs(from, to, weights, WeightType::u32);
  const Algorithm& algorithm = algorithm_named("sssp");
  for (const char* parents : {"carry", "search"}) {
    const auto values =
        completed_parameters(algorithm, {{"source", "0"}, {"delta", "1000000"}, {"parents", parents}});
    for (const Direction direction : {Direction::pull, Direction::automatic}) {
      const RunOptions way{.direction = direction, .device = {.kind = cuda_kind()}};
      const Result     result = algorithm.run(graph, values, way);
      EXPECT_EQ(algorithm.verify(graph, values, result, {.by = CheckBy::oracle}).problem, "") << parents;
    }
  }
}

/// Whoever asks for a balance, another filter or no fusion gets that and nothing else.
TEST_F(GpuBranches, BlocksDoNotGoOnUnasked) {
  const auto rounds = [&](const RunOptions& way) {
    return ask("sssp", grid, way).statistics.counters.fused_rounds;
  };
  const DeviceChoice gpu{.kind = cuda_kind()};
  EXPECT_GT(rounds({.device = gpu}), 0u);
  EXPECT_GT(rounds({.device = gpu, .balance = {.kind = Balance::bins}}), 0u);
  for (const BalanceTuning& balance :
       {BalanceTuning{.kind = Balance::thread}, BalanceTuning{.kind = Balance::warp, .lanes = 8},
        BalanceTuning{.kind = Balance::split, .split = {.degree_bound = 3}}})
    EXPECT_EQ(rounds({.device = gpu, .balance = balance}), 0u);
  for (const Filter filter : {Filter::batch, Filter::ballot, Filter::online})
    EXPECT_EQ(rounds({.device = gpu, .cuda = {.filter = filter, .bin_entries = 1u << 20}}), 0u);
  EXPECT_EQ(rounds({.device = gpu, .cuda = {.fusion = Fusion::none}}), 0u);
}

TEST_F(GpuBranches, AreAllTaken) {
  RunCounters all;
  bool        pushed = false, pulled = false;
  std::size_t turn = testing::seed();
  for (const RunOptions& way : testing::all_ways())
    for (const char* name : {"bfs", "sssp", "kcore"})
      for (const Graph* graph : {&kron, &grid}) {
        if (++turn % 5 > 1 && !testing::full_matrix()) continue;
        const RunStatistics statistics = ask(name, *graph, testing::for_any_program(way)).statistics;
        all += statistics.counters;
        for (const IterationStatistics& iteration : statistics.per_iteration)
          (iteration.direction == Direction::pull ? pulled : pushed) = true;
      }
  EXPECT_TRUE(pushed && pulled);
  EXPECT_GT(all.ballots, 0u);
  EXPECT_GT(all.switches, 0u);
  EXPECT_GT(all.overflows, 0u);
  EXPECT_GT(all.batched, 0u);
  EXPECT_GT(all.small_rows, 0u);
  EXPECT_GT(all.large_rows, 0u);
  EXPECT_GT(all.hub_rows, 0u);
  EXPECT_GT(all.long_pulls, 0u);
  EXPECT_GT(all.settled, 0u);  // for fused_rounds, which four options must agree on, see above
}

/// Small rows, large ones and hubs, each by their vertices.
std::vector<Vertex> sorted_lists(const Graph& graph, const CudaTuning& tuning, std::span<const Vertex> frontier) {
  const auto size_class = [&](Vertex v) {
    const auto degree = graph.out().neighbors(v).size();
    return degree >= tuning.hub_degree ? 2 : degree >= tuning.large_degree ? 1 : 0;
  };
  std::vector<Vertex> lists{frontier.begin(), frontier.end()};
  std::ranges::sort(lists);
  std::ranges::stable_sort(lists, {}, size_class);
  return lists;
}

/// The ballot filter's lists are in the order of the bitmap that they are made from, so that rows are read as they
/// lie (SIMD-X, section 4).
TEST_F(GpuBranches, BallotsMakeSortedLists) {
  const Graph graph  = generate("kron", {{"scale", "11"}, {"degree", "4"}});
  Vertex      source = 0;
  for (Vertex v = 0; v < graph.vertex_count(); ++v)
    if (graph.out().neighbors(v).size() > graph.out().neighbors(source).size()) source = v;
  for (const Filter filter : {Filter::ballot, Filter::just_in_time}) {
    RunOptions way{.direction = Direction::push, .device = {.kind = cuda_kind()}};
    way.cuda              = testing::on_gpu(filter, Fusion::all, true);
    way.cuda.large_degree = 8, way.cuda.hub_degree = 24;
    Schedule                recorded, frontiers;
    const auto              outcome = run(PathCounts<PathCount>{source}, graph, way, {.record = &recorded});
    Continuation<PathCount> walk{.replay = &recorded};
    cuda::copy_to_host(walk, frontiers, graph);
    std::uint64_t balloted = 0, longest = 0;
    ASSERT_EQ(outcome.statistics.per_iteration.size(), frontiers.levels());
    for (std::uint64_t i = 0; i < frontiers.levels(); ++i) {
      if (!outcome.statistics.per_iteration[i].balloted) continue;
      const auto [begin, end] = frontiers.level(i);
      const auto frontier     = frontiers.vertices().subspan(begin, end - begin);
      EXPECT_TRUE(std::ranges::equal(frontier, sorted_lists(graph, way.cuda, frontier))) << i;
      longest = std::max(longest, end - begin);
      ++balloted;
    }
    EXPECT_GT(balloted, 1u);
    EXPECT_GT(longest, 256u) << "what one warp lists at once";
    EXPECT_GT(outcome.statistics.counters.large_rows, 1u);
    EXPECT_GT(outcome.statistics.counters.hub_rows, 1u);
  }
}

/// Copies, gathering and kernels of a run in windows, and the iterations of a fused one.
TEST_F(GpuBranches, AreTraced) {
  const auto busy = [&](const char* method, Compress compress) {
    auto       trace = std::make_unique<Trace>();
    RunOptions way{
        .trace = trace.get(), .device = {.kind = cuda_kind(), .memory = 1u << 26}, .method = method_named(method)};
    if (!way.method->all_resident) way.supply = {.compress = compress, .resident = 0, .async = Async::off};
    const RunStatistics statistics = ask("sswp", kron, way).statistics;
    EXPECT_EQ(statistics.method, way.method->all_resident ? "" : method);
    EXPECT_EQ(statistics.compressed, compress == Compress::on);
    EXPECT_GT(trace->busy_ms(Track::kernels), 0) << method;
    EXPECT_GT(trace->busy_ms(Track::to_host), 0) << method;
    double last = 0;
    for (const Trace::Span& span : trace->spans()) {
      EXPECT_LE(span.begin, span.end) << span.name;
      last = std::max(last, span.end);
    }
    EXPECT_LE(last, steady_milliseconds() + 1) << method;  // two clocks
    std::set<std::string> names;
    for (const Trace::Span& span : trace->spans()) names.insert(span.name);
    EXPECT_GT(statistics.iterations, 1u);
    return names;
  };
  EXPECT_TRUE(busy("frontier", Compress::off).contains("iterations"));
  const auto gathered = busy("subgraph", Compress::off);
  EXPECT_TRUE(gathered.contains("gather") && gathered.contains("send") && gathered.contains("visit"));
  EXPECT_TRUE(busy("partitions", Compress::on).contains("decode"));
}

/// Fusion is for this: as many launches as iterations, or one for all.
TEST_F(GpuBranches, FusionSavesLaunches) {
  const auto launches = [&](Fusion fusion) {
    const RunStatistics statistics =
        ask("bfs", grid, {.device = {.kind = cuda_kind()}, .cuda = {.fusion = fusion}}).statistics;
    return std::pair{statistics.counters.kernel_launches, statistics.iterations};
  };
  const auto [apart, iterations] = launches(Fusion::none);
  EXPECT_GE(apart, iterations);
  EXPECT_EQ(launches(Fusion::all).first, 1u);
  EXPECT_LT(launches(Fusion::push_pull).first, apart);
}

/// scripts/gpu-test runs these under compute-sanitizer, for which every access takes its time; they check nothing
/// themselves.
TEST_F(GpuBranches, ForTheSanitizers) {
  const Graph small_kron = generate("kron", {{"scale", "7"}});
  const Graph small_grid = generate("grid", {{"rows", "12"}, {"columns", "12"}});
  const auto& ways       = testing::all_ways();
  std::size_t next       = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (!algorithm.on_gpu) continue;
    for (int i = 0; i < 3; ++i) {
      const Result result = ask(algorithm.name, i == 2 ? small_grid : small_kron,
                                testing::for_any_program(ways[next++ % ways.size()]));
      EXPECT_EQ(result.statistics.device, "cuda:0") << algorithm.name;
    }
  }
  const RunOptions hubs{.device = {.kind = cuda_kind()}, .cuda = {.order = VertexOrder::degree, .hub_sums = 64}};
  EXPECT_EQ(ask("pagerank", both_ways("kron", {{"scale", "7"}}), hubs).statistics.counters.summed_hubs, 64u);
}

}  // namespace
}  // namespace spillway
