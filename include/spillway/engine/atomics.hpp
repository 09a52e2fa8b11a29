// The one place with atomics: relaxed, on the host and on the device.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__CUDACC__)
#include <spillway/engine/cuda/atomic_reference.cuh>
#define SPILLWAY_HD __host__ __device__
#else
#define SPILLWAY_HD
#endif

namespace spillway::atomics {
#if defined(SPILLWAY_EMULATED) && defined(__CUDA_ARCH__)
inline namespace on_device {  // linked with the host's, which must not be taken for these
#endif

/// What one instruction can exchange: numbers, and structs of 4 or 8 bytes that are aligned to their size.
template <class T>
inline constexpr bool exchangeable = std::is_trivially_copyable_v<T> &&
                                     (sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8) &&
                                     alignof(T) == sizeof(T);

/// What `load` can read while others write it: that, and arrays of that.
template <class T>
inline constexpr bool readable = exchangeable<T>;
template <class T, std::size_t N>
inline constexpr bool readable<std::array<T, N>> = exchangeable<T>;

#if defined(__CUDA_ARCH__)
template <class T>
using Reference = DeviceReference<T>;
#else
/// As std::atomic_ref, but structs travel in a register: through memory, which is what the compiler makes of them
/// otherwise, shortest paths take a tenth longer.
template <class T>
class Reference {
  using Word [[gnu::may_alias]] =
      std::conditional_t<sizeof(T) == 8, std::uint64_t,
                         std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint8_t>>;

 public:
  explicit Reference(T& slot) : slot_(reinterpret_cast<Word*>(&slot)) {}

  T    load() const { return std::bit_cast<T>(static_cast<Plain>(__atomic_load_n(slot_, relaxed))); }
  void store(T value) const { __atomic_store_n(slot_, std::bit_cast<Plain>(value), relaxed); }

  void store_release(T value) const { __atomic_store_n(slot_, std::bit_cast<Plain>(value), __ATOMIC_RELEASE); }

  bool compare_exchange_weak(T& seen, T value) const { return exchange_if<relaxed>(seen, value); }
  bool compare_exchange_acquire(T& seen, T value) const { return exchange_if<__ATOMIC_ACQUIRE>(seen, value); }

  T fetch_add(T value) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(__atomic_fetch_add(slot_, static_cast<Plain>(value), relaxed));
    } else {
      T seen = load();
      while (!compare_exchange_weak(seen, seen + value)) {
      }
      return seen;
    }
  }
  T fetch_or(T bits) const { return static_cast<T>(__atomic_fetch_or(slot_, bits, relaxed)); }
  T fetch_and(T bits) const { return static_cast<T>(__atomic_fetch_and(slot_, bits, relaxed)); }

 private:
  static constexpr int relaxed = __ATOMIC_RELAXED;
  using Plain                  = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                   std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint8_t>>;

  template <int order>
  bool exchange_if(T& seen, T value) const {
    auto       raw  = std::bit_cast<Plain>(seen);
    const bool done = __atomic_compare_exchange_n(slot_, &raw, std::bit_cast<Plain>(value), true, order, relaxed);
    seen            = std::bit_cast<T>(raw);
    return done;
  }

  Word* slot_;
};
#endif

/// What others may be writing. Types that no instruction reads whole are read word by word, which is enough for
/// values whose words only ever gain bits.
template <class T>
SPILLWAY_HD T load(const T& slot) {
  if constexpr (exchangeable<T>) {
    return Reference<T>{const_cast<T&>(slot)}.load();
  } else {
    T copy{};
    for (std::size_t i = 0; i < slot.size(); ++i) copy[i] = load(slot[i]);
    return copy;
  }
}

template <class T>
SPILLWAY_HD void store(T& slot, T value) {
  Reference<T>{slot}.store(value);
}

/// The same for all that `load` reads.
template <class T>
SPILLWAY_HD void store_whole(T& slot, const T& value) {
  if constexpr (exchangeable<T>)
    store(slot, value);
  else
    for (std::size_t i = 0; i < slot.size(); ++i) store(slot[i], value[i]);
}

/// `seen` becomes what is there when it was something else.
template <class T>
SPILLWAY_HD bool compare_exchange(T& slot, T& seen, T value) {
  static_assert(exchangeable<T>,
                "a value that several threads combine in place must have 4 or 8 bytes and be aligned to its size: "
                "write struct alignas(8) Value { … }");
  return Reference<T>{slot}.compare_exchange_weak(seen, value);
}

/// The same for a slot that others leave by `store_release`: what they wrote before is seen.
template <class T>
SPILLWAY_HD bool compare_exchange_acquire(T& slot, T& seen, T value) {
  return Reference<T>{slot}.compare_exchange_acquire(seen, value);
}

template <class T>
SPILLWAY_HD void store_release(T& slot, T value) {
  Reference<T>{slot}.store_release(value);
}

template <class T>
SPILLWAY_HD void add(T& slot, T value) {
  static_assert(exchangeable<T>, "only numbers of 4 or 8 bytes can be added up by several threads at once");
  Reference<T>{slot}.fetch_add(value);
}

/// What may be a little old: a device answers it from the nearest cache.
template <class T>
SPILLWAY_HD T load_cached(const T& slot) {
#if defined(__CUDA_ARCH__)
  if constexpr (exchangeable<T>) return DeviceReference<T>{const_cast<T&>(slot)}.template load<Scope::block>();
#endif
  return load(slot);
}

#if defined(__CUDA_ARCH__)
/// What the device compares and exchanges in one instruction.
template <class T>
inline constexpr bool has_minimum = std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);
#else
template <class T>
inline constexpr bool has_minimum = false;
#endif

/// These return what was there before.
template <class T>
SPILLWAY_HD T minimum(T& slot, T value) {
  return Reference<T>{slot}.fetch_min(value);
}
template <class T>
SPILLWAY_HD T maximum(T& slot, T value) {
  return Reference<T>{slot}.fetch_max(value);
}

/// Sets bits and returns what was there before.
template <class T>
SPILLWAY_HD T set_bits(T& slot, T bits) {
  return Reference<T>{slot}.fetch_or(bits);
}

/// Clears bits and returns what was there before.
template <class T>
SPILLWAY_HD T clear_bits(T& slot, T bits) {
  return Reference<T>{slot}.fetch_and(static_cast<T>(~bits));
}

#if defined(SPILLWAY_EMULATED) && defined(__CUDA_ARCH__)
}  // namespace on_device
#endif
}  // namespace spillway::atomics
