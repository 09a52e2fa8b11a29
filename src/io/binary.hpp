// Binary files by position: arrays read on all threads a chunk at a time, and written the same way.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"
#include "io/format.hpp"

namespace spillway {

// Large enough for a disk to stream, small enough to stay in a core's cache while it is taken apart.
inline constexpr std::uint64_t chunk_bytes = 1u << 20;

/// What reading `bytes` in chunks holds: one chunk a thread, as far as there are so many.
inline std::uint64_t chunk_buffers(const ReadJob& job, std::uint64_t bytes) {
  const std::uint64_t chunks = (bytes + chunk_bytes - 1) / chunk_bytes;
  return std::min<std::uint64_t>(static_cast<std::uint64_t>(job.context.threads), chunks) *
         std::min(chunk_bytes, bytes);
}

/// A value at a place that may be unaligned; the caller knows that it is there.
template <class T>
T value_at(std::string_view bytes, std::size_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// True when those of `count` numbers at `offset` that are at hand ascend and end at `most` at the latest.
template <class T>
bool ascends(std::string_view bytes, std::size_t offset, std::uint64_t count, std::uint64_t most) {
  const std::uint64_t at_hand = std::min<std::uint64_t>(count, (bytes.size() - offset) / sizeof(T));
  T                   last    = 0;
  for (std::uint64_t i = 0; i < at_hand; ++i) {
    const T value = value_at<T>(bytes, offset + i * sizeof(T));
    if (value < last || value > most) return false;
    last = value;
  }
  return true;
}

/// The same of row starts, of which the first is 0.
template <class T>
bool ascends_from_zero(std::string_view bytes, std::size_t offset, std::uint64_t count, std::uint64_t most) {
  return count > 0 && bytes.size() >= offset + sizeof(T) && value_at<T>(bytes, offset) == 0 &&
         ascends<T>(bytes, offset, count, most);
}

/// A file that is read by position, on the threads and with the progress of one job.
class BinaryFile {
 public:
  BinaryFile(const ReadJob& job, std::string path)
      : job_(job), path_(std::move(path)), file_(open_for_reading(path_)), size_(file_size(file_, path_)) {}

  std::uint64_t      size() const { return size_; }
  const std::string& path() const { return path_; }

  void read(std::uint64_t offset, void* into, std::uint64_t bytes) const {
    check_cancelled(job_.progress());
    read_at(file_, path_, offset, into, bytes);
    job_.progress().advance(bytes);
  }

  /// Fills `into` with what lies at `offset`.
  template <class T>
  void read_array(std::uint64_t offset, std::span<T> into) const {
    auto* const         bytes = reinterpret_cast<std::byte*>(into.data());
    const std::uint64_t total = into.size_bytes();
    for_each_task(job_.context.threads, (total + chunk_bytes - 1) / chunk_bytes, [&](std::uint64_t chunk, int) {
      const std::uint64_t begin = chunk * chunk_bytes;
      read(offset + begin, bytes + begin, std::min(chunk_bytes, total - begin));
    });
  }

  /// visit(records, index of the first, thread) over `count` records that start at `offset`.
  template <class Record, class Visit>
  void for_each_chunk(std::uint64_t offset, std::uint64_t count, Visit&& visit) const {
    static_assert(std::has_unique_object_representations_v<Record>, "a record in a file has no padding");
    const std::uint64_t         length  = std::min(count, chunk_bytes / sizeof(Record));
    const int                   threads = job_.context.threads;
    std::vector<Buffer<Record>> buffers(static_cast<std::size_t>(threads));
    const std::uint64_t         chunks = length == 0 ? 0 : (count + length - 1) / length;
    for_each_task(threads, chunks, [&](std::uint64_t chunk, int thread) {
      Buffer<Record>& buffer = buffers[static_cast<std::size_t>(thread)];
      if (buffer.size() == 0) buffer = Buffer<Record>{length, job_.context.budget, "a chunk of the file"};
      const std::uint64_t first   = chunk * length;
      const std::uint64_t records = std::min(length, count - first);
      read(offset + first * sizeof(Record), buffer.data(), records * sizeof(Record));
      visit(std::span<const Record>{buffer.data(), records}, first, thread);
    });
  }

 private:
  const ReadJob& job_;
  std::string    path_;
  FileHandle     file_;
  std::uint64_t  size_;
};

/// Appends make(i) for every i below `count`.
template <class Record, class Make>
void append_records(OutputFile& file, std::uint64_t count, Progress& progress, Make&& make) {
  static_assert(std::has_unique_object_representations_v<Record>, "a record in a file has no padding");
  const std::uint64_t length = std::min(count, chunk_bytes / sizeof(Record));
  std::vector<Record> records(length);
  for (std::uint64_t first = 0; first < count; first += length) {
    check_cancelled(progress);
    const std::uint64_t here = std::min(length, count - first);
    for (std::uint64_t i = 0; i < here; ++i) records[i] = make(first + i);
    file.append(records.data(), here * sizeof(Record));
    progress.advance(here * sizeof(Record));
  }
}

/// Appends an array as it lies in memory.
template <class T>
void append_array(OutputFile& file, std::span<const T> values, Progress& progress) {
  static_assert(std::has_unique_object_representations_v<T>);
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  for (std::uint64_t begin = 0; begin < values.size_bytes(); begin += chunk_bytes) {
    check_cancelled(progress);
    const std::uint64_t here = std::min(chunk_bytes, values.size_bytes() - begin);
    file.append(bytes + begin, here);
    progress.advance(here);
  }
}

}  // namespace spillway
