#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace spillway {

std::string with_commas(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(digits.begin() + i, ',');
  return digits;
}

std::string counted(std::uint64_t value, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", with_commas(value), value == 1 ? one : many);
}

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  std::size_t unit  = 0;
  auto        value = static_cast<double>(bytes);
  while (value >= 1024 && unit + 1 < units.size()) value /= 1024, ++unit;
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : 1, units[unit]);
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  double      value      = 0;
  const char* end        = text.data() + text.size();
  const auto [rest, bad] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (bad == std::errc::invalid_argument || text.starts_with('-') || std::isnan(value)) return std::nullopt;
  std::string suffix = lower_case({rest, static_cast<std::size_t>(end - rest)});
  suffix.erase(0, suffix.find_first_not_of(' ') == std::string::npos ? 0 : suffix.find_first_not_of(' '));
  static constexpr std::string_view letters = "kmgtpe";
  double                            scale   = 1;
  if (!suffix.empty() && suffix != "b") {
    const auto power = letters.find(suffix[0]);
    if (power == std::string_view::npos) return std::nullopt;
    const std::string_view tail = std::string_view{suffix}.substr(1);
    if (!tail.empty() && tail != "b" && tail != "i" && tail != "ib") return std::nullopt;
    scale = std::pow(1024.0, static_cast<double>(power + 1));
  }
  const double bytes = value * scale;
  if (bad == std::errc::result_out_of_range || bytes >= 18446744073709549568.0) return size_too_large;
  return static_cast<std::uint64_t>(bytes);
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value    = 0;
  const char*   end      = text.data() + text.size();
  const auto [rest, bad] = std::from_chars(text.data(), end, value);
  if (bad != std::errc{} || rest != end) return std::nullopt;
  return value;
}

namespace {

/// Insertions, deletions, changes and swaps of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  std::size_t                best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  const std::string          lowered       = lower_case(word);
  for (const std::string& candidate : candidates) {
    const bool        extends  = word.size() >= 3 && candidate.starts_with(lowered);
    const std::size_t distance = extends ? 1 : edit_distance(lowered, lower_case(candidate));
    const bool        shorter  = best && distance == best_distance && candidate.size() < best->size();
    if (distance < best_distance || shorter) best_distance = distance, best = candidate;
  }
  return best;
}

std::string advice(std::string_view word, const std::vector<std::string>& candidates) {
  if (const auto near = nearest_word(word, candidates)) return fmt::format("did you mean '{}'?", *near);
  return fmt::format("there are {}", joined(candidates));
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string lower_case(std::string_view text) {
  std::string lowered{text};
  for (char& c : lowered)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lowered;
}

std::size_t utf8_bytes(std::string_view text) {
  static constexpr std::array least{0u, 0u, 0x80u, 0x800u, 0x10000u};  // below: overlong forms

  if (text.empty()) return 0;
  const unsigned    head = static_cast<unsigned char>(text[0]);
  const std::size_t size = head < 0x80 ? 1 : head >> 5 == 6 ? 2 : head >> 4 == 14 ? 3 : head >> 3 == 30 ? 4 : 0;
  if (size == 0 || size > text.size()) return 0;
  unsigned code = size == 1 ? head : head & (0x7Fu >> size);
  for (const unsigned char byte : text.substr(1, size - 1)) {
    if (byte >> 6 != 2) return 0;
    code = code << 6 | (byte & 0x3Fu);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < least[size] || surrogate || code > 0x10FFFF ? 0 : size;
}

namespace {

/// The same of characters that a terminal can show: no controls, of which there are two-byte ones below U+00A0.
std::size_t shown_bytes(std::string_view text) {
  const std::size_t size = utf8_bytes(text);
  const auto        byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (size == 1 && (byte(0) < 0x20 || byte(0) == 0x7F)) return 0;
  return size == 2 && byte(0) == 0xC2 && byte(1) < 0xA0 ? 0 : size;
}

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  std::string shown;
  std::size_t at = 0;
  while (at < std::min(limit, text.size())) {
    const std::size_t bytes = shown_bytes(text.substr(at));
    if (bytes == 0)
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    else
      shown += text.substr(at, bytes);
    at += std::max<std::size_t>(bytes, 1);
  }
  if (at < text.size()) shown += "…";
  return shown;
}

}  // namespace spillway
