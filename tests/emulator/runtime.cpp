// The part of CUDA's runtime that the host calls. What streams are asked for waits here until somebody waits for
// it, or until the seed has it run; everything whose predecessors are done may be next.
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "cuda_runtime.h"

#if defined(EMULATOR_HAS_ASAN)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, bytes) static_cast<void>(data)
#define ASAN_UNPOISON_MEMORY_REGION(data, bytes) static_cast<void>(data)
#endif

namespace emulator {
namespace {

// --- calls that fail ---

std::atomic<std::uint64_t> calls = 0, failing = 0;
std::atomic<const char*>   failed     = "";
thread_local cudaError_t   last_error = cudaSuccess;
std::atomic<std::uint64_t> events     = 0;  ///< that were not destroyed

cudaError_t ended(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

// --- operations on streams ---

using Clock = std::chrono::steady_clock;

struct Operation {
  std::function<void()>                   work;
  std::vector<std::shared_ptr<Operation>> before;
  bool                                    done = false;
  Clock::time_point                       when;

  bool ready() const {
    return std::ranges::all_of(before, [](const auto& other) { return other->done; });
  }
};
using Queued = std::shared_ptr<Operation>;

}  // namespace

class Stream {
 public:
  explicit Stream(bool waits_for_default) : blocking(waits_for_default) {}

  Queued last;
  bool   blocking;
};

class Event {
 public:
  Queued recorded;
};

namespace {

/// A thread of the operating system that does all that the device does. It lives as long as the process; a process
/// that was forked has its own.
class DeviceThread {
 public:
  void run(const std::function<void()>& job) {
    std::unique_lock lock{mutex_};
    job_ = &job;
    changed_.notify_all();
    changed_.wait(lock, [&] { return job_ == nullptr; });
  }

  DeviceThread() {
    std::thread{[this] {
      become_device();
      std::unique_lock lock{mutex_};
      for (;;) {
        changed_.wait(lock, [&] { return job_ != nullptr; });
        (*job_)();
        job_ = nullptr;
        changed_.notify_all();
      }
    }}.detach();
  }

  const pid_t process = getpid();

 private:
  std::mutex                   mutex_;
  std::condition_variable      changed_;
  const std::function<void()>* job_ = nullptr;
};

struct Allocation {
  std::size_t bytes;
  bool        freed = false;  ///< in its stream's future
};
using Memory = std::map<const char*, Allocation>;

Memory::iterator around(Memory& memory, const void* at) {
  auto found = memory.upper_bound(static_cast<const char*>(at));
  if (found == memory.begin()) return memory.end();
  --found;
  return Range{found->first, found->second.bytes}.contains(at) ? found : memory.end();
}

class Machine {
 public:
  static Machine& one() {
    static Machine& machine = *new Machine;
    return machine;
  }

  /// Guards everything; many threads may call.
  std::unique_lock<std::recursive_mutex> alone() {
    if (in_device()) report("a kernel or a host function calls the runtime");
    return std::unique_lock{mutex_};
  }

  Queued add(Stream* given, std::function<void()> work, Queued also = {}) {
    Stream& stream   = of(given);
    auto    next     = std::make_shared<Operation>();
    next->work       = std::move(work);
    const auto after = [&](const Queued& other) {
      if (other && !other->done) next->before.push_back(other);
    };
    after(stream.last), after(also);
    if (&stream == &default_)
      for (const auto& other : streams_) after(other->blocking ? other->last : nullptr);
    else if (stream.blocking)
      after(default_.last);
    stream.last = next;
    pending_.push_back(next);
    ++coverage.operations;
    run_some();
    return next;
  }

  /// Until `wanted` is done; whether all else goes first, something, or nothing, the seed decides.
  void wait_for(const Queued& wanted) {
    if (!wanted || wanted->done) return;
    enum { nothing_else, something_else, all_else };
    const auto before = choose(3);
    on_device([&] {
      if (before == all_else)
        while (run_one([&](const Operation& other) { return !needed(*wanted, other); })) {
        }
      while (!wanted->done)
        run_one([&](const Operation& other) { return before != nothing_else || needed(other, *wanted); });
      while (before != nothing_else && choose(2) == 0 && run_one(anything)) {
      }
    });
  }

  void wait_for_all() {
    on_device([&] {
      while (!pending_.empty()) run_one(anything);
    });
  }

  Stream& of(Stream* given) { return given == nullptr ? default_ : *given; }

  Stream* make_stream(bool blocking) {
    streams_.push_back(std::make_unique<Stream>(blocking));
    return streams_.back().get();
  }
  /// What it was asked for is still done.
  void drop_stream(Stream* stream) {
    std::erase_if(streams_, [&](const auto& other) { return other.get() == stream; });
  }

  std::size_t stream_count() const { return streams_.size(); }

  Memory device, pinned;
  Peaks  peaks;
  /// After something was taken.
  void note_peaks() {
    const auto held = [](const Memory& memory) {
      std::uint64_t bytes = 0;
      for (const auto& [data, allocation] : memory) bytes += allocation.freed ? 0 : allocation.bytes;
      return bytes;
    };
    peaks = {std::max(peaks.device, held(device)), std::max(peaks.pinned, held(pinned))};
  }
  void* take(std::size_t bytes);
  void  give(void* data);

 private:
  /// While the host runs, it must not touch the device's memory.
  void on_device(const std::function<void()>& job) {
    if (!thread_ || thread_->process != getpid()) thread_ = new DeviceThread;
    for (const auto& [data, allocation] : device) ASAN_UNPOISON_MEMORY_REGION(data, allocation.bytes);
    thread_->run(job);
    for (const auto& [data, allocation] : device) ASAN_POISON_MEMORY_REGION(data, allocation.bytes);
  }

  /// A device that is quick, or one that lets the host run far ahead.
  void run_some() {
    constexpr std::size_t most_pending = 256;
    const bool            eager        = choose(eagerness_) == 0;
    if (!eager && pending_.size() < most_pending) return;
    on_device([&] {
      while (!pending_.empty() && (pending_.size() >= most_pending || choose(2) == 0)) run_one(anything);
    });
  }

  static bool anything(const Operation&) { return true; }

  static bool needed(const Operation& other, const Operation& by) {
    return &other == &by || std::ranges::any_of(by.before, [&](const auto& earlier) {
      return !earlier->done && needed(other, *earlier);
    });
  }

  /// One operation that may be next, of those that `wanted` lets pass; false if there is none.
  bool run_one(const std::function<bool(const Operation&)>& wanted) {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < pending_.size(); ++i)
      if (pending_[i]->ready() && wanted(*pending_[i])) ready.push_back(i);
    if (ready.empty()) return false;
    const std::size_t at  = ready[choose(ready.size())];
    const Queued      now = pending_[at];
    coverage.overtaken += at > 0 ? 1 : 0;
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at));
    if (now->work) now->work();
    now->when = Clock::now();
    now->done = true;
    now->before.clear(), now->work = nullptr;
    return true;
  }

  std::recursive_mutex                 mutex_;
  DeviceThread*                        thread_ = nullptr;
  Stream                               default_{false};
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Queued>                  pending_;
  std::uint64_t                        eagerness_ = std::uint64_t{2} << 2 * choose(4);
};

/// Filled with rubbish: what is read before it is written shows.
void* Machine::take(std::size_t bytes) {
  constexpr std::size_t aligned = 256;  // as the device's allocations are
  void*                 data    = nullptr;
  if (posix_memalign(&data, aligned, std::max<std::size_t>(bytes, 1)) != 0) return nullptr;
  std::memset(data, 0xA0 | static_cast<int>(choose(16)), bytes);
  device[static_cast<char*>(data)] = {bytes};
  note_peaks();
  ASAN_POISON_MEMORY_REGION(data, bytes);
  return data;
}

void Machine::give(void* data) {
  const auto found = device.find(static_cast<char*>(data));
  ASAN_UNPOISON_MEMORY_REGION(data, found->second.bytes);
  device.erase(found);
  std::free(data);
}

}  // namespace

cudaError_t called(const char* name, cudaError_t error) {
  if (++calls != failing) return cudaSuccess;
  failed = name;
  return ended(error);
}

void fail_at(std::uint64_t n) {
  failed = "";
  calls = 0, failing = n;
}

std::uint64_t calls_made() { return calls; }
std::string   failed_call() { return failed.load(); }

std::uint64_t held() {
  Machine&   machine = Machine::one();
  const auto alone   = machine.alone();
  machine.wait_for_all();
  return machine.device.size() + machine.pinned.size() + machine.stream_count() + events;
}

Peaks peaks() {
  const auto alone = Machine::one().alone();
  return Machine::one().peaks;
}

void begin_peaks() {
  const auto alone     = Machine::one().alone();
  Machine::one().peaks = {};
  Machine::one().note_peaks();
}

Range memory_around(const void* at) {
  Machine& machine = Machine::one();
  for (Memory* memory : {&machine.device, &machine.pinned})
    if (const auto found = around(*memory, at); found != memory->end()) return {found->first, found->second.bytes};
  return {};
}

cudaError_t enqueue(Kernel kernel, Stream* stream) {
  if (const auto error = called("cudaLaunchKernel", cudaErrorUnknown)) return error;
  const auto alone = Machine::one().alone();
  Machine::one().add(stream, [kernel = std::move(kernel)] { run(kernel); });
  return cudaSuccess;
}

cudaError_t enqueue(const char* name, std::function<void()> work, Stream* stream) {
  if (const auto error = called(name, cudaErrorUnknown)) return error;
  const auto alone = Machine::one().alone();
  Machine::one().add(stream, std::move(work));
  return cudaSuccess;
}

cudaError_t occupancy(int* blocks) { return *blocks = 2, called("cudaOccupancy", cudaErrorUnknown); }

}  // namespace emulator

using emulator::called;
using emulator::ended;
using emulator::Machine;

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorHostMemoryAlreadyRegistered:
      return "host memory is registered already";
    case cudaErrorNotReady:
      return "not ready";
    default:
      return "emulated error";
  }
}
cudaError_t cudaGetLastError() { return std::exchange(emulator::last_error, cudaSuccess); }

// --- the device ---

cudaError_t cudaDriverGetVersion(int* version) {
  return *version = 1, called("cudaDriverGetVersion", cudaErrorInsufficientDriver);
}
cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, called("cudaGetDeviceCount", cudaErrorNoDevice); }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int) {
  return *to = {}, called("cudaGetDeviceProperties", cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetPCIBusId(char* to, int, int) {
  return *to = 0, called("cudaDeviceGetPCIBusId", cudaErrorInvalidDevice);
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return called("cudaGetDevice", cudaErrorDevicesUnavailable);
}

cudaError_t cudaSetDevice(int device) {
  if (device != 0) return ended(cudaErrorInvalidDevice);
  return called("cudaSetDevice", cudaErrorDevicesUnavailable);
}
cudaError_t cudaDeviceGetAttribute(int* to, cudaDeviceAttr what, int) {
  *to = what == cudaDevAttrMultiProcessorCount        ? 1
        : what == cudaDevAttrL2CacheSize              ? 4096
        : what == cudaDevAttrMaxPersistingL2CacheSize ? 512
                                                      : 96;
  return called("cudaDeviceGetAttribute", cudaErrorUnknown);
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit) {
  *value = 0;
  return called("cudaDeviceGetLimit", cudaErrorUnknown);
}
cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) { return called("cudaDeviceSetLimit", cudaErrorUnknown); }
cudaError_t cudaCtxResetPersistingL2Cache() { return called("cudaCtxResetPersistingL2Cache", cudaErrorUnknown); }
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = std::size_t{8} << 30;
  return called("cudaMemGetInfo", cudaErrorUnknown);
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* to, int) {
  return *to = nullptr, called("cudaDeviceGetDefaultMemPool", cudaErrorNotSupported);
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return called("cudaMemPoolTrimTo", cudaErrorUnknown); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, int, void*) {
  return called("cudaMemPoolSetAttribute", cudaErrorUnknown);
}

// --- streams and events ---

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* to, unsigned flags) {
  if (const auto error = called("cudaStreamCreateWithFlags", cudaErrorUnknown)) return error;
  const auto alone = Machine::one().alone();
  *to              = Machine::one().make_stream((flags & cudaStreamNonBlocking) == 0);
  return cudaSuccess;
}

// What gives something back does so even where it is made to fail.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const auto alone = Machine::one().alone();
  if (stream == nullptr) return ended(cudaErrorInvalidValue);
  Machine::one().drop_stream(stream);
  return called("cudaStreamDestroy", cudaErrorUnknown);
}

// And what waits has waited, then tells of an error: as CUDA does of those before.
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  Machine&   machine = Machine::one();
  const auto alone   = machine.alone();
  machine.wait_for(stream == nullptr ? machine.add(nullptr, {}) : stream->last);
  return called("cudaStreamSynchronize", cudaErrorUnknown);
}

cudaError_t cudaDeviceSynchronize() {
  const auto alone = Machine::one().alone();
  Machine::one().wait_for_all();
  return called("cudaDeviceSynchronize", cudaErrorUnknown);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const auto error = called("cudaStreamWaitEvent", cudaErrorUnknown)) return error;
  const auto alone = Machine::one().alone();
  if (event->recorded) Machine::one().add(stream, {}, event->recorded);
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (const auto error = called("cudaLaunchHostFunc", cudaErrorUnknown)) return error;
  const auto alone = Machine::one().alone();
  Machine::one().add(stream, [=] { function(data); });
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* to) {
  if (const auto error = called("cudaEventCreate", cudaErrorUnknown)) return error;
  ++emulator::events;
  return *to = new emulator::Event, cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* to, unsigned) { return cudaEventCreate(to); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return ended(cudaErrorInvalidValue);
  delete event;
  --emulator::events;
  return called("cudaEventDestroy", cudaErrorUnknown);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const auto error = called("cudaEventRecord", cudaErrorUnknown)) return error;
  const auto alone = Machine::one().alone();
  event->recorded  = Machine::one().add(stream, {});
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const auto alone = Machine::one().alone();
  Machine::one().wait_for(event->recorded);
  return called("cudaEventSynchronize", cudaErrorUnknown);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const auto error = called("cudaEventQuery", cudaErrorUnknown)) return error;
  const auto alone = Machine::one().alone();
  if (event->recorded && !event->recorded->done && emulator::choose(2) == 0)
    Machine::one().wait_for(event->recorded);
  return !event->recorded || event->recorded->done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float* to, cudaEvent_t from, cudaEvent_t until) {
  if (const auto error = called("cudaEventElapsedTime", cudaErrorUnknown)) return error;
  const auto alone = Machine::one().alone();
  if (!from->recorded || !until->recorded) return ended(cudaErrorInvalidValue);
  if (!from->recorded->done || !until->recorded->done) return ended(cudaErrorNotReady);
  *to = std::chrono::duration<float, std::milli>(until->recorded->when - from->recorded->when).count();
  return cudaSuccess;
}

// --- memory ---

cudaError_t cudaMallocAsync(void** to, std::size_t bytes, cudaStream_t) {
  if (const auto error = called("cudaMallocAsync", cudaErrorMemoryAllocation)) return error;
  const auto alone = Machine::one().alone();
  *to              = Machine::one().take(bytes);
  return *to != nullptr ? cudaSuccess : ended(cudaErrorMemoryAllocation);
}

/// When its turn in the stream has come: until then it is there, and after that nobody may use it.
cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  if (data == nullptr) return called("cudaFreeAsync", cudaErrorUnknown);
  Machine&   machine = Machine::one();
  const auto alone   = machine.alone();
  const auto found   = machine.device.find(static_cast<char*>(data));
  if (found == machine.device.end()) emulator::report("cudaFreeAsync of what was not allocated");
  if (std::exchange(found->second.freed, true)) emulator::report("cudaFreeAsync of what was freed before");
  machine.add(stream, [&machine, data] { machine.give(data); });
  return called("cudaFreeAsync", cudaErrorUnknown);
}

cudaError_t cudaMallocHost(void** to, std::size_t bytes) {
  if (const auto error = called("cudaMallocHost", cudaErrorMemoryAllocation)) return error;
  const auto alone = Machine::one().alone();
  *to              = std::malloc(std::max<std::size_t>(bytes, 1));
  if (*to == nullptr) return ended(cudaErrorMemoryAllocation);
  std::memset(*to, 0xA5, bytes);
  Machine::one().pinned[static_cast<char*>(*to)] = {bytes};
  Machine::one().note_peaks();
  return cudaSuccess;
}

/// At once: CUDA does not promise to wait for copies that are under way.
cudaError_t cudaFreeHost(void* data) {
  if (data == nullptr) return called("cudaFreeHost", cudaErrorUnknown);
  const auto alone = Machine::one().alone();
  if (Machine::one().pinned.erase(static_cast<char*>(data)) == 0)
    emulator::report("cudaFreeHost of what cudaMallocHost did not return");
  std::free(data);
  return called("cudaFreeHost", cudaErrorUnknown);
}

cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned) {
  if (const auto error = called("cudaHostRegister", cudaErrorMemoryAllocation)) return error;
  Machine&    machine = Machine::one();
  const auto  alone   = machine.alone();
  char* const begin   = static_cast<char*>(data);
  if (bytes == 0) return ended(cudaErrorInvalidValue);
  const auto next = machine.pinned.lower_bound(begin);
  if (around(machine.pinned, data) != machine.pinned.end() ||
      (next != machine.pinned.end() && next->first < begin + bytes))
    return ended(cudaErrorHostMemoryAlreadyRegistered);
  machine.pinned[begin] = {bytes};
  machine.note_peaks();
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* data) {
  const auto alone = Machine::one().alone();
  if (Machine::one().pinned.erase(static_cast<char*>(data)) == 0) return ended(cudaErrorHostMemoryNotRegistered);
  return called("cudaHostUnregister", cudaErrorUnknown);
}

cudaError_t cudaHostGetDevicePointer(void** to, void* from, unsigned) {
  if (const auto error = called("cudaHostGetDevicePointer", cudaErrorUnknown)) return error;
  Machine&   machine = Machine::one();
  const auto alone   = machine.alone();
  if (around(machine.pinned, from) == machine.pinned.end()) return ended(cudaErrorInvalidValue);
  return *to = from, cudaSuccess;
}

namespace {

enum class Side { device, pinned, pageable };

Side side_of(const void* at) {
  Machine& machine = Machine::one();
  if (around(machine.device, at) != machine.device.end()) return Side::device;
  return around(machine.pinned, at) != machine.pinned.end() ? Side::pinned : Side::pageable;
}

void check_sides(const void* to, const void* from, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) {  // by where both are: neither would be a mistake
    if (side_of(to) == Side::pageable && side_of(from) == Side::pageable)
      emulator::report("cudaMemcpyAsync between two places that are neither the device's nor pinned");
    return;
  }
  if ((side_of(to) == Side::device) != (kind != cudaMemcpyDeviceToHost) ||
      (side_of(from) == Side::device) != (kind != cudaMemcpyHostToDevice))
    emulator::report("cudaMemcpyAsync copies another way than it says");
}

/// Of pinned memory, which must still be pinned when the copy's turn has come.
void copy(void* to, const void* from, std::size_t bytes, Side then, const void* host) {
  if (then == Side::pinned && side_of(host) != Side::pinned)
    emulator::report("pinned memory was given back before the copy that uses it was done");
  std::memcpy(to, from, bytes);
}

}  // namespace

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (const auto error = called("cudaMemcpyAsync", cudaErrorUnknown)) return error;
  if (bytes == 0) return cudaSuccess;
  Machine&   machine = Machine::one();
  const auto alone   = machine.alone();
  check_sides(to, from, kind);
  if (side_of(from) == Side::pageable) {  // is read before the call returns
    const auto* begin  = static_cast<const char*>(from);
    const auto  queued = machine.add(stream, [to, staged = std::vector<char>(begin, begin + bytes)] {
      std::memcpy(to, staged.data(), staged.size());
    });
    if (side_of(to) == Side::pageable) machine.wait_for(queued);
    return cudaSuccess;
  }
  const void* const host   = side_of(to) == Side::device ? from : to;
  const Side        side   = side_of(host);
  const auto        queued = machine.add(stream, [=] { copy(to, from, bytes, side, host); });
  if (side_of(to) == Side::pageable) machine.wait_for(queued);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  if (const auto error = called("cudaMemsetAsync", cudaErrorUnknown)) return error;
  if (bytes == 0) return cudaSuccess;
  Machine&   machine = Machine::one();
  const auto alone   = machine.alone();
  if (side_of(to) != Side::device) emulator::report("cudaMemsetAsync of memory that is not the device's");
  machine.add(stream, [=] { std::memset(to, value, bytes); });
  return cudaSuccess;
}
