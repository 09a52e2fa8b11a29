// docs/programs.md shows nothing that does not exist: its code stands in the sources, its messages in the headers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "support.hpp"

namespace spillway {
namespace {

using testing::read_file;

const std::string root = SPILLWAY_SOURCE "/";

std::string document() { return read_file(root + "docs/programs.md"); }

/// Formatting may differ.
std::string without_spaces(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

std::vector<std::string> code_blocks() {
  std::vector<std::string> blocks;
  std::istringstream       lines{document()};
  bool                     inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```cpp") {
      blocks.emplace_back();
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

TEST(ProgramsDocument, ShowsCodeThatStandsInTheSources) {
  std::vector<std::string> sources;
  for (const char* folder : {"examples", "src/algorithms", "src/algorithms/programs"})
    for (const auto& file : std::filesystem::directory_iterator{root + folder})
      if (file.is_regular_file()) sources.push_back(without_spaces(read_file(file.path())));
  ASSERT_GE(code_blocks().size(), 5u);
  for (const std::string& block : code_blocks())
    EXPECT_TRUE(std::any_of(
        sources.begin(), sources.end(),
        [&](const std::string& source) { return source.find(without_spaces(block)) != std::string::npos; }))
        << "no source has\n"
        << block;
}

/// All string literals of a header, those that stand side by side joined.
std::string literals(const std::string& text) {
  std::string all, between;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t open  = text.find('"', i);
    const std::size_t close = text.find('"', open + 1);
    if (open == std::string::npos || close == std::string::npos) break;
    between = without_spaces(text.substr(i, open - i));
    if (!between.empty()) all += '\n';
    all += text.substr(open + 1, close - open - 1);
    i = close + 1;
  }
  return all + "\n";
}

TEST(ProgramsDocument, ListsMessagesThatTheCompilerGives) {
  const std::string messages = "\n" + literals(read_file(root + "include/spillway/engine/check_program.hpp")) +
                               literals(read_file(root + "include/spillway/combine.hpp"));
  const std::string  text = document();
  std::istringstream lines{text.substr(text.find("| what is wrong |"))};
  std::string        line;
  std::getline(lines, line);
  std::getline(lines, line);
  int rows = 0;
  for (; std::getline(lines, line) && line.starts_with("| "); ++rows) {
    const std::size_t begin = line.find(" | ") + 3;
    EXPECT_NE(messages.find("\n" + line.substr(begin, line.rfind(" |") - begin) + "\n"), std::string::npos)
        << line;
  }
  EXPECT_GE(rows, 9);
}

TEST(ProgramsDocument, LinksToFilesThatExist) {
  const std::string text = document();
  for (std::size_t at = text.find("](../"); at != std::string::npos; at = text.find("](../", at + 1)) {
    const std::string path = text.substr(at + 5, text.find(')', at) - at - 5);
    EXPECT_TRUE(std::filesystem::exists(root + path)) << path;
  }
}

}  // namespace
}  // namespace spillway
