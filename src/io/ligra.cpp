// Ligra's adjacency text: `AdjacencyGraph` or `WeightedAdjacencyGraph`, n, m, then n row starts, m targets and,
// with weights, m of them; numbers from 0, apart by white space. There is no last row end: it is m.
#include <charconv>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "io/reading.hpp"
#include "io/token_stream.hpp"

namespace spillway {
namespace {

constexpr std::string_view plain_word    = "AdjacencyGraph";
constexpr std::string_view weighted_word = "WeightedAdjacencyGraph";

// Past this no header can be true, and sizes in bytes still fit 64 bits.
constexpr EdgeIndex most_stated_arcs = EdgeIndex{1} << 56;

std::string_view first_word(std::string_view text) { return text.substr(0, text.find_first_of(" \t\r\n")); }

bool recognises_ligra(const Sample& sample) {
  const std::string_view word = first_word(sample.text);
  return word == plain_word || word == weighted_word;
}

class LigraReader {
 public:
  explicit LigraReader(ReadJob& job) : job_(job), tokens_(job) {}

  ReadResult read() {
    const bool       weighted = read_word();
    const WeightType kept     = kept_weights(job_, weighted ? WeightType::u32 : WeightType::none);
    read_counts(weighted);
    job_.expect_rows(vertices_, arcs_, kept, /*undirected_file=*/false);
    const auto&           budget = job_.context.budget;
    Buffer<EdgeIndex>     offsets{vertices_ + 1, budget, "the row offsets"};
    Buffer<Vertex>        targets{arcs_, budget, "the arcs"};
    Buffer<std::uint32_t> weights{kept == WeightType::none ? 0 : arcs_, budget, "the weights"};
    read_offsets(offsets);
    read_targets(targets);
    if (weighted) read_weights(kept, weights);
    if (!tokens_.skip_space()) tokens_.expected("the end of the file");
    tokens_.finish();
    return from_rows({std::move(offsets).freeze(), std::move(targets).freeze(), std::move(weights).freeze()},
                     IdMap::consecutive(), kept, /*undirected_file=*/false, job_);
  }

 private:
  bool read_word() {
    if (tokens_.skip_space()) tokens_.expected("AdjacencyGraph");
    const std::string_view word = tokens_.word();
    if (word == weighted_word) return true;
    if (word == plain_word) return false;
    throw bad_input("{}:{}: expected 'AdjacencyGraph' or 'WeightedAdjacencyGraph', found '{}'", job_.path(),
                    tokens_.line(), printable(word));
  }

  void read_counts(bool weighted) {
    vertices_ = number("the number of vertices");
    if (vertices_ > max_vertices)
      throw bad_input("{}:{}: {} vertices, and Spillway holds at most 2^32-1", job_.path(), tokens_.line(),
                      vertices_);
    arcs_ = number("the number of arcs");
    if (arcs_ > most_stated_arcs)
      throw bad_input("{}:{}: {} arcs are more than any file holds", job_.path(), tokens_.line(), arcs_);
    // A number takes two bytes at least: a header that lies is caught before memory is asked for.
    const std::uint64_t numbers = vertices_ + arcs_ * (weighted ? 2 : 1);
    const Sample&       sample  = job_.sample;
    if (!sample.is_pipe && !sample.compressed && numbers > sample.file_bytes / 2)
      throw bad_input("{}:{}: {} vertices and {} arcs take {} numbers, which a file of {} bytes cannot hold",
                      job_.path(), tokens_.line(), vertices_, arcs_, numbers, sample.file_bytes);
  }

  void read_offsets(const Buffer<EdgeIndex>& offsets) {
    EdgeIndex last = 0;
    for (std::uint64_t v = 0; v < vertices_; ++v) {
      const EdgeIndex offset = number("the start of a row");
      if (offset < last || offset > arcs_ || (v == 0 && offset != 0))
        throw bad_input("{}:{}: the row of vertex {} starts at arc {}; {} to {} was expected", job_.path(),
                        tokens_.line(), v, offset, last, v == 0 ? 0 : arcs_);
      offsets[v] = last = offset;
    }
    if (vertices_ == 0 && arcs_ > 0)
      throw bad_input("{}:{}: {} arcs without vertices", job_.path(), tokens_.line(), arcs_);
    offsets[vertices_] = arcs_;
  }

  void read_targets(const Buffer<Vertex>& targets) {
    for (EdgeIndex i = 0; i < arcs_; ++i) {
      const std::uint64_t target = number("the target of an arc");
      if (target >= vertices_)
        throw bad_input("{}:{}: an arc leads to vertex {}, but ids run from 0 to {}", job_.path(), tokens_.line(),
                        target, vertices_ - 1);
      targets[i] = static_cast<Vertex>(target);
    }
  }

  void read_weights(WeightType kept, const Buffer<std::uint32_t>& weights) {
    for (EdgeIndex i = 0; i < arcs_; ++i) {
      if (tokens_.skip_space()) ends_early("the weight of an arc");
      const std::string_view word = tokens_.word();
      if (kept != WeightType::none) weights[i] = weight(word, kept);
    }
  }

  std::uint32_t weight(std::string_view word, WeightType kept) const {
    double            value    = 0;
    const char* const end      = word.data() + word.size();
    const auto [rest, problem] = std::from_chars(word.data(), end, value);
    if (problem != std::errc{} || rest != end)
      throw bad_input("{}:{}: expected the weight of an arc, found '{}'", job_.path(), tokens_.line(),
                      printable(word));
    const auto bits = weight_bits(value, kept);
    if (bits) return *bits;
    throw bad_input("{}:{}: the weight {} is not a whole number from 0 to 2^32-1{}", job_.path(), tokens_.line(),
                    printable(word),
                    kept == WeightType::u32 ? "; --weight-type f32 reads it" : " nor a 32-bit float");
  }

  std::uint64_t number(std::string_view what) {
    if (tokens_.skip_space()) ends_early(what);
    return tokens_.number(what);
  }

  [[noreturn]] void ends_early(std::string_view what) const {
    throw bad_input("{}:{}: the file ends where {} was expected ({} vertices, {} arcs)", job_.path(),
                    tokens_.line(), what, vertices_, arcs_);
  }

  ReadJob&      job_;
  TokenStream   tokens_;
  std::uint64_t vertices_ = 0;
  EdgeIndex     arcs_     = 0;
};

}  // namespace

Format ligra_format() {
  return {.name        = "ligra",
          .description = "Ligra, adjacency text (AdjacencyGraph, WeightedAdjacencyGraph)",
          .suffixes    = {"adj", "ligra"},
          .has_magic   = true,
          .recognises  = recognises_ligra,
          .read        = [](ReadJob& job) { return LigraReader{job}.read(); },
          .write       = {}};
}

}  // namespace spillway
