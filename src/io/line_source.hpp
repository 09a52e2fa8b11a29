// Text in pieces of whole lines, for many threads at once: a plain file is read by position, each thread its
// own stretch; what must be read in order (compressed files, pipes) is dealt out piece by piece.
#pragma once

#include <mutex>
#include <vector>

#include "io/format.hpp"

namespace spillway {

/// Whole lines; the last byte is always a newline, so a scan that stops there needs no other bound, and
/// readable_past more bytes may be looked at (not relied on) behind it.
struct LineChunk {
  const char*   begin  = nullptr;
  const char*   end    = nullptr;
  std::uint64_t offset = 0;  ///< of `begin` in the (decompressed) input
  std::uint64_t lines  = 0;  ///< before `begin`; known only where the input is read in order
};

inline constexpr std::uint64_t readable_past = 8;

/// Each thread reads as much at a time, and holds a buffer for it.
inline constexpr std::uint64_t piece_bytes = 1u << 20;

class LineSource {
 public:
  /// Lines from byte `start`, where a line begins.
  LineSource(const ReadJob& job, std::uint64_t start);

  /// The next piece for this thread, valid until its next call. False at the end of the stretch.
  bool next(int thread, LineChunk& chunk);

  // Where there is a journal, a file is read in stretches: between two of them all threads have met.
  /// False at the end.
  bool next_stretch();
  /// What is to be read next, once all threads are at the end of a stretch.
  std::uint64_t place() const { return stretch_end_; }
  /// Everything has been read.
  static constexpr std::uint64_t the_end = ~std::uint64_t{0};
  /// Goes on from a place; what is read in order knows none but `the_end`.
  void go_on_from(std::uint64_t place);

  /// The number, from 1, of the line that `place` in `chunk` is in. Counts from the start of a file.
  std::uint64_t line_of(const LineChunk& chunk, const char* place) const;
  /// Lines before `chunk`, whose text need not be there any more.
  std::uint64_t lines_before(const LineChunk& chunk) const;

 private:
  struct Reader {
    Buffer<char>  buffer;
    std::uint64_t position = 0;  ///< next byte to read
    std::uint64_t end      = 0;
  };

  void          split_file(std::uint64_t start);
  std::uint64_t line_start_at(std::uint64_t offset) const;
  bool          next_from_file(Reader& reader, LineChunk& chunk);
  bool          next_from_stream(Reader& reader, LineChunk& chunk);
  void          grow(Reader& reader, std::uint64_t line_offset) const;

  const ReadJob&      job_;
  std::vector<Reader> readers_;
  FileHandle          file_;
  std::uint64_t       file_bytes_  = 0;
  std::uint64_t       stretch_     = the_end;  ///< bytes of one, about
  std::uint64_t       stretch_end_ = the_end;

  // Of what is read in order:
  std::unique_ptr<ByteStream> stream_;
  std::mutex                  mutex_;
  std::string                 carry_;  ///< the start of a line whose end is still to come
  std::uint64_t               stream_offset_ = 0;
  std::uint64_t               consumed_      = 0;
  std::uint64_t               lines_         = 0;
  bool                        stream_ended_  = false;
};

}  // namespace spillway
