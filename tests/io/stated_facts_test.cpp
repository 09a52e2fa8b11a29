// What files say of themselves beside their edges: directions, counts, columns, ranges. It is followed, told in a
// note, or refused; never passed over in silence.
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <random>
#include <sstream>

#include <spillway/engine/stopwatch.hpp>
#include "io/decimals.hpp"

#include "support.hpp"

#include <spillway/graph.hpp>

namespace spillway {
namespace {

using testing::arcs_of;
using testing::failure_of;
using testing::NamedArc;
using testing::names_of;
using testing::TemporaryFolder;

using Arcs = std::vector<NamedArc>;

Graph read(const std::string& text, const LoadOptions& options = {}, const std::string& name = "list.csv") {
  const TemporaryFolder folder;
  return open(folder.write(name, text), options);
}

std::string refusal(const std::string& text, const LoadOptions& options = {}) {
  return failure_of([&] { read(text, options); }).second;
}

std::string notes_of(const Graph& graph) {
  std::string all;
  for (const std::string& note : graph.report().notes) all += note + "\n";
  return all;
}

void expect_says(const std::string& text, const std::string& fragment) {
  EXPECT_NE(text.find(fragment), std::string::npos) << "'" << text << "' lacks: " << fragment;
}

TEST(StatedFacts, ColumnsThatAreNotReadAreNamed) {
  expect_says(notes_of(read("gid,source,target,cost,edge_type\n1,1,2,5,a\n2,2,3,6,b\n")),
              "columns 'gid', 'edge_type' are not read\n");
  expect_says(notes_of(read("source,target,since\n1,2,1999\n2,3,2001\n")),
              "column 'since' is not read (--weight-column NAME reads one as weights)");
  EXPECT_EQ(notes_of(read("source,target,since\n1,2,1999\n",
                          {.source_column = "source", .target_column = "target", .weight_column = "none"})),
            "");
}

TEST(StatedFacts, VerticesThatMayBeMissingValuesAreTold) {
  for (const char* mark : {"NA", "NULL", "None", "nan", "\\N", "#N/A"}) {
    const std::string text = std::string{"source,target\nann,bob\nbob,"} + mark + "\n";
    expect_says(notes_of(read(text)), fmt::format("'{}' is a vertex like others", mark));
  }
  EXPECT_EQ(notes_of(read("source,target\nann,bob\nbob,Nan\n")).find("missing"), std::string::npos);
}

TEST(StatedFacts, BarsSeparateAndExcelMaySayWhatDoes) {
  const Arcs arcs{{"1", "2", 5}, {"2", "3", 6}};
  EXPECT_EQ(arcs_of(read("source|target|weight\n1|2|5\n2|3|6\n")), arcs);
  EXPECT_EQ(arcs_of(read("1 | 2 | 5\n2 | 3 | 6\n")), arcs);
  EXPECT_EQ(arcs_of(read("sep=;\nsource;target;weight\n1;2;5\n2;3;6\n")), arcs);
  EXPECT_EQ(arcs_of(read("Smith, J|Doe, K\nDoe, K|Ash, L\n")),
            (Arcs{{"Doe, K", "Ash, L", 0}, {"Smith, J", "Doe, K", 0}}));
  expect_says(refusal("\"source\",\"target\"\n\"1\",1,2\n\"2\",2,3\n"), "row.names = FALSE");
  EXPECT_EQ(refusal("source\ttarget\n1\t2\t9\n5\t6\t9\n").find("row.names"), std::string::npos);
}

TEST(StatedFacts, NumbersOfColumnsAreTold) {
  for (const char* text : {"0,1,2\n23,55,0.75\n24,23,0.5\n", "0,1\n5,6\n6,7\n", "0\t1\t2\n5\t6\t9\n"})
    expect_says(notes_of(read(text)), "could be the numbers of columns (--header yes)");
  EXPECT_EQ(notes_of(read("0,1\n1,2\n0,3\n")), "");
  EXPECT_EQ(notes_of(read("0 1\n1 2\n")), "");
}

TEST(StatedFacts, QuotesThatGoOnInTheNextLineAreRefused) {
  expect_says(refusal("user_id,friend_id,bio\n1,2,hi\n2,3,\"Top 3:\n4, 5, 6\"\n3,1,yo\n"),
              ":3: a quote is not closed");
}

TEST(StatedFacts, TheHeadersEndsAreNoWeights) {
  const std::string text = "source,target,weight\n1,2,3\n2,3,1\n";
  expect_says(refusal(text, {.weight_column = "2"}), "which the header names as the target");
  expect_says(refusal(text, {.weight_column = "source"}), "which the header names as the source");
  EXPECT_EQ(arcs_of(read(text, {.source_column = "1", .target_column = "3", .weight_column = "2"})),
            (Arcs{{"1", "3", 2}, {"2", "1", 3}}));
  EXPECT_EQ(arcs_of(read("cost,node\n7,4\n4,2\n", {.source_column = "1", .target_column = "2"})),
            (Arcs{{"4", "2", 0}, {"7", "4", 0}}));
}

TEST(StatedFacts, EmptyCellsBetweenTabsShiftNothing) {
  expect_says(refusal("1\t2\t\n2\t\t3\n3\t1\t\n"), "but it is empty");
  expect_says(refusal("1\t2\t\n2\t\t3\n3\t1\t\n", {.weight_column = "none"}), ":2: expected a target");
  expect_says(refusal("1\t2\t3\t\n2\t3\t\t16\n3\t1\t2\t\n", {.weight_type = WeightType::u32}),
              ":2: expected a weight");
  EXPECT_EQ(arcs_of(read("1\t2\t\n2\t3\t\n")), (Arcs{{"1", "2", 0}, {"2", "3", 0}}));
}

TEST(StatedFacts, BlanksInAHeaderBetweenTabsArePartOfItsWords) {
  const Arcs arcs{{"1", "2", 3}, {"2", "3", 4}};
  for (const char* text : {"Source\tTarget\tEdge Weight\n1\t2\t3\n2\t3\t4\n",
                           "source node\ttarget node\tweight\n1\t2\t3\n2\t3\t4\n"}) {
    const std::vector<LoadOptions> ways{{.weight_column = "3"},
                                        {.weight_column = "3", .header = HeaderMode::present},
                                        {.source_column = "1", .target_column = "2", .weight_column = "3"}};
    for (const LoadOptions& options : ways) EXPECT_EQ(arcs_of(read(text, options, "list.tsv")), arcs) << text;
  }
  const Graph pairs = read("source node\ttarget node\n1\t2\n2\t3\n");
  EXPECT_EQ(arcs_of(pairs), (Arcs{{"1", "2", 0}, {"2", "3", 0}}));
  expect_says(notes_of(pairs), "line 1, 'source node\\ttarget node', is a header");
  EXPECT_EQ(pairs.report().list->header, (std::vector<std::string>{"source node", "target node"}));
  EXPECT_EQ(arcs_of(read("from node\tto node\n1\t2\n2\t3\n",
                         {.source_column = "to node", .target_column = "from node"})),
            (Arcs{{"2", "1", 0}, {"3", "2", 0}}));
  // Mixed separators above mixed ones, and above tabs, are what they were.
  EXPECT_EQ(arcs_of(read("from to\tweight\n1 2\t3\n2 3\t4\n")), arcs);
  EXPECT_EQ(arcs_of(read("from to\tweight\n1\t2\t3\n3\t3\t4\n")), (Arcs{{"1", "2", 3}, {"3", "3", 4}}));
  for (const char* text : {"from node\tto\n1\t10\t20\n", "from node\tto\n1\t10\t20\n2\t20\t30\n"})
    expect_says(refusal(text), "has 2 columns, and this line has 3; if the first column only numbers the lines");
}

TEST(StatedFacts, CommentsAmongNamesAreTold) {
  expect_says(notes_of(read("source,target\nAnn,Bob\n#Bob,Cy\nCy,Dan\n")), "'#Bob' is the name of a vertex");
  expect_says(notes_of(read("source,target\nAnn,Bob\nCy,Dan # guess\n")), "'Dan # guess' is the name");
}

TEST(StatedFacts, ListsOfSmallerEndsFirstAreTold) {
  std::string up, down;
  for (int i = 0; i < 10; ++i)
    for (int j = i + 1; j < 10; ++j) up += fmt::format("{} {}\n", i, j), down += fmt::format("{} {}\n", j, i);
  expect_says(notes_of(read(up)), "from a smaller id to a larger one");
  EXPECT_EQ(notes_of(read(up + "9 0\n")), "");
  expect_says(notes_of(read(up + "3 3\n")), "from a smaller id to a larger one");
  expect_says(notes_of(read(down)), "from a larger id to a smaller one");
  std::string names = "source,target\n";
  for (char i = 'a'; i < 'h'; ++i)
    for (char j = static_cast<char>(i + 1); j <= 'h'; ++j) names += fmt::format("p{},p{}\n", i, j);
  expect_says(notes_of(read(names)), "from a smaller name to a larger one");
}

// --- direction ---

TEST(StatedFacts, UndirectedIsToldWhereItIsNotFollowed) {
  for (const char* text : {"Source,Target,Type,Weight\n1,2,Undirected,1\n2,3,Undirected,1\n",
                           "% sym unweighted\n1 2\n2 3\n", "# Undirected graph: each edge once\n1\t2\n2\t3\n"}) {
    const Graph graph = read(text);
    EXPECT_EQ(graph.arc_count(), 2u) << text;
    expect_says(notes_of(graph), "(--undirected reads both)");
    LoadOptions both;
    both.transform.undirected = true;
    EXPECT_EQ(notes_of(read(text, both)).find("--undirected"), std::string::npos) << text;
  }
  for (const char* said : {"# symmetric", "# Directed: false", "# directed=0", "# not directed", "# un-directed",
                           "# undirected, no loops", "% sym", "# not weighted, undirected"})
    expect_says(notes_of(read(std::string{said} + "\n1 2\n2 3\n")), "(--undirected reads both)");
  expect_says(notes_of(read("# Undirected graph\n1 2\n2 1\n2 3\n")), "(--undirected reads both)");
  for (const char* said :
       {"# Directed graph", "# directed: true", "# asymmetric", "# skew-symmetric", "# undirected: false",
        "# undirected = 0", "# undirected no", "# is_undirected: False", "# this is not an undirected graph",
        "# directed, no loops", "# not weighted, directed graph"})
    EXPECT_EQ(notes_of(read(std::string{said} + "\n1 2\n2 3\n")).find("--undirected"), std::string::npos) << said;
  expect_says(notes_of(read("% bip weighted\n1 1\n2 1\n")), "vertices of one side");
  expect_says(notes_of(read("# A bipartite graph of users and films\n1 1\n2 1\n")), "vertices of one side");
  EXPECT_EQ(notes_of(read("# not bipartite\n1 1\n2 1\n")).find("vertices of one side"), std::string::npos);
}

TEST(StatedFacts, CommentsThatNameColumnsInAnotherOrderAreTold) {
  for (const char* text : {"# ToNodeId\tFromNodeId\n0\t1\n", "#target,source\n0,1\n"}) {
    const Graph graph = read(text);
    EXPECT_EQ(arcs_of(graph), (Arcs{{"0", "1", 0}})) << text;
    expect_says(notes_of(graph), "though a comment names them");
  }
  EXPECT_EQ(notes_of(read("# FromNodeId\tToNodeId\n0\t1\n")), "");
  expect_says(notes_of(read("# id source target\n0 1 2\n1 2 3\n")), "though a comment names them");
}

struct PropertiesRow {
  const char* text;
  int         arcs;  ///< of two edges; 0: refused
  const char* note = nullptr;
};

TEST(StatedFacts, LdbcPropertiesAreReadAsTheyAreWritten) {
  const PropertiesRow rows[] = {{"#graph.g.directed = false\ngraph.g.directed = true\n", 2},
                                {"! graph.g.directed = false\n", 2, "does not say whether edges are directed"},
                                {"directed = false\n", 4},
                                {"graph.g.directed: false\n", 4},
                                {"graph.g.directed false\n", 4},
                                {"  graph.g.directed = false  \n", 4},
                                {"graph.other.directed = false\n", 4, "is of a graph of another name"},
                                {"graph.g.vertices = 3\n", 2, "does not say whether edges are directed"},
                                {"graph.g.directed = false\ngraph.g.directed = true\n", 0},
                                {"graph.g.directed = maybe\n", 0}};
  for (const PropertiesRow& row : rows) {
    const TemporaryFolder folder;
    folder.write("g.v", "1\n2\n3\n"), folder.write("g.properties", row.text);
    const std::string path = folder.write("g.e", "1 2\n2 3\n");
    if (row.arcs == 0) {
      expect_says(failure_of([&] { open(path); }).second, "g.properties");
      continue;
    }
    const Graph graph = open(path);
    EXPECT_EQ(graph.arc_count(), static_cast<EdgeIndex>(row.arcs)) << row.text;
    if (row.note)
      expect_says(notes_of(graph), row.note);
    else
      EXPECT_EQ(notes_of(graph), "") << row.text;
  }
}

TEST(StatedFacts, LdbcPropertiesNameTheWeightAndCountsAreCompared) {
  const TemporaryFolder folder;
  folder.write("g.v", "1\n2\n3\n");
  const std::string path = folder.write("g.e", "1 2 5 7\n2 3 6 8\n");
  expect_says(notes_of(open(path)), "the third is read as the weights");
  folder.write("g.properties",
               "directed = true\ngraph.g.edge-properties.names = capacity, weight\ngraph.g.sssp.weight-property = "
               "weight\n");
  const Graph graph = open(path);
  EXPECT_EQ(arcs_of(graph), (Arcs{{"1", "2", 7}, {"2", "3", 8}}));
  EXPECT_EQ(notes_of(graph), "");
  folder.write("g.properties", "graph.g.meta.vertices = 5\n");
  expect_says(failure_of([&] { open(path); }).second, "5 vertices are stated, but 3 are there");
  folder.write("g.properties", "graph.g.meta.edges = 9\n");
  expect_says(failure_of([&] { open(path); }).second, "9 edges are stated, but 2 are there");
}

LoadOptions undirected(bool dedup = false) {
  LoadOptions options;
  options.transform.undirected = true;
  options.transform.dedup      = dedup;
  return options;
}

/// A ring with chords, every edge from both ends: first all arcs of the one direction, so that no beginning shows
/// both.
std::string both_ends(int vertices, int first_id = 0) {
  std::string forth, back;
  for (int v = 0; v < vertices; ++v)
    for (const int step : {1, 2, 5}) {
      const int to = (v + step) % vertices;
      forth += fmt::format("{} {}\n", v + first_id, to + first_id);
      back += fmt::format("{} {}\n", to + first_id, v + first_id);
    }
  return forth + back;
}

TEST(StatedFacts, EdgesFromBothEndsAreKnownByTheGraphNotByTheStartOfTheFile) {
  const std::string large = both_ends(20'000);
  EXPECT_EQ(notes_of(read("# Undirected graph\n" + large)), "");
  expect_says(notes_of(read(large, undirected())), "they are doubled (leave it out, or say --dedup)");
  const Graph once = read("1 2\n2 1\n2 3\n3 2\n", undirected());
  expect_says(notes_of(once), "doubled");
  EXPECT_EQ(once.report().list->guessed, std::vector<std::string>{"direction"});
  EXPECT_EQ(notes_of(read(large, undirected(/*dedup=*/true))), "");
  // Each edge once, three times, or twice in one direction: nothing is listed from both
  // ends.
  for (const char* text :
       {"1 2\n2 3\n3 3\n", "1 2\n1 2\n1 2\n2 3\n3 2\n3 2\n", "1 1\n2 2\n", "1 2\n1 2\n2 3\n2 3\n"})
    EXPECT_EQ(notes_of(read(text, undirected())), "") << text;
  // What a loop or a tenth of the arcs lacks changes nothing.
  expect_says(notes_of(read(both_ends(20) + "3 3\n0 10\n", undirected())), "doubled");
}

TEST(StatedFacts, EdgesFromBothEndsAreToldInEveryFormat) {
  const TemporaryFolder folder;
  const std::string     ends = both_ends(40, 1);
  const std::string     mtx =
      folder.write("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n40 40 240\n" + ends);
  std::string        dimacs = "p sp 40 240\n";
  std::istringstream lines{ends};
  for (std::string line; std::getline(lines, line);) dimacs += "a " + line + " 7\n";
  std::vector<std::string> paths{mtx, folder.write("g.gr", dimacs)};
  const Graph              graph = open(mtx);
  for (const char* name : {"g.spill", "g.sg", "g.bcsr"}) paths.push_back(folder / name), save(graph, paths.back());
  for (const std::string& path : paths) {
    EXPECT_EQ(notes_of(open(path)), "") << path;
    expect_says(notes_of(open(path, undirected())), "they are doubled (leave it out, or say --dedup)");
  }
}

TEST(StatedFacts, LdbcVerticesOfAnotherNameAreTold) {
  const TemporaryFolder folder;
  folder.write("g.v", "1\n2\n"), folder.write("other.v", "1\n2\n3\n");
  const std::string path = folder.write("g.e", "1 2\n");
  for (const char* key : {"vertex-file", "graph.g.vertex-file"}) {
    folder.write("g.properties", fmt::format("directed = true\n{} = other.v\n", key));
    expect_says(notes_of(open(path)), "vertices are read from g.v, though g.properties names 'other.v'");
    folder.write("g.properties", fmt::format("directed = true\n{} = g.v\n", key));
    EXPECT_EQ(notes_of(open(path)), "");
  }
}

TEST(StatedFacts, LdbcListsFromBothEndsAreTold) {
  const TemporaryFolder folder;
  std::string           ids;
  for (int v = 0; v < 40; ++v) ids += fmt::format("{}\n", v);
  folder.write("g.v", ids);
  const std::string path = folder.write("g.e", both_ends(40));
  EXPECT_EQ(notes_of(open(path)), "") << "both directions are there, whatever no properties say";
  folder.write("g.properties", "directed = false\n");
  const Graph doubled = open(path);
  EXPECT_EQ(doubled.arc_count(), 480u);
  expect_says(notes_of(doubled), "'directed = false' in g.properties reads each as two arcs: they are doubled");
  LoadOptions dedup;
  dedup.transform.dedup = true;
  EXPECT_EQ(notes_of(open(path, dedup)), "");
}

TEST(StatedFacts, SymmetrizeTakesNothingFromUndirectedFiles) {
  const TemporaryFolder folder;
  folder.write("g.v", "1\n2\n3\n4\n"), folder.write("g.properties", "directed = false\n");
  LoadOptions both;
  both.transform.symmetrize = true;
  const std::string path    = folder.write("g.e", "4 3\n2 3\n3 3\n2 4\n3 3\n4 2\n4 3\n");
  EXPECT_EQ(open(path).arc_count(), 12u);
  EXPECT_EQ(open(path, both).arc_count(), 12u);
  std::string tuples;
  for (const std::uint64_t end : {4, 3, 2, 3, 3, 3, 2, 4, 3, 3, 4, 2, 4, 3})
    tuples.append(reinterpret_cast<const char*>(&end), sizeof end);
  EXPECT_EQ(open(folder.write("t.g500_64", tuples), both).arc_count(), 12u);
}

TEST(StatedFacts, LdbcListsMayHaveCommentsAMarkAndBeCompressed) {
  const TemporaryFolder folder;
  folder.write("c.v",
               "\xef\xbb\xbf"
               "1\n2\n");
  EXPECT_EQ(arcs_of(open(folder.write("c.e", "# source target weight\n1 2 5\n"))), (Arcs{{"1", "2", 5}}));
  folder.write("d.v", "1\n2\n");
  EXPECT_EQ(open(folder.write("d.e", "#edges\n1 2\n")).weight_type(), WeightType::none);
}

// --- counts and columns ---

TEST(StatedFacts, ALineOfCountsIsTold) {
  for (const char* text :
       {"4 3\n0 1\n0 2\n0 3\n", "3 3\n0 1\n1 2\n2 0\n", "3 3 2\n1 2 5\n2 3 6\n", "5 3 1\n0 1 7\n1 2 7\n4 3 7\n",
        "5 4\n0 1\n1 0\n1 2\n2 1\n2 3\n3 2\n3 4\n4 3\n", "5 8\n0 1\n1 2\n2 3\n3 4\n", "4 5\n0 1\n1 2\n2 3\n5 4\n"})
    expect_says(notes_of(read(text)), "numbers of vertices and edges");
  for (const char* text : {"0 1\n1 2\n", "0 1\n1 0\n", "5 9\n0 1\n", "2 1\n3 1\n"})
    EXPECT_EQ(notes_of(read(text)).find("numbers of vertices"), std::string::npos) << text;
}

TEST(StatedFacts, OfSeveralWeightsTheOneOfThatNameIsRead) {
  const Graph graph = read("source,target,cost,weight\n1,2,3,4\n");
  EXPECT_EQ(arcs_of(graph), (Arcs{{"1", "2", 4}}));
  expect_says(notes_of(graph), "of several columns that could be weights, column 4 is read ('weight')");
  expect_says(notes_of(read("source,target,weight,weight\n1,2,3,4\n")), "column 3 is read");
}

TEST(StatedFacts, EndsAreFoundInsideLongerNames) {
  for (const char* header : {"dst_ip,src_ip", "to_address,from_address", "target_name,source_name",
                             "Target Node,Source Node", "nodeTo,nodeFrom", "successor,predecessor"})
    EXPECT_EQ(arcs_of(read(std::string{header} + "\nx,y\n")), (Arcs{{"y", "x", 0}})) << header;
}

TEST(StatedFacts, AHeaderHasNoNumbersAndNoVertices) {
  EXPECT_EQ(arcs_of(read("ann,bob,4\nbob,7,5\n")), (Arcs{{"ann", "bob", 4}, {"bob", "7", 5}}));
  EXPECT_EQ(arcs_of(read("ann,bob\nbob,7\n")), (Arcs{{"ann", "bob", 0}, {"bob", "7", 0}}));
  EXPECT_EQ(arcs_of(read("source,target,2020\n1,2,3\n")).size(), 1u) << "a year names a column";
}

TEST(StatedFacts, TablesThatSpillwayWritesReadBackWhateverVerticesAreCalled) {
  const TemporaryFolder folder;
  const Graph           graph =
      open(folder.write("a.csv", "\"x\",\"source\"\n\"source\",\"y\"\n"), {.header = HeaderMode::absent});
  const std::string path = folder / "b.csv";
  save(graph, path);
  EXPECT_EQ(arcs_of(open(path)), arcs_of(graph));
}

TEST(StatedFacts, ARepeatedHeaderIsRefused) {
  expect_says(refusal("source,target\na,b\nsource,target\nb,c\n"), ":3: the header of line 1 stands here again");
  for (const char* again : {"Source,Target", "\xef\xbb\xbfsource,target"})
    expect_says(refusal("source,target\na,b\n" + std::string{again} + "\nb,c\n"), ":3: ");
  std::string late = "source,target\n";
  for (int i = 0; i < 40'000; ++i) late += "n" + std::to_string(i) + ",m" + std::to_string(i) + "\n";
  expect_says(refusal(late + "source,target\nn1,m2\n"), ":40002: the header stands here again");
  EXPECT_EQ(read("source,target\na,b\nsource,target\n", {.header = HeaderMode::absent}).arc_count(), 3u);
}

TEST(StatedFacts, ColumnsThatOptionsLeaveOpenAreTold) {
  expect_says(notes_of(read("0 1 5\n1 2 3\n", {.weight_column = "1"})), "arcs lead from column 2 to column 3");
  expect_says(notes_of(read("source,target,weight\n1,2,3\n", {.source_column = "target"})),
              "arcs lead from column 2 to column 1");
}

TEST(StatedFacts, BetweenTabsAnEmptyColumnIsSeen) {
  const LoadOptions named{.source_column = "source", .target_column = "target"};
  expect_says(refusal("source\ttarget\tlabel\n1\t2\t5\n2\t\t6\n", named), ":3: expected a target in column 2");
}

// --- separators ---

TEST(StatedFacts, SemicolonsSeparateWhatHasCommasInIt) {
  EXPECT_EQ(names_of(read("Berlin;Bonn;478,2\nBonn;Ulm;412,7\n")),
            (std::vector<std::string>{"Berlin", "Bonn", "Ulm"}));
  EXPECT_EQ(names_of(read("Smith, J;Doe, K\nDoe, K;Lee, M\n")),
            (std::vector<std::string>{"Doe, K", "Lee, M", "Smith, J"}));
  EXPECT_EQ(names_of(read("ann,bob,x;y\nbob,eve,y;z\n")), (std::vector<std::string>{"ann", "bob", "eve"}));
}

TEST(StatedFacts, DigitsInGroupsAreOneNumber) {
  for (const char* text : {"1,234\t5,678\n5,678\t999\n", "1,234;5,678\n5,678;999\n", "1,234 5,678\n5,678 999\n"})
    EXPECT_EQ(names_of(read(text)), (std::vector<std::string>{"1,234", "5,678", "999"})) << text;
  EXPECT_EQ(names_of(read("12\t1,200\n1,300\t5\n")), (std::vector<std::string>{"1,200", "1,300", "12", "5"}));
  EXPECT_EQ(names_of(read("1 234\t5 678\n5 678\t999\n")), (std::vector<std::string>{"1 234", "5 678", "999"}));
  EXPECT_EQ(arcs_of(read("100 200\t300\n200 300\t400\n")), (Arcs{{"100", "200", 300}, {"200", "300", 400}}));
}

TEST(StatedFacts, CommentsBehindNumbersAreNoColumns) {
  const Arcs expected{{"1", "2", 0}, {"2", "3", 0}};
  for (const char* text : {"1 2 # c\n2 3 # d\n", "1 2\n2 3 # d\n", "1,2 # c\n2,3\n", "2,3\n1,2 # c\n"})
    EXPECT_EQ(arcs_of(read(text)), expected) << text;
}

TEST(StatedFacts, IdsThatAreNoWholeNumbersAreToldWhatToDo) {
  const char* whole =
      "write ids as whole numbers (pandas: astype('int64'), R: options(scipen = 999)); --ids string "
      "makes names of all ids, and of 2 and 2.0 different ones";
  for (const char* text : {"1,2.0\n2,3.0\n", "1.0,2\n", "1 1e+05\n2 3\n", "source,target\n1,2\n2,3.0\n",
                           "weight,source,target\n5,1,2\n5,2,3.0\n"})
    expect_says(refusal(text), whole);
  for (const char* text : {"-1 2\n2 3\n", "1 2\n2 -1\n", "source,target\n1,+2\n"})
    expect_says(refusal(text), "ids have no sign: renumber them from 0, or remove the line");
  expect_says(refusal("1 2\n2 x3\n"), "if ids are names, say --ids string");
  expect_says(refusal("- 2\n2 3\n"), "if it is the name of a vertex, say --ids string");
}

TEST(StatedFacts, AQuoteOpensOnlyAtTheBeginningOfACell) {
  const Arcs arcs{{"1", "2", 0}, {"2", "3", 0}};
  for (const char* cell :
       {"5\" pipe", "six \"quoted\" words and one \"more", "\"a \"\"b\"\" c\"", "\"x\"", " \"y, z\""})
    EXPECT_EQ(arcs_of(read(fmt::format("source,target,label\n1,2,x\n2,3,{}\n", cell))), arcs) << cell;
  EXPECT_EQ(names_of(read("5\" pipe,valve\nvalve,tap\n")), (std::vector<std::string>{"5\" pipe", "tap", "valve"}));
  for (const char* cell : {"\"5 pipe", "\"5\" pipe", "\"a\"\""})
    expect_says(refusal(fmt::format("source,target,label\n1,2,x\n2,3,{}\n", cell)), ":3: a quote is not closed");
}

TEST(StatedFacts, CommentsBehindAndBetweenEdgesAreTold) {
  expect_says(notes_of(read("12\t15\n12\t15\t#fun\t3\n15\t12\t# so\n")),
              "'#fun\\t3' in line 2, and whatever follows #");
  expect_says(notes_of(read("1,2 # so\n2,3\n")), "'# so' in line 1, and whatever follows #");
  expect_says(refusal("a\tb\tc\td\n12\t15\t#fun\t3\n"), "has 4 columns, and this line has 2; what follows # or %");
  expect_says(refusal("1 2 3 4\n2 3 # 5 6\n"), "the line has 2 columns, where 4 were expected");
  expect_says(refusal("1 2 3 4\n2 3 # 5 6\n"), "what follows # or % behind numbers is a comment");
  expect_says(notes_of(read("1 10\n2 20\n3 30\n#\n1 2\n2 3\n")), "'#' in line 4 is a comment");
  expect_says(notes_of(read("# 1\n2 5\n3 7\n# 2\n3 8\n")), "'# 2' in line 4 is a comment");
  expect_says(notes_of(read("1,10\n#x\n1,2\n", {.source_column = "2", .target_column = "1"})), "'#x' in line 2");
  expect_says(notes_of(read("# 1\n0 1\n1 2\n# the second part\n2 0\n% 7\n")), "'# the second part' in line 4");
  std::string many;
  for (int i = 0; i < 40'000; ++i) many += fmt::format("{} {}{}\n", i, i + 1, i > 30'000 ? " # late" : "");
  for (const int threads : {1, 2, 5})
    expect_says(notes_of(read(many, {.threads = threads})), "'# late' in line 30002,");
}

TEST(StatedFacts, TheFirstEntryOfTheOtherTriangleIsToldByAnyNumberOfThreads) {
  const TemporaryFolder folder;
  std::string           entries;
  for (int i = 1; i <= 20'000; ++i) entries += fmt::format("{} {}\n", i + 1, i);
  const std::string top = "%%MatrixMarket matrix coordinate pattern symmetric\n";
  const auto        at  = [&](const std::string& text, int threads) {
    const std::string path = folder.write("m.mtx", text);
    const std::string said = failure_of([&] { open(path, {.threads = threads}); }).second;
    return said.substr(said.find(':') + 1, said.find(':', said.find(':') + 1) - said.find(':') - 1);
  };
  for (const int threads : {1, 2, 3, 7}) {
    EXPECT_EQ(at(top + "2 2 2\n2 1\n1 2\n", threads), "4");
    EXPECT_EQ(at(top + "2 2 3\n1 1\n1 2\n2 1\n", threads), "5");
    EXPECT_EQ(at(top + "20001 20001 20003\n" + entries + "5 9\n6 9\n3 4\n", threads), "20003");
    // What is wrong before it goes first.
    EXPECT_EQ(at(top + "20001 20001 20002\n7 x\n" + entries + "5 9\n", threads), "3");
    EXPECT_EQ(at(top + "20001 20001 20002\n" + entries + "5 9\n7 x\n", threads), "20003");
  }
}

// --- weights ---

TEST(StatedFacts, LargeFloatsAreTheSameWhereverTheyAreWritten) {
  const TemporaryFolder folder;
  const Graph           graph = open(folder.write(
                "f.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 123456789\n2 3 4294967295\n"));
  expect_says(notes_of(graph), "123456789 became 123456790 in line 3");
  for (const char* name : {"f.csv", "f.tsv", "f.wel", "g.mtx"}) {
    const std::string path = folder / name;
    save(graph, path);
    EXPECT_EQ(arcs_of(open(path)), arcs_of(graph)) << name;
  }
}

TEST(StatedFacts, TheFirstWeightThatLosesDigitsIsTold) {
  expect_says(notes_of(read("source,target,weight\n0,1,1724887.05\n1,2,10000000.01\n")),
              "1724887.05 became 1724887 in line 2");
  expect_says(notes_of(read("0 1 16777217\n1 2 0.5\n")), "16777217 became 16777216 in line 1");
  for (const char* text : {"0 1 0.1234567\n1 2 16777216\n", "0 1 1234567890\n1 2 4294967295\n",
                           "0 1 1.5000000000\n1 2 -33554432\n", "0 1 0.000000123456\n1 2 3.4028235e+38\n"})
    EXPECT_EQ(notes_of(read(text)).find("became"), std::string::npos) << text;
  EXPECT_EQ(notes_of(read("0,1,0.123456789\n", {.weight_column = "3", .weight_type = WeightType::f32})), "");
  // Columns in another order are read by another reader.
  expect_says(notes_of(read("weight,source,target\n0.5,0,1\n0.123456789,1,2\n")),
              "0.123456789 became 0.12345679 in line 3");
  // Far into the file, in lines of several threads.
  std::string many = "source,target,weight\n";
  for (int i = 0; i < 60'000; ++i)
    many += fmt::format("{},{},{}\n", i, i + 1, i > 40'000 ? "0.987654321" : "0.25");
  for (const int threads : {1, 2, 5})
    expect_says(notes_of(read(many, {.threads = threads})), "0.987654321 became 0.9876543 in line 40003 ");
}

TEST(StatedFacts, DigitsAreLostWhereTheShortestTextHasOthers) {
  std::mt19937_64 random{7};
  int             plainly  = 0;
  const auto      value_of = [](std::string_view text) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  for (int i = 0; i < 50'000; ++i) {
    const int  digits = 1 + static_cast<int>(random() % 11), exponent = static_cast<int>(random() % 60) - 30;
    const auto significand = random() % static_cast<std::uint64_t>(std::pow(10, digits));
    const std::string text =
        exponent < -25 || exponent > 0
            ? fmt::format("{}e{}", significand, exponent)
            : fmt::format("{:.{}f}", static_cast<double>(significand) / std::pow(10, -exponent), -exponent);
    float value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    if (!std::isnormal(value)) continue;
    const double exact = value_of(text);
    EXPECT_EQ(loses_digits(text, value), exact != value_of(fmt::format("{}", value)) && exact != double{value})
        << text;
    EXPECT_FALSE(loses_digits(fmt::format("{}", value), value)) << value;
    const std::string padded = text + "\n        ";
    const char*       place  = padded.data();
    PlainNumber       plain;
    float             quick = 0;
    if (!plain.parse(place) || *place != '\n' || !plain.to_float(quick)) continue;
    EXPECT_EQ(quick, value) << text;
    EXPECT_EQ(plain.loses_digits(value), loses_digits(text, value)) << text;
    ++plainly;
  }
  EXPECT_GT(plainly, 12'000);
}

TEST(StatedFacts, LdbcWeightsThatAreRoundedAreTold) {
  const TemporaryFolder folder;
  folder.write("g.v", "1\n2\n");
  expect_says(notes_of(open(folder.write("g.e", "1 2 123456789\n"))), "123456789 became 123456790 in line 1");
  EXPECT_EQ(notes_of(open(folder.write("g.e", "1 2 5\n"))).find("round"), std::string::npos);
  expect_says(notes_of(open(folder.write("g.e", "1 2 5\n"))), "there is no g.properties");
}

TEST(StatedFacts, WeightsTooSmallForAFloatAreRefused) {
  expect_says(refusal("source,target,weight\n1,2,1e-50\n2,3,1\n"), ":2: weight '1e-50' is too small");
  EXPECT_EQ(arcs_of(read("source,target,weight\n1,2,0.0e5\n2,3,0.5\n")).size(), 2u);
}

TEST(StatedFacts, RoadsThatMayBeDrivenBothWaysAreTold) {
  for (const char* text : {"gid,source,target,cost,reverse_cost\n1,1,2,5,5\n2,2,3,6,6\n",
                           "from,to,oneway,length\n1,2,no,5\n2,3,no,6\n",
                           "source,target,weight,is_directed\n1,2,5,False\n2,3,6,False\n"})
    expect_says(notes_of(read(text)), "(--undirected reads both)");
  for (const char* text :
       {"from,to,oneway,length\n1,2,no,5\n2,3,yes,6\n", "source,target,bidirectional,weight\n1,2,1,5\n2,3,0,6\n",
        "id,source,target,cost,one_way\n1,1,2,10,2\n2,2,3,20,2\n3,3,4,5,-1\n",
        "source,target,length,oneway\n1,2,10,B\n2,3,20,B\n3,4,5,T\n",
        "Source,Target,Type\n1,2,Undirected\n2,3,Directed\n",
        "source,target,cost,reverse_cost\n1,2,5,5\n2,3,6,9\n", "source,target,isOneWay\n1,2,yes\n2,3,no\n"})
    expect_says(notes_of(read(text)), "of some lines, which is not followed");
  for (const char* text : {"gid,source,target,cost,reverse_cost\n1,1,2,5,-1\n2,2,3,6,-1\n",
                           "from,to,oneway,length\n1,2,yes,5\n2,3,yes,6\n", "from,to,direction\n1,2,N\n2,3,SW\n",
                           "# Undirected graph\n1 2\n2 1\n2 3\n3 2\n"})
    EXPECT_EQ(notes_of(read(text)).find("one arc"), std::string::npos) << text;
}

TEST(StatedFacts, SeveralColumnsThatArcsMayLeadFromAreTold) {
  expect_says(notes_of(read("origin,destination,distance,source\n1,2,10,3\n2,3,11,3\n")),
              "arcs lead from column 4 ('source') to column 2 ('destination')");
  expect_says(notes_of(read("target,src,dst,weight\n1,2,3,10\n2,3,1,11\n")), "arcs lead from column 2 ('src')");
  EXPECT_EQ(notes_of(read("source,target,cost\n1,2,5\n2,3,6\n")), "");
  for (const char* said : {"# ToNodeId, FromNodeId", "# Format: target source", "# each line: <to> <from>"})
    expect_says(notes_of(read(std::string{said} + "\n1 2\n2 3\n3 4\n")), "though a comment names them");
}

TEST(StatedFacts, CountsThatAreContradictedAreTold) {
  expect_says(notes_of(read("# Nodes: 3 Edges: 5\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n")),
              "but 2 lines are edges");
  EXPECT_EQ(notes_of(read("# 2024 snapshot, Nodes: 3 Edges: 2\n1 2\n2 3\n")), "");
  expect_says(notes_of(read("# 3 nodes,7 edges\n1 2\n2 3\n")), "but 2 lines are edges");
  EXPECT_EQ(notes_of(read("# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n")), "");
  for (const char* said :
       {"# Nodes: 1,000 Edges: 2", "# Vertices: 5 Edges: 2", "# Number of vertices: 5", "# 5 vertices, 2 edges",
        "# 5 nodes and 2 links", "# num_nodes = 5", "#nodes 5", "% asym unweighted\n% 2 5 5"})
    expect_says(notes_of(read(std::string{said} + "\n1\t2\n2\t3\n")), "but 3 vertices are read");
  for (const char* said : {"# 3 nodes, 7 edges", "# 3 nodes and 7 links", "% asym unweighted\n% 7 3 3"})
    expect_says(notes_of(read(std::string{said} + "\n1\t2\n2\t3\n")), "but 2 lines are edges");
}

TEST(StatedFacts, CommentsThatComeAgainAreRefused) {
  expect_says(refusal("# source,target\na,b\nb,c\n# source,target\nc,d\n"), ":4: a comment of the top");
  expect_says(notes_of(read("# Source\tTarget\n#love\t#photo\n#love\t#art\nsun\t#sky\n")),
              "and 2 more like it are comments");
}

TEST(StatedFacts, IdsThatAFormatCannotKeepAreTold) {
  const TemporaryFolder folder;
  EXPECT_EQ(save(read("1 2\n2 3\n"), folder / "a.sg").size(), 1u);
  EXPECT_EQ(save(read("0 1\n1 2\n"), folder / "a.sg").size(), 0u);
  EXPECT_EQ(save(read("1 2\n2 3\n"), folder / "a.mtx").size(), 0u);
}

TEST(StatedFacts, IdsReachTheEndOf64Bits) {
  const TemporaryFolder folder;
  const Graph           graph = read("18446744073709551614 18446744073709551615\n");
  for (const char* name : {"a.spill", "a.txt", "a.csv"}) {
    save(graph, folder / name);
    EXPECT_EQ(arcs_of(open(folder / name)), arcs_of(graph)) << name;
  }
}

TEST(StatedFacts, FormatsOfOthersAreNotTakenForLists) {
  const TemporaryFolder folder;
  const std::string     path = folder.write("b.lgl", "# 1\n2 5\n3 6\n# 2\n3 7\n");
  expect_says(failure_of([&] { open(path); }).second, ".lgl is not read");
  EXPECT_EQ(open(path, {.format = "edgelist"}).arc_count(), 3u);
  expect_says(refusal("0: 1\n1: 2\n"), "ends with a colon");
}

TEST(StatedFacts, OtherEncodingsAreNamed) {
  expect_says(refusal(std::string("\xff\xfe"
                                  "1\0 \0",
                                  6)),
              "UTF-16");
  expect_says(refusal("BZh91AY&SY\x01\x02\x03\x04 1 2"), "bzip2");
}

/// Blanks inside of a later cell do not make up for a cell that is empty.
TEST(StatedFacts, EmptyIdsBetweenTabsAreRefused) {
  for (const char* text : {"src\tdst\tbytes\tflags\n1\t2\t100\tSYN\n2\t\t300\tSYN ACK\n",
                           "source\ttarget\tyear\tname\n1\t2\t1999\tx\n\t3\t2004\ty z\n",
                           "source\ttarget\tweight\n1\t2\t5\n\t3\t4 6\n"})
    EXPECT_NE(failure_of([&] { read(text); }).second.find("is empty"), std::string::npos) << text;
  EXPECT_EQ(read("1 2\t5\n2 3\t6\n").arc_count(), 2u) << "blanks and tabs";
}

TEST(StatedFacts, CountsInAnySpellingAreCompared) {
  for (const char* comment : {"# n=10 m=3", "# |V|=10, |E|=3", "# numNodes: 10", "#V 10 E 3"})
    expect_says(notes_of(read(std::string{comment} + "\n1 2\n2 3\n3 4\n", {}, "list.txt")), "4 vertices are read");
  EXPECT_EQ(notes_of(read("# n=4 m=3\n1 2\n2 3\n3 4\n", {}, "list.txt")).find("are read"), std::string::npos);
}

TEST(StatedFacts, SeparatorsThatAreAGuessAreTold) {
  expect_says(notes_of(read("Smith, J;Doe, K\nDoe, K;Roe, L\n")), "separated by semicolon");
  const Graph pages = read("http://a/?x=1&amp;y=2,http://b/\nhttp://b/?x=1&amp;y=3,http://c/\n");
  EXPECT_EQ(pages.ids().name(0), "http://a/?x=1&amp;y=2");
  expect_says(notes_of(pages), "separated by comma");
}

TEST(StatedFacts, PartsOfAFileAreTold) {
  for (const char* text : {"# Node list\n1 2\n2 1\n3 3\n# Edge list\n1 2\n2 3\n",
                           "# edges\n1 2\n2 3\n# node weights\n1 5\n", "% Graph 1\n1 2\n% Graph 2\n1 2\n",
                           "# source target\n1 2\n2 3\n# id group\n1 3\n2 3\n", "1 2\n% coordinates\n2 3\n"})
    expect_says(notes_of(read(text)), "is a comment, though edges stand before it");
  expect_says(notes_of(read("Source,Target\nAnn,Bob\nBob,Cid\n\nId,Label\nAnn,Anna\n")),
              "'Id' and 'Label' are vertices");
  expect_says(notes_of(read("source,target\nann,bob\nbob,cid\nfrom,to\ncid,ann\n")),
              "'from' and 'to' are vertices");
  expect_says(notes_of(read("Source,Target,Weight\nAnn,Bob,3\nBob,Cid,4\nTotal,2,7\n")), "'Total' is a vertex");
}

TEST(StatedFacts, NamesThatLookLikeOthersAreTold) {
  expect_says(notes_of(read("source,target\nx,12.0\n12,y\n")), "'12' and '12.0' are two vertices");
  for (const char* text : {"source,target\nAnn,Bob\nBob\xc2\xa0,Cid\n",
                           "source,target\nAnn,Bob\n\xe2\x80\x8b"
                           "Bob,Cid\n"})
    expect_says(notes_of(read(text)), "a blank that is not seen");
}

TEST(StatedFacts, ColumnsThatNumberTheLinesAreNoEnds) {
  const Arcs arcs{{"10", "20", 0}, {"20", "30", 0}};
  for (const char* text :
       {"\"\",\"V1\",\"V2\"\n\"1\",10,20\n\"2\",20,30\n", "edge_id,node_a,node_b\n1,10,20\n2,20,30\n",
        "_key,_from,_to\n7,10,20\n8,20,30\n", "index,a,b\n0,10,20\n1,20,30\n",
        "creationDate|Person1Id|Person2Id\n2010-01-01|10|20\n2010-01-02|20|30\n"})
    EXPECT_EQ(arcs_of(read(text)), arcs) << text;
}

TEST(StatedFacts, AFirstLineOfOtherColumnsIsRefused) {
  expect_says(refusal("3,2,u,graph,2,Int64,simplegraph\n1,2\n2,3\n"), "7 columns, and those below it have 2");
}

TEST(StatedFacts, CountsThatAreNearlyTrueAreTold) {
  std::string text = "40 301\n";
  for (int i = 0; i < 300; ++i) text += std::to_string(i % 40) + " " + std::to_string((i * 7 + 1) % 40) + "\n";
  expect_says(notes_of(read(text)), "could be the numbers of vertices and edges");
}

TEST(StatedFacts, WholeWeightsThatLoseDigitsAreToldWhoeverAskedForFloats) {
  expect_says(notes_of(read("1 2 4294967290\n2 3 5\n", {.weight_type = WeightType::f32})), "hold about 7 digits");
  EXPECT_EQ(notes_of(read("1 2 0.123456789\n", {.weight_type = WeightType::f32})).find("7 digits"),
            std::string::npos);
}

TEST(StatedFacts, NumbersOfColumnsBesideWordsAreAHeader) {
  const Arcs arcs{{"5", "6", 3}, {"6", "7", 4}};
  EXPECT_EQ(arcs_of(read("0,1,weight\n5,6,3\n6,7,4\n")), arcs);
  EXPECT_EQ(arcs_of(read("0,1,weight,color\n5,6,3,red\n6,7,4,blue\n")), arcs);
  const Arcs pairs{{"5", "6", 0}, {"6", "7", 0}};
  EXPECT_EQ(arcs_of(read(",0,1\n0,5,6\n1,6,7\n")), pairs);
  EXPECT_EQ(arcs_of(read("0,1,timestamp\n5,6,2020-01-01\n6,7,2020-01-02\n")), pairs);
  for (const char* text : {"0,1,color\n5,6,red\n6,7,blue\n", "0,1\n0,1\n0,2\n1,2\n2,3\n"})
    expect_says(notes_of(read(text)), "could be the numbers of columns");
}

TEST(StatedFacts, IdsOfTwoKindsAreTold) {
  for (const char* text : {":START_ID(Actor),role,:END_ID(Movie),:TYPE\n1,Neo,1,ACTED_IN\n2,Trinity,1,ACTED_IN\n",
                           "userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n31,1,2.0,1260759182\n"})
    expect_says(notes_of(read(text)), "vertices of one side");
  EXPECT_EQ(notes_of(read("user_id,friend_id\n1,31\n31,2\n")).find("one side"), std::string::npos);
}

TEST(StatedFacts, PointsThatMayGroupDigitsAreTold) {
  expect_says(notes_of(read("source;target;weight\nBonn;Ulm;1.250\nUlm;Bern;980\nBern;Bonn;2.100\n")),
              "1.250 is 1.25");
  EXPECT_EQ(notes_of(read("source;target;weight\nBonn;Ulm;1.25\nUlm;Bern;2.100\n")).find("1.25"),
            std::string::npos);
}

TEST(StatedFacts, BlanksInQuotesAreTold) {
  expect_says(notes_of(read("source,target\nann,bob\nbob,\" \"\ncarl,\" \"\n")), "missing value");
  expect_says(notes_of(read("\"Ann \",\"Bob\"\n\"Ann\",\"Carl\"\n")), "'Ann' and 'Ann ' are two vertices");
}

TEST(StatedFacts, CommentsThatAreEdgesByTheirShapeAreTold) {
  for (const char* text : {"Source\tTarget\tWeight\r\n1\t2\t5\r\n#N/A\t3\t6\r\n2\t3\t7\r\n",
                           "Source\tTarget\r\n1\t2\r\n#REF!\t3\r\n2\t3\r\n", "1, 2\n#N/A, 3\n4, 5\n",
                           "source\ttarget\n12\t15\n#13\t16\n17\t18\n"})
    expect_says(notes_of(read(text)), "is a comment, though edges stand before it");
  for (const char* text : {"source,target\n#N/A,2\n#N/A,3\n3,4\n", "source,target\n#12,#15\n13,14\n",
                           "word1\tword2\tweight\n#\tthe\t3\nthe\tcat\t4\n", "#,a\na,b\n"})
    expect_says(notes_of(read(text)), "at the top");
  EXPECT_EQ(notes_of(read("# Nodes: 3 Edges: 2\n#FromNodeId ToNodeId\n1 2\n2 3\n")).find("comment"),
            std::string::npos);
}

TEST(StatedFacts, ListsInAFieldAreTold) {
  for (const char* text : {"From,To\nann,bob\nbob,bob;ann\n", "From,To\nann,bob\nbob,\"cid, ann\"\n",
                           "From,To\nann,bob\nbob,cid|bob\n", "From,To\nann,bob\ncid,\"{bob,ann}\"\n"})
    expect_says(notes_of(read(text)), "not a list of them");
  EXPECT_EQ(notes_of(read("From,To\n\"Hall, Ann\",\"Day, Bob\"\n")).find("list of them"), std::string::npos);
}

TEST(StatedFacts, ColumnsOfAnyTwoKindsAreToldWhereTheirIdsMeet) {
  for (const char* text : {"author_id,paper_id\n1,1\n2,1\n", "student,course\n1,1\n2,1\n",
                           "#user_id,item_id\n1,1\n2,1\n", "session_id,item_id\n1,2\n2,3\n"})
    expect_says(notes_of(read(text)), "vertices of one side");
  for (const char* text :
       {"author_id,paper_id\n1,7\n2,7\n", "node_a,node_b\n1,2\n2,3\n", "UserX,UserY\n1,2\n2,1\n",
        "id1,id2\n1,2\n2,1\n", "source,target\n1,2\n2,1\n", "a,b\n1,2\n2,1\n",
        "from_airport,to_airport\nBRE,ULM\nULM,BRE\n", "winner,loser\n1,2\n2,1\n", "id,parent_id\n1,2\n2,1\n",
        "# columns: dst, src\n1,2\n2,1\n", "author,paper\nann,bob\nbob,ann\n",
        "# FromNodeId ToNodeId\n1 2\n2 1\n"})
    EXPECT_EQ(notes_of(read(text)).find("one side"), std::string::npos) << text;
}

TEST(StatedFacts, LinesThatEndAListAreTold) {
  expect_says(notes_of(read("5 4\n1 2\n2 3\n3 4\n4 5\n1 5\n")), "numbers of vertices and edges");
  expect_says(notes_of(read("4 3\n100 200\n200 300\n300 400\n")), "numbers of vertices and edges");
  expect_says(notes_of(read("3 2\n1 2\n2 3\n0 0\n")), "'0 0'");
  EXPECT_EQ(notes_of(read("0 0\n0 1\n1 2\n")).find("'0 0'"), std::string::npos);
}

TEST(StatedFacts, NamesThatAreNoneAreTold) {
  for (const char* mark : {"(null)", "[NULL]", "Null", "NONE", "Unknown", "n.a.", "<nil>", "(blank)", "(not set)",
                           "NIL", "-nan", "—", "Missing"})
    expect_says(notes_of(read(std::string{"source,target\nann,bob\n"} + mark + ",bob\n")), "missing value");
  for (const char* total : {"Subtotal", "Sum", "Summe", "Gesamt", "合计", "GRAND TOTAL"})
    expect_says(notes_of(read(std::string{"source,target\nann,bob\nann,"} + total + "\n")), "holds totals");
  for (const char* note :
       {"Note: preliminary,see readme", "Time taken: 0.2 seconds,Fetched: 2 rows", "// done,ok"})
    expect_says(notes_of(read(std::string{"source,target\nann,bob\n"} + note + "\n")), "footnote");
  expect_says(notes_of(read("source,target\nvarchar,varchar\nann,bob\n")), "types of columns");
}

TEST(StatedFacts, OneWordInTwoSpellingsIsTold) {
  expect_says(notes_of(read("source,target\nS\303\243o,x\nSa\314\203o,y\n")), "NFD");
  expect_says(notes_of(read("source,target\ncaf\303\251,x\ncaf\351,y\n")), "is not UTF-8");
  expect_says(notes_of(read("source,target\nann,b\302\255ob\nbob,ann\n")), "U+00AD");
  expect_says(notes_of(read("source,target\nann,bob\n\"=\"\"ann\"\"\",bob\n")), "two vertices");
}

TEST(StatedFacts, CommentsThatNameColumnsTheOtherWayRoundAreTold) {
  expect_says(notes_of(read("# Each line: cited_paper citing_paper\n1 2\n2 3\n")), "a comment names them");
}

TEST(StatedFacts, PointersAndArrowsAreRefused) {
  expect_says(refusal("version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 123\n"), "Git LFS");
  expect_says(refusal("ann → bob\nbob → cid\n"), "nothing between");
  expect_says(refusal("nodedef>name VARCHAR,label VARCHAR\na,b\nedgedef>node1,node2\na,b\n"), "GDF");
}

TEST(StatedFacts, DirectionsAreToldWhateverTheFormat) {
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";
  expect_says(notes_of(read(banner + "% kind: undirected graph\n3 3 2\n2 1\n3 2\n", {}, "a.mtx")),
              "one arc, though");
  expect_says(notes_of(read("c undirected\np sp 3 2\na 2 1 4\na 3 2 5\n", {}, "a.gr")), "one arc, though");
  EXPECT_EQ(notes_of(read(banner + "% kind: directed graph\n3 3 2\n2 1\n3 2\n", {}, "a.mtx")), "");
  std::string triangle, both;
  for (int v = 2; v <= 8; ++v)
    for (int u = 1; u < v; ++u)
      triangle += fmt::format("{} {}\n", u, v), both += fmt::format("{} {}\n{} {}\n", u, v, v, u);
  expect_says(notes_of(read(banner + "8 8 28\n" + triangle, {}, "t.mtx")), "every arc leads from a smaller id");
  EXPECT_EQ(notes_of(read(banner + "8 8 56\n" + both, {}, "t.mtx")), "");
}

TEST(StatedFacts, LinesThatAreNoEdgesAreToldByTheirShape) {
  for (const char* text : {"Name,Manager\n----,-------\nann,bob\n", "source target\nann bob\n------ ------\n",
                           "source target\n────── ──────\nann bob\n"})
    expect_says(notes_of(read(text)), "ruler");
  expect_says(
      notes_of(read(
          "source,target\n\"{\"\"ImportId\"\":\"\"QID1\"\"}\",\"{\"\"ImportId\"\":\"\"QID2\"\"}\"\nann,bob\n")),
      "footnote");
  expect_says(notes_of(read("source,target\nann,bob\nTotal:,2\n")), "holds totals");
  expect_says(notes_of(read("source,target\nann  lee,bob\nbob,ann lee\n")), "two vertices");
  expect_says(notes_of(read("source,target\nann,bob\ncy,ann\032")), "control character");
}

TEST(StatedFacts, CommentsThatNobodyCheckedAreTold) {
  for (const char* text : {"# n = 5\n# m = 3\n0 1\n1 2\n2 0\n", "# node count: 5\n0 1\n1 2\n2 0\n",
                           "# user\tmovie\n1\t2\n2\t3\n3\t1\n", "# Target ID\tSource ID\n1\t2\n2\t3\n3\t1\n",
                           "# Two-mode network\n1 1\n1 2\n", "# Directed: N\n0 1\n1 2\n2 0\n",
                           "# ungerichtet\n0 1\n1 2\n2 0\n", "# isolated: 4 5\n0 1\n1 2\n2 0\n"})
    expect_says(notes_of(read(text)), "not followed");
  for (const char* text :
       {"# Directed graph\n0 1\n1 2\n2 0\n", "# Nodes: 3 Edges: 3\n# FromNodeId ToNodeId\n0 1\n1 2\n2 0\n",
        "% asym unweighted\n% 3 3 3\n1 2\n2 3\n3 1\n", "# source target\n0 1\n1 2\n2 0\n",
        "#make_graph.py\n# GMT Mon Jan  5 10:00:00 2026\n# karate\n0 1\n1 2\n2 0\n", "# -----\n0 1\n1 2\n2 0\n"})
    EXPECT_EQ(notes_of(read(text)), "") << text;
  expect_says(notes_of(read("# 无向图\n0 1\n1 2\n2 0\n")), "not followed");
  expect_says(notes_of(read("# edges point from the second column to the first one, as usual\n# b\n0 1\n1 2\n")),
              "and 1 more are not followed");
}

TEST(StatedFacts, CommentsThatAreFollowedAnywayAreNot) {
  for (const char* comment : {"# Type: directed", "# undirected: no", "# directed, not undirected", "# asymmetric",
                              "# weights: none", "# directed graph"}) {
    const Graph graph = read(std::string{comment} + "\n1 2\n2 3\n3 1\n");
    for (const std::string& note : graph.report().notes)
      EXPECT_EQ(note.find("is not followed"), std::string::npos) << comment << ": " << note;
  }
}

TEST(StatedFacts, CommentsThatDenyTheWeightsAreTold) {
  for (const char* comment : {"# weights: none", "# unweighted"}) {
    const Graph graph = read(std::string{comment} + "\n1 2 5\n2 3 6\n3 1 7\n");
    expect_says(notes_of(graph), "is not followed");
  }
}

TEST(StatedFacts, TrueCountsSilenceNoOtherComment) {
  expect_says(notes_of(read("# column 1: cited, column 2: citing\n# Nodes: 3 Edges: 3\n0 1\n1 2\n2 0\n")),
              "not followed");
}

TEST(StatedFacts, TablesOfAllPairsAreTold) {
  std::string table = "source,target,weight\n", some = table;
  for (int u = 1; u <= 4; ++u)
    for (int v = 1; v <= 4; ++v) {
      table += fmt::format("{},{},{}\n", u, v, u + v == 4 ? 1 : 0);
      some += fmt::format("{},{},{}\n", u, v, u + v == 4 ? 0 : 1);
    }
  expect_says(notes_of(read(table)), "most weights are 0");
  EXPECT_EQ(notes_of(read(some)).find("most weights"), std::string::npos);
}

TEST(StatedFacts, TitlesAboveTrueCountsAreNot) {
  EXPECT_EQ(
      notes_of(read("# Directed graph (each unordered pair of nodes is saved once): web-A.txt\n# Webgraph from "
                    "a contest, 2002\n# Nodes: 3 Edges: 3\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n2\t0\n")),
      "");
  expect_says(notes_of(read("# Friendship is mutual\n# Nodes: 3 Edges: 3\n0 1\n1 2\n2 0\n")), "not followed");
}

TEST(StatedFacts, NumbersOfColumnsAboveIdsFromOneAreTold) {
  std::string path = "0 1\n";
  for (int v = 1; v < 20; ++v) path += fmt::format("{} {}\n", v, v % 7 + v / 7 + 1);
  for (const std::string& text : {std::string{"0,1\n1,2\n2,3\n3,1\n"}, std::string{"0\t1\n1\t2\n2\t1\n"}, path})
    expect_says(notes_of(read(text)), "could be the numbers of columns");
  EXPECT_EQ(notes_of(read("0,1\n1,2\n2,0\n")), "");
}

TEST(StatedFacts, SeparatorsOfNamesAreToldWhereBlanksWouldDo) {
  for (const char* text : {"TP53|7157 MDM2|4193\nMDM2|4193 ATM|472\n", "Ann,Bob 5\nBob,Cid 3\n",
                           "Smith,J Doe,K\nDoe,K Roe,L\n", "Ann Bob,5\nBob Cid,3\n"})
    expect_says(notes_of(read(text)), "columns are separated by");
}

TEST(StatedFacts, ParentsOfZeroAreTold) {
  expect_says(notes_of(read("child,parent\nAnn,Bob\nBob,0\nCid,0\n")), "if it means none");
  for (const char* header : {"id,parent_id", "ID,post_parent", "id,parent", "child,father"})
    expect_says(notes_of(read(fmt::format("{}\n1,0\n2,0\n3,1\n", header))), "if it means none");
  for (const char* text : {"id,parent_id\n1,0\n0,2\n3,1\n", "source,target\n1,0\n2,0\n3,1\n"})
    EXPECT_EQ(notes_of(read(text)).find("means none"), std::string::npos) << text;
}

TEST(StatedFacts, ListsInFieldsAreToldHoweverTheyAreJoined) {
  for (const char* text : {"source,target\nP1,Ann;Bob\nP2,Bob;Cid\n", "source,target\nA,B C\nB,C\nC,A B\n",
                           "source,target\nA,B & C\nB,C\n", "source,target\nA,B/C\nB,C\n"})
    expect_says(notes_of(read(text)), "not a list");
  EXPECT_EQ(notes_of(read("source,target\nNew York,Boston\nBoston,New York\n")).find("list"), std::string::npos);
}

TEST(StatedFacts, CountsOfAnotherPartOfTheListAreTold) {
  for (const char* top : {"875713 5105039", "34 79", "1000 5000"})
    expect_says(notes_of(read(fmt::format("{}\n1 2\n2 3\n3 34\n34 1\n5 1\n", top))), "numbers of vertices");
}

TEST(StatedFacts, SidesOfTwoKindsAreToldByMoreWords) {
  for (const char* header :
       {"edge,node", "edge_id,node_id", "uid,iid", "from_user,to_group", "src_user,dst_host", "node,community"})
    expect_says(notes_of(read(fmt::format("{}\n1,1\n1,2\n2,1\n2,3\n", header))), "taken for the same vertices");
  for (const char* header : {"u,v", "v,u", "pid,ppid", "child,father", "page,links_to", "id,parent",
                             "node,neighbor", "from_user,to_user", "source,target", "row,col"})
    EXPECT_EQ(notes_of(read(fmt::format("{}\n1,1\n1,2\n2,1\n2,3\n", header))).find("same vertices"),
              std::string::npos)
        << header;
}

TEST(StatedFacts, CommentsOfMatricesAboutDirectionsAreTold) {
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";
  for (const char* comment : {"% rows are targets, columns are sources", "% each edge stored once",
                              "% A(i,j)=1 if page j links to page i"})
    expect_says(notes_of(read(banner + comment + "\n3 3 2\n2 1\n3 2\n", {}, "a.mtx")), "is not followed");
  EXPECT_EQ(
      notes_of(read(banner + "% name: SNAP/web-Google\n% kind: directed graph\n3 3 2\n2 1\n3 2\n", {}, "a.mtx")),
      "");
}

TEST(StatedFacts, APartOfAListOfOursIsTold) {
  expect_says(notes_of(read("# Spillway edge list: vertices 1000 arcs 9 first 0 weights none\n1 2\n2 3\n")),
              "says 9 arcs");
  expect_says(notes_of(read("# Spillway edge list: vertices 1000 arcs 9 first 0 weights none\n")),
              "no edge follows");
  EXPECT_EQ(notes_of(read("# Spillway edge list: vertices 4 arcs 2 first 0 weights none\n1 2\n2 3\n")), "");
}

TEST(StatedFacts, SpellingsOfOneNameAreTold) {
  expect_says(notes_of(read("source,target\n0xAbC,b\n0xabc,b\n")), "capital letters count");
  expect_says(notes_of(read("source,target\nA,1\nB,01\n")), "two vertices");
}

TEST(StatedFacts, BlankLinesBetweenEdgesAreTold) {
  for (const char* text : {"1 2\n2 3\n\n3 4\n", "source,target\nann,bob\nbob,cy\n\nann,red\n"})
    expect_says(notes_of(read(text)), "is blank, and what follows it is read as edges");
  expect_says(notes_of(read("1 2\n2 3\n\n3 4\n")), "line 3 is blank");
  for (const char* text : {"1 2\n2 3\n\n", "1 2\n2 3\n\n  \n", "\n\n1 2\n2 3\n"})  // nothing follows
    EXPECT_EQ(notes_of(read(text)), "") << text;
}

TEST(StatedFacts, BlankLinesBeforeACommentAreNoGap) {
  EXPECT_EQ(notes_of(read("1 2\n2 3\n\n# end\n")).find("is blank"), std::string::npos);
}

/// Each looks at what follows once.
TEST(StatedFacts, ManyBlankLinesTakeNoTime) {
  const Stopwatch clock;
  read("1 2\n2 3\n" + std::string(1u << 20, '\n'));
  EXPECT_LT(clock.milliseconds(), 5000);
}

TEST(StatedFacts, TwoSidesAreToldWhateverTheFormat) {
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n";
  expect_says(notes_of(read(banner + "% kind: bipartite graph\n3 3 2\n2 1\n3 2\n", {}, "a.mtx")), "of one side");
  expect_says(notes_of(read("c bipartite\np sp 3 2\na 2 1 4\na 3 2 5\n", {}, "a.gr")), "of one side");
}

TEST(StatedFacts, MarksThatAreCharactersOfTheirOwnAreTold) {
  for (const char* name : {"e\xcc\x81", "\xe3\x81\x8b\xe3\x82\x99", "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"})
    expect_says(notes_of(read(fmt::format("source,target\nann,bob\n{},bob\n", name))), "combining marks");
}

TEST(StatedFacts, BlanksInsideNamesThatAreNotTheUsualOneAreTold) {
  expect_says(notes_of(read("source,target\nNew York,Boston\nNew\xc2\xa0York,Chicago\n")), "not the usual one");
  expect_says(notes_of(read("source,target\nann,bob\n[deleted],bob\n")), "missing value");
}

}  // namespace
}  // namespace spillway
