// What ran when, as `run --trace` writes it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command_line.hpp"

#include <spillway/trace.hpp>

namespace spillway {
namespace {

TEST(Trace, CountsWhatOverlaps) {
  Trace trace;
  EXPECT_EQ(trace.overlap(), 0);
  trace.add({Track::to_device, "send", 0, 4});
  trace.add({Track::to_device, "send", 3, 6});  // at once with the first
  trace.add({Track::to_device, "send", 10, 12});
  trace.add({Track::kernels, "visit", 5, 11});
  trace.add({Track::kernels, "visit", 20, 30});
  EXPECT_DOUBLE_EQ(trace.busy_ms(Track::to_device), 8);
  EXPECT_DOUBLE_EQ(trace.busy_ms(Track::kernels), 16);
  EXPECT_DOUBLE_EQ(trace.overlap(), 2.0 / 8);
  EXPECT_DOUBLE_EQ(trace.busy_ms(Track::to_host), 0);
}

TEST(Trace, IsWhatChromeReads) {
  Trace trace;
  trace.add({Track::kernels, "visit", 1000, 1001.5});
  trace.add({Track::to_device, "send", 999, 1000, 64});
  const auto  read  = nlohmann::json::parse(trace.chrome_json());
  std::size_t named = 0, spans = 0;
  for (const auto& event : read["traceEvents"]) {
    named += event["ph"] == "M";
    if (event["ph"] != "X") continue;
    ++spans;
    const bool is_send = event["name"] == "send";
    EXPECT_EQ(event["ts"], is_send ? 0 : 1000) << event;
    EXPECT_EQ(event["dur"], is_send ? 1000 : 1500) << event;
    EXPECT_EQ(event.contains("args"), is_send);
  }
  EXPECT_EQ(named, 6u);
  EXPECT_EQ(spans, 2u);
}

TEST(Trace, ShowsSideBySideWhatRunsAtOnce) {
  Trace trace;
  trace.add({Track::disk, "a", 0, 2});
  trace.add({Track::disk, "b", 1, 3});
  trace.add({Track::disk, "c", 2, 4});
  trace.add({Track::disk, "part of c", 2.5, 3.5});
  std::map<std::string, int> row;
  const auto                 read = nlohmann::json::parse(trace.chrome_json());
  for (const auto& event : read["traceEvents"])
    if (event["ph"] == "X") row[event["name"].get<std::string>()] = event["tid"].get<int>();
  EXPECT_NE(row["a"], row["b"]);
  EXPECT_EQ(row["a"], row["c"]);
  EXPECT_EQ(row["c"], row["part of c"]);
}

class TraceFile : public testing::CommandLineTest {};

TEST_F(TraceFile, HoldsLoadingAndIterations) {
  folder_.write("g.txt", "0 1\n1 2\n2 3\n");
  ASSERT_EQ(spillway("run bfs g.txt --source 0 --device cpu --trace t.json -q").code, 0);
  const auto            read = nlohmann::json::parse(testing::read_file(folder_ / "t.json"));
  std::set<std::string> names;
  double                iterated = 0, all = 0;
  for (const auto& event : read["traceEvents"]) {
    if (event["ph"] != "X") continue;
    names.insert(event["name"].get<std::string>());
    all = std::max(all, event["ts"].get<double>() + event["dur"].get<double>());
    iterated += event["name"] == "push" || event["name"] == "pull";
  }
  EXPECT_TRUE(names.contains("load") && names.contains("prepare") && names.contains("deliver"));
  EXPECT_GE(iterated, 3);
  EXPECT_GT(all, 0);
}

TEST_F(TraceFile, SaysWhereThereIsNothingToTrace) {
  folder_.write("g.txt", "0 1\n1 2\n");
  const auto outcome = spillway("run tc g.txt --device cpu --trace t.json");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("only loading is in it"), std::string::npos) << outcome.err;
}

TEST_F(TraceFile, IsRefusedWhereItCannotBe) {
  folder_.write("g.txt", "0 1\n1 2\n");
  EXPECT_EQ(spillway("run bfs g.txt --source 0 --trace -").code, 2);
  EXPECT_EQ(spillway("run bfs g.txt --source 0 --trace g.txt").code, 2);
  const auto both = spillway("run bfs g.txt --source 0 -o a.csv --trace a.csv");
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.err.find("--output writes this file"), std::string::npos) << both.err;
  EXPECT_NE(spillway("run bfs g.txt --source 0 --trace no/such/folder/t.json").code, 0);
}

}  // namespace
}  // namespace spillway
