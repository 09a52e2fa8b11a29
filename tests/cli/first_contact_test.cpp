// What the command line says of files as people have them: notes, the text and the JSON of info, run and convert.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command_line.hpp"

namespace spillway {
namespace {

using Json = nlohmann::json;

class FirstContactCommands : public testing::CommandLineTest {
 protected:
  Json json_of(const std::string& arguments) {
    const auto outcome = spillway(arguments + " --json");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out);
  }
};

TEST_F(FirstContactCommands, OneNoteSaysAllThatWasGuessed) {
  folder_.write("a.csv", "ann,bob,5\nbob,cy,16777217\n");
  const auto outcome = spillway("info a.csv");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(
      outcome.err,
      "note: ids are names, since 'ann' in line 1 is not a number; line 1, 'ann,bob,5', is an edge (--header yes "
      "makes it a header); column 3 holds the weights, 5 to 16777217 (--weight-column none ignores it)\n");
  EXPECT_NE(outcome.out.find("3, separated by comma; no header; source 1, target 2, weight 3"), std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("u32, 5 to 16777217"), std::string::npos) << outcome.out;
  EXPECT_EQ(spillway("info a.csv --quiet").err, "");
}

TEST_F(FirstContactCommands, JsonTellsHowAListWasRead) {
  folder_.write("a.csv", "wer,wen,km\n1,2,16777217\n2,3,4294967295\n");
  const Json document = json_of("info a.csv --weight-column km --source-column wen --target-column 1");
  const Json expected = {{"separator", "comma"}, {"header", {"wer", "wen", "km"}},
                         {"columns", 3},         {"source_column", 2},
                         {"target_column", 1},   {"weight_column", 3},
                         {"ids", "numbers"},     {"guessed", Json::array()}};
  EXPECT_EQ(document["graph"]["read"], expected);
  EXPECT_EQ(document["weight_range"].dump(), "[16777217,4294967295]") << "whole weights are exact";

  folder_.write("b.txt", "1 2 5\n2 1 6\n");
  for (const char* command : {"info b.txt", "run bfs b.txt --source 1", "convert b.txt b.spill"}) {
    const Json read = json_of(command)["graph"]["read"];
    EXPECT_EQ(read["weight_column"], 3) << command;
    EXPECT_EQ(read["header"], nullptr) << command;
    EXPECT_EQ(read["guessed"], Json::array({"weight_column"})) << command;
  }
  EXPECT_FALSE(json_of("info b.spill")["graph"].contains("read"));
  EXPECT_EQ(json_of("info b.txt --weight-column none")["graph"]["weights"], "none");
}

TEST_F(FirstContactCommands, ColumnsThatAreNotThereAreErrorsOfUsage) {
  folder_.write("a.txt", "1 2\n");
  expect_error("info a.txt --source-column 3", 2, "--source-column 3 asked for, but lines have 2 columns");
  expect_error("info a.txt --source-column 1 --target-column 1", 2, "are both column 1");
  expect_error("info a.txt --target-column who", 2, "no column is named 'who'");
  spillway("convert a.txt a.spill");
  expect_error("info a.spill --target-column 1", 2, "--target-column is for text edge lists");
}

TEST_F(FirstContactCommands, PipesAndFilesGiveTheSameGraph) {
  folder_.write("a.txt", "0 1;5\n1 2;6\n");
  EXPECT_EQ(spillway("convert a.txt -").out, spillway("convert - -", "cat a.txt | ").out);
  EXPECT_NE(spillway("convert a.txt -").out.find("0 1 5\n1 2 6\n"), std::string::npos);
}

TEST_F(FirstContactCommands, ForeignFilesNamedSpillAreToldByTheirMagic) {
  folder_.write("a.spill", std::string(200, 'x'));
  expect_error("info a.spill", 3, "not a .spill file (bad magic number)");
}

TEST_F(FirstContactCommands, LinesThatLookLikeCommentsAreTold) {
  folder_.write("tags.csv", "#cats,alice\n#dogs,bob\nalice,bob\n");
  EXPECT_NE(
      spillway("info tags.csv").err.find("the line '#cats,alice' at the top and 1 more like it are comments"),
      std::string::npos);
  folder_.write("none.csv", "#cats,#dogs\n");
  EXPECT_NE(spillway("info none.csv").err.find("the list has no edges"), std::string::npos);
  folder_.write("middle.txt", "alice bob\nbob carol\n# comment\ncarol dave\n");
  expect_error("info middle.txt", 3, "middle.txt:3: this looks like a comment");
}

TEST_F(FirstContactCommands, RaggedLinesAreRefusedUnlessColumnsAreNamed) {
  folder_.write("gap.txt", "1\t2\t3\t4\n1\t3\t3\t4\n5\t\t777\t4\n");
  expect_error("info gap.txt", 3, "gap.txt:3: expected a target in column 2, but it is empty");
  folder_.write("adjacency.txt", "0 1 2 5 7\n1 3 4\n2 0\n");
  expect_error("info adjacency.txt", 3, "adjacency.txt:2: the line has 3 columns");
  EXPECT_EQ(spillway("info adjacency.txt --source-column 1 --target-column 2").code, 0);
}

TEST_F(FirstContactCommands, TextAfterAQuoteIsNoField) {
  for (const char* text : {"\"alice\":\"bob\"\n\"bob\":\"carol\"\n", "\"a\"x,\"b\"\n\"c\",\"d\"\n"}) {
    folder_.write("q.csv", text);
    EXPECT_EQ(spillway("info q.csv").code, 3) << text;
  }
}

TEST_F(FirstContactCommands, LettersNameColumnsInPairs) {
  folder_.write("t.csv", "t,i,j\n100,1,2\n120,2,3\n");
  const Json read = json_of("info t.csv")["graph"]["read"];
  EXPECT_EQ(read["source_column"], 2);
  EXPECT_EQ(read["target_column"], 3);
}

TEST_F(FirstContactCommands, IdsAreSpeltAsUsual) {
  folder_.write("g.txt", "1 2\n2 3\n");
  expect_error("run bfs g.txt --source 1,01", 3, "vertex '01' is not in the graph");
}

}  // namespace
}  // namespace spillway
