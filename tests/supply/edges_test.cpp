// Runs over unsorted edges: every vertex program on the zoo and on random graphs, their edges shuffled, all at
// once and in chunks, with concatenated lists and without; and the worked example of WolfGraph's paper.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "algorithms/trying.hpp"
#include "graph/edge_list.hpp"
#include "support.hpp"
#include "ways.hpp"
#include "zoo.hpp"
#if defined(SPILLWAY_TEST_ON_GPU)
#include "devices/devices.hpp"
#else
#include "supply/edges.hpp"
#include "supply/worked_example.hpp"
#endif

#include <spillway/algorithms.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>
#include <spillway/plan.hpp>
#include <spillway/run.hpp>

namespace spillway {
namespace {

using testing::filled;
using testing::TemporaryFolder;
using testing::variants_of;
using testing::with_weights_for;

#if defined(SPILLWAY_TEST_ON_GPU)
const DeviceKind device   = cuda_kind();
constexpr bool   on_a_gpu = true;
bool             has_device() { return !cuda_devices().devices.empty(); }
#else
const DeviceKind device   = cpu_kind();
constexpr bool   on_a_gpu = false;
bool             has_device() { return true; }
#endif

RunOptions on_edges() { return {.threads = 1, .device = {.kind = device}, .method = unsorted_edges()}; }

std::string complaint(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

// --- every program ---

struct EdgesWay {
  int           threads    = 2;
  std::uint64_t chunks     = 1;
  Async         async      = Async::automatic;
  Successors    successors = Successors::changed;
  bool          both_ways  = false;  ///< edges stand for both arcs
  bool          tiny       = false;
  EdgeValues    values     = EdgeValues::global;  ///< on a GPU
  unsigned      passes     = 0;
};

const std::vector<EdgesWay> ways{{.threads = 1},
                                 {.threads = 3, .tiny = true},
                                 {.chunks = 2},
                                 {.chunks = 3, .async = Async::off, .tiny = true},
                                 {.threads = 1, .chunks = 10, .successors = Successors::none},
                                 {.threads = 4, .chunks = 10, .tiny = true},
                                 {.chunks = 3, .successors = Successors::all, .both_ways = true},
                                 {.threads = 1, .chunks = 2, .async = Async::off, .both_ways = true},
                                 {.threads = 3, .both_ways = true, .tiny = true},
                                 {.both_ways = true, .passes = 3},
                                 {.values = EdgeValues::shared},
                                 {.async = Async::off, .values = EdgeValues::shared},
                                 {.both_ways = true, .values = EdgeValues::stored},
                                 {.chunks = 3, .both_ways = true, .values = EdgeValues::shared},
                                 {.chunks = 2, .values = EdgeValues::stored},
                                 {.chunks = 2, .async = Async::off, .values = EdgeValues::stored}};

Graph shuffled(const Graph& graph, bool both_ways, std::uint64_t seed) {
  const Csr&                 csr = graph.out();
  std::vector<EdgeIndex>     order(csr.arc_count());
  std::vector<Vertex>        from(csr.arc_count()), source, target;
  std::vector<std::uint32_t> weights;
  std::iota(order.begin(), order.end(), EdgeIndex{0});
  std::mt19937_64 random{seed};
  std::ranges::shuffle(order, random);
  for (Vertex v = 0; v < csr.vertex_count(); ++v)
    std::fill(from.begin() + static_cast<std::ptrdiff_t>(csr.offsets[v]),
              from.begin() + static_cast<std::ptrdiff_t>(csr.offsets[v + 1]), v);
  for (const EdgeIndex i : order) {
    source.push_back(from[i]), target.push_back(csr.targets[i]);
    if (!csr.weights.empty()) weights.push_back(csr.weights[i]);
  }
  LoadOptions options;
  options.edges                = true;
  options.transform.undirected = both_ways;
  return from_arcs(source, target, weights, graph.weight_type(), graph.vertex_count(), options);
}

class ProgramOnEdges : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no GPU on this machine";
  }

  void try_graph(const Graph& given, const std::string& what) {
    const Graph weighted = with_weights_for(algorithm_, given);
    const auto& way      = ways[turn_ % ways.size()];
    const Graph edges    = shuffled(weighted, way.both_ways, testing::seed() + turn_);
    const Graph rows     = with_rows(edges);
    const auto  variants = variants_of(algorithm_.name);
    const auto  values   = filled(algorithm_, rows, variants[turn_++ / ways.size() % variants.size()]);
    const bool  hooks    = values && values->contains("form") && values->at("form") == "afforest";
    if (!values || (hooks && (on_a_gpu || way.chunks > 1))) return;  // a program is needed
    if (values->contains("sources") && values->at("sources") == "all" && rows.vertex_count() > 16) return;
    RunOptions options        = on_edges();
    options.threads           = way.threads;
    options.supply.async      = way.async;
    options.supply.successors = way.successors;
    if (way.tiny) options.tuning = testing::tiny();
    if (on_a_gpu) options.cuda = testing::on_gpu(Filter::just_in_time, Fusion::all, way.tiny);
    options.cuda.edge_values   = way.values;
    options.cuda.edge_block    = 20;
    options.cuda.edge_passes   = way.passes;
    const std::uint64_t record = edges.weight_type() == WeightType::none ? 8 : 12,
                        count  = edges.edges()->edge_count();
    if (way.chunks > 1)
      options.supply.window = std::max<std::uint64_t>((count + way.chunks - 1) / way.chunks, 1) * record;
    const std::string asked =
        algorithm_.name + testing::as_text(*values) + " on " + what + testing::as_text(options);
    const Result result = algorithm_.run(edges, *values, options);
    if (edges.vertex_count() > 0) {
      EXPECT_EQ(result.statistics.method, "edges") << asked;
      EXPECT_EQ(result.statistics.device, on_a_gpu ? "cuda:0" : "cpu") << asked;
    }
    for (const IterationStatistics& each : result.statistics.per_iteration)
      EXPECT_EQ(each.direction, Direction::push) << asked;
    for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
      EXPECT_EQ(algorithm_.verify(rows, *values, result, {.by = by}).problem, "") << asked;
    if (count == 0) return;
    used_.insert(&way);
    if (way.chunks > 1 && result.statistics.iterations > 0) sent_ += result.statistics.bytes_sent;
    local_rounds_ += result.statistics.counters.local_rounds;
  }

  const Algorithm&          algorithm_ = algorithm_named(GetParam());
  std::size_t               turn_      = 0;
  std::set<const EdgesWay*> used_;
  std::uint64_t             sent_ = 0, local_rounds_ = 0;
};

TEST_P(ProgramOnEdges, IsRightOnTheZooAndOnRandomGraphs) {
  for (const auto& member : testing::zoo())
    if (!(GetParam() == "sssp" && member.name == "weights_large")) try_graph(member.graph, member.name);
#if defined(SPILLWAY_EMULATED)  // which takes its time
  constexpr std::uint64_t graphs = 16;
#else
  constexpr std::uint64_t graphs = 40;
#endif
  for (std::uint64_t i = 0; i < graphs || (used_.size() < ways.size() && i < 200); ++i)
    try_graph(testing::random_graph(i), "random graph " + std::to_string(i));
  EXPECT_EQ(used_.size(), ways.size());
  EXPECT_GT(sent_, 0u);
  const std::set<std::string> asynchronous{"sssp", "sswp", "cc"};
  EXPECT_EQ(local_rounds_ > 0, asynchronous.contains(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Registry, ProgramOnEdges,
                         ::testing::Values("bc", "bfs", "cc", "degrees", "pagerank", "ppr", "radius", "ssnsp",
                                           "sssp", "sswp"),
                         [](const auto& test) { return test.param; });

// --- budgets, and what is refused ---

/// The bytes that a message states in parentheses.
std::uint64_t bytes_in(const std::string& message) {
  std::string digits;
  for (std::size_t i = message.find('(') + 1; i < message.size() && message[i] != ' '; ++i)
    if (message[i] != ',') digits += message[i];
  return std::stoull(digits);
}

TEST(Edges, AsManyAsTheDeviceMemoryHolds) {
  if (!has_device()) GTEST_SKIP() << "no GPU on this machine";
  const Graph      kron   = generate("kron", {{"scale", on_a_gpu ? "13" : "10"}});
  const Graph      edges  = shuffled(with_unit_weights(kron), false, 1);
  const Algorithm& sssp   = algorithm_named("sssp");
  const auto       values = completed_parameters(sssp, {{"source", "1"}});
  const Result     whole  = sssp.run(edges, values, on_edges());
  EXPECT_EQ(whole.statistics.bytes_sent, 0u);
  const std::uint64_t all = whole.statistics.edges_on_host;
  EXPECT_EQ(all, edges.edges()->edge_count() * 12);
  RunOptions too_little    = on_edges();
  too_little.device.memory = 1000;
  const std::string why    = complaint([&] { sssp.run(edges, values, too_little); });
  ASSERT_NE(why.find("one chunk of edges need"), std::string::npos) << why;
  const std::uint64_t least = bytes_in(why), state = least - 3 * 64 * 12;  // two chunks and successors
  for (const std::uint64_t parts : {2, 3, 10}) {
    RunOptions options    = on_edges();
    options.device.memory = state + all / parts;
    const Result result   = sssp.run(edges, values, options);
    EXPECT_EQ(sssp.verify(with_rows(edges), values, result, {}).problem, "");
    EXPECT_LE(result.statistics.device_bytes, options.device.memory);
    EXPECT_GE(result.statistics.bytes_sent, all);
    EXPECT_GE(result.statistics.per_iteration.front().windows, parts);
  }
  RunOptions options    = on_edges();
  options.device.memory = least - 1;
  EXPECT_NE(complaint([&] { sssp.run(edges, values, options); }), "");
  // What it asks for suffices, if not for long: so many chunks are for smaller graphs.
  const Graph few = shuffled(with_unit_weights(generate("grid", {{"rows", "1"}, {"columns", "200"}})), false, 1);
  options.device.memory = 1000;
  options.device.memory = bytes_in(complaint([&] { sssp.run(few, values, options); }));
  EXPECT_EQ(complaint([&] { sssp.run(few, values, options); }), "");
}

TEST(Edges, ConcatenatedListsSpareRounds) {
  if (!has_device()) GTEST_SKIP() << "no GPU on this machine";
  const Graph      grid   = with_random_weights(generate("grid", {{"rows", "40"}, {"columns", "40"}}), 3);
  const Graph      edges  = shuffled(grid, false, 7);
  const Algorithm& sssp   = algorithm_named("sssp");
  const auto       values = completed_parameters(sssp, {{"source", "0"}});
  const auto       rounds = [&](Successors successors) {
    RunOptions options        = on_edges();
    options.supply.window     = edges.edges()->edge_count() / 4 * 12 + 12;
    options.supply.successors = successors;
    const Result result       = sssp.run(edges, values, options);
    EXPECT_EQ(sssp.verify(with_rows(edges), values, result, {}).problem, "");
    return result.statistics;
  };
  const RunStatistics plain = rounds(Successors::none), changed = rounds(Successors::changed),
                      all = rounds(Successors::all);
  EXPECT_LT(changed.iterations, plain.iterations);
  EXPECT_LT(all.iterations, plain.iterations);
  EXPECT_LE(changed.bytes_sent, all.bytes_sent);
}

/// Many chunks are when the edges of vertices are listed, so that they need not be scanned for.
TEST(Edges, OfVerticesAreListedWhereChunksAreMany) {
  if (!has_device()) GTEST_SKIP() << "no GPU on this machine";
  const Graph      grid   = with_random_weights(generate("grid", {{"rows", "12"}, {"columns", "12"}}), 3);
  const Algorithm& sssp   = algorithm_named("sssp");
  const auto       values = completed_parameters(sssp, {{"source", "0"}});
  for (const bool both_ways : {false, true})
    for (const int threads : {1, 3}) {
      const Graph edges     = shuffled(grid, both_ways, 7);
      RunOptions  options   = on_edges();
      options.threads       = threads;
      options.supply.window = 8 * 12;
      const Result result   = sssp.run(edges, values, options);
      EXPECT_EQ(result.statistics.method, "edges");
      EXPECT_GT(result.statistics.bytes_sent, edges.edges()->words().size() * 4) << "in chunks";
      EXPECT_EQ(sssp.verify(with_rows(edges), values, result, {}).problem, "") << both_ways << threads;
    }
}

#if !defined(SPILLWAY_TEST_ON_GPU)
/// Says that some vertices have changed, others after each chunk, and keeps what it is sent.
class WatchedDevice final : public EdgeDevice {
 public:
  WatchedDevice(std::uint64_t vertices, std::uint64_t each, std::uint64_t seed)
      : vertices_(vertices), each_(each), random_(seed) {}

  EdgeRun send_chunk(const EdgeRun& edges) override { return edges; }
  EdgeRun send_successors(std::span<const std::uint32_t> words) override {
    most_ = std::max<std::uint64_t>(most_, words.size());
    for (std::size_t i = 0; i < words.size(); i += 3) sent_.push_back({words[i], words[i + 1], words[i + 2]});
    return {words.data(), words.size() / 3, 3};
  }
  BlockWork process(const EdgeBlock& block) override {
    if (!block.again) sent_.clear();
    return {};
  }
  std::vector<std::uint64_t> changed() override {
    changed_.assign((vertices_ + 63) / 64, 0);
    for (std::uint64_t i = 0; i < each_; ++i) {
      const std::uint64_t v = random_() % vertices_;
      changed_[v / 64] |= std::uint64_t{1} << (v % 64);
    }
    return changed_;
  }

  std::uint64_t                             vertices_, each_, most_ = 0;
  std::mt19937_64                           random_;
  std::vector<std::uint64_t>                changed_;
  std::vector<std::array<std::uint32_t, 3>> sent_;
};

/// Whether they are scanned for or looked up, and in however many parts they are sent.
TEST(Edges, ThatLeadOnAreAllSentAndWithinTheirRoom) {
  for (const bool both_ways : {false, true})
    for (const int threads : {1, 3})
      for (const std::uint64_t changed : {1, 400})
        for (const std::uint64_t room : {7, 100, 100'000}) {
          const Graph edges = shuffled(with_unit_weights(generate("kron", {{"scale", "9"}})), both_ways, 5);
          const auto  run   = edges.edges()->edges(threads);
          RowBlock    block;
          block.last                     = static_cast<Vertex>(edges.vertex_count());
          block.edges                    = edges.edges().get();
          block.along                    = {true, both_ways, both_ways};
          constexpr std::uint64_t chunks = 40;
          ChunkSizes              sizes{
                           .edges = (run.count + chunks - 1) / chunks, .successors = room, .count = chunks, .whole = false};
          sizes.count = (run.count + sizes.edges - 1) / sizes.edges;
          WatchedDevice       watched{edges.vertex_count(), changed, 11};
          EdgeRounds          rounds{block, run, sizes, {.local = true}, threads, edges.budget()};
          IterationStatistics made;
          RunStatistics       statistics;
          // What the last chunk of a round is sent with is what is left in the device.
          for (int round = 0; round < 3; ++round) {
            rounds.round(watched, made, statistics);
            std::vector<std::array<std::uint32_t, 3>> expected;
            const auto has = [&](Vertex v) { return (watched.changed_[v / 64] >> (v % 64) & 1) != 0; };
            for (std::uint64_t i = 0; i < (sizes.count - 1) * sizes.edges; ++i)
              if (has(run.source(i)) || (both_ways && has(run.target(i))))
                expected.push_back({run.source(i), run.target(i), run.weight(i)});
            auto sent = watched.sent_;
            for (auto* list : {&sent, &expected}) {
              std::ranges::sort(*list);
              list->erase(std::ranges::unique(*list).begin(), list->end());  // an edge both of whose ends changed
            }
            EXPECT_EQ(sent, expected) << both_ways << threads << changed << room << round;
          }
          EXPECT_LE(watched.most_, room * 3);
        }
}

TEST(Edges, ArePassedOverMoreOftenWhereThatKeepsAccumulatorsInTheCache) {
  const Rates      h200{.atomics = 105e9, .atomics_far = 17e9};
  constexpr double cache = 37.5 * (1 << 20), arcs = 1 << 29;
  const auto       passes = [&](int scale) {
    return passes_over_edges(8 * arcs, arcs, 8.0 * (std::uint64_t{1} << scale), cache, h200);
  };
  EXPECT_EQ(passes(20), 1u);
  EXPECT_EQ(passes(22), 1u);
  EXPECT_EQ(passes(23), 2u);
  EXPECT_EQ(passes(24), 4u);
  EXPECT_LE(passes(30), 16u);
}

TEST(Edges, OfChunksHaveTheirSharedIndexBesideThem) {
  for (const unsigned stride : {2u, 3u})
    for (const bool both_ways : {false, true})
      for (const bool concatenates : {false, true})
        for (const EdgeValues values : {EdgeValues::global, EdgeValues::shared, EdgeValues::stored})
          for (const unsigned edges : {20u, 1024u, 2048u}) {
            const EdgeRun all{.count = 100'000, .stride = stride};
            RunOptions    options;
            options.cuda.edge_values   = values;
            options.cuda.edge_block    = edges;
            const SharedIndex   shared = shared_index_for(options, {.forward = true, .backward = both_ways}, 8);
            const std::uint64_t least  = ChunkSizes::least_room(all, 2, concatenates, shared);
            for (const std::uint64_t room : {least, least + 1, 2 * least, 10 * least, all.bytes()}) {
              const ChunkSizes sizes = ChunkSizes::of(all, room, 2, concatenates, shared, {});
              if (sizes.whole) {
                EXPECT_LE(all.bytes() + shared.bytes(all.count), room);
                continue;
              }
              EXPECT_GE(sizes.edges + (edges < 64 ? edges : 0), 64u);  // whole blocks
              EXPECT_GE(sizes.edges * sizes.count, all.count);
              EXPECT_LE(2 * (sizes.edges * all.edge_bytes() + shared.bytes(sizes.edges)) +
                            sizes.successors * all.edge_bytes(),
                        room);
            }
          }
  const auto block_of = [](std::uint64_t bytes) { return SharedIndex::of(2048, {true, true, true}, bytes); };
  EXPECT_EQ(block_of(8).block_edges, 2048u);
  EXPECT_EQ(block_of(64).block_edges, 256u);
  EXPECT_EQ(block_of(1 << 20).block_edges, 1u);
}

TEST(Edges, OfEachVertexAreInTheirOrder) {
  const Graph   edges = shuffled(generate("kron", {{"scale", "6"}}), false, 5);
  const EdgeRun run   = edges.edges()->edges(1);
  for (const EdgeDirections along : {EdgeDirections{true, false, false}, {false, true, false}, {true, true, true}})
    for (const int threads : {1, 3}) {
      RowBlock block;
      block.last  = static_cast<Vertex>(edges.vertex_count());
      block.edges = edges.edges().get();
      block.along = along;
      const EdgesOfVertices index{block, run, threads, edges.budget()};
      const std::uint64_t   end = run.count * 2 / 3;
      for (Vertex v = 0; v < edges.vertex_count(); ++v) {
        std::vector<std::uint64_t> found, expected;
        index.for_each_before(v, end, [&](std::uint64_t edge) { found.push_back(edge); });
        for (std::uint64_t i = 0; i < end; ++i)
          if ((along.forward && run.source(i) == v) || (along.backward && run.target(i) == v))
            expected.push_back(i);
        EXPECT_EQ(found, expected) << v;
      }
    }
}
#endif

TEST(Edges, AreRefusedWhereRowsAreNeeded) {
  if (!has_device()) GTEST_SKIP() << "no GPU on this machine";
  const Graph rows = generate("kron", {{"scale", "5"}}), edges = as_edges(rows);
  for (const char* name : {"tc", "lcc", "cdlp", "scc", "induced", "kcore", "bp"}) {
    const Algorithm& algorithm = algorithm_named(name);
    if (on_a_gpu && !algorithm.on_gpu) continue;
    const auto values = filled(algorithm, rows, {});
    const auto why    = complaint([&] { algorithm.run(edges, values.value_or(ParameterValues{}), on_edges()); });
    EXPECT_NE(why.find("needs rows"), std::string::npos) << name << ": " << why;
    EXPECT_NE(why.find("leave"), std::string::npos) << name << ": " << why;
  }
  const Algorithm& bfs    = algorithm_named("bfs");
  const auto       values = completed_parameters(bfs, {{"source", "1"}});
  EXPECT_NE(complaint([&] { bfs.run(rows, values, on_edges()); }).find("--layout edges"), std::string::npos);
  RunOptions pulled = on_edges();
  pulled.direction  = Direction::pull;
  EXPECT_NE(complaint([&] { bfs.run(edges, values, pulled); }).find("--direction pull"), std::string::npos);
  RunOptions exact          = on_edges();
  exact.deterministic       = true;
  const Algorithm& pagerank = algorithm_named("pagerank");
  EXPECT_NE(
      complaint([&] { pagerank.run(edges, completed_parameters(pagerank, {}), exact); }).find("--deterministic"),
      std::string::npos);
}

/// Other methods have rows built, once.
TEST(Edges, BecomeRowsWhereTheyAreAskedFor) {
  const Graph rows = generate("kron", {{"scale", "6"}});
  const Graph back = shuffled(rows, false, 5);
  EXPECT_TRUE(std::ranges::equal(back.out().targets.span(), rows.out().targets.span()));
  EXPECT_TRUE(std::ranges::equal(back.out().offsets.span(), rows.out().offsets.span()));
  const Graph twice = as_edges(from_csr(rows.out().offsets.span(), rows.out().targets.span(), {}, WeightType::none,
                                        {.transform = {.undirected = true}}));
  EXPECT_TRUE(twice.symmetric());
  EXPECT_EQ(twice.arc_count(), twice.out().arc_count());
}

}  // namespace
}  // namespace spillway
