// As much of CUDA as Spillway uses, on the CPU: tests/emulator/emulator.hpp says how.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "emulator.hpp"

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __shared__ static thread_local
#define __launch_bounds__(...)

#define threadIdx (emulator::here.thread)
#define blockIdx (emulator::here.block)
#define blockDim (emulator::here.block_size)
#define gridDim (emulator::here.grid_size)

// --- what lanes do together ---

inline unsigned __ballot_sync(unsigned, bool vote) {
  const std::uint64_t* votes = emulator::exchange(vote);
  unsigned             mask  = 0;
  for (unsigned i = 0; i < 32; ++i) mask |= static_cast<unsigned>(votes[i] != 0) << i;
  return mask;
}
inline bool __any_sync(unsigned lanes, bool vote) { return __ballot_sync(lanes, vote) != 0; }

template <class T>
unsigned __match_any_sync(unsigned, T value) {
  const std::uint64_t* all  = emulator::exchange(static_cast<std::uint64_t>(value));
  unsigned             mask = 0;
  for (unsigned i = 0; i < 32; ++i) mask |= static_cast<unsigned>(static_cast<T>(all[i]) == value) << i;
  return mask;
}

namespace emulator {

/// From the lane that `of(own lane)` says.
template <class T, class Of>
T from(T value, Of&& of) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  const unsigned      lane = here.thread.x % 32;
  const std::uint64_t got  = exchange(bits)[of(lane) % 32];
  std::memcpy(&value, &got, sizeof(T));
  return value;
}

}  // namespace emulator

template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  return emulator::from(value, [&](unsigned) { return static_cast<unsigned>(lane); });
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  return emulator::from(value, [&](unsigned own) { return own ^ static_cast<unsigned>(mask); });
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned by) {
  return emulator::from(value, [&](unsigned own) { return own >= by ? own - by : own; });
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned by) {
  return emulator::from(value, [&](unsigned own) { return own + by < 32 ? own + by : own; });
}
inline unsigned __reduce_max_sync(unsigned, unsigned value) {
  const std::uint64_t* all = emulator::exchange(value);
  return static_cast<unsigned>(*std::max_element(all, all + 32));
}
inline unsigned __reduce_min_sync(unsigned, unsigned value) {
  const std::uint64_t* all = emulator::exchange(value);
  return static_cast<unsigned>(*std::min_element(all, all + 32));
}
inline void __syncwarp(unsigned = 0xFFFFFFFFu) { emulator::exchange(0); }
inline void __syncthreads() { emulator::sum_over_block(0); }
inline int  __syncthreads_count(bool value) { return emulator::sum_over_block(value); }
inline int  __syncthreads_or(bool value) { return emulator::sum_over_block(value) != 0; }

// --- what a thread does alone ---

inline int       __popc(unsigned value) { return __builtin_popcount(value); }
inline int       __ffs(int value) { return __builtin_ffs(value); }
inline int       __clz(int value) { return value == 0 ? 32 : __builtin_clz(static_cast<unsigned>(value)); }
inline double    __longlong_as_double(long long value) { return __builtin_bit_cast(double, value); }
inline long long __double_as_longlong(double value) { return __builtin_bit_cast(long long, value); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}

struct alignas(16) double2 {
  double x, y;
};
inline double2 make_double2(double x, double y) { return {x, y}; }

template <class T>
T __ldg(const T* from) {
  return *from;
}
template <class T>
T __ldcs(const T* from) {
  return *from;
}
template <class T>
void __stcs(T* to, const T& value) {
  *to = value;
}
template <class T>
T __ldcg(const T* from) {
  return __atomic_load_n(from, __ATOMIC_RELAXED);
}

namespace emulator {

/// What was there before `change`, which is made at once.
template <class T, class Change>
T changed(T* slot, Change&& change) {
  T seen;
  __atomic_load(slot, &seen, __ATOMIC_RELAXED);
  for (T next = change(seen);
       !__atomic_compare_exchange(slot, &seen, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
    next = change(seen);
  return seen;
}

}  // namespace emulator

template <class T>
T atomicAdd(T* slot, std::type_identity_t<T> value) {
  return emulator::changed(slot, [&](T old) { return static_cast<T>(old + value); });
}
template <class T>
T atomicMin(T* slot, std::type_identity_t<T> value) {
  return emulator::changed(slot, [&](T old) { return std::min(old, value); });
}
template <class T>
T atomicMax(T* slot, std::type_identity_t<T> value) {
  return emulator::changed(slot, [&](T old) { return std::max(old, value); });
}
template <class T>
T atomicOr(T* slot, std::type_identity_t<T> value) {
  return emulator::changed(slot, [&](T old) { return old | value; });
}
template <class T>
T atomicAnd(T* slot, std::type_identity_t<T> value) {
  return emulator::changed(slot, [&](T old) { return old & value; });
}
template <class T>
T atomicCAS(T* slot, std::type_identity_t<T> seen, std::type_identity_t<T> value) {
  return emulator::changed(slot, [&](T old) { return old == seen ? value : old; });
}

// --- the runtime ---

enum cudaError_t {
  cudaSuccess,
  cudaErrorMemoryAllocation,
  cudaErrorNoDevice,
  cudaErrorInvalidDevice,
  cudaErrorInsufficientDriver,
  cudaErrorSystemDriverMismatch,
  cudaErrorDevicesUnavailable,
  cudaErrorUnsupportedPtxVersion,
  cudaErrorNoKernelImageForDevice,
  cudaErrorNotSupported
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaDeviceAttr {
  cudaDevAttrL2CacheSize,
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor
};
enum { cudaEventDisableTiming, cudaMemPoolAttrReleaseThreshold };
using cudaEvent_t   = void*;
using cudaMemPool_t = void*;
using cudaStream_t  = void*;

struct cudaDeviceProp {
  char        name[256]           = "emulated";
  std::size_t totalGlobalMem      = std::size_t{8} << 30;
  int         multiProcessorCount = 1, major = 0, minor = 0, l2CacheSize = 1 << 20;
};

inline const char* cudaGetErrorString(cudaError_t) { return "emulated"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int* version) { return *version = 1, cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int) { return *to = {}, cudaSuccess; }
inline cudaError_t cudaDeviceGetPCIBusId(char* to, int, int) { return *to = 0, cudaSuccess; }
inline cudaError_t cudaSetDevice(int index) { return index == 0 ? cudaSuccess : cudaErrorInvalidDevice; }
inline cudaError_t cudaDeviceGetAttribute(int* to, cudaDeviceAttr what, int) {
  *to = what == cudaDevAttrMultiProcessorCount ? 1 : what == cudaDevAttrL2CacheSize ? 4096 : 96;
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return *free = *total = std::size_t{8} << 30, cudaSuccess;
}
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t*, int) { return cudaSuccess; }
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, int, void*) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
enum { cudaStreamNonBlocking = 1 };
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned) { return cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t*) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned) { return cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* to, cudaEvent_t, cudaEvent_t) { return *to = 0, cudaSuccess; }

/// Filled with rubbish: what is read before it is written shows.
inline cudaError_t cudaMallocAsync(void** to, std::size_t bytes, cudaStream_t) {
  *to = std::malloc(bytes);
  if (*to) std::memset(*to, 0xA5, bytes);
  return *to ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFreeAsync(void* data, cudaStream_t) { return std::free(data), cudaSuccess; }
inline cudaError_t cudaMallocHost(void** to, std::size_t bytes) { return cudaMallocAsync(to, bytes, nullptr); }
enum { cudaHostRegisterMapped = 1, cudaHostRegisterPortable = 2, cudaHostRegisterReadOnly = 4 };
inline cudaError_t cudaHostRegister(void*, std::size_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }
inline cudaError_t cudaHostGetDevicePointer(void** to, void* from, unsigned) { return *to = from, cudaSuccess; }
inline cudaError_t cudaFreeHost(void* data) { return std::free(data), cudaSuccess; }
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  return std::memcpy(to, from, bytes), cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  return std::memset(to, value, bytes), cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, std::size_t) {
  return *blocks = 3, cudaSuccess;
}
