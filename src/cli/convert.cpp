// spillway convert IN OUT
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <variant>

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/interrupt_watch.hpp"
#include "cli/overwriting.hpp"
#include "graph/arc_collector.hpp"
#include "graph/edge_list.hpp"
#include "graph/split.hpp"
#include "io/format.hpp"

#include <spillway/version.hpp>

namespace spillway::cli {
namespace {

struct ConvertArguments {
  LoadArguments              load;
  LayoutArguments            layout;
  std::string                output;
  std::string                to = "auto";
  std::optional<std::string> id_map;
  std::optional<std::string> temporary;
  std::string                checkpoint_every = "10";
  bool                       in_edges         = false;
  std::optional<std::string> split;

  bool splits() const { return split && *split != "none"; }
};

/// Both arcs of an edge that may be listed twice are made of rows in memory.
bool can_stream(const ConvertArguments& arguments) {
  const Transform& transform = arguments.load.transform;
  return !arguments.splits() && !(transform.symmetrize && !transform.dedup) && arguments.output != "-";
}

bool streams(const ConvertArguments& arguments) {
  return arguments.layout.layout == "pages" && can_stream(arguments);
}

/// If memory does not hold the graph.
bool may_stream(const ConvertArguments& arguments) {
  return arguments.layout.may_have_pages(arguments.output, arguments.to) && can_stream(arguments) &&
         !is_stream(arguments.load.path);
}

void check_paths(const ConvertArguments& arguments, const Common& common) {
  if (common.json && arguments.output == "-")
    throw usage_error("--json and the graph cannot both go to standard output");
  if (arguments.in_edges && !lower_case(arguments.output).ends_with(".spill") && arguments.to != "spill")
    throw usage_error("--in-edges is for .spill files; {} stores none", arguments.output);
  format_to_write(arguments.output, arguments.to);
  if (arguments.splits()) split_form(*arguments.split);
  if (arguments.layout.pages(arguments.output, arguments.to) && arguments.splits())
    throw usage_error("--split makes rows; it does not go with --layout pages");
  if (arguments.layout.edges(arguments.output, arguments.to) && (arguments.split || arguments.in_edges))
    throw usage_error("{} is of rows; it does not go with --layout edges",
                      arguments.split ? "--split" : "--in-edges");
  if (arguments.temporary && !is_folder(*arguments.temporary))
    throw usage_error("--temporary {}: there is no such folder; make it first", printable(*arguments.temporary));
  if (arguments.temporary && !streams(arguments) && !may_stream(arguments))
    throw usage_error(
        "--temporary is for pages, and with --dedup where there is --symmetrize; otherwise rows are made in "
        "memory");
  const std::vector<Input> inputs = inputs_of(arguments.load);
  refuse_to_overwrite("OUT", arguments.output, inputs);
  check_can_write(arguments.output);
  if (!arguments.id_map) return;
  if (arguments.id_map->empty()) throw usage_error("--id-map: the name of the file is empty");
  if (common.json && *arguments.id_map == "-")
    throw usage_error("--json and --id-map cannot both go to standard output");
  if (same_file(*arguments.id_map, arguments.output))
    throw usage_error("--id-map {}: this is the graph itself; give the table a file of its own",
                      *arguments.id_map);
  refuse_to_overwrite("--id-map", *arguments.id_map, inputs);
  check_can_write(*arguments.id_map);
}

/// In-edges that are to be written as well are built while the rows are held.
LoadRefusal with_in_edges(const LoadRefusal& refusal, const ConvertArguments& arguments, const Common& common) {
  GraphSize  size   = refusal.size();
  const bool builds = arguments.in_edges || format_to_write(arguments.output, arguments.to).writes_in;
  if (builds && !size.symmetric && !size.has_in)
    size.loading_bytes = std::max(
        size.loading_bytes, size.held_bytes + building_peak({.vertices = size.vertices,
                                                             .arcs     = size.arcs,
                                                             .weighted = size.weight_type != WeightType::none,
                                                             .threads  = thread_count(common.threads)}));
  return {refusal, size};
}

std::string temporary_folder(const ConvertArguments& arguments) {
  return arguments.temporary ? *arguments.temporary : folder_of(followed(arguments.output));
}

/// A file that a conversion reads, as it is now.
std::string description_of(const std::string& path) {
  const auto info = information_on(path);
  if (!info) return fmt::format("{} (none)", path);
  return fmt::format("{} {} {}.{} {}", std::filesystem::absolute(path).string(), info->st_size,
                     info->st_mtim.tv_sec, info->st_mtim.tv_nsec, info->st_ino);
}

/// All that decides what OUT will be: a conversion that differs in it does not go on from another's journal.
std::string question_of(const ConvertArguments& arguments, const store::PageOptions& pages) {
  const LoadArguments& load = arguments.load;
  std::string          text = SPILLWAY_VERSION;
  for (const Input& input : inputs_of(load)) text += "\n" + description_of(input.path);
  text += fmt::format("\n{} {} {} '{}' '{}' '{}' '{}' {}", load.format, load.ids, load.vertices.value_or("-"),
                      load.source_column, load.target_column, load.weight_column, load.weight_type, load.header);
  text += fmt::format("\n{:d}{:d}{:d}{:d}", load.transform.undirected, load.transform.symmetrize,
                      load.transform.dedup, load.transform.drop_loops);
  return text + fmt::format("\n{} {},{} {:d}{:d}{:d} {}", pages.page_bytes, pages.ids.page, pages.ids.slot,
                            pages.compressed, pages.by_degree, arguments.in_edges, arguments.id_map.value_or("-"));
}

/// Where work files of a conversion to OUT are, whatever it is of.
std::string work_prefix(const ConvertArguments& arguments) {
  const std::string     output       = std::filesystem::weakly_canonical(followed(arguments.output)).string();
  const std::string     name         = std::filesystem::path{output}.filename().string();
  constexpr std::size_t most_of_name = 200;
  return (std::filesystem::path{temporary_folder(arguments)} /
          fmt::format("{}.spillway-{:016x}", name.substr(0, most_of_name),
                      XXH3_64bits(output.data(), output.size())))
      .string();
}

/// What comes through a pipe cannot be asked for again, and nothing can be gone back to in one. How far stripes
/// have got is not saved.
bool can_go_on(const ConvertArguments& arguments, const store::PageOptions& pages) {
  return !is_stream(arguments.load.path) && !is_stream(arguments.output) && pages.stripes.empty();
}

/// The unfinished output, and how far it has got.
struct Work {
  OutputFile                  file;
  std::optional<BuildJournal> journal;

  Work(const ConvertArguments& arguments, const store::PageOptions& pages)
      : file(arguments.output,
             can_go_on(arguments, pages) ? OutputFile::Writer::resumable : OutputFile::Writer::this_process) {
    if (!can_go_on(arguments, pages)) return;
    journal.emplace(BuildJournal::Options{
        .prefix   = work_prefix(arguments),
        .question = question_of(arguments, pages),
        .output   = file.unfinished_path(),
        .finished = file.path(),
        .seconds  = static_cast<double>(number_argument("--checkpoint-every", arguments.checkpoint_every, 0))});
  }

  void tell(const Common& common) const {
    if (!journal) return;
    if (journal->goes_on())
      note(common, fmt::format("goes on where an earlier conversion had got to; remove {} to start anew",
                               journal->path()));
    else if (!journal->refusal().empty())
      note(common,
           fmt::format("{} is not used, and the conversion starts anew: {}", journal->path(), journal->refusal()));
  }

  /// A mistake in the input stays one; after all else the same command may come further.
  void keep_after(const Error& error, const Common& common) {
    if (!journal || !journal->has_committed()) return;
    if (error.code() == ExitCode::bad_input || error.code() == ExitCode::internal_error ||
        (error.code() == ExitCode::usage && !journal->goes_on()))
      return;
    journal->keep();
    file.keep_unfinished();
    note(common, fmt::format("what is done so far stays: the same command goes on from there; to have the room, "
                             "remove {} and {}",
                             journal->path_of("*"), file.unfinished_path()));
  }
};

/// Temporary disk at most: arcs, those of in-edges, and rows of each that wait to be put in order.
std::uint64_t temporary_bytes(const OutsideSize& size, bool in_edges, bool by_degree) {
  const std::uint64_t arc = size.weighted ? sizeof(WeightedArc) : sizeof(Arc);
  return size.arcs * (in_edges ? 2 : 1) * (arc + (by_degree ? edge_bytes(size.weighted) : 0));
}

/// Says what the conversion takes before it begins, and refuses what the disk has no room for.
void expect_to_fit(const OutsideSize& size, const ConvertArguments& arguments, const store::PageOptions& pages,
                   const ArcSpill& spill, const Common& common) {
  const std::uint64_t bytes  = temporary_bytes(size, arguments.in_edges, pages.by_degree);
  const std::string   folder = temporary_folder(arguments);
  if (bytes <= spill.memory()) return;
  const auto          free  = free_bytes(folder);
  const std::string   about = size.estimated ? "about " : "up to ";
  const std::uint64_t left  = bytes - std::min(bytes, spill.bytes());  // the rest is there already
  if (left == 0) return;
  if (free && left > *free)
    throw does_not_fit(
        "{}: sorting {} takes {}{} of temporary disk in {}, and {} is free there; --temporary names a folder on "
        "another disk",
        arguments.load.path, counted(size.arcs, "arc", "arcs"), about, human_bytes(left), folder,
        human_bytes(*free));
  note(common,
       fmt::format("takes {}{} of temporary disk in {} ({} free), and some 16 bytes of memory a vertex beside "
                   "what sorts",
                   about, human_bytes(left), folder, free ? human_bytes(*free) : "unknown"));
}

/// Pages of a graph that need not fit memory: arcs wait on disk, and rows are written as they are made. Where the
/// format brings whole rows, nothing is written: that graph.
std::optional<Graph> stream_pages(const ConvertArguments& arguments, const store::PageOptions& pages, Work& work,
                                  const Common& common, ProgressBar& bar) {
  // A part of the memory is for arcs that wait, and as much for each of in-edges and rows to be ordered.
  const std::uint64_t share   = 3 + (arguments.in_edges ? 1 : 0) + (pages.by_degree ? 1 : 0);
  const LoadOptions   options = arguments.load.options(common, bar);
  const MemoryBudget  budget{options.host_memory};
  const std::uint64_t waiting = budget.limit() / share;
  Stopwatch           clock;
  OutputFile&         file = work.file;
  store::StripeOutput stripes{arguments.output, pages.stripes};
  ArcSpill            spill =
      work.journal ? ArcSpill{*work.journal, waiting} : ArcSpill{temporary_folder(arguments), waiting};
  store::PagedOutput output{
      pages,   file,
      spill,   thread_count(common.threads),
      bar,     arguments.in_edges && !arguments.load.transform.undirected && !arguments.load.transform.symmetrize,
      &stripes};
  BuildOutside outside{spill, output.rows(),
                       [&](const OutsideSize& size) { expect_to_fit(size, arguments, pages, spill, common); }};
  ReadGraph    read    = read_graph(arguments.load.path, options, &outside);
  const double load_ms = clock.lap();
  if (!output.in_use()) return made_graph(std::move(read), arguments.load.path);
  const std::uint64_t vertices = read.result.csr.vertex_count();
  const EdgeIndex     arcs     = read.result.csr.offsets[vertices];
  const IdMap         ids      = output.finish(std::exchange(read.result.csr.offsets, {}), read.result.ids,
                                               read.result.weight_type, read.result.symmetric);
  check_mapped_files();
  std::optional<OutputFile> id_map;
  if (arguments.id_map) id_map.emplace(*arguments.id_map);
  if (id_map) write_id_map(ids, vertices, *id_map);
  if (work.journal) work.journal->commit_finished();
  store::commit(file, stripes, id_map ? &*id_map : nullptr);
  note_all(common, read.report.notes);
  const Transform& transform = arguments.load.transform;
  if (!transform.undirected && !transform.symmetrize && read.report.list)
    note(common, "rows were not held in memory: whether each edge is listed from both ends was not looked at");
  if (common.json)
    print_json(Json{{"graph", graph_json(open(arguments.output))},
                    {"output", arguments.output},
                    {"temporary_bytes", spill.bytes()},
                    {"time_ms",
                     {{"read", read.report.read_ms},
                      {"build", read.report.build_ms},
                      {"load", load_ms},
                      {"write", clock.lap()}}},
                    {"memory", memory_json(*read.budget)}});
  else if (!common.quiet)
    fmt::print("{}: {}, {}; converted in {:.2f} s{}\n", arguments.output, counted(vertices, "vertex", "vertices"),
               counted(arcs, "arc", "arcs"), (load_ms + clock.milliseconds()) / 1000,
               spill.bytes() > 0 ? fmt::format(", with {} on disk meanwhile", human_bytes(spill.bytes())) : "");
  return std::nullopt;
}

/// An earlier process was killed between the last step and its end.
std::optional<Graph> tell_finished(const ConvertArguments& arguments, const Common& common) {
  const Graph graph = open(arguments.output);
  if (common.json)
    print_json(Json{{"graph", graph_json(graph)}, {"output", arguments.output}});
  else if (!common.quiet)
    fmt::print("{}: {}, {}; had been converted when the process was ended\n", arguments.output,
               counted(graph.vertex_count(), "vertex", "vertices"), counted(graph.arc_count(), "arc", "arcs"));
  return std::nullopt;
}

std::optional<Graph> stream_pages(const ConvertArguments& arguments, const store::PageOptions& pages,
                                  const Common& common, ProgressBar& bar) {
  // A mistake in the command is found before work files are looked at: it is not to cost what an earlier one did.
  number_argument("--checkpoint-every", arguments.checkpoint_every, 0);
  size_argument("--host-memory", arguments.load.host_memory);
  Work work{arguments, pages};
  if (work.journal && work.journal->was_finished()) return tell_finished(arguments, common);
  work.tell(common);
  try {
    return stream_pages(arguments, pages, work, common, bar);
  } catch (const Error& error) {
    work.keep_after(error, common);
    throw;
  }
}

/// Of a format whose arcs come one by one: pages instead of what memory does not hold.
void stream_instead(const ConvertArguments& arguments, const GraphSize& size, const Common& common,
                    ProgressBar& bar) {
  note(common, fmt::format("memory does not hold this graph of about {}: compressed pages are made; --layout rows "
                           "asks for rows",
                           counted(size.arcs, "arc", "arcs")));
  stream_pages(arguments, LayoutArguments::pages_beyond_memory(), common, bar);
}

bool comes_by_arcs(const std::string& format) {
  return std::ranges::any_of(formats(), [&](const Format& each) { return each.name == format && each.by_arcs; });
}

/// With its vertices split, or no longer, and with the in-edges that are to be written.
Graph split_as_asked(Graph graph, const ConvertArguments& arguments, const Common& common, ProgressBar& bar) {
  const int threads = thread_count(common.threads);
  if (arguments.splits())
    graph = split(graph, split_form(*arguments.split), threads, &bar);
  else if (arguments.split && graph.split())
    graph = without_split(graph, threads);
  else if (arguments.split)
    note(common, "--split none has no effect: no vertices are split");
  if (!graph.split()) {
    if (arguments.in_edges) graph.in();
    return graph;
  }
  if (arguments.in_edges) graph.split()->in();
  if (arguments.splits() && graph.split()->tree_vertices() == 0)
    note(common, fmt::format("no vertex has more than {} {}: nothing was split",
                             with_commas(graph.split()->form().degree_bound),
                             graph.split()->form().in_edges ? "in-edges" : "edges"));
  return graph;
}

/// Of a list of edges, pairs are written in its order.
bool keeps_order(const ConvertArguments& arguments) {
  return !arguments.split && !arguments.in_edges &&
         format_to_write(arguments.output, arguments.to).name == "pairs";
}

/// The graph, or why memory does not hold it.
std::variant<Graph, LoadRefusal> loaded(const ConvertArguments& arguments, const std::optional<Graph>& read,
                                        const Common& common, ProgressBar& bar) {
  const InterruptWatch watch{bar};  // nothing is being written
  try {
    const bool  edges   = arguments.layout.edges(arguments.output, arguments.to);
    LoadOptions options = arguments.load.options(common, bar);
    options.edges       = edges;
    Graph graph         = read ? *read : open(arguments.load.path, options);
    if (graph.pages()) graph = store::in_memory(graph, thread_count(common.threads), bar);
    graph = edges ? as_edges(graph) : keeps_order(arguments) ? graph : with_rows(graph);
    if (graph.edges()) return graph;
    return split_as_asked(std::move(graph), arguments, common, bar);
  } catch (const LoadRefusal& refusal) {
    return refusal;
  }
}

std::optional<store::PageOptions> pages_of(const ConvertArguments& arguments) {
  auto pages = arguments.layout.pages(arguments.output, arguments.to);
  if (pages) pages->temporary = temporary_folder(arguments);
  return pages;
}

/// Of what is read but once, memory has to hold it all, or pages are asked for from the start.
LoadRefusal with_ways_out(const LoadRefusal& refusal, const ConvertArguments& arguments) {
  const bool pages = !streams(arguments) && arguments.layout.may_have_pages(arguments.output, arguments.to) &&
                     can_stream(arguments) && is_stream(arguments.load.path) &&
                     comes_by_arcs(refusal.size().format);
  if (!pages) return refusal;
  return {refusal.with_ways_out("--layout pages --compress converts it in less memory, from a pipe, too"),
          refusal.size()};
}

void convert(const ConvertArguments& arguments, const Common& common) {
  check_paths(arguments, common);
  ProgressBar          bar = progress_bar(common);
  Stopwatch            clock;
  std::optional<Graph> read;
  if (streams(arguments)) {
    read = stream_pages(arguments, *pages_of(arguments), common, bar);
    if (!read) return;
  }
  const auto in_memory = loaded(arguments, read, common, bar);
  if (const auto* refusal = std::get_if<LoadRefusal>(&in_memory)) {
    if (read || !may_stream(arguments) || !comes_by_arcs(refusal->size().format))
      throw with_ways_out(with_in_edges(*refusal, arguments, common), arguments);
    return stream_instead(arguments, refusal->size(), common, bar);
  }
  const Graph& graph = std::get<Graph>(in_memory);
  check_cancelled(bar);
  note_all(common, graph.report().notes);
  const double load_ms = clock.lap();
  save_graph(
      graph,
      {.path = arguments.output, .format = arguments.to, .id_map = arguments.id_map, .pages = pages_of(arguments)},
      common, bar);
  const double write_ms = clock.lap();
  if (common.json) {
    print_json(Json{{"graph", graph_json(graph)},
                    {"output", arguments.output},
                    {"time_ms",
                     {{"read", graph.report().read_ms},
                      {"build", graph.report().build_ms},
                      {"load", load_ms},
                      {"write", write_ms}}},
                    {"memory", memory_json(graph)}});
  } else if (arguments.output != "-" && !common.quiet) {
    fmt::print("{}: {}, {}{}; read in {:.2f} s, written in {:.2f} s\n", arguments.output,
               counted(graph.vertex_count(), "vertex", "vertices"), counted(graph.arc_count(), "arc", "arcs"),
               graph.split() ? fmt::format("; split, {} and {}",
                                           counted(graph.split()->vertex_count(), "vertex", "vertices"),
                                           counted(graph.split()->arc_count(), "arc", "arcs"))
                             : "",
               load_ms / 1000, write_ms / 1000);
  }
}

}  // namespace

void add_convert(Command& app, Context& context) {
  Command command   = app.subcommand("convert", "Read a graph in one format, write it in another");
  auto    arguments = std::make_shared<ConvertArguments>();
  arguments->load.add_to(command);
  command.option("OUT", arguments->output, "File to write; its suffix names the format").required();
  command.option(
      "--to", arguments->to,
      fmt::format("Format of the output (default: by suffix): {}", joined(format_names(/*written=*/true))));
  command.option("--temporary", arguments->temporary,
                 "Pages: folder for arcs that do not fit memory while they are sorted (default: that of OUT)");
  command.option("--checkpoint-every", arguments->checkpoint_every,
                 "Pages: seconds between saves of how far it has got, from where the same command goes on after a "
                 "kill; longer where saving takes long (default: 10)");
  command.option("--id-map", arguments->id_map, "Also write the user's id of vertex 0, 1, … one a line");
  arguments->layout.add_to(command);
  command.option(
      "--split", arguments->split,
      ".spill: split vertices of many edges (Tigr): KIND[:K][:in], KIND udt, star, circular or clique, K the "
      "most edges of one (default: from the largest degree), in: in-edges, for pagerank; none: undo it. Other "
      "formats get the split graph itself");
  command.flag("--in-edges", arguments->in_edges, ".spill: store in-edges too, so that no run has to build them");
  add_common_options(command, context.common);
  command.on_parsed(
      [&context, arguments] { context.action = [&context, arguments] { convert(*arguments, context.common); }; });
}

}  // namespace spillway::cli
