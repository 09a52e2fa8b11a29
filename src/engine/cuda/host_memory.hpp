// Host memory that a device reads in place.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <spillway/engine/memory.hpp>

namespace spillway::cuda {

/// The beginnings of rows that a device keeps are chosen for so many bytes; chosen for `chosen`, they serve where
/// there are `room` now: programs leave a little more or less.
inline constexpr std::uint64_t no_prefixes = ~std::uint64_t{0};
inline bool                    serve(std::uint64_t chosen, std::uint64_t room) {
                     return chosen != no_prefixes && chosen <= room && chosen >= room - room / 4;
}

/// Whether memory would be copied to be pinned: what lies in a mapped file, if the budget has room.
bool is_copied(const void* data, std::uint64_t bytes, const std::shared_ptr<MemoryBudget>& budget);

/// Pinned where it lies. What is in a mapped file is copied into huge pages, if the budget has room; and what
/// cannot be pinned where it is.
class HostReadable {
 public:
  HostReadable() = default;
  HostReadable(const void* data, std::uint64_t bytes, const std::shared_ptr<MemoryBudget>& budget,
               std::string_view what);
  HostReadable(HostReadable&& other) noexcept { swap(other); }
  HostReadable& operator=(HostReadable&& other) noexcept {
    HostReadable{std::move(other)}.swap(*this);
    return *this;
  }
  ~HostReadable();

  /// Where the device finds it.
  template <class T>
  const T* as() const {
    return static_cast<const T*>(on_device_);
  }
  /// And the host.
  template <class T>
  const T* on_host() const {
    return static_cast<const T*>(on_host_);
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  bool              pinned(const void* data, std::uint64_t bytes, unsigned flags);
  [[noreturn]] void refuse();
  void              let_go();
  void              swap(HostReadable& other) noexcept {
                 std::swap(pinned_, other.pinned_);
                 std::swap(owned_, other.owned_);
                 std::swap(on_device_, other.on_device_);
                 std::swap(on_host_, other.on_host_);
                 std::swap(bytes_, other.bytes_);
                 std::swap(copy_, other.copy_);
  }

  void*         pinned_    = nullptr;  ///< to be let go of
  void*         owned_     = nullptr;  ///< to be freed
  const void*   on_device_ = nullptr;
  const void*   on_host_   = nullptr;
  std::uint64_t bytes_     = 0;
  Pages         copy_;
};

}  // namespace spillway::cuda
