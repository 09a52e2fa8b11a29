// Getting graphs in: text to rows, generator to file, looking at a stored graph. The graph is Kronecker of scale
// SPILLWAY_BENCH_SCALE (20), undirected and simple, as the GAP benchmark makes it.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "graph/csr.hpp"

#include <spillway/generate.hpp>
#include <spillway/graph.hpp>

namespace spillway {
namespace {

std::string scale() {
  const char* value = std::getenv("SPILLWAY_BENCH_SCALE");
  return value ? value : "20";
}

Graph kronecker() {
  GenerateOptions options;
  options.transform = {.undirected = true, .dedup = true, .drop_loops = true};
  return generate("kron", {{"scale", scale()}}, options);
}

/// Files of this run, made when first asked for and gone at its end.
class Files {
 public:
  ~Files() { std::filesystem::remove_all(folder_); }

  std::string text() { return made("kron.el"); }
  std::string store() { return made("kron.spill"); }
  std::string fresh(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::string made(const std::string& name) {
    const std::string path = fresh(name);
    if (!std::filesystem::exists(path)) save(kronecker(), path);
    return path;
  }

  std::filesystem::path folder_ = [] {
    std::string name = (std::filesystem::temp_directory_path() / "spillway-bench-XXXXXX").string();
    if (!mkdtemp(name.data())) std::abort();
    return name;
  }();
};

Files& files() {
  static Files all;
  return all;
}

void report(benchmark::State& state, const Graph& graph) {
  state.counters["arcs"] = static_cast<double>(graph.arc_count());
  state.counters["peak_over_csr"] =
      static_cast<double>(graph.report().peak_bytes) / static_cast<double>(graph.out().bytes());
  state.counters["read_ms"]  = graph.report().read_ms;
  state.counters["build_ms"] = graph.report().build_ms;
}

void text_to_rows(benchmark::State& state) {
  const std::string path = files().text();
  Graph             graph;
  for (auto _ : state) {
    graph = {};
    graph = open(path);
  }
  report(state, graph);
}

void generate_to_store(benchmark::State& state) {
  const std::string path = files().fresh("new.spill");
  Graph             graph;
  for (auto _ : state) {
    graph = {};
    graph = kronecker();
    save(graph, path);
  }
  report(state, graph);
}

/// The whole command, process start included.
void info_on_store(benchmark::State& state) {
  const std::string command = "'" SPILLWAY_BINARY "' info '" + files().store() + "' > /dev/null";
  for (auto _ : state)
    if (std::system(command.c_str()) != 0) state.SkipWithError("info failed");
}

void open_store(benchmark::State& state) {
  const std::string path = files().store();
  for (auto _ : state) benchmark::DoNotOptimize(open(path).arc_count());
}

void build_in_edges(benchmark::State& state) {
  const std::string  path  = files().store();
  const Graph        graph = open(path);
  const BuildContext context{.budget = graph.budget(), .transform = {}, .threads = thread_count()};
  for (auto _ : state) benchmark::DoNotOptimize(transposed(graph.out(), graph.weight_type(), context).arc_count());
}

BENCHMARK(text_to_rows)->Unit(benchmark::kMillisecond)->UseRealTime()->Repetitions(5)->Iterations(1);
BENCHMARK(generate_to_store)->Unit(benchmark::kMillisecond)->UseRealTime()->Repetitions(5)->Iterations(1);
BENCHMARK(info_on_store)->Unit(benchmark::kMillisecond)->UseRealTime()->Repetitions(5)->Iterations(1);
BENCHMARK(open_store)->Unit(benchmark::kMillisecond)->UseRealTime()->Repetitions(5)->Iterations(1);
BENCHMARK(build_in_edges)->Unit(benchmark::kMillisecond)->UseRealTime()->Repetitions(5)->Iterations(1);

}  // namespace
}  // namespace spillway

BENCHMARK_MAIN();
