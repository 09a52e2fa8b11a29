// Pages on disk that stream past a GPU: every vertex program on the zoo and on random graphs, in pages so small
// that each graph has many; sent every time, kept by the host or by the device; and pages that are not what they
// should be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include "algorithms/trying.hpp"
#include "base/hash.hpp"
#include "engine/cuda/pages.hpp"
#include "store/paged_rows.hpp"
#include "store/spill_file.hpp"
#include "supply/paged.hpp"
#include "support.hpp"
#include "ways.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>

#if defined(SPILLWAY_EMULATED)
#include "emulator.hpp"
#include "engine/cuda/staging.hpp"
#endif

namespace spillway {
namespace {

using testing::filled;
using testing::in_pages;
using testing::TemporaryFolder;
using testing::variants_of;
using testing::with_weights_for;

struct PagedWay {
  bool                         compressed = true, in_edges = true;
  unsigned                     streams   = 4;
  std::optional<std::uint64_t> resident  = {};  ///< bytes that stay on the device
  std::uint64_t                host      = 0;   ///< bytes of memory; 0: all
  Direction                    direction = Direction::automatic;
  unsigned                     chunk     = 256;  ///< edges of one
  InPlace                      in_place  = InPlace::off;
  std::uint64_t                chunks    = 0;  ///< of the state
  PageCache                    cache     = PageCache::first;
  BalanceTuning                balance   = {};
};

const std::vector<PagedWay> ways{
    {.resident = 0},
    {.compressed = false, .streams = 1, .resident = 0, .host = 2u << 20},
    {.in_edges = false, .streams = 2},
    {.in_place = InPlace::automatic},
    {.compressed = false, .resident = 8192, .direction = Direction::push, .balance = {Balance::thread}},
    {.streams = 32, .resident = 0, .direction = Direction::pull, .chunk = 5},
    {.resident = 8192, .host = 4u << 20, .chunks = 3, .balance = {Balance::hybrid}},
    {.compressed = false, .in_edges = false, .streams = 3, .chunk = 33},
    {.resident = 12288, .host = 2u << 20, .chunk = 40},
    {.resident = 12288, .cache = PageCache::lru, .balance = {Balance::warp, 4}},
    {.in_edges = false, .in_place = InPlace::on},
    {.compressed = false, .resident = 20480, .chunks = 2, .cache = PageCache::lru, .balance = {Balance::warp, 16}},
    {.resident = 8192, .balance = {.kind = Balance::split, .split = {.degree_bound = 3}}},
};

class GpuPrograms : public ::testing::TestWithParam<std::string> {
 protected:
  void try_graph(const Graph& given, const std::string& what) {
    const bool simple = algorithm_.name == "kcore" || algorithm_.name == "bp";  // which take arcs as undirected
    Graph      graph  = given;
    if (simple)
      graph =
          from_csr(given.out().offsets.span(), given.out().targets.span(), given.out().weights.span(),
                   given.weight_type(), {.transform = {.undirected = true, .dedup = true, .drop_loops = true}});
    graph               = with_weights_for(algorithm_, graph);
    const auto variants = variants_of(algorithm_.name);
    const auto values   = filled(algorithm_, graph, variants[turn_ % variants.size()]);
    ++turn_;
    if (!values || testing::is_left_out(algorithm_, *values, graph)) return;
    const std::size_t which = tried_++ % ways.size();
    const PagedWay&   way   = ways[which];
    if (way.in_edges) graph.in();
    const std::string path =
        in_pages(graph, folder_ / "g.spill", {.page_bytes = 4096, .compressed = way.compressed});
    const Graph paged = open(path, {.host_memory = way.host});
    RunOptions  options{.direction = way.direction, .device = {.kind = cuda_kind()}};
    options.cuda                  = testing::on_gpu(Filter::just_in_time, Fusion::all, turn_ % 2 == 0);
    options.cuda.streams          = way.streams;
    options.supply.resident       = way.resident;
    options.supply.chunk          = way.chunk;
    options.supply.pages_in_place = way.in_place;
    options.supply.state_chunks   = way.chunks;
    options.cuda.page_cache = way.cache, options.balance = way.balance;
    try {
      const Result         result     = run(paged, *values, options);
      const RunStatistics& statistics = result.statistics;
      for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
        EXPECT_EQ(algorithm_.verify(graph, *values, result, {.by = by}).problem, "")
            << algorithm_.name << " on " << what << ", way " << which;
      if (statistics.device == "cpu" || statistics.pages_wanted == 0) return;
      EXPECT_EQ(statistics.method, "pages");
      EXPECT_EQ(statistics.state_chunks > 1, way.chunks > 1 && graph.vertex_count() > 32);
      if (way.in_place == InPlace::on) {
        EXPECT_EQ(statistics.pages_in_place, statistics.pages_wanted) << what;
        EXPECT_EQ(statistics.pages_sent, 0u) << what;
      }
      ++right_;
      sent_ += statistics.pages_sent,
          hits_ += statistics.pages_wanted - statistics.pages_sent - statistics.pages_in_place;
      in_place_ += statistics.pages_in_place;
      kept_ += statistics.pages_sent - statistics.pages_read;
      taken_.insert(which);
    } catch (const Error& error) {
      // Without in-edges some cannot go where they are asked to.
      EXPECT_NE(std::string{error.what()}.find("in-edges"), std::string::npos) << error.what() << " on " << what;
      EXPECT_FALSE(way.in_edges || graph.symmetric()) << error.what();
    }
  }

  /// Programs that are pushed refuse to be pulled, and then go where they like.
  Result run(const Graph& paged, const ParameterValues& values, RunOptions options) {
    try {
      return algorithm_.run(paged, values, options);
    } catch (const Error& error) {
      const bool        pulled = GetParam() == "bp";  // others have forms that are pushed
      const std::string said   = error.what();
      if (options.direction != Direction::pull || said.find("--direction pull") == std::string::npos) throw;
      EXPECT_FALSE(pulled) << said;
      options.direction = Direction::automatic;
    }
    return algorithm_.run(paged, values, options);
  }

  const Algorithm&      algorithm_ = algorithm_named(GetParam());
  TemporaryFolder       folder_;
  std::size_t           turn_ = 0, tried_ = 0, right_ = 0;
  std::uint64_t         sent_ = 0, hits_ = 0, kept_ = 0, in_place_ = 0;
  std::set<std::size_t> taken_;
};

TEST_P(GpuPrograms, AreRightOnPages) {
  // Emulated, every second graph; all of them on a GPU and in the deep tests.
#if defined(SPILLWAY_EMULATED)
  const bool all = testing::full_matrix();
#else
  const bool all = true;
#endif
  std::size_t skip = GetParam().size();
  for (const auto& member : testing::zoo())
    if ((all || ++skip % 2 == 0) && (GetParam() != "sssp" || member.name != "weights_large"))
      try_graph(member.graph, member.name);
  for (std::uint64_t seed = 1; seed <= (testing::full_matrix() ? 60u : all ? 14u : 8u); ++seed)
    try_graph(testing::random_graph(seed), fmt::format("random {}", seed));
  EXPECT_GT(right_, all ? 10u : 6u);
  const auto whole = std::ranges::count_if(ways, [](const PagedWay& way) { return way.in_edges; });
  EXPECT_GE(taken_.size(), static_cast<std::size_t>(whole)) << "ways, of which some have no in-edges";
  EXPECT_GT(sent_, 0u);
  if (GetParam() == "degrees") return;  // one pass
  EXPECT_GT(hits_, 0u) << "pages that had stayed on the device";
  EXPECT_GT(kept_ + in_place_, 0u) << "pages that had stayed in host memory";
  const std::set<std::string> few{"bfs", "cc", "sssp", "sswp"};  // active vertices, in the end
  EXPECT_TRUE(in_place_ > 0 || !few.contains(GetParam())) << "pages that were read in host memory";
}

Graph some_graph(const char* scale = "10", const char* degree = "8") {
  GenerateOptions options;
  options.transform = {.undirected = true, .dedup = true, .drop_loops = true};
  return generate("kron", {{"scale", scale}, {"degree", degree}}, options);
}

RunOptions on_gpu() {
  RunOptions options{.device = {.kind = cuda_kind()}};
  options.supply.resident = 0;
  return options;
}

Result levels(const Graph& graph, const RunOptions& options = on_gpu()) {
  return algorithm_named("bfs").run(graph, {{"source", "1"}}, options);
}

TEST(GpuPages, ThatAreDamagedEndTheRun) {
  const TemporaryFolder folder;
  const std::string   path = in_pages(some_graph(), folder / "g.spill", {.page_bytes = 4096, .compressed = true});
  const std::uint64_t page = open(path).pages()->place_of(3).offset;
  {
    std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(static_cast<std::streamoff>(page + 100));
    file.put('x');
  }
  const Graph damaged = open(path);
  for (const Method method : {edges_in_place(), pages_from_disk()}) try {
      RunOptions options = on_gpu();
      options.method     = method;
      levels(damaged, options);
      FAIL() << "page 3 was taken as it was";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input);
      EXPECT_NE(std::string{error.what()}.find("page 3"), std::string::npos) << error.what();
    }
}

/// Whoever changes a page may change its checksum, too: the device looks for itself.
TEST(GpuPages, ThatLeadNowhereEndTheRun) {
  for (const bool compressed : {false, true}) {
    const TemporaryFolder folder;
    const std::string     path =
        in_pages(some_graph("8"), folder / "g.spill", {.page_bytes = 4096, .compressed = compressed});
    std::string         bytes = testing::read_file(path);
    const Graph         whole = open(path);
    const auto&         table = whole.pages()->table();
    const std::uint64_t at    = whole.pages()->place_of(1).offset;
    const std::uint64_t slots = table.format().slot_bytes() * (table.vertices(1).last - table.vertices(1).first);
    const std::uint64_t old   = table.checksum(1);
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 4096 - slots, '\xff');
    const std::uint64_t made  = XXH3_64bits(bytes.data() + at, 4096);
    const std::size_t   entry = bytes.find(std::string_view{reinterpret_cast<const char*>(&old), sizeof old});
    ASSERT_NE(entry, std::string::npos);
    bytes.replace(entry, sizeof made, std::string_view{reinterpret_cast<const char*>(&made), sizeof made});
    folder.write("h.spill", bytes);
    const Graph harmful = open(folder / "h.spill");
    RunOptions  options = on_gpu();
    options.method      = pages_from_disk();
    try {
      algorithm_named("cc").run(harmful, completed_parameters(algorithm_named("cc"), {{"form", "propagate"}}),
                                options);
      FAIL() << "page 1 was taken as it was";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input);
      EXPECT_NE(std::string{error.what()}.find("h.spill: a page has edges"), std::string::npos) << error.what();
    }
  }
}

/// Rows in memory are not streamed, and what is for the CPU says so.
TEST(GpuPages, AreOfGraphsThatHaveThem) {
  const auto said = [](const Graph& graph, const char* name, const RunOptions& options) -> std::string {
    const Algorithm& algorithm = algorithm_named(name);
    try {
      const auto values = std::string_view{name} == "sssp" ? ParameterValues{{"source", "1"}} : ParameterValues{};
      algorithm.run(graph, completed_parameters(algorithm, values), options);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  const Graph graph = some_graph("6");
  RunOptions  pages = on_gpu();
  pages.method      = pages_from_disk();
  for (const char* name : {"cc", "tc", "scc", "cdlp", "pagerank"})
    EXPECT_NE(said(graph, name, pages).find("--method pages"), std::string::npos)
        << name << said(graph, name, pages);
  const TemporaryFolder folder;
  const Graph           weighted = with_random_weights(graph, 1, 1, 9, 1);
  const Graph paged = open(in_pages(weighted, folder / "g.spill", {.page_bytes = 4096, .compressed = true}));
  RunOptions  chunks;
  chunks.supply.state_chunks = 2;
  chunks.method              = pages_from_disk();
  EXPECT_EQ(said(paged, "sssp", chunks), "") << "on the CPU, where nothing is asked for";
  chunks.device.kind = cuda_kind();
  EXPECT_EQ(said(paged, "sssp", chunks), "") << "and on a GPU";
  RunOptions in_place = on_gpu();
  in_place.method     = edges_in_place();
  EXPECT_EQ(said(paged, "sssp", in_place), "");
  in_place.supply.state_chunks = 2;
  EXPECT_NE(said(paged, "sssp", in_place).find("--state-chunks"), std::string::npos);
  in_place.supply.state_chunks = 0;
  RunOptions pulled            = on_gpu();
  pulled.direction             = Direction::pull;
  pulled.method                = pages_from_disk();
  EXPECT_NE(said(paged, "sssp", pulled).find("leave out --direction pull"), std::string::npos);
  const Graph plain = open(in_pages(weighted, folder / "p.spill", {.page_bytes = 4096}));
  EXPECT_NE(said(plain, "sssp", in_place).find("record ids are not read in place"), std::string::npos);
  RunOptions same    = on_gpu();
  same.deterministic = true;
  EXPECT_NE(said(paged, "pagerank", same).find("--device cpu"), std::string::npos);
}

/// Where no device is asked for, pages go to the one that is predicted to be done sooner, if it can.
class PagesOfAuto : public ::testing::Test {
 protected:
  struct Went {
    std::string device, note, plan, why;
  };

  /// Where a run goes, and why; it is planned as it is done.
  Went went(const Graph& paged, const char* name, const RunOptions& options, bool planned = true) {
    const Algorithm& algorithm = algorithm_named(name);
    const auto       values    = testing::filled(algorithm, paged, {}).value();
    const Result     result    = algorithm.run(paged, values, options);
    const Plan       plan      = plan_of(algorithm, paged, values, options);
    EXPECT_EQ(algorithm.verify(paged, values, result, {}).problem, "") << name;
    if (planned) {
      EXPECT_EQ(plan.device, result.statistics.device) << name;
    }
    return {result.statistics.device, result.statistics.device_note, plan.device,
            plan.why.empty() ? "" : plan.why[0]};
  }

  static RunOptions with(double edges_on_cpu, double gpu_step) {
    Rates rates;
    rates.host_visited_far = edges_on_cpu, rates.step = gpu_step;
    return {.supply = {.rates = rates}};
  }

  Graph paged(const Graph& graph, std::uint64_t host_memory = 0, bool compressed = false) {
    return open(in_pages(graph, folder_ / "g.spill", {.page_bytes = 4096, .compressed = compressed}),
                {.host_memory = host_memory});
  }

  TemporaryFolder  folder_;
  const RunOptions for_gpu = with(1e3, 1e-6), for_cpu = with(1e12, 10);
};

TEST_F(PagesOfAuto, GoWhereTheyAreDoneSooner) {
  const Graph graph = paged(some_graph("6"));
  for (const char* name : {"pagerank", "bfs", "cc"}) {
    const Went gpu = went(graph, name, for_gpu);
    EXPECT_EQ(gpu.device, "cuda:0") << name;
    EXPECT_NE(gpu.why.find("cuda:0 is predicted to take"), std::string::npos) << gpu.why;
    const Went cpu = went(graph, name, for_cpu);
    EXPECT_EQ(cpu.device, "cpu") << name;
    EXPECT_NE(cpu.note.find("computed on the CPU: predicted"), std::string::npos) << cpu.note;
    EXPECT_NE(cpu.why.find("the CPU is predicted to take"), std::string::npos) << cpu.why;
  }
}

/// Whoever says how a GPU is to go about it wants one.
TEST_F(PagesOfAuto, GoToAGpuThatIsTuned) {
  const Graph graph   = paged(some_graph("6"));
  RunOptions  streams = for_cpu, balance = for_cpu;
  streams.cuda.streams = 2, balance.balance.kind = Balance::thread;
  for (const RunOptions& tuned : {streams, balance}) EXPECT_EQ(went(graph, "pagerank", tuned).device, "cuda:0");
}

TEST_F(PagesOfAuto, StayWithTheCpuWhereAGpuCannot) {
  const Graph one      = some_graph("6");
  const auto  expected = [&](const Graph& graph, const char* name, const RunOptions& options,
                            const std::string& reason, bool planned = true) {
    const Went found = went(graph, name, options, planned);
    EXPECT_EQ(found.device, "cpu") << name;
    EXPECT_NE(found.note.find("computed on the CPU: pages " + reason), std::string::npos) << found.note;
    if (planned) {
      EXPECT_NE(found.why.find("pages " + reason), std::string::npos) << found.why;
    }
  };
  RunOptions pulled = for_gpu, small = for_gpu;
  pulled.direction = Direction::pull, small.device.memory = 4096;
  expected(paged(one), "bfs", pulled, "are pushed by a GPU in this program");
  expected(paged(one), "pagerank", small, "need ");
  const std::vector<Vertex> from{0, 1, 2, 2}, to{1, 2, 2, 0};
  const Graph loops = from_arcs(from, to, {}, WeightType::none, 0, {.transform = {.undirected = true}});
  // That there are loops is seen when the pages are gone over, which planning does not.
  expected(paged(loops), "kcore", for_gpu, "with loops or parallel arcs", /*planned=*/false);
}

/// Chunks of the state that the GPU does not hold must find room in host memory; the CPU's rest on disk.
TEST_F(PagesOfAuto, StayWithTheCpuWhereHostMemoryHoldsNoChunks) {
  const Graph graph       = paged(some_graph("14", "1"), 400u << 10);
  RunOptions  options     = for_gpu;
  options.threads         = 2;  // each takes some of the host's memory
  options.device.memory   = 0;
  const Algorithm& ranks  = algorithm_named("pagerank");
  const auto       values = testing::filled(ranks, graph, {}).value();
  options.method          = pages_from_disk();
  options.device.kind     = cuda_kind();
  options.device.memory   = plan_of(ranks, graph, values, options).state_bytes * 15 / 16;
  options.method          = {};
  options.device.kind     = {};
  const Went found        = went(graph, "pagerank", options);
  EXPECT_EQ(found.device, "cpu");
  EXPECT_NE(found.note.find("of host memory for chunks of the state"), std::string::npos) << found.note;
}

/// Chunks of the state are of pages that are sent: those that would be read in place are sent, then.
TEST(GpuPages, AreSentWhereChunksAreAskedFor) {
  const TemporaryFolder folder;
  const Graph           graph = some_graph("6");
  const Graph paged   = open(in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true}));
  RunOptions  options = on_gpu();
  EXPECT_EQ(levels(paged, options).statistics.pages_sent, 0u);
  options.supply.state_chunks = 2;
  const Result result         = levels(paged, options);
  EXPECT_EQ(algorithm_named("bfs").verify(graph, {{"source", "1"}}, result, {}).problem, "");
  EXPECT_EQ(result.statistics.state_chunks, 2u);
  EXPECT_GT(result.statistics.pages_sent, 0u);
}

/// Whatever a run says of its memory, the emulator counts for itself.
class CountedMemory {
 public:
#if defined(SPILLWAY_EMULATED)
  CountedMemory() {
    cuda::IdleRings::instance().clear();
    emulator::begin_peaks();
    before_ = emulator::peaks();
  }
  /// Beside `device` and the budget: staging buffers of a few words, which are in none.
  void expect_within(std::uint64_t device, std::uint64_t host) const {
    constexpr std::uint64_t few = 4096;
    EXPECT_LE(emulator::peaks().device - before_.device, device);
    EXPECT_LE(emulator::peaks().pinned - before_.pinned, host + few);
    EXPECT_GT(emulator::peaks().pinned, before_.pinned);
  }

 private:
  emulator::Peaks before_;
#else
  void       expect_within(std::uint64_t, std::uint64_t) const {}
#endif
};

/// Pages that stay take what memory is left, but for the answer.
TEST(GpuPages, LeaveRoomForTheAnswer) {
  const TemporaryFolder   folder;
  const Graph             graph = some_graph("15");
  const std::string       path  = in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true});
  constexpr std::uint64_t limit = 1400u << 10;
  const Graph             paged = open(path, {.host_memory = limit});
  RunOptions              many  = on_gpu();
  many.cuda.streams             = 8;  // what they are told of pages is pinned, too
  const CountedMemory counted;
  const std::uint64_t given  = paged.budget()->used();
  const Result        result = levels(paged, many);
  counted.expect_within(result.statistics.device_bytes, limit - given);
  EXPECT_EQ(algorithm_named("bfs").verify(graph, {{"source", "1"}}, result, {}).problem, "");
  EXPECT_LE(paged.budget()->peak(), limit);
  EXPECT_GT(paged.pages()->bytes(), limit / 4);
  EXPECT_GT(result.statistics.pages_read, 0u);
}

/// A row of several pages is read as one, with and without weights.
TEST(GpuPages, ReadInPlaceHaveRowsOfSeveralPages) {
  const TemporaryFolder      folder;
  constexpr Vertex           leaves = 20000;
  std::vector<Vertex>        sources, targets;
  std::vector<std::uint32_t> weights;
  for (Vertex v = 1; v <= leaves; ++v) sources.push_back(0), targets.push_back(v), weights.push_back(1 + v % 50);
  for (Vertex v = 1; v <= leaves; v += 7)
    sources.push_back(v), targets.push_back(1 + v % leaves), weights.push_back(3);
  const Graph graph =
      from_arcs(sources, targets, weights, WeightType::u32, 0, {.transform = {.undirected = true}});
  const Graph paged = open(in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true}));
  RunOptions  options{.device = {.kind = cuda_kind()}, .method = edges_in_place()};
  for (const char* name : {"bfs", "sssp", "cc"}) {
    const Algorithm& algorithm = algorithm_named(name);
    const auto       values    = filled(algorithm, graph, {});
    const Result     result    = algorithm.run(paged, *values, options);
    EXPECT_EQ(algorithm.verify(graph, *values, result, {.by = CheckBy::oracle}).problem, "") << name;
    EXPECT_GT(result.statistics.pages_in_place, 0u) << name;
    EXPECT_EQ(result.statistics.pages_sent, 0u) << name;
  }
}

/// State that the device does not hold: as many chunks as are needed, and the budget is kept.
TEST(GpuPages, HaveStateInChunksWhereItDoesNotFit) {
  const TemporaryFolder folder;
  const Graph           graph = with_random_weights(some_graph("14", "2"), 1, 1, 9, 1);
  const Graph paged = open(in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true}));
  for (const char* name : {"pagerank", "bfs", "sssp", "kcore"}) {
    const Algorithm& algorithm = algorithm_named(name);
    ParameterValues  given;
    if (algorithm.name == "pagerank") given = {{"iterations", "3"}, {"tolerance", "0"}};
    const auto values    = filled(algorithm, graph, given);
    RunOptions options   = on_gpu();
    options.method       = pages_from_disk();
    options.cuda.streams = 1;
    const auto run       = [&] {
      const Result result = algorithm.run(paged, *values, options);
      EXPECT_EQ(algorithm.verify(graph, *values, result, {.by = CheckBy::oracle}).problem, "") << name;
      return result.statistics;
    };
    const RunStatistics whole = run();
    EXPECT_EQ(whole.state_chunks, 1u) << name;
    RunStatistics cut     = whole;
    options.device.memory = whole.device_bytes;
    const CountedMemory counted;
    // Buffers for pages become smaller first.
    while (cut.state_chunks == 1) options.device.memory -= options.device.memory / 4, cut = run();
    counted.expect_within(whole.device_bytes, paged.budget()->peak());
    EXPECT_GT(cut.state_chunks, 1u) << name;
    EXPECT_LE(cut.device_bytes, options.device.memory) << name;
  }
}

/// In pinned memory, which pages that stay leave free.
TEST(GpuPages, LeaveRoomForStateInChunks) {
  const TemporaryFolder   folder;
  const Graph             graph   = some_graph("15");
  const std::string       path    = in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true});
  constexpr std::uint64_t limit   = 4u << 20;
  const Graph             paged   = open(path, {.host_memory = limit});
  RunOptions              options = on_gpu();
  options.method                  = pages_from_disk();
  options.supply.state_chunks     = 2;
  const CountedMemory counted;
  const std::uint64_t given  = paged.budget()->used();
  const Result        result = levels(paged, options);
  counted.expect_within(result.statistics.device_bytes, limit - given);
  EXPECT_EQ(algorithm_named("bfs").verify(graph, {{"source", "1"}}, result, {}).problem, "");
  EXPECT_LE(paged.budget()->peak(), limit);
  EXPECT_EQ(result.statistics.state_chunks, 2u);
  options.direction = Direction::pull;
  EXPECT_THROW(levels(paged, options), Error) << "chunks are pushed to";
  const Graph none =
      open(in_pages(from_arcs({}, {}), folder / "n.spill", {.page_bytes = 4096, .compressed = true}));
  options.direction = Direction::automatic;
  EXPECT_EQ(
      algorithm_named("cc").run(none, completed_parameters(algorithm_named("cc"), {}), options).columns.size(),
      1u);
}

/// A lane or a warp a row where pages are pushed, bins where they are pulled; or what is asked for.
TEST(GpuPages, AreBalancedByTheDirection) {
  const TemporaryFolder folder;
  const Graph           graph = generate("kron", {{"scale", "7"}});
  const Graph pushed = open(in_pages(graph, folder / "o.spill", {.page_bytes = 4096, .compressed = true}));
  graph.in();
  const Graph pulled  = open(in_pages(graph, folder / "i.spill", {.page_bytes = 4096, .compressed = true}));
  const auto  balance = [](const Graph& paged, const char* name, const BalanceTuning& asked = {},
                          unsigned chunks = 0) {
    const Algorithm& algorithm = algorithm_named(name);
    RunOptions       options   = on_gpu();
    options.method = pages_from_disk(), options.balance = asked, options.supply.state_chunks = chunks;
    const auto   values = filled(algorithm, paged, {}).value();
    const Result result = algorithm.run(paged, values, options);
    EXPECT_EQ(algorithm.verify(paged, values, result, {}).problem, "") << name;
    return result.statistics.balance;
  };
  EXPECT_EQ(balance(pushed, "pagerank"), "hybrid");
  EXPECT_EQ(balance(pushed, "bfs"), "hybrid");
  EXPECT_EQ(balance(pulled, "pagerank"), "bins");
  EXPECT_EQ(balance(pulled, "bfs"), "hybrid");
  EXPECT_EQ(balance(pulled, "pagerank", {}, 2), "hybrid") << "chunks of the state are pushed to";
  EXPECT_EQ(balance(pushed, "pagerank", {.kind = Balance::bins}), "bins");
  EXPECT_EQ(balance(pushed, "pagerank", {.kind = Balance::warp, .lanes = 8}), "warp:8");
}

/// Scans that come round again hit what came first, and never what was used last, unless all of it is there.
TEST(GpuPages, ThatStayAreHit) {
  const TemporaryFolder folder;
  const Graph           graph = some_graph();
  const Graph      paged     = open(in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true}));
  const Algorithm& algorithm = algorithm_named("pagerank");
  const auto       values    = completed_parameters(algorithm, {{"iterations", "4"}, {"tolerance", "0"}});
  const auto       hits      = [&](PageCache policy, std::uint64_t resident) {
    RunOptions options      = on_gpu();
    options.supply.resident = resident;
    options.cuda.page_cache = policy;
    const Result result     = algorithm.run(paged, values, options);
    EXPECT_EQ(algorithm.verify(graph, values, result, {}).problem, "");
    std::uint64_t hit = 0;
    for (const IterationStatistics& each : result.statistics.per_iteration) hit += each.pages_hit;
    return hit;
  };
  const std::uint64_t pages = paged.pages()->table().size(), all = paged.pages()->bytes();
  EXPECT_EQ(hits(PageCache::first, all), 3 * pages);
  EXPECT_EQ(hits(PageCache::first, all / 2), 3 * (pages / 2));
  EXPECT_EQ(hits(PageCache::lru, all), 3 * pages);
  EXPECT_EQ(hits(PageCache::lru, all / 2), 0u);
}

/// Rows of out-edges and of in-edges may take very different numbers of pages: both stay where there is room.
TEST(GpuPages, OfBothSidesStay) {
  const TemporaryFolder folder;
  std::vector<Vertex>   sources, targets;
  for (Vertex v = 1; v <= 3000; ++v) sources.push_back(v / 300), targets.push_back(v);
  const Graph graph = from_arcs(sources, targets);
  graph.in();
  const Graph paged = open(in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true}));
  const auto  out = paged.pages()->bytes(), in = paged.in_pages()->bytes();
  const auto& algorithm   = algorithm_named("cc");
  const auto  values      = completed_parameters(algorithm, {{"form", "propagate"}});
  RunOptions  options     = on_gpu();
  options.supply.resident = out + in;
  options.method          = pages_from_disk();
  ASSERT_NE(out, in);
  const Result result = algorithm.run(paged, values, options);
  EXPECT_EQ(algorithm.verify(graph, values, result, {}).problem, "");
  EXPECT_LE(result.statistics.pages_sent, (out + in) / 4096) << "some more than once";
  EXPECT_GT(result.statistics.pages_wanted, result.statistics.pages_sent);
  EXPECT_EQ(result.statistics.edges_resident, out + in);
}

/// No more than memory needs, and a number of them that nothing else suggests; less of it is refused with what
/// suffices.
TEST(GpuPages, HaveAsFewChunksAsDo) {
  const TemporaryFolder folder;
  const Graph           graph     = some_graph("14", "1");
  const Graph           paged     = open(in_pages(graph, folder / "g.spill", {.page_bytes = 8192}));
  const Algorithm&      algorithm = algorithm_named("pagerank");
  const auto            values    = completed_parameters(algorithm, {{"iterations", "1"}, {"tolerance", "0"}});
  RunOptions            options   = on_gpu();
  options.cuda.streams = 1, options.method = pages_from_disk();
  const auto chunks = [&](std::uint64_t memory) {
    options.device.memory = memory;
    return plan_of(algorithm, paged, values, options).state_chunks;
  };
  // Offsets are there once, for the rows to push and to pull of a graph that is symmetric.
  const std::uint64_t whole = 4u << 20;
  ASSERT_EQ(chunks(whole), 1u);
  options.device.memory     = 0;
  const std::uint64_t state = plan_of(algorithm, paged, values, options).state_bytes;
  EXPECT_EQ(chunks(state + 8 * paged.vertex_count() + (80u << 10)), 1u);
  // How much memory has little to do with the state differs between devices.
  std::set<std::uint64_t> seen;
  for (std::uint64_t memory = whole; memory > 64u << 10; memory -= 4096) seen.insert(chunks(memory));
  EXPECT_TRUE(seen.contains(3)) << *seen.rbegin();
  EXPECT_TRUE(seen.contains(4)) << "as many as there may be";
  options.device.memory = 80u << 10;
  try {
    algorithm.run(paged, values, options);
    FAIL() << "does not fit";
  } catch (const Error& error) {
    const std::string said   = error.what();
    double            needed = 0;
    char              unit   = ' ';
    ASSERT_EQ(std::sscanf(said.substr(said.find("need ")).c_str(), "need %lf %ciB", &needed, &unit), 2) << said;
    options.device.memory = static_cast<std::uint64_t>((needed + 0.01) * (unit == 'M' ? 0x1p20 : 0x1p10)) + 1024;
  }
  const Result result = algorithm.run(paged, values, options);
  EXPECT_EQ(algorithm.verify(graph, values, result, {}).problem, "");
  EXPECT_EQ(result.statistics.state_chunks, 4u);
}

/// What the device keeps, host memory does not: together they hold more than either.
TEST(GpuPages, ThatStayOnTheDeviceLeaveHostMemoryToOthers) {
  const TemporaryFolder folder;
  const Graph           graph   = some_graph("11", "6");
  const std::string     path    = in_pages(graph, folder / "g.spill", {.page_bytes = 4096});
  const Algorithm&      ranks   = algorithm_named("pagerank");
  const auto            values  = completed_parameters(ranks, {{"iterations", "3"}, {"tolerance", "0"}});
  const std::uint64_t   all     = open(path).pages()->bytes();
  const auto            of_disk = [&](std::uint64_t resident) {
    const Graph paged       = open(path, {.host_memory = (384u << 10) + 2 * all});
    RunOptions  options     = on_gpu();
    options.supply.resident = resident;
    const Result result     = ranks.run(paged, values, options);
    EXPECT_EQ(ranks.verify(graph, values, result, {}).problem, "");
    EXPECT_EQ(result.statistics.per_iteration.at(0).bytes_read, all);
    EXPECT_EQ(result.statistics.per_iteration.at(1).bytes_read, result.statistics.per_iteration.at(2).bytes_read);
    return result.statistics.per_iteration.at(2).bytes_read;
  };
  const std::uint64_t missing = of_disk(0), part = missing / 8192 * 4096;
  ASSERT_GT(missing, all / 8) << "host memory holds too much of them";
  ASSERT_LT(missing, all / 2) << "or too little";
  EXPECT_EQ(of_disk(part), missing - part) << "of " << all;
  EXPECT_EQ(of_disk(missing), 0u) << "of " << all;
}

/// One after the other, with weights and without: they are read once.
TEST(GpuPages, ReadInPlaceServeSeveralRuns) {
  const TemporaryFolder folder;
  const Graph           graph = with_random_weights(some_graph(), 1, 1, 9, 1);
  const Graph paged         = open(in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true}));
  RunOptions  options       = on_gpu();
  options.method            = edges_in_place();
  options.runs              = 2;
  const std::uint64_t pages = paged.pages()->table().size();
  bool                read  = false;
  for (const char* name : {"bfs", "sssp", "bfs"}) {
    const auto   values = completed_parameters(algorithm_named(name), {{"source", "1"}});
    const Result result = algorithm_named(name).run(paged, values, options);
    EXPECT_EQ(algorithm_named(name).verify(graph, values, result, {}).problem, "") << name;
    EXPECT_EQ(result.statistics.pages_read, std::exchange(read, true) ? 0 : pages) << name;
    EXPECT_TRUE(result.statistics.compressed);
  }
}

/// Whatever is in a page, nothing beside it is read, and edges lead to vertices; those that would not are told.
TEST(GpuPages, OfAnyBytesStayWithinBounds) {
  std::mt19937_64 random{7};
  cuda::Device    device{0, 0};
  device.enter();
  constexpr std::uint64_t   vertices = 80, most = 300, begun = 3;  // edges of the first row are in the page before
  const std::vector<Vertex> starts(8, 70);
  const auto                there = [&]<class T>(const std::vector<T>& here) {
    cuda::DeviceArray<T> array{device, here.size(), "a test"};
    array.upload(here.data());
    device.wait();
    return array;
  };
  const auto first = there(starts);
  bool       told  = false;
  for (int round = 0; round < 40; ++round) {
    // Rows of one group, near and far, and of several; those that are longer than a chunk have two.
    std::vector<EdgeIndex>       offsets{0}, begins;
    std::vector<ChunkDescriptor> entries;
    for (Vertex v = 0; v < vertices; ++v) {
      const EdgeIndex degree = 1 + begun + random() % (v % 2 == 0 ? 28 : most);
      for (unsigned chunk = 0; chunk * 256 < degree; ++chunk)
        entries.push_back({v, chunk}), begins.push_back(offsets.back() + chunk * 256);
      offsets.push_back(offsets.back() + degree);
    }
    const EdgeIndex edges = offsets.back();
    begins.push_back(edges);
    const std::uint64_t        words = round % 8 == 7 ? 1u << 17 : 1024;  // places of codes have three bytes then
    std::vector<std::uint32_t> bytes(words);
    const unsigned             mask = round % 2 == 0 ? ~0u : 0x00FF00FFu;
    std::ranges::generate(bytes, [&] { return static_cast<std::uint32_t>(random()) & mask; });
    const auto                       page      = there(bytes);
    const auto                       on_device = there(offsets), laid = there(begins);
    const auto                       chunks = there(entries);
    cuda::DeviceArray<Vertex>        targets{device, edges, "a test"};
    cuda::DeviceArray<std::uint32_t> weights{device, edges, "a test"};
    cuda::DeviceArray<unsigned>      damaged{device, 1, "a test"};
    const std::vector<cuda::PageJob> job{
        {page.data(), begun, edges - begun, 0, entries.size(), begun, edges - begun, 0, 0}};
    const auto              jobs  = there(job);
    const std::uint8_t      width = static_cast<std::uint8_t>(2 + round / 4 % 3);
    const store::PageFormat format{.ids         = {width, width},
                                   .page_bytes  = static_cast<std::uint32_t>(4 * words),
                                   .compressed  = round % 4 < 2,
                                   .weight_bits = round % 4 < 2 ? 7u : 32u};
    cuda::PageCode          code = cuda::PageCode::of(format);
    code.starts = first.data(), code.pages = starts.size(), code.vertices = vertices;
    damaged.clear();
    cuda::decode_pages(code,
                       {.jobs    = jobs.data(),
                        .count   = 1,
                        .teams   = job.front().teams(),
                        .from    = begun,
                        .layout  = {chunks.data(), laid.data(), entries.size(), 256},
                        .offsets = on_device.data()},
                       targets.data(), weights.data(), damaged.data());
    std::vector<Vertex> decoded(edges);
    targets.download(decoded.data());
    unsigned said = 0;
    damaged.download(&said);
    EXPECT_LT(*std::ranges::max_element(decoded.begin(), decoded.end() - 2 * begun), vertices);
    told |= said != 0;
  }
  EXPECT_TRUE(told);
}

/// Preparing ends soon, too: the n-th look finds the run cancelled, wherever that is.
TEST(GpuPages, StopWhereverTheyAreCancelled) {
  struct Stopping : Progress {
    explicit Stopping(int n) : left(n) {}
    bool                     cancelled() const override { return --left < 0; }
    mutable std::atomic<int> left;
  };
  const TemporaryFolder folder;
  const Graph           paged =
      open(in_pages(some_graph("6"), folder / "g.spill", {.page_bytes = 4096, .compressed = true}));
  const std::uint64_t before = paged.budget()->used();
  for (const Method method : {edges_in_place(), pages_from_disk()}) {
    int stopped = 0;
    for (int n = 0; n < 100; ++n) {
      Stopping   progress{n};
      RunOptions options = on_gpu();
      options.method = method, options.progress = &progress;
      try {
        levels(paged, options);
        break;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::interrupted) << error.what();
        ++stopped;
      }
      EXPECT_EQ(paged.budget()->used(), before) << n;
    }
    EXPECT_GE(stopped, 3);
  }
}

#if defined(SPILLWAY_EMULATED)
/// The n-th call into CUDA fails: one error, or the answer; and nothing is held afterwards.
TEST(GpuPages, AnyCallMayFail) {
  const TemporaryFolder folder;
  const Graph           graph = some_graph("8");
  const std::string     path  = in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true});
  const auto            held  = [] {
    cuda::IdleRings::instance().clear();
    return emulator::held();
  };
  const std::uint64_t before = held();
  std::size_t         failed = 0, right = 0;
  RunOptions          options = on_gpu();
  options.method              = pages_from_disk();
  for (std::uint64_t n = 1, step = 1;; n += step, step += n > 60 ? 3 : 0) {
    {
      const Graph paged = open(path);
      emulator::fail_at(n);
      try {
        const Result result = levels(paged, options);
        EXPECT_EQ(algorithm_named("bfs").verify(graph, {{"source", "1"}}, result, {}).problem, "") << n;
        ++right;
      } catch (const Error& error) {
        EXPECT_FALSE(std::string_view{error.what()}.empty());
        ++failed;
      }
    }
    const std::string which = emulator::failed_call();
    emulator::fail_at(0);
    EXPECT_EQ(held(), before) << "after call " << n << ", " << which;
    if (!which.empty()) continue;
    if (options.supply.state_chunks > 1) break;
    n = 0, step = 1;
    if (options.method == pages_from_disk()) {
      options.method = edges_in_place();
      continue;
    }
    options.method              = pages_from_disk();  // in chunks, with places that others take, and fewer calls
    options.supply.state_chunks = 2, options.supply.resident = 8192, options.cuda.page_cache = PageCache::lru;
    step = 5;
  }
  EXPECT_GT(failed, 20u);
  EXPECT_GT(right, 0u);
}
#endif

INSTANTIATE_TEST_SUITE_P(Registry, GpuPrograms,
                         ::testing::Values("bc", "bp", "bfs", "cc", "degrees", "kcore", "pagerank", "ppr",
                                           "radius", "ssnsp", "sssp", "sswp"),
                         [](const auto& member) { return member.param; });

}  // namespace
}  // namespace spillway
