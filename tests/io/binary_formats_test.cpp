// Binary formats, GAP, Galois, Subway, Graph500 and npz: what is read, what is refused, and what comes back.
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/refusal.hpp"
#include "format_testing.hpp"
#include "npz_testing.hpp"

#ifdef SPILLWAY_HAS_LIBZIP
#include <zip.h>
#endif

namespace spillway {
namespace {

using namespace format_testing;

using I32 = std::int32_t;
using U32 = std::uint32_t;
using I64 = std::int64_t;
using U64 = std::uint64_t;

std::string content_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

struct BadFile {
  std::string content;
  const char* says;
};

/// Arcs 0->1 (5), 0->2 (6), 2->0 (7), and vertex 3 alone.
Graph directed_graph(WeightType type = WeightType::none) {
  const std::vector<Vertex> from{0, 0, 2}, to{1, 2, 0};
  const std::vector<U32>    weights{5, 6, 7};
  return type == WeightType::none ? from_arcs(from, to, {}, type, 4) : from_arcs(from, to, weights, type, 4);
}

Graph undirected_graph(WeightType type = WeightType::none) {
  LoadOptions options;
  options.transform.undirected = true;
  const std::vector<Vertex> from{0, 0, 1, 1}, to{1, 2, 1, 2};
  const std::vector<U32>    weights{5, 6, 8, 9};
  return type == WeightType::none ? from_arcs(from, to, {}, type, 4, options)
                                  : from_arcs(from, to, weights, type, 4, options);
}

void expect_round_trip(const Graph& graph, const std::string& name) {
  const std::string path = temporary(name);
  EXPECT_TRUE(save(graph, path).empty());
  const Graph back = open(path);
  EXPECT_EQ(arcs_of(back), arcs_of(graph)) << name;
  EXPECT_EQ(back.vertex_count(), graph.vertex_count()) << name;
  EXPECT_EQ(back.weight_type(), graph.weight_type()) << name;
}

// --- GAP ---

std::string gap_file(bool directed, I64 arcs, I64 vertices, std::initializer_list<I64> offsets,
                     const std::string& rest) {
  return std::string(1, directed ? '\1' : '\0') + bytes_of<I64>({arcs, vertices}) + bytes_of(offsets) + rest;
}

TEST(Gap, ReadsAnUndirectedGraph) {
  const Graph graph = open(file_with("a.sg", gap_file(false, 4, 3, {0, 1, 3, 4}, bytes_of<I32>({1, 0, 2, 1}))));
  EXPECT_EQ(graph.report().format, "gap");
  EXPECT_TRUE(graph.symmetric());
  EXPECT_EQ(arcs_of(graph), (ArcList{{0, 1, 1}, {1, 0, 1}, {1, 2, 1}, {2, 1, 1}}));
}

TEST(Gap, IsKnownByItsSizesUnderAnyName) {
  const std::string path = file_with("a.unknown", gap_file(false, 2, 2, {0, 1, 2}, bytes_of<I32>({1, 3, 0, 3})));
  EXPECT_EQ(open(path).report().format, "gap");
  EXPECT_EQ(arcs_of(open(path)), (ArcList{{0, 1, 3}, {1, 0, 3}}));
}

TEST(Gap, WithoutArcsTheNameTellsWhetherThereAreWeights) {
  const std::string content = gap_file(false, 0, 2, {0, 0, 0}, "");
  EXPECT_EQ(open(file_with("none.sg", content)).weight_type(), WeightType::none);
  EXPECT_EQ(open(file_with("none.wsg", content)).weight_type(), WeightType::u32);
}

TEST(Gap, NegativeWeightsAreReadAsFloats) {
  const std::string path =
      file_with("negative.wsg", gap_file(false, 2, 2, {0, 1, 2}, bytes_of<I32>({1, -3, 0, -3})));
  expect_refused(path, "byte 45: the weight -3 is negative");
  EXPECT_EQ(arcs_of(open(path, with_weights(WeightType::f32))), (ArcList{{0, 1, -3}, {1, 0, -3}}));
  EXPECT_EQ(open(path, with_weights(WeightType::none)).weight_type(), WeightType::none);
}

TEST(Gap, RowsNeedNotBeSorted) {
  const std::string rows = bytes_of<I32>({2, 1}) + bytes_of<I64>({0, 0, 1, 2}) + bytes_of<I32>({0, 0});
  EXPECT_EQ(arcs_of(open(file_with("unsorted.sg", gap_file(true, 2, 3, {0, 2, 2, 2}, rows)))),
            (ArcList{{0, 1, 1}, {0, 2, 1}}));
}

TEST(Gap, RoundTrips) {
  expect_round_trip(directed_graph(), "directed.sg");
  expect_round_trip(undirected_graph(), "undirected.sg");
  expect_round_trip(directed_graph(WeightType::u32), "directed.wsg");
  expect_round_trip(undirected_graph(WeightType::u32), "undirected.wsg");
  expect_round_trip(Graph{}, "empty.sg");
  EXPECT_TRUE(open(temporary("undirected.wsg")).symmetric());
  EXPECT_FALSE(open(temporary("directed.wsg")).symmetric());
}

TEST(Gap, LargeGraphsTakeManyChunks) {
  constexpr Vertex    n = 700'000;  // two megabytes of targets, five of weighted ones
  std::vector<Vertex> from(n), to(n);
  std::vector<U32>    weights(n);
  for (Vertex v = 0; v < n; ++v) from[v] = v, to[v] = (v * 7 + 3) % n, weights[v] = v;
  expect_round_trip(from_arcs(from, to, {}, WeightType::none, n), "large.sg");
  expect_round_trip(from_arcs(from, to, weights, WeightType::u32, n), "large.wsg");
  expect_round_trip(from_arcs(from, to, weights, WeightType::u32, n), "large.bwcsr");
}

TEST(Gap, WritesInEdgesOfADirectedGraph) {
  const std::string path = temporary("in.sg");
  save(directed_graph(), path);
  const std::string expected = gap_file(true, 3, 4, {0, 2, 2, 3, 3}, bytes_of<I32>({1, 2, 0})) +
                               bytes_of<I64>({0, 1, 2, 3, 3}) + bytes_of<I32>({2, 0, 0});
  EXPECT_EQ(content_of(path), expected);
}

TEST(Gap, TheSuffixIsRemarkedOn) {
  EXPECT_EQ(save(directed_graph(WeightType::u32), temporary("weighted.sg")).size(), 1u);
  EXPECT_EQ(save(directed_graph(), temporary("plain.wsg")).size(), 1u);
}

TEST(Gap, RefusesToWriteWhatItCannotHold) {
  expect_not_saved(directed_graph(WeightType::f32), temporary("x.wsg"), "whole weights only");
  const std::vector<Vertex> from{0}, to{1};
  const std::vector<U32>    weight{0x80000000u};
  expect_not_saved(from_arcs(from, to, weight, WeightType::u32), temporary("x.wsg"), "up to 2^31-1");
  EXPECT_FALSE(std::filesystem::exists(temporary("x.wsg")));
}

TEST(Gap, RefusesWhatIsWrong) {
  constexpr I64     huge    = std::numeric_limits<I64>::max();
  const std::string two     = bytes_of<I32>({1, 0});
  const BadFile     cases[] = {
          {"short", "5 bytes are too few"},
          {"\2" + gap_file(false, 2, 2, {0, 1, 2}, two).substr(1), "byte 0 is 2"},
          {gap_file(false, -1, 2, {0, 1, 2}, two), "byte 1 states -1 arcs"},
          {gap_file(false, huge, 2, {0, 1, 2}, two), "cannot hold"},
          {gap_file(false, 2, -1, {0, 1, 2}, two), "byte 9 states -1 vertices"},
          {gap_file(false, 2, huge, {0, 1, 2}, two), "where 0 to 2^31-1 were expected"},
          {gap_file(false, 2, 0x7FFFFFFF, {0, 1, 2}, two), "but the file has 49"},
          {gap_file(false, 2, 2, {0, 1, 2}, two) + "x", "take 49 bytes, or 57 with weights, but the file has 50"},
          {gap_file(true, 2, 2, {0, 1, 2}, two), "take 81 bytes"},
          {gap_file(false, 2, 2, {1, 1, 2}, two), "the first row starts at arc 1"},
          {gap_file(false, 2, 2, {0, 1, 3}, two), "rows end at arc 3"},
          {gap_file(false, 2, 2, {0, 3, 2}, two), "ends before it starts"},
          {gap_file(false, 2, 2, {0, -1, 2}, two), "ends before it starts"},
          {gap_file(false, 2, 2, {0, 1, 2}, bytes_of<I32>({1, 2})), "leads to vertex 2"},
          {gap_file(false, 2, 2, {0, 1, 2}, bytes_of<I32>({1, -1})), "leads to vertex 4294967295"},
          {gap_file(false, 1, 2, {0, 1, 1}, bytes_of<I32>({1})), "0 -> 1 has no reverse"},
          {gap_file(false, 2, 2, {0, 1, 2}, bytes_of<I32>({1, 4, 0, 5})), "0 -> 1 (weight 4) has no reverse"},
  };
  for (const BadFile& c : cases) expect_refused(file_with("bad.sg", c.content), c.says);
}

TEST(Gap, ALieCostsNoMemory) {
  LoadOptions options;
  options.host_memory       = 1 << 20;
  const std::string content = gap_file(false, 2, 0x7FFFFFFF, {0, 1, 2}, bytes_of<I32>({1, 0}));
  expect_refused(file_with("lie.sg", content), "but the file has", options);
}

// --- Galois ---

std::string galois_file(U64 version, U64 edge_data, U64 vertices, U64 arcs, std::initializer_list<U64> ends,
                        const std::string& rest) {
  return bytes_of<U64>({version, edge_data, vertices, arcs}) + bytes_of(ends) + rest;
}

TEST(Galois, ReadsBothVersions) {
  const ArcList expected{{0, 1, 1}, {0, 2, 1}, {2, 0, 1}};
  const Graph   first = open(file_with("one.gr", galois_file(1, 0, 3, 3, {2, 2, 3}, bytes_of<U32>({1, 2, 0, 0}))));
  EXPECT_EQ(first.report().format, "galois");
  EXPECT_EQ(arcs_of(first), expected);
  const std::string wide = galois_file(2, 0, 3, 3, {2, 2, 3}, bytes_of<U64>({1, 2, 0}));
  EXPECT_EQ(arcs_of(open(file_with("two.gr", wide))), expected);
  EXPECT_EQ(arcs_of(open(file_with("padded.gr", wide + std::string(8, '\0')))), expected);
}

TEST(Galois, WeightsComeAfterThePadding) {
  const std::string whole = galois_file(1, 4, 2, 1, {1, 1}, bytes_of<U32>({1, 0, 9}));
  EXPECT_EQ(arcs_of(open(file_with("whole.gr", whole))), (ArcList{{0, 1, 9}}));
  const std::string real = galois_file(1, 4, 2, 1, {1, 1}, bytes_of<U32>({1, 0}) + bytes_of<float>({0.5f}));
  EXPECT_EQ(arcs_of(open(file_with("real.gr", real), with_weights(WeightType::f32))), (ArcList{{0, 1, 0.5}}));
  const std::string wide = galois_file(2, 4, 2, 1, {1, 1}, bytes_of<U64>({1}) + bytes_of<U32>({9}));
  EXPECT_EQ(arcs_of(open(file_with("wide.gr", wide))), (ArcList{{0, 1, 9}}));
}

TEST(Galois, WeightsThatLookLikeFloatsAreTold) {
  const auto notes = [](const std::string& weights, const LoadOptions& options = {}) {
    const auto all =
        open(file_with("f.gr", galois_file(1, 4, 2, 2, {1, 2}, bytes_of<U32>({1, 0}) + weights)), options)
            .report()
            .notes;
    return all.empty() ? std::string{} : all.front();
  };
  EXPECT_NE(notes(bytes_of<float>({0, 0.5f}))
                .find("such as 1056964608, though all would be common floats, this one 0.5"),
            std::string::npos);
  EXPECT_EQ(notes(bytes_of<float>({1, 0.5f}), {.weight_type = WeightType::f32}), "");
  EXPECT_EQ(notes(bytes_of<U32>({1056964608, 5})), "");
  EXPECT_EQ(notes(bytes_of<U32>({0, 0})), "");
}

TEST(Galois, CompressedIsToldToBeDecompressed) {
  const std::string path  = temporary("c.gr.gz"),
                    plain = galois_file(1, 0, 3, 3, {2, 2, 3}, bytes_of<U32>({1, 2, 0, 0}));
  gzFile gzip             = gzopen(path.c_str(), "wb");
  gzwrite(gzip, plain.data(), static_cast<unsigned>(plain.size()));
  gzclose(gzip);
  expect_refused(path, "binary graph of Galois', which is read by position; decompress it first");
}

TEST(Galois, WideEdgeDataCanBeIgnored) {
  const std::string path =
      file_with("doubles.gr", galois_file(1, 8, 2, 2, {1, 2}, bytes_of<U32>({1, 0}) + bytes_of<U64>({9, 9})));
  expect_refused(path, "8 bytes of data each (double or 64-bit integers)");
  EXPECT_EQ(open(path, with_weights(WeightType::none)).arc_count(), 2u);
}

TEST(Galois, RefusesWhatIsWrong) {
  const std::string two     = bytes_of<U32>({1, 0});
  const BadFile     cases[] = {
          {"short", "5 bytes are too few"},
          {galois_file(3, 0, 2, 2, {1, 2}, two), "the version, 1 or 2"},
          {galois_file(1, 400, 2, 2, {1, 2}, two), "states 400 bytes of data"},
          {galois_file(1, 0, 1ull << 40, 2, {1, 2}, two), "byte 16 states 1099511627776 vertices"},
          {galois_file(1, 0, 2, ~0ull, {1, 2}, two), "byte 24 states 18446744073709551615 arcs"},
          {galois_file(1, 0, 2, 2, {1, 2}, two + "x"), "takes 56 bytes, but the file has 57"},
          {galois_file(1, 0, 2, 1, {1, 1}, bytes_of<U32>({1})), "takes 56 bytes, but the file has 52"},
          {galois_file(1, 0, 2, 2, {1, 1}, two), "rows end at arc 1"},
          {galois_file(1, 0, 2, 2, {3, 2}, two), "ends before it starts"},
          {galois_file(1, 0, 2, 2, {1, 2}, bytes_of<U32>({1, 2})), "leads to vertex 2"},
          {galois_file(2, 0, 2, 2, {1, 2}, bytes_of<U64>({1, 1ull << 32})),
           "byte 56: an arc leads to vertex 4294967296"},
  };
  for (const BadFile& c : cases) expect_refused(file_with("bad.gr", c.content), c.says, as_format("galois"));
}

// --- Subway ---

TEST(Subway, ReadsBothKinds) {
  const Graph plain = open(file_with("a.bcsr", bytes_of<U32>({3, 3, 0, 2, 2, 1, 2, 0})));
  EXPECT_EQ(plain.report().format, "subway");
  EXPECT_EQ(arcs_of(plain), (ArcList{{0, 1, 1}, {0, 2, 1}, {2, 0, 1}}));
  const std::string weighted = file_with("a.bwcsr", bytes_of<U32>({2, 2, 0, 1, 1, 7, 0, 4294967295u}));
  EXPECT_EQ(arcs_of(open(weighted)), (ArcList{{0, 1, 7}, {1, 0, 4294967295.0}}));
  EXPECT_EQ(arcs_of(open(weighted, with_weights(WeightType::f32)))[0], (std::tuple{0u, 1u, 7.0}));
  EXPECT_EQ(open(weighted, with_weights(WeightType::none)).weight_type(), WeightType::none);
}

TEST(BinaryFormats, NeighboursOf64BitsAreToldWhereTheyLookLikeWeights) {
  const auto expect_told = [](const std::string& path) {
    const auto notes = open(path).report().notes;
    EXPECT_TRUE(notes.size() == 1 && notes[0].find("64 bits") != std::string::npos) << path;
  };
  expect_told(file_with("wide.sg", gap_file(false, 2, 2, {0, 1, 2}, bytes_of<I64>({1, 0}))));
  expect_told(file_with("wide.bcsr", bytes_of<U32>({2, 2, 0, 1}) + bytes_of<I64>({1, 0})));
}

TEST(Subway, RoundTrips) {
  expect_round_trip(directed_graph(), "directed.bcsr");
  expect_round_trip(directed_graph(WeightType::u32), "directed.bwcsr");
  expect_round_trip(undirected_graph(WeightType::u32), "undirected.bwcsr");
  expect_not_saved(directed_graph(WeightType::f32), temporary("x.bwcsr"), "whole weights only");
}

TEST(Subway, RefusesWhatIsWrong) {
  const BadFile cases[] = {
      {"short", "5 bytes are too few"},
      {bytes_of<U32>({2, 2, 0, 1, 1}), "take 24 bytes, or 32 with weights, but the file has 20"},
      {bytes_of<U32>({0xFFFFFFFFu, 0xFFFFFFFFu, 0, 1, 1}), "but the file has 20"},
      {bytes_of<U32>({2, 2, 1, 1, 1, 0}), "the first row starts at arc 1"},
      {bytes_of<U32>({2, 2, 0, 3, 1, 0}), "ends before it starts"},
      {bytes_of<U32>({2, 2, 0, 1, 1, 2}), "leads to vertex 2"},
  };
  for (const BadFile& c : cases) expect_refused(file_with("bad.bcsr", c.content), c.says);
}

// --- Graph500 ---

std::string packed(std::initializer_list<std::pair<U64, U64>> edges) {
  std::string bytes;
  for (const auto& [u, v] : edges)
    bytes += bytes_of<U32>({static_cast<U32>(u), static_cast<U32>(v), static_cast<U32>(v >> 32 << 16 | u >> 32)});
  return bytes;
}

TEST(Graph500, TuplesAreUndirected) {
  const Graph graph = open(file_with("a.packed", packed({{0, 1}, {2, 1}, {3, 3}})));
  EXPECT_EQ(graph.report().format, "graph500");
  EXPECT_TRUE(graph.symmetric());
  EXPECT_EQ(arcs_of(graph), (ArcList{{0, 1, 1}, {1, 0, 1}, {1, 2, 1}, {2, 1, 1}, {3, 3, 1}}));
}

TEST(Graph500, VerticesAreThoseThatAppearUnlessStated) {
  const std::string path = file_with("gaps.packed", packed({{5, 10}}));
  const Graph       seen = open(path);
  EXPECT_EQ(seen.vertex_count(), 2u);
  EXPECT_EQ(seen.ids().name(1), "10");

  LoadOptions dense;
  dense.ids = IdMode::dense;
  EXPECT_EQ(open(path, dense).vertex_count(), 11u);
  LoadOptions stated;
  stated.vertices = 12;
  EXPECT_EQ(open(path, stated).vertex_count(), 12u);
  stated.vertices = 10;
  expect_refused(path, "byte 0: vertex 10 is out of range: --vertices states 10", stated);
}

TEST(Graph500, WeightsLieBeside) {
  const std::string path = file_with("w.packed", packed({{0, 1}, {1, 2}}));
  file_with("w.packed.weights", bytes_of<float>({0.5f, 2}));
  const Graph graph = open(path);
  EXPECT_EQ(graph.weight_type(), WeightType::f32);
  EXPECT_EQ(arcs_of(graph), (ArcList{{0, 1, 0.5}, {1, 0, 0.5}, {1, 2, 2}, {2, 1, 2}}));
  EXPECT_EQ(open(path, with_weights(WeightType::none)).weight_type(), WeightType::none);
  expect_refused(path, "byte 0: the weight 0.5 is not a whole number", with_weights(WeightType::u32));
  file_with("w.packed.weights", bytes_of<float>({1, std::nanf("")}));
  expect_refused(path, "byte 4: the weight nan is not a number");
  file_with("w.packed.weights", bytes_of<float>({1}));
  expect_refused(path, "2 edges take 8 bytes of weights, but the file has 4");
}

TEST(Graph500, UnpackedEdgesGoByTheirSuffix) {
  EXPECT_EQ(arcs_of(open(file_with("a.g500_64", bytes_of<I64>({0, 1})))), (ArcList{{0, 1, 1}, {1, 0, 1}}));
  expect_refused(file_with("negative.g500_64", bytes_of<I64>({0, 1, 0, -1})),
                 "byte 16: vertex 18446744073709551615");
}

TEST(Graph500, RefusesWhatIsWrong) {
  expect_refused(file_with("odd.packed", std::string(13, '\1')), "13 bytes, is not a multiple of 12-byte edges");
  expect_refused(file_with("wide.packed", std::string(16, '\0')), "unpacked (16 bytes)");
  expect_refused(file_with("high.packed", packed({{0, 1}, {1ull << 32, 1}})), "byte 12: vertex 4294967296");
  expect_refused(file_with("v1.packed", packed({{0, 0xFFFFFFFFFFFFull}})), "vertex 281474976710655");
  expect_refused(file_with("limit.packed", packed({{0, 0xFFFFFFFFull}})), "below 2^32-1");
}

// --- pairs ---

LoadOptions pairs(std::optional<WeightType> weights = {}) {
  LoadOptions options = as_format("pairs");
  options.weight_type = weights;
  return options;
}

TEST(Pairs, AreArcsInAnyOrder) {
  const Graph graph = open(file_with("a.bin", bytes_of<U32>({2, 0, 0, 1, 2, 0, 3, 3})), pairs());
  EXPECT_EQ(graph.report().format, "pairs");
  EXPECT_FALSE(graph.symmetric());
  EXPECT_EQ(arcs_of(graph), (ArcList{{0, 1, 1}, {2, 0, 1}, {2, 0, 1}, {3, 3, 1}}));
  LoadOptions both          = pairs();
  both.transform.undirected = true;
  EXPECT_EQ(arcs_of(open(file_with("b.bin", bytes_of<U32>({2, 0, 1, 1})), both)),
            (ArcList{{0, 2, 1}, {1, 1, 1}, {2, 0, 1}}));
}

TEST(Pairs, AreTriplesWhereWeightsAreAskedFor) {
  const std::string path = file_with("w.pairs", bytes_of<U32>({0, 1, 7, 1, 2, 0x3F000000}));
  EXPECT_EQ(arcs_of(open(path, with_weights(WeightType::u32))), (ArcList{{0, 1, 7}, {1, 2, 0x3F000000}}));
  const Graph floats = open(file_with("f.pairs", bytes_of<U32>({1, 2, 0x3F000000})), pairs(WeightType::f32));
  EXPECT_EQ(floats.weight_type(), WeightType::f32);
  EXPECT_EQ(arcs_of(floats), (ArcList{{0, 1, 0.5}}));
  EXPECT_EQ(floats.ids().name(0), "1");
  LoadOptions without   = pairs(WeightType::u32);
  without.weight_column = "none";
  EXPECT_EQ(arcs_of(open(path, without)), (ArcList{{0, 1, 1}, {1, 2, 1}})) << "triples, without their weights";
}

TEST(Pairs, VerticesAreThoseThatAppearUnlessStated) {
  const std::string path = file_with("gaps.pairs", bytes_of<U32>({5, 10}));
  const Graph       seen = open(path);
  EXPECT_EQ(seen.vertex_count(), 2u);
  EXPECT_EQ(seen.ids().name(1), "10");
  EXPECT_EQ(seen.report().notes.size(), 1u) << "ids have gaps";
  LoadOptions dense;
  dense.ids = IdMode::dense;
  EXPECT_EQ(open(path, dense).vertex_count(), 11u);
  LoadOptions stated;
  stated.vertices = 12;
  EXPECT_EQ(open(path, stated).vertex_count(), 12u);
  stated.vertices = 10;
  expect_refused(path, "byte 0: vertex 10 is out of range: --vertices states 10", stated);
}

TEST(Pairs, ComeCompressedAndFromPipes) {
  constexpr U32    edges = 300'000;  // more than a chunk
  std::vector<U32> words;
  for (U32 i = 0; i < edges; ++i) words.push_back(i * 7919u % 5000), words.push_back(i * 104729u % 5000);
  const std::string bytes{reinterpret_cast<const char*>(words.data()), words.size() * sizeof(U32)};
  const ArcList     expected = arcs_of(open(file_with("long.pairs", bytes)));
  EXPECT_EQ(expected.size(), edges);
  const std::string packed = temporary("long.pairs.gz");
  gzFile            zipped = gzopen(packed.c_str(), "wb");
  gzwrite(zipped, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(zipped);
  EXPECT_EQ(arcs_of(open(packed)), expected);
}

TEST(Pairs, RefusesWhatIsWrong) {
  expect_refused(file_with("odd.pairs", std::string(13, '\1')),
                 "13 bytes are not whole pairs of 8 bytes; the file ends");
  expect_refused(file_with("triple.pairs", std::string(12, '\0')), "--weight-type u32 or f32");
  expect_refused(file_with("pair.pairs", std::string(8, '\0')), "without --weight-type",
                 with_weights(WeightType::u32));
  expect_refused(file_with("limit.pairs", bytes_of<U32>({0, 1, 2, 0xFFFFFFFF})),
                 "byte 8: vertex 4294967295 is out of range: ids must be below 2^32-1");
  expect_refused(file_with("nan.pairs", bytes_of<U32>({0, 1, 0x7FC00000})), "", with_weights(WeightType::f32));
}

TEST(Pairs, AreWrittenWithWhatReadsThemBack) {
  const std::string path  = temporary("out.pairs");
  const auto        notes = save(directed_graph(WeightType::u32), path);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("--format pairs --weight-type u32 --vertices 4"), std::string::npos) << notes[0];
  EXPECT_EQ(content_of(path), bytes_of<U32>({0, 1, 5, 0, 2, 6, 2, 0, 7}));
  const Graph gaps = open(file_with("ids.txt", "7 9\n9 1000\n"));
  EXPECT_EQ(save(gaps, path).size(), 1u) << "ids fit";
  EXPECT_EQ(content_of(path), bytes_of<U32>({7, 9, 9, 1000}));
  const Graph names = open(file_with("names.txt", "ann bob\nbob eve\n"));
  EXPECT_EQ(save(names, path).size(), 2u) << "names do not, and that is said";
  EXPECT_EQ(content_of(path), bytes_of<U32>({0, 1, 1, 2}));
}

// --- npz ---

#ifdef SPILLWAY_HAS_LIBZIP

TEST(Npz, ReadsCsr) {
  for (const bool deflated : {false, true}) {
    const Graph graph = open(zip_with("a.npz", matrix(), deflated));
    EXPECT_EQ(graph.report().format, "npz");
    EXPECT_EQ(graph.weight_type(), WeightType::u32);
    EXPECT_EQ(arcs_of(graph), (ArcList{{0, 1, 6}, {0, 2, 5}, {2, 0, 7}}));
  }
}

TEST(Npz, WhatARefusalAsksForSuffices) {
  constexpr std::int64_t    n = 400'000;
  std::vector<std::int64_t> offsets, weights(n, 1);
  std::vector<std::int32_t> targets;
  for (std::int64_t v = 0; v < n; ++v) {
    offsets.push_back(v);
    targets.push_back(static_cast<std::int32_t>((v + 1) % n));
  }
  offsets.push_back(n);
  const auto bytes = [](const auto& values) {
    return std::string{reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])};
  };
  const std::string path = zip_with("ring.npz", {{"indices.npy", npy("<i4", "(400000,)", bytes(targets))},
                                                 {"indptr.npy", npy("<i8", "(400001,)", bytes(offsets))},
                                                 {"format.npy", npy("|S3", "()", "csr")},
                                                 {"shape.npy", npy("<i8", "(2,)", bytes_of<std::int64_t>({n, n}))},
                                                 {"data.npy", npy("<i8", "(400000,)", bytes(weights))}});
  LoadOptions       options;
  options.host_memory = 1u << 20;
  try {
    open(path, options);
    FAIL() << "6 MB do not fit one";
  } catch (const MemoryRefusal& refusal) {
    options.host_memory = refusal.needed();
  }
  const Graph graph = open(path, options);
  EXPECT_EQ(graph.arc_count(), 400'000u);
  EXPECT_LT(options.host_memory, 8u << 20);
}

TEST(Npz, ReadsEveryKindOfValue) {
  const auto of = [](const char* type, const std::string& data) {
    return open(zip_with("kinds.npz", matrix("data.npy", npy(type, "(3,)", data))));
  };
  const ArcList whole{{0, 1, 6}, {0, 2, 5}, {2, 0, 7}};
  EXPECT_EQ(arcs_of(of("|i1", bytes_of<std::int8_t>({5, 6, 7}))), whole);
  EXPECT_EQ(arcs_of(of("<u2", bytes_of<std::uint16_t>({5, 6, 7}))), whole);
  EXPECT_EQ(arcs_of(of("<i4", bytes_of<I32>({5, 6, 7}))), whole);
  EXPECT_EQ(arcs_of(of("<u8", bytes_of<U64>({5, 6, 7}))), whole);
  EXPECT_EQ(of("<f4", bytes_of<float>({5, 6, 7})).weight_type(), WeightType::f32);
  EXPECT_EQ(arcs_of(of("<f8", bytes_of<double>({5, 6, 7}))), whole);
  EXPECT_EQ(of("|b1", "\1\1\1").weight_type(), WeightType::none);
  EXPECT_EQ(of("<i8", bytes_of<I64>({0, 0, 0})).arc_count(), 3u) << "explicit zeros are entries";
}

TEST(Npz, NegativeWholeNumbersBecomeFloats) {
  const Graph graph =
      open(zip_with("negative.npz", matrix("data.npy", npy("<i8", "(3,)", bytes_of<I64>({5, -6, 7})))));
  EXPECT_EQ(graph.weight_type(), WeightType::f32);
  EXPECT_EQ(arcs_of(graph), (ArcList{{0, 1, -6}, {0, 2, 5}, {2, 0, 7}}));
  EXPECT_EQ(graph.report().notes.size(), 1u);
  const std::string inexact =
      zip_with("inexact.npz", matrix("data.npy", npy("<i8", "(3,)", bytes_of<I64>({16777217, -6, 7}))));
  expect_refused(inexact, "entry 0 is 16777217");
  EXPECT_EQ(open(inexact, with_weights(WeightType::f32)).weight_type(), WeightType::f32);
  expect_refused(inexact, "entry 1 is -6", with_weights(WeightType::u32));
}

TEST(Npz, UnderstandsOtherWaysToWriteIt) {
  EXPECT_EQ(open(zip_with("wide.npz", matrix("format.npy", npy("<U3", "()", bytes_of<U32>({'c', 's', 'r'})))))
                .arc_count(),
            3u);
  EXPECT_EQ(
      open(zip_with("long.npz", matrix("indices.npy", npy("<i8", "(3,)", bytes_of<I64>({2, 1, 0}))))).arc_count(),
      3u);
  const std::string header = "{\"shape\":(3,),\"fortran_order\":False,\"descr\":\"<i4\"}";
  const std::string second =
      std::string("\x93NUMPY\x02\x00", 8) + bytes_of<U32>({static_cast<U32>(header.size())}) + header;
  EXPECT_EQ(open(zip_with("v2.npz", matrix("indices.npy", second + bytes_of<I32>({2, 1, 0})))).arc_count(), 3u);
}

TEST(Npz, RefusesWhatIsWrong) {
  const std::string three = bytes_of<I32>({2, 1, 0});
  const auto        odd   = [&](const std::string& header) { return npy_with_header(header, three); };
  const struct {
    const char* member;
    std::string content;
    const char* says;
  } cases[] = {
      {"format.npy", npy("|S3", "()", "csc"), "stored as 'csc', and only csr is read; convert it with .tocsr()"},
      {"format.npy", npy("<i4", "()", three), "one short string was expected"},
      {"format.npy", npy("|S999", "()", "csr"), "one short string was expected"},
      {"format.npy", npy("|S0", "()", ""), "format.npy"},
      {"format.npy", npy("|S3", "()", "cs"), "format.npy: 1 elements of 3 bytes"},
      {"shape.npy", npy("<i8", "(2,)", bytes_of<I64>({3, 4})), "3 by 4"},
      {"shape.npy", npy("<i8", "(2,)", bytes_of<I64>({-1, -1})), "-1 rows"},
      {"shape.npy", npy("<i8", "(2,)", bytes_of<I64>({1ll << 40, 1ll << 40})), "1099511627776 rows"},
      {"shape.npy", npy("<i8", "(2,)", bytes_of<I64>({2, 2})), "2 rows take 3 offsets, not 4"},
      {"shape.npy", npy("<i8", "(1, 2)", bytes_of<I64>({3, 3})), "one dimension was expected, not 2"},
      {"shape.npy", npy("<i8", "(2,)", bytes_of<I64>({3})), "2 elements of 8 bytes are stated, but 8 bytes"},
      {"indptr.npy", npy("<f8", "(4,)", bytes_of<double>({0, 2, 2, 3})), "type '<f8': 32- or 64-bit integers"},
      {"indptr.npy", npy(">i4", "(4,)", bytes_of<I32>({0, 2, 2, 3})), "type '>i4'"},
      {"indptr.npy", npy("<i4", "(4,)", bytes_of<I32>({0, -2, 2, 3})), "entry 1 is -2, below 0"},
      {"indptr.npy", npy("<i4", "(4,)", bytes_of<I32>({0, 3, 2, 3})), "ends before it starts"},
      {"indptr.npy", npy("<i4", "(4,)", bytes_of<I32>({1, 2, 2, 3})), "starts at arc 1"},
      {"indptr.npy", npy("<i4", "(4,)", bytes_of<I32>({0, 2, 2, 2})), ".prune()"},
      {"indices.npy", npy("<i4", "(3,)", bytes_of<I32>({2, 1, 3})), "entry 2 is 3, where a column from 0 to 2"},
      {"indices.npy", npy("<i4", "(3,)", bytes_of<I32>({2, -1, 0})), "entry 1 is -1"},
      {"indices.npy", npy("<i4", "(2,)", three), "2 elements of 4 bytes are stated, but 12 bytes"},
      {"indices.npy", npy("<i4", "(4611686018427387907,)", three), "4611686018427387907 elements"},
      {"indices.npy", npy("<i4", "(99999999999999999999,)", three), "the header is not numpy's"},
      {"indices.npy", "PK", "indices.npy: ends early"},
      {"indices.npy", std::string(64, 'x'), "no .npy array"},
      {"indices.npy", std::string("\x93NUMPY\x04\x00", 8) + three, "version 4"},
      {"indices.npy", std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12) + three, "is too long"},
      {"indices.npy", odd("{'descr': '<i4', 'fortran_order': True, 'shape': (3,), }"), "column-major"},
      {"indices.npy", odd("{'descr': '<i4', 'fortran_order': Maybe, 'shape': (3,), }"), "not numpy's"},
      {"indices.npy", odd("{'descr': '<i4', 'shape': (3,), }"), "not numpy's"},
      {"indices.npy", odd("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (3,), }"), "not numpy's"},
      {"indices.npy", odd("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), } x"), "not numpy's"},
      {"indices.npy", odd("{'descr': '<i4"), "not numpy's"},
      {"data.npy", npy("<c8", "(3,)", bytes_of<float>({1, 0, 1, 0, 1, 0})), "type '<c8' cannot be weights"},
      {"data.npy", npy("<i4", "(2,)", bytes_of<I32>({5, 6})), "2 values for 3 indices"},
      {"data.npy", npy("|b1", "(2,)", "\1\1"), "2 values for 3 indices"},
      {"data.npy", npy("|b1", "(3,)", std::string("\1\0\1", 3)), "entry 1 is False"},
      {"data.npy", npy("<f4", "(3,)", bytes_of<float>({5, 6, std::nanf("")})), "is not a finite number"},
      {"data.npy", npy("<f8", "(3,)", bytes_of<double>({5, 6, 1e300})), "entry 2 is 1e+300"},
      {"data.npy", npy("<u8", "(3,)", bytes_of<U64>({5, 6, ~0ull})), "too large for a weight"},
  };
  for (const auto& c : cases) expect_refused(zip_with("bad.npz", matrix(c.member, c.content)), c.says);
  Members lacking = matrix();
  lacking.pop_back();
  expect_refused(zip_with("lacking.npz", lacking), "no member data.npy");
  expect_refused(file_with("nozip.npz", "PK\x03\x04 and nothing more"), "not a readable zip archive");
  for (const char* name : {"list.txt", "list.zip", "list"})
    expect_refused(zip_with(name, {{"list.txt", "0 1\n1 2\n"}}), "this is a zip archive; unpack it first");
  expect_refused(zip_with("book.xlsx", {{"xl/workbook.xml", "<workbook/>"}}), "save the sheet");
  EXPECT_EQ(open(zip_with("a.zip", matrix())).report().format, "npz");
}

TEST(Npz, DamageIsFound) {
  const std::string path = zip_with("damaged.npz", matrix(), /*deflated=*/false);
  std::fstream      file{path, std::ios::in | std::ios::out | std::ios::binary};
  const std::string content{std::istreambuf_iterator<char>{file}, {}};
  const std::size_t place = content.find(bytes_of<I64>({5, 6, 7}));
  ASSERT_NE(place, std::string::npos);
  file.seekp(static_cast<std::streamoff>(place)).put('\4');
  file.close();
  expect_refused(path, "data.npy: damaged");
}

TEST(Npz, ALieCostsNoMemory) {
  // A kilobyte of zeros, deflated, whose stated size is raised to four gigabytes in the central directory.
  std::string content;
  {
    const std::string path =
        zip_with("bomb.npz", matrix("indptr.npy", npy("<i4", "(1000,)", std::string(4000, '\0'))));
    std::ifstream file{path, std::ios::binary};
    content.assign(std::istreambuf_iterator<char>{file}, {});
  }
  const std::size_t entry = content.rfind("indptr.npy") - 46;
  ASSERT_EQ(content.substr(entry, 4), "PK\x01\x02");
  content.replace(entry + 24, 4, bytes_of<U32>({0xFFFFFFF0u}));
  LoadOptions options;
  options.host_memory = 8 << 20;
  expect_refused(file_with("bomb.npz", content), "indptr.npy: 4294967280 bytes are stated", options);
}

#endif

}  // namespace
}  // namespace spillway
