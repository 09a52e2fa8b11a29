#include "plan/graph_sample.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "generate/random.hpp"
#include "store/row_code.hpp"

#include <spillway/engine/parallel.hpp>
#include <spillway/engine/search.hpp>

namespace spillway {
namespace {

constexpr std::uint64_t sampled_rows   = 1u << 14;
constexpr std::uint64_t sampled_groups = 256;
constexpr std::uint64_t groups_a_task  = 32;
constexpr std::uint64_t searches       = 4;
constexpr std::uint64_t targets_a_row  = 64;  // of which a group's neighbourhood is made
constexpr unsigned      group          = RowCode::group;

/// Numbers of one task, the same whatever thread has it.
class Draw {
 public:
  explicit Draw(std::uint64_t task) : position_(task << 32) {}

  std::uint64_t operator()(std::uint64_t below) { return stream_.below(position_++, below); }

 private:
  RandomStream  stream_{1, RandomUse::samples};
  std::uint64_t position_;
};

/// Vertices that a search has seen: some thousands, looked up tens of thousands of times.
class SeenVertices {
 public:
  explicit SeenVertices(std::size_t most) : table_(std::bit_ceil(2 * most), no_vertex) {}

  std::size_t size() const { return size_; }

  /// True the first time.
  bool insert(Vertex v) {
    std::size_t at = (v * std::size_t{0x9E3779B97F4A7C15u}) >> 32 & (table_.size() - 1);
    while (table_[at] != no_vertex && table_[at] != v) at = (at + 1) & (table_.size() - 1);
    if (table_[at] == v) return false;
    table_[at] = v;
    ++size_;
    return true;
  }

 private:
  std::vector<Vertex> table_;
  std::size_t         size_ = 0;
};

/// What some groups take.
struct CodeSize {
  double   words = 0, edges = 0;
  unsigned weight_bits = 0;
};

class Sampling {
 public:
  Sampling(const RowBlock& block, std::uint64_t vertices, bool weighted)
      : block_(block), rows_(block.rows), vertices_(vertices), weighted_(weighted) {}

  GraphSample sample(int threads) && {
    if (vertices_ == 0 || block_.arcs() == 0) return sample_;
    sample_lengths();
    sample_places(threads);
    return sample_;
  }

 private:
  EdgeIndex degree(std::uint64_t v) const { return rows_.offsets[v + 1] - rows_.offsets[v]; }

  /// Of an arc that is drawn, so that rows come as often as they are long.
  Vertex source(Draw& drawn) const {
    const EdgeIndex     at    = rows_.offsets[block_.first] + drawn(block_.arcs());
    const auto          begun = [&](std::uint64_t v) { return rows_.offsets[v] <= at; };
    const std::uint64_t first = block_.first;
    return static_cast<Vertex>(partition_point(first + 1, std::uint64_t{block_.last}, begun) - 1);
  }

  void sample_lengths() {
    const std::uint64_t count = std::min(vertices_, sampled_rows);
    Draw                drawn{0};
    degrees_.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i)
      degrees_.push_back(degree(count == vertices_ ? i : drawn(vertices_)));
    std::ranges::sort(degrees_, std::greater<>{});
    std::vector<EdgeIndex> from(count + 1);  // edges of this row and the shorter ones
    for (std::uint64_t i = count; i-- > 0;) from[i] = from[i + 1] + degrees_[i];
    // No row adds more than 2^i to a sum, so hubs that were not drawn do not matter; all edges are counted.
    const double scale = static_cast<double>(vertices_) / static_cast<double>(count);
    for (unsigned i = 0; i < GraphSample::lengths; ++i) {
      const EdgeIndex length = EdgeIndex{1} << i;
      const auto      rows   = longer_than(length);
      const double    edges =
          static_cast<double>(rows) * static_cast<double>(length) + static_cast<double>(from[rows]);
      sample_.within[i] = std::min(1.0, edges * scale / static_cast<double>(block_.arcs()));
      sample_.longer[i] = static_cast<double>(rows) / static_cast<double>(count);
    }
    sample_.nonempty = static_cast<double>(longer_than(0)) / static_cast<double>(count);
    sample_.longest  = longest(scale);
    for (unsigned i = 0; i < sample_.longest_of_group.size(); ++i)
      sample_.longest_of_group[i] = longest_of_group(std::ldexp(1.0, static_cast<int>(i)));
    for (EdgeIndex degree = 0; degree < longer_.size(); ++degree) longer_[degree] = longer_than(degree);
  }

  /// Of so many rows that are drawn again from those that were.
  double longest_of_group(double rows) const {
    const auto count = static_cast<double>(degrees_.size());
    double     sum = 0, none_longer = 1;  // chance that all of the group are among the rows from i on
    for (std::size_t i = 0; i < degrees_.size(); ++i) {
      const double rest = std::pow((count - static_cast<double>(i) - 1) / count, rows);
      sum += static_cast<double>(degrees_[i]) * (none_longer - rest);
      none_longer = rest;
    }
    return sum;
  }

  /// Of all rows, `scale` times as many as were drawn: from the longest of these, as if they fell off by a power
  /// (B. M. Hill, A Simple General Approach to Inference About the Tail of a Distribution, 1975).
  double longest(double scale) const {
    constexpr std::size_t tail = 64;
    if (scale <= 1 || degrees_.size() <= tail || degrees_[tail] == 0) return static_cast<double>(degrees_.front());
    const auto least = static_cast<double>(degrees_[tail]);
    double     logs  = 0;
    for (std::size_t i = 0; i < tail; ++i) logs += std::log(static_cast<double>(degrees_[i]) / least);
    const double power = logs / static_cast<double>(tail);  // 0: none is longer
    const double grown = least * std::pow(static_cast<double>(tail) * scale, power);
    return std::clamp(grown, static_cast<double>(degrees_.front()), static_cast<double>(block_.arcs()));
  }

  std::uint64_t longer(EdgeIndex length) const {
    return length < longer_.size() ? longer_[length] : longer_than(length);
  }
  std::uint64_t longer_than(EdgeIndex length) const {
    return static_cast<std::uint64_t>(std::ranges::lower_bound(degrees_, length, std::greater<>{}) -
                                      degrees_.begin());
  }

  /// Where a vertex comes if those with more edges come first; of equals, in the order of their numbers.
  double place_of(Vertex v) const {
    const EdgeIndex     own   = degree(v);
    const std::uint64_t first = longer(own), last = own == 0 ? degrees_.size() : longer(own - 1);
    const auto          before = static_cast<double>(first);
    const double        among =
        static_cast<double>(last - first) * static_cast<double>(v) / static_cast<double>(vertices_);
    return (before + among) / static_cast<double>(degrees_.size()) * static_cast<double>(vertices_);
  }

  /// Searches and groups wait for memory nearly all the time: some threads wait together.
  void sample_places(int threads) {
    constexpr std::uint64_t      coding = sampled_groups / groups_a_task;
    std::array<double, searches> levels{};
    std::array<CodeSize, coding> sizes{};
    const auto                   act = [&](std::uint64_t task, int) {
      Draw drawn{1 + task};
      if (task < searches)
        levels[task] = levels_from(source(drawn));
      else
        sizes[task - searches] = code_size(drawn);
    };
    constexpr int few = 4;  // more would have to be woken, which takes longer than they spare
    for_each_task(std::min(threads, few), searches + coding, act);
    CodeSize all;
    for (const CodeSize& one : sizes)
      all = {all.words + one.words, all.edges + one.edges, std::max(all.weight_bits, one.weight_bits)};
    sample_.levels       = std::accumulate(levels.begin(), levels.end(), 0.0) / searches;
    sample_.code_bytes   = all.words * sizeof(std::uint32_t) / all.edges;
    sample_.weight_bytes = all.weight_bits / 8.0;
  }

  /// Words of groups of rows that are drawn, and of their headers.
  CodeSize code_size(Draw& drawn) const {
    CodeSize size;
    for (std::uint64_t i = 0; i < groups_a_task; ++i) {
      const Vertex    v      = source(drawn);
      const EdgeIndex length = degree(v), first = rows_.offsets[v];
      const auto      count   = static_cast<unsigned>(std::min<EdgeIndex>(length, group));
      const double    headers = length <= group ? 1 : 2;
      size.words +=
          headers + GroupCode::of(count, static_cast<Vertex>(range_of_group(first, length, drawn))).words(count);
      size.edges += count;
      if (weighted_ && rows_.weights)
        size.weight_bits = std::max(size.weight_bits,
                                    static_cast<unsigned>(std::bit_width(rows_.weights[first + drawn(length)])));
    }
    return size;
  }

  /// From the first to the last of a group of the row, by their places.
  double range_of_group(EdgeIndex first, EdgeIndex length, Draw& drawn) const {
    std::vector<double> places;
    for (EdgeIndex k = 0; k < std::min<EdgeIndex>(length, targets_a_row); ++k)
      places.push_back(place_of(rows_.targets[first + (length <= targets_a_row ? k : drawn(length))]));
    std::ranges::sort(places);
    if (length <= group) return places.back() - places.front();
    // Of a long row some targets were drawn, which are that much farther apart.
    const double      thinned = static_cast<double>(length) / static_cast<double>(places.size());
    const std::size_t across  = std::max<std::size_t>(1, static_cast<std::size_t>((group - 1) / thinned));
    const std::size_t begin   = drawn(places.size() - across);
    const double      range =
        (places[begin + across] - places[begin]) * (group - 1) / thinned / static_cast<double>(across);
    return std::min(range, static_cast<double>(vertices_));
  }

  /// A search from an end of an arc until it has seen enough to tell how balls grow: by a factor with every level,
  /// or like a power of the radius, as in roads.
  double levels_from(Vertex source) const {
    constexpr std::size_t enough     = 4096;
    constexpr EdgeIndex   most_edges = 1u << 15, of_a_row = 1u << 10;
    SeenVertices          seen{2 * enough + of_a_row};
    std::vector<Vertex>   frontier{source}, next;
    std::vector<double>   ball{1};
    EdgeIndex             looked_at = 0;
    seen.insert(source);
    while (!frontier.empty() && seen.size() < enough && looked_at < most_edges) {
      next.clear();
      for (const Vertex v : frontier) {
        if (seen.size() >= 2 * enough || looked_at >= most_edges)
          break;  // the level is large: that is all to know
        const EdgeIndex length = std::min(degree(v), of_a_row);
        looked_at += length;
        for (EdgeIndex k = 0; k < length; ++k)
          if (const Vertex u = rows_.targets[rows_.offsets[v] + k]; seen.insert(u)) next.push_back(u);
      }
      if (!next.empty()) ball.push_back(static_cast<double>(seen.size()));
      std::swap(frontier, next);
    }
    return extended(ball, static_cast<double>(vertices_) * sample_.nonempty, frontier.empty());
  }

  static double extended(const std::vector<double>& ball, double reachable, bool ended) {
    constexpr std::size_t few    = 8;
    const auto            radius = static_cast<double>(ball.size() - 1);
    if (ended || radius < 1 || reachable <= ball.back()) return std::max(1.0, radius);
    const double left = reachable / ball.back();
    if (ball.size() <= few) {
      const double factor = std::max(2.0, ball.back() / ball[ball.size() - 2]);
      return radius + std::log(left) / std::log(factor);
    }
    const double half  = ball[ball.size() / 2];
    const double power = std::max(1.0, std::log2(ball.back() / half));
    return radius * std::pow(left, 1 / power);
  }

  const RowBlock&                 block_;
  const Rows&                     rows_;
  std::uint64_t                   vertices_;
  bool                            weighted_;
  std::vector<EdgeIndex>          degrees_;   ///< falling
  std::array<std::uint64_t, 1024> longer_{};  ///< of them, by length
  GraphSample                     sample_;
};

}  // namespace

double GraphSample::prefix_length(double share) const {
  if (share >= 1) return 1e18;
  if (share <= within[0]) return share / std::max(within[0], 1e-12);
  for (unsigned i = 1; i < lengths; ++i)
    if (share <= within[i]) {
      const double part = (share - within[i - 1]) / std::max(within[i] - within[i - 1], 1e-12);
      return std::ldexp(1 + part, static_cast<int>(i) - 1);
    }
  return std::ldexp(1.0, lengths);
}

double GraphSample::longer_than(double length) const {
  if (length < 1) return nonempty;
  const double   place = std::log2(length);
  const unsigned below = std::min(static_cast<unsigned>(place), lengths - 1),
                 above = std::min(below + 1, lengths - 1);
  return longer[below] + (longer[above] - longer[below]) * std::min(1.0, place - below);
}

double GraphSample::longest_of(double rows) const {
  for (unsigned i = lengths; i-- > 1;)
    if (longer[i] * rows >= 1) return std::min(longest, std::ldexp(2.0, static_cast<int>(i)));
  return std::min(longest, 2.0);
}

double GraphSample::edges_of_longest(double share, double degree) const {
  if (degree <= 0 || share >= nonempty) return 1;
  double rows = 0, edges = 0;  // of those that are longer than 2^i
  for (unsigned i = lengths; i-- > 0;) {
    const double more = longer[i];
    const double held = std::max(edges, 1 - within[i] + std::ldexp(more, static_cast<int>(i)) / degree);
    if (share <= more) return more > rows ? edges + (held - edges) * (share - rows) / (more - rows) : held;
    rows = more, edges = std::min(1.0, held);
  }
  return edges + (1 - edges) * (share - rows) / std::max(nonempty - rows, 1e-12);
}

GraphSample sampled(const RowBlock& rows, std::uint64_t vertices, bool weighted, int threads) {
  return Sampling{rows, vertices, weighted}.sample(threads);
}

}  // namespace spillway
