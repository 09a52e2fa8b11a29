#include "algorithms/weighted.hpp"

#include <bit>

#include "base/fail.hpp"
#include "graph/csr.hpp"
#include "graph/edge_list.hpp"
#include "store/paged_rows.hpp"

#include <spillway/run.hpp>

namespace spillway {

void detail::check_weights_for(const Graph& graph, WeightType wanted) {
  if (graph.weight_type() == wanted || graph.arc_count() == 0) return;
  if (graph.weight_type() == WeightType::none)
    throw bad_input(
        "this needs weights and the graph has none; --weights unit gives every arc 1, --weights random:SEED "
        "random "
        "ones from 1 to 64");
  throw bad_input("the program reads {} weights and the graph has {}; load it with --weight-type {}",
                  to_string(wanted), to_string(graph.weight_type()), to_string(wanted));
}

void refuse_negative_weights(const Graph& graph, const char* algorithm, const RunOptions& options) {
  if (graph.weight_type() != WeightType::f32) return;
  if (graph.pages()) {
    if (graph.pages()->least_weight() >= 0) return;
    throw bad_input("{} takes no negative weights; {} has some, down to {}", algorithm, graph.name(),
                    graph.pages()->least_weight());
  }
  if (!graph.has_rows()) {
    const EdgeRun       edges = graph.edges()->edges(thread_count(options.threads));
    const std::uint64_t found = find_negative(edges, thread_count(options.threads));
    if (found == edges.count) return;
    throw bad_input("{} takes no negative weights; the edge from {} to {} has {}", algorithm,
                    graph.ids().name(edges.source(found)), graph.ids().name(edges.target(found)),
                    std::bit_cast<float>(edges.weight(found)));
  }
  const Csr& out = graph.out();
  for_each_row_range(out, thread_count(options.threads), [&](Vertex first, Vertex last, int) {
    for (Vertex v = first; v < last; ++v)
      for (EdgeIndex i = out.offsets[v]; i < out.offsets[v + 1]; ++i)
        if (const auto weight = std::bit_cast<float>(out.weights[i]); weight < 0)
          throw bad_input("{} takes no negative weights; the arc from {} to {} has {}", algorithm,
                          graph.ids().name(v), graph.ids().name(out.targets[i]), weight);
  });
}

}  // namespace spillway
