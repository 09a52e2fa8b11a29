// Text edge lists: SNAP .txt, GAP .el/.wel, CSV and TSV, with or without header, comments and weights.
#include <algorithm>

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

/// Whole lines of the sample that are neither blank nor comments.
std::vector<SampleLine> lines_of(const Sample& sample) {
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
    if (first != std::string_view::npos && !is_comment(line.substr(first))) lines.push_back({line, begin});
    begin = end + 1;
  }
  return lines;
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

/// A tab separates names that may hold anything else; around numbers it is one blank among others.
char delimiter_of(std::string_view quoted) {
  std::string line;  // what stands in quotes separates nothing
  bool        inside = false;
  for (const char c : quoted) {
    if (c == '"') inside = !inside;
    line += inside ? '"' : c;
  }
  if (line.find('\t') != std::string::npos) {
    const Fields fields = fields_of(quoted, '\t');
    return fields.size() >= 2 && is_number(fields[0]) && is_number(fields[1]) ? ' ' : '\t';
  }
  for (const char c : {',', ';'})
    if (line.find(c) != std::string::npos) return c;
  return ' ';
}

bool is_any(const std::string& word, std::initializer_list<std::string_view> words) {
  const std::string lowered = lower_case(word);
  return std::any_of(words.begin(), words.end(), [&](std::string_view each) { return lowered == each; });
}

/// Words that hardly anything but a header says.
bool is_column_word(const std::string& word) {
  return is_any(
      word, {"source", "src", "sourceid", "source_id", "src_id", "fromnodeid", "from_id", ":start_id", "target",
             "dst", "dest", "destination", "targetid", "target_id", "dst_id", "tonodeid", "to_id", ":end_id"});
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
      : sample_(sample), options_(options), lines_(lines_of(sample)) {
    if (lines_.empty()) return;
    delimiter_ = states_own_banner() ? ' ' : delimiter_of(lines_[0].text);
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

  unsigned source() const { return source_; }
  unsigned target() const { return target_; }

  /// Source, target and weight must be three columns; a header that leaves that open is refused.
  void require_clear_columns() const {
    const auto weights = weight();
    if (clear_ && weights != source_ && weights != target_) return;
    throw bad_input("{}: the columns ({}) do not tell which are source and target; name them so in the header",
                    sample_.path, header_.empty() ? "no header" : joined(header_));
  }

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

  /// A whole number among the weights that a 32-bit float may not hold exactly.
  bool has_large_whole_weight(unsigned column) const {
    constexpr std::uint64_t exact_below = 1u << 24;
    for (std::size_t i = 0; first_ + i < lines_.size(); ++i) {
      const Fields fields = data(i);
      if (column < fields.size() && parse_number(fields[column]).value_or(0) > exact_below) return true;
    }
    return false;
  }

  bool quoted() const { return lines_[first_].text.find('"') != std::string_view::npos; }

  std::uint64_t start() const { return lines_[first_].offset; }

  /// Larger than indexing with the ids themselves could pay for.
  bool ids_are_sparse() const {
    std::uint64_t largest = 0;
    for (std::size_t i = first_; i < lines_.size(); ++i) {
      const Fields fields = data(i - first_);
      for (const unsigned column : {source(), target()})
        if (column < fields.size()) largest = std::max(largest, parse_number(fields[column]).value_or(0));
    }
    return largest >= sparse_from();
  }

  std::uint64_t sparse_from() const {
    return std::min(max_vertices, sparse_floor + sparse_factor * probable_edges());
  }

  bool states_own_banner() const { return sample_.text.starts_with(own_banner); }

  const Fields& header() const { return header_; }

 private:
  Fields data(std::size_t i) const { return fields_of(lines_[first_ + i].text, delimiter_); }

  void find_header() {
    const Fields top = fields_of(lines_[0].text, delimiter_);
    if (top.size() < 2 || options_.header == HeaderMode::absent || states_own_banner()) return;
    if (options_.header == HeaderMode::present || is_header(top)) {
      header_ = top;
      first_  = 1;
      place_columns();
      if (has_data() && !named() && delimiter_ == '\t' && header_.size() <= 3) delimiter_ = ' ';
    }
  }

  /// Words above numbers are a header. Words above names are one only if they say so: in any list by words that
  /// are nobody's name, in a table also as from,to and start,end.
  bool is_header(const Fields& top) const {
    if (is_number(top[0]) || is_number(top[1])) return false;
    if (lines_.size() > 1 && options_.ids != IdMode::string) {
      const Fields below = fields_of(lines_[1].text, delimiter_);
      if (below.size() >= 2 && is_number(below[0]) && is_number(below[1])) return true;
    }
    const bool both =
        std::any_of(top.begin(), top.end(), names_source) && std::any_of(top.begin(), top.end(), names_target);
    if (!both) return false;
    const auto sure = std::count_if(top.begin(), top.end(), is_column_word);
    return sure >= 2 || (delimiter_ != ' ' && !is_any(top[0], {"u", "v", "head", "tail"}));
  }

  /// By the header's words; what they leave open is filled in only where one choice remains.
  void place_columns() {
    const auto from = column_named(names_source), to = column_named(names_target),
               weights = column_named(names_weight);
    std::vector<unsigned> others;
    for (unsigned i = 0; i < header_.size(); ++i)
      if (i != from && i != to && i != weights) others.push_back(i);
    const auto is_other = [&](unsigned i) { return std::find(others.begin(), others.end(), i) != others.end(); };
    source_             = from.value_or(0);
    target_             = to.value_or(1);
    if (from && to) return;
    if (!from && !to && others.size() == 2) {
      source_ = others[0], target_ = others[1];
    } else if (!from && !to) {
      clear_ = is_other(0) && is_other(1);
    } else if (others.size() == 1) {
      (from ? target_ : source_) = others[0];
    } else {
      clear_ = from ? source_ == 0 && is_other(1) : target_ == 1 && is_other(0);
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
  unsigned                source_    = 0;
  unsigned                target_    = 1;
  bool                    clear_     = true;
  char                    delimiter_ = ' ';
};

/// "# Spillway edge list: vertices 5 first 0 weights f32" in the first line.
struct OwnBanner {
  std::optional<std::uint64_t> vertices;
  std::uint64_t                first   = 0;
  bool                         strings = false;
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
    if (words[i] == "ids") banner.strings = words[i + 1] == "strings";
    if (words[i] == "weights")
      banner.weights = words[i + 1] == "f32"   ? WeightType::f32
                       : words[i + 1] == "u32" ? WeightType::u32
                                               : WeightType::none;
  }
  if (banner.first > UINT64_MAX - max_vertices)
    throw bad_input("{}:1: the first id, {}, is too large", sample.path, banner.first);
  if (banner.vertices && *banner.vertices > max_vertices)
    throw bad_input("{}:1: {} vertices: at most 2^32-1 are supported", sample.path, *banner.vertices);
  return banner;
}

void settle_vertices(EdgeText& text, const OwnBanner& banner, const Inspection& inspection, const ReadJob& job) {
  const LoadOptions& options = job.options;
  if (options.vertices && (options.ids == IdMode::string || options.ids == IdMode::sparse))
    throw usage_error("--vertices states ids 0 to N-1, which --ids string and --ids sparse do not have");
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
  if (banner.strings || inspection.named()) {
    text.ids = IdKind::strings;
  } else if (inspection.ids_are_sparse()) {
    text.ids = IdKind::numbers;
  } else if (!job.sample.is_pipe) {
    text.id_limit = inspection.sparse_from();  // a lone large id later on is not worth a bitmap up to it
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
  text.layout.weight = *column;
  text.weight_type   = inspection.weight_type_at(*column);
  // Somebody may have added a column to a list that was written without weights.
  if (banner.weights && banner.weights != WeightType::none) {
    text.weight_type    = *banner.weights;
    text.weights_stated = true;
  }
  if (job.options.weight_type) text.weight_type = *job.options.weight_type, text.weights_stated = true;
  if (text.weight_type == WeightType::f32 && !text.weights_stated && inspection.has_large_whole_weight(*column))
    job.notes.emplace_back(rounding_note);
}

/// A list of no edges: nothing but comments, or a header line.
ReadResult no_edges(const EdgeText& text, ReadJob& job) {
  return with_collector(job.context, text.weight_type, [&](auto& collector) {
    const std::uint64_t vertices = text.vertices.value_or(0);
    return from_collected(std::move(collector).finish(vertices), vertices, text.first_id, text.weight_type, job);
  });
}

/// Line ends of old Macintosh files would make one line of all.
void refuse_bare_returns(const Sample& sample) {
  for (std::size_t at = sample.text.find('\r'); at != std::string::npos; at = sample.text.find('\r', at + 1))
    if (at + 1 < sample.text.size() && sample.text[at + 1] != '\n' && sample.text[at + 1] != '\r')
      throw bad_input("{}: byte {} is a carriage return inside a line; end lines with a newline (tr '\\r' '\\n')",
                      sample.path, at);
}

ReadResult read_edge_list(ReadJob& job) {
  if (const auto nul = job.sample.text.find('\0'); nul != std::string::npos)
    throw bad_input("{}: byte {} is 0: this is not text; name its format with --format", job.path(), nul);
  refuse_bare_returns(job.sample);
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
  inspection.require_clear_columns();
  text.hint             = "; if ids are names, say --ids string";
  text.layout.quoted    = inspection.quoted();
  text.start            = inspection.start();
  text.layout.delimiter = inspection.delimiter();
  text.layout.source    = inspection.source();
  text.layout.target    = inspection.target();
  text.layout.columns   = static_cast<unsigned>(inspection.columns());
  // A name may well start with '#': with names, comments stand only at the top.
  if (text.ids == IdKind::strings) text.layout.comments.clear();
  settle_weights(text, banner, inspection, job);

  if (text.ids == IdKind::strings && !inspection.header().empty() && job.options.header == HeaderMode::automatic)
    job.notes.push_back("the first line was taken as a header (--header no reads it as an edge)");

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
    const char* kind = ids.kind() == IdMap::Kind::strings ? "strings" : "numbers";
    file.append(fmt::format("{}: ids {} weights {}\n", own_banner, kind, weights));
  }
}

/// A table has no place to say that 007 is a name.
bool names_look_like_numbers(const Graph& graph) {
  if (graph.ids().kind() != IdMap::Kind::strings) return false;
  for (std::uint64_t v = 0; v < graph.vertex_count(); ++v)
    if (is_number(graph.ids().name(static_cast<Vertex>(v)))) return true;
  return false;
}

void write_edge_list(const Graph& graph, OutputFile& file, Progress& progress, std::vector<std::string>& notes) {
  const Csr&       csr       = graph.out();
  const IdMap&     ids       = graph.ids();
  const WeightType type      = graph.weight_type();
  const char       delimiter = delimiter_for(file.path());
  write_top(graph, file, delimiter);
  if (delimiter != ' ' && names_look_like_numbers(graph))
    notes.push_back("some names look like numbers; read the table back with --ids string");
  if (delimiter != ' ' || ids.kind() != IdMap::Kind::consecutive)
    if (const std::uint64_t isolated = isolated_count(graph); isolated > 0)
      notes.push_back(fmt::format("{} left out of the edge list, which has no place for vertices without edges",
                                  counted(isolated, "isolated vertex", "isolated vertices")));
  write_arcs(graph, file, progress, [&](std::string& out, Vertex v, EdgeIndex i) {
    append_id(out, ids, v);
    out += delimiter;
    append_id(out, ids, csr.targets[i]);
    if (type != WeightType::none) {
      out += delimiter;
      append_weight(out, type, csr.weights[i]);
    }
    out += '\n';
  });
}

}  // namespace

Format edge_list_format() {
  return {
      .name         = "edgelist",
      .description  = "text, one edge a line: space, tab, comma or semicolon; # and % comments; optional header",
      .suffixes     = {"txt", "el", "wel", "edges", "edgelist", "csv", "tsv", "snap"},
      .is_loose     = true,
      .is_edge_list = true,
      .recognises =
          [](const Sample& sample) {
            return Inspection{sample, {}}.looks_like_edges();
          },
      .read  = read_edge_list,
      .write = write_edge_list};
}

}  // namespace spillway
