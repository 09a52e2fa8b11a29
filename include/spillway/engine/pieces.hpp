// Rows in pieces: how edges that come to a device in windows are laid out, gathered and visited, so that a hub is
// nothing special to anybody.
#pragma once

#include <cstdint>

#include <spillway/options.hpp>
#include <spillway/program.hpp>
#include <spillway/result.hpp>
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

/// A place in the array of all edges, among the pieces that are laid out: how many begin before it, and how many
/// of their edges lie before it.
struct PartAt {
  std::uint64_t pieces, edges;
};

/// Of a row that is laid out, gathered and visited as one.
constexpr unsigned piece_edges(const RunOptions& options) {
  constexpr unsigned most = 1u << 20;  // the edges of 32 pieces are counted in 32 bits
  return options.supply.piece < 1 ? 1 : options.supply.piece < most ? options.supply.piece : most;
}

/// That the host is told of at once.
constexpr std::uint64_t pieces_told(const RunOptions& options) {
  return options.supply.told < 1 ? 1 : options.supply.told;
}

/// What a run says of itself to whoever brings its edges in windows.
struct WindowNeeds {
  bool weighted = false;
  bool everyone = false;  ///< is active in every iteration
  bool local    = false;  ///< windows may be worked on until they are quiet
};

/// What an iteration had brought.
struct WindowsSent {
  const char*   how     = "";
  std::uint64_t windows = 0, bytes = 0;  ///< that were sent
  std::uint64_t read      = 0;           ///< bytes that were read where they are
  double        reckoned  = 0;           ///< seconds that this was to take
  double        gathering = 0;           ///< seconds that the host took for its part, while others went on
};

inline void note(const WindowsSent& sent, IterationStatistics& iteration, RunStatistics& run) {
  iteration.brought = sent.how, iteration.windows = sent.windows;
  iteration.bytes_sent = sent.bytes, iteration.bytes_read = sent.read;
  iteration.reckoned_ms = sent.reckoned * 1e3, iteration.gathering_ms = sent.gathering * 1e3;
  run.bytes_sent += sent.bytes;
  run.bytes_read += sent.read;
}

/// Seconds that it takes to bring edges in each way. Rows with weights lie in two arrays.
class BringingCosts {
 public:
  constexpr BringingCosts() : BringingCosts(Rates{}, false) {}
  constexpr BringingCosts(const Rates& rates, bool weighted)
      : rates_(rates), edge_bytes_(weighted ? 8 : 4), arrays_(weighted ? 2 : 1) {}

  SPILLWAY_HD constexpr double sent(double edges) const { return edges * edge_bytes_ / rates_.sent; }
  SPILLWAY_HD constexpr double bytes_sent(double bytes) const { return bytes / rates_.sent; }
  SPILLWAY_HD constexpr double gathered(double edges, double pieces) const {
    return edges * edge_bytes_ / rates_.gathered + pieces * arrays_ / rates_.gathered_pieces;
  }
  /// A row that begins and ends anywhere is some requests more than its bytes.
  SPILLWAY_HD constexpr double read(double edges, double pieces) const {
    return edges * edge_bytes_ / rates_.read + pieces * arrays_ / rates_.read_pieces;
  }
  SPILLWAY_HD constexpr double step() const { return rates_.step; }

 private:
  Rates  rates_;
  double edge_bytes_, arrays_;
};

/// Refuses what cannot be answered rightly in windows.
void refuse_in_windows(const RunOptions& options, bool order_shows, bool local);

}  // namespace spillway
