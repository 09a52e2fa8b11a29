#include "algorithms/sssp_whole.hpp"

#include "algorithms/gpu/gpu.hpp"
#include "algorithms/programs/sssp.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

struct Sssp {
  struct alignas(8) Value {
    std::uint32_t distance;
    Vertex        parent;

    SPILLWAY_HD bool operator<(const Value& other) const { return distance < other.distance; }
  };
  using Weight  = std::uint32_t;
  using Combine = Min<Value>;

  static constexpr bool          order_free     = true;  // a minimum over paths: any order, same distances
  static constexpr std::uint32_t neutral_weight = 0;     // a zero edge lengthens no path

  Vertex source;
  double delta = 0;  // chosen by the engine

  SPILLWAY_HD Value init(Vertex v) const { return v == source ? Value{0, v} : Value{no_distance, no_vertex}; }
  SPILLWAY_HD bool  starts(Vertex v) const { return v == source; }
  SPILLWAY_HD std::uint32_t priority(const Value& value) const { return value.distance; }
  SPILLWAY_HD Value         compute(const Value& from, const Edge<std::uint32_t>& edge) const {
            return {extended(from.distance, edge.weight), edge.source};
  }

  static constexpr int columns = 2;
  template <int i>
  SPILLWAY_HD std::uint32_t column(const Value& value) const {
    return i == 0 ? value.distance : value.parent;
  }

  static constexpr std::uint32_t no_distance = highest<std::uint32_t>();
};

}  // namespace

Plan plan_paths_with_parents(const Graph& graph, Vertex source, double delta, const RunOptions& options) {
  return plan_run(Sssp{source, delta}, graph, options);
}

Result paths_with_parents(const Graph& graph, Vertex source, double delta, const RunOptions& options) {
  auto   outcome = run(Sssp{source, delta}, graph, gpu::without(options));
  Result result;
  result.columns.push_back(outcome.column<0>("distance"));
  result.columns.push_back(outcome.column<1>("parent"));
  result.statistics = std::move(outcome.statistics);
  return result;
}

}  // namespace spillway
