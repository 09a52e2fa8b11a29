// Files as people have them: each is read as it was meant, refused, or read with a note that says what was
// guessed.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include <spillway/engine/memory.hpp>
#include "io/format_testing.hpp"
#include "support.hpp"

namespace spillway {
namespace {

using testing::arcs_of;
using testing::failure_of;
using testing::NamedArc;
using testing::names_of;
using testing::TemporaryFolder;

Graph read(const std::string& text, const LoadOptions& options = {}, const std::string& name = "list.txt") {
  const TemporaryFolder folder;
  return open(folder.write(name, text), options);
}

std::string refusal(const std::string& text, const LoadOptions& options = {},
                    const std::string& name = "list.txt") {
  return failure_of([&] { read(text, options, name); }).second;
}

/// The notes in one text.
std::string notes_of(const Graph& graph) {
  std::string all;
  for (const std::string& note : graph.report().notes) all += note + "\n";
  return all;
}

void expect_says(const std::string& text, const std::string& fragment) {
  EXPECT_NE(text.find(fragment), std::string::npos) << "'" << text << "' lacks: " << fragment;
}

// --- separators ---

TEST(FirstContact, BlanksAndTabsMixedSeparateNumbers) {
  const Graph graph = read("% konect\n1 2\t5\n2 3\t6\n");
  EXPECT_EQ(arcs_of(graph), (std::vector<NamedArc>{{"1", "2", 5}, {"2", "3", 6}}));
  EXPECT_EQ(graph.report().list->separator, "blanks");
}

TEST(FirstContact, BlanksAndSemicolonsMixedSeparateNumbers) {
  const std::vector<NamedArc> expected{{"0", "1", 5}, {"1", "2", 6}};
  for (const char* text : {"0 1;5\n1 2;6\n", "0 1,5\n1 2,6\n", "0\t1 ; 5\n1 2;6\n", "0;1 5\n1;2 6\n"}) {
    const Graph graph = read(text);
    EXPECT_EQ(arcs_of(graph), expected) << text;
    expect_says(notes_of(graph), "separated by blanks and");
  }
}

TEST(FirstContact, OneSlipDoesNotChangeHowOtherLinesAreRead) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += i == 30 ? "1 x\t5\n" : "1 2\t5\n";
  expect_says(refusal(text), ":31: expected a target id (a number), found 'x'");
  expect_says(refusal("0,1\n1 2\n", {}, "list.csv"), ":2: expected ',' and a target id");
}

TEST(FirstContact, DecimalCommasDoNotMakeNames) {
  const Graph graph = read("0;1;2,5\n1;2;3,5\n", {}, "list.csv");
  EXPECT_EQ(arcs_of(graph), (std::vector<NamedArc>{{"0", "1", 0}, {"1", "2", 0}}));
  expect_says(notes_of(graph), "column 3 is ignored");
}

/// Columns that nobody reads are counted all the same: a comma inside a number makes one more, and a line that was
/// cut off has fewer.
TEST(FirstContact, LinesOfNumbersHaveAsManyColumnsAsTheFirst) {
  for (const auto& [text, line] : std::initializer_list<std::pair<const char*, const char*>>{
           {"source,target,weight,note\n1,2,3,a\n2,3,0,5,b\n3,1,1,25,c\n", ":3: the line has 5 columns, where 4"},
           {"from,to,weight,type\n1,2,1000,a\n2,3,2,500,a\n", ":3: the line has 5 columns, where 4"},
           {"1;2;3;a\n2;3;4;5;b\n", ":2: the line has 5 columns, where 4"},
           {"source,target,weight,time\n1,2,5,7\n2,3,15", ":3: the line has 3 columns, where 4"},
           {"source,target,name\n1,20,a\n2,3", ":3: the line has 2 columns, where 3"},
           {"6,2,4,1289241911.72836\n6,5,2,1289241941.53378\n1,1", ":3: the line has 2 columns, where 4"},
           {"1|2|-1|bgp\n1|3|0|mlp\n2|3", ":3: the line has 2 columns, where 4"},
           {"1,2,3,4\n2,3\n3,1,2\n4,1,2,3\n", ":2: the line has 2 columns, where 4"},
           {"note,source,target,x\na,1,2,y\nb,2,3\n", ":3: the line has 3 columns, where 4"}})
    expect_says(refusal(text, {}, "list.csv"), line);
  const Graph quoted = read("source,target,weight,note\n1,2,3,\"a, b\"\n2,3,4,\n", {}, "list.csv");
  EXPECT_EQ(arcs_of(quoted), (std::vector<NamedArc>{{"1", "2", 3}, {"2", "3", 4}}));
  const Graph remark = read("source,target,weight,note\n1,2,3,a # b, c\n2,3,4,d\n", {}, "list.csv");
  EXPECT_EQ(arcs_of(remark), (std::vector<NamedArc>{{"1", "2", 3}, {"2", "3", 4}}));
  const LoadOptions any{.source_column = "1", .target_column = "2"};
  EXPECT_EQ(arcs_of(read("1,2,3,4\n2,3\n3,1,2\n", any, "list.csv")).size(), 3u);
}

TEST(FirstContact, AnEmptyFirstColumnBeforeATabIsSeen) {
  for (const char* text : {"source\ttarget\tweight\n1\t2\t5\n\t3\t4\t6\n", "1\t2\t5\n\t3\t4\t6\n",
                           "a\tb\n\tc\td\n", "source\ttarget\n\t4\t5\n1\t2\n", "1\t2\n2\t3\n\t4\t5\n"})
    expect_says(refusal(text), "but it is empty: the line begins with a tab");
  const std::vector<NamedArc> expected{{"1", "2", 0}, {"2", "3", 0}};
  EXPECT_EQ(arcs_of(read("1\t2\n\t\n2\t3\n")), expected) << "a blank line";
  EXPECT_EQ(arcs_of(read("1 2\n\t2 3\n")), expected) << "an indented one";
}

TEST(FirstContact, CommentsBehindNamesAreTold) {
  for (const char* name : {"c # x", "c % x", "c // x"})
    expect_says(notes_of(read(std::string{"a,b\nb,"} + name + "\nc,d\n", {}, "list.csv")),
                std::string{"'"} + name + "' is the name of a vertex");
}

/// As spreadsheets leave them at the end of a table.
TEST(FirstContact, RowsOfNothingAreBlankLines) {
  const std::vector<NamedArc> expected{{"1", "2", 0}, {"2", "3", 0}};
  for (const char* text :
       {"source,target\n1,2\n2,3\n,\n,\n", "1;2;a\n2;3;b\n;;\n", "source,target,note\n1,2,a\n,,\n2,3,b\n"})
    EXPECT_EQ(arcs_of(read(text, {}, "list.csv")), expected) << text;
  EXPECT_EQ(arcs_of(read("a,b\nb,c\n,\n", {}, "list.csv")), (std::vector<NamedArc>{{"a", "b", 0}, {"b", "c", 0}}));
  EXPECT_EQ(notes_of(read("source,target\n1,2\n2,3\n,\n,\n", {}, "list.csv")), "");
  expect_says(notes_of(read("source,target\n1,2\n,\n2,3\n", {}, "list.csv")), "line 3 is blank");
  expect_says(refusal("source,target,note\n1,2,a\n,,b\n", {}, "list.csv"), "but its column is empty");
}

TEST(FirstContact, AnEmptyColumnThatNobodyReadsMayBeTheFirst) {
  const std::vector<NamedArc> expected{{"1", "2", 0}, {"2", "3", 0}};
  EXPECT_EQ(arcs_of(read("type\tsource\ttarget\nx\t1\t2\n\t2\t3\n")), expected);
  EXPECT_EQ(arcs_of(read("type\tsource\ttarget\nx\t1\t2\n\t2\t3\n",
                         {.source_column = "source", .target_column = "target"})),
            expected);
}

/// As pandas and csv.writer write them: where a text needs them.
TEST(FirstContact, TextsBehindNumbersMayStandInQuotes) {
  const std::vector<NamedArc> expected{{"1", "2", 0}, {"2", "3", 0}};
  EXPECT_EQ(arcs_of(read("source target text\n1 2 ok\n2 3 \"see this\"\n")), expected);
  EXPECT_EQ(arcs_of(read("source\ttarget\ttext\n1\t2\tok\n2\t3\t\"a\tb\"\n")), expected);
  EXPECT_EQ(arcs_of(read("1\t2\tJohn Smith\n2\t3\t\"Ann\"\n")), expected);
  expect_says(refusal("1\t2\tok\n2\t3\t\"see\n3\t4\tabove\"\n"), "a quote is not closed on this line");
}

TEST(FirstContact, SomeNumbersMayStandInQuotes) {
  const std::vector<NamedArc> expected{{"1", "2", 0}, {"2", "3", 0}};
  EXPECT_EQ(arcs_of(read("1,2\n2,\"3\"\n", {}, "list.csv")), expected);
  EXPECT_EQ(arcs_of(read("1 2\n\"2\" 3\n")), expected);
  EXPECT_EQ(arcs_of(read("source,target,weight\n1,2,5\n2,3,\"6\"\n", {}, "list.csv")),
            (std::vector<NamedArc>{{"1", "2", 5}, {"2", "3", 6}}));
  expect_says(refusal("1,2\n2,\"3\n3,4\n", {}, "list.csv"), "a quote is not closed on this line");
}

TEST(FirstContact, TabsSeparateNamesAndTextsWithBlanks) {
  EXPECT_EQ(arcs_of(read("1\t2\tJohn Smith\n2\t3\tAnn\n")), (std::vector<NamedArc>{{"1", "2", 0}, {"2", "3", 0}}));
  expect_says(refusal("ann\tbob\t5\n\tbob\t6\n"), ":2: expected a source in column 1, but it is empty");
}

// --- ids ---

TEST(FirstContact, LeadingZerosMakeNames) {
  const Graph graph = read("1 7\n007 8\n");
  EXPECT_EQ(names_of(graph), (std::vector<std::string>{"007", "1", "7", "8"}));
  ASSERT_EQ(graph.report().notes.size(), 1u);
  expect_says(notes_of(graph), "ids are names, since '007' in line 2 has leading zeros");
  EXPECT_TRUE(graph.report().list->names);
  EXPECT_EQ(read("0 1\n1 0\n").ids().kind(), IdMap::Kind::consecutive) << "0 is how 0 is written";
  EXPECT_EQ(names_of(read("00 1\n1 0\n")), (std::vector<std::string>{"0", "00", "1"}));
}

TEST(FirstContact, WhoAsksForNumbersGetsNumbers) {
  for (const IdMode mode : {IdMode::dense, IdMode::sparse}) {
    const Graph graph = read("6 7\n7 007\n", {.ids = mode});
    EXPECT_EQ(arcs_of(graph), (std::vector<NamedArc>{{"6", "7", 0}, {"7", "7", 0}}));
  }
  EXPECT_EQ(read("6 7\n7 007\n", {.vertices = 8}).vertex_count(), 8u);
}

/// 60,000 lines are more than the sample shows.
std::string long_list(const std::string& tail, const std::string& last, const std::string& between = " ") {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += std::to_string(i) + between + std::to_string(i + 1) + tail + "\n";
  return text + last;
}

TEST(FirstContact, LeadingZerosAreNoticedLateInEveryThread) {
  const TemporaryFolder folder;
  const std::string     path = folder.write("list.txt", long_list("", "# so\n7 007\n7 0008\n"));
  for (const int threads : {1, 2, 3, 7}) {
    const Graph graph = open(path, {.threads = threads});
    EXPECT_EQ(graph.vertex_count(), 60'003u) << threads;
    expect_says(notes_of(graph), "'007' in line 60002");
  }
  // Beside a column of texts that only tabs keep apart.
  const std::string texts = folder.write("texts.txt", long_list("\tJohn Smith", "7\t007\tAnn\n", "\t"));
  EXPECT_EQ(open(texts).vertex_count(), 60'002u);
  // Where columns are not in order, and where a header names them.
  const std::string table = folder.write("table.csv", "to,from\n5,4\n5,05\n");
  EXPECT_EQ(names_of(open(table)), (std::vector<std::string>{"05", "4", "5"}));
}

TEST(FirstContact, NumbersThatAreNoIdsAreRefusedAndNeverDropped) {
  for (const char* text : {"-1 -2\n3 4\n", "1.0 2.0\n2.0 3.0\n", "+1 +2\n3 4\n", "1 -2\n3 4\n", "1e3 2\n"}) {
    expect_says(refusal(text), ":1: '");
    expect_says(refusal(text), "is not a vertex id");
    expect_says(refusal(text), "--ids string");
  }
  expect_says(refusal("3 4\n+1 2\n"), ":2: expected a source id (a number), found '+1'");
  EXPECT_EQ(names_of(read("-1 1.0\n1 +1\n", {.ids = IdMode::string})),
            (std::vector<std::string>{"+1", "-1", "1", "1.0"}));
}

TEST(FirstContact, NamesSayWhichTextMadeThemNames) {
  const Graph graph = read("# top\n1 alice\nalice bob\n");
  expect_says(notes_of(graph), "ids are names, since 'alice' in line 2 is not a number");
  expect_says(notes_of(graph), "line 2, '1 alice', is an edge");
  EXPECT_EQ(graph.report().notes.size(), 1u);
  EXPECT_TRUE(read("1 alice\n", {.ids = IdMode::string, .header = HeaderMode::absent}).report().notes.empty());
}

// --- headers ---

TEST(FirstContact, HeadersAreFoundByTheirWords) {
  for (const char* top : {"user,friend", "u,v", "follower,followee", "from,to", "tail,head", "Source,Target"}) {
    const Graph graph = read(std::string{top} + "\nann,bob\nbob,cy\n", {}, "list.csv");
    EXPECT_EQ(arcs_of(graph), (std::vector<NamedArc>{{"ann", "bob", 0}, {"bob", "cy", 0}})) << top;
    expect_says(notes_of(graph), std::string{"line 1, '"} + top + "', is a header");
    EXPECT_EQ(graph.report().notes.size(), 1u);
  }
}

TEST(FirstContact, HeadersAreFoundByColumnsOfNumbersBelow) {
  const Graph graph =
      read("follower,followee,amount,created_at\nann,bob,5,2020-01-01\nbob,cy,6,2020-01-02\n", {}, "list.csv");
  EXPECT_EQ(graph.arc_count(), 2u);
  const Graph unknown = read("wer,wen,betrag\nann,bob,5\nbob,cy,6\n", {}, "list.csv");
  EXPECT_EQ(unknown.arc_count(), 2u);
  expect_says(notes_of(unknown), "'wer,wen,betrag', is a header");
  EXPECT_EQ(read("user item\n1 apple\n2 pear\n").arc_count(), 2u);
}

TEST(FirstContact, EdgesAreNotTakenForHeaders) {
  for (const char* text : {"u v\nv w\n", "u,v\na,b\n", "user friend\nann user\n", "ann bob\nbob cy\n",
                           "source target 5\nann bob 6\n", "parent child\nchild x\n"}) {
    const Graph graph = read(text);
    EXPECT_EQ(graph.arc_count(), 2u) << text;
    expect_says(notes_of(graph), "is an edge (--header yes makes it a header)");
  }
  expect_says(refusal("ann bob NA\nbob cy 5\n"), ":1: expected a weight, found 'NA'");
  expect_says(refusal("ann bob 7\nbob cy red\n"), "if column 3 holds no weights, say --weight-column none");
}

TEST(FirstContact, ArcsLeadFromTailToHead) {
  const std::vector<NamedArc> expected{{"1", "2", 0}};
  EXPECT_EQ(arcs_of(read("tail,head\n1,2\n")), expected);
  EXPECT_EQ(arcs_of(read("head,tail\n2,1\n")), expected);
  EXPECT_EQ(arcs_of(read("head,relation,tail\n1,9,2\n")), expected) << "a triple means it the other way";
  expect_says(notes_of(read("head,tail\n2,1\n")), "arcs lead from 'tail' to 'head'");
}

TEST(FirstContact, HeadersHaveAsManyColumnsAsData) {
  expect_says(refusal("\"from\",\"to\"\n\"1\",5,6\n", {}, "list.csv"), ":2: the header in line 1 has 2 columns");
}

// --- columns ---

TEST(FirstContact, GuessedWeightsAreToldWithTheirRange) {
  const Graph graph = read("1 2 1577836800\n2 3 1577836900\n");
  ASSERT_EQ(graph.report().notes.size(), 1u);
  expect_says(notes_of(graph), "column 3 holds the weights, 1577836800 to 1577836900");
  expect_says(notes_of(graph), "--weight-column none");
  expect_says(notes_of(read("1 2 0.1\n2 3 -4\n")), "column 3 holds the weights, -4 to 0.1 ");
  EXPECT_TRUE(read("1 2 5\n", {.weight_column = "none"}).report().notes.empty());
  EXPECT_TRUE(read("1 2 5\n", {.weight_column = "3"}).report().notes.empty());
  EXPECT_TRUE(read("1 2 5\n", {}, "list.wel").report().notes.empty()) << "the name states it";
  EXPECT_TRUE(read("from,to,weight\n1,2,5\n").report().notes.empty()) << "the header states it";
  expect_says(notes_of(read("1 2 friend\n2 3 foe\n")), "column 3 is ignored");
}

TEST(FirstContact, ColumnsAreChosenByNumberAndByName) {
  const std::vector<NamedArc> expected{{"2", "1", 0}, {"3", "2", 0}};
  EXPECT_EQ(arcs_of(read("1 2\n2 3\n", {.source_column = "2"})), expected);
  EXPECT_EQ(arcs_of(read("1 2\n2 3\n", {.source_column = "2", .target_column = "1"})), expected);
  EXPECT_EQ(arcs_of(read("who,whom,when\n1,2,x\n2,3,y\n", {.source_column = "whom", .target_column = "who"})),
            expected);
  EXPECT_EQ(arcs_of(read("x,ann,bob,7\n", {.source_column = "3", .target_column = "2", .weight_column = "4"})),
            (std::vector<NamedArc>{{"bob", "ann", 7}}));
  EXPECT_EQ(arcs_of(read("1 2 5\n", {.source_column = "2", .target_column = "1"})),
            (std::vector<NamedArc>{{"2", "1", 5}}))
      << "what remains of three columns is the weight";
  // A name that is asked for makes a header of the line that has it.
  EXPECT_EQ(arcs_of(read("wer,wen\nann,bob\n", {.source_column = "wen", .target_column = "wer"})),
            (std::vector<NamedArc>{{"bob", "ann", 0}}));
  const Graph graph = read("a,b,c\n1,2,3\n", {.source_column = "b", .target_column = "c", .weight_column = "a"});
  EXPECT_EQ(graph.report().list->source_column, 2u);
  EXPECT_EQ(graph.report().list->target_column, 3u);
  EXPECT_EQ(graph.report().list->weight_column, 1u);
  EXPECT_EQ(graph.report().list->header, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(FirstContact, ColumnsThatAreNotThereAreRefused) {
  const auto refused = [](const LoadOptions& options, const std::string& says,
                          const std::string& text = "a,b,c\n1,2,3\n", const std::string& name = "list.csv") {
    const auto [code, message] = failure_of([&] { read(text, options, name); });
    EXPECT_EQ(code, ExitCode::usage) << message;
    expect_says(message, says);
  };
  refused({.source_column = "4"}, "--source-column 4 asked for, but lines have 3 columns");
  refused({.target_column = "0"}, "--target-column 0 asked for");
  refused({.target_column = "z"}, "no column is named 'z'; the header has: a, b, c");
  refused({.source_column = "x"}, "the file has no header line", "1,2\n");
  refused({.source_column = "b", .target_column = "2"}, "--source-column and --target-column are both column 2");
  refused({.source_column = "1", .weight_column = "a"}, "--source-column and --weight-column are both column 1");
  refused({.source_column = "1"}, "--source-column is for text edge lists",
          "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n", "a.mtx");
  expect_says(refusal("1 2 3 4\n", {.source_column = "3"}), "do not tell which are source and target");
}

TEST(FirstContact, NameListsHaveTheSameColumnsInEveryLine) {
  expect_says(refusal("New York Boston\nDenver Omaha\n"), ":2: the line has 2 columns, where 3 were expected");
  expect_says(refusal("ann bob\nbob cy\ncy dan eve\n"), ":3: the line has 3 columns, where 2 were expected");
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += "name" + std::to_string(i) + " other\n";
  for (const int threads : {1, 3})
    expect_says(refusal(text + "New York Boston\n", {.threads = threads}), ":60001: the line has 3 columns");
}

TEST(FirstContact, WhatIsNoEdgeListIsRefused) {
  expect_says(refusal("<!DOCTYPE html>\n<html lang=\"en\">\n"), "looks like HTML or XML");
  expect_says(refusal("1 -> 2\n2 -> 3\n"), ":1: '->' stands where an id was expected");
  expect_says(refusal("(1, 2)\n(2, 3)\n"), ":1: '(1' opens a bracket");
  expect_says(refusal("{\"source\": 1, \"target\": 2}\n"), ":1: ");
  EXPECT_EQ(read("1 -> 5\n", {.ids = IdMode::string}).vertex_count(), 2u) << "unless somebody wants it so";
}

// --- other formats ---

TEST(FirstContact, FormatsThatNobodyAskedForNeedMoreThanAFit) {
  const Graph pair = read("1 0\n\n", {}, "bare");
  EXPECT_EQ(pair.report().format, "edgelist");
  EXPECT_EQ(arcs_of(pair), (std::vector<NamedArc>{{"1", "0", 0}}));
  EXPECT_NE(failure_of([] { read("3 2\n2 3\n1\n2\n", {}, "bare"); }).first, ExitCode::done)
      << "both ends of an edge must list it";
  EXPECT_EQ(read("3 2\n2 3\n1\n1\n", {}, "bare").report().format, "metis");
  const Graph either = read("3 3\n2 3\n1 3\n1 2\n", {}, "bare");
  EXPECT_EQ(either.report().format, "edgelist");
  expect_says(notes_of(either), "it fits METIS (--format metis)");
  EXPECT_EQ(read("1 0\n\n", {}, "one.graph").report().format, "metis") << "a suffix asks for it";
  expect_says(refusal(std::string(25, '\0'), {}, "zeros"), "unknown graph format");
  expect_says(refusal(std::string("\1\0\0\0\0\0\0\0\0\0\0\0", 12), {}, "twelve"), "unknown graph format");
  expect_says(refusal(format_testing::bytes_of<std::uint64_t>({1, 0, 0, 0}), {}, "galois"),
              "unknown graph format");
}

TEST(FirstContact, FilesWithoutASizeAreReadToTheirEnd) {
  std::ifstream probe{"/proc/self/limits"};
  if (!probe) GTEST_SKIP() << "no /proc here";
  struct stat facts {};
  ASSERT_EQ(stat("/proc/self/limits", &facts), 0);
  ASSERT_EQ(facts.st_size, 0);
  // Prose, so it is refused, but as what it is and not as empty.
  const std::string message = failure_of([] { open("/proc/self/limits", {.format = "edgelist"}); }).second;
  EXPECT_EQ(message.find("empty"), std::string::npos) << message;
  expect_says(message, "/proc/self/limits:");
  std::ifstream     partitions{"/proc/partitions"};
  const std::string lines{std::istreambuf_iterator<char>{partitions}, {}};
  if (std::count(lines.begin(), lines.end(), '\n') < 3) GTEST_SKIP() << "no partitions here";
  EXPECT_EQ(open("/proc/partitions").arc_count(),
            static_cast<EdgeIndex>(std::count(lines.begin(), lines.end(), '\n') - 2));
}

// --- weights and threads ---

/// What reading comes to: the weight type, or the error.
std::string outcome_of(const std::string& path, int threads) {
  try {
    const Graph graph = open(path, {.threads = threads});
    return std::string{to_string(graph.weight_type())} + " " + std::to_string(graph.arc_count());
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(FirstContact, WeightsComeOutTheSameForEveryNumberOfThreads) {
  const TemporaryFolder folder;
  const std::string     wide = "0 1 9999999999\n", negative = "1 2 -1\n", broken = "2 3 x\n", zeros = "07 8 1\n";
  const std::string     large = "99999999999 1 1\n";
  std::vector<std::string> kinds{wide, negative, broken, zeros, large};
  std::string              filler;
  for (int i = 0; i < 20'000; ++i) filler += std::to_string(i) + " " + std::to_string(i + 1) + " 3\n";
  // Beyond the sample, so that every one is found while reading, two and two in both orders.
  int many = 2;
  for (const std::string& first : kinds)
    for (const std::string& last : kinds) {
      const std::string path = folder.write("list.wel", filler + first + filler + last);
      const std::string one  = outcome_of(path, 1);
      many                   = many == 2 ? 7 : 2;
      ASSERT_EQ(outcome_of(path, many), one) << first << last << many;
    }
  const std::string mixed = folder.write("a.wel", filler + wide + filler + negative);
  EXPECT_EQ(outcome_of(mixed, 3), "f32 40002");
  const std::string whole = folder.write("b.wel", filler + wide + filler);
  for (const int threads : {1, 2, 3, 7}) expect_says(outcome_of(whole, threads), ":20001: weight '9999999999'");
  const std::string early = folder.write("c.wel", filler + wide + broken + negative);
  for (const int threads : {1, 2, 3, 7}) expect_says(outcome_of(early, threads), ":20001: weight '9999999999'");
}

TEST(FirstContact, SmallFilesAndPipesDecideByTheWholeFile) {
  const TemporaryFolder folder;
  const std::string     wide = "0 1 9999999999\n", negative = "1 2 -1\n", plain = "2 3 4\n";
  for (const std::string& text :
       {wide + negative, negative + wide, wide + plain + negative, plain + wide + negative}) {
    const std::string path = folder.write("list.txt", text);
    for (const int threads : {1, 2, 3, 7}) EXPECT_EQ(outcome_of(path, threads).substr(0, 3), "f32") << text;
  }
  std::string filler;
  for (int i = 0; i < 60'000; ++i) filler += std::to_string(i) + " " + std::to_string(i + 1) + " 3\n";
  for (const int threads : {1, 2, 3, 7}) {
    const std::string pipe = folder / ("pipe" + std::to_string(threads));
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread       writer{[&] { std::ofstream{pipe} << filler + wide + filler + negative; }};
    const std::string outcome = outcome_of(pipe, threads);
    writer.join();
    expect_says(outcome, "a pipe cannot be read twice");
  }
}

TEST(FirstContact, RoundedWeightsAreTold) {
  expect_says(notes_of(read(long_list(" 0.5", "1 2 16777217\n"), {}, "list.wel")),
              "16777217 became 16777216 in line");
  EXPECT_TRUE(read("1 2 0.5\n2 3 7\n", {}, "list.wel").report().notes.empty());
}

// --- what is read beside the graph ---

TEST(FirstContact, ListsOfVerticesAreInTheBudget) {
  const TemporaryFolder folder;
  std::string           vertices;
  for (int i = 0; i < 300'000; ++i) vertices += std::to_string(1'000'000'000'000 + i) + "\n";
  folder.write("g.v", vertices);
  folder.write("g.e", "1000000000000 1000000000001\n");
  const auto [code, message] = failure_of([&] { open(folder / "g.e", {.host_memory = 4u << 20, .threads = 1}); });
  EXPECT_EQ(code, ExitCode::does_not_fit) << message;
  const Graph graph = open(folder / "g.e", {.threads = 1});
  EXPECT_EQ(graph.vertex_count(), 300'000u);
  EXPECT_GE(graph.report().peak_bytes, 2 * 300'000u * sizeof(std::uint64_t));
  folder.write("g.v", "1\n2 3\n");
  expect_says(failure_of([&] { open(folder / "g.e"); }).second, "g.v:2: expected one vertex id");
  folder.write("g.v", "1000000000000\n1000000000001\n");
  folder.write("g.properties", std::string(2u << 20, '#'));
  expect_says(failure_of([&] { open(folder / "g.e"); }).second, "too large for a file of properties");
}

TEST(FirstContact, LinesWithoutEndAreRefused) {
  const TemporaryFolder folder;
  const std::string     path = folder.write("list.txt", "ann bob\n" + std::string(9u << 20, 'x'));
  for (const int threads : {1, 2}) {
    const auto [code, message] = failure_of([&] { open(path, {.threads = threads}); });
    EXPECT_EQ(code, ExitCode::bad_input);
    expect_says(message, "is longer than 4 MiB");
  }
}

TEST(FirstContact, PackedEdgesThatCannotFitAreRefusedBeforehand) {
  const TemporaryFolder folder;
  const std::string     path = folder.write("list.packed", std::string(12 * 1'000'000, '\0'));
  const auto [code, message] = failure_of([&] { open(path, {.host_memory = 4u << 20, .threads = 1}); });
  EXPECT_EQ(code, ExitCode::does_not_fit) << message;
  expect_says(message, "a graph of about 2,000,000 arcs");
}

}  // namespace
}  // namespace spillway
