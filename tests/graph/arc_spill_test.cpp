// Graphs that are built outside of memory: the same as those that are built in it, whatever the transform, and
// nothing left behind where a disk is full.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/system_calls.hpp"
#include "graph/arc_spill.hpp"
#include "io/format.hpp"
#include "store/spill_file.hpp"
#include "support.hpp"

namespace spillway {
namespace {

using testing::TemporaryFolder;

std::string some_edges(std::uint64_t seed, std::uint64_t vertices, std::uint64_t edges, bool weights) {
  std::mt19937_64 random{seed};
  std::string     text;
  for (std::uint64_t i = 0; i < edges; ++i) {
    const std::uint64_t from = random() % vertices, to = random() % 16 == 0 ? 7 : random() % vertices;
    text += fmt::format("{} {}", from, to);
    text += weights ? fmt::format(" {}\n", 1 + random() % 1000) : "\n";
  }
  return text;
}

struct Converted {
  std::uint64_t on_disk = 0;
};

/// As `convert --layout pages` does it, with so many bytes for arcs that wait.
Converted convert(const std::string& from, const std::string& to, const LoadOptions& options,
                  const store::PageOptions& pages, std::uint64_t memory, const std::string& temporary,
                  bool in_edges = false) {
  OutputFile         file{to};
  ArcSpill           spill{temporary, memory};
  store::PagedOutput output{pages, file, spill, 2, Progress::none(), in_edges};
  BuildOutside       outside{spill, output.rows()};
  const ReadGraph    read = read_graph(from, options, &outside);
  EXPECT_TRUE(output.in_use());
  output.finish(read.result.csr.offsets, read.result.ids, read.result.weight_type, read.result.symmetric);
  file.commit();
  return {spill.bytes()};
}

void expect_the_same_rows(const Csr& one, const Csr& other) {
  EXPECT_TRUE(std::ranges::equal(one.offsets, other.offsets));
  EXPECT_TRUE(std::ranges::equal(one.targets, other.targets));
  EXPECT_TRUE(std::ranges::equal(one.weights, other.weights));
}

void expect_the_same(const Graph& one, const Graph& other) {
  EXPECT_EQ(one.vertex_count(), other.vertex_count());
  EXPECT_EQ(one.symmetric(), other.symmetric());
  EXPECT_EQ(one.weight_type(), other.weight_type());
  expect_the_same_rows(one.out(), other.out());
  for (Vertex v = 0; v < std::min<std::uint64_t>(one.vertex_count(), 1000); ++v)
    EXPECT_EQ(one.ids().name(v), other.ids().name(v));
}

void expect_hubs_first(const Graph& graph) {
  const auto& offsets = graph.pages()->offsets();
  for (Vertex v = 0; v + 1 < graph.vertex_count(); ++v) {
    EXPECT_GE(offsets[v + 1] - offsets[v], offsets[v + 2] - offsets[v + 1]) << v;
    EXPECT_EQ(graph.ids().find(graph.ids().name(v), graph.vertex_count()), v);
    if (v > 2000) break;  // every search looks through all of them
  }
}

TEST(BuiltOutside, IsWhatIsBuiltInMemory) {
  const TemporaryFolder        folder;
  const std::vector<Transform> transforms{{},
                                          {.undirected = true},
                                          {.undirected = true, .dedup = true, .drop_loops = true},
                                          {.dedup = true},
                                          {.symmetrize = true, .dedup = true},
                                          {.drop_loops = true}};
  std::uint64_t                spilled = 0, seed = 0;
  for (const std::uint64_t vertices : {20u, 5000u, 100'000u})
    for (const Transform& transform : transforms)
      for (const bool weights : {false, true}) {
        const std::string text = folder / "g.el", paged = folder / "g.spill";
        std::ofstream{text} << some_edges(++seed, vertices, 30'000, weights);
        LoadOptions options{.transform = transform, .threads = 2};
        if (seed % 3 == 0) options.ids = IdMode::dense;
        const store::PageOptions pages{.page_bytes = 4096, .compressed = seed % 2 == 0, .by_degree = seed % 5 < 2};
        const bool               in_edges = seed % 7 < 4;
        spilled += convert(text, paged, options, pages, 8192, folder / "", in_edges).on_disk;
        const Graph again = open(paged), loaded = store::in_memory(again, 2, Progress::none());
        const Graph right = open(text, options);
        expect_the_same(loaded, right);
        EXPECT_EQ(again.has_in(), right.symmetric() || in_edges);
        if (in_edges) expect_the_same_rows(loaded.in(), right.in());
        if (pages.by_degree) expect_hubs_first(again);
      }
  EXPECT_GT(spilled, 1'000'000u);
}

TEST(BuiltOutside, StaysInMemoryWhereItFits) {
  const TemporaryFolder folder;
  std::ofstream{folder / "g.el"} << some_edges(1, 1000, 10'000, false);
  EXPECT_EQ(convert(folder / "g.el", folder / "g.spill", {.threads = 2}, {.page_bytes = 4096, .compressed = true},
                    64u << 20, folder / "")
                .on_disk,
            0u);
}

/// All sources share a bucket, and there is memory for a part of it.
TEST(BuiltOutside, SplitsABucketThatMemoryDoesNotHold) {
  const TemporaryFolder folder;
  std::ofstream{folder / "g.el"} << some_edges(1, 5000, 600'000, true);
  const LoadOptions plenty{.transform = {.dedup = true}, .threads = 2};
  LoadOptions       little = plenty;
  little.host_memory       = 8u << 20;  // of 600,000 arcs of 10 bytes and as many of 8
  for (const bool compressed : {false, true}) {
    const store::PageOptions pages{.page_bytes = 4096, .compressed = compressed};
    EXPECT_GT(convert(folder / "g.el", folder / "g.spill", little, pages, 1u << 20, folder / "").on_disk,
              5'900'000u);
    expect_the_same(store::in_memory(open(folder / "g.spill"), 2, Progress::none()),
                    open(folder / "g.el", plenty));
  }
}

/// Edges whose ends are names wait on disk until all names are known.
TEST(BuiltOutside, HoldsNamesAndNotTheirEdges) {
  const TemporaryFolder folder;
  std::mt19937_64       random{1};
  std::ofstream         names{folder / "g.el"}, gaps{folder / "gaps.el"};
  for (int i = 0; i < 900'000; ++i) {
    const auto u = random() % 1000, v = random() % 1000;
    names << 'n' << u << " n" << v << '\n';
    gaps << u * 1'000'000'007'000 << ' ' << v * 1'000'000'007'000 << '\n';
  }
  names.close(), gaps.close();
  for (const char* file : {"g.el", "gaps.el"}) {
    const LoadOptions little{.host_memory = 8u << 20, .threads = 2};  // edges alone take 10.8 MB
    EXPECT_GT(convert(folder / file, folder / "g.spill", little, {.page_bytes = 4096, .compressed = true},
                      1u << 20, folder / "")
                  .on_disk,
              10'000'000u);
    expect_the_same(store::in_memory(open(folder / "g.spill"), 2, Progress::none()), open(folder / file));
  }
}

TEST(BuiltOutside, SaysHowManyArcsItExpects) {
  const TemporaryFolder folder;
  std::ofstream{folder / "g.el"} << some_edges(1, 1000, 10'000, true);
  ArcSpill           spill{folder / "", 1u << 20};
  OutputFile         file{folder / "g.spill"};
  store::PagedOutput output{{.page_bytes = 4096, .compressed = true}, file, spill, 2, Progress::none()};
  OutsideSize        expected;
  BuildOutside       outside{spill, output.rows(), [&](const OutsideSize& size) { expected = size; }};
  read_graph(folder / "g.el", {.transform = {.undirected = true}, .threads = 2}, &outside);
  EXPECT_TRUE(expected.weighted);
  EXPECT_TRUE(expected.estimated);
  EXPECT_NEAR(static_cast<double>(expected.arcs), 20'000, 1'000);
}

TEST(BuiltOutside, LeavesNothingWhereADiskIsFull) {
  static std::atomic<int> left{0};
  static const auto       real = system_calls();
  const TemporaryFolder   folder;
  std::ofstream{folder / "g.el"} << some_edges(1, 1000, 30'000, false);
  for (int writes = 0; writes < 8; ++writes) {
    left                  = writes;
    system_calls().pwrite = [](int descriptor, const void* from, std::size_t bytes, off_t offset) -> ssize_t {
      if (left-- > 0) return real.pwrite(descriptor, from, bytes, offset);
      errno = ENOSPC;
      return -1;
    };
    const auto [code, said] = testing::failure_of([&] {
      convert(folder / "g.el", folder / "g.spill", {.threads = 2},
              {.page_bytes = 4096, .compressed = true, .by_degree = writes % 2 == 0}, 8192, folder / "");
    });
    system_calls()          = real;
    EXPECT_NE(code, ExitCode::done);
    EXPECT_NE(said.find("No space left"), std::string::npos) << said;
    EXPECT_FALSE(file_exists(folder / "g.spill"));
    int files = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator{folder / ""}) ++files;
    EXPECT_EQ(files, 1);  // the input
  }
}

}  // namespace
}  // namespace spillway
