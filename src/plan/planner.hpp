// Where a run's edges are to be: a function of what is known of the program, the graph and the machine. It lists
// every candidate with its predicted cost, or why it is excluded. It asks nobody, changes nothing and throws
// nothing (docs/planning.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <spillway/engine/transfer.hpp>
#include <spillway/plan.hpp>
#include "plan/graph_sample.hpp"
#include "plan/history.hpp"

namespace spillway {

/// A run that asks.
struct RunFacts {
  const RunOptions& options;

  std::uint64_t vertices = 0, arcs = 0;  ///< of a pass over all edges
  bool          weighted = false, all_active = false, voting = false, prioritised = false;
  bool          supports_async   = false;
  RowForm       form             = RowForm::any;
  std::uint64_t max_iterations   = 0;
  std::uint64_t state            = 0;  ///< bytes that the run needs for itself…
  std::uint64_t state_in_windows = 0;  ///< …if edges are sent

  std::vector<Activity> history = {};  ///< of the last such run over this graph; empty: there was none

  std::uint64_t edge_bytes() const { return arcs * spillway::edge_bytes(weighted); }
};

/// A GPU, and what it keeps of the graph.
struct GpuFacts {
  std::string   name;
  std::uint64_t room           = 0;  ///< bytes, once what is idle has gone
  std::uint64_t host_room      = UINT64_MAX;
  bool          holds_all      = false;  ///< edges and state, then
  bool          has_compressed = false;  ///< these edges
  bool          may_compress   = true;   ///< it was not tried in vain
  bool          has_pinned     = false;  ///< these edges, on the host
  double        forgone        = 0;      ///< seconds that runs so far would have spared had edges been compressed

  // Asked for where something is left to choose.
  std::function<bool()>        copies = [] { return false; };  ///< edges, to pin them: they lie in a mapped file
  std::function<Rates()>       rates;                          ///< measured when they are first asked for
  std::function<GraphSample()> sample;                         ///< of the edges
};

/// Where edges are to be.
struct Placement {
  std::vector<PlanCandidate> candidates;  ///< best first, then those that are excluded
  Rates                      rates       = {};
  bool                       knows_rates = false, priced = false;
  double                     forgone = 0;  ///< seconds of this run that compressed edges would spare

  std::vector<std::string> why;

  const PlanCandidate& best() const { return candidates.front(); }
};

/// What is expected of a run: what the last one like it did, or, before anything is known of others, a guess.
std::vector<Activity> expected_activity(const RunFacts& run, const GraphSample& sample);

/// Where one candidate is left, nothing is measured for it unless `all` are to be priced.
Placement chosen_placement(const RunFacts& run, const GpuFacts& device, bool all = false);

/// Seconds that an iteration with so much active is predicted to take, if a share of the edges is resident.
double predicted_seconds(const RunFacts& run, const Rates& rates, const GraphSample& sample,
                         const PlanCandidate& candidate, const Activity& active, double resident);

/// What a run would be told of it.
Plan planned_placement(const RunFacts& run, const GpuFacts& device);

}  // namespace spillway
