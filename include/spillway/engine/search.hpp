// Binary search over indices, on CPU and GPU.
#pragma once

#include <spillway/engine/atomics.hpp>

namespace spillway {

/// The first index of [first, last) for which `before` no longer holds, or `last`: std::partition_point over
/// indices. Without branches, since the lanes of a warp search for different things.
template <class Index, class Before>
SPILLWAY_HD constexpr Index partition_point(Index first, Index last, Before&& before) {
  for (Index count = last - first; count > 0;) {
    const Index half   = count / 2;
    const bool  beyond = before(first + half);
    first              = beyond ? first + half + 1 : first;
    count              = beyond ? count - half - 1 : half;
  }
  return first;
}

}  // namespace spillway
