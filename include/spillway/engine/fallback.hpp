// Where nobody asked for a GPU by name, one that cannot be used is replaced by the CPU, and the answer says so.
#pragma once

#include <string>

#include <spillway/engine/stopwatch.hpp>
#include <spillway/error.hpp>
#include <spillway/options.hpp>

namespace spillway {

/// For the plan of a run, if it has one (plan.hpp).
void note_in_plan(const RunOptions& options, const std::string& why);

/// `on_gpu()`, or `on_cpu()` with a note in its statistics where the GPU is too small, too old or taken. The time
/// that was lost counts as preparation.
template <class OnGpu, class OnCpu>
auto gpu_or_cpu(const RunOptions& options, OnGpu&& on_gpu, OnCpu&& on_cpu) {
  const Stopwatch clock;
  std::string     why;
  try {
    return on_gpu();
  } catch (const DeviceError& error) {
    if (options.device.kind == cuda_kind()) throw;
    why = error.what();
  }
  note_in_plan(options, why);
  const double lost   = clock.milliseconds();
  auto         answer = on_cpu();
  answer.statistics.prepare_ms += lost;
  answer.statistics.device_note = "computed on the CPU: " + why;
  return answer;
}

}  // namespace spillway
