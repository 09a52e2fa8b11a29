// Pages in stripes: every graph through them and back, stripes that are missing, cut off or of another conversion,
// and tables that lie.
#include "store/stripes.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/hash.hpp"
#include "store/spill_file.hpp"
#include "support.hpp"
#include "zoo.hpp"

#include <spillway/error.hpp>
#include <spillway/generate.hpp>

namespace spillway::store {
namespace {

namespace fs = std::filesystem;
using testing::failure_of;
using testing::read_file;
using testing::TemporaryFolder;

/// Folders a, b, c … for stripes, and graphs.
struct Disks {
  TemporaryFolder          folder;
  std::vector<std::string> names;

  explicit Disks(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      names.push_back(folder / std::string(1, static_cast<char>('a' + i)));
      fs::create_directory(names.back());
    }
  }

  std::string write(const Graph& graph, const std::string& name = "g.spill", PageOptions options = {}) const {
    const std::string path = folder / name;
    if (options.page_bytes == 0) options.page_bytes = 4096;
    options.stripes = names;
    OutputFile   file{path};
    StripeOutput stripes{path, names};
    store::write(graph, options, file, Progress::none(), &stripes);
    commit(file, stripes);
    return path;
  }
  std::size_t files() const {
    std::size_t count = 0;
    for (const std::string& name : names)
      count += static_cast<std::size_t>(std::distance(fs::directory_iterator{name}, {}));
    return count;
  }
};

Graph some_graph(const char* scale = "9") {
  Graph graph = generate("kron", {{"scale", scale}}, {});
  graph.in();
  return graph;
}

void expect_the_same(const Graph& paged, const Graph& graph) {
  const Graph again = in_memory(paged, 2, Progress::none());
  EXPECT_TRUE(std::ranges::equal(again.out().targets, graph.out().targets));
  EXPECT_TRUE(std::ranges::equal(again.out().weights, graph.out().weights));
  if (!paged.in_pages()) return;
  EXPECT_TRUE(std::ranges::equal(again.in().targets, graph.in().targets));
}

TEST(Stripes, HoldTheZoo) {
  std::size_t turn = 0;
  for (const auto& member : testing::zoo()) {
    SCOPED_TRACE(member.name);
    const Disks disks{1 + turn % 4};
    if (turn % 2 == 0) member.graph.in();
    const std::string path =
        disks.write(member.graph, "g.spill", {.compressed = turn % 3 != 0, .by_degree = turn % 5 == 0});
    ++turn;
    EXPECT_EQ(disks.files(), disks.names.size());
    expect_the_same(open(path), member.graph);
    for (const SectionVerdict& each : verify(path, Progress::none())) EXPECT_EQ(each.problem, "") << each.section;
  }
}

/// Page j is the j / n-th of stripe j mod n.
TEST(Stripes, ArePlacedByTheirNumbers) {
  const Disks             disks{3};
  const Graph             paged = open(disks.write(some_graph()));
  const PagedRows&        pages = *paged.pages();
  const std::vector<char> magic{'\x89', 'S', 'P', 'S', 'T', 'R', '\r', '\n'};
  ASSERT_GT(pages.table().size(), 8u);
  ASSERT_EQ(pages.files().size(), 3u);
  for (const PagedRows* side : {paged.pages().get(), paged.in_pages().get()}) {
    std::uint64_t all = 0;
    for (const PagedRows::File& file : side->files()) all += file.pages;
    EXPECT_EQ(all, side->table().size());
  }
  for (std::uint64_t page = 0; page < pages.table().size(); ++page) {
    const PagedRows::File& file  = pages.files()[page % 3];
    const std::string      bytes = read_file(file.path);
    EXPECT_TRUE(std::ranges::equal(bytes.substr(0, magic.size()), magic));
    EXPECT_EQ(XXH3_64bits(bytes.data() + file.at + page / 3 * 4096, 4096), pages.table().checksum(page));
    EXPECT_EQ(file.path.find(disks.names[page % 3]), 0u);
  }
}

TEST(Stripes, OfAbsoluteFoldersStayWhenTheGraphIsMoved) {
  const Disks       disks{2};
  const Graph       graph = some_graph();
  const std::string path  = disks.write(graph);
  fs::create_directory(disks.folder / "elsewhere");
  fs::rename(path, disks.folder / "elsewhere/h.spill");
  expect_the_same(open(disks.folder / "elsewhere/h.spill"), graph);
}

/// What has a link in its path, too.
TEST(Stripes, OfRelativeFoldersMoveWithTheGraph) {
  const TemporaryFolder folder;
  const Graph           graph = some_graph();
  fs::create_directories(folder / "one/graphs/deep");
  fs::create_directories(folder / "one/disk");
  fs::create_symlink("graphs/deep", folder / "one/link");
  const fs::path before = fs::current_path();
  fs::current_path(folder / "one");
  {
    OutputFile   file{"link/g.spill"};
    StripeOutput stripes{"link/g.spill", {"disk", "link"}};
    store::write(graph, {.page_bytes = 4096}, file, Progress::none(), &stripes);
    commit(file, stripes);
  }
  fs::current_path(before);
  expect_the_same(open(folder / "one/link/g.spill"), graph);
  fs::rename(folder / "one", folder / "two");
  expect_the_same(open(folder / "two/link/g.spill"), graph);
  expect_the_same(open(folder / "two/graphs/deep/g.spill"), graph);
  fs::create_symlink("two/link/g.spill", folder / "g.spill");
  expect_the_same(open(folder / "g.spill"), graph);
}

void expect_refused(const std::string& path, const std::string& file, const std::string& words) {
  const auto [code, said] = failure_of([&] { open(path); });
  EXPECT_EQ(code, ExitCode::bad_input) << said;
  EXPECT_NE(said.find(file), std::string::npos) << said;
  EXPECT_NE(said.find(words), std::string::npos) << said;
  EXPECT_NE(said.find("convert the graph again"), std::string::npos) << said;
  EXPECT_TRUE(
      std::ranges::any_of(verify(path, Progress::none()), [&](const auto& each) { return each.problem == said; }));
}

TEST(Stripes, ThatAreNotTheirsAreRefused) {
  const Disks                    disks{2};
  const Graph                    graph = some_graph();
  const std::string              path = disks.write(graph), other = disks.write(some_graph("8"), "h.spill");
  const std::vector<std::string> own = stripes_of(path), others = stripes_of(other);
  ASSERT_EQ(own.size(), 2u);
  const std::string whole = read_file(own[1]);
  const auto        put   = [&](const std::string& bytes) { std::ofstream{own[1], std::ios::binary} << bytes; };

  put(whole.substr(0, whole.size() - 4096));
  expect_refused(path, own[1], "cut off or added to");
  put(whole.substr(0, 20));
  expect_refused(path, own[1], "too few");
  put(whole + whole);
  expect_refused(path, own[1], "cut off or added to");
  put(read_file(others[1]));
  expect_refused(path, own[1], "another conversion");
  put(read_file(own[0]));
  expect_refused(path, own[1], "another conversion");
  put("text, and longer than any header of a stripe is: it goes on and on");
  expect_refused(path, own[1], "not a stripe");
  std::string changed = whole;
  changed[12] ^= 1;
  put(changed);
  expect_refused(path, own[1], "does not match its checksum");
  fs::remove(own[1]);
  expect_refused(path, own[1], "not there");
  fs::create_directory(own[1]);
  expect_refused(path, own[1], "not there");
  fs::remove(own[1]);
  fs::rename(disks.names[0], disks.names[0] + "2");
  expect_refused(path, own[0], "not there");
  fs::create_symlink(disks.names[0] + "2", disks.names[0]);
  put(whole);
  expect_the_same(open(path), graph);
}

TEST(Stripes, SayWhichOfTheirPagesIsDamaged) {
  const Disks       disks{3};
  const std::string path   = disks.write(some_graph());
  const std::string stripe = stripes_of(path)[1];
  std::string       bytes  = read_file(stripe);
  bytes[4096 + 4096 + 9] ^= 1;  // the second of this stripe, page 4 of all
  std::ofstream{stripe, std::ios::binary} << bytes;
  const auto [code, said] = failure_of([&] { in_memory(open(path), 1, Progress::none()); });
  EXPECT_EQ(code, ExitCode::bad_input);
  EXPECT_NE(said.find("page 4 in " + stripe), std::string::npos) << said;
  EXPECT_TRUE(
      std::ranges::any_of(verify(path, Progress::none()), [&](const auto& each) { return each.problem == said; }));
}

TEST(Stripes, OfAGraphThatIsReplacedAreRemoved) {
  const Disks       disks{2};
  const std::string path = disks.write(some_graph()), other = disks.write(some_graph(), "h.spill");
  EXPECT_EQ(disks.files(), 4u);
  const Graph graph = some_graph("8");
  disks.write(graph);
  EXPECT_EQ(disks.files(), 4u);
  expect_the_same(open(path), graph);
  OutputFile   file{path};
  StripeOutput none{path, {}};
  store::write(graph, {}, file, Progress::none(), &none);
  commit(file, none);
  EXPECT_EQ(disks.files(), 2u);
  expect_the_same(open(path), graph);
  EXPECT_NO_THROW(open(other));
}

TEST(Stripes, HaveTheModeOfTheGraphThatIsReplaced) {
  const Disks       disks{2};
  const std::string path = disks.write(some_graph());
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  disks.write(some_graph("8"));
  for (const std::string& stripe : stripes_of(path))
    EXPECT_EQ(fs::status(stripe).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

/// Whatever the table says, it is refused or means the same files; with a header that fits, too.
TEST(Stripes, WithTablesThatLieAreRefused) {
  const Disks       disks{2};
  const Graph       graph = some_graph();
  const std::string path  = disks.write(graph);
  const std::string whole = read_file(path);
  const SpillFile   file{path};
  const auto        section = std::ranges::find(file.sections(), SectionKind::stripes, &Section::kind);
  ASSERT_NE(section, file.sections().end());
  std::mt19937_64 random{13};
  int             refused = 0;
  const auto      attempt = [&](const std::string& bytes) {
    std::ofstream{path, std::ios::binary} << bytes;
    try {
      expect_the_same(open(path), graph);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::bad_input) << error.what();
      ++refused;
    }
  };
  for (int trial = 0; trial < 150; ++trial) {
    std::string bytes = whole;
    for (unsigned k = 0; k <= trial % 3u; ++k)
      bytes[section->offset + random() % (trial % 2 == 0 ? 80 : section->bytes)] = static_cast<char>(random());
    attempt(bytes);
  }
  EXPECT_GT(refused, 110);
  // Shorter, longer, and numbers at their limits.
  const auto patched = [&](std::uint64_t at, std::uint64_t value, std::size_t size) {
    std::string bytes = whole;
    std::memcpy(bytes.data() + section->offset + at, &value, size);
    refused = 0;
    attempt(bytes);
    EXPECT_EQ(refused, 1) << at << " " << value;
  };
  for (const std::uint64_t stripes :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, most_stripes + 1, std::uint64_t{UINT32_MAX}})
    patched(8, stripes, 4);
  for (const std::uint64_t entry : {16, 48})
    for (const std::uint64_t value : {std::uint64_t{1}, UINT64_MAX, UINT64_MAX - 4095, std::uint64_t{1} << 40}) {
      patched(entry, value, 8);
      patched(entry + 8, value, 8);
      patched(entry + 16, value, 8);
      patched(entry + 24, value, 4);
    }
}

}  // namespace
}  // namespace spillway::store
