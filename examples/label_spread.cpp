// The nearest of several seeds: labels spread from them along the arcs, one arc a step, and a vertex keeps the
// first that reaches it. A vertex as near to several seeds gets one of them. One vote settles a vertex: Any.
//
//   spillway build label_spread.cpp && spillway run ./label_spread.so roads.gr --seeds 17,204,9
#include <spillway/plugin.hpp>
#include <spillway/run.hpp>

using namespace spillway;

struct LabelSpread {
  struct Value {
    Vertex        seed;  // no_vertex until a label arrives
    std::uint32_t hops;
  };
  using Update  = Vertex;
  using Combine = Any<Vertex>;

  SPILLWAY_HD Value  init(Vertex) const { return {no_vertex, highest<std::uint32_t>()}; }
  SPILLWAY_HD bool   starts(Vertex, const Value& value) const { return value.hops == 0; }
  SPILLWAY_HD Vertex compute(const Value& from, const Edge<>&) const { return from.seed; }

  SPILLWAY_HD bool apply(Value& value, Vertex seed, const Step<>& step) const {
    value = {seed, step.iteration + 1};
    return true;
  }
};

/// Where the labels are at first. A program holds numbers only; what differs from vertex to vertex is a value.
Buffer<LabelSpread::Value> planted(const Graph& graph, const std::vector<Vertex>& seeds) {
  Buffer<LabelSpread::Value> values{graph.vertex_count(), graph.budget(), "the labels"};
  for (Vertex v = 0; v < graph.vertex_count(); ++v) values[v] = LabelSpread{}.init(v);
  for (const Vertex seed : seeds) values[seed] = {seed, 0};
  return values;
}

Algorithm label_spread() {
  return {.name       = "label_spread",
          .summary    = "the nearest of several seeds, and how far it is",
          .parameters = {{.name = "seeds",
                          .help = "where labels start: a,b,c or @FILE",
                          .kind = ParameterKind::vertices}},
          .columns    = {{"seed", "the seed whose label came first; none if no seed reaches the vertex"},
                         {"hops", "arcs from that seed"}},
          .on_gpu     = built_for_gpu,
          .run =
              [](const Graph& graph, const ParameterValues& values, const RunOptions& options) {
                const auto seeds   = Parameters{"label_spread", values}.vertex_list(graph, "seeds");
                auto       outcome = run(LabelSpread{}, graph, options, {.values = planted(graph, seeds)});
                Result     result;
                result.columns.push_back(outcome.column("seed", [](const auto& value) { return value.seed; }));
                result.columns.push_back(outcome.column("hops", [](const auto& value) { return value.hops; }));
                result.columns[0].vertices = true;
                result.columns[1].missing  = Missing::blank;
                result.statistics          = std::move(outcome.statistics);
                return result;
              },
          .plan = [](const Graph&      graph, const ParameterValues&,
                     const RunOptions& options) { return plan_run(LabelSpread{}, graph, options); }};
}

SPILLWAY_PLUGIN(label_spread())
