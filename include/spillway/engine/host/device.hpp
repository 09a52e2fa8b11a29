// The CPU, as `run` sees a device.
#pragma once

#include <spillway/engine/host/executor.hpp>
#include <spillway/engine/prepared_run.hpp>
#include <spillway/engine/transfer.hpp>

namespace spillway::host {

/// Of the state, what is asked for.
template <class Value>
Buffer<Value> answer_of(Buffer<Value> values, const Topology& topology) {
  if (topology.answer_size() < values.size()) values.shrink(topology.answer_size());
  return values;
}

template <class P, bool bucketed>
class HostRun final : public PreparedRun<P> {
 public:
  HostRun(const RunRequest<P>& request, double delta)
      : topology_(request.topology),
        chunks_(chunks_of(request)),
        options_(adapted(request.options, chunks_)),
        executor_(request.program, request.graph, request.topology, options_,
                  HostInput<ValueOf<P>>{.values = std::move(request.continuation.values),
                                        .replay = request.continuation.replay,
                                        .record = request.continuation.record,
                                        .delta  = delta,
                                        .chunks = chunks_}) {
    const auto& budget = request.graph.budget();
    supply_            = host_supply(executor_, request.topology, request.facts, options_, budget);
  }

  Executor&         executor() override { return executor_; }
  EdgeSupply&       supply() override { return *supply_; }
  const RunOptions& options() const override { return options_; }

  /// In which its state is, where it does not fit memory.
  static StateChunks chunks_of(const RunRequest<P>& request) {
    return choose_chunks(
        HostExecutor<P, bucketed>::sizes_of(request.topology, request.options, request.continuation),
        request.topology, request.facts, request.options, *request.graph.budget());
  }

  void deliver(Outcome<P>& outcome) override {
    outcome.values                  = answer_of(executor_.take_values(), topology_);
    outcome.global                  = executor_.global();
    outcome.history                 = executor_.take_history();
    outcome.statistics.run_ms       = running_.milliseconds();
    outcome.statistics.state_chunks = chunks_.count;
  }

 private:
  /// Chunks of rows are pushed, and so are pages to chunks of state.
  static RunOptions adapted(RunOptions options, const StateChunks& chunks) {
    if (options.method->transfers || chunks.on_disk()) options.direction = Direction::push;
    return options;
  }

  Stopwatch                   running_;
  const Topology&             topology_;
  StateChunks                 chunks_;
  RunOptions                  options_;
  HostExecutor<P, bucketed>   executor_;
  std::unique_ptr<EdgeSupply> supply_;
};

/// A run on a device that is made of the CPU's executors.
template <class P>
class ComposedRun final : public PreparedRun<P>, private ExecutorMaker {
  using OneExecutor = HostExecutor<P, Prioritises<P> && !Traits<P>::in_place>;  // as where edges come in chunks

 public:
  ComposedRun(const RunRequest<P>& request, double delta)
      : request_(request), delta_(delta), options_(request.options) {
    if constexpr (Traits<P>::voting && Traits<P>::has_global)
      throw Error{ExitCode::usage, "votes that are added up cannot be merged; use --device cpu"};
    executor_          = composed_executor(*this, request.topology, options_, request.facts);
    options_.direction = Direction::push;
    const auto& budget = request.graph.budget();
    supply_            = host_supply(*parts_.front(), request.topology, request.facts, options_, budget);
  }

  Executor&         executor() override { return *executor_; }
  EdgeSupply&       supply() override { return *supply_; }
  const RunOptions& options() const override { return options_; }

  void deliver(Outcome<P>& outcome) override {
    outcome.values            = answer_of(parts_.front()->take_values(), request_.topology);
    outcome.global            = parts_.front()->global();
    outcome.history           = parts_.front()->take_history();
    outcome.statistics.run_ms = running_.milliseconds();
    outcome.statistics.device = options_.device.kind->name;
  }

 private:
  CpuExecutor& make() override {
    const auto&        from = request_.continuation;
    Buffer<ValueOf<P>> values{from.values.size(), request_.graph.budget(), "the values of the vertices"};
    std::ranges::copy(from.values.span(), values.data());
    parts_.push_back(
        std::make_unique<OneExecutor>(request_.program, request_.graph, request_.topology, options_,
                                      HostInput<ValueOf<P>>{.values = std::move(values),
                                                            .replay = from.replay,
                                                            .record = parts_.empty() ? from.record : nullptr,
                                                            .delta  = delta_}));
    return *parts_.back();
  }

  Stopwatch                                 running_;
  const RunRequest<P>&                      request_;
  double                                    delta_;
  RunOptions                                options_;
  std::vector<std::unique_ptr<OneExecutor>> parts_;
  std::unique_ptr<Executor>                 executor_;
  std::unique_ptr<EdgeSupply>               supply_;
};

template <class P>
class HostDevice final : public RunDevice<P> {
 public:
  HostDevice(const RunRequest<P>& request, double delta) : request_(request), delta_(delta) {}

  std::unique_ptr<PreparedRun<P>> prepare() override {
    if (is_composed()) return std::make_unique<ComposedRun<P>>(request_, delta_);
    if constexpr (settles_in_place)
      if (in_chunks()) return std::make_unique<HostRun<P, false>>(request_, delta_);
    return std::make_unique<HostRun<P, Prioritises<P>>>(request_, delta_);
  }

  Plan plan() override {
    const auto&   budget = request_.graph.budget();
    StateChunks   chunks;
    std::uint64_t state = 0;
    const auto    ask   = [&]<bool bucketed>(std::bool_constant<bucketed>) {
      chunks = HostRun<P, bucketed>::chunks_of(request_);
      state  = HostExecutor<P, bucketed>::state_bytes_of(request_.topology, request_.options);
    };
    if (is_composed())
      state = ComposedRun<P>{request_, delta_}.executor().state_bytes();
    else if (settles_in_place && in_chunks())
      ask(std::false_type{});
    else
      ask(std::bool_constant<Prioritises<P>>{});
    const std::uint64_t given = request_.continuation.values.size() * sizeof(ValueOf<P>);
    if (!chunks.on_disk()) budget->expect(state - std::min(state, given), "the state of the vertices");
    Plan plan         = plan_on_cpu(request_.options, request_.topology, request_.facts, state, *budget);
    plan.state_chunks = chunks.count;
    return plan;
  }

 private:
  /// Buckets that are settled in place want all edges at hand.
  static constexpr bool settles_in_place = Prioritises<P> && Traits<P>::in_place;

  bool in_chunks() const { return request_.options.method->in_blocks(); }
  bool is_composed() const { return request_.options.device.kind->of_cpu_executors; }

  const RunRequest<P>& request_;
  double               delta_;
};

}  // namespace spillway::host
