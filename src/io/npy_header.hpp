// The header of a .npy array: the one Python literal that numpy writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace spillway {

struct NpyHeader {
  std::string                type;  ///< as numpy writes it: '<i4'
  bool                       fortran = false;
  std::vector<std::uint64_t> shape;
};

/// Reads the one Python literal that numpy writes: {'descr': '<i4', 'fortran_order': False, 'shape': (3,), }.
class NpyLiteral {
 public:
  explicit NpyLiteral(std::string_view text) : text_(text) {}

  /// Nothing where the text is anything else.
  std::optional<NpyHeader> parse() {
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const auto key = quoted();
      if (!key || !take(':') || !value_of(*key)) return std::nullopt;
      if (take(',')) continue;
      if (!take('}')) return std::nullopt;
      break;
    }
    skip_blanks();
    return text_.empty() && met_ == 3 ? std::optional{header_} : std::nullopt;
  }

 private:
  bool value_of(std::string_view key) {
    ++met_;
    if (key == "fortran_order") return boolean();
    if (key == "shape") return tuple();
    if (key != "descr") return false;
    const auto type = quoted();
    if (type) header_.type = *type;
    return type.has_value();
  }

  bool boolean() {
    skip_blanks();
    const std::string_view word = text_.substr(0, text_.find_first_not_of("FTaelrsu"));
    text_.remove_prefix(word.size());
    header_.fortran = word == "True";
    return word == "True" || word == "False";
  }

  bool tuple() {
    if (!take('(')) return false;
    while (!take(')')) {
      skip_blanks();
      const std::size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
      const auto        length = parse_number(text_.substr(0, digits));
      if (!length) return false;
      text_.remove_prefix(digits);
      header_.shape.push_back(*length);
      if (take(',')) continue;
      return take(')');
    }
    return true;
  }

  std::optional<std::string_view> quoted() {
    skip_blanks();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return std::nullopt;
    const std::size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inside;
  }

  bool take(char c) {
    skip_blanks();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  void skip_blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\n"), text_.size())); }

  std::string_view text_;
  NpyHeader        header_;
  int              met_ = 0;
};

}  // namespace spillway
