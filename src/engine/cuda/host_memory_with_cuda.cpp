#include "engine/cuda/host_memory.hpp"

#include <cuda_runtime.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include <spillway/engine/parallel.hpp>
#include <spillway/error.hpp>
#include "engine/cuda/device_graph.hpp"

namespace spillway::cuda {
namespace {

constexpr std::uint64_t page = 4096, small = 1u << 20;  // what is small shares its pages with others
constexpr std::uint64_t large = 4u << 20;               // worth huge pages

/// Pages that are not there yet are asked for by all threads: pinning would ask for one after the other.
void touch(const void* data, std::uint64_t bytes) {
  for_each_share(thread_count(0), bytes, [&](std::uint64_t begin, std::uint64_t end, int) {
    const auto* const at = static_cast<const volatile char*>(data);
    for (std::uint64_t i = begin; i < end; i += page) static_cast<void>(at[i]);
  });
}

void copy_by_all(void* to, const void* from, std::uint64_t bytes) {
  for_each_share(thread_count(0), bytes, [&](std::uint64_t begin, std::uint64_t end, int) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

/// Whether an address is in a mapped file; one of the system's small pages, that is.
bool in_a_file(const void* data) {
  const auto    address = reinterpret_cast<std::uintptr_t>(data);
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t     first = 0, last = 0;
    unsigned long long inode = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %llu", &first, &last, &inode) != 3)
      continue;
    if (address >= first && address < last) return inode != 0;
  }
  return false;
}

}  // namespace

/// Over huge pages the device finds its way faster; a file has small ones. As much again is left for what is to
/// come: values, code.
bool is_copied(const void* data, std::uint64_t bytes, const std::shared_ptr<MemoryBudget>& budget) {
  return bytes >= large && budget->has_room(2 * bytes) && in_a_file(data);
}

HostReadable::HostReadable(const void* data, std::uint64_t bytes, const std::shared_ptr<MemoryBudget>& budget,
                           std::string_view what)
    : bytes_(bytes) {
  if (bytes == 0) return;
  const char* const doing = "pinning memory";
  if (bytes < small) {
    void *copy = nullptr, *there = nullptr;
    check(cudaMallocHost(&copy, bytes), doing);
    std::memcpy(copy, data, bytes);
    owned_ = copy, on_host_ = copy;
    if (cudaHostGetDevicePointer(&there, copy, 0) != cudaSuccess) refuse();
    on_device_ = there;
    return;
  }
  constexpr unsigned flags = cudaHostRegisterMapped | cudaHostRegisterPortable;
  if (!is_copied(data, bytes, budget)) {
    touch(data, bytes);
    if (pinned(data, bytes, flags) || pinned(data, bytes, flags | cudaHostRegisterReadOnly)) return;
  }
  try {
    copy_ = Pages{bytes, budget, what};
  } catch (const Error& error) {  // the CPU may do without
    throw DeviceError{error.code(), error.what()};
  }
  copy_by_all(copy_.data(), data, bytes);
  if (!pinned(copy_.data(), bytes, flags)) refuse();
}

HostReadable::~HostReadable() { let_go(); }

/// A run that failed may have left kernels and copies behind that still read it.
void HostReadable::let_go() {
  if (pinned_ || owned_) cudaStreamSynchronize(nullptr);
  if (pinned_) cudaHostUnregister(pinned_);
  if (owned_) cudaFreeHost(owned_);
  pinned_ = owned_ = nullptr;
}

void HostReadable::refuse() {
  cudaGetLastError();
  let_go();
  throw DeviceError{ExitCode::does_not_fit,
                    "host memory cannot be pinned for the GPU to read; raise `ulimit -l`, or use --device cpu"};
}

bool HostReadable::pinned(const void* data, std::uint64_t bytes, unsigned flags) {
  void* const writable = const_cast<void*>(data);  // the device only reads it
  if (cudaHostRegister(writable, bytes, flags) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  pinned_ = writable, on_host_ = writable;
  void* there = nullptr;
  if (cudaHostGetDevicePointer(&there, writable, 0) != cudaSuccess) refuse();
  on_device_ = there;
  return true;
}

}  // namespace spillway::cuda
