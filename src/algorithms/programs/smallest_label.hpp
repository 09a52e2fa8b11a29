// Components: the smallest label spreads along arcs in both directions until none is left to improve.
#pragma once

#include "algorithms/programs/device.hpp"

namespace spillway {

struct SmallestLabel {
  using Value   = Vertex;
  using Combine = Min<Vertex>;

  static constexpr bool  order_free = true;
  static constexpr bool  relays     = true;
  static constexpr Along along      = Along::both;

  SPILLWAY_HD Vertex init(Vertex v) const { return v; }
  SPILLWAY_HD Vertex compute(Vertex label, const Edge<>&) const { return label; }
};

SPILLWAY_DEVICE_PROGRAM(SmallestLabel)

}  // namespace spillway
