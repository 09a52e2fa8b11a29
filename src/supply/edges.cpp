// Edges in the order that they rest in (WolfGraph): in memory all at once, beyond that in chunks, one after the
// other in every round. Programs that do not depend on the order of updates run each chunk to a local fixed point,
// together with edges of earlier chunks that lead on from what changed: the concatenated edge list (section 4.3).
#include "supply/edges.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "supply/methods.hpp"

#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

constexpr auto          what_chunks    = "chunks of edges";
constexpr auto          what_index     = "the edges of each vertex";
constexpr std::uint64_t least_edges    = 64;
constexpr unsigned      successor_part = 4;  ///< of the room for edges, so many parts are one for successors

/// visit(vertex, number) for whoever these edges push from; once for a loop.
template <class Visit>
void for_each_sender(const RowBlock& block, const EdgeRun& edges, std::uint64_t first, std::uint64_t last,
                     Visit&& visit) {
  for (std::uint64_t i = first; i < last; ++i) {
    const EdgeDirections once{block.along.forward, block.along.backward, block.along.forward};
    for_each_arc(edges, i, once, [&](Vertex from, Vertex) { visit(from, i); });
  }
}

}  // namespace

EdgesOfVertices::EdgesOfVertices(const RowBlock& block, const EdgeRun& edges,
                                 const std::shared_ptr<MemoryBudget>& budget)
    : starts_(block.last + std::uint64_t{1}, budget, what_index) {
  for_each_sender(block, edges, 0, edges.count, [&](Vertex v, std::uint64_t) { ++starts_[v]; });
  for (std::uint64_t v = 1; v < starts_.size(); ++v) starts_[v] += starts_[v - 1];
  const std::uint64_t count = starts_[starts_.size() - 1];
  if (edges.count <= ~std::uint32_t{0})
    narrow_ = {count, budget, what_index};
  else
    wide_ = {count, budget, what_index};
  for (std::uint64_t i = edges.count; i-- > 0;)  // from the last on, so that each vertex ends with its first
    for_each_sender(block, edges, i, i + 1, [&](Vertex v, std::uint64_t edge) {
      const std::uint64_t at = --starts_[v];
      if (narrow_.size() > 0)
        narrow_[at] = static_cast<std::uint32_t>(edge);
      else
        wide_[at] = edge;
    });
}

std::uint64_t ChunkSizes::least_room(const EdgeRun& all, unsigned slots, bool concatenates) {
  return std::min(least_edges * (slots + (concatenates ? 1 : 0)) * all.edge_bytes(), all.bytes());
}

ChunkSizes ChunkSizes::of(const EdgeRun& all, std::optional<std::uint64_t> room, unsigned slots, bool concatenates,
                          const RunOptions& options) {
  const std::uint64_t window = options.supply.window, limit = std::min(room.value_or(all.bytes()), all.bytes());
  if (all.bytes() == limit && (window == 0 || window >= all.bytes())) return {};
  const std::uint64_t for_successors =
      concatenates ? std::max(limit / successor_part, least_edges * all.edge_bytes()) : 0;
  const auto edges_in = [&](std::uint64_t bytes) { return std::max<std::uint64_t>(bytes / all.edge_bytes(), 1); };
  ChunkSizes sizes{.whole = false};
  sizes.edges = room ? edges_in((*room - std::min(*room, for_successors)) / slots) : all.count;
  if (window > 0) sizes.edges = std::min(sizes.edges, edges_in(window));
  sizes.count      = (all.count + sizes.edges - 1) / sizes.edges;
  sizes.edges      = (all.count + sizes.count - 1) / sizes.count;
  sizes.successors = concatenates ? edges_in(for_successors) : 0;
  return sizes;
}

void refuse_memory(std::uint64_t needed, std::uint64_t stated) {
  throw does_not_fit(
      "the state of the vertices and one chunk of edges need {} ({} bytes), --device-memory allows {}; raise it",
      human_bytes(needed), with_commas(needed), human_bytes(stated));
}

EdgeRounds::EdgeRounds(const RowBlock& block, const EdgeRun& edges, const ChunkSizes& sizes,
                       const ListOrder& order, const std::shared_ptr<MemoryBudget>& budget)
    : block_(block), all_(edges), sizes_(sizes), order_(order), gathered_memory_(budget, what_chunks) {
  if (sizes_.whole || !order_.concatenates()) return;
  gathered_memory_.raise_to(sizes_.successors * all_.edge_bytes());
  gathered_.reserve(sizes_.successors * all_.stride);
  index_.emplace(block_, all_, budget);
}

EdgeBlock EdgeRounds::block_of(const EdgeRun& edges) const {
  return {.edges  = edges,
          .along  = block_.along,
          .local  = order_.local,
          .memory = sizes_.whole ? BlockMemory::device : BlockMemory::staging};
}

EdgeRun EdgeRounds::chunk(std::uint64_t i) const {
  return all_.part(i * sizes_.edges, std::min(all_.count, (i + 1) * sizes_.edges));
}

BlockWork EdgeRounds::round(EdgeDevice& device, IterationStatistics& made, RunStatistics& statistics) {
  made_ = &made, statistics_ = &statistics;
  const std::uint64_t before = statistics.bytes_sent;
  BlockWork           work;
  EdgeRun             next = device.send_chunk(chunk(0));
  note_sent(next.bytes());
  for (std::uint64_t i = 0; i < sizes_.count; ++i) {
    EdgeBlock block = block_of(next);
    work += device.process(block);
    if (i + 1 < sizes_.count) {  // comes while this one is processed
      next = device.send_chunk(chunk(i + 1));
      note_sent(next.bytes());
    }
    if (index_ && i > 0) work += process_successors(device, i * sizes_.edges, chunk(i), block);
  }
  made.bytes_sent = statistics.bytes_sent - before;
  made.transfer   = "whole";
  return work;
}

void EdgeRounds::note_sent(std::uint64_t bytes) {
  ++made_->windows;
  statistics_->bytes_sent += bytes;
}

/// Edges that lead on from what this chunk has changed, of chunks that had their turn in this round: with the
/// chunk they are one list, or several where they do not fit at once.
BlockWork EdgeRounds::process_successors(EdgeDevice& device, std::uint64_t first, const EdgeRun& chunk,
                                         EdgeBlock& block) {
  std::vector<std::uint64_t> reached = device.changed();
  const auto                 mark    = [&](Vertex v) { reached[v / 64] |= std::uint64_t{1} << (v % 64); };
  if (order_.successors == Successors::all)
    for (std::uint64_t i = 0; i < chunk.count; ++i) {
      for_each_arc(chunk, i, block_.along, [&](Vertex, Vertex to) { mark(to); });
    }
  BlockWork work;
  block.again        = true;
  const auto process = [&] {
    block.successors = device.send_successors(gathered_);
    note_sent(block.successors.bytes());
    work += device.process(block);
    gathered_.clear();
  };
  for (std::uint64_t i = 0; i < reached.size(); ++i)
    for (std::uint64_t word = reached[i]; word != 0; word &= word - 1) {
      const auto v = static_cast<Vertex>(i * 64 + static_cast<std::uint64_t>(std::countr_zero(word)));
      if (v >= block_.last) break;
      index_->for_each_before(v, first, [&](std::uint64_t edge) {
        const std::uint32_t* const words = all_.words + edge * all_.stride;
        gathered_.insert(gathered_.end(), words, words + all_.stride);
        if (gathered_.size() == sizes_.successors * all_.stride) process();
      });
    }
  if (!gathered_.empty()) process();
  return work;
}

namespace {

/// On the CPU an arena stands for a GPU's memory, if --device-memory bounds it.
class HostEdges final : public EdgeSupply, EdgeDevice {
 public:
  HostEdges(CpuExecutor& executor, const Topology& topology, const ProgramFacts& facts, const RunOptions& options,
            const std::shared_ptr<MemoryBudget>& budget)
      : executor_(executor),
        threads_(thread_count(options.threads)),
        all_(topology.push.front().edges->edges(threads_)),
        order_(ListOrder::of(facts, options)),
        sizes_(ChunkSizes::of(all_, room(options), slots, order_.concatenates(), options)),
        rounds_(topology.push.front(), all_, sizes_, order_, budget) {
    if (sizes_.whole) return;
    for (auto& chunk : chunks_) chunk = {sizes_.edges * all_.stride, budget, what_chunks};
    if (order_.concatenates()) successors_ = {sizes_.successors * all_.stride, budget, what_chunks};
  }

  bool may_fuse() const override { return false; }

  BlockWork bring(Executor&, Direction, IterationStatistics& made, RunStatistics& statistics) override {
    return sizes_.whole ? executor_.process(rounds_.block_of(all_)) : rounds_.round(*this, made, statistics);
  }

  void complete(RunStatistics& statistics) const override {
    statistics.method = unsorted_edges()->name;
    statistics.device_bytes =
        executor_.state_bytes() + (slots * chunks_[0].size() + successors_.size()) * sizeof(std::uint32_t);
    statistics.edges_on_host = all_.bytes();
  }

 private:
  static constexpr unsigned slots = EdgeRounds::slots;

  std::optional<std::uint64_t> room(const RunOptions& options) const {
    if (options.device.memory == 0) return std::nullopt;
    const std::uint64_t state  = executor_.state_bytes();
    const std::uint64_t needed = state + ChunkSizes::least_room(all_, slots, order_.concatenates());
    if (needed > options.device.memory) refuse_memory(needed, options.device.memory);
    return options.device.memory - state;
  }

  EdgeRun send_chunk(const EdgeRun& edges) override {
    const auto& chunk = chunks_[turn_++ % slots];
    for_each_share(threads_, edges.count, [&](std::uint64_t begin, std::uint64_t end, int) {
      std::memcpy(chunk.data() + begin * edges.stride, edges.words + begin * edges.stride,
                  (end - begin) * edges.edge_bytes());
    });
    return {chunk.data(), edges.count, edges.stride};
  }
  EdgeRun send_successors(std::span<const std::uint32_t> words) override {
    std::ranges::copy(words, successors_.data());
    return {successors_.data(), words.size() / all_.stride, all_.stride};
  }
  BlockWork                  process(const EdgeBlock& block) override { return executor_.process(block); }
  std::vector<std::uint64_t> changed() override {
    const auto bits = executor_.changed();
    return {bits.begin(), bits.end()};
  }

  CpuExecutor&          executor_;
  int                   threads_;
  EdgeRun               all_;
  ListOrder             order_;
  ChunkSizes            sizes_;
  EdgeRounds            rounds_;
  Buffer<std::uint32_t> chunks_[slots], successors_;
  std::uint64_t         turn_ = 0;
};

std::unique_ptr<EdgeSupply> on_host(CpuExecutor& executor, const Topology& topology, const ProgramFacts& facts,
                                    const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget) {
  return std::make_unique<HostEdges>(executor, topology, facts, options, budget);
}

}  // namespace

const SupplyMethod& edge_list_method() {
  static const SupplyMethod method{{.name          = "edges",
                                    .help          = "unsorted, without rows (of lists of edges)",
                                    .asynchronous  = true,
                                    .of_edge_lists = true,
                                    .takes_arena   = true},
                                   on_host,
                                   cuda::supply_edges};
  return method;
}

Method unsorted_edges() { return Method{edge_list_method()}; }

}  // namespace spillway
