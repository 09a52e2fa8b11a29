#include "devices/devices.hpp"
#include "plan/rates.hpp"

namespace spillway {

CudaDevices cuda_devices() {
  return {.devices = {}, .absence = "this build has no code for GPUs; where nvcc is, `make CUDA=on` builds it"};
}

std::optional<MachineRates> rates_of_gpu(int, int, const std::shared_ptr<MemoryBudget>&, bool) {
  return std::nullopt;
}

}  // namespace spillway
