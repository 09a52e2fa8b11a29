// Rows in the order of their degrees, hubs first: what most edges lead to has small numbers, which compressed rows
// hold in fewer bits, and lies together. Rows come in any number, wait on disk by ranges of their new places, and
// go on range by range.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "graph/arc_spill.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/progress.hpp>

namespace spillway {

/// The vertex that comes first, the second, …: by falling degree, equal ones as they were.
Buffer<Vertex> by_falling_degree(std::span<const EdgeIndex> offsets, const std::shared_ptr<MemoryBudget>& budget);

class OrderingSink final : public RowSink {
 public:
  /// Rows go on to `next`. `order`: that of other rows of the same vertices, in-edges' say; none: by degree.
  OrderingSink(ArcSpill& spill, RowSink& next, int threads, Progress& progress, Array<Vertex> order = {});

  void begin(const Facts& facts) override;
  bool wants_degrees() const override { return true; }
  bool commits_later() const override { return true; }
  void take_degrees(std::span<const EdgeIndex> offsets) override;
  void take(std::span<const EdgeIndex> offsets, const Vertex* targets, const std::uint32_t* weights) override;

  void save(BuildJournal& journal, const std::string& side) override;
  void restore(const BuildJournal& journal, const std::string& side) override;

  /// All have come: hands them on. Offsets of the rows in their new order.
  Array<EdgeIndex>     finish(const std::string& side);
  const Array<Vertex>& order() const { return order_; }

 private:
  using Words = std::vector<std::uint32_t>;
  struct Spilled {
    std::uint64_t at, words;
  };
  /// Neighbouring rows that are handed on at once.
  struct Range {
    Vertex               first, last;
    std::vector<Spilled> parts;
  };
  struct Mapped {
    std::vector<Vertex>                           targets;
    std::vector<std::pair<Vertex, std::uint32_t>> weighted;
    std::vector<Words>                            waiting;  ///< of each range
  };

  void set_up_ranges();
  void add_row(Vertex place, std::span<const Vertex> targets, const std::uint32_t* weights, Mapped& own);
  void write_away(std::size_t range, Words& words);
  void write_away_all();
  void hand_on(const Range& range);
  bool weighted() const { return facts_.weight_type != WeightType::none; }

  ArcSpill&             spill_;
  RowSink&              next_;
  int                   threads_;
  Progress&             progress_;
  Facts                 facts_;
  Array<Vertex>         order_;
  Buffer<Vertex>        place_;    ///< of each vertex, as it was
  Buffer<EdgeIndex>     offsets_;  ///< of rows in the new order
  std::vector<Range>    ranges_;
  std::vector<Mapped>   mapped_;  ///< of each thread
  std::mutex            mutex_;
  std::uint64_t         taken_         = 0;
  std::uint64_t         handed_on_     = 0;  ///< ranges
  std::uint64_t         waiting_words_ = 0;  ///< of a range and thread, before they are written
  std::optional<Charge> memory_;
};

}  // namespace spillway
