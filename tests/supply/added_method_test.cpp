// A method that this file alone knows: rows are pushed one at a time, the last vertex first. It must appear
// wherever methods do (help, plan, the matrix of ways), and answer rightly.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "supply/methods.hpp"
#include "ways.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>
#include <spillway/plan.hpp>

namespace spillway {
namespace {

class BackwardRows final : public EdgeSupply {
 public:
  BackwardRows(CpuExecutor& executor, const Topology& topology) : executor_(executor), topology_(topology) {}

  bool may_fuse() const override { return false; }

  BlockWork bring(Executor&, Direction, IterationStatistics&, RunStatistics&) override {
    const auto          listed = executor_.active();
    std::vector<Vertex> active{listed.begin(), listed.end()};
    if (active.empty()) active.resize(topology_.vertices), std::iota(active.begin(), active.end(), Vertex{0});
    std::ranges::sort(active, std::greater{});
    BlockWork work;
    for (const RowBlock& block : topology_.push)
      for (const Vertex v : active) {
        const RowChunk row{v, block.rows.offsets[v], block.rows.offsets[v + 1]};
        if (row.first < row.last) work += executor_.process(ChunkBlock{.rows = block.rows, .chunks = {&row, 1}});
      }
    return work;
  }

  void complete(RunStatistics& statistics) const override { statistics.method = "backwards"; }

 private:
  CpuExecutor&    executor_;
  const Topology& topology_;
};

std::unique_ptr<EdgeSupply> on_host(CpuExecutor& executor, const Topology& topology, const ProgramFacts&,
                                    const RunOptions&, const std::shared_ptr<MemoryBudget>&) {
  return std::make_unique<BackwardRows>(executor, topology);
}

const SupplyMethod backwards{
    {.name = "backwards", .help = "row by row, the last first", .requires_cpu = true, .transfers = true}, on_host};

const bool added = (add_method(backwards), true);

TEST(AddedMethod, IsInTheMatrix) {
  ASSERT_TRUE(added);
  EXPECT_TRUE(std::ranges::any_of(testing::all_ways(), [](const RunOptions& way) {
    return way.method == method_named("backwards");
  })) << "and every algorithm's matrix insists that each way had a turn";
}

TEST(AddedMethod, IsPlannedAndRuns) {
  const Graph      kron    = generate("kron", {{"scale", "6"}});
  const Algorithm& bfs     = algorithm_named("bfs");
  const auto       values  = completed_parameters(bfs, {{"source", "1"}});
  RunOptions       options = {.device = {.kind = cpu_kind()}, .method = method_named("backwards")};
  EXPECT_EQ(plan_of(bfs, kron, values, options).method, "backwards");
  const Result result = bfs.run(kron, values, options);
  EXPECT_EQ(result.statistics.method, "backwards");
  EXPECT_EQ(bfs.verify(kron, values, result, {}).problem, "");
}

TEST(AddedMethod, IsNamedWhereANameIsWrong) {
  try {
    method_named("backward");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("backwards"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace spillway
