// The graph of chosen vertices and all arcs among them.
#include "algorithms/graph_answers.hpp"
#include "algorithms/registry.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>

namespace spillway {
namespace {

std::vector<Vertex> members_of(const Graph& graph, const ParameterValues& values) {
  return Parameters{"induced", values}.vertex_list(graph, "members");
}

Result run_induced(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  Progress& progress = options.progress ? *options.progress : Progress::none();
  Stopwatch clock;
  graph.out();
  const VertexSet members    = set_of(graph, members_of(graph, values));
  const double    prepare_ms = clock.lap();
  Subgraph        answer     = induced_subgraph(graph, members, thread_count(options.threads), progress);
  return graph_result(std::move(answer), prepare_ms, clock.milliseconds());
}

Verdict verify_induced(const Graph& graph, const ParameterValues& values, const Result& result,
                       const VerifyOptions& options) {
  ExpectedGraph expected{plain_set_of(graph, members_of(graph, values)), {}};
  expected.keeps = [&members = expected.members](Vertex v, Vertex w) { return members[v] && members[w]; };
  return verify_graph(graph, result, options, expected);
}

}  // namespace

Algorithm induced_algorithm() {
  return {.name          = "induced",
          .summary       = "the subgraph induced by a set of vertices",
          .reference     = {},
          .parameters    = {{.name = "members", .help = vertices_help, .kind = ParameterKind::vertices}},
          .columns       = {},
          .weights       = WeightUse::used,
          .makes_a_graph = true,
          .run           = run_induced,
          .verify        = verify_induced,
          .aliases       = {"induced_subgraph"}};
}

}  // namespace spillway
