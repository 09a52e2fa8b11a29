// The neighbourhood function of HADI (Kang, Tsourakakis, Appel, Faloutsos, Leskovec, TKDD 2011) with
// Flajolet-Martin bit strings that are OR-ed along the arcs.
#pragma once

#include <array>
#include <cmath>

#include "algorithms/programs/device.hpp"

namespace spillway {

// Flajolet & Martin 1985: the expected position of the lowest unset bit is log2(0.77351 n).
inline constexpr double flajolet_martin_correction = 0.77351;

/// Two strings of 32 bits a word.
template <std::size_t Words>
using Strings = std::array<std::uint64_t, Words>;

SPILLWAY_HD inline std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// One bit in every string, bit b with chance 2^-(b+1).
template <std::size_t Words>
SPILLWAY_HD Strings<Words> strings_of(Vertex v, std::uint64_t seed) {
  Strings<Words> strings{};
  for (std::size_t i = 0; i < 2 * Words; ++i) {
    const std::uint64_t draw = scrambled(scrambled(seed + i) ^ (std::uint64_t{v} + 0x9E3779B97F4A7C15u));
    std::uint64_t       bit  = 0;
    while (bit < 31 && !(draw >> bit & 1)) ++bit;
    strings[i / 2] |= std::uint64_t{1} << (bit + 32 * (i % 2));
  }
  return strings;
}

/// How many vertices the strings have seen, about.
template <std::size_t Words>
SPILLWAY_HD double reach_of(const Strings<Words>& strings) {
  double low_bits = 0;
  for (const std::uint64_t word : strings)
    for (const std::uint64_t string : {word & 0xFFFFFFFFu, word >> 32}) {
      std::uint64_t bit = 0;
      while (string >> bit & 1) ++bit;
      low_bits += static_cast<double>(bit);
    }
  return std::exp2(low_bits / static_cast<double>(2 * Words)) / flajolet_martin_correction;
}

template <std::size_t Words>
struct Radius {
  struct Value {
    Strings<Words> strings;
    std::uint64_t  last;  ///< step that brought something new
  };
  struct Global {
    double gained = 0;  ///< by all estimates of reach

    SPILLWAY_HD void operator+=(const Global& other) { gained += other.gained; }
  };
  using Update  = Strings<Words>;
  using Combine = Or<Update>;

  static constexpr Along along        = Along::in;  // what is reached from the target is reached from the source
  static constexpr bool  reads_degree = false;

  std::uint64_t seed;
  std::uint64_t max_iterations;

  SPILLWAY_HD Value  init(Vertex v) const { return {strings_of<Words>(v, seed), 0}; }
  SPILLWAY_HD Update publish(const Value& value, const Step<Global>&) const { return value.strings; }
  SPILLWAY_HD Update compute(const Update& strings, const Edge<>&) const { return strings; }

  SPILLWAY_HD bool apply(Value& value, const Update& update, const Step<Global>& step) const {
    const double before = reach_of<Words>(value.strings);
    if (!Combine::improve(value.strings, update)) return false;
    value.last = step.iteration + 1;
    step.total->gained += reach_of<Words>(value.strings) - before;
    return true;
  }
};

SPILLWAY_DEVICE_PROGRAM(Radius<4>)
SPILLWAY_DEVICE_PROGRAM(Radius<8>)
SPILLWAY_DEVICE_PROGRAM(Radius<16>)
SPILLWAY_DEVICE_PROGRAM(Radius<32>)

}  // namespace spillway
