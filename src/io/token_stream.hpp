// Numbers and words of a text that must be read in order, with the line each stands on.
#pragma once

#include <limits>
#include <memory>
#include <string_view>

#include <spillway/engine/memory.hpp>
#include "io/format.hpp"

namespace spillway {

class TokenStream {
 public:
  explicit TokenStream(const ReadJob& job);

  std::uint64_t line() const { return line_; }

  /// True when the input is used up to its last byte.
  bool at_end() { return next_ == end_ && !refill(); }

  /// The byte that comes next; '\0' at the end.
  char peek() { return at_end() ? '\0' : *next_; }

  /// Skips blanks; true when the line (or the input) holds nothing more.
  bool at_line_end() {
    for (;;) {
      while (*next_ == ' ' || *next_ == '\t' || *next_ == '\r') ++next_;
      if (next_ != end_) return *next_ == '\n';
      if (!refill()) return true;
    }
  }

  /// Steps over the newline that at_line_end() has found.
  void next_line() {
    if (at_end()) return;
    ++next_;
    ++line_;
  }

  /// Whatever is left of the line goes, its newline included.
  void skip_line();

  /// Skips blanks and newlines; true at the end of the input.
  bool skip_space() {
    while (at_line_end()) {
      if (at_end()) return true;
      next_line();
    }
    return false;
  }

  /// An unsigned number that starts here; `what` it is goes into the message where there is none.
  std::uint64_t number(std::string_view what) {
    constexpr std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() / 10 - 1;
    require_token();
    char*         place = next_;
    std::uint64_t value = 0;
    unsigned      digit = digit_at(place);
    if (digit > 9) expected(what);
    do {
      if (value > limit) expected(what);
      value = value * 10 + digit;
      digit = digit_at(++place);
    } while (digit <= 9);
    if (!ends_token(place)) expected(what);
    next_ = place;
    return value;
  }

  /// The bytes up to the next white space; valid until the next call.
  std::string_view word();

  /// Refuses what stands here.
  [[noreturn]] void expected(std::string_view what);

  /// Ends the stage of progress that the constructor began.
  void finish();

 private:
  static unsigned digit_at(const char* place) { return static_cast<unsigned char>(*place) - unsigned{'0'}; }

  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

  /// White space, or the true end: a token that runs into the end of the buffer is longer than any number.
  bool ends_token(const char* place) const { return is_space(*place) || (place == end_ && ended_); }

  /// Brings a whole token into the buffer, so that scanning it needs no bound but the byte behind.
  void require_token() {
    if (end_ - next_ < longest_token && !ended_) [[unlikely]]
      refill();
  }

  bool refill();

  static constexpr std::ptrdiff_t longest_token = 256;

  const ReadJob&              job_;
  std::unique_ptr<ByteStream> stream_;
  Buffer<char>                buffer_;
  char*                       next_     = nullptr;
  char*                       end_      = nullptr;  ///< always followed by '\0', which stops every scan
  bool                        ended_    = false;
  std::uint64_t               line_     = 1;
  std::uint64_t               reported_ = 0;
};

}  // namespace spillway
