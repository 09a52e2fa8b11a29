// What a command reads it does not write over, under whatever name.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace spillway::cli {

/// A file that a command reads, and what a message calls it.
struct Input {
  std::string path;
  std::string what;
};

/// The graph, and what is read beside it.
std::vector<Input> inputs_of(const LoadArguments& load);

/// The words that name files which exist: what a compiler is given, say.
std::vector<Input> files_among(const std::vector<std::string>& words, const std::string& what);

/// Error{usage} if writing to `path` would replace one of the files that are read. "-" is standard output, or
/// standard input among `inputs`.
void refuse_to_overwrite(const std::string& option, const std::string& path, const std::vector<Input>& inputs);

}  // namespace spillway::cli
