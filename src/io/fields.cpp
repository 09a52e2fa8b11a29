#include "io/fields.hpp"

#include "base/text.hpp"

namespace spillway {

bool split_fields(std::string_view line, char delimiter, std::vector<std::string>& fields, char also) {
  fields.clear();
  const auto  blank = [&](char c) { return is_blank(c) && (delimiter == ' ' || c != delimiter); };
  std::size_t i     = 0;
  for (;;) {
    while (i < line.size() && blank(line[i])) ++i;
    if (i == line.size() && (delimiter == ' ' || fields.empty())) return true;
    std::string& field = fields.emplace_back();
    if (i < line.size() && line[i] == '"') {
      for (++i;; ++i) {
        if (i == line.size()) return false;
        if (line[i] == '"') {
          if (i + 1 == line.size() || line[i + 1] != '"') break;
          ++i;  // a doubled quote is a quote
        }
        field += line[i];
      }
      ++i;
      if (i < line.size() && !blank(line[i]) && line[i] != delimiter && line[i] != also) return false;
    } else {
      const std::size_t begin = i;
      while (i < line.size() && line[i] != delimiter && !(delimiter == ' ' && blank(line[i])) &&
             !(also && line[i] == also))
        ++i;
      field = line.substr(begin, i - begin);
      while (!field.empty() && blank(field.back())) field.pop_back();
    }
    while (i < line.size() && blank(line[i])) ++i;
    if (i == line.size()) return true;
    if (also && line[i] == also) ++i;
    if (delimiter == ' ') continue;
    if (line[i] != delimiter) return false;  // text after a closing quote
    ++i;
  }
}

std::string shown_line(std::string_view line) {
  constexpr std::string_view tab   = "\\x09";
  std::string                shown = printable(line);
  for (std::size_t at = shown.find(tab); at != std::string::npos; at = shown.find(tab, at))
    shown.replace(at, tab.size(), "\\t");
  return shown;
}

}  // namespace spillway
