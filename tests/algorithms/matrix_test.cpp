// Every registered algorithm on the whole zoo and on random graphs, in ways that have every pair of two options,
// against its own oracle and its own property checks. An algorithm joins by registering. Ways take turns; each is
// proven to have had one, and each run to have used the device, method, encoding, direction, resident bytes,
// fusion and asynchrony that it asked for.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "algorithms/trying.hpp"
#include "devices/devices.hpp"
#include "ways.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/error.hpp>

namespace spillway {
namespace {

using testing::all_ways;
using testing::as_text;
using testing::filled;
using testing::is_left_to_method;
using testing::is_program;
using testing::Turns;
using testing::variants_of;
using testing::with_weights_for;

#if defined(SPILLWAY_EMULATED)  // which takes its time
constexpr std::size_t   ways_a_graph  = 1;
constexpr std::uint64_t random_graphs = 12;
constexpr std::size_t   variants_each = 1;  // of parameters, by turns
constexpr std::uint64_t all_sources   = 16;
#elif defined(SPILLWAY_TEST_ON_GPU)
constexpr std::size_t   ways_a_graph  = 8;
constexpr std::uint64_t random_graphs = 20;
constexpr std::size_t   variants_each = 100;
constexpr std::uint64_t all_sources   = 64;
#else
constexpr std::size_t   ways_a_graph  = 2;
constexpr std::uint64_t random_graphs = 80;
constexpr std::size_t   variants_each = 4;
constexpr std::uint64_t all_sources   = 64;
#endif

/// One of each number of threads.
std::vector<std::size_t> ways_by_threads() {
  std::vector<std::size_t> ways;
  std::set<int>            seen;
  for (std::size_t i = 0; i < all_ways().size(); ++i)
    if (all_ways()[i].method == method_named("frontier") && seen.insert(all_ways()[i].threads).second)
      ways.push_back(i);
  return ways;
}

class EveryAlgorithm : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
#if defined(SPILLWAY_TEST_ON_GPU)
#if defined(SPILLWAY_EMULATED)
    ASSERT_FALSE(cuda_devices().devices.empty());
#endif
    if (cuda_devices().devices.empty()) GTEST_SKIP() << "no GPU on this machine";
    if (algorithm_.makes_a_graph) GTEST_SKIP() << "its answers are graphs, which are made on the CPU";
    ASSERT_TRUE(algorithm_.on_gpu) << "its program has no line SPILLWAY_DEVICE_PROGRAM";
#endif
  }

  /// In some ways, with each variant of its parameters.
  void expect_right(const Graph& given, const std::string& what) {
    const Graph graph    = with_weights_for(algorithm_, given);
    const auto  variants = variants_of(algorithm_.name);
    ++graphs_;
    for (std::size_t v = 0; v < variants.size(); ++v) {
      if (!testing::full_matrix() && (v + graphs_) % variants.size() >= variants_each) continue;
      auto values = filled(algorithm_, graph, variants[v]);
      if (!values || takes_too_long(*values, graph)) continue;
#if defined(SPILLWAY_EMULATED)
      if (graphs_ % 4 != 0 && !testing::full_matrix())
        for (const Parameter& parameter : algorithm_.parameters)
          if (parameter.name == "iterations" && values->at("iterations") == parameter.default_value)
            (*values)["iterations"] = "6";
#endif
      const bool program = is_program(algorithm_.name, *values);
      const bool left    = is_left_to_method(algorithm_.name, *values);

      (left ? any_left_ : program ? any_program_ : any_other_) = true;
      Turns& turns = left ? turns_by_method_ : program ? turns_ : turns_by_threads_;
      for (const std::size_t turn : turns.next()) {
        const RunOptions& way        = all_ways()[program ? turn : by_threads_[turn]];
        const bool        as_program = is_program(algorithm_.name, *values, way);
        const bool        gone       = try_way(graph, *values, way, as_program, what);
        // A graph without arcs needs no way, and a program that refused one did not go it.
        if (gone && graph.arc_count() > 0) turns.used(turn);
      }
    }
  }

  /// Whether a way is still to have its turn.
  bool some_wait() const {
    return (any_program_ && !waiting(turns_, nullptr).empty()) ||
           (any_left_ && !waiting(turns_by_method_, nullptr).empty()) ||
           (any_other_ && !waiting(turns_by_threads_, &by_threads_).empty());
  }

  /// That all had a turn, and which.
  void expect_all_used() {
    if (any_program_) expect_used(turns_, nullptr);
    if (any_left_) expect_used(turns_by_method_, nullptr);
    if (any_other_) expect_used(turns_by_threads_, &by_threads_);
    if (any_program_) expect_all_seen();
  }

 private:
  /// Ways that had no turn. Those that insist on asynchrony are left to programs that can.
  std::vector<std::size_t> waiting(const Turns& turns, const std::vector<std::size_t>* ways) const {
    std::vector<std::size_t> all;
    for (const std::size_t turn : turns.unused()) {
      const std::size_t i = ways ? (*ways)[turn] : turn;
      if (all_ways()[i].supply.async != Async::on || refused_ == 0) all.push_back(i);
    }
    return all;
  }

  void expect_used(const Turns& turns, const std::vector<std::size_t>* ways) {
    for (const std::size_t i : waiting(turns, ways))
      ADD_FAILURE() << algorithm_.name << " was never run" << as_text(all_ways()[i]);
    std::printf("%s: %s; %llu runs, %llu refused asynchrony\n", algorithm_.name.c_str(), turns.as_text().c_str(),
                static_cast<unsigned long long>(runs_), static_cast<unsigned long long>(refused_));
  }

  /// A run from every vertex, in every way, is for small graphs.
  static bool takes_too_long(const ParameterValues& values, const Graph& graph) {
    const auto          sources = values.find("sources");
    const std::uint64_t most    = testing::full_matrix() ? 64 : all_sources;
    return sources != values.end() && sources->second == "all" && graph.vertex_count() > most;
  }

  /// Programs that need a certain order of updates refuse to run asynchronously, and say so.
  Result result_of(const Graph& graph, const ParameterValues& values, const RunOptions& way) {
    ++runs_;
    try {
      return algorithm_.run(graph, values, way);
    } catch (const Error& error) {
      const bool says_so = std::string{error.what()}.find("asynchronously") != std::string::npos;
      if (way.supply.async != Async::on || error.code() != ExitCode::usage || !says_so) throw;
    }
    ++refused_;
    return algorithm_.run(graph, values, testing::for_any_program(way));
  }

  /// Whether it was this way that was gone.
  bool try_way(const Graph& graph, const ParameterValues& values, RunOptions way, bool program,
               const std::string& what) {
    const bool other = algorithm_.makes_a_graph || !algorithm_.vertex_program;
    if (way.device.kind->of_cpu_executors && other) way.device.kind = cpu_kind();
    const std::string   asked   = algorithm_.name + as_text(values) + " on " + what + as_text(way);
    const std::uint64_t refused = refused_;
    const Result        result  = result_of(graph, values, way);
    if (graph.vertex_count() > 0) {  // otherwise there is nothing to compute
      EXPECT_EQ(result.statistics.device, way.device.kind == cuda_kind() ? "cuda:0" : way.device.kind->name)
          << asked;
      if (program) {
        EXPECT_EQ(testing::deviation(way, result.statistics, algorithm_.name), "") << asked;
      }
      note_seen(way, result.statistics);
    }
    for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
      EXPECT_EQ(algorithm_.verify(graph, values, result, {.by = by}).problem, "") << asked;
    EXPECT_EQ(result.graph.has_value(), algorithm_.makes_a_graph);
    return refused == refused_;
  }

  void note_seen(const RunOptions& way, const RunStatistics& statistics) {
    seen_.insert("method " + (statistics.method.empty() ? "frontier" : statistics.method));
    if (statistics.compressed) seen_.insert("compressed");
    if (statistics.counters.local_rounds > 0) seen_.insert("asynchronously");
    for (const IterationStatistics& iteration : statistics.per_iteration)
      seen_.insert(std::string{to_string(iteration.direction)});
    if (way.device.memory > 0) {
      EXPECT_LE(statistics.device_bytes, way.device.memory);
    }
  }

  /// All methods, the encoding, asynchrony and both directions, where the algorithm has them.
  void expect_all_seen() {
    std::set<std::string> expected{"push"};
    for (const RunOptions& way : all_ways()) {
      expected.insert("method " + std::string{way.method->name});
      if (way.supply.compress == Compress::on) expected.insert("compressed");
      if (way.supply.async == Async::on && refused_ == 0) expected.insert("asynchronously");
    }
    if (algorithm_.name != "sssp") expected.insert("pull");
    for (const std::string& one : expected)
      EXPECT_TRUE(seen_.contains(one)) << algorithm_.name << " never ran: " << one;
  }

  const Algorithm&               algorithm_  = algorithm_named(GetParam());
  const std::vector<std::size_t> by_threads_ = ways_by_threads();
  const std::size_t              at_once_    = testing::full_matrix() ? all_ways().size() : ways_a_graph;
  Turns                          turns_{all_ways().size(), at_once_, algorithm_.name};
  Turns                          turns_by_method_{all_ways().size(), at_once_, algorithm_.name};
  const std::size_t              threads_at_once_ = testing::full_matrix() ? by_threads_.size() : 1;
  Turns                          turns_by_threads_{by_threads_.size(), threads_at_once_, algorithm_.name};
  bool                           any_program_ = false, any_left_ = false, any_other_ = false;
  std::size_t                    graphs_ = 0;
  std::set<std::string>          seen_;
  std::uint64_t                  runs_ = 0, refused_ = 0;
};

/// Distances over weights near 2^32 do not fit, which sssp says (paths_test.cpp); there is nothing to compare.
bool overflows(const std::string& algorithm, const std::string& member) {
  return algorithm == "sssp" && member == "weights_large";
}

TEST_P(EveryAlgorithm, IsRightOnTheZooAndOnRandomGraphs) {
  for (const auto& member : testing::zoo())
    if (!overflows(GetParam(), member.name)) expect_right(member.graph, member.name);
  // More than planned where parameters or graphs left some ways without a turn.
  const std::uint64_t graphs = testing::full_matrix() ? 200 : random_graphs;
  for (std::uint64_t i = 0; i < graphs || (some_wait() && i < graphs + 200); ++i) {
    const std::uint64_t seed = testing::seed() * 1'000'000 + i;
    expect_right(testing::random_graph(seed), "random graph " + std::to_string(seed));
  }
  expect_all_used();
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Algorithm& algorithm : algorithms()) all.push_back(algorithm.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace spillway
