#include "io/token_stream.hpp"

#include <cstring>

#include "base/fail.hpp"
#include "base/text.hpp"

namespace spillway {
namespace {

constexpr std::size_t buffer_bytes = 1u << 20;

}  // namespace

TokenStream::TokenStream(const ReadJob& job)
    : job_(job), stream_(job.open()), buffer_(buffer_bytes + 1, job.context.budget, "a buffer for the file") {
  next_ = end_ = buffer_.data();
  *end_        = '\0';
  job_.progress().begin("reading", job_.sample.file_bytes, ProgressUnit::bytes);
}

bool TokenStream::refill() {
  if (ended_) return false;
  check_cancelled(job_.progress());
  const auto kept = static_cast<std::size_t>(end_ - next_);
  std::memmove(buffer_.data(), next_, kept);
  const std::size_t got = stream_->read(buffer_.data() + kept, buffer_bytes - kept);
  ended_                = got < buffer_bytes - kept;
  next_                 = buffer_.data();
  end_                  = next_ + kept + got;
  *end_                 = '\0';
  job_.progress().advance(stream_->consumed() - reported_);
  reported_ = stream_->consumed();
  return got > 0;
}

void TokenStream::skip_line() {
  while (!at_end()) {
    auto* newline = static_cast<char*>(std::memchr(next_, '\n', static_cast<std::size_t>(end_ - next_)));
    next_         = newline ? newline : end_;
    if (newline) return next_line();
  }
}

std::string_view TokenStream::word() {
  require_token();
  const char* place = next_;
  while (place != end_ && !is_space(*place)) ++place;
  const std::string_view token{next_, static_cast<std::size_t>(place - next_)};
  if (!ends_token(place)) throw bad_input("{}:{}: a word is too long: '{}'", job_.path(), line_, printable(token));
  next_ += token.size();
  return token;
}

void TokenStream::expected(std::string_view what) {
  if (at_line_end()) throw bad_input("{}:{}: the line ends where {} was expected", job_.path(), line_, what);
  throw bad_input("{}:{}: expected {}, found '{}'", job_.path(), line_, what, printable(word()));
}

void TokenStream::finish() { job_.progress().end(); }

}  // namespace spillway
