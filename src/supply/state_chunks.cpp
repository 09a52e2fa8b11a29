// State larger than memory: how many chunks of vertices it is cut into (GTS, section 3).
#include <algorithm>
#include <set>

#include "base/fail.hpp"
#include "base/refusal.hpp"
#include "supply/page_stream.hpp"

#include <spillway/engine/executor.hpp>
#include <spillway/engine/host/bitmap.hpp>
#include <spillway/engine/parallel.hpp>

namespace spillway {
namespace {

constexpr std::uint64_t smallest = 1u << 12;  // vertices of a chunk: with fewer, all time goes into reading pages
constexpr auto          what     = "the state of the vertices, in chunks, and pages of edges";

/// What streaming pages takes at least, and what each vertex has on disk beside its state.
struct PageNeeds {
  std::uint64_t least = 0, a_vertex = 0;
};

PageNeeds needs_of(const Topology& topology, bool weighted, const RunOptions& options) {
  std::set<const store::PagedRows*> sides;
  for (const auto* blocks : {&topology.push, &topology.pull})
    for (const RowBlock& block : *blocks) {
      if (!block.pages) throw internal_error("rows in memory were to be streamed");
      sides.insert(block.pages);
    }
  PageNeeds needs;
  for (const store::PagedRows* side : sides) {
    needs.least += PageStreamSizes::least_bytes(*side, thread_count(options.threads), weighted);
    needs.a_vertex += side->offset_bytes_on_disk();
  }
  return needs;
}

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

StateChunks chunks_of(std::uint64_t size, const StateSizes& state, const PageNeeds& needs) {
  const std::uint64_t count = (state.vertices + size - 1) / size;
  return count > 1 ? StateChunks{count, size, state.a_vertex + needs.a_vertex} : StateChunks{};
}

/// Most of the room is for two chunks, the rest for a larger ring of pages.
StateChunks chunks_that_fit(const StateSizes& state, const PageNeeds& needs, const MemoryBudget& budget) {
  const std::uint64_t a_vertex = 2 * (state.a_vertex + needs.a_vertex);
  const std::uint64_t held     = budget.used() + state.at_hand + needs.least;
  const std::uint64_t room     = budget.limit() - std::min(budget.limit(), held);
  const std::uint64_t size     = room / 4 * 3 / a_vertex / smallest * smallest;
  if (size == 0) {
    const std::uint64_t whole =
        budget.used() + needs.least + state.in_memory - std::min(state.in_memory, state.given);
    const std::uint64_t least = std::min(whole, held + (smallest * a_vertex + 2) / 3 * 4);
    throw MemoryRefusal{what, least, budget.limit(), budget.is_stated()};
  }
  return chunks_of(size, state, needs);
}

}  // namespace

StateChunks choose_chunks(const StateSizes& state, const Topology& topology, const ProgramFacts& facts,
                          const RunOptions& options, const MemoryBudget& budget) {
  const std::uint64_t asked = options.supply.state_chunks;
  if (!options.method->streams_pages) {
    if (asked > 1)
      throw usage_error("--state-chunks is for graphs in pages; convert the graph with --layout pages");
    return {};
  }
  const PageNeeds needs = needs_of(topology, facts.weighted, options);
  const bool      fits  = budget.has_room(state.in_memory - std::min(state.in_memory, state.given) + needs.least);
  if (asked == 1 || state.vertices == 0 || (asked == 0 && fits)) return {};
  // Whatever takes the memory then says how much it needs.
  const bool pulls = options.direction == Direction::pull || (options.deterministic && facts.order_sensitive);
  if (!state.can_be_cut || pulls) {
    if (asked > 1)
      throw usage_error(
          "--state-chunks {}: {}", asked,
          pulls ? "state in chunks is pushed to; leave out --direction pull and --deterministic"
          : topology.push.empty()
              ? "state in chunks is pushed to, which needs in-edges; convert the graph with --in-edges"
              : "the state of this program cannot be cut");
    return {};
  }
  if (asked == 0) return chunks_that_fit(state, needs, budget);
  return chunks_of(rounded_up((state.vertices + asked - 1) / asked, host::Bitmap::bits), state, needs);
}

std::uint64_t room_for_bins(const Topology& topology, bool weighted, const RunOptions& options,
                            const MemoryBudget& budget) {
  constexpr std::uint64_t share = 8;  // the rest is for pages that stay
  if (!options.method->streams_pages) return 0;
  const std::uint64_t held = budget.used() + needs_of(topology, weighted, options).least;
  return (budget.limit() - std::min(budget.limit(), held)) / share;
}

}  // namespace spillway
