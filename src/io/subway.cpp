// Subway's binary CSR: .bcsr, and .bwcsr with weights.
// u32 vertices, u32 arcs, u32 offsets[n] (the last row ends at m), u32 neighbours[m] or {u32, u32 weight}[m].
#include "base/text.hpp"
#include "io/binary.hpp"
#include "io/reading.hpp"

namespace spillway {
namespace {

constexpr std::uint64_t subway_header_bytes = 8;
constexpr EdgeIndex     most_arcs           = 0xFFFFFFFF;

struct WeightedNeighbor {
  Vertex        target;
  std::uint32_t weight;
};

struct SubwayLayout {
  std::uint64_t vertices = 0;
  EdgeIndex     arcs     = 0;
  bool          weighted = false;

  std::uint64_t arcs_at() const { return subway_header_bytes + vertices * sizeof(std::uint32_t); }
};

/// The layout that fits the file exactly, or `problem` says what does not.
std::optional<SubwayLayout> subway_layout_of(const Sample& sample, std::string& problem) {
  if (sample.text.size() < subway_header_bytes) {
    problem =
        fmt::format("{} bytes are too few: the header alone has {}", sample.text.size(), subway_header_bytes);
    return std::nullopt;
  }
  SubwayLayout        layout{value_at<std::uint32_t>(sample.text, 0), value_at<std::uint32_t>(sample.text, 4)};
  const std::uint64_t plain    = layout.arcs_at() + layout.arcs * sizeof(Vertex);
  const std::uint64_t weighted = layout.arcs_at() + layout.arcs * sizeof(WeightedNeighbor);
  if (sample.file_bytes != plain && sample.file_bytes != weighted) {
    problem = fmt::format("{} vertices and {} arcs take {} bytes, or {} with weights, but the file has {}",
                          layout.vertices, layout.arcs, plain, weighted, sample.file_bytes);
    return std::nullopt;
  }
  layout.weighted = plain == weighted ? named_with(sample.path, "bwcsr") : sample.file_bytes == weighted;
  return layout;
}

/// Eight bytes of sizes are little to go by: there must be arcs, and the offsets at hand must make sense too.
bool recognises_subway(const Sample& sample) {
  if (sample.is_pipe || sample.compressed) return false;
  std::string problem;
  const auto  layout = subway_layout_of(sample, problem);
  return layout && layout->arcs > 0 &&
         ascends_from_zero<std::uint32_t>(sample.text, subway_header_bytes, layout->vertices, layout->arcs);
}

ReadResult read_subway(ReadJob& job) {
  job.require_plain_file("Subway's binary CSR");
  std::string problem;
  const auto  layout = subway_layout_of(job.sample, problem);
  if (!layout) throw bad_input("{}: not a Subway graph: {}", job.path(), problem);
  const WeightType kept   = kept_weights(job, layout->weighted ? WeightType::u32 : WeightType::none);
  const auto&      budget = job.context.budget;

  job.expect_rows(layout->vertices, layout->arcs, kept, /*undirected_file=*/false,
                  chunk_buffers(job, std::max(layout->vertices * 4, layout->weighted ? layout->arcs * 8 : 0)));
  const BinaryFile file{job, job.path()};
  job.progress().begin("reading", file.size(), ProgressUnit::bytes);
  Buffer<EdgeIndex>     offsets{layout->vertices + 1, budget, "the row offsets"};
  Buffer<Vertex>        targets{layout->arcs, budget, "the arcs"};
  Buffer<std::uint32_t> weights{kept == WeightType::none ? 0 : layout->arcs, budget, "the weights"};
  file.for_each_chunk<std::uint32_t>(subway_header_bytes, layout->vertices,
                                     [&](std::span<const std::uint32_t> chunk, std::uint64_t first, int) {
                                       for (std::size_t i = 0; i < chunk.size(); ++i)
                                         offsets[first + i] = chunk[i];
                                     });
  offsets[layout->vertices] = layout->arcs;
  if (layout->weighted) {
    file.for_each_chunk<WeightedNeighbor>(
        layout->arcs_at(), layout->arcs, [&](std::span<const WeightedNeighbor> chunk, std::uint64_t first, int) {
          for (std::size_t i = 0; i < chunk.size(); ++i) targets[first + i] = chunk[i].target;
          if (kept == WeightType::none) return;
          for (std::size_t i = 0; i < chunk.size(); ++i)
            weights[first + i] = *weight_bits(std::int64_t{chunk[i].weight}, kept);
        });
  } else {
    file.read_array(layout->arcs_at(), targets.span());
  }
  job.progress().end();
  if (kept == WeightType::u32) note_odd_weights(weights.span(), job);
  note_zero_weights(weights.span(), job);
  return from_rows({std::move(offsets).freeze(), std::move(targets).freeze(), std::move(weights).freeze()},
                   IdMap::consecutive(), kept, /*undirected_file=*/false, job);
}

void write_subway(const Graph& graph, OutputFile& file, Progress& progress, std::vector<std::string>& notes) {
  const Csr& out = graph.out();
  if (out.arc_count() > most_arcs)
    throw usage_error("Subway counts arcs in 32 bits, and the graph has {}; write .spill instead",
                      with_commas(out.arc_count()));
  if (graph.weight_type() == WeightType::f32)
    throw usage_error(
        "Subway holds whole weights only, and the graph's are f32; read it with --weight-type u32 or "
        "none, or write another format");
  progress.begin("writing", out.bytes(), ProgressUnit::bytes);
  const std::uint32_t counts[2] = {static_cast<std::uint32_t>(out.vertex_count()),
                                   static_cast<std::uint32_t>(out.arc_count())};
  file.append(counts, sizeof counts);
  append_records<std::uint32_t>(file, out.vertex_count(), progress,
                                [&](std::uint64_t v) { return static_cast<std::uint32_t>(out.offsets[v]); });
  if (out.weights.empty()) {
    append_array(file, out.targets.span(), progress);
  } else {
    append_records<WeightedNeighbor>(file, out.arc_count(), progress, [&](EdgeIndex i) {
      return WeightedNeighbor{out.targets[i], out.weights[i]};
    });
  }
  progress.end();
  note_lost_ids(graph, "Subway", 0, notes);
  const bool weighted = graph.weight_type() != WeightType::none;
  if (named_with(file.path(), weighted ? "bcsr" : "bwcsr"))
    notes.push_back(
        fmt::format("Subway itself goes by the suffix: rename the file to .{}", weighted ? "bwcsr" : "bcsr"));
}

}  // namespace

Format subway_format() {
  return {.name        = "subway",
          .description = "Subway, binary CSR",
          .suffixes    = {"bcsr", "bwcsr"},
          .recognises  = recognises_subway,
          .read        = read_subway,
          .write       = write_subway};
}

}  // namespace spillway
