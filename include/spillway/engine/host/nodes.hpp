// The CPU executor's virtual nodes (Tigr, section 4): threads take groups of nodes, not rows. All nodes of a row
// read the message of its vertex; what they pull meets at the vertex, as the parts of rows from pages do.
#pragma once

#include <spillway/engine/host/executor.hpp>

namespace spillway::host {

template <class P, bool bucketed>
template <class IsVisited>
std::uint64_t HostExecutor<P, bucketed>::nodes_in(const PageRows& page, IsVisited&& is_visited) const {
  std::uint64_t nodes = 0;
  for (Vertex v = page.first; v < page.last; ++v) {
    const EdgeRange row = page.row(v);
    if (row.first < row.last && is_visited(v)) nodes += nodes_of(row.last - row.first);
  }
  return nodes;
}

template <class P, bool bucketed>
void HostExecutor<P, bucketed>::make_room_for_work(std::uint64_t blocks) {
  if (splits()) work_memory_.raise_to(bytes_of_work(blocks));
  if (work_.size() <= blocks) work_.resize(blocks + 1);
}

/// Rows in blocks, in parts of `part` edges: in_block(block, visit) visits the rows of one until that returns
/// false, and work_[block + 1] is an edge or a row each. visit(some parts that lie side by side, thread), and
/// end(thread) once no part is left for it. As in a push, threads begin with a share each and then help the
/// others.
template <class P, bool bucketed>
template <class InBlock, class Visit, class End>
void HostExecutor<P, bucketed>::deal_parts(int threads, std::uint64_t blocks, EdgeIndex part, InBlock&& in_block,
                                           Visit&& visit, End&& end) {
  work_[0] = 0;
  std::partial_sum(work_.begin(), work_.begin() + static_cast<std::ptrdiff_t>(blocks + 1), work_.begin());
  const std::uint64_t work = work_[blocks];
  const std::uint64_t size =
      std::clamp<std::uint64_t>(work / (static_cast<unsigned>(threads) * tasks_a_thread), 1, shared_edges());
  const std::uint64_t tasks = blocks_of(work, size);
  const auto          run   = [&](std::uint64_t task, int thread) {
    const std::uint64_t from = task * size, to = std::min(work, from + size);
    std::uint64_t       block =
        partition_point(std::uint64_t{0}, blocks, [&](std::uint64_t b) { return work_[b + 1] <= from; });
    for (std::uint64_t at = work_[block]; block < blocks && at < to; ++block)
      in_block(block, [&](const RowChunk& row) {
        const EdgeIndex length = row.length();
        const EdgeIndex first  = from > at ? NodeGroups::edges_before(from - at, length, part) : 0;
        const EdgeIndex last   = NodeGroups::edges_before(to - at, length, part);
        if (first < last) visit(RowChunk{row.vertex, row.first + first, row.first + last}, thread);
        at += length + 1;
        return at < to;
      });
  };
  for (int i = 0; i < threads; ++i) local_of(i).taken = share_begin(tasks, i, threads);
  on_threads(threads, [&](int thread) {
    for (int other = 0; other < threads; ++other) {
      const int           share = (thread + other) % threads;
      const std::uint64_t last  = share_begin(tasks, share + 1, threads);
      std::atomic_ref     next{local_of(share).taken};
      for (std::uint64_t task = next++; task < last; task = next++) run(task, thread);
    }
    end(thread);
  });
}

/// Chunks of rows, `grain` to a block.
template <class P, bool bucketed>
template <class ChunkAt>
void HostExecutor<P, bucketed>::push_parts(const Rows& rows, int threads, std::uint64_t count, std::uint64_t grain,
                                           EdgeIndex part, ChunkAt&& chunk_at) {
  const std::uint64_t blocks   = blocks_of(count, grain);
  const auto          in_block = [&](std::uint64_t block, auto&& visit) {
    for (std::uint64_t i = block * grain; i < std::min(count, (block + 1) * grain); ++i)
      if (!visit(chunk_at(i))) return;
  };
  make_room_for_work(blocks);
  for_each_share(threads, blocks, [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t block = begin; block < end; ++block) {
      std::uint64_t work = 0;
      in_block(block, [&](const RowChunk& row) {
        work += row.length() + 1;
        return true;
      });
      work_[block + 1] = work;
    }
  });
  deal_parts(
      threads, blocks, part, in_block,
      [&](const RowChunk& some, int thread) {
        Local& local = local_of(thread);
        push_row(some.vertex, rows, some.first, some.last, local);
        if (splits()) local.nodes += nodes_of(some.length());
      },
      [&](int thread) {
        if constexpr (has_frontier)
          if (count > ordered_lists) local_of(thread).next.flush(back_);
      });
  if constexpr (has_frontier)
    for (int i = 0; i < threads; ++i) local_of(i).next.flush(back_);
}

template <class P, bool bucketed>
template <class ChunkAt>
void HostExecutor<P, bucketed>::push_nodes(const Rows& rows, std::uint64_t count, ChunkAt&& chunk_at) {
  push_parts(rows, threads_for(frontier_.edges + count), count, tuning_.push_grain, node_edges_, chunk_at);
}

/// As pages are pulled.
template <class P, bool bucketed>
void HostExecutor<P, bucketed>::pull_nodes(const RowBlock& block) {
  NodeGroups groups{block, node_edges_, tuning_.edge_grain};
  if constexpr (!T::all_active)
    for_each_share(threads_for(n_ / Bitmap::bits), active_.size(),
                   [&](std::uint64_t begin, std::uint64_t end, int thread) {
                     for (std::uint64_t i = begin; i < end; ++i)
                       count_active_edges(block.rows, i, local_of(thread));
                   });
  if (!sweeps())
    pull_pages(groups);
  else if constexpr (may_sweep)
    sweep_pages(groups);
}

}  // namespace spillway::host
