// Numbers beyond every floating type, in eight bytes: counts that double with each level of a graph.
#pragma once

#include <bit>
#include <cstdint>

#include <spillway/engine/atomics.hpp>

namespace spillway {

/// A number from 2^-8388607 to 2^8388607, or 0, to twelve digits: 24 bits of exponent above 40 of fraction. What
/// is larger stays `highest()`, what is smaller, or negative, becomes 0.
class Large {
 public:
  constexpr Large() = default;
  SPILLWAY_HD constexpr explicit Large(double number) : Large(number, 0) {}

  SPILLWAY_HD static constexpr Large highest() { return Large{Raw{}, ~std::uint64_t{0}}; }

  SPILLWAY_HD constexpr friend Large operator+(Large a, Large b) {
    const Large most = a < b ? b : a, least = a < b ? a : b;
    const auto  apart = most.raw_exponent() - least.raw_exponent();
    if (least.bits_ == 0 || apart > fraction_bits + 1 || most == highest()) return most;
    // One more bit than is kept, which says how to round.
    const std::uint64_t sum   = (most.whole() << 1) + ((least.whole() << 1) >> apart);
    const int           carry = sum >> (fraction_bits + 2) != 0 ? 1 : 0;
    return rounded(most.raw_exponent() + carry, (sum >> carry) + 1);
  }
  SPILLWAY_HD constexpr friend Large operator*(Large a, Large b) {
    if (a == highest() || b == highest()) return highest();
    return a.bits_ == 0 || b.bits_ == 0 ? Large{} : Large{a.part() * b.part(), a.exponent() + b.exponent()};
  }
  SPILLWAY_HD constexpr friend Large operator/(Large a, Large b) {
    if (a == highest() || b.bits_ == 0) return highest();
    return a.bits_ == 0 || b == highest() ? Large{} : Large{a.part() / b.part(), a.exponent() - b.exponent()};
  }
  SPILLWAY_HD constexpr friend bool operator==(Large a, Large b) { return a.bits_ == b.bits_; }
  SPILLWAY_HD constexpr friend bool operator<(Large a, Large b) { return a.bits_ < b.bits_; }

  /// Infinite, or 0, where a double does not reach.
  SPILLWAY_HD constexpr explicit operator double() const {
    if (bits_ == 0 || exponent() < -double_bias + 1) return 0;
    const bool          beyond = exponent() > double_bias;
    const std::uint64_t raw  = beyond ? 2 * double_bias + 1 : static_cast<std::uint64_t>(exponent() + double_bias);
    const std::uint64_t rest = beyond ? 0 : (bits_ & fraction_mask) << (double_fraction - fraction_bits);
    return std::bit_cast<double>(raw << double_fraction | rest);
  }

 private:
  static constexpr int           fraction_bits = 40, double_fraction = 52;
  static constexpr std::int64_t  bias = std::int64_t{1} << 23, double_bias = 1023;
  static constexpr std::int64_t  most_exponent = (std::int64_t{1} << 24) - 1;
  static constexpr std::uint64_t fraction_mask = (std::uint64_t{1} << fraction_bits) - 1;

  struct Raw {};
  SPILLWAY_HD constexpr Large(Raw, std::uint64_t bits) : bits_(bits) {}

  /// number × 2^exponent; subnormal numbers count as 0.
  SPILLWAY_HD constexpr Large(double number, std::int64_t exponent) {
    if (!(number > 0)) return;
    const auto          raw      = std::bit_cast<std::uint64_t>(number);
    const std::uint64_t fraction = raw & ((std::uint64_t{1} << double_fraction) - 1);
    const auto          power    = static_cast<std::int64_t>(raw >> double_fraction);
    if (power == 2 * double_bias + 1) *this = highest();
    if (power == 0 || power == 2 * double_bias + 1) return;
    const std::uint64_t whole = fraction | std::uint64_t{1} << double_fraction;
    *this = rounded(power - double_bias + exponent + bias, (whole >> (double_fraction - fraction_bits - 1)) + 1);
  }

  /// `doubled` has one bit more than is kept, and half of that last bit added.
  SPILLWAY_HD static constexpr Large rounded(std::int64_t raw_exponent, std::uint64_t doubled) {
    if (doubled >> (fraction_bits + 2) != 0) ++raw_exponent, doubled >>= 1;
    if (raw_exponent <= 0) return {};
    if (raw_exponent > most_exponent) return highest();
    return {Raw{}, static_cast<std::uint64_t>(raw_exponent) << fraction_bits | (doubled >> 1 & fraction_mask)};
  }

  SPILLWAY_HD constexpr std::int64_t raw_exponent() const {
    return static_cast<std::int64_t>(bits_ >> fraction_bits);
  }
  SPILLWAY_HD constexpr std::int64_t  exponent() const { return raw_exponent() - bias; }
  SPILLWAY_HD constexpr std::uint64_t whole() const {
    return (bits_ & fraction_mask) | std::uint64_t{1} << fraction_bits;
  }
  /// From 1 to 2.
  SPILLWAY_HD constexpr double part() const {
    return std::bit_cast<double>(static_cast<std::uint64_t>(double_bias) << double_fraction |
                                 (bits_ & fraction_mask) << (double_fraction - fraction_bits));
  }

  std::uint64_t bits_ = 0;
};

}  // namespace spillway
