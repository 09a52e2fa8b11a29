// Edges that stay in the order of the input: whoever reads them, however many threads, and in a .spill and back.
#include <gtest/gtest.h>

#include <cstring>

#include "format_testing.hpp"
#include "graph/edge_list.hpp"
#include "io/format.hpp"
#include "store/spill_file.hpp"
#include "support.hpp"

#include <spillway/generate.hpp>

namespace spillway {
namespace {

using namespace format_testing;
using testing::failure_of;
using testing::read_file;
using testing::TemporaryFolder;

LoadOptions in_order(int threads = 2) {
  LoadOptions options;
  options.edges   = true;
  options.threads = threads;
  return options;
}

std::string bytes_of(const std::vector<std::uint32_t>& all) {
  return {reinterpret_cast<const char*>(all.data()), all.size() * sizeof all[0]};
}

std::vector<std::uint32_t> words_of(const Graph& graph) {
  if (!graph.edges()) return {};
  const auto words = graph.edges()->words().span();
  return {words.begin(), words.end()};
}

TEST(EdgeOrder, IsThatOfTheLines) {
  std::string                text = "# a comment\n";
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 150'000; ++i) {  // several pieces
    const std::uint32_t u = i * 7919u % 5000, v = i * 104729u % 5000;
    text += std::to_string(u) + " " + std::to_string(v) + "\n";
    expected.insert(expected.end(), {u, v});
  }
  const std::string path = file_with("long.txt", text);
  for (const int threads : {1, 2, 5}) {
    LoadOptions options = in_order(threads);
    EXPECT_EQ(words_of(open(path, options)), expected) << threads;
    options.ids = IdMode::sparse;
    EXPECT_EQ(words_of(open(path, options)), expected) << threads << ", by tables";
    options.ids       = IdMode::string;
    const Graph names = open(path, options);
    ASSERT_EQ(names.edges()->edge_count(), expected.size() / 2);
    for (const std::uint64_t i : {0, 1, 777, 149'999}) {
      EXPECT_EQ(names.ids().name(names.edges()->words()[2 * i]), std::to_string(expected[2 * i])) << threads;
      EXPECT_EQ(names.ids().name(names.edges()->words()[2 * i + 1]), std::to_string(expected[2 * i + 1]));
    }
  }
  const std::string binary{reinterpret_cast<const char*>(expected.data()), expected.size() * 4};
  EXPECT_EQ(words_of(open(file_with("long.pairs", binary), in_order(5))), expected);
}

TEST(EdgeOrder, RanksIdsAsRowsDo) {
  const std::string path = file_with("gaps.txt", "9 5 2\n5 1000 3\n5 5 4\n");
  const Graph       list = open(path, in_order()), rows = open(path);
  EXPECT_EQ(words_of(list), (std::vector<std::uint32_t>{1, 0, 2, 0, 2, 3, 0, 0, 4}));
  EXPECT_EQ(list.ids().name(2), "1000");
  EXPECT_EQ(list.vertex_count(), rows.vertex_count());
  EXPECT_EQ(list.arc_count(), rows.arc_count());
  EXPECT_EQ(arcs_of(list), arcs_of(rows)) << "rows that are built after all";
  ASSERT_EQ(list.report().notes.size(), rows.report().notes.size());
  EXPECT_EQ(list.report().notes.back(), rows.report().notes.back()) << "ids have gaps";
}

TEST(EdgeOrder, FollowsWhatIsAskedOfTheEdges) {
  const std::string path    = file_with("loops.txt", "0 1\n2 2\n1 0\n");
  LoadOptions       options = in_order();
  options.transform         = {.undirected = true};
  const Graph both          = open(path, options);
  EXPECT_EQ(words_of(both), (std::vector<std::uint32_t>{0, 1, 2, 2, 1, 0}));
  EXPECT_TRUE(both.symmetric());
  EXPECT_EQ(both.arc_count(), 5u) << "a loop is one arc";
  EXPECT_EQ(both.out().arc_count(), 5u);
  options.transform   = {.drop_loops = true};
  const Graph dropped = open(path, options);
  EXPECT_EQ(words_of(dropped), (std::vector<std::uint32_t>{0, 1, 1, 0}));
  EXPECT_EQ(dropped.vertex_count(), 3u);
  for (const Transform change : {Transform{.dedup = true}, Transform{.symmetrize = true}}) {
    options.transform = change;
    expect_refused(path, "needs rows", options, ExitCode::usage);
  }
  options             = in_order();
  options.weight_type = WeightType::none;
  const Graph light   = open(file_with("weights.txt", "0 1 5\n1 2 6\n"), options);
  EXPECT_EQ(light.weight_type(), WeightType::none);
  EXPECT_EQ(arcs_of(light), (ArcList{{0, 1, 1}, {1, 2, 1}}));
}

TEST(EdgeOrder, OfFormatsThatStateArcs) {
  EXPECT_EQ(
      words_of(open(file_with("s.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n3 1\n2 2\n"),
                    in_order())),
      (std::vector<std::uint32_t>{2, 0, 1, 1}));
  EXPECT_EQ(words_of(open(file_with("a.gr", "p sp 3 2\na 3 1 9\na 1 2 4\n"), in_order())),
            (std::vector<std::uint32_t>{2, 0, 9, 0, 1, 4}));
  EXPECT_EQ(words_of(open(file_with("m.graph", "3 2\n2\n1 3\n2\n"), in_order())), std::vector<std::uint32_t>{})
      << "of METIS there are rows";
  EXPECT_EQ(open(file_with("none.txt", "# nothing\n"), in_order()).edges()->edge_count(), 0u);
}

/// Where ids are numbers of vertices as they are, a file of pairs is the list.
TEST(EdgeOrder, OfMappedPairs) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t i = 0; i < 500'000; ++i) words.insert(words.end(), {i * 7919u % 5000, i * 104729u % 6000});
  const std::string path  = file_with("mapped.pairs", bytes_of(words));
  LoadOptions       dense = in_order(3);
  dense.ids               = IdMode::dense;
  const Graph list        = open(path, dense);
  EXPECT_EQ(words_of(list), words);
  EXPECT_EQ(list.vertex_count(), 6000u);
  EXPECT_LT(list.report().peak_bytes, 1u << 20) << "nothing is copied";
  EXPECT_EQ(arcs_of(list), arcs_of(open(path)));
  LoadOptions stated          = in_order();
  stated.vertices             = 7000;
  stated.transform.undirected = true;
  const Graph both            = open(path, stated);
  EXPECT_EQ(both.vertex_count(), 7000u);
  EXPECT_EQ(both.arc_count(), both.out().arc_count()) << "loops are counted";
  stated.vertices    = 5999;
  words[2 * 499'999] = 5999;
  expect_refused(file_with("beyond.pairs", bytes_of(words)), "vertex 5999 is out of range: --vertices states 5999",
                 stated);
  const std::string triples = file_with("triples.pairs", bytes_of({0, 1, 7, 1, 2, 0x3F000000}));
  dense.weight_type         = WeightType::f32;
  EXPECT_EQ(arcs_of(open(triples, dense)).size(), 2u);
  dense.weight_column = "none";
  const Graph light   = open(triples, dense);
  EXPECT_EQ(light.weight_type(), WeightType::none);
  EXPECT_EQ(arcs_of(light), (ArcList{{0, 1, 1}, {1, 2, 1}}));
}

TEST(EdgeOrder, WeightsThatAreNoneAreRefused) {
  LoadOptions options         = in_order();
  options.weight_type         = WeightType::f32;
  const std::uint32_t words[] = {0, 1, 0x7FC00000};
  expect_refused(file_with("nan.pairs", std::string(reinterpret_cast<const char*>(words), sizeof words)), "edge 0",
                 options);
}

TEST(EdgeOrder, IsKeptInASpill) {
  const TemporaryFolder folder;
  for (const WeightType type : {WeightType::none, WeightType::u32, WeightType::f32})
    for (const bool undirected : {false, true}) {
      const Graph       made = generate("kron", {{"scale", "6"}},
                                        {.transform = {.undirected = undirected}, .weight_type = type, .edges = true});
      const std::string path = folder / "e.spill";
      save(made, path);
      const Graph back = open(path);
      EXPECT_EQ(words_of(back), words_of(made));
      EXPECT_EQ(back.symmetric(), undirected);
      EXPECT_EQ(back.arc_count(), made.arc_count());
      EXPECT_LT(back.report().peak_bytes, 4096u) << "opening copies nothing";
      for (const auto& verdict : store::verify(path, Progress::none())) EXPECT_EQ(verdict.problem, "");
      EXPECT_EQ(arcs_of(back), arcs_of(generate("kron", {{"scale", "6"}},
                                                {.transform = {.undirected = undirected}, .weight_type = type})));
      LoadOptions light;
      light.weight_type   = WeightType::none;
      const Graph without = open(path, light);
      save(without, folder / "light.spill");
      EXPECT_EQ(words_of(open(folder / "light.spill")).size(), 2 * made.edges()->edge_count());
    }
}

/// The header's checksum fits: what a forger would do.
TEST(EdgeOrder, OfADamagedSpillIsRefused) {
  const TemporaryFolder folder;
  const std::string     path = folder / "e.spill";
  save(generate("kron", {{"scale", "4"}}, {.transform = {.undirected = true}, .edges = true}), path);
  const std::string bytes = read_file(path);
  store::Header     header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<store::Section> sections(header.section_count);
  std::memcpy(sections.data(), bytes.data() + sizeof header, sections.size() * sizeof(store::Section));
  const auto forge = [&](auto&& change, const char* says, bool at_once) {
    std::string   forged = bytes;
    store::Header other  = header;
    change(forged, other);
    other.checksum = store::header_checksum(other, sections);
    std::memcpy(forged.data(), &other, sizeof other);
    folder.write("bad.spill", forged);
    const auto [code, message] = failure_of([&] {
      const Graph graph = open(folder / "bad.spill");
      EXPECT_FALSE(at_once) << says;
      graph.edges()->edges(2);
    });
    EXPECT_EQ(code, ExitCode::bad_input) << says;
    EXPECT_NE(message.find(says), std::string::npos) << message;
  };
  forge([](std::string&, store::Header& other) { other.vertices = 3; }, "and there are 3", false);
  forge([](std::string&, store::Header& other) { other.arcs *= 3; }, "do not make the", true);
  forge([](std::string&, store::Header& other) { --other.arcs; }, "loops where the header says", false);
  forge([&](std::string& forged, store::Header&) { forged[sections[0].offset + 3] = '\x7F'; }, "edge 0 has vertex",
        false);
}

/// What a person is told of a list is what is told of its rows.
TEST(EdgeOrder, LeavesNotesAsTheyAre) {
  std::string ascending, both_ends, weights = "# Undirected graph\n", zeros;
  for (int i = 0; i < 40; ++i) {
    const int next = (i + 1) % 40;
    if (i + 2 < 40) ascending += fmt::format("{} {}\n{} {}\n", i, next, i, i + 2);
    both_ends += fmt::format("{} {}\n{} {}\n", i, next, next, i);
    weights += fmt::format("{} {} 0.5\n", i, next);
    zeros += fmt::format("{} {} 0\n", i, next);
  }
  const struct {
    std::string text;
    bool        undirected;
    const char* says;
  } cases[] = {{ascending, false, "every arc leads from a smaller id to a larger one"},
               {both_ends, true, "edges seem to be listed from both ends"},
               {"# undirected\n" + ascending, false, "though the file says '# undirected'"},
               {"# undirected\n" + both_ends, false, ""},
               {weights, false, "column 3 holds the weights, 0.5 to 0.5"},
               {zeros, false, "most weights are 0"},
               {ascending, true, ""}};
  for (const auto& each : cases) {
    const std::string path    = file_with("notes.txt", each.text);
    LoadOptions       list    = in_order(), rows;
    list.transform.undirected = rows.transform.undirected = each.undirected;
    const Graph edges                                     = open(path, list);
    ASSERT_TRUE(edges.edges());
    EXPECT_EQ(edges.report().notes, open(path, rows).report().notes) << each.says;
    EXPECT_NE(fmt::format("{}", fmt::join(edges.report().notes, "; ")).find(each.says), std::string::npos)
        << each.says << ": " << fmt::format("{}", fmt::join(edges.report().notes, "; "));
  }
}

TEST(EdgeOrder, OfSourcesIsSeenInTheBeginning) {
  std::string                lines = "# a comment\n", shuffled, letters;
  std::vector<std::uint32_t> words, mixed;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t any = i * 7919u % 1000;
    lines += fmt::format("{} {}\n", i / 3, any);
    shuffled += fmt::format("{} {}\n", any, i);
    letters += fmt::format("a {} {} 1\n", any + 1, i + 1);
    words.push_back(i / 3), words.push_back(any);
    mixed.push_back(any), mixed.push_back(i);
  }
  const auto seen = [](const std::string& name, const std::string& text, const LoadOptions& options = {}) {
    const auto sample = list_sample(file_with(name, text), options);
    EXPECT_TRUE(sample) << name;
    EXPECT_NEAR(sample->edges, 1000, 60) << name;
    EXPECT_NEAR(sample->vertices, 1000, 2) << name;
    return sample->ascending;
  };
  EXPECT_TRUE(seen("lines.txt", lines));
  EXPECT_FALSE(seen("shuffled.txt", shuffled));
  EXPECT_FALSE(seen("letters.gr", "p sp 1001 1000\n" + letters));
  EXPECT_TRUE(seen("words.pairs", bytes_of(words)));
  EXPECT_FALSE(seen("mixed.pairs", bytes_of(mixed)));
  EXPECT_FALSE(list_sample(file_with("rows.graph", "3 2\n2\n1 3\n2\n"), {}));
}

/// The start of a file in order has few of the ids, whatever it leads to.
TEST(EdgeOrder, SaysHowManyVerticesThereAre) {
  const std::string path = file_with("grid.pairs", "");
  save(generate("grid", {{"rows", "300"}, {"columns", "300"}}), path);
  const auto sample = list_sample(path, {});
  ASSERT_TRUE(sample);
  EXPECT_TRUE(sample->ascending);
  EXPECT_NEAR(sample->vertices, 90'000, 3'000);
  EXPECT_NEAR(sample->edges, 4 * 90'000, 2'000);
  LoadOptions stated;
  stated.vertices    = 100'000;
  stated.weight_type = WeightType::none;
  EXPECT_EQ(list_sample(path, stated)->vertices, 100'000);
  EXPECT_NEAR(list_sample(path, stated)->edges, sample->edges, 1);
}

TEST(EdgeOrder, OfTextIsNotTakenForPairs) {
  const std::string spill = file_with("graph.spill", "");
  save(generate("kron", {{"scale", "4"}}), spill);
  LoadOptions as_pairs;
  as_pairs.format = "pairs";
  expect_refused(spill, "leave out --format pairs", as_pairs);
  const std::string path = file_with("text.pairs", "0 1\n1 2\n2 3\n3 4\n");
  expect_refused(path, "--format edgelist reads it as text", {});
  LoadOptions as_words;
  as_words.format = "pairs";
  EXPECT_EQ(open(path, as_words).arc_count(), 2u);
  as_words.vertices = 3;
  EXPECT_EQ(open(file_with("none.pairs", ""), as_words).vertex_count(), 3u);
}

}  // namespace
}  // namespace spillway
