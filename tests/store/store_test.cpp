// The .spill file: written whole or not at all, opened at once, and never believed without a check.
#include <gtest/gtest.h>

#include <cstring>

#include "graph/split.hpp"
#include "store/spill_file.hpp"
#include "supply/paged.hpp"
#include "support.hpp"
#include "zoo.hpp"

#include <spillway/engine/stopwatch.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::failure_of;
using testing::read_file;
using testing::TemporaryFolder;

Graph small_graph() { return generate("kron", {{"scale", "8"}}, {.weight_type = WeightType::u32}); }

std::string saved(const TemporaryFolder& folder, const Graph& graph) {
  save(graph, folder / "g.spill");
  return read_file(folder / "g.spill");
}

store::Header header_of(const std::string& bytes) {
  store::Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

std::vector<store::Section> sections_of(const std::string& bytes) {
  std::vector<store::Section> sections(header_of(bytes).section_count);
  std::memcpy(sections.data(), bytes.data() + sizeof(store::Header), sections.size() * sizeof(store::Section));
  return sections;
}

/// The bytes with another header and table, checksum made to fit: what a forger would do.
std::string forged(std::string bytes, store::Header header, const std::vector<store::Section>& sections) {
  header.checksum = store::header_checksum(header, sections);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, sections.data(), sections.size() * sizeof(store::Section));
  return bytes;
}

TEST(Store, MapsSectionsWhereTheyLie) {
  const TemporaryFolder folder;
  const std::string     bytes = saved(folder, small_graph());
  for (const store::Section& section : sections_of(bytes)) EXPECT_EQ(section.offset % 64, 0u);
  EXPECT_EQ(header_of(bytes).file_bytes, bytes.size());
  const Graph graph = open(folder / "g.spill");
  EXPECT_EQ(graph.arc_count(), small_graph().arc_count());
  EXPECT_LT(graph.report().peak_bytes, 4096u) << "opening copies nothing";
}

TEST(Store, KeepsInEdgesWhenTheyAreThere) {
  const TemporaryFolder folder;
  const Graph           graph = small_graph();
  save(graph, folder / "without.spill");
  EXPECT_FALSE(open(folder / "without.spill").has_in());
  graph.in();
  save(graph, folder / "with.spill");
  const Graph back = open(folder / "with.spill");
  EXPECT_TRUE(back.has_in());
  EXPECT_TRUE(std::ranges::equal(back.in().targets.span(), graph.in().targets.span()));
}

TEST(Store, VerifiesWhatItWrote) {
  const TemporaryFolder folder;
  for (const auto& member : testing::zoo()) {
    save(member.graph, folder / "g.spill");
    for (const auto& verdict : store::verify(folder / "g.spill", Progress::none()))
      EXPECT_EQ(verdict.problem, "") << member.name << ": " << verdict.section;
  }
}

TEST(Store, FindsAFlippedByteInEverySection) {
  const TemporaryFolder folder;
  const std::string     bytes = saved(folder, small_graph());
  for (const store::Section& section : sections_of(bytes)) {
    std::string damaged = bytes;
    damaged[section.offset + section.bytes / 2] ^= 0x10;
    folder.write("damaged.spill", damaged);
    bool found = false;
    for (const auto& verdict : store::verify(folder / "damaged.spill", Progress::none()))
      found |= !verdict.problem.empty();
    EXPECT_TRUE(found) << to_string(section.kind);
  }
}

TEST(Store, RefusesEveryFlippedByteOfTheHeader) {
  const TemporaryFolder folder;
  const std::string     bytes = saved(folder, small_graph());
  const std::size_t     table = sizeof(store::Header) + sections_of(bytes).size() * sizeof(store::Section);
  for (std::size_t i = 0; i < table; ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 0x01;
    const std::string path = folder.write("damaged.spill", damaged);
    LoadOptions       options;
    options.format = "spill";
    EXPECT_EQ(failure_of([&] { open(path, options); }).first, ExitCode::bad_input) << "byte " << i;
  }
}

TEST(Store, RefusesToBeCutShort) {
  const TemporaryFolder folder;
  const std::string     bytes = saved(folder, small_graph());
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{8}, std::size_t{71}, std::size_t{72}, std::size_t{4096}, bytes.size() - 1})
    EXPECT_EQ(failure_of([&] { open(folder.write("cut.spill", bytes.substr(0, size))); }).first,
              ExitCode::bad_input)
        << size;
}

TEST(Store, KeepsWeightsOfNoArcs) {
  const TemporaryFolder            folder;
  const std::vector<Vertex>        loop{5};
  const std::vector<std::uint32_t> weight{3};
  const Graph graph = from_arcs(loop, loop, weight, WeightType::u32, 6, {.transform = {.drop_loops = true}});
  ASSERT_EQ(graph.arc_count(), 0u);
  save(graph, folder / "g.spill");
  EXPECT_EQ(open(folder / "g.spill").out().arc_count(), 0u);
}

Graph split_graph(bool in_edges) { return split(small_graph(), {SplitKind::udt, 3, in_edges}); }

TEST(Store, KeepsSplitVertices) {
  const TemporaryFolder folder;
  for (const bool in : {false, true}) {
    const Graph graph = split_graph(in);
    save(graph, folder / "g.spill");
    const Graph back = open(folder / "g.spill");
    ASSERT_TRUE(back.split());
    EXPECT_EQ(text_of(back.split()->form()), in ? "udt:3:in" : "udt:3");
    EXPECT_EQ(back.vertex_count(), 256u);
    EXPECT_EQ(back.split()->has_transposed(), in) << "what programs walk is there";
    for (const auto& [was, is] :
         {std::pair{graph.split()->out(), back.split()->out()}, std::pair{graph.split()->in(), back.split()->in()},
          std::pair{small_graph().out(), back.out()}}) {
      EXPECT_TRUE(std::ranges::equal(was.targets, is.targets));
      EXPECT_TRUE(std::ranges::equal(was.weights, is.weights));
    }
    for (const auto& verdict : store::verify(folder / "g.spill", Progress::none()))
      EXPECT_EQ(verdict.problem, "") << verdict.section;
    save(open(folder / "g.spill"), folder / "again.spill");
    EXPECT_TRUE(read_file(folder / "again.spill") == read_file(folder / "g.spill"));
  }
}

/// Whatever a file says of splits, rows are what its form makes of some graph, or refused.
TEST(Store, BelievesNothingOfSplitVertices) {
  const TemporaryFolder folder;
  const std::string     bytes    = saved(folder, split_graph(false));
  const auto            sections = sections_of(bytes);
  const auto            section  = [&](store::SectionKind kind) {
    return *std::ranges::find(sections, kind, &store::Section::kind);
  };
  const auto use = [&](const std::string& forgery) {
    return failure_of([&] {
             const Graph graph = open(folder.write("forged.spill", forgery));
             (void)graph.split()->out();
             (void)graph.out();
           })
        .first;
  };
  const auto poke = [&](store::SectionKind kind, std::size_t at, std::uint64_t value, std::size_t width) {
    std::string forgery = bytes;
    std::memcpy(forgery.data() + section(kind).offset + at, &value, width);
    return forgery;
  };
  using enum store::SectionKind;
  constexpr std::size_t header = sizeof(store::SplitHeader);
  EXPECT_EQ(use(bytes), ExitCode::done);
  for (const std::uint64_t kind : {0u, 2u, 3u, 4u, 5u})
    EXPECT_EQ(use(poke(store::SectionKind::split, 0, kind, 4)), ExitCode::bad_input) << "kind " << kind;
  EXPECT_EQ(use(poke(store::SectionKind::split, 4, 1, 4)), ExitCode::bad_input)
      << "in-edges, of which there are none";
  for (const std::uint64_t bound : {0u, 1u, 2u, 4u})
    EXPECT_EQ(use(poke(store::SectionKind::split, 8, bound, 8)), ExitCode::bad_input) << "K " << bound;
  for (const std::uint64_t vertices : {std::uint64_t{255}, std::uint64_t{257}, UINT64_MAX})
    EXPECT_EQ(use(poke(store::SectionKind::split, 16, vertices, 8)), ExitCode::bad_input)
        << vertices << " vertices";
  EXPECT_EQ(use(poke(store::SectionKind::split, 24, 5, 8)), ExitCode::bad_input) << "other arcs";
  EXPECT_EQ(use(poke(store::SectionKind::split, header, 255, 4)), ExitCode::bad_input)
      << "roots that do not ascend";
  EXPECT_EQ(use(poke(store::SectionKind::split, section(store::SectionKind::split).bytes - 4, 256, 4)),
            ExitCode::bad_input)
      << "a root that is no vertex";
  const Graph whole = split_graph(false);
  const Csr&  rows  = whole.split()->out();
  std::size_t tree  = 0;  // the first tree arc
  while (rows.targets[tree] < 256) ++tree;
  EXPECT_EQ(use(poke(out_targets, tree * 4, rows.targets[tree] + 1, 4)), ExitCode::bad_input)
      << "a tree arc to another tree vertex";
  EXPECT_EQ(use(poke(out_targets, tree * 4, 255, 4)), ExitCode::bad_input) << "a tree arc to a vertex";
  EXPECT_EQ(use(poke(out_weights, tree * 4, 7, 4)), ExitCode::bad_input) << "a tree arc with a weight";
  // A flag alone, and a section alone.
  store::Header plain = header_of(bytes);
  plain.id_kind       = 0;
  EXPECT_EQ(
      failure_of([&] { (void)open(folder.write("forged.spill", forged(bytes, plain, sections))).ids(); }).first,
      ExitCode::done)
      << "a section that nobody asked for is passed over";
  const std::string unsplit = saved(folder, small_graph());
  store::Header     flagged = header_of(unsplit);
  flagged.id_kind |= store::split_rows;
  EXPECT_EQ(use(forged(unsplit, flagged, sections_of(unsplit))), ExitCode::bad_input);
}

TEST(Store, NeverIndexesWithForgedOffsetsTargetsOrSections) {
  const TemporaryFolder folder;
  const std::string     bytes    = saved(folder, small_graph());
  const auto            sections = sections_of(bytes);
  const auto            use      = [&](const std::string& forgery) {
    return failure_of([&] {
             const Graph graph = open(folder.write("forged.spill", forgery));
             for (Vertex v = 0; v < graph.vertex_count(); ++v) (void)graph.out().neighbors(v).size();
           })
        .first;
  };
  const auto poke = [&](std::size_t section, std::size_t index, std::uint64_t value, std::size_t width) {
    std::string forgery = bytes;
    std::memcpy(forgery.data() + sections[section].offset + index * width, &value, width);
    return forgery;
  };
  EXPECT_EQ(use(poke(0, 0, 1, 8)), ExitCode::bad_input) << "rows that do not start at 0";
  EXPECT_EQ(use(poke(0, 5, UINT64_MAX, 8)), ExitCode::bad_input) << "a row that ends beyond the arcs";
  EXPECT_EQ(use(poke(0, 256, 3, 8)), ExitCode::bad_input) << "rows that end before the arcs do";
  EXPECT_EQ(use(poke(1, 9, 256, 4)), ExitCode::bad_input) << "a target that is no vertex";
  const Graph graph = small_graph();
  Vertex      hub   = 0;
  while (graph.out().degree(hub) < 2 || graph.out().neighbors(hub).back() == 255) ++hub;
  EXPECT_EQ(use(poke(1, graph.out().offsets[hub], 255, 4)), ExitCode::bad_input) << "a row out of order";

  auto moved = sections;
  moved[1].offset += 4096;
  EXPECT_EQ(use(forged(bytes, header_of(bytes), moved)), ExitCode::bad_input) << "a section past the end";
  moved          = sections;
  moved[0].bytes = UINT64_MAX - 100;
  EXPECT_EQ(use(forged(bytes, header_of(bytes), moved)), ExitCode::bad_input) << "a size that overflows";
  moved         = sections;
  moved[1].kind = store::SectionKind::out_offsets;
  EXPECT_EQ(use(forged(bytes, header_of(bytes), moved)), ExitCode::bad_input) << "the same section twice";
  auto header     = header_of(bytes);
  header.vertices = 1ull << 40;
  EXPECT_EQ(use(forged(bytes, header, sections)), ExitCode::bad_input) << "more vertices than can be";
  header = header_of(bytes);
  header.arcs += 1;
  EXPECT_EQ(use(forged(bytes, header, sections)), ExitCode::bad_input) << "more arcs than there are";
  header         = header_of(bytes);
  header.version = 2;
  EXPECT_EQ(use(forged(bytes, header, sections)), ExitCode::bad_input) << "a later version";
  header                 = header_of(bytes);
  header.vertex_bytes    = 4;
  const std::string wide = forged(bytes, header, sections);
  EXPECT_EQ(open(folder.write("stated.spill", wide)).arc_count(), graph.arc_count()) << "the width that there is";
  header.vertex_bytes = 8;
  const auto refused  = failure_of([&] { open(folder.write("wide.spill", forged(bytes, header, sections))); });
  EXPECT_EQ(refused.first, ExitCode::bad_input);
  EXPECT_NE(refused.second.find("vertices of 64 bits"), std::string::npos) << refused.second;
}

TEST(Store, ChecksTheTableOfIdsBeforeUse) {
  const TemporaryFolder folder;
  const Graph           named    = open(folder.write("n.txt", "ann bob\nbob cid\n"));
  std::string           bytes    = saved(folder, named);
  const auto            sections = sections_of(bytes);
  const std::uint64_t   far      = 1ull << 50;
  for (const store::Section& section : sections)
    if (section.kind == store::SectionKind::id_numbers) std::memcpy(bytes.data() + section.offset, &far, 8);
  const Graph graph = open(folder.write("forged.spill", bytes));
  EXPECT_EQ(failure_of([&] { (void)graph.ids().name(0); }).first, ExitCode::bad_input);
}

TEST(Store, CatchesAFalsePromiseOfSymmetry) {
  const TemporaryFolder folder;
  const std::string     bytes  = saved(folder, small_graph());
  auto                  header = header_of(bytes);
  header.symmetric             = 1;
  folder.write("liar.spill", forged(bytes, header, sections_of(bytes)));
  bool found = false;
  for (const auto& verdict : store::verify(folder / "liar.spill", Progress::none()))
    found |= !verdict.problem.empty();
  EXPECT_TRUE(found);
}

/// Sizes of pages are multiplied in many places: a reader takes none that no writer makes.
TEST(Store, HasPagesNoLargerThanItWrites) {
  const TemporaryFolder folder;
  const std::string     path     = testing::in_pages(from_arcs({}, {}), folder / "p.spill", {.page_bytes = 4096});
  std::string           bytes    = read_file(path);
  const auto            tampered = [&](std::uint32_t page_bytes) {
    for (const store::Section& section : sections_of(bytes))
      if (section.kind == store::SectionKind::page_table)
        std::memcpy(bytes.data() + section.offset, &page_bytes, sizeof page_bytes);
    folder.write("t.spill", bytes);
    return failure_of([&] { open(folder / "t.spill"); }).second;
  };
  EXPECT_EQ(tampered(1u << 30), "");
  for (const std::uint32_t bytes_of_page : {(1u << 30) + 4096, 1u << 31, ~4095u})
    EXPECT_NE(tampered(bytes_of_page).find("no version writes"), std::string::npos) << bytes_of_page;
}

struct StopSoon : Progress {
  void              advance(std::uint64_t) override { stop = true; }
  bool              cancelled() const override { return stop; }
  std::atomic<bool> stop{false};
};

TEST(Store, AnInterruptedWriteLeavesNothing) {
  const TemporaryFolder folder;
  StopSoon              stop;
  const Graph           graph = generate("uniform", {{"vertices", "100000"}, {"degree", "30"}});
  EXPECT_EQ(failure_of([&] { save(graph, folder / "g.spill", "auto", &stop); }).first, ExitCode::interrupted);
  EXPECT_EQ(folder.file_count(), 0u);
}

}  // namespace
}  // namespace spillway
