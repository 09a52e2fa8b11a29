// The units of topology that executors process. How rows are cut into chunks, and which chunks a window holds, is
// written once, for CPU and GPU.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include <spillway/edge_list.hpp>
#include <spillway/engine/search.hpp>
#include <spillway/program.hpp>
#include <spillway/types.hpp>

namespace spillway {

namespace store {
class PagedRows;
}

/// Rows of adjacency, wherever they rest. `weights` are raw bits, or null.
struct Rows {
  const EdgeIndex*     offsets = nullptr;
  const Vertex*        targets = nullptr;
  const std::uint32_t* weights = nullptr;

  SPILLWAY_HD EdgeIndex degree(Vertex v) const { return offsets[v + 1] - offsets[v]; }
  std::uint64_t         edge_bytes() const { return spillway::edge_bytes(weights != nullptr); }
};

/// Of split rows (Tigr), the arcs that connect what a vertex was split into. A program's neutral weight, or what
/// it says is neutral, goes along them.
struct TreeArcs {
  Vertex first   = no_vertex;  ///< vertices from here on are tree vertices
  bool   by_from = false;      ///< tree arcs are those that come from one; else those that go to one

  SPILLWAY_HD bool any() const { return first != no_vertex; }
  SPILLWAY_HD bool has(Vertex from, Vertex to) const { return (by_from ? from : to) >= first; }
};

/// Where the edges of a block lie. Staging memory is for another block as soon as this one is processed.
enum class BlockMemory : std::uint8_t { host, device, staging };

/// The adjacency of the vertices from `first` to before `last`, of all whose offsets there are. When pushing, rows
/// are of the vertices that send; when pulling, of those that receive.
struct RowBlock {
  Rows        rows;
  Vertex      first  = 0;
  Vertex      last   = 0;
  BlockMemory memory = BlockMemory::host;
  /// Where the edges rest if there are offsets alone: they come as pages.
  const store::PagedRows* pages = nullptr;
  /// Where they rest in no rows at all: they come as runs of edges. Offsets are there if degrees are asked for.
  const EdgeList* edges          = nullptr;
  EdgeDirections  along          = {};     ///< of these
  bool            counts_degrees = false;  ///< their device is to, once they are there

  /// Offsets are in host memory, wherever the edges are.
  EdgeIndex arcs() const {
    if (edges)
      return edges->both_ways() ? edges->arc_count()
                                : edges->edge_count() * (along.forward && along.backward ? 2 : 1);
    return rows.offsets[last] - rows.offsets[first];
  }
  /// The mean degree where an edge list's degrees were not counted.
  EdgeIndex degree(Vertex v) const {
    if (rows.offsets) return rows.degree(v);
    return last == 0 ? 0 : arcs() / last;
  }
  std::uint64_t bytes() const { return arcs() * rows.edge_bytes(); }
};

/// A stretch of a vertex's row: places in the rows that are at hand.
struct RowChunk {
  Vertex    vertex;
  EdgeIndex first, last;

  SPILLWAY_HD EdgeIndex length() const { return last - first; }
};

/// Chunks of rows that push, whoever is active.
struct ChunkBlock {
  Rows                      rows;
  std::span<const RowChunk> chunks;
  BlockMemory               memory = BlockMemory::host;

  std::uint64_t bytes() const {
    EdgeIndex edges = 0;
    for (const RowChunk& chunk : chunks) edges += chunk.length();
    return edges * rows.edge_bytes();
  }
};

/// A chunk of a row as it is laid out: its edges from `chunk` times ChunkLayout::chunk_edges on, at most as many.
struct ChunkDescriptor {
  Vertex        vertex;
  std::uint32_t chunk;
};

/// Edges that are at hand: places in the array of all edges, or in the one that chunks make one behind the other.
struct EdgeRange {
  EdgeIndex first   = 0;
  EdgeIndex last    = 0;
  bool      compact = false;  ///< the latter
};

/// A place in the array of all edges, among the chunks that are laid out: how many begin before it, and how many
/// of their edges lie before it.
struct PartAt {
  std::uint64_t chunks, edges;
};

/// Some of the chunks, one behind the other.
struct ChunkRange {
  std::uint64_t first = 0, last = 0;
};

/// Some of the vertices, one behind the other.
struct VertexRange {
  std::uint64_t first = 0, last = 0;
};

/// Rows in chunks, so that a hub is nothing special to anybody; in the order of their vertices. `offsets` are
/// those of the rows in the array of all edges.
struct ChunkLayout {
  const ChunkDescriptor* entries = nullptr;
  const EdgeIndex*       starts  = nullptr;  ///< of each where they lie one behind the other, and the end of all
  std::uint64_t          count   = 0;
  unsigned               chunk_edges = 1;  ///< at most

  SPILLWAY_HD static EdgeIndex chunks_of(EdgeIndex length, unsigned chunk_edges) {
    return (length + chunk_edges - 1) / chunk_edges;
  }

  SPILLWAY_HD EdgeIndex begin(std::uint64_t k, const EdgeIndex* offsets, bool compact) const {
    if (compact) return starts[k];
    return offsets[entries[k].vertex] + EdgeIndex{entries[k].chunk} * chunk_edges;
  }

  SPILLWAY_HD std::uint64_t begun_before(EdgeIndex position, const EdgeIndex* offsets, bool compact) const {
    return partition_point(std::uint64_t{0}, count,
                           [&](std::uint64_t k) { return begin(k, offsets, compact) < position; });
  }

  SPILLWAY_HD PartAt part_at(EdgeIndex position, const EdgeIndex* offsets) const {
    const std::uint64_t begun = begun_before(position, offsets, false);
    if (begun == 0) return {0, 0};
    const EdgeIndex inside = starts[begun - 1] + (position - begin(begun - 1, offsets, false));
    return {begun, inside < starts[begun] ? inside : starts[begun]};
  }

  /// What of a chunk is in a range, counted from where that begins: all, some or nothing.
  SPILLWAY_HD RowChunk chunk_in(const EdgeRange& range, std::uint64_t k, const EdgeIndex* offsets) const {
    const EdgeIndex at = begin(k, offsets, range.compact), end = at + (starts[k + 1] - starts[k]);
    const EdgeIndex first = at < range.first ? range.first : at, last = end < range.last ? end : range.last;
    if (first >= last) return {entries[k].vertex, 0, 0};
    return {entries[k].vertex, first - range.first, last - range.first};
  }

  /// The row of a vertex, if it is in the range from end to end, or nothing. Where it begins is looked for among
  /// these chunks.
  SPILLWAY_HD RowChunk whole_row_in(const EdgeRange& range, Vertex v, const EdgeIndex* offsets,
                                    ChunkRange among) const {
    EdgeIndex       at     = offsets[v];
    const EdgeIndex length = offsets[v + 1] - at;
    if (range.compact) {
      const std::uint64_t k =
          partition_point(among.first, among.last, [&](std::uint64_t i) { return entries[i].vertex < v; });
      if (k == among.last || entries[k].vertex != v || entries[k].chunk != 0) return {v, 0, 0};
      at = starts[k];
    }
    if (at < range.first || at + length > range.last) return {v, 0, 0};
    return {v, at - range.first, at - range.first + length};
  }
};

/// A window: some of the edges of rows that are laid out in chunks. Those of active vertices push, or all are
/// pulled into accumulators.
struct WindowBlock {
  Rows        rows;  ///< offsets in the array of all edges; targets and weights are those of the window
  ChunkLayout layout;
  EdgeRange   edges;
  ChunkRange  candidates = {};  ///< that may be in it; none: they are searched for
  bool        pull       = false;
  bool        local      = false;  ///< to its local fixed point (Subway, section 3.2)
  bool        again      = false;  ///< had its visit in this iteration: only those with something new push
  BlockMemory memory     = BlockMemory::staging;

  std::uint64_t bytes() const { return (edges.last - edges.first) * rows.edge_bytes(); }

  SPILLWAY_HD ChunkRange chunks() const {
    if (candidates.first != candidates.last) return candidates;
    const std::uint64_t begun = layout.begun_before(edges.first + 1, rows.offsets, edges.compact);
    return {begun > 0 ? begun - 1 : 0, layout.begun_before(edges.last, rows.offsets, edges.compact)};
  }
  SPILLWAY_HD RowChunk chunk(std::uint64_t k) const { return layout.chunk_in(edges, k, rows.offsets); }
  SPILLWAY_HD RowChunk whole_row(Vertex v, const ChunkRange& among) const {
    return layout.whole_row_in(edges, v, rows.offsets, among);
  }
  /// Who may have a whole row in it, of `vertices`: as they lie, whether they are laid out or not; gathered, those
  /// that are.
  SPILLWAY_HD VertexRange owners(const ChunkRange& among, std::uint64_t vertices) const {
    if (edges.compact) {
      if (among.first >= among.last) return {};
      return {layout.entries[among.first].vertex, std::uint64_t{layout.entries[among.last - 1].vertex} + 1};
    }
    const EdgeIndex* const offsets = rows.offsets;
    const auto             first =
        partition_point(std::uint64_t{0}, vertices, [&](std::uint64_t v) { return offsets[v] < edges.first; });
    return {first,
            partition_point(first, vertices, [&](std::uint64_t v) { return offsets[v + 1] <= edges.last; })};
  }
};

/// The rows of a page, decoded; or of a row that takes several pages, the part that is in one.
struct PageRows {
  Rows          rows    = {};  ///< offsets of all rows; edges are where they would be among all edges
  Vertex        first   = 0;
  Vertex        last    = 0;
  EdgeRange     edges   = {};
  bool          in_part = false;
  std::uint64_t number  = 0;  ///< below PageFeed::count

  EdgeRange row(Vertex v) const {
    const EdgeIndex begin = rows.offsets[v], end = rows.offsets[v + 1];
    return {begin < edges.first ? edges.first : begin, end < edges.last ? end : edges.last, false};
  }
};

/// Hands pages out as they come from disk, to whatever thread asks.
class PageFeed {
 public:
  virtual ~PageFeed()                 = default;
  virtual std::uint64_t count() const = 0;
  /// The next page, in place of the one that this thread had before; false: there are no more.
  virtual bool next(int thread, PageRows& page) = 0;
};

/// The pages of an iteration, or a part of them.
struct PagedBlock {
  PageFeed*     feed    = nullptr;
  std::uint64_t size    = 0;
  BlockMemory   memory  = BlockMemory::staging;
  VertexRange   targets = {0, ~std::uint64_t{0}};  ///< of a push: only these receive

  std::uint64_t bytes() const { return size; }
};

/// Of a list whose updates are combined in shared memory, block of edges by block, before vertices get them: each
/// block has a list of the vertices that its edges lead to, without repeats, with a local value each, and each
/// edge the number of its own (WolfGraph, section 3.2: the shared-index array).
struct SharedIndex {
  static constexpr unsigned most_edges = 2048, most_targets = 4096;
  /// Of shared memory, in which there is a bit for each target whether it got anything, and what it came to.
  static constexpr unsigned             most_bytes = most_targets * 8 + most_targets / 8;
  SPILLWAY_HD static constexpr unsigned received_words(unsigned targets) { return (targets + 127) / 128 * 4; }

  unsigned       block_edges   = 0;        ///< 0: there is none
  unsigned       block_targets = 0;        ///< there is room for
  unsigned       local_bytes   = 0;        ///< of a local value
  bool           stored        = false;    ///< local values rest in global memory until all blocks are done
  std::uint16_t* places        = nullptr;  ///< of edges' targets; of their sources behind them, if they push back
  Vertex*        targets       = nullptr;  ///< of each block, from its number times `block_targets` on
  std::uint32_t* counts        = nullptr;  ///< of these
  unsigned char* values        = nullptr;  ///< of each block, if they are stored
  std::uint32_t* received      = nullptr;  ///< likewise

  /// Of blocks of so many edges, or of as many as shared memory does for.
  static SharedIndex of(unsigned edges, const EdgeDirections& along, std::uint64_t local_bytes) {
    const unsigned ways = along.forward && along.backward ? 2 : 1;
    SharedIndex    index{
           .block_edges = edges, .block_targets = ways * edges, .local_bytes = static_cast<unsigned>(local_bytes)};
    while (index.block_edges > 1 && (index.block_targets > most_targets || index.block_bytes() > most_bytes))
      index.block_edges /= 2, index.block_targets = ways * index.block_edges;
    return index;
  }

  /// Of shared memory.
  std::uint64_t block_bytes() const {
    return received_words(block_targets) * sizeof(std::uint32_t) + std::uint64_t{block_targets} * local_bytes;
  }
  /// Beside an edge, and beside each block, however few edges it has.
  std::uint64_t edge_bytes() const { return any() ? block_targets / block_edges * sizeof(std::uint16_t) : 0; }
  std::uint64_t fixed_bytes() const {
    return any() ? block_targets * sizeof(Vertex) + sizeof(std::uint32_t) + (stored ? block_bytes() : 0) : 0;
  }
  std::uint64_t bytes(std::uint64_t edges) const {
    return any() ? edges * edge_bytes() + blocks(edges) * fixed_bytes() : 0;
  }

  SPILLWAY_HD bool any() const { return block_edges != 0; }
  SPILLWAY_HD std::uint64_t blocks(std::uint64_t edges) const { return (edges + block_edges - 1) / block_edges; }
};

/// Unsorted edges (WolfGraph): those whose source is active are pushed, each by itself.
struct EdgeBlock {
  EdgeRun        edges;
  EdgeRun        successors = {};  ///< of earlier lists, that lead on from where these lead (section 4.3)
  EdgeDirections along      = {};
  bool           local      = false;  ///< to a local fixed point; who changed in this iteration pushes, too
  bool           again      = false;  ///< had its visit: what changes is added to what changed in that
  BlockMemory    memory     = BlockMemory::host;
  SharedIndex    shared     = {};  ///< of the edges, on a GPU

  std::uint64_t bytes() const { return edges.bytes() + successors.bytes(); }
};

/// If the block's rows rest in pages and their offsets are on disk, gives the memory back that holds those of
/// these vertices.
void evict_offsets(const RowBlock& block, VertexRange vertices);

using Block = std::variant<RowBlock, ChunkBlock, WindowBlock, PagedBlock, EdgeBlock>;

/// An executor cannot process a block of this kind for the program at hand: a supply's mistake.
[[noreturn]] void refuse_block(const char* kind);

inline std::uint64_t bytes_of(const Block& block) {
  return std::visit([](const auto& some) { return some.bytes(); }, block);
}
inline BlockMemory memory_of(const Block& block) {
  return std::visit([](const auto& some) { return some.memory; }, block);
}

}  // namespace spillway
