// Relaxed atomics of a device, in a few lines: <cuda/atomic> takes four seconds to compile, in every file with a
// kernel.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace spillway::atomics {

enum class Scope { block, device };

template <class T>
class DeviceReference {
  static_assert(sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8);
  using Word  = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;  // what atomicCAS takes
  using Plain = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                   std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint8_t>>;

 public:
  __device__ explicit DeviceReference(T& slot) : slot_(&slot) {}

  template <Scope scope = Scope::device>
  __device__ T load() const {
    if constexpr (sizeof(T) == 1) {
      std::uint16_t raw;
      if constexpr (scope == Scope::block)
        asm volatile("ld.relaxed.cta.u8 %0, [%1];" : "=h"(raw) : "l"(slot_) : "memory");
      else
        asm volatile("ld.relaxed.gpu.u8 %0, [%1];" : "=h"(raw) : "l"(slot_) : "memory");
      return from(static_cast<Word>(raw));
    } else if constexpr (sizeof(T) == 4) {
      Word raw;
      if constexpr (scope == Scope::block)
        asm volatile("ld.relaxed.cta.u32 %0, [%1];" : "=r"(raw) : "l"(slot_) : "memory");
      else
        asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(raw) : "l"(slot_) : "memory");
      return from(raw);
    } else {
      Word raw;
      if constexpr (scope == Scope::block)
        asm volatile("ld.relaxed.cta.u64 %0, [%1];" : "=l"(raw) : "l"(slot_) : "memory");
      else
        asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(raw) : "l"(slot_) : "memory");
      return from(raw);
    }
  }

  __device__ void store(T value) const {
    const Word raw = to(value);
    if constexpr (sizeof(T) == 1)
      asm volatile("st.relaxed.gpu.u8 [%0], %1;" ::"l"(slot_), "h"(static_cast<std::uint16_t>(raw)) : "memory");
    else if constexpr (sizeof(T) == 4)
      asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(slot_), "r"(raw) : "memory");
    else
      asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(slot_), "l"(raw) : "memory");
  }

  /// `seen` becomes what is there when it was something else.
  __device__ bool compare_exchange_weak(T& seen, T value) const {
    const Word expected = to(seen);
    const Word found =
        sizeof(T) == 1 ? exchange_byte(expected, to(value)) : atomicCAS(words(), expected, to(value));
    seen = from(found);
    return found == expected;
  }

  __device__ bool compare_exchange_acquire(T& seen, T value) const {
    if (!compare_exchange_weak(seen, value)) return false;
    __threadfence();
    return true;
  }

  __device__ void store_release(T value) const {
    __threadfence();
    store(value);
  }

  __device__ T fetch_add(T value) const {
    if constexpr (std::is_floating_point_v<T>)
      return atomicAdd(slot_, value);
    else if constexpr (sizeof(T) == 1)
      return changed([&](T old) { return static_cast<T>(old + value); });
    else
      return from(atomicAdd(words(), to(value)));
  }
  __device__ T fetch_or(T bits) const {
    if constexpr (sizeof(T) == 1) return changed([&](T old) { return static_cast<T>(old | bits); });
    return from(atomicOr(words(), to(bits)));
  }
  __device__ T fetch_and(T bits) const {
    if constexpr (sizeof(T) == 1) return changed([&](T old) { return static_cast<T>(old & bits); });
    return from(atomicAnd(words(), to(bits)));
  }
  __device__ T fetch_min(T value) const {
    return static_cast<T>(atomicMin(numbers(), static_cast<Number>(value)));
  }
  __device__ T fetch_max(T value) const {
    return static_cast<T>(atomicMax(numbers(), static_cast<Number>(value)));
  }

 private:
  /// The same number as atomicMin and atomicMax know it.
  using Number = std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 8, long long, int>, Word>;

  __device__ Word*   words() const { return reinterpret_cast<Word*>(slot_); }
  __device__ Number* numbers() const { return reinterpret_cast<Number*>(slot_); }

  __device__ static Word to(T value) { return std::bit_cast<Plain>(value); }
  __device__ static T    from(Word raw) { return std::bit_cast<T>(static_cast<Plain>(raw)); }

  /// In the word that it is a part of.
  __device__ Word exchange_byte(Word expected, Word value) const {
    const auto      address = reinterpret_cast<std::uintptr_t>(slot_);
    unsigned* const word    = reinterpret_cast<unsigned*>(address & ~std::uintptr_t{3});
    const unsigned  shift   = static_cast<unsigned>(address & 3) * 8;
    for (unsigned all = *static_cast<volatile unsigned*>(word);;) {
      const unsigned found = (all >> shift) & 0xFFu;
      if (found != expected) return found;
      const unsigned next   = (all & ~(0xFFu << shift)) | (static_cast<unsigned>(value) << shift);
      const unsigned before = atomicCAS(word, all, next);
      if (before == all) return found;
      all = before;
    }
  }

  template <class Change>
  __device__ T changed(Change&& change) const {
    T seen = load();
    while (!compare_exchange_weak(seen, change(seen))) {
    }
    return seen;
  }

  T* slot_;
};

}  // namespace spillway::atomics
