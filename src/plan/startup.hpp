// Whether a GPU is worth waiting for: a process that has not used one yet waits some tenths of a second until it
// is ready, in which the CPU may be done.
#pragma once

#include <atomic>
#include <string>

#include "plan/rates.hpp"

#include <spillway/plan.hpp>

namespace spillway {

/// Seconds that a run is predicted to take on the CPU, before anything of the graph is looked at.
double predicted_on_cpu(const Work& work, const StartupFacts& facts);

/// Runs that were left to the CPU for it, of one process.
class StartupChoice {
 public:
  /// Why a run is left to the CPU as well; empty: the GPU is to be started.
  std::string reason(double seconds_on_cpu, const StartupFacts& facts) const;
  void        note(double seconds_on_cpu) { so_far_ += seconds_on_cpu; }

 private:
  std::atomic<double> so_far_ = 0;  ///< seconds that they were predicted to take
};

}  // namespace spillway
