// Files: mapped in, written beside their place and renamed, so that nothing half-made has a finished name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace spillway {

/// An open descriptor, closed once.
class FileHandle {
 public:
  FileHandle() = default;
  explicit FileHandle(int descriptor) : descriptor_(descriptor) {}
  FileHandle(FileHandle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~FileHandle();

  int get() const { return descriptor_; }
  /// False if the system reports an error that writing had not shown.
  bool close();

 private:
  int descriptor_ = -1;
};

/// Opens a file for reading; a folder, a missing or an unreadable file is Error{bad_input}.
FileHandle    open_for_reading(const std::string& path);
std::uint64_t file_size(const FileHandle& file, const std::string& path);
bool          file_exists(const std::string& path);
bool          is_regular_file(const std::string& path);

/// True for what can be read but once: "-", a pipe, a terminal.
bool is_stream(const std::string& path);

/// Reads exactly [offset, offset+bytes) or throws.
void read_at(const FileHandle& file, const std::string& path, std::uint64_t offset, void* into,
             std::uint64_t bytes);

/// A small file, or all that a stream has, as text. "-" is standard input.
std::string read_whole(const std::string& path);

/// True when both names lead to one file.
bool same_file(const std::string& a, const std::string& b);

/// A whole file, mapped read-only; a stream, which cannot be mapped, is read. A mapped file must not shrink while
/// it is in use: the system answers that with SIGBUS.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  MappedFile(const MappedFile&)            = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span{text()}); }
  std::string_view           text() const { return data_ ? std::string_view{data_, size_} : read_; }

 private:
  const char*   data_ = nullptr;
  std::uint64_t size_ = 0;
  std::string   read_;  ///< of a stream
};

/// Throws what `OutputFile` would of a place where no file can be made, before the work and without making one.
void check_can_write(const std::string& path);

/// A file that appears under its name only when `commit` is called. Dropped before that, it leaves nothing.
/// "-" and existing non-files (/dev/null, a pipe) are written to directly; a link is written through, as every
/// other program does, also where it leads to nothing yet.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  OutputFile(const OutputFile&)            = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void               append(std::string_view text);
  void               append(const void* data, std::uint64_t bytes);
  void               write_at(std::uint64_t offset, const void* data, std::uint64_t bytes);
  void               resize(std::uint64_t bytes);
  const std::string& path() const { return path_; }
  /// Where the bytes are until then, for another program to write them; empty where `path` is written to directly.
  const std::string& temporary() const { return temporary_; }
  void               commit();

 private:
  std::string   path_;
  std::string   temporary_;  ///< empty when written in place
  FileHandle    file_;
  std::uint64_t position_  = 0;
  bool          committed_ = false;
};

}  // namespace spillway
