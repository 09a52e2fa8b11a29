#include "plan/algorithm_work.hpp"

#include <algorithm>

#include "engine/rows.hpp"

namespace spillway {
namespace {

Topology topology_of(const Csr& rows) {
  return {.vertices = rows.vertex_count(), .arcs = rows.arc_count(), .push = {block_of(rows)}, .pull = {}};
}

double arcs_of(const AlgorithmWork& work) { return static_cast<double>(work.topology.arcs); }

/// The shorter of two rows is looked up in the longer one: half a row's length for every edge, and a step or two
/// of searching for each of these.
double lookups_of_intersecting(const Topology& topology) {
  const double arcs = static_cast<double>(topology.arcs), vertices = static_cast<double>(topology.vertices);
  return vertices > 0 ? arcs * arcs / vertices / 2 : 0;
}

}  // namespace

Topology neighbor_topology(const Graph& graph) {
  Topology topology = topology_of(graph.out());
  if (!graph.symmetric()) topology.pull.push_back(block_of(graph.in()));
  return topology;
}

AlgorithmWork work_of_components(const Graph& graph) {
  constexpr double samples = 2, in_others = 0.05;
  AlgorithmWork    work{.topology = topology_of(graph.out())};
  const bool       skips = graph.symmetric() || graph.has_in();
  if (!graph.symmetric() && graph.has_in()) work.topology.push.push_back(block_of(graph.in()));
  work.form             = RowForm::parts;
  work.state            = 3 * graph.vertex_count() * sizeof(Vertex);
  const double vertices = static_cast<double>(graph.vertex_count());
  const double an_edge  = std::min(1.0, vertices / std::max(1.0, arcs_of(work)));
  work.on_gpu           = [=](const GraphSample&) {
    return std::vector<Activity>{{samples, an_edge, 1}, {1, skips ? in_others : 1}};
  };
  return work;
}

AlgorithmWork work_of_strong_components(const Graph& graph) {
  constexpr double trims = 3, searches = 2, left = 0.5;
  AlgorithmWork    work{.topology = topology_of(graph.out())};
  work.topology.pull = {block_of(graph.symmetric() ? graph.out() : graph.in())};
  work.on_gpu        = [](const GraphSample& sample) {
    return std::vector<Activity>{{trims + searches * std::max(1.0, sample.levels), left}};
  };
  work.on_cpu = [](const GraphSample& sample) {
    const double levels = searches * std::max(1.0, sample.levels);
    return std::vector<Activity>{{trims, left}, {levels, std::min(1.0, searches / levels)}};
  };
  return work;
}

AlgorithmWork work_of_triangles(const Csr& simple) {
  constexpr double counting_and_copying = 2;
  AlgorithmWork    work{.topology = topology_of(simple)};
  work.state   = simple.arc_count() / 2 * sizeof(Vertex) + simple.vertex_count() * sizeof(EdgeIndex);  // the copy
  work.on_gpu  = passes_over_all(counting_and_copying);
  work.lookups = lookups_of_intersecting(work.topology);
  return work;
}

AlgorithmWork work_of_neighbor_arcs(const Graph& graph) {
  constexpr double sides = 2, counting_splitting_and_merging = 3;
  AlgorithmWork    work{.topology = neighbor_topology(graph)};
  work.state =
      graph.arc_count() * (2 * sizeof(Vertex) + 1) + graph.vertex_count() * sizeof(EdgeIndex);  // likewise
  work.on_gpu  = passes_over_all(sides * counting_splitting_and_merging);
  work.lookups = 2 * lookups_of_intersecting(work.topology);
  return work;
}

AlgorithmWork work_of_labels(const Graph& graph, double rounds) {
  constexpr double counting_a_label = 2;
  AlgorithmWork    work{.topology = neighbor_topology(graph)};
  const double     sides = graph.symmetric() ? 1 : 2;
  work.on_gpu            = passes_over_all(sides * rounds);
  work.lookups           = counting_a_label * sides * rounds * arcs_of(work);
  return work;
}

AlgorithmWork work_of_messages(const Csr& simple, std::uint64_t iterations, std::uint64_t states) {
  constexpr std::uint64_t both_ways = 2 * sizeof(double);
  AlgorithmWork           work{.topology = topology_of(simple)};
  work.state   = simple.arc_count() * (states - 1) * both_ways;
  work.on_gpu  = passes_over_all(static_cast<double>(iterations));
  work.lookups = static_cast<double>(iterations) * arcs_of(work);
  return work;
}

}  // namespace spillway
