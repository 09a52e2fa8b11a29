// What the lanes of a warp do together.
#pragma once

#include <spillway/engine/cuda/view.cuh>

namespace spillway::cuda {

inline constexpr unsigned all_lanes = 0xFFFFFFFFu;

__device__ inline unsigned lane_index() { return threadIdx.x % warp_lanes; }

/// A number from another lane, whatever it is made of.
template <class T>
__device__ T shuffle(const T& value, unsigned lane) {
  if constexpr (sizeof(T) % 4 == 0) {
    T     copy  = value;
    auto* words = reinterpret_cast<unsigned*>(&copy);
    for (unsigned i = 0; i < sizeof(T) / 4; ++i)
      words[i] = __shfl_sync(all_lanes, words[i], static_cast<int>(lane));
    return copy;
  } else {
    T     copy  = value;
    auto* bytes = reinterpret_cast<unsigned char*>(&copy);
    for (unsigned i = 0; i < sizeof(T); ++i)
      bytes[i] = static_cast<unsigned char>(
          __shfl_sync(all_lanes, static_cast<unsigned>(bytes[i]), static_cast<int>(lane)));
    return copy;
  }
}

/// The combination of the values of each group of `width` lanes, in every lane of it.
template <class Combine, unsigned width, class A>
__device__ A combined_over_lanes(A value) {
  for (unsigned offset = width / 2; offset > 0; offset /= 2)
    value = Combine::combine(value, shuffle(value, lane_index() ^ offset));
  return value;
}

/// Small numbers, as most are, take one instruction.
__device__ inline Count warp_sum(Count value) {
  constexpr Count small = Count{1} << 26;  // 32 of them fit 32 bits
  if (!__any_sync(all_lanes, value >= small)) return __reduce_add_sync(all_lanes, static_cast<unsigned>(value));
  for (unsigned offset = warp_lanes / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(all_lanes, value, static_cast<int>(offset));
  return value;
}

/// Of lists that are no longer than there are vertices.
__device__ inline IterationCounters::Lists warp_total(IterationCounters::Lists lists) {
  for (unsigned offset = warp_lanes / 2; offset > 0; offset /= 2) lists += shuffle(lists, lane_index() ^ offset);
  return lists;
}

/// The sum of the lanes before this one.
template <class N>
__device__ N warp_exclusive_sum(N value) {
  N sum = value;
  for (unsigned offset = 1; offset < warp_lanes; offset *= 2) {
    const N other = __shfl_up_sync(all_lanes, sum, offset);
    if (lane_index() >= offset) sum += other;
  }
  return sum - value;
}

/// Where the lanes that want one get a place behind `count`; all lanes must come.
template <class C>
__device__ C reserve(C* count, bool wants) {
  const unsigned mask = __ballot_sync(all_lanes, wants);
  if (mask == 0) return 0;
  const int leader = __ffs(static_cast<int>(mask)) - 1;
  C         first  = 0;
  if (lane_index() == static_cast<unsigned>(leader)) first = atomicAdd(count, static_cast<C>(__popc(mask)));
  return __shfl_sync(all_lanes, first, leader) + __popc(mask & ((1u << lane_index()) - 1));
}

/// Bitmaps.
__device__ inline bool test(const Word* bits, Vertex v) { return (bits[v / 32] >> (v % 32)) & 1; }
__device__ inline bool claim(Word* bits, Vertex v) {
  const Word bit = 1u << (v % 32);
  return (atomicOr(bits + v / 32, bit) & bit) == 0;
}
__device__ inline bool take(Word* bits, Vertex v) {
  const Word bit = 1u << (v % 32);
  return (atomicAnd(bits + v / 32, ~bit) & bit) != 0;
}

/// Whoever takes the bit by `take_acquiring` sees what was written before it was claimed by `claim_releasing`.
__device__ inline bool claim_releasing(Word* bits, Vertex v) {
#if defined(SPILLWAY_EMULATED)
  return claim(bits, v);
#else
  const Word bit = 1u << (v % 32);
  Word       before;
  asm volatile("atom.release.gpu.or.b32 %0, [%1], %2;" : "=r"(before) : "l"(bits + v / 32), "r"(bit) : "memory");
  return (before & bit) == 0;
#endif
}
__device__ inline bool take_acquiring(Word* bits, Vertex v) {
#if defined(SPILLWAY_EMULATED)
  return take(bits, v);
#else
  const Word bit = 1u << (v % 32);
  Word       before;
  asm volatile("atom.acquire.gpu.and.b32 %0, [%1], %2;" : "=r"(before) : "l"(bits + v / 32), "r"(~bit) : "memory");
  return (before & bit) != 0;
#endif
}

}  // namespace spillway::cuda
