// What a program may offer beyond what the algorithms use, in every way to run it, against plain loops over the
// edges: ways along the edges, how `compute` is called, what `publish`, `apply` and `init` are told.
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

/// Each vertex once adds up the numbers of all that have an edge to it.
template <Along A>
struct NeighborSum {
  struct Value {
    std::uint64_t own, sum;
  };
  using Update  = std::uint64_t;
  using Combine = Sum<std::uint64_t>;

  static constexpr Along along = A;

  Value         init(Vertex v) const { return {v + 1u, 0}; }
  std::uint64_t publish(const Value& value, const Step<>&) const { return value.own; }
  std::uint64_t compute(std::uint64_t own, const Edge<>&) const { return own; }

  bool apply(Value& value, std::uint64_t sum) const {
    value.sum += sum;
    return false;
  }
};

template <Along A>
void expect_neighbor_sums() {
  on_graphs([](const Graph& graph, const std::string& name) {
    std::vector<std::uint64_t> sums(graph.vertex_count());
    for (const PlainEdge& edge : edges_of(graph, A)) sums[edge.to] += edge.from + 1u;
    in_every_way(NeighborSum<A>{}, graph, name, [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(parts_of(outcome, [](const auto& value) { return value.sum; }), sums) << what;
      EXPECT_EQ(outcome.statistics.iterations, 1u) << what;
    });
  });
}

TEST(Contract, UpdatesTravelAlongOutEdges) { expect_neighbor_sums<Along::out>(); }
TEST(Contract, UpdatesTravelAlongInEdges) { expect_neighbor_sums<Along::in>(); }
TEST(Contract, UpdatesTravelBothWays) { expect_neighbor_sums<Along::both>(); }

/// How many walks of `max_iterations` edges end at each vertex, modulo 2^64.
template <Along A>
struct Walks {
  using Value   = std::uint64_t;
  using Combine = Sum<std::uint64_t>;

  static constexpr bool  all_active = true;
  static constexpr Along along      = A;

  std::uint64_t max_iterations;

  Value init(Vertex) const { return 1; }
  Value compute(Value walks, const Edge<>&) const { return walks; }

  bool apply(Value& value, Value walks) const {
    value = walks;
    return true;
  }
};

template <Along A>
void expect_walks() {
  on_graphs([](const Graph& graph, const std::string& name) {
    std::vector<std::uint64_t> walks(graph.vertex_count(), 1);
    for (int step = 0; step < 3; ++step) {
      std::vector<std::uint64_t> next(graph.vertex_count());
      for (const PlainEdge& edge : edges_of(graph, A)) next[edge.to] += walks[edge.from];
      walks.swap(next);
    }
    in_every_way(Walks<A>{3}, graph, name, [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(values_of(outcome), walks) << what;
      EXPECT_EQ(outcome.statistics.iterations, 3u) << what;
    });
  });
}

TEST(Contract, AllActiveGathersAlongOutEdges) { expect_walks<Along::out>(); }
TEST(Contract, AllActiveGathersAlongInEdges) { expect_walks<Along::in>(); }
TEST(Contract, AllActiveGathersBothWays) { expect_walks<Along::both>(); }

/// Shortest paths in edges and their number: gathers over many iterations, and closes vertices.
struct CountPaths {
  struct Value {
    std::uint64_t paths;
    std::uint32_t level;

    bool operator==(const Value&) const = default;
  };
  using Update  = std::uint64_t;
  using Combine = Sum<std::uint64_t>;

  static constexpr Along along = Along::both;

  Value         init(Vertex v) const { return v == 0 ? Value{1, 0} : Value{0, highest<std::uint32_t>()}; }
  bool          starts(Vertex v) const { return v == 0; }
  bool          open(const Value& value) const { return value.level == highest<std::uint32_t>(); }
  std::uint64_t compute(const Value& from, const Edge<>&) const { return from.paths; }

  bool apply(Value& value, std::uint64_t paths, const Step<>& step) const {
    value = {paths, step.iteration + 1};
    return true;
  }
};

TEST(Contract, AFrontierMovesBothWays) {
  on_graphs([](const Graph& graph, const std::string& name) {
    const auto                     levels = plain_levels(graph, Along::both, {0});
    std::vector<CountPaths::Value> expected(graph.vertex_count());
    for (Vertex v = 0; v < graph.vertex_count(); ++v) expected[v] = {v == 0 ? 1u : 0u, levels[v]};
    for (std::uint32_t level = 0; level < graph.vertex_count(); ++level)
      for (const PlainEdge& edge : edges_of(graph, Along::both))
        if (levels[edge.from] == level && levels[edge.to] == level + 1)
          expected[edge.to].paths += expected[edge.from].paths;
    in_every_way(CountPaths{}, graph, name, [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(values_of(outcome), expected) << what;
    });
  });
}

/// The smallest vertex that reaches each: Min in place.
template <Along A, bool Free>
struct Smallest {
  using Value   = Vertex;
  using Combine = Min<Vertex>;

  static constexpr Along along      = A;
  static constexpr bool  order_free = Free;

  Vertex init(Vertex v) const { return v; }
  Vertex compute(Vertex smallest, const Edge<>&) const { return smallest; }
};

template <Along A>
std::vector<Vertex> plain_smallest(const Graph& graph) {
  std::vector<Vertex> smallest;
  for (Vertex v = 0; v < graph.vertex_count(); ++v) smallest.push_back(v);
  const auto edges   = edges_of(graph, A);
  bool       changed = true;
  while (std::exchange(changed, false))
    for (const PlainEdge& edge : edges)
      if (smallest[edge.from] < smallest[edge.to]) smallest[edge.to] = smallest[edge.from], changed = true;
  return smallest;
}

template <Along A>
void expect_smallest() {
  on_graphs([](const Graph& graph, const std::string& name) {
    const auto expected = plain_smallest<A>(graph);
    const auto check    = [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(values_of(outcome), expected) << what;
    };
    in_every_way(Smallest<A, false>{}, graph, name, check);
    in_every_way(Smallest<A, true>{}, graph, name + ", order-free", check);
  });
}

TEST(Contract, ValuesImproveInPlaceAlongOutEdges) { expect_smallest<Along::out>(); }
TEST(Contract, ValuesImproveInPlaceAlongInEdges) { expect_smallest<Along::in>(); }
TEST(Contract, ValuesImproveInPlaceBothWays) { expect_smallest<Along::both>(); }

/// Distances from vertex 0, whichever way arcs point: values that may improve from both sides in one iteration.
struct Distances {
  using Value   = std::uint32_t;
  using Weight  = std::uint32_t;
  using Combine = Min<std::uint32_t>;

  static constexpr Along along = Along::both;

  Value init(Vertex v) const { return v == 0 ? 0 : highest<Value>(); }
  bool  starts(Vertex v) const { return v == 0; }
  Value compute(Value distance, const Edge<Weight>& edge) const { return distance + edge.weight; }
};

std::vector<std::uint32_t> plain_distances(const Graph& graph) {
  std::vector<std::uint32_t> distances(graph.vertex_count(), highest<std::uint32_t>());
  distances[0]       = 0;
  const auto edges   = edges_of(graph, Along::both);
  bool       changed = true;
  while (std::exchange(changed, false))
    for (const PlainEdge& edge : edges)
      if (distances[edge.from] != highest<std::uint32_t>() &&
          distances[edge.from] + edge.weight < distances[edge.to])
        distances[edge.to] = distances[edge.from] + edge.weight, changed = true;
  return distances;
}

/// The same, settled in buckets.
struct SettledDistances : Distances {
  static constexpr bool order_free = true;

  Value priority(const Value& distance) const { return distance; }
};

TEST(Contract, ValuesImproveFromBothSidesAtOnce) {
  on_graphs([](const Graph& given, const std::string& name) {
    const Graph graph    = with_random_weights(given, 9);
    const auto  expected = plain_distances(graph);
    const auto  check    = [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(values_of(outcome), expected) << what;
    };
    in_every_way(Distances{}, graph, name, check);
    in_every_way(SettledDistances{}, graph, name + ", in buckets", check);
  });
}

/// Vertices 1 and 2 improve twice in the first iteration; 3 has said nothing yet.
TEST(Contract, AVertexThatImprovesTwiceIsActiveOnce) {
  const std::vector<Vertex>        sources{1, 0, 2, 0, 1}, targets{0, 1, 0, 2, 3};
  const std::vector<std::uint32_t> weights{5, 3, 6, 4, 1};
  const Graph                      graph = from_arcs(sources, targets, weights, WeightType::u32, 4);
  in_every_way(Distances{}, graph, "four vertices", [](const auto& outcome, const std::string& what) {
    EXPECT_EQ(values_of(outcome), (std::vector<std::uint32_t>{0, 3, 4, 4})) << what;
    EXPECT_EQ(outcome.statistics.per_iteration.at(1).active_vertices, 2u) << what;
  });
}

/// A vote along any way: levels, and a neighbour one level before.
template <Along A>
struct Reached {
  struct Value {
    std::uint32_t level;
    Vertex        from;
  };
  using Update  = Vertex;
  using Combine = Any<Vertex>;

  static constexpr Along along = A;

  Value  init(Vertex v) const { return {v == 0 ? 0 : highest<std::uint32_t>(), v}; }
  bool   starts(Vertex v) const { return v == 0; }
  Vertex compute(const Edge<>& edge) const { return edge.source; }

  bool apply(Value& value, Vertex from, const Step<>& step) const {
    value = {step.iteration + 1, from};
    return true;
  }
};

template <Along A>
void expect_votes() {
  on_graphs([](const Graph& graph, const std::string& name) {
    const auto levels = plain_levels(graph, A, {0});
    in_every_way(Reached<A>{}, graph, name, [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(parts_of(outcome, [](const auto& value) { return value.level; }), levels) << what;
      for (Vertex v = 1; v < graph.vertex_count(); ++v)
        if (levels[v] != highest<std::uint32_t>()) {
          EXPECT_EQ(levels[outcome[v].from] + 1, levels[v]) << what << ": " << v;
        }
    });
  });
}

TEST(Contract, VotesTravelAlongInEdges) { expect_votes<Along::in>(); }
TEST(Contract, VotesTravelBothWays) { expect_votes<Along::both>(); }

/// The degrees a program is told, against a count of the edges that leave the vertex along its way.
template <Along A>
struct Degrees {
  struct Value {
    EdgeIndex at_first, published;
  };
  using Update  = std::uint32_t;
  using Combine = Sum<std::uint32_t>;

  static constexpr Along along = A;

  Value         init(Vertex, EdgeIndex degree) const { return {degree, 0}; }
  void          publish(Value& value, const Step<>& step) const { value.published = step.degree; }
  std::uint32_t compute(const Edge<>&) const { return 1; }
  bool          apply(Value&, std::uint32_t) const { return false; }
};

template <Along A>
void expect_degrees() {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const RunOptions& way : testing::some_ways()) {
      const Graph            graph   = testing::random_graph(seed);  // anew: its in-edges are not built
      const auto             outcome = run(Degrees<A>{}, graph, way);
      std::vector<EdgeIndex> degrees(graph.vertex_count());
      for (const PlainEdge& edge : edges_of(graph, A)) ++degrees[edge.from];
      const std::string what = "seed " + std::to_string(seed) + testing::as_text(way);
      EXPECT_EQ(parts_of(outcome, [](const auto& value) { return value.at_first; }), degrees) << what;
      EXPECT_EQ(parts_of(outcome, [](const auto& value) { return value.published; }), degrees) << what;
    }
}

TEST(Contract, DegreesAreOfOutEdges) { expect_degrees<Along::out>(); }
TEST(Contract, DegreesAreOfInEdges) { expect_degrees<Along::in>(); }
TEST(Contract, DegreesAreOfBothSides) { expect_degrees<Along::both>(); }

}  // namespace
}  // namespace spillway
