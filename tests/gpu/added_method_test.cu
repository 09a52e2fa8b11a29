// A GPU's method that this file alone knows: all edges lie on the device, and each iteration has them visited as
// one window, by the loop. It must appear wherever methods do (plan, the matrix of ways), and answer rightly.
#include <gtest/gtest.h>

#include <algorithm>

#include "devices/devices.hpp"
#include "engine/cuda/supplies.hpp"
#include "supply/methods.hpp"
#include "ways.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/generate.hpp>
#include <spillway/plan.hpp>

namespace spillway {
namespace {

class OneWindow final : public EdgeSupply {
 public:
  struct Side {
    Rows      rows;
    EdgeIndex arcs;
  };

  OneWindow(std::vector<Side> sides, bool everyone, bool pulls)
      : sides_(std::move(sides)), everyone_(everyone), pulls_(pulls) {}

  bool may_fuse() const override { return false; }

  BlockWork bring(Executor& executor, Direction, IterationStatistics&, RunStatistics&) override {
    auto& kernels = dynamic_cast<cuda::WindowKernels&>(executor);
    for (const Side& side : sides_) {
      const LayoutSize laid   = kernels.lay_out(cuda::Layout{.offsets = side.rows.offsets, .everyone = everyone_});
      ChunkLayout      layout = kernels.laid();
      layout.count            = laid.entries;
      executor.process(WindowBlock{.rows   = side.rows,
                                   .layout = layout,
                                   .edges  = {.first = 0, .last = side.arcs},
                                   .pull   = pulls_,
                                   .memory = BlockMemory::device});
    }
    return {};  // is counted on the device
  }

  void complete(RunStatistics&) const override {}

 private:
  std::vector<Side> sides_;
  bool              everyone_, pulls_;
};

void make_one_window(cuda::SupplyJob& job) {
  const ProgramFacts&          facts  = job.needs.facts;
  const std::vector<RowBlock>& pull   = job.topology.pull;
  const bool                   pulls  = facts.pulls_windows(job.topology, job.supplied.options.direction);
  cuda::DeviceTopology         there  = job.device_graph.topology(job.topology, facts.weighted);
  const std::vector<Rows>&     rows   = pulls ? there.pull : there.push;
  const std::vector<RowBlock>& blocks = pulls ? pull : job.topology.push;
  std::vector<OneWindow::Side> sides;
  for (std::size_t i = 0; i < rows.size(); ++i)
    sides.push_back({rows[i], blocks[i].rows.offsets[job.topology.vertices]});
  cuda::Supply<cuda::PlainRows> supply = cuda::resident_supply(std::move(there));
  supply.windows                       = std::make_shared<OneWindow>(std::move(sides), facts.all_active, pulls);
  job.supplied.rows                    = std::move(supply);
}

const SupplyMethod one_window{
    {.name = "onewindow", .help = "on the device, visited as one window", .requires_gpu = true, .transfers = true},
    nullptr,
    make_one_window};

const bool added = (add_method(one_window), true);

TEST(AddedGpuMethod, IsInTheMatrix) {
  ASSERT_TRUE(added);
  EXPECT_TRUE(std::ranges::any_of(testing::all_ways(), [](const RunOptions& way) {
    return way.method == method_named("onewindow");
  })) << "and every algorithm's matrix insists that each way had a turn";
}

TEST(AddedGpuMethod, IsPlannedAndRuns) {
  if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
  const Graph kron = generate("kron", {{"scale", "6"}});
  for (const char* name : {"bfs", "pagerank"}) {
    const Algorithm& algorithm = algorithm_named(name);
    const bool       searches  = name == std::string{"bfs"};
    const auto       values =
        completed_parameters(algorithm, searches ? ParameterValues{{"source", "1"}} : ParameterValues{});
    RunOptions options = {.device = {.kind = cuda_kind()}, .method = method_named("onewindow")};
    EXPECT_EQ(plan_of(algorithm, kron, values, options).method, "onewindow");
    const Result result = algorithm.run(kron, values, options);
    EXPECT_EQ(result.statistics.method, "onewindow");
    EXPECT_GT(result.statistics.iterations, 0u);
    EXPECT_EQ(algorithm.verify(kron, values, result, {}).problem, "");
  }
}

}  // namespace
}  // namespace spillway
