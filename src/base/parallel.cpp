#include <spillway/engine/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/fail.hpp"
#include "base/system_calls.hpp"
#include "base/threads.hpp"

namespace spillway {
namespace {

/// Keeps the first exception of a parallel region until the region is over.
class FirstFailure {
 public:
  template <class Body>
  void guard(Body&& body) noexcept {
    try {
      body();
    } catch (...) {
      const std::scoped_lock lock{mutex_};
      if (!failure_) failure_ = std::current_exception();
    }
  }

  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex         mutex_;
  std::exception_ptr failure_;
};

void* wait_for(void* all) {
  static_cast<std::latch*>(all)->wait();
  return nullptr;
}

/// How many threads beside the caller's the system grants at once, up to `wanted`; they end before this returns.
int granted_at_once(int wanted, int& problem) {
  std::latch             all{1};
  std::vector<pthread_t> threads;
  threads.reserve(static_cast<std::size_t>(wanted));
  pthread_t thread;
  while (static_cast<int>(threads.size()) < wanted &&
         (problem = system_calls().start_thread(&thread, nullptr, wait_for, &all)) == 0)
    threads.push_back(thread);
  all.count_down();
  for (const pthread_t each : threads) pthread_join(each, nullptr);
  return static_cast<int>(threads.size());
}

/// OpenMP's runtime ends the process if the system refuses a thread. So they are asked for once before it does.
void expect_threads(int threads) {
  static std::atomic<int> known{1};  ///< so many were granted before
  if (threads <= known.load(std::memory_order_relaxed)) return;
  int       problem = 0;
  const int granted = granted_at_once(threads - 1, problem) + 1;
  if (granted < threads)
    throw does_not_fit(
        "the system grants {} threads, not {} ({}): use --threads {}, or raise the limit of processes (ulimit -u, "
        "or "
        "pids.max of the control group)",
        granted, threads, std::strerror(problem), std::max(1, granted / 2));
  known.store(threads, std::memory_order_relaxed);
}

/// "All" comes from the machine or from OMP_NUM_THREADS.
int checked_default(int threads) {
  if (threads > most_threads)
    throw usage_error(
        "OMP_NUM_THREADS asks for {} threads; at most {} are used: set it to the number of cores, or use "
        "--threads",
        threads, most_threads);
  return threads;
}

}  // namespace

#ifdef _OPENMP

int thread_count(int asked) { return asked > 0 ? asked : checked_default(omp_get_max_threads()); }

void use_threads(int threads) {
  if (threads > 0) omp_set_num_threads(threads);
}

void detail::on_threads(int threads, ThreadBody call, void* body) {
  expect_threads(threads);
  FirstFailure failure;
#pragma omp parallel num_threads(threads)
  for (int thread = omp_get_thread_num(); thread < threads; thread += omp_get_num_threads())
    failure.guard([&] { call(body, thread); });
  failure.rethrow();
}

#else  // threads of the standard library: dearer to start, but known to every tool

namespace {
std::atomic<int> default_threads{std::max(1, static_cast<int>(std::thread::hardware_concurrency()))};
}

int thread_count(int asked) { return asked > 0 ? asked : checked_default(default_threads.load()); }

void use_threads(int threads) {
  if (threads > 0) default_threads = threads;
}

void detail::on_threads(int threads, ThreadBody call, void* body) {
  expect_threads(threads);
  FirstFailure failure;
  {
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads; ++thread)
      others.emplace_back([&, thread] { failure.guard([&] { call(body, thread); }); });
    failure.guard([&] { call(body, 0); });
  }
  failure.rethrow();
}

#endif

}  // namespace spillway
