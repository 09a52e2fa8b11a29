#include "plan/waking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include <spillway/engine/cuda/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/run.hpp>

namespace spillway {
namespace {

/// Seconds that runs of this process were predicted to take on the CPU, while a GPU was left asleep.
std::atomic<double> slept_through = 0;

bool leaves_the_choice(const RunOptions& options) {
  return options.device.kind.automatic() && options.device.memory == 0 && options.method.automatic() &&
         !options.supply.resident && !options.supply.rates && options.supply.compress == Compress::automatic &&
         !options.explain;
}

}  // namespace

double predicted_on_cpu(const Work& work, const WakingFacts& facts) {
  constexpr double until_converged = 30, passes = 3;
  const double     most  = static_cast<double>(work.max_iterations);
  const double     times = std::min(most, work.all_active ? until_converged : passes);
  // Where paths are long, there is an iteration for every level.
  const double levels =
      has_long_paths(work.vertices, work.arcs) ? std::sqrt(static_cast<double>(work.vertices)) : 0;
  const double iterations = work.all_active ? times : std::min(most, std::max(times, levels));
  return times * static_cast<double>(work.arcs + work.vertices) / facts.host_visited +
         iterations * facts.host_iteration;
}

std::string detail::why_no_gpu_is_woken(const Work& work, const RunOptions& options) {
  constexpr std::uint64_t most_arcs = 1u << 27;  // for more, no file is read
  if (!leaves_the_choice(options) || cuda::is_awake() || work.arcs > most_arcs) return {};
  const WakingFacts facts = waking_facts(rates_path(), thread_count(options.threads));
  const double      takes = std::max(1u, options.runs) * predicted_on_cpu(work, facts);
  if (slept_through + takes >= facts.context) return {};
  slept_through += takes;
  return fmt::format("the CPU is predicted to be done in {:.2g} ms, before a GPU would be ready ({:.2g} ms)",
                     1e3 * takes, 1e3 * facts.context);
}

void note_better_device(RunStatistics& statistics, const OtherDevice& better) {
  const auto& all = better.candidates;
  statistics.prepare_ms += better.choosing_ms;
  statistics.candidates  = all;
  statistics.device_note = fmt::format(
      "computed on the CPU: predicted {:.3g} ms, where the GPU would take {:.3g} ms to prepare and {:.3g} ms to "
      "run",
      all[0].run_ms, all[1].prepare_ms, all[1].run_ms);
}

}  // namespace spillway
