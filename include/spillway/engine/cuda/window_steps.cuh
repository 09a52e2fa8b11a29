// What an executor on a GPU does for whoever brings its edges a window at a time.
#pragma once

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
};

}  // namespace spillway::cuda
