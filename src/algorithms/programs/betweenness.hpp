// Betweenness (Brandes 2001): path counts forwards and dependencies backwards over the same frontiers.
#pragma once

#include "algorithms/programs/device.hpp"
#include "algorithms/programs/path_counts.hpp"

#include <spillway/large.hpp>

namespace spillway {

template <class Count>
struct Between {
  Count         paths;
  double        dependency;
  std::uint32_t level;
  std::uint32_t done;  ///< its dependency is complete
};

/// Walks the frontiers of PathCounts from the last: a vertex that is done tells those before it. An arc that does
/// not lead one level up ends at a vertex that is done, or is a loop to itself.
template <class Count>
struct Dependencies {
  using Value   = Between<Count>;
  using Update  = Count;
  using Combine = Sum<Count>;

  static constexpr Along along        = Along::in;
  static constexpr bool  reads_degree = false;
  static constexpr bool  next_receive = true;  // whoever is open and leads to a level is of the level before

  SPILLWAY_HD Value init(Vertex) const { return {}; }
  SPILLWAY_HD bool  open(const Value& value) const { return value.done == 0 && value.level != no_level; }

  SPILLWAY_HD Count publish(Value& value, const Step<>&) const {
    value.done = 1;
    return Count(1 + value.dependency) / value.paths;
  }
  SPILLWAY_HD Count compute(Count share, const Edge<>&) const { return share; }
  SPILLWAY_HD bool  apply(Value& value, Count shares) const {
     value.dependency = static_cast<double>(value.paths * shares);
     return false;
  }
};

/// Where vertices are split, no frontiers are recorded to walk back: paths of one length have more or fewer tree
/// arcs. Every vertex that is reached waits for its turn instead, which is before that of all who lead to it, and
/// what a part of a vertex receives goes on to the vertex itself.
struct SplitDependencies {
  struct Value {
    double        paths, dependency;
    std::uint32_t level, turn;
  };
  struct Sent {
    double        share;
    std::uint32_t level;
  };
  using Update  = double;
  using Combine = Sum<double>;

  static constexpr Along  along        = Along::in;
  static constexpr bool   reads_degree = false;
  static constexpr double delta        = 1;

  Vertex originals;  ///< vertices of the graph; the others end no path

  SPILLWAY_HD Value init(Vertex) const { return {0, 0, no_level, 0}; }
  SPILLWAY_HD bool  starts(Vertex, const Value& value) const { return value.level != no_level; }
  SPILLWAY_HD std::uint32_t priority(const Value& value) const { return value.turn; }

  SPILLWAY_HD Sent publish(const Value& value, const Step<>& step) const {
    return {((step.vertex < originals ? 1 : 0) + value.dependency) / value.paths, value.level};
  }
  SPILLWAY_HD double compute(const Sent& sent, const Edge<>&, const Value& to) const {
    return to.level != no_level && to.level + 1 == sent.level ? to.paths * sent.share : 0;
  }
  SPILLWAY_HD double neutral(const Sent& sent, const Edge<>&, const Value& to) const {
    return to.level == sent.level ? to.paths * sent.share : 0;
  }
  SPILLWAY_HD bool apply(Value& value, double shares) const {
    value.dependency += shares;
    return false;  // it waits as it did
  }
};

SPILLWAY_DEVICE_PROGRAM(PathCounts<Between<double>>)
SPILLWAY_DEVICE_PROGRAM(PathCounts<Between<Large>>)
SPILLWAY_DEVICE_PROGRAM(Dependencies<double>)
SPILLWAY_DEVICE_PROGRAM(Dependencies<Large>)
SPILLWAY_DEVICE_PROGRAM(SplitDependencies)

}  // namespace spillway
