#include <cuda_runtime.h>

#include <utility>

#include <spillway/engine/cuda/device_trace.hpp>
#include <spillway/engine/cuda/memory.hpp>
#include <spillway/engine/stopwatch.hpp>

namespace spillway::cuda {

struct DeviceTrace::Pending {
  Pending() {
    check(cudaEventCreate(&before), "being traced");
    check(cudaEventCreate(&after), "being traced");
  }
  ~Pending() { cudaEventDestroy(before), cudaEventDestroy(after); }
  Pending(const Pending&)            = delete;
  Pending& operator=(const Pending&) = delete;

  cudaEvent_t      before = nullptr, after = nullptr;
  Track            track = Track::kernels;
  std::string_view name;
  std::uint64_t    bytes = 0;
};

DeviceTrace::DeviceTrace(Trace* trace) : trace_(trace) {
  if (!trace_) return;
  base_ = std::make_unique<Pending>();
  check(cudaEventRecord(base_->before, nullptr), "being traced");
  check(cudaEventSynchronize(base_->before), "being traced");
  base_ms_ = steady_milliseconds();
}

DeviceTrace::~DeviceTrace() = default;

void DeviceTrace::begin(Track track, std::string_view name, cudaStream_t stream, std::uint64_t bytes) {
  if (idle_.empty()) idle_.push_back(std::make_unique<Pending>());
  auto next   = std::move(idle_.back());
  next->track = track, next->name = name, next->bytes = bytes;
  idle_.pop_back();
  check(cudaEventRecord(next->before, stream), "being traced");
  pending_.push_back(std::move(next));
}

void DeviceTrace::end(cudaStream_t stream) {
  check(cudaEventRecord(pending_.back()->after, stream), "being traced");
}

double DeviceTrace::flush() {
  double     begun = 0;
  const auto at    = [&](cudaEvent_t event) {
    float passed = 0;
    check(cudaEventElapsedTime(&passed, base_->before, event), "being traced");
    return base_ms_ + static_cast<double>(passed);
  };
  for (auto& each : pending_) {
    check(cudaEventSynchronize(each->after), "being traced");
    begun = at(each->before);
    trace_->add({each->track, std::string{each->name}, begun, at(each->after), each->bytes});
    idle_.push_back(std::move(each));
  }
  pending_.clear();
  return begun;
}

}  // namespace spillway::cuda
