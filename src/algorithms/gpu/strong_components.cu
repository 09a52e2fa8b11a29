// Strongly connected components on a GPU. What no cycle can go through is trimmed; a pivot with many neighbours
// takes the giant component, who reaches it and is reached by it; and colours take the rest: the smallest vertex
// that reaches each, and those who reach back the one it is of (Slota, Rajamanickam, Madduri: BFS and
// Coloring-based Parallel Algorithms for Strongly Connected Components, IPDPS 2014; Orzan, thesis, Amsterdam
// 2004). Where paths are long, many pivots search at once, each what is nearest. Which pivots reach each other is
// then found in a graph of pivots, and two short searches from all that its largest component holds find what is
// left of the giant one. Searches are programs of the engine (scc/searches.hpp); kernels prepare and read their
// values.
#include <algorithm>
#include <bit>
#include <vector>

#include "algorithms/gpu/gpu.hpp"
#include "algorithms/gpu/rows.cuh"
#include "algorithms/gpu/visit_rows.cuh"
#include "algorithms/programs/strong_components.hpp"
#include "algorithms/scc/searches.hpp"
#include "algorithms/scc/strong_components.hpp"
#include "algorithms/several_runs.hpp"
#include "base/fail.hpp"
#include "engine/cuda/device_graph.hpp"

namespace spillway::gpu {
namespace {

using scc::Color;
using scc::ColorBack;
using Trim    = scc::Trim<Along::out>;   // values are the same either way
using Reach   = scc::Reach<Along::out>;  // likewise
using Numbers = DeviceArray<std::uint32_t>;

struct State {
  std::uint64_t vertices;
  Vertex*       component;  ///< the smallest vertex of it; none yet: no_vertex

  __device__ bool left(Vertex v) const { return component[v] == no_vertex; }

  template <class Body>
  __device__ void for_all(Body&& body) const {
    for (std::uint64_t v = first_item(); v < vertices; v += item_stride()) body(static_cast<Vertex>(v));
  }
};

// --- trimming ---

/// Neighbours in an ascending row but the vertex itself.
__device__ std::uint32_t others_in(const Rows& rows, Vertex v) {
  const Vertex* const row    = rows.targets + rows.offsets[v];
  const EdgeIndex     degree = rows.degree(v), first = place_in(row, degree, v);
  const EdgeIndex     last = partition_point(first, degree, [&](EdgeIndex i) { return row[i] == v; });
  return static_cast<std::uint32_t>(degree - (last - first));
}

/// Where not everybody is left, rows are counted afterwards.
__global__ void begin_counts(State state, Rows rows, bool all_left, std::uint32_t* counts) {
  state.for_all([&](Vertex v) { counts[v] = !state.left(v) ? Trim::closed : all_left ? others_in(rows, v) : 0; });
}

__global__ void count_left_neighbors(State state, Rows rows, std::uint32_t* counts) {
  visit_rows(
      rows, state.vertices, [&](Vertex v) { return state.left(v); },
      [&](Vertex v, EdgeIndex i) {
        const Vertex u = rows.targets[i];
        if (u != v && state.left(u)) atomicAdd(counts + v, 1u);
        return false;
      });
}

__global__ void find_gone(State state, const std::uint32_t* counts, unsigned* found) {
  state.for_all([&](Vertex v) {
    if (counts[v] == Trim::gone) atomics::store(*found, 1u);
  });
}

/// Who is gone is a component; trimming from the other side does without it.
__global__ void settle_trimmed(State state, const std::uint32_t* counts, std::uint32_t* other_side) {
  state.for_all([&](Vertex v) {
    if (counts[v] != Trim::gone) return;
    state.component[v] = v;
    if (other_side != nullptr) other_side[v] = Trim::closed;
  });
}

// --- pivots ---

/// Each pivot has a slot, which is the number that its search spreads. Vertices are spread over slots, and tell
/// ties apart, by a multiplication that can be undone.
struct Slots {
  static constexpr Vertex factor  = 0x9E3779B1u;
  static constexpr Vertex inverse = [] {
    Vertex found = factor;  // right in its last three bits; every step doubles them
    for (int bits = 3; bits < 32; bits *= 2) found *= 2 - factor * found;
    return found;
  }();
  static_assert(factor * inverse == 1);

  Count*   best;  ///< of each slot: neighbours on the side with fewer, above the vertex; 0: it has no pivot
  unsigned bits;  ///< of a slot's number

  SPILLWAY_HD unsigned      count() const { return 1u << bits; }
  __device__ unsigned       of(Vertex v) const { return bits == 0 ? 0 : (v * factor) >> (32 - bits); }
  __device__ static Count   key(EdgeIndex degree, Vertex v) { return Count{degree} << 32 | (v * factor); }
  SPILLWAY_HD static Vertex vertex(Count key) { return static_cast<Vertex>(key) * inverse; }
};

__global__ void choose_pivots(State state, Rows out, Rows in, Slots slots) {
  constexpr EdgeIndex most = 0xFFFFFFFFu;
  state.for_all([&](Vertex v) {
    if (!state.left(v)) return;
    const EdgeIndex leaving = out.degree(v), arriving = in.degree(v),
                    both = leaving < arriving ? leaving : arriving;
    const Count key      = Slots::key(both < most ? both : most, v);
    if (Count& best = slots.best[slots.of(v)]; key > atomics::load_cached(best)) atomicMax(&best, key);
  });
}

/// What was found from the pivots, and what finds them.
struct Reached {
  std::uint32_t* from;
  std::uint32_t* to;

  __device__ bool both(Vertex v) const { return Reach::reached(from[v]) && Reach::reached(to[v]); }
};

__global__ void begin_reaching(State state, Reached reached) {
  state.for_all(
      [&](Vertex v) { reached.from[v] = reached.to[v] = state.left(v) ? Reach::unreached : Reach::closed; });
}

__global__ void plant_pivots(Slots slots, Reached reached) {
  for (std::uint64_t slot = first_item(); slot < slots.count(); slot += item_stride()) {
    if (slots.best[slot] == 0) continue;
    const Vertex pivot  = Slots::vertex(slots.best[slot]);
    reached.from[pivot] = reached.to[pivot] = static_cast<std::uint32_t>(slot);
  }
}

/// Which pivots reach which: a bit for each two.
struct PivotArcs {
  unsigned* bits;
  unsigned  pivots;

  __device__ void note(std::uint32_t from, std::uint32_t to) const {
    if (!Reach::reached(from) || !Reach::reached(to) || from == to) return;
    const std::uint64_t place = std::uint64_t{from} * pivots + to;
    const unsigned      bit   = 1u << (place % 32);
    if ((atomics::load_cached(bits[place / 32]) & bit) == 0) atomicOr(bits + place / 32, bit);
  }
};

/// A pivot reaches the vertices that have its number, and over an arc from one of them those that the next
/// reaches.
__global__ void join_pivots(State state, Rows out, Reached reached, PivotArcs arcs) {
  visit_rows(
      out, state.vertices,
      [&](Vertex v) {
        arcs.note(reached.from[v], reached.to[v]);
        return Reach::reached(reached.from[v]);
      },
      [&](Vertex v, EdgeIndex i) {
        arcs.note(reached.from[v], reached.to[out.targets[i]]);
        return false;
      });
}

/// Whoever lies between pivots that reach each other starts two more searches.
__global__ void start_from_core(State state, Reached reached, const unsigned char* in_core) {
  state.for_all([&](Vertex v) {
    if (reached.from[v] == Reach::closed) return;
    const bool starts = reached.both(v) && in_core[reached.from[v]] != 0 && in_core[reached.to[v]] != 0;
    reached.from[v] = reached.to[v] = starts ? 0 : Reach::unreached;
  });
}

__global__ void find_lowest(State state, Reached reached, Vertex* lowest) {
  Vertex mine = no_vertex;
  state.for_all([&](Vertex v) {
    if (v < mine && reached.both(v)) mine = v;
  });
  mine = __reduce_min_sync(all_lanes, mine);
  if (lane_index() == 0 && mine != no_vertex) atomicMin(lowest, mine);
}

__global__ void settle_reached(State state, Reached reached, const Vertex* lowest) {
  state.for_all([&](Vertex v) {
    if (reached.both(v)) state.component[v] = *lowest;
  });
}

// --- colours ---

__global__ void begin_colors(State state, std::uint32_t* colors) {
  state.for_all([&](Vertex v) { colors[v] = state.left(v) ? v + 1 : Color::closed; });
}

/// A vertex that kept its own colour is found.
__global__ void begin_back(State state, const std::uint32_t* colors, ColorBack::Value* back) {
  state.for_all([&](Vertex v) {
    back[v] = colors[v] == Color::closed ? ColorBack::closed : ColorBack::of(colors[v], colors[v] == v + 1);
  });
}

__global__ void settle_colors(State state, const ColorBack::Value* back) {
  state.for_all([&](Vertex v) {
    if (ColorBack::found(back[v])) state.component[v] = ColorBack::color(back[v]) - 1;
  });
}

__global__ void count_left(State state, Count* left) {
  Count mine = 0;
  state.for_all([&](Vertex v) { mine += state.left(v) ? 1 : 0; });
  mine = warp_sum(mine);
  if (lane_index() == 0 && mine != 0) atomicAdd(left, mine);
}

// --- the host's side ---

/// The slots whose pivots are in the largest component of the graph of pivots.
std::vector<unsigned char> core_of(const std::vector<unsigned>& arcs, const std::vector<Count>& pivots) {
  const std::size_t   slots = pivots.size();
  std::vector<Vertex> sources, targets;
  for (std::size_t word = 0; word < arcs.size(); ++word)
    for (unsigned rest = arcs[word]; rest != 0; rest &= rest - 1) {
      const std::size_t place = word * 32 + static_cast<std::size_t>(std::countr_zero(rest));
      sources.push_back(static_cast<Vertex>(place / slots));
      targets.push_back(static_cast<Vertex>(place % slots));
    }
  const Graph        graph = from_arcs(sources, targets, {}, WeightType::none, slots, {.threads = 1});
  const auto         found = scc::strong_components(graph, {}, 1, Progress::none());
  std::vector<Count> size(slots);
  for (std::size_t slot = 0; slot < slots; ++slot) size[found.labels[slot]] += pivots[slot] != 0 ? 1 : 0;
  const auto                 largest = std::max_element(size.begin(), size.end()) - size.begin();
  std::vector<unsigned char> core(slots);
  for (std::size_t slot = 0; slot < slots; ++slot)
    core[slot] = pivots[slot] != 0 && found.labels[slot] == static_cast<Vertex>(largest) ? 1 : 0;
  return core;
}

class ComponentSearch {
 public:
  ComponentSearch(const Graph& graph, const RunOptions& options)
      : graph_(graph),
        options_(Session::in_place(options)),
        progress_(options.progress ? *options.progress : Progress::none()),
        work_(scc::work_of_searches(graph)),
        there_(cuda::DeviceGraph::of(graph, options.device)),
        device_(there_->device()) {
    options_.device.kind = cuda_kind();  // the CPU has a way of its own
    options_.explain     = false;
    options_.checkpoints = nullptr;
    if (options_.cuda.filter == Filter::online) options_.cuda.filter = Filter::just_in_time;  // it may fail
  }

  Components run() {
    const Stopwatch clock;
    Components      result;
    result.labels = {graph_.vertex_count(), graph_.budget(), what};
    with_rows(0, [&](const Rows&, const Rows&) { begin(); });
    if (graph_.vertex_count() > 0) settle_all();
    const Stopwatch bringing;
    component_.download(result.labels.data());
    total_.transfer_ms += bringing.milliseconds();
    total_.run_ms     = std::max(0.0, clock.milliseconds() - total_.prepare_ms - total_.transfer_ms);
    result.statistics = std::move(total_);
    return result;
  }

 private:
  static constexpr const char* what = "the components";

  void begin() {
    component_ = {device_, graph_.vertex_count(), what};
    flag_      = {device_, 1, what};
    count_     = {device_, 1, what};
    state_     = {graph_.vertex_count(), component_.data()};
    if (component_.size() > 0)
      check(cudaMemsetAsync(component_.data(), 0xFF, component_.size() * sizeof(Vertex), nullptr), "computing");
  }

  void settle_all() {
    trim(/*all_left=*/true);
    if (!any_left()) return;
    take_giant();
    while (any_left()) {
      trim(/*all_left=*/false);
      if (!any_left()) return;
      take_colors();
    }
  }

  // --- steps ---

  void trim(bool all_left) {
    Numbers arriving{device_, graph_.vertex_count(), what}, leaving{device_, graph_.vertex_count(), what};
    with_rows(0, [&](const Rows& out, const Rows& in) {
      count_neighbors(in, all_left, arriving);
      count_neighbors(out, all_left, leaving);
    });
    trim_along(Along::out, arriving, leaving.data());
    arriving = {};
    trim_along(Along::in, leaving, nullptr);
  }

  void count_neighbors(const Rows& rows, bool all_left, const Numbers& counts) {
    over_all(begin_counts, rows, all_left, counts.data());
    if (!all_left) over_all(count_left_neighbors, rows, counts.data());
  }

  void trim_along(Along way, Numbers& counts, std::uint32_t* other_side) {
    flag_.clear();
    over_all(find_gone, static_cast<const std::uint32_t*>(counts.data()), flag_.data());
    if (downloaded(flag_) == 0) return;
    search(counts, [&](auto values) { return scc::trimmed(graph_, way, std::move(values), options_); });
    over_all(settle_trimmed, static_cast<const std::uint32_t*>(counts.data()), other_side);
  }

  void take_giant() {
    DeviceArray<Count> best{device_, scc::pivots_at_once(graph_), what};
    Numbers            from{device_, graph_.vertex_count(), what}, to{device_, graph_.vertex_count(), what};
    const Slots        slots{best.data(), static_cast<unsigned>(std::bit_width(best.size()) - 1)};
    best.clear();
    with_rows(0, [&](const Rows& out, const Rows& in) { over_all(choose_pivots, out, in, slots); });
    over_all(begin_reaching, Reached{from.data(), to.data()});
    SPILLWAY_LAUNCH(plant_pivots, blocks_for(slots.count()), block_threads, slots,
                    Reached{from.data(), to.data()});
    ++total_.counters.kernel_launches;
    reach(from, to);
    if (best.size() > 1) {
      start_over(best, from, to);
      reach(from, to);
    }
    settle({from.data(), to.data()});
  }

  void reach(Numbers& from, Numbers& to) {
    search(from, [&](auto values) { return scc::reached(graph_, Along::out, std::move(values), options_); });
    search(to, [&](auto values) { return scc::reached(graph_, Along::in, std::move(values), options_); });
  }

  /// From all vertices that lie between the pivots of the largest component of pivots.
  void start_over(const DeviceArray<Count>& best, const Numbers& from, const Numbers& to) {
    const std::uint64_t   slots = best.size(), words = std::max<std::uint64_t>(slots * slots / 32, 1);
    DeviceArray<unsigned> joined{device_, words, what};
    const Reached         reached{from.data(), to.data()};
    joined.clear();
    with_rows(graph_.arc_count(), [&](const Rows& out, const Rows&) {
      over_all(join_pivots, out, reached, PivotArcs{joined.data(), static_cast<unsigned>(slots)});
    });
    std::vector<unsigned> arcs(words);
    std::vector<Count>    pivots(slots);
    joined.download(arcs.data());
    best.download(pivots.data());
    const std::vector<unsigned char> core = core_of(arcs, pivots);
    DeviceArray<unsigned char>       in_core{device_, slots, what};
    in_core.upload(core.data());
    over_all(start_from_core, reached, static_cast<const unsigned char*>(in_core.data()));
    device_.wait();  // `core` is of this scope
  }

  void settle(Reached reached) {
    DeviceArray<Vertex> lowest{device_, 1, what};
    lowest.upload(&no_vertex);
    over_all(find_lowest, reached, lowest.data());
    over_all(settle_reached, reached, static_cast<const Vertex*>(lowest.data()));
  }

  void take_colors() {
    Numbers colors{device_, graph_.vertex_count(), what};
    over_all(begin_colors, colors.data());
    search(colors, [&](auto values) { return scc::colored(graph_, std::move(values), options_); });
    DeviceArray<ColorBack::Value> back{device_, graph_.vertex_count(), what};
    over_all(begin_back, static_cast<const std::uint32_t*>(colors.data()), back.data());
    colors = {};
    search(back, [&](auto values) { return scc::colored_back(graph_, std::move(values), options_); });
    over_all(settle_colors, static_cast<const ColorBack::Value*>(back.data()));
  }

  bool any_left() {
    count_.clear();
    over_all(count_left, count_.data());
    return downloaded(count_) != 0;
  }

  // --- what they are made of ---

  /// Rows are this thread's only meanwhile: programs bring their own, and those in host memory are for one at a
  /// time.
  template <class Body>
  void with_rows(std::uint64_t arcs, Body&& body) {
    check_cancelled(progress_);
    Session           session{graph_, options_, work_};
    const RowsOfSides rows = session.rows();
    body(rows.push[0], rows.pull[0]);
    session.computed();
    RunStatistics made = session.statistics(graph_.vertex_count(), arcs, 0);
    made.iterations    = 0;  // those of programs are listed
    if (!made.method.empty()) options_.method = edges_in_place();
    add_statistics(total_, made, /*with_iterations=*/false);
  }

  /// A program goes on from the values, and leaves its own there.
  template <class T, class Program>
  void search(DeviceArray<T>& values, Program&& program) {
    using Kept          = cuda::KeptValues<T>;
    scc::Searched found = program(std::make_shared<Kept>(there_->shared_device(), std::move(values)));
    values              = std::move(dynamic_cast<Kept&>(*found.values).values);
    add_statistics(total_, found.statistics, /*with_iterations=*/true);
  }

  template <class Kernel, class... More>
  void over_all(Kernel kernel, More... more) {
    SPILLWAY_LAUNCH(kernel, blocks_for(graph_.vertex_count()), block_threads, state_, more...);
    ++total_.counters.kernel_launches;
  }

  template <class T>
  static T downloaded(const DeviceArray<T>& one) {
    T value{};
    one.download(&value);
    return value;
  }

  const Graph&                       graph_;
  RunOptions                         options_;
  const Progress&                    progress_;
  AlgorithmWork                      work_;
  std::shared_ptr<cuda::DeviceGraph> there_;
  cuda::Device&                      device_;
  DeviceArray<Vertex>                component_;
  DeviceArray<unsigned>              flag_;
  DeviceArray<Count>                 count_;
  State                              state_{};
  RunStatistics                      total_;
};

}  // namespace

Components strong_components(const Graph& graph, const RunOptions& options) {
  return ComponentSearch{graph, options}.run();
}

}  // namespace spillway::gpu
