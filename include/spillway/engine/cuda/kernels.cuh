// The kernels: one that sets every vertex to its first value, one that runs iterations. The second loops on the
// device with barriers between phases, as many iterations as a launch may make: one (no fusion), those of one
// direction (push-pull fusion), or all (SIMD-X, section 5). It is launched cooperatively with a grid that fits the
// device at once, so a barrier cannot wait for a block that has not started.
#pragma once

#include <spillway/engine/cuda/grid_barrier.cuh>
#include <spillway/engine/cuda/launch.cuh>
#include <spillway/engine/cuda/machine.cuh>
#include <spillway/engine/direction.hpp>

namespace spillway::cuda {

/// Where part of the edges is in host memory: when reading them there takes longer than asking the host to send
/// them.
struct HandOver {
  bool          wanted = false;
  TransferCosts costs;
  double        share = 0;  ///< of all edges that are on the host
  double        edges = 0;  ///< so many

  /// What would be read here, of so many rows, against what is active and would be pushed.
  __device__ bool pays(double read_rows, double read_edges, double active_rows, double active_edges) const {
    const double gathered = costs.gathered(active_edges * share, active_rows * share);
    return costs.read(read_edges * share, read_rows * share) > costs.step() + fmin(costs.sent(edges), gathered);
  }
};

struct Launch {
  Count    iterations     = 0;      ///< at most so many
  bool     stop_on_switch = false;  ///< when the direction changes
  HandOver hand_over      = {};

  const volatile unsigned* cancel = nullptr;  ///< a word of the host's that is set when all is to end; or null
};

inline constexpr Count few_votes = 1 << 16;

template <class P, class Rows>
__device__ bool pulls(const View<P, Rows>& view, const IterationCounters& now, const Control& state) {
  using T = Traits<P>;
  if (view.pull_blocks == 0 || (Machine<P, Rows>::in_buckets && !Machine<P, Rows>::settles)) return false;
  if (view.push_blocks == 0) return true;
  if (view.direction != Direction::automatic) return view.direction == Direction::pull;
  if (T::all_active) return true;
  const DirectionFacts facts{.voting          = T::voting,
                             .gathers         = T::gathers,
                             .skips_by_weight = CouldImprove<P>,
                             .over_bus        = view.on_host,
                             .arcs            = static_cast<double>(view.arcs),
                             .active_edges    = static_cast<double>(now.edges),
                             .open_vertices   = static_cast<double>(state.open_vertices),
                             .open_edges      = static_cast<double>(state.open_edges)};
  return pull_is_less_work(facts, gpu_direction_costs());
}

/// Whether the online filter's bins will probably do for what this iteration finds, and cheaply: a pull looks at
/// everyone, and lists pay only where few are left.
template <class P, class Rows>
__device__ bool fits_bins(const View<P, Rows>& view, const IterationCounters& now, const Control& state, bool pull,
                          Count threads) {
  const Count room = view.sizes.bin_entries * threads;
  return pull ? state.open_vertices <= room / 32 : now.edges <= room;
}

/// What one thread does in a launch: iterations, each in phases with barriers between them. Decisions depend on
/// what all threads know, so all make the same ones.
template <class P, class Rows>
class Loop {
  using T       = Traits<P>;
  using Machine = cuda::Machine<P, Rows>;
  using Global  = typename T::Global;

 public:
  __device__ Loop(const View<P, Rows>& view, const Launch& launch, typename Machine::Shared& shared)
      : view_(view), launch_(launch), shared_(shared), machine_(view, shared), state_(*view.control) {
    if (first()) shared_.looked = 0;
  }

  __device__ void run() {
    for (; made_ < launch_.iterations && !state_.finished; ++made_) {
      turn_to_iteration();
      if (now_.cancelled) break;
      const bool cancel = is_cancelled();
      if (!finds_frontier() || hands_over() || !goes_on_in_direction()) break;
      list_frontier();
      publish();
      if (!keeps_record()) break;
      if (cancel) machine_.counters(at_ + 1).cancelled = 1;  // all see it after the next barrier
      visit_edges();
      note_iteration();
    }
    grid_barrier();
    if (!first()) return;
    *view_.control = state_;
    if constexpr (T::has_global)
      if (made_ > 0) *view_.global = total_;
  }

 protected:
  __device__ void turn_to_iteration() {
    at_                 = static_cast<unsigned>(state_.iterations % 6);
    now_                = machine_.counters(at_);
    machine_.iteration_ = static_cast<std::uint32_t>(state_.iterations);
    machine_.turn_to(at_);
    if (first()) shared_.began = nanoseconds();
  }

  /// Of one thread, once in a while: the word is on the other side of the bus, and the next barrier waits for it
  /// (0.7 µs on an H200; an iteration over a small frontier takes 7).
  __device__ bool is_cancelled() {
#if defined(SPILLWAY_EMULATED)  // there is no clock
    constexpr Count pause = 0;
#else
    constexpr Count pause = 1'000'000;  // ns
#endif
    if (!first() || launch_.cancel == nullptr || shared_.began - shared_.looked < pause) return false;
    shared_.looked = shared_.began;
    return *launch_.cancel != 0;
  }

  __device__ static bool first() { return Machine::thread() == 0; }
  __device__ static void grid_barrier() { cooperative_groups::this_grid().sync(); }

  /// False if nothing is left to do.
  __device__ bool finds_frontier() {
    if constexpr (Machine::prioritised) {
      if (now_.vertices == 0) take_next_bucket();
      machine_.bucket_ = state_.bucket;
    }
    const bool replays = T::gathers && view_.replay != nullptr;
    replayed_          = replays && state_.iterations < view_.replay_levels;
    if (replayed_) replay_level();
    state_.finished =
        now_.vertices == 0 || (replays && !replayed_) || state_.iterations >= view_.max_iterations ? 1 : 0;
    return !state_.finished;
  }

  /// The frontier is used up: the next one is of the lowest bucket that anybody waits in. All blocks have seen the
  /// frontier's size before the first barrier here.
  __device__ void take_next_bucket() {
    if (Machine::settles && state_.looked_at - state_.settled_at >= view_.vertices) {
      machine_.bucket_ = state_.bucket;
      machine_.note_settled(at_);
      state_.settled_at = state_.looked_at;
    }
    IterationCounters& counters = machine_.counters(at_);
    // In place, whoever waits is beyond the bucket at hand, and most often somebody is in the very next one.
    machine_.bucket_ = state_.bucket + (Machine::in_buckets && state_.iterations > 0 ? 1 : 0);
    machine_.take_bucket(at_, counters.taken[0]);
    grid_barrier();
    IterationCounters::Taken taken  = counters.taken[0];
    const Count              lowest = counters.lowest;
    if (taken.vertices == 0 && lowest != ~Count{0}) {
      machine_.bucket_ = lowest;
      machine_.take_bucket(at_, counters.taken[1]);
      grid_barrier();
      taken = counters.taken[1];
    }
    if (taken.vertices != 0) state_.bucket = machine_.bucket_, state_.listed = 2;
    now_.vertices = taken.vertices, now_.edges = taken.edges;
    if (first()) counters.vertices = now_.vertices, counters.edges = now_.edges;  // for a launch that ends here
  }

  __device__ void replay_level() {
    const std::uint64_t* const level = view_.replay_starts + (view_.replay_levels - 1 - state_.iterations);
    if (state_.replayed == 0) {
      machine_.replay(at_, level[0], level[1], /*applies=*/false);
      grid_barrier();
    }
    state_.replayed = 0;
    now_.vertices   = level[1] - level[0];
    now_.edges      = machine_.counters(at_).replayed_edges;
    state_.listed   = 2;
  }

  /// The next level, to which everything was pushed.
  __device__ void replay_ahead() {
    const std::uint64_t next = state_.iterations + 1;
    if (next >= view_.replay_levels) return;
    const std::uint64_t* const level = view_.replay_starts + (view_.replay_levels - 1 - next);
    machine_.replay(at_ + 1, level[0], level[1], /*applies=*/true);
    grid_barrier();
    state_.replayed = 1;
  }

  /// True if the host is to send what this iteration needs. A pull that looks for votes finds them in the
  /// beginnings of rows.
  __device__ bool hands_over() {
    pull_           = pulls(view_, now_, state_);
    state_.for_host = 0;
    if (!launch_.hand_over.wanted || replayed_ || (pull_ && T::voting)) return false;
    const auto rows = static_cast<double>(now_.vertices), edges = static_cast<double>(now_.edges);
    const auto open       = static_cast<double>(state_.open_vertices),
               open_edges = static_cast<double>(state_.open_edges);
    state_.for_host = launch_.hand_over.pays(pull_ ? open : rows, pull_ ? open_edges : edges, rows, edges) ? 1 : 0;
    return state_.for_host != 0;
  }

  /// False if the direction changes and another launch is to go on.
  __device__ bool goes_on_in_direction() {
    const bool switches = pull_ != (state_.pulled != 0);
    if (launch_.stop_on_switch && made_ > 0 && !replayed_ && switches) return false;
    state_.switches += state_.iterations > 0 && switches;
    return true;
  }

  /// A scan made them, or those who found its vertices.
  __device__ const IterationCounters::Lists* lists_of_frontier() {
    return state_.listed == 2 ? &machine_.counters(at_).balloted : &machine_.counters(at_).found;
  }

  __device__ void list_frontier() {
    ballot_ = state_.listed == 2;
    if (!T::all_active && !pull_ && state_.listed == 0 && !view_.sizes.scans) {
      machine_.list_frontier(at_);
      grid_barrier();
      state_.listed = 2;
      ballot_       = true;
    }
    machine_.eager_    = now_.edges < few_votes;
    machine_.lists_at_ = lists_of_frontier();
    machine_.lists_ =
        view_.filter == Filter::online || view_.filter == Filter::batch ||
        (view_.filter == Filter::just_in_time && fits_bins(view_, now_, state_, pull_, Machine::threads()));
    machine_.fuses_ = !pull_ && machine_.eager_ && machine_.lists_ && view_.sizes.bucket_queue > 0;
    if (T::all_active || pull_ || view_.listed_nodes == nullptr) return;
    machine_.list_nodes(at_);
    grid_barrier();
  }

  __device__ void publish() {
    if constexpr (Machine::publishes) {
      if (state_.published == 0 && (Machine::publishes_on_push ? pull_ : !replayed_)) {
        machine_.publish(at_, state_.listed != 0);
        grid_barrier();
      }
      machine_.global_ = machine_.total_of(Machine::slot(0, at_));
    }
    total_ = machine_.global_;
  }

  /// False if a vertex is active again: there is no room for that.
  __device__ bool keeps_record() {
    if (!T::gathers || view_.record == nullptr) return true;
    if (state_.recorded + now_.vertices > view_.vertices) {
      state_.finished = state_.again = 1;
      return false;
    }
    machine_.record(at_, state_.listed != 0, state_.recorded);
    state_.recorded += now_.vertices;
    return true;
  }

  __device__ void visit_edges() {
    if constexpr (Machine::sums_hubs)
      visit_around_hubs();
    else
      push_or_pull();
  }

  __device__ void push_or_pull() {
    if (pull_)
      machine_.pull(at_, now_.vertices == view_.vertices || reads_inactive());
    else
      machine_.push(at_);
    machine_.clear_last(at_);
    grid_barrier();
    if constexpr (T::has_global) total_ += machine_.total_of(Machine::slot(1, at_));
    state_.published = Machine::publishes_ahead && pull_ && view_.messages_ahead != nullptr ? 1 : 0;
    if (pull_ && !machine_.is_split()) return;
    if (view_.batch != nullptr) {
      machine_.filter_batch(at_);
      grid_barrier();
    }
    if (Machine::replays_ahead && replayed_) {
      replay_ahead();
    } else if constexpr (T::gathers) {
      machine_.apply(at_, machine_.counters(at_ + 1).touched_overflowed != 0);
      grid_barrier();
      if constexpr (T::has_global) total_ += machine_.total_of(Machine::slot(2, at_));
    }
  }

  __device__ void visit_around_hubs() {
    machine_.pull(at_, /*everyone=*/true);
    machine_.clear_last(at_);
    grid_barrier();
    if constexpr (T::has_global) total_ += machine_.total_of(Machine::slot(1, at_));
    machine_.apply_to_hubs(at_);
    grid_barrier();
    if constexpr (T::has_global) total_ += machine_.total_of(Machine::slot(2, at_));
    state_.published = 1;
  }

  /// Where a pull meets active vertices more often than not, asking which they are takes longer than reading the
  /// others, too (H200, kron24: 11.0 ms, without asking 9.8).
  __device__ bool reads_inactive() const { return Machine::reads_inactive && now_.edges >= view_.arcs / 2; }

  __device__ void note_iteration() {
    const IterationCounters& next = machine_.counters(at_ + 1);
    if (first()) {
      machine_.count_in(*view_.visit_counters, at_, pull_);
      if constexpr (T::has_global) view_.history[made_] = total_;
      const bool fused = next.fused_vertices != 0;
      view_.log[made_] = {now_.vertices + next.fused_vertices,
                          T::all_active ? view_.arcs
                          : fused       ? next.looked_at
                                        : now_.edges,
                          next.looked_at,
                          nanoseconds() - shared_.began,
                          pull_ ? 1u : 0u,
                          ballot_ ? 1u : 0u};
    }
    state_.open_vertices -= next.closed_vertices;
    state_.open_edges -= next.closed_edges;
    state_.looked_at += next.looked_at;
    state_.pulled = pull_;
    state_.ballots += ballot_;
    state_.overflowed |= next.overflowed | next.touched_overflowed;
    state_.listed = next.overflowed == 0;
    ++state_.iterations;
    if constexpr (Converges<P>)
      if (view_.program.converged(total_)) state_.finished = 1;
    if (view_.filter == Filter::online && state_.overflowed) state_.finished = 1;
  }

  const View<P, Rows>&      view_;
  const Launch&             launch_;
  typename Machine::Shared& shared_;
  Machine                   machine_;
  Control                   state_;
  IterationCounters         now_{};     ///< what the frontier is
  Global                    total_{};   ///< of the iteration
  Count                     made_ = 0;  ///< iterations of this launch
  unsigned                  at_   = 0;  ///< which counters and bitmaps are whose
  bool                      pull_ = false, ballot_ = false, replayed_ = false;
};

/// Blocks that a multiprocessor is to hold at once: many hide the time that memory takes; values that fill a
/// lane's registers by themselves leave room for fewer. So do Large numbers: more paths than a double counts are
/// long ones, whose frontiers are small, and there registers count for more than warps.
template <class P>
inline constexpr int blocks_at_once = sizeof(ValueOf<P>) > 64                                         ? 1
                                      : sizeof(ValueOf<P>) > 32 || std::is_same_v<UpdateOf<P>, Large> ? 2
                                                                                                      : 4;

template <class P, class Rows>
__global__ void __launch_bounds__(Machine<P, Rows>::block_threads,
                                  Machine<P, Rows>::sums_hubs ? 1 : blocks_at_once<P>)
    iterate(const __grid_constant__ View<P, Rows> view, Launch launch) {
  using Shared = typename Machine<P, Rows>::Shared;
  alignas(16) __shared__ unsigned char storage[sizeof(Shared)];
  Loop<P, Rows>{view, launch, *reinterpret_cast<Shared*>(storage)}.run();
}

/// First values, the first frontier as a bitmap, and who is open. A warp for every word.
template <class P, class Rows>
__global__ void __launch_bounds__(block_threads) start(const __grid_constant__ View<P, Rows> view, bool given) {
  using T              = Traits<P>;
  using Machine        = cuda::Machine<P, Rows>;
  using Accumulator    = typename T::Combine::Accumulator;
  const auto degree_in = [](const Rows* rows, int blocks, Vertex v) {
    EdgeIndex edges = 0;
    for (int b = 0; b < blocks; ++b) edges += rows[b].slice(v).length();
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
    const Vertex        name   = view.original != nullptr ? view.original[v] : v;
    bool                active = valid, open = valid;
    if (valid) {
      if (!given) view.values[v] = Operations<P>::first_value(view.program, name, [&] { return edges; });
      active = Operations<P>::starts(view.program, name, view.values[v]) && view.replay == nullptr;
      if constexpr (T::gathers)
        if (view.sums != nullptr) view.sums[v] = detail::converted<Accumulator>(T::Combine::identity());
      const bool can_receive =
          !T::voting || view.pull_blocks == 0 || degree_in(view.pull, view.pull_blocks, v) > 0;
      open = Operations<P>::open_at_first(view.program, view.values[v], active, can_receive);
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
  active_vertices = warp_sum(active_vertices), active_edges = warp_sum(active_edges);
  open_vertices = warp_sum(open_vertices), open_edges = warp_sum(open_edges);
  if (lane_index() != 0) return;
  atomicAdd(&view.iteration_counters[0].vertices, active_vertices);
  atomicAdd(&view.iteration_counters[0].edges, active_edges);
  atomicAdd(&view.control->open_vertices, open_vertices);
  atomicAdd(&view.control->open_edges, open_edges);
}

/// to[i] is from[places[i]].
template <class Value>
__global__ void permute(const Value* from, const Vertex* places, std::uint64_t count, Value* to) {
  deal<LaneTeam>(count, [&](std::uint64_t i) { to[i] = from[places[i]]; });
}

/// The rows that only a block should pull, or push.
template <class P, class Rows>
__global__ void find_large(const __grid_constant__ View<P, Rows> view, bool pushed, Vertex* found,
                           unsigned* count) {
  const auto is_large = [&](Vertex v) {
    const Rows* const rows   = pushed ? view.push : view.pull;
    const int         blocks = pushed ? view.push_blocks : view.pull_blocks;
    EdgeIndex         edges  = 0;
    for (int b = 0; b < blocks; ++b) edges += rows[b].slice(v).length();
    return edges >= view.sizes.large_degree;
  };
  list_vertices(view.vertices, is_large, found, count);
}

}  // namespace spillway::cuda
