#include "algorithms/scc/searches.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "algorithms/programs/strong_components.hpp"

#include <spillway/run.hpp>

namespace spillway::scc {
namespace {

template <class P>
Searched searched(const P& program, const Graph& graph, std::shared_ptr<Resident> values,
                  const RunOptions& options) {
  auto outcome = run(program, graph, options, {.resident = std::move(values), .keep = true});
  return {std::move(outcome.resident), std::move(outcome.statistics)};
}

/// Beside rows; most is held while vertices are trimmed. A program has counters and a log of iterations, and
/// pivots have a bit for every two.
std::uint64_t bytes_of_searches(const Graph& graph) {
  constexpr std::uint64_t a_vertex = 36, a_program = 320u << 10;
  const std::uint64_t     pivots = pivots_at_once(graph);
  return graph.vertex_count() * a_vertex + a_program + pivots * pivots / 8;
}

}  // namespace

std::uint64_t pivots_at_once(const Graph& graph) {
  constexpr std::uint64_t most = 1024, vertices_each = 16;
  const std::uint64_t     n = graph.vertex_count();
  return has_long_paths(n, graph.arc_count())
             ? std::bit_floor(std::clamp<std::uint64_t>(n / vertices_each, 1, most))
             : 1;
}

/// Pivots that are spread over a plane have the root of their number less far to go, and the last of them some
/// more: on a directed grid of 2048 x 2048 vertices 235 levels instead of 3,250.
AlgorithmWork work_of_searches(const Graph& graph) {
  constexpr double trims = 3, searches = 2, left = 0.5, farthest = 2.5;
  AlgorithmWork    work   = work_of_strong_components(graph);
  const auto       pivots = static_cast<double>(pivots_at_once(graph));
  const double     share  = std::min(1.0, farthest / std::sqrt(pivots));
  work.state              = bytes_of_searches(graph);
  work.on_gpu             = [share](const GraphSample& sample) {
    const double levels = searches * std::max(1.0, share * sample.levels);
    return std::vector<Activity>{{trims, left}, {levels, std::min(1.0, searches / levels)}};
  };
  return work;
}

Searched trimmed(const Graph& graph, Along way, std::shared_ptr<Resident> values, const RunOptions& options) {
  return way == Along::out ? searched(Trim<Along::out>{}, graph, std::move(values), options)
                           : searched(Trim<Along::in>{}, graph, std::move(values), options);
}

Searched reached(const Graph& graph, Along way, std::shared_ptr<Resident> values, const RunOptions& options) {
  return way == Along::out ? searched(Reach<Along::out>{}, graph, std::move(values), options)
                           : searched(Reach<Along::in>{}, graph, std::move(values), options);
}

Searched colored(const Graph& graph, std::shared_ptr<Resident> values, const RunOptions& options) {
  return searched(Color{}, graph, std::move(values), options);
}

Searched colored_back(const Graph& graph, std::shared_ptr<Resident> values, const RunOptions& options) {
  return searched(ColorBack{}, graph, std::move(values), options);
}

}  // namespace spillway::scc
