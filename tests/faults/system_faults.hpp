// Faults of the system by counting: the n-th call on files fails, does less than it was asked to, or ends the
// process. The calls are those of base/system_calls.hpp, replaced while a `SystemFaults` lives.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/system_calls.hpp"

namespace spillway::testing {

struct Fault {
  enum class Kind { error, short_count, end_of_process };

  Kind kind = Kind::error;
  int  code = 0;  ///< errno of an error
};

inline std::string as_text(const Fault& fault) {
  if (fault.kind == Fault::Kind::short_count) return "is short";
  return fault.kind == Fault::Kind::end_of_process ? "ends the process" : std::strerror(fault.code);
}

/// Exit code of a process that a fault ended.
inline constexpr int ended_by_fault = 77;

class SystemFaults {
 public:
  /// Call number `at`, from 1, suffers `fault`.
  SystemFaults(Fault fault, std::uint64_t at) : before_(system_calls()) {
    fault_ = fault, at_ = at, made_ = 0, hit_ = nullptr, real_ = before_;
    replace(system_calls());
  }
  SystemFaults(const SystemFaults&)            = delete;
  SystemFaults& operator=(const SystemFaults&) = delete;
  ~SystemFaults() { system_calls() = before_; }

  /// The call that suffered, by name; null if there were not so many calls.
  const char*   hit() const { return hit_; }
  std::uint64_t made() const { return made_; }

 private:
  /// Counts a call; true if it is the one.
  static bool is_the_one(const char* name) {
    if (++made_ != at_) return false;
    hit_ = name;
    if (fault_.kind == Fault::Kind::end_of_process) _exit(ended_by_fault);
    errno = fault_.code;
    return true;
  }

  static bool fails(const char* name) { return is_the_one(name) && fault_.kind == Fault::Kind::error; }

  /// What is left of `bytes` for a call that may do less.
  static std::size_t shortened(std::size_t bytes) {
    const bool now = hit_ && made_ == at_ && fault_.kind == Fault::Kind::short_count;
    return now && bytes > 1 ? bytes / 2 : bytes;
  }

  static void replace(SystemCalls& table) {
    table.open = [](const char* path, int flags, mode_t mode) {
      return fails("open") ? -1 : real_.open(path, flags, mode);
    };
    table.dup   = [](int from) { return fails("dup") ? -1 : real_.dup(from); };
    table.close = [](int descriptor) {  // which it is, whatever is said
      const bool failed = fails("close");
      const int  code   = errno;
      const int  done   = real_.close(descriptor);
      if (failed) errno = code;
      return failed ? -1 : done;
    };
    table.read = [](int from, void* into, std::size_t bytes) {
      return fails("read") ? ssize_t{-1} : real_.read(from, into, shortened(bytes));
    };
    table.pread = [](int from, void* into, std::size_t bytes, off_t offset) {
      return fails("pread") ? ssize_t{-1} : real_.pread(from, into, shortened(bytes), offset);
    };
    table.write = [](int to, const void* from, std::size_t bytes) {
      return fails("write") ? ssize_t{-1} : real_.write(to, from, shortened(bytes));
    };
    table.pwrite = [](int to, const void* from, std::size_t bytes, off_t offset) {
      return fails("pwrite") ? ssize_t{-1} : real_.pwrite(to, from, shortened(bytes), offset);
    };
    table.stat  = [](const char* path, struct stat* info) { return fails("stat") ? -1 : real_.stat(path, info); };
    table.fstat = [](int file, struct stat* info) { return fails("fstat") ? -1 : real_.fstat(file, info); };
    table.ftruncate = [](int file, off_t bytes) { return fails("ftruncate") ? -1 : real_.ftruncate(file, bytes); };
    table.fchown    = [](int file, uid_t user, gid_t group) {
      return fails("fchown") ? -1 : real_.fchown(file, user, group);
    };
    table.fchmod = [](int file, mode_t mode) { return fails("fchmod") ? -1 : real_.fchmod(file, mode); };
    table.flock  = [](int file, int how) { return fails("flock") ? -1 : real_.flock(file, how); };
    table.fsync  = [](int file) { return fails("fsync") ? -1 : real_.fsync(file); };
    table.linkat = [](int from_folder, const char* from, int to_folder, const char* to, int flags) {
      return fails("linkat") ? -1 : real_.linkat(from_folder, from, to_folder, to, flags);
    };
    table.rename = [](const char* from, const char* to) { return fails("rename") ? -1 : real_.rename(from, to); };
    table.unlink = [](const char* path) { return fails("unlink") ? -1 : real_.unlink(path); };
    table.mmap   = [](void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
      return fails("mmap") ? reinterpret_cast<void*>(-1) : real_.mmap(at, bytes, protection, flags, file, offset);
    };
  }

  static inline Fault                      fault_;
  static inline std::uint64_t              at_ = 0;
  static inline std::atomic<std::uint64_t> made_{0};
  static inline std::atomic<const char*>   hit_{nullptr};
  static inline SystemCalls                real_{};
  SystemCalls                              before_;
};

/// No test cuts the power, and waiting for the disk takes longer than all else.
class WithoutDisk {
 public:
  WithoutDisk() : before_(system_calls()) {
    system_calls().fsync = [](int) { return 0; };
  }
  WithoutDisk(const WithoutDisk&)            = delete;
  WithoutDisk& operator=(const WithoutDisk&) = delete;
  ~WithoutDisk() { system_calls() = before_; }

 private:
  SystemCalls before_;
};

inline std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {}));
}

}  // namespace spillway::testing
