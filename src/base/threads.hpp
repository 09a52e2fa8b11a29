// How many threads anybody may ask for.
#pragma once

namespace spillway {

/// More than any machine has: a larger number is a mistake.
inline constexpr int most_threads = 4096;

}  // namespace spillway
