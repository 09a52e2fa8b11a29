// How kernels are started: on the GPU, or by tests on the CPU (tests/emulator), where they can be watched.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

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

#if defined(SPILLWAY_EMULATED)
inline constexpr unsigned emulated_storage_bytes = 1u << 16;
#endif

/// What a launch may ask for beside threads.
struct LaunchNeeds {
  unsigned    shared_bytes = 0;  ///< of each block, beside its variables
  CacheWindow kept         = {};
};

/// The dynamic shared memory of a block, of a launch that has some.
__device__ inline unsigned char* block_storage() {
#if defined(SPILLWAY_EMULATED)
  alignas(16) __shared__ unsigned char storage[emulated_storage_bytes];
#else
  extern __shared__ __align__(16) unsigned char storage[];
#endif
  return storage;
}

inline int attribute_of(int device, cudaDeviceAttr asked) {
  int found = 0;
  check(cudaDeviceGetAttribute(&found, asked, device), "asking a device what it has");
  return found;
}

#if defined(SPILLWAY_EMULATED)
template <class... A>
unsigned room_in_shared(void (*)(A...), int) {
  return emulated_storage_bytes;
}
template <class... A>
void reserve_shared(void (*)(A...), unsigned, int) {}
#else
inline unsigned static_shared_of(const void* kernel) {
  cudaFuncAttributes facts{};
  check(cudaFuncGetAttributes(&facts, kernel), "asking for shared memory");
  return static_cast<unsigned>(facts.sharedSizeBytes);
}

/// Dynamic shared memory that a block of this kernel can have.
template <class... A>
unsigned room_in_shared(void (*kernel)(A...), int device) {
  const auto all = static_cast<unsigned>(attribute_of(device, cudaDevAttrMaxSharedMemoryPerBlockOptin));
  const auto taken = static_shared_of(reinterpret_cast<const void*>(kernel));
  return all > taken ? all - taken : 0;
}

/// Divides a multiprocessor's memory for one block with so much dynamic shared memory: the rest is L1 cache, of
/// which the driver by itself leaves the least. Several threads may launch the kernel: its limit is always the
/// largest there is, and the division is a hint, which the driver rounds up to the next size.
template <class... A>
void reserve_shared(void (*kernel)(A...), unsigned bytes, int device) {
  const void* const function = reinterpret_cast<const void*>(kernel);
  constexpr auto doing = "asking for shared memory";
  const auto all = attribute_of(device, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const auto needed = bytes + static_shared_of(function) +
                      static_cast<unsigned>(attribute_of(device, cudaDevAttrReservedSharedMemoryPerBlock));
  const auto percent = static_cast<int>(std::uint64_t{needed} * 100 / static_cast<unsigned>(std::max(all, 1)));
  check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(room_in_shared(kernel, device))),
        doing);
  check(cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, std::min(percent, 100)),
        doing);
}
#endif

/// All blocks at once, so that they may wait for one another.
template <class... A>
void launch_together(const LaunchNeeds& needs, void (*kernel)(A...), unsigned blocks, unsigned threads,
                     std::type_identity_t<A>... with) {
#if defined(SPILLWAY_EMULATED)
  static_cast<void>(needs);
  check(emulator::launch(__PRETTY_FUNCTION__, blocks, threads, true, [=] { kernel(with...); }),
        "starting a kernel");
#else
  void* arguments[] = {&with...};
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributeAccessPolicyWindow;
  cudaAccessPolicyWindow& kept = attributes[1].val.accessPolicyWindow;
  kept.base_ptr = const_cast<void*>(needs.kept.data);
  kept.num_bytes = needs.kept.bytes;
  kept.hitRatio = needs.kept.share;
  kept.hitProp = cudaAccessPropertyPersisting;
  kept.missProp = cudaAccessPropertyStreaming;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = needs.shared_bytes;
  config.attrs = attributes;
  config.numAttrs = needs.kept.bytes > 0 ? 2 : 1;
  check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments), "starting a kernel");
#endif
}

template <class... A>
void launch_together(void (*kernel)(A...), unsigned blocks, unsigned threads, std::type_identity_t<A>... with) {
  launch_together(LaunchNeeds{}, kernel, blocks, threads, with...);
}

}  // namespace spillway::cuda
