#include <cuda_runtime.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "base/text.hpp"

#include <spillway/engine/cuda/memory.hpp>
#include <spillway/engine/cuda/order.hpp>
#include <spillway/engine/parallel.hpp>

namespace spillway::cuda {
namespace {

// Left to the driver, the display and fragments.
constexpr std::uint64_t reserve_bytes = 256u << 20;

}  // namespace

void check(int status, std::string_view doing) {
  const auto error = static_cast<cudaError_t>(status);
  switch (error) {
    case cudaSuccess:
      return;
    case cudaErrorMemoryAllocation:
      throw DeviceError{
          ExitCode::does_not_fit,
          fmt::format("{}: the GPU's memory is taken by others; free some, or use --device cpu", doing)};
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorDevicesUnavailable:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorNoKernelImageForDevice:
      throw DeviceError{ExitCode::usage,
                        fmt::format("this GPU cannot be used ({}): use --device cpu", cudaGetErrorString(error))};
    default:
      throw internal_error("the GPU failed while {}: {}", doing, cudaGetErrorString(error));
  }
}

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

/// Two buffers take turns: threads fill one while the other is on the bus.
struct Device::Staging {
  static constexpr std::uint64_t bytes   = 16u << 20;
  static constexpr int           threads = 8;

  Staging() {
    for (int i = 0; i < 2; ++i) {
      check(cudaMallocHost(&buffers[i], bytes), "being given pinned memory");
      check(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming), "being given an event");
    }
  }
  ~Staging() {
    for (int i = 0; i < 2; ++i) {
      if (buffers[i]) cudaFreeHost(buffers[i]);
      if (done[i]) cudaEventDestroy(done[i]);
    }
  }

  static void copy(void* to, const void* from, std::uint64_t size) {
    for_each_share(std::min(threads, thread_count(0)), size, [&](std::uint64_t begin, std::uint64_t end, int) {
      std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, end - begin);
    });
  }

  void*       buffers[2] = {};
  cudaEvent_t done[2]    = {};
};

Device::Device(int index, std::uint64_t memory) : index_(index), stated_(memory) {
  check(cudaSetDevice(index), "being chosen");
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "being asked for its memory");
  const std::uint64_t available = free > reserve_bytes ? free - reserve_bytes : 0;
  limit_                        = stated_ > 0 ? memory : available;
  int cache                     = 0;
  check(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, index), "being asked for its cache");
  cache_bytes_ = static_cast<std::uint64_t>(cache);
  // Memory that one run gives back is what the next one takes.
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, index), "being asked for its memory");
  std::uint64_t keep = ~std::uint64_t{0};
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "being asked for its memory");
}

Device::~Device() {
  staging_.reset();
  cudaMemPool_t pool = nullptr;
  cudaSetDevice(index_);
  cudaStreamSynchronize(nullptr);
  if (cudaDeviceGetDefaultMemPool(&pool, index_) == cudaSuccess) cudaMemPoolTrimTo(pool, 0);
}

void Device::enter() {
  check(cudaSetDevice(index_), "being chosen");
  const std::scoped_lock lock{mutex_};
  peak_ = used_;
}

void* Device::take(std::uint64_t bytes, std::string_view what) {
  const std::scoped_lock lock{mutex_};
  if (bytes > limit_ || used_ > limit_ - bytes)
    throw DeviceError{
        ExitCode::does_not_fit,
        fmt::format("{} need {} more on the GPU, which holds {} already; {} {}: {}", what, human_bytes(bytes),
                    human_bytes(used_), stated_ > 0 ? "--device-memory allows" : "free there are",
                    human_bytes(limit_),
                    stated_ > 0 ? "raise --device-memory, or use --device cpu" : "use --device cpu")};
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

void Device::upload(void* to, const void* from, std::uint64_t bytes) {
  const char* const doing = "being given data";
  if (bytes <= Staging::bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, nullptr), doing);
    return;
  }
  const std::scoped_lock lock{mutex_};
  if (!staging_) staging_ = std::make_unique<Staging>();
  for (std::uint64_t at = 0, i = 0; at < bytes; at += Staging::bytes, ++i) {
    const std::uint64_t part   = std::min(Staging::bytes, bytes - at);
    void* const         buffer = staging_->buffers[i % 2];
    check(cudaEventSynchronize(staging_->done[i % 2]), doing);
    Staging::copy(buffer, static_cast<const char*>(from) + at, part);
    check(cudaMemcpyAsync(static_cast<char*>(to) + at, buffer, part, cudaMemcpyHostToDevice, nullptr), doing);
    check(cudaEventRecord(staging_->done[i % 2], nullptr), doing);
  }
}

void Device::download(void* to, const void* from, std::uint64_t bytes) {
  const char* const doing = "giving data back";
  if (bytes <= Staging::bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, nullptr), doing);
    return wait();
  }
  const std::scoped_lock lock{mutex_};
  if (!staging_) staging_ = std::make_unique<Staging>();
  const std::uint64_t parts = (bytes + Staging::bytes - 1) / Staging::bytes;
  const auto          size = [&](std::uint64_t i) { return std::min(Staging::bytes, bytes - i * Staging::bytes); };
  for (std::uint64_t i = 0; i <= parts; ++i) {
    if (i < parts) {
      check(cudaMemcpyAsync(staging_->buffers[i % 2], static_cast<const char*>(from) + i * Staging::bytes, size(i),
                            cudaMemcpyDeviceToHost, nullptr),
            doing);
      check(cudaEventRecord(staging_->done[i % 2], nullptr), doing);
    }
    if (i == 0) continue;
    check(cudaEventSynchronize(staging_->done[(i - 1) % 2]), doing);
    Staging::copy(static_cast<char*>(to) + (i - 1) * Staging::bytes, staging_->buffers[(i - 1) % 2], size(i - 1));
  }
}

void Device::clear(void* data, std::uint64_t bytes) {
  check(cudaMemsetAsync(data, 0, bytes, nullptr), "clearing memory");
}

void Device::wait() { check(cudaStreamSynchronize(nullptr), "computing"); }

std::shared_ptr<DeviceGraph> DeviceGraph::of(const Graph& graph, const DeviceChoice& choice) {
  auto there = std::dynamic_pointer_cast<DeviceGraph>(graph.attachment());
  if (there && there->device_.index() == choice.index && there->device_.stated() == choice.memory) return there;
  graph.attach(nullptr);  // gives its memory back before the next one asks how much there is
  there.reset();
  there = std::make_shared<DeviceGraph>(choice);
  graph.attach(there);
  return there;
}

DeviceTopology DeviceGraph::topology(const Topology& topology, bool weighted) {
  const std::scoped_lock lock{mutex_};
  try {
    return brought(topology, weighted);
  } catch (const Error& error) {
    if (error.code() != ExitCode::does_not_fit) throw;
  }
  const auto idle = [](const auto& block) { return block.use_count() == 1; };
  std::erase_if(reordered_, idle);
  std::erase_if(blocks_, idle);
  return brought(topology, weighted);
}

DeviceTopology DeviceGraph::reordered(const Topology& topology, DeviceTopology rows, bool weighted, bool insists) {
  const std::scoped_lock lock{mutex_};
  const std::uint64_t    n      = topology.vertices;
  const bool             pushes = !topology.push.empty();
  const Block&           by     = pushes ? topology.push.front() : topology.pull.front();
  const auto             arcs   = [](const Block& block) { return block.rows.offsets[block.last - block.first]; };
  if (ordered_by_ != by.rows.offsets) {
    reordered_.clear();
    order_ = std::make_shared<DeviceOrder>(
        order_by_degree(device_, pushes ? rows.push.front() : rows.pull.front(), n, arcs(by)));
    ordered_by_ = by.rows.offsets;
  }
  if (!insists && !order_->skewed) return rows;
  DeviceTopology moved;
  moved.order    = order_;
  moved.uploaded = rows.uploaded;
  const auto add = [&](const Block& block, const Rows& here, std::vector<Rows>& to) {
    const auto same = [&](const auto& other) {
      return other->on_host.targets == block.rows.targets && (!weighted || other->weights.size() > 0);
    };
    auto found = std::ranges::find_if(reordered_, same);
    if (found == reordered_.end()) {
      auto fresh =
          std::make_shared<ResidentRows>(cuda::reordered(device_, here, n, arcs(block), weighted, *order_));
      fresh->on_host = block.rows;
      found          = reordered_.insert(reordered_.end(), std::move(fresh));
    }
    to.push_back((*found)->on_device());
    moved.held.push_back(*found);
  };
  for (std::size_t i = 0; i < topology.push.size(); ++i) add(topology.push[i], rows.push[i], moved.push);
  for (std::size_t i = 0; i < topology.pull.size(); ++i) add(topology.pull[i], rows.pull[i], moved.pull);
  return moved;
}

bool DeviceGraph::make_room() {
  const std::scoped_lock lock{mutex_};
  const auto             idle = [](const auto& block) { return block.use_count() == 1; };
  return std::erase_if(reordered_, idle) + std::erase_if(blocks_, idle) > 0;
}

DeviceTopology DeviceGraph::brought(const Topology& topology, bool weighted) {
  DeviceTopology there;
  const auto     add = [&](const Block& block, std::vector<Rows>& to) {
    auto rows = resident(block, weighted, there.uploaded);
    to.push_back(rows->on_device());
    there.held.push_back(std::move(rows));
  };
  for (const Block& block : topology.push) add(block, there.push);
  for (const Block& block : topology.pull) add(block, there.pull);
  return there;
}

std::shared_ptr<ResidentRows> DeviceGraph::resident(const Block& block, bool weighted, std::uint64_t& uploaded) {
  const std::uint64_t rows = std::uint64_t{block.last} - block.first, arcs = block.rows.offsets[rows];
  const auto          same = [&](const auto& other) {
    return other->on_host.offsets == block.rows.offsets && other->on_host.targets == block.rows.targets;
  };
  auto found = std::ranges::find_if(blocks_, same);
  if (found == blocks_.end()) {
    auto fresh     = std::make_shared<ResidentRows>();
    fresh->on_host = block.rows;
    fresh->offsets = {device_, rows + 1, "the offsets of the rows"};
    fresh->targets = {device_, arcs, "the arcs"};
    fresh->offsets.upload(block.rows.offsets);
    fresh->targets.upload(block.rows.targets);
    uploaded += (rows + 1) * sizeof(EdgeIndex) + arcs * sizeof(Vertex);
    found = blocks_.insert(blocks_.end(), std::move(fresh));
  }
  if (weighted && (*found)->weights.size() != arcs) {
    (*found)->weights = {device_, arcs, "the weights"};
    (*found)->weights.upload(block.rows.weights);
    uploaded += arcs * sizeof(std::uint32_t);
  }
  return *found;
}

}  // namespace spillway::cuda
