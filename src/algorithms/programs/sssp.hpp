// Shortest paths over non-negative weights: distances alone, whose parents are found afterwards, or both in one.
// Delta-stepping (Meyer & Sanders 1998): the engine settles vertices in buckets of their distance.
#pragma once

#include "algorithms/programs/device.hpp"

namespace spillway {

/// Whole distances stop here instead of wrapping; one that does is reported as an overflow.
inline constexpr std::uint32_t distance_limit = highest<std::uint32_t>() - 1;

SPILLWAY_HD inline std::uint32_t extended(std::uint32_t distance, std::uint32_t weight) {
  return weight > distance_limit - distance ? distance_limit : distance + weight;
}

/// Distances and parents in one. An update counts where the distance falls, and of two that are the same the first
/// stays: whoever has a parent by an edge that adds nothing has read that parent's last distance before it had its
/// own, so that parents never go round in a circle.
struct Paths {
  struct alignas(8) Value {
    std::uint32_t distance;
    Vertex        parent;

    SPILLWAY_HD bool         operator<(const Value& other) const { return distance < other.distance; }
    SPILLWAY_HD static Value highest() { return {no_distance, no_vertex}; }
  };
  using Weight  = std::uint32_t;
  using Combine = Min<Value>;

  static constexpr bool          order_free     = true;  // a minimum over paths: any order, same distances
  static constexpr bool          settles        = true;  // no weight is negative
  static constexpr std::uint32_t neutral_weight = 0;     // a zero edge lengthens no path

  Vertex source;
  double delta = 0;  // chosen by the engine

  SPILLWAY_HD Value init(Vertex v) const { return v == source ? Value{0, v} : Value{no_distance, no_vertex}; }
  SPILLWAY_HD bool  starts(Vertex v) const { return v == source; }
  SPILLWAY_HD std::uint32_t priority(const Value& value) const { return value.distance; }
  SPILLWAY_HD Value         compute(const Value& from, const Edge<std::uint32_t>& edge) const {
            return {extended(from.distance, edge.weight), edge.source};
  }
  /// A part of a vertex has the parent of the whole.
  SPILLWAY_HD Value neutral(const Value& from, const Edge<std::uint32_t>&) const { return from; }
  SPILLWAY_HD bool  could_improve(std::uint32_t weight, const Value& to, std::uint32_t start) const {
     return extended(start, weight) < to.distance;
  }

  static constexpr int columns = 2;
  template <int i>
  SPILLWAY_HD std::uint32_t column(const Value& value) const {
    return i == 0 ? value.distance : value.parent;
  }

  static constexpr std::uint32_t no_distance = spillway::highest<std::uint32_t>();
};

/// Distances alone, half the size; parents are searched for afterwards (`--parents search`).
struct Distances {
  using Value   = std::uint32_t;
  using Weight  = std::uint32_t;
  using Combine = Min<std::uint32_t>;

  static constexpr bool          order_free     = true;
  static constexpr bool          settles        = true;  // no weight is negative
  static constexpr std::uint32_t neutral_weight = 0;

  Vertex source;
  double delta = 0;

  SPILLWAY_HD std::uint32_t init(Vertex v) const { return v == source ? 0 : highest<std::uint32_t>(); }
  SPILLWAY_HD bool          starts(Vertex v) const { return v == source; }
  SPILLWAY_HD std::uint32_t priority(std::uint32_t distance) const { return distance; }
  SPILLWAY_HD std::uint32_t compute(std::uint32_t from, const Edge<std::uint32_t>& edge) const {
    return extended(from, edge.weight);
  }
  SPILLWAY_HD bool could_improve(std::uint32_t weight, std::uint32_t to, std::uint32_t start) const {
    return extended(start, weight) < to;
  }
};

/// Over real weights. A float would lose digits with every arc (a million of 0.1 come out a hundredth off), and
/// beside a double there is no room for a parent: those are found afterwards.
struct RealSssp {
  using Value   = double;
  using Weight  = float;
  using Combine = Min<double>;

  static constexpr bool  order_free     = true;
  static constexpr bool  settles        = true;
  static constexpr float neutral_weight = 0;

  Vertex source;
  double delta = 0;

  SPILLWAY_HD double init(Vertex v) const { return v == source ? 0 : highest<double>(); }
  SPILLWAY_HD bool   starts(Vertex v) const { return v == source; }
  SPILLWAY_HD double priority(double distance) const { return distance; }
  SPILLWAY_HD double compute(double from, const Edge<float>& edge) const {
    return from + static_cast<double>(edge.weight);
  }
  SPILLWAY_HD bool could_improve(float weight, double to, double start) const {
    return start + static_cast<double>(weight) < to;
  }
};

SPILLWAY_DEVICE_PROGRAM(Distances)
SPILLWAY_DEVICE_PROGRAM(Paths)
SPILLWAY_DEVICE_PROGRAM(RealSssp)

}  // namespace spillway
