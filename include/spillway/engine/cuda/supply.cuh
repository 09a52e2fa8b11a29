// What brings rows to a device that has no room for all of them: some lie there, the others in host memory that it
// reads in place.
#pragma once

#include <spillway/engine/cuda/memory.hpp>
#include <spillway/engine/cuda/rows.cuh>
#include <spillway/engine/cuda/window_steps.cuh>
#include <spillway/plan.hpp>

namespace spillway::cuda {

/// The rows of a run in one form; a row may lie in several parts.
template <class Form>
struct Supply {
  std::shared_ptr<const DeviceOrder>       order;  ///< that the rows are in; none: that of the host
  std::vector<std::shared_ptr<const void>> held;
  std::vector<Form>                        push, pull;
  std::uint64_t                            uploaded = 0;  ///< bytes that were not there before
  std::uint64_t                            resident = 0;  ///< bytes of edges on the device
  std::uint64_t                            on_host  = 0;  ///< and in host memory
  std::shared_ptr<EdgeSupply>              windows;       ///< what brings edges while a run lasts
};

/// What a run leaves for edges.
struct Room {
  std::uint64_t state;  ///< bytes that it needs for itself
  std::uint64_t edges;  ///< that edges may take on the device, if there is as much
  /// Some rows may be kept where there is no room for the beginnings of all, which are all that votes need.
  bool some_rows = true;
};

/// Whole rows, for algorithms that are no programs: on the device if it has room for `beside` bytes as well, or
/// else where the graph has them.
struct WholeRows {
  DeviceTopology               rows;
  std::unique_lock<std::mutex> alone;  ///< held where they are outside
};
WholeRows whole_rows(DeviceGraph& there, const Graph& graph, const Topology& topology, bool weighted,
                     const RunOptions& options, std::uint64_t beside);

/// What the choice of a supply depends on.
struct Wish {
  const Topology&   topology;
  const RunOptions& options;

  const std::shared_ptr<MemoryBudget>& host;

  bool          weighted, all_active, voting, prioritised;
  bool          improving;  ///< values are, in place, by whatever comes
  bool          fixed;      ///< sums are to come out the same whatever room there is: rows are read in their order
  double        passes;     ///< over all edges, about
  std::uint64_t state;      ///< bytes that the run needs for itself…
  std::uint64_t state_in_windows;  ///< …if edges are sent
};

/// Where edges are to be.
struct Choice {
  Method method         = resident_edges();
  bool   coded          = false;
  Rates  rates          = {};     ///< that it depends on, if it is another
  bool   may_code_later = false;  ///< after some more passes over edges as they are
};
Choice chosen_supply(DeviceGraph& there, const Wish& wish);
/// What would be chosen, and why.
Plan planned_supply(DeviceGraph& there, const Wish& wish);

/// All rows on the device.
Supply<PlainRows> resident_supply(DeviceTopology rows);

/// Every row as it is: its first edges on the device, as far as there is room, the others where the graph has
/// them.
Supply<PlainRows> plain_supply(DeviceGraph& there, const Graph& graph, const Topology& topology, bool weighted,
                               const Room& room);

/// Likewise, coded, with hubs first. `chunk_arcs` are coded at once; 0: as many as there is room for.
Supply<CodedRows> coded_supply(DeviceGraph& there, const Graph& graph, const Topology& topology, bool weighted,
                               const Room& room, std::uint64_t chunk_arcs);

/// Rows of which the device knows where they lie; edges come while a run lasts, to be pulled or pushed. `state`:
/// bytes that it needs beside them.
Supply<PlainRows> window_supply(DeviceGraph& there, const Graph& graph, const Topology& topology,
                                const RunOptions& options, const WindowNeeds& needs, bool pulls,
                                std::uint64_t state);

}  // namespace spillway::cuda
