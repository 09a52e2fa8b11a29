// spillway info GRAPH: what is in the file, and what it would take to run on it.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/interrupt_watch.hpp"
#include "graph/csr.hpp"
#include "graph/edge_list.hpp"
#include "graph/split.hpp"
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
  const IdMap                  ids     = graph.ids().ascending();
  const auto                   last    = static_cast<Vertex>(graph.vertex_count() - 1);
  static constexpr const char* kinds[] = {"consecutive", "numbers with gaps", "names"};
  return fmt::format("{}, {} to {}{}", kinds[static_cast<std::size_t>(ids.kind())], printable(ids.name(0)),
                     printable(ids.name(last)),
                     graph.ids().order().size() > 0 ? "; vertices in the order of their degrees" : "");
}

/// A weight as the graph holds it: whole numbers are whole, floats as short as they read back.
Json weight_json(const Graph& graph, double weight) {
  if (graph.weight_type() == WeightType::u32) return static_cast<std::uint64_t>(weight);
  return weight;
}

std::string weight_name(const Graph& graph, double weight) {
  if (graph.weight_type() == WeightType::u32) return fmt::format("{}", static_cast<std::uint64_t>(weight));
  return fmt::format("{}", static_cast<float>(weight));
}

std::string weight_text(const Graph& graph, const GraphStatistics& counts) {
  if (graph.weight_type() == WeightType::none) return "none";
  if (graph.arc_count() == 0) return std::string{to_string(graph.weight_type())};
  return fmt::format(
      "{}, {} to {}{}", to_string(graph.weight_type()), weight_name(graph, counts.min_weight),
      weight_name(graph, counts.max_weight),
      counts.negative_weights > 0 ? fmt::format(", {} negative", with_commas(counts.negative_weights)) : "");
}

/// How an edge list was understood: "separated by blanks, no header, source 1, target 2, weight 3".
std::string columns_text(const ListLayout& list) {
  const auto column = [&](unsigned position) {
    const std::string name = list.header.empty() ? "" : fmt::format(" ({})", printable(list.header[position - 1]));
    return fmt::format("{}{}", position, name);
  };
  return fmt::format("{}, separated by {}; {}; source {}, target {}, {}", list.columns, list.separator,
                     list.header.empty() ? "no header" : "header", column(list.source_column),
                     column(list.target_column),
                     list.weight_column > 0 ? "weight " + column(list.weight_column) : "no weight");
}

void print_footprints(const GraphSize& size) {
  fmt::print("\nmemory to run              gpu        host\n");
  for (const Footprint& need : footprints(size))
    fmt::print("{:<22} {:>10}  {:>10}\n", need.way, need.device_bytes ? human_bytes(need.device_bytes) : "-",
               need.host_bytes ? human_bytes(need.host_bytes) : "-");
}

Json footprints_json(const GraphSize& size) {
  Json needs = Json::array();
  for (const Footprint& need : footprints(size))
    needs.push_back(
        {{"configuration", need.way}, {"device_bytes", need.device_bytes}, {"host_bytes", need.host_bytes}});
  return needs;
}

/// "udt:10: 1,024 tree vertices and as many tree arcs; largest out-degree 10".
std::string split_text(const SplitRows& split) {
  const bool in   = split.form().in_edges;
  const bool same = split.tree_vertices() == split.tree_arcs();
  return fmt::format("{}: {} and {}; largest {} {}", text_of(split.form()),
                     counted(split.tree_vertices(), "tree vertex", "tree vertices"),
                     same ? "as many tree arcs" : counted(split.tree_arcs(), "tree arc", "tree arcs"),
                     in ? "in-degree" : "out-degree", with_commas(largest_degree(in ? split.in() : split.out())));
}

void print_text(const Graph& graph, const GraphStatistics& counts, const std::string& path) {
  const auto line = [](const char* name, const std::string& value) { fmt::print("{:<18} {}\n", name, value); };
  line("file", fmt::format("{} ({})", path, graph.report().format));
  if (graph.report().list) line("columns", columns_text(*graph.report().list));
  line("vertices", with_commas(graph.vertex_count()));
  line("arcs", fmt::format("{}{}", with_commas(graph.arc_count()),
                           graph.symmetric() ? " (symmetric: both arcs of every edge)" : ""));
  if (graph.split()) line("split", split_text(*graph.split()));
  if (graph.edges())
    line("edges", with_commas(graph.edges()->edge_count()) + ", in the order of the input, without rows");
  for (const std::string& stripe : store::stripes_of(path)) line("stripe", stripe);
  line("ids", id_text(graph));
  line("weights", weight_text(graph, counts));
  line("self loops", with_commas(counts.loops));
  line("duplicate arcs", with_commas(counts.duplicates));
  line("isolated vertices", with_commas(counts.isolated));
  if (graph.arc_count() > 0)
    line("largest out-degree", fmt::format("{} (vertex {})", with_commas(counts.max_degree),
                                           printable(graph.ids().name(counts.max_degree_vertex))));
  if (graph.vertex_count() > 0) print_histogram(counts);
  print_footprints(size_of_rows(graph));
}

Json to_json(const Graph& graph, const GraphStatistics& counts, double load_ms, double count_ms) {
  Json bins = Json::array();
  for (std::size_t bin = 0; bin < counts.degree_bins.size(); ++bin)
    if (counts.degree_bins[bin] > 0)
      bins.push_back(
          {{"from", bin == 0 ? 0 : std::uint64_t{1} << (bin - 1)}, {"vertices", counts.degree_bins[bin]}});
  Json document{{"graph", graph_json(graph)},
                {"loops", counts.loops},
                {"duplicates", counts.duplicates},
                {"isolated", counts.isolated},
                {"sinks", counts.sinks},
                {"max_out_degree", counts.max_degree},
                {"out_degrees", bins},
                {"stripes", store::stripes_of(graph.name())},
                {"memory_to_run", footprints_json(size_of_rows(graph))},
                {"time_ms", {{"load", load_ms}, {"count", count_ms}}},
                {"memory", memory_json(graph)}};
  if (graph.weight_type() != WeightType::none && graph.arc_count() > 0)
    document["weight_range"] = {weight_json(graph, counts.min_weight), weight_json(graph, counts.max_weight)};
  return document;
}

/// What can be told of a graph that is not held.
void print_size(const GraphSize& size, const MemoryRefusal& refusal, const std::string& path,
                const Common& common) {
  std::error_code     unknown;
  const std::uint64_t file_bytes = std::filesystem::file_size(path, unknown);
  const auto          known      = [&](std::uint64_t value) {
    return size.vertices == 0 && size.arcs == 0 ? std::string{"unknown"}
                                                              : (size.estimated ? "about " : "") + with_commas(value);
  };
  note(common, fmt::format("the graph does not fit, so {} not counted: {}",
                           size.estimated ? "sizes are estimates, and degrees, loops and duplicates are"
                                          : "degrees, loops and duplicates are",
                           refusal.what()));
  const auto line = [](const char* name, const std::string& value) { fmt::print("{:<18} {}\n", name, value); };
  line("file", fmt::format("{} ({}{})", path, size.format, unknown ? "" : ", " + human_bytes(file_bytes)));
  line("vertices", known(size.vertices));
  line("arcs", known(size.arcs) + (size.symmetric ? " (symmetric: both arcs of every edge)" : ""));
  line("weights", std::string{to_string(size.weight_type)});
  line("memory to load", fmt::format("{} of host memory", sufficient_size(refusal.needed())));
  if (size.vertices > 0) print_footprints(size);
}

Json size_json(const GraphSize& size, const MemoryRefusal& refusal) {
  const bool known = size.vertices > 0 || size.arcs > 0;
  return {{"graph",
           {{"vertices", known ? Json(size.vertices) : Json(nullptr)},
            {"arcs", known ? Json(size.arcs) : Json(nullptr)},
            {"weights", std::string{to_string(size.weight_type)}},
            {"symmetric", size.symmetric},
            {"format", size.format},
            {"estimated", size.estimated}}},
          {"estimated", true},
          {"fits", false},
          {"why", Json::array({refusal.what()})},
          {"host_memory_needed", refusal.needed()},
          {"memory_to_run", footprints_json(size)},
          {"memory", {{"resident_peak", resident_peak()}}}};
}

void tell_size(const GraphSize& size, const MemoryRefusal& refusal, const std::string& path,
               const Common& common) {
  if (common.json)
    print_json(size_json(size, refusal));
  else
    print_size(size, refusal, path, common);
}

void info(const LoadArguments& arguments, const Common& common) {
  ProgressBar          bar = progress_bar(common);
  const InterruptWatch watch{bar};
  Stopwatch            clock;
  std::optional<Graph> loaded;
  try {
    loaded = open(arguments.path, arguments.options(common, bar));
  } catch (const LoadRefusal& refusal) {
    return tell_size(refusal.size(), refusal, arguments.path, common);
  }
  const Graph& graph = *loaded;
  note_all(common, graph.report().notes);
  const double    load_ms = clock.lap();
  GraphStatistics counts;
  try {
    counts = statistics(graph, thread_count(common.threads), bar);
  } catch (const MemoryRefusal& refusal) {
    return tell_size(size_of(graph), refusal, arguments.path, common);
  }
  const double count_ms = clock.lap();
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
