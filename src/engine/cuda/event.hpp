// A point in the work of a stream that others wait for.
#pragma once

#include <cuda_runtime.h>

#include <spillway/engine/cuda/memory.hpp>

namespace spillway::cuda {

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&)            = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "sending edges"); }
  void hold_up(cudaStream_t stream) { check(cudaStreamWaitEvent(stream, event_, 0), "sending edges"); }
  void wait() { check(cudaEventSynchronize(event_), "sending edges"); }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace spillway::cuda
