// Counting shortest paths level by level: the first half of betweenness, and all of ssnsp. With its serial oracle.
#pragma once

#include <cmath>
#include <queue>
#include <vector>

#include "base/fail.hpp"

#include <spillway/run.hpp>

namespace spillway {

inline constexpr std::uint32_t no_level = 0xFFFFFFFFu;

struct PathCount {
  double        paths;
  std::uint32_t level;
};

/// `V` has `paths` and `level`, and may have more, which starts as zero.
template <class V>
struct PathCounts {
  using Value   = V;
  using Update  = double;
  using Combine = Sum<double>;

  Vertex source;

  SPILLWAY_HD V init(Vertex v) const {
    V value{};
    value.paths = v == source ? 1 : 0;
    value.level = v == source ? 0 : no_level;
    return value;
  }
  SPILLWAY_HD bool   starts(Vertex v) const { return v == source; }
  SPILLWAY_HD bool   open(const V& value) const { return value.level == no_level; }
  SPILLWAY_HD double publish(const V& value, const Step<>&) const { return value.paths; }
  SPILLWAY_HD double compute(double paths, const Edge<>&) const { return paths; }

  SPILLWAY_HD bool apply(V& value, double paths, const Step<>& step) const {
    value.level = step.iteration + 1;
    value.paths = paths;
    return true;
  }
};

/// The oracle: a queue; a vertex's count is complete before it is taken out.
struct SerialPathCounts {
  std::vector<std::uint32_t> levels;
  std::vector<long double>   paths;  ///< whose exponents reach farther
  std::vector<Vertex>        order;

  SerialPathCounts(const Graph& graph, Vertex source)
      : levels(graph.vertex_count(), no_level), paths(graph.vertex_count()) {
    levels[source] = 0;
    paths[source]  = 1;
    order.push_back(source);
    for (std::size_t at = 0; at < order.size(); ++at) {
      const Vertex u = order[at];
      for (const Vertex v : graph.out().neighbors(u)) {
        if (levels[v] == no_level) levels[v] = levels[u] + 1, order.push_back(v);
        if (levels[v] == levels[u] + 1) paths[v] += paths[u];
      }
    }
  }
};

inline void refuse_too_many_paths(const char* name, const Graph& graph, std::span<const double> paths) {
  for (std::size_t v = 0; v < paths.size(); ++v)
    if (std::isinf(paths[v]))
      throw bad_input("{}: vertex {} has more shortest paths than a 64-bit floating number can count (1.8e308)",
                      name, graph.ids().name(static_cast<Vertex>(v)));
}

}  // namespace spillway
