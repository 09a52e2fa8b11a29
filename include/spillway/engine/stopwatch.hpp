// Wall-clock time between two points, in milliseconds. Without <chrono>, which takes two seconds to compile
// wherever nvcc sees it.
#pragma once

namespace spillway {

/// Since some point in the past, by a clock that is never set.
double steady_milliseconds();

class Stopwatch {
 public:
  double milliseconds() const { return steady_milliseconds() - start_; }

  /// Time since the start or the last lap.
  double lap() {
    const double now = steady_milliseconds(), elapsed = now - start_;
    start_ = now;
    return elapsed;
  }

 private:
  double start_ = steady_milliseconds();
};

}  // namespace spillway
