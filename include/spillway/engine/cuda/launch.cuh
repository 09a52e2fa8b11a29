// How kernels are started: on the GPU, or by tests on the CPU (tests/emulator), where they can be watched.
#pragma once

#include <cuda_runtime.h>

#include <spillway/engine/cuda/memory.hpp>

#if defined(SPILLWAY_EMULATED)
#define SPILLWAY_LAUNCH(kernel, blocks, threads, ...) \
  emulator::launch(blocks, threads, false, [&] { kernel(__VA_ARGS__); })
#else
#define SPILLWAY_LAUNCH(kernel, blocks, threads, ...) kernel<<<blocks, threads>>>(__VA_ARGS__)
#endif

namespace spillway::cuda {

/// By the device's clock.
__device__ inline unsigned long long nanoseconds() {
  unsigned long long now = 0;
#if !defined(SPILLWAY_EMULATED)
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
#endif
  return now;
}

/// All blocks at once, so that they may wait for one another.
template <class... A>
void launch_together(void (*kernel)(A...), unsigned blocks, unsigned threads, std::type_identity_t<A>... with) {
#if defined(SPILLWAY_EMULATED)
  emulator::launch(blocks, threads, true, [&] { kernel(with...); });
#else
  void* arguments[] = {&with...};
  check(cudaLaunchCooperativeKernel(kernel, blocks, threads, arguments, 0, nullptr), "starting a kernel");
#endif
}

}  // namespace spillway::cuda
