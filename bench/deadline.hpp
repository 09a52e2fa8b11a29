// Ends work that takes too long.
#pragma once

#include <chrono>

#include <spillway/progress.hpp>

namespace spillway::bench {

class Deadline final : public Progress {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(Span{seconds})) {}

  bool   cancelled() const override { return Clock::now() >= end_; }
  double seconds_left() const { return Span{end_ - Clock::now()}.count(); }

 private:
  using Clock = std::chrono::steady_clock;
  using Span  = std::chrono::duration<double>;

  Clock::time_point end_;
};

}  // namespace spillway::bench
