// How kernels are started: on the GPU, or by tests on the CPU (tests/emulator), where they can be watched.
#pragma once

#include <cuda_runtime.h>

#include <spillway/engine/cuda/memory.hpp>

// Checked at once: kernels that come after one that did not start would work on what it has not written.
#if defined(SPILLWAY_EMULATED)
// Arguments are copied now; the kernel runs when its turn in the stream has come.
#define SPILLWAY_LAUNCH(kernel, blocks, threads, ...)                                                           \
  (emulator::launch(#kernel, blocks, threads, false,                                                            \
                    emulator::bound([=](const auto&... with) { kernel(with...); } __VA_OPT__(, ) __VA_ARGS__)), \
   ::spillway::cuda::check(cudaGetLastError(), "starting " #kernel))
#else
#define SPILLWAY_LAUNCH(kernel, blocks, threads, ...) \
  (kernel<<<blocks, threads>>>(__VA_ARGS__), ::spillway::cuda::check(cudaGetLastError(), "starting " #kernel))
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
  check(emulator::launch(__PRETTY_FUNCTION__, blocks, threads, true, [=] { kernel(with...); }),
        "starting a kernel");
#else
  void* arguments[] = {&with...};
  check(cudaLaunchCooperativeKernel(kernel, blocks, threads, arguments, 0, nullptr), "starting a kernel");
#endif
}

}  // namespace spillway::cuda
