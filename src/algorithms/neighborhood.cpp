// The part of a graph around one vertex: what lies within some hops of it (neighborhood), or it and its neighbours
// (egonet, which is one hop both ways), with all arcs in between.
#include "algorithms/graph_answers.hpp"
#include "algorithms/hops.hpp"
#include "algorithms/registry.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>

namespace spillway {
namespace {

struct Around {
  Vertex        source;
  std::uint64_t hops;
  Along         along;
};

Around read_neighborhood(const Graph& graph, const ParameterValues& values) {
  const Parameters parameters{"neighborhood", values};
  return {.source = parameters.vertex(graph),
          .hops   = parameters.number("hops", 0, max_vertices),
          .along  = along_named(parameters.choice("along", along_choices()))};
}

Around read_egonet(const Graph& graph, const ParameterValues& values) {
  return {.source = Parameters{"egonet", values}.vertex(graph), .hops = 1, .along = Along::both};
}

using Read = Around (*)(const Graph&, const ParameterValues&);

Result run_around(const Graph& graph, const Around& around, const RunOptions& options) {
  const int threads  = thread_count(options.threads);
  Progress& progress = options.progress ? *options.progress : Progress::none();
  Stopwatch clock;
  graph.out();
  if (needs_in_edges(graph, around.hops, around.along)) graph.in();
  const double    prepare_ms = clock.lap();
  const HopsFound found      = vertices_within(graph, around.source, around.hops, around.along, threads, progress);
  Subgraph        answer     = induced_subgraph(graph, found.vertices, threads, progress);
  Result          result     = graph_result(std::move(answer), prepare_ms, clock.milliseconds());
  result.statistics.iterations += found.iterations;
  result.statistics.edges_processed += found.edges_processed;
  return result;
}

Verdict verify_around(const Graph& graph, const Around& around, const Result& result,
                      const VerifyOptions& options) {
  Charge memory{graph.budget(), "verifying the result"};
  memory.raise_to(graph.vertex_count() * 16 +
                  (around.along == Along::out ? 0 : graph.arc_count() * sizeof(Vertex)));
  ExpectedGraph expected{plainly_within(graph, around.source, around.hops, around.along), {}};
  expected.keeps = [&members = expected.members](Vertex v, Vertex w) { return members[v] && members[w]; };
  return verify_graph(graph, result, options, expected);
}

Algorithm around_algorithm(Algorithm description, Read read) {
  description.makes_a_graph = true;
  description.weights       = WeightUse::used;
  description.run = [read](const Graph& graph, const ParameterValues& values, const RunOptions& options) {
    return run_around(graph, read(graph, values), options);
  };
  description.verify = [read](const Graph& graph, const ParameterValues& values, const Result& result,
                              const VerifyOptions& options) {
    return verify_around(graph, read(graph, values), result, options);
  };
  return description;
}

Parameter source_parameter(const char* help) {
  return {.name = "source", .help = help, .kind = ParameterKind::source};
}

}  // namespace

Algorithm neighborhood_algorithm() {
  return around_algorithm(
      {.name       = "neighborhood",
       .summary    = "the subgraph of all vertices within some hops of a source",
       .reference  = {},
       .parameters = {source_parameter("the vertex at its centre"),
                      {"hops", "how far from it", "2"},
                      {"along", "out, in or both: direction of the arcs that a hop follows", "out"}},
       .columns    = {},
       .run        = {},
       .verify     = {},
       .aliases    = {"k_hop_neighborhood"}},
      read_neighborhood);
}

Algorithm egonet_algorithm() {
  return around_algorithm({.name       = "egonet",
                           .summary    = "the ego network: the subgraph of a vertex and its neighbours",
                           .reference  = {},
                           .parameters = {source_parameter("the vertex at its centre")},
                           .columns    = {},
                           .run        = {},
                           .verify     = {},
                           .aliases    = {"ego_graph"}},
                          read_egonet);
}

}  // namespace spillway
