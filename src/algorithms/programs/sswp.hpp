// Widest paths: the narrowest arc of a path is its width. Pollack, Operations Research 1960; as a vertex program
// in Subway and SIMD-X.
#pragma once

#include "algorithms/programs/device.hpp"

namespace spillway {

template <class W>
struct Sswp {
  struct alignas(8) Value {
    W      width;
    Vertex parent;

    SPILLWAY_HD bool operator<(const Value& other) const { return width < other.width; }
  };
  using Weight  = W;
  using Combine = Max<Value>;

  static constexpr bool order_free     = true;          // a maximum over paths
  static constexpr W    neutral_weight = highest<W>();  // an arc of this width narrows no path

  Vertex source;

  SPILLWAY_HD Value init(Vertex v) const { return v == source ? Value{highest<W>(), v} : Value{0, no_vertex}; }
  SPILLWAY_HD bool  starts(Vertex v) const { return v == source; }
  SPILLWAY_HD Value compute(const Value& from, const Edge<W>& edge) const {
    return {edge.weight < from.width ? edge.weight : from.width, edge.source};
  }
  /// A part of a vertex has the parent of the whole.
  SPILLWAY_HD Value neutral(const Value& from, const Edge<W>&) const { return from; }

  /// Of whole weights the largest is one like any other, and only the source is wider: the column has room for
  /// both.
  using Width                  = std::conditional_t<std::is_integral_v<W>, std::uint64_t, W>;
  static constexpr int columns = 2;
  template <int i>
  SPILLWAY_HD auto column(const Value& value) const {
    if constexpr (i == 0)
      return Width{value.width};
    else
      return value.parent;
  }
};

SPILLWAY_DEVICE_PROGRAM(Sswp<std::uint32_t>)
SPILLWAY_DEVICE_PROGRAM(Sswp<float>)

}  // namespace spillway
