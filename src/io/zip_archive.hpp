// A zip archive, read by libzip through our own file calls.
#pragma once

#include <zip.h>
#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>

#include "base/fail.hpp"
#include "base/files.hpp"

namespace spillway {

/// The file under libzip: reads through our own calls, as every other reader does.
class ZipInput {
 public:
  explicit ZipInput(const std::string& path)
      : path_(path), file_(open_for_reading(path)), size_(file_size(file_, path)) {
    zip_error_init(&error_);
  }
  ZipInput(const ZipInput&)            = delete;
  ZipInput& operator=(const ZipInput&) = delete;
  ~ZipInput() { zip_error_fini(&error_); }

  /// Throws what reading threw, which libzip knows as an error of its own only.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  /// What libzip calls for everything it wants of its source.
  static zip_int64_t call(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    return static_cast<ZipInput*>(self)->answer(data, length, command);
  }

 private:
  zip_int64_t answer(void* data, zip_uint64_t length, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                              ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
                                              ZIP_SOURCE_SUPPORTS, -1);
      case ZIP_SOURCE_OPEN:
        position_ = 0;
        return 0;
      case ZIP_SOURCE_READ:
        return read(data, length);
      case ZIP_SOURCE_SEEK:
        return seek(data, length);
      case ZIP_SOURCE_TELL:
        return static_cast<zip_int64_t>(position_);
      case ZIP_SOURCE_STAT:
        return stat(data, length);
      case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&error_, data, length);
      case ZIP_SOURCE_CLOSE:
      case ZIP_SOURCE_FREE:
        return 0;
      default:
        zip_error_set(&error_, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
  }

  /// No exception may pass through libzip, which is C.
  zip_int64_t read(void* into, zip_uint64_t length) {
    const std::uint64_t bytes = std::min<std::uint64_t>(length, size_ - position_);
    try {
      read_at(file_, path_, position_, into, bytes);
    } catch (...) {
      failure_ = std::current_exception();
      zip_error_set(&error_, ZIP_ER_READ, EIO);
      return -1;
    }
    position_ += bytes;
    return static_cast<zip_int64_t>(bytes);
  }

  zip_int64_t seek(void* data, zip_uint64_t length) {
    const zip_int64_t place = zip_source_seek_compute_offset(position_, size_, data, length, &error_);
    if (place < 0) return -1;
    position_ = static_cast<std::uint64_t>(place);
    return 0;
  }

  zip_int64_t stat(void* data, zip_uint64_t length) {
    if (length < sizeof(zip_stat_t)) {
      zip_error_set(&error_, ZIP_ER_INVAL, 0);
      return -1;
    }
    auto* const found = static_cast<zip_stat_t*>(data);
    zip_stat_init(found);
    found->valid = ZIP_STAT_SIZE;
    found->size  = size_;
    return sizeof(zip_stat_t);
  }

  const std::string& path_;
  FileHandle         file_;
  std::uint64_t      size_;
  std::uint64_t      position_ = 0;
  zip_error_t        error_;
  std::exception_ptr failure_;
};

class Archive {
 public:
  explicit Archive(const std::string& path) : path_(path), input_(path) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const source = zip_source_function_create(ZipInput::call, &input_, &error);
    if (source) zip_ = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (source && !zip_) zip_source_free(source);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (!zip_) input_.rethrow();
    if (!zip_) throw bad_input("{}: not a readable zip archive: {}", path, reason);
  }
  Archive(const Archive&)            = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive() { zip_discard(zip_); }

  zip_t*             get() const { return zip_; }
  const ZipInput&    input() const { return input_; }
  const std::string& path() const { return path_; }

 private:
  const std::string& path_;
  ZipInput           input_;
  zip_t*             zip_ = nullptr;
};

}  // namespace spillway
