// Counting shortest paths level by level: all of ssnsp, and the first half of betweenness. And in any order, as
// Subway's accumulative programs do (Sabet, Zhao, Gupta, EuroSys 2020, section 3.2).
#pragma once

#include "algorithms/programs/device.hpp"
#include "algorithms/programs/levels.hpp"

namespace spillway {

struct PathCount {
  double        paths;
  std::uint32_t level;
};

/// `V` has `paths`, of any type that counts, and `level`, and may have more, which starts as zero.
template <class V>
struct PathCounts {
  using Count   = decltype(V::paths);
  using Value   = V;
  using Update  = Count;
  using Combine = Sum<Count>;

  Vertex source;

  SPILLWAY_HD V init(Vertex v) const {
    V value{};
    value.paths = Count(v == source ? 1.0 : 0.0);
    value.level = v == source ? 0 : no_level;
    return value;
  }
  SPILLWAY_HD bool  starts(Vertex v) const { return v == source; }
  SPILLWAY_HD bool  open(const V& value) const { return value.level == no_level; }
  SPILLWAY_HD Count publish(const V& value, const Step<>&) const { return value.paths; }
  SPILLWAY_HD Count compute(Count paths, const Edge<>&) const { return paths; }

  SPILLWAY_HD bool apply(V& value, Count paths, const Step<>& step) const {
    value.level = step.iteration + 1;
    value.paths = paths;
    return true;
  }

  static constexpr int columns = 2;
  template <int i>
  SPILLWAY_HD auto column(const V& value) const {
    if constexpr (i == 0)
      return value.level;
    else
      return static_cast<double>(value.paths);
  }
};

/// Paths that arrive at a level.
struct ArrivingPaths {
  double        paths;
  std::uint64_t level;

  SPILLWAY_HD static constexpr ArrivingPaths none() { return {0, no_level}; }
};

/// Of the shortest paths alone, all: the lower level counts, and of one level the paths add up.
struct ShortestPaths {
  using Type        = ArrivingPaths;
  using Accumulator = ArrivingPaths;

  static constexpr bool idempotent = false;
  static constexpr bool voting     = false;

  SPILLWAY_HD static constexpr ArrivingPaths identity() { return ArrivingPaths::none(); }

  SPILLWAY_HD static ArrivingPaths combine(const ArrivingPaths& a, const ArrivingPaths& b) {
    if (a.level != b.level) return a.level < b.level ? a : b;
    return {a.paths + b.paths, a.level};
  }

  /// No instruction that all devices have exchanges both. Whoever marks the level as taken changes the paths, and
  /// leaves with a level that is not marked; what comes from farther away need not wait for it.
  SPILLWAY_HD static void combine_atomically(ArrivingPaths& slot, const ArrivingPaths& update) {
    if (update.paths == 0) return;
    for (std::uint64_t seen = atomics::load(slot.level);;) {
      const std::uint64_t level = seen & ~taken;
      if (update.level > level) return;
      seen = level;
      if (!atomics::compare_exchange_acquire(slot.level, seen, level | taken)) continue;
      const double paths = update.level < level ? 0 : atomics::load(slot.paths);
      atomics::store(slot.paths, paths + update.paths);
      atomics::store_release(slot.level, update.level);
      return;
    }
  }
  SPILLWAY_HD static void merge_atomically(ArrivingPaths& slot, const ArrivingPaths& sum) {
    combine_atomically(slot, sum);
  }

 private:
  static constexpr std::uint64_t taken = std::uint64_t{1} << 63;
};

/// A vertex passes on the paths that have arrived at its level since it last did. Levels only fall. What it passed
/// on while its level was too high reached its neighbours above the level that it gives them now: they drop it
/// when that arrives, or have a lower one already. So at the last level of a vertex the paths from the last levels
/// of those before it are counted, each once, whatever the order, and no others.
struct AccumulativePathCounts {
  struct Value {
    double        paths, pending;
    std::uint32_t level;
  };
  using Update  = ArrivingPaths;
  using Combine = ShortestPaths;

  static constexpr bool order_free   = true;
  static constexpr bool reads_degree = false;

  Vertex source;

  SPILLWAY_HD Value init(Vertex v) const { return v == source ? Value{1, 1, 0} : Value{0, 0, no_level}; }
  SPILLWAY_HD bool  starts(Vertex v) const { return v == source; }

  SPILLWAY_HD ArrivingPaths publish(Value& value, const Step<>&) const {
    const double passed_on = value.pending;
    value.pending          = 0;
    return {passed_on, std::uint64_t{value.level} + 1};
  }

  /// What would be dropped need not be sent.
  SPILLWAY_HD ArrivingPaths compute(const ArrivingPaths& sent, const Edge<>&, const Value& to) const {
    return sent.level > to.level ? ArrivingPaths::none() : sent;
  }
  /// To a part of the vertex that they are at.
  SPILLWAY_HD ArrivingPaths neutral(const ArrivingPaths& sent, const Edge<>&) const {
    return {sent.paths, sent.level - 1};
  }

  SPILLWAY_HD bool apply(Value& value, const ArrivingPaths& arrived) const {
    if (arrived.paths == 0 || arrived.level > value.level) return false;
    if (arrived.level < value.level) value = {0, 0, static_cast<std::uint32_t>(arrived.level)};
    value.paths += arrived.paths;
    value.pending += arrived.paths;
    return true;
  }
};

SPILLWAY_DEVICE_PROGRAM(PathCounts<PathCount>)
SPILLWAY_DEVICE_PROGRAM(AccumulativePathCounts)

}  // namespace spillway
