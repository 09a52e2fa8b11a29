#include <spillway/engine/parallel.hpp>

#include <exception>
#include <mutex>

#ifdef _OPENMP
#include <omp.h>
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

int thread_count(int asked) {
#ifdef _OPENMP
  return asked > 0 ? asked : omp_get_max_threads();
#else
  (void)asked;
  return 1;
#endif
}

void use_threads(int threads) {
#ifdef _OPENMP
  if (threads > 0) omp_set_num_threads(threads);
#else
  (void)threads;
#endif
}

void detail::on_threads(int threads, ThreadBody call, void* body) {
  FirstFailure failure;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
  for (int thread = omp_get_thread_num(); thread < threads; thread += omp_get_num_threads())
    failure.guard([&] { call(body, thread); });
#else
  for (int thread = 0; thread < threads; ++thread) failure.guard([&] { call(body, thread); });
#endif
  failure.rethrow();
}

}  // namespace spillway
