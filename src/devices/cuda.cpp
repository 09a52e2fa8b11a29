// NVIDIA GPUs.
#include <spillway/error.hpp>

#include "devices/devices.hpp"
#include "devices/kinds.hpp"

namespace spillway {

const DeviceEntry& cuda_entry() {
  static const DeviceEntry entry{
      {.name = "cuda", .help = "a GPU, the first if no number is given", .numbered = true}, nullptr};
  return entry;
}

DeviceKind cuda_kind() { return DeviceKind{cuda_entry()}; }

void refuse_gpu() { throw Error{ExitCode::usage, "no GPU can be used: " + cuda_devices().absence}; }

}  // namespace spillway
