// What a caller may ask of loading and of running. The defaults change nothing that is in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <spillway/device.hpp>
#include <spillway/method.hpp>
#include <spillway/progress.hpp>
#include <spillway/types.hpp>

namespace spillway {

enum class IdMode {
  automatic,  ///< numbers unless the first data line has a name, or any has leading zeros; no gaps are filled
  dense,      ///< every number from 0 to the largest is a vertex, whether it appears or not
  sparse,     ///< 64-bit numbers; the ids that appear are the vertices
  string,     ///< names, taken as they stand
};

enum class HeaderMode { automatic, present, absent };

/// Changes to the arcs. None happens unless asked for.
struct Transform {
  bool undirected = false;  ///< each edge of the input stands for both arcs (a loop for one)
  bool symmetrize = false;  ///< add the reverse of every arc that has none of the same weight
  bool dedup      = false;  ///< of parallel arcs keep one, the lightest
  bool drop_loops = false;

  bool any() const { return undirected || symmetrize || dedup || drop_loops; }
};

/// Which device computes.
struct DeviceChoice {
  DeviceKind    kind   = {};
  int           index  = 0;
  std::uint64_t memory = 0;  ///< bytes that may be held there; 0: what is free
};

struct LoadOptions {
  std::string                  format   = "auto";  ///< a name of `formats()`, or "auto": by content, then suffix
  IdMode                       ids      = IdMode::automatic;
  std::optional<std::uint64_t> vertices = {};       ///< edge lists: ids are 0 to N-1, isolated ones included
  std::string                  source_column = {};  ///< edge lists: a position (from 1) or a name in the header
  std::string                  target_column = {};  ///< edge lists: likewise
  std::string               weight_column = {};  ///< text: a position (from 1) or a name; "none" ignores weights
  std::optional<WeightType> weight_type   = {};  ///< read weights as this; by default as the input states them
  HeaderMode                header        = HeaderMode::automatic;
  Transform                 transform     = {};
  bool                      edges = false;    ///< without rows, in the order of the input: for `--method edges`
  std::optional<DeviceChoice> edges_to = {};  ///< these are sent to this GPU while they are read
  std::uint64_t             host_memory = 0;  ///< bytes all loading may hold; 0: what the machine has free
  std::string               temporary = {};   ///< folder for what memory does not hold; empty: $TMPDIR or /var/tmp
  int                       threads   = 0;    ///< 0: all cores
  Progress*                 progress  = nullptr;
};

enum class Direction { automatic, push, pull };

constexpr std::string_view to_string(Direction direction) {
  return direction == Direction::push ? "push" : direction == Direction::pull ? "pull" : "auto";
}

/// Sizes that the CPU executor works with. Results do not depend on them; tests make them small.
struct HostTuning {
  /// Vertices handed to a thread at a time where work does not depend on degrees; rounded up to 64.
  std::uint64_t vertex_grain = 1u << 14;
  /// Edges (and vertices) of one task of a pull. Tasks do not depend on the number of threads, so that sums over
  /// them come out the same with any.
  std::uint64_t edge_grain = 1u << 16;
  /// Active vertices handed to a thread at a time in a push. Fewer balance better, more keep a thread in its own
  /// cache.
  std::uint64_t push_grain = 256;
  /// A row longer than this is shared out among the threads of a push.
  std::uint64_t hub_degree = 1u << 14;
  /// Below this many active edges and vertices, waking other threads costs more than it brings.
  std::uint64_t serial_work = 2048;
  /// A thread goes on with its own part of a bucket while it is this small (GAP's bucket fusion).
  std::uint64_t fusion_entries = 1024;
  /// Updates that pages push to so many vertices, or more, wait for one another in a bin.
  std::uint64_t bin_vertices = 1u << 16;
  std::uint64_t bin_entries  = 1u << 12;  ///< at most, for each thread
};

/// How a GPU makes lists of frontiers (SIMD-X, section 4): found vertices are listed at once, by a scan of a
/// bitmap, or as the frontier's size suggests. The batch filter is what the paper compares with: a buffer of as
/// many entries as there are edges takes all that a push finds, twice and more often, and is filtered afterwards.
enum class Filter { just_in_time, online, ballot, batch };

/// How much a kernel does before the host is asked again: an iteration, those of one direction, all.
enum class Fusion { none, push_pull, all };

/// The order in which a GPU works on the vertices of programs that have all of them active: that of the graph,
/// hubs first, or whichever pays.
enum class VertexOrder { automatic, natural, degree };

/// Which pages of a graph on disk stay on a GPU: the first that come, which serves scans that come round again, or
/// those that were used last (GTS, section 3.3).
enum class PageCache { first, lru };

/// Which thread works on which edge.
enum class Balance {
  automatic,
  bins,   ///< by the length of a row: several rows to a warp, which walks them as one; a row to a block, or to all
  split,  ///< a virtual node to a thread: K edges of a row at most (Tigr, section 4)
  thread,  ///< a row to a thread
  warp,    ///< a row to a virtual warp of 4 to 32 lanes; pulls have 8 or 32, and votes their own way
  hybrid,  ///< of windows and pages: a thread or a warp, by the length of rows (GTS, section 6.2)
};

/// Of Balance::split.
struct SplitTuning {
  std::uint64_t degree_bound = 10;    ///< K
  bool          coalesced    = true;  ///< the nodes of a row take turns with its edges; or K that lie side by side
  bool          array        = false;  ///< a GPU keeps an array of the nodes; or finds them by the degrees
  bool          worklist     = true;   ///< a GPU visits the nodes of active vertices; or scans all of them

  bool operator==(const SplitTuning&) const = default;
};

/// How the edges of active rows are shared out. Results do not depend on it.
struct BalanceTuning {
  Balance     kind  = Balance::automatic;
  unsigned    lanes = 32;  ///< of Balance::warp: 4, 8, 16 or 32
  SplitTuning split = {};

  bool by_bins() const { return kind == Balance::automatic || kind == Balance::bins; }
  /// Only a GPU has lanes.
  bool requires_gpu() const {
    return kind == Balance::thread || kind == Balance::warp || kind == Balance::hybrid || split.array ||
           !split.worklist;
  }
  bool operator==(const BalanceTuning&) const = default;
};

/// Where updates along unsorted edges meet on a GPU (WolfGraph, section 3).
enum class EdgeValues {
  global,  ///< at the vertices, one by one
  shared,  ///< in shared memory, block of edges by block; at its end each vertex gets one
  stored,  ///< likewise, but the vertices get theirs when all blocks are done
};

/// The GPU's HostTuning. Results do not depend on it.
struct CudaTuning {
  static constexpr unsigned most_bucket_queue = 256;
  static constexpr unsigned usual_hub_sums    = 1u << 14;
  static constexpr double   least_hub_share   = 0.125;  ///< of all edges, that makes it worth while

  Filter        filter       = Filter::just_in_time;
  Fusion        fusion       = Fusion::all;
  VertexOrder   order        = VertexOrder::automatic;
  std::uint64_t large_degree = 1024;      ///< rows from here on are worked on by a block
  std::uint64_t hub_degree   = 1u << 17;  ///< and from here on by all; unless changed, from 8,192 if read in place
  unsigned      bin_entries  = 64;        ///< that a thread may find before a scan takes over
  unsigned      line_edges   = 96;        ///< rows in host memory from here on are read by whole lines of the bus
  unsigned      probes       = 8;         ///< that a thread makes for a vote before its warp helps
  std::uint64_t build_from   = 1u << 20;  ///< arcs whose rows or in-edges a GPU builds; the CPU is done with fewer
  std::uint64_t sort_stretch = 1u << 22;  ///< edges of a list that are sent at once, to be sorted on the GPU
  bool          aggregate    = false;     ///< lanes whose updates go to one vertex combine them first
  unsigned      bucket_queue = most_bucket_queue;  ///< vertices that a block pushes again within their bucket
  int           blocks       = 0;  ///< of 256 threads on a multiprocessor at most; 0: as many as fit
  unsigned      streams      = 4;  ///< that pages of a graph on disk come in, up to 32
  PageCache     page_cache   = PageCache::first;
  EdgeValues    edge_values  = EdgeValues::global;
  unsigned      edge_block   = 1024;  ///< edges whose updates meet in shared memory, up to 2,048
  unsigned      edge_passes  = 0;     ///< over unsorted edges, each for some vertices; 0: as the cache suggests
  /// Hubs whose sums meet in shared memory where all pull along rows that are alike in both directions; fewer if
  /// it is too small, and none by default if they have few of the edges.
  std::optional<unsigned> hub_sums = {};

  bool operator==(const CudaTuning&) const = default;
};

/// Whether edges beyond the device's memory are coded, hubs first: fewer bytes on the bus, more work before.
enum class Compress { automatic, off, on };

/// Whether edges that were brought are worked on until nobody whose edges are there has anything new (Subway,
/// section 3.2), for programs that promise `order_free`.
enum class Async { automatic, off, on };

/// Which edges a chunk of a list is concatenated with, of chunks that had their turn in the round: those that lead
/// on from vertices that it has changed, from all that its edges lead to (as WolfGraph has it, section 4.3), or
/// none.
enum class Successors { changed, all, none };

/// Whether a GPU reads compressed pages where the host keeps them, all of them, rather than having them sent.
enum class InPlace { automatic, off, on };

/// What a machine does to bring edges from host memory to a device, in units a second. The defaults are of an H200
/// and 16 cores; a GPU is measured when it is first used (plan/rates.hpp).
struct Rates {
  double sent            = 55e9;    ///< bytes that the bus moves as they lie
  double gathered        = 46e9;    ///< bytes that the host gathers, to be moved…
  double gathered_chunks = 280e6;   ///< …and row chunks that it gathers, whatever their bytes
  double read            = 37e9;    ///< bytes that the device reads where they are…
  double read_chunks     = 1e9;     ///< …and row chunks, whatever their bytes
  double step            = 180e-6;  ///< seconds that an iteration takes beside, if the host is asked
  double pinned          = 30e9;    ///< bytes of host memory that are made readable for the device
  double copied          = 12e9;    ///< likewise of a mapped file, which is copied for it
  double uploaded        = 25e9;    ///< bytes that are copied to the device to stay
  double barrier         = 7e-6;    ///< fixed seconds of an iteration of a fused kernel…
  double latency         = 2.5e-6;  ///< …and more if it reads over the bus
  double visited         = 160e9;   ///< edges on the device, if what they lead to is in its cache…
  double visited_far     = 50e9;    ///< …and if it is not
  double cache           = 50e6;    ///< bytes of that cache
  double atomics         = 60e9;    ///< updates of values anywhere in the cache, each by an atomic operation…
  double atomics_far     = 12e9;    ///< …and beyond it
  double decoded         = 130e9;   ///< compressed edges
  double coded_edges     = 2e9;     ///< edges that are compressed…
  double coded_rows      = 62e6;    ///< …and rows, whatever their edges
  double reordered       = 6e9;     ///< edges on the device that are put in another order of their vertices
  double windows         = 10e-3;   ///< seconds until windows are ready to be sent
  double host_visited =
      8e9;  ///< edges that the CPU visits with all threads, if what they lead to is in its cache…
  double host_visited_far = 0.8e9;  ///< …and if it is not
  double host_cache       = 32e6;   ///< bytes of that cache
  double host_iteration   = 20e-6;  ///< fixed seconds of its iterations
  double context          = 0.3;    ///< seconds until a GPU is ready that this process has not used yet
};

/// Of edges that do not fit a device. Results do not depend on it.
struct SupplyOptions {
  Compress                     compress = Compress::automatic;
  std::optional<std::uint64_t> resident =
      {};                               ///< bytes of edges to keep on the device; none: all there is room for
  std::uint64_t coding_batch_arcs = 0;  ///< compressed at once; 0: as many as there is room for
  Async         async             = Async::automatic;
  Successors    successors        = Successors::changed;  ///< of lists of edges
  InPlace       pages_in_place    = InPlace::automatic;   ///< what --method says of graphs in pages
  bool          all_parts         = false;  ///< partitions are sent whether anybody in them is active or not
  std::uint64_t window       = 0;  ///< bytes of edges that are transferred at once; 0: chosen by the room there is
  unsigned      chunk        = 256;       ///< edges of a row that the lanes of a GPU share out at once
  std::uint64_t state_chunks = 0;         ///< of state, over pages on disk; 0: as many as the memory makes needed
  std::uint64_t staged       = 0;         ///< bytes of edges that are gathered before they are sent; 0: 8 MiB
  unsigned      descriptors  = 1u << 16;  ///< of row chunks that are copied to the host at once, to gather them
  std::optional<Rates> rates = {};        ///< to choose by; none: those that were measured
};

/// Where few edges leave a vertex (roads), paths are long: asynchrony pays, transferring whole partitions does
/// not.
constexpr bool has_long_paths(std::uint64_t vertices, std::uint64_t arcs) { return arcs < 8 * vertices; }

/// Whether the planner knows what earlier runs over a graph had active: never, of this process, or also of others,
/// from a file (plan/history.hpp).
enum class History { off, process, kept };

class Trace;
class Checkpoints;

struct RunOptions {
  int       threads       = 0;                     ///< 0: all cores
  bool      leave_answer  = false;  ///< columns that a GPU makes may stay there until `fetch` (Column::on_device)
  bool      deterministic = false;                 ///< floating sums come out the same bit for bit, at some cost
  Direction direction     = Direction::automatic;  ///< push or pull throughout, for study
  Progress* progress      = nullptr;
  Trace*    trace         = nullptr;  ///< receives the spans of a run (trace.hpp)
  /// Where the state of runs on the CPU is saved now and then, and gone on from (checkpoint.hpp).
  Checkpoints* checkpoints = nullptr;
  HostTuning   tuning      = {};

  DeviceChoice  device  = {};
  CudaTuning    cuda    = {};
  BalanceTuning balance = {};
  Method        method  = {};
  SupplyOptions supply  = {};
  bool          explain = false;  ///< every candidate is priced, also where nothing is left to choose
  History       history = History::process;
  unsigned      runs    = 1;  ///< that are to come over this graph, this one included: what preparing is shared by
};

/// Whether nothing is asked for that only a GPU has, or only the CPU.
inline bool leaves_device_open(const RunOptions& options) {
  CudaTuning cuda = options.cuda;
  cuda.streams = CudaTuning{}.streams, cuda.page_cache = CudaTuning{}.page_cache;  // of pages alone
  return options.device.kind.automatic() && options.method.automatic() && !options.supply.resident &&
         options.supply.compress == Compress::automatic && options.supply.async == Async::automatic &&
         cuda == CudaTuning{} && !options.balance.requires_gpu();
}

/// Whether a run over such a graph is to be asynchronous, if its program can be.
inline bool goes_asynchronously(const RunOptions& options, std::uint64_t vertices, std::uint64_t arcs) {
  if (!options.method->asynchronous) return false;
  if (options.supply.async != Async::automatic) return options.supply.async == Async::on;
  return options.method->gathers && has_long_paths(vertices, arcs);
}

}  // namespace spillway
