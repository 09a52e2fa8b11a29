// Edges as raw words of 32 bits, little-endian: pairs of a source and a target, or triples with a weight behind
// them. Nothing in such a file says what it is: it is asked for by name, and --weight-type says that there are
// weights.
#include <atomic>
#include <mutex>

#include "base/files.hpp"
#include "graph/edge_list.hpp"
#include "graph/edge_sink.hpp"
#include "io/edge_records.hpp"

namespace spillway {
namespace {

struct Pair {
  std::uint32_t source, target;

  static constexpr bool weighted = false;
  std::uint32_t         weight() const { return 0; }
};
static_assert(sizeof(Pair) == 8);

struct Triple {
  std::uint32_t source, target, bits;

  static constexpr bool weighted = true;
  std::uint32_t         weight() const { return bits; }
};
static_assert(sizeof(Triple) == 12);

class PairsReader {
 public:
  explicit PairsReader(ReadJob& job)
      : job_(job),
        weights_(job.options.weight_type.value_or(WeightType::none)),
        kept_(kept_weights(job, weights_)),
        least_id_out_(job.options.vertices.value_or(max_vertices)) {
    check_stated_vertices(job);
  }

  ReadResult read() {
    if (job_.options.format == "auto") refuse_text();
    refuse_other_formats();
    ReadResult result = weights_ == WeightType::none ? read_records<Pair>() : read_records<Triple>();
    if (result.ids.kind() == IdMap::Kind::numbers)
      job_.notes.push_back(
          fmt::format("ids have gaps: the {} that appear are the vertices (--ids dense or --vertices N would add "
                      "the others as isolated ones)",
                      with_commas(result.csr.vertex_count())));
    return result;
  }

 private:
  /// Any bytes pass for edges, also those of a file that says what it is.
  void refuse_other_formats() const {
    for (const Format& format : formats())
      if (format.has_magic && format.recognises && format.recognises(job_.sample))
        throw bad_input("{}: this is a file of format {}, not of pairs; leave out --format pairs", job_.path(),
                        format.name);
  }

  /// A suffix is a weak promise; words that are all text would be large ids.
  void refuse_text() const {
    const auto is_text = [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t'; };
    if (std::ranges::all_of(job_.sample.text, is_text))
      throw bad_input(
          "{}: this is text, and .pairs is for words of 32 bits; --format edgelist reads it as text, "
          "--format pairs as words",
          job_.path());
  }

  template <class Record>
  ReadResult read_records() {
    if (job_.sample.is_pipe || job_.sample.compressed) return read_stream<Record>();
    if (is_list_itself()) return mapped<Record>();
    const BinaryFile file{job_, job_.path()};
    check_size<Record>(file.size());
    const std::uint64_t edges = file.size() / sizeof(Record);
    return rows_of_records(
        job_, about(edges, chunk_buffers(job_, file.size())),
        [&](auto& collector) {
          job_.progress().begin("reading", file.size(), ProgressUnit::bytes);
          collect_in_stretches(
              job_, collector, edges, sizeof(Record), [&](std::uint64_t first, std::uint64_t count) {
                file.for_each_chunk<Record>(first * sizeof(Record), count,
                                            [&](std::span<const Record> some, std::uint64_t at, int thread) {
                                              add_all(some, first + at, collector.appender(thread));
                                            });
              });
        },
        [&](auto&& add) {
          for_each_record<Record>(file, edges, [&](const Record& edge) { add(edge.source, edge.target); });
        });
  }

  /// Edges are wanted in the order of the file, which says by itself which vertices they join: it is used where it
  /// is mapped, after one look at all ends.
  bool is_list_itself() const {
    return job_.context.edges && !job_.context.transform.drop_loops &&
           (job_.options.vertices || job_.options.ids == IdMode::dense);
  }

  template <class Record>
  ReadResult mapped() {
    const auto file = std::make_shared<MappedFile>(job_.path(), job_.context.budget);
    check_size<Record>(file->bytes().size());
    constexpr std::uint64_t words = sizeof(Record) / sizeof(std::uint32_t), a_task = chunk_bytes / sizeof(Record);
    const std::span<const Record> records{reinterpret_cast<const Record*>(file->bytes().data()),
                                          file->bytes().size() / sizeof(Record)};
    std::atomic<std::uint64_t>    bound = job_.options.vertices.value_or(0), loops = 0, up = 0;
    const auto                    all = reinterpret_cast<const std::uint32_t*>(records.data());
    const auto sink = edge_sink_for(job_.context.edges_to, records.size() * words, job_.context.budget);
    job_.progress().begin("reading", file->bytes().size(), ProgressUnit::bytes);
    for_each_task(job_.context.threads, (records.size() + a_task - 1) / a_task, [&](std::uint64_t task, int) {
      const std::uint64_t first = task * a_task;
      const auto          some  = records.subspan(first, std::min(a_task, records.size() - first));
      if (sink) sink->take(first * words, {all + first * words, some.size() * words});
      look_at(some, first, bound, loops, up);
      check_cancelled(job_.progress());
      job_.progress().advance(some.size_bytes());
    });
    job_.progress().end();
    if (job_.context.directions) {
      job_.context.directions->up += up;
      job_.context.directions->down += records.size() - up;
    }
    EdgeList::Parts parts{.words       = {{all, records.size() * words}, file},
                          .stride      = words,
                          .vertices    = bound,
                          .weight_type = kept_,
                          .both_ways   = job_.context.transform.undirected,
                          .loops       = loops,
                          .name        = job_.path()};
    BuiltCsr        built;
    built.edges       = std::make_shared<EdgeList>(std::move(parts), /*trusted=*/kept_ != WeightType::f32,
                                             sink ? sink->finish(all) : nullptr);
    built.csr.offsets = stated_sizes(bound, built.edges->arc_count());
    return from_collected(std::move(built), bound.load(), 0, kept_, job_);
  }

  template <class Record>
  void look_at(std::span<const Record> some, std::uint64_t first, std::atomic<std::uint64_t>& bound,
               std::atomic<std::uint64_t>& loops, std::atomic<std::uint64_t>& up) const {
    std::uint32_t largest = 0;
    std::uint64_t equal = 0, rising = 0;
    for (const Record& edge : some) {
      largest = std::max({largest, edge.source, edge.target});
      equal += edge.source == edge.target;
      rising += edge.source < edge.target;
    }
    if (largest >= least_id_out_) refuse_one(some, first);
    loops += equal, up += rising;
    std::uint64_t seen = bound;
    while (seen <= largest && !bound.compare_exchange_weak(seen, std::uint64_t{largest} + 1)) {
    }
  }

  template <class Record>
  [[noreturn]] void refuse_one(std::span<const Record> some, std::uint64_t first) const {
    const auto at = std::ranges::find_if(
        some, [&](const Record& edge) { return std::max(edge.source, edge.target) >= least_id_out_; });
    refuse(at->source >= least_id_out_ ? at->source : at->target,
           (first + static_cast<std::uint64_t>(at - some.begin())) * sizeof(Record));
  }

  /// A chunk to whatever thread asks, in the order of the stream.
  template <class Record>
  ReadResult read_stream() {
    const auto          stream = job_.open();
    const std::uint64_t length = chunk_bytes / sizeof(Record);
    const RecordFile    what   = about(0, length * sizeof(Record) * static_cast<unsigned>(job_.context.threads));
    return rows_of_records(
        job_, what,
        [&](auto& collector) {
          std::mutex    mutex;
          std::uint64_t read  = 0;  // edges
          bool          ended = false;
          job_.progress().begin("reading", job_.sample.file_bytes, ProgressUnit::bytes);
          on_threads(job_.context.threads, [&](int thread) {
            Buffer<Record> chunk{length, job_.context.budget, "a chunk of the file"};
            for (;;) {
              std::uint64_t first = 0, bytes = 0;
              {
                const std::scoped_lock lock{mutex};
                if (ended) return;
                check_cancelled(job_.progress());
                const std::uint64_t before = stream->consumed();
                first                      = read;
                bytes = stream->read(reinterpret_cast<char*>(chunk.data()), length * sizeof(Record));
                job_.progress().advance(stream->consumed() - before);
                read += bytes / sizeof(Record);
                ended = bytes < length * sizeof(Record);
              }
              if (bytes % sizeof(Record) != 0) check_size<Record>(first * sizeof(Record) + bytes);
              add_all(std::span<const Record>{chunk.data(), bytes / sizeof(Record)}, first,
                      collector.appender(thread));
            }
          });
        },
        [](auto&&) {});
  }

  RecordFile about(std::uint64_t edges, std::uint64_t buffers) const {
    return {.edges   = edges,
            .weights = kept_,
            .arcs    = edges * (job_.context.transform.undirected ? 2 : 1),
            .buffers = buffers};
  }

  template <class Record>
  void check_size(std::uint64_t bytes) const {
    if (bytes % sizeof(Record) == 0) return;
    const std::uint64_t other = sizeof(Pair) + sizeof(Triple) - sizeof(Record);
    throw bad_input("{}: {} bytes are not whole {} of {} bytes{}", job_.path(), bytes,
                    Record::weighted ? "triples" : "pairs", sizeof(Record),
                    bytes % other != 0 ? "; the file ends inside an edge"
                    : Record::weighted ? "; pairs without weights are read without --weight-type"
                                       : "; triples with weights are read with --weight-type u32 or f32");
  }

  template <class Record, class Appender>
  void add_all(std::span<const Record> some, std::uint64_t first, Appender& appender) const {
    appender.at(first);
    for (const Record& edge : some) {
      if (std::max(edge.source, edge.target) >= least_id_out_) [[unlikely]]
        refuse(edge.source >= least_id_out_ ? edge.source : edge.target,
               (first + static_cast<std::uint64_t>(&edge - some.data())) * sizeof(Record));
      appender.add(edge.source, edge.target, kept_ == WeightType::none ? 0 : edge.weight());
    }
  }

  [[noreturn]] void refuse(std::uint64_t id, std::uint64_t byte) const {
    if (job_.options.vertices)
      throw bad_input("{}: byte {}: vertex {} is out of range: --vertices states {}", job_.path(), byte, id,
                      least_id_out_);
    throw bad_input("{}: byte {}: vertex {} is out of range: ids must be below 2^32-1", job_.path(), byte, id);
  }

  ReadJob&      job_;
  WeightType    weights_, kept_;
  std::uint64_t least_id_out_;
};

/// What a vertex is called in the file: its id, or its number where ids are too large, or names.
class WrittenIds {
 public:
  explicit WrittenIds(const Graph& graph) : ids_(graph.ids()) {
    const std::uint64_t n = graph.vertex_count();
    if (ids_.kind() == IdMap::Kind::consecutive) kept_ = ids_.first() + n <= max_vertices;
    if (ids_.kind() == IdMap::Kind::numbers) kept_ = n == 0 || ids_.number_table()[n - 1] < max_vertices;
  }

  bool          kept() const { return kept_; }
  std::uint32_t operator()(Vertex v) const {
    if (!kept_) return v;
    const Vertex place = ids_.order().empty() ? v : ids_.order()[v];
    return static_cast<std::uint32_t>(ids_.kind() == IdMap::Kind::numbers ? ids_.number_table()[place]
                                                                          : ids_.first() + place);
  }

 private:
  const IdMap& ids_;
  bool         kept_ = false;
};

/// record(source, target, weight bits) in the order of the list, or else of the rows.
template <class Record, class Make>
void write_edges(const Graph& graph, OutputFile& file, Progress& progress, Make&& record) {
  if (graph.edges()) {
    const EdgeRun run = graph.edges()->edges(thread_count());
    progress.begin("writing", run.count * sizeof(Record), ProgressUnit::bytes);
    append_records<Record>(file, run.count, progress,
                           [&](std::uint64_t i) { return record(run.source(i), run.target(i), run.weight(i)); });
  } else {
    const Csr& csr    = graph.out();
    Vertex     source = 0;
    progress.begin("writing", csr.arc_count() * sizeof(Record), ProgressUnit::bytes);
    append_records<Record>(file, csr.arc_count(), progress, [&](EdgeIndex i) {
      while (i >= csr.offsets[source + 1]) ++source;
      return record(source, csr.targets[i], csr.weights.empty() ? 0 : csr.weights[i]);
    });
  }
  progress.end();
}

void write_pairs(const Graph& graph, OutputFile& file, Progress& progress, std::vector<std::string>& notes) {
  const WeightType    type = graph.weight_type();
  const std::uint64_t n    = graph.vertex_count();
  const WrittenIds    ids{graph};
  if (!ids.kept()) note_lost_ids(graph, "pairs", 0, notes);
  std::string how = "--format pairs";
  if (type != WeightType::none) how += fmt::format(" --weight-type {}", to_string(type));
  const bool numbered =
      !ids.kept() || (graph.ids().kind() == IdMap::Kind::consecutive && graph.ids().first() == 0);
  if (graph.edges() && graph.edges()->both_ways()) how += " --undirected";
  if (numbered && n > 0) how += fmt::format(" --vertices {}", n);
  notes.push_back(fmt::format("nothing in the file says what it is: it is read with {}", how));
  if (type == WeightType::none)
    write_edges<Pair>(graph, file, progress, [&](Vertex source, Vertex target, std::uint32_t) {
      return Pair{ids(source), ids(target)};
    });
  else
    write_edges<Triple>(graph, file, progress, [&](Vertex source, Vertex target, std::uint32_t weight) {
      return Triple{ids(source), ids(target), weight};
    });
}

}  // namespace

Format pairs_format() {
  return {.name         = "pairs",
          .description  = "raw u32 pairs, or with --weight-type triples with a weight, little-endian",
          .suffixes     = {"pairs"},
          .is_edge_list = true,
          .by_arcs      = true,
          .recognises   = [](const Sample&) { return false; },  // any bytes would do
          .read         = [](ReadJob& job) { return PairsReader{job}.read(); },
          .write        = write_pairs};
}

}  // namespace spillway
