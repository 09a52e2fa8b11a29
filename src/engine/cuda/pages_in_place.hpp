// Compressed pages that the host keeps, all of them: rows that a GPU reads where they are.
#pragma once

#include "engine/cuda/host_memory.hpp"
#include "supply/page_stream.hpp"

#include <spillway/engine/cuda/memory.hpp>
#include <spillway/engine/cuda/rows.cuh>

namespace spillway::cuda {

/// The record of a row is its code as CompressedRows has it. Rows that take several pages are coded as one behind
/// all pages.
class PagesInPlace {
 public:
  /// Reads all pages, and decodes them once: kernels trust what they read. Weights are there, if there are any.
  /// Throws Error{does_not_fit} where memory is too small for all of them.
  PagesInPlace(Device& device, const store::PagedRows& rows, const RunOptions& options,
               const std::shared_ptr<MemoryBudget>& budget);

  /// Why pages like these cannot be read in place; empty: they can.
  static std::string why_not(const store::PagedRows& rows);
  /// Host memory that they take at least: pages, rows that are joined, what joining the longest takes, and what
  /// so many threads read and decode them with.
  static std::uint64_t host_bytes(const store::PagedRows& rows, int threads);

  CompressedRows   rows() const { return {slices_.data(), readable_.as<std::uint32_t>(), 0, weight_bits_}; }
  bool             is_of(const store::PagedRows* pages) const { return pages_ == pages; }
  std::uint64_t    pages() const { return pages_->table().size(); }
  std::uint64_t    bytes() const { return pages_->bytes(); }
  std::string_view reader() const { return reader_; }

 private:
  using RowSlice = CompressedRows::RowSlice;

  void read(const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget);
  void join_large_rows(Progress* progress);
  void find_rows(Device& device, const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget);

  std::uint32_t*             words() const { return reinterpret_cast<std::uint32_t*>(kept_.memory.page(0)); }
  std::span<const std::byte> bytes_of(std::uint64_t page) const {
    return {kept_.page(page), pages_->table().format().page_bytes};
  }

  /// A row behind all pages.
  struct Joined {
    Vertex        vertex;
    std::uint32_t at;  ///< in words
  };

  const store::PagedRows* pages_;
  unsigned                weight_bits_;
  std::string             reader_;
  KeptPages               kept_;
  HostReadable            readable_;
  std::vector<Joined>     joined_;
  DeviceArray<RowSlice>   slices_;
};

}  // namespace spillway::cuda
