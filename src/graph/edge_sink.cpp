#include "graph/edge_sink.hpp"

namespace spillway {

std::unique_ptr<EdgeSink> edge_sink_for(const std::optional<DeviceChoice>& device, std::uint64_t words,
                                        const std::shared_ptr<MemoryBudget>& host) {
  auto sink = device ? edge_sink_on(*device) : nullptr;
  if (sink && !sink->expect(words, host)) sink.reset();
  return sink;
}

}  // namespace spillway
