// Unsorted edges that reach a GPU: all of them before the run, or in chunks that are on their way while others are
// processed.
#include <algorithm>
#include <optional>

#include "engine/cuda/grid.cuh"
#include "engine/cuda/order.hpp"
#include "engine/cuda/staging.hpp"
#include "engine/cuda/supplies.hpp"
#include "engine/cuda/window_parts.hpp"
#include "supply/edges.hpp"
#include "supply/methods.hpp"

#include <spillway/engine/cuda/device_trace.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>

namespace spillway::cuda {
namespace {

/// How many edges push from each vertex.
__global__ void count_edges(const EdgeBlock block, EdgeIndex* degrees) {
  const auto count = [&](Vertex v) { atomicAdd(reinterpret_cast<unsigned long long*>(degrees + v), 1ull); };
  for (std::uint64_t i = first_item(); i < block.edges.count; i += item_stride())
    for_each_arc(block.edges, i, block.along, [&](Vertex from, Vertex) { count(from); });
}

/// Whether a vertex has more edges than kernels count in 32 bits.
__global__ void find_longest(const EdgeIndex* offsets, std::uint64_t vertices, EdgeIndex limit, unsigned* found) {
  for (std::uint64_t v = first_item(); v < vertices; v += item_stride())
    if (offsets[v + 1] - offsets[v] >= limit) *found = 1;
}

/// Where the program does not read degrees, all vertices get the mean.
__global__ void spread_evenly(EdgeIndex arcs, std::uint64_t vertices, EdgeIndex* offsets) {
  for (std::uint64_t v = first_item(); v <= vertices; v += item_stride())
    offsets[v] = vertices == 0 ? 0 : arcs / vertices * v + arcs % vertices * v / vertices;
}

constexpr auto what_index = "the shared index of the edges";

/// Each block's targets are found by hashing; then places are what the slots got.
__global__ void index_blocks(const EdgeBlock block) {
  constexpr unsigned   slots_at_most = 2 * SharedIndex::most_targets;
  __shared__ Vertex    slots[slots_at_most];
  __shared__ unsigned  found;
  const SharedIndex&   index = block.shared;
  const EdgeDirections along = block.along;
  std::uint16_t* const back  = index.places + (along.forward ? block.edges.count : 0);
  unsigned             size  = warp_lanes;
  while (size < 2 * index.block_targets) size *= 2;
  const auto slot_of = [&](Vertex v) {
    unsigned at = (v * 0x9E3779B1u >> 7) & (size - 1);
    for (;; at = (at + 1) & (size - 1)) {
      const Vertex there = atomicCAS(slots + at, no_vertex, v);
      if (there == no_vertex || there == v) return static_cast<std::uint16_t>(at);
    }
  };
  deal<BlockTeam>(index.blocks(block.edges.count), [&](std::uint64_t b) {
    const std::uint64_t first = b * index.block_edges, end = first + index.block_edges,
                        last = end < block.edges.count ? end : block.edges.count;
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) slots[i] = no_vertex;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    for (std::uint64_t i = first + threadIdx.x; i < last; i += blockDim.x) {
      if (along.forward) index.places[i] = slot_of(block.edges.target(i));
      if (along.backward) back[i] = slot_of(block.edges.source(i));
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
      if (slots[i] == no_vertex) continue;
      const unsigned place                           = atomicAdd(&found, 1u);
      index.targets[b * index.block_targets + place] = slots[i];
      slots[i]                                       = place;
    }
    __syncthreads();
    for (std::uint64_t i = first + threadIdx.x; i < last; i += blockDim.x) {
      if (along.forward) index.places[i] = static_cast<std::uint16_t>(slots[index.places[i]]);
      if (along.backward) back[i] = static_cast<std::uint16_t>(slots[back[i]]);
    }
    if (threadIdx.x == 0) index.counts[b] = found;
    __syncthreads();
  });
}

/// The arrays of a shared index, for the edges of one list at a time.
class IndexMemory {
 public:
  void allocate(Device& device, const SharedIndex& shape, std::uint64_t edges) {
    shape_ = shape;
    if (!shape.any()) return;
    const std::uint64_t blocks = shape.blocks(edges), ways = shape.block_targets / shape.block_edges;
    places_  = {device, ways * edges, what_index};
    targets_ = {device, blocks * shape.block_targets, what_index};
    counts_  = {device, blocks, what_index};
    if (!shape.stored) return;
    values_   = {device, blocks * shape.block_targets * shape.local_bytes, what_index};
    received_ = {device, blocks * SharedIndex::received_words(shape.block_targets), what_index};
  }

  /// Made in the order of the kernels; once for a list that comes again with others.
  void build(EdgeBlock& block) {
    if (!shape_.any() || block.edges.count == 0) return;
    block.shared          = shape_;
    block.shared.places   = places_.data();
    block.shared.targets  = targets_.data();
    block.shared.counts   = counts_.data();
    block.shared.values   = values_.data();
    block.shared.received = received_.data();
    if (block.again) return;
    const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(shape_.blocks(block.edges.count), 8192));
    SPILLWAY_LAUNCH(index_blocks, blocks, block_threads, block);
  }

 private:
  SharedIndex                shape_;
  DeviceArray<std::uint16_t> places_;
  DeviceArray<Vertex>        targets_;
  DeviceArray<std::uint32_t> counts_;
  DeviceArray<unsigned char> values_;
  DeviceArray<std::uint32_t> received_;
};

class GpuEdges final : public EdgeSupply, EdgeDevice {
 public:
  static constexpr unsigned slots = EdgeRounds::slots;

  GpuEdges(Device& device, const RowBlock& block, const EdgeRun& all, const ChunkSizes& sizes,
           const ListOrder& order, const SharedIndex& shared, const RunOptions& options,
           const std::shared_ptr<MemoryBudget>& budget, std::shared_ptr<EdgesOnDevice> sent)
      : device_(device),
        threads_(thread_count(options.threads)),
        all_(all),
        sizes_(sizes),
        rounds_(block, all_, sizes, order, threads_, budget),
        staged_(budget, "edges on their way"),
        trace_(options.trace),
        sent_(std::move(sent)) {
    if (sizes_.whole) {
      chunks_[0].index.allocate(device_, shared, all_.count);
      whole_ = rounds_.block_of(all_there());
      chunks_[0].index.build(whole_);
      return;
    }
    for (Slot& chunk : chunks_) {
      chunk.words = {device_, sizes_.edges * all_.stride, what_edges};
      chunk.index.allocate(device_, shared, sizes_.edges);
    }
    if (order.concatenates()) successors_.words = {device_, sizes_.successors * all_.stride, what_edges};
    staged_.raise_to(stages_at_once * stage_bytes);
    stages_ = IdleRings::instance().take(device_.index(), stages_at_once, stage_bytes);
    if (!stages_) stages_ = std::make_unique<StagingRing>(stages_at_once, stage_bytes);
  }
  ~GpuEdges() override {
    cudaStreamSynchronize(stream_);
    if (stages_) IdleRings::instance().put(device_.index(), std::move(stages_));
  }

  bool may_fuse() const override { return false; }

  BlockWork bring(Executor& executor, Direction, IterationStatistics& made, RunStatistics& statistics) override {
    if (sizes_.whole) return executor.process(whole_);
    executor_ = &executor;
    kernels_  = &dynamic_cast<WindowKernels&>(executor);
    try {
      const BlockWork work = rounds_.round(*this, made, statistics);
      if (trace_) trace_.flush();
      return work;
    } catch (...) {
      cudaStreamSynchronize(stream_);  // it reads what the run gives back
      throw;
    }
  }

  void complete(RunStatistics&) const override {}

  /// Where rows would begin: of these degrees, or, if they are not asked for, of the mean.
  void fill(DeviceArray<EdgeIndex>& offsets, EdgeIndex arcs, bool wants_degrees) {
    const std::uint64_t vertices = offsets.size() - 1;
    if (!wants_degrees) {
      SPILLWAY_LAUNCH(spread_evenly, blocks_for(vertices + 1), block_threads, arcs, vertices, offsets.data());
      return;
    }
    offsets.clear();
    for (std::uint64_t i = 0; i < sizes_.count && all_.count > 0; ++i) {
      const EdgeRun run  = sizes_.whole ? all_there() : send_chunk(rounds_.chunk(i));
      Slot&         slot = slot_of(run);
      if (!sizes_.whole) slot.arrived.make_wait(nullptr);
      SPILLWAY_LAUNCH(count_edges, blocks_for(run.count), block_threads, rounds_.block_of(run), offsets.data());
      slot.processed.record(nullptr);
    }
    exclusive_scan(device_, offsets);
    DeviceArray<unsigned> found{device_, 1, "counters"};
    found.clear();
    SPILLWAY_LAUNCH(find_longest, blocks_for(vertices), block_threads, offsets.data(), vertices, longest_row,
                    found.data());
    unsigned any = 0;
    found.download(&any);
    if (any != 0) refuse_long_row();
  }

 private:
  static constexpr unsigned      stages_at_once = 4;
  static constexpr std::uint64_t stage_bytes    = 8u << 20;

  struct Slot {
    DeviceArray<std::uint32_t> words;
    IndexMemory                index;
    Event                      arrived, processed;
  };

  EdgeRun in(const Slot& slot, std::uint64_t count) const { return {slot.words.data(), count, all_.stride}; }

  EdgeRun all_there() const { return {sent_->words.data(), all_.count, all_.stride}; }

  Slot& slot_of(const EdgeRun& run) {
    if (sizes_.whole) return chunks_[0];
    for (Slot& chunk : chunks_)
      if (chunk.words.data() == run.words) return chunk;
    return successors_;
  }

  EdgeRun send_chunk(const EdgeRun& edges) override {
    Slot& slot = chunks_[turn_++ % slots];
    send(slot, {edges.words, edges.count * edges.stride});
    return in(slot, edges.count);
  }

  EdgeRun send_successors(std::span<const std::uint32_t> words) override {
    send(successors_, words);
    return in(successors_, words.size() / all_.stride);
  }

  /// The host copies a part while others are on the bus.
  void send(Slot& slot, std::span<const std::uint32_t> words) {
    constexpr std::uint64_t part = stage_bytes / sizeof(std::uint32_t);
    slot.processed.make_wait(stream_);
    for (std::uint64_t at = 0; at < words.size(); at += part) {
      const auto some  = words.subspan(at, std::min<std::uint64_t>(part, words.size() - at));
      auto&      stage = (*stages_)[stage_turn_++];
      stage.copied.wait();
      const auto to = stage.memory.as<std::uint32_t>();
      for_each_share(threads_, some.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
        std::copy(some.begin() + static_cast<std::ptrdiff_t>(begin),
                  some.begin() + static_cast<std::ptrdiff_t>(end), to + begin);
      });
      trace_.around(Track::to_device, "send", stream_, some.size_bytes(), [&] {
        check(cudaMemcpyAsync(slot.words.data() + at, to, some.size_bytes(), cudaMemcpyHostToDevice, stream_),
              "sending edges");
      });
      stage.copied.record(stream_);
    }
    slot.arrived.record(stream_);
  }

  BlockWork process(const EdgeBlock& given) override {
    EdgeBlock block = given;
    Slot&     chunk = slot_of(block.edges);
    chunk.arrived.make_wait(nullptr);
    chunk.index.build(block);
    if (block.successors.count > 0) successors_.arrived.make_wait(nullptr);
    const BlockWork work = executor_->process(block);
    chunk.processed.record(nullptr);
    if (block.successors.count > 0) successors_.processed.record(nullptr);
    return work;
  }

  std::vector<std::uint64_t> changed() override { return kernels_->changed(); }

  Device&        device_;
  int            threads_;
  EdgeRun        all_;  ///< in host memory
  ChunkSizes     sizes_;
  EdgeRounds     rounds_;
  EdgeBlock      whole_;   ///< if they are all there
  Charge         staged_;  ///< pinned
  DeviceTrace    trace_;
  Executor*      executor_ = nullptr;
  WindowKernels* kernels_  = nullptr;  ///< the same
  /// All of them, if they are there.
  std::shared_ptr<EdgesOnDevice> sent_;

  Stream                       stream_;
  Slot                         chunks_[slots], successors_;
  std::unique_ptr<StagingRing> stages_;
  std::uint64_t                turn_ = 0, stage_turn_ = 0;
};

void make_of_edges(SupplyJob& job) {
  const Stopwatch clock;
  job.lock                  = job.device_graph.exclusive_host_rows();
  Device&           device  = job.device();
  const RunOptions& options = job.supplied.options;
  const RowBlock&   block   = job.topology.push.front();
  const EdgeRun     all     = block.edges->unchecked();
  auto              sent    = job.device_graph.edges(all);
  job.device_graph.make_room();
  const ListOrder     order  = ListOrder::of(job.needs.facts, options);
  const SharedIndex   shared = shared_index_for(options, block.along, job.needs.facts.local_bytes);
  constexpr unsigned  slots  = GpuEdges::slots;
  const std::uint64_t state  = job.state() + list_offset_bytes(job.topology);
  const std::uint64_t least  = state + ChunkSizes::least_room(all, slots, order.concatenates(), shared);
  const std::uint64_t there  = sent ? all.bytes() : 0;
  if (device.stated() > 0)
    require_room_for_list(all, state, order.concatenates(), shared, device.room() + there, device.stated());
  device.require(least - std::min(least, there), "the state of the vertices and one chunk of edges");
  const ChunkSizes sizes =
      ChunkSizes::of(all, device.room() + there - state, slots, order.concatenates(), shared, options);
  const int threads = thread_count(options.threads);
  if (sizes.whole && !sent) {
    const TraceSpan span{options.trace, Track::to_device, "edges"};
    sent = send(job.device_graph.shared_device(), *block.edges, threads, job.graph.budget());
  }
  block.edges->edges(threads);  // if they were not checked on their way
  if (!sizes.whole) sent.reset();
  job.device_graph.keep(sent);
  Supply<PlainRows> supply;
  auto              offsets =
      std::make_shared<DeviceArray<EdgeIndex>>(device, job.topology.vertices + 1, "the degrees of the vertices");
  auto edges = std::make_shared<GpuEdges>(device, block, all, sizes, order, shared, options, job.graph.budget(),
                                          std::move(sent));
  edges->fill(*offsets, block.arcs(), block.counts_degrees);
  supply.push.push_back({offsets->data(), offsets->data() + 1, nullptr, nullptr});
  supply.on_host  = all.bytes();
  supply.resident = sizes.whole ? all.bytes() : 0;
  supply.uploaded = supply.resident - std::min(there, supply.resident);
  supply.windows  = std::move(edges);
  supply.held.push_back(std::move(offsets));
  job.supplied.rows = std::move(supply);
  device.wait();
  job.supplied.so_far.prepare_ms = clock.milliseconds();
}

}  // namespace

std::uint64_t list_offset_bytes(const Topology& topology) {
  constexpr std::uint64_t rounding = 4096;  // of what is allocated
  return (topology.vertices + 1) * sizeof(EdgeIndex) + topology.vertices / 16 + rounding;
}

MakeSupply* const supply_edges = make_of_edges;

}  // namespace spillway::cuda
