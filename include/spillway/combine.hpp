// Combine: how several updates of one vertex become one. The operators own their identity and their atomics, so a
// program never writes an atomic itself. All of them are commutative and associative.
#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <type_traits>

#include <spillway/engine/atomics.hpp>
#include <spillway/large.hpp>

namespace spillway {

/// Larger than every other value, for types that have one: a program's own type says it with a static `highest()`.
template <class T>
SPILLWAY_HD constexpr T highest() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::infinity();
  else if constexpr (std::is_arithmetic_v<T>)
    return std::numeric_limits<T>::max();
  else
    return T::highest();
}

/// Smaller than every other value, likewise.
template <class T>
SPILLWAY_HD constexpr T lowest() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else if constexpr (std::is_arithmetic_v<T>)
    return std::numeric_limits<T>::lowest();
  else
    return T::lowest();
}

namespace detail {

/// What Min and Max share: one of two values is kept.
template <class T, class Better>
struct Select {
  static_assert(
      requires(const T& a, const T& b) { a < b; },
      "spillway::Min and Max compare with <: give the type an `operator<(const T&) const`");
  static_assert(atomics::exchangeable<T>,
                "spillway::Min and Max need a type of 4 or 8 bytes that is aligned to its size, because several "
                "threads change it at once: a number, or a `struct alignas(8)` of two");
  using Type        = T;
  using Accumulator = T;

  static constexpr bool idempotent = true;
  static constexpr bool voting     = false;

  SPILLWAY_HD static T combine(const T& a, const T& b) { return Better::better(b, a) ? b : a; }

  /// Whether `update` would change `value`.
  SPILLWAY_HD static bool improves(const T& value, const T& update) { return Better::better(update, value); }

  /// `slot` has one writer; true if it changed.
  SPILLWAY_HD static bool improve(T& slot, const T& update) {
    if (!Better::better(update, slot)) return false;
    slot = update;
    return true;
  }

  /// `slot` has many writers; true if this call changed it. `seen`: what was there a little while ago.
  SPILLWAY_HD static bool improve_atomically(T& slot, const T& update) {
    if constexpr (atomics::has_minimum<T>)
      return Better::better(update, Better::exchange(slot, update));
    else
      return improve_atomically(slot, update, atomics::load(slot));
  }
  SPILLWAY_HD static bool improve_atomically(T& slot, const T& update, T seen) {
    if constexpr (atomics::has_minimum<T>) {
      return improve_atomically(slot, update);
    } else {
      while (Better::better(update, seen))
        if (atomics::compare_exchange(slot, seen, update)) return true;
      return false;
    }
  }
};

template <class T>
struct Less {
  SPILLWAY_HD static bool better(const T& a, const T& b) { return a < b; }
  SPILLWAY_HD static T    exchange(T& slot, const T& update) { return atomics::minimum(slot, update); }
};

template <class T>
struct Greater {
  SPILLWAY_HD static bool better(const T& a, const T& b) { return b < a; }
  SPILLWAY_HD static T    exchange(T& slot, const T& update) { return atomics::maximum(slot, update); }
};

}  // namespace detail

/// The smallest update. T is a number, or 4 or 8 bytes of the program's own with `operator<`.
template <class T>
struct Min : detail::Select<T, detail::Less<T>> {
  static constexpr bool has_identity = std::is_arithmetic_v<T> || requires { T::highest(); };

  SPILLWAY_HD static constexpr T identity() { return highest<T>(); }
};

/// The largest update.
template <class T>
struct Max : detail::Select<T, detail::Greater<T>> {
  static constexpr bool has_identity = std::is_arithmetic_v<T> || requires { T::lowest(); };

  SPILLWAY_HD static constexpr T identity() { return lowest<T>(); }
};

namespace detail {

template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;

template <class T>
struct EntryOf {
  using Type = T;
};
template <class T, std::size_t N>
struct EntryOf<std::array<T, N>> {
  using Type = T;
};

/// What many updates are added up in: floats would lose digits in long rows.
template <class T>
struct SumOf {
  using Type = std::conditional_t<std::is_same_v<T, float>, double, T>;
};
template <class T, std::size_t N>
struct SumOf<std::array<T, N>> {
  using Type = std::array<typename SumOf<T>::Type, N>;
};

/// body(entry, other's entry) for a number as for an array of them.
template <class T, class U, class Body>
SPILLWAY_HD void each_entry(T& slot, const U& update, Body&& body) {
  if constexpr (is_array<T>)
    for (std::size_t i = 0; i < slot.size(); ++i) body(slot[i], update[i]);
  else
    body(slot, update);
}

/// From updates to what they are added up in, and back.
template <class To, class From>
SPILLWAY_HD To converted(const From& from) {
  if constexpr (is_array<From> && !std::is_same_v<To, From>) {
    To to{};
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<typename To::value_type>(from[i]);
    return to;
  } else {
    return static_cast<To>(from);
  }
}

}  // namespace detail

/// All updates added up: a number, or a std::array of them entry by entry.
template <class T>
struct Sum {
  using Entry = typename detail::EntryOf<T>::Type;
  static_assert(
      std::is_arithmetic_v<Entry> && (sizeof(Entry) == 4 || sizeof(Entry) == 8),
      "spillway::Sum adds numbers of 4 or 8 bytes, because several threads add at once: give it one, or a "
      "std::array of them");
  using Type        = T;
  using Accumulator = typename detail::SumOf<T>::Type;

  static constexpr bool idempotent = false;
  static constexpr bool voting     = false;

  SPILLWAY_HD static constexpr T identity() { return T{}; }

  /// Of updates, or of accumulators.
  template <class A>
  SPILLWAY_HD static A combine(A a, const A& b) {
    detail::each_entry(a, b, [](auto& entry, const auto& other) { entry += other; });
    return a;
  }

  SPILLWAY_HD static void combine_atomically(Accumulator& slot, const T& update) {
    merge_atomically(slot, detail::converted<Accumulator>(update));
  }

  /// What has been added up elsewhere.
  SPILLWAY_HD static void merge_atomically(Accumulator& slot, const Accumulator& sum) {
    detail::each_entry(slot, sum, [](auto& entry, const auto& other) { atomics::add(entry, other); });
  }
};

/// Of numbers that no floating type can hold.
template <>
struct Sum<Large> {
  using Type        = Large;
  using Accumulator = Large;

  static constexpr bool idempotent = false;
  static constexpr bool voting     = false;

  SPILLWAY_HD static constexpr Large identity() { return {}; }
  SPILLWAY_HD static Large           combine(Large a, Large b) { return a + b; }

  SPILLWAY_HD static void combine_atomically(Large& slot, Large update) {
    Large seen = atomics::load(slot);
    while (!atomics::compare_exchange(slot, seen, seen + update)) {
    }
  }
  SPILLWAY_HD static void merge_atomically(Large& slot, Large sum) { combine_atomically(slot, sum); }
};

/// Bits that any update has: an unsigned integer, or a std::array of them.
template <class T>
struct Or {
  using Word = typename detail::EntryOf<T>::Type;
  static_assert(
      std::is_unsigned_v<Word> && !std::is_same_v<Word, bool> && atomics::exchangeable<Word>,
      "spillway::Or joins bits: give it an unsigned integer of 1, 4 or 8 bytes, or a std::array of them");
  using Type        = T;
  using Accumulator = T;

  static constexpr bool idempotent = true;
  static constexpr bool voting     = false;

  SPILLWAY_HD static constexpr T identity() { return T{}; }

  SPILLWAY_HD static T combine(T a, const T& b) {
    improve(a, b);
    return a;
  }

  SPILLWAY_HD static bool improves(T value, const T& update) { return improve(value, update); }

  SPILLWAY_HD static bool improve(T& slot, const T& update) {
    bool changed = false;
    detail::each_entry(slot, update, [&](auto& word, auto bits) {
      changed |= (bits & ~word) != 0;
      word |= bits;
    });
    return changed;
  }

  SPILLWAY_HD static bool improve_atomically(T& slot, const T& update) {
    bool changed = false;
    detail::each_entry(slot, update, [&](auto& word, auto bits) {
      if ((bits & ~atomics::load(word)) != 0) changed |= (bits & ~atomics::set_bits(word, bits)) != 0;
    });
    return changed;
  }
};

/// One update, whichever comes first: a vote. It settles the vertex, which then takes no other.
template <class T>
struct Any {
  using Type        = T;
  using Accumulator = T;

  static constexpr bool idempotent = true;
  static constexpr bool voting     = true;
};

template <class C>
concept CombineOperator = requires {
  typename C::Type;
  { C::idempotent } -> std::convertible_to<bool>;
  { C::voting } -> std::convertible_to<bool>;
};

}  // namespace spillway
