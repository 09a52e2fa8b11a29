// The n-th call into CUDA fails, n = 1, 2, … to the end; runs on a GPU that are stopped at the k-th look; and runs
// side by side on one graph. Calls fail in the emulator only.
#if defined(SPILLWAY_EMULATED)
#include <gtest/gtest.h>

#include <set>

#include "emulator.hpp"
#include "engine/cuda/staging.hpp"
#include "faults/cases.hpp"

namespace spillway {
namespace {

using testing::Case;
using testing::small_graph;
using testing::unused_copy;

constexpr std::uint64_t each = 2;  // of the first faults; a run takes some ten milliseconds

RunOptions on_gpu(Method method, Compress compress = Compress::off) {
  RunOptions way      = testing::by_method(method);
  way.device.kind     = cuda_kind();
  way.cuda            = testing::on_gpu(Filter::just_in_time, Fusion::all, true);
  way.supply.compress = compress;
  if (compress == Compress::on) way.supply.coding_batch_arcs = 24;
  return way;
}

/// What is no program has its rows on the device or reads them in place.
std::vector<RunOptions> methods(bool program) {
  std::vector<RunOptions> ways{on_gpu(method_named("frontier")), on_gpu(method_named("zerocopy"))};
  if (program)
    for (const auto& way : {on_gpu(method_named("zerocopy"), Compress::on), on_gpu(method_named("subgraph")),
                            on_gpu(method_named("partitions")), on_gpu(method_named("partitions"), Compress::on),
                            on_gpu(method_named("mixed"))})
      ways.push_back(way);
  return ways;
}

/// What the program has not given back, beside pinned memory that it keeps for the next run: the next is to pin
/// its own, and that may fail.
std::uint64_t held_now() {
  cuda::IdleRings::instance().clear();
  return emulator::held();
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
    const std::uint64_t left = testing::left_on_graph(one), held = held_now();
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
      EXPECT_EQ(held_now(), held) << one.name << when;
    }
  }
};

/// The default, and some of the others.
std::vector<Case> some_cases(const std::string& name, std::size_t one_of) {
  std::vector<Case> all  = testing::cases_of(name, methods), some;
  const std::size_t turn = testing::seed() + std::hash<std::string>{}(name);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i == 0 || (i + turn) % one_of == 0 || testing::full_matrix()) some.push_back(std::move(all[i]));
  return some;
}

/// Not with every algorithm, but with some.
TEST(GpuFaultTurns, EveryMethodHasOne) {
  for (const std::size_t one_of : {3u, 4u}) {
    std::set<std::string> all, had;
    for (const RunOptions& way : methods(true)) all.insert(testing::as_text(way));
    for (const std::string& name : names_on_gpu())
      for (const Case& one : some_cases(name, one_of)) had.insert(testing::as_text(one.way));
    for (const std::string& way : all) EXPECT_TRUE(had.contains(way)) << way;
  }
}

TEST_P(GpuFault, EndsTheRunAndNothingElse) {
  for (const Case& one : some_cases(GetParam(), 3)) {
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
  for (Case& one : some_cases(GetParam(), 4)) {
    one.way.device.kind = DeviceKind{};
    fail_every_call(one, [&](const testing::Ending& ending, const std::string& failed, const std::string& when) {
      EXPECT_TRUE(ending.result || !made_good.contains(failed)) << when;
      if (!ending.result || failed.empty()) return;
      const RunStatistics& statistics = ending.result->statistics;
      EXPECT_TRUE(statistics.device == "cuda:0" || statistics.device_note != "" || failed == "cudaGetDeviceCount")
          << when;
    });
  }
}

/// A graph of loops at one vertex, asked about another: nothing to do but to bring its edges.
struct Loops {
  explicit Loops(std::uint64_t arcs, RunOptions with) : way(with) {
    const std::vector<Vertex> ones(arcs, 1);
    graph         = from_arcs(ones, ones, {}, WeightType::none, 2);
    way.direction = Direction::push, way.cuda.order = VertexOrder::natural;
  }

  Result          ask(const Graph& of) const { return algorithm_named("bfs").run(of, values(), way); }
  ParameterValues values() const { return *testing::filled(algorithm_named("bfs"), graph, {}); }

  RunOptions way;
  Graph      graph;
};

/// Large arrays are pinned where they lie, or sent in parts.
void expect_large_arrays_recover(const Loops& loops, std::set<std::string>& failed_calls) {
  const std::uint64_t held = held_now();
  testing::Numbers    numbers{4, "loops"};
  for (std::string failed = "?"; !failed.empty();) {
    const std::uint64_t n = numbers.next();
    {
      const Graph     graph  = unused_copy(loops.graph);
      testing::Ending ending = testing::ending_of([&] {
        const Fault fault{n, failed};
        return loops.ask(graph);
      });
      EXPECT_EQ(ending.result.has_value(), ending.error.empty()) << failed;
      const Result again = loops.ask(graph);
      EXPECT_EQ(algorithm_named("bfs").verify(graph, loops.values(), again, {}).problem, "") << failed;
    }
    EXPECT_EQ(held_now(), held) << "call " << n << " failed: " << failed;
    failed_calls.insert(failed);
  }
}

TEST(GpuFaults, OfLargeArraysEndTheRunAndNothingElse) {
  std::set<std::string> in_place, in_parts;
  expect_large_arrays_recover(Loops{300'000, on_gpu(method_named("zerocopy"))}, in_place);
  expect_large_arrays_recover(Loops{5'000'000, on_gpu(method_named("frontier"))}, in_parts);
  if (!testing::full_matrix()) return;
  EXPECT_TRUE(in_place.contains("cudaHostRegister"));
  EXPECT_TRUE(in_parts.contains("cudaEventRecord") && in_parts.contains("cudaEventSynchronize"));
}

/// Between launches, of which there is one an iteration.
TEST_P(GpuFault, OfPatienceEndsTheRunAndNothingElse) {
  for (Case& one : testing::cases_of(GetParam(), methods)) {
    one.way.cuda.fusion      = Fusion::none;
    const std::uint64_t held = held_now();
    testing::expect_stops_at_every_look(one, each);
    EXPECT_EQ(held_now(), held) << one.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, GpuFault, ::testing::ValuesIn(names_on_gpu()),
                         [](const auto& test) { return test.param; });

TEST(GpuSideBySide, RunsOnOneGraphAreRight) {
  const std::uint64_t held = held_now();
  std::vector<Case>   cases;
  for (const std::string& name : names_on_gpu())
    for (Case& one : testing::cases_of(name, methods)) cases.push_back(std::move(one));
  testing::expect_right_side_by_side(std::move(cases));
  EXPECT_EQ(held_now(), held);
}

}  // namespace
}  // namespace spillway
#endif
