// The kernels: one that sets every vertex to its first value, one that runs iterations. The second loops on the
// device with barriers between phases, as many iterations as a launch may make: one (no fusion), those of one
// direction (push-pull fusion), or all (SIMD-X, section 5). It is launched cooperatively with a grid that fits the
// device at once, so a barrier cannot wait for a block that has not started.
#pragma once

#include <cooperative_groups.h>

#include <spillway/engine/cuda/launch.cuh>
#include <spillway/engine/cuda/machine.cuh>

namespace spillway::cuda {

struct Launch {
  Count iterations     = 0;      ///< at most so many
  bool  stop_on_switch = false;  ///< when the direction changes
};

/// In units of one arc pulled.
inline constexpr Count  few_votes = 1 << 16;
inline constexpr double push_vote = 4, push_improvement = 2, push_gather = 4, pull_vertex = 2;

template <class P>
__device__ bool pulls(const View<P>& view, const Tally& now, const Control& state) {
  using T = Traits<P>;
  if (view.pull_blocks == 0 || (Machine<P>::in_buckets && !Machine<P>::settles)) return false;
  if (view.push_blocks == 0) return true;
  if (view.direction != Direction::automatic) return view.direction == Direction::pull;
  if (T::all_active) return true;
  const auto open = static_cast<double>(state.open_vertices), open_edges = static_cast<double>(state.open_edges);
  const auto edges     = static_cast<double>(now.edges);
  double     pull_work = pull_vertex * open + open_edges;
  if (T::voting) {
    const double to_find = static_cast<double>(view.arcs) / fmax(edges, 1.0);
    pull_work            = open * (pull_vertex + fmin(open_edges / fmax(open, 1.0), to_find));
  }
  if (CouldImprove<P>) pull_work /= 4;  // most edges are left out by their weight
  const double an_arc = T::voting ? push_vote : T::gathers ? push_gather : push_improvement;
  return an_arc * edges > pull_work;
}

/// Whether the online filter's bins will probably do for what this iteration finds, and cheaply: a pull looks at
/// everyone, and lists pay only where few are left.
template <class P>
__device__ bool fits_bins(const View<P>& view, const Tally& now, const Control& state, bool pull, Count threads) {
  const Count room = view.sizes.bin_entries * threads;
  return pull ? state.open_vertices <= room / 32 : now.edges <= room;
}

/// The frontier is used up: the next one is of the lowest bucket that anybody waits in. All blocks have seen the
/// frontier's size before the first barrier here; they come out with the same answer.
template <class P>
__device__ Tally::Taken next_bucket(Machine<P>& machine, Control& state, unsigned at, std::uint64_t vertices) {
  using Machine   = cuda::Machine<P>;
  const auto grid = cooperative_groups::this_grid();
  if (Machine::settles && state.looked_at - state.settled_at >= vertices) {
    machine.bucket_ = state.bucket;
    machine.note_settled(at);
    state.settled_at = state.looked_at;
  }
  Tally& tally = machine.tally(at);
  // In place, whoever waits is beyond the bucket at hand, and most often somebody is in the very next one.
  machine.bucket_ = state.bucket + (Machine::in_buckets && state.iterations > 0 ? 1 : 0);
  machine.take_bucket(at, tally.taken[0]);
  grid.sync();
  Tally::Taken taken  = tally.taken[0];
  const Count  lowest = tally.lowest;
  if (taken.vertices == 0 && lowest != ~Count{0}) {
    machine.bucket_ = lowest;
    machine.take_bucket(at, tally.taken[1]);
    grid.sync();
    taken = tally.taken[1];
  }
  if (taken.vertices != 0) state.bucket = machine.bucket_, state.listed = 2;
  return taken;
}

/// Blocks that a multiprocessor is to hold at once: many hide the time that memory takes; values that fill a
/// lane's registers by themselves leave room for fewer.
template <class P>
inline constexpr int blocks_at_once = sizeof(ValueOf<P>) > 64   ? 1
                                      : sizeof(ValueOf<P>) > 32 ? 2
                                                                : 4;

template <class P>
__global__ void __launch_bounds__(block_threads, blocks_at_once<P>)
    iterate(const __grid_constant__ View<P> view, Launch launch) {
  using T       = Traits<P>;
  using Machine = cuda::Machine<P>;
  using Shared  = typename Machine::Shared;
  alignas(16) __shared__ unsigned char storage[sizeof(Shared)];
  const auto                           grid = cooperative_groups::this_grid();
  Machine                              machine{view, *reinterpret_cast<Shared*>(storage)};
  Control                              state = *view.control;
  const bool                           first = Machine::thread() == 0;
  typename T::Global                   total{};
  Count                                made = 0;
  for (; made < launch.iterations && !state.finished; ++made) {
    const auto  at     = static_cast<unsigned>(state.iterations % 6);
    const Count from   = first ? nanoseconds() : 0;
    Tally       now    = machine.tally(at);
    machine.iteration_ = static_cast<std::uint32_t>(state.iterations);
    if constexpr (Machine::prioritised) {
      if (now.vertices == 0) {
        const Tally::Taken taken = next_bucket(machine, state, at, view.vertices);
        now.vertices = taken.vertices, now.edges = taken.edges;
        if (first) machine.tally(at).vertices = now.vertices, machine.tally(at).edges = now.edges;
      }
      machine.bucket_ = state.bucket;
    }
    const bool replays  = T::gathers && view.replay != nullptr;
    const bool replayed = replays && state.iterations < view.replay_levels;
    if (replayed) {
      const std::uint64_t* const level = view.replay_starts + (view.replay_levels - 1 - state.iterations);
      machine.replay(at, level[0], level[1]);
      grid.sync();
      now.vertices = level[1] - level[0];
      now.edges    = machine.tally(at).replayed_edges;
      state.listed = 2;
    }
    if (now.vertices == 0 || (replays && !replayed) || state.iterations >= view.max_iterations) {
      state.finished = 1;
      break;
    }
    const bool pull = pulls(view, now, state);
    if (launch.stop_on_switch && made > 0 && !replayed && pull != (state.pulled != 0)) break;
    state.switches += state.iterations > 0 && pull != (state.pulled != 0);
    bool ballot = state.listed == 2;
    if (!T::all_active && !pull && state.listed == 0) {
      machine.list_frontier(at);
      grid.sync();
      state.listed = 2;
      ballot       = true;
    }
    machine.eager_    = now.edges < few_votes;
    machine.lists_at_ = state.listed == 2 ? &machine.tally(at).balloted : &machine.tally(at).found;
    machine.lists_ =
        view.filter == Filter::online || view.filter == Filter::batch ||
        (view.filter == Filter::just_in_time && fits_bins(view, now, state, pull, Machine::threads()));
    if constexpr (Machine::publishes) {
      const bool on_push = Machine::publishes_on_push;
      if (on_push ? pull : !replayed) {
        machine.publish(at, state.listed != 0);
        grid.sync();
      }
      machine.global_ = machine.total_of(Machine::slot(0, at));
    }
    if (T::gathers && view.record != nullptr) {
      if (state.recorded + now.vertices > view.vertices) {
        state.finished = state.again = 1;
        break;
      }
      machine.record(at, state.listed != 0, state.recorded);
      state.recorded += now.vertices;
    }
    total = machine.global_;
    if (pull)
      machine.pull(at, now.vertices == view.vertices);
    else
      machine.push(at);
    machine.clear_last(at);
    grid.sync();
    if constexpr (T::has_global) total += machine.total_of(Machine::slot(1, at));
    if (!pull && view.batch != nullptr) {
      machine.filter_batch(at);
      grid.sync();
    }
    if constexpr (T::gathers) {
      if (!pull) {
        machine.apply(at, machine.tally(at + 1).touched_overflowed != 0);
        grid.sync();
        if constexpr (T::has_global) total += machine.total_of(Machine::slot(2, at));
      }
    }
    if (first) machine.count_in(*view.census, at, pull);
    const Tally& next = machine.tally(at + 1);
    state.open_vertices -= next.closed_vertices;
    state.open_edges -= next.closed_edges;
    state.looked_at += next.looked_at;
    state.pulled = pull;
    state.ballots += ballot;
    state.overflowed |= next.overflowed | next.touched_overflowed;
    state.listed = next.overflowed == 0;
    if constexpr (T::has_global)
      if (first) view.history[made] = total;
    if (first)
      view.log[made] = {now.vertices,   T::all_active ? view.arcs : now.edges,
                        next.looked_at, nanoseconds() - from,
                        pull ? 1u : 0u, ballot ? 1u : 0u};
    ++state.iterations;
    if constexpr (Converges<P>)
      if (view.program.converged(total)) state.finished = 1;
    if (view.filter == Filter::online && state.overflowed) state.finished = 1;
  }
  grid.sync();
  if (first) {
    *view.control = state;
    if constexpr (T::has_global)
      if (made > 0) *view.global = total;
  }
}

/// First values, the first frontier as a bitmap, and who is open. A warp for every word.
template <class P>
__global__ void __launch_bounds__(block_threads) start(const __grid_constant__ View<P> view, bool given) {
  using T              = Traits<P>;
  using Machine        = cuda::Machine<P>;
  using Accumulator    = typename T::Combine::Accumulator;
  const auto degree_in = [](const Rows* rows, int blocks, Vertex v) {
    EdgeIndex edges = 0;
    for (int b = 0; b < blocks; ++b) edges += rows[b].offsets[v + 1] - rows[b].offsets[v];
    return edges;
  };
  Count               active_vertices = 0, active_edges = 0, open_vertices = 0, open_edges = 0;
  const std::uint64_t words = (view.vertices + warp_lanes - 1) / warp_lanes;
  const std::uint64_t warps = gridDim.x * block_warps;
  for (std::uint64_t index = Machine::thread() / warp_lanes; index < words; index += warps) {
    const std::uint64_t u      = index * warp_lanes + lane_index();
    const bool          valid  = u < view.vertices;
    const auto          v      = static_cast<Vertex>(valid ? u : 0);
    const EdgeIndex     edges  = view.push_blocks > 0 ? degree_in(view.push, view.push_blocks, v)
                                                      : degree_in(view.pull, view.pull_blocks, v);
    const Vertex        name   = Machine::may_reorder && view.original != nullptr ? view.original[v] : v;
    bool                active = valid, open = valid;
    if (valid) {
      if (!given) {
        if constexpr (InitsFromDegree<P>)
          view.values[v] = view.program.init(name, edges);
        else
          view.values[v] = view.program.init(name);
      }
      if constexpr (StartsFromValue<P>)
        active = view.program.starts(name, view.values[v]);
      else if constexpr (Starts<P>)
        active = view.program.starts(name);
      active = active && view.replay == nullptr;
      if constexpr (T::gathers)
        if (view.sums != nullptr) view.sums[v] = detail::converted<Accumulator>(T::Combine::identity());
      if constexpr (T::voting)
        open = !active && (view.pull_blocks == 0 || degree_in(view.pull, view.pull_blocks, v) > 0);
      if constexpr (Opens<P>) open = open && view.program.open(view.values[v]);
    }
    const Word actives = __ballot_sync(all_lanes, active), opens = __ballot_sync(all_lanes, open);
    if (lane_index() == 0) {
      if constexpr (Machine::tracks_open) view.open[index] = opens;
      if constexpr (Machine::prioritised) view.waiting[index] = actives;
      if constexpr (!T::all_active) {
        view.bits[0][index] = Machine::prioritised ? 0 : actives;
        view.bits[1][index] = view.bits[2][index] = 0;
      }
    }
    active_vertices += active && !Machine::prioritised;
    active_edges += active && !Machine::prioritised ? edges : 0;
    open_vertices += open;
    open_edges += open ? edges : 0;
  }
  active_vertices = sum_over_warp(active_vertices), active_edges = sum_over_warp(active_edges);
  open_vertices = sum_over_warp(open_vertices), open_edges = sum_over_warp(open_edges);
  if (lane_index() != 0) return;
  atomicAdd(&view.tallies[0].vertices, active_vertices);
  atomicAdd(&view.tallies[0].edges, active_edges);
  atomicAdd(&view.control->open_vertices, open_vertices);
  atomicAdd(&view.control->open_edges, open_edges);
}

/// to[i] is from[places[i]].
template <class Value>
__global__ void rearrange(const Value* from, const Vertex* places, std::uint64_t count, Value* to) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    to[i] = from[places[i]];
}

/// The rows that only a block should pull.
template <class P>
__global__ void find_large(const __grid_constant__ View<P> view, Vertex* found, unsigned* count) {
  for (std::uint64_t v = blockIdx.x * blockDim.x + threadIdx.x; v < view.vertices; v += gridDim.x * blockDim.x) {
    EdgeIndex edges = 0;
    for (int b = 0; b < view.pull_blocks; ++b) edges += view.pull[b].offsets[v + 1] - view.pull[b].offsets[v];
    if (edges >= view.sizes.large_degree) found[atomicAdd(count, 1)] = static_cast<Vertex>(v);
  }
}

}  // namespace spillway::cuda
