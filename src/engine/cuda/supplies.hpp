// How rows reach a GPU: all of them, in host memory that it reads in place, or in windows; and which it is to be.
#pragma once

#include "engine/cuda/device_graph.hpp"

#include <spillway/engine/cuda/supply.cuh>
#include <spillway/engine/transfer.hpp>
#include "plan/planner.hpp"
#include "supply/windows.hpp"

namespace spillway::cuda {

/// What a run leaves for edges.
struct Room {
  std::uint64_t                state;     ///< bytes that it needs for itself
  std::optional<std::uint64_t> resident;  ///< --resident
  /// Some rows may be kept where there is no room for prefixes of all, which are all that votes need.
  bool some_rows = true;
};

/// Where the edges of a run are to be; rows that are in the way go.
Placement chosen_supply(DeviceGraph& device_graph, const Topology& topology, const RunFacts& run,
                        const std::shared_ptr<MemoryBudget>& host);
/// Of the rows that a run will walk most.
GraphSample sample_of(DeviceGraph& device_graph, const Topology& topology, const RunFacts& run);
/// What would be chosen, and why; rows stay.
Plan planned_supply(DeviceGraph& device_graph, const Topology& topology, const RunFacts& run,
                    const std::shared_ptr<MemoryBudget>& host);

/// All rows on the device.
Supply<PlainRows> resident_supply(DeviceTopology rows);

/// Every row as it is: its first edges on the device, as far as there is room, the others where the graph has
/// them.
Supply<PlainRows> plain_supply(DeviceGraph& device_graph, const Graph& graph, const Topology& topology,
                               bool weighted, const Room& room);

/// Every row where the graph has it, as one.
Supply<PlainRows> whole_supply(DeviceGraph& device_graph, const Graph& graph, const Topology& topology,
                               bool weighted, std::uint64_t state);

/// Likewise in parts, compressed, with hubs first. `coding_batch_arcs` are compressed at once; 0: as many as there
/// is room for.
Supply<CompressedRows> compressed_supply(DeviceGraph& device_graph, const Graph& graph, const Topology& topology,
                                         bool weighted, const Room& room, std::uint64_t coding_batch_arcs);

/// Rows of which the device knows where they lie; edges come while a run lasts, to be pulled or pushed. `state`:
/// bytes that it needs beside them.
Supply<PlainRows> window_supply(DeviceGraph& device_graph, const Graph& graph, const Topology& topology,
                                const RunOptions& options, const WindowNeeds& needs, bool pulls,
                                std::uint64_t state);

/// Of columns, to pages of the system; kept free beside the answer.
inline constexpr std::uint64_t answer_rounding = 256u << 10;
/// Of pages that are sent.
extern const char* const why_not_pulled;
/// Pages of the rows to push and of those to pull, each once.
std::vector<const store::PagedRows*> pages_of(const Topology& topology);
/// Offsets of these rows, on the device or, where state is in chunks, in host memory.
Device::Bytes paged_offset_bytes(const Topology& topology, std::uint64_t chunks);
/// What a run over pages takes of a device at least, with its state in so many chunks: that, offsets and two
/// pages.
std::uint64_t least_paged_bytes(const ProgramNeeds& needs, const Topology& topology, std::uint64_t chunks);
/// Beside the state, of edges without rows: where rows would begin, and a scan's memory while these are counted.
std::uint64_t list_offset_bytes(const Topology& topology);
/// Chunks for a device with so much room: as many as are asked for, or as few as do; else as many as there may be.
std::uint64_t paged_chunks(const ProgramNeeds& needs, const Topology& topology, const RunOptions& options,
                           std::uint64_t room);

/// Compressed pages that the host keeps, all of them, read there; none: they are not for that, and why.
std::optional<Error> supply_pages_in_place(struct SupplyJob& job);

/// What a supply is made with, and what it makes (supply/methods.hpp).
struct SupplyJob {
  DeviceGraph&                  device_graph;
  const Graph&                  graph;
  const Topology&               topology;
  const ProgramNeeds&           needs;
  bool                          compressed;
  VertexOrder                   order;
  std::unique_lock<std::mutex>& lock;      ///< to be held while host-resident rows are used
  SuppliedRows&                 supplied;  ///< its options are settled

  Device&       device() const { return device_graph.device(); }
  std::uint64_t state() const { return needs.state_bytes(supplied.options.method); }
};

}  // namespace spillway::cuda
