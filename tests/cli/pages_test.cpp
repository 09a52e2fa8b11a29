// Graphs in pages, from the command line.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
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
  expect_error("convert rows.spill p.spill --layout pages --order degree --temporary nowhere", 2, "nowhere");
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

TEST_F(PagesOnTheCommandLine, TellOptionsWithoutEffect) {
  made("generate kron --scale 6 g.spill --layout pages --compress --weights u32 -q");
  const auto noted = [&](const std::string& arguments, const std::string& text) {
    const testing::Outcome outcome = spillway("run " + arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.err.find(text) != std::string::npos;
  };
  const std::string sssp = "sssp g.spill --source 1 --device cpu";
  EXPECT_TRUE(noted(sssp + " --parents search", "--parents search had no effect"));
  EXPECT_FALSE(noted(sssp + " --parents carry", "no effect"));
}

/// Resident, not only as it is counted: pages, state and answer together are several times the limit.
TEST_F(PagesOnTheCommandLine, TakeNoMoreMemoryThanTheyMay) {
  made("generate uniform --vertices 2000000 --degree 1 g.spill --layout pages --compress --host-memory 200MiB -q");
  const auto resident = [&](const std::string& limit, const std::string& answer,
                            const std::string& graph = "g.spill") {
    const testing::Outcome outcome =
        spillway("run degrees " + graph + " --json --temporary . -o " + answer + limit);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out).at("memory").at("resident_peak").get<std::uint64_t>();
  };
  made("generate chain --vertices 10 small.spill --layout pages --compress -q");
  const std::uint64_t limit = 8u << 20, program = resident("", "small.csv", "small.spill") + (16u << 20);
  EXPECT_GT(resident("", "whole.csv"), limit + program);
  EXPECT_LT(resident(" --host-memory 8MiB", "some.csv"), limit + program);
  EXPECT_TRUE(testing::read_file(folder_ / "some.csv") == testing::read_file(folder_ / "whole.csv"));
}

TEST_F(PagesOnTheCommandLine, MayBeInStripes) {
  for (const char* name : {"disk0", "disk1", "disk2"}) std::filesystem::create_directory(folder_ / name);
  made("generate kron --scale 9 --drop-loops g.el -q");
  made("convert g.el rows.spill --in-edges -q");
  const std::string striped = " --layout pages --page-size 4KiB -q --stripe disk0,disk1," + (folder_ / "disk2");
  made("convert g.el pages.spill --compress --in-edges" + striped);
  made("convert g.el pages.spill --compress --in-edges --order degree" + striped);
  made("generate kron --scale 9 --drop-loops made.spill" + striped);
  made("convert rows.spill again.spill" + striped);
  for (const char* graph : {"pages.spill", "made.spill", "again.spill"}) {
    made(std::string{"run degrees "} + graph + " -o pages.csv -q --verify");
    made("run degrees rows.spill -o rows.csv -q");
    EXPECT_EQ(sorted("pages.csv"), sorted("rows.csv")) << graph;
    made(std::string{"run bfs "} + graph + " --source 3 --resident 0 -q --verify");
    made(std::string{"verify "} + graph);
    made(std::string{"convert "} + graph + " back.el -q");
    EXPECT_TRUE(sorted("back.el") == sorted("g.el")) << graph;
    const testing::Outcome plan = spillway(std::string{"plan bfs "} + graph + " --source 3");
    EXPECT_NE(plan.out.find("pages on disk"), std::string::npos) << plan.out;
  }
  const auto stripes = [&](const char* name) {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator{folder_ / name})
      found.push_back(entry.path().string());
    return found;
  };
  EXPECT_EQ(stripes("disk0").size(), 3u);  // that of the first pages.spill is gone
  const auto document = nlohmann::json::parse(spillway("info pages.spill --json").out);
  EXPECT_EQ(document["stripes"].size(), 3u);
  const testing::Outcome info = spillway("info pages.spill");
  EXPECT_NE(info.out.find("disk1/pages.spill."), std::string::npos) << info.out;
  EXPECT_NE(info.out.find(folder_ / "disk2/pages.spill."), std::string::npos) << info.out;
  for (const std::string& stripe : stripes("disk1"))
    if (stripe.find("pages.spill") != std::string::npos)
      expect_error("convert pages.spill --to edgelist " + stripe, 2, "it belongs to the graph");
  for (const std::string& stripe : stripes("disk1")) std::filesystem::remove(stripe);
  expect_error("run bfs pages.spill --source 3", 3, "disk1/pages.spill.");
  expect_error("info pages.spill", 3, "convert the graph again");
  EXPECT_EQ(spillway("verify pages.spill").code, 3);
  expect_error("convert g.el rows.spill --stripe disk0", 2, "--layout pages");
  expect_error("convert g.el new.spill --layout pages --stripe disk0,,disk1", 2, "--stripe takes DIR,DIR");
  expect_error("convert g.el new.spill --layout pages --stripe disk0,disk7", 3, "disk7");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new.spill"));
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
