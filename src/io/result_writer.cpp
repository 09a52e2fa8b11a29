#include "io/result_writer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/fail.hpp"
#include "base/text.hpp"

namespace spillway {
namespace {

constexpr std::size_t flush_bytes = 4u << 20;

std::string table_suffix_of(const std::string& path) {
  if (path == "-") return ".csv";
  for (const char* suffix : {".csv", ".tsv", ".json", ".npy"})
    if (lower_case(path).ends_with(suffix)) return suffix;
  return {};
}

std::size_t column_size(const Column& column) {
  if (column.on_device) return column.on_device->size();
  return std::visit([](const auto& values) { return values.size(); }, column.values);
}

/// The entry is the largest of its integer type: what `missing` gives a meaning to.
bool is_largest(const Column& column, Vertex v) {
  return std::visit(
      [v]<class T>(const Array<T>& values) {
        return std::is_integral_v<T> && values[v] == std::numeric_limits<T>::max();
      },
      column.values);
}

bool is_empty_cell(const Column& column, Vertex v) {
  return (column.vertices || column.missing == Missing::blank) && is_largest(column, v);
}

bool is_infinite(const Column& column, Vertex v) {
  return column.missing == Missing::infinite && is_largest(column, v);
}

Vertex vertex_at(const Column& column, Vertex v) { return std::get<Array<std::uint32_t>>(column.values)[v]; }

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    out += c;
    if (c == '"') out += '"';
  }
  out += '"';
}

/// Only names can hold what a table cannot.
void append_cell(std::string& out, const std::string& cell, char delimiter) {
  const bool quote =
      cell.find_first_of("\"\r\n") != std::string::npos || cell.find(delimiter) != std::string::npos;
  quote ? append_quoted(out, cell) : static_cast<void>(out += cell);
}

std::string quoted_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A name as JSON can hold it. Bytes that are no UTF-8 become \xNN; in a name with such bytes, and in one that
/// holds \xNN itself, every backslash becomes \x5c, so that no two names become one and all can be told again.
std::string json_name(const std::string& name) {
  std::string escaped;
  bool        plain = name.find("\\x") == std::string::npos;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t bytes  = utf8_bytes(std::string_view{name}.substr(at));
    const bool        escape = bytes == 0 || name[at] == '\\';
    plain &= bytes != 0;
    if (escape)
      escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(name[at]));
    else
      escaped += name.substr(at, bytes);
    at += std::max<std::size_t>(bytes, 1);
  }
  return plain ? name : escaped;
}

std::string fact_text(const Fact& fact) {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, fact.value);
}

void write_facts_table(const Result& result, OutputFile& file, char delimiter) {
  std::string text = fmt::format("fact{}value\n", delimiter);
  for (const Fact& fact : result.facts) {
    append_cell(text, fact.name, delimiter);
    text += delimiter;
    append_cell(text, fact_text(fact), delimiter);
    text += '\n';
  }
  file.append(text);
}

void write_facts_json(const Result& result, OutputFile& file) {
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
  for (const Fact& fact : result.facts)
    std::visit([&](const auto& value) { facts[fact.name] = value; }, fact.value);
  file.append(facts.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

/// An answer about the graph as a whole.
void write_facts(const Result& result, OutputFile& file, const std::string& suffix) {
  if (suffix == ".npy")
    throw usage_error("{}: there are no columns to write, only facts, which .csv, .tsv and .json hold",
                      file.path());
  if (suffix == ".json") return write_facts_json(result, file);
  write_facts_table(result, file, suffix == ".csv" ? ',' : '\t');
}

class AnswerRows {
 public:
  AnswerRows(const Result& result, const Graph& graph, OutputFile& file, Progress& progress)
      : result_(result), graph_(graph), file_(file), progress_(progress) {}

  template <class AppendRow>
  void write(AppendRow&& append_row) {
    const std::uint64_t n = graph_.vertex_count();
    progress_.begin("writing", n, ProgressUnit::items);
    std::string   text;
    std::uint64_t reported = 0;
    for (std::uint64_t v = 0; v < n; ++v) {
      append_row(text, static_cast<Vertex>(v));
      if (text.size() < flush_bytes) continue;
      file_.append(text);
      text.clear();
      check_cancelled(progress_);
      evict_all_on_disk();
      progress_.advance(v + 1 - reported);
      reported = v + 1;
    }
    file_.append(text);
    progress_.end();
  }

  void table(char delimiter) {
    std::string top = "vertex";
    for (const Column& column : result_.columns) top += delimiter + column.name;
    file_.append(top + '\n');
    std::string cell;
    write([&](std::string& out, Vertex v) {
      append_cell(out, graph_.ids().name(v), delimiter);
      for (const Column& column : result_.columns) {
        out += delimiter;
        cell.clear();
        append_value(cell, column, v, graph_.ids());
        append_cell(out, cell, delimiter);
      }
      out += '\n';
    });
  }

  void json() {
    file_.append("[");
    write([&](std::string& out, Vertex v) {
      out += v == 0 ? "\n" : ",\n";
      out += "{\"vertex\":" + json_id(v, graph_.ids());
      for (const Column& column : result_.columns)
        out += "," + quoted_json(column.name) + ":" + json_value(column, v, graph_.ids());
      out += '}';
    });
    file_.append("\n]\n");
  }

  /// A structured array: numpy.load(file)["column"]. Names of vertices are byte strings, in columns too.
  void npy() {
    name_bytes_       = named() ? longest_name() : 0;
    wide_ids_         = has_wide_ids();
    std::string types = fmt::format("('vertex', '{}')", named() ? name_type() : "<u8");
    for (const Column& column : result_.columns)
      types += fmt::format(", ('{}', '{}')", column.name, npy_type(column));
    std::string top =
        fmt::format("{{'descr': [{}], 'fortran_order': False, 'shape': ({},), }}", types, graph_.vertex_count());
    const std::size_t unpadded = 12 + top.size() + 1;  // magic, version, length, text, newline
    top.append((64 - unpadded % 64) % 64, ' ');
    top += '\n';
    const auto length = static_cast<std::uint32_t>(top.size());
    file_.append(std::string_view{"\x93NUMPY\x02\x00", 8});
    file_.append(&length, sizeof length);
    file_.append(top);
    write([&](std::string& out, Vertex v) {
      named() ? append_name(out, v) : append_raw(out, *parse_number(graph_.ids().name(v)));
      for (const Column& column : result_.columns) append_binary(out, column, v);
    });
  }

 private:
  bool named() const { return graph_.ids().kind() == IdMap::Kind::strings; }

  std::size_t longest_name() const {
    std::size_t longest = 1;
    for (std::uint64_t v = 0; v < graph_.vertex_count(); ++v)
      longest = std::max(longest, graph_.ids().string(static_cast<Vertex>(v)).size());
    return longest;
  }

  /// Ids that no signed number holds. The largest of all stands for no vertex then, and can be none itself.
  bool has_wide_ids() const {
    const std::uint64_t n = graph_.vertex_count();
    if (named() || n == 0) return false;
    const std::uint64_t largest = *parse_number(graph_.ids().name(static_cast<Vertex>(n - 1)));
    if (largest <= std::numeric_limits<std::int64_t>::max()) return false;
    const auto lists_vertices = [](const Column& column) { return column.vertices; };
    if (largest == UINT64_MAX && std::ranges::any_of(result_.columns, lists_vertices))
      throw bad_input("{}: .npy has no value left for 'no vertex', since {} is an id; write .csv or .json",
                      file_.path(), largest);
    return true;
  }

  std::string name_type() const { return fmt::format("|S{}", name_bytes_); }

  /// Padded with zeros; no vertex is the empty name.
  void append_name(std::string& out, Vertex v) const {
    const std::size_t end = out.size() + name_bytes_;
    if (v != no_vertex) graph_.ids().append_name(out, v);
    out.resize(end, '\0');
  }

  /// What may be missing is signed, so that it can be -1.
  std::string npy_type(const Column& column) const {
    if (column.vertices && named()) return name_type();
    if (column.vertices && wide_ids_) return "<u8";
    if (column.vertices || column.missing == Missing::blank) return "<i8";
    if (column.missing == Missing::infinite) return "<f8";
    static constexpr const char* types[] = {"<u4", "<u8", "<f4", "<f8"};
    return types[column.values.index()];
  }

  template <class T>
  static void append_raw(std::string& out, T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out.append(bytes, sizeof value);
  }

  std::uint64_t wide_entry(const Column& column, Vertex v) const {
    return is_largest(column, v) ? UINT64_MAX : *parse_number(graph_.ids().name(vertex_at(column, v)));
  }

  std::int64_t signed_entry(const Column& column, Vertex v) const {
    if (is_largest(column, v)) return -1;
    if (column.vertices) return static_cast<std::int64_t>(*parse_number(graph_.ids().name(vertex_at(column, v))));
    return std::visit([v](const auto& values) { return static_cast<std::int64_t>(values[v]); }, column.values);
  }

  void append_binary(std::string& out, const Column& column, Vertex v) const {
    if (column.vertices && named()) return append_name(out, vertex_at(column, v));
    if (column.vertices && wide_ids_) return append_raw(out, wide_entry(column, v));
    if (column.vertices || column.missing == Missing::blank) return append_raw(out, signed_entry(column, v));
    std::visit(
        [&](const auto& values) {
          if (column.missing == Missing::never) return append_raw(out, values[v]);
          append_raw(out, is_largest(column, v) ? std::numeric_limits<double>::infinity()
                                                : static_cast<double>(values[v]));
        },
        column.values);
  }

  const Result& result_;
  const Graph&  graph_;
  OutputFile&   file_;
  Progress&     progress_;
  std::size_t   name_bytes_ = 0;  ///< of the longest name; .npy records have one length
  bool          wide_ids_   = false;
};

/// Names that every format can hold, and that no reader takes for something else.
bool is_plain(const std::string& name) {
  return !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F || c == '"' || c == '\'' || c == '\\' || c == ',';
  });
}

}  // namespace

void append_value(std::string& out, const Column& column, Vertex v, const IdMap& ids) {
  if (is_empty_cell(column, v)) return;
  if (column.vertices) return ids.append_name(out, vertex_at(column, v));
  if (is_infinite(column, v)) {
    out += "inf";
    return;
  }
  std::visit([&](const auto& values) { fmt::format_to(std::back_inserter(out), "{}", values[v]); }, column.values);
}

std::string json_id(Vertex v, const IdMap& ids) {
  return ids.kind() == IdMap::Kind::strings ? quoted_json(json_name(ids.name(v))) : ids.name(v);
}

std::string json_value(const Column& column, Vertex v, const IdMap& ids) {
  if (is_empty_cell(column, v)) return "null";
  if (column.vertices) return json_id(vertex_at(column, v), ids);
  const bool finite =
      !is_infinite(column, v) &&
      std::visit([&](const auto& values) { return std::isfinite(static_cast<double>(values[v])); }, column.values);
  std::string text;
  append_value(text, column, v, ids);
  return finite ? text : '"' + text + '"';  // JSON has no infinity
}

namespace {

/// What plug-ins may get wrong, and writers rely on.
void check_entries(const Column& column, const Graph& graph, const std::string& owner) {
  const bool whole = column.values.index() < 2;
  if (column.missing == Missing::blank && !whole)
    throw internal_error("{}: column '{}' holds fractions, which have no largest value to stand for 'none'", owner,
                         column.name);
  if (!column.vertices) return;
  const auto* vertices = std::get_if<Array<std::uint32_t>>(&column.values);
  if (!vertices)
    throw internal_error("{}: column '{}' holds vertices, which are 32 bits wide", owner, column.name);
  for (const Vertex v : vertices->span())
    if (v != no_vertex && v >= graph.vertex_count())
      throw internal_error("{}: column '{}' names vertex {}, and there are {}", owner, column.name, v,
                           graph.vertex_count());
}

}  // namespace

void check_columns(const Result& result, const Graph& graph, const std::string& owner) {
  std::vector<std::string> names{"vertex"};
  for (const Column& column : result.columns) {
    if (!is_plain(column.name))
      throw internal_error("{}: '{}' is no name for a column: no quotes, commas or control characters", owner,
                           printable(column.name));
    if (std::find(names.begin(), names.end(), column.name) != names.end())
      throw internal_error("{}: gave two columns '{}'", owner, column.name);
    if (column_size(column) != graph.vertex_count())
      throw internal_error("{}: column '{}' has {} for {}", owner, column.name,
                           counted(column_size(column), "entry", "entries"),
                           counted(graph.vertex_count(), "vertex", "vertices"));
    check_entries(column, graph, owner);
    names.push_back(column.name);
  }
}

void check_result_path(const std::string& path) {
  if (table_suffix_of(path).empty())
    throw usage_error("{}: results are written as .csv, .tsv, .json or .npy; give the file one of these endings",
                      path);
}

void write_result(const Result& result, const Graph& graph, const std::string& path, Progress& progress) {
  check_result_path(path);
  check_columns(result, graph, path);
  for (const Column& column : result.columns)
    if (std::visit([&](const auto& values) { return values.size() != column_size(column); }, column.values))
      throw internal_error("{}: column '{}' is still on the GPU; fetch it first", path, column.name);
  OutputFile        file{path};
  AnswerRows        rows{result, graph, file, progress};
  const std::string suffix = table_suffix_of(path);
  if (result.columns.empty()) {
    write_facts(result, file, suffix);
  } else if (suffix == ".json") {
    rows.json();
  } else if (suffix == ".npy") {
    rows.npy();
  } else {
    rows.table(suffix == ".csv" ? ',' : '\t');
  }
  check_mapped_files();
  file.commit();
}

}  // namespace spillway
