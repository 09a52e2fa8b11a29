// From "edge number i is (u, v)" to a graph: what all generators share. Threads take contiguous shares of the
// numbers in order, so that a kind whose edges ascend reaches the collector sorted and skips its sort.
#pragma once

#include <algorithm>
#include <vector>

#include "base/fail.hpp"
#include "generate/weights.hpp"
#include "graph/csr.hpp"
#include "graph/edge_collector.hpp"
#include "graph/edge_list.hpp"

#include <spillway/engine/stopwatch.hpp>
#include <spillway/generate.hpp>

namespace spillway {

/// A graph as a generator sees it: edges numbered from 0, any of which can be had on its own.
struct NumberedEdges {
  std::uint64_t vertices   = 0;
  std::uint64_t numbers    = 0;
  std::uint64_t edges      = 0;      ///< expected: fewer than `numbers` where some stand for no edge
  bool          undirected = false;  ///< every edge stands for both arcs
  bool          one_hub    = false;  ///< all edges leave one vertex
};

struct NumberedEdge {
  Vertex source;
  Vertex target;
};

/// What a number that stands for no edge yields.
inline constexpr NumberedEdge no_edge{no_vertex, no_vertex};

/// Whether the graph can be built within the budget; if its rows have nowhere else to go, it throws where not,
/// before any work is done.
bool fits_memory(const NumberedEdges& shape, const GenerateOptions& options, const BuildContext& context);

/// Refuses a graph of which memory does not even hold the arcs of one bucket, with the offsets of all rows.
void expect_bucket_to_fit(const std::vector<EdgeIndex>& arcs, std::uint64_t bytes_an_arc, std::uint64_t vertices,
                          MemoryBudget& budget);

/// Cuts the buckets into ranges, one for each pass, whose arcs fit memory at once, with room to build the rows of
/// the fullest bucket. `arcs`: of each bucket.
std::vector<BucketRange> ranges_of(const std::vector<EdgeIndex>& arcs, std::uint64_t buckets,
                                   std::uint64_t waiting_bytes, std::uint64_t building_bytes,
                                   const MemoryBudget& budget);

/// The finished graph. Both arcs of an undirected edge weigh the same: the weight belongs to the number.
Graph generated_graph(Csr csr, std::shared_ptr<const EdgeList> edges, const GenerateOptions& options,
                      const BuildContext& context, double read_ms, double build_ms);

/// Adds the edges of numbers [first, last). They are made a few at a time before any is added: between two
/// additions the compiler would have to fetch everything `edge_at` refers to anew (a fifth slower).
template <class Appender, class EdgeAt>
void add_edges(Appender& appender, std::uint64_t first, std::uint64_t last, const WeightDraw& weights,
               EdgeAt&& edge_at) {
  constexpr std::uint64_t few = 64;
  NumberedEdge            edges[few];
  for (; first < last; first += few) {
    const std::uint64_t count = std::min(few, last - first);
    for (std::uint64_t i = 0; i < count; ++i) edges[i] = edge_at(first + i);
    for (std::uint64_t i = 0; i < count; ++i)
      if (edges[i].source != no_vertex) appender.add(edges[i].source, edges[i].target, weights(first + i));
  }
}

/// The generating half: every edge into the collector, with progress and a chance to stop now and then.
template <class Collector, class EdgeAt>
void collect(Collector& collector, std::uint64_t numbers, const WeightDraw& weights, const BuildContext& context,
             EdgeAt&& edge_at) {
  constexpr std::uint64_t step = 1u << 16;
  context.progress->begin("generating", numbers, ProgressUnit::edges);
  for_each_share(context.threads, numbers, [&](std::uint64_t begin, std::uint64_t end, int thread) {
    for (std::uint64_t first = begin; first < end; first += step) {
      check_cancelled(*context.progress);
      const std::uint64_t last = std::min(first + step, end);
      add_edges(collector.appender(thread), first, last, weights, edge_at);
      context.progress->advance(last - first);
    }
  });
  context.progress->end();
}

/// The offsets of a graph whose rows memory does not hold: they are made range by range of their sources, each
/// from all numbers anew, and handed on.
template <class Record, class EdgeAt>
Array<EdgeIndex> build_in_passes(const NumberedEdges& shape, const GenerateOptions& options, BuildContext context,
                                 const WeightDraw& weights, EdgeAt&& edge_at) {
  // An arc, with what is empty of its block; and records, rows and copies to sort.
  constexpr std::uint64_t waiting  = sizeof(Record) + sizeof(Record) / 4,
                          building = 3 * sizeof(Record) + edge_bytes(Record::weighted);
  const std::uint64_t buckets      = (shape.vertices + (1u << bucket_bits) - 1) >> bucket_bits;
  RowSink&            sink         = *options.rows;
  RowSink::Facts facts{.vertices = shape.vertices, .weight_type = options.weight_type, .budget = context.budget};
  std::vector<EdgeIndex> arcs_of;
  {
    context.only = {0, 0};
    ArcCollector<Record> counting{context, options.weight_type};
    collect(counting, shape.numbers, weights, context, edge_at);
    arcs_of              = counting.dropped();
    facts.largest_weight = counting.largest_weight();
  }
  expect_bucket_to_fit(arcs_of, waiting + building, shape.vertices, *context.budget);
  sink.begin(facts);
  Buffer<EdgeIndex> offsets{shape.vertices + 1, context.budget, "the row offsets"};
  for (int pass = sink.wants_degrees() ? 0 : 1; pass < 2; ++pass) {
    EdgeIndex arcs = 0;
    for (const BucketRange& range : ranges_of(arcs_of, buckets, waiting, building, *context.budget)) {
      context.only = range;
      ArcCollector<Record> collector{context, options.weight_type};
      collect(collector, shape.numbers, weights, context, edge_at);
      context.progress->begin("building", range.last - range.first, ProgressUnit::items);
      arcs = collector.hand_over(range, nullptr, offsets, arcs, pass == 1 ? &sink : nullptr);
      context.progress->end();
    }
    offsets[shape.vertices] = arcs;
    if (pass == 0) sink.take_degrees(offsets.span());
  }
  return std::move(offsets).freeze();
}

/// `edge_at(number)` is called once for every number, from many threads; again where memory does not hold the
/// graph.
template <class EdgeAt>
Graph build_graph(const NumberedEdges& shape, const GenerateOptions& options, EdgeAt&& edge_at) {
  BuildContext context{.budget    = std::make_shared<MemoryBudget>(options.host_memory),
                       .transform = options.transform,
                       .threads   = thread_count(options.threads),
                       .progress  = options.progress ? options.progress : &Progress::none()};
  context.transform.undirected |= shape.undirected;
  const WeightDraw weights{options};
  if (options.edges) {
    refuse_changes(context.transform, "the generated graph");
    Stopwatch     clock;
    EdgeCollector collector{context, options.weight_type};
    collect(collector, shape.numbers, weights, context, edge_at);
    const double read_ms = clock.lap();
    auto         edges   = std::move(collector).finish(shape.vertices).edges;
    return generated_graph({}, std::move(edges), options, context, read_ms, clock.milliseconds());
  }
  if (!fits_memory(shape, options, context)) {
    Stopwatch clock;
    Csr       csr;
    csr.offsets = options.weight_type == WeightType::none
                      ? build_in_passes<Arc>(shape, options, context, weights, edge_at)
                      : build_in_passes<WeightedArc>(shape, options, context, weights, edge_at);
    return generated_graph(std::move(csr), nullptr, options, context, clock.milliseconds(), 0);
  }

  Stopwatch        clock;
  double           read_ms = 0;
  Csr              csr     = with_collector(context, options.weight_type, [&](auto& collector) {
    collect(collector, shape.numbers, weights, context, edge_at);
    read_ms = clock.lap();
    return std::move(collector).finish(shape.vertices).csr;
  });
  const Transform& asked   = context.transform;
  if (asked.symmetrize && !asked.dedup && !asked.undirected) csr = symmetrized(csr, options.weight_type, context);
  return generated_graph(std::move(csr), nullptr, options, context, read_ms, clock.milliseconds());
}

/// Edge `number` of the complete graph over n vertices, which has n(n-1)/2: (0,1), (0,2), … (n-2,n-1).
NumberedEdge complete_edge(std::uint64_t n, std::uint64_t number);

}  // namespace spillway
