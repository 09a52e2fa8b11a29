// `spillway plan`: what would be done, without doing it.
#include <nlohmann/json.hpp>

#include "command_line.hpp"

#include <spillway/algorithms.hpp>

namespace spillway {
namespace {

class PlanCommand : public testing::CommandLineTest {
 protected:
  nlohmann::json planned(const std::string& words) {
    const auto outcome = spillway("plan " + words + " --json");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  }
};

TEST_F(PlanCommand, SaysWhereAndHow) {
  folder_.write("g.txt", "0 1 5\n1 2 3\n2 0 1\n");
  const auto json = planned("sssp g.txt --device cpu");
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["method"], "frontier");
  EXPECT_EQ(json["edge_bytes"], 3 * 8);
  EXPECT_FALSE(json["why"].empty());
  EXPECT_TRUE(json["reckoned"].empty()) << "all is in memory";
  const auto windows = planned("bfs g.txt --device cpu --method mixed --device-memory 1M");
  EXPECT_EQ(windows["method"], "mixed");
  EXPECT_EQ(windows["room"], 1 << 20);
  ASSERT_FALSE(windows["reckoned"].empty());
  EXPECT_EQ(windows["reckoned"][0]["edges_active"], 1.0);
  EXPECT_GT(windows["reckoned"][0]["sent_whole_ms"], 0.0);
}

/// Also of algorithms that are no programs, and of those with a source.
TEST_F(PlanCommand, KnowsEveryAlgorithm) {
  folder_.write("g.txt", "0 1 5\n1 2 3\n2 0 1\n0 2 1\n");
  for (const Algorithm& algorithm : algorithms()) {
    const bool  needs = algorithm.name == "induced" || algorithm.name == "crossedges";
    const auto* more  = algorithm.name == "induced" ? " --members 0,1" : " --from 0 --to 1";
    const auto  json  = planned(algorithm.name + " g.txt --device cpu" + (needs ? more : ""));
    EXPECT_EQ(json["device"], "cpu") << algorithm.name;
    EXPECT_FALSE(json["why"].empty()) << algorithm.name;
  }
}

TEST_F(PlanCommand, DoesNotRun) {
  folder_.write("g.txt", "0 1\n1 2\n");
  const auto outcome = spillway("plan pagerank g.txt --device cpu");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("method"), std::string::npos);
  EXPECT_EQ(outcome.out.find("iteration"), std::string::npos) << outcome.out;
}

TEST_F(PlanCommand, RefusesWhatRunRefuses) {
  folder_.write("g.txt", "0 1\n");
  expect_error("plan sssp g.txt", 3, "needs weights");
  expect_error("plan bsf g.txt", 2, "bfs");
  expect_error("plan bfs missing.txt", 3, "missing.txt");
  expect_error("plan bfs g.txt --method mixed --async on", 2, "--async");
  expect_error("plan bfs g.txt --method mixed --device cpu --all-partitions", 2, "--all-partitions");
  expect_error("plan bfs g.txt --top 3", 2, "--top");
}

}  // namespace
}  // namespace spillway
