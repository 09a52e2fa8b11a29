// Single-source shortest paths over non-negative weights, with a tree of parents.
// Delta-stepping (Meyer & Sanders 1998): the engine settles vertices in buckets of their distance.
#include <functional>

#include "algorithms/checking.hpp"
#include "algorithms/counted_heap.hpp"
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/gpu/parents.hpp"
#include "algorithms/programs/sssp.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/sssp_parents.hpp"
#include "algorithms/sssp_whole.hpp"
#include "algorithms/tree_checks.hpp"
#include "algorithms/weighted.hpp"
#include "base/fail.hpp"
#include "graph/split.hpp"

#include <spillway/engine/stopwatch.hpp>
#include <spillway/run.hpp>

namespace spillway {
namespace {

double delta_of(const Parameters& parameters) {
  return parameters.text("delta") == "auto" ? 0 : parameters.real("delta", 1e-30, 1e30);
}

void refuse_overflow(const Graph& graph, std::span<const std::uint32_t> distances) {
  const auto found = std::find(distances.begin(), distances.end(), distance_limit);
  if (found != distances.end())
    throw bad_input(
        "sssp: the distance of vertex {} exceeds {}; distances over floats have no such limit, and 7 digits "
        "(--weight-type f32 where weights are text; other files need weights that are floats)",
        graph.ids().name(static_cast<Vertex>(found - distances.begin())), distance_limit - 1);
}

/// A search for parents looks at about half of the edges once more, which takes longer than what wider values cost
/// in every iteration, whether the edges are on the GPU or come over the bus (docs/planning.md). In pages it would
/// be another pass over all of them, and it walks rows, which a list of edges has none of; where vertices are
/// split, parents may be parts of them.
bool walks_no_rows(const Graph& graph, const RunOptions& options) {
  return graph.pages() || options.method->of_edge_lists || has_tree_vertices(graph);
}
bool carries_parents(const Parameters& parameters, const Graph& graph, const RunOptions& options) {
  return parameters.choice("parents", {"carry", "search"}) == "carry" || walks_no_rows(graph, options);
}

/// Where the choice is free, it stays so: the CPU runs the same program.
RunOptions asked_of_gpu(RunOptions options, const Graph& graph) {
  if (!leaves_device_open(options) && !graph.pages()) options.device.kind = cuda_kind();
  return options;
}

/// Where the choice is free, the CPU is a candidate, too; it has a way of its own.
template <class Value>
Continuation<Value> kept_on_gpu(const RunOptions& options, OtherDevice& instead) {
  return {.keep = true, .instead = leaves_device_open(options) ? &instead : nullptr};
}

/// The program's values are distances; they stay on the GPU while parents are looked for.
template <class Program, class OnCpu>
Result on_gpu(const Program& program, const Graph& graph, RunOptions options, OnCpu&& on_cpu) {
  using Distance = typename Program::Value;
  OtherDevice cpu;
  auto        from    = kept_on_gpu<Distance>(options, cpu);
  options.device.kind = cuda_kind();
  auto outcome        = run(program, graph, options, std::move(from));
  if (!outcome.resident) try {
      Result result = on_cpu();
      note_better_device(result.statistics, cpu);
      return result;
    } catch (const Error& error) {  // there may be no room for it on the host
      if (error.code() != ExitCode::does_not_fit) throw;
      outcome = run(program, graph, options, {.keep = true});
    }
  auto   paths = gpu::parents<Distance>(graph, program.source, outcome.resident, options);
  Result result;
  result.columns.push_back({.name = "distance", .values = std::move(paths.distances).freeze()});
  result.columns.push_back({.name = "parent", .values = std::move(paths.parents).freeze()});
  result.statistics = std::move(outcome.statistics);
  result.statistics.run_ms += paths.statistics.run_ms;
  result.statistics.transfer_ms += paths.statistics.transfer_ms;
  result.statistics.edges_processed += paths.statistics.edges_processed;
  result.statistics.counters += paths.statistics.counters;
  result.statistics.device_bytes = std::max(result.statistics.device_bytes, paths.statistics.device_bytes);
  return result;
}

Result over_whole_weights(const Graph& graph, const Parameters& parameters, const RunOptions& options) {
  const Vertex source = parameters.vertex(graph);
  const double delta  = delta_of(parameters);
  const auto   on_cpu = [&] { return paths_with_parents(graph, source, delta, gpu::without(options)); };
  const auto   there  = [&] {
    if (carries_parents(parameters, graph, options))
      return paths_with_parents(graph, source, delta, asked_of_gpu(options, graph));
    return on_gpu(Distances{source, delta}, graph, options, on_cpu);
  };
  Result result = gpu::or_else(graph, options, there, on_cpu);
  Column seen   = result.columns[0];  // which may stay where it is, too
  fetch(seen, graph.budget());
  result.columns[0].values = seen.values;
  refuse_overflow(graph, column_of<std::uint32_t>(result, 0).span());
  return result;
}

Result over_real_weights(const Graph& graph, const Parameters& parameters, const RunOptions& options) {
  refuse_negative_weights(graph, "sssp", options);
  const RealSssp program{parameters.vertex(graph), delta_of(parameters)};
  // Distances come from the device that runs this; parents are looked for by the CPU.
  const auto run_on = [&](const RunOptions& device) {
    auto           outcome  = run(program, graph, device);
    Progress&      progress = options.progress ? *options.progress : Progress::none();
    Stopwatch      clock;
    Buffer<Vertex> parents = shortest_path_parents(graph, program.source, outcome.values.span(), outcome.threads,
                                                   progress, options.method->of_edge_lists);
    Result         result;
    result.statistics = std::move(outcome.statistics);
    result.statistics.run_ms += clock.milliseconds();
    result.statistics.edges_processed += graph.arc_count();
    result.columns.push_back(outcome.column("distance"));
    result.columns.push_back({.name = "parent", .values = std::move(parents).freeze()});
    return result;
  };
  const auto on_cpu = [&] { return run_on(gpu::without(options)); };
  return gpu::or_else(
      graph, options,
      [&] { return walks_no_rows(graph, options) ? run_on(options) : on_gpu(program, graph, options, on_cpu); },
      on_cpu);
}

Result run_sssp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Parameters parameters{"sssp", values};
  Result           result = graph.weight_type() == WeightType::f32 ? over_real_weights(graph, parameters, options)
                                                                   : over_whole_weights(graph, parameters, options);
  result.columns[0].missing  = Missing::infinite;
  result.columns[1].vertices = true;
  return result;
}

Plan plan_sssp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Parameters parameters{"sssp", values};
  const Vertex     source = parameters.vertex(graph);
  const double     delta  = delta_of(parameters);
  const bool       real   = graph.weight_type() == WeightType::f32;
  if (real) refuse_negative_weights(graph, "sssp", options);
  const RunOptions elsewhere = gpu::wanted(options) ? gpu::without(options) : options;  // says why by itself
  const auto       on_cpu    = [&] {
    return real ? plan_run(RealSssp{source, delta}, graph, elsewhere)
                         : plan_paths_with_parents(graph, source, delta, elsewhere);
  };
  if (!gpu::wanted(options, graph)) return on_cpu();
  RunOptions there  = options;
  there.device.kind = cuda_kind();
  const auto on_gpu = [&] {
    if (!real && carries_parents(parameters, graph, options))
      return plan_paths_with_parents(graph, source, delta, asked_of_gpu(options, graph));
    OtherDevice cpu;
    if (real && walks_no_rows(graph, options)) return plan_run(RealSssp{source, delta}, graph, options);
    return real ? plan_run(RealSssp{source, delta}, graph, there, kept_on_gpu<double>(options, cpu))
                : plan_run(Distances{source, delta}, graph, there, kept_on_gpu<std::uint32_t>(options, cpu));
  };
  return gpu_or_cpu(options, on_gpu, on_cpu, tell_in_plan);
}

/// What paths add up to where nothing can be lost.
template <class W>
using Length = std::conditional_t<std::is_integral_v<W>, std::uint64_t, double>;

template <class W>
Length<W> length_of(std::uint32_t weight) {
  return static_cast<Length<W>>(std::bit_cast<W>(weight));
}

/// The oracle: Dijkstra with a heap.
template <class W, class Label>
Buffer<Label> serial_distances(const Graph& graph, Vertex source) {
  using Entry             = std::pair<Length<W>, Vertex>;
  const char* const  what = "verifying the paths";
  Buffer<Label>      distances{graph.vertex_count(), graph.budget(), what};
  const Buffer<bool> settled{graph.vertex_count(), graph.budget(), what};
  std::fill_n(distances.data(), distances.size(), highest<Label>());
  CountedHeap<Entry, std::greater<>> heap{graph.budget(), what};
  for (heap.push({0, source}); !heap.empty();) {
    const auto [distance, v] = heap.pop();
    if (settled[v]) continue;
    settled[v]     = true;
    distances[v]   = static_cast<Label>(std::min<Length<W>>(distance, highest<Label>()));
    const Csr& csr = graph.out();
    for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i)
      if (!settled[csr.targets[i]]) heap.push({distance + length_of<W>(csr.weights[i]), csr.targets[i]});
  }
  return distances;
}

template <class W, class Label>
Verdict verify_with(const Graph& graph, Vertex source, const Result& result, const VerifyOptions& options) {
  const auto& distances = column_of<Label>(result, 0);
  Verdict     verdict{.how = options.use_oracle(graph) ? by_oracle : by_properties, .problem = {}};
  if (options.use_oracle(graph)) {
    const Buffer<Label> expected = serial_distances<W, Label>(graph, source);
    verdict.problem              = difference<Label, Label>(graph, "distance", distances.span(), expected.span());
  }
  if (!verdict.problem.empty()) return verdict;
  // Distances that are longer than a label holds are compared as they are: nothing is cut off here.
  const auto offered = [&](Label distance, std::uint32_t weight) {
    return static_cast<Length<W>>(distance) + length_of<W>(weight);
  };
  const PathTree<Label> tree{.source    = source,
                             .root      = 0,
                             .unreached = highest<Label>(),
                             .labels    = distances.span(),
                             .parents   = column_of<Vertex>(result, 1).span()};
  verdict.problem = tree_problem(graph, tree, offered, std::less<Length<W>>{}, options);
  return verdict;
}

Verdict verify_sssp(const Graph& graph, const ParameterValues& values, const Result& result,
                    const VerifyOptions& options) {
  const Vertex source = Parameters{"sssp", values}.vertex(graph);
  return graph.weight_type() == WeightType::f32
             ? verify_with<float, double>(graph, source, result, options)
             : verify_with<std::uint32_t, std::uint32_t>(graph, source, result, options);
}

}  // namespace

Algorithm sssp_algorithm() {
  return {.name      = "sssp",
          .summary   = "shortest distances and parents from a source, over non-negative weights",
          .reference = "Meyer, Sanders: Delta-Stepping, ESA 1998; Beamer, Asanović, Patterson: GAP, 2015",
          .parameters =
              {{.name = "source", .help = "where to start, by the graph's own ids", .kind = ParameterKind::source},
               {.name          = "delta",
                .help          = "width of a bucket of distances; auto: from the weights",
                .default_value = "auto"},
               {.name = "parents",
                .help = "of whole weights on a GPU: carry them with distances, or search for them afterwards",
                .default_value = "carry"}},
          .columns = {{"distance", "length of a shortest path; inf if there is none", ColumnOrder::smallest_first},
                      {"parent", "the vertex before it on such a path; the source's is itself"}},
          .weights = WeightUse::needed,
          .on_gpu  = gpu::built && has_device_code<Distances>,
          .run     = run_sssp,
          .plan    = plan_sssp,
          .verify  = verify_sssp,
          .aliases = {"shortest_path", "shortest_paths", "dijkstra", "bellman_ford"}};
}

}  // namespace spillway
