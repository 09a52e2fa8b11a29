// The device's atomics, emulated: every operation is one step, before which others may go first. Found before the
// library's own header.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "emulator.hpp"

namespace spillway::atomics {

enum class Scope { block, device };

template <class T>
class DeviceReference {
  static_assert(::std::is_trivially_copyable_v<T> && sizeof(T) <= 8);

 public:
  explicit DeviceReference(T& slot) : slot_(&slot) {}

  template <Scope = Scope::device>
  T load() const {
    emulator::let_others_go_first();
    T seen;
    __atomic_load(slot_, &seen, __ATOMIC_RELAXED);
    return seen;
  }
  void store(T value) const {
    emulator::let_others_go_first();
    __atomic_store(slot_, &value, __ATOMIC_RELAXED);
  }
  /// A weak one fails now and then for no reason.
  bool compare_exchange_weak(T& seen, T value) const {
    if (emulator::in_kernel() && emulator::choose(spurious) == 0) return seen = load(), false;
    emulator::let_others_go_first();
    return __atomic_compare_exchange(slot_, &seen, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
  bool compare_exchange_acquire(T& seen, T value) const { return compare_exchange_weak(seen, value); }
  void store_release(T value) const { store(value); }

  T fetch_add(T value) const {
    return changed([&](T old) { return static_cast<T>(old + value); });
  }
  T fetch_min(T value) const {
    return changed([&](T old) { return value < old ? value : old; });
  }
  T fetch_max(T value) const {
    return changed([&](T old) { return old < value ? value : old; });
  }
  T fetch_or(T bits) const {
    return changed([&](T old) { return static_cast<T>(old | bits); });
  }
  T fetch_and(T bits) const {
    return changed([&](T old) { return static_cast<T>(old & bits); });
  }

 private:
  static constexpr ::std::uint64_t spurious = 64;

  template <class Change>
  T changed(Change&& change) const {
    T seen = load();
    for (T next = change(seen);
         !__atomic_compare_exchange(slot_, &seen, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
      next = change(seen);
    return seen;
  }

  T* slot_;
};

}  // namespace spillway::atomics
