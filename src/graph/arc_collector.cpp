#include "graph/arc_collector.hpp"

#include <numeric>

#include <spillway/engine/parallel.hpp>
#include "base/fail.hpp"
#include "base/refusal.hpp"
#include "graph/build_size.hpp"
#include "graph/vertex_set.hpp"
#include "graph/weight_order.hpp"

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

constexpr Vertex bucket_width = 1u << bucket_bits;

// Sorting a bucket by radix needs room for two copies of it. Up to 40 % of the result, shared by the threads, may
// go into that: with arcs waiting at 150 % this is within the 220 % that building may hold. Larger buckets (hubs)
// are sorted row by row in place.
constexpr std::uint64_t scratch_floor_bytes = 16u << 20;
constexpr std::uint64_t scratch_percent     = 40;
constexpr unsigned      largest_digit_bits  = 11;

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
  spilled_.resize(blocks_.size());
  for (std::size_t bucket = 0; bucket < blocks_.size(); ++bucket) {
    segments.clear();
    append_segments(bucket, segments);
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
  if (bucket >= blocks_.size()) return;
  for (const BlockPool::Block& block : blocks_[bucket]) {
    auto*      first = reinterpret_cast<Record*>(block.data);
    const bool last  = &block == &blocks_[bucket].back();
    segments.emplace_back(first, last ? heads_[bucket].next : first + block.bytes / sizeof(Record));
  }
}

template <class Record>
void ArcCollector<Record>::Appender::release(std::size_t bucket) {
  if (bucket >= blocks_.size()) return;
  for (const BlockPool::Block& block : blocks_[bucket]) pool_->release(block);
  blocks_[bucket] = {};
  heads_[bucket]  = {};
}

template <class Record>
EdgeIndex ArcCollector<Record>::Appender::arc_count() const {
  EdgeIndex arcs = 0;
  for (std::size_t bucket = 0; bucket < blocks_.size(); ++bucket) {
    for (const BlockPool::Block& block : blocks_[bucket]) arcs += block.bytes / sizeof(Record);
    arcs -= static_cast<EdgeIndex>(heads_[bucket].end - heads_[bucket].next);
  }
  return arcs;
}

template <class Record>
ArcCollector<Record>::ArcCollector(const BuildContext& context, WeightType weight_type)
    : context_(context), weight_type_(weight_type) {
  ArcSpill* const     spill  = context.outside ? &context.outside->spill : nullptr;
  const std::uint64_t most   = spill ? spill->memory() / static_cast<std::uint64_t>(context.threads) : 0;
  const auto          shared = std::make_shared<BlockPool>(context.budget);
  for (int thread = 0; thread < context_.threads; ++thread)
    appenders_.push_back(std::make_unique<Appender>(spill ? std::make_shared<BlockPool>(context.budget) : shared,
                                                    context_.transform, spill, most));
}

template <class Record>
ArcCollector<Record>::~ArcCollector() = default;

template <class Record>
EdgeIndex ArcCollector<Record>::arc_count() const {
  EdgeIndex arcs = 0;
  for (const auto& appender : appenders_) arcs += appender->arc_count();
  return arcs;
}

template <class Record>
std::uint64_t ArcCollector<Record>::id_bound() const {
  std::uint64_t bound = 0;
  for (const auto& appender : appenders_)
    if (appender->any()) bound = std::max(bound, std::uint64_t{appender->largest()} + 1);
  return bound;
}

namespace {

/// One build of rows from buckets: what all buckets share, and the steps a bucket goes through.
template <class Record>
class RowBuilder {
 public:
  using Segments = std::vector<std::span<Record>>;

  struct Scratch {
    std::vector<EdgeIndex>     next = std::vector<EdgeIndex>(bucket_width + 1);
    std::vector<Vertex>        last = std::vector<Vertex>(bucket_width);
    Buffer<Record>             records[2];
    std::vector<std::uint64_t> keys;
  };

  RowBuilder(const BuildContext& context, WeightType weight_type, const VertexSet* members, std::uint64_t vertices,
             EdgeIndex arcs, EdgeIndex largest_bucket)
      : context_(context), weight_type_(weight_type), members_(members), vertices_(vertices) {
    const std::shared_ptr<MemoryBudget> uncounted;  // targets are counted bucket by bucket, as buckets are freed
    offsets_ = Buffer<EdgeIndex>{vertices + 1, context.budget, "the row offsets"};
    targets_ = Buffer<Vertex>{arcs, uncounted, "the arcs"};
    if (Record::weighted) weights_ = Buffer<std::uint32_t>{arcs, uncounted, "the weights"};
    scratch_bytes_ = std::max(scratch_floor_bytes, arcs * arc_bytes * scratch_percent / 100) /
                     static_cast<std::uint64_t>(context.threads);
    reserve_ =
        std::min(arcs, largest_bucket * static_cast<std::uint64_t>(context.threads)) * arc_bytes + (1u << 20);
  }

  /// Of one bucket, with the offsets of all: rows lie in memory of its own.
  RowBuilder(const BuildContext& context, WeightType weight_type, const VertexSet* members, std::uint64_t vertices,
             EdgeIndex arcs, EdgeIndex* offsets)
      : context_(context), weight_type_(weight_type), members_(members), vertices_(vertices), counted_(true) {
    shared_offsets_ = offsets;
    targets_        = Buffer<Vertex>{arcs, context.budget, "the arcs"};
    if (Record::weighted) weights_ = Buffer<std::uint32_t>{arcs, context.budget, "the weights"};
    scratch_bytes_ = std::max(scratch_floor_bytes, 2 * arcs * sizeof(Record));
  }

  RowBuilder(const RowBuilder&) = delete;
  ~RowBuilder() { context_.budget->give(taken_); }

  /// Builds the rows of one bucket at `base`; returns how many arcs it kept.
  EdgeIndex build(std::size_t bucket, const Segments& segments, EdgeIndex base, Scratch& scratch) {
    EdgeIndex total = 0;
    for (const auto& segment : segments) total += segment.size();
    if (!counted_) {
      context_.budget->take(total * arc_bytes, "the arcs");
      taken_.fetch_add(total * arc_bytes, std::memory_order_relaxed);
    }

    const bool sorted = count(segments, scratch);
    start_rows(bucket, scratch);
    if (sorted) {
      for (const auto& segment : segments) scatter(segment, base, scratch);
    } else if (make_room(total, scratch)) {
      scatter(sorted_by_target(segments, total, scratch), base, scratch);
    } else {
      for (const auto& segment : segments) scatter(segment, base, scratch);
      each_row(bucket, base, total, [&](EdgeIndex begin, EdgeIndex end) { sort_row(begin, end, scratch); });
    }
    if (Record::weighted && !sorted && !context_.transform.dedup)
      each_row(bucket, base, total,
               [&](EdgeIndex begin, EdgeIndex end) { order_parallel_arcs(begin, end, scratch); });
    return context_.transform.dedup ? drop_duplicates(bucket, base, total) : total;
  }

  std::pair<std::uint64_t, std::uint64_t> rows_of(std::size_t bucket) const {
    const std::uint64_t first = std::uint64_t{bucket} << bucket_bits;
    const std::uint64_t last  = first + bucket_width;
    if (!members_) return {std::min(first, vertices_), std::min(last, vertices_)};
    return {members_->rank(std::min(first, members_->universe())),
            members_->rank(std::min(last, members_->universe()))};
  }
  const Vertex*        targets() const { return targets_.data(); }
  const std::uint32_t* weights() const { return Record::weighted ? weights_.data() : nullptr; }

  /// Closes the gaps that dropped duplicates left between buckets and makes the offsets absolute.
  Csr finish(const std::vector<EdgeIndex>& bases, const std::vector<EdgeIndex>& kept) {
    EdgeIndex              arcs = 0;
    std::vector<EdgeIndex> final_bases;
    for (std::size_t bucket = 0; bucket < kept.size(); ++bucket) {
      if (arcs != bases[bucket]) move(bases[bucket], arcs, kept[bucket]);
      final_bases.push_back(arcs);
      arcs += kept[bucket];
    }
    for_each_task(context_.threads, kept.size(), [&](std::uint64_t bucket, int) {
      const auto [first, last] = rows_of(bucket);
      for (std::uint64_t row = first; row < last; ++row) offsets_[row] += final_bases[bucket];
    });
    offsets_[vertices_] = arcs;

    const std::uint64_t per_array = taken_.exchange(0) / (Record::weighted ? 2 : 1);
    targets_.count_in(context_.budget, per_array);
    targets_.shrink(arcs);
    if (Record::weighted) {
      weights_.count_in(context_.budget, per_array);
      weights_.shrink(arcs);
    }
    return {std::move(offsets_).freeze(), std::move(targets_).freeze(), std::move(weights_).freeze()};
  }

 private:
  static constexpr std::uint64_t arc_bytes = edge_bytes(Record::weighted);

  EdgeIndex* offsets() const { return shared_offsets_ ? shared_offsets_ : offsets_.data(); }

  /// Renumbers targets, counts the arcs of each source, and says whether all rows arrive in order.
  bool count(const Segments& segments, Scratch& scratch) {
    std::fill(scratch.next.begin(), scratch.next.end(), 0);
    std::fill(scratch.last.begin(), scratch.last.end(), 0);
    bool sorted = true;
    for (const auto& segment : segments) {
      for (Record& record : segment) {
        Vertex target = record.target;
        if (members_) record.target = target = members_->rank(target);
        ++scratch.next[record.low + 1u];
        // With weights equal neighbours count as out of order: their weights may be.
        sorted &= Record::weighted ? scratch.last[record.low] < target + 1 : scratch.last[record.low] <= target;
        scratch.last[record.low] = Record::weighted ? target + 1 : target;
      }
    }
    return sorted;
  }

  /// Turns counts into places, and writes the offsets of the bucket's rows relative to its base.
  void start_rows(std::size_t bucket, Scratch& scratch) {
    std::partial_sum(scratch.next.begin(), scratch.next.end(), scratch.next.begin());
    const std::uint64_t first_id = std::uint64_t{bucket} << bucket_bits;
    const auto [first, last]     = rows_of(bucket);
    std::uint64_t row            = first;
    for (std::uint64_t low = 0; row < last; ++low)
      if (!members_ || members_->contains(static_cast<Vertex>(first_id + low)))
        offsets()[row++] = scratch.next[low];
  }

  void scatter(std::span<const Record> records, EdgeIndex base, Scratch& scratch) {
    for (const Record& record : records) {
      const EdgeIndex place = base + scratch.next[record.low]++;
      targets_[place]       = record.target;
      if constexpr (Record::weighted) weights_[place] = record.weight;
    }
  }

  /// Room for two copies of the bucket, if that is within bounds; without, rows are sorted where they lie.
  bool make_room(EdgeIndex total, Scratch& scratch) {
    const std::uint64_t bytes = total * sizeof(Record);
    if (bytes * 2 > scratch_bytes_) return false;
    if (scratch.records[0].size() >= total) return true;
    for (auto& copy : scratch.records) copy = {};
    // What rows of other buckets will take comes first: sorting can do without.
    if (!context_.budget->has_room(bytes * 2 + reserve_)) return false;
    try {
      for (auto& copy : scratch.records) copy = Buffer<Record>{total, context_.budget, "sorting the arcs"};
    } catch (const MemoryRefusal&) {  // another thread was faster
      for (auto& copy : scratch.records) copy = {};
      return false;
    }
    return true;
  }

  /// All records of the bucket, stably sorted by target with a least-significant-digit radix sort.
  std::span<const Record> sorted_by_target(const Segments& segments, EdgeIndex total, Scratch& scratch) {
    const auto     bits   = static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(vertices_ - 1, 1)));
    const unsigned passes = (bits + largest_digit_bits - 1) / largest_digit_bits;
    const unsigned digit  = (bits + passes - 1) / passes;
    Segments       from   = segments;
    for (unsigned pass = 0; pass < passes; ++pass) {
      Record* to = scratch.records[pass % 2].data();
      sort_digit(from, pass * digit, digit, to);
      from.assign(1, {to, total});
    }
    return from.front();
  }

  static void sort_digit(const Segments& from, unsigned shift, unsigned bits, Record* to) {
    const Vertex           mask = (1u << bits) - 1;
    std::vector<EdgeIndex> next((1u << bits) + 1);
    for (const auto& segment : from)
      for (const Record& record : segment) ++next[(record.target >> shift & mask) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const auto& segment : from)
      for (const Record& record : segment) to[next[record.target >> shift & mask]++] = record;
  }

  /// visit(begin, end) with the place of every row of the bucket that has more than one arc.
  template <class Visit>
  void each_row(std::size_t bucket, EdgeIndex base, EdgeIndex total, Visit&& visit) {
    const auto [first, last] = rows_of(bucket);
    for (std::uint64_t row = first; row < last; ++row) {
      const EdgeIndex begin = offsets()[row];
      const EdgeIndex end   = row + 1 < last ? offsets()[row + 1] : total;
      if (end - begin > 1) visit(base + begin, base + end);
    }
  }

  void sort_row(EdgeIndex begin, EdgeIndex end, Scratch& scratch) {
    if constexpr (!Record::weighted) {
      std::sort(targets_.data() + begin, targets_.data() + end);
    } else {
      sort_weighted(begin, end, scratch.keys);
    }
  }

  /// Rows are in order by target; arcs with the same target are put in order of weight.
  void order_parallel_arcs(EdgeIndex begin, EdgeIndex end, Scratch& scratch) {
    for (EdgeIndex i = begin; i < end;) {
      EdgeIndex j = i + 1;
      while (j < end && targets_[j] == targets_[i]) ++j;
      if (j - i > 1) sort_weighted(i, j, scratch.keys);
      i = j;
    }
  }

  void sort_weighted(EdgeIndex begin, EdgeIndex end, std::vector<std::uint64_t>& keys) {
    keys.resize(end - begin);
    for (EdgeIndex i = begin; i < end; ++i)
      keys[i - begin] = std::uint64_t{targets_[i]} << 32 | weight_rank(weight_type_, weights_[i]);
    std::sort(keys.begin(), keys.end());
    for (EdgeIndex i = begin; i < end; ++i) {
      targets_[i] = static_cast<Vertex>(keys[i - begin] >> 32);
      weights_[i] = weight_from_rank(weight_type_, static_cast<std::uint32_t>(keys[i - begin]));
    }
  }

  /// Keeps the lightest of parallel arcs, which need not be in order, and moves the rows of the bucket together.
  EdgeIndex drop_duplicates(std::size_t bucket, EdgeIndex base, EdgeIndex total) {
    const auto [first, last] = rows_of(bucket);
    EdgeIndex to             = 0;
    for (std::uint64_t row = first; row < last; ++row) {
      const EdgeIndex begin = offsets()[row];
      const EdgeIndex end   = row + 1 < last ? offsets()[row + 1] : total;
      offsets()[row]        = to;
      for (EdgeIndex i = begin; i < end; ++i) {
        if (i > begin && targets_[base + i] == targets_[base + to - 1]) {
          if constexpr (Record::weighted) keep_lighter(base + to - 1, base + i);
          continue;
        }
        targets_[base + to] = targets_[base + i];
        if constexpr (Record::weighted) weights_[base + to] = weights_[base + i];
        ++to;
      }
    }
    return to;
  }

  void keep_lighter(EdgeIndex kept, EdgeIndex other) {
    if (weight_rank(weight_type_, weights_[other]) < weight_rank(weight_type_, weights_[kept]))
      weights_[kept] = weights_[other];
  }

  void move(EdgeIndex from, EdgeIndex to, EdgeIndex count) {
    std::memmove(targets_.data() + to, targets_.data() + from, count * sizeof(Vertex));
    if constexpr (Record::weighted)
      std::memmove(weights_.data() + to, weights_.data() + from, count * sizeof(std::uint32_t));
  }

  const BuildContext&        context_;
  WeightType                 weight_type_;
  const VertexSet*           members_;
  std::uint64_t              vertices_;
  std::uint64_t              scratch_bytes_;
  std::uint64_t              reserve_        = 0;      ///< that sorting leaves to rows
  bool                       counted_        = false;  ///< memory for rows, when it was taken
  EdgeIndex*                 shared_offsets_ = nullptr;
  Buffer<EdgeIndex>          offsets_;
  Buffer<Vertex>             targets_;
  Buffer<std::uint32_t>      weights_;
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace

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

/// The arcs of a bucket, from disk and from memory.
template <class Record>
std::vector<Record> ArcCollector<Record>::all_of(std::size_t bucket, Charge& memory) {
  std::vector<std::span<Record>> waiting;
  std::uint64_t                  count = 0;
  for (const auto& appender : appenders_) {
    appender->append_segments(bucket, waiting);
    for (const SpilledArcs& part : appender->spilled(bucket)) count += part.count;
  }
  for (const auto& segment : waiting) count += segment.size();
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
                                                   offsets.data());
    kept[i] = rows[i]->build(first + i, {std::span{records}}, 0, scratch);
  });
  for (std::size_t i = 0; i < count; ++i) {
    const auto [begin, end] = rows[i]->rows_of(first + i);
    for (std::uint64_t row = begin; row < end; ++row) offsets[row] += arcs;
    arcs += kept[i];
    const EdgeIndex of_next = std::exchange(offsets[end], arcs);  // which may have its rows already
    if (sink && begin < end)
      sink->take(offsets.span().subspan(begin, end - begin + 1), rows[i]->targets(), rows[i]->weights());
    if (end < vertices) offsets[end] = of_next;
    rows[i].reset();
  }
  return arcs;
}

/// Some buckets at a time.
template <class Record>
BuiltCsr ArcCollector<Record>::finish_outside(std::optional<std::uint64_t> vertex_count) {
  const std::uint64_t universe = id_bound();
  RowSink&            sink     = context_.outside->rows;
  const std::size_t   bucket_count =
      static_cast<std::size_t>((std::max(universe, vertex_count.value_or(0)) + bucket_width - 1) >> bucket_bits);
  BuiltCsr built;
  // Once some are on disk, all are: memory is for rows from here on.
  if (context_.outside->spill.bytes() > 0)
    for (const auto& appender : appenders_) appender->write_away();
  std::unique_ptr<VertexSet> members;
  if (!vertex_count) {
    members = std::make_unique<VertexSet>(universe, context_.budget);
    // One bucket at a time: the disk is what it waits for.
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
      check_cancelled(*context_.progress);
      Charge                    memory{context_.budget, "counting vertices"};
      const std::vector<Record> records = all_of(bucket, memory);
      for_each_share(context_.threads, records.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
        for (std::uint64_t i = begin; i < end; ++i) {
          members->insert(static_cast<Vertex>(bucket << bucket_bits | records[i].low));
          members->insert(records[i].target);
        }
      });
    }
    for (const auto& appender : appenders_)
      for (const Vertex v : appender->dropped_loops()) members->insert(v);
    members      = numbered(std::move(members), built, context_.budget);
    vertex_count = members ? members->size() : universe;
  }
  RowSink::Facts facts{.vertices = *vertex_count, .weight_type = weight_type_};
  for (const auto& appender : appenders_)
    facts.largest_weight = std::max(facts.largest_weight, appender->largest_weight());
  sink.begin(facts);

  Buffer<EdgeIndex> offsets{*vertex_count + 1, context_.budget, "the row offsets"};
  // Records, rows and two copies to sort, for which what is left must do.
  const auto bytes_of = [&](std::size_t bucket) {
    return counted(bucket) * (3 * sizeof(Record) + edge_bytes(Record::weighted));
  };
  const std::uint64_t room =
      (context_.budget->limit() - std::min(context_.budget->limit(), context_.budget->used())) / 10 * 9;
  for (int pass = sink.wants_degrees() ? 0 : 1; pass < 2; ++pass) {
    EdgeIndex arcs = 0;
    context_.progress->begin(pass == 0 ? "counting" : "building", bucket_count, ProgressUnit::items);
    for (std::size_t first = 0, count = 0; first < bucket_count; first += count) {
      check_cancelled(*context_.progress);
      std::uint64_t bytes = bytes_of(first);
      for (count = 1; first + count < bucket_count && count < static_cast<std::size_t>(context_.threads);
           ++count) {
        bytes += bytes_of(first + count);
        if (bytes > room) break;
      }
      arcs = build_some(first, count, members.get(), offsets, arcs, pass == 1 ? &sink : nullptr);
      context_.progress->advance(count);
    }
    offsets[*vertex_count] = arcs;
    context_.progress->end();
    if (pass == 0) sink.take_degrees(offsets.span());
  }
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
