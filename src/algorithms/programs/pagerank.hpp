// PageRank and its personalised form: Page, Brin, Motwani, Winograd 1999; the accumulative form: Zhang, Gao, Gao,
// Wang, TPDS 2014 (Maiter).
#pragma once

#include <cmath>

#include "algorithms/programs/device.hpp"

namespace spillway {

/// Where the walk restarts: at one vertex, or anywhere with equal chance.
struct Restart {
  Vertex source   = no_vertex;
  double share    = 0;          ///< of a vertex, when it is anywhere
  Vertex vertices = no_vertex;  ///< of the graph: those from here on are tree vertices of a split

  SPILLWAY_HD double at(Vertex v) const {
    if (is_tree(v)) return 0;
    return source == no_vertex ? share : v == source ? 1.0 : 0.0;
  }
  SPILLWAY_HD bool is_tree(Vertex v) const { return v >= vertices; }
};

/// Every vertex, every iteration, pulled. Mass of vertices without out-edges restarts (or is dropped). A tree
/// vertex of a split of in-edges adds up what it receives and passes all of it on, an iteration later: what it has
/// not passed on yet counts as a change.
struct PageRank {
  struct Global {
    double dangling = 0, change = 0;

    SPILLWAY_HD void operator+=(const Global& other) {
      dangling += other.dangling;
      change += other.change;
    }
  };
  using Value   = float;
  using Combine = Sum<float>;

  static constexpr bool   all_active = true;
  static constexpr bool   relays     = true;
  static constexpr double never      = -1;  ///< a tolerance that no change is within

  Restart       restart;
  double        damping        = 0.85;
  double        tolerance      = 0;
  bool          drop_dangling  = false;
  std::uint64_t max_iterations = 0;

  SPILLWAY_HD float init(Vertex v) const { return static_cast<float>(restart.at(v)); }

  SPILLWAY_HD float publish(const float& rank, const Step<Global>& step) const {
    if (restart.is_tree(step.vertex)) return rank;
    if (step.degree > 0) return rank / static_cast<float>(step.degree);
    step.total->dangling += static_cast<double>(rank);
    return 0;
  }

  SPILLWAY_HD float compute(float share, const Edge<>&) const { return share; }

  SPILLWAY_HD bool apply(float& rank, float sum, const Step<Global>& step) const {
    const double restarting = 1 - damping + (drop_dangling ? 0 : damping * step.global->dangling);
    const bool   is_tree    = restart.is_tree(step.vertex);
    const auto   next =
        is_tree ? sum
                  : static_cast<float>(restart.at(step.vertex) * restarting + damping * static_cast<double>(sum));
    const double change =
        (is_tree ? damping : 1) * std::abs(static_cast<double>(next) - static_cast<double>(rank));
    step.total->change += change;
    rank = next;
    return change > 0 || tolerance < 0;
  }

  SPILLWAY_HD bool converged(const Global& global) const { return global.change <= tolerance; }
};

/// Vertices pass on what they have received since they last did, in any order, until nobody holds enough of it.
struct AccumulativePageRank {
  struct Value {
    float rank, residual;
  };
  using Update  = float;
  using Combine = Sum<float>;

  static constexpr bool order_free = true;
  static constexpr bool relays     = true;

  Restart       restart;
  double        damping        = 0.85;
  float         smallest       = 0;  ///< a residual up to this is kept
  std::uint64_t max_iterations = highest<std::uint64_t>();

  SPILLWAY_HD Value init(Vertex v) const { return {0, static_cast<float>((1 - damping) * restart.at(v))}; }
  SPILLWAY_HD bool  starts(Vertex v) const { return restart.source == no_vertex || v == restart.source; }

  SPILLWAY_HD float publish(Value& value, const Step<>& step) const {
    const float passed_on = value.residual;
    value.rank += passed_on;
    value.residual = 0;
    if (restart.is_tree(step.vertex)) return passed_on;
    return step.degree > 0 ? static_cast<float>(damping) * passed_on / static_cast<float>(step.degree) : 0;
  }

  SPILLWAY_HD float compute(float share, const Edge<>&) const { return share; }

  SPILLWAY_HD bool apply(Value& value, float update) const {
    value.residual += update;
    return value.residual > smallest;
  }
};

SPILLWAY_DEVICE_PROGRAM(PageRank)
SPILLWAY_DEVICE_PROGRAM(AccumulativePageRank)

}  // namespace spillway
