// Single-source shortest paths over non-negative weights, with a tree of parents.
// Delta-stepping (Meyer & Sanders 1998): the engine settles vertices in buckets of their distance.
#include <functional>
#include <queue>

#include "algorithms/checking.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/tree_checks.hpp"
#include "algorithms/weighted.hpp"
#include "base/fail.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

/// Whole distances stop here instead of wrapping; one that does is reported as an overflow.
constexpr std::uint32_t distance_limit = highest<std::uint32_t>() - 1;

template <class W>
SPILLWAY_HD W extended(W distance, W weight) {
  if constexpr (std::is_integral_v<W>)
    return weight > distance_limit - distance ? distance_limit : distance + weight;
  else
    return distance + weight;
}

template <class W>
struct Sssp {
  struct alignas(8) Value {
    W      distance;
    Vertex parent;

    SPILLWAY_HD bool operator<(const Value& other) const { return distance < other.distance; }
  };
  using Weight  = W;
  using Combine = Min<Value>;

  static constexpr bool order_free     = true;  // a minimum over paths: any order, same distances
  static constexpr W    neutral_weight = 0;     // a zero edge lengthens no path

  Vertex source;
  double delta = 0;  // chosen by the engine

  SPILLWAY_HD Value init(Vertex v) const { return v == source ? Value{0, v} : Value{highest<W>(), no_vertex}; }
  SPILLWAY_HD bool  starts(Vertex v) const { return v == source; }
  SPILLWAY_HD W     priority(const Value& value) const { return value.distance; }
  SPILLWAY_HD Value compute(const Value& from, const Edge<W>& edge) const {
    return {extended(from.distance, edge.weight), edge.source};
  }
};

double delta_of(const Parameters& parameters) {
  return parameters.text("delta") == "auto" ? 0 : parameters.real("delta", 1e-30, 1e30);
}

template <class W>
void refuse_overflow(const Graph& graph, const Column& column) {
  const auto& distances = std::get<Array<W>>(column.values);
  if constexpr (std::is_integral_v<W>) {
    const auto found = std::find(distances.begin(), distances.end(), distance_limit);
    if (found != distances.end())
      throw bad_input("sssp: the distance of vertex {} exceeds {}; load the graph with --weight-type f32",
                      graph.ids().name(static_cast<Vertex>(found - distances.begin())), distance_limit - 1);
  }
}

template <class W>
Result run_with(const Graph& graph, const Parameters& parameters, const RunOptions& options) {
  using Value = typename Sssp<W>::Value;
  refuse_negative_weights(graph, "sssp", options);
  auto   outcome = run(Sssp<W>{parameters.vertex(graph), delta_of(parameters)}, graph, options);
  Result result;
  result.columns.push_back(outcome.column("distance", [](const Value& value) { return value.distance; }));
  result.columns.push_back(outcome.column("parent", [](const Value& value) { return value.parent; }));
  refuse_overflow<W>(graph, result.columns[0]);
  result.columns[0].missing  = Missing::infinite;
  result.columns[1].vertices = true;
  result.statistics          = std::move(outcome.statistics);
  return result;
}

/// The oracle: Dijkstra with a heap, in 64 bits for whole weights.
template <class W>
std::vector<W> serial_distances(const Graph& graph, Vertex source) {
  using Wide  = std::conditional_t<std::is_integral_v<W>, std::uint64_t, W>;
  using Entry = std::pair<Wide, Vertex>;
  std::vector<W>                                                 distances(graph.vertex_count(), highest<W>());
  std::vector<bool>                                              settled(graph.vertex_count());
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
  heap.emplace(0, source);
  while (!heap.empty()) {
    const auto [distance, v] = heap.top();
    heap.pop();
    if (settled[v]) continue;
    settled[v]     = true;
    distances[v]   = static_cast<W>(std::is_integral_v<W> ? std::min<Wide>(distance, distance_limit) : distance);
    const Csr& csr = graph.out();
    for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i)
      if (!settled[csr.targets[i]])
        heap.emplace(distance + static_cast<Wide>(std::bit_cast<W>(csr.weights[i])), csr.targets[i]);
  }
  return distances;
}

template <class W>
Verdict verify_with(const Graph& graph, Vertex source, const Result& result, const VerifyOptions& options) {
  const auto& distances = column_of<W>(result, 0);
  Verdict     verdict{.how = options.use_oracle(graph) ? by_oracle : by_properties, .problem = {}};
  if (options.use_oracle(graph)) {
    const auto expected = serial_distances<W>(graph, source);
    verdict.problem     = difference<W, W>(graph, "distance", distances.span(), expected);
  }
  if (!verdict.problem.empty()) return verdict;
  const auto& weights = graph.out().weights;
  verdict.problem     = tree_problem<W>(
      graph, source, W{0}, distances.span(), column_of<std::uint32_t>(result, 1).span(), highest<W>(),
      [&](W distance, EdgeIndex i) { return extended(distance, std::bit_cast<W>(weights[i])); }, std::less<>{},
      options);
  return verdict;
}

Result run_sssp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Parameters parameters{"sssp", values};
  return graph.weight_type() == WeightType::f32 ? run_with<float>(graph, parameters, options)
                                                : run_with<std::uint32_t>(graph, parameters, options);
}

Verdict verify_sssp(const Graph& graph, const ParameterValues& values, const Result& result,
                    const VerifyOptions& options) {
  const Vertex source = Parameters{"sssp", values}.vertex(graph);
  return graph.weight_type() == WeightType::f32 ? verify_with<float>(graph, source, result, options)
                                                : verify_with<std::uint32_t>(graph, source, result, options);
}

}  // namespace

Algorithm sssp_algorithm() {
  return {.name       = "sssp",
          .summary    = "shortest distances and parents from a source, over non-negative weights",
          .reference  = "Meyer, Sanders: Delta-Stepping, ESA 1998; Beamer, Asanović, Patterson: GAP, 2015",
          .parameters = {{.name = "source",
                          .help = "where to start, by the graph's own ids",
                          .kind = ParameterKind::source},
                         {.name          = "delta",
                          .help          = "width of a bucket of distances; auto: from the weights",
                          .default_value = "auto"}},
          .columns    = {{"distance", "length of a shortest path; inf if there is none"},
                         {"parent", "the vertex before it on such a path; the source's is itself"}},
          .weights    = WeightUse::needed,
          .run        = run_sssp,
          .verify     = verify_sssp};
}

}  // namespace spillway
