// The executor of a GPU: state, lists and counters of one run, and the launches that it is made of.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <span>

#include <spillway/engine/cuda/device_trace.hpp>
#include <spillway/engine/cuda/kernels.cuh>
#include <spillway/engine/cuda/launch.cuh>
#include <spillway/engine/cuda/memory.hpp>
#include <spillway/engine/cuda/supply.cuh>
#include <spillway/engine/cuda/windows.cuh>
#include <spillway/engine/stopwatch.hpp>
#include <spillway/error.hpp>

namespace spillway::cuda {

template <class P>
inline constexpr unsigned bytes_of_a_hub = sizeof(typename Traits<P>::Combine::Accumulator) +
                                           sizeof(typename Traits<P>::Message);

/// Whether the options leave hubs' sums to shared memory: they name no other balance, no pushes and no fixed order
/// of summation.
template <class P>
bool may_sum_hubs(const RunOptions& options) {
  return Machine<P, PlainRows>::may_sum_hubs && options.balance.by_bins() && !options.deterministic &&
         options.direction != Direction::push;
}

/// As many as a multiprocessor has shared memory for, or were asked for: whole words of vertices, or all.
template <class P>
Vertex most_summed_hubs(int device, const RunOptions& options, std::uint64_t vertices) {
  if constexpr (!Machine<P, PlainRows>::may_sum_hubs) {
    return 0;
  } else {
    const unsigned room   = room_in_shared(iterate<P, RowsWithHubs>, device) / bytes_of_a_hub<P>;
    const unsigned wanted = std::min(options.cuda.hub_sums.value_or(CudaTuning::usual_hub_sums), room);
    return vertices <= wanted ? static_cast<Vertex>(vertices) : wanted / warp_lanes * warp_lanes;
  }
}

/// A block has 1,024 edges of a row under way, each of which takes some microseconds to come if it is in host
/// memory: a long row would be what all others wait for.
inline EdgeIndex hub_degree_of(const RunOptions& options) {
  constexpr EdgeIndex in_host_memory = 1u << 13;
  const bool          as_usual       = options.cuda.hub_degree == CudaTuning{}.hub_degree;
  return as_usual && options.method->reads_in_place ? in_host_memory : options.cuda.hub_degree;
}

template <class P, class Rows>
class CudaExecutor final : public Executor, public WindowKernels {
  using T       = Traits<P>;
  using Value   = typename T::Value;
  using Machine = cuda::Machine<P, Rows>;

  static constexpr bool takes_windows = std::is_same_v<Rows, PlainRows>;

 public:
  CudaExecutor(Device& device, const P& program, const Topology& topology, const RunOptions& options, double delta,
               std::uint64_t max_iterations)
      : device_(device), n_(topology.vertices), options_(options), view_{.program = program} {
    view_.vertices   = n_;
    const auto& push = topology.push;
    const auto& pull = topology.pull;
    two_sides_       = !push.empty() && !pull.empty() && push.front().rows.targets != pull.front().rows.targets;
    sides_           = std::max({push.size(), pull.size(), std::size_t{1}});
    view_.arcs       = topology.arcs;
    view_.tree       = topology.tree;
    view_.sizes      = {std::clamp<EdgeIndex>(options.cuda.large_degree, 1, longest_row_of_a_warp),
                        std::max<EdgeIndex>(hub_degree_of(options), 1),
                        options.cuda.bin_entries,
                        options.cuda.probes,
                        options.cuda.aggregate,
                        chunk_edges(options),
                        std::max(options.cuda.line_edges, 1u),
                        row_lanes_of(options.balance)};
    if (options.cuda.filter == Filter::batch) view_.sizes.bin_entries = ~0u;  // no bounds
    view_.filter = filter_of(options);
    // Whoever asks for another filter or balance, or for no fusion, compares what is in the papers.
    const bool fuses_buckets = options.balance.by_bins() && options.cuda.filter == Filter::just_in_time &&
                               options.cuda.fusion != Fusion::none;
    view_.sizes.bucket_queue = fuses_buckets ? std::min(options.cuda.bucket_queue, most_kept) : 0;
    if (options.balance.kind == Balance::split)
      split_rows(options.balance.split);
    else if (view_.sizes.row_lanes != 0 && !in_windows())
      view_.sizes.large_degree = longest_row_of_a_warp, view_.sizes.hub_degree = ~EdgeIndex{0};
    // Rows are pulled in an order that does not change; atomic additions are not.
    view_.direction    = options.deterministic && T::order_sensitive ? Direction::pull : options.direction;
    view_.bucket_width = BucketWidth::of(delta);
    // Within a window, rounds cost more than work that is done twice (docs/experiments.md).
    const double wider   = has_long_paths(n_, view_.arcs) ? 64 : 32;
    view_.window_width   = BucketWidth::of(wider * delta);
    view_.max_iterations = max_iterations;
    view_.fixed          = options.deterministic;
    if (takes_windows && options.method->streams_pages && n_ > 0)
      chunks_ = StateChunks{std::max<std::uint64_t>(options.supply.state_chunks, 1), n_};
    if (chunks_.count > 1) {
      const std::uint64_t a_chunk = (n_ + chunks_.count - 1) / chunks_.count;
      chunks_.size                = (a_chunk + warp_lanes - 1) / warp_lanes * warp_lanes;
      chunks_.count               = (n_ + chunks_.size - 1) / chunks_.size;
      view_.direction             = Direction::push;
    }
    view_.sizes.hybrid = uses_hybrid(topology);
    allocate();
  }

  void set_rows(const Supply<Rows>& rows) {
    if (rows.push.size() > std::size(view_.push) || rows.pull.size() > std::size(view_.pull))
      refuse_block("rows in so many parts");
    view_.push_blocks = static_cast<int>(rows.push.size());
    view_.pull_blocks = static_cast<int>(rows.pull.size());
    std::ranges::copy(rows.push, view_.push);
    std::ranges::copy(rows.pull, view_.pull);
    if constexpr (Rows::line_edges > 0)
      view_.on_host =
          std::ranges::any_of(rows.push, &Rows::on_host) || std::ranges::any_of(rows.pull, &Rows::on_host);
    if (rows.order) view_.original = rows.order->original.data();
    if constexpr (Machine::may_sum_hubs)
      rows_are_alike_ = rows.order && rows.push.size() == 1 && rows.pull.size() == 1 && !rows.windows &&
                        rows.push[0].targets == rows.pull[0].targets;
    if (!rows.windows || !rows.windows->may_fuse()) return;
    const auto on_host = static_cast<double>(rows.on_host - rows.resident),
               all     = static_cast<double>(rows.on_host);
    hand_over_         = {.wanted = true,
                          .costs  = TransferCosts{options_.supply.rates.value_or(Rates{}), T::weighted},
                          .share  = on_host / all,
                          .edges  = on_host / static_cast<double>(edge_bytes(T::weighted))};
  }

  /// Whoever has something new is in the next frontier, whatever its bucket; windows keep to buckets of their own.
  void go_on_at_once() { view_.bucket_width = BucketWidth::of(BucketWidth::most); }

  /// What the host does once the first iterations are under way.
  void while_it_computes(std::function<void()> act) { meanwhile_ = std::move(act); }

  /// Frontiers are kept, one behind the other, in the order they came.
  void record() {
    recorded_    = {device_, n_, "the recorded frontiers", memory_of_state()};
    view_.record = recorded_.data();
  }

  /// Frontiers to walk, which lie on the device already or are brought there.
  void replay(const Schedule& schedule, const VertexMap* order) {
    const auto* const kept = dynamic_cast<const KeptFrontiers*>(schedule.resident().get());
    if (kept && kept->order.get() == order) {
      view_.replay = kept->vertices.data();
    } else {
      recorded_    = in_order(schedule, kept, order);
      view_.replay = recorded_.data();
    }
    starts_             = {device_, schedule.starts().size(), "the recorded frontiers"};
    view_.replay_starts = starts_.data();
    view_.replay_levels = schedule.levels();
    starts_.upload(schedule.starts().data());
  }

  /// Recorded frontiers as the rows of this run have their vertices; not null even where there is nothing to walk.
  DeviceArray<Vertex> in_order(const Schedule& schedule, const KeptFrontiers* kept, const VertexMap* order) {
    const auto          what  = "the recorded frontiers";
    const std::uint64_t count = schedule.starts().back();  // what is recorded may have room for more
    DeviceArray<Vertex> vertices{device_, std::max<std::uint64_t>(count, 1), what, memory_of_state()};
    if (kept && kept->order)
      look_up(kept->order->original, kept->vertices, count, vertices);
    else if (kept)
      copy(kept->vertices, count, vertices);
    else
      device_.upload(vertices.data(), schedule.vertices().data(), count * sizeof(Vertex));
    if (!order) return vertices;
    DeviceArray<Vertex> places{device_, std::max<std::uint64_t>(count, 1), what, memory_of_state()};
    look_up(order->place, vertices, count, places);
    return places;
  }

  static void look_up(const DeviceArray<Vertex>& table, const DeviceArray<Vertex>& in, std::uint64_t count,
                      DeviceArray<Vertex>& to) {
    SPILLWAY_LAUNCH(permute, grid_of(count), block_threads, table.data(), in.data(), count, to.data());
  }
  static void copy(const DeviceArray<Vertex>& from, std::uint64_t count, DeviceArray<Vertex>& to) {
    check(cudaMemcpyAsync(to.data(), from.data(), count * sizeof(Vertex), cudaMemcpyDefault, nullptr),
          "reading recorded frontiers");
  }

  /// Goes on from these, which stay where they are until `adopt`.
  void start_from(const DeviceArray<Value>& values) {
    view_.values = view_.receiving = values.data();
    given_                         = true;
  }
  void adopt(DeviceArray<Value> values) { values_ = std::move(values); }

  void start_afresh() {
    values_      = {device_, n_, "the values of the vertices", memory_of_state()};
    view_.values = view_.receiving = values_.data();
  }

  DeviceArray<Vertex> take_recorded() { return std::move(recorded_); }
  DeviceArray<Value>  take_values() { return std::move(values_); }

  FrontierSize start() override {
    prepare();
    cancel_.emplace(device_, options_.progress);
    trace_.emplace(options_.trace);
    SPILLWAY_LAUNCH((cuda::start<P, Rows>), grid_of(n_), block_threads, view_, given_);
    return {.vertices = FrontierSize::uncounted};
  }

  /// One launch of the cooperative kernel, which loops on the device.
  FusedStop run_fused(RunStatistics& statistics) override {
    const auto   kernel = iterate<P, Rows>;
    const Count  quota  = options_.cuda.fusion == Fusion::none ? 1 : a_launch;
    const Launch limits{.iterations     = quota,
                        .stop_on_switch = options_.cuda.fusion == Fusion::push_pull,
                        .hand_over      = hand_over_,
                        .cancel         = cancel_->on_device()};
    trace_->around(Track::kernels, "iterations", nullptr, 0, [&] {
      if (!iterate_around_hubs(limits)) launch_together(kernel, grid_for(kernel), block_threads, view_, limits);
    });
    ++statistics.counters.kernel_launches;
    if (meanwhile_) meanwhile_();
    const bool  cancelled = quota > 1 && cancel_->wait();  // after one iteration the loop looks itself
    const Count before    = at_end_.iterations;
    control_.download(&at_end_);
    const Count made = at_end_.iterations - before;
    append(statistics, made);
    if (*trace_) add_spans(statistics, made);
    if (cancelled) return FusedStop::cancelled;
    if (at_end_.finished) return FusedStop::finished;
    if (at_end_.for_host) return FusedStop::needs_transfer;
    return made < quota ? FusedStop::direction_switch : FusedStop::quota;
  }

  bool begin(Direction, std::uint32_t) override {
    launch({.part = Step::Part::begin});
    control_.download(&at_end_);
    return !at_end_.finished;
  }

  /// Edges that are here all the time are visited by `run_fused`; others come in windows. What was done is counted
  /// on the device.
  BlockWork process(const Block& block) override {
    if (options_.progress) check_cancelled(*options_.progress);
    const auto* const window = std::get_if<WindowBlock>(&block);
    const auto* const list   = std::get_if<EdgeBlock>(&block);
    if (!takes_windows || (window == nullptr && list == nullptr)) refuse_block("rows that are not in a window");
    if (list)
      visit(*list);
    else
      launch({.part = Step::Part::visit, .window = *window});
    return {};
  }

  FrontierSize finish(IterationStatistics& made, BlockWork& work) override {
    const Count before = at_end_.looked_at;
    launch({.part = Step::Part::finish});
    control_.download(&at_end_);
    const IterationStatistics counted = read_log(1).front();
    made.active_vertices              = counted.active_vertices;
    made.direction                    = counted.direction;
    made.balloted                     = counted.balloted;
    work = {.looked_at = at_end_.looked_at - before, .active_edges = counted.active_edges};
    if (*trace_) trace_->flush();
    return {.vertices = at_end_.finished ? 0 : FrontierSize::uncounted};
  }

  bool          converged() const override { return at_end_.finished != 0; }
  std::uint64_t state_bytes() const override { return 0; }  // is measured before (run.cuh)

  void complete(RunStatistics& statistics) override {
    if (view_.filter == Filter::online && at_end_.overflowed)
      throw Error{ExitCode::usage,
                  "the online filter's bins are too small for this frontier; use --filter jit, or raise its size"};
    if (at_end_.again)
      throw Error{
          ExitCode::usage,
          "frontiers are recorded of programs in which a vertex is active once; this one was active again"};
    statistics.edges_processed   = at_end_.looked_at;
    statistics.counters.ballots  = at_end_.ballots;
    statistics.counters.switches = at_end_.switches;
    statistics.counters.kernel_launches += launches_;
    add_visits(statistics.counters);
    statistics.counters.summed_hubs = view_.summed_hubs;
    BalanceTuning balance           = options_.balance;
    if (!Machine::has_balances) balance = {.kind = Balance::bins};
    if (balance.kind == Balance::automatic) balance.kind = view_.sizes.hybrid ? Balance::hybrid : Balance::bins;
    statistics.balance = spillway::name_of(balance);
  }

  LayoutSize lay_out(const Layout& layout) override {
    launch({.part = Step::Part::lay_out, .layout = layout});
    LayoutSize laid{};
    if (layout.parts == nullptr) laid_in_all_.download(&laid);
    return laid;
  }

  ChunkLayout laid() const override { return {entries_.data(), entry_starts_.data(), 0, view_.sizes.chunk_edges}; }

  std::vector<std::uint64_t> changed() const override {
    std::vector<std::uint64_t> bits(changed_.size());
    changed_.download(bits.data());
    return bits;
  }

  std::uint64_t state_chunks() const override { return chunks_.count; }

  void receive(std::uint64_t chunk) override {
    const auto [first, last] = chunks_.chunk(chunk, n_);
    view_.receivers          = {static_cast<Vertex>(first), last - first};
    view_.receiving          = chunk_values_.data() - first;
    copy_state(chunk_values_.data(), view_.values + first, last - first);
    if constexpr (T::gathers) {
      view_.sums = chunk_sums_.data() - first;
      copy_state(chunk_sums_.data(), sums_.data() + first, last - first);
    }
  }

  void received() override {
    const std::uint64_t first = view_.receivers.first, count = view_.receivers.count;
    if constexpr (T::gathers)
      copy_state(sums_.data() + first, chunk_sums_.data(), count);
    else
      copy_state(view_.values + first, chunk_values_.data(), count);
    view_.receivers = {}, view_.receiving = view_.values, view_.sums = sums_.data();
  }

  typename T::Global global() const {
    typename T::Global global{};
    if (at_end_.iterations > 0) global_.download(&global);  // which has none before the first
    return global;
  }

  std::vector<typename T::Global> take_history() { return std::move(totals_of_iterations_); }

 private:
  static constexpr unsigned  most_blocks           = 4096;
  static constexpr EdgeIndex longest_row_of_a_warp = 1u << 26;  // the edges of 32 rows are counted in 32 bits

  /// Lanes to a row. Rows of windows are cut into virtual nodes when they are laid out, each of which has a lane.
  unsigned row_lanes_of(const BalanceTuning& balance) const {
    constexpr std::uint64_t few = 8;  // edges of a row
    switch (balance.kind) {
      case Balance::automatic:
      case Balance::bins:
        return 0;
      case Balance::thread:
      case Balance::split:
        return 1;
      case Balance::warp:
        return std::bit_floor(std::clamp(balance.lanes, 4u, warp_lanes));
      case Balance::hybrid:
        return view_.arcs < few * n_ ? 1 : warp_lanes;
    }
    return 0;
  }

  bool in_windows() const { return options_.method->in_blocks(); }

  void split_rows(const SplitTuning& split) {
    constexpr std::uint64_t most = 1u << 30;
    view_.sizes.split            = static_cast<unsigned>(std::clamp<std::uint64_t>(split.degree_bound, 2, most));
    view_.sizes.coalesced        = split.coalesced;
    view_.sizes.scans            = !split.worklist;
    if (!split.worklist) view_.filter = Filter::ballot;  // frontiers are bitmaps
  }

  std::uint64_t most_nodes() const { return sides_ * n_ + view_.arcs / view_.sizes.split; }

  /// State in chunks rests in host memory; the device has the chunk that receives, and bitmaps.
  ArrayMemory memory_of_state() const { return chunks_.count > 1 ? ArrayMemory::host : ArrayMemory::device; }

  template <class Entry>
  static void copy_state(Entry* to, const Entry* from, std::uint64_t count) {
    check(cudaMemcpyAsync(to, from, count * sizeof(Entry), cudaMemcpyDefault, nullptr), "moving a chunk of state");
  }

  /// Where all are active, and accumulators are more than the cache holds, in passes.
  void visit(const EdgeBlock& list) {
    const Step step{.part = Step::Part::visit_list, .list = list};
    if (list.shared.any()) return launch(step, {.shared_bytes = static_cast<unsigned>(list.shared.block_bytes())});
    const unsigned passes = passes_over(list);
    if (passes <= 1) return launch(step);
    if constexpr (T::gathers) {
      if (!kept_cache_) kept_cache_.emplace(device_);
      const std::uint64_t share = (n_ + passes - 1) / passes;
      const std::uint64_t some  = (share + warp_lanes - 1) / warp_lanes * warp_lanes;
      for (std::uint64_t first = 0; first < n_; first += some) {
        view_.receivers = {static_cast<Vertex>(first), some};
        launch(step, {.kept = kept_cache_->window(view_.sums + first,
                                                  std::min(some, n_ - first) * sizeof(*view_.sums))});
      }
      view_.receivers = {};
    }
  }

  unsigned passes_over(const EdgeBlock& list) {
    if constexpr (T::gathers && T::all_active) {
      if (options_.cuda.edge_passes > 0) return options_.cuda.edge_passes;
      const double ways = list.along.forward && list.along.backward ? 2 : 1;
      return passes_over_edges(static_cast<double>(list.bytes()), ways * static_cast<double>(list.edges.count),
                               static_cast<double>(n_ * sizeof(*view_.sums)),
                               static_cast<double>(KeptCache::bytes_of(device_)),
                               options_.supply.rates.value_or(Rates{}));
    }
    return 1;
  }

  template <class Kernel>
  unsigned grid_that_fits(Kernel kernel, int most, unsigned shared_bytes = 0,
                          unsigned threads = block_threads) const {
    int fit = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, shared_bytes), "sizing the grid");
    const int blocks = std::min(fit, options_.cuda.blocks > 0 ? options_.cuda.blocks : most);
    return std::min<unsigned>(
        static_cast<unsigned>(blocks * attribute_of(device_.index(), cudaDevAttrMultiProcessorCount)),
        most_blocks);
  }

  // --- hubs, whose sums meet in shared memory (hub_sums.cuh) ---

  /// False if they are pulled like others.
  bool iterate_around_hubs(const Launch& limits) {
    if constexpr (Machine::may_sum_hubs) {
      if (view_.summed_hubs == 0) return false;
      const auto        kernel = iterate<P, RowsWithHubs>;
      const LaunchNeeds needs{.shared_bytes = view_.summed_hubs * bytes_of_a_hub<P>};
      if (grid_ == 0) {
        reserve_shared(kernel, needs.shared_bytes, device_.index());
        grid_ = grid_that_fits(kernel, 1, needs.shared_bytes, hub_block_threads);
      }
      launch_together(needs, kernel, grid_, hub_block_threads, std::bit_cast<View<P, RowsWithHubs>>(view_),
                      limits);
      return true;
    }
    return false;
  }

  void choose_hubs() {
    if constexpr (Machine::may_sum_hubs) {
      const Vertex hubs = may_sum_hubs<P>(options_) && rows_are_alike_ && !view_.on_host
                              ? most_summed_hubs<P>(device_.index(), options_, n_)
                              : 0;
      if (hubs == 0) return;
      DeviceArray<HubRows> found{device_, 1, "counters"};
      SPILLWAY_LAUNCH((find_hub_rows<Rows>), 1, warp_lanes, view_.pull[0], n_, hubs, EdgeIndex{Machine::group_row},
                      found.data());
      HubRows rows{};
      found.download(&rows);
      const double enough = CudaTuning::least_hub_share * static_cast<double>(view_.arcs);
      if (!options_.cuda.hub_sums && static_cast<double>(rows.edges) < enough) return;
      view_.summed_hubs = hubs, view_.warp_rows = rows.warp_rows;
      view_.long_row_count = 0, view_.sizes.large_degree = longest_row_of_a_warp;  // no row is for a block
    }
  }

  template <class Kernel>
  unsigned grid_for(Kernel kernel) {
    if (grid_ == 0) grid_ = grid_that_fits(kernel, usual_blocks());
    return grid_;
  }

  /// A part of an iteration, between which the host brings edges.
  void launch(const Step& step, const LaunchNeeds& needs = {}) {
    if constexpr (takes_windows) {
      const auto kernel = work_in_windows<P>;
      unsigned&  grid   = needs.shared_bytes > 0 ? block_grid_ : window_grid_;
      if (grid == 0) grid = grid_that_fits(kernel, usual_blocks(), needs.shared_bytes);
      trace_->around(Track::kernels, name_of(step.part), nullptr, 0, [&] {
        launch_together(needs, kernel, grid, block_threads, std::bit_cast<View<P, OrderedRows>>(view_), step);
      });
      ++launches_;
    }
  }

  static const char* name_of(typename Step::Part part) {
    switch (part) {
      case Step::Part::begin:
        return "begin";
      case Step::Part::visit:
      case Step::Part::visit_list:
        return "visit";
      case Step::Part::finish:
        return "finish";
      case Step::Part::lay_out:
        return "lay out";
    }
    return "";
  }

  /// The last iterations, one behind the other inside their launch.
  void add_spans(const RunStatistics& statistics, std::uint64_t made) {
    double at = trace_->flush();
    for (std::uint64_t i = statistics.per_iteration.size() - made; i < statistics.per_iteration.size(); ++i) {
      const IterationStatistics& iteration = statistics.per_iteration[i];
      trace_->trace()->add({Track::kernels, iteration.direction == Direction::pull ? "pull" : "push", at,
                            at + iteration.milliseconds});
      at += iteration.milliseconds;
    }
  }

  static constexpr Count a_launch = 4096;

  /// Rows of pages that are pushed take a lane or a warp each: looking for the owner of each edge among a warp's
  /// rows costs a quarter more (docs/performance.md). Pulled ones do not look.
  bool uses_hybrid(const Topology& topology) const {
    if (options_.balance.kind != Balance::automatic) return options_.balance.kind == Balance::hybrid;
    const bool pushes = !T::all_active || topology.pull.empty() || view_.direction == Direction::push;
    return takes_windows && pushes && options_.method->streams_pages;
  }

  /// With few neighbours (roads) frontiers are small and levels many: fewer threads meet at a barrier sooner.
  /// Measured on an H200 with a grid of 4 M vertices: 26, 28, 36 ms for a search with 1, 2, 4; later 28.3 and 30.2
  /// with 1 and 2, 111 and 117 for centralities; widest paths 43 and 45 with 1 and 4. Labels alone, most of which
  /// are active for long, took 733 and 537.
  /// Of a list every edge is looked at, however few vertices are active.
  int usual_blocks() const {
    return !T::all_active && has_long_paths(n_, view_.arcs) && !options_.method->of_edge_lists ? 1 : 64;
  }

  static unsigned grid_of(std::uint64_t threads) {
    return static_cast<unsigned>(
        std::clamp<std::uint64_t>((threads + block_threads - 1) / block_threads, 1, 8192));
  }

  void allocate() {
    const std::uint64_t words = (n_ + warp_lanes - 1) / warp_lanes;
    const ArrayMemory   state = memory_of_state();
    if (chunks_.count > 1) {
      chunk_values_ = {device_, chunks_.size, "a chunk of the state"};
      if constexpr (T::gathers) chunk_sums_ = {device_, chunks_.size, "a chunk of the state"};
    }
    if constexpr (Machine::stores_messages) messages_ = {device_, n_, "the messages of the vertices", state};
    if constexpr (Machine::publishes_ahead)
      if (view_.direction != Direction::push && view_.sizes.split == 0 && !in_windows())
        messages_ahead_ = {device_, n_, "the messages of the vertices"};
    if (options_.balance.split.array) allocate_nodes();
    if constexpr (T::gathers) sums_ = {device_, n_, "the updates of the vertices", state};
    if constexpr (Machine::tracks_open) open_ = {device_, words, "the open vertices"};
    if constexpr (Machine::prioritised) waiting_ = {device_, words, "the waiting vertices"};
    if constexpr (Machine::settles) settled_ = {device_, words, "the settled vertices"};
    if constexpr (!T::all_active) {
      const std::uint64_t large = std::min(n_, view_.arcs / view_.sizes.large_degree + 1);
      const std::uint64_t hubs  = std::min(n_, view_.arcs / view_.sizes.hub_degree + 1);
      bits_                     = {device_, 3 * words, "the active vertices"};
      lists_                    = {device_, 2 * (n_ + large + hubs), "the active vertices", state};
      listed_                   = {device_, most_blocks, "counters"};
      view_.listed              = listed_.data();
      if (view_.filter == Filter::batch) batch_ = {device_, view_.arcs, "the batch filter's entries"};
      if constexpr (T::gathers) touched_ = {device_, n_, "the vertices with updates", state};
      for (int i = 0; i < 3; ++i) view_.bits[i] = bits_.data() + i * words;
      for (int i = 0; i < 2; ++i) {
        view_.small[i] = lists_.data() + i * (n_ + large + hubs);
        view_.large[i] = view_.small[i] + n_;
        view_.hubs[i]  = view_.large[i] + large;
      }
    }
    if (options_.method->of_edge_lists) {
      rounds_ = {device_, 3, "counters"}, view_.rounds = rounds_.data();
      if constexpr (Machine::runs_lists_to_fixed_point)
        changed_ = {device_, (n_ + 63) / 64, "vertices that have changed"};
      view_.changed = reinterpret_cast<Word*>(changed_.data());
    } else if (options_.method->in_blocks()) {
      // As many as rows can be cut into at most.
      const std::uint64_t chunks = n_ + view_.arcs / view_.sizes.chunk_edges;
      entries_                   = {device_, chunks, "the chunks of rows", state};
      entry_starts_              = {device_, chunks + 1, "the chunks of rows", state};
      laid_                      = {device_, std::uint64_t{most_blocks} * block_warps, "counters"};
      laid_in_all_               = {device_, 1, "counters"};
      rounds_                    = {device_, 3, "counters"};
      view_.entries = entries_.data(), view_.starts = entry_starts_.data();
      view_.laid = laid_.data(), view_.laid_in_all = laid_in_all_.data(), view_.rounds = rounds_.data();
    }
    long_rows_ = {device_, std::min(n_, view_.arcs / view_.sizes.large_degree + 1), "the long rows", state};
    iteration_counters_ = {device_, 3, "counters"};
    control_            = {device_, 1, "counters"};
    visit_counters_     = {device_, 1, "counters"};
    count_              = {device_, 1, "counters"};
    log_                = {device_, a_launch, "the log of iterations"};
    global_             = {device_, 1, "totals"};
    if constexpr (T::has_global) {
      totals_  = {device_, 6 * std::uint64_t{most_blocks}, "totals"};
      history_ = {device_, a_launch, "totals"};
    }
    view_.messages = messages_.data(), view_.messages_ahead = messages_ahead_.data(), view_.sums = sums_.data();
    view_.open = open_.data(), view_.waiting = waiting_.data(), view_.settled = settled_.data(),
    view_.touched   = touched_.data();
    view_.batch     = batch_.data();
    view_.long_rows = long_rows_.data(), view_.iteration_counters = iteration_counters_.data(),
    view_.control        = control_.data();
    view_.visit_counters = visit_counters_.data();
    view_.totals = totals_.data(), view_.global = global_.data(), view_.log = log_.data();
    view_.history = history_.data();
  }

  void prepare() {
    IterationCounters iteration_counters[3] = {};
    for (IterationCounters& counters : iteration_counters) counters.lowest = ~Count{0};
    iteration_counters_.upload(iteration_counters);
    control_.clear();
    visit_counters_.clear();
    count_.clear();
    settled_.clear();
    changed_.clear();
    const LocalRound rounds[3] = {{{}, ~Count{0}}, {{}, ~Count{0}}, {{}, ~Count{0}}};
    if (rounds_.size() > 0) rounds_.upload(rounds);
    view_.long_row_count = 0;
    if (options_.balance.split.array)
      make_node_arrays();
    else
      find_long_rows();
    choose_hubs();
  }

  void find_long_rows() {
    const bool pushed = view_.pull_blocks == 0 || view_.direction == Direction::push;
    const bool wants  = pushed ? T::all_active && view_.sizes.split != 0 : !T::voting || view_.sizes.split != 0;
    if (!wants) return;
    SPILLWAY_LAUNCH((find_large<P, Rows>), grid_of(n_), block_threads, view_, pushed, long_rows_.data(),
                    count_.data());
    count_.download(&view_.long_row_count);
    if (view_.fixed) sort_long_rows();
  }

  struct NodeMemory {
    DeviceArray<VirtualNode> nodes;
    DeviceArray<Count>       first;
  };

  /// Of rows that are pushed and of those that are pulled, where these are others.
  void allocate_nodes() {
    const auto what = "the virtual nodes";
    for (NodeMemory& side : std::span{node_memory_}.first(two_sides_ ? 2 : 1))
      side = {{device_, most_nodes(), what}, {device_, sides_ * n_, what}};
    if constexpr (!T::all_active)
      if (options_.balance.split.worklist) listed_nodes_ = {device_, most_nodes(), what};
  }

  void make_node_arrays() {
    if (view_.push_blocks > 2 || view_.pull_blocks > 2 || !std::is_same_v<Rows, PlainRows>)
      throw Error{
          ExitCode::usage,
          "an array of virtual nodes is of rows that are all on the device; use --method frontier, or leave "
          "out --split-mapping array"};
    if constexpr (std::is_same_v<Rows, PlainRows>) {
      const bool pushed = view_.push_blocks > 0, pulled = view_.pull_blocks > 0;
      if (pushed)
        view_.push_nodes = node_array({view_.push, static_cast<std::size_t>(view_.push_blocks)}, node_memory_[0]);
      if (pulled && pushed && !two_sides_)
        view_.pull_nodes = view_.push_nodes;
      else if (pulled)
        view_.pull_nodes =
            node_array({view_.pull, static_cast<std::size_t>(view_.pull_blocks)}, node_memory_[pushed ? 1 : 0]);
      view_.listed_nodes = listed_nodes_.data();
    }
  }

  NodeArray node_array(std::span<const Rows> blocks, NodeMemory& memory) {
    DeviceArray<Count> count{device_, 1, "counters"};
    count.clear();
    NodeArray array{.nodes = memory.nodes.data(), .first = memory.first.data()};
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      SPILLWAY_LAUNCH((make_nodes<P, Rows>), grid_of(n_), block_threads, view_, blocks[b], memory.nodes.data(),
                      memory.first.data() + b * n_, count.data());
      count.download(&array.count);
      if (b == 0) array.in_first = array.count;
    }
    return array;
  }

  /// Threads have found them in any order; who adds up what is not to depend on it.
  void sort_long_rows() {
    std::vector<Vertex> rows(view_.long_row_count);
    device_.download(rows.data(), long_rows_.data(), rows.size() * sizeof(Vertex));
    std::ranges::sort(rows);
    device_.upload(long_rows_.data(), rows.data(), rows.size() * sizeof(Vertex));
    device_.wait();
  }

  void add_visits(RunCounters& counters) const {
    VisitCounters visit_counters{};
    visit_counters_.download(&visit_counters);
    counters.overflows  = visit_counters.overflows;
    counters.batched    = visit_counters.batched;
    counters.small_rows = visit_counters.small_rows;
    counters.large_rows = visit_counters.large_rows;
    counters.hub_rows   = visit_counters.hub_rows;
    counters.long_pulls = visit_counters.long_pulls;
    counters.settled    = visit_counters.settled;

    counters.local_rounds  = visit_counters.local_rounds;
    counters.fused_rounds  = visit_counters.fused_rounds;
    counters.virtual_nodes = visit_counters.virtual_nodes;
  }

  /// The last iterations, as the device has noted them.
  std::vector<IterationStatistics> read_log(std::uint64_t made) {
    std::vector<IterationLog> log(made);
    device_.download(log.data(), log_.data(), made * sizeof(IterationLog));
    std::vector<IterationStatistics> all;
    for (const IterationLog& entry : log)
      all.push_back({.active_vertices = entry.vertices,
                     .active_edges    = entry.edges,
                     .edges_processed = entry.looked_at,
                     .direction       = entry.pulled ? Direction::pull : Direction::push,
                     .milliseconds    = static_cast<double>(entry.nanoseconds) / 1e6,
                     .balloted        = entry.ballot != 0,
                     .transfer        = hand_over_.wanted ? "in place" : "",
                     .predicted_ms    = predicted_ms(entry)});
    if constexpr (T::has_global) {
      const std::size_t so_far = totals_of_iterations_.size();
      totals_of_iterations_.resize(so_far + made);
      device_.download(totals_of_iterations_.data() + so_far, history_.data(), made * sizeof(typename T::Global));
    }
    return all;
  }

  void append(RunStatistics& statistics, std::uint64_t made) {
    for (const IterationStatistics& iteration : read_log(made)) statistics.per_iteration.push_back(iteration);
    statistics.iterations += made;
  }

  /// Of an iteration that reads edges in place, if it pushes: how many a pull reads is not known before.
  double predicted_ms(const IterationLog& entry) const {
    if (!hand_over_.wanted || entry.pulled) return 0;
    const double share = hand_over_.share;
    return 1e3 * hand_over_.costs.read(static_cast<double>(entry.edges) * share,
                                       static_cast<double>(entry.vertices) * share);
  }

  /// In windows frontiers are bitmaps; what the others do between them is as good as any, if it cannot fail.
  static Filter filter_of(const RunOptions& options) {
    if (options.method->transfers && options.method->reads_in_place)
      return options.cuda.filter == Filter::ballot ? Filter::ballot : Filter::just_in_time;
    return options.method->in_blocks() ? Filter::ballot : options.cuda.filter;
  }

  Device&           device_;
  std::uint64_t     n_;
  const RunOptions& options_;
  View<P, Rows>     view_;
  bool              given_ = false;  ///< first values
  HandOver          hand_over_;

  std::optional<Cancellation> cancel_;
  std::optional<DeviceTrace>  trace_;
  Control                     at_end_{};  ///< of the last launch
  unsigned                    grid_ = 0, window_grid_ = 0, block_grid_ = 0;
  std::optional<KeptCache>    kept_cache_;    ///< of programs that pass over lists of edges
  std::uint64_t               launches_ = 0;  ///< of parts of iterations
  std::function<void()>       meanwhile_;

  StateChunks                                   chunks_;
  DeviceArray<Value>                            values_, chunk_values_;
  DeviceArray<typename T::Message>              messages_, messages_ahead_;
  DeviceArray<typename T::Combine::Accumulator> sums_, chunk_sums_;
  DeviceArray<Word>                             open_, waiting_, settled_, bits_;
  DeviceArray<Vertex>                           lists_, touched_, batch_, long_rows_, recorded_;
  NodeMemory                                    node_memory_[2];
  DeviceArray<Count>                            listed_nodes_;
  bool                           two_sides_      = false;  ///< rows to pull are others than those to push
  bool                           rows_are_alike_ = false;  ///< in both directions, on the device, hubs first
  std::uint64_t                  sides_          = 1;      ///< blocks of rows that are pushed, or pulled
  DeviceArray<std::uint64_t>     starts_;
  DeviceArray<IterationCounters> iteration_counters_;
  DeviceArray<Control>           control_;
  DeviceArray<VisitCounters>     visit_counters_;
  DeviceArray<unsigned>          count_;
  DeviceArray<LocalRound>        rounds_;
  DeviceArray<std::uint64_t>     changed_;
  DeviceArray<ChunkDescriptor>   entries_;
  DeviceArray<EdgeIndex>         entry_starts_;
  DeviceArray<IterationCounters::Lists> listed_;
  DeviceArray<LayoutSize>               laid_, laid_in_all_;
  DeviceArray<IterationLog>             log_;
  DeviceArray<typename T::Global>       global_, totals_, history_;
  std::vector<typename T::Global>       totals_of_iterations_;
};

}  // namespace spillway::cuda
