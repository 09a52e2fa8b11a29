// Asking the CUDA driver what is there. Without a driver or a GPU that is an answer, not an error.
#include <cuda_runtime.h>

#include "devices/devices.hpp"

#include <spillway/engine/cuda/memory.hpp>

namespace spillway {
namespace {

DeviceInfo device_at(int index, const cudaDeviceProp& properties) {
  DeviceInfo device;
  device.name         = "cuda:" + std::to_string(index);
  device.model        = properties.name;
  device.memory_total = properties.totalGlobalMem;
  device.cores        = properties.multiProcessorCount;
  device.detail       = "compute capability " + std::to_string(properties.major) + "." +
                  std::to_string(properties.minor) + ", L2 " + std::to_string(properties.l2CacheSize >> 20) +
                  " MiB";
  std::size_t free = 0, total = 0;
  if (cudaSetDevice(index) == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess)
    device.memory_free = free;
  return device;
}

/// Where there is no driver at all, CUDA's own words are that it is too old.
std::string absence_of(cudaError_t status) {
  int version = 0;
  if (status == cudaErrorInsufficientDriver && cudaDriverGetVersion(&version) == cudaSuccess && version == 0)
    return "no NVIDIA driver was found";
  return cudaGetErrorString(status);
}

}  // namespace

CudaDevices cuda_devices() {
  const cuda::StartupTimer timed;
  CudaDevices              found;
  int                      count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess) {
    found.absence = absence_of(status);
    return found;
  }
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) == cudaSuccess)
      found.devices.push_back(device_at(index, properties));
  }
  if (found.devices.empty()) found.absence = "the driver lists no GPU";
  return found;
}

}  // namespace spillway
