// How many bytes of edges stay on a device. Which ones they are is the supply's: where rows are read in place, the
// beginnings of all of them; where they come in windows, the first parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace spillway {

/// Of `room` bytes that a device has, `beside` are for state, offsets and windows; `asked` is --resident.
constexpr std::uint64_t resident_bytes(std::uint64_t room, std::uint64_t beside,
                                       const std::optional<std::uint64_t>& asked) {
  const std::uint64_t left = room - std::min(room, beside);
  return std::min(left, asked.value_or(left));
}

}  // namespace spillway
