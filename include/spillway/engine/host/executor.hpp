// The executor of the CPU: push over a list of active vertices, pull over rows of receivers, buckets for programs
// with a priority. Everything is allocated before the first iteration (buckets grow by whole slabs when they
// must).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>

#include <spillway/engine/executor.hpp>
#include <spillway/engine/host/bitmap.hpp>
#include <spillway/engine/host/buckets.hpp>
#include <spillway/engine/host/vertex_list.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/error.hpp>

namespace spillway::host {

/// What a run may be given besides the program.
template <class Value>
struct HostInput {
  Buffer<Value>   values = {};       ///< those of a program before; none: `init`
  const Schedule* replay = nullptr;  ///< frontiers to walk backwards, instead of those that `apply` makes
  Schedule*       record = nullptr;  ///< where to keep the frontiers
  double          delta  = 1;        ///< width of a bucket
};

template <class P>
class HostExecutor final : public Executor {
  using T           = Traits<P>;
  using Value       = typename T::Value;
  using Update      = typename T::Update;
  using Message     = typename T::Message;
  using Weight      = typename T::Weight;
  using Global      = typename T::Global;
  using Combine     = typename T::Combine;
  using Accumulator = typename Combine::Accumulator;

  static constexpr bool prioritised     = Prioritises<P>;
  static constexpr bool in_buckets      = prioritised && T::in_place;  ///< settled without rounds
  static constexpr bool has_frontier    = !T::all_active && !in_buckets;
  static constexpr bool tracks_open     = T::voting || Opens<P>;
  static constexpr bool stores_messages = !T::no_message && !T::live_messages;
  static constexpr bool may_sweep       = T::all_active && stores_messages && !tracks_open &&
                                    sizeof(Message) <= sizeof(double) && PublishesConst<P>;

 public:
  HostExecutor(const P& program, const Graph& graph, const Topology& topology, const RunOptions& options,
               HostInput<Value> input)
      : program_(program),
        topology_(topology),
        n_(topology.vertices),
        threads_(thread_count(options.threads)),
        tuning_(options.tuning),
        progress_(options.progress ? *options.progress : Progress::none()),
        input_(std::move(input)),
        values_(std::move(input_.values)),
        locals_(static_cast<std::size_t>(threads_)) {
    const auto& budget = graph.budget();
    set_delta(input_.delta);
    tuning_.vertex_grain = Bitmap::word_count(tuning_.vertex_grain) * Bitmap::bits;
    budget->expect(state_bytes(), "the state of the vertices");
    given_ = values_.size() == n_ && n_ > 0;
    if (!given_) values_ = {n_, budget, "the values of the vertices"};
    if constexpr (stores_messages) messages_ = {n_, budget, "the messages of the vertices"};
    if (sweeps()) next_messages_ = {n_, budget, "the messages of the vertices"};
    if constexpr (T::gathers) {
      if (needs_accumulators()) accumulators_ = {n_, budget, "the updates of the vertices"};
    }
    if constexpr (tracks_open) open_ = {n_, budget, "the open vertices"};
    if constexpr (prioritised) buckets_.emplace(threads_, budget);
    if constexpr (in_buckets) settled_ = {n_, budget, "the settled vertices"};
    if constexpr (prioritised) waiting_ = {n_, budget, "the waiting vertices"};
    if constexpr (has_frontier) {
      active_ = {n_, budget, "the active vertices"};
      next_   = {n_, budget, "the active vertices"};
      front_  = {n_, budget, "the active vertices"};
      back_   = {n_, budget, "the active vertices"};
    }
    if (!topology.pull.empty())
      for (const Block& block : topology.pull) pull_tasks_.push_back(cut(block));
  }

  FrontierSize start() override {
    for_vertices([&](Vertex first, Vertex last, Local& local) { start_range(first, last, local); });
    frontier_  = collect();
    is_bitmap_ = true;
    is_list_   = false;
    if constexpr (!tracks_open) frontier_.open_vertices = n_;
    if constexpr (!tracks_open || T::voting)
      frontier_.open_edges = topology_.arcs - (T::voting ? frontier_.edges : 0);
    if (input_.replay) return replay_next();
    if constexpr (prioritised) return next_bucket();
    if (input_.record) record();
    return frontier_;
  }

  void begin(Direction direction, std::uint32_t iteration) override {
    direction_   = direction;
    iteration_   = iteration;
    total_       = Global{};
    blocks_done_ = 0;
    back_.clear();
    if constexpr (!T::all_active && !in_buckets) {
      if (direction == Direction::push)
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
  }

  BlockWork process(const Block& block) override {
    if constexpr (in_buckets) {
      settle(block);
    } else if (direction_ == Direction::push) {
      push(block);
    } else if (sweeps()) {
      if constexpr (may_sweep) sweep(block, pull_tasks_[blocks_done_]);
    } else {
      pull(block, pull_tasks_[blocks_done_]);
    }
    ++blocks_done_;
    BlockWork work;
    for (Local& local : locals_) {
      work.looked_at += std::exchange(local.looked_at, 0);
      work.active_edges += std::exchange(local.active_edges, 0);
    }
    if (direction_ == Direction::push) work.active_edges = work.looked_at;
    if (T::all_active) work.active_edges = topology_.arcs / std::max<std::size_t>(pull_tasks_.size(), 1);
    return work;
  }

  FrontierSize finish() override {
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
      else if (direction_ == Direction::push)
        end_push();
      else
        end_pull();
      end_totals();
      if (input_.replay) return replay_next();
      if constexpr (prioritised) return next_bucket();
      if (input_.record) record();
      return frontier_;
    }
  }

  bool converged() const override {
    if constexpr (Converges<P>) return program_.converged(total_);
    return false;
  }

  Buffer<Value> take_values() { return std::move(values_); }
  const Global& global() const { return total_; }
  RunCounters   counters() const {
      RunCounters counters = counters_;
      for (const Local& local : locals_) counters.fused_bins += local.fused_bins;
    if constexpr (prioritised) counters.bucket_moves = buckets_->moves();
    return counters;
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
    std::uint64_t fused_bins = 0;
  };

  // --- state ---

  bool needs_accumulators() const {
    return topology_.pull.empty() || topology_.pull.size() > 1 || !topology_.push.empty();
  }

  std::uint64_t state_bytes() const {
    std::uint64_t a_vertex = values_.size() == n_ ? 0 : sizeof(Value);
    if constexpr (stores_messages) a_vertex += sizeof(Message) * (sweeps() ? 2 : 1);
    if constexpr (T::gathers)
      if (needs_accumulators()) a_vertex += sizeof(Accumulator);
    if constexpr (in_buckets) a_vertex += sizeof(Value);
    if constexpr (has_frontier) a_vertex += 2 * sizeof(Vertex);
    return n_ * a_vertex + n_ / 8 * ((tracks_open ? 1 : 0) + (prioritised ? 1 : 0) + (has_frontier ? 2 : 0));
  }

  /// One block of rows, everyone active: a vertex can publish for the next iteration as soon as it is applied to.
  bool sweeps() const { return may_sweep && topology_.pull.size() == 1; }

  static Accumulator empty() { return static_cast<Accumulator>(Combine::identity()); }

  static EdgeIndex degree_in(const std::vector<Block>& blocks, Vertex v) {
    if (blocks.size() == 1) return blocks.front().rows.degree(v);
    EdgeIndex degree = 0;
    for (const Block& block : blocks) degree += block.rows.degree(v);
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
    for_each_task(n_ <= tuning_.vertex_grain ? 1 : threads_,
                  (n_ + tuning_.vertex_grain - 1) / tuning_.vertex_grain, [&](std::uint64_t task, int thread) {
                    body(static_cast<Vertex>(task * tuning_.vertex_grain),
                         static_cast<Vertex>(std::min(n_, (task + 1) * tuning_.vertex_grain)), local_of(thread));
                  });
  }

  Local& local_of(int thread) { return locals_[static_cast<std::size_t>(thread)]; }

  int threads_for(std::uint64_t work) const { return work < tuning_.serial_work ? 1 : threads_; }

  void start_range(Vertex first, Vertex last, Local& local) {
    for (std::uint64_t base = first; base < last; base += Bitmap::bits) {
      std::uint64_t active = 0, open = 0;
      const auto    end = std::min<std::uint64_t>(last, base + Bitmap::bits);
      for (auto v = static_cast<Vertex>(base); v < end; ++v) {
        if (!given_) values_[v] = first_value(v);
        const bool starting = starts(v);
        active |= static_cast<std::uint64_t>(starting) << (v % Bitmap::bits);
        open |= static_cast<std::uint64_t>(is_open_at_first(v, starting)) << (v % Bitmap::bits);
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

  Value first_value(Vertex v) const {
    if constexpr (InitsFromDegree<P>)
      return program_.init(v, degree(v));
    else
      return program_.init(v);
  }

  bool starts(Vertex v) const {
    if constexpr (StartsFromValue<P>)
      return program_.starts(v, values_[v]);
    else if constexpr (Starts<P>)
      return program_.starts(v);
    else
      return true;
  }

  bool is_open_at_first(Vertex v, bool active) const {
    bool open = true;
    if constexpr (T::voting) open = static_cast<unsigned>(!active) & static_cast<unsigned>(can_receive(v));
    if constexpr (Opens<P>) open = open && program_.open(values_[v]);
    return open;
  }

  /// The threads' counts as one frontier; they start again from zero.
  FrontierSize collect() {
    FrontierSize size{0, 0, frontier_.open_vertices, frontier_.open_edges};
    for (Local& local : locals_) {
      size.vertices += std::exchange(local.vertices, 0);
      size.edges += std::exchange(local.edges, 0);
      size.open_vertices += std::exchange(local.open_vertices, 0) - std::exchange(local.closed_vertices, 0);
      size.open_edges += std::exchange(local.open_edges, 0) - std::exchange(local.closed_edges, 0);
    }
    return size;
  }

  bool any_active() {
    std::uint64_t active = 0;
    for (Local& local : locals_) active += std::exchange(local.vertices, 0);
    return active > 0;
  }

  // --- the frontier: a list, a bitmap or both ---

  void make_list() {
    if (is_list_) return;
    front_.clear();
    for_each_share(threads_for(n_ / Bitmap::bits), active_.size(),
                   [&](std::uint64_t begin, std::uint64_t end, int thread) {
                     ListWriter& writer = local_of(thread).next;
                     for (std::uint64_t i = begin; i < end; ++i)
                       Bitmap::for_each(active_.word(i), i, [&](Vertex v) { writer.put(front_, v); });
                     writer.flush(front_);
                   });
    is_list_ = true;
  }

  void make_bitmap() {
    if (is_bitmap_) return;
    const auto list = front_.span();
    for_each_share(threads_for(n_ / Bitmap::bits), active_.size(),
                   [&](std::uint64_t begin, std::uint64_t end, int) { active_.clear(begin, end); });
    for_each_share(threads_for(list.size()), list.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      for (std::uint64_t i = begin; i < end; ++i) active_.claim(list[i]);
    });
    is_bitmap_ = true;
  }

  /// The bits of a list are set back: word by word, or all at once when there are many.
  void clear_bits(Bitmap& bitmap, std::span<const Vertex> list) {
    if (list.size() > bitmap.size()) {
      for_each_share(threads_for(bitmap.size()), bitmap.size(),
                     [&](std::uint64_t begin, std::uint64_t end, int) { bitmap.clear(begin, end); });
    } else {
      for_each_share(threads_for(list.size()), list.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
        for (std::uint64_t i = begin; i < end; ++i) bitmap.clear_word_of(list[i]);
      });
    }
  }

  /// Replayed frontiers come from a list; everything else about them is known.
  FrontierSize replay_next() {
    const Schedule& schedule = *input_.replay;
    if (replayed_ == schedule.levels()) return {};
    const std::uint64_t level = schedule.levels() - ++replayed_;
    const std::uint64_t begin = schedule.starts[level], end = schedule.starts[level + 1];
    front_.clear();
    Vertex* const list = front_.grow(end - begin);
    for_each_share(threads_for(end - begin), end - begin, [&](std::uint64_t from, std::uint64_t to, int thread) {
      for (std::uint64_t i = from; i < to; ++i) {
        list[i] = schedule.vertices[begin + i];
        local_of(thread).edges += degree(list[i]);
      }
    });
    is_list_           = true;
    is_bitmap_         = false;
    frontier_          = collect();
    frontier_.vertices = end - begin;
    return frontier_;
  }

  void record() {
    if (frontier_.vertices == 0) return;
    make_list();
    Schedule& schedule = *input_.record;
    if (schedule.starts.empty()) schedule.starts.push_back(0);
    const auto list = front_.span();
    schedule.vertices.insert(schedule.vertices.end(), list.begin(), list.end());
    schedule.starts.push_back(schedule.vertices.size());
  }

  // --- publishing ---

  void publish(Vertex v, Local& local) {
    if constexpr (Publishes<P>) {
      StepOf<P> at = step(v, local);
      at.degree    = degree(v);
      if constexpr (T::no_message)
        program_.publish(values_[v], at);
      else
        messages_[v] = program_.publish(values_[v], at);
      close_if_done(v, at.degree, local);
    } else {
      messages_[v] = values_[v];
    }
  }

  void publish_all() {
    if constexpr (T::all_active) {
      for_vertices_in_order([&](Vertex first, Vertex last, Local& local) {
        for (Vertex v = first; v < last; ++v) publish(v, local);
      });
    } else {
      if (direction_ == Direction::push) {
        const auto list = front_.span();
        for_each_share(threads_for(list.size()), list.size(),
                       [&](std::uint64_t begin, std::uint64_t end, int thread) {
                         for (std::uint64_t i = begin; i < end; ++i) publish(list[i], local_of(thread));
                       });
      } else {
        for_vertices([&](Vertex first, Vertex last, Local& local) {
          for (std::uint64_t i = first / Bitmap::bits; i < Bitmap::word_count(last); ++i)
            Bitmap::for_each(active_.word(i), i, [&](Vertex v) { publish(v, local); });
        });
      }
      if constexpr (T::has_global) add_totals();
    }
  }

  /// As `for_vertices`, and the ranges' totals are added up in the order of the ranges, whoever worked on them.
  template <class Body>
  void for_vertices_in_order(Body&& body) {
    if constexpr (!T::has_global) {
      for_vertices(body);
    } else {
      partial_.assign((n_ + tuning_.vertex_grain - 1) / tuning_.vertex_grain, Global{});
      for_vertices([&](Vertex first, Vertex last, Local& local) {
        body(first, last, local);
        partial_[first / tuning_.vertex_grain] = std::exchange(local.total, Global{});
      });
      for (const Global& part : partial_) total_ += part;
    }
  }

  void end_totals() {
    if constexpr (!T::has_global) return;
    add_totals();
    history_.push_back(total_);
  }

  void add_totals() {
    for (Local& local : locals_) total_ += std::exchange(local.total, Global{});
  }

  // --- applying ---

  static bool applied(const P& program, Value& value, const Update& update, const StepOf<P>& step) {
    if constexpr (AppliesWithStep<P>)
      return program.apply(value, update, step);
    else
      return program.apply(value, update);
  }

  bool apply(Vertex v, const Update& update, Counts& counts) {
    return applied(program_, values_[v], update, step(v, counts));
  }

  /// Programs with `open` may close a vertex in `publish` and in `apply`; voting ones close it by the vote.
  void close_if_done(Vertex v, EdgeIndex edges, Counts& counts) {
    if constexpr (Opens<P> && !T::voting) {
      if (!open_.test(v) || program_.open(values_[v])) return;
      open_.take(v);
      ++counts.closed_vertices;
      counts.closed_edges += edges;
    }
  }

  /// Push of programs that gather: everyone in `back_` has updates waiting.
  void apply_list() {
    front_.clear();
    const auto list = back_.span();
    for_each_share(threads_for(list.size()), list.size(), [&](std::uint64_t begin, std::uint64_t end, int thread) {
      Local& local = local_of(thread);
      for (std::uint64_t i = begin; i < end; ++i) {
        const Vertex v = list[i];
        if (settle_updates(v, local, thread)) local.next.put(front_, v);
      }
      local.next.flush(front_);
    });
    clear_bits(next_, list);
    is_list_   = true;
    is_bitmap_ = false;
    frontier_  = collect();
  }

  /// Applies and empties the accumulator of one vertex; true if it belongs to the next frontier list.
  bool settle_updates(Vertex v, Local& local, int thread) {
    const Update update = static_cast<Update>(std::exchange(accumulators_[v], empty()));
    const bool   active = apply(v, update, local);
    return note_applied(v, active, local, thread);
  }

  bool note_applied(Vertex v, bool active, Counts& counts, int thread) {
    if constexpr (Opens<P>) close_if_done(v, degree(v), counts);
    if (!active || input_.replay) return false;
    if constexpr (prioritised) {
      if (!waiting_.test(v)) waiting_.claim(v);
      buckets_->put(thread, v, bucket_of(values_[v]));
      return false;
    } else {
      ++counts.vertices;
      counts.edges += degree(v);
      return true;
    }
  }

  void apply_everywhere() {
    for_vertices_in_order([&](Vertex first, Vertex last, Local& local) {
      for (Vertex v = first; v < last; ++v)
        local.vertices += apply(v, static_cast<Update>(std::exchange(accumulators_[v], empty())), local);
    });
  }

  /// After a pull over several blocks: everyone in the bitmap `next_` has updates waiting.
  void apply_bitmap() {
    for_vertices([&](Vertex first, Vertex last, Local& local) {
      const int thread = static_cast<int>(&local - locals_.data());
      for (std::uint64_t i = first / Bitmap::bits; i < Bitmap::word_count(last); ++i) {
        std::uint64_t active = 0;
        Bitmap::for_each(next_.word(i), i, [&](Vertex v) {
          if (settle_updates(v, local, thread)) active |= std::uint64_t{1} << (v % Bitmap::bits);
        });
        next_.word(i) = active;
      }
    });
  }

  void apply_gathered() {
    if (direction_ == Direction::push) return apply_list();
    if (pull_tasks_.size() > 1) apply_bitmap();
    end_pull();
  }

  /// What a pull leaves in `next_` is the frontier; the old one's bitmap becomes the next `next_`, whose words a
  /// pull overwrites and a push wants clear.
  void end_pull() {
    std::swap(active_, next_);
    is_bitmap_ = true;
    is_list_   = false;
    frontier_  = collect();
    clear_next();
  }

  void clear_next() {
    if constexpr (T::voting) return;  // votes are claimed in `open_`
    for_each_share(threads_for(n_ / Bitmap::bits), next_.size(),
                   [&](std::uint64_t begin, std::uint64_t end, int) { next_.clear(begin, end); });
  }

  /// Push of programs that do not gather: `back_` is the next frontier; in place, `next_` holds its bits.
  void end_push() {
    if constexpr (T::in_place) {
      if (is_bitmap_) clear_bits(active_, front_.span());
      std::swap(active_, next_);
    }
    std::swap(front_, back_);
    is_list_   = true;
    is_bitmap_ = T::in_place;
    frontier_  = collect();
  }

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
    if constexpr (ComputesFromEdge<P> || ComputesFromMessage<P>)
      return computed(program_, message, edge, {});
    else if constexpr (T::in_place)
      return computed(program_, message, edge, atomics::load(values_[edge.target]));
    else
      return computed(program_, message, edge, values_[edge.target]);
  }

  static Update computed(const P& program, const Message& message, const EdgeOf<P>& edge, const Value& to) {
    if constexpr (ComputesFromEdge<P>)
      return program.compute(edge);
    else if constexpr (ComputesFromMessage<P>)
      return program.compute(message, edge);
    else
      return program.compute(message, edge, to);
  }

  // --- push ---

  static constexpr EdgeIndex   edge_distance = 8;   ///< targets are asked for this far ahead
  static constexpr std::size_t pick_block    = 64;  ///< edges that are looked at before any is acted on
  static constexpr EdgeIndex   pick_least    = 16;  ///< in rows of at least this many
  /// Lists up to this long keep the order in which threads found their vertices.
  static constexpr std::uint64_t ordered_lists = 1u << 16;

  void push(const Block& block) {
    if constexpr (T::all_active) {
      push_everyone(block);
    } else {
      push_list(block);
    }
  }

  void push_everyone(const Block& block) {
    for_vertices([&](Vertex first, Vertex last, Local& local) {
      for (Vertex v = first; v < last; ++v)
        push_row(v, block.rows, block.rows.offsets[v], block.rows.offsets[v + 1], local);
    });
  }

  /// Threads begin with a share each and then help the others. A share is what the same thread found, mostly, so
  /// that what it writes is in its own cache: on a grid that is worth a third of the time.
  void push_list(const Block& block) {
    const auto list    = front_.span();
    const int  threads = threads_for(frontier_.edges + list.size());
    for (int i = 0; i < threads; ++i) local_of(i).taken = share_begin(list.size(), i, threads);
    on_threads(threads, [&](int thread) {
      for (int other = 0; other < threads; ++other)
        push_share(block.rows, list, (thread + other) % threads, thread, threads);
      if (list.size() > ordered_lists) local_of(thread).next.flush(back_);
    });
    for (int i = 0; i < threads; ++i) local_of(i).next.flush(back_);
    push_hubs(block);
  }

  static std::uint64_t share_begin(std::uint64_t size, int share, int shares) {
    return size * static_cast<std::uint64_t>(share) / static_cast<std::uint64_t>(shares);
  }

  void push_share(const Rows& rows, std::span<const Vertex> list, int share, int thread, int threads) {
    const std::uint64_t end   = share_begin(list.size(), share + 1, threads);
    const std::uint64_t grain = tuning_.push_grain;
    const EdgeIndex     hub   = threads > 1 ? tuning_.hub_degree : std::numeric_limits<EdgeIndex>::max();
    Local&              local = local_of(thread);
    std::atomic_ref     next{local_of(share).taken};
    for (std::uint64_t begin = next.fetch_add(grain, std::memory_order_relaxed); begin < end;
         begin               = next.fetch_add(grain, std::memory_order_relaxed))
      for (std::uint64_t i = begin; i < std::min(end, begin + grain); ++i) {
                      const EdgeIndex first = rows.offsets[list[i]], last = rows.offsets[list[i] + 1];
                      if (last - first > hub)
          leave_hub(list[i]);
        else
          push_row(list[i], rows, first, last, local);
      }
  }

  void leave_hub(Vertex v) {
    const std::scoped_lock lock{hub_mutex_};
    hubs_.push_back(v);
  }

  void push_hubs(const Block& block) {
    for (const Vertex v : hubs_) {
      const EdgeIndex first = block.rows.offsets[v], last = block.rows.offsets[v + 1];
      const EdgeIndex grain = std::max<EdgeIndex>(tuning_.hub_degree / 4, 1);
      for_each_task(threads_, (last - first + grain - 1) / grain, [&](std::uint64_t task, int thread) {
        push_row(v, block.rows, first + task * grain, std::min(last, first + (task + 1) * grain),
                 local_of(thread));
      });
    }
    counters_.shared_rows += hubs_.size();
    if (!hubs_.empty()) on_threads(threads_, [&](int thread) { local_of(thread).next.flush(back_); });
    hubs_.clear();
  }

  /// Where updates go. A copy, so that loops need not look it up again after every store.
  struct Targets {
    Value*       values;
    Accumulator* accumulators;
    BitmapView   open, next;
  };

  Targets targets() const { return {values_.data(), accumulators_.data(), open_.view(), next_.view()}; }

  void push_row(Vertex v, const Rows& rows, EdgeIndex first, EdgeIndex last, Local& local) {
    const Message message = message_of(v);
    const Targets to      = targets();
    for_each_wanted(v, message, rows, first, last, to,
                    [&](const EdgeOf<P>& edge) { push_edge(to, message, edge, local); });
    local.looked_at += last - first;
  }

  /// act(edge) for the edges of a row whose update may count. Where a bit tells, they are picked out a block at a
  /// time and without a branch, so that what the picked ones write can be asked for all at once.
  template <class Act>
  void for_each_wanted(Vertex v, const Message& message, const Rows& rows, EdgeIndex first, EdgeIndex last,
                       const Targets& to, Act&& act) const {
    const auto edge_at = [v, at = rows](EdgeIndex i) {
      return EdgeOf<P>{.source = v, .target = at.targets[i], .weight = weight_at(at, i)};
    };
    if constexpr (!tracks_open) {
      for (EdgeIndex i = first; i < last; ++i) {
        if (i + edge_distance < last) prefetch(to, rows.targets[i + edge_distance]);
        const EdgeOf<P> edge = edge_at(i);
        if (wanted(to, message, edge)) act(edge);
      }
    } else if (last - first < pick_least) {
      for (EdgeIndex i = first; i < last; ++i)
        if (to.open.test(rows.targets[i])) act(edge_at(i));
    } else {
      std::array<std::uint8_t, pick_block> picked;
      for (EdgeIndex begin = first; begin < last; begin += pick_block) {
        const auto  length = static_cast<unsigned>(std::min<EdgeIndex>(last - begin, pick_block));
        std::size_t count  = 0;
        for (unsigned i = 0; i < length; ++i) {
          picked[count] = static_cast<std::uint8_t>(i);
          count += to.open.test(rows.targets[begin + i]) ? 1 : 0;
        }
        for (std::size_t i = 0; i < count; ++i) prefetch(to, rows.targets[begin + picked[i]]);
        for (std::size_t i = 0; i < count; ++i) act(edge_at(begin + picked[i]));
      }
    }
  }

  bool wanted(const Targets& to, const Message& message, const EdgeOf<P>& edge) const {
    if constexpr (T::in_place)
      return Combine::improves(atomics::load(to.values[edge.target]), compute(message, edge));
    else
      return true;
  }

  /// What an update will write. In place few improve: taking lines from the other threads would not pay.
  static void prefetch(const Targets& to, Vertex v) {
    if constexpr (T::voting)
      __builtin_prefetch(to.values + v, 1);
    else if constexpr (T::in_place)
      __builtin_prefetch(to.values + v, 0);
    else
      __builtin_prefetch(to.accumulators + v, 1);
  }

  void push_edge(const Targets& to, const Message& message, const EdgeOf<P>& edge, Local& local) {
    const Vertex v = edge.target;
    if constexpr (T::voting) {
      if (!to.open.take(v)) return;
      const EdgeIndex edges = local.sampled([&] { return degree(v); });
      ++local.closed_vertices;
      local.closed_edges += edges;
      if (!apply(v, compute(message, edge), local)) return;
      ++local.vertices;
      local.edges += edges;
      local.next.put(back_, v);
    } else if constexpr (T::in_place) {
      if (!Combine::improve_atomically(to.values[v], compute(message, edge))) return;
      if (to.next.test(v) || !to.next.claim(v)) return;
      local.edges += local.sampled([&] { return degree(v); });
      ++local.vertices;
      local.next.put(back_, v);
    } else {
      if constexpr (Combine::idempotent)
        Combine::improve_atomically(to.accumulators[v], compute(message, edge));
      else
        Combine::combine_atomically(to.accumulators[v], compute(message, edge));
      if constexpr (!T::all_active)
        if (!to.next.test(v) && to.next.claim(v)) local.next.put(back_, v);
    }
  }

  // --- pull ---

  /// Ranges of about equal work that start at bitmap words.
  std::vector<Vertex> cut(const Block& block) const {
    std::vector<Vertex> ends{block.first};
    const EdgeIndex*    offsets = block.rows.offsets;
    const auto work = [&](std::uint64_t v) { return offsets[v] - offsets[block.first] + (v - block.first); };
    for (std::uint64_t v = block.first; v < block.last;) {
      std::uint64_t low = v + 1, high = block.last;
      while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        work(middle) - work(v) < tuning_.edge_grain ? low = middle + 1 : high = middle;
      }
      v = std::min<std::uint64_t>(block.last, (low + Bitmap::bits - 1) / Bitmap::bits * Bitmap::bits);
      ends.push_back(static_cast<Vertex>(v));
    }
    return ends;
  }

  /// Gathers, applies and publishes in one pass over the vertices.
  void sweep(const Block& block, const std::vector<Vertex>& ends) {
    const std::uint64_t tasks = ends.size() - 1;
    partial_.assign(tasks, Global{});
    partial_ahead_.assign(tasks, Global{});
    for_each_task(threads_for(topology_.arcs + n_), tasks, [&](std::uint64_t task, int thread) {
      if (progress_.cancelled()) throw Error{ExitCode::interrupted, "interrupted"};
      const auto [now, ahead] = sweep_range(block.rows, ends[task], ends[task + 1]);
      partial_[task]          = now.total;
      partial_ahead_[task]    = ahead.total;
      Counts counts           = now;
      counts.total            = {};
      local_of(thread) += counts;
    });
    ahead_ = {};
    for (const Global& part : partial_) total_ += part;
    for (const Global& part : partial_ahead_) ahead_ += part;
    std::swap(messages_, next_messages_);
    published_ahead_ = true;
  }

  /// Everything the loop needs is in variables of its own, which no store can change.
  std::pair<Counts, Counts> sweep_range(const Rows rows, Vertex first, Vertex last) const {
    const P              program  = program_;
    const Global         global   = global_;
    const Message* const messages = messages_.data();
    Message* const       next     = next_messages_.data();
    Value* const         values   = values_.data();
    const EdgeIndex*     leaving  = topology_.push.size() == 1 ? topology_.push.front().rows.offsets : nullptr;
    Counts               now, ahead;
    EdgeIndex            begin = rows.offsets[first];
    now.looked_at              = rows.offsets[last] - begin;
    for (Vertex v = first; v < last; ++v) {
      const EdgeIndex   end   = rows.offsets[v + 1];
      Value             value = values[v];
      const Accumulator sum   = combined(begin, end, [&](EdgeIndex i) {
        const Vertex    u = rows.targets[i];
        const EdgeOf<P> edge{.source = u, .target = v, .weight = weight_at(rows, i)};
        return computed(program, messages[u], edge, value);
      });
      StepOf<P> step{.vertex = v, .iteration = iteration_, .global = &global, .total = &now.total};
      now.vertices += applied(program, value, static_cast<Update>(sum), step);
      values[v] = value;
      if constexpr (Publishes<P>) {
        step.iteration = iteration_ + 1;
        step.degree    = leaving ? leaving[v + 1] - leaving[v] : degree(v);
        step.total     = &ahead.total;
        next[v]        = program.publish(std::as_const(value), step);
      } else {
        next[v] = value;
      }
      begin = end;
    }
    return {now, ahead};
  }

  void pull(const Block& block, const std::vector<Vertex>& ends) {
    const std::uint64_t tasks = ends.size() - 1;
    everyone_                 = T::all_active || frontier_.vertices == n_;
    if constexpr (T::has_global && T::all_active) partial_.assign(tasks, Global{});
    const int threads = topology_.arcs + n_ < tuning_.serial_work ? 1 : threads_;
    for_each_task(threads, tasks, [&](std::uint64_t task, int thread) {
      if (progress_.cancelled()) throw Error{ExitCode::interrupted, "interrupted"};
      Counts counts;
      if constexpr (T::all_active && !tracks_open)
        for (Vertex v = ends[task]; v < ends[task + 1]; ++v) pull_gather(block.rows, v, counts, thread);
      else
        for (std::uint64_t i = ends[task] / Bitmap::bits; i < Bitmap::word_count(ends[task + 1]); ++i)
          pull_word(block.rows, i, counts, thread);
      if constexpr (T::has_global && T::all_active) partial_[task] = std::exchange(counts.total, Global{});
      local_of(thread) += counts;
    });
    if constexpr (T::has_global && T::all_active)
      for (const Global& part : partial_) total_ += part;
  }

  void pull_word(const Rows& rows, std::uint64_t index, Counts& counts, int thread) {
    const std::uint64_t left = n_ - index * Bitmap::bits;
    std::uint64_t       open = left >= Bitmap::bits ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    if constexpr (tracks_open) open &= open_.word(index);
    if constexpr (!T::all_active) count_active_edges(rows, index, counts);
    if constexpr (T::voting)
      Bitmap::for_each(open, index, [&](Vertex v) { __builtin_prefetch(rows.targets + rows.offsets[v]); });
    std::uint64_t active = 0;
    Bitmap::for_each(open, index, [&](Vertex v) {
      if (pull_row(rows, v, counts, thread)) active |= std::uint64_t{1} << (v % Bitmap::bits);
    });
    if constexpr (!T::all_active) {
      if (blocks_done_ == 0)
        next_.word(index) = active;
      else
        next_.word(index) |= active;
    }
  }

  /// Of symmetric graphs, the rows at hand are those of the senders too; otherwise the senders' own are asked.
  void count_active_edges(const Rows& rows, std::uint64_t index, Counts& counts) {
    if (blocks_done_ > 0) return;
    const bool  own = !topology_.push.empty() && topology_.push.size() == 1;
    const Rows& of  = own ? topology_.push.front().rows : rows;
    Bitmap::for_each(active_.word(index), index, [&](Vertex v) {
      counts.active_edges += own || topology_.push.empty() ? of.degree(v) : degree(v);
    });
  }

  bool is_active(Vertex v) const { return T::all_active || everyone_ || active_.test(v); }

  EdgeOf<P> edge_to(Vertex v, const Rows& rows, EdgeIndex i) const {
    return {.source = rows.targets[i], .target = v, .weight = weight_at(rows, i)};
  }

  /// True if the vertex becomes active.
  bool pull_row(const Rows& rows, Vertex v, Counts& counts, int thread) {
    if constexpr (T::voting)
      return pull_vote(rows, v, counts);
    else if constexpr (T::in_place)
      return pull_in_place(rows, v, counts);
    else
      return pull_gather(rows, v, counts, thread);
  }

  bool pull_vote(const Rows& rows, Vertex v, Counts& counts) {
    std::uint64_t&      word  = open_.word(v / Bitmap::bits);
    const std::uint64_t bit   = std::uint64_t{1} << (v % Bitmap::bits);
    const EdgeIndex     first = rows.offsets[v], last = rows.offsets[v + 1];
    EdgeIndex           i = first;
    while (i < last && !is_active(rows.targets[i])) ++i;
    counts.looked_at += i - first;
    if (i == last) return false;
    const EdgeIndex edges = degree(v);
    word &= ~bit;
    ++counts.closed_vertices;
    counts.closed_edges += edges;
    if (!apply(v, compute(message_of(rows.targets[i]), edge_to(v, rows, i)), counts)) return false;
    ++counts.vertices;
    counts.edges += edges;
    return true;
  }

  bool pull_in_place(const Rows& rows, Vertex v, Counts& counts) {
    const EdgeIndex first = rows.offsets[v], last = rows.offsets[v + 1];
    Value           value   = values_[v];
    bool            changed = false;
    for (EdgeIndex i = first; i < last; ++i)
      if (is_active(rows.targets[i]))
        changed |= Combine::improve(value, compute(message_of(rows.targets[i]), edge_to(v, rows, i)));
    counts.looked_at += last - first;
    if (!changed) return false;
    publish_value(v, value);
    if (blocks_done_ > 0 && next_.test(v)) return true;  // counted with the block before
    ++counts.vertices;
    counts.edges += degree(v);
    return true;
  }

  /// Others may be reading the value.
  void publish_value(Vertex v, const Value& value) {
    if constexpr (!T::live_messages)
      values_[v] = value;
    else if constexpr (atomics::exchangeable<Value>)
      atomics::store(values_[v], value);
    else
      Combine::improve_atomically(values_[v], value);
  }

  bool pull_gather(const Rows& rows, Vertex v, Counts& counts, int thread) {
    const EdgeIndex   first = rows.offsets[v], last = rows.offsets[v + 1];
    bool              hit = false;
    const Accumulator sum =
        T::all_active || everyone_ ? gather_all(rows, v, first, last) : gather_active(rows, v, first, last, hit);
    counts.looked_at += last - first;
    hit |= everyone_ && first < last;
    if (pull_tasks_.size() > 1) {
      if (hit) accumulators_[v] = Combine::combine(accumulators_[v], sum);
      return hit;
    }
    if constexpr (T::all_active) {
      counts.vertices += apply(v, static_cast<Update>(sum), counts);
      return false;
    } else {
      return hit && note_applied(v, apply(v, static_cast<Update>(sum), counts), counts, thread);
    }
  }

  Accumulator gather_active(const Rows& rows, Vertex v, EdgeIndex first, EdgeIndex last, bool& hit) const {
    Accumulator sum = empty();
    for (EdgeIndex i = first; i < last; ++i) {
      if (!active_.test(rows.targets[i])) continue;
      sum = Combine::combine(sum,
                             static_cast<Accumulator>(compute(message_of(rows.targets[i]), edge_to(v, rows, i))));
      hit = true;
    }
    return sum;
  }

  Accumulator gather_all(const Rows& rows, Vertex v, EdgeIndex first, EdgeIndex last) const {
    return combined(first, last,
                    [&](EdgeIndex i) { return compute(message_of(rows.targets[i]), edge_to(v, rows, i)); });
  }

  /// The updates at(first), …, at(last - 1) as one. Only what a block of them adds up to needs the accumulator's
  /// digits.
  template <class At>
  static Accumulator combined(EdgeIndex first, EdgeIndex last, const At& at) {
    Accumulator sum = empty();
    while (first < last) {
      const EdgeIndex end  = std::min(last, first + row_block);
      Update          part = Combine::identity();
      for (; first < end; ++first) part = Combine::combine(part, at(first));
      sum = Combine::combine(sum, static_cast<Accumulator>(part));
    }
    return sum;
  }
  static constexpr EdgeIndex row_block = 256;

  // --- buckets ---

  std::uint64_t bucket_of(const Value& value) const {
    constexpr double most     = 0x1p62;
    const auto       priority = program_.priority(value);
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(priority)>>) {
      return static_cast<std::uint64_t>(priority) >> delta_shift_;
    } else {
      return static_cast<std::uint64_t>(std::clamp(static_cast<double>(priority) * inverse_delta_, 0.0, most));
    }
  }

  /// The lowest bucket: as bins for programs that settle in place, as a list for those that work in rounds.
  FrontierSize next_bucket() {
    const auto current_bucket = [&](Vertex v) { return bucket_of(atomics::load(values_[v])); };
    while (buckets_->advance(current_bucket)) {
      if constexpr (in_buckets) {
        return {buckets_->taken_entries(), 0, 0, 0};
      } else {
        list_bucket();
        if (frontier_.vertices > 0) return frontier_;
      }
    }
    return {};
  }

  /// Drops what is stale: vertices that are closed or have moved to another bucket.
  void list_bucket() {
    front_.clear();
    const auto& bins = buckets_->taken();
    for_each_task(threads_for(buckets_->taken_entries()), bins.size(), [&](std::uint64_t task, int thread) {
      Local& local = local_of(thread);
      for (const Vertex v : bins[task]->span()) {
        if (bucket_of(values_[v]) > buckets_->current() || !is_open(v)) continue;
        if (!waiting_.test(v) || !waiting_.take(v)) continue;  // it moved, and was listed before
        ++local.vertices;
        local.edges += degree(v);
        local.next.put(front_, v);
      }
      local.next.flush(front_);
      buckets_->recycle(thread, bins[task]);
    });
    is_list_   = true;
    is_bitmap_ = false;
    frontier_  = collect();
  }

  bool is_open(Vertex v) const {
    if constexpr (Opens<P>) return open_.test(v);
    return true;
  }

  /// As in a push, threads begin with the bins that they filled themselves, mostly.
  void settle(const Block& block) {
    const auto& bins    = buckets_->taken();
    const int   threads = threads_for(buckets_->taken_entries() * 8);
    for (int i = 0; i < threads; ++i) local_of(i).taken = share_begin(bins.size(), i, threads);
    on_threads(threads, [&](int thread) {
      Local& local = local_of(thread);
      for (int other = 0; other < threads; ++other) {
        const int           share = (thread + other) % threads;
        const std::uint64_t end   = share_begin(bins.size(), share + 1, threads);
        std::atomic_ref     next{local_of(share).taken};
        for (std::uint64_t i = next++; i < end; i = next++) settle_bin(*bins[i], block.rows, local, thread);
      }
      if (one_block()) settle_own(block.rows, local, thread);
    });
  }

  /// As long as what a thread itself finds for this bucket is little, it goes on without waiting for the others.
  void settle_own(const Rows& rows, Local& local, int thread) {
    while (buckets_->own_is_small(thread, tuning_.fusion_entries)) {
      Buckets::Bin* bin = buckets_->take_own(thread);
      if (!bin) return;
      while (bin) {
        ++local.fused_bins;
        settle_bin(*bin, rows, local, thread);
        Buckets::Bin* const next = bin->next;
        buckets_->recycle(thread, bin);
        bin = next;
      }
    }
  }

  void settle_bin(const Buckets::Bin& bin, const Rows& rows, Local& local, int thread) {
    const Targets       to      = targets();
    const std::uint64_t current = buckets_->current();
    for (const Vertex v : bin.span()) {
      const Value value = atomics::load(to.values[v]);
      if (bucket_of(value) < current) continue;  // settled earlier, at a better value
      if (one_block() && told_already(v, value)) continue;
      const EdgeIndex first = rows.offsets[v], last = rows.offsets[v + 1];
      for_each_wanted(v, value, rows, first, last, to, [&](const EdgeOf<P>& edge) {
        const Update update = compute(value, edge);
        if (Combine::improve_atomically(to.values[edge.target], update))
          buckets_->put(thread, edge.target, bucket_of(update));
      });
      local.looked_at += last - first;
    }
  }

  /// Improved twice, a vertex waits twice; the first turn has told all there is to tell. Its value decides, not
  /// its priority, which may be coarser.
  bool told_already(Vertex v, const Value& value) {
    if (same_bits(atomics::load(settled_[v]), value)) return !waiting_.test(v) || !waiting_.take(v);
    atomics::store(settled_[v], value);
    return false;
  }

  static bool same_bits(const Value& a, const Value& b) {
    using Bits = std::array<std::byte, sizeof(Value)>;
    return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
  }

  /// Several blocks tell one after the other, and values improve in between.
  bool one_block() const { return topology_.push.size() == 1; }

  void recycle_bucket() {
    for (Buckets::Bin* bin : buckets_->taken()) buckets_->recycle(0, bin);
  }

  /// Whole numbers go into buckets of a power of two.
  void set_delta(double delta) {
    delta_shift_   = delta >= 2 ? static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(delta)) - 1) : 0;
    inverse_delta_ = 1 / delta;
  }

  const P&         program_;
  const Topology&  topology_;
  std::uint64_t    n_;
  int              threads_;
  HostTuning       tuning_;
  Progress&        progress_;
  HostInput<Value> input_;

  Buffer<Value>          values_;
  Buffer<Message>        messages_, next_messages_;
  Buffer<Accumulator>    accumulators_;
  Buffer<Value>          settled_;  ///< what a vertex last told its neighbours
  Bitmap                 open_, active_, next_;
  Bitmap                 waiting_;  ///< in a bucket, and nobody has been told yet
  VertexList             front_, back_;
  std::optional<Buckets> buckets_;
  bool                   is_list_ = false, is_bitmap_ = false;  ///< which forms of the frontier are valid

  std::vector<Local>               locals_;
  std::vector<std::vector<Vertex>> pull_tasks_;  ///< ends of ranges, for each block
  std::vector<Global>              partial_, partial_ahead_, history_;
  std::mutex                       hub_mutex_;
  std::vector<Vertex>              hubs_;

  RunCounters   counters_;
  FrontierSize  frontier_;
  Direction     direction_     = Direction::push;
  std::uint32_t iteration_     = 0;
  std::size_t   blocks_done_   = 0;
  std::uint64_t replayed_      = 0;
  bool          given_         = false;
  bool          everyone_      = false;
  unsigned      delta_shift_   = 0;
  double        inverse_delta_ = 1;
  Global        global_{};  ///< what publishing added up to
  Global        total_{}, ahead_{};
  bool published_ahead_ = false;
};

}  // namespace spillway::host
