#include "plan/streaming.hpp"

#include <algorithm>

namespace spillway {
namespace {

/// Pages are divided among so many GPUs.
double divided(const StreamingMachine& machine) { return machine.divides_state ? 1.0 : machine.gpus; }

/// Seconds of what goes on at once.
struct Overlapping {
  double buses, disks, kernels;

  double longest() const { return std::max({buses, disks, kernels}); }
};

/// Of a share of the pages; each of so many GPUs has its part of them, or of the state that they change.
Overlapping transfer(const StreamedGraph& graph, const StreamingMachine& machine, double share, double hits,
                     double balance) {
  const double bytes = (graph.read_only + graph.pages * (1 - hits)) * share;
  return {bytes / (machine.stream_rate * std::max(1.0, divided(machine) * balance)),
          machine.disk_rate > 0 ? bytes / machine.disk_rate : 0,
          machine.edge_rate > 0 ? graph.edges * share / (machine.edge_rate * std::max(1.0, machine.gpus * balance))
                                : 0};
}

/// To the GPUs and back: the same to each, one after the other, or its own share.
double state(const StreamedGraph& graph, const StreamingMachine& machine) {
  return machine.chunk_rate > 0 ? 2 * graph.written / machine.chunk_rate : 0;
}

}  // namespace

StreamingBound bound_of(const StreamedGraph& graph, const StreamingMachine& machine) {
  const Overlapping all = transfer(graph, machine, 1, 0, 1);
  if (all.kernels >= all.longest()) return StreamingBound::kernels;
  return all.disks >= all.longest() ? StreamingBound::disks : StreamingBound::buses;
}

double scan_seconds(const StreamedGraph& graph, const StreamingMachine& machine, double hits) {
  return state(graph, machine) + transfer(graph, machine, 1, hits, 1).longest() +
         machine.call * graph.count / divided(machine) + machine.last_kernel + machine.sync;
}

double traversal_seconds(const StreamedGraph& graph, const StreamingMachine& machine,
                         std::span<const StreamedLevel> levels, double hits, double balance) {
  double seconds = state(graph, machine);
  for (const StreamedLevel& level : levels)
    seconds += transfer(graph, machine, level.pages, hits, balance).longest() +
               machine.call * graph.count * level.pages / std::max(1.0, divided(machine) * balance);
  return seconds;
}

}  // namespace spillway
