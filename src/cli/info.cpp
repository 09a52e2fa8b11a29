// spillway info GRAPH: what is in the file, and what it would take to run on it.
#include <fmt/format.h>

#include <memory>

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "graph/csr.hpp"
#include "plan/footprint.hpp"

namespace spillway::cli {
namespace {

std::string bin_label(std::size_t bin) {
  if (bin == 0) return "0";
  if (bin == 1) return "1";
  return fmt::format("{}-{}", with_commas(std::uint64_t{1} << (bin - 1)),
                     with_commas((std::uint64_t{1} << (bin - 1)) * 2 - 1));
}

/// Bars in eighths of a character; a bin that is not empty always shows.
std::string bar_of(std::uint64_t value, std::uint64_t most, int width) {
  static constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto  units = static_cast<int>(static_cast<double>(value) / static_cast<double>(most) * width * 8);
  std::string bar;
  for (int i = 0; i < units / 8; ++i) bar += "█";
  bar += eighths[units % 8];
  return bar.empty() && value > 0 ? "▏" : bar;
}

void print_histogram(const GraphStatistics& counts) {
  std::uint64_t most = 1;
  std::size_t   last = 0;
  for (std::size_t bin = 0; bin < counts.degree_bins.size(); ++bin) {
    most = std::max(most, counts.degree_bins[bin]);
    if (counts.degree_bins[bin] > 0) last = bin;
  }
  fmt::print("\nout-degree              vertices\n");
  for (std::size_t bin = 0; bin <= last; ++bin)
    fmt::print("{:>19} {:>12}  {}\n", bin_label(bin), with_commas(counts.degree_bins[bin]),
               bar_of(counts.degree_bins[bin], most, 40));
}

std::string id_text(const Graph& graph) {
  if (graph.vertex_count() == 0) return "none";
  const IdMap&                 ids     = graph.ids();
  const auto                   last    = static_cast<Vertex>(graph.vertex_count() - 1);
  static constexpr const char* kinds[] = {"consecutive", "numbers with gaps", "names"};
  return fmt::format("{}, {} to {}", kinds[static_cast<std::size_t>(ids.kind())], printable(ids.name(0)),
                     printable(ids.name(last)));
}

std::string weight_text(const Graph& graph, const GraphStatistics& counts) {
  if (graph.weight_type() == WeightType::none) return "none";
  return fmt::format(
      "{}, {} to {}{}", to_string(graph.weight_type()), counts.min_weight, counts.max_weight,
      counts.negative_weights > 0 ? fmt::format(", {} negative", with_commas(counts.negative_weights)) : "");
}

void print_text(const Graph& graph, const GraphStatistics& counts, const std::string& path) {
  const auto line = [](const char* name, const std::string& value) { fmt::print("{:<18} {}\n", name, value); };
  line("file", fmt::format("{} ({})", path, graph.report().format));
  line("vertices", with_commas(graph.vertex_count()));
  line("arcs", fmt::format("{}{}", with_commas(graph.arc_count()),
                           graph.symmetric() ? " (symmetric: both arcs of every edge)" : ""));
  line("ids", id_text(graph));
  line("weights", weight_text(graph, counts));
  line("self loops", with_commas(counts.loops));
  line("duplicate arcs", with_commas(counts.duplicates));
  line("isolated vertices", with_commas(counts.isolated));
  if (graph.arc_count() > 0)
    line("largest out-degree", fmt::format("{} (vertex {})", with_commas(counts.max_degree),
                                           printable(graph.ids().name(counts.max_degree_vertex))));
  if (graph.vertex_count() > 0) print_histogram(counts);
  fmt::print("\nmemory to run              gpu        host\n");
  for (const Footprint& need : footprints(graph))
    fmt::print("{:<22} {:>10}  {:>10}\n", need.way, need.device_bytes ? human_bytes(need.device_bytes) : "-",
               need.host_bytes ? human_bytes(need.host_bytes) : "-");
}

Json to_json(const Graph& graph, const GraphStatistics& counts, double load_ms, double count_ms) {
  Json bins = Json::array();
  for (std::size_t bin = 0; bin < counts.degree_bins.size(); ++bin)
    if (counts.degree_bins[bin] > 0)
      bins.push_back(
          {{"from", bin == 0 ? 0 : std::uint64_t{1} << (bin - 1)}, {"vertices", counts.degree_bins[bin]}});
  Json needs = Json::array();
  for (const Footprint& need : footprints(graph))
    needs.push_back({{"way", need.way}, {"device_bytes", need.device_bytes}, {"host_bytes", need.host_bytes}});
  Json document{{"graph", graph_json(graph)},
                {"loops", counts.loops},
                {"duplicates", counts.duplicates},
                {"isolated", counts.isolated},
                {"sinks", counts.sinks},
                {"max_out_degree", counts.max_degree},
                {"out_degrees", bins},
                {"memory_to_run", needs},
                {"time_ms", {{"load", load_ms}, {"count", count_ms}}},
                {"memory", {{"host_peak", graph.budget()->peak()}}}};
  if (graph.weight_type() != WeightType::none) document["weight_range"] = {counts.min_weight, counts.max_weight};
  return document;
}

void info(const LoadArguments& arguments, const Common& common) {
  ProgressBar bar = progress_bar(common);
  Stopwatch   clock;
  const Graph graph = open(arguments.path, arguments.options(common, bar));
  note_all(common, graph.report().notes);
  const double          load_ms  = clock.lap();
  const GraphStatistics counts   = statistics(graph, thread_count(common.threads), bar);
  const double          count_ms = clock.lap();
  check_mapped_files();
  if (common.json) {
    print_json(to_json(graph, counts, load_ms, count_ms));
  } else {
    print_text(graph, counts, arguments.path);
  }
}

}  // namespace

void add_info(Command& app, Context& context) {
  Command command   = app.subcommand("info", "What is in a graph file, and the memory that running on it takes");
  auto    arguments = std::make_shared<LoadArguments>();
  arguments->add_to(command);
  add_common_options(command, context.common);
  command.on_parsed(
      [&context, arguments] { context.action = [&context, arguments] { info(*arguments, context.common); }; });
}

}  // namespace spillway::cli
