#include "emulator.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#if defined(EMULATOR_HAS_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

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

Place     here;
Coverage  coverage;
Observer* observer = nullptr;

// --- seed and reports ---

namespace {

const char* running_kernel = nullptr;
Site        launched_at;

std::uint64_t read_seed() {
  const char* const text = std::getenv("SPILLWAY_SEED");
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : 1;
}

void print_coverage() {
  if (coverage.launches == 0) return;
  std::fprintf(
      stderr,
      "emulator: seed %llu: %llu kernels, launched %llu times with %llu blocks; %llu collectives, %llu "
      "switches at atomics; of %llu operations on streams %llu overtook another\n",
      static_cast<unsigned long long>(seed()), static_cast<unsigned long long>(coverage.kernels),
      static_cast<unsigned long long>(coverage.launches), static_cast<unsigned long long>(coverage.blocks),
      static_cast<unsigned long long>(coverage.collectives), static_cast<unsigned long long>(coverage.switches),
      static_cast<unsigned long long>(coverage.operations), static_cast<unsigned long long>(coverage.overtaken));
}

void note_kernel(const Kernel& kernel) {
  static auto& seen = *[] {
    std::atexit(print_coverage);
    return new std::set<std::pair<std::string, unsigned>>;
  }();
  coverage.kernels += seen.emplace(kernel.name, kernel.at.line()).second ? 1 : 0;
  ++coverage.launches;
}

}  // namespace

std::uint64_t seed() {
  static const std::uint64_t given = read_seed();
  return given;
}

/// splitmix64 (Steele, Lea, Flood 2014).
static std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
  return bits ^ bits >> 31;
}

std::uint64_t choose(std::uint64_t bound) {
  static std::uint64_t state = mixed(mixed(seed() + 1));  // far from where other seeds begin
  return mixed(state += 0x9E3779B97F4A7C15u) % bound;
}

std::string text_of(const Site& at) {
  const std::string path = at.file_name();
  return path.substr(path.rfind('/') + 1) + ":" + std::to_string(at.line());
}

void report(const std::string& problem) {
  std::fprintf(stderr, "emulator: %s\n", problem.c_str());
  if (running_kernel != nullptr)
    std::fprintf(stderr, "  in kernel %s, launched at %s, block %u, thread %u\n", running_kernel,
                 text_of(launched_at).c_str(), here.block.x, here.thread.x);
  std::fprintf(stderr, "  repeat with SPILLWAY_SEED=%llu\n", static_cast<unsigned long long>(seed()));
  std::abort();
}

namespace {

constexpr unsigned    most_threads = 1024, most_blocks = 2;
constexpr std::size_t stack_bytes = 256 << 10, guard_bytes = 64 << 10;  // a page, whatever its size
constexpr unsigned    atomics_to_a_switch = 32;

// --- stacks: whoever runs over the end of one meets a page that nobody may touch ---

class Stacks {
 public:
  static Stacks& all() {
    static Stacks& stacks = *new Stacks;
    return stacks;
  }

  char*       bottom(unsigned fibre) const { return memory_ + fibre * (stack_bytes + guard_bytes) + guard_bytes; }
  const char* memory() const { return memory_; }
  static constexpr std::size_t bytes = std::size_t{most_blocks} * most_threads * (stack_bytes + guard_bytes);

 private:
  Stacks()
      : memory_(static_cast<char*>(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    for (unsigned i = 0; i < most_blocks * most_threads; ++i)
      mprotect(bottom(i) - guard_bytes, guard_bytes, PROT_NONE);
  }

  char* memory_;
};

// --- shared memory ---

/// Variables that are __shared__ are thread-local, and nothing else that is thread-local is used by the device's
/// thread: all of the program's thread-local storage is the running block's shared memory.
Range own_thread_local_storage() {
  Range      found;
  const auto look = [](dl_phdr_info* module, std::size_t, void* to) {
    const auto own  = reinterpret_cast<ElfW(Addr)>(&print_coverage);
    bool       here = false;
    for (int i = 0; i < module->dlpi_phnum; ++i) {
      const auto& part = module->dlpi_phdr[i];
      here |= part.p_type == PT_LOAD && own - module->dlpi_addr - part.p_vaddr < part.p_memsz;
    }
    for (int i = 0; here && i < module->dlpi_phnum; ++i)
      if (module->dlpi_phdr[i].p_type == PT_TLS && module->dlpi_tls_data != nullptr)
        *static_cast<Range*>(to) = {static_cast<const char*>(module->dlpi_tls_data), module->dlpi_phdr[i].p_memsz};
    return here ? 1 : 0;
  };
  dl_iterate_phdr(look, &found);
  return found;
}

/// Other rubbish for every block: what is read before it is written shows.
void fill_with_rubbish(const Range& memory) {
  const std::uint64_t pattern = choose(~std::uint64_t{0});
  auto* const         words   = reinterpret_cast<std::uint64_t*>(const_cast<char*>(memory.data));
  std::fill_n(words, memory.bytes / sizeof(pattern), pattern);
  std::memcpy(words + memory.bytes / sizeof(pattern), &pattern, memory.bytes % sizeof(pattern));
}

// --- threads ---

enum class State { ready, waiting, over };

struct Fibre {
  void* place      = nullptr;  ///< top of its stack while another one runs
  void* fake_stack = nullptr;  ///< of the address sanitizer
  State state      = State::ready;
};

/// Threads that wait for one another, as the first of them found it.
struct Meeting {
  const char*   kind = "";
  Site          at;
  std::uint32_t lanes = 0, arrived = 0;  ///< of a warp
};

std::string text_of(const Meeting& meeting) {
  return std::string{meeting.kind} + " at " + emulator::text_of(meeting.at);
}

bool same(const char* a, const char* b) { return a == b || std::strcmp(a, b) == 0; }
bool same(const Site& a, const Site& b) {
  return a.line() == b.line() && a.column() == b.column() && same(a.file_name(), b.file_name());
}
bool same(const Meeting& a, const Meeting& b) { return same(a.at, b.at) && same(a.kind, b.kind); }

/// Meetings of a warp that are open share no lane: whoever is expected in one may go to no other.
struct Warp {
  std::uint64_t brought[warp_lanes], taken[warp_lanes];
  std::uint8_t  from[warp_lanes];
  Meeting       meetings[warp_lanes];  ///< each at its first lane
  std::uint8_t  expected_in[warp_lanes];
  std::uint32_t expected = 0, at_barrier = 0, over = 0;  ///< lanes
};

struct Block {
  unsigned           index = 0;
  std::vector<Fibre> fibres;
  std::vector<Warp>  warps;
  Meeting            barrier;
  unsigned           arrived = 0, left = 0;
  int                sum = 0, total = 0;
  std::vector<char>  shared;  ///< while another block runs
};

class Grid {
 public:
  explicit Grid(const Kernel& kernel) : kernel_(kernel), blocks_(std::min(kernel.blocks, most_blocks)) {
    for (unsigned b = 0; b < blocks_.size(); ++b) prepare(blocks_[b], b);
    here.block_size.x = kernel.threads;
    here.grid_size.x  = static_cast<unsigned>(blocks_.size());
  }

  void run() {
    // Blocks run side by side, or one after the other in any order.
    const bool side_by_side = kernel_.cooperative || choose(2) == 0;
    if (side_by_side) {
      run_all(0, blocks_.size());
    } else {
      const std::size_t first = choose(blocks_.size());
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        const std::size_t b = (first + i) % blocks_.size();
        run_all(b, b + 1);
      }
    }
  }

  std::uint64_t exchange(const char* kind, unsigned lanes, Take take, std::uint64_t value, unsigned from,
                         const Site& at);
  int           sum(const char* kind, int value, const Site& at);
  void          meet(const Site& at);
  void          let_others_go_first();
  static void   enter();

 private:
  Meeting&          meeting_of(const char* kind, unsigned lanes, const Site& at);
  void              arrive_at_barrier(const char* kind, const Site& at);
  void              open_barrier(Block& block);
  void              wait();
  void              prepare(Block& block, unsigned index);
  void              run_all(std::size_t first, std::size_t last);
  bool              run_ready(Block& block);
  void              resume(unsigned thread);
  void              pause();
  void              end();
  [[noreturn]] void report_waiting(std::size_t first, std::size_t last);
  void              enter_block(Block& block);

  Fibre&   current() { return block_->fibres[thread_]; }
  unsigned first_of_warp() const { return thread_ / warp_lanes * warp_lanes; }
  /// Lanes of the running thread's warp that there are.
  unsigned existing() const {
    const unsigned count = std::min(kernel_.threads - first_of_warp(), warp_lanes);
    return count == warp_lanes ? ~0u : (1u << count) - 1;
  }
  std::string own_name() const { return "thread " + std::to_string(thread_); }
  unsigned    lane() const { return thread_ % warp_lanes; }
  Warp&       warp() { return block_->warps[thread_ / warp_lanes]; }

  const Kernel&      kernel_;
  std::vector<Block> blocks_;
  Block*             block_      = nullptr;
  unsigned           thread_     = 0;
  void*              home_       = nullptr;
  void*              home_fake_  = nullptr;
  const void*        home_stack_ = nullptr;
  std::size_t        home_bytes_ = 0;
  Range              shared_     = shared_memory();
};

Grid* grid = nullptr;

void Grid::prepare(Block& block, unsigned index) {
  block.index = index, block.left = kernel_.threads;
  block.fibres.resize(kernel_.threads);
  block.warps.resize((kernel_.threads + warp_lanes - 1) / warp_lanes);
  for (unsigned t = 0; t < kernel_.threads; ++t) {
    char* const bottom = Stacks::all().bottom(index * most_threads + t);
    auto**      top    = reinterpret_cast<void**>(bottom + stack_bytes) - saved_words - 2;
    std::fill_n(top, saved_words + 2, nullptr);
    top[return_word]      = reinterpret_cast<void*>(&Grid::enter);
    block.fibres[t].place = top;
  }
}

/// The block whose shared memory is in place leaves it to another; the storage is large, and mostly they go on.
/// Not by memmove, which the address sanitizer does byte by byte.
void Grid::enter_block(Block& block) {
  here.block.x = block.index;
  if (block_ == &block) return;
  char* const place = const_cast<char*>(shared_.data);
  if (block_ != nullptr && block_->left > 0) {
    block_->shared.resize(shared_.bytes);
    std::memcpy(block_->shared.data(), place, shared_.bytes);
  }
  block_ = &block;
  if (block.shared.empty())
    fill_with_rubbish(shared_);
  else
    std::memcpy(place, block.shared.data(), shared_.bytes);
}

void Grid::run_all(std::size_t first, std::size_t last) {
  const std::size_t count = last - first;
  for (std::size_t b = first; b < last; ++b)
    if (observer != nullptr) observer->block_begins(blocks_[b].index);
  coverage.blocks += count;
  for (bool alive = true; alive;) {
    bool any                = false;
    alive                   = false;
    const std::size_t begin = choose(count);
    for (std::size_t i = 0; i < count; ++i) {
      Block& block = blocks_[first + (begin + i) % count];
      if (block.left == 0) continue;
      enter_block(block);
      constexpr std::uint64_t usual_rounds = 8;  // until the other block has its turn
      while (run_ready(block)) {
        any = true;
        if (choose(usual_rounds) == 0) break;
      }
      alive |= block.left > 0;
    }
    if (alive && !any) report_waiting(first, last);
  }
}

/// Every thread that can goes on until it waits; they take turns in an order that changes.
bool Grid::run_ready(Block& block) {
  const auto threads = static_cast<unsigned>(block.fibres.size());
  const auto first   = static_cast<unsigned>(choose(threads));
  unsigned   stride  = 1 + static_cast<unsigned>(choose(threads));
  bool       any     = false;
  while (std::gcd(stride, threads) != 1) ++stride;
  for (unsigned i = 0, t = first; i < threads; ++i, t = (t + stride) % threads) {
    if (block.fibres[t].state != State::ready) continue;
    any = true;
    resume(t);
  }
  return any;
}

#if defined(EMULATOR_HAS_ASAN)
#define EMULATOR_LEAVES(save, stack, bytes) __sanitizer_start_switch_fiber(save, stack, bytes)
#define EMULATOR_ARRIVES(save, stack, bytes) __sanitizer_finish_switch_fiber(save, stack, bytes)
#else
#define EMULATOR_LEAVES(save, stack, bytes) static_cast<void>(save)
#define EMULATOR_ARRIVES(save, stack, bytes) static_cast<void>(save)
#endif
// Frames that never return must leave no poison behind: another fibre uses the stack after this one.
#define EMULATOR_UNPOISONED __attribute__((no_sanitize_address, noinline))

EMULATOR_UNPOISONED void Grid::resume(unsigned thread) {
  thread_       = thread;
  here.thread.x = thread;
  EMULATOR_LEAVES(&home_fake_, Stacks::all().bottom(block_->index * most_threads + thread), stack_bytes);
  emulator_switch(&home_, block_->fibres[thread].place);
  EMULATOR_ARRIVES(home_fake_, nullptr, nullptr);
}

EMULATOR_UNPOISONED void Grid::pause() {
  Fibre& fibre = current();
  EMULATOR_LEAVES(fibre.state == State::over ? nullptr : &fibre.fake_stack, home_stack_, home_bytes_);
  emulator_switch(&fibre.place, home_);
  EMULATOR_ARRIVES(fibre.fake_stack, &home_stack_, &home_bytes_);
}

EMULATOR_UNPOISONED void Grid::enter() {
  EMULATOR_ARRIVES(nullptr, &grid->home_stack_, &grid->home_bytes_);
  grid->kernel_.body(grid->kernel_.arguments.get());
  grid->end();
  grid->pause();
  std::abort();
}

/// Others may have counted on this thread.
void Grid::end() {
  current().state = State::over;
  --block_->left;
  warp().over |= 1u << lane();
  const auto expected = [&](const Meeting& meeting) {
    report(own_name() + " ends, but others wait for it in " + text_of(meeting));
  };
  if ((warp().expected >> lane() & 1) != 0) expected(warp().meetings[warp().expected_in[lane()]]);
  if (block_->arrived > 0) expected(block_->barrier);
}

void Grid::wait() {
  Fibre& fibre = current();
  fibre.state  = State::waiting;
  while (fibre.state != State::ready) pause();
}

template <class One>
void for_lanes(unsigned lanes, One&& one) {
  for (unsigned rest = lanes; rest != 0; rest &= rest - 1) one(static_cast<unsigned>(std::countr_zero(rest)));
}

/// The one that the running lane is expected in, or a new one.
Meeting& Grid::meeting_of(const char* kind, unsigned lanes, const Site& at) {
  Warp&         own = warp();
  const Meeting wanted{kind, at, lanes, 0};
  const auto    different = [&](const Meeting& other) {
    if (same(other, wanted)) report("lanes meet with different masks in " + text_of(wanted));
    report("lanes of a warp meet in different collectives: " + own_name() + " in " + text_of(wanted) +
              ", others in " + text_of(other));
  };
  if ((lanes >> lane() & 1) == 0)
    report("lane " + std::to_string(lane()) + " calls " + text_of(wanted) + ", whose mask leaves it out");
  if ((own.expected >> lane() & 1) != 0) {
    Meeting& open = own.meetings[own.expected_in[lane()]];
    if (!same(open, wanted) || open.lanes != lanes) different(open);
    return open;
  }
  const unsigned all = lanes & existing();
  if (const unsigned gone = all & own.over; gone != 0)
    report(own_name() + " waits in " + text_of(wanted) + " for lane " + std::to_string(std::countr_zero(gone)) +
           ", which has ended");
  if ((all & own.at_barrier) != 0) different(block_->barrier);
  if (const unsigned elsewhere = all & own.expected; elsewhere != 0)
    different(own.meetings[own.expected_in[std::countr_zero(elsewhere)]]);
  const auto first = static_cast<std::uint8_t>(std::countr_zero(all));
  own.expected |= all;
  for_lanes(all, [&](unsigned i) { own.expected_in[i] = first; });
  return own.meetings[first] = wanted;
}

/// What each of `lanes` takes: settled when the last has come, since some may be in their next meeting before
/// others have left this one.
void settle(Warp& warp, unsigned lanes, Take take) {
  const auto give_all = [&](std::uint64_t value) { for_lanes(lanes, [&](unsigned i) { warp.taken[i] = value; }); };
  const auto those    = [&](auto&& is_one) {
    std::uint64_t mask = 0;
    for_lanes(lanes, [&](unsigned i) { mask |= std::uint64_t{is_one(warp.brought[i])} << i; });
    return mask;
  };
  const auto folded = [&](auto&& fold) {
    std::uint64_t all = warp.brought[std::countr_zero(lanes)];
    for_lanes(lanes, [&](unsigned i) { all = fold(all, warp.brought[i]); });
    return all;
  };
  switch (take) {
    case Take::nothing:
      break;
    case Take::from_lane:
      for_lanes(lanes, [&](unsigned i) { warp.taken[i] = warp.brought[warp.from[i]]; });
      break;
    case Take::votes:
      give_all(those([](std::uint64_t vote) { return vote != 0; }));
      break;
    case Take::matches:
      for_lanes(lanes, [&](unsigned i) {
        warp.taken[i] = those([&](std::uint64_t other) { return other == warp.brought[i]; });
      });
      break;
    case Take::least:
      give_all(folded([](auto a, auto b) { return std::min(a, b); }));
      break;
    case Take::most:
      give_all(folded([](auto a, auto b) { return std::max(a, b); }));
      break;
    case Take::sum: {
      std::uint32_t sum = 0;
      for_lanes(lanes, [&](unsigned i) { sum += static_cast<std::uint32_t>(warp.brought[i]); });
      give_all(sum);
      break;
    }
  }
}

std::uint64_t Grid::exchange(const char* kind, unsigned lanes, Take take, std::uint64_t value, unsigned from,
                             const Site& at) {
  Meeting&       meeting = meeting_of(kind, lanes, at);
  Warp&          own     = warp();
  const unsigned all     = lanes & existing();
  if (take == Take::from_lane && (all >> from & 1) == 0)
    report(text_of(meeting) + " reads from lane " + std::to_string(from) +
           ((lanes >> from & 1) == 0 ? ", which the mask leaves out" : ", which the block does not have"));
  own.brought[lane()] = value, own.from[lane()] = static_cast<std::uint8_t>(from);
  meeting.arrived |= 1u << lane();
  if (meeting.arrived != all) {
    wait();
    return own.taken[lane()];
  }
  ++coverage.collectives;
  own.expected &= ~all;
  settle(own, all, take);
  for_lanes(all, [&](unsigned i) { block_->fibres[first_of_warp() + i].state = State::ready; });
  if (observer != nullptr) observer->warp_met(block_->index, thread_ / warp_lanes, all, same(kind, "__syncwarp"));
  return own.taken[lane()];
}

void Grid::arrive_at_barrier(const char* kind, const Site& at) {
  const Meeting wanted{kind, at, 0, 0};
  if (block_->left < kernel_.threads) {
    const auto gone = std::ranges::find(block_->fibres, State::over, &Fibre::state) - block_->fibres.begin();
    report(own_name() + " waits in " + text_of(wanted) + " for thread " + std::to_string(gone) +
           ", which has ended");
  }
  if ((warp().expected >> lane() & 1) != 0)
    report("lanes of a warp meet in different collectives: " + own_name() + " in " + text_of(wanted) +
           ", others in " + text_of(warp().meetings[warp().expected_in[lane()]]));
  if (block_->arrived > 0 && !same(block_->barrier, wanted))
    report("threads of a block meet in different barriers: " + own_name() + " in " + text_of(wanted) +
           ", others in " + text_of(block_->barrier));
  block_->barrier = wanted;
  ++block_->arrived;
  warp().at_barrier |= 1u << lane();
}

void Grid::open_barrier(Block& block) {
  block.arrived = 0;
  for (Warp& other : block.warps) other.at_barrier = 0;
  for (Fibre& fibre : block.fibres) fibre.state = State::ready;
}

int Grid::sum(const char* kind, int value, const Site& at) {
  arrive_at_barrier(kind, at);
  block_->sum += value;
  if (block_->arrived < kernel_.threads) {
    wait();
    return block_->total;
  }
  ++coverage.collectives;
  block_->total = std::exchange(block_->sum, 0);
  open_barrier(*block_);
  if (observer != nullptr) observer->block_met(block_->index);
  return block_->total;
}

/// The last thread of the last block lets all go.
void Grid::meet(const Site& at) {
  constexpr auto kind = "the grid's barrier";
  if (!kernel_.cooperative)
    report("the blocks of a kernel that was not launched together meet at " + emulator::text_of(at));
  arrive_at_barrier(kind, at);
  const auto in_grid  = [&](const Block& block) { return block.arrived > 0 && same(block.barrier.kind, kind); };
  bool       all_here = true;
  for (const Block& other : blocks_) {
    if (other.left < kernel_.threads)
      report("block " + std::to_string(block_->index) + " waits in " + text_of(block_->barrier) + " for block " +
             std::to_string(other.index) + ", which has ended");
    if (in_grid(other) && !same(other.barrier, block_->barrier))
      report("blocks meet in different barriers: block " + std::to_string(block_->index) + " in " +
             text_of(block_->barrier) + ", block " + std::to_string(other.index) + " in " +
             text_of(other.barrier));
    all_here &= in_grid(other) && other.arrived == kernel_.threads;
  }
  if (!all_here) return wait();
  ++coverage.collectives;
  for (Block& block : blocks_) open_barrier(block);
  if (observer != nullptr) observer->grid_met();
}

void Grid::let_others_go_first() {
  if (choose(atomics_to_a_switch) != 0) return;
  ++coverage.switches;
  pause();
}

void Grid::report_waiting(std::size_t first, std::size_t last) {
  std::string text = "threads wait for others that do not come:";
  for (std::size_t b = first; b < last; ++b) {
    const Block& block = blocks_[b];
    const auto   line  = [&](unsigned count, const std::string& where) {
      text += "\n  block " + std::to_string(b) + ": " + std::to_string(count) + " threads " + where;
    };
    if (block.arrived > 0) line(block.arrived, "in " + text_of(block.barrier));
    for (const Warp& warp : block.warps)
      for (const Meeting& meeting : warp.meetings)
        if ((meeting.lanes & warp.expected) != 0)
          line(static_cast<unsigned>(std::popcount(meeting.arrived)), "in " + text_of(meeting));
    if (block.left < kernel_.threads) line(kernel_.threads - block.left, "have ended");
  }
  report(text);
}

}  // namespace

void run(const Kernel& kernel) {
  if (kernel.blocks == 0 || kernel.threads == 0 || kernel.threads > most_threads)
    report(std::string{"a launch of "} + kernel.name + " at " + text_of(kernel.at) +
           " without threads, or with too many");
  if (kernel.cooperative && kernel.blocks > most_blocks)
    report(std::string{"more blocks of "} + kernel.name + " are launched together than there is room for");
  note_kernel(kernel);
  running_kernel = kernel.name, launched_at = kernel.at;
  if (observer != nullptr) observer->kernel_begins(kernel);
  Grid here_now{kernel};
  grid = &here_now;
  here_now.run();
  grid = nullptr;
  if (observer != nullptr) observer->kernel_ends();
  running_kernel = nullptr;
}

std::uint64_t exchange(const char* kind, unsigned lanes, Take take, std::uint64_t value, unsigned from,
                       const Site& at) {
  return grid->exchange(kind, lanes, take, value, from, at);
}
int  sum_over_block(const char* kind, int value, const Site& at) { return grid->sum(kind, value, at); }
void meet_in_grid(const Site& at) { grid->meet(at); }
void let_others_go_first() {
  if (in_kernel()) grid->let_others_go_first();
}

namespace {

const void* device_thread = nullptr;
Range       shared;

}  // namespace

void become_device() {
  device_thread = __builtin_thread_pointer();
  shared        = own_thread_local_storage();
}

bool in_device() { return __builtin_thread_pointer() == device_thread; }
bool in_kernel() { return in_device() && grid != nullptr; }

Range stacks() { return {Stacks::all().memory(), Stacks::bytes}; }

Range shared_memory() { return shared; }

Range program_memory() {
  extern char program_begin asm("__executable_start"), program_end asm("_end");
  return {&program_begin, static_cast<std::size_t>(&program_end - &program_begin)};
}

}  // namespace emulator
