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
#include "plan/algorithm_work.hpp"

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
using cuda::warp_lanes;
using cuda::warp_sum;
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

/// Rows on the device, or where it reads them, out- and in-edges apart.
struct RowsOfSides {
  std::vector<Rows> push, pull;
};

class Session {
 public:
  /// Whole rows, or `parts()` of them, as the work says.
  Session(const Graph& graph, const RunOptions& options, const AlgorithmWork& work, bool weighted = false)
      : topology_(work.topology),
        options_(in_place(options)),
        session_(graph, topology_, options_, needs_of(work, weighted, /*may_use_cpu=*/false)) {
    device().enter();
    auto supplied = session_.rows();
    parts_        = std::get<cuda::Supply<cuda::PlainRows>>(std::move(supplied.rows));
    so_far_       = std::move(supplied.so_far);
    begin_.emplace(), end_.emplace();
    device().wait();
    clock_.lap();
    begin_->record();
  }
  Session(const Session&)            = delete;
  Session& operator=(const Session&) = delete;

  cuda::Device& device() { return session_.device(); }

  /// Rows in the parts that they lie in: where they do not fit, the first edges of each are on the device.
  const cuda::Supply<cuda::PlainRows>& parts() const { return parts_; }

  RowsOfSides rows() const {
    const auto whole = [](const std::vector<cuda::PlainRows>& parts) {
      std::vector<Rows> rows;
      for (const cuda::PlainRows& part : parts) rows.push_back({part.begins, part.targets, part.weights});
      return rows;
    };
    return {whole(parts_.push), whole(parts_.pull)};
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
    statistics.run_ms      = run_ms_;
    statistics.transfer_ms = so_far_.transfer_ms + clock_.lap();
    cuda::note_supply(device(), parts_, so_far_, statistics);
    statistics.iterations      = 1;
    statistics.edges_processed = arcs;
    statistics.per_iteration.push_back({.active_vertices = vertices,
                                        .active_edges    = arcs,
                                        .edges_processed = arcs,
                                        .direction       = Direction::push,
                                        .milliseconds    = static_cast<double>(in_kernels),
                                        .balloted        = false});
    statistics.counters.kernel_launches = kernels;
    return statistics;
  }

  /// Methods that transfer edges while a run lasts are for programs.
  static RunOptions in_place(RunOptions options) {
    if (options.method->streams_pages)
      throw Error{ExitCode::usage,
                  "--method pages streams the edges of vertex programs; leave out --method pages"};
    if (options.method->of_edge_lists)
      throw Error{ExitCode::usage, "--method edges is of vertex programs; leave it out"};
    if (options.method->transfers) options.method = edges_in_place();
    options.supply.compress = Compress::off;
    return options;
  }

  static cuda::ProgramNeeds needs_of(const AlgorithmWork& work, bool weighted, bool may_use_cpu) {
    constexpr std::uint64_t bytes_a_vertex = 48;  // that algorithms hold, about
    const std::uint64_t     in_place       = work.state;
    const std::uint64_t     resident       = std::max(work.topology.vertices * bytes_a_vertex, in_place);
    return {.facts       = {.weighted = weighted},
            .form        = work.form,
            .may_use_cpu = may_use_cpu,
            .work        = &work,
            .state_bytes = [=](Method method) { return method->all_resident ? resident : in_place; }};
  }

 private:
  Topology                      topology_;
  RunOptions                    options_;
  cuda::Session                 session_;
  cuda::Supply<cuda::PlainRows> parts_;
  RunStatistics                 so_far_;  ///< of preparing
  Stopwatch                     clock_;
  std::optional<Timestamp>      begin_, end_;  ///< of computing
  double                        run_ms_ = 0;
};

}  // namespace spillway::gpu
