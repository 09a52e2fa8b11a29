// Where nobody asked for a GPU by name, one that cannot be used is replaced by the CPU, and the answer says so.
#pragma once

#include <string>

#include <spillway/engine/stopwatch.hpp>
#include <spillway/error.hpp>
#include <spillway/options.hpp>
#include <spillway/plan.hpp>

namespace spillway {

/// `on_gpu()`, or `on_cpu()` where the GPU is too small, too old or taken; tell(answer, why, milliseconds lost)
/// then.
template <class OnGpu, class OnCpu, class Tell>
auto gpu_or_cpu(const RunOptions& options, OnGpu&& on_gpu, OnCpu&& on_cpu, Tell&& tell) {
  const Stopwatch clock;
  std::string     why;
  try {
    return on_gpu();
  } catch (const DeviceError& error) {
    if (options.device.kind == cuda_kind()) throw;
    why = error.what();
  }
  const double lost   = clock.milliseconds();
  auto         answer = on_cpu();
  tell(answer, why, lost);
  return answer;
}

/// As the first reason of a plan.
inline void tell_in_plan(Plan& plan, const std::string& why, double /*lost*/) {
  plan.why.insert(plan.why.begin(), why);
}

/// In the statistics of an answer. The time that was lost counts as preparation.
template <class Answer>
void note_on_cpu(Answer& answer, const std::string& why, double lost) {
  answer.statistics.prepare_ms += lost;
  answer.statistics.device_note = "computed on the CPU: " + why;
}

}  // namespace spillway
