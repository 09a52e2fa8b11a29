// Runs over pages on disk: every vertex program on the zoo and on random graphs, in pages so small that each graph
// has many, from disk each time or kept; and disks that fail.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <set>

#include "algorithms/trying.hpp"
#include "base/system_calls.hpp"
#include "base/text.hpp"
#include "store/spill_file.hpp"
#include "store/stripes.hpp"
#include "supply/page_stream.hpp"
#include "supply/paged.hpp"
#include "support.hpp"
#include "ways.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::filled;
using testing::in_pages;
using testing::TemporaryFolder;
using testing::variants_of;
using testing::with_weights_for;

/// What an error says; nothing: there is none.
template <class Body>
std::string complaint(Body&& body) {
  try {
    body();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

struct PagedWay {
  bool                         compressed = false, in_edges = true;
  int                          threads   = 2;
  std::optional<std::uint64_t> resident  = {};
  Direction                    direction = Direction::automatic;
  bool                         by_degree = false;
  std::uint64_t                chunks    = 0;  ///< of state, on disk
  bool                         by_pread  = false;
};

const std::vector<PagedWay> ways{{.threads = 1, .resident = 0},
                                 {.compressed = true, .threads = 3, .by_pread = true},
                                 {.in_edges = false, .resident = 0, .by_pread = true},
                                 {.compressed = true, .resident = 8192, .direction = Direction::push},
                                 {.compressed = true, .threads = 4, .resident = 0, .direction = Direction::pull},
                                 {.threads = 2, .resident = 4096, .direction = Direction::pull},
                                 {.compressed = true, .threads = 2, .by_degree = true},
                                 {.compressed = true, .threads = 3, .resident = 0, .chunks = 3},
                                 {.threads = 2, .by_degree = true, .chunks = 100}};

/// Without io_uring for as long as this lives, where it is asked for.
class ReadingBy {
 public:
  explicit ReadingBy(bool pread) {
    if (pread) system_calls().uring_open = [](unsigned, io_uring**) { return -EPERM; };
  }
  ReadingBy(const ReadingBy&) = delete;
  ~ReadingBy() { system_calls() = before_; }

 private:
  SystemCalls before_ = system_calls();
};

/// With the vertices as they are in pages, and in memory.
Graph as_in_pages(const Graph& paged) {
  const auto load = [&](const store::PagedRows& rows) {
    return store::loaded(rows, paged.budget(), 1, Progress::none());
  };
  Graph::Parts parts;
  parts.out = load(*paged.pages());
  if (!paged.symmetric() && paged.in_pages()) parts.in = load(*paged.in_pages());
  if (paged.weight_type() == WeightType::none) parts.out.weights = parts.in.weights = {};
  parts.ids         = paged.ids();
  parts.weight_type = paged.weight_type();
  parts.symmetric   = paged.symmetric();
  return Graph{std::move(parts)};
}

/// Not of those whose rows may be looked up in any order.
const std::vector<std::string> programs{"bc",       "bp",  "bfs",    "cc",    "degrees", "kcore",
                                        "pagerank", "ppr", "radius", "ssnsp", "sssp",    "sswp"};

/// With its loops and parallel arcs.
Graph undirected(const Graph& graph) {
  return from_csr(graph.out().offsets.span(), graph.out().targets.span(), graph.out().weights.span(),
                  graph.weight_type(), {.transform = {.undirected = true}});
}

class ProgramOnPages : public ::testing::TestWithParam<std::string> {
 protected:
  void try_graph(const Graph& given, const std::string& what) {
    const bool  simple   = algorithm_.name == "kcore" || algorithm_.name == "bp";  // which take arcs as undirected
    const bool  both     = simple && !given.symmetric();
    const Graph graph    = with_weights_for(algorithm_, both ? undirected(given) : given);
    const auto  variants = variants_of(algorithm_.name);
    const auto  values   = filled(algorithm_, graph, variants[turn_ % variants.size()]);
    const auto& way      = ways[turn_++ % ways.size()];
    if (!values || testing::is_left_out(algorithm_, *values, graph)) return;
    if (way.in_edges) graph.in();
    const std::string path =
        in_pages(graph, folder_ / "g.spill",
                 {.page_bytes = 4096, .compressed = way.compressed, .by_degree = way.by_degree});
    const Graph paged   = open(path);
    const Graph checked = way.by_degree ? as_in_pages(paged) : graph;
    ASSERT_TRUE(paged.pages());
    const ReadingBy reading{way.by_pread};
    RunOptions      options{.threads = way.threads, .direction = way.direction};
    options.supply.resident     = way.resident;
    options.supply.state_chunks = way.chunks;
    if (turn_ % 2 == 0) options.tuning = testing::tiny();
    try {
      const Result result = algorithm_.run(paged, *values, options);
      full_bins_ += result.statistics.counters.full_bins;
      if (result.statistics.state_chunks > 1) ++in_chunks_;
      EXPECT_EQ(result.statistics.method, graph.vertex_count() > 0 ? "pages" : result.statistics.method) << what;
      if (result.statistics.method == "pages") read_by_.insert(result.statistics.page_io);
      for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
        EXPECT_EQ(algorithm_.verify(checked, *values, result, {.by = by}).problem, "")
            << algorithm_.name << " on " << what;
      if (algorithm_.name != "bc" && algorithm_.name != "bp" && algorithm_.name != "radius") {
        EXPECT_EQ(algorithm_.verify(paged, *values, result, {}).problem, "")
            << algorithm_.name << " on " << what << ", streamed";
        if (graph.arc_count() > 0) tell_a_lie(paged, *values, result, what);
      }
      if (graph.arc_count() > 0) ++right_;
      for (const IterationStatistics& each : result.statistics.per_iteration) seen_.insert(each.direction);
    } catch (const Error& error) {
      // Vertices that wait in buckets are not cut into chunks.
      if (way.chunks > 1 && std::string{error.what()}.find("cannot be cut") != std::string::npos) {
        EXPECT_TRUE(algorithm_.name == "kcore" && values->at("k") == "all") << what;
        return;
      }
      // Without in-edges some cannot go where they are asked to.
      EXPECT_NE(std::string{error.what()}.find("in-edges"), std::string::npos) << error.what();
      EXPECT_FALSE(way.in_edges || graph.symmetric()) << error.what();
    }
  }

  /// A wrong entry is found without the graph in memory, too.
  void tell_a_lie(const Graph& paged, const ParameterValues& values, Result result, const std::string& what) {
    const Vertex lied = static_cast<Vertex>(turn_ % paged.vertex_count());
    std::visit(
        [&](auto& column) {
          using T = std::remove_cvref_t<decltype(column[0])>;
          Buffer<T> changed{column.size(), paged.budget(), "a lie"};
          std::ranges::copy(column, changed.data());
          changed[lied] = changed[lied] == T{7} ? T{3} : T{7};
          column        = std::move(changed).freeze();
        },
        result.columns.front().values);
    EXPECT_NE(algorithm_.verify(paged, values, result, {}).problem, "") << algorithm_.name << " on " << what;
  }

  const Algorithm&      algorithm_ = algorithm_named(GetParam());
  TemporaryFolder       folder_;
  std::size_t           turn_ = 0, right_ = 0, in_chunks_ = 0;
  std::uint64_t         full_bins_ = 0;
  std::set<Direction>   seen_;
  std::set<std::string> read_by_;
};

bool has_uring() {
  io_uring* ring = nullptr;
  if (system_calls().uring_open(1, &ring) < 0) return false;
  system_calls().uring_close(ring);
  return true;
}

TEST_P(ProgramOnPages, IsRight) {
  for (const auto& member : testing::zoo())
    if (GetParam() != "sssp" || member.name != "weights_large") try_graph(member.graph, member.name);
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    try_graph(testing::random_graph(seed), fmt::format("random {}", seed));
  EXPECT_GT(right_, GetParam() == "bp" ? 30u : 40u);
  EXPECT_EQ(seen_.size(), GetParam() == "sssp" ? 1u : 2u) << "directions that were taken";
  EXPECT_GT(in_chunks_, 3u);
  // Only sums wait in bins: what improves in place does not.
  const std::set<std::string> gather{"bc", "bp", "degrees", "kcore", "pagerank", "ppr", "radius", "ssnsp"};
  EXPECT_EQ(full_bins_ > 0, gather.contains(GetParam())) << full_bins_;
  EXPECT_TRUE(read_by_.contains("pread"));
  EXPECT_EQ(read_by_.contains("io_uring"), has_uring());
}

INSTANTIATE_TEST_SUITE_P(Registry, ProgramOnPages, ::testing::ValuesIn(programs),
                         [](const auto& member) { return member.param; });

Graph some_graph(const char* scale = "12") {
  GenerateOptions options;
  options.transform = {.undirected = true, .dedup = true, .drop_loops = true};
  return generate("kron", {{"scale", scale}}, options);
}

/// A hub's row in many pages is added up in one order, whoever reads which.
TEST(PagedRun, IsTheSameEveryTime) {
  const TemporaryFolder folder;
  const Graph           graph = some_graph();
  const Graph paged = open(in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true}));
  const auto  ranks = [&](const Graph& of, int threads) {
    RunOptions options{.threads = threads};
    options.supply.resident = of.pages() ? std::optional<std::uint64_t>{0} : std::nullopt;
    const Result result =
        algorithm_named("pagerank").run(of, completed_parameters(algorithm_named("pagerank"), {}), options);
    const auto column = std::get<Array<float>>(result.columns.at(0).values);
    return std::vector<double>{column.begin(), column.end()};
  };
  EXPECT_EQ(ranks(paged, 1), ranks(paged, 4));
  const auto expected = ranks(graph, 1), found = ranks(paged, 2);
  for (std::size_t v = 0; v < expected.size(); ++v) EXPECT_NEAR(found[v], expected[v], 1e-6 * expected[v] + 1e-12);
}

Result searched(const Graph& graph, std::optional<std::uint64_t> resident, int iterations = 1) {
  RunOptions options{.threads = 2};
  options.supply.resident = resident;
  const Algorithm& bfs    = algorithm_named("bfs");
  Result           result;
  for (int i = 0; i < iterations; ++i)
    result = bfs.run(graph, completed_parameters(bfs, {{"source", "0"}}), options);
  return result;
}

TEST(PagedRun, ReadsOnlyWhatItsFrontierTouches) {
  const TemporaryFolder folder;
  GenerateOptions       undirected;
  undirected.transform = {.undirected = true};
  const Graph  path    = generate("chain", {{"vertices", "3000"}}, undirected);
  const Graph  paged   = open(in_pages(path, folder / "g.spill", {.page_bytes = 4096}));
  RunOptions   options{.direction = Direction::push};
  const Result few = algorithm_named("bfs").run(
      paged, completed_parameters(algorithm_named("bfs"), {{"source", "1500"}}), options);
  EXPECT_GT(paged.pages()->table().size(), 10u);
  EXPECT_EQ(few.statistics.iterations, 1501u);
  for (const IterationStatistics& each : few.statistics.per_iteration) EXPECT_LE(each.windows, 2u);
}

TEST(PagedRun, KeepsWhatFits) {
  const TemporaryFolder folder;
  const Graph           paged = open(in_pages(some_graph(), folder / "g.spill", {.page_bytes = 4096}));
  const Algorithm&      ranks = algorithm_named("pagerank");
  const auto            read  = [&](std::optional<std::uint64_t> resident) {
    RunOptions options;
    options.supply.resident = resident;
    const auto result =
        ranks.run(paged, completed_parameters(ranks, {{"iterations", "5"}, {"tolerance", "0"}}), options);
    return result.statistics.bytes_read;
  };
  const std::uint64_t all = paged.pages()->bytes();
  EXPECT_EQ(read(std::nullopt), all);
  EXPECT_EQ(read(0), 5 * all);
  const std::uint64_t half = all / 2 / 4096 * 4096;
  EXPECT_EQ(read(half), all + 4 * (all - half));
}

TEST(PagedRun, FitsItsBudget) {
  const TemporaryFolder folder;
  const Graph           graph  = some_graph("14");
  const std::string     path   = in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true});
  const auto            limit  = graph.vertex_count() * 80 + (2u << 20);
  const Graph           paged  = open(path, {.host_memory = limit});
  const Result          result = searched(paged, std::nullopt);
  EXPECT_EQ(algorithm_named("bfs")
                .verify(graph, completed_parameters(algorithm_named("bfs"), {{"source", "0"}}), result, {})
                .problem,
            "");
  EXPECT_LE(paged.budget()->peak(), limit);
  const Graph tight = open(path, {.host_memory = graph.vertex_count() * 9});
  EXPECT_NE(complaint([&] { searched(tight, std::nullopt); }).find("memory"), std::string::npos);
}

/// Buckets grow while a run goes on: pages leave room for them.
TEST(PagedRun, LeavesRoomForBuckets) {
  const TemporaryFolder folder;
  GenerateOptions       options;
  options.transform = {.undirected = true};
  const Graph graph = generate("kron", {{"scale", "16"}}, options);
  const auto  limit = graph.vertex_count() * 56 + (3u << 20);
  const Graph paged =
      open(in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true}), {.host_memory = limit});
  const auto&  cores  = algorithm_named("kcore");
  const auto   values = completed_parameters(cores, {});
  const Result result = cores.run(paged, values, {.threads = 2});
  EXPECT_EQ(cores.verify(graph, values, result, {}).problem, "");
  EXPECT_GT(result.statistics.pages_read, paged.pages()->table().size()) << "all of them fit";
  EXPECT_LE(paged.budget()->peak(), limit);
}

/// Many vertices with few edges, of which memory does not hold the state.
class StateOnDisk : public ::testing::Test {
 protected:
  Graph opened(std::uint64_t memory) const {
    return open(path_, {.host_memory = memory, .temporary = temporary_});
  }

  TemporaryFolder   folder_;
  const Graph       graph_ = generate("uniform", {{"vertices", "100000"}, {"degree", "3"}}, {});
  const std::string path_ =
      (graph_.in(), in_pages(graph_, folder_ / "g.spill", {.page_bytes = 4096, .compressed = true}));
  const std::string temporary_ = folder_ / "";
};

TEST_F(StateOnDisk, IsCutWhereMemoryDoesNotHoldIt) {
  const std::pair<const char*, std::uint64_t> limits[]{
      {"bfs", 1300u << 10}, {"pagerank", 1200u << 10}, {"bc", 4u << 20}};
  for (const auto& [name, limit] : limits) {
    const Algorithm& algorithm = algorithm_named(name);
    const bool       iterates  = std::string_view{name} == "pagerank";
    const auto       given     = iterates ? ParameterValues{{"iterations", "5"}} : ParameterValues{};
    const auto       values    = filled(algorithm, graph_, given);
    const Graph      paged     = opened(limit);
    const Plan       plan      = algorithm.plan(paged, *values, {.threads = 2});
    const Result     result    = algorithm.run(paged, *values, {.threads = 2});
    EXPECT_GT(result.statistics.state_chunks, 1u) << name;
    EXPECT_EQ(plan.state_chunks,
              std::string_view{name} == "bc" ? plan.state_chunks : result.statistics.state_chunks)
        << name;
    EXPECT_LE(paged.budget()->peak(), limit) << name;
    EXPECT_EQ(algorithm.verify(graph_, *values, result, {}).problem, "") << name;
  }
  EXPECT_EQ(folder_.file_count(), 1u) << "nothing stays behind";
}

TEST_F(StateOnDisk, IsRefusedWithTheNumberThatItNeeds) {
  const Algorithm& ranks = algorithm_named("pagerank");
  const auto       run   = [&](std::uint64_t memory) {
    return complaint([&] {
      ranks.run(opened(memory), completed_parameters(ranks, {{"iterations", "2"}}), {.threads = 2});
    });
  };
  const std::string said = run(300u << 10);
  EXPECT_NE(said.find("in chunks"), std::string::npos) << said;
  const auto at = said.find("give --host-memory ");
  ASSERT_NE(at, std::string::npos) << said;
  const auto least = parse_size(said.substr(at + 19, said.find(' ', at + 19) - at - 19));
  ASSERT_TRUE(least) << said;
  EXPECT_EQ(run(*least), "") << said;
}

TEST_F(StateOnDisk, SaysWhenTheDiskIsFull) {
  static const auto real   = system_calls();
  system_calls().fallocate = [](int, off_t, off_t) { return ENOSPC; };
  const std::string said   = complaint([&] { searched(opened(1300u << 10), 0); });
  system_calls()           = real;
  EXPECT_NE(said.find(temporary_), std::string::npos) << said;
  EXPECT_NE(said.find("--temporary"), std::string::npos) << said;
  const Graph nowhere = open(path_, {.host_memory = 8u << 20, .temporary = folder_ / "absent"});
  EXPECT_NE(complaint([&] {
              RunOptions options;
              options.supply.state_chunks = 4;
              algorithm_named("degrees").run(nowhere, {}, options);
            }).find("absent"),
            std::string::npos);
}

TEST_F(StateOnDisk, IsOnlyPushedTo) {
  const Graph      paged = opened(0);
  const Algorithm& ranks = algorithm_named("pagerank");
  const auto       asked = [&](const Graph& graph, Direction direction, bool deterministic) {
    RunOptions options{.deterministic = deterministic, .direction = direction};
    options.supply.state_chunks = 2;
    return complaint([&] { ranks.run(graph, completed_parameters(ranks, {}), options); });
  };
  EXPECT_NE(asked(paged, Direction::pull, false).find("--direction pull"), std::string::npos);
  EXPECT_NE(asked(paged, Direction::automatic, true).find("--deterministic"), std::string::npos);
  EXPECT_NE(asked(graph_, Direction::automatic, false).find("--layout pages"), std::string::npos);
}

/// In rows of all lengths, also where a row goes on in the next page amid arcs that are parallel.
TEST(SimplePages, LeaveOutLoopsAndParallelArcs) {
  const TemporaryFolder folder;
  std::vector<Vertex>   sources, targets;
  std::mt19937_64       random{5};
  for (int i = 0; i < 60000; ++i) {
    sources.push_back(static_cast<Vertex>(random() % 3 == 0 ? random() % 60000 : random() % 3));
    targets.push_back(static_cast<Vertex>(random() % 4 == 0 ? sources.back() : random() % 60000));
  }
  const Graph graph =
      from_arcs(sources, targets, {}, WeightType::none, 60000, {.transform = {.undirected = true}});
  const Csr& simple = graph.simple();
  for (const bool compressed : {false, true}) {
    const Graph paged = open(in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = compressed}));
    const auto  rows  = paged.simple_pages(2, Progress::none());
    ASSERT_EQ(rows->arcs(), simple.arc_count());
    std::vector<Vertex> found(rows->arcs(), no_vertex);
    bool                in_parts = false;
    store::for_each_page(*rows, {1, "", Progress::none()}, [&](std::uint64_t, const PageRows& page) {
      in_parts |= page.in_part;
      for (Vertex v = page.first; v < page.last; ++v)
        for (EdgeIndex i = page.row(v).first; i < page.row(v).last; ++i) found[i] = page.rows.targets[i];
    });
    EXPECT_TRUE(in_parts);
    EXPECT_TRUE(std::ranges::equal(rows->offsets(), simple.offsets));
    EXPECT_TRUE(std::ranges::equal(found, simple.targets));
  }
  const Graph already = open(in_pages(some_graph("8"), folder / "s.spill", {.page_bytes = 4096}));
  EXPECT_EQ(already.simple_pages(1, Progress::none()), already.pages()) << "as they are";
  const Graph directed = open(in_pages(generate("kron", {{"scale", "6"}}, {}), folder / "d.spill", {}));
  EXPECT_NE(complaint([&] { directed.simple_pages(1, Progress::none()); }).find("--undirected"),
            std::string::npos);
}

/// Pages of both sides share what is left.
TEST(PagedRun, FitsItsBudgetWithInEdges) {
  const TemporaryFolder folder;
  const Graph           graph = generate("kron", {{"scale", "14"}}, {});
  graph.in();
  const std::string path  = in_pages(graph, folder / "g.spill", {.page_bytes = 4096, .compressed = true});
  const auto        limit = graph.vertex_count() * 80 + (2u << 20);
  const Graph       paged = open(path, {.host_memory = limit});
  const Algorithm&  bfs   = algorithm_named("bfs");
  EXPECT_EQ(
      bfs.verify(graph, completed_parameters(bfs, {{"source", "0"}}), searched(paged, std::nullopt), {}).problem,
      "");
  EXPECT_LE(paged.budget()->peak(), limit);
}

TEST(PagedRun, SaysWhichPageIsDamaged) {
  const TemporaryFolder folder;
  const std::string     path  = in_pages(some_graph(), folder / "g.spill", {.page_bytes = 4096});
  std::string           bytes = testing::read_file(path);
  bytes[4096 + 3 * 4096 + 77] ^= 1;
  std::ofstream{path, std::ios::binary} << bytes;
  const std::string said = complaint([&] { searched(open(path), 0); });
  EXPECT_NE(said.find("page 3"), std::string::npos) << said;
  EXPECT_NE(said.find("g.spill"), std::string::npos) << said;
  const auto verdicts = store::verify(path, Progress::none());
  EXPECT_TRUE(std::ranges::any_of(
      verdicts, [](const auto& each) { return each.problem.find("page 3") != std::string::npos; }));
}

TEST(PagedRun, RefusesWhatNeedsRowsInMemory) {
  const TemporaryFolder folder;
  const Graph           paged    = open(in_pages(some_graph("8"), folder / "g.spill", {}));
  const Graph           directed = open(in_pages(generate("kron", {{"scale", "6"}}, {}), folder / "d.spill", {}));
  for (const char* name : {"tc", "lcc", "scc", "cdlp"}) {
    const Algorithm&  algorithm = algorithm_named(name);
    const std::string said = complaint([&] { algorithm.run(directed, completed_parameters(algorithm, {}), {}); });
    EXPECT_NE(said.find("--layout rows"), std::string::npos) << name << ": " << said;
  }
  // Strong components of a symmetric graph are its weak ones, which stream.
  ASSERT_TRUE(paged.symmetric());
  const Algorithm& scc    = algorithm_named("scc");
  const Result     result = scc.run(paged, completed_parameters(scc, {}), {});
  EXPECT_EQ(scc.verify(some_graph("8"), {}, result, {}).problem, "");
  RunOptions other;
  other.method = method_named("subgraph");
  EXPECT_NE(
      complaint([&] {
        algorithm_named("bfs").run(paged, completed_parameters(algorithm_named("bfs"), {{"source", "0"}}), other);
      }).find("--method"),
      std::string::npos);
  other.method = method_named("pages");
  EXPECT_NE(complaint([&] {
              algorithm_named("bfs").run(some_graph("8"),
                                         completed_parameters(algorithm_named("bfs"), {{"source", "0"}}), other);
            }).find("--layout pages"),
            std::string::npos);
}

/// Sums of floats that are to be the same each time are pulled, for which there must be in-edges.
TEST(PagedRun, ThatIsDeterministicNeedsInEdges) {
  const TemporaryFolder folder;
  const Graph           graph = generate("kron", {{"scale", "8"}}, {});
  const Graph           paged = open(in_pages(graph, folder / "g.spill", {}));
  const Algorithm&      ranks = algorithm_named("pagerank");
  EXPECT_EQ(complaint([&] { ranks.run(paged, completed_parameters(ranks, {}), {}); }), "");
  const std::string said =
      complaint([&] { ranks.run(paged, completed_parameters(ranks, {}), {.deterministic = true}); });
  EXPECT_NE(said.find("--in-edges"), std::string::npos) << said;
}

TEST(PagedGraph, IsTheSameInMemoryAgain) {
  const TemporaryFolder folder;
  for (const auto& member : testing::zoo())
    for (const bool compressed : {false, true}) {
      const Graph paged =
          open(in_pages(member.graph, folder / "g.spill", {.page_bytes = 4096, .compressed = compressed}));
      const Graph again = store::in_memory(paged, 2, Progress::none());
      EXPECT_TRUE(std::ranges::equal(again.out().targets, member.graph.out().targets)) << member.name;
      EXPECT_TRUE(std::ranges::equal(again.out().weights, member.graph.out().weights)) << member.name;
      EXPECT_EQ(again.weight_type(), member.graph.weight_type());
      EXPECT_EQ(again.symmetric(), member.graph.symmetric());
      EXPECT_EQ(paged.arc_count(), member.graph.arc_count());
      for (Vertex v = 0; v < std::min<std::uint64_t>(paged.vertex_count(), 9); ++v)
        EXPECT_EQ(paged.ids().name(v), member.graph.ids().name(v));
    }
}

/// Every read that fails ends the run with the system's words, whichever it is, and nothing hangs.
TEST(PagedRun, EndsWhenTheDiskDoes) {
  static std::atomic<int> left{0};
  static const auto       real = system_calls();
  const TemporaryFolder   folder;
  const Graph             paged = open(in_pages(some_graph(), folder / "g.spill", {.page_bytes = 4096}));
  for (const bool by_pread : {true, false})
    for (int fails = 1; fails < 12; ++fails) {  // the first tries what the file system can
      const ReadingBy reading{by_pread};
      system_calls().uring_wait = [](io_uring* ring, std::uint64_t* tag, int* result) {
        const int error = real.uring_wait(ring, tag, result);
        if (left-- <= 0) *result = -EIO;
        return error;
      };
      system_calls().pread = [](int descriptor, void* into, std::size_t bytes, off_t offset) -> ssize_t {
        if (left-- > 0) return real.pread(descriptor, into, bytes, offset);
        errno = EIO;
        return -1;
      };
      left                   = fails;
      const std::string said = complaint([&] { searched(paged, 0); });
      EXPECT_NE(said.find("g.spill: cannot read: Input/output error"), std::string::npos) << said;
    }
  EXPECT_EQ(complaint([&] { searched(paged, 0); }), "");
}

/// Reads that are under way when a run is stopped end before its memory is freed.
TEST(PagedRun, StopsWhenItIsCancelled) {
  class Stopping final : public Progress {
   public:
    explicit Stopping(int after) : left_(after) {}
    bool cancelled() const override { return left_-- <= 0; }

   private:
    mutable std::atomic<int> left_;
  };
  const TemporaryFolder folder;
  const Graph           paged = open(in_pages(some_graph("14"), folder / "g.spill", {.page_bytes = 4096}));
  const Algorithm&      ranks = algorithm_named("pagerank");
  for (const bool by_pread : {true, false})
    for (int after = 0; after < 30; ++after) {
      const ReadingBy reading{by_pread};
      Stopping        progress{after};
      RunOptions      options{.threads = 2, .progress = &progress};
      options.supply.resident = 0;
      EXPECT_EQ(complaint([&] { ranks.run(paged, completed_parameters(ranks, {}), options); }), "interrupted");
    }
}

/// Pages that nobody looked at after an error are not among those that stay.
TEST(PageStream, ChecksWhatStays) {
  const TemporaryFolder folder;
  const std::string     path  = in_pages(some_graph(), folder / "g.spill", {.page_bytes = 4096});
  std::string           bytes = testing::read_file(path);
  bytes[4096 + 9 * 4096 + 77] ^= 1;
  std::ofstream{path, std::ios::binary} << bytes;
  const Graph         paged = open(path);
  const std::uint64_t pages = paged.pages()->table().size();
  PageStream          stream{*paged.pages(), 1, false, {.ring_pages = 8, .kept_pages = pages}, paged.budget()};
  std::vector<std::uint64_t> all(pages);
  std::iota(all.begin(), all.end(), 0);
  const auto taken = [&] {
    std::set<std::uint64_t> numbers;
    stream.begin(all, {});
    const std::string said = complaint([&] {
      for (PageRows page; stream.next(0, page);) numbers.insert(page.number);
    });
    stream.end();
    EXPECT_NE(said.find("page 9:"), std::string::npos) << said;
    return numbers;
  };
  for (int again = 0; again < 3; ++again) EXPECT_FALSE(taken().contains(9));
}

/// Pages as they are, in order, whatever disk is first, while as many are held as may be: the next always finds a
/// place.
TEST(PageStream, HandsOutPagesInOrder) {
  for (const std::size_t disks : {1, 2, 3, 5}) {
    const TemporaryFolder    folder;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < disks; ++i)
      std::filesystem::create_directory(names.emplace_back(folder / fmt::format("disk{}", i)));
    const std::string   path = folder / "g.spill";
    OutputFile          file{path};
    store::StripeOutput stripes{path, names};
    store::write(some_graph("13"), {.page_bytes = 4096, .compressed = true, .stripes = names}, file,
                 Progress::none(), &stripes);
    store::commit(file, stripes);
    const Graph                paged = open(path);
    const std::uint64_t        pages = paged.pages()->table().size();
    std::vector<std::uint64_t> all(pages);
    std::iota(all.begin(), all.end(), 0);
    ASSERT_GT(pages, 60u);
    for (const std::uint64_t ring : {4, 5, 7, 24, 64})
      for (const std::uint64_t kept : {std::uint64_t{0}, pages / 3}) {
        PageStream stream{*paged.pages(), 0, false, {.ring_pages = ring, .kept_pages = kept}, paged.budget()};
        for (int pass = 0; pass < 2; ++pass) {
          std::deque<PageStream::RawPage> held;
          stream.begin(all, {});
          for (std::uint64_t i = 0; i < pages; ++i) {
            for (; 2 * held.size() >= ring; held.pop_front()) stream.release(held.front());
            const PageStream::RawPage page = stream.next_raw();
            ASSERT_EQ(page.page, i) << disks << " disks, a ring of " << ring;
            if (!page.stays()) held.push_back(page);
            for (const PageStream::RawPage& each : held)
              paged.pages()->table().check(each.page, {each.bytes, 4096});  // nobody has written over it
          }
          for (const PageStream::RawPage& each : held) stream.release(each);
          stream.end();
        }
        EXPECT_EQ(stream.pages_read(), 2 * pages - kept);
      }
  }
}

/// Tables of pages are in no array that counts: room is left for them.
TEST(PageStream, LeavesRoomForWhatIsNotedOfPages) {
  const TemporaryFolder folder;
  const std::string     path  = in_pages(some_graph("15"), folder / "g.spill", {.page_bytes = 4096});
  const std::uint64_t   pages = open(path).pages()->table().size();
  ASSERT_GT(pages, 700u);
  const Graph paged = open(path, {.host_memory = 4096 * pages + (512u << 10)});
  const auto  sizes = PageStreamSizes::of(*paged.pages(), 0, false, std::nullopt, 1, *paged.budget());
  EXPECT_LT(sizes.kept_pages, pages) << "memory is too large for this";
  EXPECT_LE(paged.budget()->used() + 4096 * (sizes.ring_pages + sizes.kept_pages) + 128 * pages + (64u << 10),
            paged.budget()->limit());
}

/// What another keeps does not take the place of what nobody does.
TEST(PageStream, KeepsWhatDoesNotLeave) {
  const TemporaryFolder      folder;
  const Graph                paged = open(in_pages(some_graph("12"), folder / "g.spill", {.page_bytes = 4096}));
  const std::uint64_t        pages = paged.pages()->table().size(), left = pages / 3, kept = pages / 4;
  std::vector<std::uint64_t> all(pages);
  std::iota(all.begin(), all.end(), 0);
  std::vector<bool> leave(pages);
  for (std::uint64_t i = 0; i < left; ++i) leave[(3 * i + i % 2) % pages] = true;
  PageStream stream{*paged.pages(), 0, false, {.ring_pages = 16, .kept_pages = kept}, paged.budget()};
  const auto take = [&](std::vector<std::uint64_t> wanted, std::vector<bool> leaving) {
    const std::uint64_t before = stream.pages_read();
    stream.begin(wanted, {}, std::move(leaving));
    for (const std::uint64_t each : wanted) {
      const PageStream::RawPage page = stream.next_raw();
      EXPECT_EQ(page.page, each);
      EXPECT_FALSE(page.stays() && leave[each]) << each;
      stream.release(page);
    }
    stream.end();
    return stream.pages_read() - before;
  };
  EXPECT_EQ(take(all, leave), pages);
  std::vector<std::uint64_t> others;
  for (const std::uint64_t each : all)
    if (!leave[each]) others.push_back(each);
  EXPECT_EQ(others.size(), pages - left);
  for (int again = 0; again < 2; ++again) EXPECT_EQ(take(others, {}), pages - left - kept);
}

}  // namespace
}  // namespace spillway
