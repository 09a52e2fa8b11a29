#include "io/edge_inspection.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cctype>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "io/header_words.hpp"
#include "io/interner.hpp"
#include "io/line_parsers.hpp"
#include "io/reading.hpp"

namespace spillway {
namespace {

// A list of names with more columns than this is a table of something else, unless it is named an edge list.
constexpr std::size_t most_name_columns = 8;

bool has_leading_zero(std::string_view digits) { return digits.size() > 1 && digits[0] == '0'; }

bool is_punctuation(std::string_view text) {
  for (const char* arrow : {"→", "←", "↔", "⇒", "—", "–"})
    if (text == arrow) return true;
  return std::all_of(text.begin(), text.end(), [](char c) { return std::ispunct(static_cast<unsigned char>(c)); });
}

bool opens_a_bracket(std::string_view text) {
  for (const auto& [open, close] : {std::pair{'(', ')'}, std::pair{'[', ']'}, std::pair{'{', '}'}})
    if (text.front() == open && text.find(close) == std::string_view::npos) return true;
  return false;
}

/// Behind numbers, what follows a blank and a # is no column.
std::string_view without_trailing_comment(std::string_view line) {
  const auto first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || !starts_like_number(line.substr(first))) return line;
  for (std::size_t i = first + 1; i < line.size(); ++i)
    if (is_comment(line.substr(i)) && (line[i - 1] == ' ' || line[i - 1] == '\t')) return line.substr(0, i);
  return line;
}

}  // namespace

bool starts_like_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text.starts_with('.')) text.remove_prefix(1);
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

bool is_numeric(std::string_view text) {
  if (!starts_like_number(text)) return false;
  if (text.starts_with('+')) text.remove_prefix(1);
  double     value  = 0;
  const auto parsed = fast_float::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec != std::errc::invalid_argument && parsed.ptr == text.data() + text.size();
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

EdgeInspection::EdgeInspection(const Sample& sample, const LoadOptions& options)
    : sample_(sample), options_(options) {
  split_lines();
  if (lines_.empty()) return;
  separator_ = states_own_banner() ? Separator{} : choose_separator();
  rows_      = trial(separator_);
  find_header();
}

/// Whole lines of the sample that are neither blank nor comments.
void EdgeInspection::split_lines() {
  const std::string_view text = sample_.text;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos) {
      if (!sample_.whole && !lines_.empty()) break;  // cut off in the middle
      end = text.size();
    }
    const std::string_view whole = text.substr(begin, end - begin);
    std::string_view       line  = without_trailing_comment(whole);
    const bool             cut   = line.size() < whole.size();
    // A tab at the end may stand before an empty column.
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    const auto first            = line.find_first_not_of(" \t\r");
    const bool states_separator = begin == 0 && line.size() == 5 && line.starts_with("sep=");  // Excel's
    if (first != std::string_view::npos && !is_comment(line.substr(first)) && !states_separator)
      lines_.push_back({line, begin, cut});
    begin = end + 1;
  }
}

std::uint64_t EdgeInspection::line_number(std::size_t index) const {
  const auto begin = sample_.text.begin();
  return 1 + static_cast<std::uint64_t>(
                 std::count(begin, begin + static_cast<std::ptrdiff_t>(lines_[index].offset), '\n'));
}

bool EdgeInspection::looks_like_edges() const {
  if (sample_.text.find('\0') != std::string::npos) return false;
  if (!has_data()) return !header_.empty() || states_own_banner();
  if (columns() < 2) return false;
  if (is_numeric(data(0)[0]) && is_numeric(data(0)[1])) return true;
  const std::size_t shown = std::min<std::size_t>(shown_rows(), 100);
  for (std::size_t i = 0; i < shown; ++i)
    if (data(i).size() != columns()) return false;
  return columns() <= most_name_columns;
}

bool EdgeInspection::states_own_banner() const { return sample_.text.starts_with(own_banner); }

// --- the header ---

void EdgeInspection::find_header() {
  const Fields& top = rows_[0];
  if (top.size() < 2 || options_.header == HeaderMode::absent || states_own_banner()) return;
  if (options_.header == HeaderMode::automatic && !is_header(top)) return;
  header_ = top;
  first_  = 1;
}

/// A header is words. It is one if an option names a column that it has, if it stands above numbers, or if its
/// words say what columns are.
bool EdgeInspection::is_header(const Fields& top) const {
  if (asked_for_by_name(top)) return true;
  if (numbers_columns(top)) return top[0].empty() || names_numbers_below(top);
  if (starts_like_number(top[0]) || starts_like_number(top[1])) return false;
  const bool has_number =
      std::any_of(top.begin(), top.end(), [](const std::string& field) { return is_numeric(field); });
  if (has_number && !(is_sure(top) && stands_above_ids())) return false;  // a year may name a column
  return stands_above_numbers(top) || says_what_columns_are(top);
}

/// "0,1,weight" or ",0,1", as pandas writes them: columns without a name have their number.
bool EdgeInspection::numbers_columns(const Fields& top) const {
  const bool  unnamed = top[0].empty();  // above the numbers of lines
  std::size_t words   = 0;
  for (std::size_t i = unnamed ? 1 : 0; i < top.size(); ++i) {
    const bool number = top[i] == std::to_string(unnamed ? i - 1 : i);
    if (!number && (i < 2 || top[i].empty() || starts_like_number(top[i]))) return false;
    words += number ? 0 : 1;
  }
  return unnamed ? top.size() > 2 : words > 0;
}

bool EdgeInspection::names_numbers_below(const Fields& top) const {
  for (std::size_t column = 2; column < top.size(); ++column) {
    bool numbers = rows_.size() > 1 && !starts_like_number(top[column]) && !is_missing_value(top[column]);
    for (std::size_t i = 1; i < rows_.size() && numbers; ++i)
      numbers = column < rows_[i].size() && starts_like_number(rows_[i][column]);
    if (numbers) return true;
  }
  return false;
}

bool EdgeInspection::is_sure(const Fields& top) const {
  const Ends ends = ends_of(top);
  return ends.from && ends.to && surely_source(top[*ends.from]) && surely_target(top[*ends.to]);
}

bool EdgeInspection::asked_for_by_name(const Fields& top) const {
  for (const std::string* column : {&options_.source_column, &options_.target_column, &options_.weight_column})
    if (!column->empty() && *column != "none" && !is_digits(*column) &&
        std::find(top.begin(), top.end(), *column) != top.end())
      return true;
  return false;
}

/// Both ids of the next line are numbers.
bool EdgeInspection::stands_above_ids() const {
  return options_.ids != IdMode::string && rows_.size() > 1 && rows_[1].size() >= 2 && is_numeric(rows_[1][0]) &&
         is_numeric(rows_[1][1]);
}

/// Or one column holds numbers everywhere but here.
bool EdgeInspection::stands_above_numbers(const Fields& top) const {
  const std::size_t shown = rows_.size();
  if (shown < 2) return false;
  const bool ids_may_be_numbers = options_.ids != IdMode::string;
  if (stands_above_ids()) return true;
  if (appears_below(top[0]) || appears_below(top[1])) return false;  // an edge between vertices with names
  for (std::size_t column = ids_may_be_numbers ? 0 : 2; column < top.size(); ++column) {
    if (starts_like_number(top[column]) || is_missing_value(top[column])) continue;
    bool numbers = true;
    for (std::size_t i = 1; i < shown && numbers; ++i)
      numbers = column < rows_[i].size() && is_numeric(rows_[i][column]);
    if (numbers) return true;
  }
  return false;
}

/// Words above names. They are an edge after all if a vertex below has one of them as its name.
bool EdgeInspection::says_what_columns_are(const Fields& top) const {
  const Ends ends = ends_of(top);
  if (!ends.from || !ends.to) return false;
  if (lines_.size() == 1) return is_sure(top);
  const bool from_below = appears_below(top[*ends.from]), to_below = appears_below(top[*ends.to]);
  // The tables that Spillway writes begin so, also where a vertex is called "source".
  const bool own = top[*ends.from] == "source" && top[*ends.to] == "target";
  if (own ? from_below && to_below : from_below || to_below) return false;
  if (!ends.letters) return true;
  bool other_letters = false;
  for_each_row(1, [&](std::size_t, const Fields& row) {
    other_letters |= std::any_of(row.begin(), row.end(), [](const std::string& field) {
      return field.size() == 1 && std::isalpha(static_cast<unsigned char>(field[0]));
    });
  });
  return !other_letters;
}

bool EdgeInspection::appears_below(const std::string& word) const {
  bool found = false;
  for_each_row(
      1, [&](std::size_t, const Fields& row) { found |= std::find(row.begin(), row.end(), word) != row.end(); });
  return found;
}

bool EdgeInspection::header_is_a_guess() const {
  if (header_.empty() || options_.header == HeaderMode::present || asked_for_by_name(header_)) return false;
  return !is_sure(header_) || (has_data() && names_because());
}

// --- the columns ---

std::optional<unsigned> EdgeInspection::asked(const char* option, const std::string& column) const {
  if (column.empty()) return std::nullopt;
  if (is_digits(column)) {
    const auto position = parse_number(column);
    if (!position || *position < 1 || *position > columns())
      throw usage_error("{}: {} {} asked for, but lines have {} columns, counted from 1", sample_.path, option,
                        column, columns());
    return static_cast<unsigned>(*position - 1);
  }
  for (unsigned i = 0; i < header_.size(); ++i)
    if (header_[i] == column) return i;
  throw usage_error("{}: {}: no column is named '{}'{}", sample_.path, option, printable(column),
                    header_.empty() ? std::string{"; the file has no header line"}
                                    : fmt::format("; the header has: {}", printable(joined(header_), 200)));
}

void EdgeInspection::refuse_columns() const {
  throw bad_input(
      "{}: the columns ({}) do not tell which are source and target; say --source-column and --target-column",
      sample_.path, header_.empty() ? "no header" : printable(joined(header_), 200));
}

/// Tables that were put one behind the other have their header in between.
void EdgeInspection::refuse_repeated_header() const {
  if (options_.header != HeaderMode::automatic || !is_sure(rows_[0])) return;
  for_each_row(1, [&](std::size_t i, const Fields& row) {
    if (row == rows_[0])
      throw bad_input(
          "{}:{}: the header of line {} stands here again; keep it once (or say --header no, if these "
          "are edges)",
          sample_.path, line_number(i), line_number(0));
  });
}

bool EdgeInspection::numbers_its_lines() const {
  return !data(0).back().empty() && data(0)[0] == "1" && (shown_rows() < 2 || data(1)[0] == "2");
}

/// Lines of numbers may lack columns that nobody reads; but where most lack what the first has, that is no edge.
void EdgeInspection::refuse_odd_first_line() const {
  if (!header_.empty() || separator_.by == ' ' || shown_rows() < 3 || !options_.source_column.empty()) return;
  std::size_t as_second = 0;
  for (std::size_t i = 1; i < shown_rows(); ++i) as_second += data(i).size() == data(1).size() ? 1 : 0;
  if (data(1).size() == columns() || as_second + 1 != shown_rows()) return;
  throw bad_input("{}:{}: the line has {} columns, and those below it have {}; if it is no edge, remove it",
                  sample_.path, first_line(), columns(), data(1).size());
}

void EdgeInspection::place_columns() {
  refuse_repeated_header();
  refuse_odd_first_line();
  if (!header_.empty() && header_.size() != columns())
    throw bad_input("{}:{}: the header in line {} has {} columns, and this line has {}{}", sample_.path,
                    first_line(), line_number(0), header_.size(), columns(),
                    lines_[first_].cut ? remark_hint
                    : header_.size() + 1 == columns() && numbers_its_lines()
                        ? "; if the first column only numbers the lines, write the table without it (in R: "
                          "row.names = FALSE)"
                        : "");
  const auto from = asked("--source-column", options_.source_column);
  const auto to   = asked("--target-column", options_.target_column);
  const bool none = options_.weight_column == "none" || options_.weight_type == WeightType::none;
  const auto weights =
      options_.weight_column == "none" ? std::nullopt : asked("--weight-column", options_.weight_column);
  const auto refuse_twice = [&](std::optional<unsigned> a, std::optional<unsigned> b, const char* options) {
    if (a && a == b) throw usage_error("{}: {} are both column {}", sample_.path, options, *a + 1);
  };
  refuse_twice(from, to, "--source-column and --target-column");
  refuse_twice(from, weights, "--source-column and --weight-column");
  refuse_twice(to, weights, "--target-column and --weight-column");
  refuse_end_as_weight(from, to, weights);
  place_ends(from, to, weights);
  if (!none) place_weights(weights);
  scan_ids();
}

/// A column that the header calls source or target holds no weights, unless an option says what does instead.
void EdgeInspection::refuse_end_as_weight(std::optional<unsigned> from, std::optional<unsigned> to,
                                          std::optional<unsigned> weights) const {
  const Ends ends      = ends_of(header_);
  const bool is_source = weights && !from && weights == ends.from,
             is_target = weights && !to && weights == ends.to;
  if (is_source || is_target)
    throw usage_error(
        "{}: --weight-column {} is '{}', which the header names as the {}; columns are counted from 1 (or say "
        "--{}-column, too)",
        sample_.path, options_.weight_column, printable(header_[*weights]), is_source ? "source" : "target",
        is_source ? "source" : "target");
}

/// The column that is called weights, if it is no end; the surest name first.
std::optional<unsigned> EdgeInspection::weight_by_name(std::optional<unsigned> from,
                                                       std::optional<unsigned> to) const {
  const auto is_weight = [](const std::string& word) { return is_any(word, {"weight"}); };
  for (bool (*names)(const std::string&) : {+is_weight, surely_weight, names_weight})
    for (unsigned i = 0; i < header_.size(); ++i)
      if (names(header_[i]) && i != from && i != to) return i;
  return std::nullopt;
}

/// Of columns without a name that says more, those that number or date the lines are no ends, if two are left.
void EdgeInspection::leave_out_line_numbers(std::vector<unsigned>& columns) const {
  std::vector<unsigned> left;
  for (const unsigned i : columns)
    if (i >= header_.size() || !names_the_line(header_[i])) left.push_back(i);
  if (left.size() == 2) columns = std::move(left);
}

/// By option or by the header's words; what they leave open is filled in only where one choice remains.
void EdgeInspection::place_ends(std::optional<unsigned> from, std::optional<unsigned> to,
                                std::optional<unsigned> weights) {
  const Ends ends      = ends_of(header_);
  const auto is_free   = [&](std::optional<unsigned> i) { return i && i != from && i != to && i != weights; };
  const bool both_open = !from && !to;
  if (!from && is_free(ends.from)) from = ends.from;
  if (!to && is_free(ends.to)) to = ends.to;
  if (!weights) weights = weight_by_name(from, to);
  std::vector<unsigned> others;
  for (unsigned i = 0; i < columns(); ++i)
    if (i != from && i != to && i != weights) others.push_back(i);
  const auto is_other = [&](unsigned i) { return std::find(others.begin(), others.end(), i) != others.end(); };
  if (!from && !to) {
    leave_out_line_numbers(others);
    if (others.size() != 2 && !(is_other(0) && is_other(1))) refuse_columns();
    from = others.size() == 2 ? others[0] : 0;
    to   = others.size() == 2 ? others[1] : 1;
  } else if (!from || !to) {
    std::optional<unsigned>& open = from ? to : from;
    // Of a pair that opens the line, one end tells the other.
    const bool opens_line = both_open && (from ? from == 0u && is_other(1) : to == 1u && is_other(0));
    if (others.size() != 1 && !opens_line) refuse_columns();
    const unsigned beside = from ? 1 : 0;
    open                  = others.size() == 1 ? others[0] : beside;
  }
  if (from == weights || to == weights) refuse_columns();
  source_ = *from;
  target_ = *to;
}

/// As asked for, by the header, or what remains of exactly three columns.
void EdgeInspection::place_weights(std::optional<unsigned> asked_for) {
  weight_ = asked_for;
  if (weight_) return;
  if (!header_.empty()) {
    weight_           = weight_by_name(source_, target_);
    weight_is_chosen_ = std::count_if(header_.begin(), header_.end(), names_weight) > 1;
    return;
  }
  if (columns() < 3) return;
  const unsigned beside = 3 - source_ - target_;
  const bool     stated = states_own_banner() || named_with(sample_.path, "wel") || options_.weight_type;
  if (columns() == 3 && (stated || holds_numbers(beside))) {
    weight_            = beside;
    weight_is_a_guess_ = !stated;
  } else if (columns() > 3 && options_.weight_type && source_ != 2 && target_ != 2) {
    weight_ = 2;
  }
}

/// Some line has a number there. If others have not, reading says so.
bool EdgeInspection::holds_numbers(unsigned column) const {
  const std::size_t shown = shown_rows();
  for (std::size_t i = 0; i < shown; ++i)
    if (column < data(i).size() && is_numeric(data(i)[column])) return true;
  return false;
}

bool EdgeInspection::is_empty(unsigned column) const {
  for (std::size_t i = 0; i < shown_rows(); ++i)
    if (column < data(i).size() && !data(i)[column].empty()) return false;
  return true;
}

/// Digits in groups of three behind a point, as in 1.250, and nothing else behind one.
bool EdgeInspection::may_group_digits(unsigned column) const {
  std::size_t grouped = 0;
  for (std::size_t i = 0; i < shown_rows(); ++i) {
    if (column >= data(i).size()) return false;
    const std::string& text  = data(i)[column];
    const auto         point = text.find('.');
    if (point == std::string::npos) continue;
    if (point < 1 || point > 3 || text.size() != point + 4 || text[0] == '0') return false;
    ++grouped;
  }
  return grouped > 1;
}

bool EdgeInspection::has_decimal_commas(unsigned column) const {
  if (column >= data(0).size()) return false;
  const std::string& text  = data(0)[column];
  const auto         comma = text.find(',');
  return comma != std::string::npos && is_digits(text.substr(0, comma)) && is_digits(text.substr(comma + 1));
}

WeightType EdgeInspection::weight_type_at(unsigned column) const {
  const std::size_t shown = shown_rows();
  for (std::size_t i = 0; i < shown; ++i)
    if (column < data(i).size() && !is_digits(data(i)[column])) return WeightType::f32;
  return WeightType::u32;
}

// --- the ids ---

std::optional<NameEvidence> EdgeInspection::names_because() const {
  const Fields& top = data(0);
  for (const unsigned column : {source_, target_})
    if (column < top.size() && !is_numeric(top[column])) return NameEvidence{top[column], first_line()};
  return zeros_;
}

/// The largest number among the ids, and the first that has leading zeros.
void EdgeInspection::scan_ids() {
  for_each_row(first_, [&](std::size_t i, const Fields& row) {
    for (const unsigned column : {source_, target_}) {
      if (column >= row.size() || !is_digits(row[column])) continue;
      largest_ = std::max(largest_, parse_number(row[column]).value_or(0));
      if (!zeros_ && has_leading_zero(row[column])) zeros_ = NameEvidence{row[column], line_number(i)};
    }
  });
}

void EdgeInspection::require_usable_ids() const {
  const Fields& top    = data(0);
  const auto    refuse = [&](const std::string& id, std::string_view why) {
    throw bad_input("{}:{}: '{}' {}{}", sample_.path, first_line(), printable(id), why,
                       id_advice(id, "; if it is the name of a vertex, say --ids string"));
  };
  const bool numbers = is_numeric(top[source_]) && is_numeric(top[target_]);
  for (const unsigned column : {source_, target_}) {
    const std::string& id = top[column];
    if (id.empty()) continue;  // reading says so
    if (numbers && !is_digits(id)) refuse(id, "is not a vertex id (0, 1, 2, ...)");
    if (numbers) continue;
    if (id.front() == '<') refuse(id, "looks like HTML or XML, not like an edge list");
    if (first_text().starts_with("version https://git-lfs"))
      refuse(id, "begins a pointer of Git LFS, not the file itself; fetch it with git lfs pull");
    if (id.starts_with("nodedef>")) refuse(id, "begins a GDF file, which is not read; export edges as CSV");
    if (is_punctuation(id))
      refuse(id,
             "stands where an id was expected; an edge is 'SOURCE TARGET', with nothing between but separators");
    if (id.size() > 1 && id.back() == ':')
      refuse(id, "ends with a colon; a line is one edge, not a vertex and its neighbours");
    if (id.find('{') != std::string::npos && id.find('}') == std::string::npos)
      refuse(id,
             "is cut off inside braces; networkx writes lists without them by write_edgelist(..., data=False)");
    if (opens_a_bracket(id))
      refuse(id, "opens a bracket that does not close; an edge is 'SOURCE TARGET', without brackets");
  }
}

std::uint64_t EdgeInspection::sparse_from() const {
  const std::uint64_t bytes = std::max<std::uint64_t>(sample_.file_bytes, sample_.text.size());
  const std::uint64_t edges = bytes * lines_.size() / std::max<std::uint64_t>(sample_.text.size(), 1);
  return spillway::sparse_from(edges);
}

}  // namespace spillway
