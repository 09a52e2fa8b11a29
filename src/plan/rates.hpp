// What this machine does to bring edges to its GPUs: measured when it is first asked, then kept in a file.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include <spillway/engine/memory.hpp>
#include <spillway/options.hpp>

namespace spillway {

/// What each is called wherever it is written down.
struct RateField {
  const char* name;
  double Rates::*value;
};
inline constexpr RateField rate_fields[] = {{"sent_bytes", &Rates::sent},
                                            {"gathered_bytes", &Rates::gathered},
                                            {"gathered_chunks", &Rates::gathered_chunks},
                                            {"read_bytes", &Rates::read},
                                            {"read_chunks", &Rates::read_chunks},
                                            {"step_seconds", &Rates::step},
                                            {"pinned_bytes", &Rates::pinned},
                                            {"copied_bytes", &Rates::copied},
                                            {"uploaded_bytes", &Rates::uploaded},
                                            {"barrier_seconds", &Rates::barrier},
                                            {"latency_seconds", &Rates::latency},
                                            {"visited_edges", &Rates::visited},
                                            {"visited_far_edges", &Rates::visited_far},
                                            {"cache_bytes", &Rates::cache},
                                            {"atomic_updates", &Rates::atomics},
                                            {"atomic_updates_far", &Rates::atomics_far},
                                            {"decoded_edges", &Rates::decoded},
                                            {"coded_edges", &Rates::coded_edges},
                                            {"coded_rows", &Rates::coded_rows},
                                            {"reordered_edges", &Rates::reordered},
                                            {"windows_seconds", &Rates::windows},
                                            {"host_visited_edges", &Rates::host_visited},
                                            {"host_visited_far_edges", &Rates::host_visited_far},
                                            {"host_cache_bytes", &Rates::host_cache},
                                            {"host_iteration_seconds", &Rates::host_iteration},
                                            {"context_seconds", &Rates::context}};

/// Where rates are kept: spillway/rates.json in XDG_CACHE_HOME or ~/.cache; empty where there is no such place.
std::string rates_path();

/// Of a machine: as they were measured, and as runs have corrected them since.
struct MachineRates {
  Rates measured, corrected;
};

/// Those that were kept of a machine, by its name; none where there are none, or none that can be true.
std::optional<MachineRates> kept_rates(const std::string& path, const std::string& machine);
/// A cache that cannot be written is none: nothing is said.
void keep_rates(const std::string& path, const std::string& machine, const MachineRates& rates);

/// An iteration, in seconds: predicted, of that what depends on one rate, and what it took.
struct RateObservation {
  double Rates::*rate;
  double         predicted, by_rate, taken;
};

/// Rates that come nearer to what iterations took of which most depends on one of them. None goes far from where
/// it was measured: what slowed a run down may have been others.
Rates corrected(const MachineRates& rates, std::span<const RateObservation> observations);

/// What is known before a GPU is asked: by earlier processes, or guessed.
struct StartupFacts {
  double context;                       ///< seconds until a GPU is ready
  double host_visited, host_iteration;  ///< of the CPU with all threads
};
StartupFacts startup_facts(const std::string& path, int threads);

/// Of a GPU and as many threads of the host: as they were kept, or measured now, in some two seconds, and kept.
/// None where `budget` or the GPU has no room to measure in.
std::optional<MachineRates> rates_of_gpu(int index, int threads, const std::shared_ptr<MemoryBudget>& budget,
                                         bool again = false);

}  // namespace spillway
