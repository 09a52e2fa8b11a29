// Slotted pages: what the paper says of them, every graph through them and back, and pages that lie.
#include "store/slotted_pages.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "base/hash.hpp"
#include "store/row_code.hpp"
#include "zoo.hpp"

#include <spillway/error.hpp>
#include <spillway/graph.hpp>

namespace spillway::store {
namespace {

using testing::zoo;
using testing::ZooGraph;

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB, million = 1u << 20;

/// Pages in memory, with all that is needed to read them.
struct Written {
  Csr                                 rows;
  PageFormat                          format;
  std::vector<std::vector<std::byte>> pages;
  std::vector<PageEntry>              entries;

  PageTable table() const { return {format, entries, rows.offsets.span(), "test"}; }

  /// All rows again.
  std::pair<std::vector<Vertex>, std::vector<std::uint32_t>> read() const {
    const PageTable            table = this->table();
    std::vector<Vertex>        targets(rows.arc_count());
    std::vector<std::uint32_t> weights(format.weight_bits > 0 ? rows.arc_count() : 0);
    for (std::uint64_t i = 0; i < table.size(); ++i) {
      const EdgeIndex at = table.edges(i).first;
      table.check(i, std::span{pages[i]});
      table.decode(i, std::span{pages[i]}, targets.data() + at, weights.empty() ? nullptr : weights.data() + at);
    }
    return {targets, weights};
  }
};

Written written(const Csr& rows, const PageFormat& format, int threads = 2, std::uint64_t rows_at_once = 1000) {
  Written   made{rows, format, {}, {}};
  RecordIds ids;
  if (!format.compressed) ids = {format, rows.vertex_count(), [&](Vertex v) { return rows.degree(v); }};
  PageWriter writer{format, rows.vertex_count(), &ids, [&](std::uint64_t page, std::span<const std::byte> bytes) {
                      EXPECT_EQ(page, made.pages.size());
                      made.pages.emplace_back(bytes.begin(), bytes.end());
                      made.pages.back().resize(bytes.size() + RowCode::bytes_behind);
                    }};
  for (std::uint64_t v = 0; v < rows.vertex_count(); v += rows_at_once) {
    const std::uint64_t last  = std::min(rows.vertex_count(), v + rows_at_once);
    const EdgeIndex     first = rows.offsets[v];
    writer.add(rows.offsets.span().subspan(v, last - v + 1), rows.targets.data() + first,
               format.weight_bits > 0 ? rows.weights.data() + first : nullptr, threads);
  }
  made.entries = writer.finish();
  if (!format.compressed) {
    EXPECT_EQ(ids.page_count(), made.entries.size());
  }
  return made;
}

/// v0, v1 and v2 have few neighbours, v3 more than a page holds; one of them is v2.
Graph figure_1() {
  std::vector<Vertex> sources{0, 0, 1, 2}, targets{1, 3, 2, 3};
  for (Vertex v = 0; v < 15; ++v)
    if (v != 3) sources.push_back(3), targets.push_back(v);
  return from_arcs(sources, targets);
}

TEST(SlottedPages, AreThoseOfThePapersFigures) {
  const Graph   graph = figure_1();
  const Written made  = written(graph.out(), {.page_bytes = 52});
  const auto&   table = made.table();
  ASSERT_GE(table.size(), 4u);
  // Figure 12: START_VID and LP_RANGE of SP0, LP1 and LP2.
  const auto row = [&](std::size_t i) {
    const PageEntry& at = table.entries()[i];
    return std::tuple{at.first_vertex, at.large_first, at.large_last};
  };
  EXPECT_EQ(row(0), (std::tuple{0u, -1, -1}));
  EXPECT_EQ(row(1), (std::tuple{3u, 0, 1}));
  EXPECT_EQ(row(2), (std::tuple{3u, -1, -1}));
  EXPECT_EQ(table.vertices(0).last, 3u);
  EXPECT_EQ(table.vertex_of(0, 2), 2u);  // r2 is (0, 2)
  EXPECT_EQ(table.page_of(2), 0u);
  EXPECT_EQ(table.page_of(3), 1u);
  EXPECT_EQ(table.page_of(4), 3u);
  // Records ids of v3's first page: v0, v1 and v2 are slots 0, 1 and 2 of page 0, behind the whole degree.
  std::uint32_t degree = 0;
  std::memcpy(&degree, made.pages[1].data(), sizeof degree);
  EXPECT_EQ(degree, 14u);
  for (std::uint16_t slot = 0; slot < 3; ++slot) {
    std::uint16_t id[2];
    std::memcpy(id, made.pages[1].data() + 4 + slot * sizeof id, sizeof id);
    EXPECT_EQ(id[0], 0);
    EXPECT_EQ(id[1], slot);
  }
  // Slots grow backward from the end: the last has v0 and where its record begins.
  std::uint32_t slot[2];
  std::memcpy(slot, made.pages[0].data() + 52 - sizeof slot, sizeof slot);
  EXPECT_EQ(slot[0], 0u);
  EXPECT_EQ(slot[1], 0u);
}

TEST(SlottedPages, HaveTheSizesOfThePapersTables) {
  // Table 2.
  EXPECT_EQ((RecordIdWidth{2, 4}.largest_page()), 80 * GiB);
  EXPECT_EQ((RecordIdWidth{3, 3}.largest_page()), 320 * MiB);
  EXPECT_EQ((RecordIdWidth{4, 2}.largest_page()), 1280 * KiB);
  EXPECT_EQ((RecordIdWidth{2, 4}.most_pages()), 64 * KiB);
  EXPECT_EQ((RecordIdWidth{3, 3}.most_slots()), 16 * MiB);
  // Table 3: small and large pages of RMAT27 to RMAT32.
  const PageFormat small{.ids = {2, 2}, .page_bytes = 1 * MiB}, large{.ids = {3, 3}, .page_bytes = 64 * MiB};
  const auto       near = [](std::uint64_t pages, std::uint64_t paper) {
    EXPECT_NEAR(static_cast<double>(pages), static_cast<double>(paper), 0.02 * static_cast<double>(paper));
  };
  near(expected_pages(small, 128 * million, 2048 * million), 9724 + 58);
  near(expected_pages(small, 256 * million, 4096 * million), 19533 + 62);
  near(expected_pages(small, 512 * million, 8192 * million), 38747 + 937);
  near(expected_pages(large, 1024 * million, 16384 * million), 1786);
  near(expected_pages(large, 2048 * million, 32768 * million), 3584);
  near(expected_pages(large, 4096 * million, 65536 * million), 7175);
  // Table 4, in GB.
  EXPECT_NEAR(static_cast<double>(expected_pages(large, 4096 * million, 65536 * million)) * 64 / 1024, 459,
              0.05 * 459);
}

std::vector<PageFormat> formats(bool weighted) {
  const unsigned bits = weighted ? 32 : 0;
  return {{.ids = {2, 2}, .page_bytes = 4096, .weight_bits = bits},
          {.ids = {3, 3}, .page_bytes = 1 * MiB, .weight_bits = bits},
          {.ids = {4, 2}, .page_bytes = 512, .weight_bits = bits},
          {.ids = {3, 1}, .page_bytes = 2048, .weight_bits = bits},
          {.ids = {2, 2}, .page_bytes = 512, .compressed = true, .weight_bits = bits},
          {.ids = {2, 2}, .page_bytes = 4096, .compressed = true, .weight_bits = bits},
          {.ids = {4, 4}, .page_bytes = 1 * MiB, .compressed = true, .weight_bits = bits}};
}

void expect_the_same(const Csr& rows, const PageFormat& format) {
  const Written made      = written(rows, format);
  const auto [to, weight] = made.read();
  EXPECT_TRUE(std::ranges::equal(to, rows.targets.span()));
  if (format.weight_bits > 0) {
    EXPECT_TRUE(std::ranges::equal(weight, rows.weights.span()));
  }
  const PageTable table = made.table();
  for (Vertex v = 0; v < rows.vertex_count(); ++v) {
    const std::uint64_t page = table.page_of(v);
    ASSERT_LE(table.vertices(page).first, v);
    ASSERT_GT(table.vertices(page).last, v);
    ASSERT_LE(table.edges(page).first, rows.offsets[v]);
  }
}

TEST(SlottedPages, HoldTheZoo) {
  for (const ZooGraph& each : zoo()) {
    SCOPED_TRACE(each.name);
    const bool weighted = each.graph.weight_type() != WeightType::none;
    for (const bool with : {false, weighted})
      for (const PageFormat& format : formats(with)) {
        SCOPED_TRACE(fmt::format("({},{}) {} bytes{}", format.ids.page, format.ids.slot, format.page_bytes,
                                 format.compressed ? ", compressed" : ""));
        expect_the_same(each.graph.out(), format);
      }
  }
}

TEST(SlottedPages, HoldHubsAndWideGaps) {
  std::mt19937_64     random{7};
  std::vector<Vertex> sources, targets;
  const auto          add = [&](Vertex from, Vertex to) { sources.push_back(from), targets.push_back(to); };
  for (Vertex v = 0; v < 50'000; v += 1 + random() % 3) add(9, v), add(v, 9);
  for (int i = 0; i < 20'000; ++i)
    add(static_cast<Vertex>(random() % 100'000), static_cast<Vertex>(random() % 100'000));
  for (Vertex v = 99'000; v < 99'100; ++v) add(99'999, v), add(99'999, v);  // parallel arcs
  const Graph graph = from_arcs(sources, targets, {}, WeightType::none, 100'000);
  for (const PageFormat& format : formats(false)) expect_the_same(graph.out(), format);
}

TEST(SlottedPages, HoldVerticesWithoutEdges) {
  const std::vector<EdgeIndex> none{0}, offsets(10'001, 0);
  for (const PageFormat& format : formats(false)) {
    expect_the_same(from_csr(offsets, {}).out(), format);
    EXPECT_TRUE(written(from_csr(none, {}).out(), format).entries.empty());
  }
}

TEST(SlottedPages, SayWhenIdsAreUsedUp) {
  const std::vector<EdgeIndex> offsets(70'000, 0);
  const auto                   make = [&](const PageFormat& format) {
    return [&, format] { written(from_csr(offsets, {}).out(), format); };
  };
  EXPECT_THROW(make({.ids = {1, 2}, .page_bytes = 512})(), Error);      // pages
  EXPECT_THROW(make({.ids = {4, 1}, .page_bytes = 1 * MiB})(), Error);  // slots of a page
}

/// Whatever is in a page, it is refused or read within its bounds; with a checksum that fits, too.
TEST(SlottedPages, ThatLieAreRefused) {
  const Graph     graph = from_arcs(std::vector<Vertex>{0, 0, 0, 1, 2, 2, 3, 3, 3, 3},
                                    std::vector<Vertex>{1, 2, 3, 0, 0, 3, 0, 1, 2, 3});
  std::mt19937_64 random{11};
  for (const bool compressed : {false, true}) {
    const Written whole   = written(graph.out(), {.page_bytes = 128, .compressed = compressed});
    int           refused = 0;
    for (int trial = 0; trial < 4000; ++trial) {
      Written made = whole;
      for (unsigned k = 0; k <= trial % 3u; ++k)
        made.pages[random() % made.pages.size()][random() % 128] = static_cast<std::byte>(random());
      if (trial % 4 == 0) {
        if (made.pages != whole.pages) {
          EXPECT_THROW(made.read(), Error);
        }
        continue;
      }
      for (std::size_t i = 0; i < made.pages.size(); ++i)
        made.entries[i].checksum = XXH3_64bits(made.pages[i].data(), 128);
      try {
        for (const Vertex to : made.read().first) EXPECT_LT(to, graph.vertex_count());
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::bad_input);
        EXPECT_NE(std::string{error.what()}.find("page "), std::string::npos) << error.what();
        ++refused;
      }
    }
    EXPECT_GT(refused, 100);
  }
}

TEST(SlottedPages, HaveATableThatMustBeTrue) {
  const Written whole = written(figure_1().out(), {.page_bytes = 52});
  EXPECT_NO_THROW(whole.table());
  const auto refuses = [&](auto&& change) {
    Written made = whole;
    change(made.entries);
    EXPECT_THROW(made.table(), Error);
  };
  refuses([](auto& all) { all.pop_back(); });
  refuses([](auto& all) { all.erase(all.begin()); });
  refuses([](auto& all) { all[1].first_edge = 0; });
  refuses([](auto& all) { all[1].first_vertex = 2; });
  refuses([](auto& all) { all[2].first_vertex = 9; });
  refuses([](auto& all) { all[0].vertices = 0; });
  refuses([](auto& all) { all[0].vertices = UINT32_MAX; });
  refuses([](auto& all) { all[0].vertices = 4; });
  refuses([](auto& all) { all[2].large = 0; });
  refuses([](auto& all) { all[2].first_edge = UINT64_MAX; });
  refuses([](auto& all) { all.push_back(all.back()); });
}

/// Each row would be cut off by the next page, and page 1 would have less than no edges.
TEST(SlottedPages, OfRowsThatAreNotCompleteAreRefused) {
  const std::vector<EdgeIndex> offsets{0, 10, 20, 30};
  const auto                   large = [](std::uint64_t v, std::uint64_t edge) {
    return PageEntry{.first_vertex = v, .first_edge = edge, .vertices = 1, .large = 1};
  };
  const auto table = [&](const std::vector<PageEntry>& entries, std::uint32_t page_bytes = 4096) {
    return PageTable{{.page_bytes = page_bytes}, entries, offsets, "test"};
  };
  EXPECT_THROW(table({large(0, 0), large(1, 5), large(2, 6)}), Error);
  EXPECT_THROW(table({large(0, 0), large(0, 0), large(1, 10), large(2, 20)}), Error);  // one without edges
  EXPECT_NO_THROW(table({large(0, 0), large(1, 10), large(2, 20)}));
  const PageEntry all{.vertices = 3};
  EXPECT_NO_THROW(table({all}));
  EXPECT_THROW(table({all}, 16), Error);  // three slots do not fit, nor thirty edges
}

TEST(RowCode, GivesRowsBack) {
  std::mt19937_64 random{3};
  for (int trial = 0; trial < 2000; ++trial) {
    const std::uint64_t        range = std::uint64_t{1} << (random() % 33);
    const std::size_t          edges = 1 + random() % (trial % 10 == 0 ? 3000 : 70);
    std::vector<Vertex>        row(edges);
    std::vector<std::uint32_t> weights(edges);
    const auto                 bits = static_cast<unsigned>(random() % 33);
    for (Vertex& to : row) to = static_cast<Vertex>(random() % range);
    for (std::uint32_t& weight : weights)
      weight = bits == 0 ? 0 : static_cast<std::uint32_t>(random() & (bits == 32 ? ~0u : (1u << bits) - 1));
    std::ranges::sort(row);
    std::vector<std::uint32_t> code;
    encode_row(row, weights, bits, code);
    const std::size_t words = code.size();
    code.resize(words + 2);
    std::vector<Vertex>        to(edges);
    std::vector<std::uint32_t> by(edges);
    ASSERT_TRUE(decode_row({code.data(), words}, edges, bits, std::uint64_t{1} << 32, to.data(), by.data()));
    EXPECT_EQ(to, row);
    if (bits > 0) {
      EXPECT_EQ(by, weights);
    }
    EXPECT_FALSE(decode_row({code.data(), words - 1}, edges, bits, std::uint64_t{1} << 32, to.data(), by.data()));
    EXPECT_FALSE(decode_row({code.data(), words}, edges, bits, row.back(), to.data(), by.data()));
  }
}

}  // namespace
}  // namespace spillway::store
