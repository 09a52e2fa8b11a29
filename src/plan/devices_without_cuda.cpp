#include "plan/devices.hpp"

namespace spillway {

CudaDevices cuda_devices() {
  return {.devices = {}, .absence = "this build has no CUDA code (nvcc was not found)"};
}

}  // namespace spillway
