// LDBC Graphalytics: NAME.v lists the vertices, one id a line, NAME.e the edges; NAME.properties may say
// whether they are directed. Ids are sparse 64-bit numbers; vertices without edges stand in NAME.v only.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/csr.hpp"
#include "graph/symmetry.hpp"
#include "io/edge_lines.hpp"
#include "io/fields.hpp"
#include "io/reading.hpp"
#include "io/text_forecast.hpp"
#include "io/token_stream.hpp"

namespace spillway {
namespace {

/// The path with its last letter (.e, .v) taken off, dot kept.
std::string stem_of(const std::string& path) {
  const std::string plain = without_compression(path);
  return plain.substr(0, plain.find_last_of('.') + 1);
}

bool has_ldbc_suffix(const std::string& path) { return named_with(path, "e") || named_with(path, "v"); }

/// NAME.v, plain or compressed; the plain name where there is neither.
std::string vertex_file_of(const std::string& stem) {
  for (const char* suffix : {"v", "v.gz", "v.zst"})
    if (file_exists(stem + suffix)) return stem + suffix;
  return stem + "v";
}

/// Reads NAME.v: one number a line. The text passes through a buffer, and the table is in the budget as it grows.
Array<std::uint64_t> read_vertices(const std::string& path, const ReadJob& edges_job) {
  Sample                     sample = sample_of(path);
  const auto&                budget = edges_job.context.budget;
  const ReadJob              job{sample, edges_job.options, edges_job.context, {}};
  Charge                     charge{budget, "the table of vertex ids"};
  std::vector<std::uint64_t> ids;
  TokenStream                tokens{job};
  while (!tokens.skip_space()) {
    const std::string word{tokens.word()};
    const auto        id = parse_number(word);
    if (!id || !tokens.at_line_end())
      throw bad_input("{}:{}: expected one vertex id (a number), found '{}'", path, tokens.line(),
                      printable(id ? word + " ..." : word));
    if (ids.size() == ids.capacity()) {
      charge.raise_to((ids.capacity() * 3 + 1024) *
                      sizeof(std::uint64_t));  // the old table lives until it is copied
      ids.reserve(std::max<std::size_t>(ids.capacity() * 2, 1024));
    }
    ids.push_back(*id);
  }
  tokens.finish();
  std::sort(ids.begin(), ids.end());
  if (const auto twice = std::adjacent_find(ids.begin(), ids.end()); twice != ids.end())
    throw bad_input("{}: vertex {} is listed more than once", path, *twice);
  if (ids.size() > max_vertices)
    throw bad_input("{}: {} vertices: at most 2^32-1 are supported", path, ids.size());
  return make_array<std::uint64_t>(ids, budget, "the table of vertex ids");
}

/// As many ids as NAME.v has lines, and what reading it takes at most.
struct VertexFile {
  std::uint64_t lines = 0;

  explicit VertexFile(const std::string& path) {
    const auto        stream = open_stream(path);
    std::vector<char> buffer(1u << 20);
    while (const std::size_t got = stream->read(buffer.data(), buffer.size()))
      lines += static_cast<std::uint64_t>(
          std::count(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(got), '\n'));
    ++lines;  // the last may lack its newline
  }

  std::uint64_t table_bytes() const { return lines * sizeof(std::uint64_t); }
  /// A table that doubles, the old beside the new, and the copy that stays.
  std::uint64_t reading_bytes() const { return 4 * table_bytes() + (2u << 20); }
};

/// A line of a .properties file as key and value: separated by '=', ':' or blanks. Nothing in comments.
std::optional<std::pair<std::string, std::string>> property_of(std::string_view line) {
  const auto trimmed = [](std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
  };
  line = trimmed(line);
  if (line.empty() || line.front() == '#' || line.front() == '!') return std::nullopt;
  const std::size_t end   = std::min(line.find_first_of("=: \t"), line.size());
  std::string_view  value = trimmed(line.substr(end));
  if (!value.empty() && (value.front() == '=' || value.front() == ':')) value = trimmed(value.substr(1));
  return std::pair{std::string{line.substr(0, end)}, std::string{value}};
}

/// What NAME.properties says of the graph. Files may have been renamed: then the one graph that it is of is this
/// one, with a note.
struct GraphProperties {
  std::optional<bool>          directed;
  std::optional<std::uint64_t> vertices, edges;
  std::vector<std::string>     names;  ///< of the columns behind source and target
  std::string                  weight;
  std::string                  vertex_file;     ///< as it is named
  std::string                  direction_note;  ///< where `directed` is open
};

class PropertiesReader {
 public:
  PropertiesReader(std::string path, ReadJob& job) : path_(std::move(path)), job_(job) {}

  GraphProperties read() {
    constexpr std::uint64_t most_bytes = 1u << 20;
    if (!file_exists(path_)) {
      found_.direction_note = fmt::format("there is no {}: edges are read as arcs in one direction (--undirected)",
                                          std::filesystem::path{path_}.filename().string());
      return found_;
    }
    if (const std::uint64_t bytes = file_size(open_for_reading(path_), path_); bytes > most_bytes)
      throw bad_input("{}: {} are too large for a file of properties (at most {})", path_, human_bytes(bytes),
                      human_bytes(most_bytes));
    std::istringstream text{read_whole(path_)};
    for (std::string line; std::getline(text, line);)
      if (const auto property = property_of(line)) take(property->first, property->second, line);
    if (!found_.directed)
      found_.direction_note = fmt::format(
          "{} does not say whether edges are directed: they are read as arcs in one direction (--undirected)",
          path_);
    if (others_ && !ours_)
      job_.notes.push_back(fmt::format("{} is of a graph of another name, and says that it is {}", path_,
                                       found_.directed.value_or(true) ? "directed" : "undirected"));
    return found_;
  }

 private:
  void take(const std::string& key, const std::string& value, const std::string& line) {
    const std::string own       = "graph." + std::filesystem::path{path_}.stem().string() + ".";
    const auto        ends_with = [&](std::string_view end) {
      return key == own + std::string{end} || (key.starts_with("graph.") && key.ends_with("." + std::string{end}));
    };
    if (key == "directed" || ends_with("directed")) {
      const bool ours = key == "directed" || key == own + "directed";
      if (!ours && ours_) return;
      take_direction(ours, lower_case(value), line);
    }
    if (key == "vertex-file" || key == own + "vertex-file") found_.vertex_file = value;
    if (ends_with("meta.vertices")) found_.vertices = parse_number(value);
    if (ends_with("meta.edges")) found_.edges = parse_number(value);
    if (ends_with("sssp.weight-property")) found_.weight = value;
    if (ends_with("edge-properties.names")) split_fields(value, ',', found_.names);
  }

  void take_direction(bool ours, const std::string& word, const std::string& line) {
    if (word != "true" && word != "false")
      throw bad_input("{}: expected 'directed = true' or 'false', found '{}'", path_, printable(line, 60));
    const bool directed = word == "true", first_of_ours = ours && !ours_;
    if (!first_of_ours && found_.directed && *found_.directed != directed)
      throw bad_input("{}: the graph is said to be directed and not to be: '{}'", path_, printable(line, 60));
    found_.directed          = directed;
    (ours ? ours_ : others_) = true;
  }

  std::string     path_;
  ReadJob&        job_;
  GraphProperties found_;
  bool            ours_ = false, others_ = false;
};

/// The column of the weights, of those behind source and target: as the properties name it, or the first.
unsigned weight_column_of(const GraphProperties& properties, unsigned columns, ReadJob& job) {
  const std::string wanted = properties.weight.empty() ? "weight" : properties.weight;
  for (unsigned i = 0; i < properties.names.size() && i + 2 < columns; ++i)
    if (properties.names[i] == wanted) return i + 2;
  if (columns > 3)
    job.notes.push_back(
        fmt::format("lines have {} columns, and the third is read as the weights: no property says "
                    "which one (graph.NAME.sssp.weight-property)",
                    columns));
  return 2;
}

void check_stated(const std::string& path, const char* what, std::optional<std::uint64_t> stated,
                  std::uint64_t found) {
  if (stated && *stated != found)
    throw bad_input("{}: {} {} are stated, but {} are there", path, with_commas(*stated), what,
                    with_commas(found));
}

/// The list of vertices is the one beside the edges, whatever another is called.
void note_other_vertices(const GraphProperties& properties, const std::string& vertices, const std::string& path,
                         ReadJob& job) {
  const auto name_of = [](const std::string& file) { return std::filesystem::path{file}.filename().string(); };
  if (properties.vertex_file.empty() ||
      without_compression(name_of(properties.vertex_file)) == without_compression(name_of(vertices)))
    return;
  job.notes.push_back(
      fmt::format("vertices are read from {}, though {} names '{}' (rename the list that is meant to {})",
                  name_of(vertices), name_of(path), printable(properties.vertex_file), name_of(vertices)));
}

unsigned columns_of_first_line(const Sample& sample) {
  std::vector<std::string> words;
  const std::string_view   text = sample.text;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    split_fields(text.substr(begin, end - begin), ' ', words);
    if (!words.empty() && !words.front().starts_with('#')) return static_cast<unsigned>(words.size());
    begin = end + 1;
  }
  return 2;
}

ReadResult read_ldbc(ReadJob& job) {
  const std::string stem = stem_of(job.path());
  if (named_with(job.path(), "v"))
    throw bad_input("{}: this is the list of vertices; open {}e, the list of edges, and both are read", job.path(),
                    stem);
  const std::string vertices = vertex_file_of(stem);
  if (!file_exists(vertices))
    throw bad_input("{}: expected the list of vertices beside it, {}", job.path(), vertices);
  const GraphProperties properties = PropertiesReader{stem + "properties", job}.read();
  if (properties.directed == false) {
    job.context.transform.undirected = true;
    job.context.transform.symmetrize = false;  // it is then
    job.undirected_by =
        fmt::format("'directed = false' in {}", std::filesystem::path{stem + "properties"}.filename().string());
  }

  note_other_vertices(properties, vertices, stem + "properties", job);

  EdgeText edges;
  edges.ids              = IdKind::numbers;
  edges.layout.comments  = "#";
  edges.layout.columns   = columns_of_first_line(job.sample);
  edges.vertex_list_path = vertices;
  if (edges.layout.columns > 2 && job.options.weight_column != "none") {
    // Graphalytics states weights as doubles; whole ones may still be read as integers on request.
    edges.weight_type    = job.options.weight_type.value_or(WeightType::f32);
    edges.weights_stated = true;
    edges.layout.weight  = weight_column_of(properties, edges.layout.columns, job);
  }
  try {
    edges.vertex_list = read_vertices(vertices, job);
    edges.listed      = edges.vertex_list.size();
  } catch (const MemoryRefusal&) {
    const VertexFile file{vertices};
    edges.listed = file.lines;
    job.size     = forecast(edges, job);
    if (job.size)
      job.size->loading_bytes = std::max(file.reading_bytes(), file.table_bytes() + job.size->loading_bytes);
    throw;
  }
  check_stated(stem + "properties", "vertices", properties.vertices, *edges.listed);
  ReadResult result = read_edge_text(edges, job);
  check_stated(stem + "properties", "edges", properties.edges, edges.edges_read);
  const Transform& transform = job.context.transform;
  if (!properties.direction_note.empty() && !transform.undirected && !transform.symmetrize &&
      !lists_both_ways(result, job.context.threads).value_or(true))
    job.notes.push_back(properties.direction_note);
  return result;
}

}  // namespace

Format ldbc_format() {
  return {
      .name        = "ldbc",
      .description = "LDBC Graphalytics: NAME.e with NAME.v (and NAME.properties) beside it",
      .suffixes    = {"e", "v"},
      .by_arcs     = true,
      .recognises =
          [](const Sample& s) { return has_ldbc_suffix(s.path) && file_exists(vertex_file_of(stem_of(s.path))); },
      .read  = read_ldbc,
      .write = {},
      .companions =
          [](const std::string& path) {
            return std::vector<std::string>{vertex_file_of(stem_of(path)), stem_of(path) + "properties"};
          }};
}

}  // namespace spillway
