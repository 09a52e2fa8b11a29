// The serialised graphs of the GAP benchmark suite: .sg, and .wsg with weights.
// One byte (directed), i64 arcs, i64 vertices, i64 offsets[n+1], i32 neighbours[m] or {i32, i32 weight}[m];
// a directed file repeats offsets and neighbours for the in-edges. There is no magic: the sizes must fit.
#include "base/text.hpp"
#include "io/binary.hpp"
#include "io/reading.hpp"

namespace spillway {
namespace {

constexpr std::uint64_t gap_header_bytes = 17;
constexpr std::uint64_t most_vertices    = 0x7FFFFFFF;
constexpr std::uint32_t largest_weight   = 0x7FFFFFFF;
constexpr std::uint64_t vertices_at_byte = 9;

struct WeightedNeighbor {
  Vertex       target;
  std::int32_t weight;
};

struct GapLayout {
  bool          directed = false;
  bool          weighted = false;
  std::uint64_t vertices = 0;
  EdgeIndex     arcs     = 0;

  std::uint64_t arcs_at() const { return gap_header_bytes + (vertices + 1) * sizeof(EdgeIndex); }
  std::uint64_t bytes_with(std::uint64_t arc_bytes) const {
    return gap_header_bytes + (directed ? 2 : 1) * ((vertices + 1) * sizeof(EdgeIndex) + arcs * arc_bytes);
  }
};

/// The layout that fits the file exactly, or `problem` says what does not.
std::optional<GapLayout> gap_layout_of(const Sample& sample, std::string& problem) {
  const std::string_view text = sample.text;
  if (text.size() < gap_header_bytes) {
    problem = fmt::format("{} bytes are too few: the header alone has {}", text.size(), gap_header_bytes);
    return std::nullopt;
  }
  const auto directed = static_cast<unsigned char>(text[0]);
  const auto arcs     = value_at<std::int64_t>(text, 1);
  const auto vertices = value_at<std::int64_t>(text, vertices_at_byte);
  if (directed > 1) {
    problem = fmt::format("byte 0 is {}, where 0 (undirected) or 1 (directed) was expected", directed);
  } else if (vertices < 0 || static_cast<std::uint64_t>(vertices) > most_vertices) {
    problem =
        fmt::format("byte {} states {} vertices, where 0 to 2^31-1 were expected", vertices_at_byte, vertices);
  } else if (arcs < 0 || static_cast<std::uint64_t>(arcs) > sample.file_bytes / sizeof(Vertex)) {
    problem = fmt::format("byte 1 states {} arcs, which a file of {} bytes cannot hold", arcs, sample.file_bytes);
  }
  if (!problem.empty()) return std::nullopt;

  GapLayout layout{directed == 1, false, static_cast<std::uint64_t>(vertices), static_cast<EdgeIndex>(arcs)};
  const std::uint64_t plain    = layout.bytes_with(sizeof(Vertex));
  const std::uint64_t weighted = layout.bytes_with(sizeof(WeightedNeighbor));
  if (sample.file_bytes != plain && sample.file_bytes != weighted) {
    problem = fmt::format("{} vertices and {} arcs take {} bytes, or {} with weights, but the file has {}",
                          vertices, arcs, plain, weighted, sample.file_bytes);
    return std::nullopt;
  }
  layout.weighted = plain == weighted ? named_with(sample.path, "wsg") : sample.file_bytes == weighted;
  return layout;
}

/// Sizes alone may fit by chance (zeros do), so there must be arcs, and the offsets at hand must make sense.
bool recognises_gap(const Sample& sample) {
  if (sample.is_pipe || sample.compressed) return false;
  std::string problem;
  const auto  layout = gap_layout_of(sample, problem);
  return layout && layout->arcs > 0 &&
         ascends_from_zero<EdgeIndex>(sample.text, gap_header_bytes, layout->vertices + 1, layout->arcs);
}

/// Neighbours and weights lie side by side in the file and apart in memory.
void read_weighted(const BinaryFile& file, const GapLayout& layout, WeightType kept, const Buffer<Vertex>& targets,
                   const Buffer<std::uint32_t>& weights) {
  const auto split = [&](std::span<const WeightedNeighbor> records, std::uint64_t first, int) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      targets[first + i] = records[i].target;
      if (kept == WeightType::none) continue;
      const auto bits = weight_bits(std::int64_t{records[i].weight}, kept);
      if (!bits)
        throw bad_input("{}: byte {}: the weight {} is negative; --weight-type f32 reads it, none ignores it",
                        file.path(), layout.arcs_at() + (first + i) * sizeof(WeightedNeighbor) + sizeof(Vertex),
                        records[i].weight);
      weights[first + i] = *bits;
    }
  };
  file.for_each_chunk<WeightedNeighbor>(layout.arcs_at(), layout.arcs, split);
}

ReadResult read_gap(ReadJob& job) {
  job.require_plain_file("GAP's serialised graph");
  std::string problem;
  const auto  layout = gap_layout_of(job.sample, problem);
  if (!layout) throw bad_input("{}: not a serialised GAP graph: {}", job.path(), problem);
  const WeightType kept   = kept_weights(job, layout->weighted ? WeightType::u32 : WeightType::none);
  const auto&      budget = job.context.budget;

  job.expect_rows(layout->vertices, layout->arcs, kept, !layout->directed,
                  layout->weighted ? chunk_buffers(job, layout->arcs * sizeof(WeightedNeighbor)) : 0);
  const BinaryFile file{job, job.path()};
  // The in-edges of a directed file are not read: they are made from the out-edges where they are needed.
  job.progress().begin("reading", layout->directed ? file.size() / 2 : file.size(), ProgressUnit::bytes);
  Buffer<EdgeIndex>     offsets{layout->vertices + 1, budget, "the row offsets"};
  Buffer<Vertex>        targets{layout->arcs, budget, "the arcs"};
  Buffer<std::uint32_t> weights{kept == WeightType::none ? 0 : layout->arcs, budget, "the weights"};
  file.read_array(gap_header_bytes, offsets.span());
  if (layout->weighted) {
    read_weighted(file, *layout, kept, targets, weights);
  } else {
    file.read_array(layout->arcs_at(), targets.span());
  }
  job.progress().end();
  if (kept == WeightType::u32) note_odd_weights(weights.span(), job);
  note_zero_weights(weights.span(), job);

  Csr csr{std::move(offsets).freeze(), std::move(targets).freeze(), std::move(weights).freeze()};
  if (layout->directed)
    return from_rows(std::move(csr), IdMap::consecutive(), kept, /*undirected_file=*/false, job);
  return from_symmetric_rows(std::move(csr), IdMap::consecutive(), kept, "an undirected GAP graph", job);
}

void append_rows(const Csr& rows, OutputFile& file, Progress& progress) {
  append_array(file, rows.offsets.span(), progress);
  if (rows.weights.empty()) return append_array(file, rows.targets.span(), progress);
  append_records<WeightedNeighbor>(file, rows.arc_count(), progress, [&](EdgeIndex i) {
    if (rows.weights[i] > largest_weight)
      throw usage_error("GAP holds weights up to 2^31-1, and arc {} has {}; write .spill or an edge list instead",
                        i, rows.weights[i]);
    return WeightedNeighbor{rows.targets[i], static_cast<std::int32_t>(rows.weights[i])};
  });
}

void write_gap(const Graph& graph, OutputFile& file, Progress& progress, std::vector<std::string>& notes) {
  if (graph.vertex_count() > most_vertices)
    throw usage_error("GAP holds at most 2^31-1 vertices, and the graph has {}; write .spill instead",
                      with_commas(graph.vertex_count()));
  if (graph.weight_type() == WeightType::f32)
    throw usage_error(
        "GAP holds whole weights only, and the graph's are f32; read it with --weight-type u32 or "
        "none, or write another format");
  const bool directed = !graph.symmetric();
  const Csr& out      = graph.out();
  const Csr* in       = directed ? &graph.in() : nullptr;
  progress.begin("writing", gap_header_bytes + (in ? in->bytes() : 0) + out.bytes(), ProgressUnit::bytes);
  const auto         flag      = static_cast<char>(directed);
  const std::int64_t counts[2] = {static_cast<std::int64_t>(out.arc_count()),
                                  static_cast<std::int64_t>(out.vertex_count())};
  file.append(&flag, sizeof flag);
  file.append(counts, sizeof counts);
  append_rows(out, file, progress);
  if (in) append_rows(*in, file, progress);
  progress.end();
  note_lost_ids(graph, "GAP", 0, notes);
  const bool weighted = graph.weight_type() != WeightType::none;
  if (named_with(file.path(), weighted ? "sg" : "wsg"))
    notes.push_back(fmt::format("GAP itself goes by the suffix: rename the file to .{}", weighted ? "wsg" : "sg"));
}

}  // namespace

Format gap_format() {
  return {.name        = "gap",
          .description = "GAP benchmark suite, serialised graph (binary)",
          .suffixes    = {"sg", "wsg"},
          .writes_in   = true,
          .recognises  = recognises_gap,
          .read        = read_gap,
          .write       = write_gap};
}

}  // namespace spillway
