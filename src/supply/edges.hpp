// Rounds over a list of edges in chunks, for CPU and GPUs alike (WolfGraph, sections 4.1 to 4.3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <spillway/edge_list.hpp>
#include <spillway/engine/executor.hpp>
#include <spillway/engine/memory.hpp>
#include <spillway/options.hpp>

namespace spillway {

/// For every vertex, the numbers of the edges that push from it, ascending (the mapping array of section 4.3).
class EdgesOfVertices {
 public:
  EdgesOfVertices(const RowBlock& block, const EdgeRun& edges, int threads,
                  const std::shared_ptr<MemoryBudget>& budget);

  static std::uint64_t bytes(const RowBlock& block, const EdgeRun& edges);

  /// visit(number) for the vertex's edges below `end`.
  template <class Visit>
  void for_each_before(Vertex v, std::uint64_t end, Visit&& visit) const {
    for (std::uint64_t at = starts_[v]; at < starts_[v + 1]; ++at) {
      const std::uint64_t edge = number(at);
      if (edge >= end) return;
      visit(edge);
    }
  }
  std::uint64_t count_before(Vertex v, std::uint64_t end) const {
    return partition_point(starts_[v], starts_[v + 1], [&](std::uint64_t at) { return number(at) < end; }) -
           starts_[v];
  }

 private:
  std::uint64_t number(std::uint64_t at) const { return narrow_.size() > 0 ? narrow_[at] : wide_[at]; }

  Buffer<std::uint64_t> starts_;
  Buffer<std::uint32_t> narrow_;
  Buffer<std::uint64_t> wide_;
};

/// How many edges are at hand at a time. `whole`: all of them, as one chunk.
struct ChunkSizes {
  std::uint64_t edges = 0, successors = 0, count = 1;
  bool          whole = true;

  /// Equation (1): what the state leaves is for edges, of which as many chunks as there are `slots` are at hand;
  /// where lists are concatenated, a part of it is for successors. `room`: bytes; none said: there is no limit.
  static ChunkSizes of(const EdgeRun& all, std::optional<std::uint64_t> room, unsigned slots, bool concatenates,
                       const SharedIndex& shared, const RunOptions& options);
  /// Room below which there is no chunk.
  static std::uint64_t least_room(const EdgeRun& all, unsigned slots, bool concatenates,
                                  const SharedIndex& shared = {});
};

/// ", in N chunks", unless they are whole.
std::string text_of_chunks(const ChunkSizes& sizes);

/// Error where the user said how much memory there is, and it does not do for the state and one chunk. `room`:
/// what is left of it.
void require_room_for_list(const EdgeRun& all, std::uint64_t state, bool concatenates, const SharedIndex& shared,
                           std::uint64_t room, std::uint64_t stated);

/// Whether a run goes on within a chunk until nothing changes there, and with which other edges.
struct ListOrder {
  bool       local      = false;
  Successors successors = Successors::changed;

  static ListOrder of(const ProgramFacts& facts, const RunOptions& options) {
    return {facts.supports_async && !facts.gathers && !facts.voting && options.supply.async != Async::off,
            options.supply.successors};
  }
  bool concatenates() const { return local && successors != Successors::none; }
};

/// Where chunks are brought to, and processed.
class EdgeDevice {
 public:
  virtual ~EdgeDevice() = default;

  /// A chunk, or successors, on its way to where it will be processed. The one before it stays.
  virtual EdgeRun send_chunk(const EdgeRun& edges)                   = 0;
  virtual EdgeRun send_successors(std::span<const std::uint32_t> of) = 0;
  /// As soon as its edges have come.
  virtual BlockWork process(const EdgeBlock& block) = 0;
  /// Bits of vertices that have changed since a chunk was processed first.
  virtual std::vector<std::uint64_t> changed() = 0;
};

/// A round is an iteration: each chunk once, in the order of the list.
class EdgeRounds {
 public:
  /// Chunks that are at hand: one is processed while the next comes.
  static constexpr unsigned slots = 2;

  /// `edges`: of the block, in host memory.
  EdgeRounds(const RowBlock& block, const EdgeRun& edges, const ChunkSizes& sizes, const ListOrder& order,
             int threads, const std::shared_ptr<MemoryBudget>& budget);

  BlockWork round(EdgeDevice& device, IterationStatistics& made, RunStatistics& statistics);

  EdgeBlock block_of(const EdgeRun& edges) const;
  EdgeRun   chunk(std::uint64_t i) const;

 private:
  using Bits = std::vector<std::uint64_t>;

  BlockWork process_successors(EdgeDevice& device, std::uint64_t first, const EdgeRun& chunk, EdgeBlock& block);
  void      mark_targets(const EdgeRun& chunk, Bits& reached) const;
  template <class Process>
  void look_up(const Bits& reached, std::uint64_t first, Process&& process);
  bool look_up_in(const Bits& reached, const ChunkRange& words, std::uint64_t first);
  template <class Process>
  void scan(const Bits& reached, std::uint64_t first, Process&& process);
  template <class Process>
  void          put_together(std::uint64_t room, Process&& process);
  bool          prefers_index(const Bits& reached, std::uint64_t first);
  std::uint64_t stretch() const;
  void          note_sent(std::uint64_t bytes);

  const RowBlock&                         block_;
  EdgeRun                                 all_;
  ChunkSizes                              sizes_;
  ListOrder                               order_;
  int                                     threads_;
  std::shared_ptr<MemoryBudget>           budget_;
  Buffer<std::uint32_t>                   gathered_;  ///< successors, in front of what it has room for
  std::uint64_t                           gathered_words_ = 0;
  std::vector<std::vector<std::uint32_t>> found_;  ///< by each thread
  std::optional<EdgesOfVertices>          index_;
  std::uint64_t                           scanned_ = 0;  ///< edges
  Charge                                  found_memory_;
  IterationStatistics*                    made_       = nullptr;
  RunStatistics*                          statistics_ = nullptr;
};

}  // namespace spillway
