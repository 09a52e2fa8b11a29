// Large memory: counted against a budget before it is asked for, backed by huge pages, given back in parts.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <spillway/array.hpp>

namespace spillway {

/// All that may be held at once. Exceeding it is Error{does_not_fit}, raised before the allocation.
class MemoryBudget {
 public:
  /// 0: what the machine (and its control group) has free now, less a reserve. `temporary`: the folder for what
  /// does not fit; empty: $TMPDIR, or /var/tmp.
  explicit MemoryBudget(std::uint64_t limit = 0, std::string temporary = {});

  void take(std::uint64_t bytes, std::string_view what);
  void give(std::uint64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  /// Throws if `bytes` more could not be taken: asked before long work starts.
  void expect(std::uint64_t bytes, std::string_view what) const;

  bool has_room(std::uint64_t bytes) const { return bytes <= limit_ && used() <= limit_ - bytes; }

  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  std::uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  std::uint64_t limit() const { return limit_; }
  /// By a user, rather than the machine.
  bool is_stated() const { return stated_; }

  std::string temporary() const;
  bool        names_temporary() const { return !temporary_.empty(); }

 private:
  [[noreturn]] void refuse(std::uint64_t bytes, std::string_view what) const;

  std::uint64_t              limit_;
  bool                       stated_;  ///< by a user, rather than the machine
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
  std::string                temporary_;
};

/// Memory of ordinary containers, counted against a budget by hand.
class Charge {
 public:
  Charge(std::shared_ptr<MemoryBudget> budget, std::string_view what) : budget_(std::move(budget)), what_(what) {}
  Charge(const Charge&) = delete;
  ~Charge() { budget_->give(bytes_); }

  void raise_to(std::uint64_t bytes) {
    if (bytes <= bytes_) return;
    budget_->take(bytes - bytes_, what_);
    bytes_ = bytes;
  }
  void lower_by(std::uint64_t bytes) {
    bytes = bytes < bytes_ ? bytes : bytes_;
    budget_->give(bytes);
    bytes_ -= bytes;
  }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  std::string_view              what_;
  std::uint64_t                 bytes_ = 0;
};

/// Memory that this process may use without being killed: free memory, or less under a control group.
std::uint64_t available_memory();

/// Pages straight from the system, zeroed, counted in a budget, huge where large; what is small is from the heap.
class Pages {
 public:
  Pages() = default;
  Pages(std::uint64_t bytes, std::shared_ptr<MemoryBudget> budget, std::string_view what);
  Pages(Pages&& other) noexcept { swap(other); }
  Pages& operator=(Pages&& other) noexcept {
    Pages{std::move(other)}.swap(*this);
    return *this;
  }
  ~Pages();

  /// In a file without a name, mapped: zeroed, for more than memory holds, in the budget's folder. It does not
  /// count in the budget; whoever uses it counts what it has in memory at a time, and evicts the rest.
  /// Error{does_not_fit} where the disk has no room.
  static Pages on_disk(std::uint64_t bytes, const MemoryBudget& budget, std::string_view what);

  std::byte*    data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }

  /// Takes over the count of `bytes` that the caller has already taken from `budget`.
  void count_in(std::shared_ptr<MemoryBudget> budget, std::uint64_t bytes) {
    budget_  = std::move(budget);
    counted_ = bytes;
  }

  /// Gives back what lies past `bytes`.
  void shrink(std::uint64_t bytes);
  /// Gives back the whole pages inside [begin, end); they read as zero afterwards.
  void release(std::uint64_t begin, std::uint64_t end);
  /// What lies in [begin, end) leaves memory, if it is on disk; it is there again when it is asked for.
  void evict(std::uint64_t begin, std::uint64_t end) const;
  bool is_on_disk() const { return on_disk_; }

 private:
  void swap(Pages& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(counted_, other.counted_);
    std::swap(mapped_, other.mapped_);
    std::swap(on_disk_, other.on_disk_);
    std::swap(budget_, other.budget_);
  }

  std::byte*                    data_    = nullptr;
  std::uint64_t                 bytes_   = 0;
  std::uint64_t                 counted_ = 0;
  bool                          mapped_  = false;  ///< else it is small and from the heap
  bool                          on_disk_ = false;
  std::shared_ptr<MemoryBudget> budget_;
};

/// A typed, writable view of Pages; `freeze` turns it into what a Graph holds.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::uint64_t count, const std::shared_ptr<MemoryBudget>& budget, std::string_view what)
      : pages_(count <= UINT64_MAX / sizeof(T) ? count * sizeof(T) : UINT64_MAX, budget, what), count_(count) {}

  /// Mapped from a file in the budget's folder (Pages::on_disk).
  static Buffer on_disk(std::uint64_t count, const MemoryBudget& budget, std::string_view what) {
    Buffer buffer;
    buffer.pages_ = Pages::on_disk(count * sizeof(T), budget, what);
    buffer.count_ = count;
    return buffer;
  }
  /// In memory where the budget has room for it, else on disk.
  static Buffer where_it_fits(std::uint64_t count, const std::shared_ptr<MemoryBudget>& budget,
                              std::string_view what) {
    constexpr std::uint64_t rounding = 64u << 10;  // to pages of the system
    return budget->has_room(count * sizeof(T) + rounding) ? Buffer{count, budget, what}
                                                          : on_disk(count, *budget, what);
  }

  T*            data() const { return reinterpret_cast<T*>(pages_.data()); }
  std::uint64_t size() const { return count_; }
  T&            operator[](std::uint64_t i) const { return data()[i]; }
  std::span<T>  span() const { return {data(), count_}; }

  void count_in(const std::shared_ptr<MemoryBudget>& budget, std::uint64_t bytes) {
    pages_.count_in(budget, bytes);
  }

  void shrink(std::uint64_t count) {
    pages_.shrink(count * sizeof(T));
    count_ = count;
  }

  /// Entries [begin, end), if they are on disk.
  void evict(std::uint64_t begin, std::uint64_t end) const { pages_.evict(begin * sizeof(T), end * sizeof(T)); }
  bool is_on_disk() const { return pages_.is_on_disk(); }

  Array<T> freeze() && {
    auto keeper = std::make_shared<Pages>(std::move(pages_));
    return {{reinterpret_cast<const T*>(keeper->data()), count_}, keeper};
  }

 private:
  Pages         pages_;
  std::uint64_t count_ = 0;
};

/// All that is mapped from disk (Pages::on_disk) leaves memory until it is asked for.
void evict_all_on_disk();
bool has_any_on_disk();

/// body(begin, end) over [0, count): all at once, or where something is on disk a part after the other, none of
/// which stays in memory.
template <class Body>
void in_parts(std::uint64_t count, Body&& body) {
  if (!has_any_on_disk()) return static_cast<void>(body(std::uint64_t{0}, count));
  constexpr std::uint64_t part = 1u << 18;
  for (std::uint64_t begin = 0; begin < count; begin += part) {
    body(begin, std::min(count, begin + part));
    evict_all_on_disk();
  }
}

/// Has the system find the pages of large memory that was never written to, on several threads.
void touch_pages(std::byte* data, std::uint64_t bytes, int threads);
template <class T>
void touch_pages(std::span<T> memory, int threads) {
  touch_pages(reinterpret_cast<std::byte*>(memory.data()), memory.size_bytes(), threads);
}

/// A small array copied into shared memory of its own.
template <class T>
Array<T> make_array(std::span<const T> values, const std::shared_ptr<MemoryBudget>& budget,
                    std::string_view what) {
  Buffer<T> copy{values.size(), budget, what};
  if (!values.empty()) std::memcpy(copy.data(), values.data(), values.size_bytes());
  return std::move(copy).freeze();
}

}  // namespace spillway
