// The algorithms that come with Spillway. A new one is a line here, and a file with NAME_algorithm().
#pragma once

#include <spillway/algorithms.hpp>

// clang-format off
#define SPILLWAY_ALGORITHMS(ALGORITHM) \
  ALGORITHM(bc)                        \
  ALGORITHM(bfs)                       \
  ALGORITHM(bp)                        \
  ALGORITHM(cc)                        \
  ALGORITHM(cdlp)                      \
  ALGORITHM(crossedges)                \
  ALGORITHM(degrees)                   \
  ALGORITHM(egonet)                    \
  ALGORITHM(induced)                   \
  ALGORITHM(kcore)                     \
  ALGORITHM(lcc)                       \
  ALGORITHM(neighborhood)              \
  ALGORITHM(pagerank)                  \
  ALGORITHM(ppr)                       \
  ALGORITHM(radius)                    \
  ALGORITHM(scc)                       \
  ALGORITHM(ssnsp)                     \
  ALGORITHM(sssp)                      \
  ALGORITHM(sswp)                      \
  ALGORITHM(tc)
// clang-format on

namespace spillway {

/// Of every parameter that takes several vertices.
inline constexpr const char* vertices_help =
    "ids with commas between them, or @FILE with one a line; can be repeated";

/// Error{usage} where an algorithm does not run on the device that is asked for.
void refuse_device(const Algorithm& algorithm, const RunOptions& options);
/// Error{usage} where a list of edges without rows is not enough for it.
void refuse_list(const Algorithm& algorithm, const RunOptions& options);

#define SPILLWAY_DECLARE_ALGORITHM(name) Algorithm name##_algorithm();
SPILLWAY_ALGORITHMS(SPILLWAY_DECLARE_ALGORITHM)
#undef SPILLWAY_DECLARE_ALGORITHM

}  // namespace spillway
