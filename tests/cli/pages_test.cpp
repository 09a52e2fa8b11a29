// Graphs in pages, from the command line.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "command_line.hpp"

namespace spillway {
namespace {

class PagesOnTheCommandLine : public testing::CommandLineTest {
 protected:
  void made(const std::string& arguments) {
    const testing::Outcome outcome = spillway(arguments);
    ASSERT_EQ(outcome.code, 0) << arguments << ": " << outcome.err;
  }
  std::string sorted(const std::string& file) {
    EXPECT_EQ(std::system(("sort -o '" + (folder_ / file) + "' '" + (folder_ / file) + "'").c_str()), 0);
    return testing::read_file(folder_ / file);
  }
};

TEST_F(PagesOnTheCommandLine, AreMadeWhereMemoryDoesNotHoldTheGraph) {
  made("generate uniform --vertices 60000 --degree 16 g.el -q");
  const testing::Outcome outcome = spillway("convert g.el g.spill --host-memory 8MiB");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("compressed pages are made"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("of temporary disk in "), std::string::npos) << outcome.err;
  made("convert g.spill again.el -q");
  EXPECT_TRUE(sorted("again.el") == sorted("g.el"));
  expect_error("convert g.el rows.spill --layout rows --host-memory 8MiB", 4, "--host-memory");
  // What has been read of a pipe is gone.
  expect_error("convert /dev/stdin pipe.spill --host-memory 8MiB", 4, "--host-memory", "cat g.el | ");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "pipe.spill"));
  expect_error("convert - pipe.spill --host-memory 8MiB", 4, "--layout pages", "cat g.el | ");
  expect_error("convert g.el p.spill --layout pages --record-ids 2,1", 2, "Q from 2 to 4");
  // Whole rows that are put in order wait where they are told to.
  made("convert g.el rows.spill -q");
  expect_error("convert rows.spill p.spill --layout pages --order degree --temporary nowhere", 3, "nowhere");
}

TEST_F(PagesOnTheCommandLine, OfAnyOrderGiveTheSameAnswers) {
  made("generate kron --scale 9 --drop-loops g.el -q");
  made("convert g.el rows.spill --in-edges -q");
  for (const char* order : {"ids", "degree"}) {
    made(std::string{"convert g.el pages.spill --layout pages --compress --in-edges -q --order "} + order);
    for (const char* asked : {"bfs --source 3", "pagerank", "degrees"}) {
      made("run " + std::string{asked} + " rows.spill -o rows.csv -q");
      made("run " + std::string{asked} + " pages.spill -o pages.csv -q --verify");
      // Of several parents any will do, and sums of floats differ in their last digits.
      if (asked != std::string_view{"degrees"}) continue;
      EXPECT_EQ(sorted("pages.csv"), sorted("rows.csv")) << asked << " " << order;
    }
    made("verify pages.spill");
    const testing::Outcome plan = spillway("plan bfs pages.spill --source 3");
    EXPECT_NE(plan.out.find("pages on disk"), std::string::npos) << plan.out;
  }
}

TEST_F(PagesOnTheCommandLine, GoOnAfterAKill) {
  made("generate grid --rows 300 --columns 300 --undirected g.spill --layout pages -q");
  std::filesystem::create_directory(folder_ / "saved");
  const std::string run = "run bfs g.spill --source 0 --checkpoint saved --checkpoint-every 0 -o out.csv -q";
  // Ends in the middle of some hundred iterations, each of which is saved.
  EXPECT_NE(spillway(run, "timeout -s KILL 0.5 ").code, 0);
  if (!std::filesystem::exists(folder_ / "saved/run.checkpoint"))
    GTEST_SKIP() << "a very slow machine, or a fast one";
  expect_error(run, 2, "--resume goes on from it");
  expect_error(run + " --resume --source 1", 2, "");
  const testing::Outcome resumed = spillway(run + " --resume");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "saved/run.checkpoint"));
  made("run bfs g.spill --source 0 -o right.csv -q --verify");
  EXPECT_EQ(testing::read_file(folder_ / "out.csv").size(), testing::read_file(folder_ / "right.csv").size());
}

TEST_F(PagesOnTheCommandLine, AreMadeThoughTheProcessIsKilledAgainAndAgain) {
  made("generate uniform --vertices 100000 --degree 5 g.el -q");
  const std::string convert = " --layout pages --in-edges --order degree --page-size 64KiB --host-memory 16MiB -q";
  made("convert g.el right.spill" + convert);
  std::mt19937     random{1};
  int              kills = 0;
  testing::Outcome outcome;
  for (bool ended = false; !ended; ++kills) {
    ASSERT_LT(kills, 400);
    const std::string seconds =
        std::to_string(0.02 + static_cast<double>(random() % 1000) / 1000 * 0.4 + kills * 0.01);
    // Started anew in a session of its own, so that all that ends is waited for.
    outcome = spillway("convert g.el out.spill --checkpoint-every 0" + convert,
                       "timeout --foreground -s KILL " + seconds + " ");
    ended   = outcome.code == 0;
    EXPECT_TRUE(ended || outcome.code == 137) << outcome.code << outcome.err;
  }
  EXPECT_TRUE(testing::read_file(folder_ / "out.spill") == testing::read_file(folder_ / "right.spill")) << kills;
  for (const auto& entry : std::filesystem::directory_iterator{folder_ / ""})
    EXPECT_FALSE(entry.path().filename().string().starts_with("out.spill.")) << entry.path();
}

}  // namespace
}  // namespace spillway
