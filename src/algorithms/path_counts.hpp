// The oracle of path counts: a queue, and counts of any size.
#pragma once

#include <algorithm>
#include <cmath>

#include "algorithms/programs/levels.hpp"
#include "base/fail.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/graph.hpp>

namespace spillway {

/// A count that may exceed every floating type (a chain of 17,000 diamonds has 2^17000 paths): a number from 0.5
/// to 1, or 0, times a power of two.
struct LargeCount {
  double       part     = 0;
  std::int64_t exponent = 0;

  void operator+=(const LargeCount& other) {
    if (other.part == 0) return;
    const std::int64_t top  = part == 0 ? other.exponent : std::max(exponent, other.exponent);
    int                more = 0;
    part     = std::frexp(shifted(part, exponent - top) + shifted(other.part, other.exponent - top), &more);
    exponent = top + more;
  }

  double over(const LargeCount& other) const { return shifted(part / other.part, exponent - other.exponent); }
  double value() const { return shifted(part, exponent); }

 private:
  /// Far beyond what a double can hold, either way, is as good as any number there.
  static double shifted(double number, std::int64_t by) {
    return std::ldexp(number, static_cast<int>(std::clamp<std::int64_t>(by, -5000, 5000)));
  }
};

/// The oracle: a queue; a vertex's count is complete before it is taken out.
class SerialPathCounts {
 public:
  SerialPathCounts(const Graph& graph, Vertex source)
      : levels_(graph.vertex_count(), graph.budget(), verifying),
        paths_(graph.vertex_count(), graph.budget(), verifying),
        queue_(graph.vertex_count(), graph.budget(), verifying) {
    std::fill_n(levels_.data(), levels_.size(), no_level);
    enter(source, 0);
    paths_[source] = {.part = 0.5, .exponent = 1};
    for (std::uint64_t at = 0; at < reached_; ++at) {
      const Vertex u = queue_[at];
      for (const Vertex v : graph.out().neighbors(u)) {
        if (levels_[v] == no_level) enter(v, levels_[u] + 1);
        if (levels_[v] == levels_[u] + 1) paths_[v] += paths_[u];
      }
    }
  }

  std::span<const std::uint32_t> levels() const { return levels_.span(); }
  std::span<const LargeCount>    paths() const { return paths_.span(); }
  /// The vertices that are reached, by level.
  std::span<const Vertex> order() const { return queue_.span().first(reached_); }

 private:
  static constexpr const char* verifying = "verifying the paths";

  void enter(Vertex v, std::uint32_t level) {
    levels_[v]         = level;
    queue_[reached_++] = v;
  }

  Buffer<std::uint32_t> levels_;
  Buffer<LargeCount>    paths_;
  Buffer<Vertex>        queue_;
  std::uint64_t         reached_ = 0;
};

inline void refuse_too_many_paths(const char* name, const Graph& graph, std::span<const double> paths) {
  for (std::size_t v = 0; v < paths.size(); ++v)
    if (std::isinf(paths[v]))
      throw bad_input("{}: vertex {} has more shortest paths than a 64-bit floating number can count (1.8e308)",
                      name, graph.ids().name(static_cast<Vertex>(v)));
}

}  // namespace spillway
