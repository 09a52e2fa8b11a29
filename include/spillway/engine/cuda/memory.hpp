// Memory of a GPU: counted against a budget before it is asked for, given back with its owner.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <spillway/engine/executor.hpp>
#include <spillway/engine/stopwatch.hpp>

namespace spillway::cuda {

/// A call into CUDA failed: Error with what it was for. What the CPU can make good is DeviceError: memory that is
/// taken, a GPU or a driver that is too old.
void check(int status, std::string_view doing);

class StagingRing;

/// A GPU, and how much of its memory one graph and its runs may hold. Many threads may use it.
class Device {
 public:
  /// `memory` 0: what is free now, less a reserve.
  Device(int index, std::uint64_t memory);
  ~Device();
  Device(const Device&)            = delete;
  Device& operator=(const Device&) = delete;

  int           index() const { return index_; }
  std::uint64_t stated() const { return stated_; }
  std::uint64_t peak();
  std::uint64_t room();  ///< what is left of the budget
  /// Bytes there, and of the host for kernels to use.
  struct Bytes {
    std::uint64_t device = 0, host = 0;
  };
  /// What `allocating` would take, at most.
  template <class Allocating>
  static Bytes measured(Allocating&& allocating) {
    Bytes bytes;
    measuring() = &bytes;
    try {
      allocating();
    } catch (...) {
      measuring() = nullptr;
      throw;
    }
    measuring() = nullptr;
    return bytes;
  }
  std::uint64_t cache_bytes() const { return cache_bytes_; }  ///< of the last level
  /// The calling thread's work goes to this GPU; what is held now is where the peak starts from.
  void enter();

  /// Whether so many bytes of an answer may stay until they are asked for: answers may have an eighth of the
  /// memory, and a run like the last one still finds room.
  bool leave(std::uint64_t bytes);
  void no_longer_leaves(std::uint64_t bytes) noexcept;

  void* take(std::uint64_t bytes, std::string_view what);
  /// Refuses what could not be taken if nothing else were there.
  void require_at_all(std::uint64_t bytes, std::string_view what);
  /// Refuses what `take` would refuse.
  void require(std::uint64_t bytes, std::string_view what);
  void give(void* data, std::uint64_t bytes) noexcept;
  /// Pinned memory of the host, counted there, which kernels use over the bus.
  void* take_on_host(std::uint64_t bytes, std::string_view what);
  void  give_on_host(void* data, std::uint64_t bytes) noexcept;
  void  set_host_budget(std::shared_ptr<MemoryBudget> budget) { host_ = std::move(budget); }

  void upload(void* to, const void* from, std::uint64_t bytes);
  void download(void* to, const void* from, std::uint64_t bytes);
  void clear(void* data, std::uint64_t bytes);
  void wait();

 private:
  /// Where this thread adds up what it would take; null while it takes it.
  static Bytes*& measuring();

  bool stages(std::uint64_t bytes);
  void refuse_beyond_limit(std::uint64_t bytes, std::string_view what) const;

  int                           index_;
  std::shared_ptr<MemoryBudget> host_;
  std::uint64_t                 stated_, limit_ = 0, used_ = 0, peak_ = 0, left_ = 0, cache_bytes_ = 0;
  std::mutex                    mutex_;
  /// Pinned memory between the caller's and the device's: the bus is eight times faster from there.
  std::unique_ptr<StagingRing> staging_;
};

/// The calling thread's work goes to this GPU; afterwards to the one that it went to before.
class OnDevice {
 public:
  explicit OnDevice(int index);
  ~OnDevice();
  OnDevice(const OnDevice&)            = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

/// Memory that is to stay in the cache during a launch: `share` of it, as far as KeptCache says.
struct CacheWindow {
  const void*   data  = nullptr;
  std::uint64_t bytes = 0;
  float         share = 1;
};

/// The part of a GPU's cache that a launch may keep for a window; given back with this.
class KeptCache {
 public:
  explicit KeptCache(const Device& device);
  ~KeptCache();
  KeptCache(const KeptCache&)            = delete;
  KeptCache& operator=(const KeptCache&) = delete;

  static std::uint64_t bytes_of(const Device& device);  ///< that may be kept at most
  CacheWindow          window(const void* data, std::uint64_t bytes) const;

 private:
  std::uint64_t bytes_ = 0, longest_ = 0;
  std::size_t   before_ = 0;  ///< that was kept
};

/// How kernels that loop on the device are stopped from outside: they read a word in host memory once a
/// millisecond.
class Cancellation {
 public:
  /// Without a progress nobody cancels.
  Cancellation(Device& device, Progress* progress);
  ~Cancellation();
  Cancellation(const Cancellation&)            = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  const volatile unsigned* on_device() const { return word(); }
  /// Until the device is done with what it was given. The word is set as soon as the progress is cancelled, which
  /// is returned.
  bool wait();

 private:
  volatile unsigned* word() const;

  Device&                      device_;
  Progress*                    progress_;
  std::unique_ptr<StagingRing> ring_;  ///< of one word; none where memory cannot be pinned
};

/// How many GPUs there are; 0 also without a driver.
int device_count();
/// Whether this process has used a GPU; before, the driver takes a while.
bool is_started();
/// How long it took; 0 while none has been used.
double seconds_to_start();

/// Adds what its calls of the driver take to that, while none is ready.
class StartupTimer {
 public:
  StartupTimer() = default;
  ~StartupTimer();
  StartupTimer(const StartupTimer&)            = delete;
  StartupTimer& operator=(const StartupTimer&) = delete;

 private:
  Stopwatch clock_;
};

/// Where an array for kernels is.
enum class ArrayMemory : std::uint8_t { device, host };

template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(Device& device, std::uint64_t count, std::string_view what, ArrayMemory memory = ArrayMemory::device)
      : device_(&device), count_(count), memory_(memory) {
    if (count == 0) return;
    const std::uint64_t bytes = count * sizeof(T);
    data_ =
        static_cast<T*>(memory == ArrayMemory::host ? device.take_on_host(bytes, what) : device.take(bytes, what));
  }
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    DeviceArray{std::move(other)}.swap(*this);
    return *this;
  }
  ~DeviceArray() {
    if (!data_) return;
    if (memory_ == ArrayMemory::host)
      device_->give_on_host(data_, count_ * sizeof(T));
    else
      device_->give(data_, count_ * sizeof(T));
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
    std::swap(memory_, other.memory_);
  }

  Device*       device_ = nullptr;
  std::uint64_t count_  = 0;
  T*            data_   = nullptr;
  ArrayMemory   memory_ = ArrayMemory::device;
};

/// What a device keeps of a graph from run to run (src/engine/cuda/device_graph.hpp).
class DeviceGraph;

/// Places of the state on the device, and the vertices of the graph and the answer that they are for. Hubs come
/// first: what most arcs point to then lies close together and stays in the caches. Internal to the device.
struct VertexMap {
  DeviceArray<Vertex> original;        ///< of each place in the state: its vertex
  DeviceArray<Vertex> place;           ///< of each vertex of the answer: its place
  bool                skewed = false;  ///< a sixteenth of the vertices has half of the arcs, or more
};

/// Values that stay on the device for the run that goes on from them. They may outlive the graph and its rows.
template <class Value>
struct KeptValues : Resident {
  KeptValues(std::shared_ptr<Device> on, DeviceArray<Value> of) : device(std::move(on)), values(std::move(of)) {}

  std::shared_ptr<Device> device;
  DeviceArray<Value>      values;
};

/// Frontiers that were recorded there.
struct KeptFrontiers : Resident {
  KeptFrontiers(std::shared_ptr<Device> on, DeviceArray<Vertex> of, std::shared_ptr<const VertexMap> in)
      : device(std::move(on)), vertices(std::move(of)), order(std::move(in)) {}

  std::shared_ptr<Device>          device;
  DeviceArray<Vertex>              vertices;
  std::shared_ptr<const VertexMap> order;  ///< that they are places in; none: vertices
};

}  // namespace spillway::cuda
