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

SPILLWAY_DEVICE_PROGRAM(PathCounts<Between<double>>)
SPILLWAY_DEVICE_PROGRAM(PathCounts<Between<Large>>)
SPILLWAY_DEVICE_PROGRAM(Dependencies<double>)
SPILLWAY_DEVICE_PROGRAM(Dependencies<Large>)

}  // namespace spillway
