// Whether a GPU is worth waiting for: a process that has not used one yet waits some tenths of a second until it
// is ready, in which the CPU may be done.
#pragma once

#include "plan/rates.hpp"

#include <spillway/plan.hpp>

namespace spillway {

/// Seconds that a run is predicted to take on the CPU, before anything of the graph is looked at.
double predicted_on_cpu(const Work& work, const WakingFacts& facts);

}  // namespace spillway
