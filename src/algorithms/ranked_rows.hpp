// Vertices ranked by falling degree, and of each vertex the neighbours of lower rank packed into words: what
// triangles are found in. Ranking bounds every row by the square root of twice the edges (Chiba and Nishizeki,
// Arboricity and subgraph listing algorithms, SIAM J. Computing 1985); hubs crowd into the first words, so that
// few words hold a row.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "base/fail.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/graph.hpp>

namespace spillway {

/// Where the neighbours of a vertex come from: the rows of a simple symmetric graph…
struct SimpleRows {
  static constexpr bool directed = false;

  const Csr& csr;

  std::uint64_t vertex_count() const { return csr.vertex_count(); }
  EdgeIndex     degree(Vertex v) const { return csr.degree(v); }

  template <class Visit>
  void for_each_neighbor(Vertex v, Visit&& visit) const {
    for (const Vertex u : csr.neighbors(v)) visit(u, false);
  }
};

/// …or out- and in-edges taken together, each neighbour once; `both` says that arcs lead both ways.
struct DirectedRows {
  static constexpr bool directed = true;

  const Csr& out;
  const Csr& in;

  std::uint64_t vertex_count() const { return out.vertex_count(); }
  /// An upper bound: loops, parallel arcs and arcs both ways are counted each.
  EdgeIndex degree(Vertex v) const { return out.degree(v) + in.degree(v); }

  template <class Visit>
  void for_each_neighbor(Vertex v, Visit&& visit) const {
    const auto leaving = out.neighbors(v), arriving = in.neighbors(v);
    auto       a = leaving.begin(), b = arriving.begin();
    Vertex     previous = v;
    while (a != leaving.end() || b != arriving.end()) {
      const Vertex next_a = a != leaving.end() ? *a : no_vertex;
      const Vertex next_b = b != arriving.end() ? *b : no_vertex;
      const Vertex u      = std::min(next_a, next_b);
      // Sums, not branches: which side comes next cannot be guessed.
      a += static_cast<std::ptrdiff_t>(next_a == u);
      b += static_cast<std::ptrdiff_t>(next_b == u);
      if (u != v && u != previous) visit(u, next_a == next_b);
      previous = u;
    }
  }
};

/// A row is words in ascending order and one end mark. The upper half of a word says which 32 ranks, the lower
/// half which of them.
struct RankedRows {
  using Word = std::uint64_t;

  static constexpr Word end_mark = ~Word{0};

  std::uint64_t     size = 0;  ///< ranks of vertices with two neighbours or more: others are in no triangle
  Buffer<Vertex>    rank_of;
  Buffer<Vertex>    vertex_at;
  Buffer<EdgeIndex> starts;
  Buffer<Word>      words;
  Buffer<std::uint32_t>
      both;  ///< beside the words of a directed graph: which of them are joined by arcs both ways

  static Vertex        block(Word word) { return static_cast<Vertex>(word >> 32); }
  static std::uint32_t mask(Word word) { return static_cast<std::uint32_t>(word); }
};

/// Which ranks of RankedRows a thread has in hand, as bits.
struct RankMarks {
  RankMarks(std::uint64_t ranks, bool directed, const std::shared_ptr<MemoryBudget>& budget)
      : all{ranks / 32 + 1, budget, "the marks of neighbours"},
        both{directed ? ranks / 32 + 1 : 0, budget, "the marks of neighbours"} {}

  Buffer<std::uint32_t> all;
  Buffer<std::uint32_t> both;
};

inline std::vector<RankMarks> rank_marks(int threads, std::uint64_t ranks, bool directed,
                                         const std::shared_ptr<MemoryBudget>& budget) {
  std::vector<RankMarks> marks;
  marks.reserve(static_cast<std::size_t>(threads));
  for (int thread = 0; thread < threads; ++thread) marks.emplace_back(ranks, directed, budget);
  return marks;
}

/// body(first, last, thread) over all ranks. The lowest are tasks of their own, being the ones with much work.
template <class Body>
void for_each_rank_range(std::uint64_t ranks, int threads, Progress& progress, Body&& body) {
  constexpr std::uint64_t most_alone = 1u << 14, together = 1u << 10;
  const std::uint64_t     alone = std::min(ranks, most_alone);
  for_each_task(threads, alone + (ranks - alone + together - 1) / together, [&](std::uint64_t task, int thread) {
    check_cancelled(progress);
    const std::uint64_t first = task < alone ? task : alone + (task - alone) * together;
    const std::uint64_t last  = task < alone ? task + 1 : std::min(ranks, first + together);
    body(static_cast<Vertex>(first), static_cast<Vertex>(last), thread);
    progress.advance(last - first);
  });
}

/// Ranks by falling bit width of the degree, in the order of the vertices where that is the same: all that
/// bounding the rows takes, and neighbours that were near each other stay so.
template <class Source>
void rank_vertices(RankedRows& rows, const Source& source, int threads,
                   const std::shared_ptr<MemoryBudget>& budget) {
  constexpr std::size_t widths = 65;
  const std::uint64_t   n      = source.vertex_count();
  rows.rank_of                 = Buffer<Vertex>{n, budget, "the ranks of vertices"};
  rows.vertex_at               = Buffer<Vertex>{n, budget, "the ranks of vertices"};
  std::vector<std::array<std::uint64_t, widths>> next(static_cast<std::size_t>(threads));
  const auto                                     width = [&](std::uint64_t v) {
    return static_cast<std::size_t>(std::bit_width(source.degree(static_cast<Vertex>(v))));
  };
  for_each_share(threads, n, [&](std::uint64_t begin, std::uint64_t end, int thread) {
    for (std::uint64_t v = begin; v < end; ++v) ++next[static_cast<std::size_t>(thread)][width(v)];
  });
  std::uint64_t sum = 0;
  for (std::size_t w = widths; w-- > 0;) {
    if (w == 1) rows.size = sum;
    for (auto& counts : next) sum += std::exchange(counts[w], sum);
  }
  for_each_share(threads, n, [&](std::uint64_t begin, std::uint64_t end, int thread) {
    for (std::uint64_t v = begin; v < end; ++v) {
      const std::uint64_t rank = next[static_cast<std::size_t>(thread)][width(v)]++;
      rows.rank_of[v]          = static_cast<Vertex>(rank);
      rows.vertex_at[rank]     = static_cast<Vertex>(v);
    }
  });
}

/// Where rows start: each has room for a word a neighbour, though several mostly share one, and for the end mark.
template <class Source>
void measure_rows(RankedRows& rows, const Source& source, int threads, Progress& progress) {
  for_each_rank_range(rows.size, threads, progress, [&](Vertex first, Vertex last, int) {
    for (Vertex u = first; u < last; ++u) {
      std::uint64_t room = 1;
      source.for_each_neighbor(rows.vertex_at[u], [&](Vertex v, bool) { room += rows.rank_of[v] < u; });
      rows.starts[std::uint64_t{u} + 1] = room;
    }
  });
  for (std::uint64_t u = 0; u < rows.size; ++u) rows.starts[u + 1] += rows.starts[u];
}

/// The words of u, in ascending order; `marks` are clear before and after.
template <class Source>
void fill_row(RankedRows& rows, const Source& source, Vertex u, RankMarks& marks) {
  const EdgeIndex   start = rows.starts[u];
  RankedRows::Word* end   = rows.words.data() + start;
  source.for_each_neighbor(rows.vertex_at[u], [&](Vertex neighbor, bool both) {
    const Vertex        v     = rows.rank_of[neighbor];
    const std::uint32_t lower = v < u;  // not a branch: it would be guessed wrong half the time
    std::uint32_t&      mark  = marks.all[v / 32];
    *end                      = RankedRows::Word{v / 32} << 32;
    end += lower & static_cast<std::uint32_t>(mark == 0);
    mark |= lower << v % 32;
    if constexpr (Source::directed) marks.both[v / 32] |= (lower & static_cast<std::uint32_t>(both)) << v % 32;
  });
  RankedRows::Word* const begin = rows.words.data() + start;
  std::sort(begin, end);
  for (RankedRows::Word* word = begin; word < end; ++word) {
    const Vertex block = RankedRows::block(*word);
    *word |= std::exchange(marks.all[block], 0);
    if constexpr (Source::directed)
      rows.both[static_cast<std::uint64_t>(word - rows.words.data())] = std::exchange(marks.both[block], 0);
  }
  *end = RankedRows::end_mark;
}

template <class Source>
RankedRows ranked_rows(const Source& source, int threads, const std::shared_ptr<MemoryBudget>& budget,
                       Progress& progress) {
  RankedRows rows;
  rank_vertices(rows, source, threads, budget);
  rows.starts = Buffer<EdgeIndex>{rows.size + 1, budget, "the ranked rows"};
  progress.begin("ranking", 2 * rows.size, ProgressUnit::items);
  measure_rows(rows, source, threads, progress);
  rows.words = Buffer<RankedRows::Word>{rows.starts[rows.size], budget, "the ranked rows"};
  if (Source::directed) rows.both = Buffer<std::uint32_t>{rows.words.size(), budget, "the ranked rows"};
  // Neighbours of any rank are looked up, so the marks reach past the ranks that have rows.
  std::vector<RankMarks> marks = rank_marks(threads, source.vertex_count(), Source::directed, budget);
  for_each_rank_range(rows.size, threads, progress, [&](Vertex first, Vertex last, int thread) {
    for (Vertex u = first; u < last; ++u) fill_row(rows, source, u, marks[static_cast<std::size_t>(thread)]);
  });
  progress.end();
  return rows;
}

}  // namespace spillway
