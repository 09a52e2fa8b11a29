// A GPU, as `run` sees a device: where a program's edges are to be, in which order, and what goes in and out.
#pragma once

#include <algorithm>
#include <optional>

#include <spillway/engine/cuda/continuation.hpp>
#include <spillway/engine/cuda/executor.cuh>
#include <spillway/engine/cuda/inputs.hpp>
#include <spillway/engine/prepared_run.hpp>

namespace spillway::cuda {

/// The values at these places, one after the other: as many as there are places.
template <class Value>
DeviceArray<Value> permuted(Device& device, const DeviceArray<Value>& values, const DeviceArray<Vertex>& places) {
  DeviceArray<Value> moved{device, places.size(), "the values of the vertices"};
  const auto blocks = static_cast<unsigned>(std::clamp<std::uint64_t>(places.size() / block_threads, 1, 1u << 14));
  SPILLWAY_LAUNCH(permute, blocks, block_threads, values.data(), places.data(), places.size(), moved.data());
  return moved;
}

/// The i-th column of the answer, whose vertices may lie elsewhere among the values.
template <class P, int i, class Entry>
__global__ void make_column(P program, const ValueOf<P>* values, const Vertex* places, std::uint64_t count,
                            Entry* column) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t v = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; v < count; v += stride)
    column[v] = program.template column<i>(values[places ? places[v] : v]);
}

/// What a run needs beside the rows, if edges reach it by this method, and its state is in so many chunks.
template <class P>
Device::Bytes state_bytes(Device& device, const RunRequest<P>& request, double delta, Method method,
                          std::uint64_t chunks = 1) {
  constexpr std::uint64_t bits_and_pieces = 1u << 16;  // rounding of what is allocated
  RunOptions              options         = request.options;
  options.method                          = method;
  options.supply.state_chunks             = chunks;
  Device::Bytes all                       = Device::measured([&] {
    const DeviceInputs<P>      inputs{device, request.program};
    CudaExecutor<P, PlainRows> executor{device,  request.program, request.topology,
                                        options, delta,           request.max_iterations};
    if (request.continuation.record || request.continuation.replay) executor.record();
    if (!request.continuation.resident) executor.start_afresh();
  });
  all.device += bits_and_pieces;
  if (!method->streams_pages) all.device += request.topology.vertices * sizeof(ValueOf<P>);  // in another order
  return all;
}

/// Values that a run is to go on from, brought to the device; none if it starts afresh or they lie there already.
template <class Value>
DeviceArray<Value> uploaded(Device& device, const Buffer<Value>& values, ArrayMemory memory) {
  if (values.size() == 0) return {};
  DeviceArray<Value> there{device, values.size(), "the values of the vertices", memory};
  there.upload(values.data());
  return there;
}

/// What `make` returns. Where rows that other runs have left are in the way, they go.
template <class Make>
auto with_room(Session& session, Make&& make) {
  try {
    return make();
  } catch (const DeviceError&) {
    if (!session.make_room()) throw;
  }
  return make();
}

/// Edges that stay where they are while a run lasts: on the device, or in host memory that it reads in place.
class EdgesInPlace final : public EdgeSupply {
 public:
  bool      may_fuse() const override { return true; }
  BlockWork bring(Executor&, Direction, IterationStatistics&, RunStatistics&) override {
    refuse_block("blocks: all edges are in place, and it makes every iteration by itself");
  }
  void complete(RunStatistics&) const override {}
};

/// What is left of an answer on the device that made it.
template <class Entry>
class LeftColumn final : public ColumnOnDevice {
 public:
  LeftColumn(std::shared_ptr<Device> device, DeviceArray<Entry> entries)
      : device_(std::move(device)), entries_(std::move(entries)) {}
  ~LeftColumn() override {
    device_->no_longer_leaves(entries_.size() * sizeof(Entry));
    try {
      const OnDevice there{device_->index()};
      entries_ = {};
    } catch (const Error&) {  // the driver may be gone, and with it the memory
    }
  }

  int           device() const override { return device_->index(); }
  const void*   data() const override { return entries_.data(); }
  std::uint64_t size() const override { return entries_.size(); }
  void          download(void* here) const override {
    const OnDevice there{device_->index()};
    entries_.download(static_cast<Entry*>(here));
  }

 private:
  std::shared_ptr<Device> device_;
  DeviceArray<Entry>      entries_;
};

/// A run whose rows are at hand, in one form.
template <class P, class Rows>
class CudaRun final : public PreparedRun<P> {
  using T        = Traits<P>;
  using Value    = ValueOf<P>;
  using Executor = CudaExecutor<P, Rows>;

 public:
  CudaRun(Session& session, const RunRequest<P>& request, const RunOptions& options, double delta,
          Supply<Rows> rows, DeviceArray<Value> values, DeviceInputs<P> inputs, const RunStatistics& so_far)
      : session_(session),
        request_(request),
        options_(options),
        rows_(std::move(rows)),
        values_(std::move(values)),
        inputs_(std::move(inputs)),
        so_far_(so_far) {
    executor_  = with_room(session_, [&] { return made(delta); });
    auto& from = request.continuation;
    kept_      = from.resident ? &kept_values<Value>(*from.resident, request.topology.vertices) : nullptr;
    if (rows_.order && (kept_ || values_.size() > 0)) {
      values_ = permuted(device(), kept_ ? kept_->values : values_, rows_.order->original);
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
    memory_of_answer_ = executor_->state_chunks() > 1 ? ArrayMemory::host : ArrayMemory::device;
    outcome.global    = executor_->global();
    outcome.history   = executor_->take_history();
    values_           = executor_->take_values();
    executor_.reset();  // its memory may be needed now
    if (rows_.order && !delivers_columns()) values_ = permuted(device(), values_, rows_.order->place);
    if (request_.continuation.keep)
      outcome.resident = std::make_shared<KeptValues<Value>>(session_.shared_device(), std::move(values_));
    else
      deliver_answer(outcome);
    statistics.transfer_ms = so_far_.transfer_ms + clock_.lap();
    note_supply(device(), rows_, so_far_, statistics);
    session_.predict_iterations(statistics);
  }

 private:
  Device& device() const { return session_.device(); }
  bool    delivers_columns() const { return makes_columns<P> && !request_.continuation.keep; }

  /// While the device computes, the host finds the pages that the answer will lie in: at a result of 134 MB that
  /// takes as long as bringing it.
  void make_room_for_answer() {
    if (request_.continuation.keep || leaves_answer() || room_made_) return;
    room_made_          = true;
    const auto& budget  = request_.graph.budget();
    const auto  room_in = [&](auto& buffer) {
      try {
        buffer = {answer_size(), budget, "the result"};
        touch_pages(buffer.span(), thread_count(request_.options.threads));
      } catch (const Error&) {  // there may be room when it is needed
      }
    };
    if constexpr (!makes_columns<P>) room_in(answer_);
    for_each_column<P>(columns_, [&](auto, auto& column) { room_in(column); });
  }

  std::uint64_t answer_size() const { return request_.topology.answer_size(); }

  template <class T>
  Buffer<T> room_for_answer(Buffer<T> made) const {
    if (made.size() == answer_size()) return made;
    return {answer_size(), request_.graph.budget(), "the result"};
  }

  bool leaves_answer() const {
    return request_.options.leave_answer && request_.continuation.leave && !request_.continuation.keep &&
           memory_of_answer_ == ArrayMemory::device;
  }
  /// False if it is to be brought.
  template <class Entry>
  bool leave(Outcome<P>& outcome, DeviceArray<Entry>& entries) {
    outcome.left.emplace_back();
    if (!leaves_answer() || !device().leave(entries.size() * sizeof(Entry))) return false;
    outcome.left.back() = std::make_shared<LeftColumn<Entry>>(session_.shared_device(), std::move(entries));
    return true;
  }

  void deliver_answer(Outcome<P>& outcome) {
    const TraceSpan     span{request_.options.trace, Track::to_host, "answer"};
    const Vertex* const places = rows_.order ? rows_.order->place.data() : nullptr;
    const auto          blocks =
        static_cast<unsigned>(std::clamp<std::uint64_t>(answer_size() / block_threads, 1, 1u << 14));
    if constexpr (makes_columns<P>)
      for_each_column<P>(columns_, [&]<int i, class Entry>(std::integral_constant<int, i>, Buffer<Entry>& column) {
        DeviceArray<Entry> made{device(), answer_size(), "the result", memory_of_answer_};
        if (made.size() > 0)
          SPILLWAY_LAUNCH((make_column<P, i, Entry>), blocks, block_threads, inputs_.program(), values_.data(),
                          places, made.size(), made.data());
        if (leave(outcome, made)) return device().wait();
        column = room_for_answer(std::move(column));
        device().download(column.data(), made.data(), made.size() * sizeof(Entry));
      });
    outcome.columns = std::move(columns_);
    if constexpr (!makes_columns<P> && detail::makes_a_column<Value>)
      if (values_.size() == answer_size() && leave(outcome, values_)) return device().wait();
    if constexpr (!makes_columns<P>) {
      outcome.values = room_for_answer(std::move(answer_));
      device().download(outcome.values.data(), values_.data(), outcome.values.size() * sizeof(Value));
    }
  }

  /// Over the bus, visiting edges again costs more than further iterations: buckets are narrower, unless the width
  /// is the user's. On an H200 sssp on kron24, a quarter of its edges resident, took 116 ms instead of 133.
  double for_edges_elsewhere(double delta) const {
    if constexpr (requires { request_.program.delta; })
      if (request_.program.delta > 0) return delta;
    const bool many         = !has_long_paths(request_.topology.vertices, request_.topology.arcs);
    const bool over_the_bus = rows_.windows != nullptr || rows_.on_host > rows_.resident;
    return many && over_the_bus ? delta / 4 : delta;
  }

  std::unique_ptr<Executor> made(double delta) {
    auto executor = std::make_unique<Executor>(device(), inputs_.program(), request_.topology, options_,
                                               for_edges_elsewhere(delta), request_.max_iterations);
    executor->set_rows(rows_);
    const bool asynchronous = options_.method->transfers && request_.facts.supports_async &&
                              goes_asynchronously(options_, request_.topology.vertices, request_.topology.arcs);
    // From pages or lists in rounds: a bucket would be a pass over them.
    const bool in_rounds = options_.method->streams_pages || options_.method->of_edge_lists;
    if (asynchronous || (in_rounds && T::in_place)) executor->go_on_at_once();
    executor->while_it_computes([this] { make_room_for_answer(); });
    const auto& from = request_.continuation;
    if (from.record) executor->record();
    if (from.replay) executor->replay(*from.replay, rows_.order.get());
    if (!from.resident && from.values.size() == 0) executor->start_afresh();
    return executor;
  }

  /// The frontiers that the run has walked stay where they are.
  void hand_over_record(Schedule& record, const RunStatistics& statistics) {
    std::vector<std::uint64_t> starts{0};
    for (const IterationStatistics& made : statistics.per_iteration)
      starts.push_back(starts.back() + made.active_vertices);
    record.set_resident(
        std::make_shared<KeptFrontiers>(session_.shared_device(), executor_->take_recorded(), rows_.order),
        std::move(starts), request_.topology.vertices);
  }

  Session&                  session_;
  const RunRequest<P>&      request_;
  RunOptions                options_;
  Supply<Rows>              rows_;
  DeviceArray<Value>        values_;  ///< to go on from, and in the end the answer
  DeviceInputs<P>           inputs_;
  RunStatistics             so_far_;  ///< of preparing
  Stopwatch                 clock_;
  EdgesInPlace              in_place_;
  std::unique_ptr<Executor> executor_;
  KeptValues<Value>*        kept_ = nullptr;  ///< what another run left, and this one goes on from
  Buffer<Value>             answer_;          ///< room for it
  Columns<P>                columns_;
  bool                      room_made_        = false;
  ArrayMemory               memory_of_answer_ = ArrayMemory::device;  ///< before it is brought
};

template <class P>
class CudaDevice final : public RunDevice<P> {
  using T = Traits<P>;

 public:
  CudaDevice(const RunRequest<P>& request, double delta)
      : request_(request), delta_(delta), session_(request.graph, request.topology, request.options, needs()) {
    if (lies_elsewhere<ValueOf<P>>(request.continuation, device()))
      copy_to_host(request.continuation, *request.on_host, request.graph);
    device().enter();
  }

  Plan plan() override { return session_.plan(); }

  std::unique_ptr<PreparedRun<P>> prepare() override {
    SuppliedRows    supplied = session_.rows();
    const Stopwatch clock;
    const bool      chunks = supplied.options.method->streams_pages && supplied.options.supply.state_chunks > 1;
    auto            values =
        uploaded(device(), request_.continuation.values, chunks ? ArrayMemory::host : ArrayMemory::device);
    auto inputs = with_room(session_, [&] { return DeviceInputs<P>{device(), request_.program}; });
    inputs.upload(request_.program);
    if (values.size() > 0 || has_inputs<P>) supplied.so_far.transfer_ms += clock.milliseconds();
    return std::visit(
        [&]<class Rows>(Supply<Rows>& rows) -> std::unique_ptr<PreparedRun<P>> {
          return std::make_unique<CudaRun<P, Rows>>(session_, request_, supplied.options, delta_, std::move(rows),
                                                    std::move(values), std::move(inputs), supplied.so_far);
        },
        supplied.rows);
  }

  std::optional<OtherDevice> better_device() override {
    if (!may_use_cpu() || !session_.prefers_cpu()) return std::nullopt;
    return OtherDevice{session_.candidates(), session_.choosing_ms()};
  }

  bool falls_back(const Error& error) override {
    return !request_.continuation.resident && session_.falls_back(error);
  }

 private:
  Device& device() const { return session_.device(); }

  bool may_use_cpu() const {
    const auto&       from    = request_.continuation;
    const RunOptions& options = request_.options;
    const bool        pages   = options.method->streams_pages && options.device.kind.automatic() &&
                       options.supply.pages_in_place != InPlace::on && !options.supply.resident;
    return (leaves_device_open(options) || pages || from.instead) && !from.resident && !from.replay;
  }

  ProgramNeeds needs() const {
    const bool same_bits = request_.options.deterministic && T::order_sensitive;
    return {
        .facts          = request_.facts,
        .program        = typeid(P).name(),
        .form           = same_bits ? RowForm::whole : RowForm::any,
        .prioritised    = Prioritises<P>,
        .may_reorder    = Machine<P, PlainRows>::may_reorder,
        .may_use_cpu    = may_use_cpu(),
        .max_iterations = request_.max_iterations,
        .entry_bytes    = T::in_place ? sizeof(ValueOf<P>) : sizeof(Vertex),
        .answer_bytes   = answer_bytes(),
        .summed_hubs =
            [this] {
              if (!may_sum_hubs<P>(request_.options)) return Vertex{0};
              return most_summed_hubs<P>(device().index(), request_.options, request_.topology.vertices);
            },
        .state_bytes = [this](Method method) { return state_bytes(device(), request_, delta_, method).device; },
        .state_bytes_in_chunks =
            [this](std::uint64_t chunks) {
              return state_bytes(device(), request_, delta_, pages_from_disk(), chunks);
            }};
  }

  std::uint64_t answer_bytes() const {
    if (request_.continuation.keep) return 0;
    std::uint64_t a_vertex = makes_columns<P> ? 0 : sizeof(ValueOf<P>);
    Columns<P>    columns;
    for_each_column<P>(columns, [&]<class Entry>(auto, Buffer<Entry>&) { a_vertex += sizeof(Entry); });
    return request_.topology.answer_size() * a_vertex;
  }

  const RunRequest<P>& request_;
  double               delta_;
  Session              session_;
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
