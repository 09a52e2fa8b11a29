// Label propagation on a GPU (see cdlp.cpp for what it is). Vertices are worked on by as much as their rows need:
// a thread that compares all labels with all, a warp whose lanes ask each other, a warp or a block with a table,
// and for the longest rows many blocks, each with a table for a part of the row, which meet in one table in the
// GPU's memory.
#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/gpu/gpu.hpp"
#include "algorithms/gpu/label_tables.cuh"
#include "algorithms/gpu/rows.cuh"
#include "base/fail.hpp"

namespace spillway::gpu {
namespace {

constexpr unsigned few_labels = 8;
constexpr unsigned warp_slots = 512, block_slots = 4096;
constexpr unsigned most_blocks = 1u << 14;

/// Who works on a row.
enum Class : unsigned { by_thread, by_lanes, by_warp, by_block, by_all, classes, by_nobody = classes };

/// Rows from so many arcs on are worked on by a block, or in chunks by all. Tables have twice as many slots.
struct Bounds {
  EdgeIndex block, all;
  unsigned  chunk;

  explicit Bounds(const CudaTuning& tuning)
      : block(std::clamp<EdgeIndex>(tuning.large_degree, 1, warp_slots / 2 + 1)),
        all(std::clamp<EdgeIndex>(tuning.hub_degree, 1, block_slots / 2 + 1)),
        chunk(static_cast<unsigned>(std::clamp<EdgeIndex>(tuning.hub_degree, 1, block_slots / 2))) {}

  __device__ unsigned class_of(EdgeIndex degree) const {
    if (degree == 0) return by_nobody;
    if (degree >= all) return by_all;
    if (degree >= block) return by_block;
    return degree <= few_labels ? by_thread : degree <= warp_lanes ? by_lanes : by_warp;
  }
};

/// What a round has done.
struct Done {
  Count looked_at, arcs, changed, changed_arcs;
};

struct Round {
  Neighborhoods       graph;
  const Vertex*       labels;
  Vertex*             next;   ///< at first the labels
  const std::uint8_t* stale;  ///< 1: a neighbour changed. Null: all are to be looked at
  Done*               done;

  __device__ bool asks(Vertex v) const { return stale == nullptr || stale[v] != 0; }

  /// By one thread for each vertex.
  __device__ void set_label(Vertex v, EdgeIndex degree, Vertex label, Done& mine) const {
    ++mine.looked_at;
    mine.arcs += degree;
    if (label == labels[v]) return;
    next[v] = label;
    ++mine.changed;
    mine.changed_arcs += degree;
  }

  /// By whole warps.
  __device__ void report(const Done& mine) const {
    const Done all{warp_sum(mine.looked_at), warp_sum(mine.arcs), warp_sum(mine.changed),
                   warp_sum(mine.changed_arcs)};
    if (lane_index() != 0 || all.looked_at == 0) return;
    atomicAdd(&done->looked_at, all.looked_at);
    atomicAdd(&done->arcs, all.arcs);
    atomicAdd(&done->changed, all.changed);
    atomicAdd(&done->changed_arcs, all.changed_arcs);
  }
};

__global__ void label_each(std::uint64_t n, Vertex* labels) {
  for (std::uint64_t v = first_item(); v < n; v += item_stride()) labels[v] = static_cast<Vertex>(v);
}

// --- who works on what ---

struct Starts {
  std::uint64_t of[classes];
};

__global__ void count_classes(Neighborhoods graph, std::uint64_t n, Bounds bounds, Count* counts) {
  Count mine[classes] = {};
  for (std::uint64_t v = first_item(); v < n; v += item_stride()) {
    const unsigned found = bounds.class_of(graph.degree(static_cast<Vertex>(v)));
#pragma unroll
    for (unsigned c = 0; c < classes; ++c) mine[c] += found == c;
  }
#pragma unroll
  for (unsigned c = 0; c < classes; ++c) {
    const Count all = warp_sum(mine[c]);
    if (lane_index() == 0 && all != 0) atomicAdd(counts + c, all);
  }
}

/// The order within a class is any.
__global__ void list_classes(Neighborhoods graph, std::uint64_t n, Bounds bounds, Starts starts, unsigned* filled,
                             Vertex* members) {
  deal<WarpTeam>((n + warp_lanes - 1) / warp_lanes, [&](std::uint64_t word) {
    const std::uint64_t u     = word * warp_lanes + lane_index();
    const auto          v     = static_cast<Vertex>(u);
    const unsigned      found = u < n ? bounds.class_of(graph.degree(v)) : by_nobody;
    for (unsigned c = 0; c < classes; ++c) {
      const unsigned place = cuda::reserve(filled + c, found == c);
      if (found == c) members[starts.of[c] + place] = v;
    }
  });
}

// --- rows of one thread, warp or block ---

__global__ void ask_by_thread(Round round, const Vertex* members, std::uint64_t count) {
  Done mine{};
  deal<LaneTeam>(count, [&](std::uint64_t m) {
    const Vertex v = members[m];
    if (!round.asks(v)) return;
    const Neighbors row = round.graph.of(v);
    Vertex          labels[few_labels];
#pragma unroll
    for (unsigned i = 0; i < few_labels; ++i) labels[i] = i < row.degree ? round.labels[row[i]] : no_vertex;
    Count best = 0;
#pragma unroll
    for (unsigned i = 0; i < few_labels; ++i) {
      Count times = 0;
#pragma unroll
      for (unsigned k = 0; k < few_labels; ++k) times += labels[k] == labels[i];
      if (labels[i] != no_vertex) best = larger(best, label_count(labels[i], times));
    }
    round.set_label(v, row.degree, label_of(best), mine);
  });
  round.report(mine);
}

__global__ void ask_by_lanes(Round round, const Vertex* members, std::uint64_t count) {
  const unsigned lane = lane_index();
  Done           mine{};
  deal<WarpTeam>(count, [&](std::uint64_t m) {
    const Vertex v = members[m];
    if (!round.asks(v)) return;
    const Neighbors row   = round.graph.of(v);
    const Vertex    label = lane < row.degree ? round.labels[row[lane]] : no_vertex;
    const unsigned  same  = __match_any_sync(all_lanes, label);
    const unsigned  times = label != no_vertex ? static_cast<unsigned>(__popc(same)) : 0;
    const unsigned  most  = __reduce_max_sync(all_lanes, times);
    const Vertex    best  = __reduce_min_sync(all_lanes, times == most ? label : no_vertex);
    if (lane == 0) round.set_label(v, row.degree, best, mine);
  });
  round.report(mine);
}

/// Counts the labels of neighbours from `begin` to before `end`, by as many threads. Returns the largest label
/// count that this one saw.
template <unsigned threads>
__device__ Count count_labels(const Round& round, const Neighbors& row, EdgeIndex begin, EdgeIndex end,
                              unsigned thread, const Table& table) {
  constexpr unsigned at_once = 4;  // labels come from all over memory: some are asked for together
  Count              best    = 0;
  for (EdgeIndex base = begin; base < end; base += at_once * threads) {
    Vertex labels[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      const EdgeIndex i = base + k * threads + thread;
      labels[k]         = i < end ? round.labels[row[i]] : no_vertex;
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      if (base + k * threads < end) best = larger(best, table.add_by_warp(labels[k]));
  }
  return best;
}

__global__ void __launch_bounds__(block_threads)
    ask_by_warp(Round round, const Vertex* members, std::uint64_t count) {
  __shared__ TableRoom<warp_slots> rooms[cuda::block_warps];
  const unsigned                   lane = lane_index();
  Done                             mine{};
  deal<WarpTeam>(count, [&](std::uint64_t m) {
    const Vertex v = members[m];
    if (!round.asks(v)) return;
    const Neighbors row = round.graph.of(v);
    const Table     table{rooms[threadIdx.x / warp_lanes], static_cast<unsigned>(row.degree)};
    table.clear(lane, warp_lanes);
    __syncwarp();
    const Count best = largest_in_warp(count_labels<warp_lanes>(round, row, 0, row.degree, lane, table));
    if (lane == 0) round.set_label(v, row.degree, label_of(best), mine);
    __syncwarp();
  });
  round.report(mine);
}

__global__ void __launch_bounds__(block_threads)
    ask_by_block(Round round, const Vertex* members, std::uint64_t count) {
  __shared__ TableRoom<block_slots> room;
  __shared__ Count                  block_best;
  Done                              mine{};
  deal<BlockTeam>(count, [&](std::uint64_t m) {
    const Vertex v = members[m];
    if (!round.asks(v)) return;
    const Neighbors row = round.graph.of(v);
    const Table     table{room, static_cast<unsigned>(row.degree)};
    table.clear(threadIdx.x, block_threads);
    if (threadIdx.x == 0) block_best = 0;
    __syncthreads();
    const Count best = largest_in_warp(count_labels<block_threads>(round, row, 0, row.degree, threadIdx.x, table));
    if (lane_index() == 0) atomicMax(&block_best, best);
    __syncthreads();
    if (threadIdx.x == 0) round.set_label(v, row.degree, label_of(block_best), mine);
    __syncthreads();  // the table and the best are written again
  });
  round.report(mine);
}

// --- rows of all ---

struct Hub {
  std::uint64_t first_chunk;        ///< of all hubs' chunks
  std::uint64_t first_slot, slots;  ///< of the pool, while its batch is worked on
  Vertex        vertex;
};

/// Hubs whose tables fit the pool together.
struct Batch {
  std::uint64_t first, last;  ///< hubs
  std::uint64_t first_chunk, last_chunk;
};

struct Hubs {
  const Hub* all;
  Count*     best;  ///< label counts, one for each
  Count*     pool;
  unsigned   chunk;

  /// The hub of a batch that a chunk is of.
  __device__ std::uint64_t of(const Batch& batch, std::uint64_t at) const {
    const auto begun = [&](std::uint64_t hub) { return all[hub].first_chunk <= at; };
    return partition_point(batch.first + 1, batch.last, begun) - 1;
  }
  __device__ EdgeIndex begin(const Hub& hub, std::uint64_t at) const { return (at - hub.first_chunk) * chunk; }
  __device__ EdgeIndex end(const Hub& hub, std::uint64_t at, EdgeIndex degree) const {
    const EdgeIndex full = begin(hub, at) + chunk;
    return full < degree ? full : degree;
  }
};

/// A block for each chunk. The pool is clear.
__global__ void __launch_bounds__(block_threads) count_hubs(Round round, Hubs hubs, Batch batch) {
  __shared__ TableRoom<block_slots> room;
  for (std::uint64_t at = batch.first_chunk + blockIdx.x; at < batch.last_chunk; at += gridDim.x) {
    const std::uint64_t h   = hubs.of(batch, at);
    const Hub           hub = hubs.all[h];
    if (!round.asks(hub.vertex)) continue;
    const Neighbors row   = round.graph.of(hub.vertex);
    const EdgeIndex begin = hubs.begin(hub, at), end = hubs.end(hub, at, row.degree);
    const Table     table{room, static_cast<unsigned>(end - begin)};
    table.clear(threadIdx.x, block_threads);
    __syncthreads();
    count_labels<block_threads>(round, row, begin, end, threadIdx.x, table);
    __syncthreads();
    const PoolTable pool{hubs.pool + hub.first_slot, hub.slots};
    Count           best = 0;
    for (unsigned i = threadIdx.x; i < table.size(); i += block_threads)
      if (table.label(i) != no_vertex) best = larger(best, pool.add(table.label(i), table.count(i)));
    best = largest_in_warp(best);
    if (lane_index() == 0 && best > __ldcg(hubs.best + h)) atomicMax(hubs.best + h, best);
    __syncthreads();  // the table is cleared again
  }
}

__global__ void settle_hubs(Round round, Hubs hubs, Batch batch) {
  Done mine{};
  for (std::uint64_t h = batch.first + first_item(); h < batch.last; h += item_stride()) {
    const Vertex v = hubs.all[h].vertex;
    if (round.asks(v)) round.set_label(v, round.graph.degree(v), label_of(hubs.best[h]), mine);
  }
  round.report(mine);
}

// --- who is to be looked at next ---

/// Tells the neighbours of what changed; hubs tell theirs elsewhere. A warp takes 32 vertices.
__global__ void tell_neighbors(Round round, std::uint64_t n, Bounds bounds, std::uint8_t* stale) {
  deal<WarpTeam>((n + warp_lanes - 1) / warp_lanes, [&](std::uint64_t word) {
    const std::uint64_t u     = word * warp_lanes + lane_index();
    const auto          v     = static_cast<Vertex>(u);
    const bool          tells = u < n && round.labels[v] != round.next[v] && round.graph.degree(v) < bounds.all;
    for_each_owner(tells, [&](unsigned owner) {
      const Neighbors row = round.graph.of(cuda::shuffle(v, owner));
      deal_edges<WarpTeam>(0, row.degree, [&](EdgeIndex i) { stale[row[i]] = 1; });
    });
  });
}

__global__ void tell_hub_neighbors(Round round, Hubs hubs, Batch all, std::uint8_t* stale) {
  for (std::uint64_t at = all.first_chunk + blockIdx.x; at < all.last_chunk; at += gridDim.x) {
    const Hub hub = hubs.all[hubs.of(all, at)];
    if (round.labels[hub.vertex] == round.next[hub.vertex]) continue;
    const Neighbors row = round.graph.of(hub.vertex);
    const EdgeIndex end = hubs.end(hub, at, row.degree);
    for (EdgeIndex i = hubs.begin(hub, at) + threadIdx.x; i < end; i += block_threads) stale[row[i]] = 1;
  }
}

class Propagation {
 public:
  Propagation(Session& session, const Graph& graph, const RunOptions& options)
      : device_(session.device()),
        graph_(neighborhoods_of(session.rows())),
        n_(graph.vertex_count()),
        arcs_(graph.symmetric() ? graph.arc_count() : 2 * graph.arc_count()),
        bounds_(options.cuda),
        labels_(device_, n_, what),
        next_(device_, n_, what),
        members_(device_, n_, what),
        stale_(device_, n_, what),
        done_(device_, 1, what) {
    if (n_ == 0) return;
    share_out();
    plan_hubs(graph, options.cuda);
  }

  void run(std::uint64_t rounds, Progress& progress) {
    progress.begin("label propagation", rounds, ProgressUnit::items);
    SPILLWAY_LAUNCH(label_each, blocks_for(n_), block_threads, n_, labels_.data());
    ++kernels_;
    bool all = true;
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      check_cancelled(progress);
      const Stopwatch clock;
      const Done      done = make_round(all);
      statistics_.per_iteration.push_back(
          {done.looked_at, done.arcs, done.arcs, Direction::pull, clock.milliseconds()});
      statistics_.edges_processed += done.arcs;
      progress.advance(1);
      if (done.changed == 0 || round == rounds) break;
      all = done.changed_arcs > arcs_ / worth_following;
      if (!all) follow_changes();
      std::swap(labels_, next_);
    }
    progress.end();
  }

  const DeviceArray<Vertex>& labels() const { return next_; }
  std::uint64_t              kernels() const { return kernels_; }
  /// Of the rounds alone.
  RunStatistics& statistics() { return statistics_; }

 private:
  static constexpr const char* what = "the labels";
  /// As on the CPU, looking at the neighbours of what changed pays below this share of the arcs.
  static constexpr std::uint64_t worth_following = 8;
  /// The pool has room for so many of the shortest rows that the engine calls hubs: 512 MiB.
  static constexpr std::uint64_t pooled_hubs = 256;

  /// Sorts the vertices by who works on them.
  void share_out() {
    DeviceArray<Count>    counts{device_, classes, what};
    DeviceArray<unsigned> filled{device_, classes, what};
    counts.clear();
    filled.clear();
    SPILLWAY_LAUNCH(count_classes, blocks_for(n_), block_threads, graph_, n_, bounds_, counts.data());
    counts.download(counts_.data());
    for (unsigned c = 1; c < classes; ++c) starts_.of[c] = starts_.of[c - 1] + counts_[c - 1];
    SPILLWAY_LAUNCH(list_classes, blocks_for(n_), block_threads, graph_, n_, bounds_, starts_, filled.data(),
                    members_.data());
    kernels_ += 2;
  }

  std::vector<Hub> hubs_of(const Graph& graph) {
    std::vector<Vertex> vertices(counts_[by_all]);
    if (vertices.empty()) return {};
    device_.download(vertices.data(), members_.data() + starts_.of[by_all], vertices.size() * sizeof(Vertex));
    std::sort(vertices.begin(), vertices.end());
    std::vector<Hub> hubs;
    std::uint64_t    chunks = 0;
    for (const Vertex v : vertices) {
      const EdgeIndex degree = graph.out().degree(v) + (graph.symmetric() ? 0 : graph.in().degree(v));
      if (degree > 0xFFFFFFFFu)
        throw DeviceError{ExitCode::does_not_fit,
                          fmt::format("a vertex with {} arcs; at most 2^32-1 can be counted", degree)};
      hubs.push_back(
          {.first_chunk = chunks, .first_slot = 0, .slots = 2 * std::min<EdgeIndex>(degree, n_), .vertex = v});
      chunks += (degree + bounds_.chunk - 1) / bounds_.chunk;
    }
    all_hubs_ = {.first = 0, .last = hubs.size(), .first_chunk = 0, .last_chunk = chunks};
    return hubs;
  }

  /// As many hubs at a time as the pool holds; it holds the largest.
  void plan_hubs(const Graph& graph, const CudaTuning& tuning) {
    std::vector<Hub> hubs = hubs_of(graph);
    if (hubs.empty()) return;
    std::uint64_t largest = 0, total = 0;
    for (const Hub& hub : hubs) largest = std::max(largest, hub.slots), total += hub.slots;
    best_    = {device_, hubs.size(), what};
    on_gpu_  = {device_, hubs.size(), what};
    auto cap = 2 * pooled_hubs * std::clamp<std::uint64_t>(tuning.hub_degree, 1, CudaTuning{}.hub_degree);
    cap      = std::min({cap, total, device_.room() / 2 / sizeof(Count)});
    pool_    = {device_, std::max(cap, largest), "the tables of labels"};

    std::uint64_t used = 0;
    for (std::uint64_t h = 0; h < hubs.size(); ++h) {
      if (h == 0 || used + hubs[h].slots > pool_.size()) {
        if (h > 0) batches_.back().last = h, batches_.back().last_chunk = hubs[h].first_chunk;
        batches_.push_back({h, all_hubs_.last, hubs[h].first_chunk, all_hubs_.last_chunk});
        used = 0;
      }
      hubs[h].first_slot = used;
      used += hubs[h].slots;
    }
    on_gpu_.upload(hubs.data());
    device_.wait();  // the vector goes
  }

  Round round(bool all) const {
    return {graph_, labels_.data(), next_.data(), all ? nullptr : stale_.data(), done_.data()};
  }
  Hubs hubs() const { return {on_gpu_.data(), best_.data(), pool_.data(), bounds_.chunk}; }

  /// A kernel over the vertices of a class, `threads` to each.
  template <class Kernel>
  void ask(Class of, unsigned threads, Kernel kernel, const Round& round) {
    if (counts_[of] == 0) return;
    SPILLWAY_LAUNCH(kernel, blocks_for(counts_[of] * threads), block_threads, round,
                    members_.data() + starts_.of[of], counts_[of]);
    ++kernels_;
  }

  void ask_hubs(const Round& round) {
    best_.clear();
    for (const Batch& batch : batches_) {
      pool_.clear();
      SPILLWAY_LAUNCH(count_hubs, chunk_blocks(batch), block_threads, round, hubs(), batch);
      SPILLWAY_LAUNCH(settle_hubs, blocks_for(batch.last - batch.first), block_threads, round, hubs(), batch);
      kernels_ += 2;
    }
  }

  static unsigned chunk_blocks(const Batch& batch) {
    return static_cast<unsigned>(std::min<std::uint64_t>(batch.last_chunk - batch.first_chunk, most_blocks));
  }

  /// The labels of the next round. Without `all`, those are asked whose neighbours changed.
  Done make_round(bool all) {
    if (n_ == 0) return {};
    const Round now = round(all);
    done_.clear();
    check(cudaMemcpyAsync(next_.data(), labels_.data(), n_ * sizeof(Vertex), cudaMemcpyDeviceToDevice, nullptr),
          "computing");
    ask_hubs(now);
    ask(by_block, block_threads, ask_by_block, now);
    ask(by_warp, warp_lanes, ask_by_warp, now);
    ask(by_lanes, warp_lanes, ask_by_lanes, now);
    ask(by_thread, 1, ask_by_thread, now);
    Done done{};
    done_.download(&done);
    return done;
  }

  /// A vertex none of whose neighbours changed would take the label it has.
  void follow_changes() {
    const Round made = round(/*all=*/true);
    stale_.clear();
    SPILLWAY_LAUNCH(tell_neighbors, blocks_for(n_), block_threads, made, n_, bounds_, stale_.data());
    ++kernels_;
    if (batches_.empty()) return;
    SPILLWAY_LAUNCH(tell_hub_neighbors, chunk_blocks(all_hubs_), block_threads, made, hubs(), all_hubs_,
                    stale_.data());
    ++kernels_;
  }

  cuda::Device&              device_;
  Neighborhoods              graph_;
  std::uint64_t              n_;
  EdgeIndex                  arcs_;
  Bounds                     bounds_;
  DeviceArray<Vertex>        labels_, next_;
  DeviceArray<Vertex>        members_;  ///< of all classes, one behind the other
  DeviceArray<std::uint8_t>  stale_;
  DeviceArray<Done>          done_;
  std::array<Count, classes> counts_{};
  Starts                     starts_{};
  DeviceArray<Hub>           on_gpu_;
  DeviceArray<Count>         best_, pool_;
  std::vector<Batch>         batches_;
  Batch                      all_hubs_{};
  std::uint64_t              kernels_ = 0;
  RunStatistics              statistics_;
};

}  // namespace

Components propagated_labels(const Graph& graph, std::uint64_t rounds, const RunOptions& options) {
  const std::uint64_t n    = graph.vertex_count();
  const AlgorithmWork work = work_of_labels(graph, static_cast<double>(rounds));
  Session             session{graph, options, work};
  Propagation         propagation{session, graph, options};
  propagation.run(rounds, options.progress ? *options.progress : Progress::none());
  session.computed();
  Components result;
  result.labels = {n, graph.budget(), "the result"};
  propagation.labels().download(result.labels.data());
  RunStatistics& made             = propagation.statistics();
  result.statistics               = session.statistics(n, made.edges_processed, propagation.kernels());
  result.statistics.iterations    = made.per_iteration.size();
  result.statistics.per_iteration = std::move(made.per_iteration);
  return result;
}

}  // namespace spillway::gpu
