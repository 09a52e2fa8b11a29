// What a GPU is to do is planned as it is done.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <cstdlib>
#include <filesystem>

#include "algorithms/trying.hpp"
#include "devices/devices.hpp"
#include "plan/graph_sample.hpp"
#include "plan/rates.hpp"
#include "support.hpp"

#include <spillway/generate.hpp>
#include <spillway/plan.hpp>

namespace spillway {
namespace {

class GpuPlan : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
    if (const char* const cache = std::getenv("XDG_CACHE_HOME")) before = cache;
    setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
  }
  void TearDown() override {
    if (before)
      setenv("XDG_CACHE_HOME", before->c_str(), 1);
    else
      unsetenv("XDG_CACHE_HOME");
  }

  static Plan planned(const std::string& name, const Graph& graph, std::uint64_t memory,
                      std::optional<std::uint64_t> resident = {}, std::optional<Rates> rates = {}) {
    const Algorithm& algorithm = algorithm_named(name);
    const auto       values    = testing::filled(algorithm, graph, {}).value();
    const RunOptions options{.device = {.kind = cuda_kind(), .memory = memory},
                             .supply = {.resident = resident, .rates = rates}};
    const Plan       plan = plan_of(algorithm, graph, values, options);
#if !defined(SPILLWAY_EMULATED)  // which would take its time
    const Result result = algorithm.run(graph, values, options);
    EXPECT_EQ(plan.device, result.statistics.device) << name;
    if (!plan.method.empty()) {
      const std::string method = result.statistics.method.empty() ? "frontier" : result.statistics.method;
      EXPECT_EQ(plan.method, method) << name;
    }
    EXPECT_LE(result.statistics.device_bytes, memory) << name;
#endif
    return plan;
  }

  static std::string listed(const Plan& plan) {
    std::string text;
    for (const PlanCandidate& each : plan.candidates)
      text += fmt::format("\n{}{}: {} + {} ms {}", each.method->name, each.compressed ? " compressed" : "",
                          each.prepare_ms, each.run_ms, each.excluded);
    return text;
  }

  testing::TemporaryFolder   folder;
  std::optional<std::string> before;

  const Graph kron = with_unit_weights(generate("kron", {{"scale", "18"}}));
};

/// Whatever is asked for, the plan names the device that computes.
TEST_F(GpuPlan, NamesTheDeviceOfEveryAlgorithm) {
  const Graph graph = with_unit_weights(generate("kron", {{"scale", "5"}}));
  for (const Algorithm& algorithm : algorithms()) {
    const auto values = testing::filled(algorithm, graph, {});
    if (!values) continue;
    for (const DeviceKind kind : {DeviceKind{}, cpu_kind()})
      for (const bool deterministic : {false, true}) {
        const RunOptions options{.deterministic = deterministic, .device = {.kind = kind}};
        const Result     result = algorithm.run(graph, *values, options);
        EXPECT_EQ(plan_of(algorithm, graph, *values, options).device, result.statistics.device)
            << algorithm.name << (deterministic ? ", deterministic" : "") << ", " << kind->name;
      }
  }
}

TEST_F(GpuPlan, SaysWhatFits) {
  const Plan plan = planned("sssp", kron, 1u << 30);
  EXPECT_EQ(plan.method, "frontier");
  EXPECT_EQ(plan.device, "cuda:0");
  EXPECT_EQ(plan.resident_bytes, plan.edge_bytes);
  EXPECT_GT(plan.state_bytes, kron.vertex_count() * 4);
}

TEST_F(GpuPlan, ChoosesByProgram) {
  const Plan some = planned("sssp", kron, 36u << 20);
  EXPECT_EQ(some.method, "zerocopy");
  EXPECT_TRUE(some.rates);
  EXPECT_LT(some.resident_bytes, some.edge_bytes);
  Rates sends = {.step = 1e-6}, reads;
  sends.read = reads.sent = reads.gathered = 5e9;
  sends.windows                            = 1e-6;  // the graph is small
  const Plan none                          = planned("sswp", kron, 36u << 20, 0, sends);
  EXPECT_EQ(none.method, "mixed") << "most edges are active at once" << listed(none);
  EXPECT_EQ(none.resident_bytes, 0u);
  const Plan in_place = planned("sswp", kron, 36u << 20, 0, reads);
  EXPECT_EQ(in_place.method, "zerocopy") << listed(in_place);
  EXPECT_GT(none.candidates.size(), 5u);
  const auto resident = std::ranges::find(none.candidates, resident_edges(), &PlanCandidate::method);
  ASSERT_NE(resident, none.candidates.end());
  EXPECT_NE(resident->excluded.find("of GPU memory"), std::string::npos) << resident->excluded;
  const Graph roads = with_unit_weights(generate("grid", {{"rows", "300"}, {"columns", "300"}}));
  const auto  state = planned("sswp", roads, 1u << 30).state_bytes;
  EXPECT_EQ(planned("sswp", roads, state + 28 * roads.vertex_count()).method, "zerocopy") << "ways are long";
  EXPECT_EQ(planned("bfs", kron, 16u << 20).method, "zerocopy") << "votes are found in the beginnings of rows";
  EXPECT_EQ(planned("cc", kron, 16u << 20).method, "zerocopy");
  EXPECT_EQ(planned("cc", kron, 1u << 30).method, "frontier");
}

/// Where the choice is free and edges do not fit, the CPU is a candidate for every algorithm, whether it is a
/// program, leaves values on the GPU for another one, or is none.
TEST_F(GpuPlan, ComparesEveryAlgorithmWithTheCpu) {
  const Graph graph =
      with_unit_weights(generate("uniform", {{"vertices", "1024"}, {"degree", "64"}}));  // 256 KiB of edges
  Rates swift, slow;
  swift.host_visited = swift.host_visited_far = swift.copied = 1e18, swift.host_iteration = 1e-12;
  slow.host_visited = slow.host_visited_far = 1;
  constexpr std::uint64_t KiB               = 1024;
  // Triangles are looked up in a copy, which is on the GPU.
  for (const auto& [name, memory] : {std::pair{"bfs", 400 * KiB},
                                     {"sssp", 400 * KiB},
                                     {"bc", 400 * KiB},
                                     {"cc", 192 * KiB},
                                     {"scc", 400 * KiB},
                                     {"tc", 448 * KiB},
                                     {"lcc", 768 * KiB},
                                     {"cdlp", 192 * KiB}}) {
    const Algorithm& algorithm = algorithm_named(name);
    const auto       values    = testing::filled(algorithm, graph, {}).value();
    for (const Rates& rates : {swift, slow}) {
      const RunOptions options{.device = {.memory = memory}, .supply = {.rates = rates}};
      const bool       on_cpu = rates.host_visited > 1;
      const Plan       plan   = plan_of(algorithm, graph, values, options);
      EXPECT_EQ(plan.device == "cpu", on_cpu) << name << listed(plan);
      const auto cpu = std::ranges::find_if(plan.candidates, &PlanCandidate::on_cpu);
      ASSERT_NE(cpu, plan.candidates.end()) << name;
      EXPECT_EQ(cpu->excluded, "") << name;
#if defined(SPILLWAY_EMULATED)
      if (!on_cpu && algorithm.name == "bc") continue;  // from every vertex: it would take its time
#endif
      const Result result = algorithm.run(graph, values, options);
      EXPECT_EQ(result.statistics.device, plan.device) << name << ": " << result.statistics.device_note;
      EXPECT_EQ(result.statistics.candidates.size(), plan.candidates.size()) << name;
      const bool says_so = result.statistics.device_note.starts_with("computed on the CPU: predicted");
      EXPECT_EQ(says_so, on_cpu) << name << ": " << result.statistics.device_note;
      EXPECT_EQ(algorithm.verify(graph, values, result, {}).problem, "") << name;
    }
  }
}

/// What a few rows tell is what compressing makes of all, about.
TEST_F(GpuPlan, SamplesWhatCompressionMakes) {
#if defined(SPILLWAY_EMULATED)
  const std::string scale = "11", side = "40";
#else
  const std::string scale = "18", side = "500";
#endif
  GenerateOptions options;
  options.transform = {.undirected = true, .dedup = true, .drop_loops = true};
  for (const Graph& graph : {generate("kron", {{"scale", scale}}, options),
                             generate("grid", {{"rows", side}, {"columns", side}}, options)}) {
    const Algorithm& pagerank = algorithm_named("pagerank");
    const Result     result   = pagerank.run(graph, completed_parameters(pagerank, {{"iterations", "1"}}),
                                             {.device = {.kind = cuda_kind()},
                                              .method = method_named("zerocopy"),
                                              .supply = {.compress = Compress::on, .resident = 0}});
    EXPECT_EQ(result.statistics.method, "zerocopy");
    EXPECT_TRUE(result.statistics.compressed);
    const Csr&        out = graph.out();
    const GraphSample sample =
        sampled({{out.offsets.data(), out.targets.data(), nullptr}, 0, static_cast<Vertex>(out.vertex_count())},
                out.vertex_count(), false);
    const double made =
        static_cast<double>(result.statistics.edges_on_host) / static_cast<double>(graph.arc_count());
    EXPECT_GT(sample.code_bytes, 0.8 * made);
    EXPECT_LT(sample.code_bytes, 1.2 * made);
  }
}

#if !defined(SPILLWAY_EMULATED)
TEST_F(GpuPlan, MeasuresTheMachineOnce) {
  const auto budget = std::make_shared<MemoryBudget>(std::uint64_t{8} << 30);
  const auto found  = rates_of_gpu(0, 2, budget, true);
  ASSERT_TRUE(found);
  const Rates rates = found->measured;
  EXPECT_TRUE(std::filesystem::exists(rates_path())) << rates_path();
  for (const double rate : {rates.sent, rates.gathered, rates.read}) {
    EXPECT_GT(rate, 1e8);
    EXPECT_LT(rate, 1e12);
  }
  for (const double rate : {rates.gathered_chunks, rates.read_chunks}) {
    EXPECT_GT(rate, 1e6);
    EXPECT_LT(rate, 1e11);
  }
  EXPECT_GT(rates.step, 1e-6);
  EXPECT_LT(rates.step, 1e-1);
  for (const double rate :
       {rates.visited, rates.visited_far, rates.decoded, rates.reordered, rates.host_visited}) {
    EXPECT_GT(rate, 1e7);
    EXPECT_LT(rate, 1e12);
  }
  EXPECT_GT(rates.visited, rates.visited_far);
  EXPECT_GT(rates.host_visited, rates.host_visited_far);
  EXPECT_GT(rates.coded_edges, 1e7);
  EXPECT_GT(rates.coded_rows, 1e6);
  EXPECT_GT(rates.context, 1e-3);
  EXPECT_LT(rates.context, 10);
  EXPECT_EQ(rates_of_gpu(0, 2, budget).value().measured.sent, rates.sent) << "kept";
  EXPECT_EQ(budget->peak() <= std::uint64_t{2} << 30, true) << budget->peak();
  const auto small = std::make_shared<MemoryBudget>(std::uint64_t{1} << 20);
  EXPECT_FALSE(rates_of_gpu(0, 1, small, true)) << "no room to measure in";
}
#endif

}  // namespace
}  // namespace spillway
