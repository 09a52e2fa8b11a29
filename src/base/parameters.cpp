#include <spillway/parameters.hpp>

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/id_lists.hpp"
#include "base/text.hpp"

#include <spillway/graph.hpp>

namespace spillway {

ParameterValues completed(std::string_view owner, const std::vector<Parameter>& parameters,
                          const ParameterValues& given) {
  std::vector<std::string> names;
  ParameterValues          values = given;
  for (const Parameter& parameter : parameters) {
    names.push_back(parameter.name);
    if (!parameter.default_value.empty()) values.try_emplace(parameter.name, parameter.default_value);
  }
  for (const auto& [name, value] : given)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw usage_error("{} has no parameter '{}'; {}", owner, printable(name),
                        names.empty() ? "it takes none" : advice(name, names));
  return values;
}

const std::string& Parameters::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty())
    throw usage_error("{} needs a value for --{}", owner_, name);
  return found->second;
}

std::uint64_t Parameters::number(const std::string& name, std::uint64_t least, std::uint64_t most) const {
  const auto value = parse_number(text(name));
  if (!value || *value < least || *value > most)
    throw usage_error("{}: --{} is {}; it must be a whole number from {} to {}", owner_, name,
                      printable(text(name)), least, most);
  return *value;
}

double Parameters::real(const std::string& name, double least, double most) const {
  const std::string& given = text(name);
  const char*        end   = given.data() + given.size();
  double             value = 0;
  const auto [rest, bad]   = std::from_chars(given.data(), end, value);
  const bool valid = bad == std::errc{} && rest == end && value >= least && value <= most;  // NaN fails too
  if (!valid)
    throw usage_error("{}: --{} is {}; it must be a number from {} to {}", owner_, name, printable(given), least,
                      most);
  return value;
}

bool Parameters::yes(const std::string& name) const {
  const std::string& given = text(name);
  if (given != "yes" && given != "no")
    throw usage_error("{}: --{} is {}; it must be yes or no", owner_, name, printable(given));
  return given == "yes";
}

const std::string& Parameters::choice(const std::string& name, const std::vector<std::string>& choices) const {
  const std::string& given = text(name);
  if (std::find(choices.begin(), choices.end(), given) == choices.end())
    throw usage_error("{}: --{} is {}; it must be one of {}", owner_, name, printable(given), joined(choices));
  return given;
}

namespace {

Vertex vertex_named(std::string_view owner, const Graph& graph, std::string_view id) {
  if (const auto vertex = graph.ids().find(id, graph.vertex_count())) return *vertex;
  if (graph.vertex_count() == 0)
    throw bad_input("{}: vertex '{}' is not in the graph, which has no vertices", owner, printable(id));
  const std::string first = printable(graph.ids().name(0));
  const std::string hint =
      id.starts_with('@') ? fmt::format("; nor is there a file '{}'", printable(id.substr(1))) : std::string{};
  if (graph.vertex_count() == 1)
    throw bad_input("{}: vertex '{}' is not in the graph, whose one vertex is '{}'{}", owner, printable(id), first,
                    hint);
  throw bad_input("{}: vertex '{}' is not in the graph, whose {} vertices are '{}' to '{}'{}", owner,
                  printable(id), with_commas(graph.vertex_count()), first,
                  printable(graph.ids().name(static_cast<Vertex>(graph.vertex_count() - 1))), hint);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// A name may hold a #: it starts a comment at the start of a line and after a blank.
std::string_view without_comment(std::string_view line) {
  for (auto at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
    if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return line.substr(0, at);
  return line;
}

template <class Body>
void for_each_line(std::string_view text, Body&& body) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    body(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

Vertex Parameters::vertex(const Graph& graph, const std::string& name) const {
  return vertex_named(owner_, graph, text(name));
}

namespace {

bool is_vertex(const Graph* graph, std::string_view id) {
  return graph != nullptr && graph->ids().find(id, graph->vertex_count()).has_value();
}

}  // namespace

std::vector<std::string> ids_in_file(const std::string& path, const Graph* graph) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  const std::string          text            = read_whole(path);
  const bool                 marked          = text.starts_with(byte_order_mark);
  std::vector<std::string>   ids;
  for_each_line(std::string_view{text}.substr(marked ? byte_order_mark.size() : 0), [&](std::string_view line) {
    // What looks like a comment may be a name.
    const std::string_view whole = trimmed(line),
                           id    = is_vertex(graph, whole) ? whole : trimmed(without_comment(line));
    if (!id.empty()) ids.emplace_back(id);
  });
  if (ids.empty()) throw bad_input("{}: no vertices in this file; it should have one id on each line", path);
  return ids;
}

namespace {

/// Takes the quoted id that `text` begins with off it, and what stands between it and the next comma.
std::string take_quoted(std::string_view& text) {
  std::string id;
  std::size_t i = 1;
  for (;; ++i) {
    if (i == text.size()) throw usage_error("{}: a quote is opened and not closed", printable(text));
    if (text[i] == '"' && (i + 1 == text.size() || text[i + 1] != '"')) break;
    if (text[i] == '"') ++i;  // a doubled quote is a quote
    id += text[i];
  }
  const std::size_t end = std::min(text.find(',', i), text.size());
  if (!trimmed(text.substr(i + 1, end - i - 1)).empty())
    throw usage_error("{}: text after a closing quote; put a comma between ids", printable(text));
  text.remove_prefix(end);
  return id;
}

struct ListItem {
  std::string text;
  bool        quoted = false;

  /// Names may begin with @, too: only a file that there is stands for its ids.
  bool is_file() const {
    return !quoted && text.starts_with('@') && (text == "@-" || file_exists(text.substr(1)));
  }
};

std::vector<ListItem> items_of(std::string_view text) {
  std::vector<ListItem> items;
  for (bool more = true; more;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (text.starts_with('"')) {
      items.push_back({take_quoted(text), true});
    } else {
      items.push_back({std::string{trimmed(text.substr(0, text.find(',')))}});
      text.remove_prefix(std::min(text.find(','), text.size()));
    }
    more = !text.empty();
    if (more) text.remove_prefix(1);
  }
  return items;
}

std::string quoted_id(std::string_view id) {
  std::string quoted{'"'};
  for (const char c : id) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::vector<std::string> ids_in_list(std::string_view text, const Graph* graph) {
  if (is_vertex(graph, text)) return {std::string{text}};
  std::vector<std::string> ids;
  for (ListItem& item : items_of(text)) {
    if (!item.is_file()) {
      ids.push_back(std::move(item.text));
      continue;
    }
    for (std::string& listed : ids_in_file(item.text.substr(1), graph)) ids.push_back(std::move(listed));
  }
  return ids;
}

std::vector<std::string> files_in_list(std::string_view text) {
  std::vector<std::string> files;
  for (const ListItem& item : items_of(text))
    if (item.is_file()) files.push_back(item.text.substr(1));
  return files;
}

std::string list_of(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) text += (text.empty() ? "" : ",") + quoted_id(id);
  return text;
}

std::string with_files_read(const std::string& text) {
  return files_in_list(text).empty() ? text : list_of(ids_in_list(text));
}

std::vector<Vertex> Parameters::vertex_list(const Graph& graph, const std::string& name) const {
  std::vector<Vertex>        vertices;
  std::unordered_set<Vertex> known;
  for (const std::string& id : ids_in_list(text(name), &graph)) {
    const Vertex v = vertex_named(owner_, graph, id);
    if (known.insert(v).second) vertices.push_back(v);
  }
  return vertices;
}

}  // namespace spillway
