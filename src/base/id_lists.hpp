// Lists of ids with files in them: which these are, and the lists when they have been read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway {

/// The files that a list names with @FILE; "-" is standard input. A name that begins with @ and is no file is an
/// id.
std::vector<std::string> files_in_list(std::string_view text);

/// The list with the ids of its files instead of them: as it stands if it names none.
std::string with_files_read(const std::string& text);

/// These ids as a list.
std::string list_of(const std::vector<std::string>& ids);

}  // namespace spillway
