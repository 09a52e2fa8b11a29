// Rows that come to the device a window at a time: the active ones are laid out in chunks, the chunks of a window
// are pushed, and asynchronously (Subway, section 3.2) pushed again as long as anybody in it has something new.
#pragma once

#include <spillway/engine/cuda/edges.cuh>

namespace spillway::cuda {

/// How rows of a window lie: edges that the host has are read where they are.
inline __device__ PlainRows rows_of(const WindowBlock& window) {
  const EdgeIndex* const offsets = window.rows.offsets;
  return {offsets, offsets + 1, window.rows.targets, window.rows.weights, window.memory == BlockMemory::host};
}

template <class P, class Rows>
__device__ auto Machine<P, Rows>::own_row(const RowChunk& chunk) -> OwnRow {
  return {chunk.vertex, RowSlice{chunk.first, static_cast<unsigned>(chunk.length())}};
}

/// Each warp has some words of the frontier: it counts, and when all have counted it knows where to write. So
/// chunks are in the order of their vertices.
template <class P, class Rows>
__device__ void Machine<P, Rows>::lay_out(const Layout& layout, unsigned at) {
  const std::uint64_t words = word_count(), some = (words + warps() - 1) / warps();
  const std::uint64_t first = warp_index() * some, end = first + some < words ? first + some : words;
  const auto          for_rows = [&](auto&& body) {
    for (std::uint64_t index = first; index < end; ++index) {
      Word word = all_lanes;
      if constexpr (!T::all_active)
        if (!layout.everyone) word = view_.bits[at % 3][index];
      if (word == 0) continue;
      const Vertex v     = vertex_at(index);
      const bool   wants = v < view_.vertices && ((word >> lane_index()) & 1);
      body(v, wants ? static_cast<unsigned>(layout.offsets[v + 1] - layout.offsets[v]) : 0u);
    }
  };
  const unsigned size = view_.sizes.chunk_edges;
  LayoutSize     mine{};
  for_rows([&](Vertex, unsigned length) {
    mine.entries += ChunkLayout::chunks_of(length, size);
    mine.edges += length;
  });
  mine = {warp_sum(mine.entries), warp_sum(mine.edges)};
  if (lane_index() == 0) view_.laid[warp_index()] = mine;
  cooperative_groups::this_grid().sync();

  LayoutSize before{};
  for (unsigned i = lane_index(); i < warp_index(); i += warp_lanes)
    before.entries += view_.laid[i].entries, before.edges += view_.laid[i].edges;
  before = {warp_sum(before.entries), warp_sum(before.edges)};
  for_rows([&](Vertex v, unsigned length) {
    const auto  chunks = static_cast<unsigned>(ChunkLayout::chunks_of(length, size));
    const Count place  = before.entries + warp_exclusive_sum(Count{chunks});
    const Count start  = before.edges + warp_exclusive_sum(Count{length});
    for (unsigned p = 0; p < chunks; ++p) {
      view_.entries[place + p] = {v, p};
      view_.starts[place + p]  = start + EdgeIndex{p} * size;
    }
    const auto last = static_cast<int>(warp_lanes - 1);
    before          = {__shfl_sync(all_lanes, place + chunks, last), __shfl_sync(all_lanes, start + length, last)};
  });
  if (warp_index() == warps() - 1 && lane_index() == 0) {
    view_.starts[before.entries] = before.edges;
    *view_.laid_in_all           = before;
  }
  if (layout.parts == nullptr) return;
  cooperative_groups::this_grid().sync();
  const ChunkLayout laid{view_.entries, view_.starts, view_.laid_in_all->entries, size};
  for (Count i = thread(); i <= layout.part_count; i += threads())
    layout.parts[i] = laid.part_at(layout.cuts ? layout.cuts[i] : i * layout.part_edges, layout.offsets);
}

/// Lanes to walk a chunk of this window together; 0: a warp walks several as one.
template <class P, class Rows>
__device__ unsigned Machine<P, Rows>::lanes_for(const WindowBlock& window, const ChunkRange& range) const {
  constexpr EdgeIndex short_rows = 8;
  if (!view_.sizes.hybrid) return view_.sizes.row_lanes;
  return window.edges.last - window.edges.first < short_rows * (range.last - range.first) ? 1 : warp_lanes;
}

/// Virtual warps of `width` lanes take a chunk each; of one lane: a lane has a row for itself.
template <class P, class Rows>
template <class Wants>
__device__ void Machine<P, Rows>::push_by_groups(const WindowBlock& window, const ChunkRange& range,
                                                 unsigned width, unsigned at, Wants&& wants) {
  const Rows rows{rows_of(window)};
  deal_to_groups(range.first, range.last, width, [&](std::uint64_t k, bool there) {
    const OwnRow own  = there ? own_row(window.chunk(k)) : OwnRow{};
    const bool   mine = own.slice.length() > 0 && wants(own.vertex);
    mine_.nodes += mine && lane_index() % width == 0;
    push_by_lanes(rows, own, mine, width, at);
  });
}

/// Warps take some chunks each and walk the edges of all as one row, unless something else is asked for.
template <class P, class Rows>
template <class Wants>
__device__ void Machine<P, Rows>::push_window(const WindowBlock& window, const ChunkRange& range, unsigned at,
                                              Wants&& wants) {
  if (const unsigned width = lanes_for(window, range)) return push_by_groups(window, range, width, at, wants);
  const Rows rows{rows_of(window)};
  deal_to_lanes(range.first, range.last, [&](std::uint64_t k, bool there) {
    const OwnRow own  = there ? own_row(window.chunk(k)) : OwnRow{};
    const bool   mine = own.slice.length() > 0 && wants(own.vertex);
    push_as_one(rows, mine ? own.vertex : 0, mine ? own.slice : RowSlice{}, mine, at);
  });
}

/// Warps take some chunks each, of which every lane owns one. Lanes that are asked for are one, eight or a warp.
template <class P, class Rows>
__device__ void Machine<P, Rows>::pull_window(const WindowBlock& window, const ChunkRange& range, unsigned at) {
  const Rows     rows{rows_of(window)};
  const unsigned width = lanes_for(window, range);
  deal_to_lanes(range.first, range.last, [&](std::uint64_t k, bool there) {
    const OwnRow own = there ? own_row(window.chunk(k)) : OwnRow{};
    const Vertex v   = own.vertex;
    Collected    all = nothing(v);
    collect_by(width, all, rows, own, at);
    if (own.slice.length() == 0) return;
    ++mine_.nodes;
    mine_.looked_at += own.slice.length();
    if constexpr (T::in_place)
      mine_.vertices += Combine::improve_atomically(view_.values[v], all) ? 1 : 0;
    else if constexpr (Combine::idempotent)
      Combine::improve_atomically(view_.sums[v], all);
    else
      Combine::merge_atomically(view_.sums[v], all);
  });
}

/// An active row that is here from end to end, of a program that improves values in place, counts as one with
/// something new: it pushes when its bucket comes, once for all that it has received by then.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::joins(const WindowBlock& window, const ChunkRange& range, Vertex v,
                                        unsigned at) {
  if constexpr (T::supports_async && T::in_place) {
    if (!window.local || window.whole_row(v, range).length() == 0) return false;
    Word* const next = view_.bits[(at + 1) % 3];
    if (!test_now(next, v)) claim(next, v);
    return true;
  }
  return false;
}

/// What the vertex has received counts now: true if it is to push.
template <class P, class Rows>
__device__ bool Machine<P, Rows>::goes_on(Vertex v) {
  if constexpr (T::gathers)
    if (!apply_accumulated(v) || waits_for_its_bucket(v)) return false;
  if constexpr (publishes && !publishes_on_push) publish_vertex(v);
  return true;
}

/// Those with something new whose whole row is here leave the next frontier and are listed; of programs with a
/// priority those up to the bucket, and the lowest bucket of the others is noted. No vertex pushes meanwhile.
template <class P, class Rows>
__device__ void Machine<P, Rows>::take_in_window(const WindowBlock& window, const ChunkRange& range,
                                                 const VertexRange& owners, Count bucket, unsigned at,
                                                 LocalRound& round) {
  Word* const         next  = view_.bits[(at + 1) % 3];
  const std::uint64_t first = owners.first / warp_lanes, last = (owners.last + warp_lanes - 1) / warp_lanes;
  Count               lowest = ~Count{0};
  if constexpr (in_buckets) {
    if (threadIdx.x == 0) shared_.lowest = ~Count{0};
    __syncthreads();
  }
  for_word_batches(first, last, [&](std::uint64_t base, bool mine) {
    const Word word = mine ? __ldcg(next + base + lane_index()) : 0;
    if (!__any_sync(all_lanes, word != 0)) return;
    const unsigned fresh = across(word);
    unsigned       taken = 0;
#pragma unroll
    for (unsigned k = 0; k < chunk; ++k) {
      const Vertex v     = (fresh >> k) & 1 ? vertex_at(base + k) : 0;
      bool         takes = (fresh >> k) & 1 && window.whole_row(v, range).length() > 0;
      if constexpr (in_buckets) {
        const Count waits_for = Operations<P>::bucket_of(view_.program, view_.values[v], view_.window_width);
        if (takes && waits_for > bucket) {
          takes  = false;
          lowest = waits_for < lowest ? waits_for : lowest;
        }
      }
      taken |= takes << k;
    }
    if (!__any_sync(all_lanes, taken != 0)) return;
    const Word leave = along(taken);
    if (mine && leave != 0) next[base + lane_index()] = word & ~leave;
    for (unsigned k = 0; k < chunk; ++k)
      if ((taken >> k) & 1 && !goes_on(vertex_at(base + k))) taken &= ~(1u << k);
    list_word_batch(base, taken, at, round.taken);
  });
  if constexpr (in_buckets) {
    if (lowest != ~Count{0}) atomicMin(&shared_.lowest, lowest);
    __syncthreads();
    if (threadIdx.x == 0 && shared_.lowest != ~Count{0}) atomicMin(&round.lowest, shared_.lowest);
  }
}

/// By as many as a row is worth: lanes of a warp, a block, all.
template <class P, class Rows>
__device__ void Machine<P, Rows>::push_taken(const WindowBlock& window, const ChunkRange& range,
                                             const IterationCounters::Lists& taken, unsigned at) {
  const Rows rows{rows_of(window)};
  const auto row_of = [&](Vertex v) { return OwnRow{v, own_row(window.whole_row(v, range)).slice}; };
  deal<GridTeam>(taken.hubs, [&](std::uint64_t i) {
    const OwnRow row = row_of(view_.hubs[at % 2][i]);
    if (is_split())
      push_nodes_of_row<GridTeam>(rows, row, at);
    else
      push_slice<GridTeam>(rows, row.vertex, row.slice, at);
  });
  deal<BlockTeam>(taken.large, [&](std::uint64_t i) {
    const OwnRow row = row_of(view_.large[at % 2][i]);
    if (is_split())
      push_nodes_of_row<BlockTeam>(rows, row, at);
    else
      push_slice<BlockTeam>(rows, row.vertex, row.slice, at);
  });
  deal_to_lanes(0u, taken.small, [&](std::uint64_t i, bool mine) {
    const OwnRow row = mine ? row_of(view_.small[at % 2][i]) : OwnRow{};
    if (is_split())
      push_nodes_of(rows, row, mine, at);
    else
      push_as_one(rows, row.vertex, row.slice, mine, at);
  });
}

/// Subway's algorithm 4, in turns: those with something new are taken, then they push; in between nobody writes
/// what others read. Programs with a priority settle a bucket of the window after the other: whoever goes on with
/// what is not the best yet goes on again later. Rows that are here in part wait for the next iteration.
template <class P, class Rows>
__device__ void Machine<P, Rows>::run_to_fixed_point(const WindowBlock& window, const ChunkRange& range,
                                                     unsigned at) {
  const auto        grid_barrier = [] { cooperative_groups::this_grid().sync(); };
  const VertexRange owners       = window.owners(range, view_.vertices);
  if (owners.first >= owners.last) return;
  Count bucket = 0;
  for (unsigned round = 0;; ++round) {
    LocalRound* const now = view_.rounds + round % 3;
    grid_barrier();
    take_in_window(window, range, owners, bucket, at, *now);
    grid_barrier();
    const IterationCounters::Lists taken{__ldcg(&now->taken.small), __ldcg(&now->taken.large),
                                         __ldcg(&now->taken.hubs)};
    const Count                    lowest     = __ldcg(&now->lowest);
    const bool                     none_taken = (taken.small | taken.large | taken.hubs) == 0;
    const bool                     settled    = none_taken && lowest == ~Count{0};
    if (thread() == 0) {
      view_.rounds[(round + 1) % 3] = {.taken = {}, .lowest = ~Count{0}};
      if (settled) view_.rounds[(round + 2) % 3] = {.taken = {}, .lowest = ~Count{0}};
      if (!none_taken) atomicAdd(&view_.visit_counters->local_rounds, Count{1});
    }
    if (settled) return;
    if (none_taken)
      bucket = lowest;
    else
      push_taken(window, range, taken, at);
  }
}

/// What the blocks add up in visits is of all visits of an iteration.
template <class P, class Rows>
template <class Body>
__device__ void Machine<P, Rows>::count_visit(unsigned at, Body&& body) {
  begin_phase();
  everyone_ = T::all_active;
  Global before{};
  if constexpr (T::has_global)
    if (threadIdx.x == 0) before = view_.totals[slot(1, at) * gridDim.x + blockIdx.x];
  body();
  end_phase(counters(at + 1), slot(1, at));
  if constexpr (T::has_global)
    if (threadIdx.x == 0) view_.totals[slot(1, at) * gridDim.x + blockIdx.x] += before;
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::visit(const WindowBlock& window, unsigned at) {
  const ChunkRange range = window.chunks();
  count_visit(at, [&] {
    if constexpr (T::all_active) {
      if (window.pull)
        pull_window(window, range, at);
      else
        push_window(window, range, at, [](Vertex) { return true; });
    } else {
      if (!window.again)
        push_window(window, range, at,
                    [&](Vertex v) { return test(view_.bits[at % 3], v) && !joins(window, range, v, at); });
      if constexpr (T::supports_async)
        if (window.local) run_to_fixed_point(window, range, at);
    }
  });
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::count_next(unsigned at) {
  begin_phase();
  for_set_words(view_.bits[(at + 1) % 3], [&](std::uint64_t index, Word word) {
    if (!((word >> lane_index()) & 1)) return;
    ++mine_.vertices;
    mine_.edges += degree(vertex_at(index));
  });
  end_phase(counters(at + 1), slot(2, at));
}

/// What a launch is to do of an iteration.
struct Step {
  enum class Part { begin, lay_out, visit, visit_list, finish } part = Part::begin;

  Layout      layout = {};
  WindowBlock window = {};
  EdgeBlock   list   = {};
};

/// An iteration in several launches, between which the host brings edges.
template <class P>
class WindowLoop : Loop<P, OrderedRows> {
  using Base    = Loop<P, OrderedRows>;
  using T       = Traits<P>;
  using Machine = cuda::Machine<P, OrderedRows>;
  using Base::at_, Base::first, Base::machine_, Base::grid_barrier, Base::now_, Base::state_, Base::total_,
      Base::view_;

 public:
  __device__ WindowLoop(const View<P, OrderedRows>& view, const Launch& launch, typename Machine::Shared& shared)
      : Base(view, launch, shared) {
    Base::turn_to_iteration();
    if constexpr (Machine::prioritised) machine_.bucket_ = state_.bucket;
    Base::pull_     = T::all_active && view.pull_blocks > 0 && view.direction != Direction::push;
    machine_.lists_ = false;  // frontiers are bitmaps here
  }

  __device__ __forceinline__ void run(const Step& step) {
    switch (step.part) {
      case Step::Part::begin:
        return begin();
      case Step::Part::lay_out:
        return machine_.lay_out(step.layout, at_);
      case Step::Part::visit:
        go_on();
        return machine_.visit(step.window, at_);
      case Step::Part::visit_list:
        go_on();
        return machine_.visit(step.list, at_);
      case Step::Part::finish:
        return finish();
    }
  }

 private:
  __device__ void begin() {
    state_.published = 0;  // what was published ahead is published again
    machine_.clear_last(at_);
    if constexpr (T::has_global)
      if (threadIdx.x == 0) view_.totals[Machine::slot(1, at_) * gridDim.x + blockIdx.x] = {};
    if (Base::finds_frontier()) {
      machine_.lists_at_ = Base::lists_of_frontier();
      Base::publish();
      Base::keeps_record();
    }
    grid_barrier();
    if (!first()) return;
    IterationCounters& counters = machine_.counters(at_);
    counters.vertices = now_.vertices, counters.edges = now_.edges;
    *view_.control = state_;
  }

  /// What publishing added up to is known to all.
  __device__ void go_on() {
    if constexpr (Machine::publishes) machine_.global_ = machine_.total_of(Machine::slot(0, at_));
  }

  __device__ void finish() {
    go_on();
    machine_.lists_at_ = Base::lists_of_frontier();
    total_             = machine_.global_;
    if constexpr (T::has_global) total_ += machine_.total_of(Machine::slot(1, at_));
    if constexpr (T::gathers) {
      machine_.apply(at_, true);
      grid_barrier();
      if constexpr (T::has_global) total_ += machine_.total_of(Machine::slot(2, at_));
    } else if constexpr (!T::all_active) {
      if (first()) machine_.counters(at_ + 1).vertices = machine_.counters(at_ + 1).edges = 0;
      grid_barrier();
      machine_.count_next(at_);
      grid_barrier();
    }
    Base::note_iteration();
    state_.listed = 0;
    grid_barrier();
    if (!first()) return;
    *view_.control = state_;
    if constexpr (T::has_global) *view_.global = total_;
  }
};

template <class P>
__global__ void __launch_bounds__(block_threads, blocks_at_once<P>)
    work_in_windows(const __grid_constant__ View<P, OrderedRows> view, const __grid_constant__ Step step) {
  using Shared = typename Machine<P, OrderedRows>::Shared;
  alignas(16) __shared__ unsigned char storage[sizeof(Shared)];
  const Launch                         launch{.iterations = 1};
  WindowLoop<P>{view, launch, *reinterpret_cast<Shared*>(storage)}.run(step);
}

}  // namespace spillway::cuda
