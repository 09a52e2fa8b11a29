// Answers: the algorithms on the three graphs that the CPU figures of docs/performance.md are about, in memory.
// Sources are ten of non-zero degree, fixed by a seed; the median over them is the figure. SPILLWAY_BENCH_SCALE as
// elsewhere.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

#include <spillway/algorithms.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

constexpr int           trials      = 10;
constexpr std::uint64_t source_seed = 27491095;

/// 2^scale vertices; the road has twice as many, in a square with a tenth of its edges gone.
Graph made(const std::string& name) {
  const char*         given = std::getenv("SPILLWAY_BENCH_SCALE");
  const std::uint64_t scale = given ? std::strtoull(given, nullptr, 10) : 20;
  GenerateOptions     options;
  options.transform   = {.undirected = true, .dedup = true, .drop_loops = true};
  options.weight_type = WeightType::u32;
  options.weight_max  = 255;
  if (name == "kron") return generate("kron", {{"scale", std::to_string(scale)}}, options);
  if (name == "urand")
    return generate("uniform", {{"vertices", std::to_string(1ull << scale)}, {"degree", "16"}}, options);
  const std::string side =
      std::to_string(static_cast<std::uint64_t>(std::sqrt(static_cast<double>(2ull << scale))));
  return generate("grid", {{"rows", side}, {"columns", side}, {"remove", "0.1"}}, options);
}

const Graph& graph_named(const std::string& name) {
  static std::map<std::string, Graph> graphs;
  const auto                          found = graphs.find(name);
  return found != graphs.end() ? found->second : graphs.emplace(name, made(name)).first->second;
}

std::vector<std::string> sources_of(const Graph& graph) {
  std::mt19937_64          random{source_seed};
  std::vector<std::string> sources;
  while (sources.size() < trials) {
    const auto v = static_cast<Vertex>(random() % graph.vertex_count());
    if (graph.out().degree(v) > 0) sources.push_back(graph.ids().name(v));
  }
  return sources;
}

/// One repetition is one source. `divisor`: iterations that a run has and one of which is the figure.
void run(benchmark::State& state, const std::string& algorithm_name, const std::string& graph_name,
         const ParameterValues& given, double divisor) {
  static std::map<std::string, int> trial;
  const Graph&                      graph     = graph_named(graph_name);
  const Algorithm&                  algorithm = algorithm_named(algorithm_name);
  const auto                        sources   = sources_of(graph);
  for (auto _ : state) {
    ParameterValues values = completed_parameters(algorithm, given);
    for (const Parameter& parameter : algorithm.parameters)
      if (parameter.name == "source")
        values["source"] = sources[static_cast<std::size_t>(trial[algorithm_name + "/" + graph_name]++ % trials)];
    const Result result = algorithm.run(graph, values, {});
    state.SetIterationTime(result.statistics.run_ms / 1000 / divisor);
    state.counters["prepare_ms"] = result.statistics.prepare_ms;
  }
}

void add(const std::string& algorithm, const std::string& graph, const ParameterValues& values = {},
         double divisor = 1) {
  benchmark::RegisterBenchmark((algorithm + "/" + graph).c_str(),
                               [=](benchmark::State& state) { run(state, algorithm, graph, values, divisor); })
      ->Unit(benchmark::kMillisecond)
      ->UseManualTime()
      ->Iterations(1)
      ->Repetitions(trials);
}

[[maybe_unused]] const bool registered = [] {
  for (const char* graph : {"kron", "urand", "road"}) {
    for (const char* algorithm : {"bfs", "sssp", "cc", "bc"}) add(algorithm, graph);
    add("pagerank", graph, {{"iterations", "10"}}, 10);
    add("kcore", graph);
    add("tc", graph);
  }
  return true;
}();

}  // namespace
}  // namespace spillway
