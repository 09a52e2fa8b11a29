// Labels counted by many threads at once, in tables that lie in a block's own memory or in the GPU's. Counts only
// grow, so the largest that any thread saw is the winner's: nobody has to look through a table at the end.
#pragma once

#include "algorithms/gpu/session.cuh"

namespace spillway::gpu {

/// A label and how often it occurs in one number, that of the winner being the largest (see label_tally.hpp).
__device__ inline Count label_count(Vertex label, Count times) {
  return times << 32 | static_cast<Vertex>(~label);
}
__device__ inline Vertex label_of(Count label_count) { return ~static_cast<Vertex>(label_count); }

__device__ inline Count larger(Count a, Count b) { return a > b ? a : b; }

__device__ inline Count largest_in_warp(Count value) {
  for (unsigned offset = warp_lanes / 2; offset > 0; offset /= 2)
    value = larger(value, __shfl_xor_sync(all_lanes, value, static_cast<int>(offset)));
  return value;
}

template <unsigned slots>
struct TableRoom {
  Vertex   labels[slots];
  unsigned counts[slots];
};

/// In shared memory. At most half of the slots are ever taken, so that looking for one ends.
class Table {
 public:
  /// For up to `entries` labels, at least one.
  template <unsigned slots>
  __device__ Table(TableRoom<slots>& room, unsigned entries)
      : labels_(room.labels), counts_(room.counts), bits_(bits_for(2 * entries)) {}

  __device__ unsigned size() const { return 1u << bits_; }

  /// By `threads`, which must wait for each other before and after.
  __device__ void clear(unsigned thread, unsigned threads) const {
    for (unsigned i = thread; i < size(); i += threads) labels_[i] = no_vertex, counts_[i] = 0;
  }

  /// What each lane of a warp has in hand, `no_vertex` being nothing. Returns the label and its count by now, to
  /// one of the lanes that have it, and 0 to the others.
  __device__ Count add_by_warp(Vertex label) const {
    const unsigned same  = __match_any_sync(all_lanes, label);
    const bool     first = lane_index() == static_cast<unsigned>(__ffs(static_cast<int>(same)) - 1);
    if (!first || label == no_vertex) return 0;
    return label_count(label, add(label, static_cast<unsigned>(__popc(same))));
  }

  __device__ Vertex   label(unsigned slot) const { return labels_[slot]; }  ///< or `no_vertex`
  __device__ unsigned count(unsigned slot) const { return counts_[slot]; }

 private:
  /// Of the least power of two that is not below `slots`.
  __device__ static int bits_for(unsigned slots) { return 32 - __clz(static_cast<int>(slots - 1)); }

  __device__ unsigned add(Vertex label, unsigned times) const {
    const unsigned last  = size() - 1;
    unsigned       place = label * 0x9E3779B1u >> (32 - bits_);  // Knuth's multiplicative hashing
    for (;; place = (place + 1) & last) {
      Vertex there = *const_cast<const volatile Vertex*>(labels_ + place);
      if (there == no_vertex) there = atomicCAS(labels_ + place, no_vertex, label);
      if (there == no_vertex || there == label) return atomicAdd(counts_ + place, times) + times;
    }
  }

  Vertex*   labels_;  ///< `no_vertex`: free
  unsigned* counts_;
  int       bits_;
};

/// In the GPU's memory: label counts, 0 being free; more slots than labels.
struct PoolTable {
  Count*        slots;
  std::uint64_t size;

  /// The label and its count by now.
  __device__ Count add(Vertex label, Count times) const {
    std::uint64_t place = __umul64hi(label * 0x9E3779B97F4A7C15ull, size);
    for (;; place = place + 1 < size ? place + 1 : 0) {
      Count there = __ldcg(slots + place);  // a label stays where it is, so that an old value does no harm
      if (there == 0) there = atomicCAS(slots + place, Count{0}, label_count(label, times));
      if (there == 0) return label_count(label, times);
      if (label_of(there) == label) return atomicAdd(slots + place, times << 32) + (times << 32);
    }
  }
};

}  // namespace spillway::gpu
