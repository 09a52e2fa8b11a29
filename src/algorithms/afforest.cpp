// Components by sampling: Sutton, Ben-Nun & Barak, "Optimizing Parallel Graph Connectivity Computation via
// Subgraph Sampling", IPDPS 2018. Two arcs of every vertex join most of the graph into one tree; only what lies
// outside that tree then looks at all its arcs. Steps that a branch predictor would guess at are written without
// branches.
#include <algorithm>
#include <array>
#include <atomic>

#include <spillway/edge_list.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/search.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "algorithms/cc.hpp"
#include "base/fail.hpp"

namespace spillway {
namespace {

constexpr std::uint64_t vertices_a_task = 1u << 14;
constexpr std::uint64_t edges_a_task    = 1u << 16;
constexpr std::uint64_t batch           = 256;
constexpr std::uint64_t ahead           = 64;  // prefetch distance; 16 is too short for DRAM, 256 no better
constexpr std::uint64_t vertex_passes   = 6;

/// Every parent is smaller than its child, so there are no cycles and a root is the smallest vertex of its tree.
/// Any thread may read an old parent: it is an ancestor still.
class Forest {
 public:
  explicit Forest(const Buffer<Vertex>& parents) : parents_(parents.data()) {}

  Vertex parent(Vertex v) const { return std::atomic_ref{parents_[v]}.load(std::memory_order_relaxed); }
  Vertex grandparent(Vertex v) const { return parent(parent(v)); }
  void   set(Vertex v, Vertex p) const { std::atomic_ref{parents_[v]}.store(p, std::memory_order_relaxed); }
  void   fetch_soon(Vertex v) const { __builtin_prefetch(parents_ + v); }

  /// Joins the trees of `a` and `b`: climbs from the larger until it is a root, which then hangs under the
  /// smaller.
  void unite(Vertex a, Vertex b) const {
    while (a != b) {
      if (a < b) std::swap(a, b);
      Vertex above = parent(a);
      if (above == a) {
        if (std::atomic_ref{parents_[a]}.compare_exchange_strong(above, b, std::memory_order_relaxed)) return;
      } else if (const Vertex two_above = parent(above); two_above != above) {
        set(a, two_above);
      }
      a = above;
    }
  }

  /// Hangs `v` right under its root. Called in ascending order, it finds most parents already there.
  void flatten(Vertex v) const {
    Vertex root = grandparent(v);
    for (Vertex above = parent(root); above != root; above = parent(root)) root = above;
    set(v, root);
  }

  /// The same where hardly any vertex is not right under its root.
  void compress(Vertex v) const {
    if (grandparent(v) != parent(v)) flatten(v);
  }

 private:
  Vertex* parents_;
};

/// Pairs whose trees may differ. Looking for them first and uniting them later keeps the search free of branches.
class Candidates {
 public:
  explicit Candidates(const Forest& forest) : forest_(forest) {}

  void add(Vertex a, Vertex b) {
    pairs_[count_] = {a, b};
    count_ += a != b;
  }
  bool full() const { return count_ == batch; }

  void unite() {
    for (std::uint64_t i = 0; i < count_; ++i) forest_.unite(pairs_[i].first, pairs_[i].second);
    count_ = 0;
  }

 private:
  const Forest&                                    forest_;
  std::array<std::pair<Vertex, Vertex>, batch + 1> pairs_;
  std::uint64_t                                    count_ = 0;
};

class Afforest {
 public:
  Afforest(const Graph& graph, int threads, Progress& progress)
      : threads_(threads),
        progress_(progress),
        parents_(graph.vertex_count(), graph.budget(), "the components"),
        forest_(parents_) {}

  /// Hangs every vertex under its smallest neighbour if that is smaller: each writes its own entry, so that the
  /// costly atomic hooks of the paper's first round are not needed. Its other arc for the sample goes to `second`.
  void hook(const Csr& out, const Buffer<Vertex>& second) {
    const EdgeIndex* offsets = out.offsets.data();
    const Vertex*    targets = out.targets.data();
    const EdgeIndex  last    = out.arc_count() - 1;
    for_vertices([&](Vertex begin, Vertex end) {
      std::uint64_t looked_at = 0;
      for (Vertex v = begin; v < end; ++v) {
        __builtin_prefetch(targets + offsets[std::min<std::uint64_t>(v + ahead, end)]);
        const EdgeIndex row = offsets[v], degree = offsets[v + 1] - row;
        const Vertex    one = targets[std::min(row, last)], two = targets[std::min(row + 1, last)];
        const Vertex    first = degree > 0 ? one : v;
        const Vertex    next  = degree > 1 ? two : first;
        parents_[v]           = std::min(first, v);
        second[v]             = first > v ? first : next;
        looked_at += std::min<EdgeIndex>(degree, 2);
      }
      count(looked_at);
    });
  }

  void link_sample(const Buffer<Vertex>& second) {
    for_vertices([&](Vertex begin, Vertex end) {
      Candidates candidates{forest_};
      for (Vertex v = begin; v < end;) {
        for (const Vertex stop = std::min<std::uint64_t>(v + batch, end); v < stop; ++v) {
          forest_.fetch_soon(second[std::min<std::uint64_t>(v + ahead, end - 1)]);
          candidates.add(forest_.grandparent(v), forest_.grandparent(second[v]));
        }
        candidates.unite();
      }
    });
  }

  void flatten() {
    for_vertices([&](Vertex begin, Vertex end) {
      for (Vertex v = begin; v < end; ++v) forest_.flatten(v);
    });
  }

  void compress() {
    for_vertices([&](Vertex begin, Vertex end) {
      for (Vertex v = begin; v < end; ++v) forest_.compress(v);
    });
  }

  void separate() {
    for_vertices([&](Vertex begin, Vertex end) {
      for (Vertex v = begin; v < end; ++v) parents_[v] = v;
    });
  }

  /// Unites the ends of every arc in `csr` whose row is not of a vertex right under `skipped`. Arcs and vertices
  /// are dealt out in equal stretches, so that a hub is many tasks.
  void link_rows(const Csr& csr, Vertex skipped) {
    constexpr std::uint64_t stretch = 1u << 16;
    const std::uint64_t     work    = csr.vertex_count() + csr.arc_count();
    for_each_task(threads_, (work + stretch - 1) / stretch, [&](std::uint64_t task, int) {
      check_cancelled(progress_);
      const std::uint64_t from = task * stretch, to = std::min(work, from + stretch);
      link_stretch(csr, skipped, place_at(csr, from), place_at(csr, to));
      progress_.advance(to - from);
    });
  }

  /// Unites the ends of these edges.
  void link_edges(const EdgeRun& edges) {
    for_each_task(threads_, (edges.count + edges_a_task - 1) / edges_a_task, [&](std::uint64_t task, int) {
      check_cancelled(progress_);
      const std::uint64_t begin = task * edges_a_task, end = std::min(edges.count, begin + edges_a_task);
      Candidates          candidates{forest_};
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint64_t soon = std::min(i + ahead, edges.count - 1);
        forest_.fetch_soon(edges.source(soon)), forest_.fetch_soon(edges.target(soon));
        candidates.add(forest_.parent(edges.source(i)), forest_.parent(edges.target(i)));
        if (candidates.full()) candidates.unite();
      }
      candidates.unite();
      count(end - begin);
      progress_.advance(end - begin);
    });
  }

  Vertex likely_giant() const { return frequent_label(parents_.span()); }

  std::uint64_t  arcs_looked_at() const { return arcs_looked_at_; }
  Buffer<Vertex> take_labels() && { return std::move(parents_); }

 private:
  struct Place {
    Vertex    row;
    EdgeIndex arc;
  };

  template <class Body>
  void for_vertices(Body&& body) {
    const std::uint64_t n = parents_.size();
    for_each_task(threads_, (n + vertices_a_task - 1) / vertices_a_task, [&](std::uint64_t task, int) {
      check_cancelled(progress_);
      const std::uint64_t begin = task * vertices_a_task, end = std::min(n, begin + vertices_a_task);
      body(static_cast<Vertex>(begin), static_cast<Vertex>(end));
      progress_.advance(end - begin);
    });
  }

  void count(std::uint64_t arcs) { arcs_looked_at_.fetch_add(arcs, std::memory_order_relaxed); }

  /// Where unit `work` lies when the rows, each its arcs and one more unit, are laid end to end.
  static Place place_at(const Csr& csr, std::uint64_t work) {
    const std::uint64_t row = partition_point(std::uint64_t{0}, csr.vertex_count(),
                                              [&](std::uint64_t v) { return csr.offsets[v + 1] + v + 1 <= work; });
    return {static_cast<Vertex>(row), work - row};
  }

  void link_stretch(const Csr& csr, Vertex skipped, Place from, Place to) {
    const std::uint64_t       end = std::min<std::uint64_t>(to.row + std::uint64_t{1}, csr.vertex_count());
    std::array<Vertex, batch> chosen;
    Candidates                candidates{forest_};
    std::uint64_t             looked_at = 0;
    for (std::uint64_t v = from.row; v < end;) {
      std::uint64_t count = 0;
      for (const std::uint64_t stop = std::min(v + batch, end); v < stop; ++v) {
        chosen[count] = static_cast<Vertex>(v);
        count += static_cast<std::uint64_t>(forest_.parent(static_cast<Vertex>(v)) != skipped) &
                 static_cast<std::uint64_t>(csr.offsets[v] != csr.offsets[v + 1]);
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        const Vertex    u     = chosen[i];
        const EdgeIndex begin = std::max(csr.offsets[u], u == from.row ? from.arc : 0);
        const EdgeIndex past  = u == to.row ? std::min(csr.offsets[u + 1], to.arc) : csr.offsets[u + 1];
        link_arcs(csr, u, begin, past, candidates);
        looked_at += past - std::min(begin, past);
      }
    }
    candidates.unite();
    this->count(looked_at);
  }

  /// Right after flattening, one step up tells most trees apart.
  void link_arcs(const Csr& csr, Vertex u, EdgeIndex begin, EdgeIndex end, Candidates& candidates) const {
    const EdgeIndex last = csr.arc_count() - 1;
    Vertex          mine = forest_.parent(u);
    for (EdgeIndex i = begin; i < end; ++i) {
      forest_.fetch_soon(csr.targets[std::min(i + ahead, last)]);
      candidates.add(mine, forest_.parent(csr.targets[i]));
      if (!candidates.full()) continue;
      candidates.unite();
      mine = forest_.parent(u);
    }
  }

  int                        threads_;
  Progress&                  progress_;
  Buffer<Vertex>             parents_;
  Forest                     forest_;
  std::atomic<std::uint64_t> arcs_looked_at_{0};
};

/// In-edges matter to a directed graph only where rows are skipped: an arc into a skipped row is then seen from
/// its other end alone. Without them nothing is skipped, since building them costs more than all the arcs do.
void join(Afforest& afforest, const Graph& graph, const Csr* in) {
  {
    const Buffer<Vertex> second{graph.vertex_count(), graph.budget(), "the components"};
    afforest.hook(graph.out(), second);
    afforest.flatten();
    afforest.link_sample(second);
  }
  afforest.flatten();
  const bool   may_skip = graph.symmetric() || in;
  const Vertex skipped  = may_skip ? afforest.likely_giant() : no_vertex;
  afforest.link_rows(graph.out(), skipped);
  if (in) afforest.link_rows(*in, skipped);
  afforest.compress();
}

/// In a list the sample is as many edges as there are vertices, from its beginning: after these most trees are
/// flat, and one step up tells them apart.
void join(Afforest& afforest, const EdgeRun& edges, std::uint64_t vertices) {
  const std::uint64_t sample = std::min(edges.count, vertices);
  afforest.separate();
  afforest.link_edges(edges.part(0, sample));
  afforest.flatten();
  afforest.link_edges(edges.part(sample, edges.count));
  afforest.flatten();
}

/// Without rows.
Components components_of_list(const Graph& graph, const RunOptions& options) {
  Progress&     progress = options.progress ? *options.progress : Progress::none();
  const int     threads  = thread_count(options.threads);
  Stopwatch     clock;
  Components    result;
  const EdgeRun edges          = graph.edges()->edges(threads);
  result.statistics.prepare_ms = clock.lap();
  progress.begin("components", vertex_passes / 2 * graph.vertex_count() + edges.count, ProgressUnit::items);
  Afforest afforest{graph, threads, progress};
  join(afforest, edges, graph.vertex_count());
  progress.end();
  result.statistics.method          = options.method->name;
  result.statistics.edges_on_host   = edges.bytes();
  result.statistics.iterations      = 1;
  result.statistics.edges_processed = afforest.arcs_looked_at();
  result.labels                     = std::move(afforest).take_labels();
  result.statistics.run_ms          = clock.milliseconds();
  return result;
}

}  // namespace

Components components_by_afforest(const Graph& graph, const RunOptions& options) {
  if (options.method->of_edge_lists) return components_of_list(graph, options);
  Progress&  progress = options.progress ? *options.progress : Progress::none();
  Stopwatch  clock;
  Components result;
  const Csr& out               = graph.out();
  const Csr* in                = !graph.symmetric() && graph.has_in() ? &graph.in() : nullptr;
  result.statistics.prepare_ms = clock.lap();

  progress.begin("components",
                 vertex_passes * graph.vertex_count() + (out.arc_count() + (in ? in->arc_count() : 0)),
                 ProgressUnit::items);
  Afforest afforest{graph, thread_count(options.threads), progress};
  if (out.arc_count() == 0) {
    afforest.separate();
  } else {
    join(afforest, graph, in);
  }
  progress.end();
  result.statistics.iterations      = 1;
  result.statistics.edges_processed = afforest.arcs_looked_at();
  result.labels                     = std::move(afforest).take_labels();
  result.statistics.run_ms          = clock.milliseconds();
  return result;
}

}  // namespace spillway
