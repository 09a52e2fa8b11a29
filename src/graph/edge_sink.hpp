// Edges on their way to a device while they are read: reading a file and sending its edges take about as long as
// each other, and neither waits for the other's end.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <spillway/options.hpp>

namespace spillway {

class MemoryBudget;

/// The words of a list where a device reads them.
class EdgeCopy {
 public:
  virtual ~EdgeCopy() = default;
};

class EdgeSink {
 public:
  virtual ~EdgeSink() = default;

  /// So many words will come. False: there is no room for them, and nothing else is to be called.
  virtual bool expect(std::uint64_t words, const std::shared_ptr<MemoryBudget>& host) = 0;
  /// Words of the list, from the `at`-th on. Threads may bring different ones at once.
  virtual void take(std::uint64_t at, std::span<const std::uint32_t> words) = 0;
  /// All were brought, of a list that is here from now on. Null if some could not be sent.
  virtual std::shared_ptr<EdgeCopy> finish(const std::uint32_t* words) = 0;
};

/// Null if this is no GPU, or the build has no code for one.
std::unique_ptr<EdgeSink> edge_sink_on(const DeviceChoice& device);

/// The same, where edges are wanted on a device and it has room for them.
std::unique_ptr<EdgeSink> edge_sink_for(const std::optional<DeviceChoice>& device, std::uint64_t words,
                                        const std::shared_ptr<MemoryBudget>& host);

}  // namespace spillway
