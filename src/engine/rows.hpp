// A graph's rows as a block.
#pragma once

#include <spillway/engine/executor.hpp>

namespace spillway {

/// Out-edges as runs walk them.
const Csr& walked_rows(const Graph& graph);

inline RowBlock block_of(const Csr& csr) {
  return {.rows  = {csr.offsets.data(), csr.targets.data(), csr.weights.empty() ? nullptr : csr.weights.data()},
          .first = 0,
          .last  = static_cast<Vertex>(csr.vertex_count())};
}

}  // namespace spillway
