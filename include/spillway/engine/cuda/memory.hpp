// Memory of a GPU: counted against a budget before it is asked for, given back with its owner.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <spillway/engine/executor.hpp>

namespace spillway::cuda {

/// A call into CUDA failed: Error with what it was for. Out of memory is Error{does_not_fit}.
void check(int status, std::string_view doing);

/// The GPU a run works on, and how much of its memory it may hold.
class Device {
 public:
  /// `memory` 0: what is free now, less a reserve.
  Device(int index, std::uint64_t memory);

  int           index() const { return index_; }
  std::uint64_t limit() const { return limit_; }
  std::uint64_t peak() const { return peak_; }

  void* take(std::uint64_t bytes, std::string_view what);
  void  give(void* data, std::uint64_t bytes) noexcept;

  void upload(void* to, const void* from, std::uint64_t bytes);
  void download(void* to, const void* from, std::uint64_t bytes);
  void clear(void* data, std::uint64_t bytes);
  void wait();

 private:
  int           index_;
  bool          stated_;
  std::uint64_t limit_ = 0, used_ = 0, peak_ = 0;
};

/// How many GPUs there are; 0 also without a driver.
int device_count();

template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(Device& device, std::uint64_t count, std::string_view what)
      : device_(&device),
        count_(count),
        data_(count == 0 ? nullptr : static_cast<T*>(device.take(count * sizeof(T), what))) {}
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    DeviceArray{std::move(other)}.swap(*this);
    return *this;
  }
  ~DeviceArray() {
    if (data_) device_->give(data_, count_ * sizeof(T));
  }

  T*            data() const { return data_; }
  std::uint64_t size() const { return count_; }

  void upload(const T* from) {
    if (count_ > 0) device_->upload(data_, from, count_ * sizeof(T));
  }
  void download(std::remove_const_t<T>* to) const {
    if (count_ > 0) device_->download(to, data_, count_ * sizeof(T));
  }
  void clear() {
    if (count_ > 0) device_->clear(data_, count_ * sizeof(T));
  }

 private:
  void swap(DeviceArray& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(count_, other.count_);
    std::swap(data_, other.data_);
  }

  Device*       device_ = nullptr;
  std::uint64_t count_  = 0;
  T*            data_   = nullptr;
};

/// The rows of a graph on the device. Blocks that share arrays on the host share them there.
class DeviceTopology {
 public:
  DeviceTopology(Device& device, const Topology& topology, bool weighted);

  std::span<const Rows> push() const { return push_; }
  std::span<const Rows> pull() const { return pull_; }
  std::uint64_t         bytes() const { return bytes_; }

 private:
  struct Resident {
    Rows                       on_host;
    DeviceArray<EdgeIndex>     offsets;
    DeviceArray<Vertex>        targets;
    DeviceArray<std::uint32_t> weights;
  };

  Rows resident(Device& device, const Block& block, bool weighted);

  std::vector<Resident> blocks_;
  std::vector<Rows>     push_, pull_;
  std::uint64_t         bytes_ = 0;
};

}  // namespace spillway::cuda
