// Many components at once: every vertex passes the smallest number that reaches it on to its neighbours. A vertex
// that keeps its own is the smallest of its component, whose others are those of its colour that lead back to it
// (Orzan, thesis, Amsterdam 2004).
#include <algorithm>
#include <utility>

#include "algorithms/scc/state.hpp"

namespace spillway::scc {
namespace {

// Who takes a vertex from the queue clears its mark and then reads its colour; who lowers the colour then looks at
// the mark. One of the two must see what the other wrote, or a colour is never passed on: all four are in the one
// order of sequential consistency. (On x86 that costs nothing here.)

bool lower(Vertex& colour, Vertex to) {
  const std::atomic_ref shared{colour};
  Vertex                now = shared.load(std::memory_order_relaxed);
  while (to < now)
    if (shared.compare_exchange_weak(now, to, std::memory_order_seq_cst, std::memory_order_relaxed)) return true;
  return false;
}

/// True for the one thread that is to queue it.
bool claim_place(State& state, Vertex v) {
  const std::atomic_ref marks{state.marks[v]};
  if (marks.load(std::memory_order_seq_cst) & queued) return false;
  return !(marks.fetch_or(queued, std::memory_order_seq_cst) & queued);
}

void pass_on(State& state, Vertex v, VertexQueue::Appender& next) {
  std::atomic_ref{state.marks[v]}.fetch_and(static_cast<Marks>(~queued), std::memory_order_seq_cst);
  const Vertex colour = std::atomic_ref{state.found.labels[v]}.load(std::memory_order_seq_cst);
  for (const Vertex w : state.out.neighbors(v))
    if (!state.has(w, settled) && lower(state.found.labels[w], colour) && claim_place(state, w)) next.push(w);
}

/// Colours all live vertices. False, and nothing said, if that took more than `arcs_allowed`, which goes down.
bool colour(State& state, VertexQueue& current, std::uint64_t& arcs_allowed) {
  current.clear();
  for_each_block(state.live.all(), current, state.live.all().size(), state.threads, state.progress,
                 [&](auto block, auto& all) {
                   for (const Vertex v : block) {
                     state.found.labels[v] = v;
                     state.marks[v]        = queued;
                     all.push(v);
                   }
                 });
  while (!current.all().empty()) {
    std::atomic<std::uint64_t> seen{0};
    state.queue.clear();
    for_each_block(current.all(), state.queue, current.all().size(), state.threads, state.progress,
                   [&](auto block, auto& next) {
                     std::uint64_t arcs = 0;
                     for (const Vertex v : block) {
                       pass_on(state, v, next);
                       arcs += state.out.degree(v);
                     }
                     seen.fetch_add(arcs, std::memory_order_relaxed);
                   });
    std::swap(current, state.queue);
    ++state.found.iterations;
    state.count_arcs(seen);
    if (seen > arcs_allowed) {
      state.for_all(state.live.all(), [&](Vertex v) { state.marks[v] = 0; });
      return false;
    }
    arcs_allowed -= seen;
  }
  return true;
}

/// Settles, backwards from the vertices that kept their own number, those that have the same colour. Members are
/// counted in `in_left`, which trimming fills anew.
void take_back(State& state) {
  VertexQueue& queue = state.queue;
  const auto&  label = state.found.labels;
  queue.clear();
  for_each_block(state.live.all(), queue, state.live.all().size(), state.threads, state.progress,
                 [&](auto block, auto& roots) {
                   for (const Vertex v : block) {
                     if (label[v] != v) continue;
                     state.marks[v]   = settled;
                     state.in_left[v] = 1;
                     roots.push(v);
                   }
                 });
  queue.slide();
  const std::uint64_t roots = queue.window().size();
  for (; !queue.window().empty(); queue.slide()) {
    const auto window = queue.window();
    for_each_block(window, queue, window.size(), state.threads, state.progress, [&](auto block, auto& next) {
      std::uint64_t arcs = 0;
      for (const Vertex v : block) {
        std::uint32_t members = 0;
        for (const Vertex w : state.in.neighbors(v)) {
          if (state.has(w, settled) || label[w] != label[v] || !state.claim(w, settled)) continue;
          next.push(w);
          ++members;
        }
        if (members > 0) std::atomic_ref{state.in_left[label[v]]}.fetch_add(members, std::memory_order_relaxed);
        arcs += state.in.degree(v);
      }
      state.count_arcs(arcs);
    });
    ++state.found.iterations;
  }
  std::uint32_t largest = 0;
  for (const Vertex v : queue.all().first(roots)) largest = std::max(largest, state.in_left[v]);
  const std::uint64_t taken = queue.all().size();
  state.found.by_colour += taken;
  state.note_settled(taken, roots, largest);
}

std::uint64_t live_arcs(const State& state) {
  std::atomic<std::uint64_t> arcs{0};
  const auto                 live = state.live.all();
  for_each_share(state.threads, live.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    std::uint64_t own = 0;
    for (const Vertex v : live.subspan(begin, end - begin)) own += state.out.degree(v);
    arcs += own;
  });
  return arcs;
}

}  // namespace

void take_colours(State& state) {
  const std::uint64_t vertices = state.live.all().size();
  if (vertices <= state.limits.serial_vertices || state.threads < state.limits.colouring_threads) return;
  std::uint64_t allowed = live_arcs(state) * state.limits.colouring_work;
  VertexQueue   current{vertices, state.graph.budget(), "a list of vertices"};
  while (state.live.all().size() > state.limits.serial_vertices && colour(state, current, allowed)) {
    take_back(state);
    trim(state);
  }
}

}  // namespace spillway::scc
