// Algorithms that are no vertex programs, on a GPU. Built without CUDA, none is wanted,
// and whoever asks for a GPU by name is refused.
#pragma once

#include "algorithms/cc.hpp"
#include "plan/algorithm_work.hpp"

#include <spillway/engine/fallback.hpp>
#include <spillway/engine/prepared_run.hpp>

namespace spillway::gpu {

/// Whether this build has code for GPUs at all.
extern const bool built;

/// Whether to run on a GPU: it is asked for, or the choice is free and there is one. A build without CUDA refuses
/// a GPU that is asked for.
bool wanted(const RunOptions& options);

/// What an algorithm that is no program does with a graph, about.
inline Work work_on(const Graph& graph) {
  constexpr std::uint64_t passes = 30;
  return {graph.vertex_count(), graph.arc_count(), true, passes};
}

/// Because it is done before a GPU would be ready that this process has not used yet.
inline bool is_left_to_cpu(const RunOptions& options, const Graph& graph) {
  return !detail::why_gpu_is_not_started(work_on(graph), options).empty();
}

/// Likewise for this graph.
inline bool wanted(const RunOptions& options, const Graph& graph) {
  return !is_left_to_cpu(options, graph) && wanted(options);
}

/// The same run where no GPU is wanted, or was given up.
inline RunOptions without(RunOptions options) {
  if (options.device.kind.automatic() && options.method->requires_gpu)
    options.method = {};  // all edges are at hand
  if (!options.device.kind->of_cpu_executors) options.device.kind = cpu_kind();
  return options;
}

/// Rows of the graph that other runs have left on the GPU are given up; false if there are none.
bool make_room(const Graph& graph, const RunOptions& options);

/// What the planner says of an algorithm on this GPU, the CPU beside it.
struct DeviceChosen {
  bool        on_cpu = false;
  OtherDevice predicted;  ///< of both; no candidates: nothing was left to choose
};
DeviceChosen chosen_device(const Graph& graph, const RunOptions& options, const AlgorithmWork& work);
/// What a run would be told of it; `work()` is asked where there is a GPU.
Plan planned(const Graph& graph, const RunOptions& options, const std::function<AlgorithmWork()>& work);

/// `on_gpu()`, or `on_cpu()` where that is predicted to be done sooner.
template <class OnGpu, class OnCpu>
auto predicted_best(const Graph& graph, const RunOptions& options, const std::function<AlgorithmWork()>& work,
                    OnGpu&& on_gpu, OnCpu&& on_cpu) -> decltype(on_cpu()) {
  if (!leaves_device_open(options) && !options.explain) return on_gpu();
  const DeviceChosen chosen = chosen_device(graph, options, work());
  if (chosen.on_cpu) try {
      auto answer = on_cpu();
      note_better_device(answer.statistics, chosen.predicted);
      return answer;
    } catch (const Error& error) {  // there may be no room for it on the host
      if (error.code() != ExitCode::does_not_fit) throw;
    }
  auto answer = on_gpu();
  answer.statistics.prepare_ms += chosen.predicted.choosing_ms;
  answer.statistics.candidates = chosen.predicted.candidates;
  return answer;
}

/// `on_gpu()` where it is wanted and can be, else `on_cpu()`.
template <class OnGpu, class OnCpu>
auto or_else(const Graph& graph, const RunOptions& options, OnGpu&& on_gpu, OnCpu&& on_cpu) {
  if (!wanted(options, graph)) {
    if (is_left_to_cpu(options, graph)) detail::note_left_to_cpu(work_on(graph), options);
    return on_cpu();
  }
  const auto twice = [&] {
    try {
      return on_gpu();
    } catch (const DeviceError&) {
      if (!make_room(graph, options)) throw;
    }
    return on_gpu();
  };
  return gpu_or_cpu(options, twice, on_cpu, note_on_cpu<decltype(on_cpu())>);
}

/// Likewise; where the choice is free, on the device that is predicted to be done sooner.
template <class OnGpu, class OnCpu>
auto or_else(const Graph& graph, const RunOptions& options, const std::function<AlgorithmWork()>& work,
             OnGpu&& on_gpu, OnCpu&& on_cpu) {
  return or_else(
      graph, options, [&] { return predicted_best(graph, options, work, on_gpu, on_cpu); }, on_cpu);
}

/// Afforest (see afforest.cpp).
Components components(const Graph& graph, const RunOptions& options);

/// Each vertex with the smallest one of its strongly connected component.
Components strong_components(const Graph& graph, const RunOptions& options);

struct CountedTriangles {
  std::uint64_t         total = 0;
  Buffer<std::uint64_t> at;  ///< how many each vertex is in; empty unless asked for
  RunStatistics         statistics;
};

CountedTriangles triangles(const Graph& graph, bool at_vertices, const RunOptions& options);

/// Labels as cdlp.cpp defines them, after so many rounds at most.
Components propagated_labels(const Graph& graph, std::uint64_t rounds, const RunOptions& options);

struct NeighborArcs {
  Buffer<std::uint64_t> neighbors;  ///< how many each vertex has, over out- and in-edges
  Buffer<std::uint64_t> arcs;       ///< that lead from one of them to another, parallel ones once
  RunStatistics         statistics;
};

/// Of a directed graph.
NeighborArcs arcs_between_neighbors(const Graph& graph, const RunOptions& options);

}  // namespace spillway::gpu
