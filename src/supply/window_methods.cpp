// Edges in windows: one supply, three policies (Subway's subgraphs, what it compares with, and whatever takes
// least).
#include "supply/host_windows.hpp"
#include "supply/methods.hpp"

namespace spillway {
namespace {

std::unique_ptr<EdgeSupply> on_host(CpuExecutor& executor, const Topology& topology, const ProgramFacts& facts,
                                    const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget) {
  const WindowNeeds needs = WindowNeeds::of(facts);
  return std::make_unique<HostWindows>(executor, topology, needs, options, budget);
}

}  // namespace

const SupplyMethod& gathered_method() {
  static const SupplyMethod method{{.name           = "subgraph",
                                    .help           = "transferred: the edges of active vertices",
                                    .transfers      = true,
                                    .gathers        = true,
                                    .asynchronous   = true,
                                    .chosen_by_auto = true,
                                    .takes_arena    = true},
                                   on_host,
                                   cuda::supply_in_windows};
  return method;
}

const SupplyMethod& partitions_method() {
  static const SupplyMethod method{{.name           = "partitions",
                                    .help           = "transferred: whole partitions",
                                    .transfers      = true,
                                    .compresses     = true,
                                    .asynchronous   = true,
                                    .chosen_by_auto = true,
                                    .takes_arena    = true},
                                   on_host,
                                   cuda::supply_in_windows};
  return method;
}

const SupplyMethod& least_predicted_method() {
  static const SupplyMethod method{{.name           = "mixed",
                                    .help           = "transferred: what is predicted to be fastest for each part",
                                    .transfers      = true,
                                    .gathers        = true,
                                    .reads_in_place = true,
                                    .chosen_by_auto = true,
                                    .takes_arena    = true},
                                   on_host,
                                   cuda::supply_in_windows};
  return method;
}

Method whole_partitions() { return Method{partitions_method()}; }
Method least_predicted() { return Method{least_predicted_method()}; }

}  // namespace spillway
