// Edges that come to a device in windows: sizes, what was sent, and what each way of bringing them costs.
#pragma once

#include <algorithm>
#include <cstdint>

#include <spillway/engine/block.hpp>
#include <spillway/options.hpp>
#include <spillway/program.hpp>
#include <spillway/result.hpp>
#include <spillway/types.hpp>

namespace spillway {

/// What a run makes of its rows.
enum class RowForm {
  any,    ///< compressed, in windows, in parts
  parts,  ///< as they are, where they are; a row may lie in two parts
  whole,  ///< likewise, each as one: it is looked up in, or added up in its order
};

/// Chunks, and the edges of all of them.
struct LayoutSize {
  std::uint64_t entries, edges;
};

/// Of a row that is laid out, gathered and visited as one; of split rows that is a virtual node.
constexpr unsigned chunk_edges(const RunOptions& options) {
  constexpr std::uint64_t most  = 1u << 20;  // the edges of 32 chunks are counted in 32 bits
  const bool              split = options.balance.kind == Balance::split;
  const std::uint64_t     edges = split ? options.balance.split.degree_bound : options.supply.chunk;
  return static_cast<unsigned>(edges < 1 ? 1 : edges < most ? edges : most);
}

/// Seconds that it takes to bring edges in each way. Rows with weights lie in two arrays.
class TransferCosts {
 public:
  constexpr TransferCosts() : TransferCosts(Rates{}, false) {}
  constexpr TransferCosts(const Rates& rates, bool weighted)
      : rates_(rates), edge_bytes_(static_cast<double>(edge_bytes(weighted))), arrays_(weighted ? 2 : 1) {}

  SPILLWAY_HD constexpr double sent(double edges) const { return edges * edge_bytes_ / rates_.sent; }
  SPILLWAY_HD constexpr double bytes_sent(double bytes) const { return bytes / rates_.sent; }
  SPILLWAY_HD constexpr double gathered(double edges, double chunks) const {
    return edges * edge_bytes_ / rates_.gathered + chunks * arrays_ / rates_.gathered_chunks;
  }
  /// A row that begins and ends anywhere is some requests more than its bytes.
  SPILLWAY_HD constexpr double read(double edges, double chunks) const {
    return edges * edge_bytes_ / rates_.read + chunks * arrays_ / rates_.read_chunks;
  }
  SPILLWAY_HD constexpr double step() const { return rates_.step; }

 private:
  Rates  rates_;
  double edge_bytes_, arrays_;
};

/// None where updates go to the vertices one by one.
inline SharedIndex shared_index_for(const RunOptions& options, const EdgeDirections& along,
                                    std::uint64_t local_bytes) {
  if (options.cuda.edge_values == EdgeValues::global) return {};
  SharedIndex index = SharedIndex::of(options.cuda.edge_block, along, local_bytes);
  index.stored      = options.cuda.edge_values == EdgeValues::stored;
  return index;
}

/// Passes over unsorted edges whose updates meet in more accumulators than a GPU's cache holds: each reads every
/// edge, and adds to those of some vertices, which stay in the cache. Half of the arcs of a skewed graph lead to
/// hubs, which stay there anyway.
inline unsigned passes_over_edges(double edge_bytes, double arcs, double accumulator_bytes, double cache,
                                  const Rates& rates) {
  constexpr unsigned most     = 16;
  constexpr double   streamed = 3.5e12;  // bytes a second, read in order (H200)
  const auto         seconds  = [&](unsigned passes) {
    const double there = std::min(1.0, cache * passes / accumulator_bytes);
    return passes * edge_bytes / streamed + arcs / 2 * (there / rates.atomics + (1 - there) / rates.atomics_far);
  };
  unsigned best = 1;
  for (unsigned passes = 2; passes <= most && accumulator_bytes > cache; ++passes)
    if (seconds(passes) < seconds(best)) best = passes;
  return best;
}

/// Refuses options that the method cannot follow, whatever the program.
void check_method_options(const RunOptions& options);
/// Throws where rows cannot be shared out as is asked. `order_sensitive`: the order of updates shows in the
/// result.
void check_balance(const RunOptions& options, bool order_sensitive, bool on_a_gpu);
/// As the command line has it: "bins", "split:10".
std::string name_of(const BalanceTuning& balance);
/// Refuses what cannot be answered rightly in windows.
void refuse_in_windows(const RunOptions& options, bool order_sensitive, bool local);

}  // namespace spillway
