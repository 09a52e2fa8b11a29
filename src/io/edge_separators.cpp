// What separates the columns of an edge list: found by trying, on the lines of the sample.
#include "io/edge_inspection.hpp"

#include <algorithm>

namespace spillway {
namespace {

// Lines that separators and headers are tried on.
constexpr std::size_t trial_lines = 1000;

bool even(const std::vector<Fields>& rows) {
  return rows[0].size() >= 2 &&
         std::all_of(rows.begin(), rows.end(), [&](const Fields& row) { return row.size() == rows[0].size(); });
}

/// As in 478,2 and "Smith, J", and not as in y=2,http://b/.
bool commas_belong_to(const std::string& field) {
  const auto is_digit = [&](std::size_t i) { return i < field.size() && field[i] >= '0' && field[i] <= '9'; };
  for (std::size_t at = field.find(','); at != std::string::npos; at = field.find(',', at + 1)) {
    const bool blank = at + 1 < field.size() && field[at + 1] == ' ';
    if (!blank && !(at > 0 && is_digit(at - 1) && is_digit(at + 1))) return false;
  }
  return true;
}

/// The line with what stands in quotes blotted out: it separates nothing. A quote opens at the beginning of a
/// field.
std::string without_quotes(std::string_view quoted) {
  constexpr std::string_view before_fields = " \t,;|\"";  // a quote that is doubled opens again
  std::string                line;
  bool                       inside = false;
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    const bool opens = i == 0 || before_fields.find(quoted[i - 1]) != std::string_view::npos;
    if (quoted[i] == '"') inside = !inside && opens;
    line += inside ? '"' : quoted[i];
  }
  return line;
}

/// Digits in groups of three: 1,234 or 12 345 678. `grouped` if there is more than one group.
bool is_grouped_number(std::string_view text, char between, bool& grouped) {
  const auto  digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  std::size_t i     = 0;
  while (digit(i)) ++i;
  if (i < 1 || i > 3) return false;
  grouped = i < text.size();
  for (; i < text.size(); i += 4)
    if (text[i] != between || !digit(i + 1) || !digit(i + 2) || !digit(i + 3)) return false;
  return true;
}

}  // namespace

std::vector<Fields> EdgeInspection::trial(Separator separator) const {
  std::vector<Fields> rows(std::min(lines_.size(), trial_lines));
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!split_fields(lines_[i].text, separator.by, rows[i], separator.also)) rows[i].clear();
  return rows;
}

/// True when this separator makes numbers of (nearly) all lines: of their first two columns, or of all. A line
/// that is broken does not change what the others are; reading will find it. The first may be a header.
bool EdgeInspection::fits(Separator separator, bool every_column) const {
  const std::vector<Fields> rows = trial(separator);
  const auto                good = [&](const Fields& row, std::size_t columns) {
    if (row.size() < 2 || row.size() != columns) return false;
    const auto end = every_column ? row.end() : row.begin() + 2;
    return std::all_of(row.begin(), end, [](const std::string& field) { return is_numeric(field); });
  };
  const std::string_view top      = lines_[0].text;
  const bool             is_words = !starts_like_number(top.substr(top.find_first_not_of(" \t")));
  const std::size_t      first    = rows.size() > 1 && is_words ? 1 : 0;
  if (!good(rows[first], rows[first].size())) return false;
  if (separator.also) {
    // Both must be at work in a line, or a slip in one line would change how all others are read.
    const std::string line = without_quotes(lines_[first].text);
    if (line.find_first_of(" \t", line.find_first_not_of(" \t")) == std::string::npos) return false;
    if (line.find(separator.also) == std::string::npos) return false;
  }
  const auto matching = std::count_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                                      [&](const Fields& row) { return good(row, rows[first].size()); });
  return static_cast<std::size_t>(matching) * 10 >= (rows.size() - first) * 9;
}

/// A tab separates names that may hold anything else, commas, semicolons and bars names that may hold blanks.
Separator EdgeInspection::separator_for_names() const {
  const std::string   line = without_quotes(lines_[0].text);
  std::optional<char> present;
  for (const char c : {';', '|'})
    if (parts_ids_with_commas(c)) return {c};
  for (const char c : {'\t', ',', ';', '|', ' '}) {
    if (c != ' ' && line.find(c) == std::string::npos) continue;
    if (even(trial({c}))) return {c};
    if (!present) present = c;
  }
  return {*present};
}

/// Lines have commas and, say, semicolons: these separate if ids would hold them otherwise (478,2 is a number
/// then, and "Smith, J" a name).
bool EdgeInspection::parts_ids_with_commas(char separator) const {
  const std::vector<Fields> parted = trial({separator});
  if (!even(parted)) return false;
  for (const Fields& row : parted)
    if (!commas_belong_to(row[0]) || !commas_belong_to(row[1])) return false;
  const std::vector<Fields> rows = trial({','});
  return std::all_of(rows.begin(), rows.end(), [&](const Fields& row) {
    return row.size() >= 2 &&
           (row[0].find(separator) != std::string::npos || row[1].find(separator) != std::string::npos);
  });
}

/// What separates numbers whose digits are in groups of three: 1,234 or 1 234 is one number, whatever it is read
/// as.
std::optional<Separator> EdgeInspection::separator_of_grouped() const {
  constexpr std::pair<char, char> kinds[] = {{'\t', ' '}, {'\t', ','}, {';', ' '}, {';', ','}, {' ', ','}};
  for (const auto& [by, between] : kinds) {
    bool       any  = false;
    const auto rows = trial({by});
    const bool all  = std::all_of(rows.begin(), rows.end(), [&, by = by, c = between](const Fields& row) {
      bool source = false, target = false;
      if (row.size() < 2 || !is_grouped_number(row[0], c, source) || !is_grouped_number(row[1], c, target))
        return false;
      // Blanks and commas may well separate, too: 1 2,500 has a weight.
      any |= by == ' ' || c == ' ' ? source && target : source || target;
      return true;
    });
    if (all && any) return Separator{by};
  }
  return std::nullopt;
}

/// Some cell between tabs is empty, and every line has as many tabs: then each of them separates. Where there are
/// blanks as well, they are inside of later cells ("SYN ACK"), and a cell that is empty here is not so everywhere.
bool EdgeInspection::tabs_leave_empty_cells() const {
  const auto tabs  = [](std::string_view line) { return std::count(line.begin(), line.end(), '\t'); };
  const auto count = tabs(lines_[0].text);
  const auto shown = std::min(lines_.size(), trial_lines);
  bool       empty = false, blanks = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string_view line = lines_[i].text;
    if (tabs(line) != count) return false;
    empty |= line.find("\t\t") != std::string_view::npos || line.starts_with('\t');
    blanks |= line.find(' ') != std::string_view::npos;
  }
  return count > 1 && empty && (!blanks || empty_cells_come_and_go());
}

bool EdgeInspection::empty_cells_come_and_go() const {
  std::vector<bool> is_empty, is_full;
  for (std::size_t i = 0; i < std::min(lines_.size(), trial_lines); ++i) {
    std::string_view rest = lines_[i].text;
    for (std::size_t cell = 0; !rest.empty() || cell == 0; ++cell) {
      const std::string_view text = rest.substr(0, rest.find('\t'));
      rest.remove_prefix(std::min(rest.size(), text.size() + 1));
      if (is_empty.size() <= cell) is_empty.push_back(false), is_full.push_back(false);
      const bool nothing                   = text.find_first_not_of(" \r") == std::string_view::npos;
      (nothing ? is_empty : is_full)[cell] = true;
      if (i > 0 && cell < 2 && !nothing && text.find(' ') != std::string_view::npos)
        return false;  // separates ids
    }
  }
  for (std::size_t cell = 0; cell < is_empty.size(); ++cell)
    if (is_empty[cell] && is_full[cell]) return true;
  return false;
}

bool EdgeInspection::separator_is_a_guess() const {
  if (separator_.also) return true;
  const auto present = [&](char c) { return without_quotes(lines_[0].text).find(c) != std::string::npos; };
  for (const char c : {'\t', ',', ';', '|', ' '})
    if (c != separator_.by && present(c) && even(trial({c}))) return true;
  return false;
}

/// Blanks inside the cells of a header belong to its words ("Edge Weight") where tabs make as many cells above the
/// numbers as below; or one less, where R numbered the rows.
bool EdgeInspection::header_has_blanks_between_tabs() const {
  if (lines_.size() < 2) return false;
  const std::vector<Fields> by_tabs = trial({'\t'}), by_blanks = trial({' '});
  const Fields&             top = by_tabs[0];
  if (by_blanks[0].size() <= top.size() || top.size() < 2 || !fits({'\t'}, /*every_column=*/true)) return false;
  const std::size_t columns = by_tabs[1].size();
  if (top.size() == columns) return true;
  bool counts = top.size() + 1 == columns;
  for (std::size_t i = 1; i < by_tabs.size() && counts; ++i)
    counts = !by_tabs[i].empty() && by_tabs[i][0] == std::to_string(i);
  return counts;
}

Separator EdgeInspection::choose_separator() const {
  if (tabs_leave_empty_cells() || header_has_blanks_between_tabs()) return {'\t'};
  if (const auto grouped = separator_of_grouped()) return *grouped;
  for (const char c : {' ', ',', ';', '|'})
    if (fits({c}, /*every_column=*/true)) return {c};
  for (const char c : {'\t', ',', ';', '|', ' '})
    if (fits({c}, /*every_column=*/false)) return {c};
  for (const char c : {',', ';'})
    if (fits({' ', c}, /*every_column=*/true)) return {' ', c};
  return separator_for_names();
}

}  // namespace spillway
