// Every triangle w < v < u is found once, at v: the row of v up to v is marked, and the rows of its later
// neighbours u are looked up in the marks as far as v (marking: Schank and Wagner, Finding, counting and listing
// all triangles in large graphs, WEA 2005). Rows are the graph's own, or ranked ones where degrees are skewed.
#include "algorithms/triangles.hpp"

#include <atomic>

#include "graph/csr.hpp"

namespace spillway {
namespace {

/// Rows of so many vertices are asked for from memory before the first is read.
constexpr std::size_t batch_size = 32;

void add_shared(std::uint64_t& counter, std::uint64_t amount) {
  if (amount > 0) std::atomic_ref{counter}.fetch_add(amount, std::memory_order_relaxed);
}

/// Looks in the graph's own rows, each of which ascends.
template <bool at_vertices>
class PlainSearch {
 public:
  PlainSearch(const Csr& csr, const TriangleContext& context)
      : csr_(csr), context_(context), at_(at_vertices ? csr.vertex_count() : 0, context.budget, "the result") {}

  Triangles run() && {
    const std::uint64_t tasks = (csr_.vertex_count() + csr_.arc_count()) / work_a_task + 1;
    const auto marks = rank_marks(context_.threads, csr_.vertex_count(), /*directed=*/false, context_.budget);
    context_.progress->begin("triangles", csr_.arc_count(), ProgressUnit::edges);
    for_each_task(context_.threads, tasks, [&](std::uint64_t task, int thread) {
      check_cancelled(*context_.progress);
      const Vertex   first = row_at_share(csr_, task, tasks), last = row_at_share(csr_, task + 1, tasks);
      std::uint32_t* mine  = marks[static_cast<std::size_t>(thread)].all.data();
      std::uint64_t  found = 0;
      for (Vertex v = first; v < last; ++v) found += search(v, mine);
      add_shared(total_, found);
      context_.progress->advance(csr_.offsets[last] - csr_.offsets[first]);
    });
    context_.progress->end();
    return {total_, std::move(at_)};
  }

 private:
  static constexpr std::uint64_t work_a_task = 1u << 15;

  std::uint64_t search(Vertex v, std::uint32_t* marks) {
    const Vertex* const row = csr_.targets.data() + csr_.offsets[v];
    const Vertex* const end = csr_.targets.data() + csr_.offsets[v + 1];
    if (row == end || *row > v || end[-1] < v) return 0;
    const Vertex* later = row;
    for (; *later < v; ++later) marks[*later / 32] |= 1u << *later % 32;
    std::uint64_t found = 0;
    for (const Vertex* u = later; u < end; u += batch_size)
      found += search_batch(v, {u, std::min(end, u + batch_size)}, marks);
    for (const Vertex* w = row; w < later; ++w) marks[*w / 32] = 0;
    if constexpr (at_vertices) add_shared(at_[v], found);
    return found;
  }

  std::uint64_t search_batch(Vertex v, std::span<const Vertex> batch, const std::uint32_t* marks) {
    constexpr std::size_t worth_asking = 4;
    if (batch.size() >= worth_asking) {
      for (const Vertex u : batch) __builtin_prefetch(csr_.offsets.data() + u);
      for (const Vertex u : batch) __builtin_prefetch(csr_.targets.data() + csr_.offsets[u]);
    }
    std::uint64_t found = 0;
    for (const Vertex u : batch) found += hits(v, u, marks);
    return found;
  }

  std::uint64_t hits(Vertex v, Vertex u, const std::uint32_t* marks) {
    std::uint64_t count = 0;
    // v itself is in the row of u and ends the loop.
    for (const Vertex* w = csr_.targets.data() + csr_.offsets[u]; *w < v; ++w) {
      const std::uint32_t hit = marks[*w / 32] >> *w % 32 & 1;
      count += hit;
      if constexpr (at_vertices) add_shared(at_[*w], hit);
    }
    if constexpr (at_vertices) add_shared(at_[u], count);
    return count;
  }

  const Csr&             csr_;
  const TriangleContext& context_;
  Buffer<std::uint64_t>  at_;
  std::uint64_t          total_ = 0;
};

/// Counts of one thread for the lowest ranks. A block of 32 is counted up at once, in bytes; `fold` empties the
/// bytes of a block into wide counts and must come before they are full.
class BlockCounters {
 public:
  static constexpr std::uint64_t most_unfolded = 127;  ///< additions of up to 2 that a byte can take

  BlockCounters(std::uint64_t blocks, const std::shared_ptr<MemoryBudget>& budget)
      : bytes_(blocks * words_a_block, budget, "the counts of each thread"),
        counts_(blocks * 32, budget, "the counts of each thread") {}

  std::uint64_t blocks() const { return counts_.size() / 32; }

  /// Adds 1 to each of the members, or 2.
  void add(Vertex block, std::uint32_t members, bool twice) {
    std::uint64_t* bytes = bytes_.data() + std::uint64_t{block} * words_a_block;
    for (std::uint64_t word = 0; word < words_a_block; ++word)
      bytes[word] += spread[members >> 8 * word & 0xFF] << static_cast<int>(twice);
  }

  void fold(Vertex block) {
    for (std::uint64_t word = 0; word < words_a_block; ++word) {
      std::uint64_t bytes = std::exchange(bytes_[block * words_a_block + word], 0);
      for (std::uint64_t rank = block * std::uint64_t{32} + word * 8; bytes != 0; ++rank, bytes >>= 8)
        counts_[rank] += bytes & 0xFF;
    }
  }

  std::span<const std::uint64_t> counts() const { return counts_.span(); }

 private:
  static constexpr std::uint64_t words_a_block = 4;

  /// Bit i as byte i.
  static constexpr auto spread = [] {
    std::array<std::uint64_t, 256> table{};
    for (std::size_t bits = 0; bits < table.size(); ++bits)
      for (std::size_t i = 0; i < 8; ++i) table[bits] |= static_cast<std::uint64_t>(bits >> i & 1) << 8 * i;
    return table;
  }();

  Buffer<std::uint64_t> bytes_;
  Buffer<std::uint64_t> counts_;
};

/// Looks in ranked rows, 32 ranks at a time. Counts at vertices are of triangles, or in a directed graph of arcs:
/// a triangle then counts for each corner as many times as arcs lead along the opposite side.
template <class Source, bool at_vertices>
class RankedSearch {
 public:
  RankedSearch(const Source& source, const TriangleContext& context)
      : source_(source),
        context_(context),
        rows_(ranked_rows(source, context.threads, context.budget, *context.progress)),
        at_rank_(at_vertices ? rows_.size : 0, context.budget, "the counts by rank") {
    const std::uint64_t counted = at_vertices ? std::min(rows_.size / 32, most_counted_apart) : 0;
    for (int thread = 0; thread < context.threads; ++thread)
      threads_.push_back(
          {RankMarks{rows_.size, Source::directed, context.budget}, BlockCounters{counted, context.budget}});
  }

  Triangles run() && {
    context_.progress->begin("triangles", rows_.size, ProgressUnit::items);
    const auto search_range = [&](Vertex first, Vertex last, int thread) {
      std::uint64_t found = 0;
      for (Vertex v = first; v < last; ++v) found += search(v, threads_[static_cast<std::size_t>(thread)]);
      add_shared(total_, found);
    };
    for_each_rank_range(rows_.size, context_.threads, *context_.progress, search_range);
    context_.progress->end();
    for (const Thread& thread : threads_)
      for (std::uint64_t rank = 0; rank < thread.counters.counts().size(); ++rank)
        at_rank_[rank] += thread.counters.counts()[rank];
    Buffer<std::uint64_t> at{at_vertices ? source_.vertex_count() : 0, context_.budget, "the result"};
    for_each_share(context_.threads, at_rank_.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      for (std::uint64_t rank = begin; rank < end; ++rank) at[rows_.vertex_at[rank]] = at_rank_[rank];
    });
    return {total_, std::move(at)};
  }

 private:
  /// Nearly all triangles have a corner of low rank: each thread counts there for itself, since all would be at
  /// the same few counters. So many blocks fit a cache.
  static constexpr std::uint64_t most_counted_apart = 1u << 10;

  struct Thread {
    RankMarks     marks;
    BlockCounters counters;
  };

  struct Later {
    Vertex rank;
    bool   both;  ///< arcs lead both ways between it and v
  };

  using Word = RankedRows::Word;

  /// What is found for v: triangles, or arcs along the sides opposite to it.
  std::uint64_t search(Vertex v, Thread& mine) {
    std::array<Later, batch_size> batch;
    std::size_t                   filled   = 0;
    std::uint64_t                 unfolded = 0, found = 0;
    mark(v, mine.marks);
    source_.for_each_neighbor(rows_.vertex_at[v], [&](Vertex neighbor, bool both) {
      const Vertex u = rows_.rank_of[neighbor];
      batch[filled]  = {u, both};
      filled += static_cast<std::size_t>(u > v) & static_cast<std::size_t>(u < rows_.size);
      if (filled < batch_size) return;
      found += search_batch(v, batch, mine);
      filled = 0;
      if ((unfolded += batch_size) + batch_size <= BlockCounters::most_unfolded) return;
      fold(v, mine.counters);
      unfolded = 0;
    });
    found += search_batch(v, {batch.data(), filled}, mine);
    fold(v, mine.counters);
    unmark(v, mine.marks);
    if constexpr (at_vertices) add_shared(at_rank_[v], found);
    return found;
  }

  std::uint64_t search_batch(Vertex v, std::span<const Later> batch, Thread& mine) {
    for (const Later& u : batch) __builtin_prefetch(rows_.starts.data() + u.rank);
    for (const Later& u : batch) {
      constexpr int words_a_line = 8;
      const Word*   row          = rows_.words.data() + rows_.starts[u.rank];
      __builtin_prefetch(row);
      __builtin_prefetch(row + words_a_line);
      if constexpr (at_vertices) __builtin_prefetch(at_rank_.data() + u.rank, /*write=*/1);
      if constexpr (Source::directed) __builtin_prefetch(rows_.both.data() + rows_.starts[u.rank]);
    }
    std::uint64_t found = 0;
    for (const Later& u : batch) {
      if constexpr (at_vertices) {
        found += hits_at_vertices(v, u, mine);
      } else {
        found += hits(v, u.rank, mine.marks.all.data());
      }
    }
    return found;
  }

  std::uint64_t hits(Vertex v, Vertex u, const std::uint32_t* marks) const {
    std::uint64_t count = 0;
    const Vertex  last  = v / 32;
    for (const Word* word = rows_.words.data() + rows_.starts[u]; RankedRows::block(*word) <= last; ++word)
      count += ones(marks[RankedRows::block(*word)] & RankedRows::mask(*word));
    return count;
  }

  std::uint64_t hits_at_vertices(Vertex v, const Later& u, Thread& mine) {
    const Vertex  last    = v / 32;
    const Word*   word    = rows_.words.data() + rows_.starts[u.rank];
    std::uint64_t found_u = 0, found_v = 0;
    for (; RankedRows::block(*word) <= last; ++word) {
      const Vertex        block   = RankedRows::block(*word);
      const std::uint32_t members = mine.marks.all[block] & RankedRows::mask(*word);
      found_u += ones(members);
      found_v += ones(members);
      if constexpr (Source::directed) {
        found_u += ones(members & mine.marks.both[block]);
        found_v += ones(members & rows_.both[static_cast<std::uint64_t>(word - rows_.words.data())]);
      }
      count_members(block, members, Source::directed && u.both, mine);
    }
    add_shared(at_rank_[u.rank], found_u);
    return found_v;
  }

  void count_members(Vertex block, std::uint32_t members, bool twice, Thread& mine) {
    if (block < mine.counters.blocks()) return mine.counters.add(block, members, twice);
    for (; members != 0; members &= members - 1) {
      const Vertex rank = block * 32 + static_cast<Vertex>(std::countr_zero(members));
      add_shared(at_rank_[rank], twice ? 2 : 1);
    }
  }

  void fold(Vertex v, BlockCounters& counters) const {
    if constexpr (!at_vertices) return;
    const Word* word = rows_.words.data() + rows_.starts[v];
    for (; RankedRows::block(*word) < counters.blocks(); ++word) counters.fold(RankedRows::block(*word));
  }

  static std::uint64_t ones(std::uint32_t word) { return static_cast<std::uint64_t>(std::popcount(word)); }

  void mark(Vertex v, RankMarks& marks) const {
    for (EdgeIndex i = rows_.starts[v]; rows_.words[i] != RankedRows::end_mark; ++i) {
      marks.all[RankedRows::block(rows_.words[i])] = RankedRows::mask(rows_.words[i]);
      if constexpr (Source::directed) marks.both[RankedRows::block(rows_.words[i])] = rows_.both[i];
    }
  }

  void unmark(Vertex v, RankMarks& marks) const {
    for (EdgeIndex i = rows_.starts[v]; rows_.words[i] != RankedRows::end_mark; ++i) {
      marks.all[RankedRows::block(rows_.words[i])] = 0;
      if constexpr (Source::directed) marks.both[RankedRows::block(rows_.words[i])] = 0;
    }
  }

  const Source&          source_;
  const TriangleContext& context_;
  RankedRows             rows_;
  std::vector<Thread>    threads_;
  Buffer<std::uint64_t>  at_rank_;
  std::uint64_t          total_ = 0;  // m arcs hold fewer than m^1.5 triangles: 64 bits last for 2^42 arcs
};

/// The mean degree at the end of an arc says how much searching plain rows takes; ranking costs the same for all.
bool worth_ranking(const Csr& csr, int threads) {
  constexpr double    least_mean = 256;  // measured: level at about 250
  std::vector<double> squares(static_cast<std::size_t>(threads));
  for_each_share(threads, csr.vertex_count(), [&](std::uint64_t begin, std::uint64_t end, int thread) {
    double sum = 0;
    for (std::uint64_t v = begin; v < end; ++v) {
      const auto degree = static_cast<double>(csr.degree(static_cast<Vertex>(v)));
      sum += degree * degree;
    }
    squares[static_cast<std::size_t>(thread)] = sum;
  });
  double sum = 0;
  for (const double share : squares) sum += share;
  return sum > least_mean * static_cast<double>(csr.arc_count());
}

}  // namespace

Triangles count_triangles(const SimpleRows& graph, bool at_vertices, const TriangleContext& context,
                          TriangleRows rows) {
  if (rows == TriangleRows::automatic)
    rows = worth_ranking(graph.csr, context.threads) ? TriangleRows::ranked : TriangleRows::plain;
  const bool ranked = rows == TriangleRows::ranked;
  if (at_vertices)
    return ranked ? RankedSearch<SimpleRows, true>{graph, context}.run()
                  : PlainSearch<true>{graph.csr, context}.run();
  return ranked ? RankedSearch<SimpleRows, false>{graph, context}.run()
                : PlainSearch<false>{graph.csr, context}.run();
}

Buffer<std::uint64_t> arcs_between_neighbors(const DirectedRows& graph, const TriangleContext& context) {
  return RankedSearch<DirectedRows, true>{graph, context}.run().at;
}

}  // namespace spillway
