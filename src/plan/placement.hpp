// Where a run's edges are to be: a function of what is known of the program, the graph and the machine. It asks
// nobody, changes nothing and throws nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <spillway/engine/transfer.hpp>
#include <spillway/plan.hpp>

namespace spillway {

/// A run that asks.
struct PlacementRequest {
  const RunOptions& options;

  std::uint64_t vertices = 0, arcs = 0;  ///< of a pass over all edges
  bool          weighted = false, all_active = false, voting = false, prioritised = false;
  bool          improving        = false;  ///< values are, in place, by whatever comes
  RowForm       form             = RowForm::any;
  double        passes           = 0;  ///< over all edges, about
  std::uint64_t state            = 0;  ///< bytes that the run needs for itself…
  std::uint64_t state_in_windows = 0;  ///< …if edges are sent

  std::uint64_t edge_bytes() const { return arcs * spillway::edge_bytes(weighted); }
};

/// A GPU, and what it keeps of the graph.
struct PlacementDevice {
  std::string   name;
  std::uint64_t room           = 0;      ///< bytes, once what is idle has gone
  bool          holds_all      = false;  ///< edges and state, then
  bool          has_compressed = false;  ///< these edges
  bool          may_compress   = true;   ///< it was not tried in vain
  double        passes_so_far  = 0;      ///< over edges that are not compressed

  std::function<Rates()> rates;  ///< measured when they are first asked for
};

/// Where edges are to be.
struct Placement {
  Method method             = resident_edges();
  bool   compressed         = false;
  Rates  rates              = {};     ///< that it depends on, if it is another
  bool   may_compress_later = false;  ///< after some more passes over edges as they are

  std::vector<std::string> why;
};

Placement chosen_placement(const PlacementRequest& request, const PlacementDevice& device);

/// What a run would be told of it.
Plan planned_placement(const PlacementRequest& request, const PlacementDevice& device);

}  // namespace spillway
