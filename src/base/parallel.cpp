#include <spillway/engine/parallel.hpp>

#include <exception>
#include <mutex>

#ifdef _OPENMP
#include <omp.h>
#else
#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>
#endif

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

}  // namespace

#ifdef _OPENMP

int thread_count(int asked) { return asked > 0 ? asked : omp_get_max_threads(); }

void use_threads(int threads) {
  if (threads > 0) omp_set_num_threads(threads);
}

void detail::on_threads(int threads, ThreadBody call, void* body) {
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

int thread_count(int asked) { return asked > 0 ? asked : default_threads.load(); }

void use_threads(int threads) {
  if (threads > 0) default_threads = threads;
}

void detail::on_threads(int threads, ThreadBody call, void* body) {
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
