// GPUs that are too small, and what stays on one from run to run. Without a GPU each test says so and is skipped.
#include <gtest/gtest.h>

#include <algorithm>

#include "algorithms/programs/betweenness.hpp"
#include "algorithms/programs/pagerank.hpp"
#include "devices/devices.hpp"
#include "support.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/engine/cuda/continuation.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>
#include <spillway/run.hpp>

namespace spillway {
namespace {

class GpuRun : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  }

  static Result ask(const char* name, const Graph& graph, const DeviceChoice& device) {
    const Algorithm& algorithm = algorithm_named(name);
    ParameterValues  given;
    for (const Parameter& parameter : algorithm.parameters)
      if (parameter.kind == ParameterKind::source) given[parameter.name] = graph.ids().name(0);
    if (algorithm.name == "bc") given["sources"] = "4";
    const ParameterValues values = completed_parameters(algorithm, given);
    RunOptions            options{.device = device};
    // Where the choice is free, the GPU is to be tried: whether the CPU would be faster is another question.
    if (device.kind.automatic()) options.supply.rates = Rates{.host_visited = 1, .host_visited_far = 1};
    Result result = algorithm.run(graph, values, options);
    EXPECT_EQ(algorithm.verify(graph, values, result, {}).problem, "") << name;
    return result;
  }

  const DeviceKind cuda = cuda_kind();
  const Graph      grid = generate("grid", {{"rows", "100"}, {"columns", "100"}});
};

TEST_F(GpuRun, ThatDoesNotFitIsMadeElsewhereUnlessItWasAskedFor) {
  for (const char* name : {"bfs", "cc", "bc", "pagerank"}) {
    const Result result = ask(name, grid, {.memory = 100'000});
    EXPECT_EQ(result.statistics.device, "cpu") << name;
    EXPECT_NE(result.statistics.device_note.find("--device-memory"), std::string::npos) << name;
    try {
      ask(name, grid, {.kind = cuda, .memory = 100'000});
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::does_not_fit) << name;
    }
  }
}

/// With the least that does, less one byte, the second half of a run does not fit: what is on the device comes
/// back.
TEST_F(GpuRun, ThatStopsHalfWayGoesOnElsewhere) {
  std::uint64_t too_little = 100'000, enough = 1u << 30;
  while (enough - too_little > 1) {
    const std::uint64_t middle = too_little + (enough - too_little) / 2;
    (ask("bc", grid, {.memory = middle}).statistics.device == "cpu" ? too_little : enough) = middle;
  }
  const RunStatistics statistics = ask("bc", grid, {.memory = too_little}).statistics;
  EXPECT_EQ(statistics.device, "cpu");
  EXPECT_GT(statistics.transfer_ms, 0) << "the first half was made on the GPU";
}

TEST_F(GpuRun, FindsTheGraphWhereTheLastOneLeftIt) {
  EXPECT_GT(ask("bfs", grid, {.kind = cuda}).statistics.uploaded_bytes, 0u);
  EXPECT_EQ(ask("bfs", grid, {.kind = cuda}).statistics.uploaded_bytes, 0u);
  EXPECT_EQ(ask("cc", grid, {.kind = cuda}).statistics.uploaded_bytes, 0u);
  EXPECT_GT(ask("bfs", grid, {.kind = cuda, .memory = 1u << 30}).statistics.uploaded_bytes, 0u)
      << "another budget";
}

/// Copies in many parts, rows that all threads walk, and trees so deep that threads meet on them.
TEST_F(GpuRun, IsRightOnLargeGraphs) {
  constexpr Vertex    n = 5'000'000;
  std::vector<Vertex> sources, targets;
  for (Vertex v = 1; v < n / 2; ++v) sources.push_back(v), targets.push_back(0);
  for (Vertex v = n / 2; v + 1 < n; ++v) sources.push_back(v + 1), targets.push_back(v);
  for (Vertex v = 0; v < 10'000; ++v) sources.push_back(7), targets.push_back(n / 2 + 3 * v);
  for (const bool undirected : {false, true}) {
    const Graph graph =
        from_arcs(sources, targets, {}, WeightType::none, n, {.transform = {.undirected = undirected}});
    for (const char* name : {"cc", "pagerank", "cdlp"})
      EXPECT_EQ(ask(name, graph, {.kind = cuda}).statistics.device, "cuda:0") << name;
  }
}

/// Hubs that blocks share, sums of floats, a total over all: the same bits, whoever is first.
TEST_F(GpuRun, IsTheSameEveryTimeWhereThatIsAskedFor) {
  const Graph           graph     = generate("kron", {{"scale", "14"}});
  const Algorithm&      algorithm = algorithm_named("pagerank");
  const ParameterValues values    = completed_parameters(algorithm, {});
  const RunOptions      way{.deterministic = true, .device = {.kind = cuda}};
  const Result          first = algorithm.run(graph, values, way);
  const auto            ranks = std::get<Array<float>>(first.columns[0].values).span();
  for (int i = 0; i < 5; ++i) {
    const Result again = algorithm.run(graph, values, way);
    EXPECT_TRUE(std::ranges::equal(ranks, std::get<Array<float>>(again.columns[0].values).span()));
    for (std::size_t k = 0; k < first.facts.size(); ++k)
      EXPECT_TRUE(first.facts[k].value == again.facts[k].value) << first.facts[k].name;
  }
}

/// A simple graph shares its rows with the one that it was made of, but for the weights.
TEST_F(GpuRun, FindsWeightsOfRowsThatItReadWithout) {
  const Graph      graph = with_unit_weights(generate("grid", {{"rows", "20"}, {"columns", "30"}}), 1);
  const RunOptions way{
      .device = {.kind = cuda}, .method = method_named("zerocopy"), .supply = {.compress = Compress::off}};
  for (const char* name : {"tc", "sswp", "cc", "sssp"}) {
    const Algorithm&      algorithm = algorithm_named(name);
    const ParameterValues values =
        completed_parameters(algorithm, std::string_view{name} == "sssp" || std::string_view{name} == "sswp"
                                            ? ParameterValues{{"source", "0"}}
                                            : ParameterValues{});
    const Result result = algorithm.run(graph, values, way);
    EXPECT_EQ(result.statistics.method, "zerocopy") << name;
    EXPECT_EQ(algorithm.verify(graph, values, result, {.by = CheckBy::oracle}).problem, "") << name;
  }
}

/// What one run keeps of the rows serves the next one, and goes where a run with another state needs the room.
TEST_F(GpuRun, KeepsBeginningsOfRowsFromRunToRun) {
  const Graph             graph  = generate("kron", {{"scale", "12"}, {"degree", "64"}});
  constexpr std::uint64_t memory = 1'200'000;  // its arcs take 1 MiB, state up to 0.75
  for (const Compress compress : {Compress::off, Compress::on}) {
    std::uint64_t kept = 0;
    for (const char* name : {"bfs", "bfs", "pagerank", "cc", "ssnsp", "bc", "bfs"}) {
      const Algorithm& algorithm = algorithm_named(name);
      ParameterValues  given;
      for (const Parameter& parameter : algorithm.parameters)
        if (parameter.kind == ParameterKind::source) given[parameter.name] = "0";
      if (algorithm.name == "bc") given["sources"] = "1";
      if (algorithm.name == "pagerank") given["iterations"] = "3";
      const ParameterValues values = completed_parameters(algorithm, given);
      const Result          result = algorithm.run(graph, values,
                                                   {.device = {.kind = cuda, .memory = memory},
                                                    .method = method_named("zerocopy"),
                                                    .supply = {.compress = compress}});
      EXPECT_EQ(result.statistics.method, "zerocopy") << name;
      EXPECT_LE(result.statistics.device_bytes, memory) << name;
      EXPECT_GT(result.statistics.edges_resident, 0u) << name;
      if (std::string_view{name} != "bfs") continue;
      const std::uint64_t now = result.statistics.edges_resident;
      if (kept != 0) {
        EXPECT_LE(std::max(now, kept) - std::min(now, kept), kept / 3);
      }
      kept = now;
    }
  }
}

#if !defined(SPILLWAY_EMULATED)  // for which the graph is too large
/// Where the host has little room, less is gathered at once.
TEST_F(GpuRun, GathersInALittleRoom) {
  const Graph           graph     = generate("kron", {{"scale", "18"}}, {.transform = {.undirected = true}});
  const Algorithm&      algorithm = algorithm_named("bfs");
  const ParameterValues values    = completed_parameters(algorithm, {{"source", "0"}});
  RunOptions            options{.device = {.kind = cuda}, .method = method_named("subgraph")};
  options.supply = {.resident = 0, .async = Async::off};
  Result result;
  {
    Charge others{graph.budget(), "others"};
    others.raise_to(graph.budget()->limit() - graph.budget()->used() - (14u << 20));  // 18 would be taken
    result = algorithm.run(graph, values, options);
  }
  EXPECT_EQ(result.statistics.method, "subgraph");
  EXPECT_TRUE(std::ranges::any_of(result.statistics.per_iteration, [](const IterationStatistics& iteration) {
    return iteration.transfer == std::string{"gathered"};
  }));
  EXPECT_EQ(algorithm.verify(graph, values, result, {}).problem, "");
}
#endif

/// Where there is no room for the first edge of every row, some rows are kept whole; a vote has no use for them.
TEST_F(GpuRun, KeepsSomeOfManyShortRows) {
  const Graph graph = with_unit_weights(generate("grid", {{"rows", "80"}, {"columns", "50"}}));
  for (const char* name : {"sswp", "ssnsp", "bfs", "ssnsp"}) {
    const bool          weighted = std::string_view{name} == "sswp", votes = std::string_view{name} == "bfs";
    const std::uint64_t room = graph.arc_count() * (weighted ? 8 : 4) / 5;
    ASSERT_LT(room, graph.vertex_count() * (weighted ? 8 : 4));
    const Algorithm&      algorithm = algorithm_named(name);
    const ParameterValues values    = completed_parameters(algorithm, {{"source", "0"}});
    RunOptions            options{.device = {.kind = cuda}, .method = method_named("zerocopy")};
    options.supply             = {.compress = Compress::off, .resident = room};
    const Result        result = algorithm.run(graph, values, options);
    const std::uint64_t kept   = result.statistics.edges_resident;
    EXPECT_LE(kept, room) << name;
    EXPECT_TRUE(votes ? kept == 0 : kept > room * 9 / 10) << name << " " << kept;
    EXPECT_EQ(algorithm.verify(graph, values, result, {.by = CheckBy::oracle}).problem, "") << name;
  }
}

/// Edges that do not fit stay outside by themselves; the state must fit.
TEST_F(GpuRun, ReadsEdgesOutsideWhereTheyDoNotFit) {
  const Graph graph = generate("kron", {{"scale", "14"}, {"degree", "32"}});
  const auto  with  = [&](std::uint64_t memory) {
    return algorithm_named("bfs").run(graph, completed_parameters(algorithm_named("bfs"), {{"source", "0"}}),
                                        {.device = {.kind = cuda, .memory = memory}});
  };
  const Result all = with(64u << 20);
  EXPECT_EQ(all.statistics.method, "");
  const std::uint64_t edges = graph.arc_count() * sizeof(Vertex);
  const Result        some  = with(all.statistics.device_bytes - edges / 2);
  EXPECT_EQ(some.statistics.method, "zerocopy");
  EXPECT_GT(some.statistics.edges_resident, 0u);
  EXPECT_LE(some.statistics.device_bytes, all.statistics.device_bytes - edges / 2);
  try {
    with(64u << 10);
    ADD_FAILURE() << "64 KiB are too little for the state";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::does_not_fit);
    EXPECT_NE(std::string{error.what()}.find("state of the vertices need"), std::string::npos) << error.what();
  }
}

/// Those of a mapped file are copied into huge pages if there is room, and else read where they are.
TEST_F(GpuRun, ReadsEdgesOfAFile) {
  const testing::TemporaryFolder folder;
  const std::string              path = folder / "g.spill";
  save(generate("kron", {{"scale", "17"}}, {.transform = {.undirected = true}}), path);
  const auto read = [&](std::uint64_t host_memory) {
    const Graph      graph     = open(path, {.host_memory = host_memory});
    const Algorithm& algorithm = algorithm_named("bfs");
    const Result     result    = algorithm.run(graph, completed_parameters(algorithm, {{"source", "0"}}),
                                               {.device = {.kind = cuda},
                                                .method = method_named("zerocopy"),
                                                .supply = {.compress = Compress::off, .resident = std::uint64_t{0}}});
    const auto       levels    = std::get<Array<std::uint32_t>>(result.columns.front().values).span();
    return std::pair{std::vector(levels.begin(), levels.end()), graph.budget()->peak()};
  };
  const auto copied = read(std::uint64_t{1} << 30), in_place = read(std::uint64_t{20} << 20);
  EXPECT_EQ(copied.first, in_place.first);
  EXPECT_GT(copied.second, in_place.second + (std::uint64_t{8} << 20));
}

TEST_F(GpuRun, StaysBelowItsBudget) {
  constexpr std::uint64_t budget = 3'000'000;
  for (const char* name : {"bfs", "cc", "bc", "pagerank"}) {
    const Result result = ask(name, grid, {.memory = budget});
    EXPECT_EQ(result.statistics.device, "cuda:0") << name << ": " << result.statistics.device_note;
    EXPECT_LE(result.statistics.device_bytes, budget) << name;
  }
}

/// Frontiers and values that one device holds, under a budget in which nothing fits: they are copied for a GPU,
/// and then it is the CPU that goes on from them.
TEST_F(GpuRun, ThatCannotGoOnLeavesItToTheCpu) {
  const Graph small = generate("grid", {{"rows", "20"}, {"columns", "20"}});
  const auto  both  = [&](const RunOptions& first, const RunOptions& second) {
    Schedule levels;
    auto     forward = run(PathCounts<Between<double>>{0}, small, first, {.record = &levels, .keep = true});
    return run(Dependencies<double>{}, small, second,
                 {.values = std::move(forward.values), .resident = forward.resident, .replay = &levels});
  };
  const RunOptions on_gpu{.device = {.kind = cuda}}, on_cpu{.device = {.kind = cpu_kind()}};
  const auto       expected = both(on_cpu, on_cpu);
  const auto       found    = both(on_gpu, {.device = {.memory = 4096}});
  EXPECT_NE(found.statistics.device_note, "");
  ASSERT_EQ(found.values.size(), expected.values.size());
  for (std::uint64_t v = 0; v < small.vertex_count(); ++v)
    EXPECT_NEAR(found.values[v].dependency, expected.values[v].dependency, 1e-9) << v;
}

/// What was kept for the next run may outlive the graph.
TEST_F(GpuRun, LeavesValuesThatOutliveTheGraph) {
  std::shared_ptr<Resident> kept;
  {
    const Graph small   = generate("grid", {{"rows", "20"}, {"columns", "20"}});
    const auto  outcome = run(PathCounts<PathCount>{0}, small,
                              {.device = {.kind = cuda}, .method = method_named("zerocopy")}, {.keep = true});
    EXPECT_EQ(outcome.statistics.method, "zerocopy");
    kept = outcome.resident;
  }
  EXPECT_NE(kept, nullptr);
}

/// For kernels of the caller: in the order of the graph, whatever the order that the run had vertices in.
TEST_F(GpuRun, LeavesTheAnswerOnTheDeviceIfAsked) {
  const Graph small   = generate("kron", {{"scale", "8"}});
  const auto  on_host = run(PathCounts<PathCount>{1}, small, {.device = {.kind = cpu_kind()}}, {.keep = true});
  EXPECT_TRUE(cuda::values_on_device(on_host).empty());
  ASSERT_EQ(on_host.values.size(), small.vertex_count());
  for (const auto& [method, compress] : {std::pair{"frontier", Compress::automatic},
                                         {"zerocopy", Compress::off},
                                         {"zerocopy", Compress::on},
                                         {"subgraph", Compress::off}}) {
    const auto outcome =
        run(PathCounts<PathCount>{1}, small,
            {.device = {.kind = cuda}, .method = method_named(method), .supply = {.compress = compress}},
            {.keep = true});
    EXPECT_EQ(outcome.values.size(), 0u) << method;
    const auto there = cuda::values_on_device(outcome);
    ASSERT_EQ(there.size(), small.vertex_count()) << method;
    std::vector<PathCount> found(there.size());
    auto&                  kept = dynamic_cast<cuda::KeptValues<PathCount>&>(*outcome.resident);
    kept.device->download(found.data(), there.data(), there.size_bytes());
    for (std::uint64_t v = 0; v < found.size(); ++v) {
      EXPECT_EQ(found[v].level, on_host.values[v].level) << method << " " << v;
      EXPECT_EQ(found[v].paths, on_host.values[v].paths) << method << " " << v;
    }
  }
}

TEST_F(GpuRun, OfNoIterationsHasNoTotals) {
  PageRank program{};
  program.max_iterations = 0;
  const auto outcome     = run(program, grid, {.device = {.kind = cuda}});
  EXPECT_EQ(outcome.statistics.iterations, 0u);
  EXPECT_EQ(outcome.global.change, 0);
  EXPECT_EQ(outcome.global.dangling, 0);
}

}  // namespace
}  // namespace spillway
