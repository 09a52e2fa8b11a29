// Random numbers by position: number i of a stream is a function of (seed, stream, i) alone, so that any
// thread can make any part of a graph and the whole is always the same.
// Each stream is SplitMix64 (Steele, Lea & Flood, OOPSLA 2014; finalizer "Mix13" by Stafford) entered at
// step i. It passes BigCrush; it is not for secrets.
#pragma once

#include <cstdint>

namespace spillway {

/// The high half of the 128-bit product: scales a random 64-bit number to [0, bound).
constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b >> 64);
}

/// What a stream is for. Different streams of one seed are independent, so asking for weights leaves the
/// topology as it was.
enum class RandomUse : std::uint64_t {
  topology = 1,
  labels   = 2,
  removal  = 3,
  weights  = 4,
  samples  = 5,
  priors   = 6
};

class RandomStream {
 public:
  constexpr RandomStream(std::uint64_t seed, RandomUse use)
      : key_(mix(mix(seed) + static_cast<std::uint64_t>(use) * golden)) {}

  constexpr std::uint64_t bits(std::uint64_t position) const { return mix(key_ + (position + 1) * golden); }

  /// From 0 to bound-1. No number is more likely than another by more than bound/2^64, so none is rejected.
  constexpr std::uint64_t below(std::uint64_t position, std::uint64_t bound) const {
    return multiply_high(bits(position), bound);
  }

  /// In [0, 1), a multiple of 2^-53.
  constexpr double unit(std::uint64_t position) const {
    return static_cast<double>(bits(position) >> 11) * 0x1p-53;
  }

 private:
  static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15u;

  static constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
  }

  std::uint64_t key_;
};

}  // namespace spillway
