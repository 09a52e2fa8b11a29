// How pages come from disk: reads that are under way while others are processed. Which way is chosen in one place,
// `page_reader`; what is read when, and where to, is decided by the stream (page_stream.hpp).
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/files.hpp"

namespace spillway {

inline constexpr std::uint64_t disk_block     = 4096;  ///< unbuffered reads are of whole ones, to such addresses
inline constexpr unsigned      reads_per_disk = 16;    ///< that are under way at most

/// A file that has pages.
struct PageFile {
  std::string path;
  FileHandle  handle;

  /// Unbuffered, since the system's cache would push out what this process holds; where the file system has no
  /// such reads, with it. `try_block` is a block's room, to try one at `at`; null: the file has no pages.
  PageFile(std::string path, std::uint64_t at, std::byte* try_block);
};

/// Bytes of a file that are to be in memory.
struct PageRead {
  const PageFile* file;
  std::uint64_t   offset, bytes;
  std::byte*      into;
};

/// Used by one thread. Destroyed, it waits for reads that are under way: nothing is written to memory afterwards.
class PageReader {
 public:
  struct Done {
    std::uint64_t      tag;
    std::exception_ptr failure;  ///< none: all bytes are there
  };

  PageReader()                             = default;
  PageReader(const PageReader&)            = delete;
  PageReader& operator=(const PageReader&) = delete;
  virtual ~PageReader()                    = default;

  /// As `run --json` has it.
  virtual std::string_view name() const = 0;
  /// Tags of reads that are under way differ, and are less than their greatest number.
  virtual void submit(std::uint64_t tag, const PageRead& read) = 0;
  /// Waits for one that is under way.
  virtual Done completed() = 0;
};

/// io_uring where kernel and file systems have it, else threads that read. `tries` has a block of each file that
/// has pages.
std::unique_ptr<PageReader> page_reader(std::span<const PageRead> tries, unsigned disks);

}  // namespace spillway
