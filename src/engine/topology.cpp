// Which rows of a graph an iteration walks, for each way updates may travel.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/fail.hpp"
#include "engine/building.hpp"
#include "engine/rows.hpp"
#include "graph/edge_list.hpp"
#include "graph/split.hpp"
#include "store/paged_rows.hpp"

#include <spillway/engine/executor.hpp>
#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

RowBlock block_of(const store::PagedRows& pages) {
  return {.rows  = {pages.offsets().data(), nullptr, nullptr},
          .first = 0,
          .last  = static_cast<Vertex>(pages.offsets().size() - 1),
          .pages = &pages};
}

Topology simple_paged_topology(const Graph& graph, NeededRows needed, const RunOptions& options) {
  Progress&               progress = options.progress ? *options.progress : Progress::none();
  const bool              as_is    = needed.to_plan && graph.symmetric();
  const store::PagedRows& rows =
      as_is ? *graph.pages() : *graph.simple_pages(thread_count(options.threads), progress);
  return {
      .vertices = graph.vertex_count(), .arcs = rows.arcs(), .push = {block_of(rows)}, .pull = {block_of(rows)}};
}

/// Of a graph in pages. In-edges are there or not: nobody builds them.
Topology paged_topology(const Graph& graph, Along along, NeededRows needed, const RunOptions& options) {
  if (along == Along::simple) return simple_paged_topology(graph, needed, options);
  const auto&    out = graph.pages();
  const auto&    in  = graph.in_pages();
  Topology       topology{.vertices = graph.vertex_count(), .arcs = graph.arc_count(), .push = {}, .pull = {}};
  const bool     both    = along == Along::both && !graph.symmetric() && graph.arc_count() > 0;
  const RowBlock sent    = block_of(*out);
  const auto     need_in = [&] {
    throw does_not_fit("{}: this needs in-edges, of which it has no pages; convert the graph with --in-edges",
                           graph.name());
  };
  if (both) {
    if (!in) need_in();
    topology.arcs *= 2;
    topology.push = topology.pull = {sent, block_of(*in)};
  } else if (along == Along::in) {
    topology.pull = {sent};
    if (in) topology.push = {block_of(*in)};
    if (!in && needed.without_others) need_in();
  } else {
    topology.push = {sent};
    if (in) topology.pull = {block_of(*in)};
    if (!in && needed.without_others) need_in();
  }
  return topology;
}

/// Of a list of edges, which are pushed whichever way they go.
Topology list_topology(const Graph& graph, Along along, NeededRows needed, const RunOptions& options,
                       bool on_gpu) {
  const EdgeList& list = *graph.edges();
  if (along == Along::simple)
    throw usage_error(
        "{}: this takes the graph as undirected and simple, for which it needs rows; leave out --method {}",
        graph.name(), options.method->name);
  const bool both = list.both_ways() || along == Along::both;
  RowBlock   block{.rows  = {},
                   .first = 0,
                   .last  = static_cast<Vertex>(list.vertex_count()),
                   .edges = &list,
                   .along = {both || along != Along::in, both || along == Along::in, list.both_ways()}};
  Topology   topology{.vertices = list.vertex_count(), .arcs = block.arcs(), .push = {}, .pull = {}};
  block.counts_degrees = needed.degrees;
  topology.push.push_back(block);
  if (!on_gpu) detail::count_degrees(topology, graph, options);
  return topology;
}

/// Of rows whose vertices are split: the graph's own vertices are the first of them.
Topology split_topology(const SplitRows& split, Along along, NeededRows needed) {
  Topology topology{.vertices = split.vertex_count(),
                    .arcs     = split.arc_count() * (along == Along::both ? 2 : 1),
                    .push     = {},
                    .pull     = {},
                    .answers  = split.originals(),
                    .tree     = {.first   = static_cast<Vertex>(split.originals()),
                                 .by_from = split.form().in_edges != (along == Along::in)}};
  // Rows that the file does not have are built where they are needed.
  const bool has_both  = split.has_transposed();
  const bool needs_out = along == Along::in ? needed.pull : needed.push;
  const bool needs_in  = along == Along::in ? needed.push : needed.pull;
  const bool has_out = has_both || !split.form().in_edges, has_in = has_both || split.form().in_edges;
  auto&      by_out = along == Along::in ? topology.pull : topology.push;
  auto&      by_in  = along == Along::in ? topology.push : topology.pull;
  if (along == Along::both) {
    topology.push = topology.pull = {block_of(split.out()), block_of(split.in())};
    return topology;
  }
  if (has_out || needs_out) by_out = {block_of(split.out())};
  if (has_in || needs_in) by_in = {block_of(split.in())};
  return topology;
}

}  // namespace

const Csr& walked_rows(const Graph& graph) {
  return has_tree_vertices(graph) ? graph.split()->out() : graph.out();
}

namespace {

RunOptions options_for_lists(const Graph& graph, RunOptions options) {
  const auto name = options.method->name;
  if (!graph.edges())
    throw usage_error(
        "{}: its edges are in {}, and --method {} is for lists of edges; leave it out, or make a list: 'spillway "
        "convert {} GRAPH.spill --layout edges'",
        graph.name(), graph.pages() ? "pages" : "rows", name, graph.name());
  if (options.device.kind->of_cpu_executors)
    throw usage_error("--method {} is not for --device {}; leave out one of them", name,
                      options.device.kind->name);
  if (options.direction == Direction::pull)
    throw usage_error("--method {} pushes along edges; leave out --direction pull", name);
  return options;
}

}  // namespace

void build_rows_here(const Graph& graph, const RunOptions& options) {
  if (graph.has_rows()) return;
  BuildContext context{.budget = graph.budget(), .transform = {}, .threads = thread_count(options.threads)};
  if (options.progress) context.progress = options.progress;
  graph.give_out(rows_of(*graph.edges(), context));
}

void detail::count_degrees(Topology& topology, const Graph& graph, const RunOptions& options) {
  for (RowBlock& block : topology.push) {
    if (!block.counts_degrees) continue;
    topology.degrees     = block.edges->offsets(block.along, thread_count(options.threads), graph.budget());
    block.rows.offsets   = topology.degrees.data();
    block.counts_degrees = false;
  }
}

RunOptions detail::options_for(const Graph& graph, RunOptions options) {
  if (options.method->of_edge_lists) return options_for_lists(graph, std::move(options));
  if (!graph.pages()) {
    if (options.method->streams_pages)
      throw usage_error("--method {} is for graphs in pages; convert the graph with --layout pages",
                        options.method->name);
    return options;
  }
  const bool in_place = options.method == edges_in_place();
  if (!options.method.automatic() && !options.method->streams_pages && !in_place)
    throw usage_error("{}: its edges are in pages on disk, which --method {} streams; leave out --method {}",
                      graph.name(), pages_from_disk()->name, options.method->name);
  if (options.device.kind->of_cpu_executors)
    throw usage_error("{}: pages are streamed to one CPU or GPU; leave out --device {}", graph.name(),
                      options.device.kind->name);
  if (in_place && options.device.kind == cpu_kind())
    throw usage_error("--method {} requires a GPU", options.method->name);
  if (in_place && options.checkpoints != nullptr)
    throw usage_error("--checkpoint is for the CPU; leave out --method {}", options.method->name);
  if (in_place) options.device.kind = cuda_kind();
  if (!options.method.automatic()) options.supply.pages_in_place = in_place ? InPlace::on : InPlace::off;
  options.method = pages_from_disk();
  if (options.checkpoints != nullptr && options.device.kind == cuda_kind())
    throw usage_error("--checkpoint is for the CPU; leave out --device {}", options.device.kind->name);
  // State on disk is the CPU's.
  const bool on_disk = options.checkpoints != nullptr || options.supply.state_chunks > 1;
  if (options.device.kind.automatic() && on_disk) options.device.kind = cpu_kind();
  return options;
}

Topology resident_topology(const Graph& graph, Along along, NeededRows needed, const RunOptions& options,
                           bool on_gpu) {
  if (options.method->of_edge_lists) return list_topology(graph, along, needed, options, on_gpu);
  if (graph.pages()) return paged_topology(graph, along, needed, options);
  if (graph.edges()) build_rows(graph, options, on_gpu);
  if (has_tree_vertices(graph)) return split_topology(*graph.split(), along, needed);
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

namespace {

/// Of some of the weights; 0: there are none, or it is not known.
double mean_weight(const Graph& graph) {
  constexpr std::uint64_t samples = 4096;
  if (graph.pages()) {  // their widest weight has so many bits
    const store::PageFormat& format = graph.pages()->table().format();
    return format.compressed && format.weight_bits > 0 && format.weight_bits < 32
               ? std::exp2(static_cast<double>(format.weight_bits) - 1)
               : 0;
  }
  if (graph.weight_type() == WeightType::none) return 0;
  if (graph.edges()) return mean_weight(*graph.edges());
  const Csr&          out    = walked_rows(graph);  // filler of tree arcs counts as weights of 0: few of many
  double              sum    = 0;
  const std::uint64_t stride = std::max<std::uint64_t>(out.arc_count() / samples, 1);
  std::uint64_t       count  = 0;
  for (EdgeIndex i = 0; i < out.arc_count(); i += stride, ++count)
    sum += graph.weight_type() == WeightType::f32 ? static_cast<double>(std::bit_cast<float>(out.weights[i]))
                                                  : static_cast<double>(out.weights[i]);
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

double choose_delta(const Graph& graph, bool on_gpu) {
  constexpr double low_degree = 8;
  if (graph.vertex_count() == 0 || (graph.pages() && !on_gpu)) return 1;  // the CPU takes pages in rounds
  const double mean = mean_weight(graph);
  if (mean <= 0) return 1;
  const double degree = static_cast<double>(graph.arc_count()) / static_cast<double>(graph.vertex_count());
  // Measured: with many neighbours a bucket should hold about one light arc of each vertex; with few (roads),
  // wider buckets keep the threads busy.
  // On an H200, a grid of 4 M vertices took 35.7, 32.1, 34.5 ms with 8, 16, 32 times the mean, blocks going on
  // within a bucket; kron24 took 14.5, 13.0, 12.2, 11.6, 11.3 ms with 4, 8, 16, 32, 64 times the mean over the
  // degree.
  if (on_gpu) return (degree < low_degree ? 16 : 64 / degree) * mean;
  return degree < low_degree ? mean : mean / degree;
}

}  // namespace spillway
