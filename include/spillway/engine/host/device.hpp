// The CPU, as `run` sees a device.
#pragma once

#include <spillway/engine/host/executor.hpp>
#include <spillway/engine/pieces.hpp>
#include <spillway/engine/prepared_run.hpp>

namespace spillway::host {

template <class P, bool bucketed>
class HostRun final : public PreparedRun<P> {
 public:
  HostRun(const RunRequest<P>& request, double delta)
      : options_(request.options),
        executor_(request.program, request.graph, request.topology, options_,
                  HostInput<ValueOf<P>>{.values = std::move(request.continuation.values),
                                        .replay = request.continuation.replay,
                                        .record = request.continuation.record,
                                        .delta  = delta}) {
    const auto& budget = request.graph.budget();
    if (options_.method->transfers) options_.direction = Direction::push;  // pieces of rows are pushed
    if (options_.plan) plan_on_cpu(options_, request.topology, request.facts, executor_.state_bytes(), *budget);
    supply_ = host_supply(executor_, request.topology, request.facts, options_, budget);
  }

  Executor&         executor() override { return executor_; }
  EdgeSupply&       supply() override { return *supply_; }
  const RunOptions& options() const override { return options_; }

  void deliver(Outcome<P>& outcome) override {
    outcome.values            = executor_.take_values();
    outcome.global            = executor_.global();
    outcome.history           = executor_.take_history();
    outcome.statistics.run_ms = running_.milliseconds();
  }

 private:
  Stopwatch                   running_;
  RunOptions                  options_;
  HostExecutor<P, bucketed>   executor_;
  std::unique_ptr<EdgeSupply> supply_;
};

template <class P>
class HostDevice final : public RunDevice<P> {
 public:
  HostDevice(const RunRequest<P>& request, double delta) : request_(request), delta_(delta) {}

  std::unique_ptr<PreparedRun<P>> prepare() override {
    // Buckets that are settled in place want all edges at hand.
    if constexpr (Prioritises<P> && Traits<P>::in_place)
      if (request_.options.method->transfers) return std::make_unique<HostRun<P, false>>(request_, delta_);
    return std::make_unique<HostRun<P, Prioritises<P>>>(request_, delta_);
  }

 private:
  const RunRequest<P>& request_;
  double               delta_;
};

}  // namespace spillway::host
