// Blocks, and rows in chunks: however rows are cut and whatever windows there are, every edge of every row that is
// laid out is in one window, once.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include <spillway/engine/block.hpp>

namespace spillway {
namespace {

/// Rows of random lengths, some of them laid out in chunks.
struct Case {
  std::vector<EdgeIndex>       offsets{0}, starts;
  std::vector<Vertex>          targets;
  std::vector<ChunkDescriptor> entries;
  std::vector<bool>            listed;
  unsigned                     chunk_edges;

  explicit Case(std::uint64_t seed) {
    std::mt19937_64 random{seed};
    const auto      upto = [&](std::uint64_t most) { return random() % (most + 1); };
    chunk_edges          = static_cast<unsigned>(1 + upto(5));
    EdgeIndex start      = 0;
    for (Vertex v = 0; v < 20; ++v) {
      const EdgeIndex length = upto(3) == 0 ? upto(23) : upto(4);
      listed.push_back(upto(2) > 0);
      for (EdgeIndex from = 0; listed[v] && from < length; from += chunk_edges) {
        entries.push_back({v, static_cast<std::uint32_t>(from / chunk_edges)});
        starts.push_back(start + from);
      }
      if (listed[v]) start += length;
      offsets.push_back(offsets.back() + length);
    }
    starts.push_back(start);
    for (EdgeIndex i = 0; i < offsets.back(); ++i) targets.push_back(static_cast<Vertex>(i));
  }

  ChunkLayout layout() const { return {entries.data(), starts.data(), entries.size(), chunk_edges}; }
  EdgeIndex   size(bool compact) const { return compact ? starts.back() : offsets.back(); }

  /// The edges one behind the other, as whoever gathers leaves them.
  std::vector<Vertex> gathered() const {
    std::vector<Vertex> all;
    for (Vertex v = 0; v < listed.size(); ++v)
      if (listed[v])
        all.insert(all.end(), targets.begin() + static_cast<long>(offsets[v]),
                   targets.begin() + static_cast<long>(offsets[v + 1]));
    return all;
  }
};

class Blocks : public ::testing::TestWithParam<bool> {};  // whether edges are compact

TEST_P(Blocks, HaveEveryEdgeOnce) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Case                some{seed};
    const std::vector<Vertex> edges = GetParam() ? some.gathered() : some.targets;
    for (const EdgeIndex window : {1u, 3u, 8u, 1000u}) {
      std::vector<unsigned> seen(some.targets.size());
      for (EdgeIndex first = 0; first < some.size(GetParam()); first += window) {
        const EdgeIndex   last = std::min(some.size(GetParam()), first + window);
        const WindowBlock block{.rows   = {some.offsets.data(), edges.data() + first, nullptr},
                                .layout = some.layout(),
                                .edges  = {first, last, GetParam()}};
        const ChunkRange  range = block.chunks();
        for (std::uint64_t k = 0; k < block.layout.count; ++k) {
          const RowChunk chunk = block.chunk(k);
          if (k < range.first || k >= range.last) {
            EXPECT_EQ(chunk.length(), 0u) << "seed " << seed;
          }
          for (EdgeIndex i = chunk.first; i < chunk.last; ++i) {
            const Vertex edge = block.rows.targets[i];  // its place among all
            EXPECT_TRUE(edge >= some.offsets[chunk.vertex] && edge < some.offsets[chunk.vertex + 1]);
            ++seen[edge];
          }
        }
        EXPECT_EQ(bytes_of(block), (last - first) * sizeof(Vertex));
      }
      for (Vertex v = 0; v < some.listed.size(); ++v)
        for (EdgeIndex i = some.offsets[v]; i < some.offsets[v + 1]; ++i)
          EXPECT_EQ(seen[i], some.listed[v] ? 1u : 0u) << "seed " << seed << ", window " << window;
    }
  }
}

TEST_P(Blocks, KnowWhoseRowIsInThemFromEndToEnd) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Case      some{seed};
    const EdgeIndex size = some.size(GetParam()), first = size / 4, last = size - size / 5;
    if (first >= last) continue;
    const std::vector<Vertex> edges = GetParam() ? some.gathered() : some.targets;
    const WindowBlock         block{.rows   = {some.offsets.data(), edges.data() + first, nullptr},
                                    .layout = some.layout(),
                                    .edges  = {first, last, GetParam()}};
    const VertexRange         owners = block.owners(block.chunks(), some.listed.size());
    EdgeIndex                 at     = 0;  // where a row begins among those that are there
    for (Vertex v = 0; v < some.listed.size(); ++v) {
      const EdgeIndex length = some.offsets[v + 1] - some.offsets[v];
      const bool      there  = !GetParam() || some.listed[v];
      const bool      whole  = there && at >= first && at + length <= last;
      const RowChunk  row    = block.whole_row(v, block.chunks());
      for (EdgeIndex i = row.first; i < row.last; ++i)
        EXPECT_EQ(block.rows.targets[i], some.offsets[v] + (i - row.first)) << "seed " << seed;
      EXPECT_EQ(row.length(), whole ? length : 0) << "seed " << seed << ", vertex " << v;
      EXPECT_TRUE(row.length() == 0 || (v >= owners.first && v < owners.last)) << "seed " << seed;
      at += there ? length : 0;
    }
  }
}

TEST_P(Blocks, SayWhereTheirEdgesAre) {
  const Case                  some{7};
  const Rows                  rows{some.offsets.data(), some.targets.data(), some.targets.data()};
  const RowBlock              all{.rows = rows, .first = 0, .last = 20};
  const std::vector<RowChunk> chunks{{0, 0, 3}, {1, 4, 5}};
  EXPECT_EQ(bytes_of(all), some.targets.size() * 8);
  EXPECT_EQ(memory_of(all), BlockMemory::host);
  EXPECT_EQ(bytes_of(ChunkBlock{.rows = rows, .chunks = chunks}), 4u * 8);
  EXPECT_EQ(memory_of(WindowBlock{
                .rows = rows, .layout = some.layout(), .edges = {0, 1}, .memory = BlockMemory::device}),
            BlockMemory::device);
}

INSTANTIATE_TEST_SUITE_P(InPlaceAndGathered, Blocks, ::testing::Bool());

}  // namespace
}  // namespace spillway
