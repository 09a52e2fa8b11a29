// Weights for graphs that have none.
#include <algorithm>

#include "base/fail.hpp"
#include "generate/random.hpp"
#include "graph/csr.hpp"
#include "graph/split.hpp"

namespace spillway {
namespace {

template <class WeightOf>
Graph weighted(const Graph& graph, int threads, WeightOf&& weight_of) {
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
