// What brings edges to a device a window at a time: gathered by the host (Subway's subgraphs), or whole
// partitions. Written once: what a device does for it is WindowDevice.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <spillway/engine/executor.hpp>
#include <spillway/engine/transfer.hpp>

namespace spillway {

/// That the host is told of at once.
constexpr std::uint64_t descriptors_at_once(const RunOptions& options) {
  return options.supply.descriptors < 1 ? 1 : options.supply.descriptors;
}

/// What a run says of itself to whoever brings its edges in windows.
struct WindowNeeds {
  bool weighted = false;
  bool everyone = false;  ///< is active in every iteration
  bool local    = false;  ///< windows may be iterated to a local fixed point

  static WindowNeeds of(const ProgramFacts& facts) {
    return {.weighted = facts.weighted, .everyone = facts.all_active, .local = facts.supports_async};
  }
  std::uint64_t edge_bytes() const { return spillway::edge_bytes(weighted); }
};

/// What an iteration had brought.
struct WindowsSent {
  const char*   how     = "";
  std::uint64_t windows = 0, bytes = 0;  ///< that were sent
  std::uint64_t read      = 0;           ///< bytes that were read where they are
  double        predicted = 0;           ///< seconds that this was to take
  double        gathering = 0;           ///< seconds that the host took for its part, while others went on
};

inline void note(const WindowsSent& sent, IterationStatistics& iteration, RunStatistics& run) {
  iteration.transfer = sent.how, iteration.windows = sent.windows;
  iteration.bytes_sent = sent.bytes, iteration.bytes_read = sent.read;
  iteration.predicted_ms = sent.predicted * 1e3, iteration.gathering_ms = sent.gathering * 1e3;
  run.bytes_sent += sent.bytes;
  run.bytes_read += sent.read;
}

struct EdgePointers {
  Vertex*        targets = nullptr;
  std::uint32_t* weights = nullptr;
};

/// Where a part of a side begins: among its edges, and among the words that the host sends.
struct PartCut {
  EdgeIndex     edge = 0;
  std::uint64_t word = 0;
};

/// The rows of one block, on the host; its first parts are on the device all the time.
struct WindowSide {
  Rows                 host;  ///< a word for every edge, unless they are compressed
  EdgeIndex            arcs       = 0;
  EdgeIndex            part_edges = 0;   ///< of each but the last…
  std::vector<PartCut> cuts       = {};  ///< …unless they are compressed
  std::size_t          resident   = 0;   ///< parts

  std::size_t   parts() const { return cuts.empty() ? (arcs + part_edges - 1) / part_edges : cuts.size() - 1; }
  EdgeIndex     edge_at(std::size_t part) const { return at(part).edge; }
  std::uint64_t word_at(std::size_t part) const { return at(part).word; }
  /// That the parts from `first` to before `last` take as they are sent.
  std::uint64_t bytes(std::size_t first, std::size_t last) const {
    return (word_at(last) - word_at(first)) * (host.weights ? 2 : 1) * sizeof(std::uint32_t);
  }

 private:
  PartCut at(std::size_t part) const {
    if (!cuts.empty()) return cuts[part];
    const EdgeIndex edge = part * part_edges < arcs ? part * part_edges : arcs;
    return {edge, edge};
  }
};

/// Edges that are on a device now.
struct WindowAt {
  std::size_t side;
  EdgeRange   edges;
  bool        local;                          ///< visited to its local fixed point
  std::size_t first_part = 0, last_part = 0;  ///< of the side, unless it is compact
  bool        again = false;                  ///< in this iteration: for those that have something new since
};

class WindowDevice {
 public:
  /// Instead of a slot: what is there all the time, and what is read where the host has it.
  static constexpr std::size_t resident = ~std::size_t{0}, in_place = ~std::size_t{1};

  virtual ~WindowDevice() = default;
  /// The active rows, or all, in chunks. `parts`: where the parts of the side begin among them, and where the last
  /// ends; empty if they are not asked for, or if there is no room to tell.
  virtual LayoutSize lay_out(std::size_t side, bool everyone, std::vector<PartAt>& parts) = 0;
  /// Of the last layout from `first` to `last`, as many as the host is told at once; what was told before may be
  /// gone by then.
  virtual ChunkLayout chunks(std::uint64_t first, std::uint64_t last) = 0;
  /// Whatever is sent there from now on waits until the device is done with what was there.
  virtual void reuse(std::size_t slot) = 0;
  /// A whole part of a side.
  virtual void send(std::size_t slot, const WindowSide& side, std::size_t part) = 0;
  /// Where the host may gather what is to be at place `at` of a slot, and that it has.
  virtual EdgePointers stage(std::size_t slot, EdgeIndex at)                        = 0;
  virtual void         send_staged(std::size_t slot, EdgeIndex at, EdgeIndex count) = 0;
  virtual void         visit(std::size_t slot, const WindowAt& window)              = 0;
};

/// How a device's memory is shared out.
struct WindowSizes {
  bool          local      = false;  ///< will be iterated to a local fixed point
  unsigned      slots      = 0;
  EdgeIndex     slot_edges = 0, stage_edges = 0;
  std::uint64_t left = 0;  ///< bytes for edges that stay

  /// That must be there in any case.
  static std::uint64_t least(const WindowNeeds& needs);
  /// What a CPU holds to lay out the rows of a side, and to list those that become active again in a window.
  static std::uint64_t layout_bytes(std::uint64_t vertices, EdgeIndex arcs, const WindowNeeds& needs,
                                    const RunOptions& options);
  /// What is left for edges on a CPU with so much state, and `to_come` that it does not hold yet;
  /// Error{does_not_fit} where it is less than the least.
  static std::uint64_t room_on_cpu(std::uint64_t state, const WindowNeeds& needs, const RunOptions& options,
                                   const MemoryBudget& budget, std::uint64_t to_come = 0);
  /// `room`: bytes for edges; `arcs`: of the largest side.
  static WindowSizes of(std::uint64_t room, EdgeIndex arcs, std::uint64_t vertices, const WindowNeeds& needs,
                        const RunOptions& options);
  /// Edges of a side that stay, in whole parts, if there are `bytes` for it.
  EdgeIndex resident_edges(EdgeIndex arcs, std::uint64_t bytes, const WindowNeeds& needs) const;
  /// The parts that those are.
  std::size_t parts_of(EdgeIndex edges) const { return edges == 0 ? 0 : (edges + slot_edges - 1) / slot_edges; }
};

/// The host gathers into one stage while others are sent. Together they are larger than the caches of the cores:
/// what those still hold is sent at half the speed (docs/experiments.md).
inline constexpr unsigned      stages_at_once = 4;
inline constexpr std::uint64_t staged_bytes   = 8u << 20;  ///< of one, at most

/// Subway's step 5: the edges from `from` to `to` of that array, by all threads, each as many as the others.
void gather_edges(const Rows& rows, const ChunkLayout& chunks, EdgeIndex from, EdgeIndex to, int threads,
                  const EdgePointers& into);

/// Parts of the array of all edges, one behind the other, that reach the device in one way.
struct Stretch {
  enum class Way { whole, gathered, in_place } way;
  std::size_t first, last;
};

class WindowSupply {
 public:
  WindowSupply(std::vector<WindowSide> sides, const WindowSizes& sizes, const WindowNeeds& needs,
               const RunOptions& options, std::shared_ptr<MemoryBudget> budget);

  /// Brings what an iteration needs, and has it visited.
  WindowsSent supply(WindowDevice& device);

  std::uint64_t resident_bytes() const;

 private:
  using Way = Stretch::Way;

  /// What a slot holds, if that is a whole part of a side, and when it was last visited.
  struct SlotUse {
    std::size_t   side = nowhere, part = 0;
    std::uint64_t visited = 0;
  };
  static constexpr std::size_t nowhere = ~std::size_t{0};

  /// One side, in one iteration.
  struct Round {
    WindowDevice& device;
    std::size_t   side;
    WindowsSent&  sent;
    std::size_t   kept_visited  = 0;  ///< parts that stay and had their visit
    std::size_t   kept_a_window = 0;  ///< that have it with each window
  };

  /// How far the host has been told of the chunks of a stretch.
  struct DescriptorCursor {
    std::uint64_t next, last;     ///< the next chunk to be told of, and where the stretch ends
    ChunkLayout   chunks   = {};  ///< that it was told of last
    EdgeIndex     edges_to = 0;   ///< where their edges end
  };

  void                 supply(Round round);
  LayoutSize           lay_out(const Round& round);
  std::vector<Stretch> chosen(Round& round);
  Way                  cheapest(double edges, double chunks, std::uint64_t bytes, double& takes) const;
  std::vector<Stretch> chosen_for_all(Round& round, std::size_t first);
  std::vector<Stretch> visit_held(Round& round, const std::vector<Stretch>& stretches);
  std::uint64_t        windows_of(const std::vector<Stretch>& stretches) const;

  const SlotUse* slot_with(std::size_t side, std::size_t part) const;
  std::uint64_t  bytes_in_slots(std::size_t side) const;
  std::size_t    take_slot(WindowDevice& device);

  void        bring(Round& round, const Stretch& stretch);
  void        send_whole(Round& round, const Stretch& stretch);
  void        send_gathered(Round& round, const Stretch& stretch);
  void        gather(Round& round, DescriptorCursor& cursor, EdgeIndex from, EdgeIndex to, EdgePointers into);
  void        read_in_place(Round& round, const Stretch& stretch);
  void        visit_part(Round& round, std::size_t slot, std::size_t part);
  void        visit_kept(Round& round, std::size_t parts) const;
  WindowAt    kept(const Round& round, std::size_t first, std::size_t last) const;
  static void count_sent(Round& round, Way way, std::uint64_t bytes);
  static void note_way(Round& round, Way way);
  void        have_visited(Round& round, std::size_t slot, const WindowAt& window);

  std::vector<WindowSide> sides_;
  WindowSizes             sizes_;
  WindowNeeds             needs_;
  RunOptions              options_;
  std::uint64_t           edge_bytes_;
  int                     threads_;
  Charge                  parts_memory_;
  TransferCosts           costs_;
  bool                    first_ = true, last_side_first_ = false;
  double                  gathered_since_ = 0;  ///< seconds, asynchronously, since parts were last sent whole
  std::vector<SlotUse>    slots_;
  std::uint64_t           visits_ = 0;
  LayoutSize              laid_{};
  std::vector<PartAt>     parts_;
};

}  // namespace spillway
