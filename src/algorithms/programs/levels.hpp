// What programs that go level by level share.
#pragma once

#include <cstdint>

namespace spillway {

inline constexpr std::uint32_t no_level = 0xFFFFFFFFu;  ///< of vertices that are not reached

}  // namespace spillway
