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
