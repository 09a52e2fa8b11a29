// Strongly connected components on a GPU: what no cycle can go through is trimmed, a pivot with many neighbours
// takes the giant component (who reaches it and is reached by it), and colours take the rest: the largest number
// that reaches a vertex, and those who reach back the one it is of (Slota, Rajamanickam, Madduri: BFS and
// Coloring-based Parallel Algorithms for Strongly Connected Components, IPDPS 2014). Every sweep asks all vertices
// that are left.
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/gpu/session.cuh"
#include "base/fail.hpp"

namespace spillway::gpu {
namespace {

constexpr unsigned char from_pivot = 1, to_pivot = 2;

struct Sides {
  Rows          out, in;
  std::uint64_t vertices;
};

struct State {
  Vertex*        component;  ///< a vertex of it; none yet: no_vertex
  Vertex*        color;
  unsigned char* marks;
  unsigned*      changed;
  Count*         best;  ///< the pivot's degrees above its number

  /// Others may be settling vertices meanwhile; an old answer is as good, since every step is repeated until none
  /// is left.
  __device__ bool left(Vertex v) const { return atomics::load_cached(component[v]) == no_vertex; }
  __device__ void note_change() const { atomics::store(*changed, 1u); }
};

/// body(v) by a warp, for every vertex that is left.
template <class Body>
__device__ void for_left(const Sides& graph, const State& state, Body&& body) {
  deal<WarpTeam>(graph.vertices, [&](std::uint64_t v) {
    if (state.left(static_cast<Vertex>(v))) body(static_cast<Vertex>(v));
  });
}

/// Whether any neighbour in the row is as asked for; the whole warp knows.
template <class Asked>
__device__ bool any_in_row(const Rows& rows, Vertex v, Asked&& asked) {
  const EdgeIndex last = rows.offsets[v + 1];
  for (EdgeIndex base = rows.offsets[v]; base < last; base += warp_lanes) {
    const EdgeIndex i = base + threadIdx.x % warp_lanes;
    if (__any_sync(all_lanes, i < last && asked(rows.targets[i]))) return true;
  }
  return false;
}

__device__ bool is_leader() { return threadIdx.x % warp_lanes == 0; }

__global__ void trim(Sides graph, State state) {
  for_left(graph, state, [&](Vertex v) {
    const auto other = [&](Vertex u) { return u != v && state.left(u); };
    if (any_in_row(graph.out, v, other) && any_in_row(graph.in, v, other)) return;
    if (!is_leader()) return;
    atomics::store(state.component[v], v);
    state.note_change();
  });
}

__global__ void choose_pivot(Sides graph, State state) {
  for (std::uint64_t u = first_item(); u < graph.vertices; u += item_stride()) {
    const auto v = static_cast<Vertex>(u);
    if (!state.left(v)) continue;
    const EdgeIndex out = graph.out.degree(v), in = graph.in.degree(v), both = out < in ? out : in;
    atomicMax(state.best, (both < 0xFFFFFFFFu ? both : 0xFFFFFFFFull) << 32 | v);
  }
}

/// One more step from the marked ones, along the arcs (rows: in-edges) or against them (out-edges).
__global__ void spread_mark(Sides graph, State state, Rows rows, unsigned char mark) {
  for_left(graph, state, [&](Vertex v) {
    const unsigned char own = atomics::load_cached(state.marks[v]);
    if (own & mark) return;
    const auto marked = [&](Vertex u) { return (atomics::load_cached(state.marks[u]) & mark) && state.left(u); };
    if (!any_in_row(rows, v, marked) || !is_leader()) return;
    atomics::store(state.marks[v], static_cast<unsigned char>(own | mark));
    state.note_change();
  });
}

__global__ void take_marked(Sides graph, State state, Vertex pivot) {
  for (std::uint64_t v = first_item(); v < graph.vertices; v += item_stride())
    if (state.marks[v] == (from_pivot | to_pivot)) state.component[v] = pivot;
}

__global__ void color_each(Sides graph, State state) {
  for (std::uint64_t v = first_item(); v < graph.vertices; v += item_stride())
    state.color[v] = static_cast<Vertex>(v);
}

__global__ void spread_color(Sides graph, State state) {
  for_left(graph, state, [&](Vertex v) {
    const Vertex    own  = atomics::load_cached(state.color[v]);
    Vertex          most = own;
    const EdgeIndex last = graph.in.offsets[v + 1];
    for (EdgeIndex i = graph.in.offsets[v] + threadIdx.x % warp_lanes; i < last; i += warp_lanes) {
      const Vertex u = graph.in.targets[i];
      if (!state.left(u)) continue;
      const Vertex color = atomics::load_cached(state.color[u]);
      if (color > most) most = color;
    }
    most = __reduce_max_sync(all_lanes, most);
    if (!is_leader() || most == own) return;
    atomics::store(state.color[v], most);
    state.note_change();
  });
}

/// A colour's own vertex is of its component…
__global__ void settle_roots(Sides graph, State state) {
  for (std::uint64_t u = first_item(); u < graph.vertices; u += item_stride()) {
    const auto v = static_cast<Vertex>(u);
    if (state.left(v) && state.color[v] == v) atomics::store(state.component[v], v), state.note_change();
  }
}

/// …and so is who has the colour and an arc to one that is.
__global__ void settle_back(Sides graph, State state) {
  for_left(graph, state, [&](Vertex v) {
    const Vertex color = state.color[v];
    const auto   of_it = [&](Vertex u) {
      return atomics::load_cached(state.component[u]) == color && state.color[u] == color;
    };
    if (!any_in_row(graph.out, v, of_it) || !is_leader()) return;
    atomics::store(state.component[v], color);
    state.note_change();
  });
}

__global__ void lowest_of(Sides graph, State state, Vertex* lowest) {
  for (std::uint64_t v = first_item(); v < graph.vertices; v += item_stride())
    atomicMin(lowest + state.component[v], static_cast<Vertex>(v));
}

__global__ void name_by_lowest(Sides graph, State state, const Vertex* lowest) {
  for (std::uint64_t v = first_item(); v < graph.vertices; v += item_stride())
    state.component[v] = lowest[state.component[v]];
}

class ComponentSearch {
 public:
  ComponentSearch(Session& session, const Sides& graph, const Progress& progress)
      : device_(session.device()),
        graph_(graph),
        progress_(progress),
        component_(device_, graph.vertices, what),
        color_(device_, graph.vertices, what),
        marks_(device_, graph.vertices, what),
        changed_(device_, 1, what),
        best_(device_, 1, what),
        state_{component_.data(), color_.data(), marks_.data(), changed_.data(), best_.data()} {}

  void run() {
    check(cudaMemsetAsync(component_.data(), 0xFF, graph_.vertices * sizeof(Vertex), nullptr), "computing");
    trim_all();
    take_pivot();
    do {
      trim_all();
    } while (take_colors());
    name();
  }

  const DeviceArray<Vertex>& labels() const { return component_; }
  std::uint64_t              kernels() const { return kernels_; }
  std::uint64_t              sweeps() const { return sweeps_; }

 private:
  static constexpr const char* what = "the components";

  /// A kernel over all vertices, `threads` to each.
  template <class Kernel, class... More>
  void over_all(Kernel kernel, unsigned threads, More... more) {
    SPILLWAY_LAUNCH(kernel, blocks_for(graph_.vertices * threads), block_threads, graph_, state_, more...);
    ++kernels_;
  }

  /// True if it changed anything.
  template <class Kernel, class... More>
  bool changes(Kernel kernel, More... more) {
    check_cancelled(progress_);
    changed_.clear();
    over_all(kernel, warp_lanes, more...);
    unsigned changed = 0;
    changed_.download(&changed);
    ++sweeps_;
    return changed != 0;
  }

  template <class Kernel, class... More>
  void until_quiet(Kernel kernel, More... more) {
    while (changes(kernel, more...)) {
    }
  }

  void trim_all() { until_quiet(trim); }

  void take_pivot() {
    best_.clear();
    marks_.clear();
    over_all(choose_pivot, 1);
    Count best = 0;
    best_.download(&best);
    if (best >> 32 == 0) return;  // nobody is left that has arcs both ways
    const auto          pivot = static_cast<Vertex>(best);
    const unsigned char both  = from_pivot | to_pivot;
    device_.upload(marks_.data() + pivot, &both, 1);
    until_quiet(spread_mark, graph_.in, from_pivot);
    until_quiet(spread_mark, graph_.out, to_pivot);
    over_all(take_marked, 1, pivot);
  }

  /// False if nobody was left.
  bool take_colors() {
    over_all(color_each, 1);
    until_quiet(spread_color);
    if (!changes(settle_roots)) return false;
    until_quiet(settle_back);
    return true;
  }

  void name() {
    check(cudaMemsetAsync(color_.data(), 0xFF, graph_.vertices * sizeof(Vertex), nullptr), "computing");
    over_all(lowest_of, 1, color_.data());
    over_all(name_by_lowest, 1, static_cast<const Vertex*>(color_.data()));
  }

  cuda::Device&              device_;
  Sides                      graph_;
  const Progress&            progress_;
  DeviceArray<Vertex>        component_, color_;
  DeviceArray<unsigned char> marks_;
  DeviceArray<unsigned>      changed_;
  DeviceArray<Count>         best_;
  State                      state_;
  std::uint64_t              kernels_ = 0, sweeps_ = 0;
};

}  // namespace

Components strong_components(const Graph& graph, const RunOptions& options) {
  const std::uint64_t n    = graph.vertex_count();
  const AlgorithmWork work = work_of_strong_components(graph);
  Session             session{graph, options, work};
  ComponentSearch     search{session,
                         {session.rows().push[0], session.rows().pull[0], n},
                         options.progress ? *options.progress : Progress::none()};
  if (n > 0) search.run();
  session.computed();
  Components result;
  result.labels = {n, graph.budget(), "the components"};
  search.labels().download(result.labels.data());
  result.statistics            = session.statistics(n, graph.arc_count() * search.sweeps(), search.kernels());
  result.statistics.iterations = search.sweeps();
  return result;
}

}  // namespace spillway::gpu
