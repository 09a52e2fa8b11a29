// What the loop sees of a device: an executor owns vertex state and frontier, and processes blocks of topology.
// Executors are templates over programs; the loop and all that stands above them are compiled once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <spillway/algorithms.hpp>
#include <spillway/array.hpp>
#include <spillway/engine/block.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/graph.hpp>
#include <spillway/program.hpp>

namespace spillway {

class StateExchange;

/// All blocks of one iteration, for each direction. `pull` is empty where no rows for it are at hand.
struct Topology {
  std::uint64_t         vertices = 0;  ///< that have rows and state
  EdgeIndex             arcs     = 0;  ///< edges that a full iteration visits
  std::vector<RowBlock> push;
  std::vector<RowBlock> pull;
  /// Of the vertices, the first so many are in the answer, or those of a map (cuda::VertexMap); none said: all.
  /// The others are state that a supply has added, such as parts of a hub.
  std::optional<std::uint64_t> answers = {};
  TreeArcs                     tree    = {};  ///< of split rows
  Array<EdgeIndex>             degrees = {};  ///< counted for this run: a list's offsets point to them

  std::uint64_t answer_size() const { return answers.value_or(vertices); }
};

struct FrontierSize {
  /// Vertices of a frontier that a device has counted and the loop does not wait for.
  static constexpr std::uint64_t uncounted = ~std::uint64_t{0};

  std::uint64_t vertices      = 0;
  std::uint64_t edges         = 0;  ///< that leave them, about
  std::uint64_t open_vertices = 0;  ///< that still take updates
  std::uint64_t open_edges    = 0;  ///< that leave those: on symmetric graphs also those that reach them
};

/// What choosing a direction depends on.
struct ProgramFacts {
  bool voting          = false;
  bool gathers         = false;  ///< updates meet in accumulators
  bool all_active      = false;
  bool push_only       = false;  ///< settled in buckets, in place
  bool order_sensitive = false;  ///< the order of updates shows in the last bits
  bool weighted        = false;
  bool supports_async  = false;  ///< asynchronously

  std::uint32_t local_bytes = 0;  ///< of what is combined for a vertex in shared memory

  /// Windows are pulled where everyone is active and rows for it are at hand; all others are pushed.
  bool pulls_windows(const Topology& topology, Direction direction) const {
    return all_active && !topology.pull.empty() && direction != Direction::push;
  }
};

/// What processing a block took.
struct BlockWork {
  std::uint64_t looked_at    = 0;  ///< arcs
  std::uint64_t active_edges = 0;  ///< arcs that leave active vertices

  BlockWork& operator+=(const BlockWork& other) {
    looked_at += other.looked_at, active_edges += other.active_edges;
    return *this;
  }
};

/// Why the iterations that an executor makes by itself have stopped.
enum class FusedStop {
  unsupported,       ///< it makes none
  finished,          ///< nothing is active, the program has converged, or its iterations are used up
  quota,             ///< as many as it makes at once
  direction_switch,  ///< the next iteration has another direction
  needs_transfer,    ///< the edges of the next iteration are better transferred first
  cancelled,
};

class Executor {
 public:
  virtual ~Executor() = default;

  /// Sets every vertex to its first value; returns the first frontier.
  virtual FrontierSize start() = 0;
  /// Makes iterations without the loop, as long as nothing has to be transferred for them, and appends what each
  /// was.
  virtual FusedStop run_fused(RunStatistics& /*statistics*/) { return FusedStop::unsupported; }
  /// Messages of the active vertices are published. False if there are none, where only the device knew.
  virtual bool      begin(Direction direction, std::uint32_t iteration) = 0;
  virtual BlockWork process(const Block& block)                         = 0;
  /// Applies what was gathered; returns the next frontier. An empty one ends the run. What only the device has
  /// counted is written to `made` and `work`.
  virtual FrontierSize finish(IterationStatistics& made, BlockWork& work) = 0;
  /// After `finish`: the program says that it is enough.
  virtual bool converged() const = 0;
  /// That the state of the vertices takes.
  virtual std::uint64_t state_bytes() const = 0;
  /// Between iterations: its whole state to a file or, after `start`, from one; the frontier then. None: it has
  /// state that cannot be saved.
  virtual std::optional<FrontierSize> exchange_state(StateExchange& /*with*/) { return std::nullopt; }
  /// After the last iteration: what was counted over all of them.
  virtual void complete(RunStatistics& statistics) = 0;
};

/// What a push has accumulated: an entry for each vertex that is listed, or for all of them.
struct Accumulated {
  Buffer<Vertex>    vertices;  ///< empty where everyone is active
  Buffer<std::byte> entries;   ///< updates that are gathered, or values
};

/// State larger than memory (GTS, section 3: W chunks of the attributes that are written). It is on disk; of the
/// vertices that receive and of those that send, a chunk each is in memory at a time.
struct StateChunks {
  std::uint64_t count    = 1;
  std::uint64_t size     = ~std::uint64_t{0};  ///< vertices of a chunk; the last has what is left
  std::uint64_t a_vertex = 0;                  ///< bytes that each has on disk

  bool        on_disk() const { return count > 1; }
  VertexRange chunk(std::uint64_t i, std::uint64_t vertices) const {
    return on_disk() ? VertexRange{i * size, std::min(vertices, (i + 1) * size)} : VertexRange{0, vertices};
  }
};

/// What deciding about chunks depends on, in bytes.
struct StateSizes {
  std::uint64_t vertices   = 0;
  std::uint64_t in_memory  = 0;  ///< all of it, where there are no chunks
  std::uint64_t a_vertex   = 0;  ///< where there are, on disk for each vertex…
  std::uint64_t at_hand    = 0;  ///< …and in memory all the time: bitmaps
  std::uint64_t given      = 0;  ///< of `in_memory`, taken already
  bool          can_be_cut = true;
};

/// One, where the state and buffers for pages fit the budget, or where edges do not come in pages. Fewest
/// otherwise, or as many as are asked for; Error{does_not_fit} where no number of them is enough.
StateChunks choose_chunks(const StateSizes& state, const Topology& topology, const ProgramFacts& facts,
                          const RunOptions& options, const MemoryBudget& budget);

/// Of what streaming pages leaves free: for updates that wait. None where edges do not come in pages.
std::uint64_t room_for_bins(const Topology& topology, bool weighted, const RunOptions& options,
                            const MemoryBudget& budget);

/// An executor of the CPU, whose vertices the host can ask for. It processes chunks of rows and windows as well,
/// except for programs that are settled in buckets, in place.
class CpuExecutor : public Executor {
 public:
  /// Of a push that has begun: who is active. Nobody is listed where everyone is.
  virtual std::span<const Vertex> active() = 0;
  /// Of an iteration that has begun: whether rows of these vertices are needed for it.
  virtual bool wants_rows(Vertex first, Vertex last) = 0;
  /// Of state on disk, those that pages bring updates to one after the other.
  virtual StateChunks chunks() const { return {}; }
  /// Bits of vertices whose value has changed since a block of edges was visited first.
  virtual std::span<const std::uint64_t> changed() const { return {}; }
  /// If the state is on disk, gives the memory back that holds it for these vertices.
  virtual void evict(VertexRange /*vertices*/) {}

  // Several executors of one run push along different edges, and go on from the same state. Between a push and
  // `finish`:
  virtual Accumulated accumulated() const = 0;
  /// Combines what another has accumulated with its own.
  virtual void merge(const Accumulated& other) = 0;
  /// Takes what all have accumulated instead of its own.
  virtual void adopt(const Accumulated& merged) = 0;
};

/// Makes the CPU's executors of one run, for devices that are made of several (src/devices). They live as long as
/// the run; the first delivers the answer.
class ExecutorMaker {
 public:
  virtual ~ExecutorMaker()    = default;
  virtual CpuExecutor& make() = 0;
};

/// What brings edges to an executor while a run lasts.
class EdgeSupply {
 public:
  virtual ~EdgeSupply() = default;

  /// Whether an executor may make iterations by itself, over edges that it reaches without any transfer.
  virtual bool may_fuse() const = 0;
  /// Brings what an iteration needs, and has each block processed as it becomes ready.
  virtual BlockWork bring(Executor& executor, Direction direction, IterationStatistics& made,
                          RunStatistics& statistics) = 0;
  /// After the last iteration.
  virtual void complete(RunStatistics& statistics) const = 0;
};

/// What a device holds for the next run.
struct Resident {
  virtual ~Resident() = default;
};

/// The frontiers that a run has walked, in order, if every vertex was active at most once: recorded by one program
/// and walked again, backwards, by another (betweenness).
class Schedule {
 public:
  std::uint64_t levels() const { return starts_.size() - 1; }
  /// Where each frontier begins, and the last ends.
  std::span<const std::uint64_t> starts() const { return starts_; }
  /// None while a device holds them.
  std::span<const Vertex> vertices() const { return {vertices_.data(), resident_ ? 0 : starts_.back()}; }
  /// Where a frontier begins and ends among the vertices.
  std::pair<std::uint64_t, std::uint64_t> level(std::uint64_t i) const { return {starts_[i], starts_[i + 1]}; }

  /// The number of vertices of the graph that it is of.
  std::uint64_t vertex_bound() const { return bound_; }

  /// Room for as many vertices; what was recorded before is forgotten.
  void reserve(std::uint64_t vertices, const std::shared_ptr<MemoryBudget>& budget);
  /// Some more of a frontier, which `end_level` ends.
  void extend(std::span<const Vertex> some);
  void end_level();
  /// Recorded so far, to or from a checkpoint.
  void exchange(StateExchange& with);
  /// If they are on disk, gives the memory back that holds them.
  void evict() const { vertices_.evict(0, vertices_.size()); }

  const std::shared_ptr<Resident>& resident() const { return resident_; }
  void set_resident(std::shared_ptr<Resident> vertices, std::vector<std::uint64_t> starts, std::uint64_t bound);
  /// The same frontiers, from a device's vertices.
  Schedule on_host(Buffer<Vertex> vertices) const;

 private:
  Buffer<Vertex>             vertices_;
  std::shared_ptr<Resident>  resident_;
  std::vector<std::uint64_t> starts_{0};
  std::uint64_t              end_   = 0;  ///< of the level that is being recorded
  std::uint64_t              bound_ = 0;
};

/// Which rows a run cannot do without.
struct NeededRows {
  bool push    = false;
  bool pull    = false;
  bool degrees = false;  ///< of the rows that push, where there are no rows
  /// Those that the graph itself does not have, even where the other way could do: by what the user or program
  /// asks.
  bool without_others = false;
  bool to_plan        = false;  ///< as many as there are will do, whatever is in them
};

namespace detail {
/// As they apply to this graph: one in pages is streamed, to the CPU unless a GPU is asked for. Error{usage} where
/// something else was asked for.
RunOptions options_for(const Graph& graph, RunOptions options);
/// Degrees that a GPU would have counted.
void count_degrees(Topology& topology, const Graph& graph, const RunOptions& options);
}  // namespace detail

/// The graph in memory as one block for each side. In-edges that are not at hand are built only where they are
/// needed.
Topology resident_topology(const Graph& graph, Along along, NeededRows needed, const RunOptions& options,
                           bool on_gpu);

/// What brings the blocks of a graph in memory to the CPU: as they are, or through an arena.
std::unique_ptr<EdgeSupply> host_supply(CpuExecutor& executor, const Topology& topology, const ProgramFacts& facts,
                                        const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget);

/// The executor of a device that is made of the CPU's. What it cannot do is Error{usage}.
std::unique_ptr<Executor> composed_executor(ExecutorMaker& maker, const Topology& topology,
                                            const RunOptions& options, const ProgramFacts& facts);

/// The one loop: iterates a program on any device, with any supply, to its end: an empty frontier, convergence or
/// `max_iterations`.
RunStatistics run_loop(Executor& executor, EdgeSupply& supply, const Topology& topology, const ProgramFacts& facts,
                       const RunOptions& options, std::uint64_t max_iterations,
                       const std::shared_ptr<MemoryBudget>& budget);

/// Of a run on the CPU with so many bytes of state.
Plan plan_on_cpu(const RunOptions& options, const Topology& topology, const ProgramFacts& facts,
                 std::uint64_t state, const MemoryBudget& budget);

/// Push or pull, by the work each would do.
Direction choose_direction(const ProgramFacts& facts, const Topology& topology, const FrontierSize& frontier,
                           const RunOptions& options);

/// A bucket width for `graph`'s weights under which delta-stepping does well (Meyer & Sanders 1998).
/// A GPU has more hands and a bucket costs it more: wider ones do better there.
double choose_delta(const Graph& graph, bool on_gpu);

}  // namespace spillway
