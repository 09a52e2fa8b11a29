// A program on a GPU: whether it is to run there, where its edges are, in which order, and what goes in and out.
#pragma once

#include <algorithm>
#include <optional>

#include <spillway/engine/cuda/continuation.hpp>
#include <spillway/engine/cuda/device_run.cuh>
#include <spillway/engine/outcome.hpp>

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

/// What a run is to do.
template <class P>
struct Asked {
  const P&                  program;
  const Topology&           topology;
  const RunOptions&         options;
  double                    delta;
  std::uint64_t             max_iterations;
  Continuation<ValueOf<P>>& continuation;
};

template <class P, class Rows>
std::unique_ptr<DeviceRun<P, Rows>> made(Device& device, const Asked<P>& asked, const Supply<Rows>& rows) {
  auto run = std::make_unique<DeviceRun<P, Rows>>(device, asked.program, asked.topology, asked.options,
                                                  asked.delta, asked.max_iterations);
  run->set_rows(rows);
  const auto& going_on = asked.continuation;
  if (going_on.record) run->record();
  if (going_on.replay) run->replay(*going_on.replay, rows.order.get());
  if (!going_on.resident && going_on.values.size() == 0) run->start_afresh();
  return run;
}

/// What a run needs on the device beside the rows.
template <class P>
std::uint64_t state_bytes(Device& device, const Asked<P>& asked) {
  constexpr std::uint64_t bits_and_pieces = 1u << 16;  // rounding of what is allocated
  const auto              all             = Device::measured([&] {
    DeviceRun<P, PlainRows> run{device,        asked.program, asked.topology,
                                asked.options, asked.delta,   asked.max_iterations};
    if (asked.continuation.record || asked.continuation.replay) run.record();
    run.start_afresh();
  });
  return all + asked.topology.vertices * sizeof(ValueOf<P>) + bits_and_pieces;  // once more in another order
}

/// All that a run needs on the device beside the rows; where rows that other runs have left are in the way, they
/// go.
template <class P, class Rows>
std::unique_ptr<DeviceRun<P, Rows>> prepared(DeviceGraph& there, const Asked<P>& asked, const Supply<Rows>& rows) {
  try {
    return made<P, Rows>(there.device(), asked, rows);
  } catch (const DeviceError&) {
    if (!there.make_room()) throw;
  }
  return made<P, Rows>(there.device(), asked, rows);
}

/// The frontiers that a run has walked stay where they are.
template <class Run>
void hand_over_record(Schedule& record, Run& run, const std::shared_ptr<DeviceGraph>& there,
                      const std::shared_ptr<const DeviceOrder>& order, const RunStatistics& statistics,
                      std::uint64_t vertices) {
  std::vector<std::uint64_t> starts{0};
  for (const IterationStatistics& made : statistics.per_iteration)
    starts.push_back(starts.back() + made.active_vertices);
  record.set_resident(std::make_shared<KeptFrontiers>(there, run.take_recorded(), order), std::move(starts),
                      vertices);
}

/// Values that a run is to go on from, brought to the device; none if it starts afresh or they lie there already.
template <class Value>
DeviceArray<Value> uploaded(Device& device, const Buffer<Value>& values) {
  if (values.size() == 0) return {};
  DeviceArray<Value> there{device, values.size(), "the values of the vertices"};
  there.upload(values.data());
  return there;
}

/// Runs from `given`, if there are any. Values that another run has kept (`kept`) are no longer what they were
/// when a run over them fails: the CPU cannot go on from them.
template <class Run, class Value>
RunStatistics run_from(Run& run, Device& device, DeviceArray<Value>& given, bool kept, Progress& progress) {
  if (given.size() > 0) run.start_from(given);
  device.wait();
  RunStatistics statistics;
  try {
    statistics = run.run(progress);
    device.wait();
  } catch (const DeviceError& error) {
    if (!kept) throw;
    throw Error{error.code(), error.what()};
  }
  if (given.size() > 0) run.adopt(std::move(given));
  return statistics;
}

/// Over rows that are at hand, from `values` if there are any.
template <class P, class Rows>
Outcome<P> run_over(const Supply<Rows>& rows, const std::shared_ptr<DeviceGraph>& there, const Graph& graph,
                    const Asked<P>& asked, DeviceArray<ValueOf<P>> values, Stopwatch& laps) {
  using Value         = ValueOf<P>;
  Device&    device   = there->device();
  auto       run      = prepared<P, Rows>(*there, asked, rows);
  auto&      going_on = asked.continuation;
  const auto n        = asked.topology.vertices;
  auto*      kept     = going_on.resident ? &kept_values<Value>(*going_on.resident, n) : nullptr;
  if (rows.order) {
    if (kept || values.size() > 0) values = rearranged(device, kept ? kept->values : values, rows.order->original);
    kept = nullptr;  // a copy goes on
  }
  Outcome<P> outcome;
  Progress&  progress       = asked.options.progress ? *asked.options.progress : Progress::none();
  outcome.statistics        = run_from(*run, device, kept ? kept->values : values, kept != nullptr, progress);
  outcome.statistics.run_ms = laps.lap();
  if (going_on.record) hand_over_record(*going_on.record, *run, there, rows.order, outcome.statistics, n);

  outcome.global  = run->global();
  outcome.history = run->take_history();
  values          = run->take_values();
  run.reset();  // its memory may be needed now
  if (rows.order) values = rearranged(device, values, rows.order->place);
  if (going_on.keep) {
    outcome.resident = std::make_shared<KeptValues<Value>>(there, std::move(values));
  } else {
    outcome.values = {n, graph.budget(), "the values of the vertices"};
    values.download(outcome.values.data());
  }
  outcome.statistics.transfer_ms    = laps.lap();
  outcome.statistics.device         = "cuda:" + std::to_string(device.index());
  outcome.statistics.device_bytes   = device.peak();
  outcome.statistics.uploaded_bytes = rows.uploaded;
  outcome.statistics.edges_resident = rows.resident;
  outcome.statistics.edges_outside  = rows.on_host;
  outcome.budget                    = graph.budget();
  outcome.threads                   = thread_count(asked.options.threads);
  return outcome;
}

/// The whole graph on the device.
template <class P>
Outcome<P> run_resident(const std::shared_ptr<DeviceGraph>& there, const Graph& graph, const Asked<P>& asked) {
  Device&        device = there->device();
  Stopwatch      laps;
  DeviceTopology rows   = there->topology(asked.topology, Traits<P>::weighted);
  auto           values = uploaded(device, asked.continuation.values);
  device.wait();
  const double transfer = laps.lap();
  rows = chosen_order<P>(*there, asked.topology, std::move(rows), asked.options, asked.max_iterations);
  device.wait();
  const double ordering = laps.lap();
  Outcome<P> outcome = run_over<P>(resident_supply(std::move(rows)), there, graph, asked, std::move(values), laps);
  outcome.statistics.prepare_ms = ordering;
  outcome.statistics.transfer_ms += transfer;
  return outcome;
}

/// Rows in host memory, some of them on the device.
template <class P, class Rows>
Outcome<P> run_outside(const std::shared_ptr<DeviceGraph>& there, const Graph& graph, const Asked<P>& asked,
                       std::uint64_t state) {
  const RunOptions& options = asked.options;
  const auto        alone   = there->alone_outside();
  there->device().require_at_all(state, "the state of the vertices");
  Stopwatch laps;
  auto      values = uploaded(there->device(), asked.continuation.values);
  // Sums are to come out the same, however much room there is today.
  const bool   fixed = options.deterministic && Traits<P>::order_shows;
  const Room   room{.state     = state,
                    .edges     = fixed ? 0 : options.supply.resident.value_or(~std::uint64_t{0}),
                    .some_rows = !Traits<P>::voting};
  Supply<Rows> rows;
  if constexpr (std::is_same_v<Rows, CodedRows>)
    rows = coded_supply(*there, graph, asked.topology, Traits<P>::weighted, room, options.supply.chunk_arcs);
  else
    rows = plain_supply(*there, graph, asked.topology, Traits<P>::weighted, room);
  there->device().wait();
  const double preparing        = laps.lap();
  Outcome<P>   outcome          = run_over<P>(rows, there, graph, asked, std::move(values), laps);
  outcome.statistics.prepare_ms = preparing;
  outcome.statistics.method     = "zerocopy";
  outcome.statistics.compressed = std::is_same_v<Rows, CodedRows>;
  return outcome;
}

/// Rows that come in windows.
template <class P>
Outcome<P> run_in_windows(const std::shared_ptr<DeviceGraph>& there, const Graph& graph, Asked<P> asked,
                          std::uint64_t state) {
  using T                   = Traits<P>;
  const RunOptions& options = asked.options;
  const Topology&   edges   = asked.topology;
  const bool        local =
      T::may_go_on && edges.push.size() == 1 && !asked.continuation.record && !asked.continuation.replay;
  // Whoever has something new goes on at once: there is nothing to wait for in buckets.
  if (local && goes_asynchronously(options, edges.vertices, edges.arcs)) asked.delta = 0x1p62;
  const auto alone = there->alone_outside();
  there->device().require_at_all(state, "the state of the vertices");
  Stopwatch  laps;
  auto       values = uploaded(there->device(), asked.continuation.values);
  const bool pulls  = T::all_active && !edges.pull.empty() && options.direction != Direction::push;
  const auto rows =
      window_supply(*there, graph, edges, options,
                    {.weighted = T::weighted, .everyone = T::all_active, .local = local}, pulls, state);
  there->device().wait();
  const double preparing        = laps.lap();
  Outcome<P>   outcome          = run_over<P>(rows, there, graph, asked, std::move(values), laps);
  outcome.statistics.prepare_ms = preparing;
  outcome.statistics.method     = to_string(options.method);
  return outcome;
}

/// How often a run will pass over all edges, about: a vote looks at few, what is improved is improved again.
template <class P>
double passes_of(const Asked<P>& asked) {
  constexpr double many = 30;  // iterations until most fixed points
  if constexpr (Traits<P>::all_active) return std::min(static_cast<double>(asked.max_iterations), many);
  return Traits<P>::voting ? 0.1 : 2;
}

/// Over edges that are where the choice has them.
template <class P>
Outcome<P> run_as_chosen(const std::shared_ptr<DeviceGraph>& there, const Graph& graph, const Asked<P>& asked,
                         const Choice& choice) {
  if (choice.method == Method::frontier) return run_resident(there, graph, asked);
  RunOptions options   = asked.options;
  options.method       = choice.method;
  options.supply.rates = choice.rates;
  const Asked<P>      sent{asked.program, asked.topology,       options,
                      asked.delta,   asked.max_iterations, asked.continuation};
  const std::uint64_t state = state_bytes(there->device(), sent);
  if (in_windows(choice.method)) return run_in_windows(there, graph, sent, state);
  if (choice.coded) return run_outside<P, CodedRows>(there, graph, sent, state);
  return run_outside<P, PlainRows>(there, graph, sent, state);
}

template <class P>
Outcome<P> run_on_device(const P& program, const Graph& graph, const Topology& topology, const RunOptions& options,
                         double delta, std::uint64_t max_iterations, Continuation<ValueOf<P>>& continuation) {
  using T           = Traits<P>;
  const auto there  = DeviceGraph::of(graph, options.device);
  Device&    device = there->device();
  Schedule   on_host;
  if (lies_elsewhere<ValueOf<P>>(continuation, *there)) copy_to_host(continuation, on_host, graph);
  device.enter();
  const Asked<P> asked{program, topology, options, delta, max_iterations, continuation};
  const auto     state_if = [&](Method method) {
    RunOptions other = options;
    other.method     = method;
    return state_bytes(device, Asked<P>{program, topology, other, delta, max_iterations, continuation});
  };
  const Wish   wish{.topology         = topology,
                    .options          = options,
                    .host             = graph.budget(),
                    .weighted         = T::weighted,
                    .all_active       = T::all_active,
                    .voting           = T::voting,
                    .prioritised      = Prioritises<P>,
                    .improving        = T::in_place,
                    .fixed            = options.deterministic && T::order_shows,
                    .passes           = passes_of(asked),
                    .state            = state_if(Method::frontier),
                    .state_in_windows = state_if(T::all_active ? Method::partitions : Method::mixed)};
  Stopwatch    laps;
  Choice       choice   = chosen_supply(*there, wish);
  const double choosing = laps.lap();
  for (;;) {
    try {
      Outcome<P> outcome = run_as_chosen(there, graph, asked, choice);
      outcome.statistics.prepare_ms += choosing;
      return outcome;
    } catch (const Error& error) {  // no room to code in, or for windows, here or there
      if (error.code() != ExitCode::does_not_fit || continuation.resident) throw;
      if (choice.coded && options.supply.compress != Compress::on) {
        there->cannot_code = true;
        choice             = chosen_supply(*there, wish);
      } else if (in_windows(choice.method) && options.method == Method::automatic) {
        choice.method = Method::zerocopy;
      } else {
        throw;
      }
    }
  }
}

}  // namespace spillway::cuda

/// The kernels of one program, in a translation unit of their own.
#define SPILLWAY_INSTANTIATE_DEVICE_PROGRAM(...)                                                                  \
  template spillway::Outcome<__VA_ARGS__> spillway::cuda::run_on_device<__VA_ARGS__>(                             \
      const __VA_ARGS__&, const spillway::Graph&, const spillway::Topology&, const spillway::RunOptions&, double, \
      std::uint64_t, spillway::Continuation<spillway::ValueOf<__VA_ARGS__>>&)
