// Breadth-first search (Beamer, Asanović, Patterson, SC 2012): a vertex takes the first parent that votes for it.
#pragma once

#include "algorithms/programs/device.hpp"
#include "algorithms/programs/levels.hpp"

namespace spillway {

struct Bfs {
  struct Value {
    std::uint32_t level;
    Vertex        parent;
  };
  using Update  = Vertex;
  using Combine = Any<Vertex>;

  Vertex source;

  SPILLWAY_HD Value  init(Vertex v) const { return v == source ? Value{0, v} : Value{no_level, no_vertex}; }
  SPILLWAY_HD bool   starts(Vertex v) const { return v == source; }
  SPILLWAY_HD Vertex compute(const Edge<>& edge) const { return edge.source; }

  SPILLWAY_HD bool apply(Value& value, Vertex parent, const Step<>& step) const {
    value = {step.iteration + 1, parent};
    return true;
  }

  static constexpr int columns = 2;
  template <int i>
  SPILLWAY_HD std::uint32_t column(const Value& value) const {
    return i == 0 ? value.level : value.parent;
  }
};

/// The same without levels that wait for one another: whoever finds a shorter way passes it on (Subway's
/// asynchronous search). A level above, a parent below: the least of both is a shortest way.
struct LooseBfs {
  using Value   = std::uint64_t;
  using Combine = Min<std::uint64_t>;

  static constexpr bool order_free = true;

  Vertex source;

  SPILLWAY_HD static Value         packed(std::uint64_t level, Vertex parent) { return level << 32 | parent; }
  SPILLWAY_HD static std::uint32_t level(Value value) { return static_cast<std::uint32_t>(value >> 32); }
  SPILLWAY_HD static Vertex        parent(Value value) { return static_cast<Vertex>(value); }

  SPILLWAY_HD Value init(Vertex v) const { return v == source ? packed(0, v) : packed(no_level, no_vertex); }
  SPILLWAY_HD bool  starts(Vertex v) const { return v == source; }
  SPILLWAY_HD Value compute(Value from, const Edge<>& edge) const {
    return packed(std::uint64_t{level(from)} + 1, edge.source);
  }
  SPILLWAY_HD Value neutral(Value from, const Edge<>&) const { return from; }

  static constexpr int columns = 2;
  template <int i>
  SPILLWAY_HD std::uint32_t column(Value value) const {
    return i == 0 ? level(value) : parent(value);
  }
};

SPILLWAY_DEVICE_PROGRAM(Bfs)
SPILLWAY_DEVICE_PROGRAM(LooseBfs)

}  // namespace spillway
