// What an algorithm answers: typed columns with one entry a vertex, facts about the whole, and what the run took.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <spillway/array.hpp>
#include <spillway/graph.hpp>
#include <spillway/options.hpp>
#include <spillway/plan.hpp>
#include <spillway/types.hpp>

namespace spillway {

/// What the largest value of a column's integer type stands for.
enum class Missing {
  never,     ///< for itself
  blank,     ///< no answer: empty in text, null in JSON, -1 in binary
  infinite,  ///< inf, in binary too (the column is then written as f64)
};

/// A column where the GPU that made it has it.
class ColumnOnDevice {
 public:
  virtual ~ColumnOnDevice() = default;

  virtual int           device() const             = 0;  ///< the number of the GPU
  virtual const void*   data() const               = 0;  ///< there
  virtual std::uint64_t size() const               = 0;  ///< entries
  virtual void          download(void* here) const = 0;
};

struct Column {
  using Values = std::variant<Array<std::uint32_t>, Array<std::uint64_t>, Array<float>, Array<double>>;

  std::string name;
  Values      values;
  /// The entries are vertices (u32): shown as the user's ids. `no_vertex` is shown as nothing.
  bool    vertices = false;
  Missing missing  = Missing::never;
  /// Where a GPU has left it (RunOptions::leave_answer). `values` is empty then, until `fetch`.
  std::shared_ptr<const ColumnOnDevice> on_device = {};
};

/// Brings the entries of a column that was left on a GPU, and gives up what is there. Not for two threads at a
/// time.
void fetch(Column& column, const std::shared_ptr<MemoryBudget>& budget);

/// One number or word about the whole graph: how many components, which residual was reached.
struct Fact {
  std::string                                      name;
  std::variant<std::uint64_t, double, std::string> value;
};

struct IterationStatistics {
  std::uint64_t active_vertices = 0;  ///< each as often as it pushes: within a bucket, blocks of a GPU repeat
  std::uint64_t active_edges    = 0;  ///< that leave the active vertices
  std::uint64_t edges_processed = 0;  ///< arcs looked at: fewer where a vote is found, more where all are pulled
  Direction     direction       = Direction::push;
  double        milliseconds    = 0;
  bool          balloted        = false;  ///< on a GPU: a scan made the list of active vertices
  /// How edges that do not fit came to the device: "gathered" edges or "whole" partitions were sent, they were
  /// read "in place", or several of these ("mixed"); or all that were needed were there ("kept"). Of pages: some
  /// were read from disk ("pages"), or those that the host keeps were "sent".
  const char*   transfer   = "";
  std::uint64_t windows    = 0;  ///< in so many parts they were sent
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_read = 0;  ///< in place, where that is known; of pages, from disk
  std::uint64_t pages_hit  = 0;  ///< of so many parts that are pages, a GPU had these already
  /// Of this activity: in windows of the transfer, else of the whole iteration; 0: nothing was predicted.
  double predicted_ms = 0;
  double gathering_ms = 0;  ///< that the host gathered, while edges were sent and visited
};

/// How often the engine took ways that small graphs never need.
struct RunCounters {
  std::uint64_t shared_rows  = 0;  ///< rows so long that several threads walked them
  std::uint64_t fused_bins   = 0;  ///< parts of a bucket that a thread went on with by itself
  std::uint64_t bucket_moves = 0;  ///< times the window of open buckets moved on
  std::uint64_t full_bins    = 0;  ///< of updates pushed from pages, emptied before the iteration's end

  std::uint64_t kernel_launches = 0;  ///< of the kernel that iterates
  std::uint64_t ballots         = 0;  ///< frontiers that a scan listed
  std::uint64_t switches        = 0;  ///< changes of direction
  std::uint64_t overflows       = 0;  ///< iterations that found more than the online filter's bins hold
  std::uint64_t batched         = 0;  ///< entries that the batch filter went through
  std::uint64_t small_rows      = 0;  ///< pushed by warps, several together
  std::uint64_t large_rows      = 0;  ///< pushed by a block each
  std::uint64_t hub_rows        = 0;  ///< pushed by the whole grid
  std::uint64_t long_pulls      = 0;  ///< rows that blocks pulled
  std::uint64_t settled         = 0;  ///< vertices of finished buckets that were left alone from then on
  std::uint64_t handed_over     = 0;  ///< iterations that a fused kernel left to the host, to send edges
  std::uint64_t local_rounds    = 0;  ///< that windows of edges were gone through again, asynchronously
  std::uint64_t fused_rounds    = 0;  ///< within a bucket, that a block of a GPU made by itself
  std::uint64_t virtual_nodes   = 0;  ///< that were visited, where rows are split
  std::uint64_t summed_hubs     = 0;  ///< whose sums met in a GPU's shared memory

  void operator+=(const RunCounters& other) {
    shared_rows += other.shared_rows, fused_bins += other.fused_bins, bucket_moves += other.bucket_moves;
    full_bins += other.full_bins;
    kernel_launches += other.kernel_launches, ballots += other.ballots, switches += other.switches;
    overflows += other.overflows, batched += other.batched;
    small_rows += other.small_rows, large_rows += other.large_rows, hub_rows += other.hub_rows;
    long_pulls += other.long_pulls, settled += other.settled, local_rounds += other.local_rounds;
    handed_over += other.handed_over, virtual_nodes += other.virtual_nodes, fused_rounds += other.fused_rounds;
    summed_hubs = other.summed_hubs;
  }
};

struct RunStatistics {
  double                           prepare_ms  = 0;  ///< in-edges, orders, state: what a second run may not need
  double                           run_ms      = 0;
  double                           transfer_ms = 0;      ///< to the device and back
  std::string                      device      = "cpu";  ///< that computed
  std::string                      method;               ///< how edges reached it; empty: they were there
  bool                             compressed = false;   ///< edges, where they did not all fit
  std::string                      balance;  ///< which thread worked on which edge; empty: no vertex program ran
  std::string                      device_note;          ///< why it was not the one that would have been chosen
  std::uint64_t                    device_bytes   = 0;   ///< held there at most
  std::uint64_t                    uploaded_bytes = 0;   ///< of the graph
  std::uint64_t                    edges_resident = 0;   ///< bytes of edges there, where they do not all fit
  std::uint64_t                    edges_on_host  = 0;   ///< and of those that it read in host memory
  std::uint64_t                    bytes_sent     = 0;   ///< of edges, while it ran
  std::uint64_t                    bytes_read     = 0;   ///< of edges in place, where that is known
  std::uint64_t                    pages_wanted   = 0;   ///< of a graph on disk, over all iterations
  std::uint64_t                    pages_sent     = 0;   ///< of which were sent to a GPU…
  std::uint64_t                    pages_in_place = 0;   ///< …or read in host memory; the others had stayed
  std::uint64_t                    pages_read     = 0;   ///< of which others had stayed in memory
  std::string                      page_io;              ///< how they were read: "io_uring" or "pread"
  std::uint64_t                    state_chunks    = 1;  ///< that state was in on disk; 1: it was in memory
  std::uint64_t                    iterations      = 0;
  std::uint64_t                    edges_processed = 0;  ///< arcs looked at
  std::vector<IterationStatistics> per_iteration;
  RunCounters                      counters;
  std::vector<PlanCandidate>       candidates;  ///< that were priced, the one that ran first; empty: none was
};

struct Result {
  std::vector<Column>  columns;
  std::vector<Fact>    facts;
  std::optional<Graph> graph;  ///< of algorithms whose answer is a graph; it has no columns
  RunStatistics        statistics;
};

}  // namespace spillway
