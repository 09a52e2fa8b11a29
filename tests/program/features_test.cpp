// The optional parts of a program one by one, in every way to run it, against plain loops: messages, priorities,
// limits, totals, arrays, and going on from what another run left.
#include <algorithm>

#include "program/trying.hpp"

namespace spillway {
namespace {

using testing::edges_of;
using testing::in_every_way;
using testing::on_graphs;
using testing::parts_of;
using testing::plain_levels;
using testing::PlainEdge;
using testing::values_of;

constexpr std::uint32_t unreached = highest<std::uint32_t>();

/// `compute` looks at both ends: how many that have an edge to a vertex come before it in a scrambled order.
struct CountBefore {
  struct alignas(8) Value {
    std::uint32_t place, before;
  };
  using Update  = std::uint32_t;
  using Combine = Sum<std::uint32_t>;

  static std::uint32_t place(Vertex v) { return v * 2654435761u; }

  Value         init(Vertex v) const { return {place(v), 0}; }
  std::uint32_t compute(const Value& from, const Edge<>&, const Value& to) const { return from.place < to.place; }

  bool apply(Value& value, std::uint32_t before) const {
    value.before = before;
    return false;
  }
};

TEST(Compute, SeesBothEndsWhereUpdatesAreGathered) {
  on_graphs([](const Graph& graph, const std::string& name) {
    std::vector<std::uint32_t> before(graph.vertex_count());
    for (const PlainEdge& edge : edges_of(graph))
      before[edge.to] += CountBefore::place(edge.from) < CountBefore::place(edge.to);
    in_every_way(CountBefore{}, graph, name, [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(parts_of(outcome, [](const auto& value) { return value.before; }), before) << what;
    });
  });
}

/// SIMD-X's shortest paths (figure 3a): an update is what the vertex should have, better or not.
struct RelaxBoth {
  using Value   = std::uint32_t;
  using Weight  = std::uint32_t;
  using Combine = Min<std::uint32_t>;

  Value init(Vertex v) const { return v == 0 ? 0 : unreached; }
  bool  starts(Vertex v) const { return v == 0; }
  Value compute(Value from, const Edge<Weight>& edge, Value to) const { return std::min(from + edge.weight, to); }
};

std::vector<std::uint32_t> plain_distances(const Graph& graph) {
  std::vector<std::uint32_t> distances(graph.vertex_count(), unreached);
  distances[0]       = 0;
  const auto edges   = edges_of(graph);
  bool       changed = true;
  while (std::exchange(changed, false))
    for (const PlainEdge& edge : edges)
      if (distances[edge.from] != unreached && distances[edge.from] + edge.weight < distances[edge.to])
        distances[edge.to] = distances[edge.from] + edge.weight, changed = true;
  return distances;
}

TEST(Compute, SeesBothEndsInPlace) {
  on_graphs([](const Graph& given, const std::string& name) {
    const Graph graph    = with_random_weights(given, 3);
    const auto  expected = plain_distances(graph);
    in_every_way(RelaxBoth{}, graph, name, [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(values_of(outcome), expected) << what;
    });
  });
}

/// A vote that is made for the vertex it goes to.
struct VoteForBoth {
  struct alignas(8) Value {
    std::uint32_t level;
    Vertex        own;
  };
  using Update  = std::uint64_t;
  using Combine = Any<std::uint64_t>;

  Value         init(Vertex v) const { return {v == 0 ? 0 : unreached, v}; }
  bool          starts(Vertex v) const { return v == 0; }
  std::uint64_t compute(const Value& from, const Edge<>&, const Value& to) const {
    return std::uint64_t{to.own} << 32 | (from.level + 1);
  }

  bool apply(Value& value, std::uint64_t vote) const {
    if (vote >> 32 == value.own) value.level = static_cast<std::uint32_t>(vote);
    return true;
  }
};

TEST(Compute, SeesBothEndsOfAVote) {
  on_graphs([](const Graph& graph, const std::string& name) {
    const auto levels = plain_levels(graph, Along::out, {0});
    in_every_way(VoteForBoth{}, graph, name, [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(parts_of(outcome, [](const auto& value) { return value.level; }), levels) << what;
    });
  });
}

/// A vertex that hears of the news for the first time tells everyone, once; `publish` has nothing to say.
struct Gossip {
  struct Value {
    std::uint32_t heard, told;
  };
  using Update  = std::uint32_t;
  using Combine = Sum<std::uint32_t>;

  Value         init(Vertex) const { return {}; }
  bool          starts(Vertex v) const { return v == 0; }
  void          publish(Value& value, const Step<>&) const { ++value.told; }
  std::uint32_t compute(const Edge<>&) const { return 1; }

  bool apply(Value& value, std::uint32_t times) const {
    value.heard += times;
    return value.told == 0;
  }
};

TEST(Publish, MayReturnNothing) {
  on_graphs([](const Graph& graph, const std::string& name) {
    const auto                 levels = plain_levels(graph, Along::out, {0});
    std::vector<std::uint32_t> heard(graph.vertex_count()), told;
    for (const PlainEdge& edge : edges_of(graph)) heard[edge.to] += levels[edge.from] != unreached;
    for (const std::uint32_t level : levels) told.push_back(level != unreached);
    in_every_way(Gossip{}, graph, name, [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(parts_of(outcome, [](const auto& value) { return value.heard; }), heard) << what;
      EXPECT_EQ(parts_of(outcome, [](const auto& value) { return value.told; }), told) << what;
    });
  });
}

/// What `apply` is told that all publishing added up to, and what the outcome keeps of it.
struct Totals {
  struct Global {
    std::uint64_t published = 0, applied = 0;

    void operator+=(const Global& other) {
      published += other.published;
      applied += other.applied;
    }
  };
  using Value   = std::uint64_t;
  using Combine = Sum<std::uint64_t>;

  static constexpr std::uint64_t max_iterations = 1;

  Value init(Vertex v) const { return v; }
  Value publish(const Value& value, const Step<Global>& step) const {
    step.total->published += step.vertex + 1;
    return value;
  }
  Value compute(Value, const Edge<>&) const { return 1; }

  bool apply(Value& value, Value, const Step<Global>& step) const {
    value = step.global->published;
    ++step.total->applied;
    return true;
  }
};

TEST(Global, OfPublishReachesApplyAndOfBothTheOutcome) {
  on_graphs([](const Graph& graph, const std::string& name) {
    const std::uint64_t n = graph.vertex_count();
    std::vector<bool>   receives(n);
    for (const PlainEdge& edge : edges_of(graph)) receives[edge.to] = true;
    const auto receivers = static_cast<std::uint64_t>(std::count(receives.begin(), receives.end(), true));
    in_every_way(Totals{}, graph, name, [&](const auto& outcome, const std::string& what) {
      ASSERT_EQ(outcome.history.size(), 1u) << what;
      EXPECT_EQ(outcome.history[0].published, n * (n + 1) / 2) << what;
      EXPECT_EQ(outcome.history[0].applied, receivers) << what;
      EXPECT_EQ(outcome.global.applied, receivers) << what;
      for (Vertex v = 0; v < n; ++v) EXPECT_EQ(outcome[v], receives[v] ? n * (n + 1) / 2 : v) << what;
    });
  });
}

/// Levels, until an iteration reaches `enough` vertices.
struct UntilCrowded {
  struct Global {
    std::uint64_t reached = 0;

    void operator+=(const Global& other) { reached += other.reached; }
  };
  using Value   = std::uint32_t;
  using Combine = Any<std::uint32_t>;

  std::uint64_t enough;

  Value init(Vertex v) const { return v == 0 ? 0 : unreached; }
  bool  starts(Vertex v) const { return v == 0; }
  Value compute(Value level, const Edge<>&) const { return level + 1; }

  bool apply(Value& value, Value level, const Step<Global>& step) const {
    value = level;
    ++step.total->reached;
    return true;
  }

  bool converged(const Global& global) const { return global.reached >= enough; }
};

TEST(Converged, EndsTheRunAfterAnIteration) {
  on_graphs([](const Graph& graph, const std::string& name) {
    auto          levels = plain_levels(graph, Along::out, {0});
    std::uint32_t last   = 1;
    const auto    size   = [&](std::uint32_t level) { return std::count(levels.begin(), levels.end(), level); };
    while (size(last) > 0 && size(last) < 10) ++last;
    for (std::uint32_t& level : levels)
      if (level > last) level = unreached;
    in_every_way(UntilCrowded{10}, graph, name, [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(values_of(outcome), levels) << what;
      EXPECT_EQ(outcome.statistics.iterations, last) << what;
    });
  });
}

/// Levels up to a limit; a limit of 0 leaves the first values.
struct Within {
  using Value   = std::uint32_t;
  using Combine = Min<std::uint32_t>;

  std::uint64_t max_iterations;

  Value init(Vertex v) const { return v % 50 == 0 ? 0 : unreached; }
  bool  starts(Vertex, const Value& value) const { return value == 0; }
  Value compute(Value level, const Edge<>&) const { return level + 1; }
};

TEST(Starts, MayLookAtTheFirstValueAndIterationsHaveALimit) {
  on_graphs([](const Graph& graph, const std::string& name) {
    std::vector<Vertex> sources;
    for (Vertex v = 0; v < graph.vertex_count(); v += 50) sources.push_back(v);
    const auto levels = plain_levels(graph, Along::out, sources);
    for (const std::uint64_t limit : {0u, 1u, 2u, 1000u}) {
      auto expected = levels;
      for (std::uint32_t& level : expected)
        if (level > limit) level = unreached;
      in_every_way(Within{limit}, graph, name, [&](const auto& outcome, const std::string& what) {
        EXPECT_EQ(values_of(outcome), expected) << what << ", at most " << limit;
        EXPECT_LE(outcome.statistics.iterations, limit) << what;
      });
    }
  });
}

}  // namespace
}  // namespace spillway
