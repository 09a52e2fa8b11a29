// LDBC Graphalytics: NAME.v lists the vertices, one id a line, NAME.e the edges; NAME.properties may say
// whether they are directed. Ids are sparse 64-bit numbers; vertices without edges stand in NAME.v only.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "io/edge_lines.hpp"
#include "io/fields.hpp"
#include "io/text_forecast.hpp"
#include "io/token_stream.hpp"

namespace spillway {
namespace {

/// The path with its last letter (.e, .v) taken off, dot kept.
std::string stem_of(const std::string& path) { return path.substr(0, path.find_last_of('.') + 1); }

bool has_ldbc_suffix(const std::string& path) { return path.ends_with(".e") || path.ends_with(".v"); }

/// Reads NAME.v: one number a line. The text passes through a buffer, and the table is in the budget as it grows.
Array<std::uint64_t> read_vertices(const std::string& path, const ReadJob& edges_job) {
  Sample sample;
  sample.path                       = path;
  sample.file_bytes                 = file_size(open_for_reading(path), path);
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

/// NAME.properties: "graph.NAME.directed = false". Nothing where there is no such file or line.
std::optional<bool> directed_by_properties(const std::string& path) {
  constexpr std::uint64_t most_bytes = 1u << 20;
  if (!file_exists(path)) return std::nullopt;
  if (const std::uint64_t bytes = file_size(open_for_reading(path), path); bytes > most_bytes)
    throw bad_input("{}: {} are too large for a file of properties (at most {})", path, human_bytes(bytes),
                    human_bytes(most_bytes));
  std::istringstream text{read_whole(path)};
  const std::string  name = std::filesystem::path{path}.stem().string();
  for (std::string line; std::getline(text, line);) {
    const auto equals = line.find('=');
    if (equals == std::string::npos || line.find("graph." + name + ".directed") > equals) continue;
    const std::string value = lower_case(line.substr(equals + 1));
    if (value.find("true") != std::string::npos) return true;
    if (value.find("false") != std::string::npos) return false;
    throw bad_input("{}: expected 'directed = true' or 'false', found '{}'", path, printable(line, 60));
  }
  return std::nullopt;
}

unsigned columns_of_first_line(const Sample& sample) {
  std::vector<std::string> words;
  const auto               first = sample.text.find_first_not_of("\r\n");
  if (first == std::string::npos) return 2;
  split_fields(std::string_view{sample.text}.substr(first, sample.text.find('\n', first) - first), ' ', words);
  return static_cast<unsigned>(words.size());
}

ReadResult read_ldbc(ReadJob& job) {
  const std::string stem = stem_of(job.path());
  if (job.path().ends_with(".v"))
    throw bad_input("{}: this is the list of vertices; open {}e, the list of edges, and both are read", job.path(),
                    stem);
  const std::string vertices = stem + "v";
  if (!file_exists(vertices))
    throw bad_input("{}: expected the list of vertices beside it, {}", job.path(), vertices);
  if (directed_by_properties(stem + "properties") == false && !job.context.transform.symmetrize)
    job.context.transform.undirected = true;

  EdgeText edges;
  edges.ids              = IdKind::numbers;
  edges.layout.comments  = "#";
  edges.layout.columns   = columns_of_first_line(job.sample);
  edges.vertex_list_path = vertices;
  if (edges.layout.columns > 2 && job.options.weight_column != "none") {
    // Graphalytics states weights as doubles; whole ones may still be read as integers on request.
    edges.weight_type    = job.options.weight_type.value_or(WeightType::f32);
    edges.weights_stated = true;
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
  return read_edge_text(edges, job);
}

}  // namespace

Format ldbc_format() {
  return {
      .name        = "ldbc",
      .description = "LDBC Graphalytics: NAME.e with NAME.v (and NAME.properties) beside it",
      .suffixes    = {"e", "v"},
      .recognises  = [](const Sample& s) { return has_ldbc_suffix(s.path) && file_exists(stem_of(s.path) + "v"); },
      .read        = read_ldbc,
      .write       = {},
      .companions =
          [](const std::string& path) {
            return std::vector<std::string>{stem_of(path) + "v", stem_of(path) + "properties"};
          }};
}

}  // namespace spillway
