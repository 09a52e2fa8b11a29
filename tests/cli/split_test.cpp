// `convert --split` and what commands say of its graphs.
#include "base/text.hpp"
#include "command_line.hpp"

namespace spillway {
namespace {

using testing::CommandLineTest;
using testing::Outcome;
using testing::read_file;

class SplitOnTheCommandLine : public CommandLineTest {
 protected:
  void SetUp() override {
    // 0 leads to eight others, which lead on.
    folder_.write("g.el", "0 1 3\n0 2 1\n0 3 4\n0 4 1\n0 5 9\n0 6 2\n0 7 6\n0 8 5\n3 9 1\n8 9 2\n9 0 7\n");
    ASSERT_EQ(spillway("convert g.el g.spill").code, 0);
  }

  std::string output(const std::string& arguments) {
    const Outcome outcome = spillway(arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << ": " << outcome.err;
    return outcome.out;
  }
};

TEST_F(SplitOnTheCommandLine, IsMadeShownUsedAndUndone) {
  EXPECT_NE(
      output("convert g.spill s.spill --split udt:3").find("10 vertices, 11 arcs; split, 13 vertices and 14 arcs"),
      std::string::npos);
  EXPECT_NE(output("info s.spill")
                .find("split              udt:3: 3 tree vertices and as many tree arcs; largest "
                      "out-degree 3\n"),
            std::string::npos);
  EXPECT_NE(output("info s.spill --json").find("\"degree_bound\": 3"), std::string::npos);
  EXPECT_NE(output("verify s.spill").find("split  "), std::string::npos);
  for (const char* question : {"bfs --source 9", "sssp --source 9", "bc", "cc"}) {
    const std::string run = std::string{"run "} + question + " --verify --output ";
    output(run + "split.csv s.spill");
    output(run + "plain.csv g.spill");
    EXPECT_EQ(read_file(folder_ / "split.csv"), read_file(folder_ / "plain.csv")) << question;
  }
  output("convert s.spill back.spill --split none");
  EXPECT_TRUE(read_file(folder_ / "back.spill") == read_file(folder_ / "g.spill"));
}

TEST_F(SplitOnTheCommandLine, OfInEdgesIsForRanks) {
  folder_.write("h.el", "1 0\n2 0\n3 0\n4 0\n0 1\n0 2\n0 3\n");
  output("convert h.el s.spill --split udt:2:in");
  EXPECT_NE(output("run pagerank s.spill --verify").find("converged: yes"), std::string::npos);
  expect_error("run pagerank s.spill --iterations 3", 2, "leave out --iterations");
  output("convert h.el o.spill --split udt:2");
  expect_error("run pagerank o.spill", 2, "--split KIND:K:in");
  expect_error("plan pagerank o.spill", 2, "--split KIND:K:in");
}

TEST_F(SplitOnTheCommandLine, IsWrittenAsItIsToOtherFormats) {
  output("convert g.spill s.spill --split udt:3");
  const Outcome outcome = spillway("convert s.spill s.el --id-map ids.txt");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("the split graph is written: 3 of its 13 vertices and 3 of its 14 arcs"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(read_file(folder_ / "ids.txt"), "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
  const std::string edges = read_file(folder_ / "s.el");
  EXPECT_NE(edges.find("10 1 3\n"), std::string::npos) << edges;
  EXPECT_NE(edges.find("0 12 0\n"), std::string::npos) << edges;
  EXPECT_NE(output("info s.el").find("vertices           13"), std::string::npos);
}

TEST_F(SplitOnTheCommandLine, RefusesWhatCannotBe) {
  output("convert g.spill s.spill --split udt:3");
  expect_error("convert g.spill x.spill --split udt:1", 2, "must be 2 or more");
  expect_error("convert g.spill x.spill --split tree:3", 2, "KIND[:K][:in] is expected");
  expect_error("convert s.spill x.spill --split udt:2", 2, "split already (udt:3)");
  expect_error("convert s.spill x.spill --dedup", 2, "--split none first");
  expect_error("convert g.spill x.spill --split udt:3 --layout pages", 2, "does not go with --layout pages");
  expect_error("convert s.spill x.spill --layout pages", 2, "--split none");
  expect_error("run bfs s.spill --source 11", 3, "'11' is not in the graph, whose 10 vertices are '0' to '9'");
  expect_error("run tc s.spill", 2, "tc depends on who is whose neighbour");
  expect_error("plan tc s.spill", 2, "tc depends on who is whose neighbour");
  expect_error("run kcore s.spill", 2, "who is whose neighbour");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.spill"));
}

TEST_F(SplitOnTheCommandLine, SaysWhereNothingIsSplit) {
  const Outcome outcome = spillway("convert g.spill s.spill --split udt");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("no vertex has more than 500 edges: nothing was split"), std::string::npos)
      << outcome.err;
  output("run bfs s.spill --source 0 --verify");
}

}  // namespace
}  // namespace spillway
