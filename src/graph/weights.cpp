// Weights for graphs that have none.
#include <algorithm>

#include "base/fail.hpp"
#include "generate/random.hpp"
#include "graph/csr.hpp"
#include "graph/edge_list.hpp"
#include "graph/split.hpp"

namespace spillway {
namespace {

/// Both arcs of an edge get what `weight_of` gives for its ends, whichever comes first.
template <class WeightOf>
Graph weighted_list(const Graph& graph, int threads, WeightOf&& weight_of) {
  const EdgeRun         edges = graph.edges()->edges(thread_count(threads));
  Buffer<std::uint32_t> words{edges.count * 3, graph.budget(), "the weights"};
  for_each_share(thread_count(threads), edges.count, [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t i = begin; i < end; ++i) {
      words[3 * i]     = edges.source(i);
      words[3 * i + 1] = edges.target(i);
      words[3 * i + 2] = weight_of(edges.source(i), edges.target(i));
    }
  });
  return with_words(graph, std::move(words).freeze(), WeightType::u32);
}

template <class WeightOf>
Graph weighted(const Graph& graph, int threads, WeightOf&& weight_of) {
  if (graph.edges()) return weighted_list(graph, threads, weight_of);
  const Csr&            out = graph.out();
  Buffer<std::uint32_t> weights{out.arc_count(), graph.budget(), "the weights"};
  for_each_row_range(out, thread_count(threads), [&](Vertex first, Vertex last, int) {
    for (Vertex v = first; v < last; ++v)
      for (EdgeIndex i = out.offsets[v]; i < out.offsets[v + 1]; ++i) weights[i] = weight_of(v, out.targets[i]);
  });
  Graph::Parts parts;
  parts.out         = {out.offsets, out.targets, std::move(weights).freeze()};
  parts.ids         = graph.ids();
  parts.weight_type = WeightType::u32;
  parts.symmetric   = graph.symmetric();
  parts.name        = graph.name();
  parts.report      = graph.report();
  parts.budget      = graph.budget();
  const Graph whole{std::move(parts)};
  return graph.split() ? split(whole, graph.split()->form(), threads) : whole;
}

}  // namespace

Graph with_unit_weights(const Graph& graph, int threads) {
  return weighted(graph, threads, [](Vertex, Vertex) { return 1u; });
}

Graph with_random_weights(const Graph& graph, std::uint64_t seed, std::uint32_t least, std::uint32_t most,
                          int threads) {
  if (least > most)
    throw usage_error("random weights from {} to {}: the first must not exceed the second", least, most);
  const RandomStream  stream{seed, RandomUse::weights};
  const std::uint64_t choices = std::uint64_t{most} - least + 1;
  return weighted(graph, threads, [&](Vertex u, Vertex v) {
    const std::uint64_t edge = std::uint64_t{std::min(u, v)} << 32 | std::max(u, v);
    return least + static_cast<std::uint32_t>(stream.below(edge, choices));
  });
}

}  // namespace spillway
