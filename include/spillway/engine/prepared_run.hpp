// What `run` sees of a device: it prepares a run of one program, and hands out the answer after the loop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <typeinfo>

#include <spillway/engine/outcome.hpp>
#include <spillway/error.hpp>
#include <spillway/plan.hpp>
#include <spillway/trace.hpp>

namespace spillway {

/// A run as it was asked for.
template <class P>
struct RunRequest {
  const P&                  program;
  const Graph&              graph;
  const Topology&           topology;
  const RunOptions&         options;
  const ProgramFacts&       facts;
  std::uint64_t             max_iterations;
  Continuation<ValueOf<P>>& continuation;
  Schedule*                 on_host = nullptr;  ///< for frontiers that have to be copied from a device
};

/// State and edges are where they are needed: the loop can begin.
template <class P>
class PreparedRun {
 public:
  virtual ~PreparedRun() = default;

  virtual Executor&   executor() = 0;
  virtual EdgeSupply& supply()   = 0;
  /// Those of the request, with what was left to choose.
  virtual const RunOptions& options() const = 0;
  /// After the loop: values, totals and times.
  virtual void deliver(Outcome<P>& outcome) = 0;
  /// Whether the values that the run goes on from are changed by it, so that nothing else can go on from them.
  virtual bool changes_given_values() const { return false; }
};

/// Why a run is better made on the CPU: what was predicted, and what that took.
struct OtherDevice {
  std::vector<PlanCandidate> candidates;  ///< the CPU first
  double                     choosing_ms = 0;
};

void note_better_device(RunStatistics& statistics, const OtherDevice& better);

/// A device, for one request.
template <class P>
class RunDevice {
 public:
  virtual ~RunDevice() = default;

  virtual std::unique_ptr<PreparedRun<P>> prepare() = 0;
  /// What `prepare` would do.
  virtual Plan plan() = 0;
  /// Whether the run had better be made on the CPU; asked before `prepare`.
  virtual std::optional<OtherDevice> better_device() { return std::nullopt; }
  /// After an error: whether `prepare` has another way to try.
  virtual bool falls_back(const Error& /*error*/) { return false; }
};

/// Values and frontiers that runs leave to each other are those of the answer, and so are inputs.
void check_state_size(const Topology& topology, bool continues, bool has_inputs);

/// For the planner of later runs: what each iteration had active.
void note_run(const Graph& graph, const std::string& program, const Topology& topology, const RunOptions& options,
              std::uint64_t max_iterations, const RunStatistics& statistics);

/// Prepares, iterates and delivers.
template <class P>
Outcome<P> run_once(RunDevice<P>& device, const RunRequest<P>& request) {
  const auto& from = request.continuation;
  check_state_size(request.topology,
                   from.values.size() > 0 || from.resident || from.keep || from.replay || from.record,
                   has_inputs<P>);
  Trace* const trace   = request.options.trace;
  const auto   prepare = [&] {
    const TraceSpan span{trace, Track::host, "prepare"};
    return device.prepare();
  };
  auto       run     = prepare();
  const auto iterate = [&] {
    return run_loop(run->executor(), run->supply(), request.topology, request.facts, run->options(),
                    request.max_iterations, request.graph.budget());
  };
  Outcome<P> outcome;
  try {
    outcome.statistics = iterate();
  } catch (const DeviceError& error) {
    if (run->changes_given_values()) throw Error{error.code(), error.what()};  // no other device can go on
    throw;
  }
  {
    const TraceSpan span{trace, Track::host, "deliver"};
    run->deliver(outcome);
  }
  outcome.budget  = request.graph.budget();
  outcome.threads = thread_count(request.options.threads);
  run.reset();  // its memory may be needed
  if (makes_columns<P> && !from.keep && outcome.values.size() > 0) outcome.make_columns(request.program);
  note_run(request.graph, typeid(P).name(), request.topology, request.options, request.max_iterations,
           outcome.statistics);
  return outcome;
}

template <class P>
Outcome<P> run_on(RunDevice<P>& device, const RunRequest<P>& request) {
  for (;;) try {
      return run_once(device, request);
    } catch (const Error& error) {
      if (!device.falls_back(error)) throw;
    }
}

}  // namespace spillway
