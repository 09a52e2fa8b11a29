#include "cli/command.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <limits>
#include <sstream>

#include <spillway/engine/memory.hpp>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "graph/split.hpp"
#include "io/format.hpp"

namespace spillway::cli {

std::vector<std::string> format_names(bool written) {
  std::vector<std::string> names;
  for (const Format& format : formats())
    if (!written || format.write) names.push_back(format.name);
  return names;
}

std::string with_default(const Parameter& parameter) {
  const bool several = parameter.kind == ParameterKind::source;
  return parameter.help + (several ? "; several: A,B or @FILE, or repeat it" : "") +
         (parameter.default_value.empty() ? " (needed)" : fmt::format(" (default: {})", parameter.default_value));
}

void add_common_options(Command& command, Common& common) {
  command.flag("--json", common.json, "Print one JSON object instead of text");
  command.flag("-q,--quiet", common.quiet, "Print only the answer and errors: no notes, times or progress");
  command.option("--threads", common.threads, "Threads to use (default: all)").between(1, most_threads);
}

void add_transform_options(Command& command, Transform& transform) {
  command.flag("--undirected", transform.undirected, "Each edge of the input stands for both arcs");
  command.flag("--symmetrize", transform.symmetrize, "Add the reverse of every arc that has none (of its weight)");
  command.flag("--dedup", transform.dedup, "Keep one of parallel arcs, the lightest");
  command.flag("--drop-loops", transform.drop_loops, "Leave out self loops");
}

void LoadArguments::add_to(Command& command) {
  command.option("GRAPH", path, "Graph file; - reads standard input").required();
  command.option("--format", format,
                 fmt::format("Format of the input (default: by content): {}", joined(format_names())));
  command.option("--ids", ids, "Edge lists: auto, dense, sparse or string ids")
      .one_of({"auto", "dense", "sparse", "string"});
  command.option("--vertices", vertices, "Edge lists: ids are 0 to N-1, isolated ones included");
  command.option("--source-column", source_column,
                 "Edge lists: column of the sources, by number from 1 or by name");
  command.option("--target-column", target_column, "Edge lists: column of the targets, likewise");
  command.option("--weight-column", weight_column,
                 "Edge lists: column of the weights, by number from 1 or by name; or none");
  command.option("--weight-type", weight_type, "Read weights as u32 or f32, or not at all: none")
      .one_of({"u32", "f32", "none"});
  command.option("--header", header, "Edge lists: first line is a header: auto, yes or no")
      .one_of({"auto", "yes", "no"});
  add_transform_options(command, transform);
  command.option("--host-memory", host_memory,
                 "Host memory limit, mapped files excluded, e.g. 4GiB (default: what is free)");
}

LoadOptions LoadArguments::options(const Common& common, Progress& progress) const {
  LoadOptions options;
  options.format = format;
  options.ids    = ids == "dense"    ? IdMode::dense
                   : ids == "sparse" ? IdMode::sparse
                   : ids == "string" ? IdMode::string
                                     : IdMode::automatic;
  if (vertices) options.vertices = number_argument("--vertices", *vertices);
  options.source_column = source_column;
  options.target_column = target_column;
  options.weight_column = weight_column;
  if (!weight_type.empty())
    options.weight_type = weight_type == "u32"   ? WeightType::u32
                          : weight_type == "f32" ? WeightType::f32
                                                 : WeightType::none;
  options.header      = header == "yes"  ? HeaderMode::present
                        : header == "no" ? HeaderMode::absent
                                         : HeaderMode::automatic;
  options.transform   = transform;
  options.host_memory = size_argument("--host-memory", host_memory);
  options.threads     = common.threads;
  options.progress    = &progress;
  return options;
}

std::uint64_t size_argument(const std::string& option, const std::optional<std::string>& text,
                            std::uint64_t least) {
  if (!text) return 0;
  const auto bytes = parse_size(*text);
  if (bytes == size_too_large)
    throw usage_error("{}: {} is too large; sizes are below 16EiB", option, printable(*text));
  if (!bytes || *bytes < least)
    throw usage_error("{} takes a size such as 4GiB or 512M, not '{}'", option, printable(*text));
  return *bytes;
}

std::uint64_t number_argument(const std::string& option, const std::string& text, std::uint64_t least) {
  if (const auto number = parse_number(text); number && *number >= least) return *number;
  throw usage_error("{} takes a whole number from {} to {}, not '{}'", option, least,
                    std::numeric_limits<std::uint64_t>::max(), printable(text));
}

namespace {

/// Of this command; it prints one object at most.
struct Said {
  std::vector<std::string> notes, warnings;
  bool                     object = false;
};

Said& said() {
  static Said all;
  return all;
}

}  // namespace

void print_json(const Json& document) {
  Json object{{"schema", json_schema}};
  object.update(document);
  if (!said().notes.empty()) object["notes"] = said().notes;
  if (!said().warnings.empty()) object["warnings"] = said().warnings;
  said().object = true;
  fmt::print("{}\n", object.dump(2, ' ', false, Json::error_handler_t::replace));
}

namespace {

Json error_object(const std::string& kind, int exit, const std::string& message) {
  return {{"error", {{"kind", kind}, {"exit", exit}, {"message", message}}}};
}

}  // namespace

std::string error_json(const std::string& kind, int exit, const std::string& message) {
  Json object{{"schema", json_schema}};
  object.update(error_object(kind, exit, message));
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void print_error_json(const std::string& kind, int exit, const std::string& message) {
  if (!said().object) print_json(error_object(kind, exit, message));
}

void complain(const std::string& line) {
  std::fflush(stdout);
  std::fputs((line + '\n').c_str(), stderr);
}

void warn(const std::string& text) {
  said().warnings.push_back(text);
  complain("warning: " + text);
}

void note(const Common& common, const std::string& text) {
  if (std::ranges::find(said().notes, text) != said().notes.end()) return;  // of another source
  said().notes.push_back(text);
  if (!common.quiet) complain("note: " + text);
}

void note_all(const Common& common, const std::vector<std::string>& notes) {
  for (const std::string& text : notes) note(common, text);
}

void write_id_map(const IdMap& ids, std::uint64_t vertices, OutputFile& file) {
  std::string text;
  for (std::uint64_t v = 0; v < vertices; ++v) {
    ids.append_name(text, static_cast<Vertex>(v));
    text += '\n';
    if (text.size() < (1u << 20)) continue;
    file.append(text);
    text.clear();
  }
  file.append(text);
}

void LayoutArguments::add_to(Command& command) {
  command
      .option(
          "--layout", layout,
          ".spill: rows, pages that are streamed from disk, or edges in the order of the input, for run --method "
          "edges; auto (default): rows; of a graph that is converted and does not fit memory, compressed pages")
      .one_of({"auto", "rows", "pages", "edges"});
  command.flag("--compress", compress, "Pages: compressed, which is less to read");
  command
      .option("--order", order,
              "Pages: vertices by ids, or by degree, hubs first, which compresses better (default: ids)")
      .one_of({"ids", "degree"});
  command.option("--page-size", page_size, "Pages: bytes of each (default: 1MiB, compressed 256KiB)");
  command.option("--stripe", stripe,
                 "Pages: DIR,DIR…, folders on several disks that share the pages and are read at once; OUT names "
                 "them, relative ones from its own folder on");
  command.option("--record-ids", record_ids,
                 "Pages: P,Q, bytes of a page's and a slot's number (default: by size)");
}

bool LayoutArguments::edges(const std::string& output, const std::string& format) const {
  if (layout != "edges") return false;
  if (format_to_write(output, format).name != "spill")
    throw usage_error("--layout edges is for .spill files; {} is none", output);
  return true;
}

bool LayoutArguments::may_have_pages(const std::string& output, const std::string& format) const {
  return layout == "auto" && output != "-" && format_to_write(output, format).name == "spill";
}

std::optional<store::PageOptions> LayoutArguments::pages(const std::string& output,
                                                         const std::string& format) const {
  if (layout != "pages") {
    if (compress || page_size || stripe || !record_ids.empty() || order != "ids")
      throw usage_error("--compress, --order, --page-size, --record-ids and --stripe are for --layout pages");
    return std::nullopt;
  }
  if (format_to_write(output, format).name != "spill")
    throw usage_error("--layout pages is for .spill files; {} is none", output);
  store::PageOptions options{.page_bytes = size_argument("--page-size", page_size),
                             .compressed = compress,
                             .by_degree  = order == "degree",
                             .stripes    = stripe_folders()};
  if (record_ids.empty()) return options;
  if (compress) throw usage_error("--record-ids: compressed pages have none");
  const bool fits = record_ids.size() == 3 && record_ids[1] == ',' && record_ids[0] >= '1' &&
                    record_ids[0] <= '4' && record_ids[2] >= '2' && record_ids[2] <= '4';
  if (!fits)  // one byte addresses fewer slots than the smallest page has
    throw usage_error("--record-ids takes P,Q, P from 1 to 4 and Q from 2 to 4, such as 3,3, not '{}'",
                      printable(record_ids));
  options.ids = {static_cast<unsigned>(record_ids[0] - '0'), static_cast<unsigned>(record_ids[2] - '0')};
  return options;
}

std::vector<std::string> LayoutArguments::stripe_folders() const {
  std::vector<std::string> folders;
  if (!stripe) return folders;
  std::istringstream words{*stripe + ","};
  for (std::string folder; std::getline(words, folder, ',');) {
    if (folder.empty()) throw usage_error("--stripe takes DIR,DIR…, not '{}'", printable(*stripe));
    if (!is_folder(folder)) throw bad_input("--stripe {}: there is no such folder", folder);
    folders.push_back(folder);
  }
  return folders;
}

void save_graph(const Graph& graph, const GraphPlace& place, const Common& common, Progress& progress) {
  const Format&             format = format_to_write(place.path, place.format);
  OutputFile                file{place.path};
  store::StripeOutput       stripes{place.path, place.pages ? place.pages->stripes : std::vector<std::string>{}};
  std::optional<OutputFile> id_map;
  if (place.id_map) id_map.emplace(*place.id_map);
  std::vector<std::string> notes;
  if (place.pages)
    store::write(graph, *place.pages, file, progress, &stripes), check_mapped_files();
  else
    notes = write_graph(graph, format, file, progress);
  const Graph named = graph.split() && format.name != "spill" ? transformed(graph) : graph;
  if (id_map) write_id_map(named.ids(), named.vertex_count(), *id_map);
  store::commit(file, stripes, id_map ? &*id_map : nullptr);
  // With a table of all ids beside it, what the graph's own file leaves out is not lost.
  for (const std::string& text : notes) place.id_map ? note(common, text) : warn(text);
}

namespace {

/// How an edge list was understood.
Json list_json(const ListLayout& list) {
  Json read{{"separator", list.separator},
            {"header", nullptr},
            {"columns", list.columns},
            {"source_column", list.source_column},
            {"target_column", list.target_column},
            {"weight_column", nullptr},
            {"ids", list.names ? "names" : "numbers"},
            {"guessed", list.guessed}};
  if (!list.header.empty()) read["header"] = list.header;
  if (list.weight_column > 0) read["weight_column"] = list.weight_column;
  return read;
}

}  // namespace

Json graph_json(const Graph& graph) {
  static constexpr const char* id_kinds[] = {"consecutive", "numbers", "strings"};
  Json                         document{
      {"vertices", graph.vertex_count()},  {"arcs", graph.arc_count()},
      {"vertex_bits", 8 * sizeof(Vertex)}, {"weights", std::string{to_string(graph.weight_type())}},
      {"symmetric", graph.symmetric()},    {"ids", id_kinds[static_cast<std::size_t>(graph.ids().kind())]},
      {"format", graph.report().format}};
  if (const SplitRows* const split = graph.split().get())
    document["split"] = {{"kind", std::string{to_string(split->form().kind)}},
                         {"degree_bound", split->form().degree_bound},
                         {"in_edges", split->form().in_edges},
                         {"vertices", split->vertex_count()},
                         {"arcs", split->arc_count()}};
  if (graph.report().list) document["read"] = list_json(*graph.report().list);
  return document;
}

std::uint64_t resident_peak() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::string words_on_residence(const Graph& graph) {
  if (graph.report().format != "spill") return {};
  return fmt::format(", {} resident at most", human_bytes(resident_peak()));
}

Json memory_json(const MemoryBudget& budget) {
  return {{"host_peak", budget.peak()}, {"resident_peak", resident_peak()}};
}

Json memory_json(const Graph& graph) { return memory_json(*graph.budget()); }

ProgressBar progress_bar(const Common& common) {
  return ProgressBar{!common.quiet && !common.json && ProgressBar::terminal()};
}

}  // namespace spillway::cli
