// In-edges of a graph whose rows memory does not hold: rows go on as they are, and their arcs, turned round, wait
// on disk to become rows in their turn.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "graph/arc_collector.hpp"

namespace spillway {

class ReversingSink final : public RowSink {
 public:
  ReversingSink(ArcSpill& spill, RowSink& next, int threads, Progress& progress)
      : outside_{spill, next}, threads_(threads), progress_(progress) {}

  void          begin(const Facts& facts) override;
  std::uint64_t memory() const override { return outside_.spill.memory() + outside_.rows.memory(); }
  bool          commits_later() const override { return true; }
  bool          wants_degrees() const override { return outside_.rows.wants_degrees(); }
  void          take_degrees(std::span<const EdgeIndex> offsets) override { outside_.rows.take_degrees(offsets); }
  void take(std::span<const EdgeIndex> offsets, const Vertex* targets, const std::uint32_t* weights) override;

  void save(BuildJournal& journal, const std::string& side) override;
  void restore(const BuildJournal& journal, const std::string& side) override;

  /// All have come: hands the in-edges to another sink. Offsets of their rows.
  Array<EdgeIndex> finish(RowSink& in_edges);

 private:
  using Plain    = std::unique_ptr<ArcCollector<Arc>>;
  using Weighted = std::unique_ptr<ArcCollector<WeightedArc>>;

  BuildOutside                  outside_;
  int                           threads_;
  Progress&                     progress_;
  Facts                         facts_;
  std::variant<Plain, Weighted> collector_;
  std::uint64_t                 taken_ = 0;
};

}  // namespace spillway
