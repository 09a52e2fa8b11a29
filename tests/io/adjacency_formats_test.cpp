// Adjacency as text, METIS and Ligra: what is read, what is refused with which line, and what METIS can hold.
#include "format_testing.hpp"

namespace spillway {
namespace {

using namespace format_testing;

// --- METIS ---

TEST(Metis, ReadsTheManualsExample) {
  // Figure 2(a) of the METIS manual: 7 vertices, 11 edges.
  const Graph graph =
      open(file_with("manual.graph", "% a comment\n7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n"));
  EXPECT_EQ(graph.report().format, "metis");
  EXPECT_EQ(graph.vertex_count(), 7u);
  EXPECT_EQ(graph.arc_count(), 22u);
  EXPECT_TRUE(graph.symmetric());
  EXPECT_EQ(graph.weight_type(), WeightType::none);
  EXPECT_EQ(graph.ids().name(0), "1");
  const auto row = graph.out().neighbors(0);
  EXPECT_EQ(std::vector<Vertex>(row.begin(), row.end()), (std::vector<Vertex>{1, 2, 4}));
}

TEST(Metis, ABlankLineIsAVertex) {
  const Graph graph = open(file_with("blank.graph", "4 1\n\n4\n\n2\n"));
  EXPECT_EQ(graph.vertex_count(), 4u);
  EXPECT_EQ(arcs_of(graph), (ArcList{{1, 3, 1}, {3, 1, 1}}));
}

TEST(Metis, CommentsAndCarriageReturnsAndTheLastNewlineDoNotMatter) {
  const Graph graph = open(file_with("loose.graph", "%\r\n3 2\r\n%x\r\n2\r\n 1\t3 \r\n% y\r\n2"));
  EXPECT_EQ(arcs_of(graph), (ArcList{{0, 1, 1}, {1, 0, 1}, {1, 2, 1}, {2, 1, 1}}));
}

TEST(Metis, BlankLinesMayFollow) {
  EXPECT_EQ(open(file_with("tail.graph", "2 1\n2\n1\n\n% end\n \n")).vertex_count(), 2u);
}

TEST(Metis, EveryFmtIsUnderstood) {
  const ArcList plain{{0, 1, 1}, {1, 0, 1}}, weighted{{0, 1, 9}, {1, 0, 9}};
  const struct {
    const char*    text;
    const ArcList& arcs;
    const char*    note;
  } cases[] = {
      {"2 1 0\n2\n1\n", plain, ""},
      {"2 1 1\n2 9\n1 9\n", weighted, ""},
      {"2 1 001\n2 9\n1 9\n", weighted, ""},
      {"2 1 10\n7 2\n7 1\n", plain, "the weights of vertices"},
      {"2 1 010 2\n7 8 2\n7 8 1\n", plain, "the weights of vertices"},
      {"2 1 011 2\n7 8 2 9\n7 8 1 9\n", weighted, "the weights of vertices"},
      {"2 1 100\n3 2\n3 1\n", plain, "the sizes of vertices"},
      {"2 1 101\n3 2 9\n3 1 9\n", weighted, "the sizes of vertices"},
      {"2 1 111 3\n3 4 5 6 2 9\n3 4 5 6 1 9\n", weighted, "the sizes and weights of vertices"},
  };
  for (const auto& c : cases) {
    const Graph graph = open(file_with("fmt.graph", c.text));
    EXPECT_EQ(arcs_of(graph), c.arcs) << c.text;
    EXPECT_EQ(graph.weight_type(), &c.arcs == &weighted ? WeightType::u32 : WeightType::none) << c.text;
    ASSERT_EQ(graph.report().notes.size(), *c.note ? 1u : 0u) << c.text;
    if (*c.note) {
      EXPECT_NE(graph.report().notes[0].find(c.note), std::string::npos) << graph.report().notes[0];
    }
  }
}

TEST(Metis, WeightsFollowTheOptions) {
  const std::string path = file_with("weights.graph", "2 1 1\n2 4294967295\n1 4294967295\n");
  EXPECT_EQ(open(path).out().weights[0], 4294967295u);
  EXPECT_TRUE(open(path, with_weights(WeightType::none)).out().weights.empty());
  const Graph real = open(path, with_weights(WeightType::f32));
  EXPECT_EQ(real.weight_type(), WeightType::f32);
  EXPECT_EQ(arcs_of(real)[0], (std::tuple{0u, 1u, 4294967296.0}));
  expect_refused(file_with("unweighted.graph", "2 1\n2\n1\n"), "no weights", with_weights(WeightType::u32),
                 ExitCode::usage);
}

TEST(Metis, LoopsGoWhenAskedFor) {
  LoadOptions drop;
  drop.transform.drop_loops = true;
  const ArcList expected{{0, 1, 1}, {1, 0, 1}};
  EXPECT_EQ(arcs_of(open(file_with("loop1.graph", "2 1\n1 2\n1\n"), drop)), expected) << "the loop is not counted";
  EXPECT_EQ(arcs_of(open(file_with("loop2.graph", "2 2\n1 2\n1\n"), drop)), expected)
      << "the loop counts as an edge";
}

TEST(Metis, UndirectedAddsNothing) {
  LoadOptions options;
  options.transform.undirected = true;
  EXPECT_EQ(open(file_with("both.graph", "2 1\n2\n1\n"), options).arc_count(), 2u);
}

TEST(Metis, SymmetrizeMendsAMissingReverse) {
  LoadOptions options;
  options.transform.symmetrize = true;
  EXPECT_EQ(open(file_with("mend.graph", "3 1\n2 3\n\n\n"), options).arc_count(), 4u);
}

TEST(Metis, IsKnownByContentWhereRowsDiffer) {
  EXPECT_EQ(open(file_with("star.unknown", "4 3\n2 3 4\n1\n1\n1\n")).report().format, "metis");
}

TEST(Metis, LongRowsCrossTheBuffer) {
  // A star whose hub has a row of more than a megabyte.
  constexpr Vertex leaves = 200'000;
  std::string      text   = std::to_string(leaves + 1) + " " + std::to_string(leaves) + "\n";
  for (Vertex v = 2; v <= leaves + 1; ++v) text += std::to_string(v) + " ";
  text += '\n';
  for (Vertex v = 0; v < leaves; ++v) text += "1\n";
  const Graph graph = open(file_with("star.graph", text));
  EXPECT_EQ(graph.arc_count(), 2u * leaves);
  EXPECT_EQ(graph.out().degree(0), leaves);
  EXPECT_EQ(graph.out().neighbors(0).back(), leaves);
}

TEST(Metis, RefusesWhatIsWrong) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"% only\n", ":2: the file ends before METIS's header"},
      {"3\n2\n1\n\n", ":1: the header should read"},
      {"3 x\n2\n1\n\n", "in numbers, not 'x'"},
      {"3 1 0 0 0\n", "not 5 words"},
      {"3 -1\n", "not '-1'"},
      {"99999999999 1\n", "at most 2^32-1"},
      {"99999999999999999999999 1\n", "not '99999999999999999999999'"},
      {"4000000000 1\n2\n1\n", "cannot hold"},
      {"2 4000000000\n2\n1\n", "cannot hold"},
      {"2 18446744073709551615\n2\n1\n", "more than any file"},
      {"2 1 2\n2\n1\n", "fmt should be three digits of 0 and 1"},
      {"2 1 1111\n2\n1\n", "fmt should be"},
      {"2 1 1 1\n2 1\n1 1\n", "ncon is 1, but fmt '1'"},
      {"3 1\n2\n1\n", ":4: the file ends where the line of vertex 3 of 3 was expected"},
      {"2 1\n2\n1\n2\n", ":4: a line too many"},
      {"2 1\n3\n1\n", ":2: vertex 3 is out of range"},
      {"2 1\n0\n1\n", ":2: vertex 0 is out of range"},
      {"2 1\n2\n18446744073709551616\n", ":3: expected a neighbour"},
      {"2 1\n2x\n1\n", ":2: expected a neighbour, found '2x'"},
      {"2 1\n2\n1.0\n", ":3: expected a neighbour, found '1.0'"},
      {"2 1\n2 %\n1\n", ":2: expected a neighbour, found '%'"},
      {"2 1\n1\n2\n", ":2: vertex 1 is its own neighbour"},
      {"3 1\n2 3\n1\n1\n", ":3: more neighbours than the header's 1 edges"},
      {"3 2\n2\n1\n\n", "takes 4 neighbours, but the lines have 2"},
      {"3 1\n2 3\n\n\n", "1 -> 2 has no reverse"},
      {"3 1\n\n1\n1\n", "2 -> 1 has no reverse"},
      {"2 1 1\n2 5\n1 6\n", "1 -> 2 (weight 5) has no reverse of the same weight"},
      {"2 1 1\n2 -5\n1 -5\n", ":2: the weight -5 is negative"},
      {"2 1 1\n2 1.5\n1 1.5\n", "expected a whole weight of an edge, found '1.5'"},
      {"2 1 1\n2\n1\n", ":2: the last neighbour has no weight"},
      {"2 1 1\n2 4294967296\n1 4294967296\n", "above 2^32-1; --weight-type f32"},
      {"2 1 10\n7 2\n\n", ":3: the line ends where a weight of the vertex"},
  };
  for (const auto& c : cases) expect_refused(file_with("bad.graph", c.text), c.says);
  expect_refused(file_with("nul.graph", std::string("2 1\n2\0\n1\n", 9)), ":2: expected a neighbour");
  expect_refused(file_with("word.graph", "2 1 " + std::string(2'000'000, '0') + "\n2\n1\n"), "word.graph");
}

TEST(Metis, RoundTrips) {
  const std::vector<Vertex>        from{0, 1, 1, 3, 0, 3}, to{1, 0, 3, 1, 3, 0};
  const std::vector<std::uint32_t> weights{5, 5, 0, 0, 7, 7};
  const std::string                path = temporary("round.graph");

  const Graph plain = from_arcs(from, to, {}, WeightType::none, 6);
  EXPECT_TRUE(save(plain, path).empty());
  EXPECT_EQ(arcs_of(open(path)), arcs_of(plain));
  EXPECT_EQ(open(path).vertex_count(), 6u);

  const Graph weighted = from_arcs(from, to, weights, WeightType::u32, 6);
  EXPECT_EQ(save(weighted, path).size(), 1u) << "zero weights are told";
  EXPECT_EQ(arcs_of(open(path)), arcs_of(weighted));

  const Graph empty = from_arcs({}, {}, {}, WeightType::none, 2);
  save(empty, path);
  EXPECT_EQ(open(path).vertex_count(), 2u);
}

TEST(Metis, RefusesToWriteWhatItCannotHold) {
  const std::string                path = temporary("refused.graph");
  const std::vector<std::uint32_t> two{1, 2};
  const std::vector<Vertex>        zero_one{0, 1}, one_zero{1, 0}, zeros{0, 0}, ones{1, 1};
  expect_not_saved(from_arcs(zero_one, one_zero, two, WeightType::f32), path, "--weight-type");
  expect_not_saved(from_arcs(zero_one, one_zero, two, WeightType::u32), path, "--symmetrize");
  expect_not_saved(from_arcs(zeros, zero_one), path, "--drop-loops");
  expect_not_saved(from_arcs(zeros, ones), path, "--dedup");
  const std::vector<Vertex> zero{0}, one{1};
  expect_not_saved(from_arcs(zero, one), path, "0 -> 1 has no reverse; add what is missing with --symmetrize");
  EXPECT_FALSE(std::ifstream{path}.good()) << "nothing half-written is left";
}

// --- Ligra ---

TEST(Ligra, ReadsAdjacency) {
  const Graph graph = open(file_with("plain.adj", "AdjacencyGraph\n3\n4\n0\n2\n2\n2\n1\n0\n1\n"));
  EXPECT_EQ(graph.report().format, "ligra");
  EXPECT_EQ(graph.vertex_count(), 3u);
  EXPECT_FALSE(graph.symmetric());
  EXPECT_EQ(arcs_of(graph), (ArcList{{0, 1, 1}, {0, 2, 1}, {2, 0, 1}, {2, 1, 1}}));
}

TEST(Ligra, ReadsWeights) {
  const std::string path = file_with("weighted.adj", "WeightedAdjacencyGraph\n2 2\n0 1\n1 0\n\n7 8");
  EXPECT_EQ(arcs_of(open(path)), (ArcList{{0, 1, 7}, {1, 0, 8}}));
  EXPECT_EQ(open(path).weight_type(), WeightType::u32);
  EXPECT_EQ(open(path, with_weights(WeightType::f32)).weight_type(), WeightType::f32);
  EXPECT_EQ(open(path, with_weights(WeightType::none)).weight_type(), WeightType::none);
  const std::string real = file_with("real.adj", "WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n-7\n0.5\n");
  EXPECT_EQ(arcs_of(open(real, with_weights(WeightType::f32))), (ArcList{{0, 1, -7}, {1, 0, 0.5}}));
}

TEST(Ligra, RefusesWhatIsWrong) {
  const struct {
    const char* text;
    const char* says;
  } cases[] = {
      {"AdjacencyHypergraph\n", ":1: expected 'AdjacencyGraph' or"},
      {"AdjacencyGraph\n", "the file ends where the number of vertices was expected"},
      {"AdjacencyGraph\n5000000000\n0\n", "at most 2^32-1"},
      {"AdjacencyGraph\n4000000000\n0\n", "cannot hold"},
      {"AdjacencyGraph\n1\n18446744073709551615\n", ":3: expected the number of arcs"},
      {"AdjacencyGraph\n1\n1000000000000000000\n", "more than any file"},
      {"AdjacencyGraph\n1\n-1\n", ":3: expected the number of arcs, found '-1'"},
      {"AdjacencyGraph\n2\n1\n1\n1\n0\n", ":4: the row of vertex 0 starts at arc 1; 0 to 0"},
      {"AdjacencyGraph\n2\n1\n0\n2\n0\n", ":5: the row of vertex 1 starts at arc 2; 0 to 1"},
      {"AdjacencyGraph\n3\n2\n0\n2\n1\n0\n0\n", ":6: the row of vertex 2 starts at arc 1; 2 to 2"},
      {"AdjacencyGraph\n2\n1\n0\n0\n2\n", ":6: an arc leads to vertex 2"},
      {"AdjacencyGraph\n2\n1\n0\n0\nabcd\n", ":6: expected the target of an arc, found 'abcd'"},
      {"AdjacencyGraph\n2\n2\n00000\n0\n1\n", ":7: the file ends where the target of an arc"},
      {"AdjacencyGraph\n2\n1\n0\n0\n1\n9\n", ":7: expected the end of the file, found '9'"},
      {"AdjacencyGraph\n0\n1\n0\n", "1 arcs without vertices"},
      {"WeightedAdjacencyGraph\n2\n1\n0\n0\n1\n", ":7: the file ends where the weight"},
      {"WeightedAdjacencyGraph\n2\n1\n0\n0\n1\n-3\n", ":7: the weight -3 is not a whole number"},
      {"WeightedAdjacencyGraph\n2\n1\n0\n0\n1\n0.5\n",
       ":7: the weight 0.5 is not a whole number from 0 to 2^32-1; --weight-type f32"},
      {"WeightedAdjacencyGraph\n2\n1\n0\n0\n1\nx\n", ":7: expected the weight of an arc, found 'x'"},
  };
  for (const auto& c : cases) expect_refused(file_with("bad.adj", c.text), c.says);
}

}  // namespace
}  // namespace spillway
