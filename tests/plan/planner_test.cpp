// The planner on machines that are made up, on samples of real graphs, and against what an H200 measured.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plan/planner.hpp"

#include <spillway/generate.hpp>
#include <spillway/graph.hpp>

namespace spillway {
namespace {

constexpr std::uint64_t GB = 1'000'000'000, MB = 1'000'000;

GraphSample sample_of(const Graph& graph, bool weighted = false) {
  const Csr& out = graph.out();
  return sampled(
      {{out.offsets.data(), out.targets.data(), out.weights.data()}, 0, static_cast<Vertex>(out.vertex_count())},
      out.vertex_count(), weighted);
}

Graph undirected(const char* kind, const ParameterValues& values, double weights = 0) {
  GenerateOptions options;
  options.transform = {.undirected = true, .dedup = true, .drop_loops = true};
  if (weights > 0) options.weight_type = WeightType::u32, options.weight_max = weights;
  return generate(kind, values, options);
}

const GraphSample& kron_sample() {
  static const GraphSample sample = [] {
    GraphSample made = sample_of(undirected("kron", {{"scale", "16"}}));
    made.code_bytes  = 14.6 / 8;  // as kron24 has it: gaps grow with the graph
    return made;
  }();
  return sample;
}

/// A grid four times as wide as the one that is sampled.
const GraphSample& grid_sample() {
  static const GraphSample sample = [] {
    GraphSample made = sample_of(undirected("grid", {{"rows", "512"}, {"columns", "512"}, {"remove", "0.1"}}));
    made.levels *= 4;
    return made;
  }();
  return sample;
}

const GraphSample& uniform_sample() {
  static const GraphSample sample = [] {
    GraphSample made = sample_of(undirected("uniform", {{"vertices", "65536"}, {"degree", "16"}}));
    made.code_bytes  = 2.73;  // as urand22 has it
    return made;
  }();
  return sample;
}

struct GraphOf {
  const char*   name;
  std::uint64_t vertices, arcs;
  const GraphSample& (*sample)();
};
constexpr GraphOf kron24{"kron24", 16'777'216, 520'800'000, kron_sample};
constexpr GraphOf grid2048{"grid2048", 4'194'304, 15'100'000, grid_sample};
constexpr GraphOf urand22{"urand22", 4'194'304, 134'200'000, uniform_sample};

enum class Kind { votes, ranks, buckets, improves };

struct Machine {
  std::uint64_t memory      = 0;
  Rates         rates       = {};
  bool          may_use_cpu = false;
};

struct Asked {
  GraphOf  graph;
  Kind     kind;
  double   resident   = 0;  ///< share of the edges that there is room for
  unsigned iterations = 20, runs = 1;
  double   forgone  = 0;
  bool     weighted = false;
  double   sides    = 1;
  bool     gathers  = false;

  const AlgorithmWork* work = nullptr;
};

Placement chosen(const Asked& asked, const Machine& machine, RunOptions options = {}, RowForm form = RowForm::any,
                 int* measured = nullptr, const Forgone& forgone = {}) {
  options.runs              = asked.runs;
  const std::uint64_t state = asked.graph.vertices * 24;
  RunFacts            run{.options          = options,
                          .vertices         = asked.graph.vertices,
                          .arcs             = asked.graph.arcs,
                          .weighted         = asked.weighted,
                          .all_active       = asked.kind == Kind::ranks,
                          .voting           = asked.kind == Kind::votes,
                          .prioritised      = asked.kind == Kind::buckets,
                          .supports_async   = asked.kind != Kind::ranks,
                          .may_reorder      = asked.kind == Kind::ranks,
                          .may_use_cpu      = machine.may_use_cpu,
                          .sides            = asked.sides,
                          .form             = form,
                          .max_iterations   = asked.iterations,
                          .state            = state,
                          .state_in_windows = state,
                          .gathers          = asked.gathers,
                          .work             = asked.work};
  const std::uint64_t room = machine.memory > 0 ? machine.memory : 140 * GB;
  if (machine.memory == 0)
    options.supply.resident = static_cast<std::uint64_t>(asked.resident * static_cast<double>(run.edge_bytes()));
  GpuFacts device{.name      = "made up",
                  .room      = room,
                  .holds_all = machine.memory > 0 && state + run.edge_bytes() + 8 * run.vertices <= room,
                  .cache     = 50'000'000,
                  .forgone   = {.compressed = asked.forgone},
                  .rates =
                      [&] {
                        if (measured) ++*measured;
                        return machine.rates;
                      },
                  .sample = asked.graph.sample};
  device.known_rates = [&] { return machine.rates; };
  device.forgone += forgone;
  return chosen_placement(run, device);
}

std::string name_of(const PlanCandidate& candidate) {
  if (candidate.on_cpu()) return "cpu";
  return std::string{candidate.method->name} + (candidate.order == VertexOrder::degree ? " hubs first" : "") +
         (candidate.compressed ? " compressed" : "") + (candidate.asynchronous ? " asynchronous" : "");
}

/// So many cores as the usual ones.
Rates of_cores(double cores) {
  constexpr double usual = 16;
  Rates            rates;
  rates.host_visited *= cores / usual, rates.host_visited_far *= cores / usual;
  return rates;
}

Rates over(double bus) {
  Rates rates;
  rates.sent = rates.gathered = rates.read = bus;
  return rates;
}

struct Case {
  const char* what;
  Asked       asked;
  Machine     machine;
  const char* choice;
};

const Case cases[] = {
    {"a large GPU", {kron24, Kind::votes}, {140 * GB}, "frontier"},
    {"ranks on it", {kron24, Kind::ranks}, {140 * GB}, "frontier"},
    {"a search", {kron24, Kind::votes, 0.25}, {}, "zerocopy"},
    {"a search, no room", {kron24, Kind::votes}, {}, "zerocopy"},
    {"shortest paths", {kron24, Kind::buckets, 0.25}, {}, "mixed"},
    {"widest paths, no room for edges", {kron24, Kind::improves}, {}, "mixed"},
    {"ranks, few iterations", {kron24, Kind::ranks, 0.25, 4}, {}, "partitions"},
    {"ranks, many", {kron24, Kind::ranks, 0.25, 40}, {}, "partitions compressed"},
    {"ranks, few iterations, asked fifty times", {kron24, Kind::ranks, 0.25, 4, 50}, {}, "partitions compressed"},
    {"ranks, few, after many that compression would have spared",
     {kron24, Kind::ranks, 0.25, 4, 1, 0.6},
     {},
     "partitions compressed"},
    {"ranks over a bus like NVLink", {kron24, Kind::ranks, 0.25, 20}, {.rates = over(400e9)}, "partitions"},
    {"ranks, a slow bus", {kron24, Kind::ranks, 0.25, 4}, {.rates = over(6e9)}, "partitions compressed"},
    {"ranks on a grid, which hardly shrinks", {grid2048, Kind::ranks, 0.25, 20}, {}, "partitions"},
    {"a search in a grid", {grid2048, Kind::votes, 0.25}, {}, "zerocopy"},
    {"paths in a grid", {grid2048, Kind::improves, 0}, {}, "zerocopy"},
    {"paths in a grid, where every launch is slow and the bus is far",
     {grid2048, Kind::improves, 0},
     {.rates = {.latency = 1e-3}},
     "subgraph asynchronous"},
    {"ranks on a large GPU, a few iterations", {kron24, Kind::ranks, 0, 10}, {140 * GB}, "frontier"},
    {"ranks on it, many iterations, ten times",
     {kron24, Kind::ranks, 0, 200, 10},
     {140 * GB},
     "frontier hubs first"},
    {"ranks on it, a few, asked fifty times", {kron24, Kind::ranks, 0, 10, 50}, {140 * GB}, "frontier hubs first"},
    {"ranks on it, of a grid that its cache holds", {grid2048, Kind::ranks, 0, 200}, {140 * GB}, "frontier"},
    {"ranks on it, where hubs are read from memory as quickly as from the cache",
     {kron24, Kind::ranks, 0, 200},
     {140 * GB, {.visited_far = Rates{}.visited}},
     "frontier"},
    {"a search, once, beside 128 cores", {kron24, Kind::votes, 0.25}, {0, of_cores(128), true}, "cpu"},
    {"a search, fifty times, beside 16 cores",
     {kron24, Kind::votes, 0.25, 20, 50},
     {0, of_cores(16), true},
     "zerocopy"},
    {"a search, once, beside one core", {kron24, Kind::votes, 0.25}, {0, of_cores(1), true}, "zerocopy"},
    {"shortest paths, once, beside 128 cores",
     {kron24, Kind::buckets, 0.25, 20, 1, 0, true},
     {0, of_cores(128), true},
     "cpu"},
    {"shortest paths, once, beside 16 cores",
     {kron24, Kind::buckets, 0.25, 20, 1, 0, true},
     {0, of_cores(16), true},
     "mixed"},
    {"ranks beside 16 cores", {kron24, Kind::ranks, 0.25, 20}, {0, of_cores(16), true}, "partitions"},
    {"ranks beside 1,024 cores", {kron24, Kind::ranks, 0.25, 20}, {0, of_cores(1024), true}, "cpu"},
    {"a search on a large GPU beside 128 cores",
     {kron24, Kind::votes},
     {140 * GB, of_cores(128), true},
     "frontier"},
    {"a search of a directed graph, both sides of which are pinned to be read in place",
     {kron24, Kind::votes, 0.25, 20, 1, 0, false, 2},
     {},
     "mixed"},
    {"a small GPU, without room for windows", {kron24, Kind::ranks, 0, 10}, {650 * MB}, "zerocopy"},
};

TEST(Planner, IsAFunctionOfTheFacts) {
  for (const Case& one : cases) {
    const Placement placement = chosen(one.asked, one.machine);
    EXPECT_EQ(name_of(placement.best()), one.choice) << one.what;
    std::string list;
    for (const PlanCandidate& each : placement.candidates)
      list += fmt::format("  {} {} + {} ms {}\n", name_of(each), each.prepare_ms, each.run_ms, each.excluded);
    if (name_of(placement.best()) != one.choice) ADD_FAILURE() << list;
    EXPECT_FALSE(placement.why.empty()) << one.what;
  }
}

/// The work of an algorithm that is no program, on a graph like a small one that is made for it.
AlgorithmWork scaled_work(const GraphOf& graph, AlgorithmWork (*of)(const Graph&)) {
  const bool    grid  = &graph.sample() == &grid_sample();
  const Graph   small = grid ? undirected("grid", {{"rows", "512"}, {"columns", "512"}, {"remove", "0.1"}})
                             : undirected("kron", {{"scale", "16"}});
  AlgorithmWork work  = of(small);
  work.lookups *= static_cast<double>(graph.arcs) / static_cast<double>(small.arc_count());
  work.topology = {.vertices = graph.vertices, .arcs = graph.arcs, .push = {}, .pull = {}};
  return work;
}

struct WorkCase {
  const char* what;
  GraphOf     graph;
  AlgorithmWork (*work)(const Graph&);
  unsigned    runs;
  Machine     machine;
  const char* choice;
};

AlgorithmWork triangles_of(const Graph& graph) { return work_of_triangles(graph.simple()); }
AlgorithmWork ten_rounds_of(const Graph& graph) { return work_of_labels(graph, 10); }
AlgorithmWork messages_of(const Graph& graph) { return work_of_messages(graph.simple(), 20, 2); }

const WorkCase work_cases[] = {
    {"components on a large GPU", kron24, work_of_components, 1, {140 * GB, of_cores(128), true}, "frontier"},
    {"components, once, beside 16 cores", kron24, work_of_components, 1, {0, of_cores(16), true}, "cpu"},
    {"components, once, beside one core", kron24, work_of_components, 1, {0, of_cores(1), true}, "zerocopy"},
    {"components, fifty times, beside 16 cores",
     kron24,
     work_of_components,
     50,
     {0, of_cores(16), true},
     "zerocopy"},
    {"strong components of a grid: a sweep over all for every level, or frontiers",
     grid2048,
     work_of_strong_components,
     1,
     {0, of_cores(16), true},
     "cpu"},
    {"strong components of short paths", kron24, work_of_strong_components, 1, {0, of_cores(1), true}, "zerocopy"},
    {"triangles beside 16 cores", kron24, triangles_of, 1, {0, of_cores(16), true}, "zerocopy"},
    {"triangles beside 1,024 cores", kron24, triangles_of, 1, {0, of_cores(1024), true}, "cpu"},
    {"triangles over a slow bus", kron24, triangles_of, 1, {0, over(0.5e9), true}, "cpu"},
    {"labels beside 16 cores", kron24, ten_rounds_of, 1, {0, of_cores(16), true}, "zerocopy"},
    {"labels beside 1,024 cores", kron24, ten_rounds_of, 1, {0, of_cores(1024), true}, "cpu"},
    {"messages beside 16 cores", kron24, messages_of, 1, {0, of_cores(16), true}, "zerocopy"},
    {"messages over a slow bus", kron24, messages_of, 1, {0, over(0.5e9), true}, "cpu"},
    {"components where an option of GPUs was given",
     kron24,
     work_of_components,
     1,
     {0, of_cores(128)},
     "zerocopy"},
};

TEST(Planner, ComparesAlgorithmsThatAreNoProgramsWithTheCpu) {
  for (const WorkCase& one : work_cases) {
    const AlgorithmWork work = scaled_work(one.graph, one.work);
    Asked               asked{one.graph, Kind::improves, 0, 0, one.runs};
    asked.work                = &work;
    const Placement placement = chosen(asked, one.machine, {}, work.form);
    std::string     list;
    bool            has_cpu = false;
    for (const PlanCandidate& each : placement.candidates) {
      list += fmt::format("  {} {} + {} ms {}\n", name_of(each), each.prepare_ms, each.run_ms, each.excluded);
      has_cpu |= each.on_cpu();
      EXPECT_TRUE(!each.excluded.empty() || (!each.compressed && !each.method->transfers)) << name_of(each);
    }
    EXPECT_EQ(name_of(placement.best()), one.choice) << one.what << "\n" << list;
    EXPECT_TRUE(has_cpu) << one.what;
  }
}

/// Where every edge that is pushed is an atomic operation, slow ones make windows, which are pushed, dearer; rows
/// in place are pulled where much is active.
TEST(Planner, PricesPushesByAtomics) {
  const auto run_ms = [](const char* candidate, bool gathers, double atomics) {
    Asked asked{kron24, Kind::improves, 0.25};
    asked.gathers = gathers;
    Machine machine;
    machine.rates.atomics = machine.rates.atomics_far = atomics;
    for (const PlanCandidate& each : chosen(asked, machine).candidates)
      if (name_of(each) == candidate) return each.run_ms;
    return -1.0;
  };
  for (const char* candidate : {"partitions", "subgraph", "subgraph asynchronous"}) {
    EXPECT_GT(run_ms(candidate, true, 1e9), 1.5 * run_ms(candidate, true, 1e12)) << candidate;
    EXPECT_EQ(run_ms(candidate, false, 1e9), run_ms(candidate, false, 1e12)) << candidate;
  }
  EXPECT_EQ(run_ms("zerocopy", true, 1e9), run_ms("zerocopy", true, 1e12));
}

/// A method that was asked for leaves the choice of asynchrony to the prices, unless that was asked for, too.
TEST(Planner, ChoosesAsynchronyOfNamedMethods) {
  const auto choice = [](const GraphOf& graph, const char* method, Async async, const Rates& rates = {}) {
    RunOptions options{.method = method_named(method)};
    options.supply.async  = async;
    const Placement found = chosen({graph, Kind::improves}, {.rates = rates}, options);
    std::string     names = name_of(found.best());
    for (const PlanCandidate& each : found.candidates)
      if (&each != &found.best() && each.excluded.empty()) names += ", not " + name_of(each);
    return names;
  };
  EXPECT_EQ(choice(kron24, "subgraph", Async::automatic), "subgraph, not subgraph asynchronous");
  EXPECT_EQ(choice(grid2048, "subgraph", Async::automatic), "subgraph asynchronous, not subgraph");
  EXPECT_EQ(choice(grid2048, "partitions", Async::automatic), "partitions asynchronous, not partitions");
  EXPECT_EQ(choice(grid2048, "subgraph", Async::automatic, {.step = 1e-9}), "subgraph, not subgraph asynchronous")
      << "where asking the host costs nothing";
  EXPECT_EQ(choice(grid2048, "subgraph", Async::off), "subgraph");
  EXPECT_EQ(choice(kron24, "subgraph", Async::on), "subgraph asynchronous");
}

/// Nobody knows how many runs are to come: what is paid is at most twice what would have been best.
TEST(Planner, CompressesOnceRunsHaveForgoneAsMuchAsItTakes) {
  for (const unsigned runs : {1u, 2u, 4u, 10u, 50u}) {
    double taken = 0, forgone = 0, plain = 0, compressed = 1e9;
    bool   has_compressed = false;
    for (unsigned i = 0; i < runs; ++i) {
      const Placement      found = chosen({kron24, Kind::ranks, 0.25, 20, 1, forgone}, {});
      const PlanCandidate& best  = found.best();
      double               least = 1e9, coding = 0;
      for (const PlanCandidate& each : found.candidates) {
        if (!each.excluded.empty()) continue;
        if (each.compressed && each.run_ms < least) least = each.run_ms, coding = each.prepare_ms;
        if (!each.compressed && each.method == whole_partitions()) plain += each.run_ms;
      }
      compressed = coding + runs * least;
      taken += has_compressed ? least : best.run_ms + (best.compressed ? best.prepare_ms : 0);
      has_compressed |= best.compressed;
      forgone += found.forgone.compressed;
    }
    EXPECT_LE(taken, 2.1 * std::min(plain, compressed)) << runs;
  }
}

/// Four runs of 20 iterations with a quarter resident of 1.26 GB: compressing is not begun before what it takes
/// has been forgone, and not at all where it would gain as little as 5 %.
TEST(Planner, DoesNotCompressForNextToNothing) {
  RunOptions options;
  options.supply.resident = kron24.arcs;  // a quarter of their bytes
  double      forgone     = 0;
  const Asked asked{kron24, Kind::ranks, 0.25, 20};
  for (int run = 0; run < 4; ++run) {
    Asked again           = asked;
    again.forgone         = forgone;
    const Placement found = chosen(again, {1260 * MB}, options);
    if (found.best().compressed) {
      const auto plain = std::ranges::find_if(found.candidates, [](const PlanCandidate& each) {
        return each.method == whole_partitions() && !each.compressed;
      });
      EXPECT_GE(1e3 * forgone + plain->run_ms - found.best().run_ms, found.best().prepare_ms - plain->prepare_ms)
          << run;
      EXPECT_GT(run, 0) << "the first may be the last";
      break;
    }
    forgone += found.forgone.compressed;
  }
  Machine hardly_better{1260 * MB};
  hardly_better.rates.decoded = 520.8e6 / 28.6e-3;  // a pass takes as long as sending it plain
  Asked many                  = asked;
  many.forgone                = 0.2;  // four runs at 5 %
  const Placement found       = chosen(many, hardly_better, options);
  EXPECT_FALSE(found.best().compressed) << name_of(found.best());
}

/// What the CPU's runs, or those in the order of the file, would have taken less is credited to what is prepared.
TEST(Planner, PreparesOnceRunsHaveForgoneAsMuch) {
  const auto forgone_until = [](const Asked& asked, const Machine& machine, auto&& credit, const char* choice) {
    Forgone so_far;
    for (int run = 1; run <= 1000; ++run) {
      const Placement found = chosen(asked, machine, {}, RowForm::any, nullptr, so_far);
      if (name_of(found.best()) == choice) return run;
      EXPECT_GT(credit(found.forgone), 0) << name_of(found.best());
      so_far += found.forgone;
    }
    return 0;
  };
  const int on_gpu = forgone_until(
      {kron24, Kind::votes, 0.25}, {0, of_cores(128), true}, [](const Forgone& more) { return more.on_gpu; },
      "zerocopy");
  EXPECT_GT(on_gpu, 1);
  EXPECT_LT(on_gpu, 50);
  const int ordered = forgone_until(
      {kron24, Kind::ranks, 0, 20}, {140 * GB}, [](const Forgone& more) { return more.ordered; },
      "frontier hubs first");
  EXPECT_GT(ordered, 1);
  EXPECT_LT(ordered, 10);
}

/// A second copy of the edges, in another order, needs room; and what was tried in vain is not tried again.
TEST(Planner, OrdersOnlyWhereThereIsRoom) {
  const Asked many{kron24, Kind::ranks, 0, 20, 50};
  EXPECT_EQ(name_of(chosen(many, {140 * GB}).best()), "frontier hubs first");
  const Placement tight = chosen(many, {4 * GB});
  EXPECT_EQ(name_of(tight.best()), "frontier");
  bool told = false;
  for (const PlanCandidate& each : tight.candidates)
    told |= each.order == VertexOrder::degree && each.excluded.find("of GPU memory") != std::string::npos;
  EXPECT_TRUE(told);
}

/// Where it is said how many there are, the best is paid from the first on.
TEST(Planner, SharesPreparingAmongTheRunsThatAreAskedFor) {
  EXPECT_FALSE(chosen({kron24, Kind::ranks, 0.25, 4, 1}, {}).best().compressed);
  EXPECT_TRUE(chosen({kron24, Kind::ranks, 0.25, 4, 20}, {}).best().compressed);
}

/// What lies in a mapped file is copied before it is pinned, once.
TEST(Planner, PreparesOnlyWhatIsNotReady) {
  const RunOptions options{.supply = {.resident = 0}};
  const RunFacts   run{.options = options, .vertices = kron24.vertices, .arcs = kron24.arcs, .max_iterations = 20};
  const auto       prepare_ms = [&](bool has_pinned, bool copies) {
    GpuFacts device;
    device.name             = "made up";
    device.room             = GB;
    device.has_pinned       = has_pinned;
    device.copies           = [copies] { return copies; };
    device.rates            = [] { return Rates{}; };
    device.sample           = kron24.sample;
    const Placement choices = chosen_placement(run, device);
    for (const PlanCandidate& each : choices.candidates)
      if (name_of(each) == "zerocopy") return each.prepare_ms;
    return -1.0;
  };
  EXPECT_NEAR(prepare_ms(true, true), 0, 1e-9);
  EXPECT_NEAR(prepare_ms(false, false), 2083.2 / 30, 0.1);
  EXPECT_NEAR(prepare_ms(false, true), 2083.2 / 12, 0.1);
}

TEST(Planner, MeasuresNothingWhereNothingIsLeftToChoose) {
  int measured = 0;
  chosen({kron24, Kind::votes}, {140 * GB}, {}, RowForm::any, &measured);
  chosen({kron24, Kind::improves}, {}, {}, RowForm::whole, &measured);
  chosen({kron24, Kind::votes}, {}, {.method = method_named("zerocopy"), .supply = {.compress = Compress::off}},
         RowForm::any, &measured);
  EXPECT_EQ(measured, 0);
  chosen({kron24, Kind::votes}, {}, {}, RowForm::any, &measured);
  EXPECT_EQ(measured, 1);
}

TEST(Planner, ListsWhatIsExcludedAndWhy) {
  const Placement few  = chosen({kron24, Kind::ranks}, {650 * MB});
  bool            told = false;
  for (const PlanCandidate& each : few.candidates) {
    if (each.method != whole_partitions()) continue;
    EXPECT_NE(each.excluded.find("of GPU memory, and there are"), std::string::npos) << each.excluded;
    told = true;
  }
  EXPECT_TRUE(told);
  const Placement pulled = chosen({kron24, Kind::improves}, {}, {.direction = Direction::pull});
  int             pushes = 0;
  for (const PlanCandidate& each : pulled.candidates)
    if (each.method->transfers) {
      ++pushes;
      EXPECT_NE(each.excluded.find("--direction pull"), std::string::npos) << name_of(each);
    }
  EXPECT_GE(pushes, 3);
  const Placement whole = chosen({kron24, Kind::improves}, {}, {}, RowForm::whole);
  EXPECT_EQ(name_of(whole.best()), "zerocopy");
  EXPECT_FALSE(whole.candidates[1].excluded.empty());
  EXPECT_EQ(name_of(chosen({kron24, Kind::ranks}, {}, {.supply = {.compress = Compress::on}}).best()),
            "partitions compressed");
}

/// Milliseconds of runs on an H200 (`make gpu-bench`, bench/results/h200.json): with nothing and a quarter
/// resident. The priors were fitted to these: it
/// holds the arithmetic, and says nothing of other graphs.
struct Measured {
  Asked       asked;
  const char* candidate;
  double      run_ms;
};
const Measured measured[] = {
    {{kron24, Kind::ranks, 0, 4}, "zerocopy", 224.8},
    {{kron24, Kind::ranks, 0, 4}, "zerocopy compressed", 125.9},
    {{kron24, Kind::ranks, 0, 4}, "partitions", 160.1},
    {{kron24, Kind::ranks, 0, 4}, "partitions compressed", 78.6},
    {{kron24, Kind::ranks, 0.25, 4}, "zerocopy", 153.0},
    {{kron24, Kind::ranks, 0.25, 4}, "zerocopy compressed", 69.7},
    {{kron24, Kind::ranks, 0.25, 4}, "partitions", 120.5},
    {{kron24, Kind::ranks, 0.25, 4}, "partitions compressed", 41.5},
    {{kron24, Kind::votes, 0}, "subgraph", 83.5},
    {{kron24, Kind::votes, 0}, "partitions", 164.2},
    {{kron24, Kind::buckets, 0, 20, 1, 0, true}, "zerocopy", 185.6},
    {{kron24, Kind::buckets, 0, 20, 1, 0, true}, "subgraph", 227.1},
    {{kron24, Kind::improves, 0, 20, 1, 0, true}, "zerocopy", 186.0},
    {{kron24, Kind::improves, 0, 20, 1, 0, true}, "mixed", 157.2},
    // SET=plan, 2026-11-18
    {{urand22, Kind::ranks, 0, 10}, "zerocopy compressed", 195.4},
    {{urand22, Kind::ranks, 0.25, 10}, "zerocopy compressed", 182.8},
    {{urand22, Kind::ranks, 0, 10}, "partitions", 102.8},
    {{urand22, Kind::ranks, 0.25, 10}, "partitions compressed", 42.9},
    {{urand22, Kind::votes, 0}, "zerocopy", 5.36},
    {{urand22, Kind::votes, 0.125}, "zerocopy", 1.73},
    {{urand22, Kind::votes, 0}, "zerocopy compressed", 8.17},
    {{urand22, Kind::votes, 0.125}, "zerocopy compressed", 6.46},
    {{urand22, Kind::votes, 0.25}, "zerocopy compressed", 5.49},
    {{kron24, Kind::improves, 0, 9, 1, 0, true}, "zerocopy compressed", 107.7},
};

TEST(Planner, PredictsWhatWasMeasured) {
  for (const Measured& one : measured) {
    const Placement placement = chosen(one.asked, {});
    bool            found     = false;
    for (const PlanCandidate& each : placement.candidates) {
      if (name_of(each) != one.candidate || !each.excluded.empty()) continue;
      found = true;
      EXPECT_GT(each.run_ms, one.run_ms * 0.75) << one.candidate << ", " << one.asked.resident << " resident";
      EXPECT_LT(each.run_ms, one.run_ms * 1.25) << one.candidate << ", " << one.asked.resident << " resident";
    }
    EXPECT_TRUE(found) << one.candidate;
  }
}

TEST(GraphSample, OfNextToNothingIsOne) {
  for (const char* vertices : {"1", "2"}) {
    const GraphSample sample = sample_of(undirected("chain", {{"vertices", vertices}}));
    EXPECT_GE(sample.levels, 1);
    EXPECT_GT(sample.code_bytes, 0);
    EXPECT_TRUE(std::isfinite(sample.prefix_length(0.5)));
    EXPECT_TRUE(std::isfinite(sample.longer_than(3)));
  }
}

TEST(GraphSample, IsTheSameForTheSameRows) {
  const Graph graph = undirected("kron", {{"scale", "12"}});
  EXPECT_EQ(sample_of(graph).code_bytes, sample_of(graph).code_bytes);
  EXPECT_EQ(sample_of(graph).levels, sample_of(graph).levels);
}

TEST(GraphSample, KnowsShortPathsFromLongOnes) {
  EXPECT_LT(kron_sample().levels, 12);
  const Graph grid = undirected("grid", {{"rows", "512"}, {"columns", "512"}});
  EXPECT_GT(sample_of(grid).levels, 200);
  EXPECT_LT(sample_of(grid).levels, 1100);
  const Graph path = undirected("chain", {{"vertices", "100000"}});
  EXPECT_GT(sample_of(path).levels, 20'000);
  const Graph uniform = undirected("uniform", {{"vertices", "65536"}, {"degree", "16"}});
  EXPECT_LT(sample_of(uniform).levels, 12);
}

TEST(GraphSample, KnowsHowManyEdgesHubsHave) {
  const auto share = [](const Graph& graph, double of) {
    return sample_of(graph).edges_of_longest(
        of, static_cast<double>(graph.arc_count()) / static_cast<double>(graph.vertex_count()));
  };
  const Graph grid = undirected("grid", {{"rows", "300"}, {"columns", "300"}});
  EXPECT_NEAR(share(grid, 0.1), 0.1, 0.02);
  EXPECT_NEAR(share(grid, 0.5), 0.5, 0.02);
  EXPECT_EQ(share(grid, 1), 1);
  const Graph            kron = undirected("kron", {{"scale", "14"}});
  std::vector<EdgeIndex> degrees;
  for (Vertex v = 0; v < kron.vertex_count(); ++v) degrees.push_back(kron.out().degree(v));
  std::ranges::sort(degrees, std::greater<>{});
  for (const double of : {0.001, 0.01, 0.1, 0.3}) {
    const auto   longest = static_cast<std::size_t>(of * static_cast<double>(degrees.size()));
    const double expected =
        static_cast<double>(std::accumulate(
            degrees.begin(), degrees.begin() + static_cast<std::ptrdiff_t>(longest), EdgeIndex{0})) /
        static_cast<double>(kron.arc_count());
    EXPECT_NEAR(share(kron, of), expected, 0.08) << of;
  }
}

TEST(GraphSample, CountsTheFirstEdgesOfRows) {
  const Graph       grid   = undirected("grid", {{"rows", "300"}, {"columns", "300"}});
  const GraphSample sample = sample_of(grid);
  EXPECT_NEAR(sample.within[0], 0.25, 0.02);
  EXPECT_NEAR(sample.within[1], 0.5, 0.02);
  EXPECT_EQ(sample.longer[2], 0);
  EXPECT_NEAR(sample.prefix_length(0.5), 2, 0.1);
  EXPECT_NEAR(sample.longer_than(1), 1, 0.01);
  EXPECT_EQ(sample.nonempty, 1);
}

}  // namespace
}  // namespace spillway
