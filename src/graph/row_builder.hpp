// From the arcs of a bucket to sorted rows: counting, sorting, scattering and dropping duplicates, in cache.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/refusal.hpp"
#include "graph/arc_collector.hpp"
#include "graph/vertex_set.hpp"
#include "graph/weight_order.hpp"

namespace spillway {

inline constexpr Vertex bucket_width = 1u << bucket_bits;

// Sorting a bucket by radix needs room for two copies of it. Up to 40 % of the result, shared by the threads, may
// go into that: with arcs waiting at 150 % this is within the 220 % that building may hold. Larger buckets (hubs)
// are sorted row by row in place.
inline constexpr std::uint64_t scratch_floor_bytes = 16u << 20;
inline constexpr std::uint64_t scratch_percent     = 40;
inline constexpr unsigned      largest_digit_bits  = 11;

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

  /// Sources of a bucket, by their low bits.
  struct Lows {
    std::uint64_t first = 0, last = bucket_width;
  };

  /// Of one bucket or a part of it, with the offsets of all: rows lie in memory of its own.
  RowBuilder(const BuildContext& context, WeightType weight_type, const VertexSet* members, std::uint64_t vertices,
             EdgeIndex arcs, EdgeIndex* offsets, Lows lows)
      : context_(context),
        weight_type_(weight_type),
        members_(members),
        vertices_(vertices),
        lows_(lows),
        counted_(true) {
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
    const std::uint64_t id    = std::uint64_t{bucket} << bucket_bits;
    const std::uint64_t first = id + lows_.first, last = id + lows_.last;
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
    for (std::uint64_t low = lows_.first; row < last; ++low)
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
  Lows                       lows_;
  std::uint64_t              scratch_bytes_;
  std::uint64_t              reserve_        = 0;      ///< that sorting leaves to rows
  bool                       counted_        = false;  ///< memory for rows, when it was taken
  EdgeIndex*                 shared_offsets_ = nullptr;
  Buffer<EdgeIndex>          offsets_;
  Buffer<Vertex>             targets_;
  Buffer<std::uint32_t>      weights_;
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace spillway
