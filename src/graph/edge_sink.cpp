#include "graph/edge_sink.hpp"

#include <algorithm>

namespace spillway {

std::unique_ptr<EdgeSink> edge_sink_for(const std::optional<DeviceChoice>& device, std::uint64_t words,
                                        const std::shared_ptr<MemoryBudget>& host) {
  auto sink = device ? edge_sink_on(*device) : nullptr;
  if (sink && !sink->expect(words, host)) sink.reset();
  return sink;
}

void EdgeSink::take(std::uint64_t at, std::span<const std::uint32_t> words) {
  for (std::uint64_t first = 0; first < words.size(); first += most_words) {
    const auto some = words.subspan(first, std::min(most_words, words.size() - first));
    take(at + first, some.size(), [&](std::uint32_t* to) { std::ranges::copy(some, to); });
  }
}

}  // namespace spillway
