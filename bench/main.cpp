// spillway_bench: runs a set of workloads and writes what they took. scripts/bench starts it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>

#include "graphs_in.hpp"
#include "report.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/engine/stopwatch.hpp>

namespace spillway::bench {
namespace {

struct Arguments {
  std::string set = "cpu", device, output = "results.json", only, about = "{}", save_to;
  unsigned    scale   = 0;
  double      limit_s = 0;
  bool        quick   = false;

  bool gpu() const { return set != "cpu"; }
  Set  workloads() const {
     const unsigned chosen = scale > 0 ? scale : gpu() ? 24 : 20;
     if (set == "plan") return plan_set(chosen, quick);
    if (set == "papers") return papers_set(chosen, quick);
    if (set == "balances") return balance_set(chosen, quick);
    return gpu() ? gpu_set(chosen, quick) : cpu_set(chosen, quick);
  }
  DeviceKind kind() const {
    const std::string name = !device.empty() ? device : gpu() ? "cuda" : "cpu";
    return name == "cuda" ? cuda_kind() : cpu_kind();
  }
  bool wants(const std::string& name) const { return name.find(only) != std::string::npos; }
  /// The promise is eight minutes, two if it is to be quick; what is under way at the end takes its time.
  double limit() const { return limit_s > 0 ? limit_s : quick ? 105 : 450; }
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "spillway-bench-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error{"no folder can be made in " + name};
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What a first run pays for the process, not for the graph: a context on the GPU, threads, rates of the bus.
void wake(DeviceKind device) {
  const Algorithm& bfs    = algorithm_named("bfs");
  const Graph      graph  = generate("kron", {{"scale", "10"}});
  const auto       values = completed_parameters(bfs, {{"source", "0"}});
  for (const Method method : {resident_edges(), least_predicted()})
    bfs.run(graph, values, {.device = {.kind = device}, .method = method});
}

/// In the formats that GAPBS reads; its sssp wants weights, the others none.
void save_for_gapbs(const GraphSpec& spec, const Graph& weighted, const std::filesystem::path& folder) {
  save(weighted, folder / (spec.name + ".wsg"));
  save(made(spec, false), folder / (spec.name + ".sg"));
}

void run(const Arguments& arguments) {
  const Stopwatch clock;
  const Deadline  all{arguments.limit()};
  const Set       set = arguments.workloads();
  Json            about(Json::parse(arguments.about));
  about["set"]      = arguments.set;
  about["quick"]    = arguments.quick;
  about["compiler"] = "g++ " __VERSION__;
  Report report{arguments.output, about};
  wake(arguments.kind());

  if (!arguments.gpu() && arguments.wants("graphs in")) {
    const TemporaryFolder       folder;
    const std::filesystem::path files = arguments.save_to.empty() ? folder.path().string() : arguments.save_to;
    measure_graphs_in(set.graphs.front(), files, arguments.quick ? 3 : 5,
                      [&](Json entry) { report.add(std::move(entry)); });
  }
  std::map<std::string, Graph> graphs;
  Runner                       runner{arguments.kind(), set.sources, !arguments.quick, all};
  std::uint64_t                not_run = 0;
  for (const Workload& workload : set.workloads) {
    if (!arguments.wants(name_of(workload))) continue;
    if (all.cancelled()) {
      ++not_run;
      continue;
    }
    const std::string name = graph_name(workload);
    if (!graphs.contains(workload.graph)) {
      const auto spec = std::ranges::find(set.graphs, workload.graph, &GraphSpec::name);
      Stopwatch  making;
      graphs[workload.graph] = made(*spec);
      report.add_graph(workload.graph, graphs[workload.graph], making.milliseconds());
      if (!arguments.save_to.empty()) save_for_gapbs(*spec, graphs[workload.graph], arguments.save_to);
    }
    if (!graphs.contains(name)) {
      Stopwatch splitting;
      graphs[name] = split(graphs[workload.graph], workload.split);
      report.add_graph(name, graphs[name], splitting.milliseconds());
    }
    for (auto& [other, graph] : graphs)  // one graph on the device at a time
      if (other != name) graph.attach("cuda:0", nullptr);
    Json measured = runner.measure(workload, graphs[name]);
    if (all.cancelled() && measured.contains("over_s"))
      ++not_run;  // ended for lack of time, not for its own length
    else
      report.add(std::move(measured));
  }
  report.finish(clock.milliseconds() / 1000, not_run);
}

}  // namespace
}  // namespace spillway::bench

int main(int argc, char** argv) {
  spillway::bench::Arguments arguments;
  CLI::App                   app{"Measures Spillway: what algorithms take, by every method"};
  app.add_option("--set", arguments.set, "cpu, gpu, plan, papers or balances (default: cpu)")
      ->check(CLI::IsMember({"cpu", "gpu", "plan", "papers", "balances"}));
  app.add_option("--device", arguments.device, "cpu or cuda (default: that of the set)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--scale", arguments.scale, "Vertices are 2^SCALE (default: 20, with GPUs 24)")
      ->envname("SPILLWAY_BENCH_SCALE")
      ->check(CLI::Range(6, 30));
  app.add_flag("--quick", arguments.quick, "Fewer workloads and repeats");
  app.add_option("--only", arguments.only, "Only workloads whose name holds this");
  app.add_option("--limit", arguments.limit_s, "Seconds for everything (default: 450, --quick 105)");
  app.add_option("--about", arguments.about, "JSON that the result file begins with");
  app.add_option("--save", arguments.save_to, "Folder to keep the graphs in, as GAPBS reads them");
  app.add_option("-o,--output", arguments.output, "The result file (default: results.json)");
  CLI11_PARSE(app, argc, argv);
  try {
    spillway::bench::run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "spillway_bench: {}\n", error.what());
    return 1;
  }
}
