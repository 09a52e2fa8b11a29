// Slotted pages (GTS, sections 2 and 6.1): rows in pages of one size, so that a graph can be read from disk a page
// at a time. Records grow forward from the start of a page, slots backward from its end; a slot says where the
// record of a vertex is. A vertex whose record does not fit a page has large pages of its own.
//
// As the paper has it, a record is the vertex's degree and the record ids of its neighbours: the number of a page
// and of a slot in it. A table of the pages (the paper's RVT) turns them into vertices. Compressed, a record is
// the degree and the code of the row (store/row_code.hpp), and a slot is a place alone: vertices of a page are
// consecutive.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/build_journal.hpp"

#include <spillway/engine/block.hpp>
#include <spillway/types.hpp>

namespace spillway::store {

/// Bytes of a record id: p of the page's number, q of the slot's.
struct RecordIdWidth {
  unsigned page = 2, slot = 2;

  unsigned      bytes() const { return page + slot; }
  std::uint64_t most_pages() const { return std::uint64_t{1} << (8 * page); }
  std::uint64_t most_slots() const { return std::uint64_t{1} << (8 * slot); }
  /// The largest page of which every slot can be addressed, if each vertex has an edge (the paper's table 2).
  std::uint64_t largest_page() const;
};

struct PageFormat {
  RecordIdWidth ids         = {};
  std::uint32_t page_bytes  = 1u << 20;
  bool          compressed  = false;
  unsigned      weight_bits = 0;  ///< 0: no weights; 32 where they are not compressed

  std::uint64_t slot_bytes() const;
  /// Of an edge in a record that is not compressed.
  std::uint64_t edge_bytes() const { return ids.bytes() + weight_bits / 8; }
  std::uint64_t record_bytes(EdgeIndex degree) const { return degree_bytes + degree * edge_bytes(); }
  /// That a record may have in a page of its own.
  std::uint64_t largest_record() const { return page_bytes - slot_bytes(); }
  EdgeIndex     edges_of_large_page() const { return (largest_record() - degree_bytes) / edge_bytes(); }

  static constexpr std::uint64_t degree_bytes = 4;
  static constexpr std::uint64_t most_bytes   = 1u << 30;  ///< of a page
};

/// Pages that so many vertices and edges take, uncompressed, about: all full (tables 3 and 4 of the paper).
std::uint64_t expected_pages(const PageFormat& format, std::uint64_t vertices, std::uint64_t edges);

/// A page in the table.
struct PageEntry {
  std::uint64_t first_vertex = 0;  ///< the paper's START_VID
  std::uint64_t first_edge   = 0;  ///< among the edges of all rows
  std::uint64_t checksum     = 0;  ///< XXH3 of the page
  std::uint32_t vertices     = 0;  ///< slots; a large page has one
  std::uint32_t large        = 0;  ///< 1: of one vertex, whose row goes on in the next page or has begun before
  std::int32_t  large_first =
      -1;  ///< the paper's LP_RANGE: of the large pages, those of the vertex that begins here
  std::int32_t large_last = -1;
};
static_assert(sizeof(PageEntry) == 40);

/// How pages fill up, whatever is in them.
class PageSpace {
 public:
  explicit PageSpace(const PageFormat& format) : format_(format) {}

  bool fits(std::uint64_t record) const {
    return slots_ < format_.ids.most_slots() &&
           record + used_ + (slots_ + 1) * format_.slot_bytes() <= format_.page_bytes;
  }
  void          add(std::uint64_t record) { used_ += record, ++slots_; }
  void          clear() { used_ = slots_ = 0; }
  std::uint64_t used() const { return used_; }
  std::uint64_t slots() const { return slots_; }

 private:
  PageFormat    format_;
  std::uint64_t used_ = 0, slots_ = 0;
};

/// Which page and slot each vertex has, by the degrees alone: what neighbours are called in pages that are not
/// compressed.
class RecordIds {
 public:
  RecordIds() = default;
  RecordIds(const PageFormat& format, std::uint64_t vertices, const std::function<EdgeIndex(Vertex)>& degree);

  /// The slot in the low bytes, the page above them.
  std::uint64_t of(Vertex v) const;
  std::uint64_t page_count() const { return starts_.size(); }

 private:
  static constexpr unsigned block = 64;  // vertices, of which the page of the first is looked up

  RecordIdWidth              width_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint32_t> page_of_block_;
};

/// Makes pages of rows that come in the order of their vertices.
class PageWriter {
 public:
  using Sink = std::function<void(std::uint64_t page, std::span<const std::byte> bytes)>;

  /// `ids`: of pages that are not compressed.
  PageWriter(const PageFormat& format, std::uint64_t vertices, const RecordIds* ids, Sink sink);

  /// The next rows: `targets` and `weights` begin with those of the first.
  void add(std::span<const EdgeIndex> offsets, const Vertex* targets, const std::uint32_t* weights, int threads);

  /// All that has come, but for pages that are written; and goes on from there.
  void save(StateWriter& state) const;
  void restore(StateReader& state);

  /// Once all vertices have come.
  std::vector<PageEntry> finish();

 private:
  struct Coded;

  void add_record(std::span<const std::byte> record, EdgeIndex degree);
  void add_large(std::span<const Vertex> targets, std::span<const std::uint32_t> weights);
  void write_large(std::span<const std::byte> record, EdgeIndex edges);
  void encode(std::span<const Vertex> targets, std::span<const std::uint32_t> weights, EdgeIndex degree,
              std::vector<std::byte>& record) const;
  void put_slot(std::uint64_t slot, Vertex v, std::uint64_t at);
  void flush();

  PageFormat             format_;
  std::uint64_t          vertices_;
  const RecordIds*       ids_;
  Sink                   sink_;
  PageSpace              space_;
  std::vector<std::byte> page_;
  PageEntry              open_;
  std::vector<PageEntry> entries_;
  std::uint64_t          next_vertex_ = 0, next_edge_ = 0;
  std::int32_t           large_pages_ = 0;
};

/// The pages of a graph's rows, as they were written: what is needed to read any of them.
class PageTable {
 public:
  PageTable() = default;
  /// Throws Error{bad_input} where the pages do not hold all rows, each once, in order. `offsets` are those of all
  /// rows; `name` is of the file, `stripes` are those that have the pages, if it has not.
  PageTable(const PageFormat& format, std::vector<PageEntry> entries, std::span<const EdgeIndex> offsets,
            std::string name, std::vector<std::string> stripes = {});

  const PageFormat&          format() const { return format_; }
  std::span<const PageEntry> entries() const { return entries_; }
  std::uint64_t              size() const { return entries_.size(); }
  /// The edges of a page, among those of all rows.
  EdgeRange edges(std::uint64_t page) const;
  /// The vertices of which it has edges.
  VertexRange vertices(std::uint64_t page) const {
    return {entries_[page].first_vertex, entries_[page].first_vertex + entries_[page].vertices};
  }
  /// The first page that has a row of the vertex, or a part of it.
  std::uint64_t page_of(Vertex v) const;
  EdgeIndex     most_edges() const { return most_edges_; }  ///< of a page
  std::uint64_t checksum(std::uint64_t page) const { return entries_[page].checksum; }

  /// The vertex that a record id is of (appendix A of the paper).
  std::uint64_t vertex_of(std::uint64_t page, std::uint64_t slot) const {
    return entries_[page].first_vertex + slot;
  }

  /// The rows of a page whose edges are decoded there.
  PageRows rows(std::uint64_t page, const EdgeIndex* offsets, const Vertex* targets,
                const std::uint32_t* weights) const;

  /// Of compressed pages: where the code of a slot's row begins, in words from the page's first on.
  std::uint64_t code_at(std::span<const std::byte> bytes, std::uint64_t slot) const;
  /// Pages of one row that takes several.
  bool is_large(std::uint64_t page) const { return entries_[page].large != 0; }

  using Wanted = std::function<bool(Vertex)>;
  /// The edges of a page, one behind the other; `weights` null: they are left out; and rows that are not `wanted`
  /// may be. Throws Error{bad_input} with the page where the bytes are not one. RowCode::bytes_behind may be read
  /// behind them.
  void decode(std::uint64_t page, std::span<const std::byte> bytes, Vertex* targets, std::uint32_t* weights,
              const Wanted& wanted = {}) const;
  /// Error{bad_input} where the bytes are not what they were when the page was written.
  void check(std::uint64_t page, std::span<const std::byte> bytes) const;

 private:
  [[noreturn]] void refuse(std::uint64_t page, const char* what) const;
  void decode_plain(std::uint64_t page, std::span<const std::byte> bytes, EdgeIndex count, std::uint64_t at,
                    Vertex* targets, std::uint32_t* weights) const;

  PageFormat                 format_;
  std::vector<PageEntry>     entries_;
  std::vector<Vertex>        starts_;  ///< first vertices, side by side
  std::span<const EdgeIndex> offsets_;
  std::string                name_;
  std::vector<std::string>   stripes_;
  EdgeIndex                  most_edges_ = 0;
};

}  // namespace spillway::store
