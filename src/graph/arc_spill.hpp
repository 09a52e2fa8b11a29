// Arcs that wait on disk while a graph is built whose arcs do not fit memory: buckets are written away in turns,
// and read again one after the other. The file has no name: whatever ends the process, nothing of it stays.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/files.hpp"

#include <spillway/graph.hpp>

namespace spillway {

class ArcSpill {
 public:
  /// In `folder`. Up to `memory` bytes of arcs wait in memory.
  ArcSpill(std::string folder, std::uint64_t memory);

  std::uint64_t memory() const { return memory_; }
  std::uint64_t bytes() const { return end_.load(); }

  /// Where it was written; from many threads at once.
  std::uint64_t write(const void* data, std::uint64_t bytes);
  void          read(std::uint64_t at, void* into, std::uint64_t bytes) const;

 private:
  std::string                folder_;
  FileHandle                 file_;
  std::uint64_t              memory_;
  std::atomic<std::uint64_t> end_{0};
};

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
  /// Whether it has to know all degrees before the first row: rows are then made twice.
  virtual bool wants_degrees() const                            = 0;
  virtual void take_degrees(std::span<const EdgeIndex> offsets) = 0;
  /// The next rows; `targets` and `weights` begin with those of the first.
  virtual void take(std::span<const EdgeIndex> offsets, const Vertex* targets, const std::uint32_t* weights) = 0;
};

/// How a graph is built that memory does not hold.
struct BuildOutside {
  ArcSpill& spill;
  RowSink&  rows;
};

}  // namespace spillway
