#include "io/text_forecast.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/fail.hpp"
#include "io/edge_forecast.hpp"
#include "io/fields.hpp"
#include "io/line_source.hpp"

namespace spillway {
namespace {

class Pass {
 public:
  Pass(const EdgeText& text, const ReadJob& job)
      : text_(text), job_(job), edges_(text, job, static_cast<std::uint64_t>(job.context.threads) * piece_bytes) {}

  GraphSize run() {
    job_.progress().begin("estimating", job_.sample.file_bytes, ProgressUnit::bytes);
    const auto stream = open_stream(job_.path());
    skip(*stream, text_.start + job_.sample.skipped);
    std::vector<char> buffer(buffer_bytes);
    std::size_t       filled = 0;
    for (bool more = true; more;) {
      check_cancelled(job_.progress());
      const std::size_t   got  = stream->read(buffer.data() + filled, buffer.size() - filled);
      const std::uint64_t done = stream->consumed();
      more                     = filled + got == buffer.size();
      filled += got;
      const std::size_t used = lines({buffer.data(), filled}, part_at(done), !more);
      std::memmove(buffer.data(), buffer.data() + used, filled - used);
      filled -= used;
      if (filled == buffer.size()) filled = 0;  // a line without end: the reader will refuse it
      job_.progress().advance(done - reported_);
      reported_ = done;
    }
    job_.progress().end();
    return edges_.size();
  }

  /// An id with leading zeros, which makes names of all.
  bool found_names() const { return found_names_; }

 private:
  static constexpr std::size_t buffer_bytes = 1u << 20;

  static void skip(ByteStream& stream, std::uint64_t bytes) {
    char sink[4096];
    for (std::uint64_t left = bytes; left > 0;) {
      const std::size_t got = stream.read(sink, std::min<std::uint64_t>(left, sizeof sink));
      if (got == 0) return;
      left -= got;
    }
  }

  /// Plain files are cut into as many parts as there are threads; what is decompressed goes round.
  std::size_t part_at(std::uint64_t consumed) {
    if (job_.sample.compressed) return pieces_++ % edges_.parts();
    const std::uint64_t bytes = std::max<std::uint64_t>(job_.sample.file_bytes, 1);
    const auto          share =
        static_cast<double>(std::min(consumed, bytes) - (consumed > 0)) / static_cast<double>(bytes);
    return static_cast<std::size_t>(share * static_cast<double>(edges_.parts()));
  }

  /// Returns how many bytes were whole lines.
  std::size_t lines(std::string_view text, std::size_t part, bool last) {
    std::size_t begin = 0;
    for (;;) {
      const void* found =
          begin < text.size() ? std::memchr(text.data() + begin, '\n', text.size() - begin) : nullptr;
      const std::size_t end =
          found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) : text.size();
      if (!found && !last) return begin;
      line(text.substr(begin, end - begin), part);
      if (!found) return text.size();
      begin = end + 1;
    }
  }

  void line(std::string_view line, std::size_t part) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const auto first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos) return;
    line.remove_prefix(first);
    const EdgeLayout& layout = text_.layout;
    if (layout.comments.find(line.front()) != std::string::npos) return;
    if (layout.lead != 0) {
      if (line.front() != layout.lead) return;
      line.remove_prefix(1);
    }
    const unsigned   last = std::max(layout.source, layout.target);
    std::string_view source, target;
    for (unsigned column = 0; column <= last; ++column) {
      const std::string_view field = next_field(line);
      if (column == layout.source) source = field;
      if (column == layout.target) target = field;
    }
    if (text_.ids == IdKind::strings) {
      edges_.add(part, source, target);
    } else {
      edges_.add(part, number(source), number(target));
    }
  }

  std::uint64_t number(std::string_view field) {
    std::uint64_t number = 0;
    found_names_ |= text_.names_if_zeros && field.size() > 1 && field.front() == '0';
    std::from_chars(field.data(), field.data() + field.size(), number);
    return number;
  }

  std::string_view next_field(std::string_view& line) const {
    const char delimiter = text_.layout.delimiter, also = text_.layout.also;
    const auto blank = [&](char c) { return is_blank(c) && (delimiter == ' ' || c != delimiter); };
    while (!line.empty() && blank(line.front())) line.remove_prefix(1);
    std::size_t end = 0;
    if (text_.layout.quoted && line.starts_with('"')) {
      end = std::min(line.find('"', 1), line.size() - 1) + 1;
    }
    const auto separates = [&](char c) {
      return c == delimiter || (also != 0 && c == also) || (delimiter == ' ' && blank(c));
    };
    while (end < line.size() && !separates(line[end])) ++end;
    std::string_view field = line.substr(0, end);
    line.remove_prefix(end);
    // Blanks on both sides of the one character that may stand beside them belong to it.
    while (delimiter == ' ' && !line.empty() && blank(line.front())) line.remove_prefix(1);
    if (!line.empty() && separates(line.front()) && !blank(line.front())) line.remove_prefix(1);
    while (!field.empty() && blank(field.back())) field.remove_suffix(1);
    if (text_.layout.quoted && field.size() >= 2 && field.front() == '"')
      field = field.substr(1, field.size() - 2);
    return field;
  }

  const EdgeText& text_;
  const ReadJob&  job_;
  EdgeForecast    edges_;
  std::uint64_t   pieces_ = 0, reported_ = 0;
  bool            found_names_ = false;
};

}  // namespace

std::optional<GraphSize> forecast(const EdgeText& text, const ReadJob& job) {
  if (job.sample.is_pipe || job.sample.file_bytes > most_forecast_bytes) return std::nullopt;
  Pass            pass{text, job};
  const GraphSize size = pass.run();
  if (!pass.found_names()) return size;
  EdgeText names;
  names.layout      = text.layout;
  names.ids         = IdKind::strings;
  names.start       = text.start;
  names.weight_type = text.weight_type;
  if (text.names_delimiter) names.layout.delimiter = text.names_delimiter;
  return Pass{names, job}.run();
}

}  // namespace spillway
