// Spans of a device's streams, by its own clock.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <spillway/trace.hpp>

namespace spillway::cuda {

/// Events before and after what a stream is given, turned into spans of a trace once they are over. Without a
/// trace nothing is done.
class DeviceTrace {
 public:
  explicit DeviceTrace(Trace* trace);
  ~DeviceTrace();
  DeviceTrace(const DeviceTrace&)            = delete;
  DeviceTrace& operator=(const DeviceTrace&) = delete;

  explicit operator bool() const { return trace_ != nullptr; }

  /// act() gives `stream` something to do.
  template <class Act>
  void around(Track track, std::string_view name, cudaStream_t stream, std::uint64_t bytes, Act&& act) {
    if (!trace_) return act();
    begin(track, name, stream, bytes);
    act();
    end(stream);
  }

  /// Waits for all of them. Returns when the last began, in milliseconds of the host's clock.
  double flush();

  Trace* trace() const { return trace_; }

 private:
  struct Pending;

  void begin(Track track, std::string_view name, cudaStream_t stream, std::uint64_t bytes);
  void end(cudaStream_t stream);

  Trace*                                trace_;
  std::vector<std::unique_ptr<Pending>> pending_, idle_;
  std::unique_ptr<Pending>              base_;  ///< when the two clocks were compared
  double                                base_ms_ = 0;
};

}  // namespace spillway::cuda
