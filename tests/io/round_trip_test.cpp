// Every graph of the zoo through every format that is written, and back.
#include <gtest/gtest.h>

#include <algorithm>

#include "io/format.hpp"
#include "support.hpp"
#include "zoo.hpp"

namespace spillway {
namespace {

using testing::arcs_of;
using testing::TemporaryFolder;

/// Rows, weights and vertex count; ids as well, up to where the format starts counting.
void expect_same(const Graph& read, const Graph& written, const std::string& what) {
  EXPECT_EQ(read.vertex_count(), written.vertex_count()) << what;
  EXPECT_TRUE(std::ranges::equal(read.out().offsets.span(), written.out().offsets.span())) << what;
  EXPECT_TRUE(std::ranges::equal(read.out().targets.span(), written.out().targets.span())) << what;
  EXPECT_TRUE(std::ranges::equal(read.out().weights.span(), written.out().weights.span())) << what;
  if (read.arc_count() > 0) {
    EXPECT_EQ(read.weight_type(), written.weight_type()) << what;
  }
}

struct Way {
  std::string format, suffix;
};

class RoundTrip : public ::testing::TestWithParam<Way> {};

TEST_P(RoundTrip, GivesTheSameGraph) {
  const TemporaryFolder folder;
  const std::string     format = GetParam().format, suffix = GetParam().suffix;
  int                   written = 0;
  for (const auto& member : testing::zoo()) {
    if (format == "pairs" && member.graph.arc_count() == 0) continue;  // an empty file is none
    const std::string path     = folder / (member.name + "." + suffix);
    const auto [code, message] = testing::failure_of([&] { save(member.graph, path, format); });
    if (code == ExitCode::usage) continue;  // the format cannot hold it and says so; below, not too often
    ASSERT_EQ(code, ExitCode::done) << member.name << ": " << message;
    ++written;
    LoadOptions options;
    options.format = format;
    if (format == "pairs") {  // which say nothing of themselves
      options.vertices = member.graph.vertex_count();
      if (member.graph.weight_type() != WeightType::none) options.weight_type = member.graph.weight_type();
    }
    expect_same(open(path, options), member.graph, format + " " + member.name);
    if (member.graph.arc_count() > 0 && format != "pairs") {
      EXPECT_EQ(open(path).report().format, format) << "not recognised: " << member.name;
    }
  }
  EXPECT_GE(written, 5) << format;
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip,
                         ::testing::Values(Way{"edgelist", "el"}, Way{"mtx", "mtx"}, Way{"spill", "spill"},
                                           Way{"gap", "sg"}, Way{"gap", "wsg"}, Way{"subway", "bcsr"},
                                           Way{"subway", "bwcsr"}, Way{"metis", "graph"}, Way{"pairs", "pairs"}),
                         [](const auto& test) { return test.param.format + "_" + test.param.suffix; });

TEST(RoundTrip, EveryWrittenFormatIsInTheListAbove) {
  std::vector<std::string> written;
  for (const Format& format : formats())
    if (format.write) written.push_back(format.name);
  std::sort(written.begin(), written.end());
  EXPECT_EQ(written, (std::vector<std::string>{"edgelist", "gap", "metis", "mtx", "pairs", "spill", "subway"}));
}

TEST(RoundTrip, KeepsIdsInListsTablesAndStores) {
  const TemporaryFolder folder;
  for (const char* text :
       {"7 9\n9 12345678901\n", "ann \"b b\"\n\"#c\" ann\n", "3 4\n4 5\n", "a\tb,c\nb,c\t\"x\"\n"}) {
    const Graph graph = open(folder.write("in.txt", text));
    for (const char* name : {"out.el", "out.csv", "out.tsv", "out.spill"}) {
      save(graph, folder / name);
      const Graph back = open(folder / name);
      EXPECT_EQ(arcs_of(back), arcs_of(graph)) << name << ": " << text;
      EXPECT_EQ(testing::names_of(back), testing::names_of(graph)) << name;
    }
  }
}

TEST(RoundTrip, KeepsNamesThatLookLikeNumbersOrHeaders) {
  const TemporaryFolder folder;
  LoadOptions           names;
  names.ids    = IdMode::string;
  names.header = HeaderMode::absent;
  for (const char* text : {"007 7\n08 x\n", "source target\ntarget x\n"}) {
    const Graph graph = open(folder.write("in.txt", text), names);
    save(graph, folder / "out.el");
    EXPECT_EQ(arcs_of(open(folder / "out.el")), arcs_of(graph)) << text;
  }
}

TEST(RoundTrip, SaysWhatAFormatCannotHold) {
  const TemporaryFolder folder;
  const Graph           gaps = open(folder.write("in.txt", "7 9\n9 1000\n"));
  EXPECT_EQ(save(gaps, folder / "out.mtx").size(), 1u) << "ids are lost, and that is said";
  EXPECT_EQ(save(gaps, folder / "out.spill").size(), 0u);
  EXPECT_EQ(testing::failure_of([&] { save(gaps, folder / "out.xyz"); }).first, ExitCode::usage);
  EXPECT_EQ(testing::failure_of([&] { save(gaps, folder / "out.adj"); }).first, ExitCode::usage);
  EXPECT_EQ(testing::failure_of([&] { save(gaps, folder / "nowhere/out.el"); }).first, ExitCode::bad_input);
}

}  // namespace
}  // namespace spillway
