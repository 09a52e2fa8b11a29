// Virtual nodes: rows are cut into parts of at most K edges, one to a thread, and the parts of a vertex meet at
// its value (A. H. N. Sabet, J. Qiu, Z. Zhao: Tigr, ASPLOS 2018, section 4). Which node has which edges follows
// from the degree and K; an array of the nodes, and a scan of all of them, are for comparison.
#pragma once

#include <spillway/engine/cuda/machine.cuh>

namespace spillway::cuda {

template <class P, class Rows>
__device__ void Machine<P, Rows>::note_nodes() {
  const Count nodes = warp_sum(mine_.nodes);
  if (lane_index() == 0 && nodes != 0) atomicAdd(&view_.visit_counters->virtual_nodes, nodes);
}

/// body(row, node, there) for the nodes of the rows that lanes have, a node to a lane; `row`: the lane that has
/// it.
template <class P, class Rows>
template <class Body>
__device__ void Machine<P, Rows>::deal_nodes(unsigned nodes, Body&& body) {
  const unsigned before = warp_exclusive_sum(nodes);
  const unsigned all    = __shfl_sync(all_lanes, before + nodes, warp_lanes - 1);
  mine_.nodes += nodes;
  for (unsigned step = 0; step < all; step += warp_lanes) {
    const unsigned k     = step + lane_index();
    const unsigned owner = owner_of(k, before);
    body(owner, k - __shfl_sync(all_lanes, before, static_cast<int>(owner)), k < all);
  }
}

/// The same for the nodes of one row, which a team has.
template <class P, class Rows>
template <class Team, class Body>
__device__ void Machine<P, Rows>::deal_nodes_of_row(unsigned nodes, Body&& body) {
  if (Team::rank() == 0) mine_.nodes += nodes;
  for (unsigned base = Team::rank() - lane_index(); base < nodes; base += Team::size())
    body(base + lane_index(), base + lane_index() < nodes);
}

// --- push ---

template <class P, class Rows>
__device__ void Machine<P, Rows>::push_nodes(unsigned at) {
  if (view_.push_nodes.nodes != nullptr) return push_array(at);
  for (int b = 0; b < view_.push_blocks; ++b) {
    const Rows& rows = view_.push[b];
    if (T::all_active || view_.sizes.scans) {
      if constexpr (T::all_active)
        deal<BlockTeam>(view_.long_row_count, [&](std::uint64_t i) {
          push_nodes_of_row<BlockTeam>(rows, whole_row(rows, view_.long_rows[i]), at);
        });
      for_words([&](std::uint64_t index) {
        const Word   word  = T::all_active ? all_lanes : view_.bits[at % 3][index];
        const Vertex v     = vertex_at(index);
        bool         wants = v < view_.vertices && ((word >> lane_index()) & 1);
        if constexpr (T::all_active) wants = wants && degree(v) < view_.sizes.large_degree;
        push_nodes_of(rows, {v, wants ? rows.slice(v) : RowSlice{}}, wants, at);
      });
    } else {
      const Lists& now = *lists_at_;
      deal<GridTeam>(now.hubs, [&](std::uint64_t i) {
        push_nodes_of_row<GridTeam>(rows, whole_row(rows, view_.hubs[at % 2][i]), at);
      });
      deal<BlockTeam>(now.large, [&](std::uint64_t i) {
        push_nodes_of_row<BlockTeam>(rows, whole_row(rows, view_.large[at % 2][i]), at);
      });
      deal_to_lanes(0u, now.small, [&](std::uint64_t i, bool mine) {
        const Vertex v = mine ? view_.small[at % 2][i] : 0;
        push_nodes_of(rows, {v, mine ? rows.slice(v) : RowSlice{}}, mine, at);
      });
    }
  }
}

template <class P, class Rows>
__device__ void Machine<P, Rows>::push_nodes_of(const Rows& rows, const OwnRow& own, bool mine, unsigned at) {
  const Message message = mine ? sent_by(own.vertex) : Message{};
  deal_nodes(mine ? nodes_of(own.slice.length()) : 0, [&](unsigned owner, unsigned number, bool there) {
    const OwnRow row{shuffle(own.vertex, owner), shuffle(own.slice, owner)};
    const auto   edges = there ? edges_of_node(row.slice.length(), number) : NodeEdges{};
    push_edges_of(rows, row, shuffle(message, owner), edges, at);
  });
}

template <class P, class Rows>
template <class Team>
__device__ void Machine<P, Rows>::push_nodes_of_row(const Rows& rows, const OwnRow& row, unsigned at) {
  const Message message = sent_by(row.vertex);
  deal_nodes_of_row<Team>(nodes_of(row.slice.length()), [&](unsigned number, bool there) {
    const auto edges = there ? edges_of_node(row.slice.length(), number) : NodeEdges{};
    push_edges_of(rows, row, message, edges, at);
  });
}

/// Nodes that are listed, or all of which those of active vertices push (the paper's baseline).
template <class P, class Rows>
__device__ void Machine<P, Rows>::push_array(unsigned at) {
  const NodeArray& array = view_.push_nodes;
  const bool       all   = T::all_active || view_.sizes.scans;
  deal_to_lanes(Count{0}, all ? array.count : counters(at).nodes, [&](Count i, bool there) {
    const Count       k     = there ? (all ? i : view_.listed_nodes[i]) : 0;
    const Rows&       rows  = view_.push[array.block_of(k)];
    const VirtualNode node  = there ? array.nodes[k] : VirtualNode{};
    const bool        mine  = there && (T::all_active || !all || test(view_.bits[at % 3], node.vertex));
    const RowSlice    slice = mine ? rows.slice(node.vertex) : RowSlice{};
    mine_.nodes += mine;
    push_edges_of(rows, {node.vertex, slice}, mine ? sent_by(node.vertex) : Message{},
                  mine ? edges_of_node(slice.length(), node.number) : NodeEdges{}, at);
  });
}

/// The nodes of the frontier's vertices, wherever they are in the array.
template <class P, class Rows>
__device__ void Machine<P, Rows>::list_nodes(unsigned at) {
  const Lists& now  = *lists_at_;
  const auto   each = [&](const Vertex* list, unsigned count) {
    for (int b = 0; b < view_.push_blocks; ++b)
      deal<WarpTeam>(count, [&](std::uint64_t i) {
        const Vertex       v     = list[i];
        const unsigned     nodes = nodes_of(view_.push[b].slice(v).length());
        const Count* const first = view_.push_nodes.first + static_cast<std::uint64_t>(b) * view_.vertices;
        Count place = lane_index() == 0 && nodes != 0 ? atomicAdd(&counters(at).nodes, Count{nodes}) : 0;
        place       = __shfl_sync(all_lanes, place, 0);
        for (unsigned k = lane_index(); k < nodes; k += warp_lanes) view_.listed_nodes[place + k] = first[v] + k;
      });
  };
  each(view_.hubs[at % 2], now.hubs);
  each(view_.large[at % 2], now.large);
  each(view_.small[at % 2], now.small);
}

/// All lanes come, each with a vertex, its row and the edges of it that it pushes.
template <class P, class Rows>
__device__ void Machine<P, Rows>::push_edges_of(const Rows& rows, const OwnRow& own, const Message& message,
                                                const NodeEdges& edges, unsigned at) {
  note_looked_at(edges.count);
  for (unsigned i = 0; __any_sync(all_lanes, i < edges.count); i += push_batch) {
    Sent  sent[push_batch];
    Apart apart;
#pragma unroll
    for (unsigned j = 0; j < push_batch; ++j) {
      apart.place[j] = Rows::place(own.slice, edges.at(i + j));
      sent[j]        = {own.vertex, message, i + j < edges.count};
    }
    push_edges(rows, apart, sent, at);
  }
}

// --- pull ---

template <class P, class Rows>
__device__ void Machine<P, Rows>::pull_nodes(unsigned at) {
  const auto open = [&](Vertex v) {
    if constexpr (tracks_open)
      if (!test_now(view_.open, v)) return false;
    return !is_settled(v);
  };
  if (const NodeArray& array = view_.pull_nodes; array.nodes != nullptr) {
    deal_to_lanes(Count{0}, array.count, [&](Count i, bool there) {
      const Rows&       rows  = view_.pull[array.block_of(there ? i : 0)];
      const VirtualNode node  = there ? array.nodes[i] : VirtualNode{};
      const bool        mine  = there && open(node.vertex);
      const RowSlice    slice = mine ? rows.slice(node.vertex) : RowSlice{};
      mine_.nodes += mine;
      pull_node(rows, {node.vertex, slice}, mine ? edges_of_node(slice.length(), node.number) : NodeEdges{}, at);
    });
    return;
  }
  for (int b = 0; b < view_.pull_blocks; ++b) {
    const Rows& rows = view_.pull[b];
    deal<BlockTeam>(view_.long_row_count, [&](std::uint64_t i) {
      const Vertex v = view_.long_rows[i];
      const OwnRow row{v, rows.slice(v)};
      deal_nodes_of_row<BlockTeam>(nodes_of(row.slice.length()), [&](unsigned number, bool there) {
        pull_node(rows, row, there && open(v) ? edges_of_node(row.slice.length(), number) : NodeEdges{}, at);
      });
    });
    for_open_words([&](std::uint64_t index, Word word) {
      const Vertex v = vertex_at(index);
      const bool   wants =
          v < view_.vertices && ((word >> lane_index()) & 1) && pulled_edges(v) < view_.sizes.large_degree;
      const OwnRow own{v, wants ? rows.slice(v) : RowSlice{}};
      deal_nodes(nodes_of(own.slice.length()), [&](unsigned owner, unsigned number, bool there) {
        const OwnRow row{shuffle(own.vertex, owner), shuffle(own.slice, owner)};
        pull_node(rows, row, there ? edges_of_node(row.slice.length(), number) : NodeEdges{}, at);
      });
    });
  }
}

/// What a node finds or collects reaches the vertex by an atomic operation (theorem 3): other nodes of it do the
/// same. All lanes come.
template <class P, class Rows>
__device__ void Machine<P, Rows>::pull_node(const Rows& rows, const OwnRow& own, const NodeEdges& edges,
                                            unsigned at) {
  const Vertex v     = own.vertex;
  bool         found = false;
  if constexpr (T::voting) {
    found = edges.count > 0 && pull_vote_of_node(rows, own, edges, at);
  } else if (edges.count > 0) {
    Collected all = nothing(v);
    mine_.looked_at += edges.count;
    if (collect_edges(all, rows, own.slice, edges, v, at)) found = merge(v, all, at);
  }
  note_pushed(v, found, at);
}

template <class P, class Rows>
__device__ bool Machine<P, Rows>::merge(Vertex v, const Collected& all, unsigned at) {
  if constexpr (T::in_place) {
    return Combine::improve_atomically(view_.values[v], all) && !comes_later(v, all) && touch(v, at);
  } else {
    if constexpr (Combine::idempotent)
      Combine::improve_atomically(view_.sums[v], all);
    else
      Combine::merge_atomically(view_.sums[v], all);
    return touch(v, at);
  }
}

template <class P, class Rows>
__device__ bool Machine<P, Rows>::pull_vote_of_node(const Rows& rows, const OwnRow& own, const NodeEdges& edges,
                                                    unsigned at) {
  for (unsigned i = 0; i < edges.count; ++i) {
    const Place  place  = Rows::place(own.slice, edges.at(i));
    const Vertex source = rows.target(place);
    ++mine_.looked_at;
    if (!is_active(source, at)) continue;
    if (!test_now(view_.open, own.vertex)) return false;
    std::uint32_t weight = 0;
    if constexpr (T::weighted) weight = rows.weight(place);
    return vote(compute(message_of(source), edge_of(weight, source, own.vertex), own.vertex), own.vertex, at);
  }
  return false;
}

/// The array of nodes: whose rows are where is said for every vertex, in no order of the vertices.
template <class P, class Rows>
__global__ void make_nodes(const __grid_constant__ View<P, Rows> view, Rows rows, VirtualNode* nodes, Count* first,
                           Count* count) {
  const std::uint64_t words = (view.vertices + warp_lanes - 1) / warp_lanes;
  deal<WarpTeam>(words, [&](std::uint64_t index) {
    const std::uint64_t u      = index * warp_lanes + lane_index();
    const auto          v      = static_cast<Vertex>(u);
    const unsigned      edges  = u < view.vertices ? rows.slice(v).length() : 0;
    const unsigned      own    = spillway::nodes_of(edges, view.sizes.split);
    const unsigned      before = warp_exclusive_sum(own);
    const unsigned      all    = __shfl_sync(all_lanes, before + own, warp_lanes - 1);
    Count               place  = lane_index() == 0 && all != 0 ? atomicAdd(count, Count{all}) : 0;
    place                      = __shfl_sync(all_lanes, place, 0);
    if (u < view.vertices) first[v] = place + before;
    for (unsigned step = 0; step < all; step += warp_lanes) {
      const unsigned i     = step + lane_index();
      const unsigned owner = owner_of(i, before);
      const unsigned ahead = __shfl_sync(all_lanes, before, static_cast<int>(owner));
      if (i < all) nodes[place + i] = {static_cast<Vertex>(index * warp_lanes + owner), i - ahead};
    }
  });
}

}  // namespace spillway::cuda
