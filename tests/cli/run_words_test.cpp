// The words of `spillway run`: an algorithm's options stand where any others do, and a mistake is told by its own
// name, before the graph is read.
#include "algorithms/gpu/gpu.hpp"
#include "command_line.hpp"

namespace spillway {
namespace {

class RunWords : public testing::CommandLineTest {
 protected:
  void SetUp() override { folder_.write("g.txt", "1 2\n2 3\n3 1\n"); }
};

TEST_F(RunWords, StandInAnyOrder) {
  for (const char* order : {"bfs g.txt --source 1", "bfs --source 1 g.txt", "--source 1 bfs g.txt",
                            "--top 2 bfs --source=1 g.txt", "bfs --source 1 -- g.txt"})
    EXPECT_EQ(spillway(std::string{"run "} + order).code, 0) << order;
  for (const char* order : {"tc --per-vertex g.txt", "tc --per-vertex yes g.txt", "--per-vertex tc g.txt",
                            "tc g.txt --per-vertex=yes"})
    EXPECT_EQ(spillway(std::string{"run -q --top 1 "} + order).out,
              "              vertex      triangles\n                   1              1\ntriangles: 1\nlargest: "
              "triangles 1 (vertex 1)\n")
        << order;
  EXPECT_EQ(spillway("run -q --top 1 tc --per-vertex no g.txt").out, "triangles: 1\n");
  expect_error("run --form cc bfs g.txt", 2, "put the algorithm before its options");
}

TEST_F(RunWords, OfASourceAreOneEach) {
  folder_.write("g.txt", "0 1\n1 2\n");
  const std::string answer = spillway("run bfs g.txt --source 0 --source 1 -q --device cpu").out;
  for (const char* words : {"run bfs --source 0 --source 1 g.txt -q --device cpu",
                            "run bfs -q --device cpu --source 0 --source 1 g.txt",
                            "run --source 0 --source 1 bfs g.txt --device cpu -q"}) {
    const testing::Outcome outcome = spillway(words);
    EXPECT_EQ(outcome.code, 0) << words << ": " << outcome.err;
    EXPECT_EQ(outcome.out, answer) << words;
  }
}

TEST_F(RunWords, AreBlamedByName) {
  expect_error("run bfs g.txt --source 1 --threads 0", 2, "--threads: Value 0");
  expect_error("run bfs g.txt --source 1 --direction up", 2, "--direction: up");
  expect_error("run bfs g.txt --source 1 --top 1 --top 2", 2, "--top is given twice");
  expect_error("run bfs g.txt --source 1 --top", 2, "--top needs a value");
  expect_error("run bfs g.txt --sourc 1", 2, "bfs takes no --sourc (did you mean '--source'?)");
  for (const char* option : {"--source", "--sources"}) {
    const auto outcome = spillway(std::string{"run cc g.txt "} + option + " 1");
    EXPECT_NE(outcome.err.find(std::string{"cc takes no "} + option + "\n"), std::string::npos) << outcome.err;
  }
  expect_error("run bc g.txt --sources all --source 1", 2, "not both");
  expect_error("run radius g.txt --sketches 7", 2, "one of 8, 16, 32, 64");
}

TEST_F(RunWords, AreCheckedBeforeTheGraphIsRead) {
  expect_error("run bfs missing.txt --source 1,", 2, "an id is missing");
  expect_error("run induced missing.txt -o r.el", 2, "induced needs --members");
  expect_error("run sssp missing.txt --source 1 --weights heavy", 2, "unit or random:SEED");
  expect_error("run tc missing.txt --per-vertex=perhaps", 2, "it must be yes or no");
  expect_error("run bfs missing.txt --source 1 -o r.xyz", 2, ".csv, .tsv, .json or .npy");
}

TEST_F(RunWords, HaveDefaultsThatAreTold) {
  const std::string help = spillway("run --help-all").out;
  for (const char* option :
       {"--method", "--compress", "--direction", "--filter", "--bin-entries", "--fusion", "--order", "--repeat"}) {
    const auto begin = help.find(std::string{"  "} + option + " ");
    ASSERT_NE(begin, std::string::npos) << option;
    const std::string told = help.substr(begin, help.find("\n  -", begin) - begin);
    EXPECT_NE(told.find("(default"), std::string::npos) << told;
  }
}

TEST_F(RunWords, AreRefusedWhereTheyWouldChangeNothing) {
  for (const std::string option : {"--compress off", "--resident 0", "--filter ballot", "--bin-entries 3",
                                   "--bucket-queue 4", "--aggregate", "--fusion none", "--order degree"})
    expect_error("run cc missing.txt --device cpu " + option, 2,
                 option.substr(0, option.find(' ')) + " is for GPUs");
  expect_error("run cc missing.txt --method frontier --compress on", 2, "or --compress on");
  expect_error("run cc missing.txt --method frontier --resident 1M", 2, "or --resident");
  EXPECT_EQ(spillway("run cc g.txt --method frontier --compress off").code, 0);
  const auto outcome = spillway("run cc g.txt --device cpu --direction push --device-memory 1G");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE((outcome.out + outcome.err).find("--device-memory had no effect"), std::string::npos) << outcome.out;
  EXPECT_EQ(spillway("run bfs g.txt --source 1 --device cpu --method subgraph --resident 0B").code, 0);
}

TEST_F(RunWords, AreAnsweredWithARemedyWhereThereIsNoGpu) {
  const std::string hidden = "CUDA_VISIBLE_DEVICES= ";
  expect_error("run cc missing.txt --device cuda", 2, "--device cpu works everywhere", hidden);
  expect_error("run cc missing.txt --method zerocopy", 2, "; leave it out", hidden);
  const auto absent = spillway("devices", hidden).out;
  EXPECT_NE(absent.find("no GPU: "), std::string::npos) << absent;
  EXPECT_EQ(absent.find("insufficient"), std::string::npos) << "a driver that is not there is not old: " << absent;
  if (gpu::built) return;
  EXPECT_NE(absent.find("make CUDA=on"), std::string::npos) << absent;
  expect_error("run cc missing.txt --device cuda", 2, "make CUDA=on");
}

TEST_F(RunWords, AreAllKnownToTheGraphBeforeOneIsAsked) {
  const auto outcome = spillway("run bfs g.txt --source 1,2,77 -o 'r-{source}.csv'");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("'77' is not in the graph"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "r-1.csv"));
}

}  // namespace
}  // namespace spillway
