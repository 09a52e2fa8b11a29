// Node splitting (Tigr, ASPLOS 2018): a vertex of many edges becomes a family of vertices of few.
#pragma once

#include <cstdint>
#include <string_view>

namespace spillway {

/// How the vertices of a family are connected (sections 3.1 and 3.2).
enum class SplitKind : std::uint32_t {
  udt      = 1,  ///< uniform-degree tree: every vertex of it has K edges but for at most one
  star     = 2,  ///< the root has an edge to each of the others, which share its own
  circular = 3,  ///< each has an edge to the next
  clique   = 4,  ///< each has an edge to every other one but the root
};

/// What a physical split is asked for, or was made by.
struct SplitForm {
  SplitKind     kind         = SplitKind::udt;
  std::uint64_t degree_bound = 0;      ///< K: vertices of more edges are split; 0: from the largest degree
  bool          in_edges     = false;  ///< of in-edges, so that out-degrees stay as they are
};

constexpr std::string_view to_string(SplitKind kind) {
  switch (kind) {
    case SplitKind::udt:
      return "udt";
    case SplitKind::star:
      return "star";
    case SplitKind::circular:
      return "circular";
    case SplitKind::clique:
      return "clique";
  }
  return "unknown";
}

}  // namespace spillway
