// Defects that the emulator must find, planted one at a time, and correct kernels that it must let pass.
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

#include "cooperative_groups.h"
#include "cuda_runtime.h"
#include "spillway/engine/cuda/atomic_reference.cuh"

namespace {

constexpr unsigned all_lanes = 0xFFFFFFFFu, threads = 64;

void expect_success(cudaError_t error) { EXPECT_EQ(error, cudaSuccess); }

template <class T>
class Array {
 public:
  explicit Array(std::size_t count) : count_(count) {
    void* data = nullptr;
    expect_success(cudaMallocAsync(&data, count * sizeof(T), nullptr));
    data_ = static_cast<T*>(data);
  }
  Array(std::size_t count, T value) : Array(count) {
    const std::vector<T> values(count, value);
    expect_success(cudaMemcpyAsync(data_, values.data(), count * sizeof(T), cudaMemcpyHostToDevice, nullptr));
  }
  ~Array() { expect_success(cudaFreeAsync(data_, nullptr)); }
  Array(const Array&)            = delete;
  Array& operator=(const Array&) = delete;

  T*             data() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> values(count_);
    expect_success(cudaMemcpyAsync(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost, nullptr));
    return values;
  }

 private:
  std::size_t count_;
  T*          data_ = nullptr;
};

struct Pinned {
  explicit Pinned(std::size_t count) {
    void* memory = nullptr;
    expect_success(cudaMallocHost(&memory, count * sizeof(int)));
    data = static_cast<int*>(memory);
  }
  ~Pinned() { cudaFreeHost(data); }
  Pinned(const Pinned&)            = delete;
  Pinned& operator=(const Pinned&) = delete;

  int* data;
};

struct OtherStream {
  OtherStream() { expect_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  ~OtherStream() {
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  }
  OtherStream(const OtherStream&)            = delete;
  OtherStream& operator=(const OtherStream&) = delete;

  cudaStream_t stream = nullptr;
};

struct Marker {
  Marker() { expect_success(cudaEventCreate(&event)); }
  ~Marker() { cudaEventDestroy(event); }
  Marker(const Marker&)            = delete;
  Marker& operator=(const Marker&) = delete;

  cudaEvent_t event = nullptr;
};

/// One kernel, to its end.
template <class Body>
void run_kernel(Body body, unsigned blocks = 1, bool cooperative = false, unsigned size = threads) {
  expect_success(emulator::launch("planted", blocks, size, cooperative, body));
  expect_success(cudaStreamSynchronize(nullptr));
}

unsigned lane() { return threadIdx.x % 32; }

class Emulator : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};
using EmulatorDeath = Emulator;

// --- what is right passes ---

/// The last warp of a block may have less than 32.
TEST_F(Emulator, LanesOfAPartOfAWarpExchangeWhatTheyBring) {
  constexpr unsigned size = 48;
  Array<unsigned>    out{size};
  unsigned* const    to   = out.data();
  const auto         body = [=] {
    const unsigned last  = threadIdx.x < 32 ? 31 : 15;
    const unsigned there = __ballot_sync(all_lanes, true), same = __match_any_sync(all_lanes, 7u);
    const unsigned most = __reduce_max_sync(all_lanes, lane()), least = __reduce_min_sync(all_lanes, lane() + 5);
    to[threadIdx.x] = there == ~0u >> (31 - last) && same == there && most == last && least == 5 ? 1 : 0;
  };
  run_kernel(body, 1, false, size);
  EXPECT_EQ(out.values(), std::vector<unsigned>(size, 1));
}

TEST_F(Emulator, LanesExchangeWhatTheyBring) {
  Array<unsigned> out{threads};
  unsigned* const to = out.data();
  run_kernel([=] {
    unsigned sum = threadIdx.x;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(all_lanes, sum, offset);
    const unsigned odd  = __ballot_sync(all_lanes, lane() % 2 == 1);
    const unsigned most = __reduce_max_sync(all_lanes, lane()), least = __reduce_min_sync(all_lanes, lane());
    const unsigned same  = __match_any_sync(all_lanes, lane() / 8);
    const bool     right = odd == 0xAAAAAAAAu && most == 31 && least == 0 && same == 0xFFu << lane() / 8 * 8 &&
                       __any_sync(all_lanes, lane() == 3) && !__all_sync(all_lanes, lane() == 3) &&
                       __reduce_add_sync(all_lanes, lane()) == 31 * 16;
    to[threadIdx.x] = right ? sum : 0;
  });
  const auto values = out.values();
  for (unsigned t = 0; t < threads; ++t) EXPECT_EQ(values[t], t < 32 ? 31u * 16 : 63u * 32 - 31 * 16);
}

TEST_F(Emulator, HalvesOfAWarpMayMeetOnTheirOwn) {
  Array<unsigned> out{threads};
  unsigned* const to = out.data();
  run_kernel([=] {
    const unsigned half = lane() < 16 ? 0xFFFFu : 0xFFFF0000u;
    unsigned       sum  = 1;
    for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_xor_sync(half, sum, offset);
    if (lane() < 16) sum += __popc(__ballot_sync(0xFFFFu, true));
    to[threadIdx.x] = sum;
  });
  const auto values = out.values();
  for (unsigned t = 0; t < threads; ++t) EXPECT_EQ(values[t], t % 32 < 16 ? 32u : 16u);
}

TEST_F(Emulator, BlocksMeetAndHaveSharedMemoryOfTheirOwn) {
  Array<unsigned> out{2 * threads}, before{2};
  unsigned *const to = out.data(), *const told = before.data();
  run_kernel(
      [=] {
        __shared__ unsigned mine[threads];
        mine[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
        __syncthreads();
        const unsigned other = mine[threads - 1 - threadIdx.x];
        if (threadIdx.x == 0) told[blockIdx.x] = other;
        cooperative_groups::this_grid().sync();
        to[blockIdx.x * threads + threadIdx.x] = other + told[1 - blockIdx.x] + mine[threadIdx.x];
      },
      2, true);
  const auto values = out.values();
  for (unsigned b = 0; b < 2; ++b)
    for (unsigned t = 0; t < threads; ++t)
      EXPECT_EQ(values[b * threads + t], b * 2000 + threads - 1 + (1 - b) * 1000 + threads - 1);
}

TEST_F(Emulator, AtomicsLoseNothing) {
  Array<unsigned> counts{6, 0};
  unsigned* const to = counts.data();
  run_kernel(
      [=] {
        using Reference = spillway::atomics::DeviceReference<unsigned>;
        for (unsigned i = 0; i < 10; ++i) {
          atomicAdd(to, 1u), Reference{to[1]}.fetch_add(1);
          Reference{to[2]}.fetch_max(threadIdx.x), Reference{to[3]}.fetch_or(1u << lane());
          unsigned seen = Reference{to[4]}.load();
          while (!Reference{to[4]}.compare_exchange_weak(seen, seen + 1)) {
          }
        }
        while (atomicCAS(to + 5, 0u, 1u) != 0) {  // a lock: whoever holds it gets its turn
        }
        atomicAnd(to + 5, 0u);
      },
      2);
  EXPECT_EQ(counts.values(),
            (std::vector<unsigned>{20 * threads, 20 * threads, threads - 1, all_lanes, 20 * threads, 0}));
}

TEST_F(Emulator, ArgumentsAreThoseOfTheLaunch) {
  Array<int> out{1};
  int        value = 1;
  expect_success(emulator::launch("set", 1, 1, false,
                                  emulator::bound([](int* to, int what) { *to = what; }, out.data(), value)));
  value = 2;
  EXPECT_EQ(out.values()[0], 1);
}

TEST_F(Emulator, PageableMemoryIsReadAtOnce) {
  for (int i = 0; i < 50; ++i) {
    Array<int>       out{1};
    std::vector<int> from{i};
    expect_success(cudaMemcpyAsync(out.data(), from.data(), sizeof(int), cudaMemcpyHostToDevice, nullptr));
    from[0] = -1;
    EXPECT_EQ(out.values()[0], i);
  }
}

/// Two streams, one of which reads what the other writes; how many of 200 read too early.
int read_too_early(bool waits) {
  int early = 0;
  for (int i = 0; i < 200; ++i) {
    Array<int>  out{1, 0}, copied{1, 0};
    OtherStream other;
    Marker      written;
    cudaStreamSynchronize(nullptr);
    emulator::launch("set", 1, 1, false, emulator::bound([](int* to) { *to = 1; }, out.data()));
    cudaEventRecord(written.event, nullptr);
    if (waits) cudaStreamWaitEvent(other.stream, written.event, 0);
    cudaMemcpyAsync(copied.data(), out.data(), sizeof(int), cudaMemcpyDeviceToDevice, other.stream);
    cudaStreamSynchronize(other.stream);
    early += copied.values()[0] == 0;
  }
  return early;
}

TEST_F(Emulator, StreamsWaitForEvents) { EXPECT_EQ(read_too_early(true), 0); }
TEST_F(Emulator, StreamsThatDoNotWaitAreFound) { EXPECT_GT(read_too_early(false), 0); }

TEST_F(Emulator, BlockingStreamsWaitForTheDefaultOne) {
  for (int i = 0; i < 50; ++i) {
    Array<int>   out{1, 0}, copied{1, 0};
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
    emulator::launch("set", 1, 1, false, emulator::bound([](int* to) { *to = 1; }, out.data()));
    cudaMemcpyAsync(copied.data(), out.data(), sizeof(int), cudaMemcpyDeviceToDevice, stream);
    EXPECT_EQ(copied.values()[0], 1);
    cudaStreamDestroy(stream);
  }
}

TEST_F(Emulator, HostFunctionsRunInOrder) {
  Marker done;
  int    value = 0;
  cudaLaunchHostFunc(
      nullptr, [](void* to) { *static_cast<int*>(to) = 1; }, &value);
  cudaEventRecord(done.event, nullptr);
  while (cudaEventQuery(done.event) == cudaErrorNotReady) {
  }
  EXPECT_EQ(value, 1);
}

TEST_F(Emulator, TimesAreThereWhenTheirEventsAre) {
  Marker begin, end;
  float  passed = -1;
  EXPECT_NE(cudaEventElapsedTime(&passed, begin.event, end.event), cudaSuccess);
  cudaGetLastError();
  cudaEventRecord(begin.event, nullptr), cudaEventRecord(end.event, nullptr);
  cudaEventSynchronize(end.event);
  EXPECT_EQ(cudaEventElapsedTime(&passed, begin.event, end.event), cudaSuccess);
  EXPECT_GE(passed, 0);
}

// --- calls that fail ---

TEST_F(Emulator, CallsFailWhenTheirTurnHasCome) {
  emulator::fail_at(2);
  {
    void* data = nullptr;
    EXPECT_EQ(cudaMallocAsync(&data, 8, nullptr), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(data, 0, 8, nullptr), cudaErrorUnknown);
    EXPECT_EQ(cudaGetLastError(), cudaErrorUnknown);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    EXPECT_EQ(cudaFreeAsync(data, nullptr), cudaSuccess);
  }
  EXPECT_EQ(emulator::calls_made(), 3u);
  EXPECT_EQ(emulator::failed_call(), "cudaMemsetAsync");
  emulator::fail_at(1);
  EXPECT_EQ(emulator::launch("never", 1, 1, false, [] { std::abort(); }), cudaErrorUnknown);
  emulator::fail_at(0);
  cudaGetLastError();
  expect_success(cudaStreamSynchronize(nullptr));
}

// --- memory that is not what it seems ---

#if !defined(__SANITIZE_THREAD__)  // where it is an error
TEST_F(Emulator, SharedMemoryThatNobodyWroteIsDifferentEveryTime) {
  constexpr unsigned times = 8;
  Array<unsigned>    out{times};
  for (unsigned i = 0; i < times; ++i)
    run_kernel([to = out.data() + i] {
      __shared__ unsigned never_written;
      if (threadIdx.x == 0) *to = *const_cast<volatile unsigned*>(&never_written);
    });
  const auto values = out.values();
  EXPECT_GT(std::set<unsigned>(values.begin(), values.end()).size(), times / 2);
}
#endif

TEST_F(Emulator, PinnedMemoryThatIsWrittenTooEarlyIsFound) {
  int wrong = 0;
  for (int i = 0; i < 100; ++i) {
    Array<int>  out{1};
    Pinned      stage{1};
    OtherStream other;
    *stage.data = 1;
    cudaMemcpyAsync(out.data(), stage.data, sizeof(int), cudaMemcpyHostToDevice, other.stream);
    *stage.data = 2;
    cudaStreamSynchronize(other.stream);
    wrong += out.values()[0] == 2;
  }
  EXPECT_GT(wrong, 0);
}

TEST_F(EmulatorDeath, PinnedMemoryThatIsGivenBackTooEarly) {
  const auto give_back = [] {
    for (int i = 0; i < 100; ++i) {
      Array<int> out{1};
      {
        Pinned stage{1};
        cudaMemcpyAsync(out.data(), stage.data, sizeof(int), cudaMemcpyHostToDevice, nullptr);
      }
      cudaStreamSynchronize(nullptr);
    }
  };
  EXPECT_DEATH(give_back(), "pinned memory was given back before the copy");
}

TEST_F(EmulatorDeath, CopiesThatGoAnotherWay) {
  int        value = 0;
  Array<int> out{1};
  EXPECT_DEATH(cudaMemcpyAsync(out.data(), &value, sizeof(int), cudaMemcpyDeviceToHost, nullptr), "another way");
  int other = 0;
  EXPECT_DEATH(cudaMemcpyAsync(&other, &value, sizeof(int), cudaMemcpyDefault, nullptr), "neither the device's");
}

TEST_F(EmulatorDeath, MemoryThatIsFreedTwice) {
  const auto free_twice = [] {
    void* data = nullptr;
    cudaMallocAsync(&data, 8, nullptr);
    cudaFreeAsync(data, nullptr), cudaFreeAsync(data, nullptr);
    cudaDeviceSynchronize();
  };
  EXPECT_DEATH(free_twice(), "freed before|not allocated");
}

#if defined(EMULATOR_HAS_ASAN)
TEST_F(EmulatorDeath, WritesBehindTheEnd) {
  Array<int> out{threads - 1};
  EXPECT_DEATH(run_kernel([to = out.data()] { to[threadIdx.x] = 1; }), "heap-buffer-overflow");
}

TEST_F(EmulatorDeath, HostsThatReadTheDevicesMemory) {
  Array<int> out{1, 1};
  EXPECT_DEATH(static_cast<void>(*const_cast<volatile int*>(out.data())), "use-after-poison");
}

TEST_F(EmulatorDeath, MemoryThatAnotherStreamHasFreed) {
  const auto use_too_late = [] {
    for (int i = 0; i < 100; ++i) {
      Pinned      from{1};
      OtherStream other;
      void*       data = nullptr;
      cudaMallocAsync(&data, sizeof(int), nullptr);
      cudaMemcpyAsync(data, from.data, sizeof(int), cudaMemcpyHostToDevice, other.stream);
      cudaFreeAsync(data, nullptr);
    }
  };
  EXPECT_DEATH(use_too_late(), "heap-use-after-free");
}

__attribute__((noinline)) unsigned deeper(unsigned depth) {
  volatile char room[4096] = {};
  return depth == 0 ? static_cast<unsigned>(room[0]) : deeper(depth - 1) + static_cast<unsigned>(room[depth]);
}

TEST_F(EmulatorDeath, StacksThatOverflow) {
  EXPECT_DEATH(run_kernel([] { static_cast<void>(deeper(1000)); }), "stack-overflow|SEGV");
}
#endif

// --- races (race_detector.cpp) ---

#if defined(__SANITIZE_THREAD__)
/// The status that the program ends with after such a kernel.
template <class Body>
[[noreturn]] void run_and_end(Body body, unsigned blocks = 1) {
  run_kernel(body, blocks);
  std::exit(0);
}
const ::testing::ExitedWithCode with_races{66}, without{0};

TEST_F(EmulatorDeath, WarpsThatWriteTheSameWord) {
  Array<unsigned> out{1};
  EXPECT_EXIT(run_and_end([to = out.data()] { *to = threadIdx.x; }), with_races, "race at.*plain write");
}

TEST_F(EmulatorDeath, LanesThatReadWhatAnotherWrites) {
  Array<unsigned> out{threads};
  const auto      shift = [to = out.data()](bool waits, bool votes) {
    to[threadIdx.x] = threadIdx.x;
    if (waits) __syncwarp();
    if (votes) __any_sync(all_lanes, true);
    const unsigned other = to[threadIdx.x ^ 1];
    if (waits) __syncwarp();
    if (votes) __any_sync(all_lanes, true);
    to[threadIdx.x] = other;
  };
  EXPECT_EXIT(run_and_end([=] { shift(false, false); }), with_races, "plain read");
  EXPECT_EXIT(run_and_end([=] { shift(true, false); }), without, "race: 0 places.*weak: 0 places");
  EXPECT_EXIT(run_and_end([=] { shift(false, true); }), without, "race: 0 places.*weak: [1-9]");
}

TEST_F(EmulatorDeath, WarpsThatReadWhatAnotherWrites) {
  const auto shift = [](bool waits) {
    __shared__ unsigned values[threads];
    values[threadIdx.x] = threadIdx.x;
    __syncwarp();
    if (waits) __syncthreads();
    static_cast<void>(*const_cast<volatile unsigned*>(values + threadIdx.x));
    values[(threadIdx.x + 32) % threads] = values[threadIdx.x];
  };
  EXPECT_EXIT(run_and_end([=] { shift(false); }), with_races, "race at.*shared memory");
  const auto right = [] {
    __shared__ unsigned values[threads];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const unsigned other = values[threads - 1 - threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = other;
  };
  EXPECT_EXIT(run_and_end(right, 2), without, "race: 0 places");
}

TEST_F(EmulatorDeath, BlocksThatCountWithoutAtomics) {
  Array<unsigned> count{1, 0};
  const auto      body = [to = count.data()] {
    if (threadIdx.x == 0) ++*to;
  };
  EXPECT_EXIT(run_and_end(body, 2), with_races, "block 0.*block 1|block 1.*block 0");
}

TEST_F(EmulatorDeath, WritesThatMeetAtomics) {
  Array<unsigned> count{1, 0};
  const auto      body = [to = count.data()] {
    if (threadIdx.x == 0) *to = 5;
    if (threadIdx.x == 40) atomicAdd(to, 1u);
  };
  EXPECT_EXIT(run_and_end(body), with_races, "atomic");
}

TEST_F(EmulatorDeath, WhatIsNoRace) {
  Array<unsigned> out{2, 0};
  const auto      body = [to = out.data()] {
    *to = 1;                // all write the same
    atomicAdd(to + 1, 1u);  // atomics order themselves
    static_cast<void>(__ldcg(to + 1));
  };
  EXPECT_EXIT(run_and_end(body, 2), without, "race: 0 places");
}

TEST_F(EmulatorDeath, PlainReadsOfWhatAtomicsChange) {
  Array<unsigned> out{1, 0};
  const auto      body = [to = out.data()] {
    atomicAdd(to, 1u);
    if (*to == 0) atomicAdd(to, 5u);
  };
  EXPECT_EXIT(run_and_end(body), without, "race: 0 places.*mixed read: [1-9]");
}

TEST_F(EmulatorDeath, SharedMemoryThatNobodyWrote) {
  const auto body = [] {
    __shared__ unsigned counts[threads];
    ++counts[threadIdx.x];
  };
  EXPECT_EXIT(run_and_end(body), with_races, "shared memory that nobody wrote");
}

TEST_F(EmulatorDeath, KernelsThatReadMemoryOfTheHost) {
  const std::vector<unsigned> values(threads, 1);
  Array<unsigned>             out{threads};
  const auto body = [from = values.data(), to = out.data()] { to[threadIdx.x] = from[threadIdx.x]; };
  EXPECT_EXIT(run_and_end(body), with_races, "memory of the host that is not pinned");
}
#endif

// --- threads that do not meet ---

TEST_F(EmulatorDeath, LanesInDifferentCollectives) {
  const auto body = [] {
    if (lane() == 7)
      __any_sync(all_lanes, true);
    else
      __ballot_sync(all_lanes, true);
  };
  EXPECT_DEATH(run_kernel(body), "different collectives: thread .* emulator_test.cpp:.*emulator_test.cpp:");
}

TEST_F(EmulatorDeath, LanesInTheSameCollectiveElsewhere) {
  const auto body = [] {
    if (lane() == 7)
      __syncwarp();
    else
      __syncwarp();
  };
  EXPECT_DEATH(run_kernel(body), "different collectives.*__syncwarp.*__syncwarp");
}

TEST_F(EmulatorDeath, LanesThatLeave) {
  const auto body = [] {
    if (lane() == 7) return;
    __ballot_sync(all_lanes, true);
  };
  EXPECT_DEATH(run_kernel(body), "which has ended|ends, but");
}

TEST_F(EmulatorDeath, LanesThatTheMaskLeavesOut) {
  EXPECT_DEATH(run_kernel([] { __ballot_sync(0xFFu, true); }), "whose mask leaves it out");
}

TEST_F(EmulatorDeath, LanesWithDifferentMasks) {
  EXPECT_DEATH(run_kernel([] { __syncwarp(lane() < 31 ? 0xFFFFFFFFu : 0xFFFF0000u); }), "different masks");
}

TEST_F(EmulatorDeath, LanesThatReadFromOneOutsideTheMask) {
  const auto body = [] {
    if (lane() < 16) __shfl_sync(0xFFFFu, 1, 20);
  };
  EXPECT_DEATH(run_kernel(body), "reads from lane 20, which the mask leaves out");
}

TEST_F(EmulatorDeath, LanesThatReadFromOneThatIsNotThere) {
  const auto body = [] { __shfl_sync(all_lanes, 1, 31); };
  EXPECT_DEATH(run_kernel(body, 1, false, 48), "reads from lane 31, which the block does not have");
}

TEST_F(EmulatorDeath, ALaneAtABarrierWhileOthersVote) {
  const auto body = [] {
    if (lane() == 7)
      __syncthreads();
    else
      __ballot_sync(all_lanes, true);
  };
  EXPECT_DEATH(run_kernel(body),
               "different collectives: thread .*(__syncthreads.*__ballot|__ballot.*__syncthreads)");
}

TEST_F(EmulatorDeath, WarpsAtDifferentBarriers) {
  const auto body = [] {
    if (threadIdx.x < 32)
      __syncthreads();
    else
      __syncthreads_or(true);
  };
  EXPECT_DEATH(run_kernel(body), "different barriers: thread .*__syncthreads");
}

TEST_F(EmulatorDeath, ThreadsThatMissABarrier) {
  const auto body = [] {
    if (threadIdx.x != 40) __syncthreads();
  };
  EXPECT_DEATH(run_kernel(body), "thread 40.*(has ended|ends, but)");
}

TEST_F(EmulatorDeath, BlocksThatMissTheGridsBarrier) {
  const auto body = [] {
    if (blockIdx.x == 0) cooperative_groups::this_grid().sync();
  };
  EXPECT_DEATH(run_kernel(body, 2, true), "do not come:.*the grid's barrier at emulator_test.cpp|has ended");
}

TEST_F(EmulatorDeath, GridsThatWereNotLaunchedTogether) {
  EXPECT_DEATH(run_kernel([] { cooperative_groups::this_grid().sync(); }, 2), "not launched together");
}

TEST_F(EmulatorDeath, CallsFromTheDevice) {
  EXPECT_DEATH(run_kernel([] { cudaDeviceSynchronize(); }), "calls the runtime");
}

}  // namespace
