#include "supply/host_windows.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace spillway {
namespace {

constexpr auto          what_windows = "windows of edges";
constexpr std::uint64_t in_pages     = 10 * 4096;  ///< more than slots and what stays take, being of whole pages

}  // namespace

std::uint64_t WindowSizes::layout_bytes(std::uint64_t vertices, EdgeIndex arcs, const WindowNeeds& needs,
                                        const RunOptions& options) {
  const std::uint64_t chunks = vertices + arcs / chunk_edges(options);
  const bool          local  = needs.local && goes_asynchronously(options, vertices, arcs);
  return vertices * sizeof(Vertex) +
         chunks * (sizeof(ChunkDescriptor) + sizeof(EdgeIndex) + (local ? sizeof(RowChunk) : 0));
}

/// No more than three quarters of what the host has left: the rest is for lists.
std::uint64_t WindowSizes::room_on_cpu(std::uint64_t state, const WindowNeeds& needs, const RunOptions& options,
                                       const MemoryBudget& budget, std::uint64_t to_come) {
  const std::uint64_t needed = state + least(needs), limit = options.device.memory;
  if (limit > 0 && needed > limit)
    throw does_not_fit(
        "the state of the vertices and windows of edges need {} ({} bytes), --device-memory allows {}; raise it",
        human_bytes(needed), with_commas(needed), human_bytes(limit));
  const std::uint64_t used = budget.used() + to_come + in_pages;
  budget.expect(to_come + in_pages + least(needs), what_windows);
  const std::uint64_t left = budget.limit() - std::min(budget.limit(), used);
  const std::uint64_t room = std::max(least(needs), left / 4 * 3);
  return limit > 0 ? std::min(limit - state, room) : room;
}

HostWindows::Slot::Slot(EdgeIndex edges, bool weighted, const std::shared_ptr<MemoryBudget>& budget)
    : targets(edges, budget, what_windows), weights(weighted ? edges : 0, budget, what_windows) {}

Rows HostWindows::Slot::rows(EdgeIndex from) const {
  return {nullptr, targets.data() + from, weights.size() > 0 ? weights.data() + from : nullptr};
}

HostWindows::HostWindows(CpuExecutor& executor, const Topology& topology, const WindowNeeds& needs,
                         const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget)
    : executor_(executor),
      needs_(needs),
      options_(options),
      vertices_(topology.vertices),
      laid_memory_(budget, what_windows) {
  std::vector<WindowSide> sides;
  for (const RowBlock& block : topology.push) {
    hosts_.push_back(block.rows);
    arcs_.push_back(block.arcs());
    sides.push_back({.host = block.rows, .arcs = arcs_.back()});
    if (!needs.weighted) sides.back().host.weights = nullptr;
  }
  // What is laid out grows with the frontier: a run that begins has room for the largest.
  laid_memory_.raise_to(
      WindowSizes::layout_bytes(vertices_, arcs_.empty() ? 0 : std::ranges::max(arcs_), needs, options));
  make_room(sides, budget);
  supply_ = std::make_unique<WindowSupply>(std::move(sides), sizes_, needs, options, budget);
}

void HostWindows::make_room(std::vector<WindowSide>& sides, const std::shared_ptr<MemoryBudget>& budget) {
  const std::uint64_t state = executor_.state_bytes(),
                      room  = WindowSizes::room_on_cpu(state, needs_, options_, *budget);
  const EdgeIndex most      = arcs_.empty() ? 0 : std::ranges::max(arcs_);
  sizes_                    = WindowSizes::of(room, most, vertices_, needs_, options_);
  device_bytes_             = state + sizes_.slots * sizes_.slot_edges * needs_.edge_bytes();
  for (unsigned i = 0; i < sizes_.slots; ++i) slots_.emplace_back(sizes_.slot_edges, needs_.weighted, budget);
  for (WindowSide& side : sides) {
    const EdgeIndex stay = sizes_.resident_edges(side.arcs, sizes_.left / sides.size(), needs_);
    side.part_edges      = sizes_.slot_edges;
    side.resident        = sizes_.parts_of(stay);
    Slot& kept           = kept_.emplace_back(stay, needs_.weighted, budget);
    std::copy_n(side.host.targets, stay, kept.targets.data());
    if (needs_.weighted) std::copy_n(side.host.weights, stay, kept.weights.data());
    device_bytes_ += stay * needs_.edge_bytes();
  }
}

BlockWork HostWindows::bring(Executor&, Direction, IterationStatistics& made, RunStatistics& statistics) {
  note(supply_->supply(*this), made, statistics);
  return std::exchange(work_, {});
}

void HostWindows::complete(RunStatistics& statistics) const {
  statistics.method         = options_.method->name;
  statistics.device_bytes   = device_bytes_;
  statistics.edges_resident = supply_->resident_bytes();
  statistics.edges_on_host  = std::accumulate(arcs_.begin(), arcs_.end(), EdgeIndex{0}) * needs_.edge_bytes();
}

/// Offsets that lie in a mapped file are read in every iteration, and somebody may write to it meanwhile.
[[noreturn]] void HostWindows::offsets_changed() {
  check_mapped_files();
  throw internal_error("rows are longer than when the run began");
}

LayoutSize HostWindows::lay_out(std::size_t side, bool everyone, std::vector<PartAt>& parts) {
  const auto    active = executor_.active();
  const auto    size   = chunk_edges(options_);
  std::uint64_t chunks = 0;
  const auto    count  = [&](std::uint64_t v) {
    chunks += ChunkLayout::chunks_of(hosts_[side].degree(static_cast<Vertex>(v)), size);
  };
  if (everyone)
    for (std::uint64_t v = 0; v < vertices_; ++v) count(v);
  else
    std::ranges::for_each(active, count);
  const auto most = vertices_ + arcs_[side] / size;
  if (chunks > most) offsets_changed();
  active_.assign(active.begin(), active.end());
  std::ranges::sort(active_);
  entries_.clear();
  starts_.clear();
  entries_.reserve(chunks);
  starts_.reserve(chunks + 1);
  EdgeIndex  start = 0;
  const auto add   = [&](Vertex v) {
    const EdgeIndex length = hosts_[side].degree(v);
    for (EdgeIndex from = 0; from < length; from += size) {
      if (entries_.size() == chunks) offsets_changed();
      entries_.push_back({v, static_cast<std::uint32_t>(from / size)});
      starts_.push_back(start + from);
    }
    start += length;
  };
  if (everyone)
    for (std::uint64_t v = 0; v < vertices_; ++v) add(static_cast<Vertex>(v));
  else
    std::ranges::for_each(active_, add);
  starts_.push_back(start);
  for (std::size_t i = 0; i < parts.size(); ++i)
    parts[i] = layout().part_at(i * sizes_.slot_edges, hosts_[side].offsets);
  return {entries_.size(), start};
}

ChunkLayout HostWindows::layout() const {
  return {entries_.data(), starts_.data(), entries_.size(), chunk_edges(options_)};
}

ChunkLayout HostWindows::chunks(std::uint64_t first, std::uint64_t last) {
  ChunkLayout some = layout();
  some.entries += first, some.starts += first;
  some.count = std::min(last - first, descriptors_at_once(options_));
  return some;
}

void HostWindows::send(std::size_t slot, const WindowSide& side, std::size_t part) {
  const EdgeIndex first = side.edge_at(part), count = side.edge_at(part + 1) - first;
  std::copy_n(side.host.targets + first, count, slots_[slot].targets.data());
  if (needs_.weighted) std::copy_n(side.host.weights + first, count, slots_[slot].weights.data());
}

EdgePointers HostWindows::stage(std::size_t slot, EdgeIndex at) {
  return {slots_[slot].targets.data() + at, needs_.weighted ? slots_[slot].weights.data() + at : nullptr};
}

void HostWindows::visit(std::size_t slot, const WindowAt& window) {
  const Rows& host = hosts_[window.side];
  Rows        rows = slot == resident   ? kept_[window.side].rows(window.edges.first)
                     : slot == in_place ? Rows{nullptr, host.targets + window.edges.first, nullptr}
                                        : slots_[slot].rows();
  if (slot == in_place && needs_.weighted) rows.weights = host.weights + window.edges.first;
  rows.offsets = host.offsets;
  work_ += executor_.process(WindowBlock{.rows   = rows,
                                         .layout = layout(),
                                         .edges  = window.edges,
                                         .local  = window.local,
                                         .again  = window.again,
                                         .memory = slot == resident   ? BlockMemory::device
                                                   : slot == in_place ? BlockMemory::host
                                                                      : BlockMemory::staging});
}

}  // namespace spillway
