// Degrees in one pass over out-edges, where no in-edges are at hand.
#pragma once

#include "algorithms/programs/device.hpp"

namespace spillway {

/// Out-degrees are known, and everyone tells its neighbours of an arc.
struct ArcCounts {
  struct Value {
    std::uint64_t out, in;
  };
  using Update  = std::uint64_t;
  using Combine = Sum<std::uint64_t>;

  static constexpr std::uint64_t max_iterations = 1;

  SPILLWAY_HD Value init(Vertex, EdgeIndex degree) const { return {degree, 0}; }
  SPILLWAY_HD std::uint64_t compute(const Edge<>&) const { return 1; }

  SPILLWAY_HD bool apply(Value& value, std::uint64_t arcs) const {
    value.in = arcs;
    return false;
  }

  static constexpr int columns = 2;
  template <int i>
  SPILLWAY_HD std::uint64_t column(const Value& value) const {
    return i == 0 ? value.out : value.in;
  }
};

SPILLWAY_DEVICE_PROGRAM(ArcCounts)

}  // namespace spillway
