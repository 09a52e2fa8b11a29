#include "plan/startup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <spillway/engine/cuda/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/run.hpp>

namespace spillway {
namespace {

StartupChoice& choice_of_process() {
  static StartupChoice choice;
  return choice;
}

/// Whoever says something of GPUs wants one.
bool leaves_the_choice(const RunOptions& options) {
  if (options.method->streams_pages && (options.cuda != CudaTuning{} || options.balance.requires_gpu()))
    return false;
  RunOptions given = options;
  if (options.method->streams_pages && options.supply.pages_in_place != InPlace::on) given.method = {};
  return leaves_device_open(given) && options.device.memory == 0 && !options.supply.rates && !options.explain;
}

double seconds_of(const Work& work, const RunOptions& options, const StartupFacts& facts) {
  return std::max(1u, options.runs) * predicted_on_cpu(work, facts);
}

}  // namespace

double predicted_on_cpu(const Work& work, const StartupFacts& facts) {
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

std::string StartupChoice::reason(double seconds_on_cpu, const StartupFacts& facts) const {
  if (so_far_ + seconds_on_cpu >= facts.context) return {};
  return fmt::format("the CPU is predicted to be done in {:.2g} ms, before a GPU would be ready ({:.2g} ms)",
                     1e3 * seconds_on_cpu, 1e3 * facts.context);
}

std::string detail::why_gpu_is_not_started(const Work& work, const RunOptions& options) {
  constexpr std::uint64_t most_arcs = 1u << 27;  // for more, no file is read
  if (!leaves_the_choice(options) || cuda::is_started() || work.arcs > most_arcs) return {};
  const StartupFacts facts = startup_facts(rates_path(), thread_count(options.threads));
  return choice_of_process().reason(seconds_of(work, options, facts), facts);
}

void detail::note_left_to_cpu(const Work& work, const RunOptions& options) {
  choice_of_process().note(seconds_of(work, options, startup_facts(rates_path(), thread_count(options.threads))));
}

void note_better_device(RunStatistics& statistics, const OtherDevice& better) {
  const auto& all = better.candidates;
  statistics.prepare_ms += better.choosing_ms;
  statistics.candidates  = all;
  statistics.device_note = "computed on the CPU";
  if (all.size() < 2) return;
  if (!all[1].excluded.empty()) {
    statistics.device_note += fmt::format(": {} {}", all[1].method->name, all[1].excluded);
    return;
  }
  statistics.device_note +=
      fmt::format(": predicted {:.3g} ms, where the GPU would take {:.3g} ms to prepare and {:.3g} ms to run",
                  all[0].run_ms, all[1].prepare_ms, all[1].run_ms);
}

}  // namespace spillway
