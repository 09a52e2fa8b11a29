#include "emulator.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

// From one stack to another: what a function must leave as it was is kept on the one that is left.
extern "C" void emulator_switch(void** from, void* to);
#if defined(__aarch64__)
asm(R"(
.text
.globl emulator_switch
emulator_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)");
constexpr std::size_t saved_words = 20, return_word = 11;
#elif defined(__x86_64__)
asm(R"(
.text
.globl emulator_switch
emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
constexpr std::size_t saved_words = 8, return_word = 6;  // and a word that keeps the stack aligned
#else
#error "the emulator knows how to switch stacks on aarch64 and x86-64 only"
#endif

namespace emulator {

thread_local Place here;

namespace {

constexpr unsigned    warp_lanes = 32, most_threads = 1024, most_blocks = 2;
constexpr std::size_t stack_bytes = 128 << 10;

struct Warp {
  std::uint64_t brought[warp_lanes], taken[warp_lanes];
  unsigned      arrived = 0, round = 0;
};

/// One block at a time, on the thread of the operating system that owns it.
class Block {
 public:
  Block()
      : stacks_(static_cast<char*>(mmap(nullptr, stack_bytes * most_threads, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
  ~Block() { munmap(stacks_, stack_bytes * most_threads); }

  void run(unsigned threads, const std::function<void()>& kernel) {
    kernel_ = &kernel, threads_ = threads, arrived_ = 0, sum_ = 0;
    std::fill(std::begin(warps_), std::end(warps_), Warp{});
    for (unsigned t = 0; t < threads; ++t) {
      auto** top = reinterpret_cast<void**>(stacks_ + stack_bytes * (t + 1)) - saved_words - 2;
      std::fill_n(top, saved_words + 2, nullptr);
      top[return_word] = reinterpret_cast<void*>(&Block::enter);
      place_[t]        = top;
      over_[t]         = false;
    }
    for (unsigned left = threads; left > 0;) left -= round();
  }

  const std::uint64_t* exchange(std::uint64_t value) {
    Warp& warp                          = warps_[current_ / warp_lanes];
    warp.brought[current_ % warp_lanes] = value;
    ++steps_;
    if (++warp.arrived == warp_lanes) {
      warp.arrived = 0, ++warp.round;
      std::memcpy(warp.taken, warp.brought, sizeof(warp.taken));
    } else {
      for (const unsigned round = warp.round; warp.round == round;) pause();
    }
    return warp.taken;
  }

  int sum(int value) {
    sum_ += value, ++steps_;
    if (++arrived_ == threads_) {
      arrived_ = 0, ++round_, total_ = sum_, sum_ = 0;
    } else {
      for (const unsigned round = round_; round_ == round;) pause();
    }
    return total_;
  }

 private:
  static void enter();

  void pause() { emulator_switch(&place_[current_], home_); }

  /// Every thread goes on until it waits; they take turns in an order that changes. Returns how many ended.
  unsigned round() {
    const std::uint64_t before = steps_;
    unsigned            ended  = 0;
    chance_ ^= chance_ << 13, chance_ ^= chance_ >> 7, chance_ ^= chance_ << 17;
    const auto first = static_cast<unsigned>(chance_ % threads_), backwards = static_cast<unsigned>(chance_ >> 63);
    for (unsigned i = 0; i < threads_; ++i) {
      const unsigned t = (first + (backwards ? threads_ - i : i)) % threads_;
      if (over_[t]) continue;
      current_      = t;
      here.thread.x = t;
      emulator_switch(&home_, place_[t]);
      ended += over_[t];
    }
    if (steps_ == before && ended == 0) {
      std::fputs("emulator: threads wait for others that do not come\n", stderr);
      std::abort();
    }
    return ended;
  }

  char*                        stacks_;
  const std::function<void()>* kernel_ = nullptr;
  void*                        place_[most_threads];
  bool                         over_[most_threads];
  void*                        home_    = nullptr;
  unsigned                     threads_ = 0, current_ = 0, arrived_ = 0, round_ = 0;
  int                          sum_ = 0, total_ = 0;
  std::uint64_t                steps_ = 0, chance_ = 0x9E3779B97F4A7C15u;
  Warp                         warps_[most_threads / warp_lanes];
};

Block& block() {
  static thread_local const std::unique_ptr<Block> own = std::make_unique<Block>();
  return *own;
}

void Block::enter() {
  Block& own = block();
  (*own.kernel_)();
  own.over_[own.current_] = true;
  ++own.steps_;
  own.pause();
  std::abort();
}

/// So many threads wait for one another. (std::barrier of libstdc++ 12 let some through too early.)
class Meeting {
 public:
  explicit Meeting(unsigned count) : count_(count) {}

  void wait() {
    std::unique_lock lock{mutex_};
    if (++arrived_ == count_) {
      arrived_ = 0, ++round_;
      all_here_.notify_all();
    } else {
      all_here_.wait(lock, [&, round = round_] { return round_ != round; });
    }
  }

 private:
  std::mutex              mutex_;
  std::condition_variable all_here_;
  unsigned                count_, arrived_ = 0, round_ = 0;
};

Meeting* meeting = nullptr;

/// Threads of the operating system that run blocks side by side. They live as long as the program.
class Workers {
 public:
  static Workers& all() {
    static Workers& workers = *new Workers;
    return workers;
  }

  void run(unsigned blocks, const std::function<void(unsigned)>& body) {
    blocks_ = blocks, body_ = &body;
    begin_.wait();
    end_.wait();
  }

 private:
  Workers() {
    for (unsigned b = 0; b < most_blocks; ++b)
      std::thread{[this, b] {
        for (;;) {
          begin_.wait();
          if (b < blocks_) (*body_)(b);
          end_.wait();
        }
      }}.detach();
  }

  Meeting                              begin_{most_blocks + 1}, end_{most_blocks + 1};
  unsigned                             blocks_ = 0;
  const std::function<void(unsigned)>* body_   = nullptr;
};

}  // namespace

void launch(unsigned blocks, unsigned threads, bool together, const std::function<void()>& kernel) {
  if (blocks == 0 || threads == 0 || threads > most_threads) {
    std::fputs("emulator: a launch without threads, or with too many\n", stderr);
    std::abort();
  }
  blocks         = std::min(blocks, most_blocks);
  const auto one = [&](unsigned index) {
    here.block.x = index, here.block_size.x = threads, here.grid_size.x = blocks;
    block().run(threads, kernel);
  };
  if (!together) {
    for (unsigned b = 0; b < blocks; ++b) one(b);
    return;
  }
  Meeting all_blocks{blocks};
  meeting = &all_blocks;
  Workers::all().run(blocks, one);
}

const std::uint64_t* exchange(std::uint64_t value) { return block().exchange(value); }
int                  sum_over_block(int value) { return block().sum(value); }

void meet_in_grid() {
  sum_over_block(0);
  if (here.thread.x == 0) meeting->wait();
  sum_over_block(0);
}

}  // namespace emulator
