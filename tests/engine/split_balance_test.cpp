// Virtual nodes on the CPU (Tigr, section 4): every vertex program with rows that are split in several ways gives
// right answers, visits each node of a row once, and changes nothing where no row is longer than a node.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "algorithms/trying.hpp"
#include "store/spill_file.hpp"
#include "supply/paged.hpp"
#include "support.hpp"
#include "ways.hpp"
#include "zoo.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/engine/host/node_groups.hpp>
#include <spillway/error.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::failure_of;
using testing::filled;
using testing::Turns;

constexpr std::uint64_t of_graph = 0;  ///< its largest degree

std::uint64_t largest_degree(const Graph& graph) {
  std::uint64_t most = 2;
  for (const Csr* rows : {&graph.out(), &graph.in()})
    for (Vertex v = 0; v < graph.vertex_count(); ++v)
      most = std::max<std::uint64_t>(most, rows->offsets[v + 1] - rows->offsets[v]);
  return most;
}

BalanceTuning nodes_of(std::uint64_t degree_bound) {
  return {.kind = Balance::split, .split = {.degree_bound = degree_bound}};
}

/// Virtual nodes of some of the rows.
template <class IsActive>
std::uint64_t nodes_in(const Csr& rows, std::uint64_t degree_bound, IsActive&& is_active) {
  std::uint64_t nodes = 0;
  for (Vertex v = 0; v + 1 < rows.offsets.size(); ++v) {
    const EdgeIndex degree = rows.offsets[v + 1] - rows.offsets[v];
    if (is_active(v)) nodes += degree / degree_bound + (degree % degree_bound != 0 ? 1 : 0);
  }
  return nodes;
}

std::vector<RunOptions> all_splits() {
  std::vector<RunOptions> ways;
  for (const std::uint64_t degree_bound :
       {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{10}, of_graph, std::uint64_t{1} << 20})
    for (const int threads : {1, 2, 3, 7})
      for (const Direction direction : {Direction::automatic, Direction::push, Direction::pull})
        for (const HostTuning& tuning : {HostTuning{}, testing::tiny()})
          ways.push_back({.threads   = threads,
                          .direction = direction,
                          .tuning    = tuning,
                          .device    = {.kind = cpu_kind()},
                          .balance   = nodes_of(degree_bound)});
  return ways;
}

class SplitProgram : public ::testing::TestWithParam<std::string> {
 protected:
  void expect_right(const Graph& given, const std::string& what) {
    const Graph graph    = testing::with_weights_for(algorithm_, given);
    const auto  variants = testing::variants_of(algorithm_.name);
    for (const ParameterValues& variant : variants) {
      const auto values = filled(algorithm_, graph, variant);
      if (!values || !testing::is_program(algorithm_.name, *values) ||
          testing::is_left_to_method(algorithm_.name, *values))
        continue;
      const auto all = values->find("sources");
      if (all != values->end() && all->second == "all" && graph.vertex_count() > 40) continue;
      for (const std::size_t turn : turns_.next()) {
        RunOptions way = ways_[turn];
        if (way.balance.split.degree_bound == of_graph) way.balance = nodes_of(largest_degree(graph));
        try_way(graph, *values, way, what);
        turns_.used(turn);
      }
    }
  }

  void expect_all_used() const {
    for (const std::size_t i : turns_.unused()) ADD_FAILURE() << "no run" << testing::as_text(ways_[i]);
    if (!seen_.empty()) {
      EXPECT_GT(nodes_, 0u);
      EXPECT_TRUE(seen_.contains(Direction::push));
      if (algorithm_.name != "sssp") {
        EXPECT_TRUE(seen_.contains(Direction::pull));
      }
    }
  }

 private:
  void try_way(const Graph& graph, const ParameterValues& values, const RunOptions& way, const std::string& what) {
    const std::string asked  = algorithm_.name + testing::as_text(values) + " on " + what + testing::as_text(way);
    const Result      result = algorithm_.run(graph, values, way);
    for (const CheckBy by : {CheckBy::oracle, CheckBy::properties})
      ASSERT_EQ(algorithm_.verify(graph, values, result, {.by = by}).problem, "") << asked;
    if (graph.vertex_count() == 0) return;
    ASSERT_EQ(result.statistics.balance, "split:" + std::to_string(way.balance.split.degree_bound)) << asked;
    if (result.statistics.edges_processed > 0) {
      ASSERT_GT(result.statistics.counters.virtual_nodes, 0u) << asked;
    }
    nodes_ += result.statistics.counters.virtual_nodes;
    for (const IterationStatistics& each : result.statistics.per_iteration) seen_.insert(each.direction);
  }

  const Algorithm&              algorithm_ = algorithm_named(GetParam());
  const std::vector<RunOptions> ways_      = all_splits();
  Turns                         turns_{ways_.size(), testing::full_matrix() ? ways_.size() : 7, algorithm_.name};
  std::set<Direction>           seen_;
  std::uint64_t                 nodes_ = 0;
};

TEST_P(SplitProgram, IsRight) {
  for (const auto& member : testing::zoo())
    if (GetParam() != "sssp" || member.name != "weights_large")  // distances do not fit
      expect_right(member.graph, member.name);
  for (std::uint64_t i = 0; i < 12; ++i) {
    const std::uint64_t seed = testing::seed() * 1'000 + i;
    expect_right(testing::random_graph(seed), "random graph " + std::to_string(seed));
  }
  expect_all_used();
}

/// Those with a variant that is one.
std::vector<std::string> programs() {
  std::vector<std::string> all;
  for (const Algorithm& algorithm : algorithms())
    for (const ParameterValues& variant : testing::variants_of(algorithm.name)) {
      const auto values = filled(algorithm, testing::zoo()[1].graph, variant);
      if (algorithm.makes_a_graph || !testing::is_program(algorithm.name, *values)) continue;
      all.push_back(algorithm.name);
      break;
    }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, SplitProgram, ::testing::ValuesIn(programs()),
                         [](const auto& test) { return test.param; });

class SplitRows : public ::testing::Test {
 protected:
  /// With every number of threads, in large and in small tasks.
  template <class Expect>
  static void for_each_size(Expect&& expect) {
    for (const int threads : {1, 2, 3, 7})
      for (const HostTuning& tuning : {HostTuning{}, HostTuning{.serial_work = 0}, testing::tiny()})
        expect(RunOptions{.threads = threads, .tuning = tuning, .device = {.kind = cpu_kind()}});
  }

  static Result run(const std::string& name, const Graph& graph, const ParameterValues& given,
                    const RunOptions& options) {
    const Algorithm& algorithm = algorithm_named(name);
    const auto       values    = filled(algorithm, graph, given);
    Result           result    = algorithm.run(graph, *values, options);
    EXPECT_EQ(algorithm.verify(graph, *values, result, {}).problem, "") << name << testing::as_text(options);
    return result;
  }

  /// Of the first column, bit for bit.
  static bool same_entries(const Result& one, const Result& other) {
    return std::visit(
        [&](const auto& entries) {
          return std::ranges::equal(entries.span(),
                                    std::get<std::decay_t<decltype(entries)>>(other.columns[0].values).span());
        },
        one.columns[0].values);
  }

  static bool is_reached(const Result& bfs, Vertex v) {
    return std::get<Array<std::uint32_t>>(bfs.columns[0].values)[v] != ~std::uint32_t{0};
  }

  const Graph skewed_ = with_random_weights(generate("kron", {{"scale", "9"}}), 1);
};

/// 99 edges leave the centre, and none its leaves: ⌈99 / 10⌉ nodes.
TEST_F(SplitRows, OfAStarAreTenNodes) {
  const Graph star = generate("star", {{"vertices", "100"}});
  for_each_size([&](RunOptions options) {
    options.direction = Direction::push;
    options.balance   = nodes_of(10);
    EXPECT_EQ(run("bfs", star, {}, options).statistics.counters.virtual_nodes, 10u) << testing::as_text(options);
    options.balance = nodes_of(99);
    EXPECT_EQ(run("bfs", star, {}, options).statistics.counters.virtual_nodes, 1u) << testing::as_text(options);
    options.balance   = {.kind = Balance::bins};
    const Result bins = run("bfs", star, {}, options);
    EXPECT_EQ(bins.statistics.counters.virtual_nodes, 0u);
    EXPECT_EQ(bins.statistics.balance, "bins");
    EXPECT_EQ(
        run("bfs", star, {}, {.direction = Direction::push, .device = {.kind = cpu_kind()}}).statistics.balance,
        "bins");
  });
}

/// Parts that began or ended inside a node would be more.
TEST_F(SplitRows, ArePushedANodeOnce) {
  for (const std::uint64_t degree_bound : {2u, 3u, 10u, 64u, 1u << 20})
    for_each_size([&](RunOptions options) {
      options.direction   = Direction::push;
      options.balance     = nodes_of(degree_bound);
      const Result result = run("bfs", skewed_, {}, options);
      EXPECT_EQ(result.statistics.counters.virtual_nodes,
                nodes_in(skewed_.out(), degree_bound, [&](Vertex v) { return is_reached(result, v); }))
          << testing::as_text(options);
    });
}

TEST_F(SplitRows, OfEveryoneAreVisitedInEveryIteration) {
  for (const std::uint64_t degree_bound : {2u, 3u, 10u, 1u << 20})
    for (const Direction direction : {Direction::push, Direction::pull})
      for_each_size([&](RunOptions options) {
        options.direction   = direction;
        options.balance     = nodes_of(degree_bound);
        const Result result = run("pagerank", skewed_, {{"iterations", "5"}}, options);
        const Csr&   rows   = direction == Direction::push ? skewed_.out() : skewed_.in();
        EXPECT_EQ(result.statistics.counters.virtual_nodes,
                  result.statistics.iterations * nodes_in(rows, degree_bound, [](Vertex) { return true; }))
            << testing::as_text(options);
        EXPECT_EQ(result.statistics.per_iteration.front().direction, direction);
        EXPECT_EQ(result.statistics.edges_processed, result.statistics.iterations * skewed_.arc_count());
      });
}

/// A vertex whose distance improves sends once more.
TEST_F(SplitRows, InBucketsAreVisitedOnceOrMore) {
  for (const std::uint64_t degree_bound : {2u, 10u, 1u << 20})
    for_each_size([&](RunOptions options) {
      options.balance     = nodes_of(degree_bound);
      const Result bfs    = run("bfs", skewed_, {}, options);
      const Result result = run("sssp", skewed_, {}, options);
      EXPECT_GE(result.statistics.counters.virtual_nodes,
                nodes_in(skewed_.out(), degree_bound, [&](Vertex v) { return is_reached(bfs, v); }))
          << testing::as_text(options);
    });
  const Graph chain = with_random_weights(generate("chain", {{"vertices", "300"}}), 1);
  for_each_size([&](RunOptions options) {
    options.balance = nodes_of(2);
    EXPECT_EQ(run("sssp", chain, {}, options).statistics.counters.virtual_nodes, 299u)
        << testing::as_text(options);
  });
}

/// Long rows wait for all threads, whichever found them.
TEST_F(SplitRows, InBucketsAreLeftToAllThreadsWhereTheyAreLong) {
  const Graph hub =
      with_random_weights(generate("star", {{"vertices", "40000"}}, {.transform = {.undirected = true}}), 1);
  for_each_size([&](RunOptions options) {
    for (const std::uint64_t degree_bound : {2u, 10u, 1u << 20}) {
      options.balance = nodes_of(degree_bound);
      run("sssp", hub, {{"source", "7"}}, options);
    }
  });
}

TEST_F(SplitRows, ChangeNothingWhereNoneIsLong) {
  const struct {
    std::string     algorithm;
    ParameterValues values;
  } asked[]                  = {{"bfs", {}}, {"cc", {{"form", "propagate"}}}, {"sssp", {}}, {"kcore", {}}};
  const std::uint64_t degree = largest_degree(skewed_);
  for (const auto& [algorithm, values] : asked)
    for (const Direction direction : {Direction::automatic, Direction::push, Direction::pull})
      for_each_size([&](RunOptions options) {
        options.direction = direction;
        const Result bins = run(algorithm, skewed_, values, options);
        for (const std::uint64_t degree_bound : {degree, degree + 1, std::uint64_t{1} << 20, ~std::uint64_t{0}}) {
          options.balance    = nodes_of(degree_bound);
          const Result split = run(algorithm, skewed_, values, options);
          EXPECT_TRUE(same_entries(split, bins)) << algorithm << testing::as_text(options);
        }
      });
}

/// Sums are made of parts of rows, in their order, whoever made them.
TEST_F(SplitRows, ArePulledTheSameByAnyNumberOfThreads) {
  RunOptions   options{.threads   = 1,
                       .direction = Direction::pull,
                       .tuning    = testing::tiny(),
                       .device    = {.kind = cpu_kind()},
                       .balance   = nodes_of(3)};
  const Result serial = run("pagerank", skewed_, {}, options);
  for (const int threads : {2, 3, 7}) {
    options.threads = threads;
    EXPECT_TRUE(same_entries(run("pagerank", skewed_, {}, options), serial)) << threads;
  }
}

TEST_F(SplitRows, ComeInWindows) {
  for (const char* const method : {"subgraph", "partitions"})
    for_each_size([&](RunOptions options) {
      options.method          = method_named(method);
      options.supply.resident = 0;
      options.supply.window   = 1000;
      options.balance         = nodes_of(3);
      options.supply.async    = Async::off;
      const Result result     = run("bfs", skewed_, {}, options);
      EXPECT_EQ(result.statistics.method, method);
      EXPECT_EQ(result.statistics.balance, "split:3");
      // One that a window ends in is in the next one, too.
      const std::uint64_t nodes = nodes_in(skewed_.out(), 3, [&](Vertex v) { return is_reached(result, v); });
      EXPECT_GE(result.statistics.counters.virtual_nodes, nodes) << testing::as_text(options);
      EXPECT_LE(result.statistics.counters.virtual_nodes,
                nodes + 4 * skewed_.arc_count() / 250 * result.statistics.iterations)
          << testing::as_text(options);
      EXPECT_EQ(run("cc", skewed_, {{"form", "propagate"}}, options).statistics.balance, "split:3");
    });
}

TEST_F(SplitRows, ComeInPages) {
  const testing::TemporaryFolder folder;
  const Graph paged = open(testing::in_pages(skewed_, folder / "g.spill", {.page_bytes = 4096}));
  for_each_size([&](RunOptions options) {
    for (const Direction direction : {Direction::automatic, Direction::push}) {
      options.direction       = direction;
      options.balance         = nodes_of(3);
      const Algorithm& bfs    = algorithm_named("bfs");
      const auto       values = filled(bfs, skewed_, {});
      const Result     result = bfs.run(paged, *values, options);
      EXPECT_EQ(bfs.verify(skewed_, *values, result, {}).problem, "");
      EXPECT_EQ(result.statistics.method, "pages");
      EXPECT_EQ(result.statistics.balance, "split:3");
      EXPECT_GT(result.statistics.counters.virtual_nodes, 0u);
    }
  });
}

/// All that a vertex needs is said before.
TEST_F(SplitRows, TakeMemoryThatWasPlanned) {
  const Algorithm&    bfs    = algorithm_named("bfs");
  const auto          values = filled(bfs, skewed_, {});
  RunOptions          options{.tuning = testing::tiny(), .device = {.kind = cpu_kind()}};
  const std::uint64_t bins = plan_of(bfs, skewed_, *values, options).state_bytes;
  options.balance          = nodes_of(2);
  EXPECT_GE(plan_of(bfs, skewed_, *values, options).state_bytes,
            bins + skewed_.vertex_count() * sizeof(std::uint64_t));
}

/// The nodes of rows of these lengths, in groups.
class Groups {
 public:
  Groups(const std::vector<EdgeIndex>& lengths, EdgeIndex degree_bound, std::uint64_t grain)
      : offsets_(lengths.size() + 1) {
    std::partial_sum(lengths.begin(), lengths.end(), offsets_.begin() + 1);
    const RowBlock block{
        .rows = {.offsets = offsets_.data()}, .first = 0, .last = static_cast<Vertex>(lengths.size())};
    host::NodeGroups groups{block, degree_bound, grain};
    for (PageRows group; groups.next(0, group);) all_.push_back(group);
    EXPECT_EQ(groups.count(), all_.size());
  }

  const std::vector<PageRows>& all() const { return all_; }

  /// Each vertex is in one group, or all of its nodes are in parts.
  void expect_all_once(EdgeIndex degree_bound) const {
    std::vector<EdgeIndex> had(offsets_.size() - 1);
    std::vector<int>       wholes(offsets_.size() - 1);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const PageRows& group = all_[i];
      EXPECT_EQ(group.number, i);
      for (Vertex v = group.first; v < group.last; ++v) {
        const EdgeRange row    = group.row(v);
        const EdgeIndex length = offsets_[v + 1] - offsets_[v];
        EXPECT_EQ(row.first, offsets_[v] + had[v]) << v;
        had[v] += row.last - row.first;
        if (!group.in_part) {
          ++wholes[v];
          EXPECT_EQ(row.last - row.first, length) << v;
          continue;
        }
        EXPECT_EQ(group.last, group.first + 1);
        EXPECT_GT(length, degree_bound) << "a row that is one node was cut";
        EXPECT_GT(row.last, row.first);
        EXPECT_LT(row.last - row.first, length);
        EXPECT_EQ((row.first - offsets_[v]) % degree_bound, 0u);
        EXPECT_TRUE((row.last - offsets_[v]) % degree_bound == 0 || row.last == offsets_[v + 1]);
      }
    }
    for (std::size_t v = 0; v < had.size(); ++v) {
      EXPECT_EQ(had[v], offsets_[v + 1] - offsets_[v]) << v;
      EXPECT_LE(wholes[v], 1) << v;
      if (offsets_[v + 1] == offsets_[v]) {
        EXPECT_EQ(wholes[v], 1) << v;
      }
    }
  }

 private:
  std::vector<EdgeIndex> offsets_;
  std::vector<PageRows>  all_;
};

/// With K = 3, a vertex of degree 6 is two virtual nodes (Tigr, figure 10).
TEST(NodeGroups, CutARowOfSixEdgesInTheMiddle) {
  const Groups groups{{0, 6, 0}, 3, 4};
  groups.expect_all_once(3);
  std::vector<EdgeIndex> parts;
  for (const PageRows& group : groups.all())
    if (group.in_part) parts.push_back(group.edges.last - group.edges.first);
  EXPECT_EQ(parts, (std::vector<EdgeIndex>{3, 3}));
}

TEST(NodeGroups, HaveEveryEdgeAndEveryVertexOnce) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    const auto    draw  = [&](std::uint64_t below) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return (state >> 33) % below;
    };
    std::vector<EdgeIndex> lengths(draw(40));
    for (EdgeIndex& length : lengths) length = draw(3) == 0 ? 0 : draw(6) == 0 ? draw(200) : draw(9);
    for (const EdgeIndex degree_bound : {2u, 3u, 10u, 200u, 1u << 20})
      for (const std::uint64_t grain : {1u, 2u, 7u, 64u, 1u << 16})
        Groups{lengths, degree_bound, grain}.expect_all_once(degree_bound);
  }
}

/// Or a hub would be one thread's.
TEST(NodeGroups, AreOfAboutEqualWork) {
  const Groups groups{{5, 100'000, 5}, 10, 1000};
  EXPECT_GE(groups.all().size(), 100u);
  for (const PageRows& group : groups.all()) EXPECT_LE(group.edges.last - group.edges.first, 1000u + 10);
}

TEST(SplitBalance, IsRefusedWhereItCannotBe) {
  const Graph      graph   = testing::random_graph(3);
  const Algorithm& ranks   = algorithm_named("pagerank");
  const auto       values  = filled(ranks, graph, {});
  const auto       refused = [&](const RunOptions& options) {
    return failure_of([&] { ranks.run(graph, *values, options); }).first;
  };
  EXPECT_EQ(refused({.device = {.kind = cpu_kind()}, .balance = nodes_of(1)}), ExitCode::usage);
  EXPECT_EQ(refused({.deterministic = true, .device = {.kind = cpu_kind()}, .balance = nodes_of(3)}),
            ExitCode::done);
  BalanceTuning array = nodes_of(3), scan = nodes_of(3), thread{.kind = Balance::thread},
                odd{.kind = Balance::bins};
  array.split.array = true, scan.split.worklist = false, odd.split.array = true;
  for (const BalanceTuning& balance : {array, scan, thread, odd})
    EXPECT_EQ(refused({.device = {.kind = cpu_kind()}, .balance = balance}), ExitCode::usage);
  EXPECT_EQ(refused({.cuda = {.filter = Filter::online}, .balance = scan}), ExitCode::usage);
  EXPECT_EQ(refused({.device = {.kind = cpu_kind()}, .balance = nodes_of(3)}), ExitCode::done);
}

}  // namespace
}  // namespace spillway
