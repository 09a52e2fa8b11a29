// Kernels on the CPU, for machines without a GPU: every thread of a grid is a fibre, and all fibres take turns on
// one thread of the operating system, in an order that SPILLWAY_SEED chooses. Lanes of a warp meet where they
// exchange something, threads of a block at barriers, blocks of a cooperative grid at its barriers; whoever meets
// in the wrong place, or would wait for ever, is reported with the places. What streams are asked for runs late,
// in any legal order. CONTRIBUTING.md says what this finds and what it cannot find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define EMULATOR_HAS_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)  // clang
#define EMULATOR_HAS_ASAN
#endif
#endif

enum cudaError_t : int;

namespace emulator {

using Site = std::source_location;

inline constexpr unsigned warp_lanes = 32;

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

/// Where the running thread of a kernel is.
struct Place {
  Index thread, block, block_size, grid_size;
};
extern Place here;

// --- what threads do together ---

/// What a lane of a warp takes from a meeting.
enum class Take {
  nothing,
  from_lane,  ///< what another lane brought
  votes,      ///< the lanes that brought a one
  matches,    ///< the lanes that brought the same
  least,
  most,
  sum  ///< of 32 bits
};
/// All lanes in `lanes` come, to the same place, each with a value; `from` is the lane to take from.
std::uint64_t exchange(const char* kind, unsigned lanes, Take take, std::uint64_t value, unsigned from,
                       const Site& at);
/// All threads of the block come; the sum of what they brought.
int sum_over_block(const char* kind, int value, const Site& at);
/// All threads of all blocks come.
void meet_in_grid(const Site& at);
/// Before an atomic operation: another thread may go first.
void let_others_go_first();

// --- launches ---

class Stream;

struct Kernel {
  const char*                 name;
  Site                        at;
  unsigned                    blocks, threads;
  bool                        cooperative;
  std::shared_ptr<const void> arguments;  ///< copied when the kernel was launched
  std::size_t                 argument_bytes;
  void (*body)(const void* arguments);
};

/// Queued in the stream: cudaLaunchKernel.
cudaError_t enqueue(Kernel kernel, Stream* stream);
/// The calling thread runs all kernels from now on.
void become_device();
bool in_device();
/// On that thread: from the first fibre to the last.
void run(const Kernel& kernel);

/// A kernel with its arguments as they are now.
template <class Function, class... Arguments>
auto bound(Function function, Arguments... arguments) {
  return [function, with = std::make_tuple(arguments...)] { std::apply(function, with); };
}

/// `body` is copied now and called by every thread.
template <class Body>
cudaError_t launch(const char* name, unsigned blocks, unsigned threads, bool cooperative, Body body,
                   Stream* stream = nullptr, const Site& at = Site::current()) {
  const auto held = std::make_shared<const Body>(std::move(body));
  const auto call = [](const void* arguments) { (*static_cast<const Body*>(arguments))(); };
  return enqueue({name, at, blocks, threads, cooperative, held, sizeof(Body), call}, stream);
}

// --- calls into the runtime, which may be made to fail ---

/// Counts a call; what it is to return: `error` if its turn to fail has come, or success.
cudaError_t called(const char* name, cudaError_t error);
/// The n-th call from now on fails, and no other; 0: none does. Calls are counted from 0 again.
void          fail_at(std::uint64_t n);
std::uint64_t calls_made();
/// The call that was made to fail; none: empty.
std::string failed_call();
/// Allocations of the device, pinned ranges, streams and events that the program has not given back, when all that
/// streams were asked for is done.
std::uint64_t held();
/// Bytes that were held at once at most, since it was begun with: of the device's memory, and of pinned memory.
struct Peaks {
  std::uint64_t device = 0, pinned = 0;
};
Peaks peaks();
void  begin_peaks();

// --- what a seed decides, and what is told ---

std::uint64_t seed();
/// A number below `bound`.
std::uint64_t choose(std::uint64_t bound);
/// Prints what is wrong, where, and with which seed; then aborts.
[[noreturn]] void report(const std::string& problem);
std::string       text_of(const Site& at);

/// What was emulated so far; printed when the program ends.
struct Coverage {
  std::uint64_t kernels = 0, launches = 0, blocks = 0, collectives = 0, switches = 0, operations = 0,
                overtaken = 0;
};
extern Coverage coverage;

// --- what a detector of races wants to know (race_detector.cpp) ---

struct Observer {
  virtual ~Observer()                                                                      = default;
  virtual void kernel_begins(const Kernel& kernel)                                         = 0;
  virtual void warp_met(unsigned block, unsigned warp, unsigned lanes, bool orders_memory) = 0;
  virtual void block_met(unsigned block)                                                   = 0;
  virtual void grid_met()                                                                  = 0;
  virtual void block_begins(unsigned block)                                                = 0;
  virtual void kernel_ends()                                                               = 0;
};
extern Observer* observer;

struct Range {
  const char* data  = nullptr;
  std::size_t bytes = 0;

  bool contains(const void* at) const { return at >= data && static_cast<const char*>(at) < data + bytes; }
};
Range stacks();          ///< of all fibres
Range shared_memory();   ///< of the block that runs
Range program_memory();  ///< static data of the program
/// The device's or pinned memory that holds it; empty: neither.
Range memory_around(const void* at);
bool  in_kernel();  ///< the calling thread runs a kernel

}  // namespace emulator
