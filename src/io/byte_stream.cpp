#include "io/byte_stream.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/fail.hpp"
#include "base/files.hpp"

namespace spillway {
namespace {

constexpr std::size_t input_chunk = 1u << 20;

/// The file as it lies there.
class PlainStream : public ByteStream {
 public:
  explicit PlainStream(const std::string& path)
      : path_(path == "-" ? "standard input" : path), file_(open_input(path)) {}

  std::size_t read(char* into, std::size_t bytes) override {
    std::size_t filled = 0;
    while (filled < bytes) {
      const std::size_t done = read_some(file_, path_, into + filled, bytes - filled);
      if (done == 0) break;
      filled += done;
    }
    consumed_ += filled;
    return filled;
  }

  std::uint64_t consumed() const override { return consumed_; }

 private:
  std::string   path_;
  FileHandle    file_;
  std::uint64_t consumed_ = 0;
};

class PrefixedStream : public ByteStream {
 public:
  PrefixedStream(std::string first, std::unique_ptr<ByteStream> rest)
      : first_(std::move(first)), rest_(std::move(rest)) {}

  std::size_t read(char* into, std::size_t bytes) override {
    const std::size_t ahead = std::min(bytes, first_.size() - used_);
    std::memcpy(into, first_.data() + used_, ahead);
    used_ += ahead;
    return ahead + rest_->read(into + ahead, bytes - ahead);
  }

  std::uint64_t consumed() const override { return rest_->consumed(); }

 private:
  std::string                 first_;
  std::size_t                 used_ = 0;
  std::unique_ptr<ByteStream> rest_;
};

class GzipStream : public ByteStream {
 public:
  GzipStream(std::string path, std::unique_ptr<ByteStream> source)
      : path_(std::move(path)), source_(std::move(source)), input_(input_chunk) {
    constexpr int gzip_or_zlib = 15 + 32;
    if (inflateInit2(&state_, gzip_or_zlib) != Z_OK) throw internal_error("zlib would not start");
  }
  ~GzipStream() override { inflateEnd(&state_); }

  std::size_t read(char* into, std::size_t bytes) override {
    std::size_t filled = 0;
    while (filled < bytes && !done_) {
      if (state_.avail_in == 0 && !refill()) break;
      const auto room   = static_cast<uInt>(std::min<std::size_t>(bytes - filled, 1u << 30));
      state_.next_out   = reinterpret_cast<Bytef*>(into + filled);
      state_.avail_out  = room;
      const int outcome = inflate(&state_, Z_NO_FLUSH);
      filled += room - state_.avail_out;
      if (outcome == Z_STREAM_END) {
        next_member();
      } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
        throw bad_input("{}: damaged gzip data near compressed byte {}: {}", path_, position(),
                        state_.msg ? state_.msg : "unexpected end");
      }
    }
    return filled;
  }

  std::uint64_t consumed() const override { return source_->consumed(); }

 private:
  std::uint64_t position() const { return source_->consumed() - state_.avail_in; }

  bool refill() {
    const std::size_t got = source_->read(input_.data(), input_.size());
    state_.next_in        = reinterpret_cast<Bytef*>(input_.data());
    state_.avail_in       = static_cast<uInt>(got);
    if (got == 0 && inside_member_) throw bad_input("{}: the gzip data ends early, at byte {}", path_, position());
    if (got > 0) inside_member_ = true;
    return got > 0;
  }

  /// Concatenated gzip files are one gzip file.
  void next_member() {
    inside_member_ = false;
    if (state_.avail_in == 0 && !refill()) {
      done_ = true;
      return;
    }
    inside_member_ = true;
    inflateReset(&state_);
  }

  std::string                 path_;
  std::unique_ptr<ByteStream> source_;
  std::vector<char>           input_;
  z_stream                    state_{};
  bool                        inside_member_ = false;
  bool                        done_          = false;
};

class ZstdStream : public ByteStream {
 public:
  ZstdStream(std::string path, std::unique_ptr<ByteStream> source)
      : path_(std::move(path)), source_(std::move(source)), input_(input_chunk), state_(ZSTD_createDStream()) {
    if (!state_) throw internal_error("zstd would not start");
  }
  ~ZstdStream() override { ZSTD_freeDStream(state_); }

  std::size_t read(char* into, std::size_t bytes) override {
    ZSTD_outBuffer out{into, bytes, 0};
    while (out.pos < bytes) {
      if (in_.pos == in_.size) {
        in_ = {input_.data(), source_->read(input_.data(), input_.size()), 0};
        if (in_.size == 0) {
          if (inside_frame_) throw bad_input("{}: the zstd data ends early, at byte {}", path_, consumed());
          break;
        }
      }
      const std::size_t outcome = ZSTD_decompressStream(state_, &out, &in_);
      if (ZSTD_isError(outcome))
        throw bad_input("{}: damaged zstd data near compressed byte {}: {}", path_,
                        consumed() - in_.size + in_.pos, ZSTD_getErrorName(outcome));
      inside_frame_ = outcome != 0;
    }
    return out.pos;
  }

  std::uint64_t consumed() const override { return source_->consumed(); }

 private:
  std::string                 path_;
  std::unique_ptr<ByteStream> source_;
  std::vector<char>           input_;
  ZSTD_DStream*               state_;
  ZSTD_inBuffer               in_{nullptr, 0, 0};
  bool                        inside_frame_ = false;
};

}  // namespace

Compression compression_of(std::string_view first_bytes) {
  if (first_bytes.starts_with("\x1f\x8b")) return Compression::gzip;
  if (first_bytes.starts_with("\x28\xb5\x2f\xfd")) return Compression::zstd;
  // A skippable frame, as parallel compressors put first.
  if (first_bytes.size() == 4 && (first_bytes[0] & 0xF0) == 0x50 && first_bytes.ends_with("\x2a\x4d\x18"))
    return Compression::zstd;
  return Compression::none;
}

std::unique_ptr<ByteStream> open_stream(const std::string& path) {
  std::unique_ptr<ByteStream> source = std::make_unique<PlainStream>(path);
  std::string                 magic(4, '\0');
  magic.resize(source->read(magic.data(), magic.size()));
  const Compression kind = compression_of(magic);
  source                 = prefixed_stream(std::move(magic), std::move(source));
  if (kind == Compression::gzip) return std::make_unique<GzipStream>(path, std::move(source));
  if (kind == Compression::zstd) return std::make_unique<ZstdStream>(path, std::move(source));
  return source;
}

std::unique_ptr<ByteStream> prefixed_stream(std::string first, std::unique_ptr<ByteStream> rest) {
  return std::make_unique<PrefixedStream>(std::move(first), std::move(rest));
}

}  // namespace spillway
