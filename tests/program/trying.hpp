// What the tests of programs share: the graphs, a run in every way, and the edges a program sees as a plain list.
#pragma once

#include <gtest/gtest.h>

#include "support.hpp"
#include "ways.hpp"
#include "zoo.hpp"

#include <spillway/run.hpp>

namespace spillway::testing {

struct PlainEdge {
  Vertex        from, to;
  std::uint32_t weight;  ///< raw bits; 0 where there is none
};

/// All edges along the program's way. Of a symmetric graph every arc's reverse is there already.
inline std::vector<PlainEdge> edges_of(const Graph& graph, Along along = Along::out) {
  std::vector<PlainEdge> edges;
  const Csr&             out = graph.out();
  for (Vertex u = 0; u < graph.vertex_count(); ++u)
    for (EdgeIndex i = out.offsets[u]; i < out.offsets[u + 1]; ++i) {
      const std::uint32_t weight = out.weights.empty() ? 0 : out.weights[i];
      if (along != Along::in) edges.push_back({u, out.targets[i], weight});
      if (along == Along::in || (along == Along::both && !graph.symmetric()))
        edges.push_back({out.targets[i], u, weight});
    }
  return edges;
}

/// body(graph, what) for graphs of every kind that are small enough for plain loops. The random ones are made
/// anew: they have no in-edges yet.
template <class Body>
void on_graphs(Body&& body) {
  for (const ZooGraph& member : zoo())
    if (member.graph.vertex_count() > 0 && member.graph.vertex_count() <= 130) body(member.graph, member.name);
  for (std::uint64_t seed = 0; seed < 25; ++seed) body(random_graph(seed), "seed " + std::to_string(seed));
}

/// body(outcome, what) for every way to run the program.
template <class P, class Body>
void in_every_way(const P& program, const Graph& graph, const std::string& what, Body&& body) {
  for (const RunOptions& way : some_ways()) body(run(program, graph, way), what + as_text(way));
}

/// The values of an outcome, or a part of them.
template <class P, class Get>
auto parts_of(const spillway::Outcome<P>& outcome, Get&& get) {
  std::vector<std::remove_cvref_t<decltype(get(outcome[0]))>> parts;
  for (const auto& value : outcome.values.span()) parts.push_back(get(value));
  return parts;
}

template <class P>
auto values_of(const spillway::Outcome<P>& outcome) {
  return parts_of(outcome, [](const auto& value) { return value; });
}

/// Arcs from the nearest of `sources` along the program's way, by going over all edges until nothing changes.
inline std::vector<std::uint32_t> plain_levels(const Graph& graph, Along along,
                                               const std::vector<Vertex>& sources) {
  std::vector<std::uint32_t> levels(graph.vertex_count(), highest<std::uint32_t>());
  for (const Vertex source : sources) levels[source] = 0;
  const auto edges   = edges_of(graph, along);
  bool       changed = true;
  while (std::exchange(changed, false))
    for (const PlainEdge& edge : edges)
      if (levels[edge.from] != highest<std::uint32_t>() && levels[edge.from] + 1 < levels[edge.to])
        levels[edge.to] = levels[edge.from] + 1, changed = true;
  return levels;
}

}  // namespace spillway::testing
