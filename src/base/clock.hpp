// Wall-clock time between two points, in milliseconds.
#pragma once

#include <chrono>

namespace spillway {

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

  /// Time since the start or the last lap.
  double lap() {
    const double elapsed = milliseconds();
    start_               = std::chrono::steady_clock::now();
    return elapsed;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace spillway
