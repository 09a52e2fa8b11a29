// Pinned host memory between the host's and the device's: the bus is eight times faster from there.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "engine/cuda/event.hpp"

#include <spillway/error.hpp>

namespace spillway::cuda {

class PinnedMemory {
 public:
  explicit PinnedMemory(std::uint64_t bytes) {
    if (cudaMallocHost(&memory_, bytes) == cudaSuccess) return;
    cudaGetLastError();
    throw DeviceError{ExitCode::does_not_fit,
                      "host memory cannot be pinned to send edges from; raise `ulimit -l`, or use --device cpu"};
  }
  ~PinnedMemory() { cudaFreeHost(memory_); }
  PinnedMemory(const PinnedMemory&)            = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_ = nullptr;
};

/// Buffers that take turns: the host fills or reads one while others are on the bus.
class StagingRing {
 public:
  struct Buffer {
    explicit Buffer(std::uint64_t bytes) : memory(bytes) {}

    PinnedMemory memory;
    Event        copied;  ///< what was last asked of it
  };

  /// Of what is sent and brought at once, one buffer while the others are on the bus. Measured on an H200, 134 MB to
  /// pages that are there: 2.9 ms with two, 2.7 with three (50 GB/s), 2.8 to 3.4 with three of half the size.
  static constexpr unsigned      usual_count = 3;
  static constexpr std::uint64_t usual_bytes = 16u << 20;

  StagingRing(unsigned count, std::uint64_t bytes) : buffer_bytes_(bytes) {
    for (unsigned i = 0; i < count; ++i) buffers_.push_back(std::make_unique<Buffer>(bytes));
  }

  /// The one whose turn the i-th is.
  Buffer& operator[](std::uint64_t i) { return *buffers_[i % buffers_.size()]; }

  bool has(unsigned count, std::uint64_t bytes) const {
    return buffers_.size() == count && buffer_bytes_ == bytes;
  }
  std::uint64_t bytes() const { return buffers_.size() * buffer_bytes_; }  ///< of all

 private:
  std::uint64_t                        buffer_bytes_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

/// Rings that no run uses now. Pinning takes a millisecond and more, and every graph has a Device of its own: what
/// one leaves is for the next.
class IdleRings {
 public:
  static IdleRings& instance();

  /// For the GPU that the calling thread works with. Nothing where the machine has no memory to pin.
  std::unique_ptr<StagingRing> take(int device, unsigned count, std::uint64_t bytes);
  /// Nothing on the GPU uses it any more.
  void put(int device, std::unique_ptr<StagingRing> ring) noexcept;
  /// Gives all of them back.
  void clear();

 private:
  static constexpr std::uint64_t most_bytes = 128u << 20;

  struct Idle {
    int                          device;
    std::unique_ptr<StagingRing> ring;
  };

  std::mutex        mutex_;
  std::uint64_t     bytes_ = 0;
  std::vector<Idle> idle_;
};

}  // namespace spillway::cuda
