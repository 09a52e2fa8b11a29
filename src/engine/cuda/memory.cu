#include <cuda_runtime.h>

#include <algorithm>

#include "base/fail.hpp"
#include "base/text.hpp"

#include <spillway/engine/cuda/memory.hpp>

namespace spillway::cuda {
namespace {

// Left to the driver, the display and fragments.
constexpr std::uint64_t reserve_bytes = 256u << 20;

}  // namespace

void check(int status, std::string_view doing) {
  const auto error = static_cast<cudaError_t>(status);
  if (error == cudaSuccess) return;
  const std::string message = "the GPU failed while " + std::string{doing} + ": " + cudaGetErrorString(error);
  throw Error{error == cudaErrorMemoryAllocation ? ExitCode::does_not_fit : ExitCode::internal_error, message};
}

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

Device::Device(int index, std::uint64_t memory) : index_(index), stated_(memory > 0) {
  check(cudaSetDevice(index), "being chosen");
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "being asked for its memory");
  const std::uint64_t available = free > reserve_bytes ? free - reserve_bytes : 0;
  limit_                        = stated_ ? memory : available;
}

void* Device::take(std::uint64_t bytes, std::string_view what) {
  if (bytes > limit_ || used_ > limit_ - bytes)
    throw does_not_fit("{} need {} more on the GPU, which holds {} already; {} {}: {}", what, human_bytes(bytes),
                       human_bytes(used_), stated_ ? "--device-memory allows" : "free there are",
                       human_bytes(limit_),
                       stated_ ? "raise --device-memory, or use --device cpu" : "use --device cpu");
  void* data = nullptr;
  check(cudaMallocAsync(&data, bytes, nullptr), what);
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return data;
}

void Device::give(void* data, std::uint64_t bytes) noexcept {
  cudaFreeAsync(data, nullptr);
  used_ -= bytes;
}

void Device::upload(void* to, const void* from, std::uint64_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, nullptr), "being given data");
}

void Device::download(void* to, const void* from, std::uint64_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, nullptr), "giving data back");
  wait();
}

void Device::clear(void* data, std::uint64_t bytes) {
  check(cudaMemsetAsync(data, 0, bytes, nullptr), "clearing memory");
}

void Device::wait() { check(cudaStreamSynchronize(nullptr), "computing"); }

DeviceTopology::DeviceTopology(Device& device, const Topology& topology, bool weighted) {
  blocks_.reserve(topology.push.size() + topology.pull.size());
  for (const Block& block : topology.push) push_.push_back(resident(device, block, weighted));
  for (const Block& block : topology.pull) pull_.push_back(resident(device, block, weighted));
}

Rows DeviceTopology::resident(Device& device, const Block& block, bool weighted) {
  const auto same = [&](const Resident& other) {
    return other.on_host.offsets == block.rows.offsets && other.on_host.targets == block.rows.targets;
  };
  auto found = std::ranges::find_if(blocks_, same);
  if (found == blocks_.end()) {
    const std::uint64_t rows = std::uint64_t{block.last} - block.first, arcs = block.rows.offsets[rows];
    Resident            fresh{.on_host = block.rows,
                              .offsets = {device, rows + 1, "the offsets of the rows"},
                              .targets = {device, arcs, "the arcs"},
                              .weights = {}};
    fresh.offsets.upload(block.rows.offsets);
    fresh.targets.upload(block.rows.targets);
    if (weighted) {
      fresh.weights = {device, arcs, "the weights"};
      fresh.weights.upload(block.rows.weights);
    }
    bytes_ += (rows + 1) * sizeof(EdgeIndex) + arcs * (sizeof(Vertex) + (weighted ? sizeof(std::uint32_t) : 0));
    blocks_.push_back(std::move(fresh));
    found = std::prev(blocks_.end());
  }
  return {found->offsets.data(), found->targets.data(), found->weights.data()};
}

}  // namespace spillway::cuda
