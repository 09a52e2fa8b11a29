#include "base/system_calls.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

namespace spillway {

SystemCalls& system_calls() {
  static SystemCalls table{
      .open         = [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); },
      .dup          = ::dup,
      .close        = ::close,
      .read         = ::read,
      .pread        = ::pread,
      .write        = ::write,
      .pwrite       = ::pwrite,
      .stat         = [](const char* path, struct stat* info) { return ::stat(path, info); },
      .fstat        = [](int descriptor, struct stat* info) { return ::fstat(descriptor, info); },
      .fstatfs      = ::fstatfs,
      .ftruncate    = ::ftruncate,
      .fallocate    = ::posix_fallocate,
      .fchown       = ::fchown,
      .fchmod       = ::fchmod,
      .flock        = ::flock,
      .fsync        = ::fsync,
      .linkat       = ::linkat,
      .rename       = ::rename,
      .unlink       = ::unlink,
      .mmap         = ::mmap,
      .munmap       = ::munmap,
      .start_thread = ::pthread_create,
      .uring_open   = uring_open,
      .uring_read   = uring_read,
      .uring_wait   = uring_wait,
      .uring_close  = uring_close,
  };
  return table;
}

}  // namespace spillway
