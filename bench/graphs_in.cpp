#include "graphs_in.hpp"

#include <cstdlib>
#include <stdexcept>

#include "graph/csr.hpp"

#include <spillway/engine/stopwatch.hpp>
#include <spillway/graph.hpp>

namespace spillway::bench {
namespace {

void run_info(const std::string& path) {
  const std::string command = "'" SPILLWAY_BINARY "' info '" + path + "' > /dev/null";
  if (std::system(command.c_str()) != 0) throw std::runtime_error{"failed: " + command};
}

void add_loading(Json& entry, const Graph& graph) {
  const LoadReport& report = graph.report();
  entry["read_ms"]         = rounded(report.read_ms);
  entry["build_ms"]        = rounded(report.build_ms);
  entry["peak_over_csr"] =
      rounded(static_cast<double>(report.peak_bytes) / static_cast<double>(graph.out().bytes()));
}

}  // namespace

void measure_graphs_in(const GraphSpec& spec, const std::filesystem::path& folder, int repeats,
                       const std::function<void(Json)>& add) {
  const std::string text = folder / (spec.name + ".el"), store = folder / (spec.name + ".spill");
  save(made(spec, false), text);
  save(made(spec, false), store);

  const auto measured = [&](const std::string& what, const auto& once) {
    Json                entry{{"name", what + " " + spec.name}, {"table", "graphs in"}, {"graph", spec.name}};
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
      Stopwatch clock;
      once(entry, clock);
      times.push_back(clock.milliseconds());
    }
    add_repeats(entry, "run_ms", times);
    add(std::move(entry));
  };
  measured("text to rows", [&](Json& entry, Stopwatch&) { add_loading(entry, open(text)); });
  measured("generator to store", [&](Json& entry, Stopwatch&) {
    const Graph graph = made(spec, false);
    save(graph, folder / "new.spill");
    add_loading(entry, graph);
  });
  measured("info on a store", [&](Json&, Stopwatch&) { run_info(store); });
  measured("open a store", [&](Json&, Stopwatch&) { open(store); });
  measured("in-edges", [&](Json&, Stopwatch& clock) {
    const Graph        graph = open(store);
    const Csr&         rows  = graph.out();
    const BuildContext context{.budget = graph.budget(), .transform = {}, .threads = thread_count()};
    clock.lap();
    transposed(rows, graph.weight_type(), context);
  });
}

}  // namespace spillway::bench
