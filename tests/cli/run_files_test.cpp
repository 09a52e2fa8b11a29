// The files of `spillway run`: nothing that it reads is written over, no two answers go to one file, and what
// comes from a pipe is read.
#include "command_line.hpp"

namespace spillway {
namespace {

using testing::Outcome;
using testing::read_file;

class RunFiles : public testing::CommandLineTest {
 protected:
  void SetUp() override {
    folder_.write("g.txt", "1 2\n2 3\n3 1\n");
    folder_.write("names.csv", "a/b,a_b\na_b,..\n..,a/b\n");
  }
};

TEST_F(RunFiles, AreNeverThoseThatAreRead) {
  folder_.write("g-1.csv", "1,2,5\n2,3,1\n");
  expect_error("run sssp g-1.csv --source 1 -o 'g-{source}.csv'", 2, "g-1.csv: this file is read (the graph)");
  expect_error("run sssp g-1.csv --source 2,1 -o './g-{source}.csv'", 2, "this file is read");
  EXPECT_EQ(read_file(folder_ / "g-1.csv"), "1,2,5\n2,3,1\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "g-2.csv")) << "nothing runs before all is checked";
  folder_.write("priors.csv", "1,0.9,0.1\n");
  expect_error("run bp g.txt --priors priors.csv -o ./priors.csv", 2, "this file is read (--priors)");
  folder_.write("sources.csv", "1\n");
  expect_error("run bfs g.txt --source @sources.csv -o sources.csv", 2, "this file is read (--source)");
  expect_error("run induced g.txt --members 1,2 -o r.el --id-map g.txt", 2, "this file is read");
  expect_error("run induced g.txt --members 1,2 -o r.el --id-map r.el", 2, "--output writes this file");
}

TEST_F(RunFiles, AreDifferentForEverySource) {
  expect_error("run bfs names.csv --source a/b,a_b -o 'r-{source}.csv'", 2,
               "the answers from 'a/b' and 'a_b' would both go to this file");
  EXPECT_EQ(spillway("run bfs g.txt --source 1,1 -o 'once-{source}.csv'").code, 0) << "each source counts once";
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r-a_b.csv"));
}

TEST_F(RunFiles, AreNamedAfterSources) {
  std::filesystem::create_directory(folder_ / "__");
  EXPECT_EQ(spillway("run bfs names.csv --source .. -o '{source}/r-{source}.csv'").code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "__/r-__.csv")) << "every mark is replaced, and no folder is left";
  folder_.write("long.csv", std::string(300, 'x') + ",y\n");
  expect_error("run bfs long.csv --source " + std::string(300, 'x') + " -o '{source}.csv'", 3,
               "a name of 304 bytes");
  expect_error("run cc g.txt -o 'r-{source}.csv'", 2, "no source to put into the name");
  expect_error("run bfs g.txt --source 1 -o ''", 2, "the name of the file is empty");
}

TEST_F(RunFiles, AreReadFromPipes) {
  const auto named_pipe = [&](const std::string& text) {
    std::filesystem::remove(folder_ / "pipe");
    return "mkfifo pipe && (printf '" + text + R"(' | timeout 20 dd of=pipe status=none &) && )";
  };
  folder_.write("priors.txt", "1 0.9 0.1\n");
  EXPECT_EQ(spillway("run bp g.txt --priors priors.txt -o read.csv").code, 0);
  EXPECT_EQ(spillway("run bp g.txt --priors pipe -o piped.csv", named_pipe("1 0.9 0.1\\n")).code, 0);
  EXPECT_EQ(read_file(folder_ / "piped.csv"), read_file(folder_ / "read.csv"));
  EXPECT_EQ(spillway("run bfs g.txt --source @pipe -o 'p-{source}.csv'", named_pipe("1\\n2\\n")).code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "p-2.csv"));
  EXPECT_EQ(spillway("run bfs g.txt --source @- -o 'r-{source}.csv'", "printf '1\\n2\\n' | ").code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "r-2.csv"));
}

TEST_F(RunFiles, AreRefusedWhereTheyCannotBeRead) {
  expect_error("run bp g.txt --priors - --verify", 2, "a pipe can be read once", "echo 1 1 1 | ");
  expect_error("run bp g.txt --priors - --repeat 2", 2, "a pipe can be read once", "echo 1 1 1 | ");
  expect_error("run bfs - --source @-", 2, "standard input can be read for one thing only", "echo 1 2 | ");
  expect_error("run bfs g.txt --source @.", 3, "a file was expected, this is a folder");
  expect_error("run bp g.txt --potentials /dev/null", 3, "/dev/null: the table ends");
}

TEST_F(RunFiles, OfSourcesMayHaveCommentsAndAMark) {
  folder_.write("hash.csv", "c#,#1\n#1,c#\n");
  folder_.write("sources.txt",
                "\xef\xbb\xbf"
                "c#\t# the language\r\n# nothing\n");
  EXPECT_EQ(spillway("run bfs hash.csv --ids string --header no --source @sources.txt -o 'r-{source}.csv'").code,
            0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "r-c#.csv"));
}

TEST_F(RunFiles, MayBeStandardOutput) {
  const Outcome columns = spillway("run bfs g.txt --source 1 -o -");
  EXPECT_EQ(columns.out, "vertex,level,parent\n1,0,1\n2,1,1\n3,2,2\n");
  EXPECT_NE(columns.err.find("bfs from 1 on 3 vertices"), std::string::npos) << columns.err;
  const Outcome graph = spillway("run induced g.txt --members 1,2 -o -");
  EXPECT_EQ(graph.out, "# Spillway edge list: vertices 2 arcs 1 first 1 weights none\n1 2\n");
  EXPECT_NE(graph.err.find("vertices: 2"), std::string::npos) << graph.err;
  expect_error("run bfs g.txt --source 1 -o - --json", 2, "standard output");
  expect_error("run bfs g.txt --source 1,2 -o -", 2, "{source}");
}

}  // namespace
}  // namespace spillway
