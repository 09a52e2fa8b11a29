// A list of edges on a device, for runs over it and for sorting it into rows.
#pragma once

#include <spillway/engine/cuda/memory.hpp>
#include "graph/edge_sink.hpp"

#include <spillway/edge_list.hpp>

namespace spillway::cuda {

struct EdgesOnDevice : EdgeCopy {
  std::shared_ptr<Device>    device;
  DeviceArray<std::uint32_t> words;
  const std::uint32_t*       on_host = nullptr;  ///< the same
};

inline constexpr auto what_edges = "the list of edges";

/// All edges of a list, checked on their way if they were not before.
std::shared_ptr<EdgesOnDevice> send(std::shared_ptr<Device> device, const EdgeList& list, int threads,
                                    const std::shared_ptr<MemoryBudget>& host);

}  // namespace spillway::cuda
