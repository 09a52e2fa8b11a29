// What CUB does, one after the other, when its turn in the stream has come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "cuda_runtime.h"

namespace cub {

template <class T>
struct DoubleBuffer {
  DoubleBuffer(T* current, T* alternate) : buffers{current, alternate} {}
  T* Current() const { return buffers[selector]; }
  T* Alternate() const { return buffers[1 - selector]; }

  T*  buffers[2];
  int selector = 0;
};

namespace detail {

constexpr std::size_t room_bytes = 64;

/// The first call asks how much room is needed; the second has the work done there.
inline cudaError_t asked_or_done(const char* name, void* room, std::size_t& bytes, std::function<void()> work) {
  if (room == nullptr) return bytes = room_bytes, cudaSuccess;
  if (bytes < room_bytes) return cudaErrorInvalidValue;
  return emulator::enqueue(
      name,
      [room, work = std::move(work)] {
        std::memset(room, 0xCB, room_bytes);
        work();
      },
      nullptr);
}

/// Where each of `count` keys goes when they are sorted, those that are equal in the order they had.
template <class Key, class Before>
std::vector<std::size_t> sorted_places(const Key* keys, std::size_t count, Before&& before) {
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(),
                   [&](std::size_t a, std::size_t b) { return before(keys[a], keys[b]); });
  return places;
}

template <class T>
void arrange(const T* from, const std::vector<std::size_t>& places, T* to) {
  for (std::size_t i = 0; i < places.size(); ++i) to[i] = from[places[i]];
}

}  // namespace detail

struct DeviceScan {
  template <class T>
  static cudaError_t ExclusiveSum(void* room, std::size_t& bytes, const T* from, T* to, std::uint64_t count) {
    return detail::asked_or_done("cub::DeviceScan::ExclusiveSum", room, bytes,
                                 [=] { std::exclusive_scan(from, from + count, to, T{0}); });
  }
};

struct DeviceReduce {
  template <class T, class Out, class Operation>
  static cudaError_t Reduce(void* room, std::size_t& bytes, const T* from, Out* to, std::uint64_t count,
                            Operation operation, Out first) {
    return detail::asked_or_done("cub::DeviceReduce::Reduce", room, bytes,
                                 [=] { *to = std::accumulate(from, from + count, first, operation); });
  }
};

struct DeviceRadixSort {
  /// Only the lowest `end` bits are looked at.
  template <class Key>
  static std::function<bool(Key, Key)> less_in(int end) {
    const std::uint64_t seen = end >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1;
    return [seen](Key a, Key b) { return (std::uint64_t{a} & seen) < (std::uint64_t{b} & seen); };
  }
  template <class Key>
  static cudaError_t SortKeys(void* room, std::size_t& bytes, DoubleBuffer<Key>& keys, std::uint64_t count, int,
                              int end) {
    const auto done = detail::asked_or_done("cub::DeviceRadixSort::SortKeys", room, bytes, [=] {
      const auto places = detail::sorted_places(keys.Current(), count, less_in<Key>(end));
      detail::arrange(keys.Current(), places, keys.Alternate());
    });
    if (room != nullptr && done == cudaSuccess) keys.selector ^= 1;
    return done;
  }
  template <class Key, class Value>
  static cudaError_t SortPairs(void* room, std::size_t& bytes, DoubleBuffer<Key>& keys,
                               DoubleBuffer<Value>& values, std::uint64_t count, int, int end) {
    const auto done = detail::asked_or_done("cub::DeviceRadixSort::SortPairs", room, bytes, [=] {
      const auto places = detail::sorted_places(keys.Current(), count, less_in<Key>(end));
      detail::arrange(keys.Current(), places, keys.Alternate());
      detail::arrange(values.Current(), places, values.Alternate());
    });
    if (room != nullptr && done == cudaSuccess) keys.selector ^= 1, values.selector ^= 1;
    return done;
  }
  template <class Key, class Value>
  static cudaError_t SortPairs(void* room, std::size_t& bytes, const Key* keys, Key* sorted, const Value* values,
                               Value* moved, std::uint64_t count, int = 0, int = 64) {
    return detail::asked_or_done("cub::DeviceRadixSort::SortPairs", room, bytes, [=] {
      const auto places = detail::sorted_places(keys, count, [](Key a, Key b) { return a < b; });
      detail::arrange(keys, places, sorted), detail::arrange(values, places, moved);
    });
  }
  template <class Key, class Value>
  static cudaError_t SortPairsDescending(void* room, std::size_t& bytes, const Key* keys, Key* sorted,
                                         const Value* values, Value* moved, std::uint64_t count) {
    return detail::asked_or_done("cub::DeviceRadixSort::SortPairsDescending", room, bytes, [=] {
      const auto places = detail::sorted_places(keys, count, [](Key a, Key b) { return a > b; });
      detail::arrange(keys, places, sorted), detail::arrange(values, places, moved);
    });
  }
};

struct DeviceSegmentedSort {
  template <class Key, class Offset>
  static cudaError_t SortKeys(void* room, std::size_t& bytes, DoubleBuffer<Key>& keys, std::int64_t,
                              std::int64_t segments, const Offset* begins, const Offset* ends) {
    return detail::asked_or_done("cub::DeviceSegmentedSort::SortKeys", room, bytes, [=, now = keys.Current()] {
      for (std::int64_t s = 0; s < segments; ++s) std::sort(now + begins[s], now + ends[s]);
    });
  }
  template <class Key, class Value, class Offset>
  static cudaError_t SortPairs(void* room, std::size_t& bytes, DoubleBuffer<Key>& keys,
                               DoubleBuffer<Value>& values, std::int64_t count, std::int64_t segments,
                               const Offset* begins, const Offset* ends) {
    const auto done = detail::asked_or_done("cub::DeviceSegmentedSort::SortPairs", room, bytes, [=] {
      for (std::int64_t s = 0; s < segments; ++s) {
        const Offset begin = begins[s];
        const auto   places =
            detail::sorted_places(keys.Current() + begin, ends[s] - begin, [](Key a, Key b) { return a < b; });
        detail::arrange(keys.Current() + begin, places, keys.Alternate() + begin);
        detail::arrange(values.Current() + begin, places, values.Alternate() + begin);
      }
    });
    if (room != nullptr && done == cudaSuccess && count > 0) keys.selector ^= 1, values.selector ^= 1;
    return done;
  }
};

}  // namespace cub
