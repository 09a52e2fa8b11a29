// What g++ compiles of programs with kernels refers to, in a build that has none: there is no GPU, and nothing was
// ever kept on one.
#include "base/fail.hpp"
#include "engine/cuda/device_graph.hpp"
#include "graph/edge_sink.hpp"

namespace spillway::cuda {

int    device_count() { return 0; }
bool   is_started() { return false; }
double seconds_to_start() { return 0; }

void Device::enter() { throw internal_error("there is no GPU to enter"); }
void Device::give(void*, std::uint64_t) noexcept {}
void Device::download(void*, const void*, std::uint64_t) { throw internal_error("there is no GPU to copy from"); }

}  // namespace spillway::cuda

namespace spillway {

std::unique_ptr<EdgeSink> edge_sink_on(const DeviceChoice&) { return nullptr; }

}  // namespace spillway
