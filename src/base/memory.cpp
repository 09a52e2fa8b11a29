#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/refusal.hpp"
#include "base/system_calls.hpp"
#include "base/text.hpp"

namespace spillway {
namespace {

constexpr std::uint64_t huge_page = 2u << 20;

// Below this, rounding up to huge pages would cost more than it brings.
constexpr std::uint64_t huge_page_threshold = 2 * huge_page;

// Asking the system for less than this takes longer than filling it.
constexpr std::uint64_t heap_bytes = 128u << 10;

// More than any address space; sums of sizes below it cannot overflow.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 56;

// What is left to the rest of the machine when the user set no limit: a twentieth.
constexpr std::uint64_t reserve_divisor = 20;

std::uint64_t number_in_file(const std::string& path) {
  std::ifstream file{path};
  std::uint64_t value = 0;
  return file >> value ? value : std::numeric_limits<std::uint64_t>::max();  // absent, or "max"
}

/// What a group counts as used although it can be taken back at once: pages of files.
std::uint64_t file_pages(const std::string& folder) {
  std::ifstream stat{folder + "/memory.stat"};
  std::uint64_t bytes = 0;
  std::string   name;
  for (std::uint64_t value = 0; stat >> name >> value;)
    if (name == "inactive_file" || name == "active_file") bytes += value;
  return bytes;
}

std::uint64_t headroom_at(const std::string& folder, const char* limit_file, const char* used_file) {
  const std::uint64_t limit = number_in_file(folder + limit_file);
  if (limit >= std::numeric_limits<std::int64_t>::max() / 2) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t used = number_in_file(folder + used_file);
  const std::uint64_t hard = used - std::min(used, file_pages(folder));
  return limit - std::min(limit, hard);
}

/// Free memory under the control groups this process is in, version 2 or 1: the tightest from its own up to the
/// root. Inside a container the named folder may not be there; the root then is the container's own.
std::uint64_t control_group_headroom() {
  std::uint64_t headroom = std::numeric_limits<std::uint64_t>::max();
  const auto    climb    = [&](const std::string& root, std::string folder, const char* limit, const char* used) {
    for (;; folder.resize(folder.find_last_of('/'))) {
      headroom = std::min(headroom, headroom_at(root + folder, limit, used));
      if (folder.find('/') == std::string::npos) return;
    }
  };
  std::ifstream groups{"/proc/self/cgroup"};
  for (std::string line; std::getline(groups, line);) {
    const auto first  = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string folder      = line.substr(second + 1);
    if (controllers.empty()) {
      climb("/sys/fs/cgroup", folder, "/memory.max", "/memory.current");
    } else if (controllers.find("memory") != std::string::npos) {
      climb("/sys/fs/cgroup/memory", folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes");
    }
  }
  return headroom;
}

std::uint64_t machine_available() {
  std::ifstream info{"/proc/meminfo"};
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("MemAvailable:")) return std::stoull(line.substr(13)) * 1024;
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool is_in_memory(const FileHandle& file) {
  constexpr std::uint32_t tmpfs = 0x01021994, ramfs = 0x858458f6;
  struct statfs           info {};
  if (system_calls().fstatfs(file.get(), &info) != 0) return false;
  const auto type = static_cast<std::uint32_t>(info.f_type);
  return type == tmpfs || type == ramfs;
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::uint64_t available_memory() { return std::min(machine_available(), control_group_headroom()); }

MemoryBudget::MemoryBudget(std::uint64_t limit, std::string temporary)
    : limit_(limit), stated_(limit != 0), temporary_(std::move(temporary)) {
  if (stated_) return;
  const std::uint64_t available = available_memory();
  limit_                        = available - available / reserve_divisor;
}

void MemoryBudget::take(std::uint64_t bytes, std::string_view what) {
  std::uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ || used > limit_ - bytes) refuse(bytes, what);
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  std::uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (used + bytes > peak && !peak_.compare_exchange_weak(peak, used + bytes, std::memory_order_relaxed)) {
  }
}

std::string MemoryBudget::temporary() const {
  if (!temporary_.empty()) return temporary_;
  const char* const folder = std::getenv("TMPDIR");
  return folder && *folder ? folder : "/var/tmp";  // which, unlike /tmp, is on a disk
}

void MemoryBudget::expect(std::uint64_t bytes, std::string_view what) const {
  if (!has_room(bytes)) refuse(bytes, what);
}

void MemoryBudget::refuse(std::uint64_t bytes, std::string_view what) const {
  const std::uint64_t held = used();
  throw MemoryRefusal{std::string{what}, bytes > most_bytes - std::min(held, most_bytes) ? bytes : held + bytes,
                      limit_, stated_};
}

std::string sufficient_size(std::uint64_t bytes) {
  static constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB"};
  std::uint64_t               unit = 1024;
  std::size_t                 name = 0;
  while (bytes / unit >= 1024 && name + 1 < units.size()) unit *= 1024, ++name;
  // One digit after the point, in whole numbers: floating point could round down. Of KiB only whole ones are
  // sizes.
  const std::uint64_t steps  = unit == 1024 ? 1 : 10;
  const std::uint64_t whole  = bytes / unit;
  const std::uint64_t tenths = (bytes % unit * steps + unit - 1) / unit;
  if (steps == 1 || tenths == 0 || tenths == steps)
    return fmt::format("{}{}", whole + (tenths > 0 ? 1 : 0), units[name]);
  return fmt::format("{}.{}{}", whole, tenths, units[name]);
}

namespace {

std::string refusal_text(const std::string& what, std::uint64_t needed, std::uint64_t limit, bool stated,
                         bool suffices, const std::string& ways_out) {
  const std::string least = sufficient_size(needed);
  const std::string text =
      stated ? fmt::format(
                   "not enough memory for {}: needs {}{} of host memory, and --host-memory allows {}; give "
                   "--host-memory {}{}",
                   what, suffices ? "" : "at least ", least, human_bytes(limit), least, suffices ? "" : " or more")
             : fmt::format(
                   "not enough memory for {}: needs {}{} of host memory, and this machine has {} free; free "
                   "some, or use a machine with more",
                   what, suffices ? "" : "at least ", least, human_bytes(limit));
  return ways_out.empty() ? text : text + ". Or: " + ways_out;
}

}  // namespace

MemoryRefusal::MemoryRefusal(std::string what, std::uint64_t needed, std::uint64_t limit, bool stated,
                             bool suffices, std::string ways_out)
    : Error(ExitCode::does_not_fit, refusal_text(what, needed, limit, stated, suffices, ways_out)),
      what_(std::move(what)),
      needed_(needed),
      limit_(limit),
      stated_(stated),
      suffices_(suffices),
      ways_out_(std::move(ways_out)) {}

namespace {

/// What is mapped from disk, by its address.
class DiskTable {
 public:
  void add(std::byte* data, std::uint64_t bytes) {
    const std::scoped_lock lock{mutex_};
    mapped_[data] = bytes;
  }
  void remove(std::byte* data) {
    const std::scoped_lock lock{mutex_};
    mapped_.erase(data);
  }
  void resize(std::byte* data, std::uint64_t bytes) {
    const std::scoped_lock lock{mutex_};
    bytes > 0 ? static_cast<void>(mapped_[data] = bytes) : static_cast<void>(mapped_.erase(data));
  }
  void evict() {
    const std::scoped_lock lock{mutex_};
    for (const auto& [data, bytes] : mapped_) madvise(data, bytes, MADV_DONTNEED);
  }
  bool any() {
    const std::scoped_lock lock{mutex_};
    return !mapped_.empty();
  }

 private:
  std::mutex                          mutex_;
  std::map<std::byte*, std::uint64_t> mapped_;
};

DiskTable& disk_table() {
  static DiskTable all;
  return all;
}

}  // namespace

Pages::Pages(std::uint64_t bytes, std::shared_ptr<MemoryBudget> budget, std::string_view what)
    : budget_(std::move(budget)) {
  if (bytes == 0) return;
  if (bytes > most_bytes)
    throw does_not_fit("not enough memory for {}: needs {}, more than any machine has", what, human_bytes(bytes));
  const bool          huge   = bytes >= huge_page_threshold;
  const std::uint64_t length = round_up(bytes, page_bytes());
  if (budget_) {
    budget_->take(length, what);
    counted_ = length;
  }
  if (bytes < heap_bytes) {
    data_ = static_cast<std::byte*>(std::aligned_alloc(page_bytes(), length));
    if (!data_) {
      if (budget_) budget_->give(length);
      budget_.reset();
      throw does_not_fit("not enough memory for {}: needs {}, which this machine refuses", what,
                         human_bytes(length));
    }
    std::memset(data_, 0, bytes);
    bytes_ = length;
    return;
  }
  // Aligning by hand: over-reserve, then trim. Only reserved addresses, so it costs nothing.
  const std::uint64_t slack = huge ? huge_page : 0;
  void*               base =
      mmap(nullptr, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    if (budget_) budget_->give(length);
    budget_.reset();
    throw does_not_fit("not enough memory for {}: needs {}, which this machine refuses", what,
                       human_bytes(length));
  }
  auto* start = static_cast<std::byte*>(base);
  if (huge) {
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    const auto skip    = round_up(address, huge_page) - address;
    if (skip > 0) munmap(start, skip);
    if (skip < slack) munmap(start + skip + length, slack - skip);
    start += skip;
    madvise(start, length, MADV_HUGEPAGE);  // a wish; without it everything still works
  }
  data_   = start;
  bytes_  = length;
  mapped_ = true;
}

Pages Pages::on_disk(std::uint64_t bytes, const MemoryBudget& budget, std::string_view what) {
  Pages             pages;
  const std::string folder = budget.temporary();
  if (bytes == 0) return pages;
  const std::uint64_t length = round_up(bytes, page_bytes());
  const FileHandle    file   = open_nameless(folder);
  if (!budget.names_temporary() && is_in_memory(file))
    throw does_not_fit("{}: files there are in memory, which does not hold {}; --temporary names another folder",
                       folder, what);
  // All of it now: a write to a mapped page for which there is no room would end the process.
  int error = EINTR;
  while (error == EINTR && !interrupt_requested)
    error = system_calls().fallocate(file.get(), 0, static_cast<off_t>(length));
  if (error == EINTR) throw Error{ExitCode::interrupted, "interrupted"};
  if (error != 0)
    throw does_not_fit("{}: no room for {}, {} on disk: {}; --temporary names another folder", folder, what,
                       human_bytes(length), std::strerror(error));
  void* const at =
      system_calls().mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file.get(), 0);
  if (at == MAP_FAILED)
    throw does_not_fit("not enough addresses for {}: needs {}, which this machine refuses", what,
                       human_bytes(length));
  pages.data_    = static_cast<std::byte*>(at);
  pages.bytes_   = length;
  pages.mapped_  = true;
  pages.on_disk_ = true;
  disk_table().add(pages.data_, length);
  return pages;
}

void evict_all_on_disk() { disk_table().evict(); }
bool has_any_on_disk() { return disk_table().any(); }

void Pages::evict(std::uint64_t begin, std::uint64_t end) const {
  begin = round_up(begin, page_bytes());
  end   = std::min(round_up(end, page_bytes()), bytes_);
  if (on_disk_ && begin < end) madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

Pages::~Pages() {
  if (on_disk_) disk_table().remove(data_);
  if (mapped_)
    munmap(data_, bytes_);
  else
    std::free(data_);
  if (budget_) budget_->give(counted_);
}

void touch_pages(std::byte* data, std::uint64_t bytes, int threads) {
  const std::uint64_t step = page_bytes();  // huge pages are a request that the system may decline
  if (bytes < heap_bytes) return;           // these were written to
  for_each_share(threads, (bytes + step - 1) / step, [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t page = begin; page < end; ++page)
      *static_cast<volatile std::byte*>(data + page * step) = {};
  });
}

void Pages::shrink(std::uint64_t bytes) {
  const std::uint64_t keep = round_up(bytes, page_bytes());
  if (keep >= bytes_ || !mapped_) return;
  if (on_disk_) disk_table().resize(data_, keep);
  munmap(data_ + keep, bytes_ - keep);
  const std::uint64_t freed = std::min(bytes_ - keep, counted_);
  if (budget_) budget_->give(freed);
  counted_ -= freed;
  bytes_ = keep;
  if (keep == 0) data_ = nullptr, mapped_ = on_disk_ = false;
}

void Pages::release(std::uint64_t begin, std::uint64_t end) {
  begin = round_up(begin, page_bytes());
  end   = end / page_bytes() * page_bytes();
  if (begin >= end) return;
  if (!mapped_ || on_disk_) return static_cast<void>(std::memset(data_ + begin, 0, end - begin));
  madvise(data_ + begin, end - begin, MADV_DONTNEED);
  const std::uint64_t freed = std::min(end - begin, counted_);
  if (budget_) budget_->give(freed);
  counted_ -= freed;
}

}  // namespace spillway
