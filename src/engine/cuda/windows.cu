// Edges that reach a GPU in windows: gathering, copying and visiting at once, and what a run of them is made with.
#include <algorithm>
#include <optional>

#include "engine/cuda/grid.cuh"
#include "engine/cuda/window_parts.hpp"
#include "supply/residency.hpp"

#include <spillway/engine/cuda/device_trace.hpp>
#include <spillway/error.hpp>
#include "engine/cuda/supplies.hpp"

namespace spillway::cuda {
namespace {

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
  GpuWindows(Device& device, std::vector<SideToCome> given, const WindowSizes& sizes, const SlotSizes& slots,
             const WindowNeeds& needs, bool pulls, std::uint64_t vertices, std::uint64_t state,
             const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget)
      : device_(device),
        sizes_(sizes),
        needs_(needs),
        pulls_(pulls),
        vertices_(vertices),
        sides_(given.size()),
        staged_(budget, what_windows),
        trace_(options.trace),
        reads_in_place_(
            options.method->reads_in_place && !needs.everyone &&
            std::ranges::any_of(given, [](const SideToCome& to_come) { return to_come.side.arcs > 0; })) {
    const bool compressed = slots.decoded > 0;
    for (unsigned i = 0; slots.words > 0 && i < sizes.slots; ++i)
      slots_.push_back(std::make_unique<Slot>(device, slots.words, needs.weighted && !compressed));
    if (compressed) decoded_ = std::make_unique<Slot>(device, slots.decoded, needs.weighted);
    const bool gathers = options.method->gathers && !needs.everyone && sizes.slot_edges > 0;
    if (gathers) make_stages(options, *budget);
    std::vector<WindowSide> sides;
    for (std::size_t i = 0; i < given.size(); ++i) {
      WindowSide& side     = sides.emplace_back(std::move(given[i].side));
      sides_[i].offsets    = given[i].on_host.offsets;
      sides_[i].on_host    = given[i].on_host;
      sides_[i].compressed = std::move(given[i].compressed);
      sides_[i].first      = std::move(given[i].first);
      sides_[i].first_of   = std::move(given[i].rows);
      if (side.arcs > 0) keep(side, sides_[i], sizes.left / given.size(), state);
      if (!options.method->reads_in_place || needs.everyone || side.resident == 0) continue;
      cut(sides_[i], side.edge_at(side.resident));
      sides_[i].all_here = side.resident == side.parts();
    }
    supply_ = std::make_unique<WindowSupply>(std::move(sides), sizes_, needs, options, budget);
  }
  /// Before what streams write to is given back. Rings that are pinned already serve the next run.
  ~GpuWindows() override {
    wait_for_streams();
    IdleRings::instance().put(device_.index(), std::move(stages_));
    IdleRings::instance().put(device_.index(), std::move(descriptor_ring_));
    for (GpuSide& side : sides_)
      if (side.first_of) side.first_of->leave_first(std::move(side.first));
  }

  /// Iterations whose edges are better read in place need no windows.
  bool may_fuse() const override { return reads_in_place_; }

  BlockWork bring(Executor& executor, Direction, IterationStatistics& made, RunStatistics& statistics) override {
    executor_ = &executor;
    kernels_  = &dynamic_cast<WindowKernels&>(executor);
    try {
      note(supply_->supply(*this), made, statistics);
      if (trace_) trace_.flush();
    } catch (...) {
      wait_for_streams();  // they read what the run gives back
      throw;
    }
    return {};  // is counted on the device
  }

  void complete(RunStatistics&) const override {}

  std::uint64_t resident_bytes() const { return supply_->resident_bytes(); }
  std::uint64_t uploaded_bytes() const { return uploaded_; }

  std::size_t            sides() const { return sides_.size(); }
  std::vector<PlainRows> in_place(std::size_t side) const { return sides_[side].in_place(); }

 private:
  void wait_for_streams() const {
    cudaStreamSynchronize(stream_);
    cudaStreamSynchronize(descriptor_stream_);
  }

  /// Smaller ones where the host has little room: others need some, too.
  void make_stages(const RunOptions& options, const MemoryBudget& budget) {
    constexpr EdgeIndex small = 1u << 12;
    const std::uint64_t told  = 2 * DescriptorBatch::bytes_of(descriptors_at_once(options));
    const auto          bytes = [&] { return told + stages_at_once * sizes_.stage_edges * needs_.edge_bytes(); };
    while (sizes_.stage_edges > small && !budget.has_room(2 * bytes())) sizes_.stage_edges /= 2;
    staged_.raise_to(bytes());
    stages_          = ring(stages_at_once, sizes_.stage_edges * needs_.edge_bytes());
    descriptor_ring_ = ring(2, DescriptorBatch::bytes_of(descriptors_at_once(options)));
    for (unsigned i = 0; i < 2; ++i) batches_.push_back({(*descriptor_ring_)[i], descriptors_at_once(options)});
  }

  /// One that another run has left, or a new one.
  std::unique_ptr<StagingRing> ring(unsigned count, std::uint64_t bytes) const {
    if (auto idle = IdleRings::instance().take(device_.index(), count, bytes)) return idle;
    return std::make_unique<StagingRing>(count, bytes);  // says why there is none
  }

  /// The first edges, for which there are `bytes`, if there is room to tell where windows begin, too.
  void keep(WindowSide& side, GpuSide& there, std::uint64_t bytes, std::uint64_t state) {
    const std::size_t   parts = side.parts() + 1;
    const std::uint64_t told  = parts * sizeof(PartAt);
    if (there.first.bytes() == 0 && device_.room() < state + told) return;
    there.parts = {device_, parts, what_windows};
    if (there.compressed) return keep_compressed(side, *there.compressed, bytes - std::min(bytes, told));
    const EdgeIndex stay = edges_that_stay(side, sizes_, needs_, bytes);
    side.resident        = sizes_.parts_of(stay);
    if (there.first.targets.size() == stay) return;
    there.first.targets = {device_, stay, what_windows};
    there.first.targets.upload(side.host.targets);
    if (needs_.weighted) {
      there.first.weights = {device_, stay, what_windows};
      there.first.weights.upload(side.host.weights);
    }
    uploaded_ += there.first.bytes();
  }

  static void keep_compressed(WindowSide& side, CompressedWindows& there, std::uint64_t bytes) {
    const auto fits = [&](std::size_t parts) {
      return side.bytes(0, parts) + CompressedBlock::words_behind * sizeof(std::uint32_t) <= bytes;
    };
    while (side.resident < side.parts() && fits(side.resident + 1)) ++side.resident;
    there.keep(side.word_at(side.resident));
  }

  void cut(GpuSide& there, EdgeIndex here) {
    const std::uint64_t count = vertices_ + 1;
    there.below = {device_, count, what_windows}, there.above = {device_, count, what_windows};
    SPILLWAY_LAUNCH(cut_rows, blocks_for(count), block_threads, there.offsets, count, here, there.below.data(),
                    there.above.data());
  }

  LayoutSize lay_out(std::size_t which, bool everyone, std::vector<PartAt>& parts) override {
    const GpuSide& side = sides_[which];
    if (side.parts.size() == 0) parts.clear();
    for (DescriptorBatch& told : batches_) told.first = DescriptorBatch::none;
    const LayoutSize laid =
        kernels_->lay_out({.offsets    = side.offsets,
                           .everyone   = everyone,
                           .part_edges = sizes_.slot_edges,
                           .parts      = parts.empty() ? nullptr : side.parts.data(),
                           .part_count = parts.empty() ? 0 : parts.size() - 1,
                           .cuts       = side.compressed ? side.compressed->edges_at_cuts() : nullptr});
    if (!parts.empty()) side.parts.download(parts.data());
    laid_parts_          = parts;
    const LayoutSize all = parts.empty() ? laid : LayoutSize{parts.back().chunks, parts.back().edges};
    layout_              = kernels_->laid();
    layout_.count        = all.entries;
    return all;
  }

  ChunkLayout chunks(std::uint64_t first, std::uint64_t last) override {
    const std::size_t which = batches_[1].first == first ? 1 : 0;
    DescriptorBatch & now = batches_[which], &next = batches_[1 - which];
    if (now.first != first) ask_for(now, first, last);
    if (first + now.count < last) ask_for(next, first + now.count, last);
    now.buffer.copied.wait();
    return {now.entries(), now.starts(), now.count, layout_.chunk_edges};
  }

  void ask_for(DescriptorBatch& told, std::uint64_t first, std::uint64_t last) {
    const auto copied = [&](auto* here, const auto* there, std::uint64_t count) {
      check(
          cudaMemcpyAsync(here, there + first, count * sizeof(*here), cudaMemcpyDeviceToHost, descriptor_stream_),
          "asking for active vertices");
    };
    told.first = first, told.count = std::min(last - first, told.most);
    copied(told.entries(), layout_.entries, told.count);
    copied(told.starts(), layout_.starts, told.count + 1);
    told.buffer.copied.record(descriptor_stream_);
  }

  void reuse(std::size_t slot) override { slots_[slot]->visited.make_wait(stream_); }

  void send(std::size_t slot, const WindowSide& side, std::size_t part) override {
    const std::uint64_t first = side.word_at(part);
    copy(*slots_[slot], 0, side.host.targets + first, side.host.weights ? side.host.weights + first : nullptr,
         side.word_at(part + 1) - first);
  }

  EdgePointers stage(std::size_t, EdgeIndex) override {
    (*stages_)[++turn_].copied.wait();
    return staged();
  }

  void send_staged(std::size_t slot, EdgeIndex at, EdgeIndex count) override {
    copy(*slots_[slot], at, staged().targets, staged().weights, count);
    (*stages_)[turn_].copied.record(stream_);
  }

  /// Where the host gathers edges that are sent next.
  EdgePointers staged() {
    const PinnedMemory& memory = (*stages_)[turn_].memory;
    return {memory.as<Vertex>(), needs_.weighted ? memory.as<std::uint32_t>() + sizes_.stage_edges : nullptr};
  }

  void copy(Slot& slot, EdgeIndex at, const Vertex* targets, const std::uint32_t* weights, EdgeIndex count) {
    const EdgePointers to     = slot.at(at);
    const auto         copied = [&](auto* there, const auto* here) {
      check(cudaMemcpyAsync(there, here, count * sizeof(*here), cudaMemcpyHostToDevice, stream_), "sending edges");
    };
    trace_.around(Track::to_device, "send", stream_, count * (weights ? 2 : 1) * sizeof(*targets), [&] {
      copied(to.targets, targets);
      if (weights) copied(to.weights, weights);
    });
    slot.arrived.record(stream_);
  }

  /// Which chunks may be in whole parts is known from the layout: a search takes as long as visiting them.
  ChunkRange chunks_in(const WindowAt& at) const {
    if (at.edges.compact || laid_parts_.empty()) return {};
    const std::uint64_t begun = laid_parts_[at.first_part].chunks;
    return {begun - std::min<std::uint64_t>(begun, 1), laid_parts_[at.last_part].chunks};  // the one before may
  }                                                                                        // reach into it

  void process(const WindowAt& at, const Rows& rows, BlockMemory memory) {
    executor_->process(WindowBlock{.rows       = rows,
                                   .layout     = layout_,
                                   .edges      = at.edges,
                                   .candidates = chunks_in(at),
                                   .pull       = pulls_,
                                   .local      = at.local,
                                   .again      = at.again,
                                   .memory     = memory});
  }

  const std::uint32_t* weighted(const std::uint32_t* weights) const { return needs_.weighted ? weights : nullptr; }

  static Rows rows_in(const Slot& slot, const GpuSide& side) {
    return side.rows(slot.targets.data(), slot.weights.data());
  }

  /// Part by part, each when it has come. Its slot can be sent to as soon as it is decoded.
  void visit_compressed(std::size_t which, const WindowAt& at) {
    const GpuSide& side = sides_[at.side];
    Slot* const    slot = which == resident ? nullptr : slots_[which].get();
    if (slot) slot->arrived.make_wait(nullptr);
    for (std::size_t part = at.first_part; part < at.last_part; ++part) {
      const auto [first, last] = side.compressed->edges_of(part);
      if (first == last) continue;
      trace_.around(Track::kernels, "decode", nullptr, 0, [&] {
        side.compressed->decode(part, slot ? slot->targets.data() : side.compressed->kept(part), decoded_->at(0));
      });
      if (slot) slot->visited.record(nullptr);
      process({at.side, {first, last}, at.local, part, part + 1}, rows_in(*decoded_, side), BlockMemory::staging);
    }
  }

  /// When it has come.
  void visit(std::size_t which, const WindowAt& at) override {
    const GpuSide& side = sides_[at.side];
    if (side.compressed) return visit_compressed(which, at);
    const EdgeIndex from = at.edges.first;
    if (which == resident)
      return process(at, side.rows(side.first.targets.data(), side.first.weights.data(), from),
                     BlockMemory::device);
    if (which == WindowDevice::in_place)
      return process(at, side.rows(side.on_host.targets, weighted(side.on_host.weights), from), BlockMemory::host);
    Slot& slot = *slots_[which];
    slot.arrived.make_wait(nullptr);
    process(at, rows_in(slot, side), BlockMemory::staging);
    slot.visited.record(nullptr);
  }

  Device&                       device_;
  WindowSizes                   sizes_;
  WindowNeeds                   needs_;
  bool                          pulls_;
  std::uint64_t                 vertices_;
  std::vector<GpuSide>          sides_;
  std::unique_ptr<WindowSupply> supply_;
  Charge                        staged_;  ///< pinned
  std::uint64_t                 uploaded_ = 0;
  Executor*                     executor_ = nullptr;
  WindowKernels*                kernels_  = nullptr;  ///< the same
  ChunkLayout                   layout_;              ///< the last, on the device
  std::vector<PartAt>           laid_parts_;          ///< of it
  DeviceTrace                   trace_;
  bool                          reads_in_place_;

  Stream                             stream_, descriptor_stream_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::unique_ptr<Slot>              decoded_;  ///< the part that is visited, if edges are compressed
  std::unique_ptr<StagingRing>       stages_, descriptor_ring_;
  std::vector<DescriptorBatch>       batches_;  ///< two, or none
  std::uint64_t                      turn_ = 0;
};

/// Gathers what a run in windows is made of.
class WindowBuilder {
 public:
  WindowBuilder(DeviceGraph& device_graph, const Graph& graph, const Topology& topology, const RunOptions& options,
                const WindowNeeds& needs, bool pulls, std::uint64_t state)
      : device_graph_(device_graph),
        graph_(graph),
        topology_(topology),
        options_(options),
        needs_(needs),
        pulls_(pulls),
        compressed_(options.supply.compress == Compress::on),
        mixed_(options.method->reads_in_place && !needs.everyone),
        state_(state) {}

  Supply<PlainRows> build() {
    if (!compressed_) take_first(pulls_ ? topology_.pull : topology_.push);
    device_graph_.drop_idle_prefixes();
    const auto add_push = [&] { add(topology_.push, supply_.push, !pulls_); };
    if (!pulls_) add_push();
    if (!mixed_) add(topology_.pull, supply_.pull, pulls_);
    if (pulls_) add_push();  // rows that are sent say in which order all are
    Device& device = device_graph_.device();
    if (device.room() < state_ + WindowSizes::least(needs_)) drop_first();
    device.require(state_ + WindowSizes::least(needs_), "the state of the vertices and windows of edges");
    const WindowSizes sizes = compressed_ ? compressed_sizes() : plain_sizes();
    if (!first_serves(sizes)) drop_first();
    auto windows = std::make_shared<GpuWindows>(device, std::move(sides_), sizes, slots_, needs_, pulls_,
                                                topology_.vertices, state_, options_, graph_.budget());
    if (mixed_) read_in_place(*windows);
    supply_.resident = windows->resident_bytes();
    supply_.uploaded = compressed_ ? supply_.resident : windows->uploaded_bytes();
    supply_.windows  = std::move(windows);
    return std::move(supply_);
  }

 private:
  /// What the last run has left, before what is idle goes.
  void take_first(const std::vector<RowBlock>& blocks) {
    for (const RowBlock& block : blocks) {
      first_.push_back(device_graph_.host_rows(block, needs_.weighted, graph_)->take_first());
      held_ += first_.back().bytes();
    }
  }

  void drop_first() {
    first_.clear();
    held_ = 0;
    for (SideToCome& come : sides_) come.first = {};
  }

  /// Whether just that is to stay.
  bool first_serves(const WindowSizes& sizes) {
    if (held_ == 0) return false;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      SideToCome&     come = sides_[i];
      const EdgeIndex stay = edges_that_stay(come.side, sizes, needs_, sizes.left / sides_.size());
      if (first_[i].targets.size() != stay || (first_[i].weights.size() > 0) != (needs_.weighted && stay > 0))
        return false;
    }
    for (std::size_t i = 0; i < sides_.size(); ++i) sides_[i].first = std::move(first_[i]);
    return true;
  }

  /// The rows of a block: where they are, and, if they are sent, all that is needed for it.
  void add(const std::vector<RowBlock>& blocks, std::vector<PlainRows>& to, bool sent) {
    for (const RowBlock& block : blocks) {
      auto rows = device_graph_.host_rows(block, needs_.weighted, graph_);
      rows->drop_prefixes();
      if (compressed_)
        add_compressed(block, *rows, to, sent);
      else
        add_plain(block, rows, to, sent);
      supply_.held.push_back(std::move(rows));
    }
  }

  void add_plain(const RowBlock& block, const std::shared_ptr<HostRows>& rows, std::vector<PlainRows>& to,
                 bool sent) {
    to.push_back({rows->offsets(), rows->offsets() + 1, nullptr, nullptr});
    if (!sent) return;
    SideToCome& come = sides_.emplace_back();
    come.side        = {.host = rows->pinned(), .arcs = block.rows.offsets[topology_.vertices]};
    if (!needs_.weighted) come.side.host.weights = nullptr;
    come.on_host = rows->whole();
    come.rows    = rows;
    supply_.on_host += come.side.arcs * needs_.edge_bytes();
  }

  /// In the order that all compressed rows of a graph have.
  void add_compressed(const RowBlock& block, const HostRows& rows, std::vector<PlainRows>& to, bool sent) {
    std::shared_ptr<CompressedBlock> block_there;
    if (sent) {
      block_there =
          device_graph_.compressed(block, topology_, needs_.weighted, graph_, options_.supply.coding_batch_arcs);
      block_there->drop_prefixes();
      supply_.order = block_there->order();
    }
    const EdgeIndex* offsets = ordered(block, rows);
    to.push_back({offsets, offsets + 1, nullptr, nullptr});
    if (!sent) return;
    SideToCome& come = sides_.emplace_back();
    come.compressed =
        std::make_unique<CompressedWindows>(device_graph_.device(), block_there, offsets, topology_.vertices);
    come.side    = {.host = {nullptr, come.compressed->on_host(), nullptr},
                    .arcs = block.rows.offsets[topology_.vertices]};
    come.on_host = {offsets, nullptr, nullptr};
    supply_.on_host += block_there->bytes();
    supply_.held.push_back(std::move(block_there));
  }

  /// Offsets in that order, once for each block.
  const EdgeIndex* ordered(const RowBlock& block, const HostRows& rows) {
    const auto found = std::ranges::find(ordered_, block.rows.offsets, &Ordered::of);
    if (found != ordered_.end()) return found->offsets->data();
    auto offsets = std::make_shared<DeviceArray<EdgeIndex>>(
        ordered_offsets(device_graph_.device(), rows.offsets(), topology_.vertices, *supply_.order));
    supply_.held.push_back(offsets);
    return ordered_.emplace_back(block.rows.offsets, std::move(offsets)).offsets->data();
  }

  EdgeIndex most_arcs() const {
    EdgeIndex most = 0;
    for (const SideToCome& come : sides_) most = std::max(most, come.side.arcs);
    return most;
  }

  WindowSizes plain_sizes() {
    std::uint64_t       room   = device_graph_.device().room() + held_ - state_;
    const std::uint64_t places = mixed_ ? 2 * sides_.size() * (topology_.vertices + 1) * sizeof(EdgeIndex) : 0;
    RunOptions          sized  = options_;
    if (room < places + WindowSizes::least(needs_))
      sized.supply.resident = 0;  // nothing stays, so nobody needs to know where it is
    else
      room -= places;
    const WindowSizes sizes = WindowSizes::of(room, most_arcs(), topology_.vertices, needs_, sized);
    slots_                  = {.words = sizes.slot_edges};
    for (SideToCome& come : sides_) come.side.part_edges = sizes.slot_edges;
    return sizes;
  }

  /// Slots are of words; a part that is visited lies decoded beside them.
  WindowSizes compressed_sizes() {
    constexpr std::uint64_t edges_a_word = 2;  // of rows that compress well
    const std::uint64_t     edge_bytes   = needs_.edge_bytes();
    const std::uint64_t     room         = device_graph_.device().room() - state_;
    WindowNeeds             words        = needs_;
    words.weighted = false, words.local = false;
    WindowSizes sizes = WindowSizes::of(room, most_arcs(), topology_.vertices, words, options_);
    PartBounds  bounds{.words = sizes.slot_edges, .edges = edges_a_word * sizes.slot_edges};
    for (const SideToCome& come : sides_) {
      bounds.words = std::max(bounds.words, come.compressed->longest_row().words);
      bounds.edges = std::max(bounds.edges, come.compressed->longest_row().edges);
    }
    if (most_arcs() == 0) return sizes;
    slots_                    = {.words = bounds.words + CompressedBlock::words_behind, .decoded = bounds.edges};
    const std::uint64_t needs = sizes.slots * slots_.words * sizeof(std::uint32_t) + bounds.edges * edge_bytes;
    device_graph_.device().require(state_ + needs, "the state of the vertices and windows of compressed edges");
    for (SideToCome& come : sides_) come.side.cuts = come.compressed->cut(bounds);
    // Where parts begin is on the device as well now.
    sizes.left = resident_bytes(device_graph_.device().room(), state_ + needs, options_.supply.resident);
    return sizes;
  }

  /// Rows that are read as they are pushed are pulled as well, if they are the same ones.
  void read_in_place(const GpuWindows& windows) {
    const auto targets = [](const RowBlock& block) { return block.rows.targets; };
    supply_.push.clear();
    for (std::size_t i = 0; i < windows.sides(); ++i)
      for (const PlainRows& part : windows.in_place(i)) supply_.push.push_back(part);
    if (std::ranges::equal(topology_.push, topology_.pull, {}, targets, targets)) supply_.pull = supply_.push;
  }

  struct Ordered {
    const EdgeIndex*                        of;  ///< on the host
    std::shared_ptr<DeviceArray<EdgeIndex>> offsets;
  };

  DeviceGraph&            device_graph_;
  const Graph&            graph_;
  const Topology&         topology_;
  const RunOptions&       options_;
  WindowNeeds             needs_;
  bool                    pulls_, compressed_, mixed_;
  std::uint64_t           state_;
  Supply<PlainRows>       supply_;
  std::vector<SideToCome> sides_;
  std::vector<Ordered>    ordered_;
  std::vector<FirstEdges> first_;     ///< that the last run has left
  std::uint64_t           held_ = 0;  ///< bytes of them
  SlotSizes               slots_;
};

}  // namespace

Supply<PlainRows> window_supply(DeviceGraph& device_graph, const Graph& graph, const Topology& topology,
                                const RunOptions& options, const WindowNeeds& needs, bool pulls,
                                std::uint64_t state) {
  return WindowBuilder{device_graph, graph, topology, options, needs, pulls, state}.build();
}

}  // namespace spillway::cuda
