// What this machine can compute with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <spillway/options.hpp>

namespace spillway {

struct Algorithm;

struct DeviceInfo {
  std::string   name;  ///< as --device takes it: cpu, cuda:0, …
  std::string   model;
  std::uint64_t memory_total = 0;
  std::uint64_t memory_free  = 0;
  int           cores        = 0;  ///< threads of a CPU, multiprocessors of a GPU
  std::string   detail;
};

DeviceInfo cpu_device();

/// The GPUs, or why there are none.
struct CudaDevices {
  std::vector<DeviceInfo> devices;
  std::string             absence;  ///< no driver, say
};
CudaDevices cuda_devices();

/// As people name it: "auto", "cpu", "cuda", "cuda:1". Error{usage} where there is no such device, or the
/// algorithm does not run on it. Without a GPU, "auto" is the CPU.
DeviceChoice device_choice(const std::string& name, const Algorithm& algorithm);

/// For whoever asks for a GPU by name where there is none: why, and what to do.
[[noreturn]] void refuse_gpu();

}  // namespace spillway
