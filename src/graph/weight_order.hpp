// One order of weights for every place that sorts or compares them.
#pragma once

#include <bit>
#include <cstdint>

#include <spillway/engine/atomics.hpp>
#include <spillway/types.hpp>

namespace spillway {

/// Maps weight bits to integers that ascend as the weights do, negative floats included.
SPILLWAY_HD constexpr std::uint32_t weight_rank(WeightType type, std::uint32_t bits) {
  if (type != WeightType::f32) return bits;
  return (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
}

SPILLWAY_HD constexpr std::uint32_t weight_from_rank(WeightType type, std::uint32_t rank) {
  if (type != WeightType::f32) return rank;
  return (rank & 0x80000000u) ? rank & 0x7FFFFFFFu : ~rank;
}

}  // namespace spillway
