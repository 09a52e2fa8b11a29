// What belief propagation with a message for each arc does on a GPU whatever its factors are: walking all rows,
// and iterating. A few lanes of a warp share a row; a long one is cut into segments, a block to each, so that the
// whole device works on a hub. What the arcs of a row say is combined in an order that the graph decides: answers
// are the same in every run.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>

#include "algorithms/gpu/beliefs.hpp"
#include "algorithms/gpu/session.cuh"
#include "base/fail.hpp"
#include "graph/csr.hpp"

namespace spillway::gpu {

using cuda::block_warps;

// A form, as kernels see it, has
//   Part: what the arcs of a row, or some of them, say together. Part::nothing(); part.join(other);
//     part.join_lanes(lanes), for which all lanes of the warp come: groups of so many get what they have together;
//   Own: what all arcs of a vertex need of it. form.own(v);
//   form.add(part, own, i): what arc i says;
//   resident: blocks that a multiprocessor should hold at once, as far as registers allow without spilling;
//   form.update_belief(v, part): the new belief out of all arcs. Returns the largest change.

struct Layout {
  Rows          rows;
  std::uint64_t vertices  = 0;
  EdgeIndex     long_from = 0;  ///< rows of so many arcs are cut into segments
  unsigned      lanes     = 0;  ///< to each of the others
};

struct LongRow {
  Vertex vertex;
  Count  first, count;  ///< of its segments
};

struct Segment {
  Vertex    vertex;
  EdgeIndex begin, end;
};

/// Numbers that are not negative are in the same order as their bits. An old `largest` is too small at most, and
/// saves most of the atomics.
__device__ inline void note_change(double change, Count* largest) {
  for (unsigned offset = warp_lanes / 2; offset > 0; offset /= 2)
    change = fmax(change, __shfl_xor_sync(all_lanes, change, static_cast<int>(offset)));
  const auto bits = static_cast<Count>(__double_as_longlong(change));
  if (lane_index() == 0 && bits > __ldcg(largest)) atomicMax(largest, bits);
}

/// Pieces of a row are neighbours; which row comes first does not matter.
static __global__ void find_long(Layout layout, EdgeIndex a_segment, LongRow* found, Segment* segments,
                                 Count* found_count, Count* piece_count) {
  for (std::uint64_t u = first_item(); u < layout.vertices; u += item_stride()) {
    const auto      v     = static_cast<Vertex>(u);
    const EdgeIndex begin = layout.rows.offsets[u], end = layout.rows.offsets[u + 1];
    if (end - begin < layout.long_from) continue;
    const Count count                       = (end - begin + a_segment - 1) / a_segment;
    const Count first                       = atomicAdd(piece_count, count);
    found[atomicAdd(found_count, Count{1})] = {v, first, count};
    for (Count k = 0; k < count; ++k) {
      const EdgeIndex from = begin + k * a_segment;
      segments[first + k]  = {v, from, from + a_segment < end ? from + a_segment : end};
    }
  }
}

template <class Form>
__global__ void __launch_bounds__(block_threads, Form::resident)
    walk_short(const __grid_constant__ Form form, Layout layout, Count* largest) {
  const std::uint64_t rows_a_warp = warp_lanes / layout.lanes;
  const unsigned      lane        = lane_index() % layout.lanes;
  double              change      = 0;
  for (std::uint64_t row = first_item() / warp_lanes * rows_a_warp; row < layout.vertices;
       row += item_stride() / warp_lanes * rows_a_warp) {
    const std::uint64_t u     = row + lane_index() / layout.lanes;
    const auto          v     = static_cast<Vertex>(u);
    const bool          there = u < layout.vertices;
    const EdgeIndex     begin = there ? layout.rows.offsets[u] : 0, end = there ? layout.rows.offsets[u + 1] : 0;
    const bool          mine = there && end - begin < layout.long_from;
    auto                part = Form::Part::nothing();
    if (mine) {
      const auto own = form.own(v);
      for (EdgeIndex i = begin + lane; i < end; i += layout.lanes) form.add(part, own, i);
    }
    __syncwarp();
    part.join_lanes(layout.lanes);
    if (mine && lane == 0) change = fmax(change, form.update_belief(v, part));
  }
  __syncwarp();
  note_change(change, largest);
}

template <class Form>
__global__ void __launch_bounds__(block_threads)
    walk_segments(const __grid_constant__ Form form, const Segment* segments, Count count,
                  typename Form::Part* parts) {
  __shared__ typename Form::Part of_warps[block_warps];
  for (Count p = blockIdx.x; p < count; p += gridDim.x) {
    const Segment segment = segments[p];
    const auto    own     = form.own(segment.vertex);
    auto          part    = Form::Part::nothing();
    for (EdgeIndex i = segment.begin + threadIdx.x; i < segment.end; i += block_threads) form.add(part, own, i);
    __syncwarp();
    part.join_lanes(warp_lanes);
    if (lane_index() == 0) of_warps[threadIdx.x / warp_lanes] = part;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (unsigned w = 1; w < block_warps; ++w) part.join(of_warps[w]);
      parts[p] = part;
    }
    __syncthreads();
  }
}

/// A warp to a long row, whose segments are done.
template <class Form>
__global__ void __launch_bounds__(block_threads)
    settle_long(const __grid_constant__ Form form, const LongRow* rows, Count count,
                const typename Form::Part* parts, Count* largest) {
  double change = 0;
  deal<WarpTeam>(count, [&](std::uint64_t r) {
    const LongRow row  = rows[r];
    auto          part = Form::Part::nothing();
    deal_edges<WarpTeam>(0, row.count, [&](Count k) { part.join(parts[row.first + k]); });
    __syncwarp();
    part.join_lanes(warp_lanes);
    if (lane_index() == 0) change = fmax(change, form.update_belief(row.vertex, part));
  });
  __syncwarp();
  note_change(change, largest);
}

/// Walks all rows, again and again.
template <class Part>
class RowWalk {
 public:
  RowWalk(cuda::Device& device, const Rows& rows, std::uint64_t vertices, EdgeIndex arcs, std::uint64_t long_from)
      : layout_{.rows      = rows,
                .vertices  = vertices,
                .long_from = std::clamp<std::uint64_t>(long_from, 1, 1u << 20),
                .lanes     = lanes_for(vertices, arcs)},
        largest_(device, 1, what) {
    const EdgeIndex     a_segment = 4 * layout_.long_from;
    const std::uint64_t most      = std::min(vertices, arcs / layout_.long_from);
    if (most == 0) return;
    DeviceArray<Count> counts{device, 2, what};
    counts.clear();
    found_    = {device, most, what};
    segments_ = {device, most + arcs / a_segment, what};
    SPILLWAY_LAUNCH(find_long, blocks_for(vertices), block_threads, layout_, a_segment, found_.data(),
                    segments_.data(), counts.data(), counts.data() + 1);
    Count count[2] = {};
    counts.download(count);
    found_count_ = count[0], piece_count_ = count[1];
    parts_ = {device, piece_count_, what};
  }

  /// Every vertex hears all its arcs; returns the largest change.
  template <class Form>
  double once(const Form& form) {
    if (layout_.vertices == 0) return 0;
    largest_.clear();
    SPILLWAY_LAUNCH(walk_short, most_of(layout_.vertices * layout_.lanes), block_threads, form, layout_,
                    largest_.data());
    ++kernels_;
    if (piece_count_ > 0) {
      SPILLWAY_LAUNCH(walk_segments, most_of(piece_count_ * block_threads), block_threads, form, segments_.data(),
                      piece_count_, parts_.data());
      SPILLWAY_LAUNCH(settle_long, most_of(found_count_ * warp_lanes), block_threads, form, found_.data(),
                      found_count_, parts_.data(), largest_.data());
      kernels_ += 2;
    }
    Count bits = 0;
    largest_.download(&bits);
    return std::bit_cast<double>(bits);
  }

  std::uint64_t kernels() const { return kernels_; }

 private:
  static constexpr const char* what = "the long rows of bp";

  /// As many as an average row has arcs for: most rows of skewed graphs are shorter.
  static unsigned lanes_for(std::uint64_t vertices, EdgeIndex arcs) {
    const std::uint64_t degree = vertices == 0 ? 0 : arcs / vertices;
    return static_cast<unsigned>(std::bit_floor(std::clamp<std::uint64_t>(degree, 4, warp_lanes)));
  }

  /// Blocks; each warp has one change to tell all others.
  static unsigned most_of(std::uint64_t threads) { return std::min(blocks_for(threads), 4096u); }

  Layout               layout_;
  DeviceArray<LongRow> found_;
  DeviceArray<Segment> segments_;
  DeviceArray<Part>    parts_;  ///< of each segment
  DeviceArray<Count>   largest_;
  std::uint64_t        found_count_ = 0, piece_count_ = 0, kernels_ = 0;
};

/// So many iterations, or until beliefs have settled, as on the CPU. A propagation has iterate(), which returns
/// the largest change, beliefs() and kernels().
template <class Propagation>
Beliefs propagate(Session& session, const Graph& graph, const BeliefModel& model, const RunOptions& options,
                  Propagation& propagation) {
  Progress&                        progress = options.progress ? *options.progress : Progress::none();
  const std::uint64_t              n = graph.vertex_count(), arcs = graph.simple().arc_count();
  Beliefs                          result;
  std::vector<IterationStatistics> iterations;
  progress.begin("belief propagation", model.iterations * arcs, ProgressUnit::edges);
  Stopwatch clock;
  while (iterations.size() < model.iterations) {
    check_cancelled(progress);
    result.change = propagation.iterate();
    iterations.push_back({n, arcs, arcs, Direction::pull, clock.lap()});
    progress.advance(arcs);
    if (model.tolerance > 0 && result.change <= model.tolerance) break;
  }
  progress.end();
  session.computed();
  result.values = {n * model.states, graph.budget(), "the beliefs of bp"};
  propagation.beliefs().download(result.values.data());
  result.statistics               = session.statistics(n, iterations.size() * arcs, propagation.kernels());
  result.statistics.iterations    = iterations.size();
  result.statistics.per_iteration = std::move(iterations);
  return result;
}

}  // namespace spillway::gpu
