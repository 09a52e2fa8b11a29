// Where a run's edges are to be: a function of what is known of the program, the graph and the machine. It lists
// every candidate with its predicted cost, or why it is excluded. It asks nobody, changes nothing and throws
// nothing (docs/planning.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <spillway/engine/transfer.hpp>
#include <spillway/plan.hpp>
#include "plan/algorithm_work.hpp"
#include "plan/graph_sample.hpp"
#include "plan/history.hpp"

namespace spillway {

/// A run that asks.
struct RunFacts {
  const RunOptions& options;

  std::uint64_t vertices = 0, arcs = 0;  ///< of a pass over all edges
  bool          weighted = false, all_active = false, voting = false, prioritised = false;
  bool          supports_async = false;
  bool          may_reorder    = false;  ///< vertices
  Vertex summed_hubs = 0;  ///< then, of rows that are alike in both directions, those of so many hubs are not read
  bool   may_use_cpu = false;
  double sides       = 1;  ///< passes that all rows make, if those to push and to pull differ
  RowForm       form = RowForm::any;
  std::uint64_t max_iterations   = 0;
  std::uint64_t state            = 0;               ///< bytes that the run needs for itself…
  std::uint64_t state_in_windows = 0;               ///< …if edges are sent
  std::uint64_t entry_bytes      = sizeof(Vertex);  ///< of what an edge leads to

  bool gathers = false;  ///< updates meet in accumulators: every edge that is pushed is an atomic operation

  std::vector<Activity> history = {};       ///< of the last such run over this graph; empty: there was none
  const AlgorithmWork*  work    = nullptr;  ///< of what is no vertex program

  std::uint64_t edge_bytes() const { return arcs * spillway::edge_bytes(weighted); }
};

/// Seconds that runs would have taken less, had something been prepared for them.
struct Forgone {
  double compressed = 0;  ///< edges
  double ordered    = 0;  ///< vertices, hubs first
  double on_gpu     = 0;  ///< edges, where the CPU ran

  void operator+=(const Forgone& other) {
    compressed += other.compressed, ordered += other.ordered, on_gpu += other.on_gpu;
  }
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
  bool          has_resident   = false;  ///< all of them, on the device…
  bool          has_order      = false;  ///< …hubs first
  bool          may_reorder    = true;   ///< it was not tried in vain
  bool          has_first      = false;  ///< first edges, which a run in windows has left
  bool          has_prefixes   = false;  ///< of rows, which a run in place has left
  std::uint64_t cache          = 0;      ///< bytes of its last level
  Forgone       forgone        = {};     ///< by runs so far

  // Asked for where something is left to choose.
  std::function<bool()>        copies = [] { return false; };  ///< edges, to pin them: they lie in a mapped file
  std::function<Rates()>       rates;                          ///< measured when they are first asked for
  std::function<Rates()>       known_rates = [] { return Rates{}; };  ///< nothing is measured for them
  std::function<GraphSample()> sample;                                ///< of the edges
};

/// Where edges are to be.
struct Placement {
  std::vector<PlanCandidate> candidates;  ///< best first, then those that are excluded
  Rates                      rates       = {};
  bool                       knows_rates = false, priced = false;
  Forgone                    forgone = {};  ///< by this run

  std::vector<std::string> why;

  const PlanCandidate& best() const { return candidates.front(); }
};

/// What is expected of a run: what the last one like it did, or, before anything is known of others, a guess.
std::vector<Activity> expected_activity(const RunFacts& run, const GraphSample& sample);
/// Likewise on the CPU, whose way may be another one.
std::vector<Activity> expected_on_cpu(const RunFacts& run, const GraphSample& sample);

/// Where one candidate is left, nothing is measured for it unless `all` are to be priced.
Placement chosen_placement(const RunFacts& run, const GpuFacts& device, bool all = false);

/// Of an iteration: what it is predicted to take, and the rate that most of that depends on.
struct PredictedIteration {
  double seconds         = 0;
  double Rates::*rate    = nullptr;
  double         by_rate = 0;  ///< seconds of it
};

/// With so much active, if a share of the edges is resident.
PredictedIteration predicted_iteration(const RunFacts& run, const Rates& rates, const GraphSample& sample,
                                       const PlanCandidate& candidate, const Activity& active, double resident);

/// What a run would be told of it.
Plan planned_placement(const RunFacts& run, const GpuFacts& device);

}  // namespace spillway
