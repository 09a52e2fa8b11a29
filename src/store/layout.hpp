// The bytes of a .spill file, version 1: header, section table, sections. Everything is little-endian;
// every section starts on a page, so that it can be mapped, and read unbuffered, where it lies.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace spillway::store {

static_assert(std::endian::native == std::endian::little,
              ".spill files are mapped as they are: little-endian only");

// The first byte is no text's, and the line ends show when a transfer has "corrected" them.
inline constexpr std::array<char, 8> magic{'\x89', 'S', 'P', 'I', 'L', 'L', '\r', '\n'};
inline constexpr std::uint32_t       version           = 1;
inline constexpr std::uint64_t       section_alignment = 4096;
inline constexpr std::uint32_t       most_sections     = 64;

/// A flag in `id_kind`, where older readers refuse it: a section they do not know they would skip, and misname
/// vertices.
inline constexpr std::uint32_t ordered_ids = 4;
/// Likewise: rows are of vertices that are split (graph/split.hpp), and more than there are ids.
inline constexpr std::uint32_t split_rows = 8;

enum class SectionKind : std::uint32_t {
  out_offsets = 1,
  out_targets = 2,
  out_weights = 3,
  in_offsets  = 4,
  in_targets  = 5,
  in_weights  = 6,
  id_numbers  = 7,  ///< u64 a vertex, or where each vertex's name ends
  id_bytes    = 8,  ///< names, one after the other
  // Rows in slotted pages (store/slotted_pages.hpp), instead of 1 to 6. A reader passes over kinds it does not
  // know.
  page_table    = 16,
  pages         = 17,
  in_page_table = 18,
  in_pages      = 19,
  degrees       = 20,  ///< coded (store/paged_rows.hpp)
  in_degrees    = 21,
  order         = 22,  ///< u32 a vertex: its place among the ids
  stripes       = 23,  ///< instead of 17 and 19: files that have the pages (store/stripes.hpp)
  split         = 24,  ///< a SplitHeader, and u32 a tree vertex: the vertex that it is part of
  /// Instead of rows, in the order of what was converted: u32 pairs of source and target, or triples with a
  /// weight. Where the header says symmetric each stands for both arcs, a loop for one.
  edges = 25,
};

std::string_view to_string(SectionKind kind);

struct Section {
  SectionKind   kind;
  std::uint32_t reserved = 0;
  std::uint64_t offset   = 0;
  std::uint64_t bytes    = 0;
  std::uint64_t checksum = 0;  ///< of section_checksum()
};
static_assert(sizeof(Section) == 32);

struct Header {
  std::array<char, 8> magic         = store::magic;
  std::uint32_t       version       = store::version;
  std::uint32_t       section_count = 0;
  std::uint64_t       file_bytes    = 0;
  std::uint64_t       vertices      = 0;
  std::uint64_t       arcs          = 0;
  std::uint32_t       weight_type   = 0;
  std::uint32_t       symmetric     = 0;
  std::uint32_t       id_kind       = 0;  ///< an IdMap::Kind, and `ordered_ids` where there is a section of order
  std::uint32_t       vertex_bytes  = 0;  ///< of a target, if they are not 4
  std::uint64_t       first_id      = 0;
  std::uint64_t       checksum      = 0;  ///< XXH3 of header and section table, with this field zero
};
static_assert(sizeof(Header) == 72);

/// Before the roots of tree vertices. `vertices` and `arcs` of the header are those of the split rows.
struct SplitHeader {
  std::uint32_t kind         = 0;  ///< a SplitKind
  std::uint32_t in_edges     = 0;
  std::uint64_t degree_bound = 0;
  std::uint64_t vertices     = 0;  ///< of the graph
  std::uint64_t arcs         = 0;
};
static_assert(sizeof(SplitHeader) == 32);

inline constexpr std::array<char, 8> stripe_magic{'\x89', 'S', 'P', 'S', 'T', 'R', '\r', '\n'};
inline constexpr std::uint64_t       most_stripes = 64;

/// A stripe: this header, and from `section_alignment` on pages.
struct StripeHeader {
  std::array<char, 8> magic      = stripe_magic;
  std::uint32_t       version    = store::version;
  std::uint32_t       number     = 0;  ///< among the stripes of a .spill file
  std::uint32_t       stripes    = 0;
  std::uint32_t       reserved   = 0;
  std::uint64_t       conversion = 0;  ///< drawn at random, for all of them
  std::uint64_t       file_bytes = 0;
  std::uint64_t       checksum   = 0;  ///< XXH3 of what is before it
};
static_assert(sizeof(StripeHeader) == 48);

/// XXH3 of the XXH3s of the section's 4 MiB pieces, so that all threads can compute it.
inline constexpr std::uint64_t checksum_piece = 4u << 20;

}  // namespace spillway::store
