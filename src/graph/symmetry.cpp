#include "graph/symmetry.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <vector>

#include "base/fail.hpp"
#include "graph/csr.hpp"

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

/// One pass over the arcs that lead upwards, or over those that lead downwards.
class Pass {
 public:
  Pass(const Csr& csr, bool upwards) : csr_(csr), upwards_(upwards) {}

  void check_rows(Vertex first, Vertex last, const Progress& progress) {
    EdgeIndex up = 0, down = 0;
    for (Vertex v = first; v < last; ++v) {
      for (EdgeIndex i = csr_.offsets[v]; i < csr_.offsets[v + 1];) {
        const Run    run    = run_at(csr_, i, csr_.offsets[v + 1]);
        const Vertex target = csr_.targets[i];
        i                   = run.end;
        if (target == v) continue;
        (target > v ? up : down) += run.size();
        if ((target > v) != upwards_) continue;
        const Run back = run_between(csr_, target, v);
        if (!pair_off(csr_, run, back)) return report(v, lone_of(csr_, v, target, run, back));
      }
      if ((v & 0xFFFF) == 0) check_cancelled(progress);
    }
    const std::scoped_lock lock{mutex_};
    up_ += up;
    down_ += down;
  }

  const std::optional<LoneArc>& lone() const { return lone_; }
  bool                          balanced() const { return up_ == down_; }

 private:
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
  EdgeIndex              up_   = 0;
  EdgeIndex              down_ = 0;
  Vertex                 row_  = 0;
  std::optional<LoneArc> lone_;
};

}  // namespace

std::optional<LoneArc> find_lone_arc(const Csr& csr, int threads, const Progress& progress) {
  const auto run = [&](Pass& pass) {
    for_each_row_range(csr, threads,
                       [&](Vertex first, Vertex last, int) { pass.check_rows(first, last, progress); });
  };
  Pass upwards{csr, true};
  run(upwards);
  // Every arc up has its own arc down; where there are no others, half of the searches are saved.
  if (upwards.lone() || upwards.balanced()) return upwards.lone();
  Pass downwards{csr, false};
  run(downwards);
  return downwards.lone();
}

}  // namespace spillway
