#include "supply/host_windows.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/fail.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace spillway {
namespace {

constexpr auto what_windows = "windows of edges";

std::uint64_t edge_bytes_of(const WindowNeeds& needs) { return needs.weighted ? 8 : 4; }

}  // namespace

/// No more than three quarters of what the host has left: the rest is for lists.
std::uint64_t WindowSizes::room_on_cpu(std::uint64_t state, const WindowNeeds& needs, const RunOptions& options,
                                       const MemoryBudget& budget, bool planning) {
  const std::uint64_t needed = state + least(needs), limit = options.device.memory;
  if (limit > 0 && needed > limit)
    throw does_not_fit(
        "the state of the vertices and windows of edges need {} ({} bytes), --device-memory allows {}; raise it",
        human_bytes(needed), with_commas(needed), human_bytes(limit));
  const std::uint64_t used = budget.used() + (planning ? state : 0);  // a run has its state by now
  const std::uint64_t left = budget.limit() - std::min(budget.limit(), used);
  const std::uint64_t room = std::max(least(needs), left / 4 * 3);
  return limit > 0 ? std::min(limit - state, room) : room;
}

HostWindows::Slot::Slot(EdgeIndex edges, bool weighted, const std::shared_ptr<MemoryBudget>& budget)
    : targets(edges, budget, what_windows), weights(weighted ? edges : 0, budget, what_windows) {}

Rows HostWindows::Slot::rows(EdgeIndex from) const {
  return {nullptr, targets.data() + from, weights.size() > 0 ? weights.data() + from : nullptr};
}

HostWindows::HostWindows(PieceExecutor& executor, const Topology& topology, const WindowNeeds& needs,
                         const RunOptions& options, const std::shared_ptr<MemoryBudget>& budget)
    : executor_(executor),
      needs_(needs),
      options_(options),
      vertices_(topology.vertices),
      laid_memory_(budget, what_windows),
      visit_memory_(budget, what_windows) {
  std::vector<WindowSide> sides;
  for (const Block& block : topology.push) {
    hosts_.push_back(block.rows);
    arcs_.push_back(block.rows.offsets[vertices_]);
    sides.push_back({.host = block.rows, .arcs = arcs_.back()});
    if (!needs.weighted) sides.back().host.weights = nullptr;
  }
  make_room(sides, budget);
  supply_ = std::make_unique<WindowSupply>(std::move(sides), sizes_, needs, options, budget);
}

void HostWindows::make_room(std::vector<WindowSide>& sides, const std::shared_ptr<MemoryBudget>& budget) {
  const std::uint64_t state = executor_.state_bytes(),
                      room  = WindowSizes::room_on_cpu(state, needs_, options_, *budget);
  const EdgeIndex most      = arcs_.empty() ? 0 : std::ranges::max(arcs_);
  sizes_                    = WindowSizes::of(room, most, vertices_, needs_, options_);
  device_bytes_             = state + sizes_.slots * sizes_.slot_edges * edge_bytes_of(needs_);
  for (unsigned i = 0; i < sizes_.slots; ++i) slots_.emplace_back(sizes_.slot_edges, needs_.weighted, budget);
  for (WindowSide& side : sides) {
    const EdgeIndex stay = sizes_.resident_edges(side.arcs, sizes_.left / sides.size(), needs_);
    side.part_edges      = sizes_.slot_edges;
    side.resident        = sizes_.parts_of(stay);
    Slot& kept           = kept_.emplace_back(stay, needs_.weighted, budget);
    std::copy_n(side.host.targets, stay, kept.targets.data());
    if (needs_.weighted) std::copy_n(side.host.weights, stay, kept.weights.data());
    device_bytes_ += stay * edge_bytes_of(needs_);
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
  statistics.edges_outside  = std::accumulate(arcs_.begin(), arcs_.end(), EdgeIndex{0}) * edge_bytes_of(needs_);
  statistics.counters.local_rounds += local_rounds_;
}

/// Offsets that lie in a mapped file are read in every iteration, and somebody may write to it meanwhile.
[[noreturn]] void HostWindows::offsets_changed() {
  check_mapped_files();
  throw internal_error("rows are longer than when the run began");
}

Laid HostWindows::lay_out(std::size_t side, bool everyone, std::vector<PartAt>& parts) {
  const auto    active = executor_.active();
  const auto    size   = piece_edges(options_);
  std::uint64_t pieces = 0;
  const auto    count  = [&](std::uint64_t v) {
    pieces += (hosts_[side].degree(static_cast<Vertex>(v)) + size - 1) / size;
  };
  if (everyone)
    for (std::uint64_t v = 0; v < vertices_; ++v) count(v);
  else
    std::ranges::for_each(active, count);
  const auto most = vertices_ + arcs_[side] / size;
  if (pieces > most) offsets_changed();
  laid_memory_.raise_to(active.size() * sizeof(Vertex) + pieces * (sizeof(LaidPiece) + sizeof(EdgeIndex)));
  active_.assign(active.begin(), active.end());
  std::ranges::sort(active_);
  entries_.clear();
  starts_.clear();
  entries_.reserve(pieces);
  starts_.reserve(pieces + 1);
  EdgeIndex  start = 0;
  const auto add   = [&](Vertex v) {
    const EdgeIndex length = hosts_[side].degree(v);
    for (EdgeIndex from = 0; from < length; from += size) {
      if (entries_.size() == pieces) offsets_changed();
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
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = place_of(side, i * sizes_.slot_edges);
  return {entries_.size(), start};
}

PartAt HostWindows::place_of(std::size_t side, EdgeIndex position) const {
  const WindowAt      all{.side = side, .first = 0, .last = 0, .compact = false, .local = false};
  const std::uint64_t begun = begun_before(all, position);
  if (begun == 0) return {0, 0};
  const EdgeIndex before = position - begin_of(all, begun - 1);
  return {begun, std::min(starts_[begun], starts_[begun - 1] + before)};
}

Pieces HostWindows::pieces(std::uint64_t first, std::uint64_t last) {
  const std::uint64_t count = std::min(last - first, pieces_told(options_));
  return {std::span{entries_}.subspan(first, count), starts_.data() + first, piece_edges(options_)};
}

void HostWindows::send(std::size_t slot, const WindowSide& side, std::size_t part) {
  const EdgeIndex first = side.edge_at(part), count = side.edge_at(part + 1) - first;
  std::copy_n(side.host.targets + first, count, slots_[slot].targets.data());
  if (needs_.weighted) std::copy_n(side.host.weights + first, count, slots_[slot].weights.data());
}

EdgePointers HostWindows::stage(std::size_t slot, EdgeIndex at) {
  return {slots_[slot].targets.data() + at, needs_.weighted ? slots_[slot].weights.data() + at : nullptr};
}

EdgeIndex HostWindows::begin_of(const WindowAt& window, std::uint64_t k) const {
  if (window.compact) return starts_[k];
  return hosts_[window.side].offsets[entries_[k].vertex] + EdgeIndex{entries_[k].piece} * piece_edges(options_);
}

std::uint64_t HostWindows::begun_before(const WindowAt& window, EdgeIndex position) const {
  std::uint64_t low = 0, high = entries_.size();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (begin_of(window, middle) < position)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void HostWindows::visit(std::size_t slot, const WindowAt& window) {
  if (options_.progress) check_cancelled(*options_.progress);
  Rows rows = slot == resident   ? kept_[window.side].rows(window.first)
              : slot == in_place ? hosts_[window.side]
                                 : slots_[slot].rows();
  if (slot == in_place) {
    rows.targets += window.first;
    if (needs_.weighted) rows.weights += window.first;
  }
  std::vector<RowPiece> pieces;
  const std::uint64_t   begun = begun_before(window, window.first + 1), end_of = begun_before(window, window.last);
  visit_memory_.raise_to((end_of - std::min(begun, end_of) + 1) * sizeof(RowPiece));
  for (std::uint64_t k = begun > 0 ? begun - 1 : 0; k < end_of; ++k) {
    const Vertex v = entries_[k].vertex;
    if (!needs_.everyone && !std::ranges::binary_search(active_, v)) continue;
    const EdgeIndex begin = begin_of(window, k), end = begin + (starts_[k + 1] - starts_[k]);
    const EdgeIndex first = std::max(begin, window.first), last = std::min(end, window.last);
    if (first < last) pieces.push_back({v, first - window.first, last - window.first});
  }
  push(rows, pieces);
  if (window.local) push_until_quiet(rows, window);
}

void HostWindows::push(const Rows& rows, std::span<const RowPiece> pieces) {
  work_ += executor_.push(rows, pieces);
}

/// Nothing of it where it is not there from end to end.
RowPiece HostWindows::whole_row_in(const WindowAt& window, Vertex v) const {
  const EdgeIndex length = hosts_[window.side].degree(v);
  EdgeIndex       begin  = hosts_[window.side].offsets[v];
  if (window.compact) {
    const auto found = std::ranges::lower_bound(entries_, v, {}, &LaidPiece::vertex);
    if (found == entries_.end() || found->vertex != v) return {v, 0, 0};
    begin = starts_[static_cast<std::uint64_t>(found - entries_.begin())];
  }
  if (begin < window.first || begin + length > window.last) return {v, 0, 0};
  return {v, begin - window.first, begin - window.first + length};
}

void HostWindows::push_until_quiet(const Rows& rows, const WindowAt& window) {
  const auto is_here = [&](Vertex v) {
    const RowPiece row = whole_row_in(window, v);
    return row.first < row.last;
  };
  std::vector<Vertex>   again;
  std::vector<RowPiece> pieces;
  for (executor_.take_again(is_here, again); !again.empty(); executor_.take_again(is_here, again)) {
    if (options_.progress) check_cancelled(*options_.progress);
    pieces.clear();
    for (const Vertex v : again) pieces.push_back(whole_row_in(window, v));
    push(rows, pieces);
    ++local_rounds_;
  }
}

}  // namespace spillway
