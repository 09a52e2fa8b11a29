#include "base/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/fail.hpp"
#include "base/system_calls.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

/// Whether a path that cannot be looked at leads to nothing, rather than to something that fails.
bool leads_nowhere(int error) {
  return error == ENOENT || error == ENOTDIR || error == EACCES || error == ENAMETOOLONG || error == ELOOP;
}

struct stat information_on(const FileHandle& file, const std::string& path) {
  struct stat info {};
  if (retried([&] { return system_calls().fstat(file.get(), &info); }) != 0) throw system_error("inspect", path);
  return info;
}

}  // namespace

FileHandle::~FileHandle() { close(); }

bool FileHandle::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  // After a signal it is closed all the same; closing again might hit another thread's file.
  return descriptor < 0 || system_calls().close(descriptor) == 0 || errno == EINTR;
}

FileHandle open_for_reading(const std::string& path) {
  FileHandle file{
      retried_unless_interrupted([&] { return system_calls().open(path.c_str(), O_RDONLY | O_CLOEXEC, 0); })};
  if (file.get() < 0) throw system_error("open", path);
  if (S_ISDIR(information_on(file, path).st_mode))
    throw bad_input("{}: a file was expected, this is a folder", path);
  return file;
}

FileHandle open_nameless(const std::string& folder) {
  FileHandle file{system_calls().open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
  if (file.get() >= 0) return file;
  // Where the file system has no files without names, one whose name goes at once.
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    const std::string name = fmt::format("{}/spillway-{}-{}.tmp", folder, ::getpid(), attempt);
    file = FileHandle{system_calls().open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600)};
    if (file.get() < 0 && errno == EEXIST) continue;  // a process of this number left it
    if (file.get() < 0) break;
    system_calls().unlink(name.c_str());
    return file;
  }
  throw system_error("make a temporary file in", folder);
}

FileHandle open_input(const std::string& path) {
  if (path != "-") return open_for_reading(path);
  FileHandle input{retried([&] { return system_calls().dup(STDIN_FILENO); })};
  if (input.get() < 0) throw system_error("read", "standard input");
  return input;
}

std::uint64_t file_size(const FileHandle& file, const std::string& path) {
  return static_cast<std::uint64_t>(information_on(file, path).st_size);
}

std::optional<std::uint64_t> free_bytes(const std::string& folder) {
  const FileHandle opened{
      retried([&] { return system_calls().open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0); })};
  struct statfs info {};
  if (opened.get() < 0 || retried([&] { return system_calls().fstatfs(opened.get(), &info); }) != 0)
    return std::nullopt;
  return static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
}

std::optional<struct stat> information_on(const std::string& path) {
  struct stat info {};
  if (retried([&] { return system_calls().stat(path.c_str(), &info); }) == 0) return info;
  if (!leads_nowhere(errno)) throw system_error("inspect", path);
  return std::nullopt;
}

bool file_exists(const std::string& path) { return information_on(path).has_value(); }

bool is_regular_file(const std::string& path) {
  const auto info = information_on(path);
  return info && S_ISREG(info->st_mode);
}

bool is_folder(const std::string& path) {
  const auto info = information_on(path);
  return info && S_ISDIR(info->st_mode);
}

bool is_stream(const std::string& path) {
  if (path == "-") return true;
  const auto info = information_on(path);
  return info && !S_ISREG(info->st_mode) && !S_ISDIR(info->st_mode);
}

void read_at(const FileHandle& file, const std::string& path, std::uint64_t offset, void* into,
             std::uint64_t bytes) {
  char* to = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t done = retried_unless_interrupted(
        [&] { return system_calls().pread(file.get(), to, bytes, static_cast<off_t>(offset)); });
    // Unbuffered, nothing is read on from an end that is not the end of a block.
    const bool ended = done == 0 || (done < 0 && errno == EINVAL && file_size(file, path) <= offset);
    if (ended) throw bad_input("{}: ended at byte {} while {} more were expected", path, offset, bytes);
    if (done < 0) throw system_error("read", path);
    to += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::uint64_t>(done);
  }
}

std::size_t read_some(const FileHandle& file, const std::string& path, void* into, std::size_t bytes) {
  const ssize_t done = retried_unless_interrupted([&] { return system_calls().read(file.get(), into, bytes); });
  if (done < 0) throw system_error("read", path);
  return static_cast<std::size_t>(done);
}

std::string read_whole(const std::string& path) { return read_whole(open_input(path), path); }

std::string read_whole(const FileHandle& file, const std::string& path) {
  constexpr std::size_t at_once = 1u << 16;
  std::string           text;
  for (;;) {
    const std::size_t held = text.size();
    text.resize(held + at_once);
    const std::size_t done = read_some(file, path, text.data() + held, at_once);
    text.resize(held + done);
    if (done == 0) return text;
  }
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  return a == b || fs::equivalent(a, b, none) ||
         fs::weakly_canonical(fs::absolute(followed(a)), none) ==
             fs::weakly_canonical(fs::absolute(followed(b)), none);
}

}  // namespace spillway
