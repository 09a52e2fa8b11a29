// Decimal numbers at the pace of reading: digits eight at a time, floats, and whether a float keeps all digits.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>

namespace spillway {

/// The value of `length` (1 to 8) decimal digits that `digits` holds as numbers 0 to 9, first digit lowest: pairs,
/// then fours, then eights are joined by one multiplication each (Lemire's SWAR scheme).
inline std::uint64_t joined_digits(std::uint64_t digits, unsigned length) {
  digits <<= 64 - 8 * length;
  digits = digits * 10 + (digits >> 8);
  return ((digits & 0x000000FF000000FFu) * 0x000F424000000064u +
          (digits >> 16 & 0x000000FF000000FFu) * 0x0000271000000001u) >>
         32;
}

/// How many of the eight bytes at `p` are digits, from the first; `digits` holds them as joined_digits wants them.
inline unsigned digits_at(const char* p, std::uint64_t& digits) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  digits = bytes ^ 0x3030303030303030u;
  // Adding 0x76 carries into the top bit of every byte above 9; a carry spoils only bytes behind such a one.
  const std::uint64_t others = ((digits + 0x7676767676767676u) | digits) & 0x8080808080808080u;
  return static_cast<unsigned>(std::countr_zero(others)) / 8;
}

/// A decimal text without its sign: digits * 10^exponent, where the last digit is not 0.
struct Decimal {
  static constexpr int most_digits = std::numeric_limits<float>::max_digits10;

  std::uint64_t digits      = 0;
  int           exponent    = 0;
  int           significant = 0;  ///< how many digits; beyond most_digits the others are not read
};

/// The text is a number that has been parsed.
inline Decimal decimal_of(std::string_view text) {
  Decimal     decimal;
  int         place = 0, last = 0, point = -1;  // counted in digits
  std::size_t i = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  for (; i < text.size() && text[i] != 'e' && text[i] != 'E'; ++i) {
    if (text[i] == '.') {
      point = place;
      continue;
    }
    ++place;
    if (text[i] == '0') continue;  // counts only if another digit follows
    const int zeros = decimal.significant > 0 ? place - last - 1 : 0;
    decimal.significant += zeros + 1;
    if (decimal.significant > Decimal::most_digits) return decimal;
    for (int zero = 0; zero <= zeros; ++zero) decimal.digits *= 10;
    decimal.digits += static_cast<std::uint64_t>(text[i] - '0');
    last = place;
  }
  int stated = 0;
  if (i < text.size()) {
    const std::size_t sign = text.substr(i + 1).starts_with('+') ? 2 : 1;
    std::from_chars(text.data() + i + sign, text.data() + text.size(), stated);
  }
  decimal.exponent = (point < 0 ? place : point) - last + stated;
  return decimal;
}

/// Powers of ten that are exact as doubles, and their inverses: dividing would take most of the time.
inline constexpr double powers[]   = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr double inverses[] = {1e-0,  1e-1,  1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,
                                      1e-8,  1e-9,  1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15,
                                      1e-16, 1e-17, 1e-18, 1e-19, 1e-20, 1e-21, 1e-22};

inline bool is_shortest(const Decimal& decimal, float value) {
  const Decimal shortest = decimal_of(fmt::format("{}", value));
  return shortest.digits == decimal.digits && shortest.exponent == decimal.exponent;
}

/// True when `decimal`, which was read as `value`, is not the number that the shortest text of `value` stands for.
/// Few are compared with that text: six digits always survive, it never has more than nine, and for what lies
/// between arithmetic is faster.
inline bool loses_digits(const Decimal& decimal, float value) {
  if (decimal.significant <= std::numeric_limits<float>::digits10) return false;
  if (decimal.significant > Decimal::most_digits) return true;
  const auto size = static_cast<std::size_t>(std::abs(decimal.exponent));
  if (size >= std::size(powers)) return !is_shortest(decimal, value);
  const double unit      = decimal.exponent < 0 ? inverses[size] : powers[size];
  const auto   scaled    = [&](std::uint64_t digits) { return static_cast<double>(digits) * unit; };
  const float  magnitude = std::abs(value);
  // The neighbours with one digit less enclose the number: if neither is this float, nothing shorter is.
  const std::uint64_t below = decimal.digits / 10 * 10;
  if (static_cast<float>(scaled(below)) == magnitude || static_cast<float>(scaled(below + 10)) == magnitude)
    return true;
  // Of texts of this length the closest is the shortest; two may be as close.
  const double distance =
      std::abs(scaled(decimal.digits) - double{magnitude}) * (decimal.exponent < 0 ? powers : inverses)[size];
  if (std::abs(distance - 0.5) < 1e-3) return !is_shortest(decimal, value);
  return distance > 0.5;
}

/// As some write floats: with all the digits of a double that has the same value.
inline bool is_exact(std::string_view text, float value) {
  double exact = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  std::from_chars(text.data(), text.data() + text.size(), exact);
  return exact == double{value};
}

inline bool loses_digits(std::string_view text, float value) {
  return loses_digits(decimal_of(text), value) && !is_exact(text, value);
}

/// A number as most weights are written: digits, perhaps a sign and a point, no exponent, up to 16 digits.
struct PlainNumber {
  std::uint64_t digits   = 0;
  unsigned      fraction = 0;  ///< how many of them stand behind the point
  bool          negative = false;

  /// Moves `p` past it. False if what stands there is something else, or longer; seven bytes past the first one
  /// that is no digit may be looked at.
  bool parse(const char*& p) {
    const char* place = p;
    negative          = *place == '-';
    if (negative) ++place;
    unsigned count = take(place);
    if (*place == '.') fraction = take(++place);
    count += fraction;
    if (count == 0 || count > most_digits || digits >= exact_below) return false;
    p = place;
    return true;
  }

  /// The nearest float. Rounding twice, to a double first, is right but next to the middle of two floats: false
  /// there.
  bool to_float(float& value) const {
    constexpr std::uint64_t dropped = (1u << 29) - 1, middle = 1u << 28;
    const double            exact = static_cast<double>(digits) / powers[fraction];
    const std::uint64_t     rest  = std::bit_cast<std::uint64_t>(exact) & dropped;
    value                         = static_cast<float>(negative ? -exact : exact);
    return rest + 1 < middle || rest > middle + 1;
  }

  bool loses_digits(float value) const {
    if (digits < 1'000'000) return false;
    Decimal decimal{digits, -static_cast<int>(fraction), std::numeric_limits<float>::digits10 + 1};
    for (; decimal.digits % 10 == 0; ++decimal.exponent) decimal.digits /= 10;
    if (decimal.digits < 1'000'000) return false;
    if (static_cast<double>(digits) / powers[fraction] == std::abs(double{value})) return false;
    return decimal.digits >= 1'000'000'000 || spillway::loses_digits(decimal, value);
  }

 private:
  static constexpr unsigned      most_digits = 16;
  static constexpr std::uint64_t exact_below = std::uint64_t{1} << 53;

  /// Appends the digits at `p`, 24 at most: more than 16 are refused, and leave `digits` within 64 bits or not.
  unsigned take(const char*& p) {
    constexpr std::uint64_t steps[] = {1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
    unsigned                count   = 0;
    for (unsigned length = 8; length == 8 && count <= most_digits; p += length, count += length) {
      std::uint64_t eight;
      length = digits_at(p, eight);
      if (length > 0) digits = digits * steps[length] + joined_digits(eight, length);
    }
    return count;
  }
};

}  // namespace spillway
