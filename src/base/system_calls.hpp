// Every call to the system that touches files, and the one that starts threads, in one table: tests replace
// entries to make the n-th call fail, to end the process there, or to stand for a file system that is not at hand.
#pragma once

#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstddef>

#include "base/interrupt.hpp"
#include "base/uring.hpp"

#include <spillway/error.hpp>

namespace spillway {

struct SystemCalls {
  // clang-format off
  int     (*open)(const char* path, int flags, mode_t mode);
  int     (*dup)(int descriptor);
  int     (*close)(int descriptor);
  ssize_t (*read)(int descriptor, void* into, std::size_t bytes);
  ssize_t (*pread)(int descriptor, void* into, std::size_t bytes, off_t offset);
  ssize_t (*write)(int descriptor, const void* from, std::size_t bytes);
  ssize_t (*pwrite)(int descriptor, const void* from, std::size_t bytes, off_t offset);
  int     (*stat)(const char* path, struct stat* info);
  int     (*fstat)(int descriptor, struct stat* info);
  int     (*fstatfs)(int descriptor, struct statfs* info);
  int     (*ftruncate)(int descriptor, off_t bytes);
  int     (*fallocate)(int descriptor, off_t offset, off_t bytes);
  int     (*fchown)(int descriptor, uid_t user, gid_t group);
  int     (*fchmod)(int descriptor, mode_t mode);
  int     (*flock)(int descriptor, int operation);
  int     (*fsync)(int descriptor);
  int     (*linkat)(int from_folder, const char* from, int to_folder, const char* to, int flags);
  int     (*rename)(const char* from, const char* to);
  int     (*unlink)(const char* path);
  void*   (*mmap)(void* at, std::size_t bytes, int protection, int flags, int descriptor, off_t offset);
  int     (*munmap)(void* at, std::size_t bytes);
  int     (*start_thread)(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* given);
  int     (*uring_open)(unsigned entries, io_uring** opened);
  int     (*uring_read)(io_uring* ring, int descriptor, void* into, unsigned bytes, off_t offset, std::uint64_t tag);
  int     (*uring_wait)(io_uring* ring, std::uint64_t* tag, int* result);
  void    (*uring_close)(io_uring* ring);
  // clang-format on
};

/// The table in use. Replaced only while no other thread calls into it.
SystemCalls& system_calls();

/// Makes a call again as often as a signal interrupts it.
template <class Call>
auto retried(Call&& call) {
  for (;;)
    if (const auto done = call(); done >= 0 || errno != EINTR) return done;
}

/// The same for a call that may wait for long: Ctrl-C ends it.
template <class Call>
auto retried_unless_interrupted(Call&& call) {
  for (;;) {
    const auto done = call();
    if (done >= 0 || errno != EINTR) return done;
    if (interrupt_requested) throw Error{ExitCode::interrupted, "interrupted"};
  }
}

}  // namespace spillway
