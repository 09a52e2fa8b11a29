// scipy's sparse matrices, save_npz(): a zip of .npy arrays that make a CSR matrix, read as a directed graph.
// Entry (row, column) is the arc row -> column; its value is the weight. Sizes are believed only where the
// archive, its members and the arrays agree, so that a small file cannot ask for much memory.
#include "base/fail.hpp"
#include "base/text.hpp"
#include "io/reading.hpp"

#ifdef SPILLWAY_HAS_LIBZIP

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "io/npy_header.hpp"
#include "io/zip_archive.hpp"

namespace spillway {
namespace {

// Deflate cannot shrink data further than this (zlib's documentation, "Maximum Compression Factor").
constexpr std::uint64_t best_deflate_ratio = 1032;

constexpr std::uint64_t longest_npy_header = 1u << 16;
constexpr std::size_t   values_at_once     = 1u << 17;

/// One array of the archive, read from front to back.
class Member {
 public:
  Member(const Archive& archive, const ReadJob& job, std::string name)
      : archive_(archive), job_(job), name_(std::move(name)) {
    open();
    read_header();
  }

  const NpyHeader& header() const { return header_; }

  template <class... Args>
  Error problem(fmt::format_string<Args...> format, Args&&... args) const {
    return bad_input("{}: {}: {}", archive_.path(), name_, fmt::format(format, std::forward<Args>(args)...));
  }

  /// The length of a one-dimensional array whose elements take `item_bytes`, which must be what is left to read.
  std::uint64_t length(std::uint64_t item_bytes) const {
    if (header_.shape.size() != 1) throw problem("one dimension was expected, not {}", header_.shape.size());
    check_length(header_.shape[0], item_bytes);
    return header_.shape[0];
  }

  void check_length(std::uint64_t count, std::uint64_t item_bytes) const {
    if (count == remaining_ / item_bytes && remaining_ % item_bytes == 0) return;
    throw problem("{} elements of {} bytes are stated, but {} bytes are there", count, item_bytes, remaining_);
  }

  /// Refuses a count that the bytes cannot hold, whatever an element takes.
  void check_plausible(std::uint64_t count) const {
    if (count > remaining_) throw problem("{} elements are stated, but {} bytes are there", count, remaining_);
  }

  void read(void* into, std::uint64_t bytes) {
    auto* to = static_cast<char*>(into);
    if (bytes > remaining_) throw problem("ends early: {} bytes are missing", bytes - remaining_);
    remaining_ -= bytes;
    while (bytes > 0) {
      const zip_int64_t got = zip_fread(file_.get(), to, bytes);
      if (got < 0) archive_.input().rethrow();
      if (got <= 0)
        throw problem("damaged with {} bytes to go: {}", bytes,
                      got < 0 ? zip_file_strerror(file_.get()) : "ends early");
      to += got;
      bytes -= static_cast<std::uint64_t>(got);
    }
  }

  /// To be called after the last element: libzip compares the checksum when it meets the end.
  void finish() {
    char              beyond;
    const zip_int64_t got = zip_fread(file_.get(), &beyond, 1);
    if (got < 0) throw problem("damaged: {}", zip_file_strerror(file_.get()));
    if (got > 0) throw problem("longer than the archive states");
  }

  /// visit(first, values) over the whole array, whose elements are `T`.
  template <class T, class Visit>
  void for_each_chunk(std::uint64_t count, Visit&& visit) {
    const Buffer<T> values{std::min<std::uint64_t>(count, values_at_once), job_.context.budget,
                           "a chunk of the file"};
    for (std::uint64_t first = 0; first < count; first += values.size()) {
      check_cancelled(job_.progress());
      const std::uint64_t here = std::min(values.size(), count - first);
      read(values.data(), here * sizeof(T));
      visit(first, std::span<const T>{values.data(), here});
      job_.progress().advance(here * sizeof(T));
    }
    finish();
  }

 private:
  void open() {
    zip_stat_t             stat;
    constexpr zip_uint64_t needed =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat(archive_.get(), name_.c_str(), ZIP_FL_ENC_RAW, &stat) != 0 || (stat.valid & needed) != needed)
      throw bad_input("{}: no member {}: a sparse matrix saved with scipy.sparse.save_npz was expected",
                      archive_.path(), name_);
    if (stat.encryption_method != ZIP_EM_NONE) throw problem("encrypted; save it without");
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
      throw problem("compression method {} is not one that numpy writes", stat.comp_method);
    const std::uint64_t ratio = stat.comp_method == ZIP_CM_STORE ? 1 : best_deflate_ratio;
    if (stat.comp_size > job_.sample.file_bytes || stat.size / ratio > stat.comp_size)
      throw problem("{} bytes are stated, which the file's {} cannot hold", stat.size, job_.sample.file_bytes);
    remaining_ = stat.size;
    file_.reset(zip_fopen(archive_.get(), name_.c_str(), ZIP_FL_ENC_RAW));
    if (!file_) throw problem("{}", zip_strerror(archive_.get()));
  }

  void read_header() {
    unsigned char start[8];
    read(start, sizeof start);
    const unsigned version = start[6];
    if (std::string_view{reinterpret_cast<const char*>(start), 6} != "\x93NUMPY")
      throw problem("no .npy array: it should start with \\x93NUMPY");
    if (version < 1 || version > 3) throw problem("version {} of .npy is unknown; 1 to 3 are read", version);
    unsigned char length[4] = {0, 0, 0, 0};
    read(length, version == 1 ? 2 : 4);
    const std::uint64_t bytes = length[0] | length[1] << 8 | length[2] << 16 | std::uint64_t{length[3]} << 24;
    if (bytes > longest_npy_header) throw problem("a header of {} bytes is too long", bytes);
    std::string text(bytes, '\0');
    read(text.data(), bytes);
    const auto header = NpyLiteral{text}.parse();
    if (!header) throw problem("the header is not numpy's: '{}'", printable(text, 100));
    if (header->fortran) throw problem("column-major order was not expected");
    header_ = *header;
  }

  struct Closer {
    void operator()(zip_file_t* file) const { zip_fclose(file); }
  };

  const Archive&                      archive_;
  const ReadJob&                      job_;
  std::string                         name_;
  std::unique_ptr<zip_file_t, Closer> file_;
  std::uint64_t                       remaining_ = 0;
  NpyHeader                           header_;
};

/// Calls body with a value of the type that numpy calls `type`.
template <class Body>
void with_integer_type(const Member& member, Body&& body) {
  const std::string& type = member.header().type;
  if (type == "<i4") return body(std::int32_t{});
  if (type == "<i8") return body(std::int64_t{});
  if (type == "<u4") return body(std::uint32_t{});
  if (type == "<u8") return body(std::uint64_t{});
  throw member.problem("type '{}': 32- or 64-bit integers in little-endian order were expected", printable(type));
}

template <class Body>
void with_number_type(const Member& member, Body&& body) {
  const std::string& type = member.header().type;
  if (type == "|i1") return body(std::int8_t{});
  if (type == "|u1" || type == "|b1") return body(std::uint8_t{});
  if (type == "<i2") return body(std::int16_t{});
  if (type == "<u2") return body(std::uint16_t{});
  if (type == "<f4") return body(float{});
  if (type == "<f8") return body(double{});
  if (type.starts_with("<i") || type.starts_with("<u")) return with_integer_type(member, body);
  throw member.problem("values of type '{}' cannot be weights; use integers or floats, or --weight-type none",
                       printable(type));
}

// --- the weights ---

/// Whole numbers become u32. At the first that does not fit, all become f32, if each can be one exactly.
class WeightSink {
 public:
  WeightSink(const Member& member, const ReadJob& job, WeightType held, std::uint64_t count)
      : member_(member),
        type_(kept_weights(job, held)),
        stated_(job.options.weight_type.has_value()),
        bits_(count, job.context.budget, "the weights") {}

  template <class T>
  void put(std::uint64_t i, T value) {
    if constexpr (std::is_floating_point_v<T>) {
      put_real(i, value);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
        throw member_.problem("entry {} is {}, too large for a weight", i, value);
      put_whole(i, static_cast<std::int64_t>(value));
    } else {
      put_whole(i, std::int64_t{value});
    }
  }

  WeightType              type() const { return type_; }
  bool                    widened() const { return widened_; }
  bool                    rounded() const { return rounded_; }
  Buffer<std::uint32_t>&& take() && { return std::move(bits_); }

 private:
  void put_whole(std::uint64_t i, std::int64_t value) {
    if (type_ == WeightType::u32 && !weight_bits(value, type_)) {
      if (stated_)
        throw member_.problem("entry {} is {}, which is not within 0 to 2^32-1; --weight-type f32 reads it", i,
                              value);
      widen(i);
    }
    bits_[i] = widened_ ? exact_float(i, value) : *weight_bits(value, type_);
  }

  void put_real(std::uint64_t i, double value) {
    const auto bits = weight_bits(value, type_);
    if (!bits)
      throw member_.problem("entry {} is {}, which is not a {}", i, value,
                            type_ == WeightType::u32 ? "whole number from 0 to 2^32-1" : "32-bit float");
    bits_[i] = *bits;
    if (type_ == WeightType::f32 && value != 0 && std::bit_cast<float>(*bits) == 0)
      throw member_.problem("entry {} is {}, too small for a 32-bit float, which would make it 0", i, value);
    rounded_ |= type_ == WeightType::f32 && double{std::bit_cast<float>(*bits)} != value;
  }

  void widen(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) bits_[i] = exact_float(i, std::int64_t{bits_[i]});
    type_    = WeightType::f32;
    widened_ = true;
  }

  std::uint32_t exact_float(std::uint64_t i, std::int64_t value) const {
    const auto rounded = static_cast<float>(value);
    // 2^63 itself is a float but no int64: it is kept out of the cast.
    if (std::abs(rounded) < 0x1p63f && static_cast<std::int64_t>(rounded) == value)
      return std::bit_cast<std::uint32_t>(rounded);
    throw member_.problem(
        "entry {} is {}: some weights are negative or above 2^32-1, so that all must be floats, and "
        "this one cannot be one exactly; --weight-type f32 rounds it",
        i, value);
  }

  const Member&         member_;
  WeightType            type_;
  bool                  stated_;
  bool                  widened_ = false;
  bool                  rounded_ = false;
  Buffer<std::uint32_t> bits_;
};

// --- the matrix ---

class NpzReader {
 public:
  explicit NpzReader(ReadJob& job) : job_(job), archive_(job.path()) {}

  ReadResult read() {
    job_.progress().begin("reading", 0, ProgressUnit::bytes);  // of unpacked bytes, whose number is not known yet
    check_format();
    read_shape();
    expect_rows();
    read_offsets();
    read_targets();
    read_weights();
    job_.progress().end();
    return from_rows({std::move(offsets_).freeze(), std::move(targets_).freeze(), std::move(weights_).freeze()},
                     IdMap::consecutive(), weight_type_, /*undirected_file=*/false, job_);
  }

 private:
  void check_format() {
    Member             member{archive_, job_, "format.npy"};
    const std::string& type = member.header().type;
    const bool         wide = type.starts_with("<U");
    // A length that cannot be read is as wrong as one that is too long.
    const std::uint64_t chars =
        parse_number(std::string_view{type}.substr(std::min<std::size_t>(2, type.size()))).value_or(UINT64_MAX);
    if ((!wide && !type.starts_with("|S")) || chars > 16 || !member.header().shape.empty())
      throw member.problem("one short string was expected, not '{}'", printable(type));
    std::string bytes(chars * (wide ? 4 : 1), '\0');
    member.check_length(1, std::max<std::uint64_t>(bytes.size(), 1));
    member.read(bytes.data(), bytes.size());
    member.finish();
    std::string name;
    for (std::size_t i = 0; i < bytes.size(); i += wide ? 4 : 1)
      if (bytes[i] != '\0') name += bytes[i];
    if (name != "csr")
      throw bad_input(
          "{}: the matrix is stored as '{}', and only csr is read; convert it with .tocsr() before saving",
          job_.path(), printable(name));
  }

  void read_shape() {
    Member member{archive_, job_, "shape.npy"};
    with_integer_type(member, [&]<class T>(T) {
      if (member.length(sizeof(T)) != 2) throw member.problem("two dimensions were expected");
      T sizes[2];
      member.read(sizes, sizeof sizes);
      member.finish();
      const auto [rows, columns] = sizes;
      if (rows != columns)
        throw member.problem("a graph needs a square matrix, and this one is {} by {}", rows, columns);
      if (std::cmp_less(rows, 0) || std::cmp_greater(rows, max_vertices))
        throw member.problem("{} rows, where 0 to 2^32-1 were expected", rows);
      vertices_ = static_cast<std::uint64_t>(rows);
    });
  }

  /// What the headers say, before anything is held: a matrix that does not fit is refused with its whole size.
  void expect_rows() {
    const Member indices{archive_, job_, "indices.npy"}, data{archive_, job_, "data.npy"};
    if (indices.header().shape.size() != 1) return;  // is told where it is read
    const std::string& type = data.header().type;
    const WeightType   held = type == "|b1"                  ? WeightType::none
                              : type.find('f') < type.size() ? WeightType::f32
                                                             : WeightType::u32;
    const EdgeIndex    arcs = indices.header().shape[0];
    indices.check_plausible(arcs);
    Member{archive_, job_, "indptr.npy"}.check_plausible(vertices_ + 1);
    job_.expect_rows(
        vertices_, arcs, kept_weights(job_, held), /*undirected_file=*/false,
        std::min<std::uint64_t>(std::max(vertices_ + 1, arcs), values_at_once) * sizeof(std::uint64_t));
  }

  void read_offsets() {
    Member member{archive_, job_, "indptr.npy"};
    with_integer_type(member, [&]<class T>(T) {
      const std::uint64_t count = member.length(sizeof(T));
      if (count != vertices_ + 1)
        throw member.problem("{} rows take {} offsets, not {}", vertices_, vertices_ + 1, count);
      offsets_ = Buffer<EdgeIndex>{count, job_.context.budget, "the row offsets"};
      member.for_each_chunk<T>(count, [&](std::uint64_t first, std::span<const T> values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (std::cmp_less(values[i], 0)) throw member.problem("entry {} is {}, below 0", first + i, values[i]);
          offsets_[first + i] = static_cast<EdgeIndex>(values[i]);
        }
      });
    });
  }

  void read_targets() {
    Member member{archive_, job_, "indices.npy"};
    with_integer_type(member, [&]<class T>(T) {
      const std::uint64_t count = member.length(sizeof(T));
      if (offsets_[vertices_] != count)
        throw member.problem("the rows of indptr end at {}, but there are {} indices; .prune() corrects that",
                             offsets_[vertices_], count);
      targets_ = Buffer<Vertex>{count, job_.context.budget, "the arcs"};
      member.for_each_chunk<T>(count, [&](std::uint64_t first, std::span<const T> values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (std::cmp_less(values[i], 0) || std::cmp_greater_equal(values[i], vertices_))
            throw member.problem("entry {} is {}, where a column from 0 to {} was expected", first + i, values[i],
                                 static_cast<std::int64_t>(vertices_) - 1);
          targets_[first + i] = static_cast<Vertex>(values[i]);
        }
      });
    });
  }

  void read_weights() {
    Member     member{archive_, job_, "data.npy"};
    const bool flags = member.header().type == "|b1";
    if (flags) require_true(member);
    if (kept_weights(job_, flags ? WeightType::none : WeightType::f32) == WeightType::none) {
      if (member.header().shape != std::vector<std::uint64_t>{targets_.size()})
        throw member.problem("{} values were expected, as many as there are indices", targets_.size());
      return;
    }
    with_number_type(member, [&]<class T>(T) {
      if (member.length(sizeof(T)) != targets_.size())
        throw member.problem("{} values for {} indices", member.header().shape[0], targets_.size());
      constexpr WeightType held = std::is_floating_point_v<T> ? WeightType::f32 : WeightType::u32;
      WeightSink           sink{member, job_, held, targets_.size()};
      member.for_each_chunk<T>(targets_.size(), [&](std::uint64_t first, std::span<const T> values) {
        for (std::size_t i = 0; i < values.size(); ++i) sink.put(first + i, values[i]);
      });
      if (sink.widened()) job_.notes.emplace_back("weights are kept as f32: some are negative or above 2^32-1");
      if (sink.rounded()) job_.notes.emplace_back("weights of 64 bits are rounded to f32");
      weight_type_ = sink.type();
      weights_     = std::move(sink).take();
    });
  }

  /// Truth values say only that an entry is there. One that is stored as false is an arc or is none.
  void require_true(Member& member) {
    if (member.length(1) != targets_.size())
      throw member.problem("{} values for {} indices", member.header().shape[0], targets_.size());
    member.for_each_chunk<std::uint8_t>(
        targets_.size(), [&](std::uint64_t first, std::span<const std::uint8_t> values) {
          for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i] == 0)
              throw member.problem(
                  "entry {} is False, and whether that is an arc is not stated; .eliminate_zeros() "
                  "removes such entries",
                  first + i);
        });
  }

  ReadJob&              job_;
  Archive               archive_;
  std::uint64_t         vertices_    = 0;
  WeightType            weight_type_ = WeightType::none;
  Buffer<EdgeIndex>     offsets_;
  Buffer<Vertex>        targets_;
  Buffer<std::uint32_t> weights_;
};

ReadResult read_npz(ReadJob& job) {
  job.require_plain_file("scipy's .npz");
  ReadResult result = NpzReader{job}.read();
  note_directions(result, 0, job);
  return result;
}

}  // namespace
}  // namespace spillway

#else

namespace spillway {
namespace {

ReadResult read_npz(ReadJob& job) {
  throw bad_input(
      "{}: this build of Spillway lacks libzip, which .npz needs; build it with libzip, or save the matrix "
      "with scipy.io.mmwrite",
      job.path());
}

}  // namespace
}  // namespace spillway

#endif

namespace spillway {

Format npz_format() {
  return {.name        = "npz",
          .description = "scipy, sparse CSR matrix (save_npz)",
          .suffixes    = {"npz"},
          .has_magic   = true,
          .recognises  = [](const Sample& sample) { return sample.text.starts_with("PK\x03\x04"); },
          .read        = read_npz,
          .write       = {}};
}

}  // namespace spillway
