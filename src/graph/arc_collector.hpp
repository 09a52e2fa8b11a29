// Arcs in, sorted rows out. Arcs arrive on many threads in any order and are dropped into buckets of
// neighbouring sources; finish() turns one bucket after the other into rows, in cache, and frees it.
// A waiting arc takes 6 bytes (10 with a weight) where the finished one takes 4 (8), which is what keeps
// building within about 1.6 times the result.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <spillway/engine/memory.hpp>
#include "graph/arc_spill.hpp"

#include <spillway/graph.hpp>

namespace spillway {

/// Of edges that became two arcs: how many led from a smaller vertex to a larger one in the input, and the
/// reverse.
struct Directions {
  EdgeIndex up = 0, down = 0;
};

/// Sources share a bucket; arcs of other buckets than these are dropped.
struct BucketRange {
  std::size_t first = 0, last = ~std::size_t{0};
};

/// What every step of loading shares.
struct BuildContext {
  std::shared_ptr<MemoryBudget> budget;
  Transform                     transform;
  int                           threads    = 1;
  Progress*                     progress   = &Progress::none();
  std::shared_ptr<Directions>   directions = nullptr;  ///< filled in where somebody asks for them
  BuildOutside*                 outside    = nullptr;  ///< rows go there; what is built has offsets alone
  BucketRange                   only       = {};
  bool                          edges      = false;  ///< no rows are wanted: edges stay in the order of the input
  std::optional<DeviceChoice>   edges_to   = {};     ///< to this GPU they are sent while they are put together
  std::string                   name       = {};     ///< of the input, for messages
};

struct BuiltCsr {
  Csr                  csr;
  std::uint64_t        first_id = 0;  ///< ids are consecutive from here…
  Array<std::uint64_t> original_ids;  ///< …unless they have gaps: then this lists them
  /// Instead of rows; `csr` has offsets that state the numbers of vertices and arcs, and nothing else.
  std::shared_ptr<const EdgeList> edges = {};
};

class VertexSet;

/// The ids that appear, as vertices in their order; null where they are all below their bound.
std::unique_ptr<VertexSet> numbered(std::unique_ptr<VertexSet> members, BuiltCsr& built,
                                    const std::shared_ptr<MemoryBudget>& budget);

/// Sources that share a bucket differ in these bits only; what is left of the source fits 16 bits.
inline constexpr unsigned bucket_bits = 14;

#pragma pack(push, 2)
struct Arc {
  std::uint16_t         low;
  Vertex                target;
  static constexpr bool weighted = false;
  static Arc            make(Vertex source, Vertex target, std::uint32_t) {
               return {static_cast<std::uint16_t>(source & ((1u << bucket_bits) - 1)), target};
  }
};
struct WeightedArc {
  std::uint16_t         low;
  Vertex                target;
  std::uint32_t         weight;
  static constexpr bool weighted = true;
  static WeightedArc    make(Vertex source, Vertex target, std::uint32_t weight) {
       return {static_cast<std::uint16_t>(source & ((1u << bucket_bits) - 1)), target, weight};
  }
};
#pragma pack(pop)

/// Blocks of memory for buckets, cut from large slabs and given back to the system block by block.
class BlockPool {
 public:
  struct Block {
    std::byte*    data  = nullptr;
    std::uint64_t bytes = 0;
    std::uint32_t slab  = 0;
  };

  explicit BlockPool(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}

  Block take(std::uint64_t bytes, std::uint64_t alignment);
  void  release(const Block& block);
  /// Of all blocks that were taken since it was clear.
  std::uint64_t bytes() const { return bytes_; }
  /// All of them at once.
  void clear() { slabs_.clear(), used_in_last_ = bytes_ = 0; }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  std::mutex                    mutex_;
  std::vector<Pages>            slabs_;
  std::uint64_t                 used_in_last_ = 0, bytes_ = 0;
};

/// A bucket's arcs on disk.
struct SpilledArcs {
  std::uint64_t at = 0, count = 0;
};

template <class Record>
class ArcCollector {
 public:
  class Appender;

  ArcCollector(const BuildContext& context, WeightType weight_type);
  ~ArcCollector();

  /// The one that thread `thread` adds through; threads must not share one.
  Appender& appender(int thread) { return *appenders_[static_cast<std::size_t>(thread)]; }

  /// One more than the largest id added; 0 if none was.
  std::uint64_t id_bound() const;

  /// Rows of all arcs added. With `vertex_count` the ids are 0 to n-1 and callers have checked them;
  /// without, the vertices are the ids that appear, renumbered in their order if there are gaps.
  BuiltCsr finish(std::optional<std::uint64_t> vertex_count) &&;

  /// Rows of some buckets, as many at once as memory holds, to `sink` if there is one, and their offsets; how many
  /// arcs there are by then. after(next bucket, arcs) between them.
  using AfterBuckets = std::function<void(std::size_t bucket, EdgeIndex arcs)>;
  EdgeIndex hand_over(const BucketRange& buckets, const VertexSet* members, const Buffer<EdgeIndex>& offsets,
                      EdgeIndex arcs, RowSink* sink, const AfterBuckets& after = {});

  /// Rows of the first buckets to `sink`, after a pass for their degrees where it wants those, and their offsets.
  /// With a journal, from where it had got to; `side`, out or in, says what they are.
  void hand_over_all(std::size_t buckets, const VertexSet* members, const Buffer<EdgeIndex>& offsets,
                     RowSink& sink, const std::string& side);

  /// Goes on from the arcs of a journal, if it has some under this name.
  void restore(const std::string& name = "collected");
  /// Puts the arcs into the journal, which the disk then holds.
  void save(const std::string& name = "collected");
  /// A reader has brought all up to a place of its input, and says which: it goes on from there.
  template <class Place>
  void keep_if_due(Place&& place) {
    BuildJournal* const journal = context_.outside ? context_.outside->spill.journal() : nullptr;
    if (!journal || !journal->due()) return;
    journal->put("input", place());
    save();
    journal->commit();
  }

  /// All that waits in memory, to the disk.
  void write_away();

  /// Arcs that were dropped, by bucket.
  std::vector<EdgeIndex> dropped() const;
  std::uint32_t          largest_weight() const;

 private:
  BuiltCsr finish_outside(std::optional<std::uint64_t> vertex_count);
  void     note_directions();
  /// Without a count of vertices: not closed yet.
  std::unique_ptr<VertexSet> ids_that_appear(std::size_t bucket_count);
  std::vector<Record>        all_of(std::size_t bucket, Charge& memory);
  template <class Visit>
  void      visit_pieces(std::size_t bucket, Visit&& visit);
  EdgeIndex build_in_parts(std::size_t bucket, std::uint64_t most, const VertexSet* members,
                           const Buffer<EdgeIndex>& offsets, EdgeIndex arcs, RowSink* sink);
  EdgeIndex counted(std::size_t bucket);
  EdgeIndex build_some(std::size_t first, std::size_t count, const VertexSet* members,
                       const Buffer<EdgeIndex>& offsets, EdgeIndex arcs, RowSink* sink);

  BuildContext                           context_;
  WeightType                             weight_type_;
  std::vector<std::unique_ptr<Appender>> appenders_;
  bool                                   saved_ = false;  ///< all arcs are in the journal
};

template <class Record>
class ArcCollector<Record>::Appender {
 public:
  /// With `spill`, up to `most_bytes` wait in memory.
  Appender(std::shared_ptr<BlockPool> pool, const Transform& transform, ArcSpill* spill, std::uint64_t most_bytes,
           const BucketRange& only)
      : pool_(std::move(pool)),
        spill_(spill),
        most_bytes_(most_bytes),
        only_(only),
        both_ways_(transform.undirected || (transform.symmetrize && transform.dedup)),
        drop_loops_(transform.drop_loops) {}

  /// Where in the input the edges that follow are from; rows do not depend on it.
  void at(std::uint64_t /*place*/) {}

  /// One edge of the input: an arc, or two when the input is undirected.
  void add(Vertex source, Vertex target, std::uint32_t weight = 0) {
    largest_ = std::max({largest_, source, target});
    any_     = true;
    if (source == target && drop_loops_) {
      dropped_loops_.push_back(source);
      return;
    }
    if constexpr (Record::weighted) largest_weight_ = std::max(largest_weight_, weight);
    push(source, target, weight);
    if (!both_ways_ || source == target) return;
    push(target, source, weight);
    ++(source < target ? directions_.up : directions_.down);
  }

  bool       any() const { return any_; }
  Vertex     largest() const { return largest_; }
  Directions directions() const { return directions_; }

  /// A vertex stays in the graph when its loop goes.
  const std::vector<Vertex>& dropped_loops() const { return dropped_loops_; }

  /// The arcs of a bucket in the order they were added.
  void append_segments(std::size_t bucket, std::vector<std::span<Record>>& segments);
  void release(std::size_t bucket);
  /// Of a bucket, what was written away.
  std::span<const SpilledArcs> spilled(std::size_t bucket) const {
    const std::size_t i = bucket - only_.first;
    return i < spilled_.size() ? std::span<const SpilledArcs>{spilled_[i]} : std::span<const SpilledArcs>{};
  }
  std::uint32_t              largest_weight() const { return largest_weight_; }
  std::span<const EdgeIndex> dropped() const { return dropped_; }
  void                       write_away();

  /// All but what is in memory.
  struct Summary {
    Vertex        largest        = 0;
    std::uint32_t largest_weight = 0, any = 0;
    Directions    directions;

    void add(const Summary& other);
  };
  Summary     summary() const { return {largest_, largest_weight_, any_, directions_}; }
  std::size_t spilled_buckets() const { return spilled_.size(); }
  void restore(const Summary& summary, std::vector<Vertex> loops, std::vector<std::vector<SpilledArcs>> spilled);

 private:
  /// Where the next record of a bucket goes. Kept apart from the blocks: these are what every push touches.
  struct Head {
    Record* next = nullptr;
    Record* end  = nullptr;
  };

  void push(Vertex source, Vertex target, std::uint32_t weight) {
    const std::size_t bucket = (source >> bucket_bits) - only_.first;
    if (bucket >= heads_.size()) [[unlikely]] {
      if (bucket >= only_.last - only_.first) return drop(source);
      heads_.resize(bucket + 1);
      bytes_.resize(bucket + 1);
      blocks_.resize(bucket + 1);
    }
    Head& head = heads_[bucket];
    if (head.next == head.end) [[unlikely]]
      refill(bucket);
    *head.next++ = Record::make(source, target, weight);
  }

  void refill(std::size_t bucket);
  void drop(Vertex source) {
    const std::size_t bucket = source >> bucket_bits;
    if (bucket >= dropped_.size()) dropped_.resize(bucket + 1);
    ++dropped_[bucket];
  }

  std::shared_ptr<BlockPool>                 pool_;
  ArcSpill*                                  spill_;
  std::uint64_t                              most_bytes_;
  BucketRange                                only_;
  bool                                       both_ways_;
  bool                                       drop_loops_;
  bool                                       any_            = false;
  Vertex                                     largest_        = 0;
  std::uint32_t                              largest_weight_ = 0;
  Directions                                 directions_;
  std::vector<Vertex>                        dropped_loops_;
  std::vector<EdgeIndex>                     dropped_;
  std::vector<Head>                          heads_;  ///< of `only`, like what follows
  std::vector<std::uint64_t>                 bytes_;  ///< of each bucket's blocks
  std::vector<std::vector<BlockPool::Block>> blocks_;
  std::vector<std::vector<SpilledArcs>>      spilled_;
};

extern template class ArcCollector<Arc>;
extern template class ArcCollector<WeightedArc>;

/// Calls body with the collector that fits the weights.
template <class Body>
auto with_collector(const BuildContext& context, WeightType weight_type, Body&& body) {
  if (weight_type == WeightType::none) {
    ArcCollector<Arc> collector{context, weight_type};
    return body(collector);
  }
  ArcCollector<WeightedArc> collector{context, weight_type};
  return body(collector);
}

/// Bytes that collecting and building `arcs` arcs over `vertices` vertices holds at its peak.
std::uint64_t building_bytes(std::uint64_t vertices, EdgeIndex arcs, bool weighted);

}  // namespace spillway
