// Streams of work, and points in them that others wait for.
#pragma once

#include <cuda_runtime.h>

#include <spillway/engine/cuda/memory.hpp>

namespace spillway::cuda {

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&)            = delete;
  Stream& operator=(const Stream&) = delete;

  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&)            = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), doing); }
  void make_wait(cudaStream_t stream) { check(cudaStreamWaitEvent(stream, event_, 0), doing); }
  void wait() { check(cudaEventSynchronize(event_), doing); }
  /// Likewise, for who gives up: whatever has failed. False if something has.
  bool wait_noexcept() noexcept { return cudaEventSynchronize(event_) == cudaSuccess; }
  bool is_over() {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) return false;
    check(status, doing);
    return true;
  }

 private:
  static constexpr auto doing = "computing or copying";

  cudaEvent_t event_ = nullptr;
};

}  // namespace spillway::cuda
