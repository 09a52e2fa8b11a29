// Which rows of a graph an iteration walks, for each way updates may travel.
#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/rows.hpp"

#include <spillway/engine/executor.hpp>
#include "engine/building.hpp"

namespace spillway {
Topology resident_topology(const Graph& graph, Along along, NeededRows needed, const RunOptions& options,
                           bool on_gpu) {
  if (along == Along::simple) {
    const Csr& simple = graph.simple();
    return {.vertices = graph.vertex_count(),
            .arcs     = simple.arc_count(),
            .push     = {block_of(simple)},
            .pull     = {block_of(simple)}};
  }
  const bool both_sides = along == Along::both && !graph.symmetric();
  Topology   topology{
        .vertices = graph.vertex_count(), .arcs = graph.arc_count() * (both_sides ? 2 : 1), .push = {}, .pull = {}};
  // Out-rows list receivers: they push along arcs and pull against them. In-rows do the opposite.
  const auto add_out = [&](std::vector<RowBlock>& blocks) { blocks.push_back(block_of(graph.out())); };
  const auto add_in  = [&](std::vector<RowBlock>& blocks) {
    build_in_edges(graph, options, on_gpu);
    blocks.push_back(block_of(graph.in()));
  };
  if (both_sides) {
    for (auto* blocks : {&topology.push, &topology.pull}) add_out(*blocks), add_in(*blocks);
  } else if (along == Along::in) {
    add_out(topology.pull);
    if (graph.has_in() || needed.push) add_in(topology.push);
  } else {
    add_out(topology.push);
    if (graph.has_in() || needed.pull) add_in(topology.pull);
  }
  return topology;
}

double choose_delta(const Graph& graph, bool on_gpu) {
  constexpr std::uint64_t samples    = 4096;
  constexpr double        low_degree = 8;
  const Csr&              out        = graph.out();
  if (out.weights.empty() || graph.vertex_count() == 0) return 1;
  double              sum    = 0;
  const std::uint64_t stride = std::max<std::uint64_t>(out.arc_count() / samples, 1);
  std::uint64_t       count  = 0;
  for (EdgeIndex i = 0; i < out.arc_count(); i += stride, ++count)
    sum += graph.weight_type() == WeightType::f32 ? static_cast<double>(std::bit_cast<float>(out.weights[i]))
                                                  : static_cast<double>(out.weights[i]);
  if (count == 0 || sum <= 0) return 1;
  const double mean   = sum / static_cast<double>(count);
  const double degree = static_cast<double>(out.arc_count()) / static_cast<double>(graph.vertex_count());
  // Measured: with many neighbours a bucket should hold about one light arc of each vertex; with few (roads),
  // wider buckets keep the threads busy.
  // On an H200, a grid of 4 M vertices took 181, 57, 42 ms with 1, 8, 32 times the mean; kron24
  // took 15.9, 14.6, 13.2 ms with 1, 4, 8 times the mean over the degree.
  if (on_gpu) return degree < low_degree ? 32 * mean : 8 * mean / degree;
  return degree < low_degree ? mean : mean / degree;
}

}  // namespace spillway
