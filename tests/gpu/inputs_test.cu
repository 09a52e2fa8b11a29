// Inputs of programs on a GPU, and what they take there.
#include "program/input_tests.hpp"

#include "devices/devices.hpp"

#include <spillway/generate.hpp>

namespace spillway {
namespace {

/// The more there is to read, the more the state is said to take, and takes.
TEST(GpuInputs, AreCountedAsState) {
  if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  constexpr std::uint32_t    more  = 64;
  const Graph                graph = generate("grid", {{"rows", "20"}, {"columns", "30"}});
  const std::uint64_t        n     = graph.vertex_count();
  const auto                 few   = testing::some_factors(n);
  std::vector<std::uint64_t> many(more * n);
  const auto program_with = [](const std::vector<std::uint64_t>& factors, std::uint32_t per_vertex) {
    return testing::FactoredSums{.factors = VertexInput<std::uint64_t>{factors, per_vertex}};
  };
  const std::uint64_t extra = (many.size() - few.size()) * sizeof(std::uint64_t);
  const RunOptions    on_gpu{.device = {.kind = cuda_kind()}};
  const Plan          small = plan_run(program_with(few, 3), graph, on_gpu);
  const Plan          large = plan_run(program_with(many, more), graph, on_gpu);
  EXPECT_EQ(large.state_bytes - small.state_bytes, extra);
  const std::uint64_t held = run(program_with(few, 3), graph, on_gpu).statistics.device_bytes;
  EXPECT_GE(run(program_with(many, more), graph, on_gpu).statistics.device_bytes, held + extra);
  EXPECT_GT(run(program_with(many, more), graph, on_gpu).statistics.transfer_ms, 0);

  // Where they do not fit, the program is none for this GPU.
  RunOptions bounded    = on_gpu;
  bounded.device.memory = held + extra / 2;
  EXPECT_EQ(testing::failure_of([&] { run(program_with(many, more), graph, bounded); }).first,
            ExitCode::does_not_fit);
  bounded.device.kind = DeviceKind{};
  EXPECT_EQ(run(program_with(many, more), graph, bounded).statistics.device, "cpu");
  EXPECT_EQ(run(program_with(few, 3), graph, bounded).statistics.device, "cuda:0");
}

}  // namespace
}  // namespace spillway
