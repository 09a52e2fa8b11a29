// How one line of an edge list is taken apart: numbers in the first columns on the fast path, all else by fields.
#pragma once

#include <fast_float/fast_float.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "io/decimals.hpp"
#include "io/edge_lines.hpp"
#include "io/fields.hpp"
#include "io/line_source.hpp"

namespace spillway {

/// What a line ends a reading with: it is wrong, or it shows that the start of the text misled.
enum class Finding { mistake, no_weight, wider_ids, names, fractions, quotes };

/// Something is found at this place; the caller knows which line that is.
struct LineProblem {
  const char* place;
  std::string message;  ///< of `names`: the text that is one
  Finding     finding = Finding::mistake;
};

/// The text is to be read again, as something else.
struct Reread {
  Finding       finding;
  std::string   text;
  std::uint64_t line;
};

/// The first weight of a piece that 32 bits do not hold. It is a mistake only if all weights of the file are
/// whole: one fraction makes floats of them. So reading goes on, and the end decides.
struct WideWeight {
  const char* place = nullptr;
  std::string text;

  void note(const char* where, std::string_view word) {
    if (!place) place = where, text = word;
  }
};

/// The first of its kind that a thread meets. Each thread reads forwards, so that the first of the file is the
/// first of some thread, and none has to look further.
struct Sighting {
  const char* place = nullptr;  ///< until it is reported
  std::string text;
  bool        found = false;

  void note(const char* where, std::string_view word) {
    if (!found) place = where, text = word, found = true;
  }
};

/// What a thread notices beside edges.
struct Seen {
  WideWeight wide;          ///< of this piece
  Sighting   rounded;       ///< a weight that lost digits
  Sighting   remark;        ///< a comment behind an edge
  Sighting   divider;       ///< a comment between edges
  Sighting   gap;           ///< a blank line before another line of this piece
  Sighting   last_gap;      ///< a blank line at the end of a piece
  Sighting   lower, upper;  ///< an entry of that triangle of a matrix, where only one may have any
};

/// The text from `p` to the end of the line, without blanks at its end.
inline std::string_view rest_of_line(const char* p) {
  std::string_view rest{p, static_cast<std::size_t>(static_cast<const char*>(rawmemchr(p, '\n')) - p)};
  while (!rest.empty() && is_blank(rest.back())) rest.remove_suffix(1);
  return rest;
}

/// "#N/A<TAB>3", "#12,#15": an edge whose source begins with the mark of comments.
inline bool has_edge_shape(std::string_view comment) {
  if (comment.size() < 2 || comment[1] == '#' || is_blank(comment[1])) return false;
  const auto end = comment.find_first_of(" \t,;|");
  if (end == std::string_view::npos) return false;
  auto next = comment.find_first_not_of(" \t,;|", end);
  if (next != std::string_view::npos && comment[next] == '#') ++next;
  return next < comment.size() && comment[next] >= '0' && comment[next] <= '9';
}

/// A comment that has a line of its own among edges: what follows it may be another part of the file.
inline void look_at_comment(const char* p, Seen& seen) {
  if (!seen.divider.found) seen.divider.note(p, rest_of_line(p));
}

/// A blank line: what follows it may be another part of the file.
inline void look_at_blank(const char* p, const char* end, Seen& seen, char delimiter = ' ') {
  if (seen.gap.found || seen.last_gap.found) return;
  const char* next = p;
  while (next < end && (is_blank(*next) || *next == '\n' || *next == delimiter)) ++next;
  if (next < end && (*next == '#' || *next == '%')) return;  // is told, if edges follow
  (next < end ? seen.gap : seen.last_gap).note(p, "blank");
}

inline constexpr const char* wide_weight_message =
    "weight {} does not fit 32 bits (at most 4294967295); read weights as floats with --weight-type f32, or none "
    "with --weight-column none";

inline constexpr const char* unclosed_quote =
    "a quote is not closed on this line, or text follows a closing quote";

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline const char* skip_blanks(const char* p) {
  while (is_blank(*p)) ++p;
  return p;
}

/// A chunk always ends with a newline, so there is one.
inline const char* end_of_line(const char* p) { return static_cast<const char*>(rawmemchr(p, '\n')); }

/// The word at `p`, for a message.
inline std::string word_at(const char* p, char delimiter) {
  const char* end = p;
  while (*end != '\n' && !is_blank(*end) && *end != delimiter) ++end;
  return end == p ? "the end of the line" : fmt::format("'{}'", printable({p, static_cast<std::size_t>(end - p)}));
}

/// A decimal number; `p` is moved past it. Eight bytes are looked at together, since the lengths of ids are what
/// no branch predictor can guess; longer numbers take a plain loop.
inline bool parse_digits(const char*& p, std::uint64_t& value) {
  static_assert(readable_past >= sizeof(std::uint64_t));
  std::uint64_t  digits;
  const unsigned length = digits_at(p, digits);
  if (length > 0 && length < 8) [[likely]] {
    value = joined_digits(digits, length);
    p += length;
    return true;
  }
  const char* const first = p;
  while (*p >= '0' && *p <= '9') ++p;
  const auto number = parse_number({first, static_cast<std::size_t>(p - first)});  // may not fit 64 bits
  value             = number.value_or(0);
  return number.has_value();
}

/// What to do about an id that is no whole number; `hint` where it may be a name.
inline std::string id_advice(std::string_view id, const std::string& hint) {
  const bool number = id.find_first_not_of("0123456789.eE+-") == std::string_view::npos &&
                      id.find_first_of("0123456789") != std::string_view::npos;
  if (hint.empty() || !number) return hint;
  if (id.front() == '-' || id.front() == '+')
    return "; ids have no sign: renumber them from 0, or remove the line if it stands for a missing value (--ids "
           "string makes names of all ids)";
  return "; write ids as whole numbers (pandas: astype('int64'), R: options(scipen = 999)); --ids string makes "
         "names "
         "of all ids, and of 2 and 2.0 different ones";
}

/// Weight bits of the type that T names; `p` is moved past it.
struct WeightLeftOut {
  static constexpr WeightType type = WeightType::none;
};

inline LineProblem no_weight(const char* first, char delimiter) {
  return {first, fmt::format("expected a weight, found {}", word_at(first, delimiter)), Finding::no_weight};
}

struct IntegerWeight {
  static constexpr WeightType type = WeightType::u32;

  static std::uint32_t parse(const char*& p, char delimiter, bool fixed, Seen& seen) {
    const char* const first = p;
    std::uint64_t     value = 0;
    const bool        good  = parse_digits(p, value);
    const bool        ends  = p != first && (is_blank(*p) || *p == '\n' || *p == delimiter);
    if (good && ends && value <= UINT32_MAX) [[likely]]
      return static_cast<std::uint32_t>(value);
    if (!ends) refuse(first, delimiter, fixed);
    if (fixed) throw LineProblem{first, fmt::format(wide_weight_message, word_at(first, delimiter))};
    seen.wide.note(first, word_at(first, delimiter));
    return 0;
  }

 private:
  [[noreturn]] static void refuse(const char* first, char delimiter, bool fixed) {
    float      as_float = 0;
    const auto parsed   = fast_float::from_chars(first, end_of_line(first), as_float);
    const bool ends     = is_blank(*parsed.ptr) || *parsed.ptr == '\n' || *parsed.ptr == delimiter;
    if (parsed.ec != std::errc{} || !std::isfinite(as_float) || !ends) throw no_weight(first, delimiter);
    if (!fixed) throw LineProblem{first, {}, Finding::fractions};
    throw LineProblem{first, fmt::format("weight {} is not a whole number from 0 to 4294967295; read weights as "
                                         "floats with --weight-type f32",
                                         word_at(first, delimiter))};
  }
};

struct FloatWeight {
  static constexpr WeightType type = WeightType::f32;

  static std::uint32_t parse(const char*& p, char delimiter, bool, Seen& seen) {
    float             value = 0;
    const char* const first = p;
    PlainNumber       plain;
    if (plain.parse(p) && ends(*p, delimiter) && plain.to_float(value)) [[likely]] {
      if (!seen.rounded.found && plain.loses_digits(value)) [[unlikely]]
        note_rounded(seen, {first, static_cast<std::size_t>(p - first)}, value);
      return std::bit_cast<std::uint32_t>(value);
    }
    p              = first;
    const auto end = fast_float::from_chars(p, end_of_line(p), value);
    if (end.ec != std::errc{} && end.ec != std::errc::result_out_of_range) throw no_weight(first, delimiter);
    if (!ends(*end.ptr, delimiter)) throw no_weight(first, delimiter);
    if (!std::isfinite(value))
      throw LineProblem{first, fmt::format("weight {} is not a finite 32-bit float", word_at(first, delimiter))};
    if (value == 0 && !is_zero(first, end.ptr)) [[unlikely]]
      throw LineProblem{first, fmt::format("weight {} is too small for a 32-bit float, which would make it 0",
                                           word_at(first, delimiter))};
    const std::string_view text{first, static_cast<std::size_t>(end.ptr - first)};
    if (!seen.rounded.found && loses_digits(text, value)) note_rounded(seen, text, value);
    p = end.ptr;
    return std::bit_cast<std::uint32_t>(value);
  }

 private:
  static bool ends(char c, char delimiter) { return is_blank(c) || c == '\n' || c == delimiter; }

  [[gnu::noinline]] static void note_rounded(Seen& seen, std::string_view text, float value) {
    seen.rounded.note(text.data(), fmt::format("{} became {}", printable(text), value));
  }

  /// That zeros are all its digits, up to the exponent.
  static bool is_zero(const char* p, const char* end) {
    for (; p < end && *p != 'e' && *p != 'E'; ++p)
      if (*p >= '1' && *p <= '9') return false;
    return true;
  }
};

inline std::string other_columns(std::size_t found, std::size_t expected) {
  return fmt::format(
      "the line has {}, where {} were expected, as in the first line; if the ids are in the right columns, say "
      "--source-column N --target-column N",
      counted(found, "column", "columns"), expected);
}

/// Said where a line has too few columns because of it.
inline constexpr const char* remark_hint =
    "; what follows # or % behind numbers is a comment (put it into quotes if it is a column)";

/// A row of a table in which nothing stands, as spreadsheets leave them: ",,".
inline bool is_all_empty(const char* p, char delimiter) {
  if (delimiter == ' ' || *p != delimiter) return false;
  while (*p == delimiter || is_blank(*p)) ++p;
  return *p == '\n';
}

/// A line that begins with tabs, where others do not, is no edge of what follows.
inline void check_first_tab(const EdgeText& text, const char* line, const char* word) {
  if (*line == '\t' && !text.tabs_first && *word != '\n')
    throw LineProblem{line, "expected a source in column 1, but it is empty: the line begins with a tab"};
}

/// Lines whose first columns are the ids in order: the fast path, for numbers only.
template <class Weight>
class NumberLines {
 public:
  explicit NumberLines(const EdgeText& text) : text_(text), layout_(text.layout) {}

  /// add(source, target, weight bits, place) for every edge; returns how many.
  template <class Add>
  std::uint64_t parse(const LineChunk& chunk, Seen& seen, Add&& add) const {
    std::uint64_t edges = 0;
    for (const char* p = chunk.begin; p < chunk.end;) {
      if (!is_digit(*p)) [[unlikely]] {
        const char* const begin = p;
        p                       = skip_blanks(p);
        if (*p == '\n') {
          look_at_blank(p, chunk.end, seen);
          ++p;
          continue;
        }
        if (is_comment(*p)) {
          look_at_comment(p, seen);
          p = end_of_line(p) + 1;
          continue;
        }
        if (is_all_empty(p, layout_.delimiter)) {
          look_at_blank(p, chunk.end, seen, layout_.delimiter);
          p = end_of_line(p) + 1;
          continue;
        }
        check_first_tab(text_, begin, p);
      }
      const char* const line = p;
      if (layout_.lead) p = past_lead(p);
      const std::uint64_t source = id(p, "a source id");
      p                          = past_delimiter(p, "a target id");
      const std::uint64_t target = id(p, "a target id");
      std::uint32_t       weight = 0;
      if constexpr (Weight::type != WeightType::none) {
        p      = past_delimiter(p, "a weight");
        weight = Weight::parse(p, layout_.delimiter, text_.weights_stated, seen);
      }
      p = past_line(p, seen);
      add(source, target, weight, line);
      ++edges;
    }
    return edges;
  }

 private:
  bool is_comment(char c) const { return layout_.comments.find(c) != std::string::npos; }
  /// In edge lists, whose first line may have none.
  bool may_quote(char c) const { return c == '"' && !text_.hint.empty(); }

  const char* past_lead(const char* p) const {
    if (*p != layout_.lead || !is_blank(p[1]))
      throw LineProblem{
          p, fmt::format("expected a line that starts with '{}', found {}", layout_.lead, word_at(p, ' '))};
    return skip_blanks(p + 1);
  }

  bool ends_field(char c) const { return is_blank(c) || c == layout_.delimiter || c == '\n'; }

  std::uint64_t id(const char*& p, const char* what) const {
    const char* const first = p;
    std::uint64_t     value = 0;
    if (!parse_digits(p, value) || !ends_field(*p)) [[unlikely]]
      refuse_id(first, p, what);
    if (*first == '0' && p != first + 1) [[unlikely]]
      check_zeros(first, p);
    return value;
  }

  /// 007 is not 7, unless somebody says that ids are numbers.
  void check_zeros(const char* first, const char* end) const {
    if (text_.names_if_zeros)
      throw LineProblem{first, {first, static_cast<std::size_t>(end - first)}, Finding::names};
  }

  [[noreturn]] void refuse_id(const char* first, const char* end, const char* what) const {
    if (may_quote(*first)) throw LineProblem{first, {}, Finding::quotes};
    if (layout_.delimiter != ' ' && (*first == layout_.delimiter || *first == '\n'))
      throw LineProblem{first, fmt::format("expected {}, but its column is empty", what)};
    const std::string word = word_at(first, layout_.delimiter);
    if (end != first && ends_field(*end))
      throw LineProblem{first,
                        fmt::format("id {} does not fit 64 bits; read ids as names with --ids string", word)};
    const char* past = end;
    while (!ends_field(*past)) ++past;
    throw LineProblem{first, fmt::format("expected {} (a number), found {}{}", what, word,
                                         id_advice({first, static_cast<std::size_t>(past - first)}, text_.hint))};
  }

  const char* past_delimiter(const char* p, const char* what) const {
    p = skip_blanks(p);
    if (layout_.delimiter != ' ') {
      if (*p != layout_.delimiter)
        throw LineProblem{p,
                          fmt::format("expected '{}' and {}, found {}", layout_.delimiter, what, word_at(p, ' '))};
      p = skip_blanks(p + 1);
    }
    if (*p == '\n' && layout_.delimiter != ' ')
      throw LineProblem{p, fmt::format("expected {}, but its column is empty", what)};
    if (*p == '\n') throw LineProblem{p, fmt::format("expected {}, found the end of the line", what)};
    if (may_quote(*p)) throw LineProblem{p, {}, Finding::quotes};
    return p;
  }

  const char* past_line(const char* p, Seen& seen) const {
    constexpr unsigned used = Weight::type == WeightType::none ? 2 : 3;
    if (layout_.columns > used) return past_columns(p, used, seen);
    if (*p == '\n') [[likely]]
      return p + 1;
    p = skip_blanks(p);
    if (*p == '\n') return p + 1;
    if (is_comment(*p)) return past_remark(p, seen);
    throw LineProblem{
        p, fmt::format("expected the end of the line after {} columns, found {}", used, word_at(p, ' '))};
  }

  /// Past a comment behind an edge.
  static const char* past_remark(const char* p, Seen& seen) {
    if (!seen.remark.found) seen.remark.note(p, rest_of_line(p));
    return end_of_line(p) + 1;
  }

  /// Fields from `p` on, which is behind one. A text in quotes that goes on in the next line would make edges of
  /// what follows.
  unsigned fields_behind(const char* p, const char* end) const {
    const auto rest = static_cast<std::size_t>(end - p);
    if (!std::memchr(p, '"', rest)) [[likely]]
      return static_cast<unsigned>(std::count(p, end, layout_.delimiter));
    std::vector<std::string> fields;
    if (!split_fields({p, rest}, layout_.delimiter, fields)) throw LineProblem{p, unclosed_quote};
    return static_cast<unsigned>(fields.size()) - 1;
  }

  /// Past fields that nobody reads. More or fewer than in the first line tell of a comma inside a number, or of a
  /// line that was cut off.
  const char* past_fields(const char* p, unsigned columns, Seen& seen) const {
    const char* const end   = end_of_line(p);
    const unsigned    found = columns + fields_behind(p, end);
    if (found == layout_.columns || layout_.ragged) [[likely]]
      return end + 1;
    const auto        is_remark = [&](const char& c) { return is_comment(c) && is_blank(*(&c - 1)); };
    const char* const remark    = std::find_if(p, end, is_remark);
    if (remark != end && columns + fields_behind(p, remark) == layout_.columns) return past_remark(remark, seen);
    throw LineProblem{p, other_columns(found, layout_.columns) + (remark != end ? remark_hint : "")};
  }

  /// Past columns that nobody reads. Between blanks an empty one cannot be seen: there must be as many as in the
  /// first line.
  const char* past_columns(const char* p, unsigned columns, Seen& seen) const {
    if (layout_.delimiter != ' ' || layout_.ragged) return past_fields(p, columns, seen);
    if (!text_.hint.empty() && std::memchr(p, '"', static_cast<std::size_t>(end_of_line(p) - p))) [[unlikely]]
      throw LineProblem{p, {}, Finding::quotes};
    if (text_.names_delimiter == '\t') {  // texts between tabs may hold blanks
      const char* const end = end_of_line(p);
      columns += static_cast<unsigned>(std::count(p, end, '\t'));
    } else {
      for (p = skip_blanks(p); *p != '\n' && !is_comment(*p); p = skip_blanks(p)) {
        ++columns;
        while (*p != '\n' && !is_blank(*p)) ++p;
      }
    }
    const bool remark = is_comment(*p);
    if (columns != layout_.columns)
      throw LineProblem{p, other_columns(columns, layout_.columns) + (remark ? remark_hint : "")};
    return remark ? past_remark(p, seen) : end_of_line(p) + 1;
  }

  const EdgeText&   text_;
  const EdgeLayout& layout_;
};

/// Any columns, quotes, names: every line is taken apart.
template <class Weight, class Key>
class FieldLines {
 public:
  explicit FieldLines(const EdgeText& text) : text_(text), layout_(text.layout) {}

  template <class Add>
  std::uint64_t parse(const LineChunk& chunk, Seen& seen, Add&& add) const {
    std::vector<std::string> fields;
    std::uint64_t            edges = 0;
    for (const char* p = chunk.begin; p < chunk.end;) {
      const char* const end  = end_of_line(p);
      const char* const line = p;
      const char* const word = skip_blanks(p);
      p                      = end + 1;
      if (word == end) {
        look_at_blank(word, chunk.end, seen);
        continue;
      }
      if (is_comment(*word)) {
        look_at_comment(word, seen);
        continue;
      }
      if (is_all_empty(word, layout_.delimiter)) {
        look_at_blank(word, chunk.end, seen, layout_.delimiter);
        continue;
      }
      check_first_tab(text_, line, word);
      if (!split_fields({line, static_cast<std::size_t>(end - line)}, layout_.delimiter, fields, layout_.also))
        throw LineProblem{line, unclosed_quote};
      check_columns(fields, line, seen);
      if constexpr (names) check_seams(fields, line, end);
      if (names && (fields[0] == "#" || fields[0] == "%"))
        throw LineProblem{line, "this looks like a comment; among names, comments stand at the top of the file"};
      const Key     source = key(fields, layout_.source, line, "source");
      const Key     target = key(fields, layout_.target, line, "target");
      std::uint32_t weight = 0;
      if constexpr (Weight::type != WeightType::none) weight = weight_of(fields, line, seen);
      add(source, target, weight, line);
      ++edges;
    }
    return edges;
  }

 private:
  static constexpr bool names = std::is_same_v<Key, std::string_view>;

  bool is_comment(char c) const { return layout_.comments.find(c) != std::string::npos; }

  bool is_comment_at_top(const char* line, const char* end) const {
    if (line == end || (*line != '#' && *line != '%') || text_.comments_like_edges.empty()) return false;
    std::string_view text{line, static_cast<std::size_t>(end - line)};
    if (text.ends_with('\r')) text.remove_suffix(1);
    return std::ranges::find(text_.comments_like_edges, text) != text_.comments_like_edges.end();
  }

  /// What is left of several files put one behind the other is no name.
  void check_seams(const std::vector<std::string>& fields, const char* line, const char* end) const {
    if (std::memchr(line, 0, static_cast<std::size_t>(end - line)))
      throw LineProblem{line, "a byte of this line is 0: this is not text"};
    if (fields[0].starts_with("\xef\xbb\xbf"))
      throw LineProblem{line,
                        "a byte-order mark stands inside the text, as if files had been put one behind the "
                        "other; remove it"};
    if (is_comment_at_top(line, end))
      throw LineProblem{line,
                        "a comment of the top of the file stands here again; remove it, or put a name that "
                        "starts with # or % into quotes"};
    if (text_.header_source.empty() || layout_.source >= fields.size() || layout_.target >= fields.size()) return;
    if (fields[layout_.source].size() != text_.header_source.size()) return;
    if (lower_case(fields[layout_.source]) == text_.header_source &&
        lower_case(fields[layout_.target]) == text_.header_target)
      throw LineProblem{line,
                        "the header stands here again; keep it once (or say --header no, if these are edges)"};
  }

  /// Names may be anything, so that only the number of columns tells an edge from prose; among numbers it tells a
  /// comma inside one, and a line that was cut off.
  void check_columns(const std::vector<std::string>& fields, const char* line, Seen& seen) const {
    const std::size_t columns = layout_.columns;
    if (fields.size() == columns || layout_.ragged) return;
    if (fields.size() > columns && !fields[columns].empty() && is_comment(fields[columns][0]))
      return seen.remark.note(
          line,
          fmt::format("{}", fmt::join(fields.begin() + static_cast<std::ptrdiff_t>(columns), fields.end(), " ")));
    // A line that is short of an id or a weight is told so below.
    const std::size_t last =
        std::max({layout_.source, layout_.target, Weight::type == WeightType::none ? 0 : layout_.weight});
    if (fields.size() <= last) return;
    if constexpr (!names) throw LineProblem{line, other_columns(fields.size(), columns)};
    throw LineProblem{line,
                      fmt::format("the line has {}, where {} were expected, as in the first line; names with "
                                  "blanks in them are quoted, or separated by tabs or commas",
                                  counted(fields.size(), "column", "columns"), columns)};
  }

  const std::string& field(const std::vector<std::string>& fields, unsigned column, const char* line,
                           const char* what) const {
    if (column < fields.size() && !fields[column].empty()) return fields[column];
    throw LineProblem{
        line, fmt::format("expected a {} in column {}, but {}", what, column + 1,
                          column < fields.size() ? std::string{"it is empty"}
                                                 : "the line has " + counted(fields.size(), "column", "columns"))};
  }

  Key key(const std::vector<std::string>& fields, unsigned column, const char* line, const char* what) const {
    const std::string& text = field(fields, column, line, what);
    if constexpr (names) {
      return text;
    } else {
      if (const auto number = parse_number(text)) {
        if (text_.names_if_zeros && text.size() > 1 && text[0] == '0')
          throw LineProblem{line, text, Finding::names};
        return *number;
      }
      throw LineProblem{line, fmt::format("expected a {} id (a number) in column {}, found '{}'{}", what,
                                          column + 1, printable(text), id_advice(text, text_.hint))};
    }
  }

  std::uint32_t weight_of(const std::vector<std::string>& fields, const char* line, Seen& seen) const {
    // Parsers stop at a newline, and may look past it.
    const std::string text =
        field(fields, layout_.weight, line, "weight") + '\n' + std::string(readable_past, '\0');
    const char* place = text.c_str();
    try {
      Seen found;
      found.rounded.found      = seen.rounded.found;
      const std::uint32_t bits = Weight::parse(place, layout_.delimiter, text_.weights_stated, found);
      if (found.wide.place) seen.wide.note(line, found.wide.text);
      if (found.rounded.place) seen.rounded.note(line, found.rounded.text);
      if (*skip_blanks(place) == '\n') return bits;
    } catch (const LineProblem& problem) {
      throw LineProblem{line, problem.message, problem.finding};
    }
    throw LineProblem{line,
                      fmt::format("expected a weight in column {}, found '{}'", layout_.weight + 1,
                                  printable(fields[layout_.weight])),
                      Finding::no_weight};
  }

  const EdgeText&   text_;
  const EdgeLayout& layout_;
};

template <class Visit>
auto with_weight(WeightType type, Visit&& visit) {
  switch (type) {
    case WeightType::u32:
      return visit(IntegerWeight{});
    case WeightType::f32:
      return visit(FloatWeight{});
    case WeightType::none:
      break;
  }
  return visit(WeightLeftOut{});
}

inline std::uint32_t negated(WeightType type, std::uint32_t bits) {
  return type == WeightType::f32 ? bits ^ 0x80000000u : bits;
}

}  // namespace spillway
