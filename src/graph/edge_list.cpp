#include "graph/edge_list.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <utility>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/edge_sink.hpp"

#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

constexpr std::uint64_t edges_a_task = 1u << 18;

template <class Body>
void for_each_part(const EdgeRun& edges, int threads, Body&& body) {
  for_each_task(threads, (edges.count + edges_a_task - 1) / edges_a_task, [&](std::uint64_t task, int thread) {
    const std::uint64_t first = task * edges_a_task;
    body(first, std::min(edges.count, first + edges_a_task), thread);
  });
}

[[noreturn]] void refuse_end(const std::string& name, std::uint64_t edge, Vertex v, std::uint64_t vertices) {
  throw bad_input("{}: edge {} has vertex {}, and there are {}", name, edge, v, with_commas(vertices));
}

}  // namespace

EdgeList::EdgeList(Parts parts, bool trusted, std::shared_ptr<EdgeCopy> copy)
    : parts_(std::move(parts)), copy_(std::move(copy)), checked_(trusted) {
  if (words().size() % parts_.stride != 0 || (weighted() && parts_.stride < 3))
    throw internal_error("an edge list ends inside an edge");
}

EdgeRun EdgeList::edges(int threads, EdgeSink* sink) const {
  const EdgeRun          run = unchecked();
  const std::scoped_lock lock{mutex_};
  if (checked_ && sink == nullptr) return run;
  std::atomic<std::uint64_t> loops = 0;
  for_each_part(run, threads, [&](std::uint64_t first, std::uint64_t last, int) {
    if (sink)
      sink->take(first * run.stride, words().span().subspan(first * run.stride, (last - first) * run.stride));
    if (checked_) return;
    std::uint64_t here = 0;
    for (std::uint64_t i = first; i < last; ++i) {
      const Vertex u = run.source(i), v = run.target(i);
      if (std::max(u, v) >= parts_.vertices) [[unlikely]]
        refuse_end(parts_.name, i, std::max(u, v), parts_.vertices);
      here += u == v ? 1 : 0;
      if (weight_type() == WeightType::f32 && !std::isfinite(std::bit_cast<float>(run.weight(i)))) [[unlikely]]
        throw bad_input("{}: the weight of edge {} is not a finite number", parts_.name, i);
    }
    loops += here;
  });
  if (!checked_ && both_ways() && loops != parts_.loops)
    throw bad_input("{}: {} edges are loops where the header says {}; the file is damaged", parts_.name,
                    loops.load(), parts_.loops);
  checked_ = true;
  return run;
}

bool EdgeList::is_copied() const {
  const std::scoped_lock lock{mutex_};
  return copy_ != nullptr;
}

std::shared_ptr<EdgeCopy> EdgeList::take_copy() const {
  const std::scoped_lock lock{mutex_};
  return std::exchange(copy_, nullptr);
}

Array<EdgeIndex> EdgeList::offsets(const EdgeDirections& directions, int threads,
                                   const std::shared_ptr<MemoryBudget>& budget) const {
  Buffer<EdgeIndex> offsets{parts_.vertices + 1, budget, "the degrees of the vertices"};
  const auto    count = [&](Vertex v) { std::atomic_ref{offsets[v + 1]}.fetch_add(1, std::memory_order_relaxed); };
  const EdgeRun run   = edges(threads);
  for_each_part(run, threads, [&](std::uint64_t first, std::uint64_t last, int) {
    for (std::uint64_t i = first; i < last; ++i)
      for_each_arc(run, i, directions, [&](Vertex from, Vertex) { count(from); });
  });
  for (std::uint64_t v = 0; v < parts_.vertices; ++v) offsets[v + 1] += offsets[v];
  return std::move(offsets).freeze();
}

Csr rows_of(const EdgeList& list, const BuildContext& context) {
  const EdgeRun run   = list.edges(context.threads);
  BuildContext  built = context;
  built.transform     = {.undirected = list.both_ways()};
  return with_collector(built, list.weight_type(), [&](auto& collector) {
    for_each_part(run, context.threads, [&](std::uint64_t first, std::uint64_t last, int thread) {
      auto& appender = collector.appender(thread);
      for (std::uint64_t i = first; i < last; ++i) appender.add(run.source(i), run.target(i), run.weight(i));
    });
    return std::move(collector).finish(list.vertex_count()).csr;
  });
}

std::shared_ptr<const EdgeList> transformed(const std::shared_ptr<const EdgeList>& list,
                                            const Transform& transform, int threads,
                                            const std::shared_ptr<MemoryBudget>& budget) {
  if (!transform.drop_loops && (!transform.undirected || list->both_ways())) return list;
  EdgeList::Parts            parts = list->parts();
  const EdgeRun              run   = list->edges(threads);
  const auto                 loop  = [&](std::uint64_t i) { return run.source(i) == run.target(i); };
  std::atomic<std::uint64_t> loops = 0;
  for_each_part(run, threads, [&](std::uint64_t first, std::uint64_t last, int) {
    std::uint64_t here = 0;
    for (std::uint64_t i = first; i < last; ++i) here += loop(i) ? 1 : 0;
    loops += here;
  });
  parts.both_ways = parts.both_ways || transform.undirected;
  parts.loops     = loops;
  if (transform.drop_loops && loops > 0) {
    Buffer<std::uint32_t> kept{(run.count - loops) * run.stride, budget, "the edges"};
    std::uint32_t*        to = kept.data();
    for (std::uint64_t i = 0; i < run.count; ++i)
      if (!loop(i)) to = std::copy_n(run.words + i * run.stride, run.stride, to);
    parts.words = std::move(kept).freeze();
    parts.loops = 0;
  }
  return std::make_shared<EdgeList>(std::move(parts), /*trusted=*/true);
}

Array<std::uint32_t> packed(const EdgeList& list, const std::shared_ptr<MemoryBudget>& budget) {
  const unsigned stride = list.weighted() ? 3 : 2;
  const EdgeRun  run    = list.unchecked();
  if (run.stride == stride) return list.words();
  Buffer<std::uint32_t> words{run.count * stride, budget, "the edges"};
  for (std::uint64_t i = 0; i < run.count; ++i)
    std::copy_n(run.words + i * run.stride, stride, words.data() + i * stride);
  return std::move(words).freeze();
}

std::shared_ptr<const EdgeList> without_weights(const EdgeList& list) {
  EdgeList::Parts parts = list.parts();
  parts.weight_type     = WeightType::none;
  return std::make_shared<EdgeList>(std::move(parts), /*trusted=*/false);
}

/// Of these offsets nobody reads any but the last: the others take no memory.
Array<EdgeIndex> stated_sizes(std::uint64_t vertices, EdgeIndex arcs) {
  Buffer<EdgeIndex> offsets{vertices + 1, nullptr, "the number of arcs"};
  offsets[vertices] = arcs;
  return std::move(offsets).freeze();
}

void refuse_changes(const Transform& transform, const std::string& name) {
  const char* const change = transform.dedup ? "--dedup" : transform.symmetrize ? "--symmetrize" : nullptr;
  if (change)
    throw usage_error(
        "{}: {} needs rows, which --method edges and --layout edges do without; leave one of them out", name,
        change);
}

namespace {

/// What a graph is beside its edges.
Graph with_same_ids(const Graph& graph, Graph::Parts parts, WeightType weight_type) {
  parts.ids         = graph.ids();
  parts.weight_type = weight_type;
  parts.symmetric   = graph.symmetric();
  parts.name        = graph.name();
  parts.report      = graph.report();
  parts.budget      = graph.budget();
  return Graph{std::move(parts)};
}

}  // namespace

Graph graph_of_edges(EdgeList::Parts parts, std::shared_ptr<MemoryBudget> budget) {
  if (parts.name.empty()) parts.name = "edges in memory";
  Graph::Parts graph;
  graph.name        = parts.name;
  graph.weight_type = parts.weight_type;
  graph.symmetric   = parts.both_ways;
  graph.budget      = std::move(budget);
  graph.edges       = std::make_shared<EdgeList>(std::move(parts), /*trusted=*/false);
  return Graph{std::move(graph)};
}

Graph as_edges(const Graph& graph) {
  if (graph.edges()) return graph;
  const Csr&          csr      = graph.out();
  const bool          weighted = graph.weight_type() != WeightType::none;
  const std::uint64_t stride   = weighted ? 3 : 2;
  const bool          both     = graph.symmetric();
  const auto          is_kept  = [&](Vertex u, Vertex v) { return !both || u <= v; };
  std::uint64_t       edges = 0, loops = 0;
  for (Vertex v = 0; v < csr.vertex_count(); ++v)
    for (const Vertex target : csr.neighbors(v)) edges += is_kept(v, target), loops += v == target;
  Buffer<std::uint32_t> words{edges * stride, graph.budget(), "the edges"};
  std::uint32_t*        to = words.data();
  for (Vertex v = 0; v < csr.vertex_count(); ++v)
    for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i) {
      if (!is_kept(v, csr.targets[i])) continue;
      *to++ = v, *to++ = csr.targets[i];
      if (weighted) *to++ = csr.weights[i];
    }
  Graph::Parts parts;
  parts.edges = std::make_shared<EdgeList>(EdgeList::Parts{.words       = std::move(words).freeze(),
                                                           .stride      = static_cast<unsigned>(stride),
                                                           .vertices    = graph.vertex_count(),
                                                           .weight_type = graph.weight_type(),
                                                           .both_ways   = both,
                                                           .loops       = both ? loops : 0,
                                                           .name        = graph.name()},
                                           /*trusted=*/true);
  return with_same_ids(graph, std::move(parts), graph.weight_type());
}

Graph with_words(const Graph& graph, Array<std::uint32_t> triples, WeightType weight_type) {
  EdgeList::Parts list = graph.edges()->parts();
  list.words           = std::move(triples);
  list.stride          = 3;
  list.weight_type     = weight_type;
  Graph::Parts parts;
  parts.edges = std::make_shared<EdgeList>(std::move(list), /*trusted=*/true);
  return with_same_ids(graph, std::move(parts), weight_type);
}

Graph with_rows(const Graph& graph) {
  if (!graph.edges()) return graph;
  Graph::Parts parts;
  parts.out = graph.out();
  return with_same_ids(graph, std::move(parts), graph.weight_type());
}

std::uint64_t find_negative(const EdgeRun& edges, int threads) {
  std::atomic<std::uint64_t> found = edges.count;
  for_each_part(edges, threads, [&](std::uint64_t first, std::uint64_t last, int) {
    if (first >= found.load(std::memory_order_relaxed)) return;
    for (std::uint64_t i = first; i < last; ++i) {
      if (!(std::bit_cast<float>(edges.weight(i)) < 0)) continue;
      std::uint64_t before = found;
      while (i < before && !found.compare_exchange_weak(before, i)) {
      }
      return;
    }
  });
  return found;
}

double mean_weight(const EdgeList& list) {
  constexpr std::uint64_t samples = 4096;
  if (!list.weighted()) return 0;
  const EdgeRun       run    = list.unchecked();
  const std::uint64_t stride = std::max<std::uint64_t>(run.count / samples, 1);
  double              sum    = 0;
  std::uint64_t       count  = 0;
  for (std::uint64_t i = 0; i < run.count; i += stride, ++count)
    sum += list.weight_type() == WeightType::f32 ? static_cast<double>(std::bit_cast<float>(run.weight(i)))
                                                 : static_cast<double>(run.weight(i));
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace spillway
