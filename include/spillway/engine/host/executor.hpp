// The executor of the CPU: push over a list of active vertices, pull over rows of receivers, buckets for programs
// with a priority. Everything is allocated before the first iteration (buckets grow by whole slabs when they
// must). Here are its state and the order of its steps; their bodies are in frontier.hpp (lists and bitmaps),
// push.hpp, pull.hpp, nodes.hpp (split rows), edges.hpp (no rows), pages.hpp (rows from disk), bins.hpp (their
// updates, waiting), apply.hpp (publishing and applying), process_buckets.hpp, exchange.hpp (several executors of
// one run) and checkpoint.hpp (state to and from files).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>

#include <spillway/engine/executor.hpp>
#include <spillway/engine/host/bins.hpp>
#include <spillway/engine/host/bitmap.hpp>
#include <spillway/engine/host/buckets.hpp>
#include <spillway/engine/host/node_groups.hpp>
#include <spillway/engine/host/vertex_list.hpp>
#include <spillway/engine/operations.hpp>
#include <spillway/engine/outcome.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/search.hpp>
#include <spillway/engine/transfer.hpp>
#include <spillway/engine/virtual_nodes.hpp>
#include <spillway/error.hpp>

namespace spillway::host {

/// What a run may be given besides the program.
template <class Value>
struct HostInput {
  Buffer<Value>   values = {};       ///< those of a program before; none: `init`
  const Schedule* replay = nullptr;  ///< frontiers to walk backwards, instead of those that `apply` makes
  Schedule*       record = nullptr;  ///< where to keep the frontiers
  double          delta  = 1;        ///< width of a bucket
  StateChunks     chunks = {};       ///< of state that does not fit memory; pages are pushed then
};

/// `bucketed`: vertices wait in the order of their priority; otherwise they go on in rounds.
template <class P, bool bucketed = Prioritises<P>>
class HostExecutor final : public CpuExecutor {
  using T           = Traits<P>;
  using Value       = typename T::Value;
  using Update      = typename T::Update;
  using Message     = typename T::Message;
  using Weight      = typename T::Weight;
  using Global      = typename T::Global;
  using Combine     = typename T::Combine;
  using Accumulator = typename Combine::Accumulator;

  static constexpr bool prioritised     = bucketed;
  static constexpr bool in_buckets      = prioritised && T::in_place;  ///< settled without rounds
  static constexpr bool has_frontier    = !T::all_active && !in_buckets;
  static constexpr bool tracks_open     = T::voting || Opens<P>;
  static constexpr bool stores_messages = !T::no_message && !T::live_messages;
  static constexpr bool may_sweep =
      T::all_active && stores_messages && !tracks_open && sizeof(Message) <= sizeof(double) && PublishesConst<P>;

 public:
  HostExecutor(const P& program, const Graph& graph, const Topology& topology, const RunOptions& options,
               HostInput<Value> input)
      : program_(program),
        topology_(topology),
        n_(topology.vertices),
        threads_(thread_count(options.threads)),
        tuning_(options.tuning),
        node_edges_(node_edges_of(options)),
        progress_(options.progress ? *options.progress : Progress::none()),
        budget_(graph.budget()),
        chunks_(input.chunks),
        state_bytes_(chunks_.on_disk() ? bytes_on_disk(topology) : state_bytes_of(topology, options)),
        input_(std::move(input)),
        values_(std::move(input_.values)),
        locals_(static_cast<std::size_t>(threads_)) {
    const auto& budget   = budget_;
    bucket_width_        = BucketWidth::of(input_.delta);
    tuning_.vertex_grain = Bitmap::word_count(tuning_.vertex_grain) * Bitmap::bits;
    if (chunks_.on_disk()) tuning_.vertex_grain = std::gcd(tuning_.vertex_grain, chunks_.size);
    const bool has_values = values_.size() == n_;
    if (chunks_.on_disk())
      at_hand_.raise_to(2 * chunks_.size * chunks_.a_vertex);  // what sends and what receives
    else
      budget->expect(state_bytes() - (has_values ? n_ * sizeof(Value) : 0), "the state of the vertices");
    given_ = values_.size() == n_ && n_ > 0;
    if (!given_) values_ = state<Value>("the values of the vertices");
    if constexpr (stores_messages) messages_ = state<Message>("the messages of the vertices");
    if (sweeps()) next_messages_ = state<Message>("the messages of the vertices");
    if constexpr (T::gathers) {
      if (needs_accumulators(topology, options)) accumulators_ = state<Accumulator>("the updates of the vertices");
    }
    if constexpr (has_frontier)
      if (deals_lists(options)) make_room_for_work(blocks_of(n_, tuning_.push_grain));
    if constexpr (tracks_open) open_ = {n_, budget, "the open vertices"};
    if constexpr (prioritised) buckets_.emplace(threads_, budget);
    if constexpr (prioritised && !in_buckets)
      if (options.method->streams_pages) buckets_->reserve(n_);  // pages take what is left
    if constexpr (in_buckets) settled_ = {n_, budget, "the settled vertices"};
    if constexpr (prioritised) waiting_ = {n_, budget, "the waiting vertices"};
    if constexpr (has_frontier) {
      active_ = {n_, budget, "the active vertices"};
      next_   = {n_, budget, "the active vertices"};
      if (lists()) {
        front_ = VertexList{state<Vertex>("the active vertices")};
        back_  = VertexList{state<Vertex>("the active vertices")};
      }
    }
    if constexpr (T::gathers)
      if (accumulators_.size() > 0 && may_push(topology, options))
        bins_ = {threads_, std::min(n_, chunks_.size), tuning_,
                 room_for_bins(topology, T::weighted, options, *budget), budget};
    if (!topology.pull.empty())
      for (const RowBlock& block : topology.pull) pull_tasks_.push_back(cut(block));
  }

  FrontierSize start() override {
    for_vertices([&](Vertex first, Vertex last, Local& local) { start_range(first, last, local); });
    frontier_  = collect();
    is_bitmap_ = true;
    is_list_   = false;
    if constexpr (!tracks_open) frontier_.open_vertices = n_;
    if constexpr (!tracks_open || T::voting)
      frontier_.open_edges = topology_.arcs - (T::voting ? frontier_.edges : 0);
    if constexpr (has_frontier) {
      if (input_.record) input_.record->reserve(n_, budget_);
      if (input_.replay) return replay_next();
    }
    if constexpr (prioritised) return next_bucket();
    return frontier_;
  }

  bool begin(Direction direction, std::uint32_t iteration) override {
    direction_   = direction;
    iteration_   = iteration;
    total_       = Global{};
    blocks_done_ = 0;
    back_.clear();
    if constexpr (has_frontier && !prioritised)
      if (input_.record) record();
    if constexpr (!T::all_active && !in_buckets) {
      if (direction == Direction::push && lists())
        make_list();
      else
        make_bitmap();
    }
    if (published_ahead_)
      total_ = ahead_;
    else if constexpr (stores_messages || Publishes<P>)
      publish_all();
    published_ahead_ = false;
    global_          = total_;
    return true;
  }

  BlockWork process(const Block& block) override {
    return std::visit([&](const auto& some) { return visit(some); }, block);
  }

  std::span<const Vertex> active() override {
    if constexpr (has_frontier) return front_.span();
    return {};
  }

  std::optional<FrontierSize> exchange_state(StateExchange& with) override;

  bool                           wants_rows(Vertex first, Vertex last) override;
  std::span<const std::uint64_t> changed() const override { return {changed_.data(), changed_.size()}; }
  StateChunks                    chunks() const override { return chunks_; }
  void                           evict(VertexRange vertices) override;
  Accumulated                    accumulated() const override;
  void                           merge(const Accumulated& other) override;
  void                           adopt(const Accumulated& merged) override;

  std::uint64_t state_bytes() const override { return state_bytes_; }

  static std::uint64_t state_bytes_of(const Topology& topology, const RunOptions& options) {
    const std::uint64_t n        = topology.vertices;
    std::uint64_t       a_vertex = sizeof(Value);
    if constexpr (stores_messages) a_vertex += sizeof(Message) * (sweeps(topology) ? 2 : 1);
    if constexpr (T::gathers)
      if (needs_accumulators(topology, options)) a_vertex += sizeof(Accumulator);
    if constexpr (in_buckets) a_vertex += sizeof(Value);
    if constexpr (has_frontier) a_vertex += 2 * sizeof(Vertex);
    std::uint64_t bytes =
        n * a_vertex + n / 8 * ((tracks_open ? 1 : 0) + (prioritised ? 1 : 0) + (has_frontier ? 2 : 0));
    if constexpr (prioritised && !in_buckets)
      if (options.method->streams_pages) bytes += Buckets::bytes_for(n, thread_count(options.threads));
    if (runs_lists_to_fixed_point && options.method->of_edge_lists) bytes += n / 8;
    if constexpr (has_frontier)
      if (deals_lists(options)) bytes += bytes_of_work(blocks_of(n, options.tuning.push_grain));
    return bytes;
  }

  /// Where it does not fit memory: edges are pushed then, and bitmaps stay in memory.
  static StateSizes sizes_of(const Topology& topology, const RunOptions& options,
                             const Continuation<Value>& from) {
    const std::uint64_t n       = topology.vertices;
    const int           bitmaps = (tracks_open ? 1 : 0) + (has_frontier ? 2 : 0);
    return {.vertices   = n,
            .in_memory  = state_bytes_of(topology, options),
            .a_vertex   = n > 0 ? bytes_on_disk(topology) / n : 0,
            .at_hand    = Bitmap::word_count(n) * sizeof(std::uint64_t) * static_cast<unsigned>(bitmaps),
            .given      = from.values.size() * sizeof(Value),
            .can_be_cut = !prioritised && !topology.push.empty()};
  }

  FrontierSize finish(IterationStatistics&, BlockWork&) override {
    if constexpr (T::all_active) {
      if (direction_ == Direction::push || pull_tasks_.size() > 1) apply_everywhere();
      frontier_ = any_active() ? FrontierSize{n_, topology_.arcs, n_, topology_.arcs} : FrontierSize{};
      end_totals();
      return frontier_;
    } else if constexpr (in_buckets) {
      recycle_bucket();
      return next_bucket();
    } else {
      if constexpr (T::gathers)
        apply_gathered();
      else if (direction_ == Direction::push && lists())
        end_push();
      else
        end_pull();
      end_totals();
      if (input_.replay) return replay_next();
      if constexpr (prioritised) return next_bucket();
      return frontier_;
    }
  }

  bool converged() const override {
    if constexpr (Converges<P>) return program_.converged(total_);
    return false;
  }

  Buffer<Value> take_values() { return std::move(values_); }
  const Global& global() const { return total_; }

  void complete(RunStatistics& statistics) override {
    RunCounters counters = counters_;
    for (const Local& local : locals_)
      counters.fused_bins += local.fused_bins, counters.full_bins += local.full_bins,
          counters.virtual_nodes += local.nodes;
    if constexpr (prioritised) counters.bucket_moves = buckets_->moves();
    statistics.counters += counters;
    statistics.balance =
        name_of({.kind = splits() ? Balance::split : Balance::bins, .split = {.degree_bound = node_edges_}});
  }

  /// The Global of every iteration.
  std::vector<Global> take_history() { return std::move(history_); }

 private:
  /// What is counted while vertices and edges are visited. Loops over rows count in one of their own, which stays
  /// in registers, and add it up at the end.
  struct Counts {
    std::uint64_t vertices = 0, edges = 0;                ///< made active
    std::uint64_t open_vertices = 0, open_edges = 0;      ///< found open at the start
    std::uint64_t closed_vertices = 0, closed_edges = 0;  ///< closed since
    std::uint64_t looked_at    = 0;
    std::uint64_t active_edges = 0;
    Global        total{};

    void operator+=(const Counts& other) {
      vertices += other.vertices, edges += other.edges;
      closed_vertices += other.closed_vertices, closed_edges += other.closed_edges;
      looked_at += other.looked_at, active_edges += other.active_edges;
      total += other.total;
    }

    /// What `edges` of a newly active vertex are, about: where its degree would cost a miss, the first few
    /// thousand are asked and one of `sampling` after that. Only the choice of a direction depends on it.
    template <class DegreeOf>
    EdgeIndex sampled(DegreeOf&& degree_of) const {
      if (vertices < exactly) return degree_of();
      return vertices % sampling == 0 ? degree_of() * sampling : 0;
    }
    static constexpr std::uint64_t exactly = 4096, sampling = 16;
  };

  /// What one thread writes without asking anybody.
  struct alignas(128) Local : Counts {
    ListWriter    next;
    std::uint64_t taken      = 0;  ///< of its share of the list, by anyone
    std::uint64_t nodes      = 0;  ///< virtual nodes that it visited
    std::uint64_t fused_bins = 0, full_bins = 0;
  };

  // --- blocks ---

  BlockWork visit(const RowBlock& block) {
    if (block.first != 0 || block.last != n_) refuse_block("some of the rows");
    if (direction_ == Direction::pull && blocks_done_ >= pull_tasks_.size())
      refuse_block("more rows than there are");
    if constexpr (in_buckets) {
      process_bucket(block);
    } else if (direction_ == Direction::push) {
      push(block);
    } else if (splits()) {
      pull_nodes(block);
    } else if (sweeps()) {
      if constexpr (may_sweep) sweep(block, pull_tasks_[blocks_done_]);
    } else {
      pull(block, pull_tasks_[blocks_done_]);
    }
    ++blocks_done_;
    BlockWork work = take_work();
    if (T::all_active) work.active_edges = topology_.arcs / std::max<std::size_t>(pull_tasks_.size(), 1);
    return work;
  }

  BlockWork visit(const ChunkBlock& block) {
    if constexpr (in_buckets)
      refuse_block("chunks of rows");
    else if (splits())
      push_nodes(block.rows, block.chunks.size(), [&](std::uint64_t i) { return block.chunks[i]; });
    else
      push_chunks(block.rows, block.chunks.size(), [&](std::uint64_t i) { return block.chunks[i]; });
    return take_work();
  }

  BlockWork visit(const WindowBlock& block) {
    if constexpr (in_buckets)
      refuse_block("a window");
    else if (block.pull)
      refuse_block("a window to be pulled");
    else
      push_window(block);
    return take_work();
  }

  BlockWork visit(const PagedBlock& block) {
    if constexpr (in_buckets) {
      refuse_block("pages");
    } else {
      if (direction_ == Direction::push)
        push_pages(*block.feed, block.targets);
      else if (sweeps()) {
        if constexpr (may_sweep) sweep_pages(*block.feed);
      } else
        pull_pages(*block.feed);
      ++blocks_done_;
    }
    BlockWork work = take_work();
    if (direction_ == Direction::pull) work.active_edges = T::all_active ? work.looked_at : frontier_.edges;
    return work;
  }

  BlockWork visit(const EdgeBlock& block);

  // --- state ---

  static bool needs_accumulators(const Topology& topology, const RunOptions& options) {
    const bool may_push = options.direction == Direction::push || options.method->transfers ||
                          options.device.kind->of_cpu_executors || !T::all_active;
    return topology.pull.empty() || topology.pull.size() > 1 || (!topology.push.empty() && may_push);
  }

  bool may_push(const Topology& topology, const RunOptions& options) const {
    if (topology.pull.empty() || chunks_.on_disk() || options.direction == Direction::push) return true;
    return !T::all_active && options.direction != Direction::pull;
  }

  static std::uint64_t bytes_on_disk(const Topology& topology) {
    return topology.vertices *
           (sizeof(Value) + (stores_messages ? sizeof(Message) : 0) + (T::gathers ? sizeof(Accumulator) : 0));
  }

  template <class Entry>
  Buffer<Entry> state(std::string_view what) const {
    return chunks_.on_disk() ? Buffer<Entry>::on_disk(n_, *budget_, what) : Buffer<Entry>{n_, budget_, what};
  }

  /// Frontiers are lists as well as bitmaps. Of state on disk they are bitmaps alone, so that a chunk is gone
  /// through after the other.
  bool lists() const { return !chunks_.on_disk(); }

  /// What threads have counted of the edges that they visited.
  BlockWork take_work() {
    BlockWork work;
    for (Local& local : locals_) {
      work.looked_at += std::exchange(local.looked_at, 0);
      work.active_edges += std::exchange(local.active_edges, 0);
    }
    if (direction_ == Direction::push) work.active_edges = work.looked_at;
    return work;
  }

  /// One block of rows, everyone active: a vertex can publish for the next iteration as soon as it is applied to.
  static bool sweeps(const Topology& topology) { return may_sweep && topology.pull.size() == 1; }
  bool        sweeps() const { return sweeps(topology_) && !chunks_.on_disk(); }

  static Accumulator empty() { return widened(Combine::identity()); }
  static Accumulator widened(const Update& update) { return detail::converted<Accumulator>(update); }
  static Update      narrowed(const Accumulator& sum) { return detail::converted<Update>(sum); }

  static EdgeIndex degree_in(const std::vector<RowBlock>& blocks, Vertex v) {
    if (blocks.size() == 1) return blocks.front().degree(v);
    EdgeIndex degree = 0;
    for (const RowBlock& block : blocks) degree += block.degree(v);
    return degree;
  }

  /// Where only pulling is possible, degrees are those of the rows that are there.
  EdgeIndex degree(Vertex v) const {
    return degree_in(topology_.push.empty() ? topology_.pull : topology_.push, v);
  }

  bool can_receive(Vertex v) const { return topology_.pull.empty() || degree_in(topology_.pull, v) > 0; }

  StepOf<P> step(Vertex v, Counts& counts) const {
    return {.vertex    = v,
            .iteration = iteration_,
            .bucket    = bucket(),
            .degree    = 0,
            .global    = &global_,
            .total     = &counts.total};
  }

  std::uint64_t bucket() const {
    if constexpr (prioritised) return buckets_->current();
    return 0;
  }

  /// body(first, last, local) over all vertices in ranges that start at a bitmap word.
  template <class Body>
  void for_vertices(Body&& body) {
    for (std::uint64_t i = 0; i < chunks_.count; ++i) {
      const VertexRange   chunk = chunks_.chunk(i, n_);
      const std::uint64_t first = chunk.first / tuning_.vertex_grain;
      const std::uint64_t tasks = (chunk.last + tuning_.vertex_grain - 1) / tuning_.vertex_grain - first;
      for_each_task(tasks <= 1 ? 1 : threads_, tasks, [&](std::uint64_t task, int thread) {
        body(static_cast<Vertex>((first + task) * tuning_.vertex_grain),
             static_cast<Vertex>(std::min(n_, (first + task + 1) * tuning_.vertex_grain)), local_of(thread));
      });
      if (chunks_.on_disk()) evict(chunk);
    }
  }

  Local& local_of(int thread) { return locals_[static_cast<std::size_t>(thread)]; }

  int threads_for(std::uint64_t work) const { return work < tuning_.serial_work ? 1 : threads_; }

  void start_range(Vertex first, Vertex last, Local& local) {
    for (std::uint64_t base = first; base < last; base += Bitmap::bits) {
      std::uint64_t active = 0, open = 0;
      const auto    end = std::min<std::uint64_t>(last, base + Bitmap::bits);
      for (auto v = static_cast<Vertex>(base); v < end; ++v) {
        if (!given_) values_[v] = Operations<P>::first_value(program_, v, [&] { return degree(v); });
        const bool starting = Operations<P>::starts(program_, v, values_[v]);
        active |= static_cast<std::uint64_t>(starting) << (v % Bitmap::bits);
        const bool open_now =
            Operations<P>::open_at_first(program_, values_[v], starting, !T::voting || can_receive(v));
        open |= static_cast<std::uint64_t>(open_now) << (v % Bitmap::bits);
        if constexpr (T::gathers)
          if (accumulators_.size() > 0) accumulators_[v] = empty();
      }
      if constexpr (in_buckets) std::copy(values_.data() + base, values_.data() + end, settled_.data() + base);
      start_word(base / Bitmap::bits, active, open, local);
    }
  }

  void start_word(std::uint64_t index, std::uint64_t active, std::uint64_t open, Local& local) {
    const auto edges_of = [&](std::uint64_t word) {
      EdgeIndex edges = 0;
      Bitmap::for_each(word, index, [&](Vertex v) { edges += degree(v); });
      return edges;
    };
    local.vertices += static_cast<std::uint64_t>(std::popcount(active));
    local.edges += edges_of(active);
    if constexpr (tracks_open) {
      open_.word(index) = open;
      local.open_vertices += static_cast<std::uint64_t>(std::popcount(open));
      if constexpr (!T::voting) local.open_edges += edges_of(open);
    }
    if constexpr (!T::all_active && !prioritised) active_.word(index) = active;
    if constexpr (prioritised) waiting_.word(index) = active;
    if constexpr (prioritised)
      Bitmap::for_each(active, index, [&](Vertex v) {
        buckets_->put(static_cast<int>(&local - locals_.data()), v, bucket_of(values_[v]));
      });
  }

  /// The threads' counts as one frontier; they start again from zero.
  FrontierSize collect() {
    FrontierSize  size{0, 0, frontier_.open_vertices, frontier_.open_edges};
    std::uint64_t closed_edges = 0;
    for (Local& local : locals_) {
      size.vertices += std::exchange(local.vertices, 0);
      size.edges += std::exchange(local.edges, 0);
      size.open_vertices += std::exchange(local.open_vertices, 0) - std::exchange(local.closed_vertices, 0);
      size.open_edges += std::exchange(local.open_edges, 0);
      closed_edges += std::exchange(local.closed_edges, 0);
    }
    size.open_edges -= std::min(size.open_edges, closed_edges);  // of which some are only sampled
    return size;
  }

  bool any_active() {
    std::uint64_t active = 0;
    for (Local& local : locals_) active += std::exchange(local.vertices, 0);
    return active > 0;
  }

  // --- the frontier: a list, a bitmap or both (frontier.hpp) ---

  void         make_list();
  void         make_bitmap();
  void         clear_bits(Bitmap& bitmap, std::span<const Vertex> list);
  void         exchange_schedule(StateExchange& with);
  void         exchange_buckets(StateExchange& with);
  FrontierSize replay_next();
  FrontierSize replay_bitmap(std::span<const Vertex> found);
  void         record();

  // --- what executors hand to each other (exchange.hpp) ---

  using Accumulating = std::conditional_t<T::gathers, Accumulator, Value>;
  const Accumulating& accumulating(Vertex v) const {
    if constexpr (T::gathers)
      return accumulators_[v];
    else
      return values_[v];
  }
  template <class Visit>
  void for_each_accumulated(const Accumulated& other, Visit&& visit);
  void accept(Vertex v, const Value& value, Local& local);

  // --- publishing and applying (apply.hpp) ---

  void publish(Vertex v, Local& local);
  void publish_all();
  template <class Body>
  void for_vertices_in_order(Body&& body);
  void end_totals();
  void add_totals();
  bool apply(Vertex v, const Update& update, Counts& counts);
  bool apply_while_read(Vertex v, const Update& update, Counts& counts);
  void close_if_done(Vertex v, EdgeIndex edges, Counts& counts);
  void apply_list();
  bool apply_accumulated(Vertex v, Local& local, int thread);
  bool note_applied(Vertex v, bool active, Counts& counts, int thread);
  void apply_everywhere();
  void apply_bitmap();
  void apply_gathered();
  void end_pull();
  void clear_next();
  void end_push();

  // --- edges ---

  static Weight weight_at(const Rows& rows, EdgeIndex i) {
    if constexpr (T::weighted)
      return std::bit_cast<Weight>(rows.weights[i]);
    else
      return {};
  }

  Message message_of(Vertex v) const {
    if constexpr (T::no_message)
      return {};
    else if constexpr (T::live_messages)
      return atomics::load(values_[v]);
    else
      return messages_[v];
  }

  Update compute(const Message& message, const EdgeOf<P>& edge) const {
    return Operations<P>::compute(program_, topology_.tree, message, edge, [&]() -> Value {
      if constexpr (T::in_place) return atomics::load(values_[edge.target]);
      return values_[edge.target];
    });
  }

  // --- push (push.hpp) ---

  static constexpr EdgeIndex   edge_distance = 8;   ///< targets are asked for this far ahead
  static constexpr std::size_t pick_block    = 64;  ///< edges that are looked at before any is acted on
  static constexpr EdgeIndex   pick_least    = 16;  ///< in rows of at least this many
  /// Lists up to this long keep the order in which threads found their vertices.
  static constexpr std::uint64_t ordered_lists = 1u << 16;
  void                           push(const RowBlock& block);
  void                           push_everyone(const RowBlock& block);
  template <class ChunkAt>
  void                  push_chunks(const Rows& rows, std::uint64_t count, ChunkAt&& chunk_at);
  void                  push_window(const WindowBlock& window);
  static constexpr bool joins_next = has_frontier && T::supports_async && T::in_place;
  /// Who has changed may push again, with a message that needs no publishing.
  static constexpr bool          runs_lists_to_fixed_point = joins_next && T::live_messages;
  static constexpr std::uint64_t no_bucket                 = ~std::uint64_t{0};
  /// What a round in a window takes.
  struct LocalRound {
    std::vector<RowChunk> taken     = {};         ///< of rows that push again
    std::uint64_t         bucket    = 0;          ///< up to which they do
    std::uint64_t         lowest    = no_bucket;  ///< that others wait in
    std::uint64_t         elsewhere = 0;          ///< vertices of the next frontier without a row here
  };
  static bool          is_whole(const WindowBlock& window, const ChunkRange& range, Vertex v);
  void                 join_next(const WindowBlock& window, const ChunkRange& range);
  void                 run_to_fixed_point(const WindowBlock& window, const ChunkRange& range);
  void                 reactivate(const WindowBlock& window, const ChunkRange& range, LocalRound& round);
  void                 push_list(const RowBlock& block);
  static std::uint64_t share_begin(std::uint64_t size, int share, int shares);
  void push_share(const Rows& rows, std::span<const Vertex> list, int share, int thread, int threads);
  void leave_hub(Vertex v);
  void push_hubs(const RowBlock& block);
  /// Where updates go. A copy, so that loops need not look it up again after every store.
  struct Targets {
    Value*       values;
    Accumulator* accumulators;
    BitmapView   open, next;
    bool         lists;
  };
  Targets targets() const { return {values_.data(), accumulators_.data(), open_.view(), next_.view(), lists()}; }
  void    push_row(Vertex v, const Rows& rows, EdgeIndex first, EdgeIndex last, Local& local);
  template <class Act>
  void        for_each_wanted(Vertex v, const Message& message, const Rows& rows, EdgeIndex first, EdgeIndex last,
                              const Targets& to, Act&& act) const;
  bool        wanted(const Targets& to, const Message& message, const EdgeOf<P>& edge) const;
  static void prefetch(const Targets& to, Vertex v);
  void        push_edge(const Targets& to, const Message& message, const EdgeOf<P>& edge, Local& local);

  // --- edges without rows (edges.hpp) ---

  void clear_changed();
  bool push_run(const EdgeBlock& block, const EdgeRun& run);
  bool push_edges(const EdgeBlock& block, const EdgeRun& some, bool local, Local& counts);
  bool push_and_note(const Targets& to, const Message& message, const EdgeOf<P>& edge, Local& local);

  // --- virtual nodes (nodes.hpp) ---

  /// 0: rows are not split.
  static EdgeIndex node_edges_of(const RunOptions& options) {
    return options.balance.kind == Balance::split ? options.balance.split.degree_bound : 0;
  }
  static bool deals_lists(const RunOptions& options) {
    return node_edges_of(options) > 0 && !options.method->streams_pages;
  }
  bool          splits() const { return node_edges_ > 0; }
  std::uint64_t nodes_of(EdgeIndex edges) const { return spillway::nodes_of(edges, node_edges_); }
  template <class IsVisited>
  std::uint64_t nodes_in(const PageRows& page, IsVisited&& is_visited) const;

  /// Edges that a thread takes at once, at most: of rows that threads share.
  EdgeIndex                      shared_edges() const { return std::max<EdgeIndex>(tuning_.hub_degree / 4, 1); }
  static constexpr std::uint64_t tasks_a_thread = 8;  ///< fewer where each would be longer than that
  static std::uint64_t blocks_of(std::uint64_t count, std::uint64_t grain) { return (count + grain - 1) / grain; }
  static std::uint64_t bytes_of_work(std::uint64_t blocks) { return (blocks + 1) * sizeof(std::uint64_t); }
  void                 make_room_for_work(std::uint64_t blocks);
  template <class InBlock, class Visit, class End>
  void deal_parts(int threads, std::uint64_t blocks, EdgeIndex part, InBlock&& in_block, Visit&& visit, End&& end);
  template <class ChunkAt>
  void push_parts(const Rows& rows, int threads, std::uint64_t count, std::uint64_t grain, EdgeIndex part,
                  ChunkAt&& chunk_at);
  template <class ChunkAt>
  void push_nodes(const Rows& rows, std::uint64_t count, ChunkAt&& chunk_at);
  void pull_nodes(const RowBlock& block);

  // --- pull (pull.hpp) ---

  std::vector<Vertex>       cut(const RowBlock& block) const;
  void                      sweep(const RowBlock& block, const std::vector<Vertex>& ends);
  std::pair<Counts, Counts> sweep_range(const Rows rows, Vertex first, Vertex last) const;
  void                      pull(const RowBlock& block, const std::vector<Vertex>& ends);
  void                      pull_word(const Rows& rows, std::uint64_t index, Counts& counts, int thread);
  void                      count_active_edges(const Rows& rows, std::uint64_t index, Counts& counts);
  bool                      is_active(Vertex v) const { return T::all_active || everyone_ || active_.test(v); }
  EdgeOf<P>                 edge_to(Vertex v, const Rows& rows, EdgeIndex i) const;
  /// `shared`: others may be at vertices of the same word.
  template <bool shared = false>
  bool pull_row(const Rows& rows, Vertex v, Counts& counts, int thread);
  template <bool shared>
  bool pull_vote(const Rows& rows, Vertex v, Counts& counts);
  template <bool shared>
  bool        close_by_vote(Vertex v, const Update& update, Counts& counts);
  bool        pull_in_place(const Rows& rows, Vertex v, Counts& counts);
  void        publish_value(Vertex v, const Value& value);
  bool        pull_gather(const Rows& rows, Vertex v, Counts& counts, int thread);
  Accumulator gather_active(const Rows& rows, Vertex v, EdgeIndex first, EdgeIndex last, bool& hit) const;
  Accumulator gather_all(const Rows& rows, Vertex v, EdgeIndex first, EdgeIndex last) const;
  static constexpr EdgeIndex row_block = 8;  ///< longer chains of floats lose digits that a rank needs to settle
  template <class At>
  static Accumulator combined(EdgeIndex first, EdgeIndex last, const At& at);

  // --- pages (pages.hpp) ---

  /// What a part of a row adds up to.
  struct RowPart {
    std::uint64_t number;
    Vertex        vertex;
    Accumulator   sum;
  };
  template <class Body>
  void             for_pages(PageFeed& feed, Body&& body);
  void             push_pages(PageFeed& feed, VertexRange targets);
  void             push_to_bins(Vertex v, const Rows& rows, const EdgeRange& row, Local& local, int thread);
  void             empty_bin(std::span<const typename Bins<Update>::Entry> entries, Local& local);
  void             leave_senders_before(Vertex v, VertexRange targets);
  static EdgeRange edges_to(VertexRange targets, const PageRows& page, Vertex v);
  void             pull_pages(PageFeed& feed);
  void             pull_part(const PageRows& page, Counts& counts);
  template <class Settle>
  void end_parts(Settle&& settle);
  void sweep_pages(PageFeed& feed);
  void settle_swept(Vertex v, const Accumulator& sum, Counts& now, Counts& ahead);

  // --- buckets (process_buckets.hpp) ---

  std::uint64_t bucket_of(const Value& value) const;
  FrontierSize  next_bucket();
  void          list_bucket();
  bool          is_open(Vertex v) const;
  void          process_bucket(const RowBlock& block);
  void          settle_own(const Rows& rows, Local& local, int thread);
  void          settle_bin(const Buckets::Bin& bin, const Rows& rows, Local& local, int thread);
  void          settle_row(Vertex v, const Value& value, const Rows& rows, EdgeIndex first, EdgeIndex last,
                           const Targets& to, Local& local, int thread);
  void          process_bucket_of_nodes(const RowBlock& block);
  std::uint64_t keep_senders(Buckets::Bin& bin, const Rows& rows);
  bool          own_rows_are_short(const Rows& rows, int thread) const;
  bool          told_already(Vertex v, const Value& value);
  static bool   same_bits(const Value& a, const Value& b);
  /// Several blocks tell one after the other, and values improve in between.
  bool one_block() const { return topology_.push.size() == 1; }
  void recycle_bucket();

  const P&                      program_;
  const Topology&               topology_;
  std::uint64_t                 n_;
  int                           threads_;
  HostTuning                    tuning_;
  EdgeIndex                     node_edges_;  ///< of a virtual node; 0: rows are not split
  Progress&                     progress_;
  std::shared_ptr<MemoryBudget> budget_;
  StateChunks                   chunks_;
  Charge                        at_hand_{budget_, "the state of some vertices"};
  std::uint64_t                 state_bytes_;
  HostInput<Value>              input_;

  Buffer<Value>          values_;
  Buffer<Message>        messages_, next_messages_;
  Buffer<Accumulator>    accumulators_;
  Bins<Update>           bins_;     ///< of updates that pages push
  Buffer<Value>          settled_;  ///< what a vertex last told its neighbours
  Bitmap                 open_, active_, next_;
  Bitmap                 changed_;  ///< since a block of edges was visited first
  Bitmap                 waiting_;  ///< in a bucket, and nobody has been told yet
  VertexList             front_, back_;
  std::optional<Buckets> buckets_;
  bool                   is_list_ = false, is_bitmap_ = false;  ///< which forms of the frontier are valid

  std::vector<Local>               locals_;
  std::vector<std::vector<Vertex>> pull_tasks_;  ///< ends of ranges, for each block
  std::vector<Global>              partial_, partial_ahead_, history_;
  std::mutex                       hub_mutex_;
  std::vector<Vertex>              hubs_;
  std::vector<RowPart>             parts_;
  std::vector<std::uint64_t>       work_;  ///< of blocks of rows that are dealt out, and of all before each
  Charge                           work_memory_{budget_, "the virtual nodes of active vertices"};

  RunCounters   counters_;
  FrontierSize  frontier_;
  Direction     direction_   = Direction::push;
  std::uint32_t iteration_   = 0;
  std::size_t   blocks_done_ = 0;
  std::uint64_t replayed_    = 0;
  std::uint64_t sending_     = 0;  ///< chunk of state that pages send from
  bool          given_       = false;
  bool          everyone_    = false;
  BucketWidth   bucket_width_;
  Global        global_{};  ///< what publishing added up to
  Global        total_{}, ahead_{};
  bool          published_ahead_ = false;
};

}  // namespace spillway::host

#include <spillway/engine/host/apply.hpp>
#include <spillway/engine/host/checkpoint.hpp>
#include <spillway/engine/host/edges.hpp>
#include <spillway/engine/host/exchange.hpp>
#include <spillway/engine/host/frontier.hpp>
#include <spillway/engine/host/nodes.hpp>
#include <spillway/engine/host/pages.hpp>
#include <spillway/engine/host/process_buckets.hpp>
#include <spillway/engine/host/pull.hpp>
#include <spillway/engine/host/push.hpp>
