// The executor of the CPU: push over a list of active vertices, pull over rows of receivers, buckets for programs
// with a priority. Everything is allocated before the first iteration (buckets grow by whole slabs when they
// must).
#pragma once

#include <algorithm>
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
  using T       = Traits<P>;
  using Value   = typename T::Value;
  using Update  = typename T::Update;
  using Message = typename T::Message;
  using Weight  = typename T::Weight;
  using Global  = typename T::Global;
  using Combine = typename T::Combine;

  static constexpr bool prioritised     = Prioritises<P>;
  static constexpr bool in_buckets      = prioritised && T::in_place;  ///< settled without rounds
  static constexpr bool tracks_open     = T::voting || Opens<P>;
  static constexpr bool stores_messages = !T::no_message && !T::live_messages;

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
    if constexpr (T::gathers) {
      if (needs_accumulators()) accumulators_ = {n_, budget, "the updates of the vertices"};
    }
    if constexpr (tracks_open) open_ = {n_, budget, "the open vertices"};
    if constexpr (prioritised) buckets_.emplace(threads_, budget);
    if constexpr (!T::all_active) {
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
    if constexpr (!T::all_active && !in_buckets) {
      if (direction == Direction::push)
        make_list();
      else
        make_bitmap();
    }
    if constexpr (stores_messages || Publishes<P>) publish_all();
    global_ = total_;
  }

  std::uint64_t process(const Block& block) override {
    if constexpr (in_buckets) {
      settle(block);
    } else if (direction_ == Direction::push) {
      push(block);
    } else {
      pull(block, pull_tasks_[blocks_done_]);
    }
    ++blocks_done_;
    std::uint64_t looked_at = 0;
    for (Local& local : locals_) looked_at += std::exchange(local.looked_at, 0);
    return looked_at;
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
  /// What one thread writes without asking anybody.
  struct alignas(128) Local {
    ListWriter    next;
    std::uint64_t vertices = 0, edges = 0;                ///< made active
    std::uint64_t open_vertices = 0, open_edges = 0;      ///< found open at the start
    std::uint64_t closed_vertices = 0, closed_edges = 0;  ///< closed since
    std::uint64_t looked_at  = 0;
    std::uint64_t fused_bins = 0;
    Global        total{};
  };

  // --- state ---

  bool needs_accumulators() const {
    return topology_.pull.empty() || topology_.pull.size() > 1 || !topology_.push.empty();
  }

  std::uint64_t state_bytes() const {
    std::uint64_t a_vertex = values_.size() == n_ ? 0 : sizeof(Value);
    if constexpr (stores_messages) a_vertex += sizeof(Message);
    if constexpr (T::gathers)
      if (needs_accumulators()) a_vertex += sizeof(Update);
    if constexpr (!T::all_active) a_vertex += 2 * sizeof(Vertex);
    return n_ * a_vertex + n_ / 8 * ((tracks_open ? 1 : 0) + (T::all_active ? 0 : 2));
  }

  EdgeIndex out_degree(Vertex v) const {
    EdgeIndex degree = 0;
    for (const Block& block : topology_.push) degree += block.rows.degree(v);
    return degree;
  }

  /// Pulling alone is possible: then degrees are those of the rows that are there.
  EdgeIndex degree(Vertex v) const {
    if (!topology_.push.empty()) return out_degree(v);
    EdgeIndex degree = 0;
    for (const Block& block : topology_.pull) degree += block.rows.degree(v);
    return degree;
  }

  bool can_receive(Vertex v) const {
    if (topology_.pull.empty()) return true;
    for (const Block& block : topology_.pull)
      if (block.rows.degree(v) > 0) return true;
    return false;
  }

  StepOf<P> step(Vertex v, Local& local) const {
    return {.vertex    = v,
            .iteration = iteration_,
            .bucket    = bucket(),
            .degree    = 0,
            .global    = &global_,
            .total     = &local.total};
  }

  std::uint64_t bucket() const {
    if constexpr (prioritised) return buckets_->current();
    return 0;
  }

  /// body(first, last, local) over all vertices in ranges that start at a bitmap word.
  template <class Body>
  void for_vertices(Body&& body) {
    for_each_task(n_ <= tuning_.vertex_grain ? 1 : threads_, (n_ + tuning_.vertex_grain - 1) / tuning_.vertex_grain,
                  [&](std::uint64_t task, int thread) {
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
        const std::uint64_t bit = std::uint64_t{1} << (v % Bitmap::bits);
        if (!given_) values_[v] = first_value(v);
        if (starts(v)) active |= bit, ++local.vertices, local.edges += degree(v);
        if (is_open_at_first(v, active & bit)) open |= bit, ++local.open_vertices, local.open_edges += degree(v);
        if constexpr (T::gathers)
          if (accumulators_.size() > 0) accumulators_[v] = Combine::identity();
        if constexpr (prioritised)
          if (active & bit) buckets_->put(static_cast<int>(&local - locals_.data()), v, bucket_of(values_[v]));
      }
      if constexpr (tracks_open) open_.word(base / Bitmap::bits) = open;
      if constexpr (!T::all_active && !prioritised) active_.word(base / Bitmap::bits) = active;
    }
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
    if constexpr (T::voting)
      if (active || !can_receive(v)) return false;
    if constexpr (Opens<P>) return program_.open(values_[v]);
    return true;
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

  bool apply(Vertex v, const Update& update, Local& local) {
    if constexpr (AppliesWithStep<P>)
      return program_.apply(values_[v], update, step(v, local));
    else
      return program_.apply(values_[v], update);
  }

  /// Programs with `open` may close a vertex in `publish` and in `apply`; voting ones close it by the vote.
  void close_if_done(Vertex v, EdgeIndex edges, Local& local) {
    if constexpr (Opens<P> && !T::voting) {
      if (!open_.test(v) || program_.open(values_[v])) return;
      open_.take(v);
      ++local.closed_vertices;
      local.closed_edges += edges;
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
    const Update update = std::exchange(accumulators_[v], Combine::identity());
    const bool   active = apply(v, update, local);
    return note_applied(v, active, local, thread);
  }

  bool note_applied(Vertex v, bool active, Local& local, int thread) {
    if constexpr (Opens<P>) close_if_done(v, degree(v), local);
    if (!active || input_.replay) return false;
    if constexpr (prioritised) {
      buckets_->put(thread, v, bucket_of(values_[v]));
      return false;
    } else {
      ++local.vertices;
      local.edges += degree(v);
      return true;
    }
  }

  void apply_everywhere() {
    for_vertices_in_order([&](Vertex first, Vertex last, Local& local) {
      for (Vertex v = first; v < last; ++v)
        local.vertices += apply(v, std::exchange(accumulators_[v], Combine::identity()), local);
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
    if constexpr (ComputesFromBoth<P>)
      return program_.compute(message, edge,
                              T::in_place ? atomics::load(values_[edge.target]) : values_[edge.target]);
    else if constexpr (ComputesFromEdge<P>)
      return program_.compute(edge);
    else
      return program_.compute(message, edge);
  }

  // --- push ---

  void push(const Block& block) {
    back_.clear();
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

  void push_list(const Block& block) {
    const auto                 list    = front_.span();
    const int                  threads = threads_for(frontier_.edges + list.size());
    std::atomic<std::uint64_t> next{0};
    on_threads(threads, [&](int thread) {
      Local& local = local_of(thread);
      while (true) {
        const std::uint64_t begin = next.fetch_add(tuning_.push_grain, std::memory_order_relaxed);
        if (begin >= list.size()) break;
        const std::uint64_t end = std::min(list.size(), begin + tuning_.push_grain);
        for (std::uint64_t i = begin; i < end; ++i) {
          const EdgeIndex first = block.rows.offsets[list[i]], last = block.rows.offsets[list[i] + 1];
          if (threads > 1 && last - first > tuning_.hub_degree)
            leave_hub(list[i]);
          else
            push_row(list[i], block.rows, first, last, local);
        }
      }
      local.next.flush(back_);
    });
    push_hubs(block);
  }

  void leave_hub(Vertex v) {
    const std::scoped_lock lock{hub_mutex_};
    hubs_.push_back(v);
  }

  void push_hubs(const Block& block) {
    for (const Vertex v : hubs_) {
      const EdgeIndex     first = block.rows.offsets[v], last = block.rows.offsets[v + 1];
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

  void push_row(Vertex v, const Rows& rows, EdgeIndex first, EdgeIndex last, Local& local) {
    const Message message = message_of(v);
    for (EdgeIndex i = first; i < last; ++i)
      push_edge(message, {.source = v, .target = rows.targets[i], .weight = weight_at(rows, i)}, local);
    local.looked_at += last - first;
  }

  void push_edge(const Message& message, const EdgeOf<P>& edge, Local& local) {
    const Vertex to = edge.target;
    if constexpr (T::voting) {
      if (!open_.test(to) || !open_.take(to)) return;
      const EdgeIndex edges = degree(to);
      ++local.closed_vertices;
      local.closed_edges += edges;
      if (!apply(to, compute(message, edge), local)) return;
      ++local.vertices;
      local.edges += edges;
      local.next.put(back_, to);
    } else if constexpr (T::in_place) {
      if (!Combine::improve_atomically(values_[to], compute(message, edge))) return;
      if (next_.test(to) || !next_.claim(to)) return;
      ++local.vertices;
      local.edges += degree(to);
      local.next.put(back_, to);
    } else {
      if constexpr (Opens<P>)
        if (!open_.test(to)) return;
      if constexpr (Combine::idempotent)
        Combine::improve_atomically(accumulators_[to], compute(message, edge));
      else
        Combine::combine_atomically(accumulators_[to], compute(message, edge));
      if constexpr (!T::all_active)
        if (!next_.test(to) && next_.claim(to)) local.next.put(back_, to);
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

  void pull(const Block& block, const std::vector<Vertex>& ends) {
    const std::uint64_t tasks = ends.size() - 1;
    everyone_                 = T::all_active || frontier_.vertices == n_;
    if constexpr (T::has_global && T::all_active) partial_.assign(tasks, Global{});
    for_each_task(topology_.arcs + n_ < tuning_.serial_work ? 1 : threads_, tasks, [&](std::uint64_t task, int thread) {
      if (progress_.cancelled()) throw Error{ExitCode::interrupted, "interrupted"};
      Local& local = local_of(thread);
      for (std::uint64_t i = ends[task] / Bitmap::bits; i < Bitmap::word_count(ends[task + 1]); ++i)
        pull_word(block.rows, i, local, thread);
      if constexpr (T::has_global && T::all_active) partial_[task] = std::exchange(local.total, Global{});
    });
    if constexpr (T::has_global && T::all_active)
      for (const Global& part : partial_) total_ += part;
  }

  void pull_word(const Rows& rows, std::uint64_t index, Local& local, int thread) {
    const std::uint64_t left = n_ - index * Bitmap::bits;
    std::uint64_t       open = left >= Bitmap::bits ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    if constexpr (tracks_open) open &= open_.word(index);
    std::uint64_t active = 0;
    Bitmap::for_each(open, index, [&](Vertex v) {
      if (pull_row(rows, v, local, thread)) active |= std::uint64_t{1} << (v % Bitmap::bits);
    });
    if constexpr (!T::all_active) {
      if (blocks_done_ == 0)
        next_.word(index) = active;
      else
        next_.word(index) |= active;
    }
  }

  bool is_active(Vertex v) const { return everyone_ || active_.test(v); }

  EdgeOf<P> edge_to(Vertex v, const Rows& rows, EdgeIndex i) const {
    return {.source = rows.targets[i], .target = v, .weight = weight_at(rows, i)};
  }

  /// True if the vertex becomes active.
  bool pull_row(const Rows& rows, Vertex v, Local& local, int thread) {
    if constexpr (T::voting)
      return pull_vote(rows, v, local);
    else if constexpr (T::in_place)
      return pull_in_place(rows, v, local);
    else
      return pull_gather(rows, v, local, thread);
  }

  bool pull_vote(const Rows& rows, Vertex v, Local& local) {
    const EdgeIndex first = rows.offsets[v], last = rows.offsets[v + 1];
    EdgeIndex       i = first;
    while (i < last && !is_active(rows.targets[i])) ++i;
    local.looked_at += i - first;
    if (i == last) return false;
    const EdgeIndex edges = degree(v);
    open_.word(v / Bitmap::bits) &= ~(std::uint64_t{1} << (v % Bitmap::bits));
    ++local.closed_vertices;
    local.closed_edges += edges;
    if (!apply(v, compute(message_of(rows.targets[i]), edge_to(v, rows, i)), local)) return false;
    ++local.vertices;
    local.edges += edges;
    return true;
  }

  bool pull_in_place(const Rows& rows, Vertex v, Local& local) {
    const EdgeIndex first = rows.offsets[v], last = rows.offsets[v + 1];
    Value           value   = values_[v];
    bool            changed = false;
    for (EdgeIndex i = first; i < last; ++i)
      if (is_active(rows.targets[i]))
        changed |= Combine::improve(value, compute(message_of(rows.targets[i]), edge_to(v, rows, i)));
    local.looked_at += last - first;
    if (!changed) return false;
    publish_value(v, value);
    ++local.vertices;
    local.edges += degree(v);
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

  bool pull_gather(const Rows& rows, Vertex v, Local& local, int thread) {
    const EdgeIndex first = rows.offsets[v], last = rows.offsets[v + 1];
    bool            hit = false;
    Update update       = everyone_ ? gather_all(rows, v, first, last) : gather_active(rows, v, first, last, hit);
    local.looked_at += last - first;
    hit |= everyone_ && first < last;
    if (pull_tasks_.size() > 1) {
      if (hit) accumulators_[v] = Combine::combine(accumulators_[v], update);
      return hit;
    }
    if constexpr (T::all_active) {
      local.vertices += apply(v, update, local);
      return false;
    } else {
      return hit && note_applied(v, apply(v, update, local), local, thread);
    }
  }

  Update gather_active(const Rows& rows, Vertex v, EdgeIndex first, EdgeIndex last, bool& hit) const {
    Update update = Combine::identity();
    for (EdgeIndex i = first; i < last; ++i) {
      if (!active_.test(rows.targets[i])) continue;
      update = Combine::combine(update, compute(message_of(rows.targets[i]), edge_to(v, rows, i)));
      hit    = true;
    }
    return update;
  }

  /// Four at a time: the additions of one row need not wait for one another.
  Update gather_all(const Rows& rows, Vertex v, EdgeIndex first, EdgeIndex last) const {
    Update     a = Combine::identity(), b = a, c = a, d = a;
    const auto at = [&](EdgeIndex i) { return compute(message_of(rows.targets[i]), edge_to(v, rows, i)); };
    EdgeIndex  i  = first;
    for (; i + 4 <= last; i += 4) {
      a = Combine::combine(a, at(i));
      b = Combine::combine(b, at(i + 1));
      c = Combine::combine(c, at(i + 2));
      d = Combine::combine(d, at(i + 3));
    }
    for (; i < last; ++i) a = Combine::combine(a, at(i));
    return Combine::combine(Combine::combine(a, b), Combine::combine(c, d));
  }

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

  void settle(const Block& block) {
    const auto&                bins    = buckets_->taken();
    const int                  threads = threads_for(buckets_->taken_entries() * 8);
    const bool                 fuse    = topology_.push.size() == 1;
    std::atomic<std::uint64_t> next{0};
    on_threads(threads, [&](int thread) {
      Local& local = local_of(thread);
      for (std::uint64_t i = next++; i < bins.size(); i = next++) settle_bin(*bins[i], block.rows, local, thread);
      if (!fuse) return;
      for (std::uint64_t entries = 0; entries < tuning_.fusion_entries;) {
        Buckets::Bin* bin = buckets_->take_own(thread);
        if (!bin) break;
        entries += bin->count;
        ++local.fused_bins;
        settle_bin(*bin, block.rows, local, thread);
        buckets_->recycle(thread, bin);
      }
    });
  }

  void settle_bin(const Buckets::Bin& bin, const Rows& rows, Local& local, int thread) {
    for (const Vertex v : bin.span()) {
      const Value value = atomics::load(values_[v]);
      if (bucket_of(value) < buckets_->current()) continue;  // settled earlier, at a better value
      const EdgeIndex first = rows.offsets[v], last = rows.offsets[v + 1];
      for (EdgeIndex i = first; i < last; ++i) {
        const EdgeOf<P> edge{.source = v, .target = rows.targets[i], .weight = weight_at(rows, i)};
        const Update    update = compute(value, edge);
        if (Combine::improve_atomically(values_[edge.target], update))
          buckets_->put(thread, edge.target, bucket_of(update));
      }
      local.looked_at += last - first;
    }
  }

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
  Buffer<Message>        messages_;
  Buffer<Update>         accumulators_;
  Bitmap                 open_, active_, next_;
  VertexList             front_, back_;
  std::optional<Buckets> buckets_;
  bool                   is_list_ = false, is_bitmap_ = false;  ///< which forms of the frontier are valid

  std::vector<Local>               locals_;
  std::vector<std::vector<Vertex>> pull_tasks_;  ///< ends of ranges, for each block
  std::vector<Global>              partial_, history_;
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
  Global        total_{};
};

}  // namespace spillway::host
