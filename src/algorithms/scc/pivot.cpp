// The giant component: what a hub reaches and what of that reaches the hub (Fleischer, Hendrickson, Pinar, IPDPS
// 2000, workshops). Steps push along the frontier's arcs or sweep over what is unreached (Beamer, Asanovic,
// Patterson, SC 2012); since only reaching counts and no level, a sweep uses what it has just found.
#include <algorithm>
#include <mutex>

#include "algorithms/scc/state.hpp"

namespace spillway::scc {
namespace {

/// Sweeps start when the frontier has more than a fifteenth of the arcs that are left and end when it has less
/// than a twenty-fourth of the vertices: the values that Beamer et al. found.
constexpr std::uint64_t arcs_for_sweep     = 15;
constexpr std::uint64_t vertices_for_sweep = 24;

/// A walk along `rows`, of which `back` are the same arcs transposed. Of the live vertices with the mark
/// `within`, all that can be reached get the mark `reached`.
struct Walk {
  const Csr& rows;
  const Csr& back;
  Marks      within;
  Marks      reached;
};

bool open_to(const State& state, const Walk& walk, Vertex v) {
  const Marks marks = std::atomic_ref{state.marks[v]}.load(std::memory_order_relaxed);
  return (marks & (walk.within | walk.reached | settled)) == walk.within;
}

/// Returns the arcs of the next frontier.
std::uint64_t push(State& state, const Walk& walk, std::uint64_t frontier_arcs) {
  std::atomic<std::uint64_t> next_arcs{0};
  for_each_block(state.queue.window(), state.queue, frontier_arcs, state.threads, state.progress,
                 [&](auto block, auto& next) {
                   std::uint64_t arcs = 0;
                   for (const Vertex v : block) {
                     for (const Vertex w : walk.rows.neighbors(v)) {
                       if (!open_to(state, walk, w) || !state.claim(w, walk.reached)) continue;
                       next.push(w);
                       arcs += walk.rows.degree(w);
                     }
                   }
                   next_arcs.fetch_add(arcs, std::memory_order_relaxed);
                 });
  state.count_arcs(frontier_arcs);
  return next_arcs;
}

/// The same from the other side. What it finds late for others to see is in the next frontier.
std::uint64_t sweep(State& state, const Walk& walk) {
  std::atomic<std::uint64_t> next_arcs{0};
  const auto                 live = state.live.all();
  for_each_block(live, state.queue, live.size(), state.threads, state.progress, [&](auto block, auto& next) {
    std::uint64_t arcs = 0, seen = 0;
    for (const Vertex v : block) {
      if (!open_to(state, walk, v)) continue;
      const auto row = walk.back.neighbors(v);
      const auto hit = std::find_if(row.begin(), row.end(), [&](Vertex w) { return state.has(w, walk.reached); });
      seen += static_cast<std::uint64_t>(hit - row.begin()) + (hit != row.end());
      if (hit == row.end()) continue;
      state.claim(v, walk.reached);
      next.push(v);
      arcs += walk.rows.degree(v);
    }
    next_arcs.fetch_add(arcs, std::memory_order_relaxed);
    state.count_arcs(seen);
  });
  return next_arcs;
}

/// What was reached is in the queue.
void reach(State& state, Vertex pivot, const Walk& walk) {
  VertexQueue& queue = state.queue;
  queue.clear();
  state.claim(pivot, walk.reached);
  VertexQueue::Appender{queue}.push(pivot);
  std::uint64_t arcs = walk.rows.degree(pivot), arcs_left = walk.rows.arc_count();
  bool          sweeping = false;
  for (queue.slide(); !queue.window().empty(); queue.slide()) {
    sweeping = sweeping ? queue.window().size() > state.live.all().size() / vertices_for_sweep
                        : arcs > arcs_left / arcs_for_sweep;
    arcs_left -= std::min(arcs_left, arcs);
    arcs = sweeping ? sweep(state, walk) : push(state, walk, arcs);
    ++state.found.iterations;
  }
}

/// The live vertex with the most ways through it, which is likely to lie in the largest component.
Vertex best_pivot(const State& state) {
  struct Best {
    double ways   = -1;
    Vertex vertex = no_vertex;

    bool operator<(const Best& other) const {
      return ways != other.ways ? ways < other.ways : vertex > other.vertex;
    }
  };
  Best       best;
  std::mutex mutex;
  const auto live = state.live.all();
  for_each_share(state.threads, live.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    Best own;
    for (const Vertex v : live.subspan(begin, end - begin))
      own = std::max(own, Best{static_cast<double>(state.in_left[v]) * state.out_left[v], v});
    const std::scoped_lock lock{mutex};
    best = std::max(best, own);
  });
  return best.vertex;
}

Vertex smallest(const State& state, std::span<const Vertex> list) {
  Vertex     least = no_vertex;
  std::mutex mutex;
  for_each_share(state.threads, list.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    const Vertex           own = *std::min_element(list.begin() + begin, list.begin() + end);
    const std::scoped_lock lock{mutex};
    least = std::min(least, own);
  });
  return least;
}

/// Settles the component of the best pivot and returns its size.
std::uint64_t take_pivot(State& state) {
  const Vertex pivot  = best_pivot(state);
  Marks        member = forward;
  reach(state, pivot, {.rows = state.out, .back = state.in, .within = 0, .reached = forward});
  if (!state.graph.symmetric()) {
    reach(state, pivot, {.rows = state.in, .back = state.out, .within = forward, .reached = backward});
    member |= backward;
  }
  const std::uint64_t taken = state.queue.all().size();
  const Vertex        label = smallest(state, state.queue.all());
  state.for_all(state.live.all(), [&](Vertex v) {
    const bool inside = state.marks[v] == member;
    if (inside) state.found.labels[v] = label;
    state.marks[v] = inside ? settled : 0;
  });
  return taken;
}

}  // namespace

/// One after the other, as long as each is a large part of what is left.
void take_largest(State& state) {
  for (bool large = true; large && state.live.all().size() > state.limits.pivot_vertices;) {
    const std::uint64_t before = state.live.all().size();
    const std::uint64_t taken  = take_pivot(state);
    large                      = taken >= before / 2;
    state.found.by_pivot += taken;
    state.note_settled(taken, 1, taken);
    trim(state);
  }
}

}  // namespace spillway::scc
