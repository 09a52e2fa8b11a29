// Arcs that wait on disk while a graph is built whose arcs do not fit memory: buckets are written away in turns,
// and read again one after the other. The file has no name, and whatever ends the process, nothing of it stays;
// unless there is a journal, from which another process goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/files.hpp"
#include "graph/build_journal.hpp"

#include <spillway/graph.hpp>

namespace spillway {

class ArcSpill {
 public:
  /// In `folder`. Up to `memory` bytes of arcs wait in memory.
  ArcSpill(std::string folder, std::uint64_t memory);
  /// Among the files of a journal; what it says is there, is.
  ArcSpill(BuildJournal& journal, std::uint64_t memory);

  std::uint64_t memory() const { return memory_; }
  std::uint64_t bytes() const { return end_.load(); }
  BuildJournal* journal() const { return journal_; }

  /// With a journal: that what was written so far is there. For whoever speaks of it in a state.
  void save();
  /// Nothing of it is needed any more.
  void clear();

  /// Where it was written; from many threads at once.
  std::uint64_t write(const void* data, std::uint64_t bytes);
  void          read(std::uint64_t at, void* into, std::uint64_t bytes) const;

 private:
  void              cut_off();
  const FileHandle& file() const { return journal_ ? journal_->file(journaled) : file_; }

  static constexpr const char* journaled = "arcs";

  std::string                folder_;
  FileHandle                 file_;
  BuildJournal*              journal_ = nullptr;
  std::uint64_t              memory_;
  std::atomic<std::uint64_t> end_{0};
};

/// Which rows are built: what a journal has of them is under this name.
inline const std::string out_side = "out", in_side = "in";

/// Takes rows in the order of their vertices, where memory does not hold them all.
class RowSink {
 public:
  virtual ~RowSink() = default;

  struct Facts {
    std::uint64_t vertices       = 0;
    WeightType    weight_type    = WeightType::none;
    std::uint32_t largest_weight = 0;  ///< of whole ones

    std::shared_ptr<MemoryBudget> budget = {};  ///< that the sink's memory counts in
  };
  virtual void begin(const Facts& facts) = 0;
  /// Bytes that it may still allocate while it receives rows.
  virtual std::uint64_t memory() const { return 0; }
  /// Whether it goes on with the rows after all have been handed over, and saves how far it has got then.
  virtual bool commits_later() const { return false; }
  /// Whether it has to know all degrees before the first row: rows are then made twice.
  virtual bool wants_degrees() const                            = 0;
  virtual void take_degrees(std::span<const EdgeIndex> offsets) = 0;
  /// The next rows; `targets` and `weights` begin with those of the first.
  virtual void take(std::span<const EdgeIndex> offsets, const Vertex* targets, const std::uint32_t* weights) = 0;
  /// Puts all that has come into a journal, under names that begin with `side`.
  virtual void save(BuildJournal& journal, const std::string& side) = 0;
  /// Goes on from there, once it has begun and was given the degrees it wants.
  virtual void restore(const BuildJournal& journal, const std::string& side) = 0;
};

/// What is to be built outside of memory, as far as it is known before it is read.
struct OutsideSize {
  EdgeIndex arcs      = 0;
  bool      weighted  = false;
  bool      estimated = false;  ///< there are at least about so many arcs
};

/// How a graph is built that memory does not hold.
struct BuildOutside {
  ArcSpill& spill;
  RowSink&  rows;
  /// Told before the input is read, where its size is known; refuses what cannot fit.
  std::function<void(const OutsideSize&)> expect = {};
};

}  // namespace spillway
