// The widths everything else is built on: 32-bit vertices, 64-bit arcs.
#pragma once

#include <cstdint>
#include <string_view>

namespace spillway {

/// A vertex as computing sees it: dense, 0 to n-1. What the user calls it is in IdMap.
using Vertex = std::uint32_t;

/// A position in an arc array. Graphs with more than 2^32 arcs are ordinary.
using EdgeIndex = std::uint64_t;

/// That an edge takes wherever it is: its target and, if it has one, its weight.
constexpr std::uint64_t edge_bytes(bool weighted) {
  return sizeof(Vertex) + (weighted ? sizeof(std::uint32_t) : 0);
}

/// No vertex has this number, so that 0xFFFFFFFF can mean "none" in every column of vertices.
inline constexpr Vertex        no_vertex    = 0xFFFFFFFFu;
inline constexpr std::uint64_t max_vertices = 0xFFFFFFFFu;

/// Weights rest as 32 raw bits an arc; `std::bit_cast` gives them their type where they are used.
enum class WeightType : std::uint32_t { none = 0, u32 = 1, f32 = 2 };

constexpr std::string_view to_string(WeightType type) {
  switch (type) {
    case WeightType::none:
      return "none";
    case WeightType::u32:
      return "u32";
    case WeightType::f32:
      return "f32";
  }
  return "unknown";
}

}  // namespace spillway
