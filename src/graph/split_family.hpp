// Families of split vertices in closed form: which edges of a vertex each member has, and which members it leads
// to (Tigr, section 3: Algorithm 1 and Table 1). Member 0 is the root, the vertex itself, with all that leads to
// it; the others are tree vertices.
#pragma once

#include <algorithm>
#include <cstdint>

#include <spillway/split.hpp>
#include <spillway/types.hpp>

namespace spillway {

/// A half-open range.
struct IndexRange {
  std::uint64_t first = 0, last = 0;

  std::uint64_t size() const { return last - first; }
};

class SplitFamily {
 public:
  /// What a member's row consists of.
  struct Row {
    IndexRange    edges;              ///< of the vertex's own, in their order
    IndexRange    children;           ///< tree vertices that it leads to, counted from 0
    std::uint64_t except = no_child;  ///< one of these that it does not lead to: itself

    static constexpr std::uint64_t no_child = ~std::uint64_t{0};

    std::uint64_t tree_edges() const { return children.size() - (except == no_child ? 0 : 1); }
    std::uint64_t length() const { return edges.size() + tree_edges(); }
  };

  SplitFamily(SplitKind kind, std::uint64_t degree_bound, EdgeIndex degree)
      : kind_(kind), bound_(degree_bound), degree_(degree) {}

  /// Tree vertices that are added.
  std::uint64_t added() const {
    if (degree_ <= bound_) return 0;
    if (kind_ == SplitKind::udt) return ceiling(degree_ - bound_, bound_ - 1);
    return kind_ == SplitKind::star ? parts() : parts() - 1;
  }

  Row row(std::uint64_t member) const {
    if (added() == 0) return {.edges = {0, degree_}, .children = {}};
    switch (kind_) {
      case SplitKind::udt:
        return udt_row(member);
      case SplitKind::star:
        return member == 0 ? Row{.edges = {}, .children = {0, added()}}
                           : Row{.edges = part(member - 1), .children = {}};
      case SplitKind::circular:
        return {.edges = part(member), .children = {member, std::min(member + 1, added())}};
      case SplitKind::clique:
        return {
            .edges = part(member), .children = {0, added()}, .except = member == 0 ? Row::no_child : member - 1};
    }
    return {};
  }

  /// Tree arcs on the way to any member of a family with so many tree vertices, at most.
  static std::uint64_t most_hops(SplitKind kind, std::uint64_t bound, std::uint64_t added) {
    if (added == 0) return 0;
    if (kind == SplitKind::circular) return added;
    if (kind != SplitKind::udt) return 1;
    std::uint64_t hops = 1;  // a level more than a tree that is filled from the root on
    for (std::uint64_t below = 0, level = bound; below < added; below += level, level *= bound) ++hops;
    return hops;
  }

  /// Of a family with so many tree vertices, the member whose edges come k-th in the vertex's own order.
  static std::uint64_t member_at(SplitKind kind, std::uint64_t k, std::uint64_t added) {
    const bool root_is_last = kind == SplitKind::udt || kind == SplitKind::star;
    if (!root_is_last) return k;
    return k == added ? 0 : k + 1;
  }

 private:
  static std::uint64_t ceiling(std::uint64_t a, std::uint64_t b) { return a / b + (a % b == 0 ? 0 : 1); }

  std::uint64_t parts() const { return ceiling(degree_, bound_); }
  IndexRange    part(std::uint64_t i) const {
       const auto clamped = [&](std::uint64_t k) { return k < parts() ? k * bound_ : degree_; };
       return {clamped(i), clamped(i + 1)};
  }

  /// Algorithm 1 without a queue: what has passed through it are the vertex's own edges, then an edge to each tree
  /// vertex in the order in which they were made. Each of these takes the next K; the root takes what is left.
  Row udt_row(std::uint64_t member) const {
    const std::uint64_t first = member == 0 ? added() * bound_ : (member - 1) * bound_;
    const std::uint64_t last  = member == 0 ? degree_ + added() : member * bound_;
    const auto          child = [&](std::uint64_t at) { return at < degree_ ? 0 : at - degree_; };
    return {.edges    = {std::min<std::uint64_t>(first, degree_), std::min<std::uint64_t>(last, degree_)},
            .children = {child(first), child(last)}};
  }

  SplitKind     kind_;
  std::uint64_t bound_;
  EdgeIndex     degree_;
};

}  // namespace spillway
