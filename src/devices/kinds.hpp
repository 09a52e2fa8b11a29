// The table of kinds of devices. One is added by a file that defines it and a line in kinds.cpp.
#pragma once

#include <memory>

#include <spillway/device.hpp>
#include <spillway/engine/executor.hpp>

namespace spillway {

struct DeviceEntry : DeviceFacts {
  /// The executor of a device that is made of the CPU's; null for those that programs are compiled for.
  using Composed     = std::unique_ptr<Executor>(ExecutorMaker& maker, const Topology& topology);
  Composed* composed = nullptr;
};

const DeviceEntry& cpu_entry();
const DeviceEntry& cuda_entry();

/// For the life of the process.
void add_device_kind(const DeviceEntry& entry);

}  // namespace spillway
