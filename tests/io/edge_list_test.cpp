// Text edge lists: every separator, id and weight that people have, and what is said when a line is wrong.
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>

#include <spillway/engine/memory.hpp>
#include "support.hpp"

namespace spillway {
namespace {

using testing::arcs_of;
using testing::NamedArc;
using testing::names_of;
using testing::TemporaryFolder;

Graph read(const std::string& text, const LoadOptions& options = {}, const std::string& name = "list.txt") {
  const TemporaryFolder folder;
  return open(folder.write(name, text), options);
}

TEST(EdgeList, ReadsEverySeparator) {
  const std::vector<NamedArc> expected{{"0", "1", 0}, {"1", "2", 0}, {"2", "0", 0}};
  for (const char* text :
       {"0 1\n1 2\n2 0\n", "0\t1\n1\t2\n2\t0\n", "0,1\n1,2\n2,0\n", "0;1\n1;2\n2;0\n", "0 , 1\n1 ,2\n2, 0",
        "  0   1  \r\n1\t 2\r\n\r\n2 0", "# c\n% d\n0 1\n#x\n\n1 2\n2 0 # trailing\n"})
    EXPECT_EQ(arcs_of(read(text)), expected) << text;
}

TEST(EdgeList, ReadsHeadersInAnyColumnOrder) {
  EXPECT_EQ(arcs_of(read("source,target\n5,6\n6,5\n")), (std::vector<NamedArc>{{"5", "6", 0}, {"6", "5", 0}}));
  EXPECT_EQ(arcs_of(read("weight,to,from\n7,1,0\n9,0,1\n")),
            (std::vector<NamedArc>{{"0", "1", 7}, {"1", "0", 9}}));
  EXPECT_EQ(arcs_of(read("a b\n1 2\n2 1\n")), (std::vector<NamedArc>{{"1", "2", 0}, {"2", "1", 0}}))
      << "words over numbers";
  EXPECT_EQ(names_of(read("from,to\nann,bob\n")), (std::vector<std::string>{"ann", "bob"}));
  LoadOptions plain;
  plain.header = HeaderMode::absent;
  plain.ids    = IdMode::string;
  EXPECT_EQ(names_of(read("from,to\nann,bob\n", plain)), (std::vector<std::string>{"ann", "bob", "from", "to"}));
}

TEST(EdgeList, TakesNoEdgeForAHeader) {
  EXPECT_EQ(read("u v\nv w\nw u\n").arc_count(), 3u);
  EXPECT_EQ(read("from to\nto x\n").arc_count(), 2u);
  const Graph table = read("from,to\nann,bob\n");
  EXPECT_EQ(table.report().notes.size(), 1u) << "where it was a guess, that is said";
}

TEST(EdgeList, FillsInColumnsOnlyWhereOneChoiceRemains) {
  EXPECT_EQ(arcs_of(read("to,person\n1,2\n2,3\n")), (std::vector<NamedArc>{{"2", "1", 0}, {"3", "2", 0}}));
  EXPECT_EQ(arcs_of(read("weight,from,person\n5,1,2\n")), (std::vector<NamedArc>{{"1", "2", 5}}));
  EXPECT_EQ(arcs_of(read("a,weight,b\n1,5,2\n")), (std::vector<NamedArc>{{"1", "2", 5}}));
}

TEST(EdgeList, SeparatesNamesByTabs) {
  EXPECT_EQ(arcs_of(read("New York\tLos Angeles\nBoston\tNew York\n")),
            (std::vector<NamedArc>{{"Boston", "New York", 0}, {"New York", "Los Angeles", 0}}));
  EXPECT_EQ(arcs_of(read("source\ttarget\tweight\n1\t2\t5\n")), (std::vector<NamedArc>{{"1", "2", 5}}));
}

TEST(EdgeList, ReadsQuotedNumbersAndMarkedFiles) {
  EXPECT_EQ(arcs_of(read("\"1\",\"2\",\"5\"\n")), (std::vector<NamedArc>{{"1", "2", 5}}));
  EXPECT_EQ(arcs_of(read("\xef\xbb\xbf"
                         "1 2\n2 1\n")),
            (std::vector<NamedArc>{{"1", "2", 0}, {"2", "1", 0}}));
}

TEST(EdgeList, DoesNotPayForALoneLargeId) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += std::to_string(i) + " " + std::to_string(i + 1) + "\n";
  text += "7 4294967294\n";
  LoadOptions options;
  options.host_memory = 64u << 20;
  EXPECT_EQ(read(text, options).vertex_count(), 60'002u);
}

TEST(EdgeList, StaysWithinItsMemoryWithNamesToo) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "name" + std::to_string(i) + " name" + std::to_string(i / 2) + "\n";
  const Graph graph = read(text);
  LoadOptions options;
  options.host_memory = graph.report().peak_bytes / 2;
  EXPECT_EQ(testing::failure_of([&] { read(text, options); }).first, ExitCode::does_not_fit);
  options.host_memory = graph.report().peak_bytes * 2;
  EXPECT_EQ(read(text, options).arc_count(), graph.arc_count());
}

TEST(EdgeList, SmallFilesSurviveManyThreads) {
  std::string text;
  for (int lines = 0; lines < 40; ++lines) {
    text += std::to_string(lines * 37 % 101) + " " + std::to_string(lines) + (lines % 3 ? "\n" : "\r\n");
    LoadOptions options;
    for (const int threads : {1, 7, 64}) {
      options.threads = threads;
      ASSERT_EQ(read(text, options).arc_count(), static_cast<EdgeIndex>(lines + 1)) << threads;
    }
  }
}

TEST(EdgeList, TakesOnlyTheIdsThatAppear) {
  const Graph graph = read("10 20\n20 4000000\n");
  EXPECT_EQ(names_of(graph), (std::vector<std::string>{"10", "20", "4000000"}));
  EXPECT_EQ(arcs_of(graph), (std::vector<NamedArc>{{"10", "20", 0}, {"20", "4000000", 0}}));
  EXPECT_EQ(graph.ids().find(std::uint64_t{20}, 3), 1u);
  EXPECT_FALSE(graph.ids().find(std::uint64_t{11}, 3));
  ASSERT_EQ(graph.report().notes.size(), 1u);
  EXPECT_NE(graph.report().notes[0].find("gaps"), std::string::npos);
}

TEST(EdgeList, StatesIsolatedVerticesWhenAsked) {
  LoadOptions dense;
  dense.ids = IdMode::dense;
  EXPECT_EQ(read("0 4\n", dense).vertex_count(), 5u);
  LoadOptions stated;
  stated.vertices = 9;
  EXPECT_EQ(read("0 4\n", stated).vertex_count(), 9u);
  EXPECT_EQ(read("3 4\n").ids().first(), 3u) << "a run of numbers needs no table";
}

TEST(EdgeList, ReadsSparse64BitIds) {
  const Graph graph = read("18446744073709551615 5\n5 9223372036854775808\n");
  EXPECT_EQ(names_of(graph), (std::vector<std::string>{"5", "9223372036854775808", "18446744073709551615"}));
  EXPECT_EQ(arcs_of(graph),
            (std::vector<NamedArc>{{"5", "9223372036854775808", 0}, {"18446744073709551615", "5", 0}}));
}

TEST(EdgeList, NoticesWideIdsLate) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += std::to_string(i) + " " + std::to_string(i + 1) + "\n";
  text += "7 99999999999\n";
  const Graph graph = read(text);
  EXPECT_EQ(graph.vertex_count(), 60'002u);
  EXPECT_EQ(graph.ids().name(60'001), "99999999999");
}

TEST(EdgeList, ReadsNames) {
  const Graph graph = read("alice bob\nbob \"carol ann\"\n\"d\"\"q\" alice\n#tag bob\n");
  EXPECT_EQ(names_of(graph), (std::vector<std::string>{"#tag", "alice", "bob", "carol ann", "d\"q"}));
  EXPECT_EQ(graph.arc_count(), 4u);
  EXPECT_EQ(graph.ids().find("carol ann", 5), 3u);
  EXPECT_FALSE(graph.ids().find("zoe", 5));
}

TEST(EdgeList, ReadsWeightsAsTheyAre) {
  const Graph whole = read("0 1 5\n1 0 4294967295\n");
  EXPECT_EQ(whole.weight_type(), WeightType::u32);
  EXPECT_EQ(arcs_of(whole), (std::vector<NamedArc>{{"0", "1", 5}, {"1", "0", 4294967295.0}}));
  const Graph fractions = read("0 1 2.5\n1 0 -3e1\n");
  EXPECT_EQ(fractions.weight_type(), WeightType::f32);
  EXPECT_EQ(arcs_of(fractions), (std::vector<NamedArc>{{"0", "1", 2.5}, {"1", "0", -30}}));
}

TEST(EdgeList, NoticesFractionsLate) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += std::to_string(i) + " " + std::to_string(i + 1) + " 3\n";
  text += "0 9 0.5\n";
  EXPECT_EQ(read(text).weight_type(), WeightType::f32);
}

TEST(EdgeList, SaysWhenWeightsMayBeRounded) {
  EXPECT_EQ(read("1 2 16777217\n2 3 0.5\n", {}, "list.wel").report().notes.size(), 1u);
  EXPECT_EQ(read("1 2 7\n2 3 0.5\n", {}, "list.wel").report().notes.size(), 0u);
}

TEST(EdgeList, FindsTheWeightColumn) {
  LoadOptions fourth;
  fourth.weight_column = "4";
  EXPECT_EQ(arcs_of(read("0 1 x 9\n1 0 y 8\n", fourth)), (std::vector<NamedArc>{{"0", "1", 9}, {"1", "0", 8}}));
  LoadOptions named;
  named.weight_column = "km";
  EXPECT_EQ(arcs_of(read("from,to,km\n0,1,2\n", named)), (std::vector<NamedArc>{{"0", "1", 2}}));
  LoadOptions ignored;
  ignored.weight_column = "none";
  EXPECT_EQ(read("0 1 5\n", ignored).weight_type(), WeightType::none);
  const Graph extra = read("0 1 5 1577836800\n");
  EXPECT_EQ(extra.weight_type(), WeightType::none);
  EXPECT_EQ(extra.report().notes.size(), 1u) << "four columns are not guessed at, and that is said";
}

TEST(EdgeList, ChangesNothingUnasked) {
  const Graph graph = read("1 1\n0 1\n0 1\n1 0\n");
  EXPECT_EQ(arcs_of(graph), (std::vector<NamedArc>{{"0", "1", 0}, {"0", "1", 0}, {"1", "0", 0}, {"1", "1", 0}}));
  LoadOptions options;
  options.transform.dedup = options.transform.drop_loops = true;
  EXPECT_EQ(arcs_of(read("1 1\n0 1\n0 1\n2 2\n", options)), (std::vector<NamedArc>{{"0", "1", 0}}));
  EXPECT_EQ(read("1 1\n0 1\n0 1\n2 2\n", options).vertex_count(), 3u) << "a vertex outlives its loop";
}

TEST(EdgeList, ReadsCompressedFiles) {
  const TemporaryFolder folder;
  std::string           text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i % 1000) + " " + std::to_string(i / 1000) + "\n";
  const Graph plain = open(folder.write("plain.txt", text));

  gzFile gzip = gzopen((folder / "list.gz").c_str(), "wb");
  gzwrite(gzip, text.data(), static_cast<unsigned>(text.size() / 2));
  gzclose(gzip);
  gzip = gzopen((folder / "list.gz").c_str(), "ab");  // a second member, as `cat a.gz b.gz` makes
  gzwrite(gzip, text.data() + text.size() / 2, static_cast<unsigned>(text.size() - text.size() / 2));
  gzclose(gzip);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  folder.write("list.zst", packed);

  for (const char* name : {"list.gz", "list.zst"}) EXPECT_EQ(arcs_of(open(folder / name)), arcs_of(plain)) << name;
  const std::string whole = testing::read_file(folder / "list.gz");
  folder.write("cut.txt.gz", whole.substr(0, whole.size() - 100));
  const auto [code, message] = testing::failure_of([&] { open(folder / "cut.txt.gz"); });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_NE(message.find("gzip"), std::string::npos) << message;
}

TEST(EdgeList, IsTheSameForEveryNumberOfThreads) {
  const TemporaryFolder folder;
  std::string           text;
  for (std::int64_t i = 0; i < 300'000; ++i)
    text += std::to_string(i * 7919 % 50'021) + " " + std::to_string(i * 104729 % 50'021) + " " +
            std::to_string(i % 13) + "\n";
  folder.write("list.wel", text);
  LoadOptions one, five;
  one.threads  = 1;
  five.threads = 5;
  EXPECT_TRUE(arcs_of(open(folder / "list.wel", one)) == arcs_of(open(folder / "list.wel", five)));
}

TEST(EdgeList, RefusesBeforeReadingWhatCannotFit) {
  const TemporaryFolder folder;
  std::string           text;
  for (int i = 0; i < 400'000; ++i) text += std::to_string(i) + " 5\n";
  LoadOptions options;
  options.host_memory        = 2u << 20;
  options.threads            = 1;
  const auto [code, message] = testing::failure_of([&] { open(folder.write("list.txt", text), options); });
  EXPECT_EQ(code, ExitCode::does_not_fit);
  EXPECT_NE(message.find("a graph of about"), std::string::npos) << message;
}

struct Stop : Progress {
  bool cancelled() const override { return true; }
};

TEST(EdgeList, StopsWhenToldTo) {
  Stop        stop;
  LoadOptions options;
  options.progress = &stop;
  EXPECT_EQ(testing::failure_of([&] { read("0 1\n", options); }).first, ExitCode::interrupted);
}

struct IterationCounters : Progress {
  void begin(std::string_view, std::uint64_t expected, ProgressUnit) override {
    total = std::max(total, expected);
  }
  void          advance(std::uint64_t amount) override { done += amount; }
  std::uint64_t total = 0, done = 0;
};

TEST(EdgeList, ReportsProgress) {
  IterationCounters tally;
  LoadOptions       options;
  options.progress = &tally;
  options.threads  = 1;
  read("0 1\n1 2\n", options);
  EXPECT_EQ(tally.total, 8u);
  EXPECT_GE(tally.done, 8u);
}

}  // namespace
}  // namespace spillway
