// The checks of the Graph500 benchmark on a tree of shortest paths, for any way to extend a path: whatever
// produced the labels, they are right if and only if all of these hold.
#pragma once

#include <atomic>

#include "algorithms/checking.hpp"
#include "algorithms/row_visits.hpp"

#include <spillway/engine/memory.hpp>

namespace spillway {

/// labels: of the source `root`, of others what the path to them adds up to, `unreached` where there is none.
template <class Label>
struct PathTree {
  Vertex                  source;
  Label                   root;
  Label                   unreached;
  std::span<const Label>  labels;
  std::span<const Vertex> parents;

  bool reached(std::uint64_t v) const { return labels[v] != unreached; }
};

/// The source is its own parent and nobody else is; reached vertices, and only they, have a parent that is
/// reached.
template <class Label>
std::string parent_problem(const Graph& graph, const PathTree<Label>& tree) {
  const std::uint64_t n       = graph.vertex_count();
  const auto          name    = [&](std::uint64_t v) { return graph.ids().name(static_cast<Vertex>(v)); };
  const auto&         parents = tree.parents;
  if (tree.labels.size() != n || parents.size() != n) return "a column has the wrong length";
  if (tree.labels[tree.source] != tree.root || parents[tree.source] != tree.source)
    return fmt::format("the source {} has label {} or another parent than itself", name(tree.source),
                       tree.labels[tree.source]);
  for (std::uint64_t v = 0; v < n; ++v) {
    if (tree.reached(v) == (parents[v] == no_vertex))
      return fmt::format("vertex {}: reached without a parent, or has one without being reached", name(v));
    if (v != tree.source && parents[v] == v) return fmt::format("vertex {} is its own parent", name(v));
    if (parents[v] != no_vertex && (parents[v] >= n || !tree.reached(parents[v])))
      return fmt::format("vertex {}: its parent is not reached", name(v));
  }
  return {};
}

/// One pass over all arcs: none may offer better (so everything that can be reached is), and one from the parent
/// must offer just what is there.
template <class Label, class Extend, class Better>
std::string arc_problem(const Graph& graph, const PathTree<Label>& tree, Extend&& extend, Better&& better,
                        const VerifyOptions& options) {
  const std::uint64_t        n    = graph.vertex_count();
  const auto                 name = [&](std::uint64_t v) { return graph.ids().name(static_cast<Vertex>(v)); };
  const Buffer<std::uint8_t> has_tree_arc{n, graph.budget(), "verifying the paths"};
  std::atomic<Vertex>        improvable{no_vertex};
  for_each_row(graph, options, [&](Vertex u, std::span<const Vertex> targets, const std::uint32_t* weights) {
    if (!tree.reached(u)) return;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Vertex v       = targets[i];
      const auto   offered = extend(tree.labels[u], weights ? weights[i] : 0);
      if (better(offered, tree.labels[v])) improvable.store(v, std::memory_order_relaxed);
      if (tree.parents[v] == u && offered == tree.labels[v])
        std::atomic_ref{has_tree_arc[v]}.store(1, std::memory_order_relaxed);
    }
  });
  if (improvable != no_vertex) return fmt::format("vertex {} could be reached better", name(improvable));
  for (std::uint64_t v = 0; v < n; ++v)
    if (tree.reached(v) && v != tree.source && !has_tree_arc[v])
      return fmt::format("vertex {}: no arc from its parent {} gives it {}", name(v), name(tree.parents[v]),
                         tree.labels[v]);
  return {};
}

/// Arcs that add nothing could hide a cycle of parents: every chain is walked until one that was walked before.
template <class Label>
std::string cycle_problem(const Graph& graph, const PathTree<Label>& tree) {
  enum : std::uint8_t { unknown, on_the_way, ends_at_source };
  const Buffer<std::uint8_t> walked{graph.vertex_count(), graph.budget(), "verifying the paths"};
  walked[tree.source] = ends_at_source;
  for (std::uint64_t v = 0; v < graph.vertex_count(); ++v) {
    if (!tree.reached(v)) continue;
    auto at = static_cast<Vertex>(v);
    for (; walked[at] == unknown; at = tree.parents[at]) walked[at] = on_the_way;
    if (walked[at] == on_the_way)
      return fmt::format("the parents of vertex {} go round in a circle", graph.ids().name(at));
    for (at = static_cast<Vertex>(v); walked[at] == on_the_way; at = tree.parents[at]) walked[at] = ends_at_source;
  }
  return {};
}

/// extend(label, weight) is the label that an arc with these bits of weight offers to its target. `better(a, b)`:
/// a label of a would replace b.
template <class Label, class Extend, class Better>
std::string tree_problem(const Graph& graph, const PathTree<Label>& tree, Extend&& extend, Better&& better,
                         const VerifyOptions& options) {
  std::string problem = parent_problem(graph, tree);
  if (problem.empty()) problem = arc_problem(graph, tree, extend, better, options);
  return problem.empty() ? cycle_problem(graph, tree) : problem;
}

}  // namespace spillway
