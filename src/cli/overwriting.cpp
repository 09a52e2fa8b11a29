#include "cli/overwriting.hpp"

#include "base/fail.hpp"
#include "base/files.hpp"
#include "io/format.hpp"

namespace spillway::cli {
namespace {

/// A stream as the file that it may come from, or go to.
std::string behind(const std::string& path, const char* stream) { return path == "-" ? stream : path; }

}  // namespace

std::vector<Input> inputs_of(const LoadArguments& load) {
  std::vector<Input> inputs{{load.path, "the graph"}};
  for (const std::string& path : companions_of(load.path, load.format))
    inputs.push_back({path, "it belongs to the graph"});
  return inputs;
}

std::vector<Input> files_among(const std::vector<std::string>& words, const std::string& what) {
  std::vector<Input> files;
  for (const std::string& word : words)
    if (is_regular_file(word)) files.push_back({word, what});
  return files;
}

void refuse_to_overwrite(const std::string& option, const std::string& path, const std::vector<Input>& inputs) {
  const std::string to = behind(path, "/proc/self/fd/1");
  if (file_exists(to) && !is_regular_file(to)) return;  // a pipe or a device holds nothing that could be lost
  for (const Input& input : inputs) {
    const std::string from = behind(input.path, "/proc/self/fd/0");
    if (is_regular_file(from) && same_file(to, from))
      throw usage_error("{} {}: this file is read ({}); give the result a file of its own", option,
                        path == "-" ? "(standard output)" : path, input.what);
  }
}

}  // namespace spillway::cli
