// Numbers as people write and read them, and the nearest word to a mistyped one.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

/// 1234567 -> "1,234,567".
std::string with_commas(std::uint64_t value);

/// "1 vertex", "1,234 vertices".
std::string counted(std::uint64_t value, std::string_view one, std::string_view many);

/// 1536 -> "1.5 KiB".
std::string human_bytes(std::uint64_t bytes);

/// What `parse_size` makes of sizes that 64 bits do not hold.
inline constexpr std::uint64_t size_too_large = std::numeric_limits<std::uint64_t>::max();

/// "4GiB", "4Gi", "512M", "1.5k", "100": binary multiples; nothing for anything else.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// A whole decimal number without sign that fits 64 bits; nothing for anything else.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// The candidate a person probably meant, if one is near.
std::optional<std::string> nearest_word(std::string_view word, const std::vector<std::string>& candidates);

/// What to say of a word that is none of the candidates: the one that was probably meant, or all there are.
std::string advice(std::string_view word, const std::vector<std::string>& candidates);

/// The words joined with ", ".
std::string joined(const std::vector<std::string>& words);

std::string lower_case(std::string_view text);

/// Length of the character of UTF-8 that `text` begins with; 0: it is none.
std::size_t utf8_bytes(std::string_view text);

/// Text of unknown origin made fit for one line of a terminal: what is no character of UTF-8, or a control, is
/// escaped; length is bounded.
std::string printable(std::string_view text, std::size_t limit = 40);

}  // namespace spillway
