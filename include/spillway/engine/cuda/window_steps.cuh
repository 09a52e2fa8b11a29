// What an executor on a GPU does for whoever brings its edges a window at a time.
#pragma once

#include <vector>

#include <spillway/engine/cuda/view.cuh>
#include <spillway/engine/transfer.hpp>

namespace spillway::cuda {

class WindowKernels {
 public:
  virtual ~WindowKernels() = default;

  /// The layout's parts say what is returned, if there are any.
  virtual LayoutSize lay_out(const Layout& layout) = 0;
  /// The last layout, on the device; how many chunks it has is known to who asked for it.
  virtual ChunkLayout laid() const = 0;

  /// Passes over the edges that an iteration takes, each for a chunk of the state.
  virtual std::uint64_t state_chunks() const { return 1; }
  /// Vertices that have changed since a list of edges was visited first, as a bitmap.
  virtual std::vector<std::uint64_t> changed() const { return {}; }
  /// Updates reach this chunk alone, which is brought to the device…
  virtual void receive(std::uint64_t /*chunk*/) {}
  /// …and back, when all edges have been visited.
  virtual void received() {}
};

}  // namespace spillway::cuda
