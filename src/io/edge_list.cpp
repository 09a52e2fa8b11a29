// Text edge lists: SNAP .txt, GAP .el/.wel, CSV and TSV, with or without header, comments and weights.
#include <algorithm>
#include <array>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/csr.hpp"
#include "io/edge_lines.hpp"
#include "io/row_text.hpp"

namespace spillway {
namespace {

// The first line of the lists Spillway writes: what a plain list cannot say, so that reading gives the same graph.
constexpr std::string_view own_banner = "# Spillway edge list";

// Beyond this many ids for each edge the file probably holds, numbers are looked up rather than indexed with.
constexpr std::uint64_t sparse_factor = 16;
constexpr std::uint64_t sparse_floor  = 1u << 20;

/// One line of the sample.
struct SampleLine {
  std::string_view text;
  std::uint64_t    offset;
};

bool is_comment(std::string_view line) { return line.starts_with('#') || line.starts_with('%'); }

/// Whole lines of the sample that are not blank; comments among them only if asked for.
std::vector<SampleLine> lines_of(const Sample& sample, bool comments) {
  std::vector<SampleLine> lines;
  const std::string_view  text = sample.text;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) {
      if (!sample.whole && !lines.empty()) break;  // cut off in the middle
      end = text.size();
    }
    std::string_view line = text.substr(begin, end - begin);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t'))
      line.remove_suffix(1);
    const auto first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && is_comment(line.substr(first)) == comments)
      lines.push_back({line, begin});
    begin = end + 1;
  }
  return lines;
}

char delimiter_of(std::string_view line) {
  for (const char c : {',', ';'})
    if (line.find(c) != std::string_view::npos) return c;
  return ' ';
}

using Fields = std::vector<std::string>;

Fields fields_of(std::string_view line, char delimiter) {
  Fields fields;
  if (!split_fields(line, delimiter, fields)) fields.clear();
  return fields;
}

bool is_number(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_any(const std::string& word, std::initializer_list<std::string_view> words) {
  const std::string lowered = lower_case(word);
  return std::any_of(words.begin(), words.end(), [&](std::string_view each) { return lowered == each; });
}

bool names_source(const std::string& word) {
  return is_any(word, {"source", "src", "from", "u", "fromnodeid", "sourceid", "source_id", "src_id", "from_id",
                       "start", "start_id", ":start_id", "node1", "head"});
}
bool names_target(const std::string& word) {
  return is_any(word, {"target", "dst", "dest", "destination", "to", "v", "tonodeid", "targetid", "target_id",
                       "dst_id", "to_id", "end", "end_id", ":end_id", "node2", "tail"});
}
bool names_weight(const std::string& word) {
  return is_any(word, {"weight", "w", "cost", "distance", "dist", "length", "capacity", "value"});
}

/// What can be told of an edge list from its first lines.
class Inspection {
 public:
  Inspection(const Sample& sample, const LoadOptions& options)
      : sample_(sample), options_(options), lines_(lines_of(sample, /*comments=*/false)) {
    if (lines_.empty()) return;
    delimiter_ = delimiter_of(lines_[0].text);
    find_header();
  }

  bool        has_data() const { return first_ < lines_.size(); }
  std::size_t columns() const { return data(0).size(); }
  char        delimiter() const { return delimiter_; }

  /// Text with at least two columns, and where ids are names, as many in every line: prose is not an edge list.
  bool looks_like_edges() const {
    if (sample_.text.find('\0') != std::string::npos) return false;
    if (!has_data()) return !header_.empty() || states_own_banner();
    if (columns() < 2) return false;
    if (!named()) return true;
    const std::size_t shown = std::min<std::size_t>(lines_.size() - first_, 100);
    for (std::size_t i = 0; i < shown; ++i)
      if (data(i).size() != columns()) return false;
    return columns() <= 8;
  }

  /// True when the ids of the first data line are not numbers.
  bool named() const {
    const Fields fields = data(0);
    return fields.size() > std::max(source(), target()) &&
           !(is_number(fields[source()]) && is_number(fields[target()]));
  }

  unsigned source() const { return column_named(names_source).value_or(0); }
  unsigned target() const { return column_named(names_target).value_or(1); }

  /// Where weights are: as asked for, by the header, or the third of exactly three columns.
  std::optional<unsigned> weight() const {
    const std::string& asked = options_.weight_column;
    if (asked == "none" || options_.weight_type == WeightType::none) return std::nullopt;
    if (const auto position = parse_number(asked)) {
      if (*position < 1 || *position > columns())
        throw usage_error("{}: --weight-column {} asked for, but lines have {} columns", sample_.path, asked,
                          columns());
      return static_cast<unsigned>(*position - 1);
    }
    if (!asked.empty()) {
      for (unsigned i = 0; i < header_.size(); ++i)
        if (header_[i] == asked) return i;
      throw usage_error("{}: no column is named '{}'{}", sample_.path, printable(asked),
                        header_.empty() ? std::string{"; the file has no header line"}
                                        : fmt::format("; the header has: {}", joined(header_)));
    }
    if (!header_.empty()) return column_named(names_weight);
    if (columns() == 3) return 2;
    if (options_.weight_type && columns() > 3) return 2;
    return std::nullopt;
  }

  WeightType weight_type_at(unsigned column) const {
    const std::size_t shown = std::min<std::size_t>(lines_.size() - first_, 1000);
    for (std::size_t i = 0; i < shown; ++i) {
      const Fields fields = data(i);
      if (column < fields.size() && !is_number(fields[column])) return WeightType::f32;
    }
    return WeightType::u32;
  }

  std::uint64_t start() const { return lines_[first_].offset; }

  /// Larger than indexing with the ids themselves could pay for.
  bool ids_are_sparse() const {
    std::uint64_t largest = 0;
    for (std::size_t i = first_; i < lines_.size(); ++i) {
      const Fields fields = data(i - first_);
      for (const unsigned column : {source(), target()})
        if (column < fields.size()) largest = std::max(largest, parse_number(fields[column]).value_or(0));
    }
    return largest >= max_vertices || largest > sparse_floor + sparse_factor * probable_edges();
  }

  bool states_own_banner() const { return sample_.text.starts_with(own_banner); }

  const Fields& header() const { return header_; }

 private:
  Fields data(std::size_t i) const { return fields_of(lines_[first_ + i].text, delimiter_); }

  void find_header() {
    const Fields top = fields_of(lines_[0].text, delimiter_);
    if (top.size() < 2 || options_.header == HeaderMode::absent) return;
    const bool words = !is_number(top[0]) && !is_number(top[1]);
    const bool named_top =
        std::any_of(top.begin(), top.end(), names_source) && std::any_of(top.begin(), top.end(), names_target);
    bool numbers_below = false;
    if (lines_.size() > 1) {
      const Fields below = fields_of(lines_[1].text, delimiter_);
      numbers_below      = below.size() >= 2 && is_number(below[0]) && is_number(below[1]);
    }
    // With names below, a first line of names is a header only if it says so.
    if (options_.header == HeaderMode::present ||
        (words && (named_top || (numbers_below && options_.ids != IdMode::string)))) {
      header_ = top;
      first_  = 1;
    }
  }

  template <class Names>
  std::optional<unsigned> column_named(Names&& names) const {
    for (unsigned i = 0; i < header_.size(); ++i)
      if (names(header_[i])) return i;
    return std::nullopt;
  }

  std::uint64_t probable_edges() const {
    const std::uint64_t bytes = std::max<std::uint64_t>(sample_.file_bytes, sample_.text.size());
    return bytes * lines_.size() / std::max<std::uint64_t>(sample_.text.size(), 1);
  }

  const Sample&           sample_;
  const LoadOptions&      options_;
  std::vector<SampleLine> lines_;
  Fields                  header_;
  std::size_t             first_     = 0;
  char                    delimiter_ = ' ';
};

/// "# Spillway edge list: vertices 5 first 0 weights f32" in the first line.
struct OwnBanner {
  std::optional<std::uint64_t> vertices;
  std::uint64_t                first = 0;
  std::optional<WeightType>    weights;
};

OwnBanner own_banner_of(const Sample& sample) {
  OwnBanner banner;
  if (!sample.text.starts_with(own_banner)) return banner;
  const std::string_view line  = std::string_view{sample.text}.substr(0, sample.text.find('\n'));
  const Fields           words = fields_of(line, ' ');
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "vertices") banner.vertices = parse_number(words[i + 1]);
    if (words[i] == "first") banner.first = parse_number(words[i + 1]).value_or(0);
    if (words[i] == "weights")
      banner.weights = words[i + 1] == "f32"   ? WeightType::f32
                       : words[i + 1] == "u32" ? WeightType::u32
                                               : WeightType::none;
  }
  if (banner.vertices && *banner.vertices > max_vertices)
    throw bad_input("{}:1: {} vertices: at most 2^32-1 are supported", sample.path, *banner.vertices);
  return banner;
}

void settle_vertices(EdgeText& text, const OwnBanner& banner, const Inspection& inspection, const ReadJob& job) {
  const LoadOptions& options = job.options;
  if (options.vertices) {
    if (*options.vertices > max_vertices)
      throw usage_error("--vertices {}: at most 2^32-1 vertices are supported", *options.vertices);
    text.vertices = options.vertices;
    return;
  }
  if (banner.vertices && options.ids == IdMode::automatic) {
    text.vertices = banner.vertices;
    text.first_id = banner.first;
    return;
  }
  switch (options.ids) {
    case IdMode::dense:
      text.dense = true;
      return;
    case IdMode::sparse:
      text.ids = IdKind::numbers;
      return;
    case IdMode::string:
      text.ids = IdKind::strings;
      return;
    case IdMode::automatic:
      break;
  }
  if (!inspection.has_data()) return;
  if (inspection.named()) {
    text.ids = IdKind::strings;
  } else if (inspection.ids_are_sparse()) {
    text.ids = IdKind::numbers;
  }
}

void settle_weights(EdgeText& text, const OwnBanner& banner, const Inspection& inspection, ReadJob& job) {
  const auto column = inspection.weight();
  if (!column) {
    if (job.options.weight_type && *job.options.weight_type != WeightType::none)
      throw usage_error("{}: --weight-type {} asked for, but lines have no weight column", job.path(),
                        to_string(*job.options.weight_type));
    if (inspection.columns() > 2 && job.options.weight_column.empty() && !job.options.weight_type)
      job.notes.push_back(
          fmt::format("lines have {} columns; those past the ids are ignored (--weight-column N reads one "
                      "as weights)",
                      inspection.columns()));
    return;
  }
  text.layout.weight  = *column;
  text.weight_type    = banner.weights.value_or(inspection.weight_type_at(*column));
  text.weights_stated = banner.weights.has_value();
  if (job.options.weight_type) text.weight_type = *job.options.weight_type, text.weights_stated = true;
}

/// A list of no edges: nothing but comments, or a header line.
ReadResult no_edges(const EdgeText& text, ReadJob& job) {
  return with_collector(job.context, text.weight_type, [&](auto& collector) {
    const std::uint64_t vertices = text.vertices.value_or(0);
    return from_collected(std::move(collector).finish(vertices), vertices, text.first_id, text.weight_type, job);
  });
}

ReadResult read_edge_list(ReadJob& job) {
  if (const auto nul = job.sample.text.find('\0'); nul != std::string::npos)
    throw bad_input("{}: byte {} is 0: this is not text; name its format with --format", job.path(), nul);
  const Inspection inspection{job.sample, job.options};
  const OwnBanner  banner = own_banner_of(job.sample);
  EdgeText         text;
  settle_vertices(text, banner, inspection, job);
  if (!inspection.has_data()) {
    if (job.sample.whole) return no_edges(text, job);
    throw bad_input("{}: no edge in the first {} KiB", job.path(), sample_bytes >> 10);
  }
  if (inspection.columns() < 2)
    throw bad_input("{}: expected at least two columns, source and target, in the first line of data", job.path());
  text.start            = inspection.start();
  text.layout.delimiter = inspection.delimiter();
  text.layout.source    = inspection.source();
  text.layout.target    = inspection.target();
  text.layout.columns   = static_cast<unsigned>(inspection.columns());
  // A name may well start with '#': with names, comments stand only at the top.
  if (text.ids == IdKind::strings) text.layout.comments.clear();
  settle_weights(text, banner, inspection, job);

  ReadResult result = read_edge_text(text, job);
  if (result.ids.kind() == IdMap::Kind::numbers && job.options.ids == IdMode::automatic)
    job.notes.push_back(
        fmt::format("ids have gaps: the {} that appear are the vertices (--ids dense or --vertices N "
                    "would add the others as isolated ones)",
                    with_commas(result.csr.vertex_count())));
  return result;
}

bool needs_quotes(std::string_view name) {
  return name.empty() || name.find_first_of(" \t\r\n\",;") != std::string_view::npos || name.front() == '#' ||
         name.front() == '%';
}

void append_id(std::string& out, const IdMap& ids, Vertex v) {
  if (ids.kind() != IdMap::Kind::strings || !needs_quotes(ids.string(v))) return ids.append_name(out, v);
  out += '"';
  for (const char c : ids.string(v)) {
    out += c;
    if (c == '"') out += '"';
  }
  out += '"';
}

std::uint64_t isolated_count(const Graph& graph) {
  const GraphStatistics counts = statistics(graph, thread_count(), Progress::none());
  return counts.isolated;
}

char delimiter_for(const std::string& path) {
  const std::string lowered = lower_case(path);
  return lowered.ends_with(".csv") ? ',' : lowered.ends_with(".tsv") ? '\t' : ' ';
}

/// Tables get a header line that every other tool understands; lists say in a comment what they cannot show.
void write_top(const Graph& graph, OutputFile& file, char delimiter) {
  const IdMap&           ids     = graph.ids();
  const std::string_view weights = to_string(graph.weight_type());
  if (delimiter != ' ') {
    file.append(fmt::format("source{0}target{1}\n", delimiter,
                            graph.weight_type() == WeightType::none ? "" : fmt::format("{}weight", delimiter)));
  } else if (ids.kind() == IdMap::Kind::consecutive) {
    file.append(fmt::format("{}: vertices {} first {} weights {}\n", own_banner, graph.vertex_count(), ids.first(),
                            weights));
  } else {
    file.append(fmt::format("{}: weights {}\n", own_banner, weights));
  }
}

void write_edge_list(const Graph& graph, OutputFile& file, Progress& progress, std::vector<std::string>& notes) {
  const Csr&       csr       = graph.out();
  const IdMap&     ids       = graph.ids();
  const WeightType type      = graph.weight_type();
  const char       delimiter = delimiter_for(file.path());
  write_top(graph, file, delimiter);
  if (delimiter != ' ' || ids.kind() != IdMap::Kind::consecutive)
    if (const std::uint64_t isolated = isolated_count(graph); isolated > 0)
      notes.push_back(fmt::format("{} isolated vertices are not in the edge list, which has no place for them",
                                  with_commas(isolated)));
  write_rows(graph, file, progress, [&](std::string& out, Vertex v) {
    for (EdgeIndex i = csr.offsets[v]; i < csr.offsets[v + 1]; ++i) {
      append_id(out, ids, v);
      out += delimiter;
      append_id(out, ids, csr.targets[i]);
      if (type != WeightType::none) {
        out += delimiter;
        append_weight(out, type, csr.weights[i]);
      }
      out += '\n';
    }
  });
}

}  // namespace

Format edge_list_format() {
  return {
      .name         = "edgelist",
      .description  = "text, one edge a line: space, tab, comma or semicolon; # and % comments; optional header",
      .suffixes     = {"txt", "el", "wel", "edges", "edgelist", "csv", "tsv", "snap"},
      .is_edge_list = true,
      .recognises =
          [](const Sample& sample) {
            return Inspection{sample, {}}.looks_like_edges();
          },
      .read  = read_edge_list,
      .write = write_edge_list};
}

}  // namespace spillway
