// Unsorted lists of edges, from the command line.
#include <gtest/gtest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include "command_line.hpp"

namespace spillway {
namespace {

class EdgeListsOnTheCommandLine : public testing::CommandLineTest {
 protected:
  void made(const std::string& arguments) {
    const testing::Outcome outcome = spillway(arguments);
    ASSERT_EQ(outcome.code, 0) << arguments << ": " << outcome.err;
  }
  nlohmann::json json_of(const std::string& arguments) {
    const testing::Outcome outcome = spillway(arguments + " --json");
    EXPECT_EQ(outcome.code, 0) << arguments << ": " << outcome.err;
    return outcome.code == 0 ? nlohmann::json::parse(outcome.out) : nlohmann::json{};
  }
};

TEST_F(EdgeListsOnTheCommandLine, AreAskedOfFilesAsTheyCome) {
  made("generate kron --scale 8 --weights f32 g.el -q");
  for (const std::string algorithm : {"bfs", "cc", "sssp", "sswp", "pagerank"}) {
    const std::string source = algorithm == "cc" || algorithm == "pagerank" ? "" : " --source 1";
    const auto        ran    = json_of("run " + algorithm + " g.el --method edges --device cpu --verify" + source);
    EXPECT_EQ(ran["method"], "edges") << algorithm;
    const auto plan = json_of("plan " + algorithm + " g.el --method edges --device cpu" + source);
    EXPECT_EQ(plan["method"], "edges");
    EXPECT_NE(plan["why"].dump().find("without rows"), std::string::npos) << plan["why"];
  }
  expect_error("run tc g.el --method edges", 2, "needs rows");
  expect_error("run bfs g.el --source 1 --method edges --direction pull", 2, "--direction pull");
  expect_error("run bfs g.el --source 1 --method edges --dedup", 2, "needs rows");
  expect_error("run bfs g.el --source 1 --successors all", 2, "--method edges");
  expect_error("run bfs g.el --source 1 --method edges --balance split:4", 2, "deals out rows");
  expect_error("run sssp g.el --source 1 --method edges --device cpu --device-memory 1KiB", 4, "raise it");
}

TEST_F(EdgeListsOnTheCommandLine, AreKeptInFiles) {
  made("generate kron --scale 8 --undirected --layout edges g.spill -q");
  EXPECT_NE(spillway("info g.spill").out.find("in the order of the input"), std::string::npos)
      << spillway("info g.spill").out;
  const auto whole = json_of("run cc g.spill --method edges --device cpu --verify");
  EXPECT_EQ(json_of("run cc g.spill --device cpu --verify")["facts"]["components"], whole["facts"]["components"]);
  const auto chunks =
      json_of("run cc g.spill --method edges --device cpu --device-memory 20KiB --successors none --verify");
  EXPECT_EQ(chunks["facts"]["components"], whole["facts"]["components"]);
  expect_error("convert g.spill out.el --layout edges", 2, "--layout edges is for .spill files");
  // As pairs they keep their order, and stand for both arcs still.
  const testing::Outcome pairs = spillway("convert g.spill g.pairs");
  EXPECT_NE(pairs.err.find("--undirected --vertices 256"), std::string::npos) << pairs.err;
  made("convert g.pairs back.spill --undirected --vertices 256 --layout edges -q");
  made("convert back.spill again.pairs -q");
  EXPECT_TRUE(testing::read_file(folder_ / "again.pairs") == testing::read_file(folder_ / "g.pairs"));
  // Rows are built where they are needed.
  made("run bfs g.spill --source 1 --method frontier --device cpu --dedup --verify");
}

/// Files of some size, of which cc needs one pass: rows of edges in any order would have to be sorted, those of
/// sorted lines are built while they are parsed.
TEST_F(EdgeListsOnTheCommandLine, AreLeftUnsortedWhereThatIsFaster) {
  made("generate kron --scale 17 --layout edges list.spill -q");
  made("convert list.spill any.pairs -q");
  made("generate kron --scale 17 rows.spill -q");
  made("convert rows.spill rows.el -q");
  const std::string any      = "run cc any.pairs --ids dense --device cpu ";
  const auto        unsorted = json_of(any), sorted = json_of("run cc rows.el --ids dense --device cpu");
  EXPECT_EQ(unsorted["method"], "edges");
  EXPECT_NE(sorted["method"], "edges");
  EXPECT_EQ(unsorted["facts"], sorted["facts"]);
  EXPECT_EQ(json_of("plan cc any.pairs --ids dense --device cpu")["method"], "edges");
  for (const char* other : {"--verify", "--dedup", "--form propagate", "--balance bins"})
    EXPECT_NE(json_of(any + other)["method"], "edges") << other;
  // bfs passes over a list so often that rows are built on the way; they are, too, where many questions share
  // them.
  const auto plan = json_of("plan bfs any.pairs --ids dense --device cpu");
  ASSERT_EQ(plan["forms"].size(), 2u) << plan;
  EXPECT_EQ(plan["forms"][0]["form"] == "edges", plan["method"] == "edges");
  EXPECT_LT(plan["forms"][0]["seconds"], plan["forms"][1]["seconds"]);
  std::ofstream{folder_ / "sources.txt"} << "1\n2\n3\n4\n5\n6\n7\n8\n";
  const auto many     = json_of("plan bfs any.pairs --ids dense --device cpu --source @sources.txt");
  const auto price_of = [](const auto& of, const char* form) {
    for (const auto& each : of["forms"])
      if (each["form"] == form) return each["seconds"].template get<double>();
    return 0.0;
  };
  EXPECT_NEAR(price_of(many, "edges") / price_of(plan, "edges"), 8, 0.1);
  EXPECT_NE(many["method"], "edges");
  EXPECT_TRUE(json_of("plan cc any.pairs --ids dense --compress on")["forms"].is_null());
  // A list takes more memory than rows.
  const auto tight = json_of("run cc any.pairs --device cpu --host-memory 28MiB");
  EXPECT_NE(tight["method"], "edges");
}

TEST_F(EdgeListsOnTheCommandLine, ArePlannedAsTheyRun) {
  made("generate kron --scale 8 --weights u32 g.el -q");
  expect_error("plan egonet g.el --source 0 --method edges", 2, "needs rows");
  expect_error("plan sssp g.el --source 1 --method edges --device cpu --device-memory 1KiB", 4, "raise it");
  const auto plan = json_of("plan sssp g.el --source 1 --method edges --device cpu --device-memory 24KiB");
  EXPECT_NE(plan["why"].dump().find("chunks"), std::string::npos) << plan["why"];
  const auto idle =
      spillway("run sssp g.el --source 1 --method edges --device cpu --successors all --resident 1MiB");
  EXPECT_NE(idle.err.find("--successors all had no effect"), std::string::npos) << idle.err;
  EXPECT_NE(idle.err.find("--resident had no effect"), std::string::npos) << idle.err;
  EXPECT_NE(spillway("run cc g.el --method edges --device cpu --async on").err.find("--async on had no effect"),
            std::string::npos);
  EXPECT_GT(json_of("run cc g.el --method edges --device cpu")["edges"]["host_bytes"], 0);
}

}  // namespace
}  // namespace spillway
