// A device that this file alone knows: two executors of the CPU, each with its own state, that push along half of
// the rows each and merge what they accumulated. It must appear wherever devices do (command line, plan, the
// matrix of ways), and answer rightly.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "devices/kinds.hpp"
#include "ways.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>
#include <spillway/plan.hpp>
#include <spillway/run.hpp>

namespace spillway {
namespace {

class PairOfExecutors final : public Executor {
 public:
  PairOfExecutors(ExecutorMaker& maker, const Topology& topology)
      : first_(maker.make()), second_(maker.make()), topology_(topology) {}

  FrontierSize start() override {
    second_.start();
    return first_.start();
  }

  bool begin(Direction direction, std::uint32_t iteration) override {
    second_.begin(direction, iteration);
    return first_.begin(direction, iteration);
  }

  /// Every second row is the other's.
  BlockWork process(const Block& block) override {
    const Rows&         rows   = std::get<RowBlock>(block).rows;
    const auto          listed = first_.active();
    std::vector<Vertex> active{listed.begin(), listed.end()};
    if (active.empty()) active.resize(topology_.vertices), std::iota(active.begin(), active.end(), Vertex{0});
    std::array<std::vector<RowChunk>, 2> shares;
    for (const Vertex v : active)
      if (rows.degree(v) > 0) shares[v % 2].push_back({v, rows.offsets[v], rows.offsets[v + 1]});
    BlockWork work = first_.process(ChunkBlock{.rows = rows, .chunks = shares[0]});
    work += second_.process(ChunkBlock{.rows = rows, .chunks = shares[1]});
    return work;
  }

  FrontierSize finish(IterationStatistics& made, BlockWork& work) override {
    first_.merge(second_.accumulated());
    second_.adopt(first_.accumulated());
    second_.finish(made, work);
    return first_.finish(made, work);
  }

  bool          converged() const override { return first_.converged(); }
  std::uint64_t state_bytes() const override { return first_.state_bytes() + second_.state_bytes(); }
  void          complete(RunStatistics& statistics) override { first_.complete(statistics); }

 private:
  CpuExecutor&    first_;
  CpuExecutor&    second_;
  const Topology& topology_;
};

std::unique_ptr<Executor> composed(ExecutorMaker& maker, const Topology& topology) {
  return std::make_unique<PairOfExecutors>(maker, topology);
}

const DeviceEntry pair{
    {.name = "pair", .help = "two executors that merge what they push", .of_cpu_executors = true}, composed};

const bool added = (add_device_kind(pair), true);

TEST(AddedDevice, IsInTheMatrix) {
  ASSERT_TRUE(added);
  EXPECT_TRUE(std::ranges::any_of(testing::all_ways(), [](const RunOptions& way) {
    return way.device.kind == device_kind_named("pair");
  })) << "and every algorithm's matrix insists that each way had a turn";
}

TEST(AddedDevice, IsPlannedAndRuns) {
  const Graph      kron    = generate("kron", {{"scale", "6"}});
  const Algorithm& bfs     = algorithm_named("bfs");
  const auto       values  = completed_parameters(bfs, {{"source", "1"}});
  RunOptions       options = {.device = {.kind = device_kind_named("pair")}};
  EXPECT_EQ(plan_of(bfs, kron, values, options).device, "pair");
  const Result result = bfs.run(kron, values, options);
  EXPECT_EQ(result.statistics.device, "pair");
  EXPECT_EQ(bfs.verify(kron, values, result, {}).problem, "");
}

TEST(AddedDevice, SaysWhatItCannotDo) {
  const Graph kron    = generate("kron", {{"scale", "6"}});
  const auto  refused = [&](const char* name, const RunOptions& options) -> std::string {
    const Algorithm& algorithm = algorithm_named(name);
    try {
      algorithm.run(kron, completed_parameters(algorithm, {}), options);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  const DeviceChoice device{.kind = device_kind_named("pair")};
  EXPECT_NE(refused("cc", {.device = device}).find("'pair'"), std::string::npos);
  EXPECT_NE(refused("pagerank", {.deterministic = true, .device = device}).find("--deterministic"),
            std::string::npos);
  EXPECT_NE(refused("pagerank", {.direction = Direction::pull, .device = device}).find("pulls"),
            std::string::npos);
}

/// A search that goes no further than a step: whoever is found last is settled and not active.
struct OneStep {
  using Value   = std::uint32_t;
  using Combine = Any<std::uint32_t>;

  Vertex source;

  SPILLWAY_HD Value init(Vertex v) const { return v == source ? 0 : highest<std::uint32_t>(); }
  SPILLWAY_HD bool  starts(Vertex v) const { return v == source; }
  SPILLWAY_HD std::uint32_t compute(Value from, const Edge<>&) const { return from + 1; }
  SPILLWAY_HD bool          apply(Value& value, std::uint32_t level) const {
             value = level;
             return level < 1;
  }
};

TEST(AddedDevice, RefusesVotesThatEndWithAVertex) {
  const Graph kron = generate("kron", {{"scale", "6"}});
  EXPECT_NO_THROW(run(OneStep{1}, kron, {.device = {.kind = cpu_kind()}}));
  EXPECT_THROW(run(OneStep{1}, kron, {.device = {.kind = device_kind_named("pair")}}), Error);
}

TEST(AddedDevice, IsNamedWhereANameIsWrong) {
  try {
    device_kind_named("pear");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string{error.what()}.find("cuda:N, pair"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace spillway
