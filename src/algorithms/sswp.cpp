// Single-source widest paths: the narrowest arc of a path is its width; the widest path to each vertex, and a
// tree. Pollack, Operations Research 1960; as a vertex program in Subway and SIMD-X.
#include <functional>

#include "algorithms/checking.hpp"
#include "algorithms/counted_heap.hpp"
#include "algorithms/programs/sswp.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/tree_checks.hpp"
#include "algorithms/weighted.hpp"
#include "graph/split.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

template <class W>
using Width = typename Sswp<W>::Width;

template <class W>
Result run_with(const Graph& graph, Vertex source, const RunOptions& options) {
  refuse_negative_weights(graph, "sswp", options);
  auto outcome = run(Sswp<W>{source}, graph, options);

  name_originals(graph, std::get<1>(outcome.columns).span(), outcome.threads);
  std::get<0>(outcome.columns)[source] = highest<Width<W>>();
  Result result;
  result.columns.push_back(outcome.template column<0>("width"));
  result.columns.push_back(outcome.template column<1>("parent"));
  result.columns[0].missing  = Missing::infinite;
  result.columns[1].vertices = true;
  result.statistics          = std::move(outcome.statistics);
  return result;
}

/// The oracle: Dijkstra with the widest first.
template <class W>
Buffer<Width<W>> serial_widths(const Graph& graph, Vertex source) {
  using Entry                          = std::pair<Width<W>, Vertex>;
  const char* const               what = "verifying the paths";
  Buffer<Width<W>>                widths{graph.vertex_count(), graph.budget(), what};
  const Buffer<bool>              settled{graph.vertex_count(), graph.budget(), what};
  CountedHeap<Entry, std::less<>> heap{graph.budget(), what};
  for (heap.push({highest<Width<W>>(), source}); !heap.empty();) {
    const auto [width, v] = heap.pop();
    if (settled[v]) continue;
    settled[v]     = true;
    widths[v]      = width;
    const Csr& csr = graph.out();
    for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i)
      if (!settled[csr.targets[i]])
        heap.push({std::min<Width<W>>(width, std::bit_cast<W>(csr.weights[i])), csr.targets[i]});
  }
  return widths;
}

template <class W>
Verdict verify_with(const Graph& graph, Vertex source, const Result& result, const VerifyOptions& options) {
  using Label        = Width<W>;
  const auto& widths = column_of<Label>(result, 0);
  Verdict     verdict{.how = options.use_oracle(graph) ? by_oracle : by_properties, .problem = {}};
  if (options.use_oracle(graph)) {
    const Buffer<Label> expected = serial_widths<W>(graph, source);
    verdict.problem              = difference<Label, Label>(graph, "width", widths.span(), expected.span());
  }
  if (!verdict.problem.empty()) return verdict;
  const PathTree<Label> tree{.source    = source,
                             .root      = highest<Label>(),
                             .unreached = 0,
                             .labels    = widths.span(),
                             .parents   = column_of<Vertex>(result, 1).span()};
  const auto            narrowed = [&](Label width, std::uint32_t weight) {
    return std::min<Label>(width, std::bit_cast<W>(weight));
  };
  verdict.problem = tree_problem(graph, tree, narrowed, std::greater<>{}, options);
  return verdict;
}

Result run_sswp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Vertex source = Parameters{"sswp", values}.vertex(graph);
  return graph.weight_type() == WeightType::f32 ? run_with<float>(graph, source, options)
                                                : run_with<std::uint32_t>(graph, source, options);
}

Plan plan_sswp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Vertex source = Parameters{"sswp", values}.vertex(graph);
  refuse_negative_weights(graph, "sswp", options);
  return graph.weight_type() == WeightType::f32 ? plan_run(Sswp<float>{source}, graph, options)
                                                : plan_run(Sswp<std::uint32_t>{source}, graph, options);
}

Verdict verify_sswp(const Graph& graph, const ParameterValues& values, const Result& result,
                    const VerifyOptions& options) {
  const Vertex source = Parameters{"sswp", values}.vertex(graph);
  return graph.weight_type() == WeightType::f32 ? verify_with<float>(graph, source, result, options)
                                                : verify_with<std::uint32_t>(graph, source, result, options);
}

}  // namespace

Algorithm sswp_algorithm() {
  return {.name       = "sswp",
          .summary    = "widest (maximum-capacity) paths from a source",
          .reference  = "Pollack: The Maximum Capacity Through a Network, Operations Research 1960",
          .parameters = {{.name = "source",
                          .help = "where to start, by the graph's own ids",
                          .kind = ParameterKind::source}},
          .columns    = {{"width",
                          "weight of the narrowest arc of the widest path; 0 if there is none, inf for the source"},
                         {"parent", "the vertex before it on such a path; the source's is itself"}},
          .weights    = WeightUse::needed,
          .on_gpu     = gpu::built && has_device_code<Sswp<std::uint32_t>>,
          .run        = run_sswp,
          .plan       = plan_sswp,
          .verify     = verify_sswp,
          .aliases    = {"widest_path", "widest_paths"}};
}

}  // namespace spillway
