// Programs that read what is known of each vertex beforehand, in every way to run them, against plain loops. Both
// executables of tests have these: the CPU reads the caller's memory, a GPU its own copy.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "program/trying.hpp"

namespace spillway::testing {

constexpr std::uint32_t not_reached = 0xFFFFFFFFu;

/// Cheapest paths where vertices have costs, and some are where paths begin. In place, in any order.
struct CostlyPaths {
  struct Origin {
    std::uint8_t  starts;
    std::uint32_t at;
  };
  using Value   = std::uint32_t;
  using Combine = Min<std::uint32_t>;

  static constexpr bool order_free = true;

  VertexInput<std::uint16_t> costs;  ///< to leave a vertex, and to enter it
  VertexInput<Origin>        origins;
  std::uint64_t              max_iterations = 1'000'000;

  static constexpr auto inputs = std::tuple{&CostlyPaths::costs, &CostlyPaths::origins};

  SPILLWAY_HD Value init(Vertex v) const { return origins(v).starts ? origins(v).at : not_reached; }
  SPILLWAY_HD bool  starts(Vertex v, const Value& value) const {
     return origins(v).starts != 0 || value != not_reached;
  }
  SPILLWAY_HD Value compute(Value cost, const Edge<>& edge) const {
    return cost + costs(edge.source, 0) + costs(edge.target, 1);
  }
};

struct Costs {
  std::vector<std::uint16_t>       costs;
  std::vector<CostlyPaths::Origin> origins;

  explicit Costs(std::uint64_t n) {
    for (std::uint64_t v = 0; v < n; ++v) {
      costs.push_back(static_cast<std::uint16_t>(v * 2654435761u >> 7));
      costs.push_back(static_cast<std::uint16_t>(v * 40503u >> 3));
      origins.push_back({v % 7 == 2 || v == 0, static_cast<std::uint32_t>(v * 911)});
    }
  }

  CostlyPaths program() const {
    return {.costs = VertexInput<std::uint16_t>{costs, 2}, .origins = VertexInput<CostlyPaths::Origin>{origins}};
  }

  /// By going over all edges until nothing changes.
  std::vector<std::uint32_t> answer(const Graph& graph) const {
    std::vector<std::uint32_t> least(origins.size(), not_reached);
    for (std::size_t v = 0; v < least.size(); ++v)
      if (origins[v].starts) least[v] = origins[v].at;
    const auto edges   = edges_of(graph);
    bool       changed = true;
    while (std::exchange(changed, false))
      for (const PlainEdge& edge : edges) {
        if (least[edge.from] == not_reached) continue;
        const std::uint32_t cost =
            least[edge.from] + costs[2 * std::size_t{edge.from}] + costs[2 * std::size_t{edge.to} + 1];
        if (cost < least[edge.to]) least[edge.to] = cost, changed = true;
      }
    return least;
  }
};

/// Everyone, every iteration: first values, messages and what becomes of them have a factor of the vertex each.
struct FactoredSums {
  struct Value {
    std::uint64_t own, heard;
  };
  using Update  = std::uint64_t;
  using Combine = Sum<std::uint64_t>;

  static constexpr bool          all_active     = true;
  static constexpr std::uint64_t max_iterations = 3;

  VertexInput<std::uint64_t> factors;  ///< three a vertex

  static constexpr auto inputs = std::tuple{&FactoredSums::factors};

  SPILLWAY_HD Value init(Vertex v) const { return {factors(v, 0), 0}; }
  SPILLWAY_HD std::uint64_t publish(const Value& value, const Step<>& step) const {
    return value.own * factors(step.vertex, 1);
  }
  SPILLWAY_HD std::uint64_t compute(std::uint64_t message, const Edge<>&) const { return message; }

  SPILLWAY_HD bool apply(Value& value, std::uint64_t sum, const Step<>& step) const {
    value.heard += sum * factors(step.vertex, 2);
    value.own = value.own * 31 + sum;
    return true;
  }

  static constexpr int columns = 2;
  template <int i>
  SPILLWAY_HD std::uint64_t column(const Value& value) const {
    return i == 0 ? value.own : value.heard;
  }
};

inline std::vector<std::uint64_t> some_factors(std::uint64_t n) {
  std::vector<std::uint64_t> factors;
  for (std::uint64_t i = 0; i < 3 * n; ++i) factors.push_back(i * i * 2654435761u + 1);
  return factors;
}

inline std::array<std::vector<std::uint64_t>, 2> plain_sums(const Graph&                      graph,
                                                            const std::vector<std::uint64_t>& factors) {
  const std::size_t          n = graph.vertex_count();
  std::vector<std::uint64_t> own(n), heard(n);
  for (std::size_t v = 0; v < n; ++v) own[v] = factors[3 * v];
  const auto edges = edges_of(graph);
  for (int i = 0; i < 3; ++i) {
    std::vector<std::uint64_t> sums(n);
    for (const PlainEdge& edge : edges) sums[edge.to] += own[edge.from] * factors[3 * std::size_t{edge.from} + 1];
    for (std::size_t v = 0; v < n; ++v) heard[v] += sums[v] * factors[3 * v + 2], own[v] = own[v] * 31 + sums[v];
  }
  return {own, heard};
}

/// Whether a vertex reads its input at another place than the caller has it.
struct ReadsElsewhere {
  using Value   = std::uint32_t;
  using Combine = Min<std::uint32_t>;

  static constexpr std::uint64_t max_iterations = 1;

  VertexInput<double> numbers;
  const double*       on_host;

  static constexpr auto inputs = std::tuple{&ReadsElsewhere::numbers};

  SPILLWAY_HD Value init(Vertex v) const { return &numbers(v) != on_host + v ? 1 : 0; }
  SPILLWAY_HD bool  starts(Vertex) const { return false; }
  SPILLWAY_HD Value compute(Value value, const Edge<>&) const { return value; }
};

/// body(graph, way) for every way, each with a graph of its own.
template <class Body>
void with_every_way(Body&& body) {
  for (std::size_t i = 0; i < all_ways().size(); ++i) {
    const Graph graph = random_graph(100 + i);
    if (graph.vertex_count() > 0) body(graph, all_ways()[i]);
  }
}

TEST(Inputs, AreReadAlongEdgesAndWhereRunsStart) {
  with_every_way([](const Graph& graph, const RunOptions& way) {
    const Costs costs{graph.vertex_count()};
    const auto  outcome = run(costs.program(), graph, way);
    EXPECT_EQ(values_of(outcome), costs.answer(graph)) << as_text(way);
    EXPECT_EQ(deviation(way, outcome.statistics, "CostlyPaths"), "") << as_text(way);
  });
}

TEST(Inputs, AreReadByEveryoneWhateverTheOrderOfRows) {
  with_every_way([](const Graph& graph, const RunOptions& given) {
    const RunOptions way      = for_any_program(given);
    const auto       factors  = some_factors(graph.vertex_count());
    const auto       expected = plain_sums(graph, factors);
    auto             outcome  = run(FactoredSums{.factors = VertexInput<std::uint64_t>{factors, 3}}, graph, way);
    EXPECT_TRUE(std::ranges::equal(std::get<0>(outcome.columns).span(), expected[0])) << as_text(way);
    EXPECT_TRUE(std::ranges::equal(std::get<1>(outcome.columns).span(), expected[1])) << as_text(way);
    EXPECT_EQ(deviation(way, outcome.statistics, "FactoredSums"), "") << as_text(way);
  });
}

/// One iteration, and the rest in a second run that goes on from its values, wherever those are.
TEST(Inputs, AreThereForRunsThatGoOn) {
  with_every_way([](const Graph& graph, const RunOptions& given) {
    const RunOptions way = for_any_program(given);
    const Costs      costs{graph.vertex_count()};
    CostlyPaths      program = costs.program();
    program.max_iterations   = 1;
    auto first               = run(program, graph, way, {.keep = true});
    program.max_iterations   = 1'000'000;
    Continuation<std::uint32_t> rest{.values = std::move(first.values), .resident = first.resident};
    EXPECT_EQ(values_of(run(program, graph, way, std::move(rest))), costs.answer(graph)) << as_text(way);
  });
}

TEST(Inputs, AreCopiedToAGpuAndNowhereElse) {
  with_every_way([](const Graph& graph, const RunOptions& given) {
    const RunOptions          way = for_any_program(given);
    const std::vector<double> numbers(graph.vertex_count());
    const auto                outcome =
        run(ReadsElsewhere{.numbers = VertexInput<double>{numbers}, .on_host = numbers.data()}, graph, way);
    const std::uint32_t elsewhere = way.device.kind == cuda_kind() ? 1 : 0;
    EXPECT_EQ(values_of(outcome), std::vector<std::uint32_t>(graph.vertex_count(), elsewhere)) << as_text(way);
  });
}

TEST(Inputs, HaveEntriesForAllVertices) {
  const Graph graph = random_graph(3);
  Costs       costs{graph.vertex_count() + 1};
  const auto [code, message] = failure_of([&] { run(costs.program(), graph, all_ways()[0]); });
  EXPECT_EQ(code, ExitCode::usage);
  EXPECT_NE(message.find("an input of the program has"), std::string::npos) << message;
  const auto planned = failure_of([&] { plan_run(costs.program(), graph, all_ways()[0]); });
  EXPECT_EQ(planned.first, ExitCode::usage) << planned.second;
}

}  // namespace spillway::testing
