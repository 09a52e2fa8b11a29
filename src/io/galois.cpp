// Galois' binary .gr, versions 1 and 2 (the suffix is shared with DIMACS text; the first 8 bytes tell).
// u64 version, u64 bytes of edge data, u64 n, u64 m, u64 row ends[n], u32 (version 2: u64) neighbours, edge data.
#include <algorithm>
#include <bit>
#include <cmath>

#include "io/binary.hpp"
#include "io/reading.hpp"

namespace spillway {
namespace {

constexpr std::uint64_t galois_header_bytes = 32;
constexpr std::uint64_t weight_bytes        = sizeof(std::uint32_t);

// Edge data larger than this is no weight in any Galois program; such a header is something else.
constexpr std::uint64_t largest_edge_data = 64;

struct GaloisLayout {
  std::uint64_t version    = 0;
  std::uint64_t edge_data  = 0;
  std::uint64_t vertices   = 0;
  EdgeIndex     arcs       = 0;
  std::uint64_t weights_at = 0;

  std::uint64_t target_bytes() const { return version == 1 ? sizeof(std::uint32_t) : sizeof(std::uint64_t); }
  std::uint64_t arcs_at() const { return galois_header_bytes + vertices * sizeof(EdgeIndex); }
};

/// Galois pads neighbours to an even count. In version 2 its reader does and its writer does not, so both are
/// taken.
std::optional<std::uint64_t> weights_place(const GaloisLayout& layout, std::uint64_t file_bytes) {
  const std::uint64_t end     = layout.arcs_at() + layout.arcs * layout.target_bytes();
  const std::uint64_t padding = layout.arcs % 2 * layout.target_bytes();
  const std::uint64_t data    = layout.arcs * layout.edge_data;
  if (file_bytes == end + padding + data) return end + padding;
  if (layout.version == 2 && file_bytes == end + data) return end;
  return std::nullopt;
}

/// The layout that fits the file exactly, or `problem` says what does not.
std::optional<GaloisLayout> galois_layout_of(const Sample& sample, std::string& problem) {
  if (sample.text.size() < galois_header_bytes) {
    problem =
        fmt::format("{} bytes are too few: the header alone has {}", sample.text.size(), galois_header_bytes);
    return std::nullopt;
  }
  const auto word = [&](std::size_t i) { return value_at<std::uint64_t>(sample.text, i * sizeof(std::uint64_t)); };
  GaloisLayout layout{word(0), word(1), word(2), word(3)};
  if (layout.version != 1 && layout.version != 2) {
    problem = fmt::format("byte 0 should hold the version, 1 or 2, as 8 bytes, not {:#x}", layout.version);
  } else if (layout.edge_data > largest_edge_data) {
    problem = fmt::format("byte 8 states {} bytes of data an edge, where 0 or 4 were expected", layout.edge_data);
  } else if (layout.vertices > max_vertices) {
    problem = fmt::format("byte 16 states {} vertices, and Spillway holds at most 2^32-1", layout.vertices);
  } else if (layout.arcs > sample.file_bytes / sizeof(std::uint32_t)) {
    problem = fmt::format("byte 24 states {} arcs, which a file of {} bytes cannot hold", layout.arcs,
                          sample.file_bytes);
  } else if (const auto place = weights_place(layout, sample.file_bytes)) {
    layout.weights_at = *place;
  } else {
    problem = fmt::format(
        "version {} with {} vertices, {} arcs and {} bytes of data an edge takes {} bytes, but the "
        "file has {}",
        layout.version, layout.vertices, layout.arcs, layout.edge_data,
        layout.arcs_at() + (layout.arcs + layout.arcs % 2) * layout.target_bytes() +
            layout.arcs * layout.edge_data,
        sample.file_bytes);
  }
  return problem.empty() ? std::optional{layout} : std::nullopt;
}

/// A version and sizes may fit by chance, so there must be arcs, and the row ends at hand must make sense.
bool recognises_galois(const Sample& sample) {
  if (sample.is_pipe || sample.compressed) return false;
  std::string problem;
  const auto  layout = galois_layout_of(sample, problem);
  return layout && layout->arcs > 0 &&
         ascends<EdgeIndex>(sample.text, galois_header_bytes, layout->vertices, layout->arcs);
}

void read_wide_targets(const BinaryFile& file, const GaloisLayout& layout, const Buffer<Vertex>& targets) {
  file.for_each_chunk<std::uint64_t>(
      layout.arcs_at(), layout.arcs, [&](std::span<const std::uint64_t> chunk, std::uint64_t first, int) {
        for (std::size_t i = 0; i < chunk.size(); ++i) {
          if (chunk[i] >= layout.vertices)
            throw bad_input("{}: byte {}: an arc leads to vertex {}, but there are only {} vertices", file.path(),
                            layout.arcs_at() + (first + i) * sizeof(std::uint64_t), chunk[i], layout.vertices);
          targets[first + i] = static_cast<Vertex>(chunk[i]);
        }
      });
}

ReadResult read_galois(ReadJob& job) {
  job.require_plain_file("Galois' binary graph");
  std::string problem;
  const auto  layout = galois_layout_of(job.sample, problem);
  if (!layout)
    throw bad_input("{}: not a Galois graph: {} (and it is not DIMACS text either)", job.path(), problem);
  const bool ignored = kept_weights(job, WeightType::u32) == WeightType::none;
  if (layout->edge_data != 0 && layout->edge_data != weight_bytes && !ignored)
    throw bad_input(
        "{}: byte 8: edges carry {} bytes of data each{}; weights of 4 bytes are read, and "
        "--weight-type none ignores others",
        job.path(), layout->edge_data, layout->edge_data == 8 ? " (double or 64-bit integers)" : "");
  // The file does not say what its four bytes are: whole numbers, unless floats were asked for.
  const WeightType kept   = kept_weights(job, layout->edge_data != 0 ? WeightType::u32 : WeightType::none);
  const auto&      budget = job.context.budget;

  job.expect_rows(layout->vertices, layout->arcs, kept, /*undirected_file=*/false,
                  layout->version == 2 ? chunk_buffers(job, layout->arcs * sizeof(std::uint64_t)) : 0);
  const BinaryFile file{job, job.path()};
  job.progress().begin("reading", file.size(), ProgressUnit::bytes);
  Buffer<EdgeIndex>     offsets{layout->vertices + 1, budget, "the row offsets"};
  Buffer<Vertex>        targets{layout->arcs, budget, "the arcs"};
  Buffer<std::uint32_t> weights{kept == WeightType::none ? 0 : layout->arcs, budget, "the weights"};
  file.read_array(galois_header_bytes, offsets.span().subspan(1));
  if (layout->version == 1) {
    file.read_array(layout->arcs_at(), targets.span());
  } else {
    read_wide_targets(file, *layout, targets);
  }
  file.read_array(layout->weights_at, weights.span());
  job.progress().end();
  if (kept == WeightType::f32) note_tiny_weights(weights.span(), job);
  if (kept == WeightType::u32 && !job.options.weight_type)
    note_odd_weights(weights.span(), job, " (--weight-type f32)");
  return from_rows({std::move(offsets).freeze(), std::move(targets).freeze(), std::move(weights).freeze()},
                   IdMap::consecutive(), kept, /*undirected_file=*/false, job);
}

}  // namespace

Format galois_format() {
  return {.name        = "galois",
          .description = "Galois, binary graph (versions 1 and 2)",
          .suffixes    = {"gr"},
          .recognises  = recognises_galois,
          .read        = read_galois,
          .write       = {}};
}

}  // namespace spillway
