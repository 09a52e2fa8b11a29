// One thread's part in running a program: what it keeps in registers from phase to phase, and how it works on
// vertices and edges together with its warp and its block. Kernels drive it (kernels.cuh).
#pragma once

#include <spillway/engine/cuda/balance.cuh>
#include <spillway/engine/cuda/launch.cuh>

namespace spillway::cuda {

template <class P, class Rows>
class Machine {
  using T           = Traits<P>;
  using Value       = typename T::Value;
  using Update      = typename T::Update;
  using Message     = typename T::Message;
  using Weight      = typename T::Weight;
  using Global      = typename T::Global;
  using Combine     = typename T::Combine;
  using Accumulator = typename Combine::Accumulator;
  using RowSlice    = typename Rows::RowSlice;
  using Place       = typename Rows::Place;
  using Span        = typename Rows::Span;
  using Lists       = IterationCounters::Lists;

 public:
  static constexpr bool prioritised = Prioritises<P>;
  static constexpr bool in_buckets  = prioritised && T::in_place;
  static constexpr bool settles     = in_buckets && T::settles;
  /// Nobody is improved by what is still the identity: no priority is higher, and none falls along an edge. So a
  /// pull may read from vertices that are not active, without a look at who is.
  static constexpr bool reads_inactive = [] {
    if constexpr (settles && CouldImprove<P> && T::live_messages) return Combine::has_identity;
    return false;
  }();
  /// Within a list of edges, who has changed may push again, with a message that needs no publishing.
  static constexpr bool runs_lists_to_fixed_point = T::supports_async && T::in_place && T::live_messages;
  /// Blocks may go on within the bucket at hand (bucket_fusion.cuh).
  static constexpr bool fuses_buckets   = in_buckets && T::live_messages && !Rows::in_windows;
  static constexpr bool tracks_open     = T::voting || Opens<P>;
  static constexpr bool stores_messages = !T::no_message && !T::live_messages;
  static constexpr bool publishes       = stores_messages || Publishes<P>;
  /// Where everybody is active all the time, vertices may lie in another order here.
  static constexpr bool may_reorder = T::all_active || Rows::always_ordered;
  /// Of a replayed run in which only vertices of the next frontier receive, that frontier is applied, published
  /// and listed in one pass: who received need not be noted, and a barrier is spared.
  static constexpr bool replays_ahead = T::gathers && !T::has_global && !Rows::in_windows && T::next_receive;
  /// Where everybody pulls all the time, who has applied what it pulled can publish for the next iteration at
  /// once, into other messages than those that are read: a pass over the vertices and a barrier less.
  static constexpr bool publishes_ahead =
      T::all_active && stores_messages && T::gathers && !tracks_open && sizeof(Message) <= 8 && PublishesConst<P>;
  /// Whoever pushes can make the message itself: publishing changes nothing, and values rest while updates meet in
  /// accumulators. That spares a barrier.
  static constexpr bool publishes_on_push =
      stores_messages && T::gathers && !T::has_global &&
      (!Publishes<P> || requires(const P& p, const Value& value, StepOf<P> at) { p.publish(value, at); });

  /// Hubs get what the others send them while those pull, in shared memory (hub_sums.cuh).
  static constexpr bool sums_hubs = Rows::meets_hubs;
  static constexpr bool may_sum_hubs =
      publishes_ahead && !T::weighted && sizeof(Message) <= 4 && std::is_same_v<Rows, PlainRows>;
  static constexpr unsigned block_threads = sums_hubs ? hub_block_threads : cuda::block_threads;
  static constexpr unsigned block_warps   = block_threads / warp_lanes;

  /// Rows from here on are pulled by eight lanes, and by a warp.
  static constexpr unsigned lane_row = 8, group_row = 64;

  /// Vertices, edges and edges looked at; where anybody closes, closed vertices and edges.
  static constexpr unsigned phase_counts = tracks_open || settles ? 5 : 3;

  /// What the warps of a block add up together.
  struct Shared {
    Count         counts[block_warps][phase_counts];
    Count         lowest;
    Count         began, looked;  ///< when the iteration did, and when at the host's word; the first thread's own
    Global        totals[block_warps];
    Global        total;
    Lists         listed[block_warps];  ///< entries that each warp is to make
    std::uint32_t staged[block_warps][Rows::staged_words > 0 ? Rows::staged_words : 1];  ///< spans of rows
    unsigned      kept_count[2];
    Vertex        kept[2][fuses_buckets ? most_kept : 1];  ///< the bucket's, of this block
  };

  __device__ Machine(const View<P, Rows>& view, Shared& shared)
      : view_(view), shared_(shared), messages_(view.messages) {}

  /// Compressed rows are dealt out in bins; others as is asked.
  static constexpr bool has_balances = Rows::line_edges > 0;
  __device__ bool       is_split() const { return has_balances && view_.sizes.split != 0; }
  __device__ unsigned   row_lanes() const { return has_balances ? view_.sizes.row_lanes : 0; }

  /// Which messages are this iteration's, and which the next one's.
  __device__ void turn_to(unsigned at) {
    if constexpr (publishes_ahead) {
      if (view_.messages_ahead == nullptr) return;
      messages_      = at % 2 == 0 ? view_.messages : view_.messages_ahead;
      next_messages_ = at % 2 == 0 ? view_.messages_ahead : view_.messages;
    }
  }

  // --- phases; all threads of the grid come to each, and barriers stand between them ---

  /// The vertices of the frontier's bitmap are listed, in their order: SIMD-X's ballot filter.
  __device__ void list_frontier(unsigned at);

  __device__ void publish(unsigned at, bool listed);

  /// The frontier is written down, behind the `before` vertices of those before it.
  __device__ void record(unsigned at, bool listed, Count before);

  /// A recorded frontier becomes the one at hand, and its messages are published. `applies`: what has been pushed
  /// to it is applied first.
  __device__ void replay(unsigned at, std::uint64_t first, std::uint64_t last, bool applies);

  __device__ void push(unsigned at) {
    begin_phase();
    if (fuses()) begin_rounds();
    if (is_split())
      push_nodes(at);
    else
      for (int b = 0; b < view_.push_blocks; ++b) push_rows(view_.push[b], at);
    if (fuses()) push_kept(at);
    end_phase(counters(at + 1), slot(1, at));
  }

  /// `everyone`: all are active, or those who are not are read as well.
  __device__ void pull(unsigned at, bool everyone) {
    begin_phase();
    everyone_ = T::all_active || everyone;
    if constexpr (sums_hubs) {
      pull_around_hubs(at);
    } else if (is_split()) {
      pull_nodes(at);
    } else {
      if constexpr (!T::voting) pull_long_rows(at);
      if constexpr (pulls_several)
        pull_several_words(0, at);
      else
        for_open_words([&](std::uint64_t index, Word word) { pull_word(index, word, at); });
    }
    end_phase(counters(at + 1), slot(1, at));
    if constexpr (!sums_hubs) note_ahead(at);
  }

  /// Hubs get what has met in shared memory.
  __device__ void apply_to_hubs(unsigned at);

  /// What pushes have left in accumulators.
  __device__ void apply(unsigned at, bool overflowed) {
    if constexpr (T::gathers) {
      begin_phase();
      if (T::all_active) {
        for (std::uint64_t v = thread(); v < view_.vertices; v += threads())
          mine_.vertices += apply_accumulated(static_cast<Vertex>(v)) ? 1 : 0;
      } else if (overflowed) {
        for_set_words(view_.bits[(at + 1) % 3], [&](std::uint64_t index, Word word) {
          apply_lane(vertex_at(index), (word >> lane_index()) & 1, at);
        });
      } else {
        const unsigned count = counters(at + 1).touched;
        for (std::uint64_t base = warp_index() * warp_lanes; base < count; base += warps() * warp_lanes) {
          const std::uint64_t i = base + lane_index();
          apply_lane(i < count ? view_.touched[i] : 0, i < count, at);
        }
      }
      end_phase(counters(at + 1), slot(2, at));
    }
  }

  /// The nodes of the frontier's vertices are listed, of those in an array.
  __device__ void list_nodes(unsigned at);

  /// The batch filter: of what a push has found, every vertex once.
  __device__ void filter_batch(unsigned at);

  /// Who is in a finished bucket is noted: edges to them need no look at their values.
  __device__ void note_settled(unsigned at);

  /// Those of the bucket, and of any before it, leave the waiting ones and are the frontier. The lowest bucket of
  /// the others is noted.
  __device__ void take_bucket(unsigned at, IterationCounters::Taken& into);

  /// The last frontier's bits are cleared for the one after the next.
  __device__ void clear_last(unsigned at);

  // --- in windows (windows.cuh) ---

  /// The active rows, or all, in slices; where each begins if they lie one behind the other.
  __device__ void lay_out(const Layout& layout, unsigned at);

  /// Pieces of active rows that are in the window are pushed, or all in it are pulled into accumulators.
  __device__ void visit(const WindowBlock& window, unsigned at);

  /// Edges of a list whose source is active are pushed (edges.cuh).
  __device__ void visit(const EdgeBlock& block, unsigned at);

  /// The next frontier is counted again: while windows were visited, some of it may have been taken.
  __device__ void count_next(unsigned at);

  /// Nobody waits for these additions. For one thread.
  __device__ void count_in(VisitCounters& visit_counters, unsigned at, bool pulled) {
    const IterationCounters& next = counters(at + 1);
    if (pulled) {
      atomicAdd(&visit_counters.long_pulls, Count{view_.long_row_count});
    } else if (!T::all_active) {
      atomicAdd(&visit_counters.small_rows, Count{lists_at_->small});
      atomicAdd(&visit_counters.large_rows, Count{lists_at_->large});
      atomicAdd(&visit_counters.hub_rows, Count{lists_at_->hubs});
      atomicAdd(&visit_counters.batched, next.batched);
    }
    if (next.overflowed | next.touched_overflowed) atomicAdd(&visit_counters.overflows, Count{1});
    if (settles) atomicAdd(&visit_counters.settled, next.closed_vertices);
  }

  /// What the blocks added up in a phase; every thread gets it.
  __device__ Global total_of(unsigned slot) {
    if constexpr (!T::has_global) {
      return {};
    } else {
      Global sum{};
      for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) sum += view_.totals[slot * gridDim.x + i];
      __syncthreads();
      return block_total(sum);
    }
  }

  /// Totals of a phase: those of the iteration before may still be read.
  __device__ static unsigned slot(unsigned phase, unsigned at) { return phase + 3 * (at % 2); }

  __device__ IterationCounters& counters(unsigned at) { return view_.iteration_counters[at % 3]; }

  __device__ static unsigned thread() { return LaneTeam::number(); }
  __device__ static unsigned threads() { return LaneTeam::count(); }

  std::uint32_t                   iteration_ = 0;
  Count                           bucket_    = 0;
  Global                          global_{};            ///< what publishing added up to
  bool                            lists_    = true;     ///< found vertices are listed at once: the online filter
  const IterationCounters::Lists* lists_at_ = nullptr;  ///< the frontier's
  bool eager_ = false;  ///< updates are so few that bits are taken without a look at them first
  bool fuses_ = false;  ///< blocks go on within the bucket, if the program has any

 private:
  struct Mine {
    Count    vertices = 0, edges = 0, closed_vertices = 0, closed_edges = 0, looked_at = 0;
    unsigned found          = 0;      ///< entries of this thread's bin
    bool     overflow_noted = false;  ///< of that bin
    Global   total{};
    Global   ahead{};    ///< of the next iteration's publishing
    Count    nodes = 0;  ///< virtual ones that were visited
  };

  // --- where we are ---

  __device__ static unsigned warp_index() { return WarpTeam::number(); }
  __device__ static unsigned warps() { return WarpTeam::count(); }
  __device__ std::uint32_t* staged() const { return shared_.staged[threadIdx.x / warp_lanes]; }
  __device__ static Vertex  vertex_at(std::uint64_t word) {
     return static_cast<Vertex>(word * warp_lanes + lane_index());
  }
  __device__ std::uint64_t word_count() const { return (view_.vertices + warp_lanes - 1) / warp_lanes; }

  template <class Body>
  __device__ void for_words(Body&& body) {
    deal<WarpTeam>(word_count(), body);
  }

  /// Words of a bitmap that a warp works on at once: what it waits for, it waits for once.
  static constexpr unsigned chunk = 8;

  /// body(base, mine) for every `chunk` words from `base` on; `mine` if this lane has one, base + lane.
  template <class Body>
  __device__ void for_word_batches(std::uint64_t first, std::uint64_t last, Body&& body) {
    const std::uint64_t stride = std::uint64_t{warps()} * chunk;
    for (std::uint64_t base = first + std::uint64_t{warp_index()} * chunk; base < last; base += stride)
      body(base, lane_index() < chunk && base + lane_index() < last);
  }
  template <class Body>
  __device__ void for_word_batches(Body&& body) {
    for_word_batches(0, word_count(), body);
  }

  /// body(index, word) for the words of a bitmap that are not empty.
  template <class Body>
  __device__ void for_set_words(const Word* bits, Body&& body) {
    for_word_batches([&](std::uint64_t base, bool mine) {
      const Word word = mine ? bits[base + lane_index()] : 0;
      for (unsigned some = __ballot_sync(all_lanes, word != 0); some != 0; some &= some - 1) {
        const int lane = __ffs(static_cast<int>(some)) - 1;
        body(base + static_cast<unsigned>(lane), __shfl_sync(all_lanes, word, lane));
      }
    });
  }

  /// The same for words that lie together, those of each warp behind those of the one before.
  template <class Body>
  __device__ void for_own_word_batches(Body&& body) {
    const std::uint64_t words = word_count(), batches = (words + chunk - 1) / chunk;
    const std::uint64_t some = (batches + warps() - 1) / warps() * chunk, first = warp_index() * some;
    for (std::uint64_t base = first; base < first + some && base < words; base += chunk)
      body(base, lane_index() < chunk && base + lane_index() < words);
  }

  /// From a word in each of the first lanes to this lane's bit of every word…
  __device__ static unsigned across(Word word) {
    unsigned bits = 0;
    for (unsigned k = 0; k < chunk; ++k)
      bits |= ((__shfl_sync(all_lanes, word, static_cast<int>(k)) >> lane_index()) & 1) << k;
    return bits;
  }
  /// …and back.
  __device__ static Word along(unsigned bits) {
    Word word = 0;
    for (unsigned k = 0; k < chunk; ++k) {
      const Word of_all = __ballot_sync(all_lanes, (bits >> k) & 1);
      if (lane_index() == k) word = of_all;
    }
    return word;
  }

  // --- counting ---

  __device__ void begin_phase() { mine_ = {}; }

  /// Few blocks find anything in a small frontier; the others have nothing to say.
  __device__ void end_phase(IterationCounters& into, unsigned slot) {
    Count* const to[] = {&into.vertices, &into.edges, &into.looked_at, &into.closed_vertices, &into.closed_edges};
    add_up(to);
    if (view_.sizes.split != 0) note_nodes();
    if constexpr (T::has_global) {
      const Global total = block_total(mine_.total);
      if (threadIdx.x == 0) view_.totals[slot * gridDim.x + blockIdx.x] = total;
    }
  }

  /// What publishing for the next iteration added up to.
  __device__ void note_ahead(unsigned at) {
    if constexpr (publishes_ahead && T::has_global) {
      const Global ahead = block_total(mine_.ahead);
      if (threadIdx.x == 0) view_.totals[slot(0, at + 1) * gridDim.x + blockIdx.x] = ahead;
    }
  }

  /// Each warp adds up its lanes, and a thread for each count the warps: additions of 64 bits in shared memory
  /// would wait for one another, a microsecond in every iteration.
  template <std::size_t size>
  __device__ void add_up(Count* const (&to)[size]) {
    constexpr unsigned kept = size < phase_counts ? size : phase_counts;
    const Count mine[] = {mine_.vertices, mine_.edges, mine_.looked_at, mine_.closed_vertices, mine_.closed_edges};
#pragma unroll
    for (unsigned k = 0; k < kept; ++k) {
      const Count sum = __any_sync(all_lanes, mine[k] != 0) ? warp_sum(mine[k]) : 0;
      if (lane_index() == 0) shared_.counts[threadIdx.x / warp_lanes][k] = sum;
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kept; ++k) {
      if (threadIdx.x != k) continue;
      Count sum = 0;
      for (const auto& counts : shared_.counts) sum += counts[k];
      if (sum != 0) atomicAdd(to[k], sum);
    }
  }

  __device__ Global block_total(Global total) {
    for (unsigned offset = warp_lanes / 2; offset > 0; offset /= 2) {
      const Global other = shuffle(total, lane_index() ^ offset);
      total += other;
    }
    if (lane_index() == 0) shared_.totals[threadIdx.x / warp_lanes] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
      shared_.total = {};
      for (const Global& part : shared_.totals) shared_.total += part;
    }
    __syncthreads();
    const Global all = shared_.total;
    __syncthreads();
    return all;
  }

  // --- vertices ---

  /// What the program knows it as.
  __device__ Vertex name_of(Vertex v) const {
    if constexpr (may_reorder)
      if (view_.original != nullptr) return view_.original[v];
    return v;
  }

  __device__ EdgeIndex degree(Vertex v) const {
    EdgeIndex edges = 0;
    for (int b = 0; b < view_.push_blocks; ++b) edges += view_.push[b].slice(v).length();
    if (view_.push_blocks == 0)
      for (int b = 0; b < view_.pull_blocks; ++b) edges += view_.pull[b].slice(v).length();
    return edges;
  }

  __device__ EdgeIndex pulled_edges(Vertex v) const {
    EdgeIndex edges = 0;
    for (int b = 0; b < view_.pull_blocks; ++b) edges += view_.pull[b].slice(v).length();
    return edges;
  }

  __device__ bool is_open(Vertex v) const {
    if constexpr (Opens<P>) return test(view_.open, v);
    return true;
  }

  __device__ Count bucket_of(const Value& value) const;

  __device__ StepOf<P> step(Vertex v) {
    return {.vertex    = name_of(v),
            .iteration = iteration_,
            .bucket    = bucket_,
            .degree    = 0,
            .global    = &global_,
            .total     = &mine_.total};
  }

  __device__ void publish_vertex(Vertex v) {
    if constexpr (Publishes<P>) {
      StepOf<P> at = step(v);
      at.degree    = degree(v);
      if constexpr (T::no_message)
        view_.program.publish(view_.values[v], at);
      else
        messages_[v] = view_.program.publish(view_.values[v], at);
      close_if_done(v, at.degree);
    } else if constexpr (stores_messages) {
      messages_[v] = view_.values[v];
    }
  }

  /// Of the value that was just applied, for the next iteration.
  __device__ void publish_ahead(Vertex v, const Value& value) {
    if constexpr (publishes_ahead && Publishes<P>) {
      StepOf<P> at      = step(v);
      at.iteration      = iteration_ + 1;
      at.degree         = degree(v);
      at.total          = &mine_.ahead;
      next_messages_[v] = view_.program.publish(value, at);
    } else if constexpr (publishes_ahead) {
      next_messages_[v] = value;
    }
  }

  __device__ void close_if_done(Vertex v, EdgeIndex edges) {
    if constexpr (Opens<P> && !T::voting) {
      if (!test(view_.open, v) || view_.program.open(view_.values[v])) return;
      take(view_.open, v);
      ++mine_.closed_vertices;
      mine_.closed_edges += edges;
    }
  }

  __device__ bool applied(Value& value, const Update& update, Vertex v) {
    return Operations<P>::apply(view_.program, value, update, [&] { return step(v); });
  }

  /// Applies and empties a vertex's accumulator.
  __device__ bool apply_accumulated(Vertex v) {
    const Update update = detail::converted<Update>(view_.sums[v]);
    view_.sums[v]       = detail::converted<Accumulator>(Combine::identity());
    const bool active   = applied(view_.values[v], update, v);
    if constexpr (Opens<P>) close_if_done(v, degree(v));
    return active;
  }

  /// All lanes come; those with `valid` apply to their vertex, whose bit of the next frontier is set.
  __device__ void apply_lane(Vertex v, bool valid, unsigned at) {
    bool active = valid && apply_accumulated(v) && view_.replay == nullptr;  // a replayed run knows who comes next
    active      = active && !waits_for_its_bucket(v);
    if (valid && !active) take(view_.bits[(at + 1) % 3], v);
    note_active(v, active, at);
  }

  __device__ bool waits_for_its_bucket(Vertex v);

  __device__ void note_active(Vertex v, bool active, unsigned at);

  __device__ bool in_bin(bool found, unsigned& overflowed);

  __device__ void list(Vertex v, EdgeIndex edges, bool wants, unsigned at, Lists& lists);

  /// Of a lane's vertices of a chunk, by their bits.
  struct RowClasses {
    unsigned  large, hubs;
    EdgeIndex edges;  ///< of all
  };
  __device__ RowClasses classes_of(std::uint64_t base, unsigned wants) const;

  __device__ EdgeIndex list_word_batch(std::uint64_t base, unsigned wants, unsigned at, Lists& lists);

  __device__ void append(std::uint64_t base, unsigned wants, unsigned* count, Vertex* to);

  __device__ Lists listed_before(Lists mine);

  __device__ static unsigned put(std::uint64_t base, Word word, Vertex* to);

  // --- bucket fusion (bucket_fusion.cuh) ---

  __device__ bool fuses() const { return fuses_buckets && fuses_; }
  __device__ bool keep(Vertex v, EdgeIndex edges, bool found);
  __device__ void begin_rounds();
  __device__ void push_kept(unsigned at);
  __device__ void push_again(Vertex v, bool mine, unsigned at);

  // --- edges ---

  __device__ EdgeOf<P> edge_of(std::uint32_t weight, Vertex source, Vertex target) const {
    EdgeOf<P> edge{.source = name_of(source), .target = name_of(target), .weight = {}};
    if constexpr (T::weighted) edge.weight = __builtin_bit_cast(Weight, weight);
    return edge;
  }

  /// Edges that are pushed; those of a pass for another chunk of the state have been counted before.
  __device__ void note_looked_at(unsigned edges) {
    if (!Rows::in_windows || view_.receivers.first == 0) mine_.looked_at += edges;
  }

  /// What a vertex that pushes sends along all its edges.
  __device__ Message sent_by(Vertex v) {
    if constexpr (publishes_on_push && Publishes<P>) {
      StepOf<P> at = step(v);
      at.degree    = degree(v);
      return view_.program.publish(std::as_const(view_.values[v]), at);
    } else if constexpr (publishes_on_push) {
      return view_.values[v];
    } else if constexpr (fuses_buckets) {
      return fuses_ ? atomics::load(view_.values[v]) : message_of(v);  // as new as the round
    } else {
      return message_of(v);
    }
  }

  __device__ Message message_of(Vertex v) const {
    if constexpr (T::no_message)
      return {};
    else if constexpr (T::live_messages)
      return atomics::load_cached(view_.values[v]);  // as new as the iteration
    else
      return messages_[v];
  }

  __device__ Update compute(const Message& message, const EdgeOf<P>& edge, Vertex target) const {
    return Operations<P>::compute(view_.program, view_.tree, message, edge, [&]() -> Value {
      if constexpr (T::in_place) return atomics::load(view_.receiving[target]);
      return view_.receiving[target];
    });
  }

  /// A vertex, and its row or a part of it.
  struct OwnRow {
    Vertex   vertex;
    RowSlice slice;
  };

  // --- virtual nodes (nodes.cuh) ---

  __device__ unsigned  nodes_of(unsigned edges) const { return spillway::nodes_of(edges, view_.sizes.split); }
  __device__ NodeEdges edges_of_node(unsigned length, unsigned number) const {
    return spillway::edges_of_node(length, number, view_.sizes.split, view_.sizes.coalesced);
  }
  template <class Body>
  __device__ void deal_nodes(unsigned nodes, Body&& body);
  template <class Team, class Body>
  __device__ void deal_nodes_of_row(unsigned nodes, Body&& body);
  __device__ void note_nodes();
  __device__ void push_nodes(unsigned at);
  __device__ void push_nodes_of(const Rows& rows, const OwnRow& own, bool mine, unsigned at);
  template <class Team>
  __device__ void          push_nodes_of_row(const Rows& rows, const OwnRow& row, unsigned at);
  __device__ static OwnRow whole_row(const Rows& rows, Vertex v) { return {v, rows.slice(v)}; }
  __device__ void          push_array(unsigned at);
  __device__ void          push_edges_of(const Rows& rows, const OwnRow& own, const Message& message,
                                         const NodeEdges& edges, unsigned at);
  __device__ void          pull_nodes(unsigned at);
  __device__ void          pull_node(const Rows& rows, const OwnRow& own, const NodeEdges& edges, unsigned at);
  __device__ bool pull_vote_of_node(const Rows& rows, const OwnRow& own, const NodeEdges& edges, unsigned at);

  // --- push (push.cuh) ---

  /// An edge on its way: of which vertex, and with what.
  struct Sent {
    Vertex  source;
    Message message;
    bool    valid;
  };
  /// Edges that a lane has under way at once. Values that change in place are read first, which takes time; votes
  /// meet few edges in a push, and gathering waits for nothing.
  static constexpr unsigned push_batch = !T::in_place || sizeof(Message) > 8 ? 1 : sizeof(Message) > 4 ? 2 : 4;
  /// Of lists; there messages are read for each edge.
  static constexpr unsigned list_batch = sizeof(Message) > 8 ? 1 : sizeof(Message) > 4 ? 2 : 4;

  __device__ void push_rows(const Rows& rows, unsigned at);
  template <class Team>
  __device__ void push_listed(const Rows& rows, const Vertex* list, unsigned count, unsigned at);
  template <class Team>
  __device__ void push_row(const Rows& rows, Vertex v, unsigned at);
  template <class Team>
  __device__ void push_slice(const Rows& rows, Vertex v, RowSlice slice, unsigned at);
  __device__ void push_lines(const Rows& rows, Vertex v, RowSlice& slice, unsigned at);
  __device__ void push_small(const Rows& rows, const Vertex* list, unsigned count, unsigned at);
  __device__ void push_by_lanes(const Rows& rows, const OwnRow& own, bool mine, unsigned width, unsigned at);
  __device__ void push_as_one(const Rows& rows, Vertex v, RowSlice slice, bool mine, unsigned at);
  /// Where the edges of a lane are: apart, or side by side with those of the other lanes.
  struct Apart {
    Place             place[push_batch];
    __device__ Vertex target(const Rows& rows, unsigned k, bool wants) const {
      return wants ? rows.target(place[k]) : 0;
    }
    __device__ std::uint32_t weight(const Rows& rows, unsigned k, bool wants) const {
      return wants ? rows.weight(place[k]) : 0;
    }
  };
  struct Together {
    Span              span;
    __device__ Vertex target(const Rows& rows, unsigned k, bool wants) const {
      return rows.template target_in<false>(span, k, wants);
    }
    __device__ std::uint32_t weight(const Rows& rows, unsigned k, bool wants) const {
      return rows.weight_in(span, k, wants);
    }
  };
  template <class Edges, unsigned batch>
  __device__ void        push_edges(const Rows& rows, const Edges& edges, const Sent (&sent)[batch], unsigned at);
  __device__ bool        is_up_for(Vertex v) const;
  __device__ bool        vote(const Update& update, Vertex v, unsigned at);
  __device__ bool        improve(const Value& seen, const Update& update, Vertex v, unsigned at);
  __device__ bool        is_settled(Vertex v) const;
  __device__ bool        comes_later(Vertex v, const Value& value);
  __device__ bool        gather(const Update& update, Vertex v, unsigned at);
  __device__ bool        merge_gathered(const Accumulator& sum, Vertex v, unsigned at);
  __device__ bool        gather_together(const Update& update, bool valid, Vertex v, unsigned at);
  __device__ bool        touch(Vertex v, unsigned at);
  __device__ void        note_touched(Vertex v, bool touched, unsigned at);
  __device__ void        note_pushed(Vertex v, bool found, unsigned at);
  __device__ static bool test_now(const Word* bits, Vertex v) { return (__ldcg(bits + v / 32) >> (v % 32)) & 1; }

  // --- pull (pull.cuh) ---

  __device__ bool is_active(Vertex v, unsigned at) const { return everyone_ || test(view_.bits[at % 3], v); }
  __device__ static bool was_reached(const Message& message) {
    if constexpr (reads_inactive) return Combine::improves(Combine::identity(), message);
    return true;
  }
  /// body(index, word): whose vertices may take updates.
  template <class Body>
  __device__ void for_open_words(Body&& body) {
    if constexpr (tracks_open)
      for_set_words(view_.open, body);
    else
      for_words([&](std::uint64_t index) { body(index, settles ? ~view_.settled[index] : all_lanes); });
  }
  /// Rows of a lane that are pulled at once where all are short: what it waits for, it waits for once.
  static constexpr unsigned several   = 2;
  static constexpr bool pulls_several = publishes_ahead && sizeof(Message) <= 4 && !T::weighted && has_balances;
  __device__ void       pull_several_words(std::uint64_t from, unsigned at);
  __device__ bool       pull_short_rows(std::uint64_t base, unsigned at);
  __device__ void       pull_word(std::uint64_t index, Word open, unsigned at);
  __device__ bool       pull_vote(Vertex v, bool wants, std::uint64_t index, unsigned at);
  /// What a vertex collects: updates combined, or its own value improved.
  using Collected = std::conditional_t<T::in_place, Value, Accumulator>;
  __device__ Collected nothing(Vertex v) const;
  __device__ bool      merge(Vertex v, const Collected& all, unsigned at);
  __device__ bool collect_edges(Collected& all, const Rows& rows, const RowSlice& slice, const NodeEdges& edges,
                                Vertex v, unsigned at) const;
  /// Edges that a lane has under way at once.
  static constexpr unsigned pull_batch = sizeof(Message) > 8 ? 1 : 4;
  /// Rows are on their way to the cache before their turn comes.
  static constexpr bool prefetches = T::in_place && !Rows::in_windows;
  /// Targets do not wait for weights that may leave them out, unless they are decoded or come over the bus.
  __device__ bool targets_at_once() const { return !Rows::coded && !view_.on_host; }
  template <unsigned stride>
  __device__ bool collect(Collected& all, const Rows& rows, const RowSlice& slice, Vertex v, unsigned at) const;
  __device__ bool could_improve(std::uint32_t weight, const Collected& all) const;
  template <unsigned width>
  __device__ void pull_by_groups(unsigned left, const Rows& rows, const OwnRow& own, Collected& all, bool& hit,
                                 unsigned at);
  __device__ bool collect_in_bins(Collected& all, const Rows& rows, const OwnRow& own, unsigned at);
  __device__ bool collect_by(unsigned width, Collected& all, const Rows& rows, const OwnRow& own, unsigned at);
  __device__ bool pull_rows(Vertex v, bool wants, unsigned at);
  __device__ bool collected(Vertex v, const Collected& all);
  __device__ bool settle(Vertex v, Value& value, const Collected& all);
  template <class TargetOf, class WeightOf>
  __device__ bool        collect_batch(Collected& all, bool (&there)[pull_batch], Vertex v, unsigned at,
                                       const TargetOf& target_of, const WeightOf& weight_of) const;
  __device__ static void combine_into(Collected& all, const Update& update);
  __device__ void        pull_long_rows(unsigned at);
  __device__ void        pull_large(Vertex v, unsigned at);

  // --- around hubs (hub_sums.cuh) ---

  static_assert(!may_sum_hubs || alignof(Message) <= alignof(Accumulator), "messages lie behind the sums");
  __device__ static Accumulator* hub_sums() { return reinterpret_cast<Accumulator*>(block_storage()); }
  __device__ Message* hub_messages() const { return reinterpret_cast<Message*>(hub_sums() + view_.summed_hubs); }
  __device__ Message  message_from(Vertex source) const;
  __device__ void     send_to_hub(Vertex from, const Message& message, Vertex to) const;
  template <class Body>
  __device__ void spread_rows(Vertex first, Vertex last, Body&& body);
  __device__ void pull_around_hubs(unsigned at);
  __device__ void pull_among_hubs(Vertex v);
  __device__ void pull_by_warp(Vertex v, unsigned at);

  // --- in windows (windows.cuh) ---

  __device__ static OwnRow own_row(const RowChunk& slice);
  template <class Wants>
  __device__ void push_window(const WindowBlock& window, const ChunkRange& range, unsigned at, Wants&& wants);
  template <class Wants>
  __device__ void push_by_groups(const WindowBlock& window, const ChunkRange& range, unsigned width, unsigned at,
                                 Wants&& wants);
  __device__ unsigned lanes_for(const WindowBlock& window, const ChunkRange& range) const;
  __device__ void     pull_window(const WindowBlock& window, const ChunkRange& range, unsigned at);
  __device__ void     run_to_fixed_point(const WindowBlock& window, const ChunkRange& range, unsigned at);
  __device__ bool     joins(const WindowBlock& window, const ChunkRange& range, Vertex v, unsigned at);
  __device__ void     take_in_window(const WindowBlock& window, const ChunkRange& range, const VertexRange& owners,
                                     Count bucket, unsigned at, LocalRound& round);
  __device__ void     push_taken(const WindowBlock& window, const ChunkRange& range,
                                 const IterationCounters::Lists& taken, unsigned at);
  __device__ bool     goes_on(Vertex v);
  template <class Body>
  __device__ void count_visit(unsigned at, Body&& body);

  // --- in lists (edges.cuh) ---

  struct Listed;
  template <bool local>
  __device__ bool push_list(const Listed& edges, unsigned at);
  template <bool local>
  __device__ Message sent_in_list(Vertex v);
  __device__ bool    improve_listed(const Listed& edges, const Sent (&sent)[list_batch], unsigned at);
  __device__ bool    note_improved(Vertex v, bool improved, unsigned at);
  template <bool local>
  __device__ bool sends_in_list(Vertex v, unsigned at) const;
  template <bool local>
  __device__ bool push_run(const EdgeBlock& block, const EdgeRun& run, unsigned at);
  template <bool local>
  __device__ bool push_lists(const EdgeBlock& block, unsigned at);

  // --- in blocks of edges (edge_blocks.cuh) ---

  /// What updates for a vertex are combined into; of votes, which edge's it is.
  using Local = std::conditional_t<T::voting, unsigned, std::conditional_t<T::in_place, Value, Accumulator>>;
  struct LocalValues;
  struct ListedArc;
  __device__ LocalValues local_values_of(const SharedIndex& index) const;
  __device__ LocalValues stored_values_of(const SharedIndex& index, std::uint64_t b) const;
  template <class Body>
  __device__ void  for_arcs_of_block(const EdgeBlock& block, std::uint64_t b, Body&& body);
  __device__ Local first_local(Vertex v) const;
  template <bool local>
  __device__ void combine_locally(const LocalValues& values, const ListedArc& arc);
  template <bool local>
  __device__ bool combine_block(const EdgeBlock& block, std::uint64_t b, unsigned at);
  template <bool local>
  __device__ bool flush_block(const EdgeBlock& block, std::uint64_t b, const LocalValues& met, unsigned at);
  template <bool local>
  __device__ bool push_blocks(const EdgeBlock& block, unsigned at);
  __device__ void run_list_to_fixed_point(const EdgeBlock& block, unsigned at);

  const View<P, Rows>& view_;
  Shared&              shared_;
  Message*             messages_;
  Message*             next_messages_ = nullptr;
  Mine                 mine_;
  bool                 everyone_ = false;
  unsigned             queue_    = 0;  ///< of the block's, the one that is being filled
};

}  // namespace spillway::cuda

#include <spillway/engine/cuda/bucket_fusion.cuh>
#include <spillway/engine/cuda/buckets.cuh>
#include <spillway/engine/cuda/hub_sums.cuh>
#include <spillway/engine/cuda/lists.cuh>
#include <spillway/engine/cuda/nodes.cuh>
#include <spillway/engine/cuda/pull.cuh>
#include <spillway/engine/cuda/push.cuh>
