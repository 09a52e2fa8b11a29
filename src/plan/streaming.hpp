// What streaming pages past GPUs takes, of graphs and machines that need not be there: the cost models of GTS
// (section 5), with disks and several strategies for state.
#pragma once

#include <cstdint>
#include <span>

namespace spillway {

/// Rates in bytes a second, times in seconds.
struct StreamingMachine {
  unsigned gpus        = 1;
  double   chunk_rate  = 0;  ///< the paper's c1: large copies, to and from a GPU
  double   stream_rate = 0;  ///< its c2: pages, to each GPU
  double   disk_rate   = 0;  ///< of all disks together; 0: pages are in memory
  double   edge_rate   = 0;  ///< edges that the kernels of each GPU visit; 0: they are never what is waited for
  double   call        = 0;  ///< of a kernel, for each page or batch of pages
  double   last_kernel = 0;  ///< that no transfer hides
  double   sync        = 0;  ///< of state, among the GPUs
  /// State is divided among GPUs, and every page goes to all of them (section 4.2); else pages are divided.
  bool divides_state = false;
};

/// Bytes, but for pages.
struct StreamedGraph {
  double written   = 0;  ///< attributes that change (WA)
  double read_only = 0;  ///< attributes that travel with the pages (RA)
  double pages     = 0;  ///< of topology (SP and LP), all of them
  double count     = 0;  ///< of pages
  double edges     = 0;
};

/// What a pass over all pages waits for.
enum class StreamingBound { buses, disks, kernels };
StreamingBound bound_of(const StreamedGraph& graph, const StreamingMachine& machine);

/// Of a pass over all pages, of which a share stays where it is needed (equation 1, which has none).
double scan_seconds(const StreamedGraph& graph, const StreamingMachine& machine, double hits = 0);

/// What a level of a traversal visits, as shares of all.
struct StreamedLevel {
  double pages = 0;
};
/// Level by level (equation 2); `balance`, the paper's d_skew: from 1/gpus, one has all, to 1.
double traversal_seconds(const StreamedGraph& graph, const StreamingMachine& machine,
                         std::span<const StreamedLevel> levels, double hits = 0, double balance = 1);

}  // namespace spillway
