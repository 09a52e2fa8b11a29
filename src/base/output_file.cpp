// Outputs. A file has no name while it is written (O_TMPFILE), so that a killed process leaves nothing; where the
// system has no such files it has a random one. Complete and on disk, it is renamed over its target.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <vector>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/system_calls.hpp"
#include "base/text.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// --- names ---

// A temporary file of NAME is NAME.spillway-0123456789abcdef.tmp, the digits drawn at random. Whoever writes it
// holds a lock on it: one that nobody holds was left by a process that was killed. A program that is to write the
// bytes itself, and may make a file of its own for it, gets that name with `of_program` behind it.
// What may be kept unfinished is NAME.spillway-part.
constexpr std::string_view mark = ".spillway-", ending = ".tmp", of_program = ".out", unfinished = "part";
constexpr std::size_t      digits       = 16;
constexpr std::size_t      most_of_name = 200;  // two names together may be too long for one

std::string start_of_temporary(const std::string& path) {
  return fs::path{path}.filename().string().substr(0, most_of_name) + std::string{mark};
}

std::string temporary_beside(const std::string& path) {
  std::random_device  random;
  const std::uint64_t drawn = std::uint64_t{random()} << 32 | random();
  return (fs::path{path}.parent_path() / fmt::format("{}{:016x}{}", start_of_temporary(path), drawn, ending))
      .string();
}

bool is_temporary(std::string_view name, std::string_view start) {
  if (name.size() != start.size() + digits + ending.size() || !name.starts_with(start) || !name.ends_with(ending))
    return false;
  const auto middle = name.substr(start.size(), digits);
  return middle.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// --- what killed processes left ---

void remove_quietly(const std::string& path) noexcept {
  retried([&] { return system_calls().unlink(path.c_str()); });
}

FileHandle open_quietly(const std::string& path, int flags) {
  return FileHandle{retried([&] { return system_calls().open(path.c_str(), flags, 0); })};
}

bool lock(const FileHandle& file, int how) {
  return retried([&] { return system_calls().flock(file.get(), how); }) == 0;
}

void remove_if_left_behind(const std::string& path) {
  constexpr int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  FileHandle    file  = open_quietly(path, O_RDWR | flags);  // locks over NFS need the right to write
  if (file.get() < 0) file = open_quietly(path, O_RDONLY | flags);
  struct stat info {};
  if (file.get() < 0 || retried([&] { return system_calls().fstat(file.get(), &info); }) != 0) return;
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || !lock(file, LOCK_EX | LOCK_NB)) return;
  remove_quietly(path + std::string{of_program});  // first: without the other it would never be found
  remove_quietly(path);
}

/// A command may write many files into one folder, which then would be listed over and over: after some of them it
/// is not.
bool is_worth_a_look(const std::string& target) {
  constexpr std::size_t                               most_targets = 16;
  static std::mutex                                   mutex;
  static std::map<std::string, std::set<std::string>> targets;
  const std::scoped_lock                              lock{mutex};
  std::set<std::string>&                              known = targets[folder_of(target)];
  if (known.size() < most_targets) known.insert(target);
  return known.contains(target);
}

void remove_left_behind(const std::string& target) {
  if (!is_worth_a_look(target)) return;
  const std::string        start = start_of_temporary(target);
  std::vector<std::string> found;
  std::error_code          none;
  for (fs::directory_iterator entry{folder_of(target), none}, end; !none && entry != end; entry.increment(none))
    if (is_temporary(entry->path().filename().string(), start)) found.push_back(entry->path().string());
  for (const std::string& path : found) remove_if_left_behind(path);
}

// --- writing ---

bool is_written_directly(const std::string& path) { return path == "-" || is_stream(path); }

void write_fully(int descriptor, const std::string& path, std::uint64_t offset, const void* data,
                 std::uint64_t bytes, bool positioned) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = retried_unless_interrupted([&] {
      return positioned ? system_calls().pwrite(descriptor, from, bytes, static_cast<off_t>(offset))
                        : system_calls().write(descriptor, from, bytes);
    });
    if (done < 0 && errno == EFAULT) check_mapped_files();  // the bytes come from one that was cut short
    if (done == 0) errno = ENOSPC;
    if (done <= 0) throw system_error("write", path);
    from += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::uint64_t>(done);
  }
}

/// Whether a call failed because this file system, or this user, cannot have it, rather than for a fault.
bool is_unsupported(int error) {
  return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL || error == EPERM || error == EACCES ||
         error == EISDIR || error == ENOENT || error == EXDEV || error == EMLINK || error == EROFS;
}

void flush_to_disk(const FileHandle& file, const std::string& path) {
  if (retried([&] { return system_calls().fsync(file.get()); }) == 0 || is_unsupported(errno)) return;
  throw system_error("write to disk", path);
}

/// A name lasts when its folder is on disk.
void flush_folder(const std::string& path) {
  const FileHandle folder = open_quietly(folder_of(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder.get() >= 0) return flush_to_disk(folder, path);
  if (!is_unsupported(errno)) throw system_error("write to disk", path);
}

}  // namespace

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path{path}.parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string followed(const std::string& path) {
  constexpr int   most_links = 40;  // as the system follows
  fs::path        place      = path;
  std::error_code none;
  for (int links = 0; fs::is_symlink(place, none); ++links) {
    if (links == most_links) throw bad_input("{}: too many symbolic links", path);
    place = place.parent_path() / fs::read_symlink(place, none);
  }
  return place.string();
}

void check_can_write(const std::string& path) {
  if (path == "-") return;
  if (is_folder(path)) throw bad_input("{}: a file name was expected, this is a folder", path);
  if (is_written_directly(path)) return;
  const fs::path    place  = followed(path);
  const std::string folder = folder_of(place.string());
  if (!place.has_filename()) throw bad_input("{}: the name of a file is missing at its end", path);
  if (place.filename().string().size() > NAME_MAX)
    throw bad_input("{}: a name of {} bytes; file systems take up to {}", printable(place.filename().string()),
                    place.filename().string().size(), NAME_MAX);
  if (!file_exists(folder)) throw bad_input("{}: cannot create it: there is no folder {}", path, folder);
  if (!is_folder(folder)) throw bad_input("{}: cannot create it: {} is not a folder", path, folder);
  if (access(folder.c_str(), W_OK | X_OK) != 0) throw system_error("create", path);
}

OutputFile::OutputFile(std::string path, Writer writer) : path_(std::move(path)) {
  check_can_write(path_);
  direct_ = is_written_directly(path_);
  if (direct_) {
    file_ = FileHandle{retried_unless_interrupted([&] {
      return path_ == "-" ? system_calls().dup(STDOUT_FILENO)
                          : system_calls().open(path_.c_str(), O_WRONLY | O_CLOEXEC, 0);
    })};
    if (file_.get() < 0) throw system_error("write", path_ == "-" ? "standard output" : path_);
    return;
  }
  path_ = like_ = followed(path_);
  remove_left_behind(path_);
  if (writer == Writer::resumable)
    open_resumable();
  else if (writer == Writer::another_program || !open_unnamed())
    open_named();
}

/// False where the system has no files without a name.
bool OutputFile::open_unnamed() {
  file_ = FileHandle{retried(
      [&] { return system_calls().open(folder_of(path_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666); })};
  if (file_.get() >= 0) lock(file_, LOCK_EX | LOCK_NB);
  if (file_.get() < 0 && !is_unsupported(errno)) throw system_error("create", path_);
  return file_.get() >= 0;
}

void OutputFile::open_named() {
  for (;;) {
    const std::string name = temporary_beside(path_);
    // What replaces a file that others may not read is not for them either while it is written.
    const mode_t mode = file_exists(path_) ? 0600 : 0666;
    FileHandle   file{retried([&] {
      return system_calls().open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    })};
    if (file.get() < 0 && errno == EEXIST) continue;
    if (file.get() < 0) throw system_error("create", path_);
    file_      = std::move(file);
    temporary_ = name;
    lock(file_, LOCK_EX);
    // Before the lock was there, another process may have taken the file for one that was left behind.
    struct stat info {};
    if (retried([&] { return system_calls().fstat(file_.get(), &info); }) != 0) {
      const int code = errno;
      remove_quietly(temporary_);
      errno = code;
      throw system_error("inspect", path_);
    }
    if (info.st_nlink > 0) return;
  }
}

void OutputFile::open_resumable() {
  const std::string name =
      (fs::path{path_}.parent_path() / (start_of_temporary(path_) + std::string{unfinished})).string();
  for (;;) {
    FileHandle file{retried(
        [&] { return system_calls().open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666); })};
    if (file.get() < 0) throw system_error("create", name);
    if (!lock(file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
      throw bad_input("{}: another process is writing it, as {}; wait until it has ended", path_, name);
    struct stat info {};
    if (retried([&] { return system_calls().fstat(file.get(), &info); }) != 0) throw system_error("inspect", name);
    if (info.st_nlink == 0) continue;  // whoever wrote it has finished meanwhile
    file_      = std::move(file);
    temporary_ = name;
    return;
  }
}

OutputFile::~OutputFile() {
  forget_old();
  if (temporary_.empty() || keeps_unfinished_) return;
  remove_quietly(temporary_ + std::string{of_program});
  remove_quietly(temporary_);
}

void OutputFile::append(std::string_view text) { append(text.data(), text.size()); }

void OutputFile::append(const void* data, std::uint64_t bytes) {
  write_fully(file_.get(), path_, position_, data, bytes, /*positioned=*/!direct_);
  position_ += bytes;
}

void OutputFile::write_at(std::uint64_t offset, const void* data, std::uint64_t bytes) {
  if (direct_) throw usage_error("{}: this format needs a regular file to write to", path_);
  write_fully(file_.get(), path_, offset, data, bytes, /*positioned=*/true);
}

void OutputFile::resize(std::uint64_t bytes) {
  if (direct_) throw usage_error("{}: this format needs a regular file to write to", path_);
  if (retried([&] { return system_calls().ftruncate(file_.get(), static_cast<off_t>(bytes)); }) != 0)
    throw system_error("resize", path_);
}

std::string OutputFile::place_for_program() const { return temporary_ + std::string{of_program}; }

void OutputFile::take_from_program() {
  const std::string made = place_for_program();
  FileHandle        file{retried([&] { return system_calls().open(made.c_str(), O_RDWR | O_CLOEXEC, 0); })};
  if (file.get() < 0) throw system_error("open", made);
  lock(file, LOCK_EX | LOCK_NB);
  if (retried([&] { return system_calls().rename(made.c_str(), temporary_.c_str()); }) != 0)
    throw system_error("rename", made);
  file_ = std::move(file);
}

void OutputFile::rename(std::string path, std::string like) {
  path_ = followed(path);
  like_ = std::move(like);
}

void OutputFile::keep_mode_and_owner() {
  replaces_      = is_regular_file(path_);
  const auto old = information_on(like_);
  if (!old || !S_ISREG(old->st_mode)) return;
  struct stat mine {};
  if (retried([&] { return system_calls().fstat(file_.get(), &mine); }) != 0) throw system_error("inspect", path_);
  const bool owned = (mine.st_uid == old->st_uid && mine.st_gid == old->st_gid) ||
                     retried([&] { return system_calls().fchown(file_.get(), old->st_uid, old->st_gid); }) == 0;
  const mode_t mode = old->st_mode & (owned ? 07777 : 0777);  // no other user's rights to act as the owner
  if (retried([&] { return system_calls().fchmod(file_.get(), mode); }) != 0 && !is_unsupported(errno))
    throw system_error("set the mode of", path_);
}

void OutputFile::flush() {
  flush_to_disk(file_, path_);
  // Some file systems say only when a descriptor is closed that the disk is full. This one is needed for its lock.
  FileHandle second{retried([&] { return system_calls().dup(file_.get()); })};
  if (second.get() < 0 || !second.close()) throw system_error("write", path_);
}

void OutputFile::give_name() {
  const std::string descriptor = fmt::format("/proc/self/fd/{}", file_.get());
  while (temporary_.empty()) {
    const std::string name = temporary_beside(path_);
    if (retried([&] {
          return system_calls().linkat(AT_FDCWD, descriptor.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
        }) == 0)
      temporary_ = name;
    else if (is_unsupported(errno))  // no /proc, or no such links
      copy_to_named();
    else if (errno != EEXIST)
      throw system_error("create", path_);
  }
}

void OutputFile::copy_to_named() {
  constexpr std::uint64_t at_once = 1u << 20;
  const FileHandle        from    = std::exchange(file_, FileHandle{});
  open_named();
  std::vector<char>   piece(at_once);
  const std::uint64_t bytes = file_size(from, path_);
  for (std::uint64_t offset = 0; offset < bytes; offset += at_once) {
    const std::uint64_t here = std::min(at_once, bytes - offset);
    read_at(from, path_, offset, piece.data(), here);
    write_fully(file_.get(), path_, offset, piece.data(), here, /*positioned=*/true);
  }
  keep_mode_and_owner();
  flush();
}

/// The old file keeps a second name until the others have theirs. Where there are no such links it is lost.
void OutputFile::keep_old() {
  while (old_.empty()) {
    const std::string name = temporary_beside(path_);
    // Locked, so that no other process takes it for one that was left behind.
    old_file_ = open_quietly(path_, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (old_file_.get() >= 0) lock(old_file_, LOCK_EX | LOCK_NB);
    if (retried([&] { return system_calls().linkat(AT_FDCWD, path_.c_str(), AT_FDCWD, name.c_str(), 0); }) == 0)
      old_ = name;
    else if (is_unsupported(errno))
      return;
    else if (errno != EEXIST)
      throw system_error("keep the old file of", path_);
  }
}

void OutputFile::move_into_place(bool may_be_undone) {
  if (may_be_undone && replaces_) keep_old();
  if (retried([&] { return system_calls().rename(temporary_.c_str(), path_.c_str()); }) != 0)
    throw system_error("rename into place", path_);
  temporary_.clear();
}

void OutputFile::undo() noexcept {
  if (!replaces_) return remove_quietly(path_);
  if (old_.empty()) return;
  retried([&] { return system_calls().rename(old_.c_str(), path_.c_str()); });
  old_.clear();
}

void OutputFile::forget_old() noexcept {
  if (!old_.empty()) remove_quietly(old_);
  old_.clear();
  old_file_.close();
}

void OutputFile::commit_together(std::span<OutputFile* const> files) {
  std::vector<OutputFile*> waiting;
  std::copy_if(files.begin(), files.end(), std::back_inserter(waiting), [](auto* file) { return !file->direct_; });
  for (OutputFile* file : waiting) {
    file->keep_mode_and_owner();
    file->flush();
    file->give_name();
  }
  std::size_t moved = 0;
  try {
    for (; moved < waiting.size(); ++moved) waiting[moved]->move_into_place(moved + 1 < waiting.size());
  } catch (...) {
    while (moved > 0) waiting[--moved]->undo();
    throw;
  }
  for (OutputFile* file : waiting) file->forget_old();
  for (OutputFile* file : waiting) flush_folder(file->path_);
}

}  // namespace spillway
