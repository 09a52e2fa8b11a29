#include <cuda_runtime.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "base/fail.hpp"
#include "base/text.hpp"

#include <spillway/engine/cuda/rows.cuh>
#include <spillway/engine/parallel.hpp>
#include "engine/cuda/device_graph.hpp"
#include "engine/cuda/staging.hpp"

namespace spillway::cuda {
namespace {

// Left to the driver, the display and fragments.
constexpr std::uint64_t reserve_bytes = 256u << 20;

std::atomic<double> startup_seconds = 0;  // of calls before the first GPU was ready
std::atomic<bool>   started         = false;

}  // namespace

#if defined(SPILLWAY_EMULATED)
bool is_started() { return true; }
#else
bool is_started() { return started; }
#endif
double seconds_to_start() { return started ? startup_seconds.load() : 0.0; }

StartupTimer::~StartupTimer() {
  if (!started) startup_seconds += clock_.milliseconds() / 1e3;
}

void check(int status, std::string_view doing) {
  const auto error = static_cast<cudaError_t>(status);
  if (error == cudaSuccess) return;
  cudaGetLastError();  // what is thrown here is not to be found again by who asks next
  switch (error) {
    case cudaErrorMemoryAllocation:
      throw DeviceError{
          ExitCode::does_not_fit,
          fmt::format("{}: the GPU's memory is in use by other processes; free some, or use --device cpu", doing)};
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorDevicesUnavailable:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorNotSupported:
      throw DeviceError{ExitCode::usage,
                        fmt::format("this GPU cannot be used ({}): use --device cpu", cudaGetErrorString(error))};
    default:
      throw internal_error("the GPU failed while {}: {}", doing, cudaGetErrorString(error));
  }
}

int device_count() {
  const StartupTimer timed;
  int                count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

void refuse_long_rows(const RowBlock& block) {
  const std::uint64_t rows = std::uint64_t{block.last} - block.first;
  if (block.arcs() < longest_row) return;
  for (std::uint64_t v = 0; v < rows; ++v)
    if (block.rows.offsets[v + 1] - block.rows.offsets[v] >= longest_row) refuse_long_row();
}

void refuse_long_row() {
  throw DeviceError{ExitCode::does_not_fit,
                    "the graph has a vertex of 2^31 arcs or more, too many for a GPU; use --device cpu"};
}

IdleRings& IdleRings::instance() {
  static auto* const rings = new IdleRings;  // is not destroyed: the driver may be gone when the process ends
  return *rings;
}

std::unique_ptr<StagingRing> IdleRings::take(int device, unsigned count, std::uint64_t bytes) {
  {
    const std::scoped_lock lock{mutex_};
    const auto             found = std::ranges::find_if(
                    idle_, [&](const Idle& idle) { return idle.device == device && idle.ring->has(count, bytes); });
    if (found != idle_.end()) {
      auto ring = std::move(found->ring);
      bytes_ -= ring->bytes();
      idle_.erase(found);
      return ring;
    }
  }
  try {
    return std::make_unique<StagingRing>(count, bytes);
  } catch (const Error&) {
    return nullptr;
  }
}

void IdleRings::put(int device, std::unique_ptr<StagingRing> ring) noexcept {
  const std::scoped_lock lock{mutex_};
  if (!ring || ring->bytes() > most_bytes) return;
  const std::uint64_t bytes = ring->bytes();
  for (; bytes_ + bytes > most_bytes; idle_.erase(idle_.begin())) bytes_ -= idle_.front().ring->bytes();
  try {
    idle_.push_back({device, std::move(ring)});
    bytes_ += bytes;
  } catch (const std::bad_alloc&) {  // then it is given back
  }
}

void IdleRings::clear() {
  const std::scoped_lock lock{mutex_};
  idle_.clear();
  bytes_ = 0;
}

namespace {

constexpr std::uint64_t staging_bytes = StagingRing::usual_bytes;

void copy_by_threads(void* to, const void* from, std::uint64_t size) {
  constexpr int threads = 8;
  for_each_share(std::min(threads, thread_count(0)), size, [&](std::uint64_t begin, std::uint64_t end, int) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
  });
}

}  // namespace

Cancellation::Cancellation(Device& device, Progress* progress) : device_(device), progress_(progress) {
  if (progress_) ring_ = IdleRings::instance().take(device.index(), 1, sizeof(unsigned));
  if (ring_) *word() = 0;
}

Cancellation::~Cancellation() {
  // After an error a kernel may still read it.
  if (ring_ && (*ring_)[0].copied.wait_noexcept()) IdleRings::instance().put(device_.index(), std::move(ring_));
}

volatile unsigned* Cancellation::word() const { return ring_ ? (*ring_)[0].memory.as<unsigned>() : nullptr; }

bool Cancellation::wait() {
  if (!ring_) {
    device_.wait();
    return false;
  }
  Event& over = (*ring_)[0].copied;
  over.record(nullptr);
  for (;;) {
    if (progress_->cancelled()) *word() = 1;
    if (over.is_over()) return *word() != 0;
    std::this_thread::yield();
  }
}

Device::Device(int index, std::uint64_t memory) : index_(index), stated_(memory) {
  cudaMemPool_t pool = nullptr;
  std::size_t   free = 0, total = 0;
  {
    const StartupTimer timed;
    check(cudaSetDevice(index), "being chosen");
    check(cudaDeviceGetDefaultMemPool(&pool, index), "being asked for its memory");
    check(cudaMemPoolTrimTo(pool, 0), "being asked for its memory");
    check(cudaMemGetInfo(&free, &total), "being asked for its memory");
  }
  started                       = true;
  const std::uint64_t available = free > reserve_bytes ? free - reserve_bytes : 0;
  limit_                        = stated_ > 0 ? memory : available;
  int cache                     = 0;
  check(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, index), "being asked for its cache");
  cache_bytes_ = static_cast<std::uint64_t>(cache);
  // Memory that one run gives back is what the next one takes.
  std::uint64_t keep = ~std::uint64_t{0};
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "being asked for its memory");
}

namespace {

std::uint64_t cache_attribute(const Device& device, cudaDeviceAttr what) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, what, device.index()), "being asked for its cache");
  return static_cast<std::uint64_t>(value);
}

}  // namespace

std::uint64_t KeptCache::bytes_of(const Device& device) {
  return cache_attribute(device, cudaDevAttrMaxPersistingL2CacheSize);
}

/// What is kept is there for nothing else, so that other kernels have less. Some GPUs that are shared out do not
/// let anything be kept.
KeptCache::KeptCache(const Device& device)
    : bytes_(bytes_of(device)), longest_(cache_attribute(device, cudaDevAttrMaxAccessPolicyWindowSize)) {
  if (bytes_ == 0) return;
  if (cudaDeviceGetLimit(&before_, cudaLimitPersistingL2CacheSize) == cudaSuccess &&
      cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes_) == cudaSuccess)
    return;
  bytes_ = 0;
  static_cast<void>(cudaGetLastError());  // which is not of what comes next
}

KeptCache::~KeptCache() {
  if (bytes_ == 0) return;
  const bool done = cudaCtxResetPersistingL2Cache() == cudaSuccess &&
                    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, before_) == cudaSuccess;
  if (!done) static_cast<void>(cudaGetLastError());
}

CacheWindow KeptCache::window(const void* data, std::uint64_t bytes) const {
  bytes = std::min(bytes, longest_);
  if (bytes == 0 || bytes_ == 0) return {};
  return {data, bytes,
          static_cast<float>(std::min(1.0, static_cast<double>(bytes_) / static_cast<double>(bytes)))};
}

Device::~Device() {
  cudaMemPool_t pool   = nullptr;
  int           before = index_;
  cudaGetDevice(&before);
  cudaSetDevice(index_);
  const bool copied = cudaStreamSynchronize(nullptr) == cudaSuccess;  // from and to the staging buffers, too
  if (copied) IdleRings::instance().put(index_, std::move(staging_));
  staging_.reset();
  if (cudaDeviceGetDefaultMemPool(&pool, index_) == cudaSuccess) cudaMemPoolTrimTo(pool, 0);
  if (before != index_ && cudaSetDevice(before) != cudaSuccess) cudaGetLastError();
}

void Device::enter() {
  check(cudaSetDevice(index_), "being chosen");
  cudaGetLastError();  // what failed while others gave things back is not this run's failure
  const std::scoped_lock lock{mutex_};
  peak_ = used_;
}

std::uint64_t Device::peak() {
  const std::scoped_lock lock{mutex_};
  return peak_;
}

std::uint64_t Device::room() {
  const std::scoped_lock lock{mutex_};
  return limit_ - std::min(limit_, used_);
}

void Device::require(std::uint64_t bytes, std::string_view what) {
  const std::scoped_lock lock{mutex_};
  refuse_beyond_limit(bytes, what);
}

void Device::require_at_all(std::uint64_t bytes, std::string_view what) {
  const std::scoped_lock lock{mutex_};
  if (bytes > limit_) refuse_beyond_limit(bytes, what);
}

void Device::refuse_beyond_limit(std::uint64_t bytes, std::string_view what) const {
  if (bytes > limit_ || used_ > limit_ - bytes)
    throw DeviceError{
        ExitCode::does_not_fit,
        fmt::format("{} need {} more on the GPU, which holds {} already; {} {}: {}", what, human_bytes(bytes),
                    human_bytes(used_), stated_ > 0 ? "--device-memory allows" : "free there are",
                    human_bytes(limit_),
                    stated_ > 0 ? "raise --device-memory, or use --device cpu" : "use --device cpu")};
}

Device::Bytes*& Device::measuring() {
  thread_local Bytes* bytes = nullptr;
  return bytes;
}

void* Device::take(std::uint64_t bytes, std::string_view what) {
  if (measuring()) {
    measuring()->device += bytes;
    return nullptr;
  }
  const std::scoped_lock lock{mutex_};
  refuse_beyond_limit(bytes, what);
  void* data = nullptr;
  check(cudaMallocAsync(&data, bytes, nullptr), what);
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return data;
}

void Device::give(void* data, std::uint64_t bytes) noexcept {
  const std::scoped_lock lock{mutex_};
  cudaFreeAsync(data, nullptr);
  used_ -= bytes;
}

void* Device::take_on_host(std::uint64_t bytes, std::string_view what) {
  if (measuring()) {
    measuring()->host += bytes;
    return nullptr;
  }
  try {
    if (host_) host_->take(bytes, what);
  } catch (const Error& error) {  // the CPU may do with less
    throw DeviceError{error.code(), error.what()};
  }
  void* data = nullptr;
  if (cudaMallocHost(&data, bytes) == cudaSuccess) return data;
  cudaGetLastError();
  if (host_) host_->give(bytes);
  throw DeviceError{
      ExitCode::does_not_fit,
      fmt::format("{} need {} of host memory that can be pinned; raise `ulimit -l`, or use --device cpu", what,
                  human_bytes(bytes))};
}

void Device::give_on_host(void* data, std::uint64_t bytes) noexcept {
  cudaStreamSynchronize(nullptr);  // whoever uses it
  cudaFreeHost(data);
  if (host_) host_->give(bytes);
}

bool Device::leave(std::uint64_t bytes) {
  constexpr std::uint64_t share = 8;
  const std::scoped_lock  lock{mutex_};
  if (left_ + bytes > limit_ / share || peak_ + bytes > limit_) return false;
  left_ += bytes;
  return true;
}

void Device::no_longer_leaves(std::uint64_t bytes) noexcept {
  const std::scoped_lock lock{mutex_};
  left_ -= bytes;
}

namespace {

constexpr int none = -1;

}  // namespace

OnDevice::OnDevice(int index) {
  check(cudaGetDevice(&before_), "choosing a GPU");
  if (before_ == index)
    before_ = none;
  else
    check(cudaSetDevice(index), "choosing a GPU");
}

OnDevice::~OnDevice() {
  if (before_ != none && cudaSetDevice(before_) != cudaSuccess) cudaGetLastError();
}

bool Device::stages(std::uint64_t bytes) {
  if (bytes <= staging_bytes) return false;
  if (!staging_) staging_ = IdleRings::instance().take(index_, StagingRing::usual_count, staging_bytes);
  return staging_ != nullptr;
}

namespace {

/// A copy that failed half-way leaves nothing behind that still uses the staging buffers.
template <class Copies>
void in_parts(Copies&& copies) {
  try {
    copies();
  } catch (...) {
    cudaStreamSynchronize(nullptr);
    throw;
  }
}

}  // namespace

void Device::upload(void* to, const void* from, std::uint64_t bytes) {
  const char* const      doing = "being given data";
  const std::scoped_lock lock{mutex_};
  if (!stages(bytes)) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr), doing);
    return;
  }
  in_parts([&] {
    for (std::uint64_t at = 0, i = 0; at < bytes; at += staging_bytes, ++i) {
      const std::uint64_t part   = std::min(staging_bytes, bytes - at);
      auto&               buffer = (*staging_)[i];
      char* const         staged = buffer.memory.as<char>();
      buffer.copied.wait();
      copy_by_threads(staged, static_cast<const char*>(from) + at, part);
      check(cudaMemcpyAsync(static_cast<char*>(to) + at, staged, part, cudaMemcpyDefault, nullptr), doing);
      buffer.copied.record(nullptr);
    }
  });
}

void Device::download(void* to, const void* from, std::uint64_t bytes) {
  const char* const      doing = "giving data back";
  const std::scoped_lock lock{mutex_};
  if (!stages(bytes)) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, nullptr), doing);
    return wait();
  }
  const std::uint64_t parts = (bytes + staging_bytes - 1) / staging_bytes;
  const auto          size  = [&](std::uint64_t i) { return std::min(staging_bytes, bytes - i * staging_bytes); };
  const auto          bring = [&](std::uint64_t i) {
    const char* const part = static_cast<const char*>(from) + i * staging_bytes;
    check(cudaMemcpyAsync((*staging_)[i].memory.as<char>(), part, size(i), cudaMemcpyDefault, nullptr), doing);
    (*staging_)[i].copied.record(nullptr);
  };
  const auto take = [&](std::uint64_t i) {
    (*staging_)[i].copied.wait();
    copy_by_threads(static_cast<char*>(to) + i * staging_bytes, (*staging_)[i].memory.as<char>(), size(i));
  };
  in_parts([&] {
    constexpr std::uint64_t ahead = StagingRing::usual_count - 1;
    for (std::uint64_t i = 0; i < parts + ahead; ++i) {
      if (i < parts) bring(i);
      if (i >= ahead) take(i - ahead);
    }
  });
}

void Device::clear(void* data, std::uint64_t bytes) {
  check(cudaMemsetAsync(data, 0, bytes, nullptr), "clearing memory");
}

void Device::wait() { check(cudaStreamSynchronize(nullptr), "computing"); }

}  // namespace spillway::cuda
