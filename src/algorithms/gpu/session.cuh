// What every algorithm here begins and ends with: the graph's rows on the device, and the clocks.
#pragma once

#include <cuda_runtime.h>

#include <optional>

#include "engine/cuda/grid.cuh"
#include "engine/rows.hpp"

#include <spillway/engine/cuda/warp.cuh>
#include <spillway/engine/stopwatch.hpp>
#include <spillway/result.hpp>
#include "engine/cuda/supplies.hpp"

namespace spillway::gpu {

using cuda::all_lanes;
using cuda::block_threads;
using cuda::blocks_for;
using cuda::BlockTeam;
using cuda::check;
using cuda::Count;
using cuda::deal;
using cuda::deal_edges;
using cuda::DeviceArray;
using cuda::first_item;
using cuda::for_each_owner;
using cuda::GridTeam;
using cuda::item_stride;
using cuda::lane_index;
using cuda::LaneTeam;
using cuda::sum_over_warp;
using cuda::warp_lanes;
using cuda::WarpTeam;

/// A point in the device's work, by its clock.
class Timestamp {
 public:
  Timestamp() { check(cudaEventCreate(&event_), "being given an event"); }
  ~Timestamp() { cudaEventDestroy(event_); }
  Timestamp(const Timestamp&)            = delete;
  Timestamp& operator=(const Timestamp&) = delete;

  void  record() { check(cudaEventRecord(event_, nullptr), "being timed"); }
  float milliseconds_since(const Timestamp& earlier) const {
    float passed = 0;
    check(cudaEventElapsedTime(&passed, earlier.event_, event_), "being timed");
    return passed;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

class Session {
 public:
  Session(const Graph& graph, const RunOptions& options, const Topology& topology, bool weighted = false)
      : graph_(cuda::DeviceGraph::of(graph, options.device)) {
    constexpr std::uint64_t bytes_a_vertex = 48;  // that algorithms hold, about
    device().enter();
    auto [rows, alone] =
        cuda::whole_rows(*graph_, graph, topology, weighted, options, topology.vertices * bytes_a_vertex);
    rows_ = std::move(rows), alone_ = std::move(alone);
    begin_.emplace(), end_.emplace();
    device().wait();
    (outside() ? prepare_ms_ : transfer_ms_) = clock_.lap();
    begin_->record();
  }
  Session(const Session&)            = delete;
  Session& operator=(const Session&) = delete;

  cuda::Device&               device() { return graph_->device(); }
  const cuda::DeviceTopology& rows() const { return rows_; }

  /// Rows in the parts that they lie in: where they do not fit, the first edges of each are on the device. Asked
  /// for before anything is computed.
  cuda::Supply<cuda::PlainRows> parts(const Graph& graph, const RunOptions& options, const Topology& topology,
                                      std::uint64_t state) {
    if (!outside()) return cuda::resident_supply(rows_);
    clock_.lap();
    const cuda::Room room{.state = state, .edges = options.supply.resident.value_or(~std::uint64_t{0})};
    auto             parts = cuda::plain_supply(*graph_, graph, topology, false, room);
    resident_ = parts.resident, on_host_ = parts.on_host;
    rows_.uploaded += parts.uploaded;
    prepare_ms_ += clock_.lap();
    begin_->record();
    return parts;
  }

  /// Computing is over; what follows brings the answer back.
  void computed() {
    end_->record();
    device().wait();
    run_ms_ = clock_.lap();
  }

  /// Of a run in one step that has looked at so many arcs.
  RunStatistics statistics(std::uint64_t vertices, std::uint64_t arcs, std::uint64_t kernels) {
    const float   in_kernels = end_->milliseconds_since(*begin_);
    RunStatistics statistics;
    statistics.run_ms          = run_ms_;
    statistics.transfer_ms     = transfer_ms_ + clock_.lap();
    statistics.device          = "cuda:" + std::to_string(device().index());
    statistics.device_bytes    = device().peak();
    statistics.uploaded_bytes  = rows_.uploaded;
    statistics.prepare_ms      = prepare_ms_;
    statistics.method          = outside() ? std::string{edges_in_place()->name} : std::string{};
    statistics.edges_resident  = resident_;
    statistics.edges_outside   = on_host_;
    statistics.iterations      = 1;
    statistics.edges_processed = arcs;
    statistics.per_iteration.push_back({.active_vertices = vertices,
                                        .active_edges    = arcs,
                                        .direction       = Direction::push,
                                        .milliseconds    = static_cast<double>(in_kernels),
                                        .balloted        = false});
    statistics.counters.kernel_launches = kernels;
    return statistics;
  }

 private:
  bool outside() const { return alone_.owns_lock(); }

  Stopwatch                          clock_;
  std::shared_ptr<cuda::DeviceGraph> graph_;
  std::unique_lock<std::mutex>       alone_;  ///< held where rows are outside
  cuda::DeviceTopology               rows_;
  std::optional<Timestamp>           begin_, end_;  ///< of computing
  double                             transfer_ms_ = 0, prepare_ms_ = 0, run_ms_ = 0;
  std::uint64_t                      resident_ = 0, on_host_ = 0;  ///< bytes of edges, if they are outside
};

}  // namespace spillway::gpu
