#include <cuda_runtime.h>

#include <algorithm>
#include <array>

#include "engine/cuda/event.hpp"
#include "engine/cuda/grid.cuh"
#include "engine/cuda/outside.hpp"
#include "supply/windows.hpp"

#include <spillway/engine/cuda/supply.cuh>
#include <spillway/error.hpp>

namespace spillway::cuda {
namespace {

constexpr auto what_windows = "windows of edges";

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&)            = delete;
  Stream& operator=(const Stream&) = delete;

  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Where a window is brought to.
struct Slot {
  Slot(Device& device, std::uint64_t edges, bool weighted)
      : targets(device, edges, what_windows), weights(device, weighted ? edges : 0, what_windows) {}

  EdgePointers at(EdgeIndex place) const {
    return {targets.data() + place, weights.size() > 0 ? weights.data() + place : nullptr};
  }

  DeviceArray<Vertex>        targets;
  DeviceArray<std::uint32_t> weights;
  Event                      brought, visited;
};

class PinnedMemory {
 public:
  explicit PinnedMemory(std::uint64_t bytes) {
    if (cudaMallocHost(&memory_, bytes) == cudaSuccess) return;
    cudaGetLastError();
    throw DeviceError{ExitCode::does_not_fit,
                      "host memory cannot be pinned to send edges from; raise `ulimit -l`, or use --device cpu"};
  }
  ~PinnedMemory() { cudaFreeHost(memory_); }
  PinnedMemory(const PinnedMemory&)            = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(memory_);
  }

 private:
  void* memory_ = nullptr;
};

/// Where the host gathers edges that are sent next.
struct Stage {
  Stage(std::uint64_t edges, bool weighted) : memory(edges * (weighted ? 8 : 4)) {
    at.targets = memory.as<Vertex>();
    if (weighted) at.weights = memory.as<std::uint32_t>() + edges;
  }

  PinnedMemory memory;
  EdgePointers at;
  Event        sent;
};

/// What the host is told of a layout: some pieces, while it works on those before.
struct Told {
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  static std::uint64_t bytes_of(std::uint64_t pieces) {
    return pieces * sizeof(LaidPiece) + (pieces + 1) * sizeof(EdgeIndex);
  }

  explicit Told(std::uint64_t pieces) : most(pieces), memory(bytes_of(pieces)) {}

  EdgeIndex* starts() const { return memory.as<EdgeIndex>(); }
  LaidPiece* entries() const { return reinterpret_cast<LaidPiece*>(starts() + most + 1); }

  std::uint64_t most;
  PinnedMemory  memory;
  std::uint64_t first = none, count = 0;
  Event         here;
};

/// What a GPU has of one block.
struct GpuSide {
  const EdgeIndex*           offsets = nullptr;
  DeviceArray<Vertex>        targets;  ///< the first ones, all the time
  DeviceArray<std::uint32_t> weights;
  DeviceArray<PartAt>        parts;         ///< where windows of the whole array begin among pieces
  DeviceArray<EdgeIndex>     below, above;  ///< where rows lie in the first edges, and in the others
  Rows                       outside;       ///< all edges, where the host has them
  bool                       all_here = false;

  PlainRows rows() const { return {offsets, offsets + 1, nullptr, nullptr}; }

  /// Rows to be read without windows: as far as they are here, and on the host.
  std::vector<PlainRows> in_place() const {
    const PlainRows here{below.data(), below.data() + 1, targets.data(), weights.data()};
    if (all_here) return {here};
    if (below.size() == 0) return {{offsets, offsets + 1, outside.targets, outside.weights, true}};
    return {here, {above.data(), above.data() + 1, outside.targets, outside.weights, true}};
  }
};

/// Every row is cut where what is here ends.
__global__ void cut_rows(const EdgeIndex* offsets, std::uint64_t count, EdgeIndex here, EdgeIndex* below,
                         EdgeIndex* above) {
  for (std::uint64_t i = first_item(); i < count; i += item_stride()) {
    below[i] = offsets[i] < here ? offsets[i] : here;
    above[i] = offsets[i] < here ? here : offsets[i];
  }
}

/// Three things at once: the host gathers, a stream copies, the kernels of the default stream visit.
class GpuWindows final : public EdgeSupply, WindowDevice {
 public:
  GpuWindows(Device& device, std::vector<WindowSide> sides, const std::vector<Rows>& outside,
             const WindowSizes& sizes, const WindowNeeds& needs, bool pulls, std::uint64_t vertices,
             std::uint64_t state, const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget)
      : device_(device),
        sizes_(sizes),
        needs_(needs),
        pulls_(pulls),
        vertices_(vertices),
        piece_edges_(spillway::piece_edges(options)),
        sides_(sides.size()),
        staged_(budget, what_windows),
        reads_in_place_(options.method == Method::mixed && !needs.everyone &&
                        std::ranges::any_of(sides, [](const WindowSide& side) { return side.arcs > 0; })) {
    for (unsigned i = 0; sizes.slot_edges > 0 && i < sizes.slots; ++i)
      slots_.push_back(std::make_unique<Slot>(device, sizes.slot_edges, needs.weighted));
    const bool gathers = options.method != Method::partitions && !needs.everyone && sizes.slot_edges > 0;
    if (gathers) make_stages(options, *budget);
    for (std::size_t i = 0; i < sides.size(); ++i) {
      sides_[i].offsets = outside[i].offsets;
      sides_[i].outside = outside[i];
      if (sides[i].arcs > 0) keep(sides[i], sides_[i], sizes.left / sides.size(), state);
      if (options.method != Method::mixed || needs.everyone || sides[i].resident == 0) continue;
      cut(sides_[i], sides[i].resident);
      sides_[i].all_here = sides[i].resident == sides[i].arcs;
    }
    supply_ = std::make_unique<WindowSupply>(std::move(sides), sizes_, needs, options, budget);
  }
  ~GpuWindows() override { wait_for_streams(); }  // before what they write to is given back

  /// Iterations whose edges are better read in place need no windows.
  bool may_fuse() const override { return reads_in_place_; }

  BlockWork bring(Executor& executor, Direction, IterationStatistics& made, RunStatistics& statistics) override {
    kernels_ = &dynamic_cast<WindowKernels&>(executor);
    try {
      note(supply_->supply(*this), made, statistics);
    } catch (...) {
      wait_for_streams();  // they read what the run gives back
      throw;
    }
    return {};  // is counted on the device
  }

  void complete(RunStatistics&) const override {}

  std::uint64_t resident_bytes() const { return supply_->resident_bytes(); }

  std::vector<PlainRows> in_place(std::size_t side) const { return sides_[side].in_place(); }

 private:
  void wait_for_streams() const {
    cudaStreamSynchronize(stream_);
    cudaStreamSynchronize(telling_);
  }

  /// Smaller ones where the host has little room: others need some, too.
  void make_stages(const RunOptions& options, const MemoryBudget& budget) {
    constexpr EdgeIndex small = 1u << 12;
    const std::uint64_t told  = 2 * Told::bytes_of(pieces_told(options));
    const auto bytes = [&] { return told + stages_at_once * sizes_.stage_edges * (needs_.weighted ? 8 : 4); };
    while (sizes_.stage_edges > small && !budget.has_room(2 * bytes())) sizes_.stage_edges /= 2;
    staged_.raise_to(bytes());
    for (unsigned i = 0; i < stages_at_once; ++i)
      stages_.push_back(std::make_unique<Stage>(sizes_.stage_edges, needs_.weighted));
    for (auto& some : told_) some = std::make_unique<Told>(pieces_told(options));
  }

  /// The first edges, for which there are `bytes`, if there is room to tell where windows begin, too.
  void keep(WindowSide& side, GpuSide& there, std::uint64_t bytes, std::uint64_t state) {
    const EdgeIndex     parts = (side.arcs + sizes_.slot_edges - 1) / sizes_.slot_edges + 1;
    const std::uint64_t told  = parts * sizeof(PartAt);
    if (device_.room() < state + told) return;
    there.parts   = {device_, parts, what_windows};
    side.resident = sizes_.resident_edges(side.arcs, bytes - std::min(bytes, told), needs_);
    there.targets = {device_, side.resident, what_windows};
    there.targets.upload(side.host.targets);
    if (!needs_.weighted) return;
    there.weights = {device_, side.resident, what_windows};
    there.weights.upload(side.host.weights);
  }

  void cut(GpuSide& there, EdgeIndex here) {
    const std::uint64_t count = vertices_ + 1;
    there.below = {device_, count, what_windows}, there.above = {device_, count, what_windows};
    SPILLWAY_LAUNCH(cut_rows, blocks_for(count), block_threads, there.offsets, count, here, there.below.data(),
                    there.above.data());
  }

  Laid lay_out(std::size_t which, bool everyone, std::vector<PartAt>& parts) override {
    const GpuSide& side = sides_[which];
    if (side.parts.size() == 0) parts.clear();
    for (const auto& told : told_)
      if (told) told->first = Told::none;
    const Laid laid = kernels_->lay_out({.rows       = side.rows(),
                                         .everyone   = everyone,
                                         .part_edges = sizes_.slot_edges,
                                         .parts      = parts.empty() ? nullptr : side.parts.data(),
                                         .part_count = parts.empty() ? 0 : parts.size() - 1});
    if (parts.empty()) return laid;
    side.parts.download(parts.data());
    return {parts.back().pieces, parts.back().edges};
  }

  Pieces pieces(std::uint64_t first, std::uint64_t last) override {
    const std::size_t which = told_[1]->first == first ? 1 : 0;
    if (told_[which]->first != first) ask_for(*told_[which], first, last);
    Told &now = *told_[which], &next = *told_[1 - which];
    if (first + now.count < last) ask_for(next, first + now.count, last);
    now.here.wait();
    return {{now.entries(), now.count}, now.starts(), piece_edges_};
  }

  void ask_for(Told& told, std::uint64_t first, std::uint64_t last) {
    const auto copied = [&](auto* here, const auto* there, std::uint64_t count) {
      check(cudaMemcpyAsync(here, there + first, count * sizeof(*here), cudaMemcpyDeviceToHost, telling_),
            "asking for active vertices");
    };
    told.first = first, told.count = std::min(last - first, told.most);
    copied(told.entries(), kernels_->entries(), told.count);
    copied(told.starts(), kernels_->starts(), told.count + 1);
    told.here.record(telling_);
  }

  void reuse(std::size_t slot) override { slots_[slot]->visited.hold_up(stream_); }

  void send(std::size_t slot, const Vertex* targets, const std::uint32_t* weights, EdgeIndex count) override {
    copy(*slots_[slot], 0, targets, weights, count);
  }

  EdgePointers stage(std::size_t, EdgeIndex) override {
    Stage& stage = *stages_[++next_stage_ % stages_.size()];
    stage.sent.wait();
    return stage.at;
  }

  void send_staged(std::size_t slot, EdgeIndex at, EdgeIndex count) override {
    Stage& stage = *stages_[next_stage_ % stages_.size()];
    copy(*slots_[slot], at, stage.at.targets, stage.at.weights, count);
    stage.sent.record(stream_);
  }

  void copy(Slot& slot, EdgeIndex at, const Vertex* targets, const std::uint32_t* weights, EdgeIndex count) {
    const EdgePointers to     = slot.at(at);
    const auto         copied = [&](auto* there, const auto* here) {
      check(cudaMemcpyAsync(there, here, count * sizeof(*here), cudaMemcpyHostToDevice, stream_), "sending edges");
    };
    copied(to.targets, targets);
    if (needs_.weighted) copied(to.weights, weights);
    slot.brought.record(stream_);
  }

  /// When it has come.
  void visit(std::size_t which, const WindowAt& at) override {
    const GpuSide& side = sides_[at.side];
    PlainRows      rows = side.rows();
    Slot* const    slot = which == resident || which == WindowDevice::in_place ? nullptr : slots_[which].get();
    const auto     from = [&](const Vertex* targets, const std::uint32_t* weights, EdgeIndex first) {
      rows.targets = targets + first;
      rows.weights = needs_.weighted ? weights + first : nullptr;
    };
    if (slot)
      from(slot->targets.data(), slot->weights.data(), 0);
    else if (which == resident)
      from(side.targets.data(), side.weights.data(), at.first);
    else
      from(side.outside.targets, side.outside.weights, at.first);
    rows.outside = which == WindowDevice::in_place;
    if (slot) slot->brought.hold_up(nullptr);
    kernels_->visit({.rows    = rows,
                     .first   = at.first,
                     .last    = at.last,
                     .compact = at.compact,
                     .pull    = pulls_,
                     .local   = at.local});
    if (slot) slot->visited.record(nullptr);
  }

  Device&                       device_;
  WindowSizes                   sizes_;
  WindowNeeds                   needs_;
  bool                          pulls_;
  std::uint64_t                 vertices_;
  unsigned                      piece_edges_;
  std::vector<GpuSide>          sides_;
  std::unique_ptr<WindowSupply> supply_;
  Charge                        staged_;  ///< pinned
  WindowKernels*                kernels_ = nullptr;
  bool                          reads_in_place_;

  Stream                               stream_, telling_;
  std::vector<std::unique_ptr<Slot>>   slots_;
  std::vector<std::unique_ptr<Stage>>  stages_;
  std::array<std::unique_ptr<Told>, 2> told_;
  std::size_t                          next_stage_ = 0;
};

}  // namespace

Supply<PlainRows> window_supply(DeviceGraph& there, const Graph& graph, const Topology& topology,
                                const RunOptions& options, const WindowNeeds& needs, bool pulls,
                                std::uint64_t state) {
  Supply<PlainRows> supply;
  there.drop_idle_heads();
  std::vector<WindowSide> sides;
  std::vector<Rows>       outside;
  const bool              mixed = options.method == Method::mixed && !needs.everyone;
  const auto              add   = [&](const std::vector<Block>& blocks, std::vector<PlainRows>& to, bool sent) {
    for (const Block& block : blocks) {
      auto rows = there.outside(block, needs.weighted, graph);
      rows->drop_heads();
      to.push_back({rows->offsets(), rows->offsets() + 1, nullptr, nullptr});
      if (sent) {
        sides.push_back({.host = rows->pinned(), .arcs = block.rows.offsets[topology.vertices]});
        outside.push_back(rows->whole());
      }
      supply.held.push_back(std::move(rows));
    }
  };
  // Rows that are read as they are pushed are pulled as well, if they are the same ones.
  const bool same = std::ranges::equal(
      topology.push, topology.pull, {}, [](const Block& b) { return b.rows.targets; },
      [](const Block& b) { return b.rows.targets; });
  add(topology.push, supply.push, !pulls);
  if (!mixed) add(topology.pull, supply.pull, pulls);
  EdgeIndex arcs = 0;
  for (const WindowSide& side : sides) {
    arcs = std::max(arcs, side.arcs);
    supply.on_host += side.arcs * (needs.weighted ? 8 : 4);
  }
  Device& device = there.device();
  device.require(state + WindowSizes::least(needs), "the state of the vertices and windows of edges");
  std::uint64_t       room   = device.room() - state;
  const std::uint64_t places = mixed ? 2 * sides.size() * (topology.vertices + 1) * sizeof(EdgeIndex) : 0;
  RunOptions          sized  = options;
  if (room < places + WindowSizes::least(needs))
    sized.supply.resident = 0;  // nothing stays, so nobody needs to know where it is
  else
    room -= places;
  const WindowSizes sizes   = WindowSizes::of(room, arcs, topology.vertices, needs, sized);
  auto              windows = std::make_shared<GpuWindows>(device, std::move(sides), outside, sizes, needs, pulls,
                                              topology.vertices, state, options, graph.budget());
  if (mixed) {
    supply.push.clear();
    for (std::size_t i = 0; i < outside.size(); ++i)
      for (const PlainRows& part : windows->in_place(i)) supply.push.push_back(part);
    if (same) supply.pull = supply.push;
  }
  supply.resident = windows->resident_bytes();
  supply.uploaded = supply.resident;
  supply.windows  = std::move(windows);
  return supply;
}

}  // namespace spillway::cuda
