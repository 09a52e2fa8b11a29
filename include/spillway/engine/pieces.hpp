// Rows in pieces: how edges that come to a device in windows are laid out, gathered and visited, so that a hub is
// nothing special to anybody.
#pragma once

#include <cstdint>

#include <spillway/options.hpp>
#include <spillway/types.hpp>

namespace spillway {

/// A piece of a row: its edges from `piece` times SupplyOptions::piece on, at most as many.
struct LaidPiece {
  Vertex        vertex;
  std::uint32_t piece;
};

/// Pieces, and the edges of all of them.
struct Laid {
  std::uint64_t entries, edges;
};

/// Of a row that is laid out, gathered and visited as one.
constexpr unsigned piece_edges(const RunOptions& options) {
  constexpr unsigned most = 1u << 20;  // the edges of 32 pieces are counted in 32 bits
  return options.supply.piece < 1 ? 1 : options.supply.piece < most ? options.supply.piece : most;
}

/// What a run says of itself to whoever brings its edges in windows.
struct WindowNeeds {
  bool weighted = false;
  bool everyone = false;  ///< is active in every iteration
  bool local    = false;  ///< windows may be worked on until they are quiet
};

/// What an iteration had sent.
struct WindowsSent {
  const char*   how     = "";
  std::uint64_t windows = 0, bytes = 0;
};

/// Whether a method sends edges in windows.
constexpr bool in_windows(Method method) { return method == Method::subgraph || method == Method::partitions; }

/// Refuses what cannot be answered rightly in windows.
void refuse_in_windows(const RunOptions& options, bool order_shows, bool local);

}  // namespace spillway
