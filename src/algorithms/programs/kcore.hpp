// Cores. All: vertices leave in the order of their degree, the engine's buckets holding them ready (Julienne:
// Dhulipala, Blelloch, Shun, SPAA 2017). One: vertices below k leave until none is; a vertex that left takes no
// more updates (SIMD-X, section 6).
#pragma once

#include "algorithms/programs/device.hpp"

namespace spillway {

struct AllCores {
  struct alignas(8) Value {
    std::uint32_t degree;  ///< among those that have not left; of those that have, their core
    std::uint32_t left;
  };
  using Update  = std::uint32_t;
  using Combine = Sum<std::uint32_t>;

  static constexpr double delta = 1;
  static constexpr Along  along = Along::simple;

  SPILLWAY_HD Value init(Vertex, EdgeIndex degree) const { return {static_cast<std::uint32_t>(degree), 0}; }
  SPILLWAY_HD std::uint32_t priority(const Value& value) const { return value.degree; }
  SPILLWAY_HD bool          open(const Value& value) const { return value.left == 0; }
  SPILLWAY_HD void          publish(Value& value, const Step<>&) const { value.left = 1; }
  SPILLWAY_HD std::uint32_t compute(const Edge<>&) const { return 1; }

  /// What would fall below the bucket that is leaving belongs to it.
  SPILLWAY_HD bool apply(Value& value, std::uint32_t lost, const Step<>& step) const {
    const auto          core   = static_cast<std::uint32_t>(step.bucket);
    const std::uint32_t before = value.degree;
    value.degree               = lost > before - core ? core : before - lost;
    return value.degree != before;
  }

  static constexpr int columns = 1;
  template <int>
  SPILLWAY_HD std::uint32_t column(const Value& value) const {
    return value.degree;
  }
};

struct OneCore {
  using Value   = std::uint32_t;  ///< degree among those that have not left
  using Combine = Sum<std::uint32_t>;

  static constexpr Along along = Along::simple;

  std::uint32_t k;

  SPILLWAY_HD Value init(Vertex, EdgeIndex degree) const { return static_cast<std::uint32_t>(degree); }
  SPILLWAY_HD bool  starts(Vertex, Value degree) const { return degree < k; }
  SPILLWAY_HD bool  open(const Value& degree) const { return degree >= k; }
  SPILLWAY_HD std::uint32_t compute(const Edge<>&) const { return 1; }
  SPILLWAY_HD bool          apply(Value& degree, std::uint32_t lost) const {
             degree -= lost;
             return degree < k;
  }

  static constexpr int columns = 1;
  template <int>
  SPILLWAY_HD std::uint32_t column(Value degree) const {
    return degree >= k ? 1 : 0;
  }
};

SPILLWAY_DEVICE_PROGRAM(AllCores)
SPILLWAY_DEVICE_PROGRAM(OneCore)

}  // namespace spillway
