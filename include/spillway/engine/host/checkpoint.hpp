// What the CPU's executor is made of between two iterations.
#pragma once

#include <spillway/checkpoint.hpp>
#include <spillway/engine/host/executor.hpp>

namespace spillway::host {

/// Accumulators are empty then, and messages are published anew, unless that was done ahead. What waits in
/// buckets, and frontiers that another run recorded or walks again, are not saved: such runs start anew.
template <class P, bool bucketed>
std::optional<FrontierSize> HostExecutor<P, bucketed>::exchange_state(StateExchange& with) {
  if constexpr (prioritised) {
    return std::nullopt;
  } else {
    if (input_.replay || input_.record) return std::nullopt;
    std::uint64_t sizes[]{n_, sizeof(Value), sizeof(Message), sizeof(Global), tracks_open, has_frontier};
    const auto    own = std::to_array(sizes);
    with.exchange(sizes);
    if (std::to_array(sizes) != own)
      throw Error{ExitCode::bad_input, "the checkpoint is of another program or graph; remove it to start anew"};
    for (std::uint64_t i = 0; i < chunks_.count; ++i) {
      const VertexRange chunk = chunks_.chunk(i, n_);
      with.exchange(values_.data() + chunk.first, (chunk.last - chunk.first) * sizeof(Value));
      if (chunks_.on_disk()) evict(chunk);
    }
    if constexpr (tracks_open) with.exchange(open_.data(), open_.size() * sizeof(std::uint64_t));
    if constexpr (has_frontier) {
      if (!with.is_reading()) make_bitmap();
      with.exchange(active_.data(), active_.size() * sizeof(std::uint64_t));
      is_bitmap_ = true;
      if (with.is_reading()) is_list_ = false;
    }
    with.exchange(published_ahead_);
    if constexpr (stores_messages)
      if (published_ahead_) with.exchange(messages_.data(), n_ * sizeof(Message));
    with.exchange(ahead_);
    with.exchange(total_);
    with.exchange(global_);
    with.exchange(frontier_);
    with.exchange(history_);
    return frontier_;
  }
}

}  // namespace spillway::host
