#include "base/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <filesystem>

#include "base/fail.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

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

bool is_folder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool writes_in_place(const std::string& path) {
  struct stat info {};
  return path == "-" || (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

/// Where links lead in the end, whether or not anything is there.
std::string followed(const std::string& path) {
  constexpr int   most_links = 40;  // as the system follows
  fs::path        place      = path;
  std::error_code none;
  for (int links = 0; fs::is_symlink(place, none); ++links) {
    if (links == most_links) throw bad_input("{}: a link that leads in a circle", path);
    place = place.parent_path() / fs::read_symlink(place, none);
  }
  return place.string();
}

/// A name of the process's own in the folder of `path`, cut where two names together would be too long for one.
std::string temporary_beside(const std::string& path) {
  constexpr std::size_t        most_of_name = 200;
  static std::atomic<unsigned> serial{0};  // two files of one process may be on their way to one name
  const fs::path               place{path};
  const std::string            name = place.filename().string().substr(0, most_of_name);
  return (place.parent_path() / fmt::format("{}.{}-{}.tmp", name, getpid(), serial++)).string();
}

std::string read_stream(const FileHandle& file, const std::string& path) {
  constexpr std::size_t at_once = 1u << 16;
  std::string           text;
  for (;;) {
    const std::size_t held = text.size();
    text.resize(held + at_once);
    const ssize_t done = read(file.get(), text.data() + held, at_once);
    text.resize(held + static_cast<std::size_t>(std::max<ssize_t>(done, 0)));
    if (done == 0) return text;
    if (done > 0) continue;
    if (errno != EINTR) throw system_error("read", path);
    if (interrupt_requested) throw Error{ExitCode::interrupted, "interrupted"};
  }
}

FileHandle open_input(const std::string& path) {
  if (path != "-") return open_for_reading(path);
  FileHandle input{dup(STDIN_FILENO)};
  if (input.get() < 0) throw system_error("read", "standard input");
  return input;
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
  if (S_ISDIR(info.st_mode)) throw bad_input("{}: a file was expected, this is a folder", path);
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

bool is_stream(const std::string& path) {
  return path == "-" || (file_exists(path) && !is_regular_file(path) && !is_folder(path));
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

std::string read_whole(const std::string& path) { return read_stream(open_input(path), path); }

bool same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  return a == b || fs::equivalent(a, b, none) ||
         fs::weakly_canonical(fs::absolute(a), none) == fs::weakly_canonical(fs::absolute(b), none);
}

MappedFile::MappedFile(const std::string& path) {
  const FileHandle file = open_input(path);
  size_                 = file_size(file, path);
  if (size_ == 0) {  // pipes have no size, nor have the files that the system makes up while they are read
    read_ = read_stream(file, path);
    return;
  }
  void* mapped = mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) throw system_error("map", path);
  data_ = static_cast<const char*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_) munmap(const_cast<char*>(data_), size_);
}

void check_can_write(const std::string& path) {
  if (path == "-") return;
  if (is_folder(path)) throw bad_input("{}: a file name was expected, this is a folder", path);
  if (writes_in_place(path)) return;
  const fs::path    place  = followed(path);
  const std::string folder = place.has_parent_path() ? place.parent_path().string() : ".";
  if (!place.has_filename()) throw bad_input("{}: the name of a file is missing at its end", path);
  if (place.filename().string().size() > NAME_MAX)
    throw bad_input("{}: a name of {} bytes; file systems take up to {}", printable(place.filename().string()),
                    place.filename().string().size(), NAME_MAX);
  if (!file_exists(folder)) throw bad_input("{}: cannot create it: there is no folder {}", path, folder);
  if (!is_folder(folder)) throw bad_input("{}: cannot create it: {} is no folder", path, folder);
  if (access(folder.c_str(), W_OK | X_OK) != 0) throw system_error("create", path);
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (path_ == "-") {
    file_ = FileHandle{dup(STDOUT_FILENO)};
    if (file_.get() < 0) throw system_error("write", "standard output");
    return;
  }
  check_can_write(path_);
  if (writes_in_place(path_)) {
    file_ = FileHandle{open(path_.c_str(), O_WRONLY | O_CLOEXEC)};
    if (file_.get() < 0) throw system_error("open", path_);
    return;
  }
  path_      = followed(path_);
  temporary_ = temporary_beside(path_);
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
