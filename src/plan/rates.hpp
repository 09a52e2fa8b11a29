// What this machine does to bring edges to its GPUs: measured when it is first asked, then kept in a file.
#pragma once

#include <memory>
#include <optional>
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
                                            {"latency_seconds", &Rates::latency}};

/// Where rates are kept: spillway/rates.json in XDG_CACHE_HOME or ~/.cache; empty where there is no such place.
std::string rates_path();

/// Those that were kept of a machine, by its name; none where there are none, or none that can be true.
std::optional<Rates> kept_rates(const std::string& path, const std::string& machine);
/// A cache that cannot be written is none: nothing is said.
void keep_rates(const std::string& path, const std::string& machine, const Rates& rates);

/// Of a GPU and as many threads of the host: as they were kept, or measured now, in half a second, and kept. None
/// where `budget` or the GPU has no room to measure in.
std::optional<Rates> rates_of_gpu(int index, int threads, const std::shared_ptr<MemoryBudget>& budget,
                                  bool again = false);

}  // namespace spillway
