// Help: the field's own words, an algorithm's options first, options for study on request.
#include "command_line.hpp"

#include <spillway/algorithms.hpp>

namespace spillway {
namespace {

class Help : public testing::CommandLineTest {};

TEST_F(Help, IsAskedForInEveryUsualWay) {
  const std::string run = spillway("run --help").out;
  EXPECT_EQ(spillway("help run").out, run);
  EXPECT_EQ(spillway("help").out, spillway("--help").out);
  EXPECT_EQ(spillway("help bfs").out, spillway("run bfs --help").out);
  EXPECT_NE(spillway("help betweenness").out.find("Options of bc"), std::string::npos);
  expect_error("help nonsense", 2, "unknown command 'nonsense'");
  expect_error("rnu", 2, "unknown command 'rnu' (did you mean 'run'?)");
}

TEST_F(Help, HasTheAlgorithmsOwnOptionsFirst) {
  const std::string help = spillway("run pagerank --help").out;
  EXPECT_LT(help.find("--damping"), help.find("--format")) << help;
  EXPECT_EQ(help.find("--bin-entries"), std::string::npos) << "for study";
  EXPECT_NE(help.find("--help-all"), std::string::npos);
  EXPECT_NE(spillway("run pagerank --help-all").out.find("--bin-entries"), std::string::npos);
}

TEST_F(Help, SpeaksTheLanguageOfTheField) {
  std::string all = spillway("man").out + spillway("run --help-all").out + spillway("algorithms").out;
  for (const char* word : {"reckon", "brought", "coded", "hang together", "is not known here",
                           "first 8 bytes are others", "Most memory to hold", "way of GPUs"})
    EXPECT_EQ(all.find(word), std::string::npos) << word;
  for (const char* word : {"weakly connected components", "Host memory limit, mapped files excluded"})
    EXPECT_NE(all.find(word), std::string::npos) << word;
}

TEST_F(Help, IsAManualPage) {
  const std::string page = spillway("man").out;
  EXPECT_TRUE(page.starts_with(".TH SPILLWAY 1")) << page.substr(0, 80);
  for (const Algorithm& algorithm : algorithms())
    EXPECT_NE(page.find("\n.SS " + algorithm.name + "\n"), std::string::npos) << algorithm.name;
  for (const char* option : {"\\-\\-device\\-memory", "\\-\\-host\\-memory", "\\-\\-per\\-vertex"})
    EXPECT_NE(page.find(option), std::string::npos) << option;
}

TEST_F(Help, CompletesWords) {
  folder_.write("complete.sh", spillway("completions bash").out);
  folder_.write("try.sh",
                "source ./complete.sh\n"
                "try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _spillway; echo \"${COMPREPLY[*]}\"; }\n"
                "try spillway pl\ntry spillway run pager\ntry spillway run bfs --dire\n"
                "try spillway generate kr\ntry spillway convert --in-e\n");
  const std::string command = "cd " + (folder_ / "") + " && bash try.sh";
  std::FILE* const  pipe    = popen(command.c_str(), "r");
  std::string       out;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_EQ(out, "plan\npagerank\n--direction\nkron\n--in-edges\n");
  for (const char* shell : {"zsh", "fish"})
    EXPECT_NE(spillway(std::string{"completions "} + shell).out.find("pagerank"), std::string::npos);
  expect_error("completions tcsh", 2, "tcsh");
}

}  // namespace
}  // namespace spillway
