// What a search for strong components asks of the engine: who can be trimmed, who is reached from some pivots, and
// colours. Each goes on from values that kernels have left (gpu/strong_components.cu). What is settled is closed.
#pragma once

#include "algorithms/programs/device.hpp"

namespace spillway {
namespace scc {

/// Who has no neighbour left on the other side is in no cycle; it goes, and those that it leads to have one less.
/// Along out-edges that are the vertices without in-edges, along in-edges those without out-edges. Neither takes
/// neighbours from the other: a vertex that goes has those on one side only.
template <Along way>
struct Trim {
  using Value   = std::uint32_t;  ///< neighbours that are left on the other side
  using Combine = Sum<std::uint32_t>;

  static constexpr Along along = way;
  static constexpr Value gone = 0, closed = 0xFFFFFFFFu;

  SPILLWAY_HD Value init(Vertex) const { return closed; }
  SPILLWAY_HD bool  starts(Vertex, Value left) const { return left == gone; }
  SPILLWAY_HD bool  open(Value left) const { return left != gone && left != closed; }
  SPILLWAY_HD Value compute(const Edge<>&) const { return 1; }
  SPILLWAY_HD bool  apply(Value& left, Value going) const {
     left -= going;
     return left == gone;
  }
};

/// A search in breadth from all pivots at once: each vertex takes the number of a pivot that is among the nearest.
template <Along way>
struct Reach {
  using Value   = std::uint32_t;  ///< number of a pivot, or one of those below
  using Combine = Any<std::uint32_t>;

  static constexpr Along along      = way;
  static constexpr bool  order_free = true;  // any pivot will do
  static constexpr Value unreached = 0xFFFFFFFFu, closed = 0xFFFFFFFEu;

  SPILLWAY_HD static bool reached(Value pivot) { return pivot < closed; }

  SPILLWAY_HD Value init(Vertex) const { return unreached; }
  SPILLWAY_HD bool  starts(Vertex, Value pivot) const { return reached(pivot); }
  SPILLWAY_HD bool  open(Value pivot) const { return pivot == unreached; }
  SPILLWAY_HD Value compute(Value pivot, const Edge<>&) const { return pivot; }
  SPILLWAY_HD bool  apply(Value& pivot, Value nearest) const {
     pivot = nearest;
     return true;
  }
};

/// The smallest vertex that reaches each, and one: its colour.
struct Color {
  using Value   = std::uint32_t;
  using Combine = Min<std::uint32_t>;

  static constexpr bool  order_free = true;
  static constexpr Value closed     = 0;  ///< which nothing lowers

  SPILLWAY_HD Value init(Vertex v) const { return v + 1; }
  SPILLWAY_HD bool  starts(Vertex, Value color) const { return color != closed; }
  SPILLWAY_HD Value compute(Value color, const Edge<>&) const { return color; }
};

/// Who reaches the vertex that its colour is of, within the colour. Colours above, and a bit that says it: an arc
/// leads to the same colour or a smaller one, which raises nothing.
struct ColorBack {
  using Value   = std::uint64_t;
  using Combine = Max<std::uint64_t>;

  static constexpr Along along      = Along::in;
  static constexpr bool  order_free = true;
  static constexpr Value closed     = ~Value{0};

  SPILLWAY_HD static Value of(std::uint32_t color, bool found) { return Value{color} << 32 | (found ? 1 : 0); }
  SPILLWAY_HD static bool  found(Value value) { return value != closed && (value & 1) != 0; }
  SPILLWAY_HD static std::uint32_t color(Value value) { return static_cast<std::uint32_t>(value >> 32); }

  SPILLWAY_HD Value init(Vertex) const { return closed; }
  SPILLWAY_HD bool  starts(Vertex, Value value) const { return found(value); }
  SPILLWAY_HD Value compute(Value value, const Edge<>&) const { return value; }
};

}  // namespace scc

SPILLWAY_DEVICE_PROGRAM(scc::Trim<Along::out>)
SPILLWAY_DEVICE_PROGRAM(scc::Trim<Along::in>)
SPILLWAY_DEVICE_PROGRAM(scc::Reach<Along::out>)
SPILLWAY_DEVICE_PROGRAM(scc::Reach<Along::in>)
SPILLWAY_DEVICE_PROGRAM(scc::Color)
SPILLWAY_DEVICE_PROGRAM(scc::ColorBack)

}  // namespace spillway
