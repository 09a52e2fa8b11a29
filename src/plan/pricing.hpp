// What a candidate costs: preparing, and every iteration, by what is known of program, graph and machine
// (docs/planning.md).
#pragma once

#include "plan/planner.hpp"

namespace spillway {

/// A search or an improvement over more levels than this is a long one: each has few active vertices.
inline constexpr double most_levels_of_short_paths = 32;

/// Windows of less would not keep the bus busy.
inline constexpr std::uint64_t least_windows = 12u << 20;

class Pricing {
 public:
  Pricing(const RunFacts& run, const Rates& rates, const GraphSample& sample);

  /// `beside`: bytes that it needs on the device beside edges.
  void price(PlanCandidate& candidate, const GpuFacts& device, std::uint64_t beside) const;

  /// Of an iteration, if a share of the edges is resident.
  PredictedIteration iteration(const PlanCandidate& candidate, const Activity& active, double kept) const;

 private:
  /// Seconds that depend on one rate.
  struct Term {
    double Rates::*rate    = nullptr;
    double         seconds = 0;
  };
  /// Of an iteration: seconds on the bus and of computing, which overlap or not, and bytes over the bus.
  struct Cost {
    double transfer = 0, compute = 0, total = 0, bytes = 0;
    Term   most = {};  ///< of the total
  };

  static Term larger(const Term& one, const Term& other) { return one.seconds >= other.seconds ? one : other; }

  double edge_bytes() const { return static_cast<double>(spillway::edge_bytes(run_.weighted)); }
  double arcs(double share) const { return share * static_cast<double>(run_.arcs); }
  /// Rows of a share of the edges of which some are not on the device, if the first of all rows are.
  double rows(double share, double kept) const;
  double bytes_of_all(const PlanCandidate& candidate) const;
  /// Sides of the graph that a candidate keeps and pins.
  double sides(const PlanCandidate& candidate) const;

  double preparing(const PlanCandidate& candidate, const GpuFacts& device, double resident) const;
  double keeping(const PlanCandidate& candidate, double resident) const;

  double cached(double cache, double line) const;
  Term   visiting(double edges, VertexOrder order = VertexOrder::natural) const;
  double of_summed_hubs(const PlanCandidate& candidate) const;
  Term   pushing(double edges) const;
  Cost   cost(const PlanCandidate& candidate, const Activity& active, double kept) const;
  Cost   on_cpu(const Activity& active) const;
  Cost   resident(const PlanCandidate& candidate, const Activity& active) const;
  double sharing(const BalanceTuning& balance, const Activity& active, double visited) const;
  Cost   in_place(const Activity& active, double kept, bool prefixes) const;
  Cost   coded_in_place(const Activity& active, double kept) const;
  Cost   votes(const Activity& active, double kept, bool prefixes) const;
  Cost   coded_votes(const Activity& active, double kept) const;
  double with_first_group(double kept) const;
  double coded_rows(double share, double kept) const;
  double rows_looked_at(const Activity& active) const;
  Cost   in_windows(const PlanCandidate& candidate, const Activity& active, double kept) const;
  Cost   compressed_windows(const PlanCandidate& candidate, const Activity& active, double kept) const;
  /// Bytes of the parts in which somebody is active.
  double whole_parts(const Activity& active, double kept) const;
  Cost   overlapped(const Term& bus, double bus_seconds, const Activity& active, double bytes) const;
  Cost   asynchronously(double kept) const;

  bool searches_short_paths() const { return run_.voting && sample_.levels <= most_levels_of_short_paths; }

  const RunFacts&       run_;
  const Rates&          rates_;
  const GraphSample&    sample_;
  TransferCosts         costs_;
  std::vector<Activity> activity_, on_cpu_;
  double                code_bytes_;
};

}  // namespace spillway
