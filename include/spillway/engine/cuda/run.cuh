// A GPU, as `run` sees a device: where a program's edges are to be, in which order, and what goes in and out.
#pragma once

#include <algorithm>
#include <optional>

#include <spillway/engine/cuda/continuation.hpp>
#include <spillway/engine/cuda/executor.cuh>
#include <spillway/engine/prepared_run.hpp>

namespace spillway::cuda {

/// Values in another order; the old ones are given back.
template <class Value>
DeviceArray<Value> rearranged(Device& device, const DeviceArray<Value>& values,
                              const DeviceArray<Vertex>& places) {
  DeviceArray<Value> moved{device, values.size(), "the values of the vertices"};
  const auto blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(values.size() / block_threads, 1, 1u << 14));
  SPILLWAY_LAUNCH(rearrange, blocks, block_threads, values.data(), places.data(), values.size(), moved.data());
  return moved;
}

/// Hubs first, where every vertex is active in many iterations and messages outgrow the caches.
template <class P>
DeviceTopology chosen_order(DeviceGraph& graph, const Topology& topology, DeviceTopology rows,
                            const RunOptions& options, std::uint64_t max_iterations) {
  constexpr std::uint64_t pays_after = 8;  // iterations
  if constexpr (Machine<P, PlainRows>::may_reorder) {
    const VertexOrder order = options.cuda.order;
    if (order == VertexOrder::natural || topology.vertices == 0) return rows;
    // The last bits are not to depend on whether there is room for another order today.
    if (order == VertexOrder::automatic && options.deterministic) return rows;
    if (order == VertexOrder::degree) return graph.reordered(topology, std::move(rows), Traits<P>::weighted, true);
    const std::uint64_t messages = topology.vertices * sizeof(typename Traits<P>::Message);
    if (max_iterations < pays_after || messages < graph.device().cache_bytes() / 2) return rows;
    try {
      return graph.reordered(topology, rows, Traits<P>::weighted, false);
    } catch (const DeviceError&) {  // no room for a second copy
    }
  }
  return rows;
}

/// What a run needs on the device beside the rows, if edges reach it by this method.
template <class P>
std::uint64_t state_bytes(Device& device, const RunRequest<P>& request, double delta, Method method) {
  constexpr std::uint64_t bits_and_pieces = 1u << 16;  // rounding of what is allocated
  RunOptions              options         = request.options;
  options.method                          = method;
  const auto all                          = Device::measured([&] {
    CudaExecutor<P, PlainRows> executor{device,  request.program, request.topology,
                                        options, delta,           request.max_iterations};
    if (request.continuation.record || request.continuation.replay) executor.record();
    executor.start_afresh();
  });
  return all + request.topology.vertices * sizeof(ValueOf<P>) + bits_and_pieces;  // once more in another order
}

/// Values that a run is to go on from, brought to the device; none if it starts afresh or they lie there already.
template <class Value>
DeviceArray<Value> uploaded(Device& device, const Buffer<Value>& values) {
  if (values.size() == 0) return {};
  DeviceArray<Value> there{device, values.size(), "the values of the vertices"};
  there.upload(values.data());
  return there;
}

/// Edges that stay where they are while a run lasts: on the device, or in host memory that it reads in place.
class EdgesInPlace final : public EdgeSupply {
 public:
  bool      may_fuse() const override { return true; }
  BlockWork bring(Executor&, Direction, IterationStatistics&, RunStatistics&) override { return {}; }
  void      complete(RunStatistics&) const override {}
};

/// A run whose rows are at hand, in one form.
template <class P, class Rows>
class CudaRun final : public PreparedRun<P> {
  using Value    = ValueOf<P>;
  using Executor = CudaExecutor<P, Rows>;

 public:
  /// `clock` has just given its lap to what came before.
  CudaRun(std::shared_ptr<DeviceGraph> there, const RunRequest<P>& request, const RunOptions& options,
          double delta, Supply<Rows> rows, DeviceArray<Value> values, const RunStatistics& so_far, Stopwatch clock)
      : there_(std::move(there)),
        request_(request),
        options_(options),
        rows_(std::move(rows)),
        values_(std::move(values)),
        so_far_(so_far),
        clock_(clock) {
    executor_  = made_with_room(delta);
    auto& from = request.continuation;
    kept_      = from.resident ? &kept_values<Value>(*from.resident, request.topology.vertices) : nullptr;
    if (rows_.order && (kept_ || values_.size() > 0)) {
      values_ = rearranged(device(), kept_ ? kept_->values : values_, rows_.order->original);
      kept_   = nullptr;  // a copy goes on
    }
    if (DeviceArray<Value>& given = kept_ ? kept_->values : values_; given.size() > 0)
      executor_->start_from(given);
    device().wait();
  }

  spillway::Executor& executor() override { return *executor_; }
  EdgeSupply&         supply() override { return rows_.windows ? *rows_.windows : in_place_; }
  const RunOptions&   options() const override { return options_; }
  bool                changes_given_values() const override { return kept_ != nullptr; }

  void deliver(Outcome<P>& outcome) override {
    device().wait();
    RunStatistics& statistics = outcome.statistics;
    statistics.run_ms         = clock_.lap();
    if (DeviceArray<Value>& given = kept_ ? kept_->values : values_; given.size() > 0)
      executor_->adopt(std::move(given));
    if (request_.continuation.record) hand_over_record(*request_.continuation.record, statistics);
    outcome.global  = executor_->global();
    outcome.history = executor_->take_history();
    values_         = executor_->take_values();
    executor_.reset();  // its memory may be needed now
    if (rows_.order) values_ = rearranged(device(), values_, rows_.order->place);
    if (request_.continuation.keep) {
      outcome.resident = std::make_shared<KeptValues<Value>>(there_, std::move(values_));
    } else {
      outcome.values = {request_.topology.vertices, request_.graph.budget(), "the values of the vertices"};
      values_.download(outcome.values.data());
    }
    statistics.prepare_ms     = so_far_.prepare_ms;
    statistics.transfer_ms    = so_far_.transfer_ms + clock_.lap();
    statistics.method         = so_far_.method;
    statistics.compressed     = so_far_.compressed;
    statistics.device         = "cuda:" + std::to_string(device().index());
    statistics.device_bytes   = device().peak();
    statistics.uploaded_bytes = rows_.uploaded;
    statistics.edges_resident = rows_.resident;
    statistics.edges_outside  = rows_.on_host;
  }

 private:
  Device& device() const { return there_->device(); }

  std::unique_ptr<Executor> made(double delta) {
    auto executor = std::make_unique<Executor>(device(), request_.program, request_.topology, options_, delta,
                                               request_.max_iterations);
    executor->set_rows(rows_);
    const auto& from = request_.continuation;
    if (from.record) executor->record();
    if (from.replay) executor->replay(*from.replay, rows_.order.get());
    if (!from.resident && from.values.size() == 0) executor->start_afresh();
    return executor;
  }

  /// Where rows that other runs have left are in the way, they go.
  std::unique_ptr<Executor> made_with_room(double delta) {
    try {
      return made(delta);
    } catch (const DeviceError&) {
      if (!there_->make_room()) throw;
    }
    return made(delta);
  }

  /// The frontiers that the run has walked stay where they are.
  void hand_over_record(Schedule& record, const RunStatistics& statistics) {
    std::vector<std::uint64_t> starts{0};
    for (const IterationStatistics& made : statistics.per_iteration)
      starts.push_back(starts.back() + made.active_vertices);
    record.set_resident(std::make_shared<KeptFrontiers>(there_, executor_->take_recorded(), rows_.order),
                        std::move(starts), request_.topology.vertices);
  }

  std::shared_ptr<DeviceGraph> there_;
  const RunRequest<P>&         request_;
  RunOptions                   options_;
  Supply<Rows>                 rows_;
  DeviceArray<Value>           values_;  ///< to go on from, and in the end the answer
  RunStatistics                so_far_;  ///< of preparing
  Stopwatch                    clock_;
  EdgesInPlace                 in_place_;
  std::unique_ptr<Executor>    executor_;
  KeptValues<Value>*           kept_ = nullptr;  ///< what another run left, and this one goes on from
};

/// How often a run will pass over all edges, about: a vote looks at few, what is improved is improved again.
template <class P>
double passes_of(const RunRequest<P>& request) {
  constexpr double many = 30;  // iterations until most fixed points
  if constexpr (Traits<P>::all_active) return std::min(static_cast<double>(request.max_iterations), many);
  return Traits<P>::voting ? 0.1 : 2;
}

template <class P>
class CudaDevice final : public RunDevice<P> {
  using T = Traits<P>;

 public:
  CudaDevice(const RunRequest<P>& request, double delta)
      : request_(request), delta_(delta), there_(DeviceGraph::of(request.graph, request.options.device)) {
    if (lies_elsewhere<ValueOf<P>>(request.continuation, *there_))
      copy_to_host(request.continuation, on_host_, request.graph);
    device().enter();
    state_ = state_bytes(device(), request_, delta_, resident_edges());
    state_in_windows_ =
        state_bytes(device(), request_, delta_, T::all_active ? whole_partitions() : least_predicted());
  }

  Plan plan() override { return planned_supply(*there_, wish()); }

  std::unique_ptr<PreparedRun<P>> prepare() override {
    if (!chosen_) choose();
    if (choice_.method->all_resident) return resident();
    RunOptions options   = request_.options;
    options.method       = choice_.method;
    options.supply.rates = choice_.rates;
    if (choice_.method->transfers) options.supply.compress = choice_.coded ? Compress::on : Compress::off;
    if (choice_.method->transfers) return in_windows_with(options);
    if (choice_.coded) return outside<CodedRows>(options);
    return outside<PlainRows>(options);
  }

  /// There may be no room to code in, or for windows, here or there.
  bool retreats(const Error& error) override {
    if (error.code() != ExitCode::does_not_fit || request_.continuation.resident) return false;
    alone_          = {};
    const bool free = request_.options.method.automatic();
    if (free && choice_.coded && choice_.method->transfers) {  // windows of compressed edges need more room
      choice_.method = edges_in_place();
      return true;
    }
    if (choice_.coded && request_.options.supply.compress != Compress::on) {
      there_->cannot_code = true;
      choice_             = chosen_supply(*there_, wish());
      return true;
    }
    if (!choice_.method->transfers || !free) return false;
    choice_.method = edges_in_place();
    return true;
  }

 private:
  Device& device() const { return there_->device(); }

  void choose() {
    Stopwatch clock;
    choice_      = chosen_supply(*there_, wish());
    choosing_ms_ = clock.lap();
    chosen_      = true;
  }

  Wish wish() const {
    return {.topology         = request_.topology,
            .options          = request_.options,
            .host             = request_.graph.budget(),
            .weighted         = T::weighted,
            .all_active       = T::all_active,
            .voting           = T::voting,
            .prioritised      = Prioritises<P>,
            .improving        = T::in_place,
            .fixed            = request_.options.deterministic && T::order_shows,
            .passes           = passes_of(request_),
            .state            = state_,
            .state_in_windows = state_in_windows_};
  }

  template <class Rows>
  std::unique_ptr<PreparedRun<P>> run_over(Supply<Rows> rows, const RunOptions& options, double delta,
                                           DeviceArray<ValueOf<P>> values, RunStatistics so_far, Stopwatch clock) {
    so_far.prepare_ms += choosing_ms_;
    return std::make_unique<CudaRun<P, Rows>>(there_, request_, options, delta, std::move(rows), std::move(values),
                                              so_far, clock);
  }

  /// The whole graph on the device.
  std::unique_ptr<PreparedRun<P>> resident() {
    Stopwatch      clock;
    RunStatistics  so_far;
    DeviceTopology rows   = there_->topology(request_.topology, T::weighted);
    auto           values = uploaded(device(), request_.continuation.values);
    device().wait();
    so_far.transfer_ms = clock.lap();
    rows = chosen_order<P>(*there_, request_.topology, std::move(rows), request_.options, request_.max_iterations);
    device().wait();
    so_far.prepare_ms = clock.lap();
    return run_over(resident_supply(std::move(rows)), request_.options, delta_, std::move(values), so_far, clock);
  }

  /// Rows in host memory, some of them on the device.
  template <class Rows>
  std::unique_ptr<PreparedRun<P>> outside(const RunOptions& options) {
    const std::uint64_t state = state_bytes(device(), request_, delta_, options.method);
    alone_                    = there_->alone_outside();
    device().require_at_all(state, "the state of the vertices");
    Stopwatch     clock;
    RunStatistics so_far;
    auto          values = uploaded(device(), request_.continuation.values);
    // Sums are to come out the same, however much room there is today.
    const bool   fixed = options.deterministic && T::order_shows;
    const Room   room{.state     = state,
                      .edges     = fixed ? 0 : options.supply.resident.value_or(~std::uint64_t{0}),
                      .some_rows = !T::voting};
    Supply<Rows> rows;
    if constexpr (std::is_same_v<Rows, CodedRows>)
      rows =
          coded_supply(*there_, request_.graph, request_.topology, T::weighted, room, options.supply.chunk_arcs);
    else
      rows = plain_supply(*there_, request_.graph, request_.topology, T::weighted, room);
    device().wait();
    so_far.prepare_ms = clock.lap();
    so_far.method     = options.method->name;
    so_far.compressed = std::is_same_v<Rows, CodedRows>;
    return run_over(std::move(rows), options, delta_, std::move(values), so_far, clock);
  }

  /// Rows that come in windows.
  std::unique_ptr<PreparedRun<P>> in_windows_with(const RunOptions& options) {
    const Topology&     edges = request_.topology;
    const bool          local = request_.facts.may_go_on;
    const std::uint64_t state = state_bytes(device(), request_, delta_, options.method);
    // Whoever has something new goes on at once: there is nothing to wait for in buckets.
    const double delta = local && goes_asynchronously(options, edges.vertices, edges.arcs) ? 0x1p62 : delta_;
    alone_             = there_->alone_outside();
    device().require_at_all(state, "the state of the vertices");
    Stopwatch     clock;
    RunStatistics so_far;
    auto          values = uploaded(device(), request_.continuation.values);
    const bool    pulls  = T::all_active && !edges.pull.empty() && options.direction != Direction::push;
    auto          rows   = window_supply(*there_, request_.graph, edges, options,
                                         {.weighted = T::weighted, .everyone = T::all_active, .local = local}, pulls, state);
    device().wait();
    so_far.prepare_ms = clock.lap();
    so_far.method     = options.method->name;
    so_far.compressed = choice_.coded;
    return run_over(std::move(rows), options, delta, std::move(values), so_far, clock);
  }

  const RunRequest<P>&         request_;
  double                       delta_;
  std::shared_ptr<DeviceGraph> there_;
  Schedule                     on_host_;  ///< frontiers that lay on another device
  std::uint64_t                state_ = 0, state_in_windows_ = 0;
  Choice                       choice_;
  bool                         chosen_      = false;
  double                       choosing_ms_ = 0;
  std::unique_lock<std::mutex> alone_;  ///< while rows outside are used
};

template <class P>
std::unique_ptr<RunDevice<P>> device_for(const RunRequest<P>& request, double delta) {
  return std::make_unique<CudaDevice<P>>(request, delta);
}

}  // namespace spillway::cuda

/// The kernels of one program, in a translation unit of their own.
#define SPILLWAY_INSTANTIATE_DEVICE_PROGRAM(...)                                                      \
  template std::unique_ptr<spillway::RunDevice<__VA_ARGS__>> spillway::cuda::device_for<__VA_ARGS__>( \
      const spillway::RunRequest<__VA_ARGS__>&, double)
