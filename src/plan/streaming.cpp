#include "plan/streaming.hpp"

#include <algorithm>

namespace spillway {
namespace {

/// Pages are divided among so many GPUs.
double divided(const StreamingMachine& machine) { return machine.divides_state ? 1.0 : machine.gpus; }

/// Of so many bytes: over the buses and, before, from the disks, whichever takes longer.
double transfer(double bytes, const StreamingMachine& machine, double balance) {
  const double over_buses = bytes / (machine.stream_rate * std::max(1.0, divided(machine) * balance));
  return machine.disk_rate > 0 ? std::max(over_buses, bytes / machine.disk_rate) : over_buses;
}

/// To the GPUs and back: the same to each, one after the other, or its own share.
double state(const StreamedGraph& graph, const StreamingMachine& machine) {
  return machine.chunk_rate > 0 ? 2 * graph.written / machine.chunk_rate : 0;
}

}  // namespace

double scan_seconds(const StreamedGraph& graph, const StreamingMachine& machine, double hits) {
  return state(graph, machine) + transfer(graph.read_only + graph.pages * (1 - hits), machine, 1) +
         machine.call * graph.count / divided(machine) + machine.last_kernel + machine.sync;
}

double traversal_seconds(const StreamedGraph& graph, const StreamingMachine& machine,
                         std::span<const StreamedLevel> levels, double hits, double balance) {
  double seconds = state(graph, machine);
  for (const StreamedLevel& level : levels)
    seconds += transfer((graph.read_only + graph.pages * (1 - hits)) * level.pages, machine, balance) +
               machine.call * graph.count * level.pages / std::max(1.0, divided(machine) * balance);
  return seconds;
}

}  // namespace spillway
