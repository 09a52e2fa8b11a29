// io_uring through liburing, as entries of the table of system calls: all that is known of it is here.
#include "base/uring.hpp"

#include <cerrno>

#ifdef SPILLWAY_HAS_LIBURING

#include <liburing.h>

#include <memory>

namespace spillway {
namespace {

/// Of an entry that was not to be submitted.
constexpr std::uint64_t no_tag = ~std::uint64_t{0};

bool can_read(io_uring* ring) {
  io_uring_probe* const probe = io_uring_get_probe_ring(ring);
  const bool            can   = probe && io_uring_opcode_supported(probe, IORING_OP_READ);
  io_uring_free_probe(probe);
  return can;
}

}  // namespace

int uring_open(unsigned entries, io_uring** opened) {
  auto ring = std::make_unique<io_uring>();
  if (const int error = io_uring_queue_init(entries, ring.get(), 0); error < 0) return error;
  if (!can_read(ring.get())) {  // Linux before 5.6
    io_uring_queue_exit(ring.get());
    return -ENOSYS;
  }
  *opened = ring.release();
  return 0;
}

int uring_read(io_uring* ring, int descriptor, void* into, unsigned bytes, off_t offset, std::uint64_t tag) {
  io_uring_sqe* const entry = io_uring_get_sqe(ring);
  if (!entry) return -EBUSY;
  io_uring_prep_read(entry, descriptor, into, bytes, static_cast<__u64>(offset));
  io_uring_sqe_set_data64(entry, tag);
  const int submitted = io_uring_submit(ring);
  if (io_uring_sq_ready(ring) == 0) return 0;
  // The kernel has not taken it, and will with the next one: then it is to write nowhere.
  io_uring_prep_nop(entry);
  io_uring_sqe_set_data64(entry, no_tag);
  return submitted < 0 ? submitted : -EAGAIN;
}

int uring_wait(io_uring* ring, std::uint64_t* tag, int* result) {
  for (;;) {
    io_uring_cqe* entry = nullptr;
    if (const int error = io_uring_wait_cqe(ring, &entry); error < 0) return error;
    *tag    = io_uring_cqe_get_data64(entry);
    *result = entry->res;
    io_uring_cqe_seen(ring, entry);
    if (*tag != no_tag) return 0;
  }
}

void uring_close(io_uring* ring) {
  io_uring_queue_exit(ring);
  delete ring;
}

}  // namespace spillway

#else

namespace spillway {

int  uring_open(unsigned, io_uring**) { return -ENOSYS; }
int  uring_read(io_uring*, int, void*, unsigned, off_t, std::uint64_t) { return -ENOSYS; }
int  uring_wait(io_uring*, std::uint64_t*, int*) { return -ENOSYS; }
void uring_close(io_uring*) {}

}  // namespace spillway

#endif
