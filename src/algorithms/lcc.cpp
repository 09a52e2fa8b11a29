// Local clustering coefficient as LDBC Graphalytics defines it: of the arcs that could run between a vertex's
// neighbours, the share that does. Neighbours are those over out- and in-edges; loops and parallel arcs do not
// count.
#include <numeric>

#include "algorithms/checking.hpp"
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/neighbor_checks.hpp"
#include "algorithms/plain_rows.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/tolerances.hpp"
#include "algorithms/triangles.hpp"

#include <spillway/engine/stopwatch.hpp>
#include "engine/building.hpp"

namespace spillway {
namespace {

/// Enough for a thread to work on between two looks at the clock; fixed, so that sums do not depend on the
/// threads.
constexpr std::uint64_t block_size = 1u << 16;

struct Coefficients {
  Buffer<double> of;
  double         mean         = 0;
  double         milliseconds = 0;  ///< that making them took
};

/// degree(v) counts neighbours, arcs(v) the arcs between them.
template <class Degree, class Arcs>
Coefficients coefficients(std::uint64_t n, const TriangleContext& context, Degree&& degree, Arcs&& arcs) {
  const Stopwatch     clock;
  Coefficients        result{.of = Buffer<double>{n, context.budget, "the result"}};
  const std::uint64_t blocks = (n + block_size - 1) / block_size;
  std::vector<double> sums(blocks);
  for_each_task(context.threads, blocks, [&](std::uint64_t block, int) {
    check_cancelled(*context.progress);
    for (std::uint64_t v = block * block_size; v < std::min(n, (block + 1) * block_size); ++v) {
      const auto neighbors = static_cast<double>(degree(static_cast<Vertex>(v)));
      if (neighbors < 2) continue;
      result.of[v] = static_cast<double>(arcs(static_cast<Vertex>(v))) / (neighbors * (neighbors - 1));
      sums[block] += result.of[v];
    }
  });
  if (n > 0) result.mean = std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(n);
  result.milliseconds = clock.milliseconds();
  return result;
}

gpu::CountedTriangles triangles_on_cpu(const Csr& simple, const TriangleContext& context) {
  const Stopwatch       clock;
  Triangles             found = count_triangles({simple}, /*at_vertices=*/true, context);
  gpu::CountedTriangles counted{.total = found.total, .at = std::move(found.at), .statistics = {}};
  counted.statistics.run_ms          = clock.milliseconds();
  counted.statistics.iterations      = 1;
  counted.statistics.edges_processed = simple.arc_count();
  return counted;
}

/// Neighbours are left to be counted where they are needed.
gpu::NeighborArcs arcs_on_cpu(const DirectedRows& rows, const TriangleContext& context) {
  const Stopwatch   clock;
  gpu::NeighborArcs counted;
  counted.arcs                       = arcs_between_neighbors(rows, context);
  counted.statistics.run_ms          = clock.milliseconds();
  counted.statistics.iterations      = 1;
  counted.statistics.edges_processed = 2 * rows.out.arc_count();
  return counted;
}

/// An undirected edge is two arcs, so each triangle brings two to each corner.
Coefficients of_symmetric(const Graph& graph, const RunOptions& options, const TriangleContext& context,
                          RunStatistics& statistics) {
  const Csr& simple  = graph.simple();
  auto       counted = gpu::or_else(
            graph, options, [&] { return work_of_triangles(simple); },
            [&] { return gpu::triangles(graph, /*at_vertices=*/true, options); },
            [&] { return triangles_on_cpu(simple, context); });
  statistics = std::move(counted.statistics);
  return coefficients(
      simple.vertex_count(), context, [&](Vertex v) { return simple.degree(v); },
      [&](Vertex v) { return 2 * counted.at[v]; });
}

Coefficients of_directed(const Graph& graph, const RunOptions& options, const TriangleContext& context,
                         RunStatistics& statistics) {
  const DirectedRows rows{graph.out(), graph.in()};
  auto               counted = gpu::or_else(
                    graph, options, [&] { return work_of_neighbor_arcs(graph); },
                    [&] { return gpu::arcs_between_neighbors(graph, options); }, [&] { return arcs_on_cpu(rows, context); });
  statistics       = std::move(counted.statistics);
  const auto count = [&](Vertex v) {
    if (counted.neighbors.size() > 0) return counted.neighbors[v];
    std::uint64_t neighbors = 0;
    rows.for_each_neighbor(v, [&](Vertex, bool) { ++neighbors; });
    return neighbors;
  };
  return coefficients(rows.vertex_count(), context, count, [&](Vertex v) { return counted.arcs[v]; });
}

Result run_lcc(const Graph& graph, const ParameterValues&, const RunOptions& options) {
  const TriangleContext context{.budget   = graph.budget(),
                                .threads  = thread_count(options.threads),
                                .progress = options.progress ? options.progress : &Progress::none()};
  const bool            symmetric = graph.symmetric();
  Stopwatch             clock;
  if (symmetric)
    graph.simple();
  else
    build_in_edges(graph, options, gpu::wanted(options, graph));
  const double prepared = clock.lap();
  Result       result;
  Coefficients found = symmetric ? of_symmetric(graph, options, context, result.statistics)
                                 : of_directed(graph, options, context, result.statistics);
  result.columns.push_back({.name = "coefficient", .values = std::move(found.of).freeze()});
  result.facts.push_back({"mean coefficient", found.mean});
  result.statistics.prepare_ms += prepared;
  result.statistics.run_ms += found.milliseconds;
  return result;
}

Plan plan_lcc(const Graph& graph, const ParameterValues&, const RunOptions& options) {
  return gpu::planned(graph, options, [&] {
    if (graph.symmetric()) return work_of_triangles(graph.simple());
    build_in_edges(graph, options, /*on_gpu=*/true);
    return work_of_neighbor_arcs(graph);
  });
}

/// Of `neighbors` between which `arcs` run: a quotient of whole numbers, which is rounded once.
double expected_coefficient(std::uint64_t arcs, std::uint64_t neighbors) {
  return neighbors < 2 ? 0 : static_cast<double>(arcs) / static_cast<double>(neighbors * (neighbors - 1));
}

/// The oracle: of each vertex the neighbours are marked, and every arc that leaves one of them is looked up. Arcs
/// that were counted are marked as well, lest parallel ones count again.
class SerialCoefficients {
 public:
  explicit SerialCoefficients(const Graph& graph)
      : graph_(graph),
        neighbors_(plain_neighbors(graph)),
        of_(graph.vertex_count(), graph.budget(), verifying),
        neighbor_of_(graph.vertex_count(), graph.budget(), verifying),
        reached_from_(graph.vertex_count(), graph.budget(), verifying) {
    std::fill_n(neighbor_of_.data(), neighbor_of_.size(), no_vertex);
    for (Vertex v = 0; v < graph.vertex_count(); ++v)
      of_[v] = expected_coefficient(arcs_between_neighbors_of(v), neighbors_.of(v).size());
  }

  std::span<const double> all() const { return of_.span(); }

 private:
  static constexpr const char* verifying = "verifying the result";

  std::uint64_t arcs_between_neighbors_of(Vertex v) {
    std::uint64_t arcs = 0;
    for (const Vertex a : neighbors_.of(v)) neighbor_of_[a] = v, reached_from_[a] = no_vertex;
    for (const Vertex a : neighbors_.of(v))
      for (const Vertex b : graph_.out().neighbors(a)) {
        if (b == a || neighbor_of_[b] != v || reached_from_[b] == a) continue;
        reached_from_[b] = a;
        ++arcs;
      }
    return arcs;
  }

  const Graph&         graph_;
  const PlainNeighbors neighbors_;
  const Buffer<double> of_;
  const Buffer<Vertex> neighbor_of_;   ///< the last vertex that it was found to be a neighbour of
  const Buffer<Vertex> reached_from_;  ///< the last of these neighbours that an arc to it was counted from
};

/// How many arcs run between the neighbours of one vertex, which ascend.
std::uint64_t arcs_among(const Graph& graph, std::span<const Vertex> neighbors, std::uint64_t& lookups) {
  std::uint64_t arcs = 0;
  for (const Vertex a : neighbors) {
    Vertex previous = a;
    lookups += graph.out().degree(a);
    for (const Vertex b : graph.out().neighbors(a)) {
      if (b != a && b != previous) arcs += std::binary_search(neighbors.begin(), neighbors.end(), b);
      previous = b;
    }
  }
  return arcs;
}

std::string property_problem(const Graph& graph, std::span<const double> found, int threads) {
  for (std::size_t v = 0; v < found.size(); ++v)
    if (!(found[v] >= 0 && found[v] <= 1))
      return fmt::format("vertex {}: coefficient is {}, which is not between 0 and 1",
                         graph.ids().name(static_cast<Vertex>(v)), found[v]);
  const std::vector<Vertex> sample = vertices_to_check(graph.out());
  const SampleNeighbors     neighbors{graph, sample};
  return first_complaint(sample, threads, [&](Vertex v, std::uint64_t& lookups) {
    const auto   row      = neighbors.of(v);
    const double expected = expected_coefficient(arcs_among(graph, row, lookups), row.size());
    if (found[v] == expected) return std::string{};
    return fmt::format("vertex {}: coefficient is {}, expected {}", graph.ids().name(v), found[v], expected);
  });
}

std::string mean_problem(std::span<const double> found, double mean) {
  const double sum      = std::accumulate(found.begin(), found.end(), 0.0);
  const double expected = found.empty() ? 0 : sum / static_cast<double>(found.size());
  if (near(mean, expected, mean_coefficient_tolerance(found.size()))) return {};
  return fmt::format("the mean is {}, expected {}", mean, expected);
}

Verdict verify_lcc(const Graph& graph, const ParameterValues&, const Result& result,
                   const VerifyOptions& options) {
  const auto found  = column_of<double>(result, 0).span();
  const bool oracle = use_neighbor_oracle(graph, options);
  Verdict    verdict{.how = oracle ? by_oracle : by_properties, .problem = {}};
  if (found.size() != graph.vertex_count()) {
    verdict.problem = fmt::format("coefficient has {} entries, expected {}", found.size(), graph.vertex_count());
    return verdict;
  }
  verdict.problem = oracle ? difference(graph, "coefficient", found, SerialCoefficients{graph}.all())
                           : property_problem(graph, found, thread_count(options.threads));
  if (verdict.problem.empty()) verdict.problem = mean_problem(found, std::get<double>(result.facts.at(0).value));
  return verdict;
}

}  // namespace

Algorithm lcc_algorithm() {
  return {.name           = "lcc",
          .summary        = "local clustering coefficients",
          .reference      = "Iosup et al., LDBC Graphalytics, PVLDB 2016",
          .parameters     = {},
          .columns        = {{"coefficient",
                              "arcs between neighbours over the most there could be, 0 to 1; 0 with fewer than two "
                                     "neighbours"}},
          .on_gpu         = gpu::built,
          .vertex_program = false,
          .run            = run_lcc,
          .plan           = plan_lcc,
          .verify         = verify_lcc,
          .aliases        = {"clustering", "clustering_coefficient", "local_clustering_coefficient"}};
}

}  // namespace spillway
