// Runs that are repeated, each time with another fault: every algorithm by every method, on one small graph. What
// must hold afterwards is the same for all faults: a right answer or one error, nothing kept, and a right answer
// the next time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/trying.hpp"
#include "ways.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/engine/transfer.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>

namespace spillway::testing {

struct Case {
  const Algorithm* algorithm;
  ParameterValues  values;
  RunOptions       way;
  std::string      name;

  Result run(const Graph& graph, Progress* progress = nullptr) const {
    RunOptions options = way;
    options.progress   = progress;
    return algorithm->run(graph, values, options);
  }
};

/// Directed and weighted, with hubs, loops and parallel arcs.
inline const Graph& small_graph() {
#if defined(SPILLWAY_EMULATED)  // which takes its time
  static const Graph graph = with_random_weights(generate("kron", {{"scale", "3"}, {"degree", "3"}}), 1);
#else
  static const Graph graph = with_random_weights(generate("kron", {{"scale", "6"}, {"degree", "8"}}), 1);
#endif
  return graph;
}

/// The same arrays as a graph that no run has used, with a budget of its own: whatever that counts, runs took.
inline Graph unused_copy(const Graph& graph, std::uint64_t limit = std::uint64_t{1} << 30) {
  Graph::Parts parts;
  parts.out         = graph.out();
  parts.ids         = graph.ids();
  parts.weight_type = graph.weight_type();
  parts.symmetric   = graph.symmetric();
  parts.name        = "small graph";
  parts.budget      = std::make_shared<MemoryBudget>(limit);
  return Graph{std::move(parts)};
}

/// What a run ended with.
struct Ending {
  std::optional<Result> result;
  ExitCode              code = ExitCode::done;
  std::string           error;
};

/// Any other exception than these is nobody's to handle, and fails the test.
template <class Run>
Ending ending_of(Run&& run) {
  Ending ending;
  try {
    ending.result = run();
  } catch (const Error& error) {
    ending.code = error.code(), ending.error = error.what();
  } catch (const std::bad_alloc& error) {
    ending.code = ExitCode::does_not_fit, ending.error = error.what();
  }
  return ending;
}

/// Checked on the original graph: checks must not take from the budget that a test watches.
inline void expect_right(const Case& one, const Result& result, const std::string& when) {
  const Verdict verdict = one.algorithm->verify(small_graph(), one.values, result, {.by = CheckBy::oracle});
  EXPECT_EQ(verdict.problem, "") << one.name << when;
}

/// Bytes that a run leaves on a graph for the next one: in-edges, and what else was built on demand.
inline std::uint64_t left_on_graph(const Case& one) {
  const Graph graph = unused_copy(small_graph());
  expect_right(one, one.run(graph), "");
  return graph.budget()->used();
}

/// After a fault: a right answer or an error that says something, nothing held beside what runs leave on a graph,
/// a right answer the next time, and nothing held when the graph is gone.
inline void expect_recovery(const Case& one, Graph graph, Ending ending, std::uint64_t left,
                            const std::string& when) {
  const std::shared_ptr<MemoryBudget> budget = graph.budget();
  if (ending.result)
    expect_right(one, *ending.result, when);
  else
    EXPECT_NE(ending.error, "") << one.name << when;
  ending = {};
  EXPECT_LE(budget->used(), left) << one.name << when;
  {
    const Graph last   = std::move(graph);
    Ending      second = ending_of([&] { return one.run(last); });
    EXPECT_EQ(second.error, "") << one.name << ", run again" << when;
    if (second.result) expect_right(one, *second.result, ", run again" + when);
  }
  EXPECT_EQ(budget->used(), 0u) << one.name << when;
}

/// 1, 2, 3, …, and past the first `each` with growing gaps, which the seed and `salt` decide; all of them, if the
/// whole matrix is asked for.
class Numbers {
 public:
  /// Gaps grow to a `share` of what lies before them.
  Numbers(std::uint64_t each, const std::string& salt, std::uint64_t share = default_share)
      : each_(full_matrix() ? ~std::uint64_t{0} : each),
        share_(share),
        random_(seed() ^ std::hash<std::string>{}(salt)) {}

  std::uint64_t next() {
    const std::uint64_t most_left_out = last_ < each_ ? 0 : last_ / share_;
    return last_ += 1 + random_() % (most_left_out + 1);
  }

 private:
#if defined(SPILLWAY_EMULATED)
  static constexpr std::uint64_t default_share = 1;
#else
  static constexpr std::uint64_t default_share = 4;
#endif

  std::uint64_t   each_, share_, last_ = 0;
  std::mt19937_64 random_;
};

/// Windows so small that the graph needs many of them.
inline RunOptions by_method(Method method) {
  RunOptions way{.threads = 2, .tuning = tiny(), .method = method};
  way.device.kind     = cpu_kind();
  way.supply.compress = Compress::off;
  if (method != method_named("frontier")) way.supply.resident = 200;
  if (method->transfers)
    way.supply.window = 128, way.supply.chunk = 3, way.supply.staged = 40, way.supply.descriptors = 7;
  if (method == method_named("mixed")) way.supply.rates = balanced();
  return way;
}

inline std::vector<RunOptions> methods_on_cpu(bool program) {
  if (!program) return {by_method(method_named("frontier"))};
  return {by_method(method_named("frontier")), by_method(method_named("subgraph")),
          by_method(method_named("partitions")), by_method(method_named("mixed"))};
}

/// Emulated, each iteration takes its time, and the third is like the second.
inline ParameterValues shortened(const Algorithm& algorithm, ParameterValues values) {
#if defined(SPILLWAY_EMULATED)
  if (std::ranges::find(algorithm.parameters, "iterations", &Parameter::name) != algorithm.parameters.end())
    values.emplace("iterations", "2");
#else
  static_cast<void>(algorithm);
#endif
  return values;
}

/// An algorithm by all methods that concern it, with its default parameters; with others by one method each. Runs
/// from every vertex only do the same again.
template <class Methods>
std::vector<Case> cases_of(const std::string& name, Methods&& methods) {
  const Algorithm&  algorithm = algorithm_named(name);
  std::vector<Case> cases;
  std::size_t       turn = seed();
  for (const ParameterValues& variant : variants_of(name)) {
    if (variant.contains("sources") && variant.at("sources") != "4") continue;
    const auto values = filled(algorithm, small_graph(), shortened(algorithm, variant));
    const auto ways   = methods(is_program(name, *values));
    for (std::size_t i = 0; i < ways.size(); ++i)
      if (variant.empty() || variant.contains("sources") || i == turn % ways.size())
        cases.push_back({&algorithm, *values, ways[i], name + as_text(variant) + as_text(ways[i])});
    ++turn;
  }
  return cases;
}

inline std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : algorithms()) names.push_back(algorithm.name);
  return names;
}

/// Asks to stop once, at the k-th look.
class StopsAt : public Progress {
 public:
  explicit StopsAt(std::uint64_t k) : k_(k) {}

  bool cancelled() const override { return ++looks_ == k_; }
  bool stopped() const { return looks_ >= k_; }

 private:
  std::uint64_t                      k_;
  mutable std::atomic<std::uint64_t> looks_ = 0;
};

/// Whoever was asked to stop says so.
inline void expect_stops_at_every_look(const Case& one, std::uint64_t each) {
  const std::uint64_t left = left_on_graph(one);
  Numbers             looks{each, one.name};
  for (bool stopped = true; stopped && !::testing::Test::HasFailure();) {
    const std::uint64_t k     = looks.next();
    const std::string   when  = ", stopped at look " + std::to_string(k);
    Graph               graph = unused_copy(small_graph());
    StopsAt             progress{k};
    Ending              ending = ending_of([&] { return one.run(graph, &progress); });
    stopped                    = progress.stopped();
    EXPECT_EQ(ending.code, stopped ? ExitCode::interrupted : ExitCode::done) << one.name << when;
    expect_recovery(one, std::move(graph), std::move(ending), left, when);
  }
}

/// Each case at once with another one, on one graph that neither has used.
inline void expect_right_side_by_side(std::vector<Case> cases) {
  std::ranges::shuffle(cases, std::mt19937_64{seed()});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case &                        one = cases[i], &other = cases[(i + 1) % cases.size()];
    const std::string                   beside = ", beside " + other.name;
    std::optional<Graph>                graph  = unused_copy(small_graph());
    const std::shared_ptr<MemoryBudget> budget = graph->budget();
    {
      Ending      second;
      std::thread thread{[&] { second = ending_of([&] { return other.run(*graph); }); }};
      Ending      first = ending_of([&] { return one.run(*graph); });
      thread.join();
      EXPECT_EQ(first.error + second.error, "") << one.name << beside;
      if (first.result) expect_right(one, *first.result, beside);
      if (second.result) expect_right(other, *second.result, ", beside " + one.name);
    }
    graph.reset();
    EXPECT_EQ(budget->used(), 0u) << one.name << beside;
  }
}

}  // namespace spillway::testing
