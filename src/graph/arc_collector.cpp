#include "graph/arc_collector.hpp"

#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"
#include "base/refusal.hpp"
#include "graph/build_size.hpp"
#include "graph/row_builder.hpp"
#include "graph/vertex_set.hpp"

namespace spillway {
namespace {

// Blocks grow with their bucket: what lies unused at its end is then at most an eighth of it, however many threads
// share the arcs, and a large bucket still consists of few blocks.
constexpr std::uint64_t first_block_bytes   = 512;
constexpr std::uint64_t largest_block_bytes = 256u << 10;
constexpr std::uint64_t growth_divisor      = 8;
constexpr std::uint64_t block_page          = 4096;
constexpr std::uint64_t first_slab_bytes    = 1u << 20;
constexpr std::uint64_t largest_slab_bytes  = 8u << 20;

}  // namespace

BlockPool::Block BlockPool::take(std::uint64_t bytes, std::uint64_t alignment) {
  const std::scoped_lock lock{mutex_};
  used_in_last_ = (used_in_last_ + alignment - 1) / alignment * alignment;
  if (slabs_.empty() || slabs_.back().bytes() < used_in_last_ + bytes) {
    const std::uint64_t last = slabs_.empty() ? first_slab_bytes / 2 : slabs_.back().bytes();
    slabs_.emplace_back(std::min(last * 2, largest_slab_bytes), budget_, "collecting the arcs");
    used_in_last_ = 0;
  }
  const Block block{slabs_.back().data() + used_in_last_, bytes, static_cast<std::uint32_t>(slabs_.size() - 1)};
  used_in_last_ += bytes;
  bytes_ += bytes;
  return block;
}

void BlockPool::release(const Block& block) {
  const std::scoped_lock lock{mutex_};
  Pages&                 slab  = slabs_[block.slab];
  const auto             begin = static_cast<std::uint64_t>(block.data - slab.data());
  slab.release(begin, begin + block.bytes);
}

template <class Record>
void ArcCollector<Record>::Appender::refill(std::size_t bucket) {
  if (spill_ && pool_->bytes() >= most_bytes_) write_away();
  const std::uint64_t held  = bytes_[bucket];
  const std::uint64_t bytes = std::clamp(held / growth_divisor, first_block_bytes, largest_block_bytes);
  // Whole pages, so that they can be given back; small blocks whole cache lines, since their neighbours may belong
  // to other threads.
  const std::uint64_t unit  = bytes < block_page ? 64 : block_page;
  const auto          block = pool_->take((bytes + unit - 1) / unit * unit, unit);
  blocks_[bucket].push_back(block);
  bytes_[bucket] += block.bytes;
  auto* first    = reinterpret_cast<Record*>(block.data);
  heads_[bucket] = {first, first + block.bytes / sizeof(Record)};
}

/// All that waits goes to disk, bucket by bucket, in writes of megabytes; its memory is given back.
template <class Record>
void ArcCollector<Record>::Appender::write_away() {
  constexpr std::size_t          most = (4u << 20) / sizeof(Record);
  std::vector<Record>            records;
  std::vector<std::span<Record>> segments;
  records.reserve(most);
  std::vector<std::pair<std::size_t, std::uint64_t>> counts;  // of what is in `records`
  const auto                                         flush = [&] {
    std::uint64_t at = spill_->write(records.data(), records.size() * sizeof(Record));
    for (const auto& [bucket, count] : counts) {
      spilled_[bucket].push_back({at, count});
      at += count * sizeof(Record);
    }
    records.clear(), counts.clear();
  };
  spilled_.resize(std::max(spilled_.size(), blocks_.size()));
  for (std::size_t bucket = 0; bucket < blocks_.size(); ++bucket) {
    segments.clear();
    append_segments(only_.first + bucket, segments);
    for (const auto& segment : segments)
      for (std::size_t first = 0; first < segment.size();) {
        const std::size_t count = std::min(segment.size() - first, most - records.size());
        records.insert(records.end(), segment.begin() + static_cast<std::ptrdiff_t>(first),
                       segment.begin() + static_cast<std::ptrdiff_t>(first + count));
        if (!counts.empty() && counts.back().first == bucket)
          counts.back().second += count;
        else
          counts.emplace_back(bucket, count);
        first += count;
        if (records.size() == most) flush();
      }
    blocks_[bucket].clear();
    heads_[bucket] = {}, bytes_[bucket] = 0;
  }
  if (!records.empty()) flush();
  pool_->clear();
}

template <class Record>
void ArcCollector<Record>::Appender::append_segments(std::size_t                     bucket,
                                                     std::vector<std::span<Record>>& segments) {
  bucket -= only_.first;
  if (bucket >= blocks_.size()) return;
  for (const BlockPool::Block& block : blocks_[bucket]) {
    auto*      first = reinterpret_cast<Record*>(block.data);
    const bool last  = &block == &blocks_[bucket].back();
    segments.emplace_back(first, last ? heads_[bucket].next : first + block.bytes / sizeof(Record));
  }
}

template <class Record>
void ArcCollector<Record>::Appender::release(std::size_t bucket) {
  bucket -= only_.first;
  if (bucket >= blocks_.size()) return;
  for (const BlockPool::Block& block : blocks_[bucket]) pool_->release(block);
  blocks_[bucket] = {};
  heads_[bucket]  = {};
}

template <class Record>
void ArcCollector<Record>::Appender::Summary::add(const Summary& other) {
  largest        = std::max(largest, other.largest);
  largest_weight = std::max(largest_weight, other.largest_weight);
  any |= other.any;
  directions.up += other.directions.up;
  directions.down += other.directions.down;
}

template <class Record>
void ArcCollector<Record>::Appender::restore(const Summary& summary, std::vector<Vertex> loops,
                                             std::vector<std::vector<SpilledArcs>> spilled) {
  largest_        = summary.largest;
  largest_weight_ = summary.largest_weight;
  any_            = summary.any != 0;
  directions_     = summary.directions;
  dropped_loops_  = std::move(loops);
  spilled_        = std::move(spilled);
}

template <class Record>
void ArcCollector<Record>::save(const std::string& name) {
  write_away();
  typename Appender::Summary summary;
  std::vector<Vertex>        loops;
  std::size_t                buckets = 0;
  for (const auto& appender : appenders_) {
    summary.add(appender->summary());
    loops.insert(loops.end(), appender->dropped_loops().begin(), appender->dropped_loops().end());
    buckets = std::max(buckets, appender->spilled_buckets());
  }
  std::ranges::sort(loops);
  loops.erase(std::unique(loops.begin(), loops.end()), loops.end());
  StateWriter state;
  state.put(summary);
  state.put_all(std::span<const Vertex>{loops});
  state.put(std::uint64_t{buckets});
  std::vector<SpilledArcs> parts;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    parts.clear();
    for (const auto& appender : appenders_) {
      const auto own = appender->spilled(bucket);
      parts.insert(parts.end(), own.begin(), own.end());
    }
    state.put_all(std::span<const SpilledArcs>{parts});
  }
  ArcSpill& spill = context_.outside->spill;
  spill.save();
  spill.journal()->put(name, std::move(state));
  saved_ = true;
}

template <class Record>
void ArcCollector<Record>::restore(const std::string& name) {
  const BuildJournal* const journal = context_.outside ? context_.outside->spill.journal() : nullptr;
  auto                      state   = journal ? journal->find(name) : std::nullopt;
  if (!state) return;
  const auto                            summary = state->get<typename Appender::Summary>();
  std::vector<Vertex>                   loops   = state->get_all<Vertex>();
  std::vector<std::vector<SpilledArcs>> spilled(state->get<std::uint64_t>());
  for (auto& parts : spilled) parts = state->get_all<SpilledArcs>();
  appenders_.front()->restore(summary, std::move(loops), std::move(spilled));
}

template <class Record>
ArcCollector<Record>::ArcCollector(const BuildContext& context, WeightType weight_type)
    : context_(context), weight_type_(weight_type) {
  ArcSpill* const     spill  = context.outside ? &context.outside->spill : nullptr;
  const std::uint64_t most   = spill ? spill->memory() / static_cast<std::uint64_t>(context.threads) : 0;
  const auto          shared = std::make_shared<BlockPool>(context.budget);
  for (int thread = 0; thread < context_.threads; ++thread)
    appenders_.push_back(std::make_unique<Appender>(spill ? std::make_shared<BlockPool>(context.budget) : shared,
                                                    context_.transform, spill, most, context_.only));
}

template <class Record>
ArcCollector<Record>::~ArcCollector() = default;

template <class Record>
std::uint64_t ArcCollector<Record>::id_bound() const {
  std::uint64_t bound = 0;
  for (const auto& appender : appenders_)
    if (appender->any()) bound = std::max(bound, std::uint64_t{appender->largest()} + 1);
  return bound;
}

template <class Record>
void ArcCollector<Record>::note_directions() {
  if (!context_.directions) return;
  *context_.directions = {};
  for (const auto& appender : appenders_) {
    context_.directions->up += appender->directions().up;
    context_.directions->down += appender->directions().down;
  }
}

namespace {

/// The ids that appear, as vertices in their order; null where they are all below their bound.
std::unique_ptr<VertexSet> numbered(std::unique_ptr<VertexSet> members, BuiltCsr& built,
                                    const std::shared_ptr<MemoryBudget>& budget) {
  members->close();
  const std::uint64_t count = members->size();
  if (count == members->universe()) return nullptr;
  Buffer<std::uint64_t> ids{count, budget, "the table of vertex ids"};
  std::uint64_t         next = 0;
  members->for_each([&](Vertex v) { ids[next++] = v; });
  built.first_id = next > 0 ? ids[0] : 0;
  if (next > 0 && ids[next - 1] - ids[0] + 1 != next) built.original_ids = std::move(ids).freeze();
  return members;
}

}  // namespace

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

template <class Record>
void ArcCollector<Record>::write_away() {
  for (const auto& appender : appenders_) appender->write_away();
}

template <class Record>
std::vector<EdgeIndex> ArcCollector<Record>::dropped() const {
  std::vector<EdgeIndex> all;
  for (const auto& appender : appenders_) {
    all.resize(std::max(all.size(), appender->dropped().size()));
    for (std::size_t i = 0; i < appender->dropped().size(); ++i) all[i] += appender->dropped()[i];
  }
  return all;
}

template <class Record>
std::uint32_t ArcCollector<Record>::largest_weight() const {
  std::uint32_t largest = 0;
  for (const auto& appender : appenders_) largest = std::max(largest, appender->largest_weight());
  return largest;
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

template <class Record>
BuiltCsr ArcCollector<Record>::finish(std::optional<std::uint64_t> vertex_count) && {
  const std::uint64_t universe = id_bound();
  if (vertex_count && universe > *vertex_count)
    throw internal_error("vertex {} in a graph of {} vertices", universe - 1, *vertex_count);
  if (universe > max_vertices) throw bad_input("vertex id {} is not below 2^32-1", universe - 1);
  note_directions();
  if (context_.outside) return finish_outside(vertex_count);

  const std::size_t bucket_count =
      static_cast<std::size_t>((std::max(universe, vertex_count.value_or(0)) + bucket_width - 1) >> bucket_bits);
  const auto segments_of = [&](std::size_t bucket) {
    std::vector<std::span<Record>> segments;
    for (const auto& appender : appenders_) appender->append_segments(bucket, segments);
    return segments;
  };

  BuiltCsr                   built;
  std::unique_ptr<VertexSet> members;
  if (!vertex_count) {
    members = std::make_unique<VertexSet>(universe, context_.budget);
    for_each_task(context_.threads, bucket_count, [&](std::uint64_t bucket, int) {
      for (const auto& segment : segments_of(bucket))
        for (const Record& record : segment) {
          members->insert(static_cast<Vertex>(bucket << bucket_bits | record.low));
          members->insert(record.target);
        }
    });
    for (const auto& appender : appenders_)
      for (const Vertex v : appender->dropped_loops()) members->insert(v);
    members      = numbered(std::move(members), built, context_.budget);
    vertex_count = members ? members->size() : universe;
  }

  std::vector<EdgeIndex> bases(bucket_count), kept(bucket_count);
  EdgeIndex              arcs = 0, fullest = 0;
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    bases[bucket] = arcs;
    for (const auto& segment : segments_of(bucket)) arcs += segment.size();
    fullest = std::max(fullest, arcs - bases[bucket]);
  }

  context_.progress->begin("building", arcs, ProgressUnit::edges);
  RowBuilder<Record> rows{context_, weight_type_, members.get(), *vertex_count, arcs, fullest};
  {
    std::vector<std::unique_ptr<typename RowBuilder<Record>::Scratch>> scratch(
        static_cast<std::size_t>(context_.threads));
    for_each_task(context_.threads, bucket_count, [&](std::uint64_t bucket, int thread) {
      check_cancelled(*context_.progress);
      auto& mine = scratch[static_cast<std::size_t>(thread)];
      if (!mine) mine = std::make_unique<typename RowBuilder<Record>::Scratch>();
      const auto segments = segments_of(bucket);
      kept[bucket]        = rows.build(bucket, segments, bases[bucket], *mine);
      for (const auto& appender : appenders_) appender->release(bucket);
      context_.progress->advance((bucket + 1 < bucket_count ? bases[bucket + 1] : arcs) - bases[bucket]);
    });
  }
  built.csr = rows.finish(bases, kept);
  context_.progress->end();
  return built;
}

template class ArcCollector<Arc>;
template class ArcCollector<WeightedArc>;

namespace {

/// Slabs that hold `bytes` of blocks, as BlockPool::take grows them.
std::uint64_t slab_bytes(std::uint64_t bytes) {
  std::uint64_t held = 0;
  for (std::uint64_t slab = first_slab_bytes; held < bytes && slab < largest_slab_bytes; slab *= 2) held += slab;
  if (held >= bytes) return held;
  return held + (bytes - held + largest_slab_bytes - 1) / largest_slab_bytes * largest_slab_bytes;
}

// Kronecker graphs with shuffled ids stay within this multiple of the mean.
constexpr std::uint64_t usual_skew = 2;

std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + block_page - 1) / block_page * block_page; }

}  // namespace

std::uint64_t rows_bytes(std::uint64_t vertices, EdgeIndex arcs, bool weighted) {
  return whole_pages((vertices + 1) * sizeof(EdgeIndex)) + whole_pages(arcs * sizeof(Vertex)) * (weighted ? 2 : 1);
}

std::uint64_t building_bytes(std::uint64_t vertices, EdgeIndex arcs, bool weighted) {
  return vertices * sizeof(EdgeIndex) + arcs * (weighted ? sizeof(WeightedArc) : sizeof(Arc));
}

namespace {

std::uint64_t bucket_count_of(const BuildSize& size) {
  return std::max<std::uint64_t>({(size.vertices + bucket_width - 1) >> bucket_bits, size.buckets, 1});
}

std::uint64_t waiting_bytes(const BuildSize& size) {
  return size.arcs * (size.weighted ? sizeof(WeightedArc) : sizeof(Arc));
}

}  // namespace

std::uint64_t collecting_bytes(const BuildSize& size) {
  // Of each bucket's blocks the last is half empty: half of an eighth of it, or of the smallest.
  const std::uint64_t waiting   = waiting_bytes(size);
  const std::uint64_t appenders = bucket_count_of(size) * static_cast<std::uint64_t>(size.threads);
  return slab_bytes(waiting + waiting / (2 * growth_divisor) + appenders * first_block_bytes / 2);
}

std::uint64_t building_peak(const BuildSize& size) {
  const std::uint64_t arc       = edge_bytes(size.weighted);
  const auto          threads   = static_cast<std::uint64_t>(size.threads);
  const std::uint64_t buckets   = bucket_count_of(size);
  const std::uint64_t waiting   = waiting_bytes(size);
  const std::uint64_t collected = collecting_bytes(size);
  // Blocks below a page are not given back while building goes on.
  const std::uint64_t kept_a_bucket = growth_divisor * block_page * threads;
  const std::uint64_t given_back    = waiting - std::min(waiting, buckets * kept_a_bucket);
  const std::uint64_t fullest =
      size.largest_bucket > 0 ? size.largest_bucket : std::min(size.arcs, usual_skew * size.arcs / buckets);
  const std::uint64_t at_once = std::min(fullest * threads, size.arcs) * arc;  // rows being made before blocks go
  const std::uint64_t surplus = size.arcs * arc - std::min(size.arcs * arc, given_back);
  return whole_pages((size.vertices + 1) * sizeof(EdgeIndex)) + collected + std::max(at_once, surplus);
}

EdgeIndex largest_bucket(const Csr& csr, bool by_target, int threads) {
  const std::size_t bucket_count =
      static_cast<std::size_t>((csr.vertex_count() + bucket_width - 1) >> bucket_bits);
  if (bucket_count == 0) return 0;
  std::vector<EdgeIndex> arcs(bucket_count);
  if (!by_target) {
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
      const std::uint64_t first = std::uint64_t{bucket} << bucket_bits;
      arcs[bucket] =
          csr.offsets[std::min<std::uint64_t>(first + bucket_width, csr.vertex_count())] - csr.offsets[first];
    }
  } else {
    std::mutex mutex;
    for_each_share(threads, csr.arc_count(), [&](std::uint64_t begin, std::uint64_t end, int) {
      std::vector<EdgeIndex> mine(bucket_count);
      for (EdgeIndex i = begin; i < end; ++i) ++mine[csr.targets[i] >> bucket_bits];
      const std::scoped_lock lock{mutex};
      for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) arcs[bucket] += mine[bucket];
    });
  }
  return *std::max_element(arcs.begin(), arcs.end());
}

}  // namespace spillway
