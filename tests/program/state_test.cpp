// Programs by the state they keep: priorities of floats, arrays of bits and of numbers, values of any size, and
// values and frontiers that one run leaves to the next.
#include <array>
#include <bit>
#include <cmath>

#include "program/trying.hpp"

#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::edges_of;
using testing::failure_of;
using testing::in_every_way;
using testing::on_graphs;
using testing::parts_of;
using testing::plain_levels;
using testing::PlainEdge;
using testing::values_of;

/// Float distances that are gathered and applied, settled in the order of their distance.
template <bool Gathers>
struct FloatDistances;

template <>
struct FloatDistances<true> {
  using Value   = float;
  using Weight  = float;
  using Combine = Min<float>;

  double delta;
  float  step = 1.0f / 8;  // of the weights: every distance has a priority of its own

  float init(Vertex v) const { return v == 0 ? 0 : highest<float>(); }
  bool  starts(Vertex v) const { return v == 0; }
  float priority(const float& distance) const { return std::floor(distance / step); }
  float compute(float distance, const Edge<float>& edge) const { return distance + edge.weight; }
  bool  apply(float& distance, float update) const { return Combine::improve(distance, update); }
};

/// The same in place.
template <>
struct FloatDistances<false> {
  using Value   = float;
  using Weight  = float;
  using Combine = Min<float>;

  static constexpr bool order_free = true;

  double delta;
  float  step = 1.0f / 8;  // of the weights: every distance has a priority of its own

  float init(Vertex v) const { return v == 0 ? 0 : highest<float>(); }
  bool  starts(Vertex v) const { return v == 0; }
  float priority(const float& distance) const { return std::floor(distance / step); }
  float compute(float distance, const Edge<float>& edge) const { return distance + edge.weight; }
};

/// Weights are eighths, so that sums are exact in any order.
Graph with_float_weights(const Graph& given) {
  const Graph                whole = with_random_weights(given, 5, 0, 400);
  std::vector<std::uint32_t> weights;
  for (const std::uint32_t weight : whole.out().weights)
    weights.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(weight) / 8));
  return from_csr(given.out().offsets.span(), given.out().targets.span(), weights, WeightType::f32,
                  {.transform = {.dedup = true}});
}

std::vector<float> plain_float_distances(const Graph& graph) {
  std::vector<float> distances(graph.vertex_count(), highest<float>());
  distances[0]       = 0;
  const auto edges   = edges_of(graph);
  bool       changed = true;
  while (std::exchange(changed, false))
    for (const PlainEdge& edge : edges)
      if (distances[edge.from] + std::bit_cast<float>(edge.weight) < distances[edge.to])
        distances[edge.to] = distances[edge.from] + std::bit_cast<float>(edge.weight), changed = true;
  return distances;
}

template <bool Gathers>
void expect_float_distances() {
  on_graphs([](const Graph& given, const std::string& name) {
    if (given.arc_count() == 0) return;
    const Graph graph    = with_float_weights(given);
    const auto  expected = plain_float_distances(graph);
    for (const double delta : {0.0, 1.0, 1000.0})
      in_every_way(FloatDistances<Gathers>{delta}, graph, name, [&](const auto& outcome, const std::string& what) {
        EXPECT_EQ(values_of(outcome), expected) << what << ", delta " << delta;
      });
  });
}

/// A vertex may improve and keep its priority: its neighbours must hear of it all the same.
template <bool Gathers>
void expect_coarse_float_distances() {
  on_graphs([](const Graph& given, const std::string& name) {
    if (given.arc_count() == 0) return;
    const Graph graph    = with_float_weights(given);
    const auto  expected = plain_float_distances(graph);
    for (const float step : {16.0f, 1e6f})
      in_every_way(FloatDistances<Gathers>{1, step}, graph, name,
                   [&](const auto& outcome, const std::string& what) {
                     EXPECT_EQ(values_of(outcome), expected) << what << ", step " << step;
                   });
  });
}

TEST(Priority, MayBeCoarserThanWhatIsApplied) { expect_coarse_float_distances<true>(); }
TEST(Priority, MayBeCoarserThanWhatIsInPlace) { expect_coarse_float_distances<false>(); }

/// Buckets so narrow that distances lie beyond those that are open at once.
template <bool Gathers>
void expect_far_float_distances() {
  const Graph graph = with_float_weights(testing::random_graph(11));
  in_every_way(FloatDistances<Gathers>{1e-2}, graph, "narrow buckets",
               [&](const auto& outcome, const std::string& what) {
                 EXPECT_EQ(values_of(outcome), plain_float_distances(graph)) << what;
                 // Edges that come in windows are pushed without buckets in place.
                 if (Gathers || outcome.statistics.method.empty()) {
                   EXPECT_GT(outcome.statistics.counters.bucket_moves, 0u) << what;
                 }
               });
}

TEST(Priority, OfFloatsBeyondTheOpenBuckets) {
  expect_far_float_distances<true>();
  expect_far_float_distances<false>();
}

TEST(Priority, OfFloatsThatAreApplied) { expect_float_distances<true>(); }
TEST(Priority, OfFloatsInPlace) { expect_float_distances<false>(); }

/// Distances again, and how often a vertex told its neighbours.
struct TellsInOrder {
  struct alignas(8) Value {
    float         distance;
    std::uint32_t told;
  };
  using Update  = float;
  using Weight  = float;
  using Combine = Min<float>;

  static constexpr double delta = 1;

  Value init(Vertex v) const { return {v == 0 ? 0 : highest<float>(), 0}; }
  bool  starts(Vertex v) const { return v == 0; }
  float priority(const Value& value) const { return value.distance; }
  float publish(Value& value, const Step<>&) const {
    ++value.told;
    return value.distance;
  }
  float compute(float distance, const Edge<float>& edge) const { return distance + edge.weight; }
  bool  apply(Value& value, float update) const { return Combine::improve(value.distance, update); }
};

/// Vertex 2 moves from bucket 5 to bucket 2, vertex 3 within bucket 3: each is active once, when its bucket comes.
TEST(Priority, AVertexThatMovesWhileItWaitsIsActiveOnce) {
  const std::vector<Vertex>  sources{0, 0, 1, 0, 1}, targets{1, 2, 2, 3, 3};
  std::vector<std::uint32_t> weights;
  for (const float weight : {1.0f, 5.0f, 1.0f, 3.75f, 2.25f})
    weights.push_back(std::bit_cast<std::uint32_t>(weight));
  const Graph graph = from_arcs(sources, targets, weights, WeightType::f32, 4);
  in_every_way(TellsInOrder{}, graph, "four vertices", [](const auto& outcome, const std::string& what) {
    EXPECT_EQ(parts_of(outcome, [](const auto& value) { return value.distance; }),
              (std::vector<float>{0, 1, 2, 3.25f}))
        << what;
    EXPECT_EQ(parts_of(outcome, [](const auto& value) { return value.told; }),
              (std::vector<std::uint32_t>{1, 1, 1, 1}))
        << what;
  });
}

/// The widest path, the narrow ones first: every vertex that improves belongs to a bucket that is over.
template <class Number>
struct WidthsInFallingOrder {
  using Value   = Number;
  using Weight  = std::uint32_t;
  using Combine = Max<Number>;

  static constexpr bool order_free = true;

  Number offset = 0;

  Value  init(Vertex v) const { return v == 0 ? 1000 : 0; }
  bool   starts(Vertex v) const { return v == 0; }
  Number priority(const Value& width) const { return width + offset; }
  Value  compute(Value width, const Edge<Weight>& edge) const {
     return std::min(width, static_cast<Value>(edge.weight % 900));
  }
};

template <class Number>
std::vector<Number> plain_widths(const Graph& graph) {
  std::vector<Number> widths(graph.vertex_count(), 0);
  widths[0]    = 1000;
  bool changed = true;
  while (std::exchange(changed, false))
    for (const auto& edge : edges_of(graph)) {
      const Number through = std::min(widths[edge.from], static_cast<Number>(edge.weight % 900));
      if (through > widths[edge.to]) widths[edge.to] = through, changed = true;
    }
  return widths;
}

template <class Number>
void expect_widths(Number offset) {
  on_graphs([&](const Graph& given, const std::string& name) {
    const Graph graph = with_random_weights(given, 5);
    in_every_way(WidthsInFallingOrder<Number>{offset}, graph, name,
                 [&](const auto& outcome, const std::string& what) {
                   EXPECT_EQ(values_of(outcome), plain_widths<Number>(graph)) << what;
                 });
  });
}

TEST(Priority, MayFallBelowTheBucketAtHand) { expect_widths<std::uint32_t>(0); }
TEST(Priority, MayBeNegative) { expect_widths<std::int32_t>(-500); }

/// Distances and who is before: applied while others read them.
struct AppliedDistances {
  struct alignas(8) Value {
    std::uint32_t distance, before;

    bool         operator<(const Value& other) const { return distance < other.distance; }
    static Value highest() { return {~0u, ~0u}; }
  };
  using Weight  = std::uint32_t;
  using Combine = Min<Value>;

  static constexpr bool order_free = true;

  Value init(Vertex v) const { return v == 0 ? Value{0, 0} : Value::highest(); }
  bool  starts(Vertex v) const { return v == 0; }
  Value compute(const Value& value, const Edge<Weight>& edge) const {
    return {value.distance + edge.weight, edge.source};
  }
  bool apply(Value& value, const Value& update) const { return Combine::improve(value, update); }
};

TEST(Values, AreAppliedToAsAWholeWhileOthersReadThem) {
  on_graphs([](const Graph& given, const std::string& name) {
    const Graph graph = with_random_weights(given, 7);
    in_every_way(AppliedDistances{}, graph, name, [&](const auto& outcome, const std::string& what) {
      for (const auto& edge : edges_of(graph))
        if (outcome[edge.from].distance != ~0u) {
          EXPECT_LE(outcome[edge.to].distance, outcome[edge.from].distance + edge.weight) << what;
        }
    });
  });
}

/// Which of the first 192 vertices reach each: Or of arrays in place.
template <bool Free>
struct Reach {
  using Value   = std::array<std::uint64_t, 3>;
  using Combine = Or<Value>;

  static constexpr bool order_free = Free;

  Value init(Vertex v) const {
    Value bits{};
    if (v < 192) bits[v / 64] = std::uint64_t{1} << (v % 64);
    return bits;
  }
  Value compute(const Value& bits, const Edge<>&) const { return bits; }
};

TEST(Arrays, OfBitsAreJoinedInPlace) {
  on_graphs([](const Graph& graph, const std::string& name) {
    std::vector<Reach<true>::Value> expected;
    for (Vertex v = 0; v < graph.vertex_count(); ++v) expected.push_back(Reach<true>{}.init(v));
    const auto edges   = edges_of(graph);
    bool       changed = true;
    while (std::exchange(changed, false))
      for (const PlainEdge& edge : edges)
        for (std::size_t i = 0; i < 3; ++i) {
          const auto before = expected[edge.to][i];
          expected[edge.to][i] |= expected[edge.from][i];
          changed |= expected[edge.to][i] != before;
        }
    const auto check = [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(values_of(outcome), expected) << what;
    };
    in_every_way(Reach<false>{}, graph, name, check);
    in_every_way(Reach<true>{}, graph, name + ", order-free", check);
  });
}

/// How many neighbours, the sum of their numbers, and of their squares.
struct Moments {
  using Value   = std::array<std::uint64_t, 3>;
  using Combine = Sum<Value>;

  Value init(Vertex v) const { return {1, v, std::uint64_t{v} * v}; }
  Value compute(const Value& from, const Edge<>&) const { return from; }

  bool apply(Value& value, const Value& sums) const {
    value = sums;
    return false;
  }
};

TEST(Arrays, OfNumbersAreAddedUp) {
  on_graphs([](const Graph& graph, const std::string& name) {
    std::vector<Moments::Value> expected(graph.vertex_count());
    std::vector<bool>           receives(graph.vertex_count());
    for (const PlainEdge& edge : edges_of(graph)) {
      receives[edge.to] = true;
      for (std::size_t i = 0; i < 3; ++i) expected[edge.to][i] += Moments{}.init(edge.from)[i];
    }
    for (Vertex v = 0; v < graph.vertex_count(); ++v)
      if (!receives[v]) expected[v] = Moments{}.init(v);
    in_every_way(Moments{}, graph, name, [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(values_of(outcome), expected) << what;
    });
  });
}

/// A value that no instruction reads whole, of a program that may run in any order.
struct Large {
  struct Value {
    double        distance;
    std::uint32_t changes;
    double        unused[3];
  };
  using Update  = double;
  using Combine = Min<double>;

  static constexpr bool order_free = true;

  Value  init(Vertex v) const { return {v == 0 ? 0 : highest<double>(), 0, {}}; }
  bool   starts(Vertex v) const { return v == 0; }
  double compute(const Value& from, const Edge<>&) const { return from.distance + 1; }

  bool apply(Value& value, double distance) const {
    ++value.changes;
    return Combine::improve(value.distance, distance);
  }
};

TEST(Values, MayBeLargeInAnOrderFreeProgram) {
  on_graphs([](const Graph& graph, const std::string& name) {
    std::vector<double> expected;
    for (const std::uint32_t level : plain_levels(graph, Along::out, {0}))
      expected.push_back(level == highest<std::uint32_t>() ? highest<double>() : level);
    in_every_way(Large{}, graph, name, [&](const auto& outcome, const std::string& what) {
      EXPECT_EQ(parts_of(outcome, [](const auto& value) { return value.distance; }), expected) << what;
    });
  });
}

/// Doubles what it has, as often as it is let; what it starts with comes from outside.
struct Doubling {
  using Value   = std::uint64_t;
  using Combine = Sum<std::uint64_t>;

  static constexpr bool all_active = true;

  std::uint64_t max_iterations;

  Value init(Vertex v) const { return v; }
  Value compute(Value value, const Edge<>&) const { return value; }

  bool apply(Value& value, Value sum) const {
    value += sum;
    return true;
  }
};

TEST(Continuation, GoesOnFromTheValuesOfAnotherRun) {
  on_graphs([](const Graph& graph, const std::string& name) {
    for (const RunOptions& way : testing::some_ways()) {
      const auto whole  = run(Doubling{5}, graph, way);
      auto       first  = run(Doubling{2}, graph, way);
      const auto second = run(Doubling{3}, graph, way, {.values = std::move(first.values)});
      EXPECT_EQ(values_of(whole), values_of(second)) << name << testing::as_text(way);
    }
  });
}

TEST(Continuation, RefusesValuesOfAnotherGraph) {
  const Graph graph = testing::random_graph(1);
  const auto  given = [&](std::uint64_t count) {
    return failure_of([&] { run(Doubling{1}, graph, {}, {.values = {count, graph.budget(), "values"}}); });
  };
  const std::string n = std::to_string(graph.vertex_count());
  EXPECT_EQ(given(graph.vertex_count()).first, ExitCode::done);
  EXPECT_EQ(given(3), (std::pair{ExitCode::usage, "a run starts from 3 values and the graph has " + n +
                                                      " vertices; give one a vertex, or none"}));
}

/// Notes when a vertex was active.
struct Visited {
  using Value   = std::uint32_t;
  using Combine = Any<std::uint32_t>;

  Value init(Vertex v) const { return v == 0 ? 0 : highest<Value>(); }
  bool  starts(Vertex v) const { return v == 0; }
  Value compute(const Edge<>&) const { return 0; }

  bool apply(Value& value, Value, const Step<>& step) const {
    value = step.iteration + 1;
    return true;
  }
};

/// Over the frontiers of Visited, from the last: how far each vertex is from the end.
struct FromTheEnd {
  using Value   = std::uint32_t;
  using Update  = std::uint32_t;
  using Combine = Sum<std::uint32_t>;

  Value         init(Vertex) const { return highest<Value>(); }
  void          publish(Value& value, const Step<>& step) const { value = step.iteration; }
  std::uint32_t compute(const Edge<>&) const { return 1; }
  bool apply(Value&, std::uint32_t) const { return true; }  // the schedule decides who is active, not this
};

TEST(Continuation, RefusesFrontiersOfALargerGraph) {
  Schedule schedule;
  run(Visited{}, testing::random_graph(3), {}, {.record = &schedule});
  const std::vector<Vertex> one{0};
  EXPECT_THROW(run(FromTheEnd{}, from_arcs(one, one, {}, WeightType::none, 1), {}, {.replay = &schedule}), Error);
}

TEST(Continuation, WalksRecordedFrontiersBackwards) {
  on_graphs([](const Graph& graph, const std::string& name) {
    const auto levels = plain_levels(graph, Along::out, {0});
    for (const RunOptions& way : testing::some_ways()) {
      Schedule          schedule;
      const auto        forward = run(Visited{}, graph, way, {.record = &schedule});
      const auto        back    = run(FromTheEnd{}, graph, way, {.replay = &schedule});
      const std::string what    = name + testing::as_text(way);
      ASSERT_EQ(values_of(forward), levels) << what;
      EXPECT_EQ(back.statistics.iterations, schedule.levels()) << what;
      for (Vertex v = 0; v < graph.vertex_count(); ++v) {
        const bool reached = levels[v] != highest<std::uint32_t>();
        EXPECT_EQ(back[v], reached ? schedule.levels() - 1 - levels[v] : highest<std::uint32_t>()) << what;
      }
    }
  });
}

/// The smallest vertex that reaches each.
struct Smallest {
  using Value   = Vertex;
  using Combine = Min<Vertex>;

  Vertex init(Vertex v) const { return v; }
  Vertex compute(Vertex from, const Edge<>&) const { return from; }
  bool   apply(Vertex& value, Vertex update) const { return Combine::improve(value, update); }
};

/// A supply may give vertices more state than the answer has: here vertex 1's arcs leave from a part of it that is
/// vertex 4 of the state.
TEST(StateSize, MayBeLargerThanTheAnswer) {
  const Graph                  graph = generate("grid", {{"rows", "2"}, {"columns", "2"}});  // for its budget
  const std::vector<EdgeIndex> offsets{0, 1, 2, 2, 2, 4};
  const std::vector<Vertex>    targets{1, 4, 2, 3};
  const RowBlock               block{.rows = {offsets.data(), targets.data(), nullptr}, .first = 0, .last = 5};
  const Topology               topology{.vertices = 5, .arcs = 4, .push = {block}, .pull = {}, .answers = 4};
  const RunOptions             options{.device = {.kind = cpu_kind()}};
  const ProgramFacts           facts{};
  Continuation<Vertex>         continuation;
  const Smallest               program;
  const RunRequest<Smallest>   request{program, graph, topology, options, facts, 100, continuation};
  host::HostDevice<Smallest>   device{request, 1};
  const auto                   outcome = run_on(device, request);
  ASSERT_EQ(outcome.values.size(), 4u);
  for (const Vertex value : outcome.values.span()) EXPECT_EQ(value, 0u);
}

/// Walks of three steps that end at each vertex: exact in any order, and everyone is active.
struct Walks {
  using Value                                   = std::uint32_t;
  using Combine                                 = Sum<std::uint32_t>;
  static constexpr bool          all_active     = true;
  static constexpr std::uint64_t max_iterations = 3;

  Value init(Vertex) const { return 1; }
  Value compute(Value from, const Edge<>&) const { return from; }
  bool  apply(Value& value, Value update) const {
     value = update;
     return true;
  }
};

/// Edges that come in windows are pushed, whatever else is asked for.
TEST(Determinism, HoldsInWindows) {
  const Graph graph    = generate("kron", {{"scale", "7"}});
  const auto  expected = run(Walks{}, graph, {.device = {.kind = cpu_kind()}});
  const auto  found =
      run(Walks{}, graph,
          {.deterministic = true, .device = {.kind = cpu_kind()}, .method = method_named("partitions")});
  EXPECT_EQ(found.statistics.iterations, 3u);
  EXPECT_EQ(found.statistics.method, "partitions");
  EXPECT_TRUE(std::ranges::equal(found.values.span(), expected.values.span()));
}

/// Vertices of less than k neighbours leave until none is left, whoever leaves first.
struct Peel {
  using Value                      = std::uint32_t;
  using Combine                    = Sum<std::uint32_t>;
  static constexpr bool order_free = true;

  std::uint32_t k;

  Value         init(Vertex, EdgeIndex degree) const { return static_cast<std::uint32_t>(degree); }
  bool          starts(Vertex, Value degree) const { return degree < k; }
  bool          open(const Value& degree) const { return degree >= k; }
  std::uint32_t compute(const Edge<>&) const { return 1; }
  bool          apply(Value& degree, std::uint32_t lost) const {
             degree -= lost;
             return degree < k;
  }
};

/// What has left takes no updates, also inside a window.
TEST(Asynchrony, ClosesVerticesThatLeave) {
  const Graph graph = generate("kron", {{"scale", "9"}});
  for (const char* method : {"subgraph", "partitions"})
    for (const std::uint32_t k : {4u, 8u, 12u, 20u}) {
      const Peel program{k};
      const auto expected = run(program, graph, {.device = {.kind = cpu_kind()}});
      const auto found =
          run(program, graph,
              {.device = {.kind = cpu_kind()}, .method = method_named(method), .supply = {.async = Async::on}});
      EXPECT_EQ(found.statistics.method, method);
      EXPECT_GT(found.statistics.counters.local_rounds, 0u) << method;
      for (std::uint64_t v = 0; v < graph.vertex_count(); ++v)
        EXPECT_EQ(found.values[v] < k, expected.values[v] < k) << method << ", k " << k << ", vertex " << v;
    }
}

/// A priority and values of twelve bytes, which no atomic load has.
struct WideCores {
  struct Value {
    std::uint32_t degree, left, unused;
  };
  using Update                  = std::uint32_t;
  using Combine                 = Sum<std::uint32_t>;
  static constexpr double delta = 1;

  Value         init(Vertex, EdgeIndex degree) const { return {static_cast<std::uint32_t>(degree), 0, 0}; }
  std::uint32_t priority(const Value& value) const { return value.degree; }
  bool          open(const Value& value) const { return value.left == 0; }
  void          publish(Value& value, const Step<>&) const { value.left = 1; }
  std::uint32_t compute(const Edge<>&) const { return 1; }
  bool          apply(Value& value, std::uint32_t lost, const Step<>& step) const {
             const auto          core   = static_cast<std::uint32_t>(step.bucket);
             const std::uint32_t before = value.degree;
             value.degree               = lost > before - core ? core : before - lost;
             return value.degree != before;
  }
};

TEST(Buckets, HoldValuesOfAnySize) {
  const Graph grid  = generate("grid", {{"rows", "6"}, {"columns", "6"}});
  const auto  cores = run(WideCores{}, grid, {.device = {.kind = cpu_kind()}});
  for (const WideCores::Value& value : cores.values.span()) EXPECT_EQ(value.degree, 2u);
}

/// The smallest vertex that reaches each, in place.
struct LowestLabel {
  using Value                      = Vertex;
  using Combine                    = Min<Vertex>;
  static constexpr bool order_free = true;

  Vertex init(Vertex v) const { return v; }
  Vertex compute(Vertex from, const Edge<>&) const { return from; }
};

/// A plan that says yes is kept: what windows are iterated with is counted beforehand.
TEST(Asynchrony, NeedsNoMoreThanWasPlanned) {
  int planned = 0;
  for (std::uint64_t limit = 1u << 20; limit <= 8u << 20; limit += 1u << 18) {
    const RunOptions options{
        .device = {.kind = cpu_kind()}, .method = method_named("subgraph"), .supply = {.async = Async::on}};
    try {
      const Graph grid = generate("grid", {{"rows", "150"}, {"columns", "150"}}, {.host_memory = limit});
      try {
        plan_run(LowestLabel{}, grid, options);
      } catch (const Error&) {
        continue;
      }
      ++planned;
      EXPECT_NO_THROW(EXPECT_EQ(run(LowestLabel{}, grid, options).statistics.method, "subgraph")) << limit;
    } catch (const Error&) {  // no room for the graph
    }
  }
  EXPECT_GT(planned, 0);
}

}  // namespace
}  // namespace spillway
