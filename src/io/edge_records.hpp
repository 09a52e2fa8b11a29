// Files of edges in records of one size (Graph500, pairs): what their readers share.
#pragma once

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "graph/edge_collector.hpp"
#include "io/binary.hpp"
#include "io/edge_forecast.hpp"
#include "io/reading.hpp"

#include <spillway/engine/stopwatch.hpp>

namespace spillway {

/// What is known of a file before its edges are read.
struct RecordFile {
  std::uint64_t edges   = 0;
  WeightType    weights = WeightType::none;  ///< as they are kept
  EdgeIndex     arcs    = 0;                 ///< that these edges become, about
  std::uint64_t buffers = 0;                 ///< bytes that reading holds
};

/// --vertices, as far as vertices have 32 bits.
inline void check_stated_vertices(const ReadJob& job) {
  if (job.options.vertices && *job.options.vertices > max_vertices)
    throw usage_error("--vertices {}: at most 2^32-1 are supported", *job.options.vertices);
}

/// visit(first, count): records that a collector gets, a stretch after the other. Where rows are built outside of
/// memory a journal keeps how far this has got, and an earlier build's is gone on from.
template <class Collector, class Visit>
void collect_in_stretches(ReadJob& job, Collector& collector, std::uint64_t records, std::uint64_t record_bytes,
                          Visit&& visit) {
  constexpr const char* input   = "input";
  BuildJournal* const   journal = job.journal();
  std::uint64_t         first   = 0;
  const std::uint64_t   stretch =
      journal ? journal->stretch(job.context.threads) / record_bytes : std::max<std::uint64_t>(records, 1);
  const auto place = [&] {
    StateWriter state;
    state.put(first);
    return state;
  };
  if (auto state = journal ? journal->find(input) : std::nullopt) {
    collector.restore();
    first = state->template get<std::uint64_t>();
    job.progress().advance(first * record_bytes);
  }
  while (first < records) {
    const std::uint64_t count = std::min(stretch, records - first);
    visit(first, count);
    first += count;
    if (first < records) collector.keep_if_due(place);
  }
  if (journal) journal->put(input, place());
}

/// collect(collector) and then rows; what cannot fit is refused before that. for_each_edge(visit(source, target))
/// is a pass that holds nothing, for a forecast where memory did not do.
template <class Collect, class ForEachEdge>
ReadResult rows_of_records(ReadJob& job, const RecordFile& file, Collect&& collect, ForEachEdge&& for_each_edge) {
  const auto build = [&] {
    return with_input_collector(job.context, file.weights, [&](auto& collector) {
      collect(collector);
      job.progress().end();
      auto declared = job.options.vertices;
      if (!declared && job.options.ids == IdMode::dense) declared = collector.id_bound();
      const Stopwatch clock;
      ReadResult result = from_collected(std::move(collector).finish(declared), declared, 0, file.weights, job);
      result.build_ms   = clock.milliseconds();
      return result;
    });
  };
  try {
    if (job.context.outside)
      job.expect_outside(file.edges, file.weights, false, job.options.vertices);
    else
      job.context.budget->expect(
          job.context.edges
              ? 2 * EdgeCollector::bytes_of(file.edges, file.weights != WeightType::none)
              : building_bytes(job.options.vertices.value_or(0), file.arcs, file.weights != WeightType::none),
          fmt::format("{}: a graph of about {} arcs", job.path(), with_commas(file.arcs)));
    return build();
  } catch (const MemoryRefusal&) {
    if (job.sample.is_pipe || job.sample.file_bytes > most_forecast_bytes) throw;
    EdgeText text;
    text.vertices    = job.options.vertices;
    text.dense       = job.options.ids == IdMode::dense;
    text.weight_type = file.weights;
    EdgeForecast edges{text, job, file.buffers};
    job.progress().begin("estimating", job.sample.file_bytes, ProgressUnit::bytes);
    for_each_edge([&](std::uint64_t source, std::uint64_t target) { edges.add(0, source, target); });
    job.progress().end();
    job.size = edges.size();
    throw;
  }
}

/// The same records in order, on one thread and a buffer of a MiB at a time.
template <class Record, class Visit>
void for_each_record(const BinaryFile& file, std::uint64_t records, Visit&& visit) {
  std::vector<Record> chunk(std::min<std::uint64_t>(records, chunk_bytes / sizeof(Record)));
  for (std::uint64_t first = 0; first < records; first += chunk.size()) {
    const std::uint64_t here = std::min<std::uint64_t>(chunk.size(), records - first);
    file.read(first * sizeof(Record), chunk.data(), here * sizeof(Record));
    for (std::uint64_t i = 0; i < here; ++i) visit(chunk[i]);
  }
}

}  // namespace spillway
