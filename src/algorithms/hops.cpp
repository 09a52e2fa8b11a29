#include "algorithms/hops.hpp"

#include <algorithm>
#include <atomic>

#include "algorithms/plain_rows.hpp"
#include "base/fail.hpp"
#include "graph/csr.hpp"
#include "graph/vertex_queue.hpp"

namespace spillway {
namespace {

/// Against the direction of the arcs, up to this many passes over all of them are less than building in-edges.
constexpr std::uint64_t most_passes = 4;

class HopWalk {
 public:
  HopWalk(const Graph& graph, std::uint64_t hops, Along along, int threads, Progress& progress)
      : out_(graph.out()),
        in_(needs_in_edges(graph, hops, along) ? &graph.in() : nullptr),
        along_(graph.symmetric() ? Along::out : along),
        hops_(hops),
        threads_(threads),
        progress_(progress),
        queue_(graph.vertex_count(), graph.budget(), "a list of vertices"),
        found_{.vertices = VertexSet{graph.vertex_count(), graph.budget()}} {}

  HopsFound run(Vertex source) && {
    found_.vertices.insert(source);
    VertexQueue::Appender{queue_}.push(source);
    queue_.slide();
    progress_.begin("hops", 0, ProgressUnit::edges);
    for (std::uint64_t hop = 0; hop < hops_ && !queue_.window().empty(); ++hop) {
      step();
      queue_.slide();
      ++found_.iterations;
    }
    progress_.end();
    found_.vertices.close();
    return std::move(found_);
  }

 private:
  void step() {
    if (along_ != Along::out && !in_) pass();
    if (along_ != Along::in) expand(out_);
    if (along_ != Along::out && in_) expand(*in_);
  }

  void expand(const Csr& rows) {
    const auto    window = queue_.window();
    std::uint64_t work   = 0;
    for (auto v = window.begin(); v != window.end() && work < little_work; ++v) work += 1 + rows.degree(*v);
    std::atomic<std::uint64_t> arcs{0};
    for_each_block(window, queue_, work, threads_, progress_, [&](auto block, auto& next) {
      std::uint64_t own = 0;
      for (const Vertex v : block) {
        for (const Vertex w : rows.neighbors(v))
          if (found_.vertices.insert(w)) next.push(w);
        own += rows.degree(v);
      }
      arcs.fetch_add(own, std::memory_order_relaxed);
    });
    note(arcs);
  }

  /// One hop against the arcs by looking at all of them. What it finds joins afterwards, lest two hops become one.
  void pass() {
    const VertexSet& reached = found_.vertices;
    for_each_row_range(out_, threads_, [&](Vertex first, Vertex last, int) {
      VertexQueue::Appender next{queue_};
      for (Vertex v = first; v < last; ++v) {
        if ((v & 0xFFFF) == 0) check_cancelled(progress_);
        if (reached.contains(v)) continue;
        const auto row = out_.neighbors(v);
        if (std::any_of(row.begin(), row.end(), [&](Vertex w) { return reached.contains(w); })) next.push(v);
      }
    });
    for (const Vertex v : queue_.ahead()) found_.vertices.insert(v);
    note(out_.arc_count());
  }

  void note(std::uint64_t arcs) {
    found_.edges_processed += arcs;
    progress_.advance(arcs);
  }

  const Csr&    out_;
  const Csr*    in_;
  Along         along_;
  std::uint64_t hops_;
  int           threads_;
  Progress&     progress_;
  VertexQueue   queue_;
  HopsFound     found_;
};

}  // namespace

bool needs_in_edges(const Graph& graph, std::uint64_t hops, Along along) {
  return along != Along::out && !graph.symmetric() && (graph.has_in() || hops > most_passes);
}

HopsFound vertices_within(const Graph& graph, Vertex source, std::uint64_t hops, Along along, int threads,
                          Progress& progress) {
  return HopWalk{graph, hops, along, threads, progress}.run(source);
}

std::vector<bool> plainly_within(const Graph& graph, Vertex source, std::uint64_t hops, Along along) {
  const Csr&          out  = graph.out();
  const PlainRows     back = along == Along::out ? PlainRows{} : turned_round(out);
  std::vector<bool>   inside(graph.vertex_count());
  std::vector<Vertex> level{source}, next;
  inside[source]   = true;
  const auto enter = [&](Vertex w) {
    if (!inside[w]) next.push_back(w);
    inside[w] = true;
  };
  for (std::uint64_t hop = 0; hop < hops && !level.empty(); ++hop) {
    for (const Vertex v : level) {
      if (along != Along::in) std::ranges::for_each(out.neighbors(v), enter);
      if (along != Along::out) std::ranges::for_each(back.of(v), enter);
    }
    level.swap(next);
    next.clear();
  }
  return inside;
}

}  // namespace spillway
