// OpenMP behind a few functions, so that exceptions leave parallel regions and a build without OpenMP works.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace spillway {

/// How many threads "all" is, or as many as asked for.
inline int thread_count(int asked = 0) {
#ifdef _OPENMP
  return asked > 0 ? asked : omp_get_max_threads();
#else
  (void)asked;
  return 1;
#endif
}

/// From now on "all" is this many; 0 leaves it as it is.
inline void use_threads(int threads) {
#ifdef _OPENMP
  if (threads > 0) omp_set_num_threads(threads);
#else
  (void)threads;
#endif
}

/// Keeps the first exception of a parallel region until the region is over.
class FirstFailure {
 public:
  bool happened() const { return failed_.load(std::memory_order_relaxed); }

  template <class Body>
  void guard(Body&& body) noexcept {
    try {
      body();
    } catch (...) {
      const std::scoped_lock lock{mutex_};
      if (!failure_) failure_ = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::atomic<bool>  failed_{false};
  std::mutex         mutex_;
  std::exception_ptr failure_;
};

/// body(thread) once for each thread number below `threads`. The system may grant fewer threads than asked for;
/// the numbers are then shared out, so that no share of the work is ever left undone.
template <class Body>
void on_threads(int threads, Body&& body) {
  FirstFailure failure;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
  for (int thread = omp_get_thread_num(); thread < threads; thread += omp_get_num_threads())
    failure.guard([&] { body(thread); });
#else
  for (int thread = 0; thread < threads; ++thread) failure.guard([&] { body(thread); });
#endif
  failure.rethrow();
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
