// Widest paths: how much the best way from a source to every vertex can carry, if an arc carries its weight and a
// way carries what its narrowest arc does. Max in place; Spillway's own `sswp` keeps the paths as well.
//
//   spillway build widest_path.cpp && spillway run ./widest_path.so roads.gr --source 1
#include <spillway/plugin.hpp>
#include <spillway/run.hpp>

using namespace spillway;

template <class W>
struct WidestPath {
  using Value   = W;  // how much the best way found so far carries
  using Weight  = W;
  using Combine = Max<W>;

  static constexpr bool order_free     = true;          // the best of all ways, whichever is tried first
  static constexpr W    neutral_weight = highest<W>();  // an arc this wide narrows nothing

  Vertex source;

  SPILLWAY_HD W    init(Vertex v) const { return v == source ? highest<W>() : W{0}; }
  SPILLWAY_HD bool starts(Vertex v) const { return v == source; }
  SPILLWAY_HD W compute(W width, const Edge<W>& edge) const { return edge.weight < width ? edge.weight : width; }
};

template <class W>
WidestPath<W> program_of(const Graph& graph, const ParameterValues& values) {
  return {.source = Parameters{"widest_path", values}.vertex(graph)};
}

template <class W>
Result widths(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  auto   outcome = run(program_of<W>(graph, values), graph, options);
  Result result;
  result.columns.push_back(outcome.column("width"));
  result.columns[0].missing = Missing::infinite;  // the source's own
  result.statistics         = std::move(outcome.statistics);
  return result;
}

Algorithm widest_path() {
  return {.name       = "widest_path",
          .summary    = "how much the widest path from a source to each vertex carries",
          .parameters = {{.name = "source", .help = "where paths start", .kind = ParameterKind::source}},
          .columns    = {{"width", "weight of the narrowest arc of the widest path; 0 where there is none"}},
          .weights    = WeightUse::needed,
          .on_gpu     = built_for_gpu,
          .run =
              [](const Graph& graph, const ParameterValues& values, const RunOptions& options) {
                return graph.weight_type() == WeightType::f32 ? widths<float>(graph, values, options)
                                                              : widths<std::uint32_t>(graph, values, options);
              },
          .plan =
              [](const Graph& graph, const ParameterValues& values, const RunOptions& options) {
                return graph.weight_type() == WeightType::f32
                           ? plan_run(program_of<float>(graph, values), graph, options)
                           : plan_run(program_of<std::uint32_t>(graph, values), graph, options);
              }};
}

SPILLWAY_PLUGIN(widest_path())
