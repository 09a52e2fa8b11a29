#include "base/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/fail.hpp"

namespace spillway {
namespace {

void write_fully(int descriptor, const std::string& path, std::uint64_t offset, const void* data,
                 std::uint64_t bytes, bool positioned) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done =
        positioned ? pwrite(descriptor, from, bytes, static_cast<off_t>(offset)) : write(descriptor, from, bytes);
    if (done < 0) {
      if (errno == EINTR) continue;
      throw system_error("write", path);
    }
    from += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::uint64_t>(done);
  }
}

bool writes_in_place(const std::string& path) {
  struct stat info {};
  return path == "-" || (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

}  // namespace

FileHandle::~FileHandle() { close(); }

bool FileHandle::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  return descriptor < 0 || ::close(descriptor) == 0;
}

FileHandle open_for_reading(const std::string& path) {
  FileHandle file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.get() < 0 && errno == EINTR) throw Error{ExitCode::interrupted, "interrupted"};
  if (file.get() < 0) throw system_error("open", path);
  struct stat info {};
  if (fstat(file.get(), &info) != 0) throw system_error("inspect", path);
  if (S_ISDIR(info.st_mode)) throw bad_input("{}: is a directory; a graph file was expected", path);
  return file;
}

std::uint64_t file_size(const FileHandle& file, const std::string& path) {
  struct stat info {};
  if (fstat(file.get(), &info) != 0) throw system_error("inspect", path);
  return static_cast<std::uint64_t>(info.st_size);
}

bool file_exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

bool is_regular_file(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

void read_at(const FileHandle& file, const std::string& path, std::uint64_t offset, void* into,
             std::uint64_t bytes) {
  char* to = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t done = pread(file.get(), to, bytes, static_cast<off_t>(offset));
    if (done < 0) {
      if (errno == EINTR) continue;
      throw system_error("read", path);
    }
    if (done == 0) throw bad_input("{}: ended at byte {} while {} more were expected", path, offset, bytes);
    to += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::uint64_t>(done);
  }
}

std::string read_whole(const std::string& path) {
  const FileHandle file = open_for_reading(path);
  std::string      text(file_size(file, path), '\0');
  read_at(file, path, 0, text.data(), text.size());
  return text;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  return a == b || std::filesystem::equivalent(a, b, none) ||
         std::filesystem::weakly_canonical(std::filesystem::absolute(a), none) ==
             std::filesystem::weakly_canonical(std::filesystem::absolute(b), none);
}

MappedFile::MappedFile(const std::string& path) {
  const FileHandle file = open_for_reading(path);
  size_                 = file_size(file, path);
  if (size_ == 0) return;
  void* mapped = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) throw system_error("map", path);
  data_ = static_cast<const std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<std::byte*>(data_), size_);
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (path_ == "-") {
    file_ = FileHandle{dup(STDOUT_FILENO)};
    if (file_.get() < 0) throw system_error("write", "standard output");
    return;
  }
  struct stat info {};
  if (stat(path_.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    throw bad_input("{}: is a directory; a file name was expected", path_);
  if (writes_in_place(path_)) {
    file_ = FileHandle{open(path_.c_str(), O_WRONLY | O_CLOEXEC)};
    if (file_.get() < 0) throw system_error("open", path_);
    return;
  }
  // A link is written through, as every other program does.
  if (std::filesystem::is_symlink(path_)) path_ = std::filesystem::weakly_canonical(path_).string();
  static std::atomic<unsigned> serial{0};  // two files of one process may be on their way to one name
  temporary_ = fmt::format("{}.{}-{}.tmp", path_, getpid(), serial++);
  file_      = FileHandle{open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  if (file_.get() < 0) {
    temporary_.clear();
    throw system_error("create", path_);
  }
}

OutputFile::~OutputFile() {
  if (!committed_ && !temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::append(std::string_view text) { append(text.data(), text.size()); }

void OutputFile::append(const void* data, std::uint64_t bytes) {
  write_fully(file_.get(), path_, position_, data, bytes, /*positioned=*/!temporary_.empty());
  position_ += bytes;
}

void OutputFile::write_at(std::uint64_t offset, const void* data, std::uint64_t bytes) {
  if (temporary_.empty()) throw usage_error("{}: this format needs a regular file to write to", path_);
  write_fully(file_.get(), path_, offset, data, bytes, /*positioned=*/true);
}

void OutputFile::resize(std::uint64_t bytes) {
  if (ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) throw system_error("resize", path_);
}

void OutputFile::commit() {
  committed_ = true;
  if (temporary_.empty()) return;
  if (!file_.close()) {  // some file systems say only now that the disk is full
    committed_ = false;
    throw system_error("write", path_);
  }
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    committed_ = false;
    throw system_error("rename into place", path_);
  }
}

}  // namespace spillway
