// What the text of an edge list says of itself and no reader follows: directions, counts, other columns.
#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "io/edge_inspection.hpp"
#include "io/header_words.hpp"
#include "io/reading.hpp"

namespace spillway {

bool EdgeInspection::may_begin_with_column_numbers() const {
  constexpr std::size_t few    = 16;
  const bool            blanks = separator_.by == ' ' && first_text().find('\t') == std::string::npos;
  if (!header_.empty() || options_.header == HeaderMode::absent || states_own_banner()) return false;
  if (shown_rows() < (blanks ? few : 2)) return false;
  const Fields& top = data(0);
  if (numbers_columns(top)) return true;
  for (std::size_t i = 0; i < top.size(); ++i)
    if (top[i] != std::to_string(i)) return false;
  if (top.size() > 2) return true;
  bool again = false, same = false;  // where vertex 0 appears below, it is an edge like others; but not twice
  for_each_row(first_ + 1, [&](std::size_t, const Fields& row) {
    for (const unsigned column : {source_, target_}) again |= column < row.size() && row[column] == "0";
    same |= row == top;
  });
  return !again || same;
}

/// A first line such as "5 7", "7 5", "5 5 7" or "5 7 1" above seven edges between vertices up to 5.
bool EdgeInspection::may_begin_with_counts(std::uint64_t edges, std::uint64_t found) const {
  const Fields& top = data(0);
  if (!header_.empty() || top.size() > 3 || !std::all_of(top.begin(), top.end(), is_digits)) return false;
  std::uint64_t largest = 1;
  for_each_row(first_ + 1, [&](std::size_t, const Fields& row) {
    for (const unsigned column : {source_, target_})
      if (column < row.size()) largest = std::max(largest, parse_number(row[column]).value_or(UINT64_MAX));
  });
  const auto states = [&](std::size_t vertices, std::size_t count) {
    if (vertices >= top.size() || count >= top.size()) return false;
    const std::uint64_t stated = parse_number(top[count]).value_or(0), lines = edges - 1;
    // Each edge may be listed from both ends, or counted so; and counts are not always true.
    const std::uint64_t off  = stated > lines ? stated - lines : lines - stated;
    const std::uint64_t most = parse_number(top[vertices]).value_or(0);
    // Where ids have gaps, it is their number that was counted; the line itself may have added two.
    if (largest > found && lines > 2 && off <= lines / 100 && most <= found && most + 2 >= found) return true;
    if (off <= lines / 100 || (lines > 3 && (2 * stated == lines || stated == 2 * lines))) return most >= largest;
    // Another line or two may follow, such as a query or a mark of the end.
    return lines > stated && off <= 2 && stated > 1 && (most == largest || most == largest + 1);
  };
  // Numbers that are right for another part of the list: both beyond all ids.
  const auto number = [&](std::size_t i) { return parse_number(top[i]).value_or(0); };
  const bool beyond = top.size() == 2 && std::min(number(0), number(1)) >= largest &&
                      std::max(number(0), number(1)) > largest + 1 && edges > 4;
  return edges > 2 && (states(0, 1) || states(1, 0) || states(0, 2) || beyond);
}

namespace {

/// Its letters and digits, in lower case and without what stands between: isOneWay and is_one_way are one name.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c))) plain += c;
  return lower_case(plain);
}

/// In lower case; what stands between clauses is a word of its own if `clauses`.
Fields words_of(std::string_view line, bool clauses = false) {
  Fields words;
  bool   inside = false;
  for (const char c : line) {
    if (clauses && (c == ',' || c == ';' || c == '.')) words.emplace_back(1, c);
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (letter && !inside) words.emplace_back();
    if (letter) words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    inside = letter;
  }
  return words;
}

}  // namespace

bool says_undirected(std::string_view line) {
  const Fields words = words_of(line, /*clauses=*/true);
  if (line.starts_with('%') && !words.empty() && words[0] == "sym") return true;  // KONECT
  const auto follows = [&](std::size_t i) {
    if (i + 1 >= words.size()) return false;
    return is_any(words[i + 1], {"false", "0"}) || (i + 2 == words.size() && words[i + 1] == "no");
  };
  const auto precedes = [&](std::size_t i, std::size_t reach, std::initializer_list<std::string_view> negations) {
    for (std::size_t k = i; k > 0 && i - k < reach; --k) {
      if (is_any(words[k - 1], {",", ";", "."})) return false;
      if (is_any(words[k - 1], negations)) return true;
    }
    return false;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word      = words[i];
    const bool         un        = word.find("undirected") != std::string::npos || word.find("nondirected") == 0;
    const bool         directed  = !un && is_any(word, {"directed", "isdirected"});
    const bool         symmetric = word.starts_with("symmetric") || word == "bidirectional";
    const bool         denied    = follows(i) || precedes(i, 3, {"not", "isn"});
    if (un && !denied) return true;
    if (directed && (denied || precedes(i, 1, {"un", "non"}))) return true;
    if (symmetric && !denied && !precedes(i, 1, {"a", "un", "non", "skew", "anti"})) return true;
  }
  return false;
}

namespace {

/// What a column of tables of roads and of exports says of the directions of an edge.
enum class Stated { nothing, one_way, both_ways, otherwise };

bool names_reverse_cost(const std::string& column) {
  return is_any(plain_name(column), {"reversecost", "rcost", "costreverse", "costrev", "revcost", "backcost",
                                     "reverseweight", "reverselength", "lengthrev"});
}

Stated stated_by(const std::string& column, const std::string& value) {
  const bool        yes  = is_any(value, {"true", "yes", "1", "t", "y"});
  const bool        no   = is_any(value, {"false", "no", "0", "f", "n"});
  const std::string name = plain_name(column);
  const auto        told = [&](bool one_way, bool both_ways) {
    return one_way ? Stated::one_way : both_ways ? Stated::both_ways : Stated::otherwise;
  };
  // Columns of these names may be of anything: colours, or points of the compass.
  const bool forward = is_any(value, {"directed", "forward", "out"}), both = is_any(value, {"undirected", "both"});
  if (is_any(name, {"type", "direction", "edgetype"}))
    return forward || both || is_any(value, {"backward", "reverse", "in"}) ? told(forward, both) : Stated::nothing;
  if (is_any(name, {"directed", "isdirected", "oneway", "isoneway"})) return told(yes, no);
  if (is_any(name, {"bidirectional", "twoway", "undirected", "bothways"})) return told(no, yes);
  if (!names_reverse_cost(column)) return Stated::nothing;
  const bool none =
      value.starts_with('-') || is_missing_value(value) || value.find_first_not_of("0.") == std::string::npos;
  return none ? Stated::one_way : Stated::both_ways;
}

/// The words of a comment that may name columns: what stands behind a colon, without punctuation.
Fields words_of_comment(std::string_view line) {
  if (const auto colon = line.rfind(':'); colon != std::string_view::npos) line.remove_prefix(colon + 1);
  Fields words;
  bool   inside = false;
  for (const char c : line) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (letter && !inside) words.emplace_back();
    if (letter) words.back() += c;
    inside = letter;
  }
  return words;
}

}  // namespace

std::string EdgeInspection::says_undirected(bool& partly) const {
  partly = false;
  std::string found;
  for_each_comment([&](std::string_view line) {
    if (found.empty() && spillway::says_undirected(line)) found = line;
  });
  for (unsigned column = 0; column < header_.size() && found.empty(); ++column) {
    bool both = false;
    for (std::size_t i = 0; i < shown_rows(); ++i) {
      Stated stated = column < data(i).size() ? stated_by(header_[column], data(i)[column]) : Stated::nothing;
      // A way back that costs something else is no arc of the same weight.
      if (stated == Stated::both_ways && names_reverse_cost(header_[column]) && weight_ &&
          *weight_ < data(i).size() && data(i)[*weight_] != data(i)[column])
        stated = Stated::otherwise;
      if (stated == Stated::both_ways || stated == Stated::otherwise)
        found = header_[column] + " " + data(i)[column];
      both |= stated == Stated::both_ways;
      partly |= stated == Stated::one_way || stated == Stated::otherwise;
    }
    if (found.empty()) partly = false;
    partly |= !found.empty() && !both;
  }
  return found;
}

namespace {

/// Of "userId" and ":START_ID(Actor)": what kind of thing it is an id of.
std::string kind_of_ids(const std::string& column) {
  if (const auto open = column.find('('); open != std::string::npos && column.ends_with(')'))
    return lower_case(column.substr(open + 1, column.size() - open - 2));
  std::string name = plain_name(column);
  for (const std::string_view end : {"id", "ids", "no", "number", "name", "key"})
    if (name.size() > end.size() + (end == "id" ? 0 : 1) && name.ends_with(end))
      return name.substr(0, name.size() - end.size());
  return name;
}

/// "user" of "from_user"; empty where the name has no such prefix.
std::string without_end_word(const std::string& column) {
  const std::string name = lower_case(column);
  for (const std::string_view end : {"from_", "to_", "source_", "target_", "src_", "dst_", "dest_"})
    if (name.starts_with(end)) return kind_of_ids(name.substr(end.size()));
  return "";
}

/// node_a and node_b, UserX and UserY, id1 and id2: most of their letters, from one end or the other.
bool are_alike(const std::string& a, const std::string& b) {
  constexpr std::size_t                                   enough    = 4;
  const std::size_t                                       shorter   = std::min(a.size(), b.size());
  constexpr std::pair<std::string_view, std::string_view> letters[] = {
      {"u", "v"}, {"i", "j"}, {"s", "t"}, {"a", "b"}, {"x", "y"}, {"p", "q"}, {"n", "m"}, {"p", "pp"}};
  if (shorter < 2)
    return a == b || std::ranges::any_of(letters, [&](const auto& pair) {
             return (a == pair.first && b == pair.second) || (a == pair.second && b == pair.first);
           });
  if (is_any(a, {"from", "source", "src", "orig", "origin", "start", "begin"}) &&
      is_any(b, {"to", "target", "dst", "dest", "destination", "sink", "end"}))
    return true;
  const auto any_kind = [](const std::string& word) {
    return is_any(word,
                  {"id", "node", "vertex", "row", "col", "column", "item", "entity", "parent", "child", "neighbor",
                   "neighbour", "friend", "next", "ref", "reference", "link", "target", "source"});
  };
  if (any_kind(a) && any_kind(b)) return true;
  constexpr std::pair<std::string_view, std::string_view> one_kind[] = {
      {"winner", "loser"},       {"pre", "post"},          {"employee", "manager"},
      {"von", "nach"},           {"origen", "destino"},    {"reporter", "partner"},
      {"supervisor", "student"}, {"dst", "src"},           {"head", "tail"},
      {"child", "parent"},       {"importer", "exporter"}, {"buyer", "seller"},
      {"home", "away"},          {"predator", "prey"},     {"package", "dependson"},
      {"child", "father"},       {"child", "mother"},      {"descendant", "ancestor"},
      {"donor", "recipient"},    {"package", "dependency"}};
  if (b.ends_with("to") && b.size() > 3) return true;  // links_to, in_reply_to
  for (const auto& [one, other] : one_kind)
    if ((a == one && b == other) || (a == other && b == one)) return true;
  std::size_t front = 0, back = 0;
  while (front < shorter && a[front] == b[front]) ++front;
  while (back < shorter && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  return std::max(front, back) >= std::min(enough, shorter - 1);
}

}  // namespace

/// Headers name the two ends of an edge, or two columns of one kind. All others may name two kinds of things.
std::string EdgeInspection::names_two_kinds() const {
  Fields names = header_;
  if (names.empty())  // perhaps a comment names them: surely not one of words between blanks, but for ids
    for_each_comment([&](std::string_view line) {
      if (const auto colon = line.find(':'); colon != std::string_view::npos) line.remove_prefix(colon + 1);
      const auto begin = line.find_first_not_of("#% \t");
      if (begin == std::string_view::npos ||
          !split_fields(line.substr(begin), separator_.by, names, separator_.also))
        names.clear();
      const auto is_name = [&](const std::string& word) {
        return !is_digits(word) && (separator_.by != ' ' || plain_name(word).ends_with("id"));
      };
      if (names.size() != columns() || !std::ranges::all_of(names, is_name)) names.clear();
    });
  if (source_ >= names.size() || target_ >= names.size()) return "";
  const std::string &from = names[source_], &to = names[target_];
  const std::string  one = kind_of_ids(from), other = kind_of_ids(to);
  const std::string  sender = without_end_word(from), receiver = without_end_word(to);
  if (!sender.empty() && !receiver.empty() && !are_alike(sender, receiver)) return from + ", " + to;
  const bool in_brackets = from.ends_with(')') && to.ends_with(')');
  const Ends ends        = ends_of({from, to});
  if (one.empty() || other.empty() || (!in_brackets && ends.from && ends.to) || are_alike(one, other)) return "";
  return from + ", " + to;
}

bool says_how_edges_lie(std::string_view line) {
  const Fields words    = words_of(line);
  const auto   mentions = std::ranges::count_if(words, [](const std::string& word) {
    return is_any(word, {"row",   "rows",  "column", "columns", "source", "sources", "target",   "targets",
                         "edge",  "edges", "link",   "links",   "page",   "street",  "road",     "once",
                         "twice", "both",  "way",    "ways",    "pair",   "mutual",  "reversed", "transposed"});
  });
  const bool   alone    = std::ranges::any_of(words, [](const std::string& word) {
    return is_any(word, {"mutual", "reversed"});
  });
  return mentions >= 2 || alone;
}

bool says_bipartite(std::string_view line) {
  const Fields words = words_of(line);
  for (std::size_t i = 0; i < words.size(); ++i)
    if ((words[i] == "bipartite" && (i == 0 || !is_any(words[i - 1], {"not", "non"}))) ||
        (i == 0 && words[i] == "bip" && line.starts_with('%')))
      return true;
  return false;
}

std::string EdgeInspection::says_bipartite() const {
  std::string found;
  for_each_comment([&](std::string_view line) {
    if (found.empty() && spillway::says_bipartite(line)) found = line;
  });
  return found;
}

/// Whether several columns are called as if arcs began or ended there.
bool EdgeInspection::ends_are_a_choice() const {
  const auto several = [&](auto&&... is) {
    return std::count_if(header_.begin(), header_.end(),
                         [&](const std::string& word) { return (is(word) || ...); }) > 1;
  };
  return several(surely_source, probably_source) || several(surely_target, probably_target);
}

Fields EdgeInspection::columns_not_read() const {
  Fields names;
  for (unsigned column = 0; column < header_.size(); ++column)
    if (column != source_ && column != target_ && column != weight_) names.push_back(header_[column]);
  return names;
}

namespace {

/// "n=5 m=7", "|V| = 5, |E| = 7", and nothing else.
std::optional<std::uint64_t> count_by_letters(const Fields& words, EdgeInspection::Counted what) {
  if (words.size() != 4 || !is_digits(words[1]) || !is_digits(words[3])) return std::nullopt;
  const bool are_counts = (words[0] == "n" && words[2] == "m") || (words[0] == "v" && words[2] == "e");
  if (!are_counts) return std::nullopt;
  return parse_number(words[what == EdgeInspection::Counted::vertices ? 1 : 3]);
}

/// What a comment says of a number of vertices or edges: "Nodes: 5", "num_nodes = 5", "5 nodes, 7 edges".
std::optional<std::uint64_t> count_in(std::string line, EdgeInspection::Counted what) {
  // Commas between digits group them.
  for (std::size_t i = line.size(); i-- > 1;)
    if (line[i] == ',' && i + 3 < line.size() && is_digits(line.substr(i - 1, 1)) &&
        is_digits(line.substr(i + 1, 3)))
      line.erase(i, 1);
  const Fields words = words_of(line);
  const auto   names = [&](const std::string& word, EdgeInspection::Counted kind) {
    return kind == EdgeInspection::Counted::vertices
                 ? is_any(word, {"nodes", "vertices", "numnodes", "numvertices"})
                 : is_any(word, {"edges", "arcs", "links", "numedges", "numarcs"});
  };
  if (const auto count = count_by_letters(words, what)) return count;
  const auto is_name = [&](const std::string& word) {
    return names(word, EdgeInspection::Counted::vertices) || names(word, EdgeInspection::Counted::edges);
  };
  // Either all numbers stand before what they count, or all behind it: as with the first.
  const auto name   = std::ranges::find_if(words, is_name);
  const bool before = name != words.end() && name != words.begin() && is_digits(*(name - 1));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t at = before ? i - 1 : i + 1;
    if (names(words[i], what) && at < words.size() && is_digits(words[at])) return parse_number(words[at]);
  }
  return std::nullopt;
}

}  // namespace

std::string EdgeInspection::contradicted_count(Counted what, std::uint64_t count) const {
  std::string found;
  bool        konect = false;
  for_each_comment([&](std::string_view line) {
    const Fields words  = words_of(line);
    auto         stated = count_in(std::string{line}, what);
    // % asym unweighted, and then edges, vertices, vertices
    if (konect && line.starts_with('%') && words.size() == 3 && std::ranges::all_of(words, is_digits))
      stated = parse_number(words[what == Counted::edges ? 0 : 1]);
    konect = line.starts_with('%') && !words.empty() && is_any(words[0], {"sym", "asym"});
    if (found.empty() && stated && *stated != count) found = line;
  });
  return found;
}

/// A comment that names other columns than are read.
std::string EdgeInspection::names_other_columns() const {
  std::string found;
  if (!header_.empty()) return found;
  for_each_comment([&](std::string_view line) {
    const Fields names = words_of_comment(line);
    if (names.size() != columns()) return;
    const Ends ends = ends_of(names);
    if (ends.from && ends.to && (ends.from != source_ || ends.to != target_)) found = line;
  });
  return found;
}

namespace {

/// Letters, digits, or anything beyond ASCII: not a ruler.
bool has_words(std::string_view line) {
  return std::ranges::any_of(line, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c < 0; });
}

/// "directed", "directed graph: its name".
bool says_directed(const Fields& words) {
  if (words.empty() || words[0] != "directed") return false;
  return words.size() == 1 || is_any(words[1], {"graph", "network"}) ||
         (words.size() == 2 && is_any(words[1], {"true", "yes"}));
}

}  // namespace

namespace {

/// "Type: directed", "undirected: no"; "weights: none" where none are read.
bool says_what_is_read(const Fields& words, bool weights) {
  const auto is_filler = [](const std::string& word) {
    return is_any(word, {"type", "kind", "graph", "network", "edges", "arcs", "links", "is", "are", "a", "the"});
  };
  Fields said;
  std::ranges::remove_copy_if(words, std::back_inserter(said), is_filler);
  const auto is = [&](std::initializer_list<const char*> other) {
    return std::ranges::equal(said, other, [](const std::string& one, const char* two) { return one == two; });
  };
  return is({"directed"}) || is({"asymmetric"}) || is({"undirected", "no"}) || is({"undirected", "false"}) ||
         is({"directed", "not", "undirected"}) || (!weights && (is({"weights", "none"}) || is({"unweighted"})));
}

}  // namespace

/// Counts that comments state are compared with what is read, as are directions and columns.
bool EdgeInspection::is_checked(std::string_view line) const {
  const std::string text{line};
  if (count_in(text, Counted::vertices) || count_in(text, Counted::edges)) return true;
  if (spillway::says_undirected(line) || spillway::says_bipartite(line)) return true;
  const Fields names = words_of_comment(line);
  const Ends   ends  = ends_of(names);
  return (ends.from && ends.to && names.size() == columns()) || says_directed(words_of(line)) ||
         says_what_is_read(words_of(line), /*weights=*/weight().has_value());
}

/// Comments above the edges that say something which nobody has checked: "# n = 5", "# Directed: N". Where the
/// numbers of vertices and edges are stated and true (SNAP), only what may be about directions: others are titles.
/// Not what networkx always writes: the program, the date and the name of the graph.
Fields EdgeInspection::unfollowed_comments(std::uint64_t vertices, std::uint64_t edges) const {
  std::optional<std::uint64_t> stated_vertices, stated_edges;
  Fields                       found;
  bool                         konect = false, networkx = false;
  for_each_comment([&](std::string_view line) {
    const bool   is_top = static_cast<std::uint64_t>(line.data() - sample_.text.data()) < start();
    const Fields words  = words_of(line);
    const bool   counts = konect && std::ranges::all_of(words, is_digits);
    konect              = line.starts_with('%') && !words.empty() && is_any(words[0], {"sym", "asym", "bip"});
    if (!is_top || konect || counts || !has_words(line)) return;
    networkx |= found.size() == 1 && line.starts_with("# GMT ");
    if (const auto count = count_in(std::string{line}, Counted::vertices)) stated_vertices = count;
    if (const auto count = count_in(std::string{line}, Counted::edges)) stated_edges = count;
    if (!is_checked(line)) found.emplace_back(line);
  });
  constexpr std::size_t of_networkx = 3;
  if (networkx && found.size() <= of_networkx) return {};
  if (stated_vertices == vertices && stated_edges == edges)
    std::erase_if(found, [](const std::string& line) { return !says_how_edges_lie(line); });
  return found;
}

}  // namespace spillway
