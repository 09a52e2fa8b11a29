// What is left, on one thread and in one pass: Tarjan's walk in the form that needs one number a vertex (Pearce, A
// Space-Efficient Algorithm for Finding Strongly Connected Components, IPL 2016). Its path is a list, not the
// stack of the machine, so that depth does not matter.
#include <algorithm>

#include "algorithms/scc/state.hpp"

namespace spillway::scc {
namespace {

class SerialWalk {
 public:
  explicit SerialWalk(State& state)
      : state_(state),
        low_(state.found.labels),
        path_(state.live.all().size(), state.graph.budget(), "the path of a walk"),
        waiting_(state.live.all().size(), state.graph.budget(), "a list of vertices") {}

  void run() {
    const auto live = state_.live.all();
    for (const Vertex v : live) low_[v] = no_vertex;
    for (const Vertex v : live) {
      if (state_.has(v, settled) || low_[v] != no_vertex) continue;
      enter(v);
      while (depth_ > 0) step();
    }
    state_.count_arcs(arcs_);
    state_.found.serially += live.size();
    state_.note_settled(live.size(), components_, largest_);
  }

 private:
  struct Frame {
    EdgeIndex next;
    Vertex    vertex;
    Vertex    number;  ///< by order of entering
  };

  void enter(Vertex v) {
    if (entered_ % 65536 == 0) check_cancelled(state_.progress);
    low_[v]         = entered_;
    path_[depth_++] = {state_.out.offsets[v], v, entered_++};
    arcs_ += state_.out.degree(v);
  }

  /// Follows arcs up to the first that leads somewhere new; that one is looked at again on the way back.
  void step() {
    Frame&          top = path_[depth_ - 1];
    const Vertex    v   = top.vertex;
    const EdgeIndex end = state_.out.offsets[v + 1];
    for (; top.next < end; ++top.next) {
      const Vertex w = state_.out.targets[top.next];
      if (state_.has(w, settled)) continue;
      if (low_[w] == no_vertex) return enter(w);
      low_[v] = std::min(low_[v], low_[w]);
    }
    --depth_;
    if (low_[v] == top.number) {
      assign_component(v, top.number);
    } else {
      waiting_[held_++] = v;
    }
  }

  /// `root` leads to nothing older: it and those that wait since it was entered are a component.
  void assign_component(Vertex root, Vertex number) {
    std::uint64_t first = held_;
    Vertex        label = root;
    for (; first > 0 && low_[waiting_[first - 1]] >= number; --first) label = std::min(label, waiting_[first - 1]);
    const auto put = [&](Vertex v) {
      state_.marks[v] = settled;
      low_[v]         = label;
    };
    put(root);
    for (const Vertex v : waiting_.span().subspan(first, held_ - first)) put(v);
    ++components_;
    largest_ = std::max(largest_, held_ - first + 1);
    held_    = first;
  }

  State&                state_;
  const Buffer<Vertex>& low_;  ///< the smallest number that a walk from here meets; the label once that is known
  Buffer<Frame>         path_;
  Buffer<Vertex>        waiting_;
  std::uint64_t         depth_ = 0, held_ = 0;
  Vertex                entered_    = 0;
  std::uint64_t         components_ = 0, largest_ = 0, arcs_ = 0;
};

}  // namespace

void finish_serially(State& state) { SerialWalk{state}.run(); }

}  // namespace spillway::scc
