// Virtual nodes (Tigr, section 4): the parts of a row, each of at most K edges that lie side by side. They are
// found by the degrees and K (dynamic mapping reasoning); on the CPU a stride between the edges of a node would
// waste cache lines. Threads take groups of nodes, so that a small K costs no task a node.
#pragma once

#include <atomic>
#include <vector>

#include <spillway/engine/block.hpp>
#include <spillway/engine/search.hpp>

namespace spillway::host {

/// The nodes of a block of rows, in groups of about equal work, which are handed out as pages are: whole rows, or
/// a part of one. Groups do not depend on the number of threads.
class NodeGroups final : public PageFeed {
 public:
  /// `grain`: edges and vertices of a group.
  NodeGroups(const RowBlock& block, EdgeIndex node_edges, std::uint64_t grain) : block_(block) {
    const std::uint64_t end = work_before(block.last);
    Place               at{block.first, 0};
    for (std::uint64_t work = grain; at.vertex < block.last; work += grain) {
      const Place next = work < end ? place_of(work, node_edges) : Place{block.last, 0};
      add(at, next);
      at = next;
    }
  }

  std::uint64_t count() const override { return groups_.size(); }
  bool          next(int, PageRows& group) override {
    const std::uint64_t i = taken_.fetch_add(1, std::memory_order_relaxed);
    if (i < groups_.size()) group = groups_[i];
    return i < groups_.size();
  }

  /// Of a row that takes an edge or itself at a time: so many edges are in nodes that end before a time.
  static EdgeIndex edges_before(std::uint64_t time, EdgeIndex length, EdgeIndex node_edges) {
    return time > length ? length : time / node_edges * node_edges;
  }

 private:
  struct Place {
    Vertex    vertex;
    EdgeIndex edge;  ///< of its row
  };

  std::uint64_t work_before(std::uint64_t v) const {
    return block_.rows.offsets[v] - block_.rows.offsets[block_.first] + (v - block_.first);
  }

  Place place_of(std::uint64_t work, EdgeIndex node_edges) const {
    const auto v =
        static_cast<Vertex>(partition_point(std::uint64_t{block_.first}, std::uint64_t{block_.last},
                                            [&](std::uint64_t u) { return work_before(u + 1) <= work; }));
    const EdgeIndex length = block_.rows.degree(v);
    const EdgeIndex before = edges_before(work - work_before(v), length, node_edges);
    return before > 0 && before == length ? Place{v + 1, 0} : Place{v, before};
  }

  void add(Place from, const Place& to) {
    const auto length = [&](Vertex v) { return block_.rows.degree(v); };
    if (from.edge > 0) {
      const bool ends = from.vertex < to.vertex;
      add_part(from.vertex, from.edge, ends ? length(from.vertex) : to.edge);
      if (!ends) return;
      from = {from.vertex + 1, 0};
    }
    if (from.vertex < to.vertex) {
      const EdgeIndex* const offsets = block_.rows.offsets;
      groups_.push_back({.rows   = block_.rows,
                         .first  = from.vertex,
                         .last   = to.vertex,
                         .edges  = {offsets[from.vertex], offsets[to.vertex]},
                         .number = groups_.size()});
    }
    add_part(to.vertex, 0, to.edge);
  }

  void add_part(Vertex v, EdgeIndex first, EdgeIndex last) {
    if (first >= last) return;
    const EdgeIndex begin = block_.rows.offsets[v];
    groups_.push_back({.rows    = block_.rows,
                       .first   = v,
                       .last    = v + 1,
                       .edges   = {begin + first, begin + last},
                       .in_part = true,
                       .number  = groups_.size()});
  }

  const RowBlock&            block_;
  std::vector<PageRows>      groups_;
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace spillway::host
