// What a run over pages on disk is predicted to take, on a GPU and on the CPU (docs/planning.md): as GTS's
// equations have it, whatever is slowest of disk, bus and visiting, once for each iteration.
#pragma once

#include "plan/planner.hpp"

namespace spillway {

/// Pages of the rows that a run walks, in bytes.
struct PagedFacts {
  double        bytes          = 0;
  double        host_kept      = 0;      ///< that memory keeps once they are read, beside the state
  double        device_kept    = 0;      ///< that the GPU keeps
  bool          in_place       = false;  ///< a GPU reads them in host memory, all of them…
  bool          is_kept        = false;  ///< …which are there already
  bool          starts_gpu     = false;  ///< this process has not used one yet
  std::uint64_t chunks         = 1;      ///< of the state on a GPU: passes over the pages…
  double        state_over_bus = 0;      ///< …in each of which it reads so much of the host's
};

/// The GPU and the CPU, the one that is done sooner first.
std::vector<PlanCandidate> priced_pages(const RunFacts& run, const Rates& rates, const PagedFacts& pages,
                                        const std::string& gpu);

}  // namespace spillway
