// A line of text as its fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway {

/// Between fields, besides what separates them; the last stands before a newline in files of other systems.
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The fields of one line; quoted fields lose their quotes. False if a quote is not closed. With `also`, one such
/// character may stand between fields beside blanks.
bool split_fields(std::string_view line, char delimiter, std::vector<std::string>& fields, char also = 0);

/// A line as messages show it, tabs as \t.
std::string shown_line(std::string_view line);

}  // namespace spillway
