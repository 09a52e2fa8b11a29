// Reads that the kernel makes while this process goes on (io_uring). Called through system_calls() alone. All but
// `uring_close` return 0, or -errno: -ENOSYS where Spillway was built without liburing.
#pragma once

#include <sys/types.h>

#include <cstdint>

struct io_uring;

namespace spillway {

/// With room for so many reads.
int uring_open(unsigned entries, io_uring** opened);
/// Begins a read; after an error it has not begun.
int uring_read(io_uring* ring, int descriptor, void* into, unsigned bytes, off_t offset, std::uint64_t tag);
/// Waits for one to end: which it was, and what pread would have returned, or -errno.
int uring_wait(io_uring* ring, std::uint64_t* tag, int* result);
/// Once none is under way.
void uring_close(io_uring* ring);

}  // namespace spillway
