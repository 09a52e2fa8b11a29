// What brings edges to a device a window at a time: gathered by the host (Subway's subgraphs), or whole
// partitions.
#pragma once

#include <functional>
#include <memory>

#include <spillway/engine/cuda/memory.hpp>
#include <spillway/engine/cuda/view.cuh>

namespace spillway::cuda {

inline bool in_windows(Method method) { return method == Method::subgraph || method == Method::partitions; }

/// What a run says of itself to whoever brings its edges.
struct WindowNeeds {
  bool          weighted, pulls;
  bool          everyone;  ///< is active in every iteration
  bool          local;     ///< windows may be worked on until they are quiet
  std::uint64_t state;     ///< bytes that it needs beside edges
};

class Windows {
 public:
  /// What the device does when it is asked.
  struct Steps {
    std::function<Laid(const Layout&)> laid_out;
    std::function<void(const Window&)> visit;
    const Entry*                       entries;  ///< of the last layout
    const EdgeIndex*                   starts;
  };
  struct Sent {
    const char*   how     = "";
    std::uint64_t windows = 0, bytes = 0;
  };

  virtual ~Windows() = default;
  /// Brings what an iteration needs, and has it visited.
  virtual Sent supply(const Steps& steps) = 0;
};

/// Refuses what cannot be answered rightly in windows.
void refuse_in_windows(const RunOptions& options, bool order_shows, bool local);

}  // namespace spillway::cuda
