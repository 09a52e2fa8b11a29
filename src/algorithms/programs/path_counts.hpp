// Counting shortest paths level by level: all of ssnsp, and the first half of betweenness.
#pragma once

#include "algorithms/programs/device.hpp"
#include "algorithms/programs/levels.hpp"

namespace spillway {

struct PathCount {
  double        paths;
  std::uint32_t level;
};

/// `V` has `paths`, of any type that counts, and `level`, and may have more, which starts as zero.
template <class V>
struct PathCounts {
  using Count   = decltype(V::paths);
  using Value   = V;
  using Update  = Count;
  using Combine = Sum<Count>;

  Vertex source;

  SPILLWAY_HD V init(Vertex v) const {
    V value{};
    value.paths = Count(v == source ? 1.0 : 0.0);
    value.level = v == source ? 0 : no_level;
    return value;
  }
  SPILLWAY_HD bool  starts(Vertex v) const { return v == source; }
  SPILLWAY_HD bool  open(const V& value) const { return value.level == no_level; }
  SPILLWAY_HD Count publish(const V& value, const Step<>&) const { return value.paths; }
  SPILLWAY_HD Count compute(Count paths, const Edge<>&) const { return paths; }

  SPILLWAY_HD bool apply(V& value, Count paths, const Step<>& step) const {
    value.level = step.iteration + 1;
    value.paths = paths;
    return true;
  }

  static constexpr int columns = 2;
  template <int i>
  SPILLWAY_HD auto column(const V& value) const {
    if constexpr (i == 0)
      return value.level;
    else
      return static_cast<double>(value.paths);
  }
};

SPILLWAY_DEVICE_PROGRAM(PathCounts<PathCount>)

}  // namespace spillway
