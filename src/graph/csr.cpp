#include "graph/csr.hpp"

#include <cmath>
#include <limits>

#include <spillway/engine/search.hpp>
#include "base/fail.hpp"
#include "base/refusal.hpp"
#include "graph/build_size.hpp"
#include "graph/vertex_set.hpp"
#include "graph/weight_order.hpp"
#include "store/paged_rows.hpp"

namespace spillway {

Vertex row_at_share(const Csr& csr, std::uint64_t part, std::uint64_t parts) {
  const std::uint64_t n    = csr.vertex_count();
  const std::uint64_t work = n + csr.arc_count();
  const std::uint64_t goal = work / parts * part + work % parts * part / parts;
  if (part == parts) return static_cast<Vertex>(n);
  const auto short_of = [&](std::uint64_t v) { return csr.offsets[v] + v < goal; };
  return static_cast<Vertex>(partition_point(std::uint64_t{0}, n, short_of));
}

namespace {

void check_offsets(const Csr& csr, const std::string& where, int threads) {
  const std::uint64_t n = csr.vertex_count();
  const EdgeIndex     m = csr.arc_count();
  if (csr.offsets[0] != 0) throw bad_input("{}: the first row starts at arc {}, not at 0", where, csr.offsets[0]);
  if (csr.offsets[n] != m)
    throw bad_input("{}: rows end at arc {}, but there are {} arcs", where, csr.offsets[n], m);
  for_each_share(threads, n, [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t v = begin; v < end; ++v)
      if (csr.offsets[v] > csr.offsets[v + 1])
        throw bad_input("{}: the row of vertex {} ends before it starts (arcs {} to {})", where, v, csr.offsets[v],
                        csr.offsets[v + 1]);
  });
}

void check_targets(const Csr& csr, const std::string& where, int threads) {
  const std::uint64_t n = csr.vertex_count();
  for_each_share(threads, csr.arc_count(), [&](std::uint64_t begin, std::uint64_t end, int) {
    Vertex largest = 0;  // a loop without exits, so that it runs at memory speed
    for (std::uint64_t i = begin; i < end; ++i) largest = std::max(largest, csr.targets[i]);
    if (largest < n) return;
    for (std::uint64_t i = begin; i < end; ++i)
      if (csr.targets[i] >= n)
        throw bad_input("{}: arc {} leads to vertex {}, but there are only {} vertices", where, i, csr.targets[i],
                        n);
  });
}

/// By target, and by weight where targets are the same.
bool row_sorted(const Csr& csr, WeightType weight_type, EdgeIndex begin, EdgeIndex end) {
  bool sorted = true, repeated = false;
  for (EdgeIndex i = begin + 1; i < end; ++i) {
    sorted &= csr.targets[i - 1] <= csr.targets[i];
    repeated |= csr.targets[i - 1] == csr.targets[i];
  }
  if (!sorted || !repeated || csr.weights.empty()) return sorted;
  for (EdgeIndex i = begin + 1; i < end; ++i)
    if (csr.targets[i - 1] == csr.targets[i] &&
        weight_rank(weight_type, csr.weights[i - 1]) > weight_rank(weight_type, csr.weights[i]))
      return false;
  return true;
}

/// The first row that is not sorted, or n.
std::uint64_t first_unsorted_row(const Csr& csr, WeightType weight_type, int threads) {
  std::atomic<std::uint64_t> found{csr.vertex_count()};
  for_each_row_range(csr, threads, [&](Vertex first, Vertex last, int) {
    for (std::uint64_t v = first; v < last; ++v) {
      if (row_sorted(csr, weight_type, csr.offsets[v], csr.offsets[v + 1])) continue;
      std::uint64_t earlier = found.load();
      while (v < earlier && !found.compare_exchange_weak(earlier, v)) {
      }
      return;
    }
  });
  return found;
}

/// Loops count as twice where both arcs are added: they are few. Counting the largest bucket is a pass over all
/// arcs; without it, it is as large as it can be.
BuildSize rebuilding_size(const Csr& csr, WeightType weight_type, const BuildContext& context, bool transposing,
                          bool counted) {
  const bool both_ways = context.transform.undirected || (context.transform.symmetrize && context.transform.dedup);
  EdgeIndex  fullest   = csr.arc_count() * (both_ways ? 2 : 1);
  if (counted)
    fullest = largest_bucket(csr, transposing, context.threads) +
              (both_ways ? largest_bucket(csr, !transposing, context.threads) : 0);
  return {.vertices       = csr.vertex_count(),
          .arcs           = csr.arc_count() * (both_ways ? 2 : 1),
          .weighted       = weight_type != WeightType::none,
          .threads        = context.threads,
          .largest_bucket = fullest};
}

/// Streams all arcs through a collector: transposed, or as they stand.
Csr collected_within(const Csr& csr, WeightType weight_type, const BuildContext& context, bool transposing) {
  return with_collector(context, weight_type, [&](auto& collector) {
    for_each_row_range(csr, context.threads, [&](Vertex first, Vertex last, int thread) {
      auto& appender = collector.appender(thread);
      for (Vertex v = first; v < last; ++v) {
        for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i) {
          const Vertex        target = csr.targets[i];
          const std::uint32_t weight = csr.weights.empty() ? 0 : csr.weights[i];
          transposing ? appender.add(target, v, weight) : appender.add(v, target, weight);
        }
        if ((v & 0xFFFF) == 0) check_cancelled(*context.progress);
      }
    });
    return std::move(collector).finish(csr.vertex_count()).csr;
  });
}

/// The same, refused at once where the budget cannot hold it.
Csr collected(const Csr& csr, WeightType weight_type, const BuildContext& context, bool transposing) {
  const auto peak_of = [&](bool counted) {
    return building_peak(rebuilding_size(csr, weight_type, context, transposing, counted));
  };
  if (context.budget->has_room(peak_of(false))) return collected_within(csr, weight_type, context, transposing);
  const std::uint64_t peak = peak_of(true);
  return within_forecast(*context.budget, peak, transposing ? "the in-edges" : "the rows of the graph",
                         [&] { return collected_within(csr, weight_type, context, transposing); });
}

}  // namespace

bool rows_sorted(const Csr& csr, WeightType weight_type, int threads) {
  return first_unsorted_row(csr, weight_type, threads) == csr.vertex_count();
}

bool rows_simple(const Csr& csr, int threads) {
  std::atomic<bool> simple{true};
  for_each_row_range(csr, threads, [&](Vertex first, Vertex last, int) {
    for (Vertex v = first; v < last; ++v) {
      Vertex previous = no_vertex;
      for (const Vertex target : csr.neighbors(v)) {
        if (target == v || target == previous) return simple.store(false, std::memory_order_relaxed);
        previous = target;
      }
    }
  });
  return simple;
}

void check_weights(std::span<const std::uint32_t> weights, const std::string& where, int threads) {
  for_each_share(threads, weights.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t i = begin; i < end; ++i)
      if (!std::isfinite(std::bit_cast<float>(weights[i])))
        throw bad_input("{}: the weight of arc {} is not a finite number", where, i);
  });
}

void check_indices(const Csr& csr, WeightType weight_type, const std::string& where, int threads) {
  check_offsets(csr, where, threads);
  check_targets(csr, where, threads);
  if (weight_type == WeightType::f32) check_weights(csr.weights.span(), where, threads);
}

void check_rows(const Csr& csr, WeightType weight_type, const std::string& where, int threads) {
  check_indices(csr, weight_type, where, threads);
  if (const std::uint64_t row = first_unsorted_row(csr, weight_type, threads); row < csr.vertex_count())
    throw bad_input("{}: the neighbours of vertex {} are not in ascending order", where, row);
}

Csr transposed(const Csr& csr, WeightType weight_type, const BuildContext& context) {
  BuildContext plain = context;
  plain.transform    = {};
  return collected(csr, weight_type, plain, /*transposing=*/true);
}

Csr rebuilt(const Csr& csr, WeightType weight_type, const BuildContext& context) {
  Csr rows = collected(csr, weight_type, context, /*transposing=*/false);
  if (context.transform.symmetrize && !context.transform.dedup) return symmetrized(rows, weight_type, context);
  return rows;
}

Csr symmetrized(const Csr& csr, WeightType weight_type, const BuildContext& context) {
  const Csr  back     = transposed(csr, weight_type, context);
  const bool weighted = !csr.weights.empty();
  const auto key      = [&](const Csr& side, EdgeIndex i) {
    return std::uint64_t{side.targets[i]} << 32 | (weighted ? weight_rank(weight_type, side.weights[i]) : 0);
  };
  // Both rows ascend, so one merge yields the union; equal arcs pair off and count once.
  const auto merge = [&](Vertex v, auto&& emit) {
    EdgeIndex       i = csr.offsets[v], j = back.offsets[v];
    const EdgeIndex i_end = csr.offsets[v + 1], j_end = back.offsets[v + 1];
    while (i < i_end || j < j_end) {
      const bool take_i = i < i_end && (j == j_end || key(csr, i) <= key(back, j));
      const bool take_j = j < j_end && (i == i_end || key(back, j) <= key(csr, i));
      take_i ? emit(csr, i) : emit(back, j);
      i += take_i, j += take_j;
    }
  };

  const std::uint64_t n = csr.vertex_count();
  Buffer<EdgeIndex>   offsets{n + 1, context.budget, "the row offsets"};
  for_each_row_range(csr, context.threads, [&](Vertex first, Vertex last, int) {
    for (Vertex v = first; v < last; ++v) merge(v, [&](const Csr&, EdgeIndex) { ++offsets[v + 1]; });
  });
  for (std::uint64_t v = 0; v < n; ++v) offsets[v + 1] += offsets[v];

  Buffer<Vertex>        targets{offsets[n], context.budget, "the arcs"};
  Buffer<std::uint32_t> weights{weighted ? offsets[n] : 0, context.budget, "the weights"};
  for_each_row_range(csr, context.threads, [&](Vertex first, Vertex last, int) {
    for (Vertex v = first; v < last; ++v) {
      EdgeIndex place = offsets[v];
      merge(v, [&](const Csr& side, EdgeIndex i) {
        targets[place] = side.targets[i];
        if (weighted) weights[place] = side.weights[i];
        ++place;
      });
    }
  });
  return {std::move(offsets).freeze(), std::move(targets).freeze(), std::move(weights).freeze()};
}

namespace {

void merge_into(GraphStatistics& total, const GraphStatistics& part) {
  total.loops += part.loops;
  total.duplicates += part.duplicates;
  total.sinks += part.sinks;
  total.negative_weights += part.negative_weights;
  for (std::size_t k = 0; k < total.degree_bins.size(); ++k) total.degree_bins[k] += part.degree_bins[k];
  const bool lower_id = part.max_degree == total.max_degree && part.max_degree_vertex < total.max_degree_vertex;
  if (part.max_degree > total.max_degree || lower_id) {
    total.max_degree        = part.max_degree;
    total.max_degree_vertex = part.max_degree_vertex;
  }
  total.min_weight = std::min(total.min_weight, part.min_weight);
  total.max_weight = std::max(total.max_weight, part.max_weight);
}

void count_degree(Vertex v, EdgeIndex degree, GraphStatistics& counts) {
  ++counts.degree_bins[static_cast<std::size_t>(std::bit_width(degree))];
  counts.sinks += degree == 0;
  if (degree > counts.max_degree) counts.max_degree = degree, counts.max_degree_vertex = v;
}

void count_row(Vertex v, std::span<const Vertex> row, VertexSet* reached, GraphStatistics& counts) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    counts.loops += row[i] == v;
    counts.duplicates += i > 0 && row[i] == row[i - 1];
    if (reached) reached->insert(row[i]);
  }
}

void count_weights(std::span<const std::uint32_t> weights, WeightType type, GraphStatistics& counts) {
  for (const std::uint32_t bits : weights) {
    // Each as a double: of a float and a whole number the conditional would make a float.
    const double weight = type == WeightType::f32 ? double{std::bit_cast<float>(bits)} : static_cast<double>(bits);
    counts.min_weight   = std::min(counts.min_weight, weight);
    counts.max_weight   = std::max(counts.max_weight, weight);
    counts.negative_weights += weight < 0;
  }
}

}  // namespace

namespace {

GraphStatistics nothing_counted() {
  GraphStatistics blank;
  blank.min_weight = std::numeric_limits<double>::infinity();
  blank.max_weight = -std::numeric_limits<double>::infinity();
  return blank;
}

/// Page by page; where a row goes on in the next, the targets on both sides of the cut are compared afterwards.
GraphStatistics statistics_of_pages(const Graph& graph, int threads, Progress& progress) {
  const store::PagedRows&    pages   = *graph.pages();
  const auto&                offsets = pages.offsets();
  GraphStatistics            total   = nothing_counted();
  std::mutex                 mutex;
  std::unique_ptr<VertexSet> reached;
  if (!graph.symmetric()) reached = std::make_unique<VertexSet>(graph.vertex_count(), graph.budget());
  std::vector<std::pair<Vertex, Vertex>> ends(pages.table().size());
  for (Vertex v = 0; v < graph.vertex_count(); ++v) count_degree(v, offsets[v + 1] - offsets[v], total);
  store::for_each_page(
      pages, {threads, "counting", progress, graph.budget()}, [&](std::uint64_t i, const PageRows& page) {
        GraphStatistics counts = nothing_counted();
        if (page.in_part) ends[i] = {page.rows.targets[page.edges.first], page.rows.targets[page.edges.last - 1]};
        for (Vertex v = page.first; v < page.last; ++v) {
          const EdgeRange row = page.row(v);
          if (row.first >= row.last) continue;
          count_row(v, {page.rows.targets + row.first, row.last - row.first}, reached.get(), counts);
          if (page.rows.weights && graph.weight_type() != WeightType::none)
            count_weights({page.rows.weights + row.first, row.last - row.first}, graph.weight_type(), counts);
        }
        const std::scoped_lock lock{mutex};
        merge_into(total, counts);
      });
  const auto entries = pages.table().entries();
  for (std::size_t i = 1; i < entries.size(); ++i)
    if (entries[i - 1].large && entries[i].large && entries[i - 1].first_vertex == entries[i].first_vertex)
      total.duplicates += ends[i - 1].second == ends[i].first;
  total.isolated = total.sinks;
  if (reached) reached->for_each([&](Vertex v) { total.isolated -= offsets[v + 1] == offsets[v]; });
  if (graph.weight_type() == WeightType::none || graph.arc_count() == 0) total.min_weight = total.max_weight = 0;
  return total;
}

}  // namespace

GraphStatistics statistics(const Graph& graph, int threads, Progress& progress) {
  if (graph.pages()) return statistics_of_pages(graph, threads, progress);
  const Csr&            csr   = graph.out();
  const GraphStatistics blank = nothing_counted();
  // With symmetric arcs a vertex without out-edges has no in-edges either; otherwise targets are marked.
  std::unique_ptr<VertexSet> reached;
  if (!graph.symmetric()) reached = std::make_unique<VertexSet>(csr.vertex_count(), graph.budget());

  GraphStatistics total = blank;
  std::mutex      mutex;
  progress.begin("counting", csr.arc_count(), ProgressUnit::edges);
  for_each_row_range(csr, threads, [&](Vertex first, Vertex last, int) {
    GraphStatistics counts = blank;
    for (Vertex v = first; v < last; ++v) {
      count_degree(v, csr.degree(v), counts);
      count_row(v, csr.neighbors(v), reached.get(), counts);
      if ((v & 0xFFFF) == 0) check_cancelled(progress);
    }
    if (!csr.weights.empty())
      count_weights(csr.weights.span().subspan(csr.offsets[first], csr.offsets[last] - csr.offsets[first]),
                    graph.weight_type(), counts);
    progress.advance(csr.offsets[last] - csr.offsets[first]);
    const std::scoped_lock lock{mutex};
    merge_into(total, counts);
  });
  progress.end();

  total.isolated = total.sinks;
  if (reached) reached->for_each([&](Vertex v) { total.isolated -= csr.degree(v) == 0; });
  if (csr.weights.empty()) total.min_weight = total.max_weight = 0;
  return total;
}

namespace {

/// weight(i): raw bits.
template <class Weight>
WeightRange weight_range(std::uint64_t count, WeightType type, int threads, Weight&& weight) {
  std::mutex            mutex;
  constexpr WeightRange none{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  WeightRange           total = none;
  if (count == 0) return {};
  for_each_share(threads, count, [&](std::uint64_t begin, std::uint64_t end, int) {
    WeightRange own = none;
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint32_t bits = weight(i);
      const double        value =
          type == WeightType::f32 ? double{std::bit_cast<float>(bits)} : static_cast<double>(bits);
      own.least = std::min(own.least, value);
      own.most  = std::max(own.most, value);
    }
    const std::scoped_lock lock{mutex};
    total.least = std::min(total.least, own.least);
    total.most  = std::max(total.most, own.most);
  });
  return total;
}

}  // namespace

WeightRange weight_range(const Csr& csr, WeightType type, int threads) {
  return weight_range(csr.weights.size(), type, threads, [&](std::uint64_t i) { return csr.weights[i]; });
}

WeightRange weight_range(const EdgeList& list, int threads) {
  if (!list.weighted()) return {};
  const EdgeRun edges = list.edges(threads);
  return weight_range(edges.count, list.weight_type(), threads, [&](std::uint64_t i) { return edges.weight(i); });
}

}  // namespace spillway
