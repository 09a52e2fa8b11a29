// Edges in the order that they rest in (WolfGraph): in memory all at once, beyond that in chunks, one after the
// other in every round. Programs that do not depend on the order of updates run each chunk to a local fixed point,
// together with edges of earlier chunks that lead on from what changed: the concatenated edge list (section 4.3).
#include "supply/edges.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/fail.hpp"
#include "base/text.hpp"
#include "supply/methods.hpp"

#include <fmt/format.h>

#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

constexpr auto          what_chunks    = "chunks of edges";
constexpr auto          what_index     = "the edges of each vertex";
constexpr std::uint64_t least_edges    = 64;
constexpr std::uint64_t edges_a_thread = 1u << 18;
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

std::uint64_t EdgesOfVertices::bytes(const RowBlock& block, const EdgeRun& edges) {
  const std::uint64_t each = edges.count <= ~std::uint32_t{0} ? sizeof(std::uint32_t) : sizeof(std::uint64_t),
                      ends = block.along.forward && block.along.backward ? 2 : 1;
  return (block.last + std::uint64_t{1}) * sizeof(std::uint64_t) + ends * edges.count * each;
}

EdgesOfVertices::EdgesOfVertices(const RowBlock& block, const EdgeRun& edges, int threads,
                                 const std::shared_ptr<MemoryBudget>& budget)
    : starts_(block.last + std::uint64_t{1}, budget, what_index) {
  const auto in_shares = [&](auto&& visit) {
    for_each_share(threads, edges.count, [&](std::uint64_t begin, std::uint64_t end, int) {
      for_each_sender(block, edges, begin, end, visit);
    });
  };
  in_shares([&](Vertex v, std::uint64_t) { std::atomic_ref{starts_[v]}.fetch_add(1, std::memory_order_relaxed); });
  for (std::uint64_t v = 1; v < starts_.size(); ++v) starts_[v] += starts_[v - 1];
  const std::uint64_t count = starts_[starts_.size() - 1];
  const auto          fill  = [&](auto& numbers) {
    using Number = std::remove_reference_t<decltype(numbers[0])>;
    numbers      = {count, budget, what_index};
    in_shares([&](Vertex v, std::uint64_t edge) {
      numbers[std::atomic_ref{starts_[v]}.fetch_sub(1, std::memory_order_relaxed) - 1] = static_cast<Number>(edge);
    });
    for_each_share(threads, block.last, [&](std::uint64_t begin, std::uint64_t end, int) {
      for (std::uint64_t v = begin; v < end; ++v)
        std::sort(numbers.data() + starts_[v], numbers.data() + starts_[v + 1]);
    });
  };
  if (edges.count <= ~std::uint32_t{0})
    fill(narrow_);
  else
    fill(wide_);
}

std::uint64_t ChunkSizes::least_room(const EdgeRun& all, unsigned slots, bool concatenates,
                                     const SharedIndex& shared) {
  const std::uint64_t chunks = slots * (least_edges * all.edge_bytes() + shared.bytes(least_edges)),
                      more   = concatenates ? least_edges * all.edge_bytes() : 0;
  return std::min(chunks + more, all.bytes() + shared.bytes(all.count));
}

namespace {

/// In so many bytes with what is beside them; more than a block has: in whole blocks.
std::uint64_t edges_within(std::uint64_t bytes, const EdgeRun& all, const SharedIndex& shared) {
  const std::uint64_t each = all.edge_bytes() + shared.edge_bytes();
  if (!shared.any()) return std::max<std::uint64_t>(bytes / each, 1);
  const std::uint64_t blocks = bytes / (shared.block_edges * each + shared.fixed_bytes());
  if (blocks > 0) return blocks * shared.block_edges;
  return std::max<std::uint64_t>((bytes - std::min(bytes, shared.fixed_bytes())) / each, 1);
}

}  // namespace

ChunkSizes ChunkSizes::of(const EdgeRun& all, std::optional<std::uint64_t> room, unsigned slots, bool concatenates,
                          const SharedIndex& shared, const RunOptions& options) {
  const std::uint64_t window = options.supply.window, all_bytes = all.bytes() + shared.bytes(all.count),
                      limit = std::min(room.value_or(all_bytes), all_bytes);
  if (all_bytes == limit && (window == 0 || window >= all.bytes())) return {};
  const std::uint64_t least = least_edges * all.edge_bytes(), index = slots * shared.bytes(least_edges);
  const std::uint64_t for_successors =
      concatenates ? std::max((limit - std::min(limit, index)) / successor_part, least) : 0;
  const auto edges_in = [&](std::uint64_t bytes) { return std::max<std::uint64_t>(bytes / all.edge_bytes(), 1); };
  ChunkSizes sizes{.whole = false};
  sizes.edges = room ? edges_within((*room - std::min(*room, for_successors)) / slots, all, shared) : all.count;
  if (window > 0) sizes.edges = std::min(sizes.edges, edges_in(window));
  sizes.count      = (all.count + sizes.edges - 1) / sizes.edges;
  sizes.edges      = (all.count + sizes.count - 1) / sizes.count;
  sizes.successors = concatenates ? std::min(edges_in(for_successors), all.count) : 0;
  return sizes;
}

std::string text_of_chunks(const ChunkSizes& sizes) {
  return sizes.whole ? "" : fmt::format(", in {} chunks", with_commas(sizes.count));
}

void require_room_for_list(const EdgeRun& all, std::uint64_t state, bool concatenates, const SharedIndex& shared,
                           std::uint64_t room, std::uint64_t stated) {
  const std::uint64_t least = state + ChunkSizes::least_room(all, EdgeRounds::slots, concatenates, shared);
  if (least <= room) return;
  const std::uint64_t needed = stated - room + least;
  throw does_not_fit(
      "the state of the vertices and one chunk of edges need {} ({} bytes), --device-memory allows {}; raise it",
      human_bytes(needed), with_commas(needed), human_bytes(stated));
}

EdgeRounds::EdgeRounds(const RowBlock& block, const EdgeRun& edges, const ChunkSizes& sizes,
                       const ListOrder& order, int threads, const std::shared_ptr<MemoryBudget>& budget)
    : block_(block),
      all_(edges),
      sizes_(sizes),
      order_(order),
      threads_(threads),
      budget_(budget),
      found_memory_(budget, what_chunks) {
  if (sizes_.whole || !order_.concatenates()) return;
  found_memory_.raise_to(std::min(stretch(), all_.count) * all_.edge_bytes());
  gathered_ = {sizes_.successors * all_.stride, budget, what_chunks};
  found_.resize(static_cast<std::size_t>(threads));
}

std::uint64_t EdgeRounds::stretch() const { return edges_a_thread * static_cast<std::uint64_t>(threads_); }

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
    if (order_.concatenates() && i > 0) work += process_successors(device, i * sizes_.edges, chunk(i), block);
  }
  made.bytes_sent = statistics.bytes_sent - before;
  made.transfer   = "whole";
  return work;
}

void EdgeRounds::note_sent(std::uint64_t bytes) {
  ++made_->windows;
  statistics_->bytes_sent += bytes;
}

/// A list is scanned at the speed of memory, an edge that is looked up takes as long as some that are scanned. The
/// edges of vertices are listed only where scanning for a few has been done often, as many chunks and long paths
/// make it: about what the index costs.
bool EdgeRounds::prefers_index(const Bits& reached, std::uint64_t first) {
  constexpr std::uint64_t scans = 16, scanned_meanwhile = 16;
  std::uint64_t           vertices = 0;
  for (const std::uint64_t word : reached) vertices += static_cast<std::uint64_t>(std::popcount(word));
  const std::uint64_t mean = block_.arcs() / std::max<std::uint64_t>(block_.last, 1) + 1;
  if (vertices * mean * scanned_meanwhile > first) return false;
  if (index_) return true;
  scanned_ += first;
  if (scanned_ / scans < all_.count || !budget_->has_room(EdgesOfVertices::bytes(block_, all_))) return false;
  index_.emplace(block_, all_, threads_, budget_);
  return true;
}

/// All threads count first, then each fills its part. Words with more than there is room for are halved; of 64
/// vertices some are hubs then, and their edges are scanned for.
template <class Process>
void EdgeRounds::look_up(const Bits& reached, std::uint64_t first, Process&& process) {
  Bits                    left(reached.size());
  std::vector<ChunkRange> ranges{{0, reached.size()}};
  while (!ranges.empty()) {
    const ChunkRange words = ranges.back();
    ranges.pop_back();
    if (look_up_in(reached, words, first)) {
      if (gathered_words_ > 0) process();
    } else if (words.last - words.first == 1) {
      left[words.first] = reached[words.first];
    } else {
      const std::uint64_t middle = words.first + (words.last - words.first) / 2;
      ranges.push_back({middle, words.last});
      ranges.push_back({words.first, middle});
    }
  }
  if (std::ranges::any_of(left, [](std::uint64_t word) { return word != 0; })) scan(left, first, process);
}

/// False if that is more than there is room for.
bool EdgeRounds::look_up_in(const Bits& reached, const ChunkRange& words, std::uint64_t first) {
  const auto for_each_reached = [&](std::uint64_t begin, std::uint64_t end, auto&& visit) {
    for (std::uint64_t i = words.first + begin; i < words.first + end; ++i)
      for (std::uint64_t word = reached[i]; word != 0; word &= word - 1) {
        const auto v = static_cast<Vertex>(i * 64 + static_cast<std::uint64_t>(std::countr_zero(word)));
        if (v < block_.last) visit(v);
      }
  };
  const std::uint64_t        size = words.last - words.first;
  std::vector<std::uint64_t> starts(static_cast<std::size_t>(threads_) + 1);
  for_each_share(threads_, size, [&](std::uint64_t begin, std::uint64_t end, int thread) {
    std::uint64_t& count = starts[static_cast<std::size_t>(thread) + 1];
    for_each_reached(begin, end, [&](Vertex v) { count += index_->count_before(v, first); });
  });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  if (starts.back() > sizes_.successors) return false;
  for_each_share(threads_, size, [&](std::uint64_t begin, std::uint64_t end, int thread) {
    std::uint32_t* to = gathered_.data() + starts[static_cast<std::size_t>(thread)] * all_.stride;
    for_each_reached(begin, end, [&](Vertex v) {
      index_->for_each_before(v, first, [&](std::uint64_t edge) {
        to = std::copy_n(all_.words + edge * all_.stride, all_.stride, to);
      });
    });
  });
  gathered_words_ = starts.back() * all_.stride;
  return true;
}

/// A stretch for all threads at a time, so that what they find stays small; they put it together, too.
template <class Process>
void EdgeRounds::scan(const Bits& reached, std::uint64_t first, Process&& process) {
  const auto          has  = [&](Vertex v) { return (reached[v / 64] >> (v % 64) & 1) != 0; };
  const std::uint64_t room = sizes_.successors * all_.stride;
  for (std::uint64_t from = 0; from < first; from += stretch()) {
    for_each_share(
        threads_, std::min(stretch(), first - from), [&](std::uint64_t begin, std::uint64_t end, int thread) {
          auto& found = found_[static_cast<std::size_t>(thread)];
          for (std::uint64_t i = from + begin; i < from + end; ++i) {
            const bool leads =
                (block_.along.forward && has(all_.source(i))) || (block_.along.backward && has(all_.target(i)));
            const std::uint32_t* const words = all_.words + i * all_.stride;
            if (leads) found.insert(found.end(), words, words + all_.stride);
          }
        });
    put_together(room, process);
  }
  if (gathered_words_ > 0) process();
}

/// What threads have found goes behind what was gathered, up to as much as there is room for at once.
template <class Process>
void EdgeRounds::put_together(std::uint64_t room, Process&& process) {
  std::vector<std::uint64_t> taken(found_.size());
  for (bool more = true; more;) {
    more = false;
    std::vector<std::uint64_t> some(found_.size()), at(found_.size());
    for (std::size_t t = 0; t < found_.size(); ++t) {
      some[t] = std::min(found_[t].size() - taken[t], room - gathered_words_);
      at[t]   = gathered_words_;
      gathered_words_ += some[t];
    }
    for_each_task(threads_, found_.size(), [&](std::uint64_t t, int) {
      const auto from = found_[t].begin() + static_cast<std::ptrdiff_t>(taken[t]);
      std::copy_n(from, some[t], gathered_.data() + at[t]);
    });
    for (std::size_t t = 0; t < found_.size(); ++t) taken[t] += some[t], more |= taken[t] < found_[t].size();
    if (gathered_words_ == room) process();
  }
  for (auto& found : found_) found.clear();
}

/// All vertices that its edges lead to.
void EdgeRounds::mark_targets(const EdgeRun& chunk, Bits& reached) const {
  for_each_share(threads_, chunk.count, [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t i = begin; i < end; ++i)
      for_each_arc(chunk, i, block_.along, [&](Vertex, Vertex to) {
        const std::uint64_t bit = std::uint64_t{1} << (to % 64);
        std::atomic_ref     word{reached[to / 64]};
        if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
      });
  });
}

/// Edges that lead on from what this chunk has changed, of chunks that had their turn in this round: with the
/// chunk they are one list, or several where they do not fit at once.
BlockWork EdgeRounds::process_successors(EdgeDevice& device, std::uint64_t first, const EdgeRun& chunk,
                                         EdgeBlock& block) {
  Bits reached = device.changed();
  if (order_.successors == Successors::all) mark_targets(chunk, reached);
  BlockWork work;
  block.again        = true;
  const auto process = [&] {
    block.successors = device.send_successors(gathered_.span().first(gathered_words_));
    note_sent(block.successors.bytes());
    work += device.process(block);
    gathered_words_ = 0;
  };
  if (prefers_index(reached, first))
    look_up(reached, first, process);
  else
    scan(reached, first, process);
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
        sizes_(ChunkSizes::of(all_, room(options), slots, order_.concatenates(), {}, options)),
        rounds_(topology.push.front(), all_, sizes_, order_, threads_, budget) {
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
    const std::uint64_t state = executor_.state_bytes(), stated = options.device.memory;
    require_room_for_list(all_, state, order_.concatenates(), {}, stated, stated);
    return stated - state;
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
