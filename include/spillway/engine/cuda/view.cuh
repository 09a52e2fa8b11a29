// What a kernel sees of a run: the program, the rows, the state of the vertices and the counters that iterations
// hand to one another. Everything lies on the device; the host fills a View once and passes it by value.
#pragma once

#include <cstdint>

#include <spillway/engine/cuda/rows.cuh>
#include <spillway/engine/executor.hpp>
#include <spillway/engine/operations.hpp>
#include <spillway/engine/transfer.hpp>
#include <spillway/engine/virtual_nodes.hpp>
#include <spillway/program.hpp>

namespace spillway::cuda {

using Word  = std::uint32_t;  ///< of a bitmap
using Count = unsigned long long;

inline constexpr unsigned warp_lanes = 32;
/// Parts that a row may lie in: of out- and of in-edges, on the device and on the host.
inline constexpr int most_slices = 4;
#if defined(SPILLWAY_EMULATED)
inline constexpr unsigned block_threads = 64;  // each takes a turn
inline constexpr unsigned hub_block_threads = block_threads;
#else
inline constexpr unsigned block_threads     = 256;
/// Where hubs' sums meet in shared memory: one block has all that a multiprocessor has.
inline constexpr unsigned hub_block_threads = 1024;
#endif
inline constexpr unsigned block_warps = block_threads / warp_lanes;

/// Of vertices that a block pushes again within the bucket at hand (bucket_fusion.cuh): how many it keeps and for
/// how many rounds, and the longest row.
inline constexpr unsigned  most_kept        = CudaTuning::most_bucket_queue;
inline constexpr EdgeIndex longest_kept_row = 32;
#if defined(SPILLWAY_EMULATED)
inline constexpr unsigned most_fused_rounds = 16;
#else
inline constexpr unsigned most_fused_rounds = 256;
#endif

/// Rounds over a list of edges before the host is asked whether to go on.
#if defined(SPILLWAY_EMULATED)
inline constexpr unsigned most_list_rounds = 16;
#else
inline constexpr unsigned most_list_rounds  = 256;
#endif

/// What an iteration counts. Three take turns: one says what the frontier is, one is being filled for the next,
/// and one is being cleared, so that a barrier is all that iterations need between them.
struct IterationCounters {
  Count vertices, edges;                ///< made active; the edges that leave them
  Count closed_vertices, closed_edges;  ///< take no more updates
  Count looked_at;
  Count lowest;  ///< bucket that anybody waits in
  struct Taken {
    Count vertices, edges;
  } taken[2];  ///< from the bucket that was tried first, and from the lowest. The fields above cannot take
               ///< them: some blocks may not have read yet that there is no frontier
  Count replayed_edges;  ///< that leave a replayed frontier
  Count nodes;           ///< virtual nodes of the frontier that are listed
  Count fused_vertices;  ///< that blocks pushed again within the bucket
  Count batched;         ///< entries of the batch filter
  struct Lists {
    unsigned small, large, hubs;

    __device__ void operator+=(const Lists& other) {
      small += other.small, large += other.large, hubs += other.hubs;
    }
  };
  Lists    found;               ///< entries that the online filter made
  Lists    balloted;            ///< or the ballot filter
  unsigned touched;             ///< vertices with updates waiting
  unsigned long_rows;           ///< that blocks have begun to pull
  unsigned overflowed;          ///< the online filter's bins were too small
  unsigned touched_overflowed;  ///< for those with updates waiting
  unsigned recorded;            ///< vertices of a frontier that is no list
  unsigned cancelled;           ///< the host wants no further iteration
};

/// Sizes that results do not depend on; tests make them small.
struct Sizes {
  EdgeIndex large_degree = 1024;     ///< rows from here on are worked on by a block
  EdgeIndex hub_degree   = 1 << 17;  ///< and from here on by all
  unsigned  bin_entries  = 64;     ///< that a thread may find in an iteration before the ballot filter takes over
  unsigned  probes       = 8;      ///< that a thread makes for a vote before its warp helps
  bool      aggregate    = false;  ///< lanes whose updates go to one vertex combine them first
  unsigned  chunk_edges  = 256;    ///< of a row that a window's lanes share out
  unsigned  line_edges   = 96;     ///< rows in host memory from here on are read by whole lines
  unsigned  row_lanes    = 0;      ///< that walk a row; 0: a warp walks several as one
  bool      hybrid       = false;  ///< of a window: a lane or a warp a row, by how long its rows are
  unsigned  split        = 0;     ///< edges of a virtual node; 0: rows are not split. Windows cut rows into chunks
  bool      coalesced    = true;  ///< the nodes of a row take turns with its edges
  bool      scans        = false;  ///< all nodes for active ones; or those of listed vertices
  unsigned  bucket_queue = 0;      ///< vertices that a block keeps, to push them again before the grid meets
};

/// A part of a vertex's row, which a thread has for itself (Tigr, section 4.1).
struct VirtualNode {
  Vertex   vertex;
  unsigned number;  ///< among those of the vertex
};

/// The virtual nodes of all rows, those of a block of rows behind those of the one before; a vertex has its own
/// side by side.
struct NodeArray {
  const VirtualNode* nodes    = nullptr;
  const Count*       first    = nullptr;  ///< of each vertex, block by block
  Count              in_first = 0;        ///< of the first block
  Count              count    = 0;

  __device__ unsigned block_of(Count i) const { return i < in_first ? 0 : 1; }
};

/// A chunk of state that updates reach (GTS, section 3): the others wait for another pass over the edges.
struct Receivers {
  Vertex        first = 0;
  std::uint64_t count = ~std::uint64_t{0};

  SPILLWAY_HD bool has(Vertex v) const { return v >= first && v - first < count; }
};

/// Which rows are to be laid out in chunks.
struct Layout {
  const EdgeIndex* offsets    = nullptr;  ///< where they lie, in the array of all edges
  bool             everyone   = false;    ///< not only of active vertices
  EdgeIndex        part_edges = 0;
  PartAt*          parts      = nullptr;  ///< where parts of so many edges begin among the chunks; or null
  Count            part_count = 0;        ///< of which there are so many, and the end
  const EdgeIndex* cuts       = nullptr;  ///< where parts begin that are not all of one size; or null
};

/// What a round in a window takes: vertices that push again, and the lowest bucket of those that wait.
struct LocalRound {
  IterationCounters::Lists taken;
  Count                    lowest;
};

struct IterationLog {
  Count    vertices, edges, looked_at;
  Count    nanoseconds;
  unsigned pulled, ballot;
};

/// Where a launch stopped, and what the host wants to know of it.
struct Control {
  Count    iterations;  ///< made so far
  Count    bucket;      ///< that is being settled
  Count    open_vertices, open_edges;
  Count    looked_at;
  Count    recorded;           ///< vertices of all frontiers so far
  Count    settled_at;         ///< arcs that had been looked at when finished buckets were last noted
  unsigned listed;             ///< the frontier is in lists, too
  unsigned finished;           ///< nothing is left, the program has converged, or its iterations are used up
  unsigned overflowed;         ///< some iteration
  unsigned pulled;             ///< the last iteration
  unsigned ballots, switches;  ///< iterations whose list a ballot made; changes of direction
  unsigned again;              ///< a vertex was active twice while frontiers were recorded
  unsigned for_host;           ///< the next iteration is the host's: it sends edges
  unsigned replayed;           ///< the next recorded frontier was made the one at hand in the last iteration
  unsigned published;          ///< the messages of the next iteration were published in the last one
};

/// What a run went through, for its statistics and for tests that every branch is taken.
struct VisitCounters {
  Count small_rows, large_rows, hub_rows, long_pulls, overflows, batched, settled;
  Count local_rounds, fused_rounds, virtual_nodes;
};

template <class P, class Rows>
struct View {
  using T           = Traits<P>;
  using Accumulator = typename T::Combine::Accumulator;

  P             program;
  std::uint64_t vertices;
  EdgeIndex     arcs;
  TreeArcs      tree;
  Rows          push[most_slices], pull[most_slices];
  int           push_blocks, pull_blocks;
  bool          on_host;  ///< some of them are in host memory, as they are

  typename T::Value*        values;
  typename T::Value*        receiving;  ///< the same, or of those who receive, where the chunk is
  Receivers                 receivers;
  typename T::Message*      messages;
  typename T::Message*      messages_ahead;  ///< of every other iteration, if they are published in the one before
  Accumulator*              sums;
  Word*                     open;
  Word*                     waiting;
  Word*                     settled;  ///< of finished buckets
  Word*                     bits[3];  ///< frontiers as bitmaps: this one, the next, the last
  Vertex*                   small[2];
  Vertex*                   large[2];
  Vertex*                   hubs[2];
  IterationCounters::Lists* listed;  ///< by each block, of a frontier
  Vertex*                   touched;
  Vertex*                   batch;      ///< all that pushes have found, twice and more often; or null
  const Vertex*             long_rows;  ///< too long for a warp to pull; where everyone pushes nodes, to push
  unsigned                  long_row_count;
  Vertex                    summed_hubs;     ///< the first vertices, whose sums meet in shared memory
  Vertex                    warp_rows;       ///< rows before this one, behind the hubs, are for a warp each
  NodeArray                 push_nodes, pull_nodes;  ///< of split rows; or none
  Count*                    listed_nodes;            ///< of active vertices; or null
  Vertex*                   record;                  ///< where frontiers are kept, one behind the other; or null
  const Vertex*             replay;                  ///< frontiers to walk, the last one first; or null
  const std::uint64_t*      replay_starts;           ///< where each begins, and the last ends
  std::uint64_t             replay_levels;

  ChunkDescriptor* entries;      ///< laid out; or null
  EdgeIndex*       starts;       ///< of each, and where the last ends
  LayoutSize*      laid;         ///< by each warp
  LayoutSize*      laid_in_all;  ///< by all
  LocalRound*      rounds;       ///< in a window or a list of edges: three take turns
  Word*            changed;      ///< since a list was visited first; or null

  const Vertex*       original;  ///< of a place in the order that the device works in: the vertex; or null
  IterationCounters*  iteration_counters;  ///< three
  Control*            control;
  VisitCounters*      visit_counters;
  typename T::Global* totals;   ///< of each block: of publishing, processing, applying, in turns
  typename T::Global* global;   ///< of the last iteration
  typename T::Global* history;  ///< of every iteration of this launch
  IterationLog*       log;      ///< likewise

  Sizes         sizes;
  Filter        filter;
  Direction     direction;  ///< asked for
  BucketWidth   bucket_width;
  BucketWidth   window_width;  ///< of buckets within a window that is run to its local fixed point
  std::uint64_t max_iterations;
  bool          fixed;  ///< who adds up what does not depend on who is first
};

}  // namespace spillway::cuda
