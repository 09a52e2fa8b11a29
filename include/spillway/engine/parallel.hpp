// Threads behind a few functions. What runs them is compiled into the library once, so that a user's program needs
// no compiler flags and exceptions leave parallel regions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace spillway {

/// How many threads "all" is, or as many as asked for.
int thread_count(int asked = 0);

/// From now on "all" is this many; 0 leaves it as it is.
void use_threads(int threads);

namespace detail {

using ThreadBody = void (*)(void* body, int thread);

void on_threads(int threads, ThreadBody call, void* body);

}  // namespace detail

/// body(thread) once for each thread number below `threads`. The system may grant fewer threads than asked for;
/// the numbers are then shared out, so that no share of the work is ever left undone. One thread is the caller's.
template <class Body>
void on_threads(int threads, Body&& body) {
  if (threads == 1) {
    body(0);
    return;
  }
  using Plain = std::remove_reference_t<Body>;
  detail::on_threads(
      threads, [](void* given, int thread) { (*static_cast<Plain*>(given))(thread); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

/// body(task, thread) for every task below `count`; threads take the next one as they come free.
template <class Body>
void for_each_task(int threads, std::uint64_t count, Body&& body) {
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool>          stop{false};
  on_threads(threads, [&](int thread) {
    for (std::uint64_t task = next++; task < count && !stop; task = next++) {
      try {
        body(task, thread);
      } catch (...) {
        stop = true;
        throw;
      }
    }
  });
}

/// body(begin, end, thread) over one contiguous share of [0, count) a thread.
template <class Body>
void for_each_share(int threads, std::uint64_t count, Body&& body) {
  on_threads(threads, [&](int thread) {
    const auto t     = static_cast<std::uint64_t>(thread);
    const auto parts = static_cast<std::uint64_t>(threads);
    // Multiplying out would overflow for counts above 2^58 only; no array is that long.
    const std::uint64_t begin = count / parts * t + count % parts * t / parts;
    const std::uint64_t end   = count / parts * (t + 1) + count % parts * (t + 1) / parts;
    if (begin < end) body(begin, end, thread);
  });
}

}  // namespace spillway
