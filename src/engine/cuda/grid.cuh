// Kernels that stride over items, whatever the size of their grid.
#pragma once

#include <algorithm>
#include <cstdint>

#include <spillway/engine/cuda/balance.cuh>
#include <spillway/engine/cuda/launch.cuh>

namespace spillway::cuda {

/// Enough threads to fill a large GPU.
inline unsigned blocks_for(std::uint64_t items) {
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>((items + block_threads - 1) / block_threads, 1, 1u << 14));
}

__device__ inline std::uint64_t first_item() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline std::uint64_t item_stride() { return std::uint64_t{gridDim.x} * blockDim.x; }

}  // namespace spillway::cuda
