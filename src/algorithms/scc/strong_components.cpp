// The steps in their order, each for what the one before leaves: trimming takes vertices that no cycle passes,
// reaching forwards and backwards from a hub takes the giant component, colouring takes the many small ones, one
// thread takes the rest (Slota, Rajamanickam, Madduri: BFS and Coloring-based Parallel Algorithms for SCC, IPDPS
// 2014).
#include "algorithms/scc/state.hpp"

#include <algorithm>
#include <utility>

namespace spillway::scc {

State::State(const Graph& whole, const Limits& given, int thread_number, Progress& listener)
    : graph(whole),
      limits(given),
      threads(thread_number),
      progress(listener),
      out(whole.out()),
      in(whole.in()),
      marks(whole.vertex_count(), whole.budget(), "marks on vertices"),
      out_left(whole.vertex_count(), whole.budget(), "counts of neighbours"),
      in_left(whole.vertex_count(), whole.budget(), "counts of neighbours"),
      live(whole.vertex_count(), whole.budget(), "a list of vertices"),
      queue(whole.vertex_count(), whole.budget(), "a list of vertices") {
  found.labels = Buffer<Vertex>{whole.vertex_count(), whole.budget(), "the result"};
  for_each_share(threads, whole.vertex_count(), [&](std::uint64_t begin, std::uint64_t end, int) {
    VertexQueue::Appender appender{live};
    for (std::uint64_t v = begin; v < end; ++v) appender.push(static_cast<Vertex>(v));
  });
}

void State::note_settled(std::uint64_t vertices, std::uint64_t components, std::uint64_t largest) {
  if (vertices == 0) return;
  found.components += components;
  found.largest = std::max(found.largest, largest);
  progress.advance(vertices);
  queue.clear();
  for_each_block(live.all(), queue, live.all().size(), threads, progress, [&](auto block, auto& kept) {
    for (const Vertex v : block)
      if (!has(v, settled)) kept.push(v);
  });
  std::swap(live, queue);
}

StrongComponents strong_components(const Graph& graph, const Limits& limits, int threads, Progress& progress) {
  State state{graph, limits, threads, progress};
  progress.begin("strong components", graph.vertex_count(), ProgressUnit::items);
  trim(state);
  take_largest(state);
  take_colours(state);
  finish_serially(state);
  progress.end();
  state.found.edges_processed = state.arcs_seen;
  return std::move(state.found);
}

}  // namespace spillway::scc
