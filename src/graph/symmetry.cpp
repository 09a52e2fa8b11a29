#include "graph/symmetry.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <mutex>
#include <random>
#include <span>
#include <vector>

#include "base/fail.hpp"
#include "graph/csr.hpp"

#include <spillway/edge_list.hpp>
#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

/// Parallel arcs: the places of all arcs from one vertex to another.
struct Run {
  EdgeIndex begin = 0;
  EdgeIndex end   = 0;

  EdgeIndex size() const { return end - begin; }
};

Run run_at(const Csr& csr, EdgeIndex begin, EdgeIndex row_end) {
  EdgeIndex end = begin;
  while (end < row_end && csr.targets[end] == csr.targets[begin]) ++end;
  return {begin, end};
}

Run run_between(const Csr& csr, Vertex source, Vertex target) {
  const EdgeIndex row_end = csr.offsets[source + 1];
  const Vertex*   found =
      std::lower_bound(csr.targets.data() + csr.offsets[source], csr.targets.data() + row_end, target);
  const auto begin = static_cast<EdgeIndex>(found - csr.targets.data());
  return begin < row_end && *found == target ? run_at(csr, begin, row_end) : Run{begin, begin};
}

/// A weight that `run` has more often than `back`.
std::optional<std::uint32_t> surplus(const Csr& csr, const Run& run, const Run& back) {
  if (csr.weights.empty()) return run.size() > back.size() ? std::optional{0u} : std::nullopt;
  std::vector<std::uint32_t> ours{csr.weights.data() + run.begin, csr.weights.data() + run.end};
  std::vector<std::uint32_t> theirs{csr.weights.data() + back.begin, csr.weights.data() + back.end};
  std::vector<std::uint32_t> more;
  std::sort(ours.begin(), ours.end());
  std::sort(theirs.begin(), theirs.end());
  std::set_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(more));
  return more.empty() ? std::nullopt : std::optional{more.front()};
}

bool pair_off(const Csr& csr, const Run& run, const Run& back) {
  if (run.size() != back.size()) return false;
  if (csr.weights.empty()) return true;
  if (run.size() == 1) return csr.weights[run.begin] == csr.weights[back.begin];
  return !surplus(csr, run, back);
}

LoneArc lone_of(const Csr& csr, Vertex v, Vertex target, const Run& run, const Run& back) {
  if (const auto weight = surplus(csr, run, back)) return {v, target, *weight};
  return {target, v, surplus(csr, back, run).value_or(0)};
}

std::uint64_t mixed(std::uint64_t value) {  // the finaliser of splitmix64
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

/// Drawn anew each time, so that no file can be made to pass.
std::uint64_t drawn_seed() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

/// The sum of term(v, target, key of the arc's ends and weight) over all arcs: one pass at the speed of memory,
/// where looking for every reverse is a cache miss an arc. Sums that must agree differ by accident once in 2^64.
template <class Ends, class Term>
std::uint64_t keyed_sum(const Csr& csr, std::uint64_t seed, int threads, const Progress& progress, Ends&& ends,
                        Term&& term) {
  std::atomic<std::uint64_t> total{0};
  for_each_row_range(csr, threads, [&](Vertex first, Vertex last, int) {
    std::uint64_t sum = 0;
    for (Vertex v = first; v < last; ++v) {
      for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i) {
        const Vertex  target = csr.targets[i];
        std::uint64_t key    = mixed(seed ^ ends(v, target));
        if (!csr.weights.empty()) key = mixed(key + csr.weights[i]);
        sum += term(v, target, key);
      }
      if ((v & 0xFFFF) == 0) check_cancelled(progress);
    }
    total += sum;
  });
  return total;
}

std::uint64_t joined_ends(std::uint64_t first, std::uint64_t second) { return first << 32 | second; }

/// Arcs that lead upwards count for, the others against: where all pair off the sum is 0.
std::uint64_t imbalance(const Csr& csr, int threads, const Progress& progress) {
  return keyed_sum(
      csr, drawn_seed(), threads, progress,
      [](Vertex v, Vertex target) { return joined_ends(std::min(v, target), std::max(v, target)); },
      [](Vertex v, Vertex target, std::uint64_t key) { return target == v  ? 0
                                                              : target > v ? key
                                                                           : 0 - key; });
}

/// One pass over the arcs that lead upwards, or over those that lead downwards, looking for the reverse of each.
class Pass {
 public:
  Pass(const Csr& csr, bool upwards) : csr_(csr), upwards_(upwards) {}

  std::optional<LoneArc> run(int threads, const Progress& progress) {
    for_each_row_range(csr_, threads, [&](Vertex first, Vertex last, int) {
      for (Vertex v = first; v < last; ++v) {
        if (const auto lone = lone_in_row(v)) return report(v, *lone);
        if ((v & 0xFFFF) == 0) check_cancelled(progress);
      }
    });
    return lone_;
  }

 private:
  std::optional<LoneArc> lone_in_row(Vertex v) const {
    for (EdgeIndex i = csr_.offsets[v]; i < csr_.offsets[v + 1];) {
      const Run    run    = run_at(csr_, i, csr_.offsets[v + 1]);
      const Vertex target = csr_.targets[i];
      i                   = run.end;
      if (target == v || (target > v) != upwards_) continue;
      const Run back = run_between(csr_, target, v);
      if (!pair_off(csr_, run, back)) return lone_of(csr_, v, target, run, back);
    }
    return std::nullopt;
  }

  /// Of what the threads find, the lowest row is told, so that the message does not depend on their number.
  void report(Vertex row, const LoneArc& arc) {
    const std::scoped_lock lock{mutex_};
    if (lone_ && row_ < row) return;
    row_  = row;
    lone_ = arc;
  }

  const Csr&             csr_;
  bool                   upwards_;
  std::mutex             mutex_;
  Vertex                 row_ = 0;
  std::optional<LoneArc> lone_;
};

/// By bisection: parallel arcs may be most of a graph.
EdgeIndex arcs_between(const Csr& csr, Vertex source, Vertex target) {
  const std::span<const Vertex> row = csr.neighbors(source);
  const auto                    run = std::equal_range(row.begin(), row.end(), target);
  return static_cast<EdgeIndex>(run.second - run.first);
}

/// Whether `has(source, target)` is true of nine in ten arcs. As many are looked at as leave no doubt, always the
/// same ones: the time is that of a few thousand cache misses, whatever the size of the graph.
template <class Has>
bool nearly_all(const Csr& csr, Has&& has) {
  constexpr EdgeIndex most_looked_at = 2000;
  const EdgeIndex     arcs = csr.arc_count(), shown = std::min(arcs, most_looked_at);
  EdgeIndex           counted = 0, found = 0;
  for (EdgeIndex k = 0; k < shown; ++k) {
    const EdgeIndex arc    = k * arcs / shown;
    const auto      row    = std::upper_bound(csr.offsets.begin(), csr.offsets.end(), arc) - 1;
    const auto      source = static_cast<Vertex>(row - csr.offsets.begin());
    const Vertex    target = csr.targets[arc];
    if (source == target) continue;
    ++counted;
    found += has(source, target) ? 1 : 0;
  }
  return counted > 0 && found * 10 >= counted * 9;
}

}  // namespace

std::optional<LoneArc> find_lone_arc(const Csr& csr, int threads, const Progress& progress) {
  if (imbalance(csr, threads, progress) == 0) return std::nullopt;
  if (const auto lone = Pass{csr, true}.run(threads, progress)) return lone;
  return Pass{csr, false}.run(threads, progress);
}

bool are_transposed(const Csr& csr, const Csr& back, int threads, const Progress& progress) {
  if (csr.vertex_count() != back.vertex_count() || csr.arc_count() != back.arc_count()) return false;
  const std::uint64_t seed = drawn_seed();
  const auto          key  = [](Vertex, Vertex, std::uint64_t value) { return value; };
  return keyed_sum(
             csr, seed, threads, progress, [](Vertex v, Vertex target) { return joined_ends(v, target); }, key) ==
         keyed_sum(
             back, seed, threads, progress, [](Vertex v, Vertex source) { return joined_ends(source, v); }, key);
}

bool lists_both_ways(const Csr& csr) {
  return nearly_all(csr, [&](Vertex source, Vertex target) { return arcs_between(csr, target, source) > 0; });
}

namespace {

/// Where nine in ten edges have their reverse, neither direction has less than nine of twenty.
bool is_balanced(const Directions& directions) {
  const auto [fewer, more] = std::minmax(directions.up, directions.down);
  return fewer * 11 >= more * 9;
}

/// Some edges of a list, and how many there are from the smaller vertex of each to the larger, and back.
class SampledEdges {
 public:
  struct Counts {
    std::uint64_t up = 0, down = 0;
  };

  SampledEdges(const EdgeList& list, int threads) {
    const EdgeRun       edges = list.edges(threads);
    const std::uint64_t shown = std::min(edges.count, most_looked_at);
    for (std::uint64_t k = 0; k < shown; ++k) {
      const std::uint64_t i = k * edges.count / shown;
      if (edges.source(i) != edges.target(i)) keys_.push_back(key_of(edges, i));
    }
    sampled_ = keys_;
    std::ranges::sort(keys_);
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
    counts_.resize(keys_.size());
    for (const std::uint64_t key : keys_) filter_[slot_of(key)] = true;
    for_each_share(threads, edges.count, [&](std::uint64_t begin, std::uint64_t end, int) {
      for (std::uint64_t i = begin; i < end; ++i) count(edges, i);
    });
  }

  /// Whether `is_so(counts)` is true for nine in ten.
  template <class IsSo>
  bool nearly_all(IsSo&& is_so) const {
    const auto found =
        std::ranges::count_if(sampled_, [&](std::uint64_t key) { return is_so(counts_[place_of(key)]); });
    return !sampled_.empty() && static_cast<std::uint64_t>(found) * 10 >= sampled_.size() * 9;
  }

 private:
  static constexpr std::uint64_t most_looked_at = 2000, filter_bits = 1u << 16;

  static std::uint64_t key_of(const EdgeRun& edges, std::uint64_t i) {
    const Vertex source = edges.source(i), target = edges.target(i);
    return joined_ends(std::min(source, target), std::max(source, target));
  }
  static std::uint64_t slot_of(std::uint64_t key) { return key * 0x9E3779B97F4A7C15u >> 48; }

  std::size_t place_of(std::uint64_t key) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(keys_, key) - keys_.begin());
  }

  void count(const EdgeRun& edges, std::uint64_t i) {
    const std::uint64_t key = key_of(edges, i);
    if (!filter_[slot_of(key)]) return;
    const std::size_t place = place_of(key);
    if (place == keys_.size() || keys_[place] != key) return;
    Counts& counts = counts_[place];
    std::atomic_ref{edges.source(i) < edges.target(i) ? counts.up : counts.down}.fetch_add(
        1, std::memory_order_relaxed);
  }

  std::vector<std::uint64_t>    keys_, sampled_;
  std::vector<Counts>           counts_;
  std::array<bool, filter_bits> filter_{};
};

}  // namespace

bool lists_both_ways(const EdgeList& list, int threads) {
  return SampledEdges{list, threads}.nearly_all(
      [](const auto& counts) { return counts.up > 0 && counts.down > 0; });
}

bool doubles_both_ways(const EdgeList& list, const Directions& directions, int threads) {
  return is_balanced(directions) && SampledEdges{list, threads}.nearly_all(
                                        [](const auto& counts) { return (counts.up + counts.down) % 2 == 0; });
}

bool doubles_both_ways(const Csr& csr, const Directions& directions) {
  if (!is_balanced(directions)) return false;
  return nearly_all(csr, [&](Vertex source, Vertex target) { return arcs_between(csr, source, target) % 2 == 0; });
}

}  // namespace spillway
