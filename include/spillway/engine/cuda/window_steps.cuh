// What an executor on a GPU does for whoever brings its edges a window at a time.
#pragma once

#include <spillway/engine/cuda/view.cuh>
#include <spillway/engine/pieces.hpp>

namespace spillway::cuda {

class WindowKernels {
 public:
  virtual ~WindowKernels() = default;

  /// The layout's parts say what is returned, if there are any.
  virtual Laid lay_out(const Layout& layout) = 0;
  virtual void visit(const Window& window)   = 0;
  /// Of the last layout, on the device.
  virtual const LaidPiece* entries() const = 0;
  virtual const EdgeIndex* starts() const  = 0;
};

}  // namespace spillway::cuda
