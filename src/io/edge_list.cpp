// Text edge lists: SNAP .txt, GAP .el/.wel, CSV and TSV, with or without header, comments and weights.
#include <algorithm>
#include <sstream>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/csr.hpp"
#include "graph/symmetry.hpp"
#include "io/edge_guesses.hpp"
#include "io/edge_inspection.hpp"
#include "io/fields.hpp"
#include "io/line_parsers.hpp"
#include "io/reading.hpp"
#include "io/row_text.hpp"

namespace spillway {
namespace {

/// "# Spillway edge list: vertices 5 first 0 weights f32" in the first line.
struct OwnBanner {
  std::optional<std::uint64_t> vertices, arcs;
  std::uint64_t                first   = 0;
  bool                         strings = false;
  std::optional<WeightType>    weights;
};

OwnBanner own_banner_of(const Sample& sample) {
  OwnBanner banner;
  if (!sample.text.starts_with(own_banner)) return banner;
  const std::string_view line = std::string_view{sample.text}.substr(0, sample.text.find('\n'));
  Fields                 words;
  split_fields(line, ' ', words);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "vertices") banner.vertices = parse_number(words[i + 1]);
    if (words[i] == "arcs") banner.arcs = parse_number(words[i + 1]);
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

void settle_vertices(EdgeText& text, const OwnBanner& banner, const EdgeInspection& inspection,
                     const ReadJob& job) {
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
  if (banner.strings) text.ids = IdKind::strings;
  if (banner.strings || !inspection.has_data()) return;
  inspection.require_usable_ids();
  text.names_if_zeros = true;
  if (const auto name = inspection.names_because()) {
    text.ids             = IdKind::strings;
    text.first_name      = name->text;
    text.first_name_line = name->line;
  } else if (inspection.ids_are_sparse()) {
    text.ids = IdKind::numbers;
  } else if (!job.sample.is_pipe) {
    text.id_limit = inspection.sparse_from();  // a lone large id later on is not worth a bitmap up to it
  }
}

void settle_weights(EdgeText& text, const OwnBanner& banner, const EdgeInspection& inspection,
                    const ReadJob& job) {
  const auto column = inspection.weight();
  if (!column) {
    if (job.options.weight_type && *job.options.weight_type != WeightType::none)
      throw usage_error("{}: --weight-type {} asked for, but lines have no weight column", job.path(),
                        to_string(*job.options.weight_type));
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
}

/// Columns and separators, once they are known.
void settle_layout(EdgeText& text, const EdgeInspection& inspection) {
  EdgeLayout& layout = text.layout;
  layout.quoted      = inspection.quoted();
  layout.delimiter   = inspection.separator().by;
  layout.also        = inspection.separator().also;
  layout.source      = inspection.source();
  layout.target      = inspection.target();
  layout.columns     = static_cast<unsigned>(inspection.columns());
  text.start         = inspection.start();
  if (inspection.weight_is_a_guess())
    text.weight_hint =
        fmt::format("; if column {} holds no weights, say --weight-column none", *inspection.weight() + 1);
  text.hint = "; if ids are names, say --ids string, and --header yes if the first line names columns";
  // A name may well start with '#': with names, comments stand only at the top. Among numbers that are read as
  // names they stand anywhere.
  if (text.ids == IdKind::strings && !is_digits(text.first_name)) layout.comments.clear();
  // Around numbers a tab is a blank like others, and numbers in order have a faster reader.
  const auto weights   = inspection.weight();
  const bool in_order  = layout.source == 0 && layout.target == 1 && (!weights || *weights == 2);
  text.names_delimiter = layout.delimiter;
  // Where columns are named, one between tabs may be empty.
  const std::string first = inspection.first_text();
  // Where the top line has tabs and does not begin with one, another that does lacks its first column, an id.
  const std::string top = inspection.header().empty() ? first : inspection.header_text();
  text.tabs_first       = top.find('\t') == std::string::npos || top.front() == '\t' || layout.ragged ||
                    (layout.source != 0 && layout.target != 0);
  if (layout.ragged && layout.delimiter == ' ' && !layout.also && first.find('\t') != std::string::npos &&
      first.find(' ') == std::string::npos)
    layout.delimiter = text.names_delimiter = '\t';
  if (layout.delimiter == '\t' && text.ids != IdKind::strings && in_order && !layout.ragged &&
      !inspection.keeps_tabs())
    layout.delimiter = ' ';
}

std::string separator_name(Separator separator) {
  const auto name = [](char c) {
    return c == ',' ? "comma" : c == ';' ? "semicolon" : c == '|' ? "bar" : c == '\t' ? "tab" : "blanks";
  };
  return separator.also ? fmt::format("blanks and {}", name(separator.also)) : name(separator.by);
}

/// What was made of the text, for those who want to know.
ListLayout list_layout(const EdgeText& text, const EdgeInspection& inspection) {
  ListLayout layout;
  layout.separator     = separator_name(inspection.separator());
  layout.header        = inspection.header();
  layout.columns       = static_cast<unsigned>(inspection.columns());
  layout.source_column = inspection.source() + 1;
  layout.target_column = inspection.target() + 1;
  layout.weight_column = text.weight_type == WeightType::none ? 0 : text.layout.weight + 1;
  layout.names         = text.ids == IdKind::strings;
  return layout;
}

/// A list of no edges: nothing but comments, or a header line.
ReadResult no_edges(const EdgeText& text, ReadJob& job) {
  return with_input_collector(job.context, text.weight_type, [&](auto& collector) {
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

/// Names may start with # and %, but lines at the top that do are comments: who has such names should know.
void note_comments_like_edges(EdgeText& text, const EdgeInspection& inspection, ReadJob& job) {
  if (inspection.states_own_banner()) return;
  const bool               names = text.ids == IdKind::strings, blanks = text.layout.delimiter == ' ';
  std::vector<std::string> fields;
  std::istringstream       top{job.sample.text.substr(0, text.start)};
  for (std::string line; std::getline(top, line);) {
    if (!line.starts_with('#') && !line.starts_with('%')) continue;
    if (line.ends_with('\r')) line.pop_back();
    if (!split_fields(line, text.layout.delimiter, fields, text.layout.also)) continue;
    if (fields.size() != inspection.columns() || (fields[0].size() < 2 && (blanks || !names))) continue;
    if (!names && !has_edge_shape(line)) continue;
    text.comments_like_edges.push_back(line);
  }
  const auto& found = text.comments_like_edges;
  if (found.empty()) return;
  const std::string more = found.size() > 1 ? fmt::format(" and {} more like it", found.size() - 1) : "";
  job.notes.push_back(
      fmt::format("the line '{}' at the top{} {}, since {} with {} (put a name that starts so into "
                  "quotes)",
                  printable(found.front()), more, more.empty() ? "is a comment" : "are comments",
                  more.empty() ? "it starts" : "they start", found.front()[0]));
}

ReadResult read_edge_list(ReadJob& job) {
  using namespace std::string_view_literals;
  if (job.sample.text.starts_with("\xff\xfe\0\0"sv) || job.sample.text.starts_with("\0\0\xfe\xff"sv))
    throw bad_input("{}: the text is UTF-32; convert it with iconv -f UTF-32 -t UTF-8", job.path());
  if (job.sample.text.starts_with("\xff\xfe") || job.sample.text.starts_with("\xfe\xff"))
    throw bad_input("{}: the text is UTF-16; convert it with iconv -f UTF-16 -t UTF-8", job.path());
  if (const auto nul = job.sample.text.find('\0'); nul != std::string::npos)
    throw bad_input("{}: byte {} is 0: this is not text; name its format with --format", job.path(), nul);
  refuse_bare_returns(job.sample);
  EdgeInspection  inspection{job.sample, job.options};
  const OwnBanner banner = own_banner_of(job.sample);
  EdgeText        text;
  if (!inspection.has_data()) {
    settle_vertices(text, banner, inspection, job);
    if (job.sample.whole) {
      if (banner.arcs.value_or(0) > 0)
        job.notes.push_back(fmt::format("line 1 says {} arcs, but no edge follows", with_commas(*banner.arcs)));
      if (!inspection.states_own_banner())
        job.notes.emplace_back(
            "the list has no edges: its lines are comments (they start with # or %) or a header");
      return no_edges(text, job);
    }
    throw bad_input("{}: no edge in the first {} KiB", job.path(), sample_bytes >> 10);
  }
  if (inspection.columns() < 2)
    throw bad_input(
        "{}:{}: expected at least two columns, source and target, in the first line of data; columns are "
        "separated "
        "by blanks, tabs, commas, semicolons or |, and a quote is closed in the same line",
        job.path(), inspection.first_line());
  inspection.place_columns();
  settle_vertices(text, banner, inspection, job);
  text.layout.ragged = !job.options.source_column.empty() && !job.options.target_column.empty();
  settle_layout(text, inspection);
  if (!inspection.header().empty()) {
    text.header_source = lower_case(inspection.header()[inspection.source()]);
    text.header_target = lower_case(inspection.header()[inspection.target()]);
  }
  settle_weights(text, banner, inspection, job);
  note_comments_like_edges(text, inspection, job);

  ReadResult result = read_edge_text(text, job);
  if (result.ids.kind() == IdMap::Kind::numbers && job.options.ids == IdMode::automatic)
    job.notes.push_back(
        fmt::format("ids have gaps: the {} that appear are the vertices (--ids dense or --vertices N "
                    "would add the others as isolated ones)",
                    with_commas(result.csr.vertex_count())));
  if (banner.weights == WeightType::none && text.weight_type != WeightType::none)
    job.notes.push_back(
        fmt::format("line 1 says that there are no weights, but column {} is read as such "
                    "(--weight-column none ignores it)",
                    text.layout.weight + 1));
  if (banner.arcs && *banner.arcs != text.edges_read)
    job.notes.push_back(fmt::format("line 1 says {} arcs, but {} lines are edges; the graph has {}",
                                    with_commas(*banner.arcs), with_commas(text.edges_read),
                                    counted(result.csr.vertex_count(), "vertex", "vertices")));
  job.list = list_layout(text, inspection);
  tell_guesses(text, inspection, result, job);
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
    file.append(fmt::format("{}: vertices {} arcs {} first {} weights {}\n", own_banner, graph.vertex_count(),
                            graph.arc_count(), ids.first(), weights));
  } else {
    const char* kind = ids.kind() == IdMap::Kind::strings ? "strings" : "numbers";
    file.append(fmt::format("{}: ids {} arcs {} weights {}\n", own_banner, kind, graph.arc_count(), weights));
  }
}

/// A table has no place to say that 007 is a name.
bool names_look_like_numbers(const Graph& graph) {
  if (graph.ids().kind() != IdMap::Kind::strings) return false;
  for (std::uint64_t v = 0; v < graph.vertex_count(); ++v)
    if (is_numeric(graph.ids().name(static_cast<Vertex>(v)))) return true;
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
      .name        = "edgelist",
      .description = "text, one edge a line: space, tab, comma, semicolon or |; # and % comments; optional header",
      .suffixes    = {"txt", "el", "wel", "edges", "edgelist", "csv", "tsv", "snap"},
      .is_loose    = true,
      .is_edge_list = true,
      .by_arcs      = true,
      .recognises =
          [](const Sample& sample) {
            const LoadOptions none;
            return EdgeInspection{sample, none}.looks_like_edges();
          },
      .read  = read_edge_list,
      .write = write_edge_list};
}

}  // namespace spillway
