// What a run asks of whoever brings its edges to a GPU a window at a time, and is asked in turn.
#pragma once

#include <functional>

#include <spillway/engine/cuda/view.cuh>
#include <spillway/engine/pieces.hpp>

namespace spillway::cuda {

class Windows {
 public:
  /// What the device does when it is asked.
  struct Steps {
    std::function<Laid(const Layout&)> laid_out;  ///< the parts say it, if there are any
    std::function<void(const Window&)> visit;
    const LaidPiece*                   entries;  ///< of the last layout
    const EdgeIndex*                   starts;
  };

  virtual ~Windows() = default;
  /// Brings what an iteration needs, and has it visited.
  virtual WindowsSent supply(const Steps& steps) = 0;
};

}  // namespace spillway::cuda
