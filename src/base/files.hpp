// Files: mapped in, written beside their place and renamed, so that nothing half-made has a finished name.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <spillway/engine/memory.hpp>

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
FileHandle open_for_reading(const std::string& path);
/// The same, and standard input for "-".
FileHandle    open_input(const std::string& path);
std::uint64_t file_size(const FileHandle& file, const std::string& path);
bool          file_exists(const std::string& path);
bool          is_regular_file(const std::string& path);
bool          is_folder(const std::string& path);

/// Bytes that may still be written into a folder; nothing where the system does not say.
std::optional<std::uint64_t> free_bytes(const std::string& folder);

/// What the system says of a path; nothing where it leads to nothing that can be looked at.
std::optional<struct stat> information_on(const std::string& path);

/// True for what can be read but once: "-", a pipe, a terminal.
bool is_stream(const std::string& path);

/// A file of this process alone, for what does not fit memory: whatever ends the process, nothing of it stays.
FileHandle open_nameless(const std::string& folder);

/// Reads exactly [offset, offset+bytes) or throws.
void read_at(const FileHandle& file, const std::string& path, std::uint64_t offset, void* into,
             std::uint64_t bytes);

/// Reads on from where the last call ended: up to `bytes`, and none at the end alone.
std::size_t read_some(const FileHandle& file, const std::string& path, void* into, std::size_t bytes);

/// A small file, or all that a stream has, as text. "-" is standard input.
std::string read_whole(const std::string& path);
/// All that is still to come.
std::string read_whole(const FileHandle& file, const std::string& path);

/// Where links lead in the end, whether or not anything is there.
std::string followed(const std::string& path);
/// That its name says it is in.
std::string folder_of(const std::string& path);

/// True when both names lead to one file, or would if there were one.
bool same_file(const std::string& a, const std::string& b);

/// What differs when a file is replaced or written to.
struct FileVersion {
  dev_t           device = 0;
  ino_t           inode  = 0;
  off_t           size   = 0;
  struct timespec modified {};

  explicit FileVersion(const struct stat& info)
      : device(info.st_dev), inode(info.st_ino), size(info.st_size), modified(info.st_mtim) {}

  bool operator==(const FileVersion& other) const {
    return device == other.device && inode == other.inode && size == other.size &&
           modified.tv_sec == other.modified.tv_sec && modified.tv_nsec == other.modified.tv_nsec;
  }
};

struct Mapping;  // an entry in the table of mapped files

/// A whole file, mapped read-only. A stream, which cannot be mapped, is read; so is a file over a network, where
/// the budget has room for it. A mapped file that can no longer be read ends the process with a message and exit
/// 3 (SIGBUS, mapped_file.cpp).
class MappedFile {
 public:
  explicit MappedFile(const std::string& path, std::shared_ptr<MemoryBudget> budget = nullptr);
  MappedFile(const MappedFile&)            = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return std::as_bytes(std::span{text()}); }
  std::string_view           text() const { return data_; }
  const std::string&         path() const { return path_; }

  /// Error{bad_input} if the file was written to since it was mapped. Another file under its name is no change.
  void check_unchanged() const;
  /// Safe in a signal handler.
  bool is_unchanged() const;

 private:
  bool map();
  void read(std::shared_ptr<MemoryBudget> budget);

  std::string                path_;
  FileHandle                 file_;  ///< open for as long as it is mapped
  std::optional<FileVersion> version_;
  std::string_view           data_;
  Mapping*                   mapping_ = nullptr;  ///< none where the bytes were read
  std::string                streamed_;
  Buffer<char>               copied_;
};

/// Sets what the fault handler writes before it ends the process, and where: `text` turns an error message into
/// that output; it is called when a file is mapped. The default is "error: MESSAGE" on standard error.
void report_mapped_faults(std::string (*text)(const std::string& message), int descriptor);

/// Error{bad_input} if a mapped file was written to since: of `path`, or any if that is empty. What was computed
/// from it is then worth nothing, so this is asked before an output gets its name.
void check_mapped_files(const std::string& path = {});

/// Throws what `OutputFile` would of a place where no file can be made, before the work and without making one.
void check_can_write(const std::string& path);

/// A file that appears under its name only when `commit` is called. Dropped before that, it leaves nothing; a
/// process that is killed leaves at most a temporary file, which the next writer of the same name removes.
/// "-" and existing non-files (/dev/null, a pipe) are written to directly; a link is written through, as every
/// other program does, also where it leads to nothing yet.
class OutputFile {
 public:
  /// What is `resumable` has the same name beside its place whoever writes it, may be kept unfinished, and is then
  /// found again with what it holds. One process can write it at a time.
  enum class Writer { this_process, another_program, resumable };

  explicit OutputFile(std::string path, Writer writer = Writer::this_process);
  OutputFile(const OutputFile&)            = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void               append(std::string_view text);
  void               append(const void* data, std::uint64_t bytes);
  void               write_at(std::uint64_t offset, const void* data, std::uint64_t bytes);
  void               resize(std::uint64_t bytes);
  const std::string& path() const { return path_; }
  /// Written to where it is, without a temporary file.
  bool is_direct() const { return direct_; }

  /// Its name until it is committed, where it is resumable.
  const std::string& unfinished_path() const { return temporary_; }
  /// Stays under that name when it is dropped.
  void keep_unfinished() { keeps_unfinished_ = true; }

  /// Where another program is to write the bytes; what it wrote counts once it is taken over.
  std::string place_for_program() const;
  void        take_from_program();

  /// On disk and under its name, with mode and owner of the file that it replaces.
  void commit() { commit_together({this}); }
  /// All of them, or none: each is complete and on disk before the first gets its name.
  static void commit_together(std::span<OutputFile* const> files);
  static void commit_together(std::initializer_list<OutputFile*> files) {
    commit_together(std::span{files.begin(), files.size()});
  }

  /// Another name in its folder, for when it is committed, with mode and owner of the file at `like`, if there is
  /// one.
  void rename(std::string path, std::string like);

 private:
  bool open_unnamed();
  void open_named();
  void open_resumable();
  void give_name();
  void copy_to_named();
  void keep_mode_and_owner();
  void flush();
  void move_into_place(bool may_be_undone);
  void keep_old();
  void undo() noexcept;
  void forget_old() noexcept;

  std::string   path_;
  std::string   like_;       ///< whose mode and owner it gets
  std::string   temporary_;  ///< the name that the file has until it is committed; empty while it has none
  std::string   old_;        ///< a second name of the file that was replaced, until all is committed
  FileHandle    old_file_;   ///< its lock
  FileHandle    file_;
  std::uint64_t position_ = 0;
  bool          direct_   = false;
  bool          replaces_ = false;

  bool keeps_unfinished_ = false;
};

}  // namespace spillway
