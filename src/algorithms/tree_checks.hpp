// The checks of the Graph500 benchmark on a tree of shortest paths, for any way to extend a path: whatever
// produced the labels, they are right if and only if all of these hold.
#pragma once

#include <atomic>

#include "algorithms/checking.hpp"
#include "graph/csr.hpp"

namespace spillway {

/// labels: of the source `Label{}`, of others what the path to them adds up to, `unreached` where there is none.
/// extend(label, i) is the label that arc i offers to its target. `better(a, b)`: a label of a would replace b.
/// Checked: the source is its own parent and nobody else is; reached vertices, and only they, have a parent that
/// is reached; the label is what an arc from the parent offers; no arc offers anything better (so everything that
/// can be reached is); and following parents ends at the source.
template <class Label, class Extend, class Better>
std::string tree_problem(const Graph& graph, Vertex source, Label root, std::span<const Label> labels,
                         std::span<const Vertex> parents, Label unreached, Extend&& extend, Better&& better,
                         const VerifyOptions& options) {
  const std::uint64_t n    = graph.vertex_count();
  const Csr&          out  = graph.out();
  const auto          name = [&](std::uint64_t v) { return graph.ids().name(static_cast<Vertex>(v)); };
  if (labels.size() != n || parents.size() != n) return "a column has the wrong length";
  if (labels[source] != root || parents[source] != source)
    return fmt::format("the source {} has label {} or another parent than itself", name(source), labels[source]);
  for (std::uint64_t v = 0; v < n; ++v) {
    if ((labels[v] == unreached) != (parents[v] == no_vertex))
      return fmt::format("vertex {}: reached without a parent, or has one without being reached", name(v));
    if (v != source && parents[v] == v) return fmt::format("vertex {} is its own parent", name(v));
    if (parents[v] != no_vertex && (parents[v] >= n || labels[parents[v]] == unreached))
      return fmt::format("vertex {}: its parent is not reached", name(v));
  }

  // One pass over all arcs: none may offer better, and the one from the parent must offer just what is there.
  std::vector<std::uint8_t> has_tree_arc(n, 0);
  std::atomic<Vertex>       improvable{no_vertex};
  for_each_row_range(out, thread_count(options.threads), [&](Vertex first, Vertex last, int) {
    for (Vertex u = first; u < last; ++u) {
      if (labels[u] == unreached) continue;
      for (EdgeIndex i = out.offsets[u]; i < out.offsets[u + 1]; ++i) {
        const Vertex v       = out.targets[i];
        const Label  offered = extend(labels[u], i);
        if (better(offered, labels[v])) improvable.store(v, std::memory_order_relaxed);
        if (parents[v] == u && offered == labels[v])
          std::atomic_ref{has_tree_arc[v]}.store(1, std::memory_order_relaxed);
      }
    }
  });
  if (improvable != no_vertex) return fmt::format("vertex {} could be reached better", name(improvable));
  for (std::uint64_t v = 0; v < n; ++v)
    if (parents[v] != no_vertex && v != source && !has_tree_arc[v])
      return fmt::format("vertex {}: no arc from its parent {} gives it {}", name(v), name(parents[v]), labels[v]);

  // Zero-length arcs could hide a cycle of parents: walk every chain once.
  std::vector<std::uint8_t> walked(n, 0);  // 1: on the way, 2: known to end at the source
  walked[source] = 2;
  std::vector<Vertex> chain;
  for (std::uint64_t v = 0; v < n; ++v) {
    if (parents[v] == no_vertex) continue;
    auto at = static_cast<Vertex>(v);
    for (; walked[at] == 0; at = parents[at]) walked[at] = 1, chain.push_back(at);
    if (walked[at] == 1) return fmt::format("the parents of vertex {} go round in a circle", name(at));
    for (const Vertex passed : chain) walked[passed] = 2;
    chain.clear();
  }
  return {};
}

}  // namespace spillway
