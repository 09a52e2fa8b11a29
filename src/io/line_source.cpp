#include "io/line_source.hpp"

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"

namespace spillway {
namespace {

// A longer line is no edge, and most likely no text. What is made of a line (its fields, the start that waits for
// its end) is not in the budget, and stays small beside the buffers, which are.
constexpr std::uint64_t longest_line = 4u << 20;

// Room for a newline at the very end, and for scans that look ahead.
constexpr std::uint64_t spare = 1 + readable_past;

std::uint64_t count_newlines(const char* begin, const char* end) {
  return static_cast<std::uint64_t>(std::count(begin, end, '\n'));
}

}  // namespace

LineSource::LineSource(const ReadJob& job, std::uint64_t start)
    : job_(job), readers_(static_cast<std::size_t>(job.context.threads)) {
  for (Reader& reader : readers_)
    reader.buffer = Buffer<char>{piece_bytes, job.context.budget, "reading the input"};
  if (!job.sample.is_pipe && !job.sample.compressed) {
    file_       = open_for_reading(job.path());
    file_bytes_ = file_size(file_, job.path());
    if (job.journal()) stretch_ = job.journal()->stretch(job.context.threads);
    split_file(start + job.sample.skipped);
    return;
  }
  stream_ = job.open();
  std::string skipped(start, '\0');
  skipped.resize(stream_->read(skipped.data(), skipped.size()));
  lines_         = count_newlines(skipped.data(), skipped.data() + skipped.size());
  stream_offset_ = skipped.size();
}

/// A stretch from here, shared out among the threads.
void LineSource::split_file(std::uint64_t start) {
  start                        = std::min(start, file_bytes_);
  const bool          is_last  = stretch_ >= file_bytes_ - start;
  const std::uint64_t end      = is_last ? file_bytes_ : line_start_at(start + stretch_);
  const std::uint64_t parts    = readers_.size();
  std::uint64_t       position = start;
  for (std::uint64_t part = 0; part < parts; ++part) {
    Reader& reader  = readers_[part];
    reader.position = position;
    reader.end      = part + 1 == parts
                          ? end
                          : std::clamp(line_start_at(start + (end - start) / parts * (part + 1)), position, end);
    position        = reader.end;
  }
  stretch_end_ = end == file_bytes_ ? the_end : end;
}

/// The first line start at or after `offset`.
std::uint64_t LineSource::line_start_at(std::uint64_t offset) const {
  char window[4096];
  for (std::uint64_t position = offset - 1; position < file_bytes_;) {
    const std::uint64_t got = std::min<std::uint64_t>(sizeof window, file_bytes_ - position);
    read_at(file_, job_.path(), position, window, got);
    if (const void* found = std::memchr(window, '\n', got))
      return position + static_cast<std::uint64_t>(static_cast<const char*>(found) - window) + 1;
    position += got;
  }
  return file_bytes_;
}

bool LineSource::next_stretch() {
  if (stretch_end_ == the_end) return false;
  split_file(stretch_end_);
  return true;
}

void LineSource::go_on_from(std::uint64_t place) {
  job_.progress().advance(std::min(place, job_.sample.file_bytes));
  if (place != the_end) return split_file(place);
  for (Reader& reader : readers_) reader.position = reader.end = 0;
  stretch_end_  = the_end;
  stream_ended_ = true;
}

bool LineSource::next(int thread, LineChunk& chunk) {
  check_cancelled(job_.progress());
  Reader& reader = readers_[static_cast<std::size_t>(thread)];
  return stream_ ? next_from_stream(reader, chunk) : next_from_file(reader, chunk);
}

void LineSource::grow(Reader& reader, std::uint64_t line_offset) const {
  if (reader.buffer.size() >= longest_line)
    throw bad_input("{}: the line at byte {} is longer than {} MiB; this does not look like text", job_.path(),
                    line_offset, longest_line >> 20);
  Buffer<char> larger{reader.buffer.size() * 2, job_.context.budget, "reading the input"};
  std::memcpy(larger.data(), reader.buffer.data(), reader.buffer.size());
  reader.buffer = std::move(larger);
}

bool LineSource::next_from_file(Reader& reader, LineChunk& chunk) {
  if (reader.position >= reader.end) return false;
  std::uint64_t filled = 0;
  for (;;) {
    const std::uint64_t room = reader.buffer.size() - spare - filled;
    const std::uint64_t want = std::min(room, reader.end - reader.position - filled);
    read_at(file_, job_.path(), reader.position + filled, reader.buffer.data() + filled, want);
    filled += want;
    char* const begin = reader.buffer.data();
    char*       end   = static_cast<char*>(memrchr(begin, '\n', filled));
    if (!end && reader.position + filled == reader.end) {
      end  = begin + filled;  // the last line of the file may lack its newline
      *end = '\n';
    }
    if (end) {
      chunk = {begin, end + 1, reader.position, 0};
      // What lies past the last newline is read again with the next piece; it is short.
      const auto used = std::min<std::uint64_t>(static_cast<std::uint64_t>(end + 1 - begin), filled);
      reader.position += used;
      job_.progress().advance(used);
      return true;
    }
    grow(reader, reader.position);
  }
}

bool LineSource::next_from_stream(Reader& reader, LineChunk& chunk) {
  const std::scoped_lock lock{mutex_};
  if (stream_ended_) return false;
  while (reader.buffer.size() < carry_.size() + spare + 1) grow(reader, stream_offset_);
  std::memcpy(reader.buffer.data(), carry_.data(), carry_.size());
  std::uint64_t filled = carry_.size();
  for (;;) {
    const std::uint64_t room = reader.buffer.size() - spare - filled;
    const std::uint64_t got  = stream_->read(reader.buffer.data() + filled, room);
    filled += got;
    stream_ended_     = got < room;
    char* const begin = reader.buffer.data();
    char*       end   = static_cast<char*>(memrchr(begin, '\n', filled));
    if (stream_ended_ && filled > 0 && begin[filled - 1] != '\n') {
      end  = begin + filled;
      *end = '\n';
    }
    if (!end && !stream_ended_) {
      grow(reader, stream_offset_);
      continue;
    }
    job_.progress().advance(stream_->consumed() - consumed_);
    consumed_ = stream_->consumed();
    if (!end) return false;
    chunk           = {begin, end + 1, stream_offset_, lines_};
    const auto used = std::min<std::uint64_t>(static_cast<std::uint64_t>(end + 1 - begin), filled);
    carry_.assign(begin + used, filled - used);
    stream_offset_ += used;
    lines_ += count_newlines(begin, end + 1);
    return true;
  }
}

std::uint64_t LineSource::line_of(const LineChunk& chunk, const char* place) const {
  return lines_before(chunk) + count_newlines(chunk.begin, place) + 1;
}

std::uint64_t LineSource::lines_before(const LineChunk& chunk) const {
  if (stream_) return chunk.lines;
  std::vector<char> window(piece_bytes);
  std::uint64_t     before = 0;
  for (std::uint64_t position = 0; position < chunk.offset;) {
    const std::uint64_t got = std::min<std::uint64_t>(window.size(), chunk.offset - position);
    read_at(file_, job_.path(), position, window.data(), got);
    before += count_newlines(window.data(), window.data() + got);
    position += got;
  }
  return before;
}

}  // namespace spillway
