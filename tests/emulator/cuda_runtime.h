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
#define __forceinline__ inline
#define __device__
#define __host__
#define __grid_constant__
#define __shared__ static thread_local  // emulator.cpp fills it with rubbish for every block
#define __launch_bounds__(...)

#define threadIdx (emulator::here.thread)
#define blockIdx (emulator::here.block)
#define blockDim (emulator::here.block_size)
#define gridDim (emulator::here.grid_size)

// --- what lanes do together ---

namespace emulator {

template <class T>
std::uint64_t bits_of(T value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
T from(const char* kind, unsigned lanes, T value, unsigned lane, const Site& at) {
  const std::uint64_t bits = exchange(kind, lanes, Take::from_lane, bits_of(value), lane % warp_lanes, at);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

inline unsigned own_lane() { return here.thread.x % warp_lanes; }

inline unsigned meet(const char* kind, unsigned lanes, Take take, std::uint64_t value, const Site& at) {
  return static_cast<unsigned>(exchange(kind, lanes, take, value, 0, at));
}

}  // namespace emulator

#define EMULATOR_HERE const emulator::Site& at = emulator::Site::current()

inline unsigned __ballot_sync(unsigned lanes, bool vote, EMULATOR_HERE) {
  return emulator::meet("__ballot_sync", lanes, emulator::Take::votes, vote, at);
}
inline bool __any_sync(unsigned lanes, bool vote, EMULATOR_HERE) {
  return emulator::meet("__any_sync", lanes, emulator::Take::votes, vote, at) != 0;
}
inline bool __all_sync(unsigned lanes, bool vote, EMULATOR_HERE) {
  return emulator::meet("__all_sync", lanes, emulator::Take::votes, !vote, at) == 0;
}
template <class T>
unsigned __match_any_sync(unsigned lanes, T value, EMULATOR_HERE) {
  return emulator::meet("__match_any_sync", lanes, emulator::Take::matches, emulator::bits_of(value), at);
}
template <class T>
T __shfl_sync(unsigned lanes, T value, int lane, EMULATOR_HERE) {
  return emulator::from("__shfl_sync", lanes, value, static_cast<unsigned>(lane), at);
}
template <class T>
T __shfl_xor_sync(unsigned lanes, T value, int mask, EMULATOR_HERE) {
  return emulator::from("__shfl_xor_sync", lanes, value, emulator::own_lane() ^ static_cast<unsigned>(mask), at);
}
template <class T>
T __shfl_up_sync(unsigned lanes, T value, unsigned by, EMULATOR_HERE) {
  const unsigned own = emulator::own_lane();
  return emulator::from("__shfl_up_sync", lanes, value, own >= by ? own - by : own, at);
}
template <class T>
T __shfl_down_sync(unsigned lanes, T value, unsigned by, EMULATOR_HERE) {
  const unsigned own = emulator::own_lane();
  return emulator::from("__shfl_down_sync", lanes, value, own + by < emulator::warp_lanes ? own + by : own, at);
}
inline unsigned __reduce_max_sync(unsigned lanes, unsigned value, EMULATOR_HERE) {
  return emulator::meet("__reduce_max_sync", lanes, emulator::Take::most, value, at);
}
inline unsigned __reduce_min_sync(unsigned lanes, unsigned value, EMULATOR_HERE) {
  return emulator::meet("__reduce_min_sync", lanes, emulator::Take::least, value, at);
}
inline unsigned __reduce_add_sync(unsigned lanes, unsigned value, EMULATOR_HERE) {
  return emulator::meet("__reduce_add_sync", lanes, emulator::Take::sum, value, at);
}
inline void __syncwarp(unsigned lanes = 0xFFFFFFFFu, EMULATOR_HERE) {
  emulator::meet("__syncwarp", lanes, emulator::Take::nothing, 0, at);
}
inline void __syncthreads(EMULATOR_HERE) { emulator::sum_over_block("__syncthreads", 0, at); }
inline int  __syncthreads_count(bool value, EMULATOR_HERE) {
   return emulator::sum_over_block("__syncthreads_count", value, at);
}
inline int __syncthreads_or(bool value, EMULATOR_HERE) {
  return emulator::sum_over_block("__syncthreads_or", value, at) != 0;
}

#undef EMULATOR_HERE

// --- what a thread does alone ---

inline int       __popc(unsigned value) { return __builtin_popcount(value); }
inline int       __ffs(int value) { return __builtin_ffs(value); }
inline int       __clz(int value) { return value == 0 ? 32 : __builtin_clz(static_cast<unsigned>(value)); }
inline double    __longlong_as_double(long long value) { return __builtin_bit_cast(double, value); }
inline long long __double_as_longlong(double value) { return __builtin_bit_cast(long long, value); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>(static_cast<Wide>(a) * b >> 64);
}

struct alignas(16) double2 {
  double x, y;
};
inline double2 make_double2(double x, double y) { return {x, y}; }

template <class T>
T __ldg(const T* from) {
  return *from;
}
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};
template <class T>
T __ldcs(const T* from) {
  return *from;
}
template <class T>
void __stcs(T* to, const T& value) {
  *to = value;
}
inline void __threadfence() { emulator::let_others_go_first(); }  // there is one order of memory here
template <class T>
T __ldcg(const T* from) {
  emulator::let_others_go_first();
  return __atomic_load_n(from, __ATOMIC_RELAXED);
}

namespace emulator {

/// What was there before `change`, which is made at once.
template <class T, class Change>
T changed(T* slot, Change&& change) {
  let_others_go_first();
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

enum cudaError_t : int {
  cudaSuccess,
  cudaErrorMemoryAllocation,
  cudaErrorNoDevice,
  cudaErrorInvalidDevice,
  cudaErrorInvalidValue,
  cudaErrorInsufficientDriver,
  cudaErrorSystemDriverMismatch,
  cudaErrorDevicesUnavailable,
  cudaErrorUnsupportedPtxVersion,
  cudaErrorNoKernelImageForDevice,
  cudaErrorHostMemoryAlreadyRegistered,
  cudaErrorHostMemoryNotRegistered,
  cudaErrorNotReady,
  cudaErrorNotSupported,
  cudaErrorUnknown
};
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaDeviceAttr {
  cudaDevAttrL2CacheSize,
  cudaDevAttrMultiProcessorCount,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor,
  cudaDevAttrMaxPersistingL2CacheSize,
  cudaDevAttrMaxAccessPolicyWindowSize
};
enum cudaLimit { cudaLimitPersistingL2CacheSize };
enum { cudaEventDisableTiming, cudaMemPoolAttrReleaseThreshold };
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaHostRegisterMapped = 1, cudaHostRegisterPortable = 2, cudaHostRegisterReadOnly = 4 };

namespace emulator {
class Event;
}
using cudaEvent_t   = emulator::Event*;
using cudaMemPool_t = void*;
using cudaStream_t  = emulator::Stream*;
using cudaHostFn_t  = void (*)(void*);

struct cudaDeviceProp {
  char        name[256]           = "emulated";
  std::size_t totalGlobalMem      = std::size_t{8} << 30;
  int         multiProcessorCount = 1, major = 0, minor = 0, l2CacheSize = 1 << 20;
};

const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int device);
cudaError_t cudaDeviceGetPCIBusId(char* to, int size, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaDeviceGetAttribute(int* to, cudaDeviceAttr what, int device);
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit what);
cudaError_t cudaDeviceSetLimit(cudaLimit what, std::size_t value);
cudaError_t cudaCtxResetPersistingL2Cache();
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* to, int device);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int what, void* value);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* to, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaEventCreate(cudaEvent_t* to);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* to, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* to, cudaEvent_t from, cudaEvent_t until);

cudaError_t cudaMallocAsync(void** to, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* data, cudaStream_t stream);
cudaError_t cudaMallocHost(void** to, std::size_t bytes);
cudaError_t cudaFreeHost(void* data);
cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* data);
cudaError_t cudaHostGetDevicePointer(void** to, void* from, unsigned flags);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream);

namespace emulator {

/// As many as `run` lets wait for one another.
cudaError_t occupancy(int* blocks);
/// Work of a library of CUDA's, in the stream's order.
cudaError_t enqueue(const char* name, std::function<void()> work, Stream* stream);

}  // namespace emulator

template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, std::size_t) {
  return emulator::occupancy(blocks);
}
