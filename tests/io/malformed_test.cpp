// Malformed input: exit code 3 (2 where an option is wrong) and one message that names the file, the place and
// what was expected. One table for the text formats; the binary ones have theirs beside their tests.
#include <gtest/gtest.h>

#include <regex>

#include "support.hpp"

namespace spillway {
namespace {

struct BadFile {
  std::string name;  ///< of the file
  std::string text;
  std::string says;  ///< fragment of the message, past the file name
};

std::string nul(const char* text, std::size_t size) { return {text, size}; }

const std::vector<BadFile>& bad_files() {
  static const std::vector<BadFile> all{
      {"empty.txt", "", "the file is empty"},
      {"word.txt", "0 1\n1 x\n", ":2: expected a target id (a number), found 'x'"},
      {"lonely.txt", "0 1\n5\n", ":2: expected a target id, found the end of the line"},
      {"negative.txt", "0 1\n-5 1\n", ":2: expected a source id (a number), found '-5'"},
      {"extra.txt", "0 1\n1 2 3\n", ":2: expected the end of the line after 2 columns, found '3'"},
      {"decimal.txt", "0 1\n1.5 2\n", ":2: expected a source id (a number), found '1.5'"},
      {"nothing.csv", "0,1\n,2\n", ":2: expected a source id, but its column is empty"},
      {"comma.csv", "0,1\n1 2\n", ":2: expected ',' and a target id"},
      {"noweight.wel", "0 1 5\n1 2\n", ":2: expected a weight, found the end of the line"},
      {"badweight.wel", "0 1 5\n1 2 heavy\n", ":2: expected a weight, found 'heavy'"},
      {"nan.wel", "0 1 0.5\n1 2 nan\n", ":2: weight 'nan' is not a finite 32-bit float"},
      {"infinite.wel", "0 1 0.5\n1 2 1e99\n", ":2: weight '1e99' is not a finite 32-bit float"},
      {"wide.wel", "0 1 5\n1 2 4294967296\n", ":2: weight '4294967296' does not fit 32 bits"},
      {"huge.txt", "0 1\n1 99999999999999999999999\n", ":2: id '99999999999999999999999' does not fit 64 bits"},
      {"quote.txt", "a b\n\"c d\n", ":2: a quote is not closed"},
      {"rubbish.txt", nul("\x00\x01\x02\xff\xfe\x00gh", 8), "byte 0 is 0: this is not text"},
      {"prose.txt", "It was the best of times,\nit was the worst.\n",
       ":1: expected a target in column 2, but it is empty"},
      {"one.txt", "5\n6\n", "expected at least two columns"},
      {"unknown", "5\n6\n", "unknown graph format"},

      {"return.txt", "1 2\r2 3\r", "byte 3 is a carriage return inside a line"},
      {"digits.wel", "0 1 5\n1 2 99999999999999999999999999\n",
       ":2: weight '99999999999999999999999999' does not fit 32 bits"},
      {"tail.wel", "0 1 0.5 x\n1 2 1.5abc x\n", ":2: expected a weight"},
      {"header1.csv", "id,source,other\n0,1,2\n", "do not tell which are source and target"},
      {"header2.csv", "source,weight\n1,5\n", "do not tell which are source and target"},
      {"typo.mtx", "% comment\n3 3 2\n1 2 5\n3 1 6\n", ":1: expected the banner"},
      {"nothing.gr", "c only\n", "expected 'c' comments and then a line 'p sp"},
      {"banner.mtx", "%%MatrixMarket matrix\n2 2 1\n1 1\n", ":1: expected the banner"},
      {"array.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n",
       ":1: Matrix Market format 'array'"},
      {"complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n",
       ":1: Matrix Market field 'complex'"},
      {"hermitian.mtx", "%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n",
       ":1: Matrix Market symmetry 'hermitian'"},
      {"size.mtx", "%%MatrixMarket matrix coordinate pattern general\n% note\n3 3\n",
       ":3: expected the size line"},
      {"nosize.mtx", "%%MatrixMarket matrix coordinate pattern general\n% only this\n",
       "size line 'ROWS COLUMNS ENTRIES' is missing"},
      {"oblong.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 1\n", ":2: the matrix is 3 by 4"},
      {"range.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 1\n1 4\n",
       ":4: vertex 4 is out of range: ids run from 1 to 3"},
      {"zero.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n0 1\n",
       ":3: vertex 0 is out of range"},
      {"few.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 1\n",
       "line 2 says 2 edges, but 1 follow"},
      {"many.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1\n2 2\n",
       "line 2 says 1 edges, but 2 follow"},
      {"novalue.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1\n", ":3: expected a weight"},
      {"diagonal.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 1\n",
       ":3: a skew-symmetric matrix"},
      {"giant.mtx", "%%MatrixMarket matrix coordinate pattern general\n4294967296 4294967296 0\n",
       ":2: 4294967296 vertices: at most 2^32-1"},

      {"kind.gr", "c x\np max 3 1\na 1 2 3\n", ":2: problem 'max' is not read"},
      {"short.gr", "p sp 3\na 1 2 3\n", ":1: expected 'p sp VERTICES ARCS'"},
      {"noproblem.gr", "c x\na 1 2 3\n", "expected 'c' comments and then a line 'p sp"},
      {"letter.gr", "p sp 3 1\ne 1 2 3\n", ":2: expected a line that starts with 'a'"},
      {"range.gr", "p sp 3 1\na 1 4 3\n", ":2: vertex 4 is out of range"},
      {"count.gr", "p sp 3 2\na 1 2 3\n", "line 1 says 2 edges, but 1 follow"},
      {"weight.gr", "p sp 3 1\na 1 2\n", ":2: expected a weight"},

      {"alone.e", "1 2\n", "expected the list of vertices beside it"},
  };
  return all;
}

class Malformed : public ::testing::TestWithParam<BadFile> {};

TEST_P(Malformed, IsRefusedWithPlaceAndRemedy) {
  const testing::TemporaryFolder folder;
  const BadFile&                 bad  = GetParam();
  const std::string              path = folder.write(bad.name, bad.text);
  LoadOptions                    options;
  if (bad.name.ends_with(".e")) options.format = "ldbc";
  if (bad.name == "tail.wel") options.weight_column = "3";
  for (const int threads : {1, 2}) {
    options.threads            = threads;
    const auto [code, message] = testing::failure_of([&] { open(path, options); });
    EXPECT_EQ(code, ExitCode::bad_input) << message;
    EXPECT_NE(message.find(path), std::string::npos) << message;
    EXPECT_NE(message.find(bad.says), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(TextFormats, Malformed, ::testing::ValuesIn(bad_files()), [](const auto& test) {
  return std::regex_replace(test.param.name, std::regex{"[^a-z0-9]"}, "_");
});

TEST(Malformed, DirectoryAndMissingFile) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(testing::failure_of([&] { open(folder / ""); }).first, ExitCode::bad_input);
  const auto [code, message] = testing::failure_of([&] { open(folder / "nowhere.txt"); });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_NE(message.find("No such file"), std::string::npos) << message;
}

TEST(Malformed, TheLineIsCountedFromTheTopInEveryThread) {
  const testing::TemporaryFolder folder;
  std::string                    text = "# top\n";
  for (int i = 0; i < 300'000; ++i) text += i == 271'828 ? "12 broken\n" : "12 13\n";
  const std::string path = folder.write("list.txt", text);
  LoadOptions       options;
  for (const int threads : {1, 3}) {
    options.threads = threads;
    EXPECT_NE(testing::failure_of([&] { open(path, options); }).second.find(":271830: "), std::string::npos);
  }
}

TEST(Malformed, TheFirstBadLineIsToldHoweverThreadsRun) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.write("t.csv", "source,target,weight\n1,2,5\n2,3,\n3,4,\n5,6,7\n7,8,\n");
  LoadOptions       options;
  options.threads = 4;
  for (int i = 0; i < 50; ++i)
    ASSERT_NE(testing::failure_of([&] { open(path, options); }).second.find(":3: "), std::string::npos);
}

TEST(Malformed, OptionsThatCannotBeFollowedAreRefused) {
  const testing::TemporaryFolder folder;
  const std::string              list = folder.write("a.txt", "0 1\n");
  const std::string matrix  = folder.write("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n");
  const auto        refused = [&](const std::string& path, auto&& change) {
    LoadOptions options;
    change(options);
    return testing::failure_of([&] { open(path, options); }).first;
  };
  EXPECT_EQ(refused(list, [](LoadOptions& o) { o.format = "mxt"; }), ExitCode::usage);
  EXPECT_EQ(refused(list, [](LoadOptions& o) { o.weight_column = "3"; }), ExitCode::usage);
  EXPECT_EQ(refused(list, [](LoadOptions& o) { o.weight_column = "km"; }), ExitCode::usage);
  EXPECT_EQ(refused(list, [](LoadOptions& o) { o.weight_type = WeightType::u32; }), ExitCode::usage);
  EXPECT_EQ(refused(list, [](LoadOptions& o) { o.vertices = 1ull << 32; }), ExitCode::usage);
  EXPECT_EQ(refused(list, [](LoadOptions& o) { o.vertices = 1; }), ExitCode::bad_input);
  EXPECT_EQ(refused(list, [](LoadOptions& o) { o.vertices = 5, o.ids = IdMode::string; }), ExitCode::usage);
  EXPECT_EQ(refused(matrix, [](LoadOptions& o) { o.header = HeaderMode::present; }), ExitCode::usage);
  EXPECT_EQ(refused(matrix, [](LoadOptions& o) { o.vertices = 5; }), ExitCode::usage);
  EXPECT_EQ(refused(matrix, [](LoadOptions& o) { o.ids = IdMode::string; }), ExitCode::usage);
}

}  // namespace
}  // namespace spillway
