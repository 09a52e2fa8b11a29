// Rows of arcs that memory does not hold: they wait on disk, and become rows some buckets at a time, which are
// handed on and forgotten. With a journal, a later process goes on after the last that were handed on.
#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"
#include "graph/arc_collector.hpp"
#include "graph/row_builder.hpp"
#include "graph/vertex_set.hpp"

namespace spillway {
namespace {

/// Rows that were built, to a sink; how many arcs there are by then.
template <class Record>
EdgeIndex hand_on(const RowBuilder<Record>& rows, std::size_t bucket, EdgeIndex kept,
                  const Buffer<EdgeIndex>& offsets, EdgeIndex arcs, RowSink* sink) {
  const auto [begin, end] = rows.rows_of(bucket);
  for (std::uint64_t row = begin; row < end; ++row) offsets[row] += arcs;
  arcs += kept;
  const EdgeIndex of_next = std::exchange(offsets[end], arcs);  // which may have its rows already
  if (sink && begin < end)
    sink->take(offsets.span().subspan(begin, end - begin + 1), rows.targets(), rows.weights());
  if (end + 1 < offsets.size()) offsets[end] = of_next;
  return arcs;
}

}  // namespace

/// The arcs of a bucket, from disk and from memory.
template <class Record>
std::vector<Record> ArcCollector<Record>::all_of(std::size_t bucket, Charge& memory) {
  const EdgeIndex                count = counted(bucket);
  std::vector<std::span<Record>> waiting;
  for (const auto& appender : appenders_) appender->append_segments(bucket, waiting);
  memory.raise_to(count * sizeof(Record));
  std::vector<Record> records(count);
  Record*             to = records.data();
  for (const auto& appender : appenders_)
    for (const SpilledArcs& part : appender->spilled(bucket)) {
      context_.outside->spill.read(part.at, to, part.count * sizeof(Record));
      to += part.count;
    }
  for (const auto& segment : waiting) to = std::ranges::copy(segment, to).out;
  return records;
}

/// visit(records) of a bucket, some at a time: less is held than all of them. What was written away lies in many
/// small parts, which are put together.
template <class Record>
template <class Visit>
void ArcCollector<Record>::visit_pieces(std::size_t bucket, Visit&& visit) {
  const std::uint64_t bytes = std::clamp<std::uint64_t>(context_.budget->limit() / 64, 64u << 10, 4u << 20);
  const std::uint64_t most  = std::min<std::uint64_t>(counted(bucket), bytes / sizeof(Record));
  Charge              memory{context_.budget, "reading a bucket"};
  memory.raise_to(most * sizeof(Record));
  std::vector<Record> piece(most);
  std::uint64_t       filled = 0;
  const auto          flush  = [&] { visit(std::span<const Record>{piece.data(), std::exchange(filled, 0)}); };
  for (const auto& appender : appenders_) {
    for (const SpilledArcs& part : appender->spilled(bucket))
      for (std::uint64_t done = 0, count = 0; done < part.count; done += count) {
        count = std::min(most - filled, part.count - done);
        context_.outside->spill.read(part.at + done * sizeof(Record), piece.data() + filled,
                                     count * sizeof(Record));
        filled += count;
        if (filled == most) flush();
      }
    std::vector<std::span<Record>> waiting;
    appender->append_segments(bucket, waiting);
    for (const auto& segment : waiting)
      for (std::uint64_t done = 0, count = 0; done < segment.size(); done += count) {
        count = std::min<std::uint64_t>(most - filled, segment.size() - done);
        std::copy_n(segment.data() + done, count, piece.data() + filled);
        filled += count;
        if (filled == most) flush();
      }
  }
  if (filled > 0) flush();
}

/// The rows of a bucket of which memory does not hold all: those of some of its sources, up to `most` arcs, then
/// those of the next. The bucket is read once for each part.
template <class Record>
EdgeIndex ArcCollector<Record>::build_in_parts(std::size_t bucket, std::uint64_t most, const VertexSet* members,
                                               const Buffer<EdgeIndex>& offsets, EdgeIndex arcs, RowSink* sink) {
  const std::uint64_t    vertices = offsets.size() - 1;
  std::vector<EdgeIndex> degrees(bucket_width);
  visit_pieces(bucket, [&](std::span<const Record> records) {
    for (const Record& record : records) ++degrees[record.low];
  });
  typename RowBuilder<Record>::Lows part{0, 0};
  for (; part.last < bucket_width; part.first = part.last) {
    check_cancelled(*context_.progress);
    EdgeIndex count = degrees[part.last++];
    while (part.last < bucket_width && count + degrees[part.last] <= most) count += degrees[part.last++];
    Charge memory{context_.budget, "the arcs of a bucket"};
    memory.raise_to(count * sizeof(Record));
    std::vector<Record> records;
    records.reserve(count);
    visit_pieces(bucket, [&](std::span<const Record> some) {
      for (const Record& record : some)
        if (record.low >= part.first && record.low < part.last) records.push_back(record);
    });
    typename RowBuilder<Record>::Scratch scratch;
    RowBuilder<Record> rows{context_, weight_type_, members, vertices, count, offsets.data(), part};
    const EdgeIndex    kept = rows.build(bucket, {std::span{records}}, 0, scratch);
    arcs                    = hand_on(rows, bucket, kept, offsets, arcs, sink);
  }
  return arcs;
}

template <class Record>
EdgeIndex ArcCollector<Record>::counted(std::size_t bucket) {
  std::vector<std::span<Record>> waiting;
  EdgeIndex                      count = 0;
  for (const auto& appender : appenders_) {
    appender->append_segments(bucket, waiting);
    for (const SpilledArcs& part : appender->spilled(bucket)) count += part.count;
  }
  for (const auto& segment : waiting) count += segment.size();
  return count;
}

/// The rows of some buckets, on all threads, handed on in order and forgotten; how many arcs there are by then.
template <class Record>
EdgeIndex ArcCollector<Record>::build_some(std::size_t first, std::size_t count, const VertexSet* members,
                                           const Buffer<EdgeIndex>& offsets, EdgeIndex arcs, RowSink* sink) {
  const std::uint64_t                              vertices = offsets.size() - 1;
  std::vector<EdgeIndex>                           kept(count);
  std::vector<std::unique_ptr<RowBuilder<Record>>> rows(count);
  for_each_task(context_.threads, count, [&](std::uint64_t i, int) {
    Charge                               memory{context_.budget, "building rows"};
    std::vector<Record>                  records = all_of(first + i, memory);
    typename RowBuilder<Record>::Scratch scratch;
    rows[i] = std::make_unique<RowBuilder<Record>>(context_, weight_type_, members, vertices, records.size(),
                                                   offsets.data(), typename RowBuilder<Record>::Lows{});
    kept[i] = rows[i]->build(first + i, {std::span{records}}, 0, scratch);
  });
  for (std::size_t i = 0; i < count; ++i) {
    arcs = hand_on(*rows[i], first + i, kept[i], offsets, arcs, sink);
    rows[i].reset();
  }
  return arcs;
}

template <class Record>
EdgeIndex ArcCollector<Record>::hand_over(const BucketRange& buckets, const VertexSet* members,
                                          const Buffer<EdgeIndex>& offsets, EdgeIndex arcs, RowSink* sink,
                                          const AfterBuckets& after) {
  // Records, rows and two copies to sort, for which what is left must do.
  const auto bytes_of = [&](std::size_t bucket) {
    return counted(bucket) * (3 * sizeof(Record) + edge_bytes(Record::weighted));
  };
  const std::uint64_t used  = context_.budget->used() + (sink ? sink->memory() : 0);
  const std::uint64_t limit = context_.budget->limit();
  const std::uint64_t room  = (limit - std::min(limit, used)) / 10 * 9;
  // Without room to sort in, rows are sorted where they lie.
  const EdgeIndex most = std::max<EdgeIndex>(room / (sizeof(Record) + edge_bytes(Record::weighted)), 1);
  for (std::size_t first = buckets.first, count = 0; first < buckets.last; first += count) {
    check_cancelled(*context_.progress);
    std::uint64_t bytes = bytes_of(first);
    for (count = 1; first + count < buckets.last && count < static_cast<std::size_t>(context_.threads); ++count) {
      bytes += bytes_of(first + count);
      if (bytes > room) break;
    }
    if (count == 1 && counted(first) > most)
      arcs = build_in_parts(first, most, members, offsets, arcs, sink);
    else
      arcs = build_some(first, count, members, offsets, arcs, sink);
    context_.progress->advance(count);
    if (after) after(first + count, arcs);
  }
  return arcs;
}

namespace {

/// Where handing over rows has got to, and their offsets so far, in a journal.
class RowsJournal {
 public:
  struct Step {
    std::uint64_t pass = 0, bucket = 0;
    EdgeIndex     arcs = 0;
    std::uint64_t rows = 0;  ///< whose offsets are kept
  };

  RowsJournal(BuildJournal* journal, const std::string& side, const Buffer<EdgeIndex>& offsets)
      : journal_(journal), side_(side), offsets_(offsets) {}

  /// Where an earlier process was.
  std::optional<Step> restored() {
    auto state = journal_ ? journal_->find(side_ + " rows") : std::nullopt;
    if (!state) return std::nullopt;
    const auto step = state->get<Step>();
    if (step.rows > offsets_.size()) throw bad_input("{} was changed; remove it to start anew", journal_->path());
    kept_ = step.rows;
    journal_->read(file(), 0, offsets_.data(), step.rows * sizeof(EdgeIndex));
    return step;
  }

  /// `rows`: of which the offsets are there.
  void put(std::uint64_t pass, std::size_t bucket, EdgeIndex arcs, std::uint64_t rows) {
    if (rows > kept_)
      journal_->write(file(), kept_ * sizeof(EdgeIndex), offsets_.data() + kept_,
                      (rows - kept_) * sizeof(EdgeIndex));
    kept_ = std::max(kept_, rows);
    StateWriter state;
    state.put(Step{pass, bucket, arcs, kept_});
    journal_->put(side_ + " rows", std::move(state));
  }

 private:
  std::string file() const { return side_ + "-rows"; }

  BuildJournal*            journal_;
  const std::string&       side_;
  const Buffer<EdgeIndex>& offsets_;
  std::uint64_t            kept_ = 0;
};

}  // namespace

template <class Record>
void ArcCollector<Record>::hand_over_all(std::size_t buckets, const VertexSet* members,
                                         const Buffer<EdgeIndex>& offsets, RowSink& sink,
                                         const std::string& side) {
  const std::uint64_t vertices   = offsets.size() - 1;
  const std::uint64_t first_pass = sink.wants_degrees() ? 0 : 1;
  BuildJournal* const journal    = context_.outside->spill.journal();
  RowsJournal         kept{journal, side, offsets};
  const auto          earlier   = kept.restored();
  RowsJournal::Step   step      = earlier.value_or(RowsJournal::Step{.pass = first_pass});
  const auto          first_row = [&](std::size_t bucket) {
    const std::uint64_t first = std::uint64_t{bucket} << bucket_bits;
    return members ? members->rank(std::min(first, members->universe())) : std::min(first, vertices);
  };
  if (earlier && step.pass == 1) {
    if (first_pass == 0) sink.take_degrees(offsets.span());
    sink.restore(*journal, side);
  }
  for (; step.pass < 2; ++step.pass) {
    const auto keep = [&](std::size_t bucket, EdgeIndex arcs) {
      if (!journal || bucket == buckets || !journal->due()) return;
      if (side == out_side && !saved_) save();  // arcs may have been in memory so far
      kept.put(step.pass, bucket, arcs, first_row(bucket));
      if (step.pass == 1) sink.save(*journal, side);
      journal->commit();
    };
    context_.progress->begin(
        fmt::format("{}{}", step.pass == 0 ? "counting" : "building", side == out_side ? "" : " in-edges"),
        buckets, ProgressUnit::items);
    context_.progress->advance(step.bucket);
    offsets[vertices] =
        hand_over({step.bucket, buckets}, members, offsets, step.arcs, step.pass == 1 ? &sink : nullptr, keep);
    context_.progress->end();
    if (step.pass == 0) sink.take_degrees(offsets.span());
    if (journal) kept.put(1, step.pass == 0 ? 0 : buckets, step.pass == 0 ? 0 : offsets[vertices], offsets.size());
    step.bucket = 0, step.arcs = 0;
  }
  // Whoever commits next speaks of all of it.
  if (journal) sink.save(*journal, side);
}

/// One bucket at a time: the disk is what it waits for.
template <class Record>
std::unique_ptr<VertexSet> ArcCollector<Record>::ids_that_appear(std::size_t bucket_count) {
  constexpr const char* ids     = "ids";
  auto                  members = std::make_unique<VertexSet>(id_bound(), context_.budget);
  BuildJournal* const   journal = context_.outside->spill.journal();
  const auto            words   = members->words();
  if (journal && journal->find(ids)) {
    journal->read(ids, 0, words.data(), words.size_bytes());
    return members;
  }
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    check_cancelled(*context_.progress);
    visit_pieces(bucket, [&](std::span<const Record> records) {
      for_each_share(context_.threads, records.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
        for (std::uint64_t i = begin; i < end; ++i) {
          members->insert(static_cast<Vertex>(bucket << bucket_bits | records[i].low));
          members->insert(records[i].target);
        }
      });
    });
  }
  for (const auto& appender : appenders_)
    for (const Vertex v : appender->dropped_loops()) members->insert(v);
  if (!journal) return members;
  journal->write(ids, 0, words.data(), words.size_bytes());
  journal->put(ids, {});
  return members;
}

/// Some buckets at a time.
template <class Record>
BuiltCsr ArcCollector<Record>::finish_outside(std::optional<std::uint64_t> vertex_count) {
  const std::uint64_t universe = id_bound();
  RowSink&            sink     = context_.outside->rows;
  const std::size_t   bucket_count =
      static_cast<std::size_t>((std::max(universe, vertex_count.value_or(0)) + bucket_width - 1) >> bucket_bits);
  BuiltCsr            built;
  BuildJournal* const journal = context_.outside->spill.journal();
  // Once some are on disk, all are: memory is for rows from here on, and for what the sink holds of them.
  if (context_.outside->spill.bytes() > 0 || sink.memory() > 0) write_away();
  saved_ = false;
  // What a sink commits later must have the arcs, too.
  if (journal && (journal->due() || sink.commits_later())) save();
  if (journal && journal->due()) journal->commit();
  std::unique_ptr<VertexSet> members;
  if (!vertex_count) {
    members      = numbered(ids_that_appear(bucket_count), built, context_.budget);
    vertex_count = members ? members->size() : universe;
  }
  sink.begin({.vertices       = *vertex_count,
              .weight_type    = weight_type_,
              .largest_weight = largest_weight(),
              .budget         = context_.budget});

  Buffer<EdgeIndex> offsets{*vertex_count + 1, context_.budget, "the row offsets"};
  hand_over_all(bucket_count, members.get(), offsets, sink, out_side);
  built.csr.offsets = std::move(offsets).freeze();
  return built;
}

// The rest of the collector is made in arc_collector.cpp.
#define SPILLWAY_OUTSIDE(Record)                                                                                 \
  template BuiltCsr                   ArcCollector<Record>::finish_outside(std::optional<std::uint64_t>);        \
  template std::unique_ptr<VertexSet> ArcCollector<Record>::ids_that_appear(std::size_t);                        \
  template std::vector<Record>        ArcCollector<Record>::all_of(std::size_t, Charge&);                        \
  template EdgeIndex                  ArcCollector<Record>::counted(std::size_t);                                \
  template EdgeIndex ArcCollector<Record>::build_in_parts(std::size_t, std::uint64_t, const VertexSet*,          \
                                                          const Buffer<EdgeIndex>&, EdgeIndex, RowSink*);        \
  template EdgeIndex ArcCollector<Record>::build_some(std::size_t, std::size_t, const VertexSet*,                \
                                                      const Buffer<EdgeIndex>&, EdgeIndex, RowSink*);            \
  template EdgeIndex ArcCollector<Record>::hand_over(                                                            \
      const BucketRange&, const VertexSet*, const Buffer<EdgeIndex>&, EdgeIndex, RowSink*, const AfterBuckets&); \
  template void ArcCollector<Record>::hand_over_all(std::size_t, const VertexSet*, const Buffer<EdgeIndex>&,     \
                                                    RowSink&, const std::string&);
SPILLWAY_OUTSIDE(Arc)
SPILLWAY_OUTSIDE(WeightedArc)
#undef SPILLWAY_OUTSIDE

}  // namespace spillway
