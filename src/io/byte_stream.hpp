// Bytes of a file or of standard input in order, decompressed on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace spillway {

class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Fills `into`; returns fewer bytes only at the end. Damaged compression is Error{bad_input}.
  virtual std::size_t read(char* into, std::size_t bytes) = 0;

  /// Bytes taken from the file itself so far, for progress.
  virtual std::uint64_t consumed() const = 0;
};

enum class Compression { none, gzip, zstd };

/// By content, whatever the name says.
Compression compression_of(std::string_view first_bytes);

/// A file, or standard input for "-".
std::unique_ptr<ByteStream> open_stream(const std::string& path);

/// `first` and then what `rest` still yields.
std::unique_ptr<ByteStream> prefixed_stream(std::string first, std::unique_ptr<ByteStream> rest);

}  // namespace spillway
