#include "io/odd_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "io/edge_inspection.hpp"

namespace spillway {
namespace {

/// In lower case, without blanks and brackets around it: "(None)" is none.
std::string bare(std::string_view name) {
  constexpr std::string_view around = " \t()[]<>{}:";
  const auto                 first  = name.find_first_not_of(around);
  if (first == std::string_view::npos) return "";
  return lower_case(std::string{name.substr(first, name.find_last_not_of(around) - first + 1)});
}

/// Tables write a value that is missing as a word, which is then the name of a vertex with many edges.
bool may_be_missing(const std::string& bare_name) {
  return is_any(bare_name, {"",
                            ".",
                            "n.a.",
                            "unknown",
                            "missing",
                            "none",
                            "---",
                            "-1",
                            "-9",
                            "na",
                            "n/a",
                            "#n/a",
                            "null",
                            "nan",
                            "-nan",
                            "nil",
                            "\\n",
                            "?",
                            "-",
                            "--",
                            "nat",
                            "blank",
                            "not set",
                            "not available",
                            "—",
                            "–",
                            "#ref!",
                            "undefined",
                            "...",
                            "…",
                            "??",
                            "tbd",
                            "#value!",
                            "#null!",
                            "not applicable",
                            "#name?"});
}

bool may_be_total(const std::string& bare_name) {
  return is_any(bare_name, {"total", "totals", "subtotal", "sub-total", "grand total", "sum", "summe", "gesamt",
                            "somme", "suma", "totale", "итого", "合计", "总计", "average", "mean"});
}

/// A line under a header, or between parts of a table.
bool may_be_ruler(std::string_view name) {
  if (name.size() < 4 || name.find_first_not_of("-=_~*+") == std::string_view::npos) return name.size() >= 4;
  for (const std::string_view stroke : {"─", "—", "═", "–"}) {
    std::size_t at = 0;
    while (name.substr(at).starts_with(stroke)) at += stroke.size();
    if (at == name.size() && at > stroke.size()) return true;
  }
  return false;
}

/// Below a header, some exports state the types of columns.
bool may_be_type(const std::string& bare_name) {
  return is_any(bare_name, {"string", "varchar", "text", "integer", "int", "bigint", "int64", "int32", "nvarchar",
                            "character varying", "long", "object"});
}

/// "Note: …", "(2 rows affected)", "// done".
bool may_be_footnote(std::string_view name) {
  if (name.starts_with("//") || name.starts_with("--  ") || name.starts_with("{\"ImportId\"")) return true;
  if (name.starts_with('(') && name.size() > 1 && is_digits(name.substr(1, name.find(' ') - 1))) return true;
  const std::string lowered = lower_case(std::string{name.substr(0, 16)});
  return std::ranges::any_of(std::initializer_list<const char*>{"note:", "notes:", "source:", "time taken:",
                                                                "fetched:", "disclaimer:", "last updated:"},
                             [&](const char* start) { return lowered.starts_with(start); });
}

struct Unseen {
  std::string_view bytes;
  const char*      code;
  bool             anywhere;  ///< odd inside a name, too
};
constexpr Unseen unseen[] = {
    {"\xc2\xa0", "U+00A0", false},     {"\xe3\x80\x80", "U+3000", false}, {"\xe2\x80\x83", "U+2003", false},
    {"\xe2\x80\x89", "U+2009", false}, {"\xe2\x80\xaf", "U+202F", false}, {"\xe2\x80\x8b", "U+200B", true},
    {"\xef\xbb\xbf", "U+FEFF", true},  {"\xe2\x80\x8e", "U+200E", true},  {"\xe2\x80\x8f", "U+200F", true},
    {"\xe2\x81\xa0", "U+2060", true},  {"\xc2\xad", "U+00AD", true},      {"\xe2\x80\xaa", "U+202A", true},
    {"\xe2\x80\xab", "U+202B", true},  {"\xe2\x80\xac", "U+202C", true},  {"\xe2\x80\xad", "U+202D", true},
    {"\xe2\x80\xae", "U+202E", true}};

/// Accents that are characters of their own (U+0300 to U+036F), voicing marks of kana (U+3099, U+309A) and vowels
/// and finals of Hangul (U+1161 to U+11FF).
bool has_combining_mark(std::string_view name) {
  const auto byte = [&](std::size_t i) { return i < name.size() ? static_cast<unsigned char>(name[i]) : 0; };
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    const auto first = byte(i), second = byte(i + 1), third = byte(i + 2);
    if ((first == 0xCC && second >= 0x80) || (first == 0xCD && second >= 0x80 && second <= 0xAF)) return true;
    if (first == 0xE3 && second == 0x82 && (third == 0x99 || third == 0x9A)) return true;
    if (first == 0xE1 && ((second == 0x85 && third >= 0xA1) || second == 0x86 || second == 0x87)) return true;
  }
  return false;
}

enum class Text { ascii, utf8, other };
Text text_of(std::string_view name) {
  Text text = Text::ascii;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t bytes = utf8_bytes(name.substr(i));
    if (bytes == 0) return Text::other;
    if (bytes > 1) text = Text::utf8;
    i += bytes;
  }
  return text;
}

/// One pass over the names; each check is done with once it has found one.
/// "bob # my friend", "bob % my friend", "bob // my friend".
bool has_comment(std::string_view name) {
  constexpr std::string_view marks[] = {" #", " %", " //"};
  return std::ranges::any_of(marks, [&](std::string_view mark) { return name.find(mark) != name.npos; });
}

class NamePass {
 public:
  NamePass(const IdMap& ids, std::uint64_t vertices, bool comments)
      : ids_(ids), vertices_(vertices), comments_(comments) {}

  std::vector<OddName> found() && {
    tell_other_header();
    for (std::uint64_t v = 0; v < vertices_; ++v) look_at(ids_.string(static_cast<Vertex>(v)));
    if (!latin_.empty() && !utf8_.empty())
      add("ids", fmt::format("'{}' is not UTF-8, but other names are: one text in two encodings is two vertices",
                             printable(latin_)));
    return std::move(odd_);
  }

 private:
  void add(const char* what, std::string clause) { odd_.push_back({what, std::move(clause)}); }

  /// Once for each sort of oddity.
  void once(bool& told, bool is_odd, const char* what, const auto& clause) {
    if (told || !is_odd) return;
    told = true;
    add(what, clause());
  }

  /// Names that others are looked up for: enough to find what is usual in a file.
  static constexpr std::uint64_t most_looked_up = 1u << 20;

  bool is_vertex(std::string_view name) const { return ids_.find(name, vertices_).has_value(); }

  void look_at(std::string_view name) {
    constexpr std::size_t longest_word = 24;
    const std::string     shown = printable(name), word = name.size() <= longest_word ? bare(name) : "?!";
    // Nan is a person's name.
    once(missing_, (may_be_missing(word) || name == "[deleted]" || name == "[removed]") && name != "Nan", "ids",
         [&] {
           return fmt::format(
               "'{}' is a vertex like others, though it may stand for a missing value (remove its lines "
               "if it does)",
               shown);
         });
    once(comment_, comments_ && (is_comment(name) || has_comment(name)), "ids", [&] {
      return fmt::format(
          "'{}' is the name of a vertex: among names, comments stand at the top of the file (remove "
          "its line if it is one)",
          shown);
    });
    once(total_, may_be_total(word), "ids",
         [&] { return fmt::format("'{}' is a vertex like others (remove its line if it holds totals)", shown); });
    once(type_, may_be_type(word), "ids", [&] {
      return fmt::format("'{}' is a vertex like others (remove its line if it states types of columns)", shown);
    });
    once(footnote_, may_be_footnote(name), "ids",
         [&] { return fmt::format("'{}' is a vertex like others (remove its line if it is a footnote)", shown); });
    once(ruler_, may_be_ruler(name), "ids",
         [&] { return fmt::format("'{}' is a vertex like others (remove its line if it is a ruler)", shown); });
    once(control_,
         std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }), "ids",
         [&] { return fmt::format("'{}' is the name of a vertex, with a control character as a part", shown); });
    look_at_characters(name);
    if (looked_up_ >= most_looked_up) return;
    ++looked_up_;
    look_for_lists(name);
    look_for_lookalikes(name);
  }

  /// "bob; ann"; and "bob, ann" where ann is a vertex, too.
  void look_for_lists(std::string_view name) {
    if (list_) return;
    once(list_, name.find(';') != std::string_view::npos && name.find('&') == std::string_view::npos, "ids", [&] {
      return fmt::format("'{}' is one vertex: a field is one id, not a list of them", printable(name));
    });
    look_for_joined(name);
    if (list_ || name.find_first_of(",|") == std::string_view::npos) return;
    constexpr std::string_view around = " \t[]{}'\"";
    for (std::size_t begin = 0; begin <= name.size() && !list_;) {
      const std::size_t end  = std::min(name.find_first_of(",;|", begin), name.size());
      std::string_view  part = name.substr(begin, end - begin);
      part.remove_prefix(std::min(part.find_first_not_of(around), part.size()));
      part = part.substr(0, part.find_last_not_of(around) + 1);
      once(list_, !part.empty() && is_vertex(part), "ids", [&] {
        return fmt::format("'{}' is one vertex, and '{}' another: a field is one id, not a list of them",
                           printable(name), printable(part));
      });
      begin = end + 1;
    }
  }

  /// "ann & bob", "ann/bob" and "ann bob" beside ann and bob.
  void look_for_joined(std::string_view name) {
    constexpr std::string_view between = " /&+";
    if (name.find_first_of(between) == std::string_view::npos) return;
    std::size_t parts = 0;
    for (std::size_t begin = 0; begin < name.size();) {
      const std::size_t      end  = std::min(name.find_first_of(between, begin), name.size());
      const std::string_view part = name.substr(begin, end - begin);
      begin                       = end + 1;
      if (part.empty() || part == "and") continue;
      if (!is_vertex(part)) return;
      ++parts;
    }
    once(list_, parts > 1, "ids", [&] {
      return fmt::format("'{}' is one vertex, and its parts are others: a field is one id, not a list of them",
                         printable(name));
    });
  }

  void look_at_characters(std::string_view name) {
    const Text text = text_of(name);
    if (text == Text::other && latin_.empty()) latin_ = name;
    if (text == Text::utf8 && utf8_.empty()) utf8_ = name;
    if (text != Text::utf8) return;
    for (const Unseen& one : unseen)
      once(unseen_,
           name.starts_with(one.bytes) || name.ends_with(one.bytes) ||
               (one.anywhere && name.find(one.bytes) != std::string_view::npos),
           "ids", [&] {
             return fmt::format("'{}' is the name of a vertex, with a blank that is not seen ({}) as a part",
                                printable(name), one.code);
           });
    once(combining_, has_combining_mark(name), "ids", [&] {
      return fmt::format(
          "'{}' is written with combining marks (NFD): the same word with composed letters (NFC) "
          "is another vertex",
          printable(name));
    });
  }

  /// 12.0 for 12, "Ann " for Ann, ="Ann" as spreadsheets protect it.
  void look_for_lookalikes(std::string_view name) {
    if (lookalike_) return;
    const auto two = [&](std::string_view other, const char* why) {
      once(lookalike_, is_vertex(other), "ids", [&] {
        return fmt::format("'{}' and '{}' are two vertices{}", printable(other), printable(name), why);
      });
    };
    const auto first = name.find_first_not_of(' '), last = name.find_last_not_of(' ');
    if (first != std::string_view::npos && last - first + 1 < name.size())
      two(name.substr(first, last - first + 1), ": blanks in quotes are part of a name");
    if (name.find("  ") != std::string_view::npos) {
      std::string once_blank{name};
      const auto  end =
          std::unique(once_blank.begin(), once_blank.end(), [](char a, char b) { return a == ' ' && b == ' '; });
      once_blank.erase(end, once_blank.end());
      two(once_blank, ": blanks count");
    }
    for (const auto& [bytes, code, anywhere] : unseen)
      if (const auto at = name.find(bytes); at != std::string_view::npos && !lookalike_)
        two(std::string{name.substr(0, at)} + " " + std::string{name.substr(at + bytes.size())},
            ": one of them has a blank that is not the usual one");
    const std::string_view whole = name.substr(0, name.size() - std::min<std::size_t>(2, name.size()));
    if (name.ends_with(".0") && is_digits(whole)) two(whole, "");
    if (name.size() > 1 && name[0] == '0' && is_digits(name))
      two(name.substr(std::min(name.find_first_not_of('0'), name.size() - 1)), "");
    if (std::ranges::any_of(name, [](char c) { return c >= 'A' && c <= 'Z'; }))
      two(lower_case(std::string{name}), ": capital letters count");
    if (name.size() > 3 && name.starts_with("=\"") && name.ends_with('"'))
      two(name.substr(2, name.size() - 3), ": =\"…\" is a formula only to spreadsheets");
  }

  /// A second table in the same file has a header of its own.
  void tell_other_header() {
    constexpr std::pair<const char*, const char*> headers[] = {
        {"source", "target"}, {"Source", "Target"}, {"from", "to"},  {"From", "To"}, {"src", "dst"},
        {"id", "label"},      {"Id", "Label"},      {"ID", "Label"}, {"id", "name"}, {"Id", "Name"}};
    for (const auto& [first, second] : headers)
      if (is_vertex(first) && is_vertex(second))
        return add("header", fmt::format("'{}' and '{}' are vertices, though they could be a header inside the "
                                         "file (remove its line if they are)",
                                         first, second));
  }

  const IdMap&         ids_;
  std::uint64_t        vertices_;
  bool                 comments_;
  std::vector<OddName> odd_;
  std::uint64_t        looked_up_ = 0;
  std::string_view     latin_, utf8_;  ///< the first names that are and are not UTF-8, beyond ASCII
  bool missing_ = false, comment_ = false, total_ = false, type_ = false, footnote_ = false, list_ = false,
       unseen_ = false, combining_ = false, lookalike_ = false, ruler_ = false, control_ = false;
};

}  // namespace

std::vector<OddName> odd_names(const IdMap& ids, std::uint64_t vertices, bool comments) {
  return NamePass{ids, vertices, comments}.found();
}

}  // namespace spillway
