// Single-source widest paths: the narrowest arc of a path is its width; the widest path to each vertex, and a
// tree. Pollack, Operations Research 1960; as a vertex program in Subway and SIMD-X.
#include <functional>
#include <queue>

#include "algorithms/checking.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/tree_checks.hpp"
#include "algorithms/weighted.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

template <class W>
struct Sswp {
  struct alignas(8) Value {
    W      width;
    Vertex parent;

    SPILLWAY_HD bool operator<(const Value& other) const { return width < other.width; }
  };
  using Weight  = W;
  using Combine = Max<Value>;

  static constexpr bool order_free     = true;          // a maximum over paths
  static constexpr W    neutral_weight = highest<W>();  // an arc of this width narrows no path

  Vertex source;

  SPILLWAY_HD Value init(Vertex v) const { return v == source ? Value{highest<W>(), v} : Value{0, no_vertex}; }
  SPILLWAY_HD bool  starts(Vertex v) const { return v == source; }
  SPILLWAY_HD Value compute(const Value& from, const Edge<W>& edge) const {
    return {edge.weight < from.width ? edge.weight : from.width, edge.source};
  }
};

template <class W>
Result run_with(const Graph& graph, Vertex source, const RunOptions& options) {
  using Value = typename Sswp<W>::Value;
  refuse_negative_weights(graph, "sswp", options);
  auto   outcome = run(Sswp<W>{source}, graph, options);
  Result result;
  result.columns.push_back(outcome.column("width", [](const Value& value) { return value.width; }));
  result.columns.push_back(outcome.column("parent", [](const Value& value) { return value.parent; }));
  result.columns[0].missing  = Missing::infinite;
  result.columns[1].vertices = true;
  result.statistics          = std::move(outcome.statistics);
  return result;
}

/// The oracle: Dijkstra with the widest first.
template <class W>
std::vector<W> serial_widths(const Graph& graph, Vertex source) {
  std::vector<W>                            widths(graph.vertex_count(), W{0});
  std::vector<bool>                         settled(graph.vertex_count());
  std::priority_queue<std::pair<W, Vertex>> heap;
  heap.emplace(highest<W>(), source);
  while (!heap.empty()) {
    const auto [width, v] = heap.top();
    heap.pop();
    if (settled[v]) continue;
    settled[v]     = true;
    widths[v]      = width;
    const Csr& csr = graph.out();
    for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i)
      heap.emplace(std::min(width, std::bit_cast<W>(csr.weights[i])), csr.targets[i]);
  }
  return widths;
}

template <class W>
Verdict verify_with(const Graph& graph, Vertex source, const Result& result, const VerifyOptions& options) {
  const auto& widths = column_of<W>(result, 0);
  Verdict     verdict{.how = options.use_oracle(graph) ? by_oracle : by_properties, .problem = {}};
  if (options.use_oracle(graph)) {
    const auto expected = serial_widths<W>(graph, source);
    verdict.problem     = difference<W, W>(graph, "width", widths.span(), expected);
  }
  if (!verdict.problem.empty()) return verdict;
  const auto& weights = graph.out().weights;
  verdict.problem     = tree_problem<W>(
      graph, source, highest<W>(), widths.span(), column_of<std::uint32_t>(result, 1).span(), W{0},
      [&](W width, EdgeIndex i) { return std::min(width, std::bit_cast<W>(weights[i])); }, std::greater<>{},
      options);
  return verdict;
}

Result run_sswp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Vertex source = Parameters{"sswp", values}.vertex(graph);
  return graph.weight_type() == WeightType::f32 ? run_with<float>(graph, source, options)
                                                : run_with<std::uint32_t>(graph, source, options);
}

Verdict verify_sswp(const Graph& graph, const ParameterValues& values, const Result& result,
                    const VerifyOptions& options) {
  const Vertex source = Parameters{"sswp", values}.vertex(graph);
  return graph.weight_type() == WeightType::f32 ? verify_with<float>(graph, source, result, options)
                                                : verify_with<std::uint32_t>(graph, source, result, options);
}

}  // namespace

Algorithm sswp_algorithm() {
  return {.name       = "sswp",
          .summary    = "widest paths from a source: how much the best path to each vertex can carry",
          .reference  = "Pollack: The Maximum Capacity Through a Network, Operations Research 1960",
          .parameters = {{.name = "source",
                          .help = "where to start, by the graph's own ids",
                          .kind = ParameterKind::source}},
          .columns    = {{"width",
                          "weight of the narrowest arc of the widest path; 0 if there is none, inf for the source"},
                         {"parent", "the vertex before it on such a path; the source's is itself"}},
          .weights    = WeightUse::needed,
          .run        = run_sswp,
          .verify     = verify_sswp};
}

}  // namespace spillway
