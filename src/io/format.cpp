// Finding the format of a file, and the two calls of the library that open and save graphs.
#include "io/format.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/csr.hpp"
#include "graph/edge_collector.hpp"
#include "graph/edge_list.hpp"
#include "graph/split.hpp"
#include "graph/symmetry.hpp"
#include "io/binary.hpp"
#include "io/byte_stream.hpp"
#include "io/header_words.hpp"
#include "io/reading.hpp"

namespace spillway {

const std::vector<Format>& formats() {
#define SPILLWAY_LIST_FORMAT(name) name##_format(),
  static const std::vector<Format> all{SPILLWAY_FORMATS(SPILLWAY_LIST_FORMAT)};
#undef SPILLWAY_LIST_FORMAT
  return all;
}

namespace {

std::vector<std::string> format_names(bool writable) {
  std::vector<std::string> names;
  for (const Format& format : formats())
    if (!writable || format.write) names.push_back(format.name);
  return names;
}

const Format& format_named(const std::string& name) {
  for (const Format& format : formats())
    if (format.name == name) return format;
  throw usage_error("unknown format '{}'; {}", printable(name), advice(name, format_names(false)));
}

std::vector<std::string> written_suffixes() {
  std::vector<std::string> suffixes;
  for (const Format& format : formats())
    if (format.write)
      for (const std::string& suffix : format.suffixes) suffixes.push_back("." + suffix);
  return suffixes;
}

/// The suffix that says what the file is, in lower case, past a compression suffix.
std::string suffix_of(std::string path) {
  path             = lower_case(without_compression(std::move(path)));
  const auto slash = path.find_last_of('/');
  const auto dot   = path.find_last_of('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) return {};
  return path.substr(dot + 1);
}

bool has_suffix(const Format& format, const std::string& suffix) {
  return std::find(format.suffixes.begin(), format.suffixes.end(), suffix) != format.suffixes.end();
}

}  // namespace

Sample sample_of(const std::string& path) {
  Sample sample;
  sample.path    = path;
  sample.is_pipe = path == "-" || !is_regular_file(path);
  auto stream    = open_stream(path);
  if (!sample.is_pipe) {
    const FileHandle file = open_for_reading(path);
    sample.file_bytes     = file_size(file, path);
    // Files that the system makes up while they are read (/proc) have no size, and are read as pipes are.
    sample.is_pipe = sample.file_bytes == 0;
    if (const auto info = information_on(path); info && info->st_size > 0) sample.version.emplace(*info);
    char              magic[4];
    const std::size_t known = std::min<std::uint64_t>(sizeof magic, sample.file_bytes);
    read_at(file, path, 0, magic, known);
    sample.compressed = compression_of({magic, known}) != Compression::none;
  }
  sample.text.resize(sample_bytes);
  sample.text.resize(stream->read(sample.text.data(), sample.text.size()));
  sample.whole = sample.text.size() < sample_bytes;
  if (sample.text.starts_with("\xef\xbb\xbf")) {
    sample.skipped = 3;
    sample.text.erase(0, 3);
  }
  if (sample.is_pipe) sample.pipe = std::move(stream);
  return sample;
}

namespace {

/// Content decides where it can; the suffix where content fits several.
const Format& recognised(const Sample& sample) {
  const std::string          suffix = suffix_of(sample.path);
  std::vector<const Format*> fitting;
  for (const Format& format : formats())
    if (format.recognises(sample)) fitting.push_back(&format);
  for (const Format* format : fitting)
    if (format->has_magic) return *format;
  for (const Format* format : fitting)
    if (has_suffix(*format, suffix)) return *format;
  if (!fitting.empty() && !fitting.front()->is_loose) return *fitting.front();
  // Content fits nothing for certain. Where the suffix makes a promise, its reader can say best what is wrong.
  for (const Format& format : formats())
    if (has_suffix(format, suffix)) return format;
  if (!fitting.empty()) return *fitting.front();
  throw bad_input("{}: unknown graph format (the file starts with '{}'); name one with --format: {}", sample.path,
                  printable(sample.text, 16), joined(format_names(false)));
}

}  // namespace

namespace {

/// For formats that state their weights: leaves them out if asked to; cannot make others of them.
void settle_weights(ReadResult& result, const LoadOptions& options, const std::string& path) {
  if (options.weight_column == "none" || options.weight_type == WeightType::none) {
    result.csr.weights = result.in.weights = {};
    result.weight_type                     = WeightType::none;
    if (result.edges) result.edges = without_weights(*result.edges);
  } else if (options.weight_type && *options.weight_type != result.weight_type) {
    throw usage_error("{}: --weight-type {} asked for, but its weights are {}", path,
                      to_string(*options.weight_type), to_string(result.weight_type));
  }
}

/// Edges that a file of whatever format lists from both ends are doubled where each is read as two arcs.
void note_doubled(const ReadResult& result, ReadJob& job) {
  const Transform& transform = job.context.transform;
  if (!transform.undirected || transform.dedup || job.undirected_by.empty()) return;
  const Directions& directions = *job.context.directions;
  if (result.edges ? !doubles_both_ways(*result.edges, directions, job.context.threads)
                   : !doubles_both_ways(result.csr, directions))
    return;
  job.notes.push_back(fmt::format(
      "edges seem to be listed from both ends, and {} reads each as two arcs: they are "
      "doubled ({})",
      job.undirected_by,
      job.undirected_by == "--undirected" ? "leave it out, or say --dedup" : "--dedup keeps one of each"));
  if (job.list) job.list->guessed.emplace_back("direction");
}

/// A file is opened more than once while it is read: all must have been the same.
void check_unchanged(const Sample& sample) {
  if (!sample.version) return;
  const auto now = information_on(sample.path);
  if (!now || FileVersion{*now} != *sample.version)
    throw bad_input("{}: the file changed while it was read; open it again when no process writes to it",
                    sample.path);
}

/// Options that only edge lists can follow are refused elsewhere rather than ignored.
void refuse_idle_options(const Format& format, const LoadOptions& options, const std::string& path) {
  const auto refuse = [&](bool given, const char* option) {
    if (given) throw usage_error("{}: {} is for text edge lists; {} states its own", path, option, format.name);
  };
  const bool text = format.is_edge_list && format.is_loose;
  if (text) return;
  refuse(options.header != HeaderMode::automatic, "--header");
  refuse(!options.source_column.empty(), "--source-column");
  refuse(!options.target_column.empty(), "--target-column");
  refuse(!options.weight_column.empty() && options.weight_column != "none", "--weight-column");
  refuse(options.ids == IdMode::string, "--ids string");
  if (format.is_edge_list) return;
  refuse(options.ids != IdMode::automatic, "--ids");
  refuse(options.vertices.has_value(), "--vertices");
}

}  // namespace

std::unique_ptr<ByteStream> ReadJob::open() const {
  if (!sample.is_pipe) {
    auto stream = open_stream(sample.path);
    char mark[3];
    stream->read(mark, sample.skipped);
    return stream;
  }
  if (!sample.pipe)
    throw bad_input(
        "{}: a pipe cannot be read twice, and the input turned out not to be what its start showed; "
        "state --ids and --weight-type, or read from a file",
        sample.path);
  return prefixed_stream(sample.text, std::move(sample.pipe));
}

void ReadJob::require_plain_file(std::string_view format) const {
  if (sample.is_pipe) throw bad_input("{}: {} is read by position, which a pipe does not allow", path(), format);
  if (sample.compressed) throw bad_input("{}: {} is read by position; decompress it first", path(), format);
}

void ReadJob::expect_outside(std::uint64_t edges, WeightType weight_type, bool estimated,
                             std::optional<std::uint64_t> vertices) const {
  // Offsets while rows are built and in the order they are written, or a table of ids.
  constexpr std::uint64_t bytes_a_vertex = 16;
  if (vertices)
    context.budget->expect(*vertices * bytes_a_vertex,
                           fmt::format("{}: {} vertices, {} bytes each, beside what sorts", path(),
                                       with_commas(*vertices), bytes_a_vertex));
  if (!context.outside->expect) return;
  const Transform& transform = context.transform;
  context.outside->expect({.arcs      = edges * (transform.undirected || transform.symmetrize ? 2 : 1),
                           .weighted  = weight_type != WeightType::none,
                           .estimated = estimated});
}

void ReadJob::expect_rows(std::uint64_t vertices, EdgeIndex arcs, WeightType weight_type, bool undirected_file,
                          std::uint64_t buffers) {
  const bool      weighted  = weight_type != WeightType::none;
  const bool      both_ways = !undirected_file && (context.transform.undirected || context.transform.symmetrize);
  const EdgeIndex kept      = both_ways ? 2 * arcs : arcs;
  const std::uint64_t held  = context.budget->used() + rows_bytes(vertices, arcs, weighted);
  size                      = {.vertices    = vertices,
                               .arcs        = kept,
                               .weight_type = weight_type,
                               .symmetric   = undirected_file || both_ways,
                               .estimated   = context.transform.any(),
                               .held_bytes  = rows_bytes(vertices, kept, weighted)};
  size->loading_bytes       = held + buffers;
  if (context.transform.any())
    size->loading_bytes =
        held +
        building_peak({.vertices = vertices, .arcs = kept, .weighted = weighted, .threads = context.threads});
  context.budget->expect(rows_bytes(vertices, arcs, weighted),
                         fmt::format("{}: a graph of {} arcs", path(), with_commas(arcs)));
}

namespace {

/// Enough to read the header of any format, and to read small files as a whole.
constexpr std::uint64_t probe_bytes = 8u << 20;

/// What a file that could not be read within the budget holds. Where its reader was refused before it knew, it is
/// asked again with enough memory for headers.
GraphSize size_of_refused(const Format& format, const ReadJob& job) {
  GraphSize size;
  if (job.size) {
    size = *job.size;
  } else if (!job.sample.is_pipe) {
    Sample  sample = sample_of(job.path());
    ReadJob probe{.sample  = sample,
                  .options = job.options,
                  .context = {.budget    = std::make_shared<MemoryBudget>(probe_bytes),
                              .transform = job.options.transform,
                              .threads   = job.context.threads,
                              .progress  = job.context.progress},
                  .notes   = {}};
    try {
      const ReadResult result = format.read(probe);
      size                    = {.vertices      = result.csr.vertex_count(),
                                 .arcs          = result.csr.arc_count(),
                                 .weight_type   = result.weight_type,
                                 .symmetric     = result.symmetric,
                                 .estimated     = false,
                                 .loading_bytes = probe.context.budget->peak(),
                                 .held_bytes    = probe.context.budget->used()};
    } catch (const MemoryRefusal&) {
      if (probe.size) size = *probe.size;
    }
  }
  size.format = format.name;
  return size;
}

/// The same edges as a list: threads hold what they have read until all of it is put in order.
GraphSize as_list(GraphSize size, const ReadJob& job) {
  const bool          weighted = size.weight_type != WeightType::none;
  const std::uint64_t edges    = job.options.transform.undirected ? (size.arcs + 1) / 2 : size.arcs;
  size.held_bytes              = EdgeCollector::bytes_of(edges, weighted);
  if (size.loading_bytes > 0)
    size.loading_bytes = EdgeCollector::building_bytes(edges, size.vertices, weighted, job.context.threads) +
                         static_cast<unsigned>(job.context.threads) * chunk_bytes;
  return size;
}

}  // namespace

namespace {

/// A zip archive whose first member is no array of numpy's.
bool is_zip_of_others(std::string_view text) {
  constexpr std::size_t length_at = 26, name_at = 30;  // of the header before each member
  if (!text.starts_with("PK\x03\x04") || text.size() < name_at) return false;
  const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(text[i])}; };
  return !text.substr(name_at, byte(length_at) | byte(length_at + 1) << 8).ends_with(".npy");
}

void refuse_other_compression(const Sample& sample) {
  const std::string_view text = sample.text;
  const bool             bzip2 =
      text.starts_with("BZh") && text.substr(std::min<std::size_t>(4, text.size())).starts_with("1AY&SY");
  if (bzip2 || text.starts_with(std::string_view{"\xfd"
                                                 "7zXZ\0",
                                                 6}))
    throw bad_input("{}: the file is compressed with {}; gzip and zstd are read, others are to be unpacked first",
                    sample.path, bzip2 ? "bzip2" : "xz");
  const auto other_kind = [&]() -> const char* {
    constexpr std::size_t tar_at = 257;
    if (text.size() > tar_at + 5 && text.substr(tar_at, 5) == "ustar")
      return "a tar archive; unpack it first, and open the file that holds the graph";
    if (text.starts_with("PAR1")) return "a Parquet table; write the edges as CSV";
    if (text.starts_with("\x89HDF")) return "an HDF5 file; write the edges as CSV";
    if (text.starts_with("SQLite format 3")) return "an SQLite database; write the edges as CSV";
    return nullptr;
  };
  if (const char* kind = other_kind()) throw bad_input("{}: this is {}", sample.path, kind);
  if (!is_zip_of_others(text)) return;
  const std::string suffix = suffix_of(sample.path);
  if (is_any(suffix, {"xlsx", "xlsm", "ods"}))
    throw bad_input("{}: this is a workbook; save the sheet that holds the edges as CSV", sample.path);
  if (suffix != "npz")
    throw bad_input("{}: this is a zip archive; unpack it first (unzip), and open the file that holds the graph",
                    sample.path);
}

}  // namespace

namespace {

/// Other programs' formats that would pass for edge lists.
void refuse_other_formats(const std::string& path) {
  const std::string suffix = suffix_of(path);
  for (const char* other : {"lgl", "tgf", "gdf", "dot", "gv", "gml", "graphml", "gexf", "net"})
    if (suffix == other)
      throw bad_input(
          "{}: .{} is not read; write the graph as an edge list, or, if it is one, say --format edgelist", path,
          other);
}

}  // namespace

namespace {

/// Nine in ten sources are no smaller than the one before.
class Ascent {
 public:
  void add(std::uint64_t source) {
    ++count_;
    ascending_ += source >= last_;
    last_ = source;
  }
  bool          is_steady() const { return ascending_ * 10 >= count_ * 9; }
  std::uint64_t last() const { return last_; }

 private:
  std::uint64_t count_ = 0, ascending_ = 0, last_ = 0;
};

/// Of the edges at the start of a file.
struct Seen {
  Ascent        ascent = {};
  std::uint64_t edges = 0, greatest = 0;
  std::size_t   bytes = 0;  ///< of text that was looked at

  void add(std::uint64_t source, std::uint64_t target) {
    ++edges;
    ascent.add(source);
    greatest = std::max({greatest, source, target});
  }
};

/// Lines that begin with a number, or with a letter and one (DIMACS). Of names there is nothing to see.
Seen edges_in_lines(std::string_view text) {
  Seen seen{.bytes = text.size()};
  while (!text.empty()) {
    const std::size_t end  = std::min(text.find('\n'), text.size());
    std::string_view  line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("a ")) line.remove_prefix(2);
    std::uint64_t     source = 0, target = 0;
    const char* const last  = line.data() + line.size();
    const char*       after = std::from_chars(line.data(), last, source).ptr;
    if (after == line.data()) continue;
    while (after != last && (*after == ' ' || *after == '\t' || *after == ',' || *after == ';')) ++after;
    std::from_chars(after, last, target);
    seen.add(source, target);
  }
  return seen;
}

Seen edges_in_words(std::string_view bytes, std::size_t record) {
  Seen seen{.bytes = bytes.size()};
  for (; bytes.size() >= record; bytes.remove_prefix(record)) {
    std::uint32_t ends[2];
    std::memcpy(ends, bytes.data(), sizeof ends);
    seen.add(ends[0], ends[1]);
  }
  return seen;
}

}  // namespace

namespace {

/// Ids that were seen are those of all where edges are in any order. Where sources ascend there are as many times
/// more as the file has more bytes, but no more than ends.
double vertices_about(const Seen& seen, double edges) {
  const auto greatest = static_cast<double>(seen.greatest) + 1;
  if (!seen.ascent.is_steady() || seen.edges == 0) return greatest;
  const double scaled = (static_cast<double>(seen.ascent.last()) + 1) * edges / static_cast<double>(seen.edges);
  return std::clamp(scaled, greatest, std::max(greatest, 2 * edges));
}

}  // namespace

std::optional<ListSample> list_sample(const std::string& path, const LoadOptions& options) {
  const Sample sample = sample_of(path);
  if (sample.is_pipe || sample.text.empty() || sample.file_bytes == 0) return std::nullopt;
  const Format& format = options.format == "auto" ? recognised(sample) : format_named(options.format);
  if (!format.by_arcs || format.name == ldbc_format().name)
    return std::nullopt;          // whose edges are in another file
  constexpr double unpacked = 4;  // times the size, about
  const double     bytes    = static_cast<double>(sample.file_bytes) * (sample.compressed ? unpacked : 1);
  if (format.name == "graph500") {  // in the order of its generator
    constexpr double of_edge = 2 * sizeof(std::int64_t);
    return ListSample{.edges = bytes / of_edge, .vertices = bytes / of_edge};
  }
  const bool pairs  = format.name == pairs_format().name;
  const bool weighs = options.weight_type.value_or(WeightType::none) != WeightType::none;
  const auto record = (weighs ? 3 : 2) * sizeof(std::uint32_t);
  const Seen seen   = pairs ? edges_in_words(sample.text, record) : edges_in_lines(sample.text);
  if (seen.edges == 0) return std::nullopt;
  const double edges = bytes * static_cast<double>(seen.edges) / static_cast<double>(seen.bytes);
  return ListSample{
      .edges     = edges,
      .vertices  = options.vertices ? static_cast<double>(*options.vertices) : vertices_about(seen, edges),
      .ascending = seen.ascent.is_steady(),
      .text      = !pairs};
}

Graph open(const std::string& path, const LoadOptions& options) {
  return made_graph(read_graph(path, options, nullptr), path);
}

Graph made_graph(ReadGraph read, const std::string& path) {
  Graph::Parts parts;
  parts.out      = std::move(read.result.csr);
  parts.in       = std::move(read.result.in);
  parts.pages    = std::move(read.result.pages);
  parts.in_pages = std::move(read.result.in_pages);
  parts.split    = std::move(read.result.split);
  parts.edges    = std::move(read.result.edges);
  if (parts.edges) parts.out = {};
  parts.ids         = std::move(read.result.ids);
  parts.weight_type = read.result.weight_type;
  parts.symmetric   = read.result.symmetric;
  parts.trusted     = read.result.trusted;
  parts.name        = path;
  parts.budget      = std::move(read.budget);
  parts.report      = std::move(read.report);
  return Graph{std::move(parts)};
}

ReadGraph read_graph(const std::string& path, const LoadOptions& options, BuildOutside* outside) {
  if (path.empty()) throw usage_error("the name of the graph file is empty");
  Sample     sample       = sample_of(path);
  const bool may_be_empty = options.format == pairs_format().name && options.vertices;
  if (sample.text.empty() && sample.whole && !may_be_empty && !ldbc_format().recognises(sample))
    throw bad_input("{}: the file is empty; a graph was expected", path);
  refuse_other_compression(sample);
  if (options.format == "auto") refuse_other_formats(path);
  const Format& format = options.format == "auto" ? recognised(sample) : format_named(options.format);

  refuse_idle_options(format, options, path);

  ReadJob job{.sample  = sample,
              .options = options,
              .context = {.budget     = std::make_shared<MemoryBudget>(options.host_memory, options.temporary),
                          .transform  = options.transform,
                          .threads    = thread_count(options.threads),
                          .progress   = options.progress ? options.progress : &Progress::none(),
                          .directions = std::make_shared<Directions>(),
                          .outside    = outside,
                          .edges      = options.edges,
                          .edges_to   = options.edges_to,
                          .name       = path},
              .notes   = {}};
  if (options.edges) refuse_changes(options.transform, path);
  const Stopwatch clock;
  ReadResult      result = [&] {
    try {
      return format.read(job);
    } catch (const MemoryRefusal& refusal) {
      GraphSize size = size_of_refused(format, job);
      if (options.edges && format.by_arcs) size = as_list(std::move(size), job);
      // Rows of foreign files may have to be sorted, and --symmetrize holds both sides at once.
      const bool sorts = !format.is_edge_list && format.name != "spill";
      size.foreseen    = size.loading_bytes > 0 && !options.transform.symmetrize && !sorts;
      throw LoadRefusal{refusal, size};
    }
  }();
  check_unchanged(sample);
  note_doubled(result, job);
  settle_weights(result, options, path);

  LoadReport report{.format     = format.name,
                    .read_ms    = clock.milliseconds() - result.build_ms,
                    .build_ms   = result.build_ms,
                    .peak_bytes = job.context.budget->peak(),
                    .notes      = std::move(job.notes),
                    .list       = std::move(job.list)};
  return {std::move(result), std::move(report), job.context.budget};
}

const Format& format_to_write(const std::string& path, const std::string& name) {
  // Standard output has no suffix; what people pipe on is a list.
  const Format* format = name != "auto" ? &format_named(name) : path == "-" ? &format_named("edgelist") : nullptr;
  if (!format) {
    const std::string suffix = suffix_of(path);
    for (const Format& candidate : formats())
      if (candidate.write && has_suffix(candidate, suffix)) format = &candidate;
    if (!format)
      throw usage_error("{}: no format is written under this suffix; give the file one of: {}", path,
                        joined(written_suffixes()));
  }
  if (!format->write)
    throw usage_error("{}: format '{}' is read but not written; written are: {}", path, format->name,
                      joined(format_names(true)));
  const std::string lowered = lower_case(path);
  if (lowered.ends_with(".gz") || lowered.ends_with(".zst"))
    throw usage_error("{}: output is not compressed; write it plain and compress it afterwards", path);
  return *format;
}

std::vector<std::string> save(const Graph& graph, const std::string& path, const std::string& name,
                              Progress* progress) {
  const Format& format = format_to_write(path, name);
  OutputFile    file{path};
  auto          notes = write_graph(graph, format, file, progress ? *progress : Progress::none());
  file.commit();
  return notes;
}

std::vector<std::string> write_graph(const Graph& graph, const Format& format, OutputFile& file,
                                     Progress& progress) {
  std::vector<std::string> notes;
  if (graph.split() && format.name != "spill") {
    notes.push_back(
        fmt::format("the split graph is written: {} of its {} vertices and {} of its {} arcs are what vertices "
                    "were split into, "
                    "with ids behind the last{}; --split none writes the graph as it was",
                    with_commas(graph.split()->tree_vertices()), with_commas(graph.split()->vertex_count()),
                    with_commas(graph.split()->tree_arcs()), with_commas(graph.split()->arc_count()),
                    graph.weight_type() == WeightType::none ? "" : " and weights of 0"));
    try {
      format.write(transformed(graph), file, progress, notes);
    } catch (const Error& error) {
      if (error.code() != ExitCode::usage) throw;
      throw usage_error("the split graph cannot be written: {}; --split none writes the graph as it was",
                        error.what());
    }
  } else {
    format.write(graph, file, progress, notes);
  }
  check_mapped_files();
  return notes;
}

std::vector<std::string> companions_of(const std::string& path, const std::string& name) {
  std::vector<std::string> all;
  const std::string        suffix = suffix_of(path);
  for (const Format& format : formats()) {
    if (!format.companions || (name == "auto" ? !has_suffix(format, suffix) : format.name != name)) continue;
    const auto beside = format.companions(path);
    all.insert(all.end(), beside.begin(), beside.end());
  }
  return all;
}

namespace {

/// Of rows that are about to be built anew, which is more than what their header said.
GraphSize size_of_rebuilt(const Csr& csr, WeightType weight_type, bool undirected_file, const ReadJob& job) {
  const Transform& transform = job.context.transform;
  const EdgeIndex  arcs      = csr.arc_count() * (transform.undirected || transform.symmetrize ? 2 : 1);
  const bool       weighted  = weight_type != WeightType::none;
  return {.vertices      = csr.vertex_count(),
          .arcs          = arcs,
          .weight_type   = weight_type,
          .symmetric     = undirected_file || transform.undirected || transform.symmetrize,
          .loading_bytes = job.context.budget->used() + building_peak({.vertices = csr.vertex_count(),
                                                                       .arcs     = arcs,
                                                                       .weighted = weighted,
                                                                       .threads  = job.context.threads}),
          .held_bytes    = rows_bytes(csr.vertex_count(), arcs, weighted)};
}

}  // namespace

ReadResult from_rows(Csr csr, IdMap ids, WeightType weight_type, bool undirected_file, ReadJob& job) {
  ReadResult      result;
  const Stopwatch clock;
  const int       threads = job.context.threads;
  if (undirected_file)
    job.context.transform.undirected = job.context.transform.symmetrize = false;  // it is already
  check_indices(csr, weight_type, job.path(), threads);
  if (job.context.transform.any() || !rows_sorted(csr, weight_type, threads)) {
    job.size               = size_of_rebuilt(csr, weight_type, undirected_file, job);
    BuildContext in_memory = job.context;  // as the rows are already
    in_memory.outside      = nullptr;
    csr                    = rebuilt(csr, weight_type, in_memory);
  }
  result.csr         = std::move(csr);
  result.ids         = std::move(ids);
  result.weight_type = weight_type;
  result.symmetric   = undirected_file || job.context.transform.undirected || job.context.transform.symmetrize;
  result.build_ms    = clock.milliseconds();
  return result;
}

ReadResult from_collected(BuiltCsr built, std::optional<std::uint64_t> declared, std::uint64_t first_id,
                          WeightType weight_type, ReadJob& job) {
  const Transform& transform = job.context.transform;
  ReadResult       result;
  result.edges = std::move(built.edges);
  result.csr   = transform.symmetrize && !transform.dedup ? symmetrized(built.csr, weight_type, job.context)
                                                          : std::move(built.csr);
  if (declared) {
    result.ids = IdMap::consecutive(first_id);
  } else if (built.original_ids.empty()) {
    result.ids = IdMap::consecutive(built.first_id);
  } else {
    result.ids = IdMap::numbers(std::move(built.original_ids));
  }
  result.weight_type = weight_type;
  result.symmetric   = transform.undirected || transform.symmetrize;
  if (result.edges) result.edges->edges(job.context.threads);  // refuses weights that are none
  if (weight_type == WeightType::f32) check_weights(result.csr.weights.span(), job.path(), job.context.threads);
  return result;
}

void note_lost_ids(const Graph& graph, std::string_view format, std::uint64_t first,
                   std::vector<std::string>& notes) {
  const bool moved =
      graph.ids().first() != 0 && graph.ids().first() != first;  // counting from 0 is what files without ids do
  if (graph.ids().kind() != IdMap::Kind::consecutive || (moved && graph.vertex_count() > 0))
    notes.push_back(
        fmt::format("{} has no room for vertex ids: vertices are renumbered from {} in the order of their ids "
                    "(save the table with --id-map FILE)",
                    format, first));
}

}  // namespace spillway
