// What a memory budget refuses, with the numbers that let every layer above say what the whole work needs: the
// innermost knows one allocation, a builder its peak, the command all of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <spillway/engine/memory.hpp>
#include <spillway/error.hpp>

namespace spillway {

/// Error{does_not_fit} of a MemoryBudget. `needed` is the least limit that is known to be necessary so far; the
/// message says "at least" until somebody who knows all that is to come has had a say.
class SPILLWAY_API MemoryRefusal : public Error {
 public:
  MemoryRefusal(std::string what, std::uint64_t needed, std::uint64_t limit, bool stated, bool suffices = false,
                std::string ways_out = {});

  std::uint64_t needed() const noexcept { return needed_; }
  std::uint64_t limit() const noexcept { return limit_; }

  /// The same refusal by one that knows of more to come: the number grows, never shrinks.
  MemoryRefusal raised_to(std::uint64_t needed) const {
    return {what_, std::max(needed, needed_), limit_, stated_, false, ways_out_};
  }
  /// By one that knows all that is to come: the number suffices, unless more was asked for already.
  MemoryRefusal covered_by(std::uint64_t needed) const {
    return {what_, std::max(needed, needed_), limit_, stated_, suffices_ || needed >= needed_, ways_out_};
  }
  /// With what else can be done, as sentences: "--form residual needs no in-edges".
  MemoryRefusal with_ways_out(std::string ways_out) const {
    return {what_, needed_, limit_, stated_, suffices_, std::move(ways_out)};
  }

 private:
  std::string   what_;
  std::uint64_t needed_ = 0;
  std::uint64_t limit_  = 0;
  bool          stated_ = false, suffices_ = false;
  std::string   ways_out_;
};

/// A size that --host-memory takes, rounded up: given back, it suffices for `bytes`.
std::string sufficient_size(std::uint64_t bytes);

/// Refuses before work starts whose peak is `whole` bytes beside what is held now, and says so where an allocation
/// inside fails after all.
template <class Body>
auto within_forecast(const MemoryBudget& budget, std::uint64_t whole, std::string_view what, Body&& body) {
  const std::uint64_t held = budget.used();
  budget.expect(whole, what);
  try {
    return body();
  } catch (const MemoryRefusal& refusal) {
    throw refusal.raised_to(held + whole);
  }
}

}  // namespace spillway
