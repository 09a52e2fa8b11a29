// What a program does to vertices and edges, written once for every device. Executors differ in where values lie
// and in how they are read.
#pragma once

#include <cstdint>
#include <type_traits>

#include <spillway/engine/block.hpp>
#include <spillway/program.hpp>

namespace spillway {

/// Of a bucket: whole priorities are shifted, others multiplied.
struct BucketWidth {
  unsigned shift   = 0;
  double   inverse = 1;

  static constexpr double most = 0x1p62;  ///< beyond it all are in one bucket

  /// Whole numbers go into buckets of a power of two.
  static BucketWidth of(double delta) {
    BucketWidth width{.shift = 0, .inverse = 1 / delta};
    for (double reached = 2; reached <= delta && reached <= most; reached *= 2) ++width.shift;
    return width;
  }
};

template <class P>
struct Operations {
  using T       = Traits<P>;
  using Value   = typename T::Value;
  using Update  = typename T::Update;
  using Message = typename T::Message;

  /// degree_of(): asked only by programs that begin from it.
  template <class DegreeOf>
  SPILLWAY_HD static Value first_value(const P& program, Vertex v, DegreeOf&& degree_of) {
    if constexpr (InitsFromDegree<P>)
      return program.init(v, degree_of());
    else
      return program.init(v);
  }

  SPILLWAY_HD static bool starts(const P& program, Vertex v, const Value& value) {
    if constexpr (StartsFromValue<P>)
      return program.starts(v, value);
    else if constexpr (Starts<P>)
      return program.starts(v);
    else
      return true;
  }

  /// Whether a vertex takes updates at first. A vote is not for those that have theirs, nor for those that nothing
  /// reaches.
  SPILLWAY_HD static bool open_at_first(const P& program, const Value& value, bool active, bool can_receive) {
    bool open = true;
    if constexpr (T::voting) open = static_cast<unsigned>(!active) & static_cast<unsigned>(can_receive);
    if constexpr (Opens<P>) open = open && program.open(value);
    return open;
  }

  /// to(): the value at the other end, asked only by programs that read it. `tree`: of the rows that the edge is
  /// in.
  template <class ValueAt>
  SPILLWAY_HD static Update compute(const P& program, const TreeArcs& tree, const Message& message,
                                    const EdgeOf<P>& edge, ValueAt&& to) {
    if constexpr (T::heeds_trees)
      if (tree.has(edge.source, edge.target)) return neutral(program, message, edge, to);
    return compute(program, message, edge, to);
  }

  template <class ValueAt>
  SPILLWAY_HD static Update neutral(const P& program, const Message& message, const EdgeOf<P>& edge,
                                    ValueAt&& to) {
    if constexpr (SaysNeutralFromMessage<P>)
      return program.neutral(message, edge);
    else if constexpr (SaysNeutral<P>)
      return program.neutral(message, edge, to());
    else
      return compute(program, message, {edge.source, edge.target, P::neutral_weight}, to);
  }

  template <class ValueAt>
  SPILLWAY_HD static Update compute(const P& program, const Message& message, const EdgeOf<P>& edge,
                                    ValueAt&& to) {
    if constexpr (ComputesFromEdge<P>)
      return program.compute(edge);
    else if constexpr (ComputesFromMessage<P>)
      return program.compute(message, edge);
    else
      return program.compute(message, edge, to());
  }

  /// step(): asked only by programs that read it.
  template <class StepAt>
  SPILLWAY_HD static bool apply(const P& program, Value& value, const Update& update, StepAt&& step) {
    if constexpr (AppliesWithStep<P>)
      return program.apply(value, update, step());
    else
      return program.apply(value, update);
  }

  /// The bucket that a vertex of this value waits in.
  SPILLWAY_HD static std::uint64_t bucket_of(const P& program, const Value& value, const BucketWidth& width) {
    if constexpr (Prioritises<P>) {
      const auto priority = program.priority(value);
      if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(priority)>>) {
        return (priority < 0 ? 0 : static_cast<std::uint64_t>(priority)) >> width.shift;
      } else {
        const double bucket = static_cast<double>(priority) * width.inverse;
        if (!(bucket > 0)) return 0;
        return bucket < BucketWidth::most ? static_cast<std::uint64_t>(bucket) : std::uint64_t{1} << 62;
      }
    } else {
      return 0;
    }
  }

  /// No vertex of this bucket has a lower priority.
  SPILLWAY_HD static auto bucket_start(std::uint64_t bucket, const BucketWidth& width) {
    using Priority =
        std::remove_cvref_t<decltype(std::declval<const P&>().priority(std::declval<const Value&>()))>;
    if constexpr (std::is_integral_v<Priority>)
      return static_cast<Priority>(bucket << width.shift);
    else  // a little less, since widths are rounded
      return static_cast<Priority>(static_cast<double>(bucket) / width.inverse * (1 - 0x1p-20));
  }
};

}  // namespace spillway
