// Trimming: a vertex that nothing leads to, or that leads nowhere, is a component of its own; taking it away may
// free its neighbours (McLendon et al., JPDC 2005). Counting neighbours down makes chains of any length take
// linear time.
#include <algorithm>
#include <limits>

#include "algorithms/scc/state.hpp"

namespace spillway::scc {
namespace {

/// A count this large may be too small and is never counted down: that costs a trim, never an answer.
constexpr std::uint32_t uncounted = std::numeric_limits<std::uint32_t>::max();

/// Arcs in the row of `v` that lead back to it. Short rows are read through: guesses in a search cost more.
std::uint64_t loops_at(const Csr& rows, Vertex v) {
  constexpr std::size_t short_row = 256;
  const auto            row       = rows.neighbors(v);
  if (row.size() <= short_row) return static_cast<std::uint64_t>(std::count(row.begin(), row.end(), v));
  const auto loops = std::equal_range(row.begin(), row.end(), v);
  return static_cast<std::uint64_t>(loops.second - loops.first);
}

std::uint64_t live_neighbours(const State& state, const Csr& rows, Vertex v) {
  const auto row = rows.neighbors(v);
  return static_cast<std::uint64_t>(
      std::count_if(row.begin(), row.end(), [&](Vertex w) { return w != v && !state.has(w, settled); }));
}

/// True if the vertex is free at once.
bool count_neighbours(State& state, Vertex v) {
  const auto stored = [](std::uint64_t count) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, uncounted));
  };
  const bool          all_live = state.live.all().size() == state.marks.size();
  const std::uint64_t loops    = all_live ? loops_at(state.out, v) : 0;
  state.out_left[v] = stored(all_live ? state.out.degree(v) - loops : live_neighbours(state, state.out, v));
  state.in_left[v]  = stored(all_live ? state.in.degree(v) - loops : live_neighbours(state, state.in, v));
  return state.out_left[v] == 0 || state.in_left[v] == 0;
}

/// `v` is gone: each of its neighbours in `rows` has one less. Counts of settled ones no longer matter, and going
/// down they cost less than asking.
void count_down(State& state, const Csr& rows, Vertex v, const Buffer<std::uint32_t>& left,
                VertexQueue::Appender& freed) {
  for (const Vertex w : rows.neighbors(v)) {
    if (w == v) continue;
    const std::atomic_ref count{left[w]};
    if (count.load(std::memory_order_relaxed) == uncounted) continue;
    if (count.fetch_sub(1, std::memory_order_relaxed) == 1 && state.claim(w, settled)) freed.push(w);
  }
}

}  // namespace

void trim(State& state) {
  VertexQueue& queue = state.queue;
  const auto   live  = state.live.all();
  queue.clear();
  for_each_block(live, queue, live.size(), state.threads, state.progress, [&](auto block, auto& freed) {
    for (const Vertex v : block)
      if (count_neighbours(state, v)) freed.push(v);
  });
  // Only now that all have counted: a count must not miss what will be counted down.
  state.for_all(queue.all(), [&](Vertex v) { state.marks[v] = settled; });
  for (queue.slide(); !queue.window().empty(); queue.slide()) {
    const auto window = queue.window();
    for_each_block(window, queue, window.size(), state.threads, state.progress, [&](auto block, auto& freed) {
      std::uint64_t arcs = 0;
      for (const Vertex v : block) {
        state.found.labels[v] = v;
        count_down(state, state.out, v, state.in_left, freed);
        count_down(state, state.in, v, state.out_left, freed);
        arcs += state.out.degree(v) + state.in.degree(v);
      }
      state.count_arcs(arcs);
    });
    ++state.found.iterations;
  }
  const std::uint64_t taken = queue.all().size();
  state.found.trimmed += taken;
  state.note_settled(taken, taken, 1);
}

}  // namespace spillway::scc
