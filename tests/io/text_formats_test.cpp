// Matrix Market, DIMACS and LDBC: what each says of directions, weights, isolated vertices and ids.
#include <gtest/gtest.h>

#include "support.hpp"

namespace spillway {
namespace {

using testing::arcs_of;
using testing::NamedArc;
using testing::TemporaryFolder;

Graph read(const std::string& name, const std::string& text, const LoadOptions& options = {}) {
  const TemporaryFolder folder;
  return open(folder.write(name, text), options);
}

TEST(MatrixMarketFormats, ExpandsSymmetricAndKeepsDimensions) {
  const Graph graph =
      read("a.mtx", "%%MatrixMarket MATRIX Coordinate Pattern Symmetric\n% c\n\n5 5 3\n2 1\n3 3\n\n4 2\n");
  EXPECT_EQ(graph.vertex_count(), 5u) << "vertex 5 is isolated, and stated";
  EXPECT_TRUE(graph.symmetric());
  EXPECT_EQ(arcs_of(graph),
            (std::vector<NamedArc>{{"1", "2", 0}, {"2", "1", 0}, {"2", "4", 0}, {"3", "3", 0}, {"4", "2", 0}}));
}

TEST(MatrixMarketFormats, NegatesTheOtherTriangleOfSkewMatrices) {
  const Graph graph = read("a.mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n3 1 5\n");
  EXPECT_EQ(arcs_of(graph), (std::vector<NamedArc>{{"1", "3", -5}, {"3", "1", 5}}));
}

TEST(MatrixMarketFormats, KeepsIntegersRealsZerosAndDuplicates) {
  EXPECT_EQ(read("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 7\n").weight_type(),
            WeightType::u32);
  EXPECT_EQ(read("a.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 2 -7\n").weight_type(),
            WeightType::f32);
  EXPECT_EQ(
      arcs_of(read("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 0\n1 2 0.25\n1 2 0\n")),
      (std::vector<NamedArc>{{"1", "2", 0}, {"1", "2", 0}, {"1", "2", 0.25}}));
}

TEST(MatrixMarketFormats, IsRecognisedUnderAnyName) {
  EXPECT_EQ(read("graph.txt", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n").report().format,
            "mtx");
  EXPECT_EQ(read("list.sg", "0 1\n1 2\n", {.format = "edgelist"}).arc_count(), 2u) << "--format is the last word";
}

TEST(MatrixMarketFormats, RefusesBothTriangles) {
  const TemporaryFolder folder;
  const std::string     path =
      folder.write("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n1 2\n");
  EXPECT_NE(testing::failure_of([&] { open(path); }).second.find("one triangle"), std::string::npos);
}

TEST(MatrixMarketFormats, IgnoresAByteOrderMark) {
  const Graph graph = read("a.mtx", "\xef\xbb\xbf%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");
  EXPECT_EQ(arcs_of(graph), (std::vector<NamedArc>{{"1", "2", 0}}));
}

TEST(DimacsFormats, KeepsParallelArcsAndIsolatedVertices) {
  const Graph graph = read("a.gr", "c road\np sp 4 3\na 1 2 9\nc between\na 1 2 3\na 3 1 1\n");
  EXPECT_EQ(graph.report().format, "dimacs");
  EXPECT_EQ(graph.vertex_count(), 4u);
  EXPECT_EQ(arcs_of(graph), (std::vector<NamedArc>{{"1", "2", 3}, {"1", "2", 9}, {"3", "1", 1}}));
}

TEST(LdbcFormats, ReadsVerticesEdgesAndDirection) {
  const TemporaryFolder folder;
  folder.write("g.v", "10\n30\n20\n18446744073709551615\n");
  folder.write("g.e", "30 10 0.5\n10 20 1.5");  // the last line may lack its newline
  EXPECT_EQ(arcs_of(open(folder / "g.e")), (std::vector<NamedArc>{{"10", "20", 1.5}, {"30", "10", 0.5}}));
  folder.write("g.properties", "# Properties\ngraph.g.vertex-file = g.v\ngraph.g.directed = false\n");
  const Graph graph = open(folder / "g.e");
  EXPECT_TRUE(graph.symmetric());
  EXPECT_EQ(graph.vertex_count(), 4u);
  EXPECT_EQ(graph.arc_count(), 4u);
  EXPECT_EQ(testing::failure_of([&] { open(folder / "g.v"); }).first, ExitCode::bad_input);
}

TEST(LdbcFormats, TakesVerticesWithoutEdges) {
  const TemporaryFolder folder;
  folder.write("g.v", "10\n20\n");
  folder.write("g.e", "");
  EXPECT_EQ(open(folder / "g.e").vertex_count(), 2u);
}

TEST(LdbcFormats, RefusesVerticesThatAreNotListedOrTwice) {
  const TemporaryFolder folder;
  folder.write("g.v", "10\n30\n");
  folder.write("g.e", "10 20\n");
  EXPECT_NE(testing::failure_of([&] { open(folder / "g.e"); }).second.find("vertex 20"), std::string::npos);
  folder.write("g.v", "10\n20\n10\n");
  EXPECT_NE(testing::failure_of([&] { open(folder / "g.e"); }).second.find("more than once"), std::string::npos);
}

}  // namespace
}  // namespace spillway
