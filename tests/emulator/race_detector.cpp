// Finds accesses of a kernel's threads to the same bytes that no barrier orders. Device code is compiled with
// -fsanitize=thread, but linked to this instead of to that sanitizer's library: it knows warps, blocks and grids,
// and sees every order that the barriers leave open, whichever the fibres took.
//
// Two accesses race if they come from different threads, one of them writes, not both are atomic, and no barrier
// that both threads took part in lies between them. Reported and counted, one line for each pair of places:
//   race            always
//   mixed read      a plain read of what others change with atomics: SPILLWAY_RACES=mixed
//   same value      plain writes of the value that was there already: SPILLWAY_RACES=same
//   weak            ordered only by a collective that does not order memory (all but __syncwarp):
//   SPILLWAY_RACES=weak
// The program ends with status 66 if there were races.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "emulator.hpp"

namespace emulator {
namespace {

enum Kind : std::uint8_t { plain_read, plain_write, atomic_read, atomic_write };

bool is_write(Kind kind) { return kind == plain_write || kind == atomic_write; }
bool is_atomic(Kind kind) { return kind == atomic_read || kind == atomic_write; }

/// When and by whom: barriers count the epochs of grid, block and lane.
struct Access {
  const void*   from   = nullptr;  ///< the instruction
  std::uint32_t thread = 0, in_lane = 0, in_block = 0, in_grid = 0;
  Kind          kind  = plain_read;
  std::uint8_t  bytes = 0;  ///< of the eight, a bit for each; 0: no access
};

/// The last accesses to eight bytes.
struct Cell {
  static constexpr unsigned most = 6;

  std::uint64_t            kernel  = 0;
  std::uint8_t             written = 0;  ///< bytes of shared memory that have a value
  std::array<Access, most> accesses;
};

constexpr std::size_t page_bytes = 4096;
using Page                       = std::array<Cell, page_bytes / 8>;

/// What lanes of a warp know of each other: the epoch up to which each has seen another.
struct WarpClocks {
  std::uint32_t own[warp_lanes], seen[warp_lanes][warp_lanes], ordered[warp_lanes][warp_lanes];
};

struct BlockClocks {
  std::uint32_t           epoch = 0;
  std::vector<WarpClocks> warps;
};

enum Class { race, mixed_read, same_value, weak, classes };
constexpr const char* names[classes] = {"race", "mixed read", "same value", "weak"};

struct Finding {
  Class         kind;
  Access        first, second;
  const void*   at;
  std::uint64_t times = 0;
};

class Detector final : public Observer {
 public:
  void kernel_begins(const Kernel& kernel) override {
    ++kernel_, ++grid_epoch_;
    name_ = kernel.name, arguments_ = {static_cast<const char*>(kernel.arguments.get()), kernel.argument_bytes};
    blocks_.clear();
    threads_ = kernel.threads;
    stacks_ = stacks(), shared_ = shared_memory();
  }
  void kernel_ends() override { settle(); }

  void block_begins(unsigned block) override {
    if (blocks_.size() <= block) blocks_.resize(block + 1);
    blocks_[block].warps.assign((threads_ + warp_lanes - 1) / warp_lanes, WarpClocks{});
    for (WarpClocks& warp : blocks_[block].warps) std::fill_n(warp.own, warp_lanes, 1);
  }

  void warp_met(unsigned block, unsigned warp, unsigned lanes, bool orders_memory) override {
    settle();
    WarpClocks& clocks = blocks_[block].warps[warp];
    meet(clocks, clocks.seen, lanes);
    if (orders_memory) meet(clocks, clocks.ordered, lanes);
    for_lanes(lanes, [&](unsigned i) { ++clocks.own[i]; });
  }

  void block_met(unsigned block) override {
    settle();
    ++blocks_[block].epoch;
    for (WarpClocks& warp : blocks_[block].warps) {
      for (unsigned i = 0; i < warp_lanes; ++i) {
        std::memcpy(warp.seen[i], warp.own, sizeof(warp.own));
        std::memcpy(warp.ordered[i], warp.own, sizeof(warp.own));
      }
      for (std::uint32_t& own : warp.own) ++own;
    }
  }

  void grid_met() override {
    for (unsigned b = 0; b < blocks_.size(); ++b) block_met(b);
    ++grid_epoch_;
  }

  void accessed(const void* at, std::size_t bytes, Kind kind, const void* from) {
    settle();
    if (stacks_.contains(at) || arguments_.contains(at) || bytes == 0) return;
    check_place(at, kind, from);
    const auto begin = reinterpret_cast<std::uintptr_t>(at);
    for (std::uintptr_t word = begin & ~std::uintptr_t{7}; word < begin + bytes; word += 8) {
      const std::uintptr_t first = word < begin ? begin - word : 0;
      const std::uintptr_t last  = begin + bytes - word < 8 ? begin + bytes - word : 8;
      note(word, static_cast<std::uint8_t>((0xFFu << first) & (0xFFu >> (8 - last))), kind, from);
    }
  }

  ~Detector() override = default;
  void finish();

 private:
  template <class One>
  static void for_lanes(unsigned lanes, One&& one) {
    for (unsigned i = 0; i < warp_lanes; ++i)
      if ((lanes >> i & 1) != 0) one(i);
  }

  /// Each of them knows then what any of them knew.
  static void meet(const WarpClocks& clocks, std::uint32_t (&known)[warp_lanes][warp_lanes], unsigned lanes) {
    std::uint32_t all[warp_lanes] = {};
    for_lanes(lanes, [&](unsigned i) {
      for (unsigned j = 0; j < warp_lanes; ++j) all[j] = std::max(all[j], known[i][j]);
    });
    for_lanes(lanes, [&](unsigned i) { all[i] = std::max(all[i], clocks.own[i]); });
    for_lanes(lanes, [&](unsigned i) { std::memcpy(known[i], all, sizeof(all)); });
  }

  enum Order { ordered, weakly, unordered };
  Order order(const Access& earlier, const Access& now) const {
    if (earlier.thread == now.thread || earlier.in_grid != now.in_grid) return ordered;
    const unsigned block = now.thread / threads_, other = earlier.thread / threads_;
    if (block != other) return unordered;
    if (earlier.in_block != now.in_block) return ordered;
    const unsigned a = earlier.thread % threads_, b = now.thread % threads_;
    if (a / warp_lanes != b / warp_lanes) return unordered;
    const WarpClocks& warp = blocks_[block].warps[a / warp_lanes];
    if (earlier.in_lane <= warp.ordered[b % warp_lanes][a % warp_lanes]) return ordered;
    return earlier.in_lane <= warp.seen[b % warp_lanes][a % warp_lanes] ? weakly : unordered;
  }

  Cell& cell_at(std::uintptr_t word) {
    // Blocks have shared memory of their own at the same addresses.
    const bool           shared = shared_.contains(reinterpret_cast<const void*>(word | 7));
    const std::uintptr_t key    = word / page_bytes << 8 | (shared ? here.block.x + 1 : 0);
    if (key != last_key_) {
      auto& page = pages_[key];
      if (!page) page = std::make_unique<Page>();
      last_key_ = key, last_page_ = page.get();
    }
    Cell& cell = (*last_page_)[word % page_bytes / 8];
    if (cell.kernel != kernel_) cell = {}, cell.kernel = kernel_;
    return cell;
  }

  void note(std::uintptr_t word, std::uint8_t bytes, Kind kind, const void* from) {
    const unsigned     thread = here.block.x * threads_ + here.thread.x;
    const BlockClocks& block  = blocks_[here.block.x];
    const Access       now{.from     = from,
                           .thread   = thread,
                           .in_lane  = block.warps[here.thread.x / warp_lanes].own[here.thread.x % warp_lanes],
                           .in_block = block.epoch,
                           .in_grid  = grid_epoch_,
                           .kind     = kind,
                           .bytes    = bytes};
    Cell&              cell    = cell_at(word);
    Access*            instead = nullptr;
    for (Access& earlier : cell.accesses) {
      if (earlier.bytes == 0) {
        if (instead == nullptr) instead = &earlier;
        continue;
      }
      if ((earlier.bytes & bytes) != 0) compare(earlier, now, word);
      const bool replaces = earlier.thread == thread && (earlier.bytes & ~bytes) == 0 &&
                            (earlier.kind == kind || kind == plain_write);
      if (replaces || order(earlier, now) == ordered)
        if (instead == nullptr || replaces) instead = &earlier;
    }
    if (instead == nullptr) instead = &cell.accesses[choose(Cell::most)];
    *instead = now;
    if (shared_.contains(reinterpret_cast<const void*>(word | 7))) check_written(cell, now, word);
  }

  void compare(const Access& earlier, const Access& now, std::uintptr_t word) {
    if (!(is_write(earlier.kind) || is_write(now.kind)) || (is_atomic(earlier.kind) && is_atomic(now.kind)))
      return;
    const Order between = order(earlier, now);
    if (between == ordered) return;
    const void* const at    = reinterpret_cast<const void*>(word);
    const bool        mixed = (earlier.kind == plain_read && now.kind == atomic_write) ||
                       (earlier.kind == atomic_write && now.kind == plain_read);
    const Class kind = between == weakly ? weak : mixed ? mixed_read : race;
    if (kind == race && earlier.kind == plain_write && now.kind == plain_write) {
      Pending pending{earlier, now, word, {}};
      std::memcpy(&pending.before, at, sizeof(pending.before));
      pending_.push_back(pending);
    } else {
      found(kind, earlier, now, at);
    }
  }

  /// What was about to be written has been written by now.
  void settle() {
    for (const Pending& pending : pending_) {
      std::uint64_t now = 0;
      std::memcpy(&now, reinterpret_cast<const void*>(pending.word), sizeof(now));
      found(now == pending.before ? same_value : race, pending.first, pending.second,
            reinterpret_cast<const void*>(pending.word));
    }
    pending_.clear();
  }

  void check_written(Cell& cell, const Access& now, std::uintptr_t word) {
    if (is_write(now.kind)) {
      cell.written |= now.bytes;
    } else if ((now.bytes & ~cell.written) != 0) {
      cell.written |= now.bytes;  // once is enough
      complain("reads shared memory that nobody wrote", reinterpret_cast<const void*>(word), now.from);
    }
  }

  /// Whatever a GPU could not reach.
  void check_place(const void* at, Kind, const void* from) {
    if (last_range_.contains(at)) return;
    const Range around = memory_around(at);
    if (around.data != nullptr)
      last_range_ = around;
    else if (!shared_.contains(at) && !program_memory().contains(at))
      complain("reads or writes memory of the host that is not pinned", at, from);
  }

  void found(Class kind, const Access& first, const Access& second, const void* at) {
    Finding& finding = findings_[{kind, first.from, second.from}];
    if (finding.times++ == 0) {
      finding = {kind, first, second, at, 1};
      if (kind == race || shown(kind)) print(finding);
    }
  }

  static bool shown(Class kind) {
    static const std::string wanted = std::getenv("SPILLWAY_RACES") ? std::getenv("SPILLWAY_RACES") : "";
    return wanted.find(kind == mixed_read ? "mixed" : kind == same_value ? "same" : "weak") != std::string::npos;
  }

  void        complain(const char* what, const void* at, const void* from);
  void        print(const Finding& finding) const;
  void        print_line(const char* verb, const Access& access) const;
  static void print_place(const void* instruction);

  struct Pending {
    Access         first, second;
    std::uintptr_t word;
    std::uint64_t  before;
  };

  std::uint64_t                                                  kernel_     = 0;
  std::uint32_t                                                  grid_epoch_ = 0;
  unsigned                                                       threads_    = 1;
  const char*                                                    name_       = "";
  std::vector<BlockClocks>                                       blocks_;
  Range                                                          stacks_, shared_, arguments_, last_range_;
  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>>      pages_;
  std::uintptr_t                                                 last_key_  = 0;
  Page*                                                          last_page_ = nullptr;
  std::vector<Pending>                                           pending_;
  std::set<const void*>                                          complained_;
  std::map<std::tuple<Class, const void*, const void*>, Finding> findings_;
  bool                                                           failed_ = false;
};

/// Where the compiler was when it made an instruction, if the tool that knows is installed.
void Detector::print_place(const void* instruction) {
  Dl_info module{};
  if (dladdr(instruction, &module) == 0) return;
  char command[512];
  std::snprintf(command, sizeof(command), "addr2line -Cpie %s 0x%lx 2>/dev/null | sed 's/^/      /' >&2",
                module.dli_fname,
                static_cast<unsigned long>(static_cast<const char*>(instruction) -
                                           static_cast<const char*>(module.dli_fbase)) -
                    1);
  std::fflush(stderr);
  if (std::system(command) != 0) std::fprintf(stderr, "      %p in %s\n", instruction, module.dli_fname);
}

void Detector::print_line(const char* verb, const Access& access) const {
  constexpr const char* kinds[] = {"plain read", "plain write", "atomic read", "atomic write"};
  std::fprintf(stderr, "    %s %s by block %u, thread %u\n", verb, kinds[access.kind], access.thread / threads_,
               access.thread % threads_);
  print_place(access.from);
}

void Detector::print(const Finding& finding) const {
  std::fprintf(stderr, "emulator: %s at %p%s in kernel %s\n", names[finding.kind], finding.at,
               shared_.contains(finding.at) ? " (shared memory)" : "", name_);
  print_line("first", finding.first);
  print_line("then", finding.second);
}

void Detector::complain(const char* what, const void* at, const void* from) {
  failed_ = true;
  if (!complained_.insert(from).second) return;
  std::fprintf(stderr, "emulator: block %u, thread %u %s, at %p in kernel %s\n", here.block.x, here.thread.x, what,
               at, name_);
  print_place(from);
}

void Detector::finish() {
  std::uint64_t places[classes] = {}, times[classes] = {};
  for (const auto& [key, finding] : findings_) ++places[finding.kind], times[finding.kind] += finding.times;
  std::fprintf(stderr, "emulator: seed %llu:", static_cast<unsigned long long>(seed()));
  for (unsigned i = 0; i < classes; ++i)
    std::fprintf(stderr, "%s %s: %llu places, %llu times", i == 0 ? "" : ";", names[i],
                 static_cast<unsigned long long>(places[i]), static_cast<unsigned long long>(times[i]));
  std::fputc('\n', stderr);
  if (failed_ || places[race] > 0) _exit(66);
}

Detector& detector() {
  static Detector& one = *new Detector;
  return one;
}

const bool watching = [] {
  observer = &detector();
  std::atexit([] { detector().finish(); });
  return true;
}();

void accessed(const void* at, std::size_t bytes, Kind kind, const void* from) {
  if (in_kernel()) detector().accessed(at, bytes, kind, from);
}

}  // namespace
}  // namespace emulator

// --- what the compiler calls ---

#define CALLER __builtin_return_address(0)
#define EMULATOR_PLAIN(size)                                                                                   \
  void __tsan_read##size(void* at) { emulator::accessed(at, size, emulator::plain_read, CALLER); }             \
  void __tsan_write##size(void* at) { emulator::accessed(at, size, emulator::plain_write, CALLER); }           \
  void __tsan_unaligned_read##size(void* at) { emulator::accessed(at, size, emulator::plain_read, CALLER); }   \
  void __tsan_unaligned_write##size(void* at) { emulator::accessed(at, size, emulator::plain_write, CALLER); } \
  /* volatile means here what relaxed atomics mean: neither torn nor left out */                               \
  void __tsan_volatile_read##size(void* at) { emulator::accessed(at, size, emulator::atomic_read, CALLER); }   \
  void __tsan_volatile_write##size(void* at) { emulator::accessed(at, size, emulator::atomic_write, CALLER); } \
  void __tsan_unaligned_volatile_read##size(void* at) {                                                        \
    emulator::accessed(at, size, emulator::atomic_read, CALLER);                                               \
  }                                                                                                            \
  void __tsan_unaligned_volatile_write##size(void* at) {                                                       \
    emulator::accessed(at, size, emulator::atomic_write, CALLER);                                              \
  }

#define EMULATOR_FETCH(bits, name)                                                                  \
  Word##bits __tsan_atomic##bits##_fetch_##name(volatile Word##bits* at, Word##bits value, int) {   \
    emulator::accessed(const_cast<Word##bits*>(at), sizeof(value), emulator::atomic_write, CALLER); \
    return __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST);                                      \
  }

#define EMULATOR_ATOMIC(bits)                                                                                    \
  using Word##bits = std::uint##bits##_t;                                                                        \
  Word##bits __tsan_atomic##bits##_load(const volatile Word##bits* at, int) {                                    \
    emulator::accessed(const_cast<const Word##bits*>(at), bits / 8, emulator::atomic_read, CALLER);              \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                                \
  }                                                                                                              \
  void __tsan_atomic##bits##_store(volatile Word##bits* at, Word##bits value, int) {                             \
    emulator::accessed(const_cast<Word##bits*>(at), bits / 8, emulator::atomic_write, CALLER);                   \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                               \
  }                                                                                                              \
  Word##bits __tsan_atomic##bits##_exchange(volatile Word##bits* at, Word##bits value, int) {                    \
    emulator::accessed(const_cast<Word##bits*>(at), bits / 8, emulator::atomic_write, CALLER);                   \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                     \
  }                                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile Word##bits* at, Word##bits* seen, Word##bits value, \
                                                    int, int) {                                                  \
    emulator::accessed(const_cast<Word##bits*>(at), bits / 8, emulator::atomic_write, CALLER);                   \
    return __atomic_compare_exchange_n(at, seen, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
  }                                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile Word##bits* at, Word##bits* seen, Word##bits value,   \
                                                  int, int) {                                                    \
    emulator::accessed(const_cast<Word##bits*>(at), bits / 8, emulator::atomic_write, CALLER);                   \
    return __atomic_compare_exchange_n(at, seen, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);              \
  }                                                                                                              \
  EMULATOR_FETCH(bits, add)                                                                                      \
  EMULATOR_FETCH(bits, sub)                                                                                      \
  EMULATOR_FETCH(bits, and)                                                                                      \
  EMULATOR_FETCH(bits, or)                                                                                       \
  EMULATOR_FETCH(bits, xor)                                                                                      \
  EMULATOR_FETCH(bits, nand)

extern "C" {

EMULATOR_PLAIN(1)
EMULATOR_PLAIN(2)
EMULATOR_PLAIN(4)
EMULATOR_PLAIN(8)
EMULATOR_PLAIN(16)
EMULATOR_ATOMIC(8)
EMULATOR_ATOMIC(16)
EMULATOR_ATOMIC(32)
EMULATOR_ATOMIC(64)

void __tsan_read_range(void* at, std::size_t bytes) {
  emulator::accessed(at, bytes, emulator::plain_read, CALLER);
}
void __tsan_write_range(void* at, std::size_t bytes) {
  emulator::accessed(at, bytes, emulator::plain_write, CALLER);
}
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
}
