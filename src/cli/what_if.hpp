// spillway plan ALGORITHM --what-if FACTS: what streaming a graph would take that need not be there, on a machine
// that need not be this one.
#pragma once

#include <string>

#include "cli/command.hpp"

#include <spillway/algorithms.hpp>
#include <spillway/options.hpp>

namespace spillway::cli {

/// "vertices=4G edges=64G gpus=2 …"; Error{usage} where that says something else. Rates that are not stated are
/// `rates`, by default an H200's.
struct WhatIf {
  double vertices = 0, edges = 0;
  double bytes_an_edge = 2.2;  ///< in compressed pages (docs/performance.md)
  double state         = 8;    ///< bytes a vertex
  double page          = 256u << 10;
  double iterations    = 10;
  double gpus = 1, gpu_memory = 80e9, bus_rate = 0, copy_rate = 0, edge_rate = 0;  ///< 0: by `rates`
  double ssds = 1, ssd_rate = 2.5e9;
  double host_memory = 64e9;
  Rates  rates       = {};

  static WhatIf      of(const std::string& text, const Rates& rates = {});
  static std::string keys();
};

/// What is predicted of it (plan/streaming.hpp).
struct WhatIfAnswer {
  double      pages_bytes = 0, pages = 0, state_bytes = 0;
  std::string strategy;         ///< how state is divided
  double      passes      = 1;  ///< over the pages in an iteration, one for each chunk of state
  double      hits        = 0;  ///< share of pages that host memory keeps
  double      iteration_s = 0, total_s = 0;
  std::string bound;  ///< what takes longest
};

WhatIfAnswer answer_of(const WhatIf& asked, bool traversal);

/// As text or JSON.
void tell_what_if(const Algorithm& algorithm, const std::string& text, const Common& common);

}  // namespace spillway::cli
