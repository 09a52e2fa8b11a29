// The native store: a graph as one file that opens in milliseconds and is used where it lies.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "graph/degree_order.hpp"
#include "graph/reversing_sink.hpp"
#include "store/layout.hpp"
#include "store/paged_rows.hpp"

#include <spillway/graph.hpp>

namespace spillway::store {

/// An open .spill file whose header and section table hold together; the sections are not looked at.
class SpillFile {
 public:
  /// Over a network the file is read instead of mapped, where `budget` has room.
  explicit SpillFile(const std::string& path, std::shared_ptr<MemoryBudget> budget = nullptr);

  const Header&              header() const { return header_; }
  std::span<const Section>   sections() const { return sections_; }
  std::span<const std::byte> bytes_of(const Section& section) const;

  /// The graph over the mapped sections, indices unchecked (Graph::out checks them); or over pages, whose table is
  /// checked, with offsets that are counted in the budget.
  Graph::Parts parts() const;
  bool         is_paged() const { return find(SectionKind::page_table) != nullptr; }
  /// Files that have its pages; nothing: they are in this one.
  std::optional<StripeTable> stripes() const;

 private:
  template <class T>
  Array<T>       array(SectionKind kind, std::uint64_t count) const;
  const Section* find(SectionKind kind) const;
  void           load_header();
  void           check_sections() const;
  IdMap          ids() const;
  IdMap          ascending_ids() const;
  /// Of the graph, whatever its rows are of.
  std::uint64_t                    vertices() const;
  std::optional<SplitHeader>       split_header() const;
  std::shared_ptr<const SplitRows> split() const;
  std::shared_ptr<const EdgeList>  edges() const;

  std::shared_ptr<const PagedRows> paged(bool in) const;
  std::vector<PagedRows::File>     files_of(bool in, const PageTableHeader& table) const;

  std::string                   path_;
  std::shared_ptr<MemoryBudget> budget_;
  std::shared_ptr<MappedFile>   file_;
  Header                        header_;
  std::vector<Section>          sections_;
};

void write(const Graph& graph, OutputFile& file, Progress& progress);
/// In pages, to stripes where there are some.
void write(const Graph& graph, const PageOptions& options, OutputFile& file, Progress& progress,
           StripeOutput* stripes = nullptr);
/// A graph's file with its stripes and, if there is one, a table of ids: all of them get their names, or none.
/// Stripes of a file that this one replaces are removed.
void commit(OutputFile& file, StripeOutput& stripes, OutputFile* id_map = nullptr);
/// Files with pages of a .spill file, whether or not they are there; none where it is no such file.
std::vector<std::string> stripes_of(const std::string& path);

/// A file in pages whose rows come one after the other, while the graph is read.
class PagedOutput {
 public:
  /// Rows that are to be put in order, and in-edges, wait in `spill`.
  PagedOutput(const PageOptions& options, OutputFile& file, ArcSpill& spill, int threads, Progress& progress,
              bool in_edges = false, StripeOutput* stripes = nullptr);

  RowSink& rows();
  /// Whether rows have come.
  bool in_use() const { return pages_.has_begun(); }
  /// What the vertices are called in the order that they were written in. In-edges of a symmetric graph are its
  /// out-edges.
  IdMap finish(Array<EdgeIndex> offsets, const IdMap& ids, WeightType weight_type, bool symmetric);

 private:
  PageOptions                  options_;
  OutputFile&                  file_;
  ArcSpill&                    spill_;
  int                          threads_;
  Progress&                    progress_;
  StripeOutput*                stripes_;
  PageSink                     pages_;
  std::optional<OrderingSink>  ordering_;
  std::optional<ReversingSink> reversing_;
};

/// Of header and section table; the checksum field itself counts as zero.
std::uint64_t header_checksum(Header header, std::span<const Section> sections);

std::uint64_t section_checksum(std::span<const std::byte> bytes, int threads, Progress& progress);

struct SectionVerdict {
  std::string   section;
  std::uint64_t bytes = 0;
  std::string   problem;  ///< empty: good
};

/// Everything there is to check: header, checksums, indices, in-edges against out-edges, the symmetry flag.
std::vector<SectionVerdict> verify(const std::string& path, Progress& progress);

}  // namespace spillway::store
