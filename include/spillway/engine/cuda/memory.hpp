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

namespace spillway::cuda {

/// A call into CUDA failed: Error with what it was for. What the CPU can make good is DeviceError: memory that is
/// taken, a GPU or a driver that is too old.
void check(int status, std::string_view doing);

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
  /// What `allocating` would take, at most.
  template <class Allocating>
  static std::uint64_t measured(Allocating&& allocating) {
    std::uint64_t bytes = 0;
    measuring()         = &bytes;
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

  void* take(std::uint64_t bytes, std::string_view what);
  /// Refuses what could not be taken if nothing else were there.
  void require_at_all(std::uint64_t bytes, std::string_view what);
  /// Refuses what `take` would refuse.
  void require(std::uint64_t bytes, std::string_view what);
  void give(void* data, std::uint64_t bytes) noexcept;

  void upload(void* to, const void* from, std::uint64_t bytes);
  void download(void* to, const void* from, std::uint64_t bytes);
  void clear(void* data, std::uint64_t bytes);
  void wait();

 private:
  /// Pinned memory between the caller's and the device's: the bus is eight times faster from there.
  struct Staging;

  friend class Cancellation;
  struct CancelWord;
  std::unique_ptr<CancelWord> take_cancel_word();

  /// Where this thread adds up what it would take; null while it takes it.
  static std::uint64_t*& measuring();

  bool stages(std::uint64_t bytes);
  void refuse_beyond_limit(std::uint64_t bytes, std::string_view what) const;

  int                      index_;
  std::uint64_t            stated_, limit_ = 0, used_ = 0, peak_ = 0, cache_bytes_ = 0;
  std::mutex               mutex_;
  std::unique_ptr<Staging> staging_;

  std::vector<std::unique_ptr<CancelWord>> idle_cancel_words_;
};

/// How kernels that loop on the device are stopped from outside: they read a word in host memory every iteration.
class Cancellation {
 public:
  /// Without a progress nobody cancels.
  Cancellation(Device& device, Progress* progress);
  ~Cancellation();
  Cancellation(const Cancellation&)            = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  const volatile unsigned* on_device() const;
  /// Until the device is done with what it was given. The word is set as soon as the progress is cancelled, which
  /// is returned.
  bool wait();

 private:
  Device&                             device_;
  Progress*                           progress_;
  std::unique_ptr<Device::CancelWord> word_;  ///< none where memory cannot be pinned
};

/// What this machine does to bring edges there (plan/rates.hpp); measured at first, within both budgets.
Rates rates_of(Device& device, int threads, const std::shared_ptr<MemoryBudget>& host);

/// Rows of 2^31 arcs and more are for the CPU.
void refuse_long_rows(const Block& block);

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

/// Rows that lie on a device, and where they lie on the host.
struct ResidentRows {
  Rows                       on_host;
  DeviceArray<EdgeIndex>     offsets;
  DeviceArray<Vertex>        targets;
  DeviceArray<std::uint32_t> weights;

  Rows on_device() const { return {offsets.data(), targets.data(), weights.data()}; }
};

struct DeviceOrder;
class OutsideRows;
class CodedBlock;

/// What a run needs of a graph, held on the device while the run lasts.
struct DeviceTopology {
  std::shared_ptr<const DeviceOrder>       order;  ///< that the rows are in; none: that of the host
  std::vector<std::shared_ptr<const void>> held;
  std::vector<Rows>                        push, pull;
  std::uint64_t                            uploaded = 0;  ///< bytes that were not there before
};

/// What a device keeps of a graph from run to run.
class DeviceGraph : public Graph::Attachment {
 public:
  /// What is attached to the graph for this device, or a new one where another budget is asked for.
  static std::shared_ptr<DeviceGraph> of(const Graph& graph, const DeviceChoice& choice);

  explicit DeviceGraph(const DeviceChoice& choice) : device_(choice.index, choice.memory) {}

  Device& device() { return device_; }
  /// Brings what is not there yet. Blocks that share arrays on the host share them there.
  DeviceTopology topology(const Topology& topology, bool weighted);
  /// The same rows, hubs first. Without `insists`, those of the host where that would not pay.
  DeviceTopology reordered(const Topology& topology, DeviceTopology rows, bool weighted, bool insists);
  /// An order by falling degree in `by`, whose offsets are on the device.
  std::shared_ptr<const DeviceOrder> order(const Block& by, const EdgeIndex* offsets, std::uint64_t vertices);
  /// The block, which stays where it is, for the device to read.
  std::shared_ptr<OutsideRows> outside(const Block& block, bool weighted, const Graph& graph);
  /// The block in coded form; `chunk_arcs` as for `coded_supply`.
  std::shared_ptr<CodedBlock> coded(const Block& block, const Topology& topology, bool weighted,
                                    const Graph& graph, std::uint64_t chunk_arcs);
  bool                        has_coded(const Block& block, bool weighted);
  /// Over rows that are not coded, so far.
  std::atomic<double> passes_uncoded = 0;
  std::atomic<bool>   cannot_code    = false;  ///< was tried
  /// Runs over rows outside change what is kept of them: one at a time.
  std::unique_lock<std::mutex> alone_outside() { return std::unique_lock{outside_mutex_}; }
  /// The beginnings of rows that nobody uses now are given up.
  void drop_idle_heads();
  /// Bytes that are left of the device's budget, with those that they hold.
  std::uint64_t room();
  /// Whether these rows, and `beside` bytes, can be on the device; where idle ones are in the way, they go.
  bool has_room_for(const Topology& topology, bool weighted, std::uint64_t beside);
  /// Rows that were made on the device, of those on the host that they say.
  void keep(ResidentRows rows);
  /// Gives up rows that nobody uses now; false if there are none.
  bool make_room();

 private:
  bool                               give_up_idle();
  bool                               give_up_idle_blocks();
  void                               drop_idle_heads_locked();
  std::uint64_t                      idle_heads() const;
  std::shared_ptr<ResidentRows>      found(const Block& block) const;
  std::uint64_t                      missing(const Topology& topology, bool weighted) const;
  std::shared_ptr<const DeviceOrder> order_locked(const Block& by, const EdgeIndex* offsets,
                                                  std::uint64_t vertices);
  std::shared_ptr<ResidentRows>      resident(const Block& block, bool weighted, std::uint64_t& uploaded);

  Device                                     device_;
  std::mutex                                 mutex_, outside_mutex_;
  std::vector<std::shared_ptr<ResidentRows>> blocks_, reordered_;
  std::vector<std::shared_ptr<OutsideRows>>  outside_;
  std::vector<std::shared_ptr<CodedBlock>>   coded_;
  std::shared_ptr<const DeviceOrder>         order_;
  const EdgeIndex*                           ordered_by_ = nullptr;  ///< offsets, on the host
  const EdgeIndex*                           unskewed_   = nullptr;  ///< those by which no order would pay
};

/// Values that stay on the device for the run that goes on from them.
template <class Value>
struct KeptValues : Resident {
  KeptValues(std::shared_ptr<DeviceGraph> on, DeviceArray<Value> of)
      : graph(std::move(on)), values(std::move(of)) {}

  std::shared_ptr<DeviceGraph> graph;
  DeviceArray<Value>           values;
};

/// Frontiers that were recorded there.
struct KeptFrontiers : Resident {
  KeptFrontiers(std::shared_ptr<DeviceGraph> on, DeviceArray<Vertex> of, std::shared_ptr<const DeviceOrder> in)
      : graph(std::move(on)), vertices(std::move(of)), order(std::move(in)) {}

  std::shared_ptr<DeviceGraph>       graph;
  DeviceArray<Vertex>                vertices;
  std::shared_ptr<const DeviceOrder> order;  ///< that they are places in; none: vertices
};

}  // namespace spillway::cuda
