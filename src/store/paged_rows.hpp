// Rows that rest in pages of a .spill file: what they are, and reading them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "graph/arc_spill.hpp"
#include "store/slotted_pages.hpp"
#include "store/stripes.hpp"

#include <spillway/graph.hpp>

namespace spillway::store {

/// Written before the entries of a table of pages.
struct PageTableHeader {
  std::uint32_t page_bytes   = 0;
  std::uint8_t  page_id      = 0;  ///< bytes of a record id that are the page's…
  std::uint8_t  slot_id      = 0;  ///< …and the slot's
  std::uint8_t  compressed   = 0;
  std::uint8_t  weight_bits  = 0;
  std::uint64_t pages        = 0;
  float         least_weight = 0;  ///< of floats
  std::uint32_t reserved     = 0;
};
static_assert(sizeof(PageTableHeader) == 24);

class PagedRows {
 public:
  /// A file with pages, one behind the other.
  struct File {
    std::string   path;
    std::uint64_t at;     ///< where the first is
    std::uint64_t pages;  ///< how many there are
  };
  struct Place {
    std::size_t   file;
    std::uint64_t offset;
  };

  /// `files` have the pages: that of `path` alone, or its stripes.
  PagedRows(std::string path, std::vector<File> files, const PageFormat& format, std::vector<PageEntry> entries,
            Buffer<EdgeIndex> offsets, float least_weight);

  /// The same rows without loops, and with one of parallel arcs.
  struct LeftOut {
    std::shared_ptr<const PagedRows> from;
    std::vector<EdgeIndex>           first_edges;  ///< of each page, among those that stay, and the end
    std::vector<Vertex> before;  ///< of a page that goes on with a row: the target that the one before ends with
  };
  PagedRows(LeftOut left_out, Buffer<EdgeIndex> offsets);

  /// Of all edges, those that are left out included.
  const PageTable&        table() const { return table_; }
  const Array<EdgeIndex>& offsets() const { return offsets_; }
  const std::string&      path() const { return path_; }
  float                   least_weight() const { return least_weight_; }
  EdgeIndex               arcs() const { return offsets_[offsets_.size() - 1]; }
  /// Of all pages, on disk.
  std::uint64_t bytes() const { return table_.size() * table_.format().page_bytes; }
  /// Of all pages, by their own.
  std::uint64_t         checksum() const;
  std::span<const File> files() const { return files_; }
  /// Offsets that do not fit memory are on disk: gives the memory back that holds those of these vertices.
  void evict(VertexRange vertices) const {
    kept_offsets_->evict(vertices.first, vertices.last);
    if (left_out_) left_out_->from->evict(vertices);
  }
  /// Of each vertex.
  std::uint64_t offset_bytes_on_disk() const {
    return (kept_offsets_->is_on_disk() ? sizeof(EdgeIndex) : 0) +
           (left_out_ ? left_out_->from->offset_bytes_on_disk() : 0);
  }
  bool leaves_out() const { return left_out_.has_value(); }
  /// The rows of a page; PageTable::decode says where its edges come from and go to, and which.
  PageRows decoded(std::uint64_t page, std::span<const std::byte> bytes, Vertex* targets, std::uint32_t* weights,
                   const PageTable::Wanted& wanted = {}) const;
  /// By a hash of its number (store/stripes.hpp).
  Place place_of(std::uint64_t page) const {
    const std::uint64_t file = page % files_.size();
    return {file, files_[file].at + page / files_.size() * table_.format().page_bytes};
  }

 private:
  std::string                              path_;
  std::vector<File>                        files_;
  std::shared_ptr<const Buffer<EdgeIndex>> kept_offsets_;
  Array<EdgeIndex>                         offsets_;
  PageTable                                table_;
  float                                    least_weight_;
  std::optional<LeftOut>                   left_out_;
};

/// Rows as they are, if they have neither loops nor parallel arcs, else without; after one pass over them.
std::shared_ptr<const PagedRows> simple_rows(const std::shared_ptr<const PagedRows>& rows,
                                             const std::shared_ptr<MemoryBudget>& budget, int threads,
                                             Progress& progress);

/// All of them, in memory.
Csr loaded(const PagedRows& pages, const std::shared_ptr<MemoryBudget>& budget, int threads, Progress& progress);

/// body(page, edges), page by page on all threads: what is decoded of each, as long as it lasts. Nothing else is
/// held. Pages of whose vertices nothing is wanted are left out.
struct PageVisit {
  int                              threads;
  const char*                      doing;
  Progress&                        progress;
  std::shared_ptr<MemoryBudget>    budget   = {};  ///< with little left, fewer threads decode; none: not counted
  bool                             weighted = true;
  std::function<bool(VertexRange)> wanted   = {};
};
void for_each_page(const PagedRows& pages, const PageVisit& visit,
                   const std::function<void(std::uint64_t page, const PageRows& rows)>& body);

/// The same graph with its edges in memory, its vertices in the order of their ids.
Graph in_memory(const Graph& graph, int threads, Progress& progress);

/// What pages are to be like; what is left out is chosen.
struct PageOptions {
  std::uint64_t page_bytes = 0;
  RecordIdWidth ids        = {0, 0};
  bool          compressed = false;
  bool          by_degree  = false;  ///< vertices with the most out-edges first
  /// Folders on several disks, each with a part of the pages; none: they are in the file itself.
  std::vector<std::string> stripes = {};
  std::string temporary = {};  ///< folder for rows that wait to be put in order; empty: that of the file
};

/// In memory if that leaves most of it to others, else on disk: written in order, `evicted_offsets` at a time.
Buffer<EdgeIndex> room_for_offsets(std::uint64_t vertices, const std::shared_ptr<MemoryBudget>& budget);
inline constexpr std::uint64_t evicted_offsets = 1u << 18;

/// Degrees as a section of the store: seven bits a byte, the lowest first, all but a number's last with the
/// highest bit set.
std::vector<std::byte> coded_degrees(std::span<const EdgeIndex> offsets);
/// Offsets of so many rows; Error{bad_input} where these are other bytes.
Buffer<EdgeIndex> offsets_of(std::span<const std::byte> degrees, std::uint64_t vertices, EdgeIndex arcs,
                             const std::shared_ptr<MemoryBudget>& budget, const std::string& name);

/// Written from rows that come one after the other, to a file from `at` on, or to stripes.
class PageSink final : public RowSink {
 public:
  PageSink(const PageOptions& options, OutputFile& file, std::uint64_t at, int threads,
           StripeOutput* stripes = nullptr);
  ~PageSink() override;

  void begin(const Facts& facts) override;
  bool wants_degrees() const override { return !options_.compressed; }
  void take_degrees(std::span<const EdgeIndex> offsets) override;
  void take(std::span<const EdgeIndex> offsets, const Vertex* targets, const std::uint32_t* weights) override;

  void save(BuildJournal& journal, const std::string& side) override;
  void restore(const BuildJournal& journal, const std::string& side) override;

  bool                has_begun() const { return begun_; }
  WeightType          weight_type() const { return facts_.weight_type; }
  struct WrittenPages finish();

 private:
  void start(const RecordIds* ids);

  PageOptions                 options_;
  OutputFile&                 file_;
  std::uint64_t               at_;
  StripeOutput*               stripes_;
  std::vector<std::uint64_t>  stripes_at_;
  int                         threads_;
  bool                        begun_ = false;
  Facts                       facts_;
  PageFormat                  format_;
  RecordIds                   ids_;
  std::unique_ptr<PageWriter> writer_;
  float                       least_weight_;
};

/// The pages of some rows, written to a file from `at` on, or to stripes.
struct WrittenPages {
  PageFormat                 format;
  std::vector<PageEntry>     entries;
  float                      least_weight = 0;
  std::vector<std::uint64_t> stripes_at   = {};  ///< where they begin in each

  std::vector<std::byte> table() const;
};

}  // namespace spillway::store
