// Matrix Market coordinate files: entry (i,j) is the arc from i to j. Indices, and so ids, count from 1.
#include "base/fail.hpp"
#include "base/text.hpp"
#include "io/edge_lines.hpp"
#include "io/fields.hpp"
#include "io/reading.hpp"
#include "io/row_text.hpp"

namespace spillway {
namespace {

struct Banner {
  std::string field;     ///< pattern, integer or real
  std::string symmetry;  ///< general, symmetric or skew-symmetric
};

bool starts_with_banner(std::string_view text) { return lower_case(text.substr(0, 14)) == "%%matrixmarket"; }

void refuse_word(const std::string& path, const char* what, const std::string& word, const char* known) {
  throw bad_input("{}:1: Matrix Market {} '{}' is not a graph's; expected {}", path, what, printable(word), known);
}

Banner banner_of(const std::string& path, std::string_view line) {
  std::vector<std::string> words;
  split_fields(line, ' ', words);
  for (std::string& word : words) word = lower_case(word);
  if (words.size() < 5 || !starts_with_banner(line))
    throw bad_input("{}:1: expected the banner '%%MatrixMarket matrix coordinate FIELD SYMMETRY', found '{}'",
                    path, printable(line, 60));
  if (words[1] != "matrix") refuse_word(path, "object", words[1], "'matrix'");
  if (words[2] != "coordinate")
    refuse_word(path, "format", words[2], "'coordinate' (dense 'array' files are not read)");
  if (words[3] == "double") words[3] = "real";
  if (words[3] != "pattern" && words[3] != "integer" && words[3] != "real")
    refuse_word(path, "field", words[3], "pattern, integer or real");
  if (words[4] != "general" && words[4] != "symmetric" && words[4] != "skew-symmetric")
    refuse_word(path, "symmetry", words[4], "general, symmetric or skew-symmetric");
  if (words[3] == "pattern" && words[4] == "skew-symmetric")
    throw bad_input("{}:1: a pattern has no signs and cannot be skew-symmetric", path);
  return {words[3], words[4]};
}

struct SizeLine {
  std::uint64_t rows = 0, columns = 0, entries = 0;
  std::uint64_t line  = 0;  ///< its number
  std::uint64_t after = 0;  ///< byte at which the next line starts
};

SizeLine size_line_of(const Sample& sample) {
  const std::string_view text = sample.text;
  SizeLine               size;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t found = text.find('\n', begin);
    if (found == std::string_view::npos && !sample.whole) break;
    const std::size_t      end  = std::min(found, text.size());
    const std::string_view line = text.substr(begin, end - begin);
    ++size.line;
    begin = end + 1;
    std::vector<std::string> words;
    if (line.starts_with('%') || !split_fields(line, ' ', words) || words.empty()) continue;
    const auto numbers = [&](std::size_t i) { return i < words.size() ? parse_number(words[i]) : std::nullopt; };
    if (words.size() != 3 || !numbers(0) || !numbers(1) || !numbers(2))
      throw bad_input("{}:{}: expected the size line 'ROWS COLUMNS ENTRIES', found '{}'", sample.path, size.line,
                      printable(line, 60));
    size.rows    = *numbers(0);
    size.columns = *numbers(1);
    size.entries = *numbers(2);
    size.after   = std::min(begin, text.size());
    return size;
  }
  throw bad_input("{}: the size line 'ROWS COLUMNS ENTRIES' is missing{}", sample.path,
                  sample.whole ? "" : " from the first 256 KiB");
}

ReadResult read_matrix_market(ReadJob& job) {
  const std::string_view text   = job.sample.text;
  const Banner           banner = banner_of(job.path(), text.substr(0, text.find_first_of("\r\n")));
  const SizeLine         size   = size_line_of(job.sample);
  if (size.rows != size.columns)
    throw bad_input("{}:{}: the matrix is {} by {}; a graph's is square", job.path(), size.line, size.rows,
                    size.columns);
  if (size.rows > max_vertices)
    throw bad_input("{}:{}: {} vertices: at most 2^32-1 are supported", job.path(), size.line, size.rows);

  EdgeText edges;
  edges.layout.comments = "%";
  edges.start           = size.after;
  edges.vertices        = size.rows;
  edges.first_id        = 1;
  edges.edges           = size.entries;
  edges.edges_stated_by = fmt::format("line {}", size.line);
  if (banner.field != "pattern") {
    edges.layout.columns = 3;
    edges.weight_type    = banner.field == "integer" ? WeightType::u32 : WeightType::f32;
    if (job.options.weight_type) {
      edges.weight_type    = *job.options.weight_type;
      edges.weights_stated = true;
    }
    if (job.options.weight_column == "none") edges.weight_type = WeightType::none;
  } else if (job.options.weight_type && *job.options.weight_type != WeightType::none) {
    throw usage_error("{}: --weight-type asked for, but a pattern has no weights", job.path());
  }
  if (banner.symmetry == "symmetric") {
    job.context.transform.undirected = true;
    edges.layout.one_triangle        = true;
    job.undirected_by.clear();
  }
  if (banner.symmetry == "skew-symmetric") {
    edges.layout.negate_reverse = true;
    if (edges.weight_type == WeightType::u32) edges.weight_type = WeightType::f32;
  }
  ReadResult result = read_edge_text(edges, job);
  if (banner.symmetry == "general") note_directions(result, '%', job);
  return result;
}

void write_matrix_market(const Graph& graph, OutputFile& file, Progress& progress,
                         std::vector<std::string>& notes) {
  note_lost_ids(graph, "Matrix Market", 1, notes);
  const Csr&       csr   = graph.out();
  const WeightType type  = graph.weight_type();
  const char*      field = type == WeightType::none ? "pattern" : type == WeightType::u32 ? "integer" : "real";
  file.append(fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", field, csr.vertex_count(),
                          csr.vertex_count(), csr.arc_count()));
  write_arcs(graph, file, progress, [&](std::string& out, Vertex v, EdgeIndex i) {
    fmt::format_to(std::back_inserter(out), "{} {}", std::uint64_t{v} + 1, std::uint64_t{csr.targets[i]} + 1);
    if (type != WeightType::none) {
      out += ' ';
      append_weight(out, type, csr.weights[i]);
    }
    out += '\n';
  });
}

}  // namespace

Format matrix_market_format() {
  return {
      .name        = "mtx",
      .description = "Matrix Market coordinate: pattern, integer or real; general, symmetric or skew-symmetric",
      .suffixes    = {"mtx", "mm"},
      .has_magic   = true,
      .by_arcs     = true,
      .recognises  = [](const Sample& sample) { return starts_with_banner(sample.text); },
      .read        = read_matrix_market,
      .write       = write_matrix_market};
}

}  // namespace spillway
