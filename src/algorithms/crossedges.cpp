// The arcs that lead from one set of vertices to another.
#include "algorithms/graph_answers.hpp"
#include "algorithms/registry.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>

namespace spillway {
namespace {

struct Sides {
  std::vector<Vertex> from, to, either;
};

Sides sides_of(const Graph& graph, const ParameterValues& values) {
  const Parameters parameters{"crossedges", values};
  Sides            sides{parameters.vertex_list(graph, "from"), parameters.vertex_list(graph, "to"), {}};
  sides.either = sides.from;
  sides.either.insert(sides.either.end(), sides.to.begin(), sides.to.end());
  return sides;
}

Result run_crossedges(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  Progress& progress = options.progress ? *options.progress : Progress::none();
  Stopwatch clock;
  graph.out();
  const Sides     sides  = sides_of(graph, values);
  const VertexSet from   = set_of(graph, sides.from);
  const VertexSet to     = set_of(graph, sides.to);
  const VertexSet either = set_of(graph, sides.either);

  const double prepare_ms = clock.lap();
  Subgraph     answer     = subgraph_between(graph, either, from, to, thread_count(options.threads), progress);
  return graph_result(std::move(answer), prepare_ms, clock.milliseconds());
}

Verdict verify_crossedges(const Graph& graph, const ParameterValues& values, const Result& result,
                          const VerifyOptions& options) {
  const Sides             sides = sides_of(graph, values);
  const std::vector<bool> from  = plain_set_of(graph, sides.from);
  const std::vector<bool> to    = plain_set_of(graph, sides.to);
  return verify_graph(graph, result, options, {plain_set_of(graph, sides.either), [&](Vertex v, Vertex w) {
                                                 if (from[v] && to[w]) return true;
                                                 return graph.symmetric() && to[v] && from[w];
                                               }});
}

}  // namespace

Algorithm crossedges_algorithm() {
  return {.name          = "crossedges",
          .summary       = "the arcs from one set of vertices to another, as a graph of both sets",
          .reference     = {},
          .parameters    = {{.name = "from", .help = vertices_help, .kind = ParameterKind::vertices},
                            {.name = "to",
                             .help = "the same; undirected graphs keep the arcs that lead back too",
                             .kind = ParameterKind::vertices}},
          .columns       = {},
          .weights       = WeightUse::used,
          .makes_a_graph = true,
          .run           = run_crossedges,
          .verify        = verify_crossedges};
}

}  // namespace spillway
