// The n-th call into CUDA fails, n = 1, 2, … to the end; runs on a GPU that are stopped at the k-th look; and runs
// side by side on one graph. Calls fail in the emulator only.
#if defined(SPILLWAY_EMULATED)
#include <gtest/gtest.h>

#include <set>

#include "emulator.hpp"
#include "faults/cases.hpp"

namespace spillway {
namespace {

using testing::Case;
using testing::small_graph;
using testing::unused_copy;

constexpr std::uint64_t each = 2;  // of the first faults; a run takes some ten milliseconds

RunOptions on_gpu(Method method, Compress compress = Compress::off) {
  RunOptions way      = testing::by_method(method);
  way.device.kind     = DeviceChoice::Kind::cuda;
  way.cuda            = testing::on_gpu(Filter::just_in_time, Fusion::all, true);
  way.supply.compress = compress;
  if (compress == Compress::on) way.supply.chunk_arcs = 24;
  return way;
}

/// What is no program has its rows on the device or reads them in place.
std::vector<RunOptions> methods(bool program) {
  std::vector<RunOptions> ways{on_gpu(Method::frontier), on_gpu(Method::zerocopy)};
  if (program)
    for (const auto& way : {on_gpu(Method::zerocopy, Compress::on), on_gpu(Method::subgraph),
                            on_gpu(Method::partitions), on_gpu(Method::mixed)})
      ways.push_back(way);
  return ways;
}

/// Until its end, the n-th call fails.
class Fault {
 public:
  Fault(std::uint64_t n, std::string& failed) : failed_(failed) { emulator::fail_at(n); }
  Fault(const Fault&)            = delete;
  Fault& operator=(const Fault&) = delete;
  ~Fault() {
    failed_ = emulator::failed_call();
    emulator::fail_at(0);
  }

 private:
  std::string& failed_;
};

std::vector<std::string> names_on_gpu() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms())
    if (algorithm.on_gpu) names.push_back(algorithm.name);
  return names;
}

class GpuFault : public ::testing::TestWithParam<std::string> {
 protected:
  /// `check(ending, failed call, when)` after every fault.
  template <class Check>
  void fail_every_call(const Case& one, Check&& check) {
    const std::uint64_t left = testing::left_on_graph(one), held = emulator::held();
    testing::Numbers    numbers{each, one.name};
    for (std::string failed = "?"; !failed.empty() && !HasFailure();) {
      const std::uint64_t n      = numbers.next();
      Graph               graph  = unused_copy(small_graph());
      testing::Ending     ending = testing::ending_of([&] {
        const Fault fault{n, failed};
        return one.run(graph);
      });
      const std::string   when   = ", call " + std::to_string(n) + " failed: " + failed;
      check(ending, failed, one.name + when + ": " + ending.error);
      testing::expect_recovery(one, std::move(graph), std::move(ending), left, when);
      EXPECT_EQ(emulator::held(), held) << one.name << when;
    }
  }
};

TEST_P(GpuFault, EndsTheRunAndNothingElse) {
  for (const Case& one : testing::cases_of(GetParam(), methods)) {
    std::uint64_t errors = 0;
    fail_every_call(one, [&](const testing::Ending& ending, const std::string& failed, const std::string& when) {
      errors += ending.result ? 0 : 1;
      EXPECT_TRUE(!failed.empty() || ending.result) << when;
      EXPECT_NE(ending.code, ExitCode::bad_input) << when;
      if (ending.result) {
        EXPECT_EQ(ending.result->statistics.device, "cuda:0") << when;
      }
    });
    EXPECT_GT(errors, 0u) << one.name;
  }
}

/// Where nobody asked for a GPU by name, memory that it has not and a GPU that cannot be used are made good for.
TEST_P(GpuFault, IsMadeGoodByTheCpu) {
  static const std::set<std::string> made_good{"cudaMallocAsync",    "cudaMallocHost",
                                               "cudaHostRegister",   "cudaSetDevice",
                                               "cudaGetDeviceCount", "cudaDeviceGetDefaultMemPool"};
  std::size_t                        turn = testing::seed();
  for (Case& one : testing::cases_of(GetParam(), methods)) {
    if (++turn % 3 != 0 && !testing::full_matrix()) continue;
    one.way.device.kind = DeviceChoice::Kind::automatic;
    fail_every_call(one, [&](const testing::Ending& ending, const std::string& failed, const std::string& when) {
      EXPECT_TRUE(ending.result || !made_good.contains(failed)) << when;
      if (!ending.result || failed.empty()) return;
      const RunStatistics& statistics = ending.result->statistics;
      EXPECT_TRUE(statistics.device == "cuda:0" || statistics.device_note != "" || failed == "cudaGetDeviceCount")
          << when;
    });
  }
}

/// Between launches, of which there is one an iteration.
TEST_P(GpuFault, OfPatienceEndsTheRunAndNothingElse) {
  for (Case& one : testing::cases_of(GetParam(), methods)) {
    one.way.cuda.fusion      = Fusion::none;
    const std::uint64_t held = emulator::held();
    testing::expect_stops_at_every_look(one, each);
    EXPECT_EQ(emulator::held(), held) << one.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, GpuFault, ::testing::ValuesIn(names_on_gpu()),
                         [](const auto& test) { return test.param; });

TEST(GpuSideBySide, RunsOnOneGraphAreRight) {
  const std::uint64_t held = emulator::held();
  std::vector<Case>   cases;
  for (const std::string& name : names_on_gpu())
    for (Case& one : testing::cases_of(name, methods)) cases.push_back(std::move(one));
  testing::expect_right_side_by_side(std::move(cases));
  EXPECT_EQ(emulator::held(), held);
}

}  // namespace
}  // namespace spillway
#endif
