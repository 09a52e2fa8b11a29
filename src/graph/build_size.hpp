// What building rows will hold at its peak, told before it begins. Kept apart from the collector, which every
// algorithm sees.
#pragma once

#include <cstdint>

#include <spillway/graph.hpp>

namespace spillway {

/// What arcs are to be built into rows, as far as it is known beforehand.
struct BuildSize {
  std::uint64_t vertices       = 0;
  EdgeIndex     arcs           = 0;
  bool          weighted       = false;
  int           threads        = 1;
  EdgeIndex     largest_bucket = 0;  ///< arcs of the fullest; 0: they are spread as evenly as generated ones
  std::uint64_t buckets        = 0;  ///< 0: as many as the vertices make; ids with gaps make more
};

/// Bytes that collecting and building hold at their peak: enough, and at most a slab and an eighth too many.
/// Sorting uses more where there is more.
std::uint64_t building_peak(const BuildSize& size);

/// Bytes that arcs hold while they wait to be built.
std::uint64_t collecting_bytes(const BuildSize& size);

/// The fullest bucket when these arcs, or their reverses, are collected.
EdgeIndex largest_bucket(const Csr& csr, bool by_target, int threads);

/// Bytes of finished rows.
std::uint64_t rows_bytes(std::uint64_t vertices, EdgeIndex arcs, bool weighted);

}  // namespace spillway
