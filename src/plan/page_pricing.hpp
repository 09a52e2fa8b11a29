// What a run over pages on disk is predicted to take, on a GPU and on the CPU (docs/planning.md): as GTS's
// equations have it, whatever is slowest of disk, bus and visiting, once for each iteration.
#pragma once

#include "plan/planner.hpp"

namespace spillway {

/// How a device goes over pages, in bytes.
struct PagedWay {
  double host_kept  = 0;  ///< that memory keeps once they are read, beside the state
  double passes     = 1;  ///< over all pages in an iteration: one for each chunk of the state…
  double state_each = 0;  ///< …in each of which so much of the state comes from where it rests
};

/// Pages of the rows that a run walks, in bytes.
struct PagedFacts {
  double   bytes       = 0;
  double   device_kept = 0;      ///< that the GPU keeps: others than host memory does
  bool     in_place    = false;  ///< a GPU reads them in host memory, all of them…
  bool     is_kept     = false;  ///< …which are there already
  PagedWay gpu = {}, cpu = {};
};

/// The GPU and the CPU, the one that is done sooner first.
std::vector<PlanCandidate> priced_pages(const RunFacts& run, const Rates& rates, const PagedFacts& pages,
                                        const std::string& gpu);

}  // namespace spillway
