// What a run would do, and why, without doing it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <spillway/options.hpp>
#include <spillway/parameters.hpp>

namespace spillway {

class Graph;
struct Algorithm;

/// A way to run, with what it is predicted to cost; or why it is excluded.
struct PlanCandidate {
  std::string   device;
  Method        method         = {};
  bool          compressed     = false;
  bool          asynchronous   = false;
  VertexOrder   order          = VertexOrder::natural;
  BalanceTuning balance        = {};
  double        prepare_ms     = 0;
  double        transfer_ms    = 0;  ///< of a run, while which it may compute…
  double        compute_ms     = 0;
  double        run_ms         = 0;  ///< …so that this may be less than their sum
  double        total_ms       = 0;  ///< preparing, less what earlier runs would have spared by it, and all runs
  std::uint64_t device_bytes   = 0;
  std::uint64_t resident_bytes = 0;   ///< of them, edges
  std::uint64_t bus_bytes      = 0;   ///< of a run
  std::string   excluded       = {};  ///< the reason; empty: it is possible

  bool on_cpu() const { return device == "cpu"; }
};

/// Of the first program that an algorithm runs; bytes are 0 where they are not known before a run.
struct Plan {
  std::string              device = "cpu";
  std::string              method;                  ///< as `run --method` takes it; empty: the algorithm's own
  bool                     compressed     = false;  ///< edges, before they are read
  bool                     weighted       = false;
  std::uint64_t            room           = 0;      ///< bytes that the device may hold
  std::uint64_t            state_bytes    = 0;      ///< of the vertices, there
  std::uint64_t            state_chunks   = 1;      ///< on disk, where memory does not hold it
  std::uint64_t            edge_bytes     = 0;      ///< of all edges that a pass visits, as they are
  std::uint64_t            resident_bytes = 0;      ///< of them that are kept on the device, about
  std::uint64_t            vertices = 0, arcs = 0;  ///< of such a pass
  std::optional<Rates>     rates;                   ///< that the choice depends on
  bool                     knows_activity = false;  ///< from an earlier run over this graph
  std::vector<std::string> why;

  std::vector<PlanCandidate> candidates;  ///< best first, then those that are excluded; none: nothing is to choose
};

/// What a run has to do, about.
struct Work {
  std::uint64_t vertices = 0, arcs = 0;
  bool          all_active     = false;
  std::uint64_t max_iterations = 0;
};

namespace detail {

/// Why a run stays on the CPU although there may be a GPU: it is done before one that this process has not used
/// yet would be ready. Empty: it does not.
std::string why_gpu_is_not_started(const Work& work, const RunOptions& options);
/// Such a run is made: many of them are worth a GPU.
void note_left_to_cpu(const Work& work, const RunOptions& options);

}  // namespace detail

/// What `algorithm.run` would do. What a run needs of the graph beforehand (in-edges, a simple copy) is made for
/// it; nothing is run.
Plan plan_of(const Algorithm& algorithm, const Graph& graph, const ParameterValues& parameters,
             const RunOptions& options);

/// Of what is no vertex program: the device that would be asked first.
Plan plan_without_program(const RunOptions& options, bool may_use_gpu = true);

}  // namespace spillway
