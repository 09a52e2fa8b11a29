#include "supply/windows.hpp"

#include <algorithm>
#include <cstring>

#include <spillway/engine/parallel.hpp>
#include <spillway/error.hpp>

namespace spillway {
namespace {

constexpr auto what_windows = "windows of edges";

/// Bytes a second, measured on an H200 and 16 cores (docs/performance.md): edges that are sent as they lie, and
/// edges that the host gathers first. It takes a while to turn to each piece of a row, too (seconds).
constexpr double sent_as_it_lies = 52e9, gathered_first = 25e9, turning_to_a_piece = 6e-9;
constexpr double hardly_worth_asking = 1u << 16;  ///< bytes that are gathered whatever else there is

constexpr std::uint64_t usual_window = 16u << 20, most_staged = 4u << 20;  ///< bytes
constexpr unsigned      slots_at_once = 3;                                 ///< brought, waiting, visited
constexpr EdgeIndex     least_edges   = 16;                                ///< of a window
constexpr EdgeIndex     few_edges     = 8192;  ///< that one thread has gathered before others are awake
constexpr std::uint64_t ahead         = 8;     ///< pieces that are asked for before they are copied

std::uint64_t edge_bytes_of(const WindowNeeds& needs) { return needs.weighted ? 8 : 4; }

}  // namespace

std::uint64_t WindowSizes::least(const WindowNeeds& needs) {
  return slots_at_once * least_edges * edge_bytes_of(needs);
}

/// Asynchronously one window is as large as there is room for; otherwise several take turns.
WindowSizes WindowSizes::of(std::uint64_t room, EdgeIndex arcs, std::uint64_t vertices, const WindowNeeds& needs,
                            const RunOptions& options) {
  const std::uint64_t edge_bytes = edge_bytes_of(needs);
  WindowSizes         sizes;
  sizes.local              = needs.local && goes_asynchronously(options, vertices, arcs);
  sizes.slots              = sizes.local ? 1 : slots_at_once;
  const std::uint64_t may  = std::min(room, options.supply.resident.value_or(room));
  const std::uint64_t turn = std::min(usual_window, room / 4 / sizes.slots);
  std::uint64_t       wish = sizes.local ? std::max(may, turn) : turn;
  if (options.supply.window > 0) wish = options.supply.window;
  const std::uint64_t least = least_edges * edge_bytes;
  wish                      = std::clamp<std::uint64_t>(wish, least, std::max(least, room / sizes.slots));
  sizes.slot_edges          = std::min<EdgeIndex>(wish / edge_bytes, arcs);
  sizes.stage_edges         = std::min<EdgeIndex>(sizes.slot_edges, most_staged / edge_bytes);
  sizes.left                = may - std::min(may, sizes.slots * sizes.slot_edges * edge_bytes);
  return sizes;
}

EdgeIndex WindowSizes::resident_edges(EdgeIndex arcs, std::uint64_t bytes, const WindowNeeds& needs) const {
  if (local || slot_edges == 0) return 0;
  return std::min(arcs, bytes / edge_bytes_of(needs) / slot_edges * slot_edges);
}

WindowSupply::WindowSupply(std::vector<WindowSide> sides, const WindowSizes& sizes, const WindowNeeds& needs,
                           const RunOptions& options, std::shared_ptr<MemoryBudget> budget)
    : sides_(std::move(sides)),
      sizes_(sizes),
      needs_(needs),
      options_(options),
      budget_(std::move(budget)),
      edge_bytes_(edge_bytes_of(needs)),
      threads_(thread_count(options.threads)) {}

WindowsSent WindowSupply::supply(WindowDevice& device) {
  WindowsSent sent;
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    const WindowSide& side = sides_[i];
    if (side.arcs == 0) continue;
    // Asynchronously, the first round brings everything: whoever is reached goes on at once.
    bool everyone = needs_.everyone || (sizes_.local && first_);
    Laid laid     = lay_out(device, i, everyone);
    if (laid.edges == 0) continue;
    const bool gathers = !everyone && pays_to_gather(device, i, laid);
    if (!gathers && sizes_.local && !everyone) laid = lay_out(device, i, everyone = true);
    if (side.resident > 0) device.visit(WindowDevice::resident, {i, 0, side.resident, false, false});
    if (side.resident == side.arcs) continue;
    if (gathers)
      send_gathered(device, i, laid, sent);
    else
      send_whole(device, i, everyone, sent);
    sent.how = gathers ? "gathered" : "whole";
  }
  first_ = false;
  return sent;
}

std::uint64_t WindowSupply::resident_bytes() const {
  std::uint64_t edges = 0;
  for (const WindowSide& side : sides_) edges += side.resident;
  return edges * edge_bytes_;
}

Laid WindowSupply::lay_out(WindowDevice& device, std::size_t side, bool everyone) {
  if (needs_.everyone && sides_.size() == 1 && !first_) return laid_;  // as it was
  return laid_ = device.lay_out(side, everyone);
}

/// Which windows of the whole array have edges that are wanted.
std::vector<unsigned char> WindowSupply::wanted_parts(WindowDevice& device, std::size_t side,
                                                      bool everyone) const {
  std::vector<unsigned char> wanted((sides_[side].arcs + sizes_.slot_edges - 1) / sizes_.slot_edges, 1);
  if (everyone || options_.supply.all_parts || device.parts_of_layout(side, wanted)) return wanted;
  std::ranges::fill(wanted, 1);
  return wanted;
}

bool WindowSupply::pays_to_gather(WindowDevice& device, std::size_t which, const Laid& laid) const {
  if (options_.method != Method::subgraph) return false;
  const std::uint64_t told = laid.entries * sizeof(LaidPiece) + (laid.entries + 1) * sizeof(EdgeIndex);
  if (entries_.size() < laid.entries && !budget_->has_room(told)) return false;
  const auto bytes = static_cast<double>(edge_bytes_), edges = static_cast<double>(laid.edges);
  if (edges * bytes < hardly_worth_asking && options_.supply.window == 0) return true;
  const WindowSide& side   = sides_[which];
  const auto        wanted = wanted_parts(device, which, false);
  const auto        parts =
      std::count(wanted.begin() + static_cast<std::ptrdiff_t>(side.resident / sizes_.slot_edges), wanted.end(), 1);
  const auto   whole = static_cast<double>(parts) * static_cast<double>(sizes_.slot_edges);
  const double share = 1 - static_cast<double>(side.resident) / static_cast<double>(side.arcs);
  const double gather =
      edges * share * bytes / gathered_first + static_cast<double>(laid.entries) * turning_to_a_piece;
  return gather < whole * bytes / sent_as_it_lies;
}

void WindowSupply::have_visited(WindowDevice& device, std::size_t slot, const WindowAt& window,
                                WindowsSent& sent) const {
  device.visit(slot, window);
  ++sent.windows;
  sent.bytes += (window.last - window.first) * edge_bytes_;
}

void WindowSupply::send_whole(WindowDevice& device, std::size_t which, bool everyone, WindowsSent& sent) const {
  const WindowSide& side   = sides_[which];
  const auto        wanted = wanted_parts(device, which, everyone);
  for (EdgeIndex first = side.resident; first < side.arcs; first += sizes_.slot_edges) {
    if (!wanted[first / sizes_.slot_edges]) continue;
    const EdgeIndex   last = std::min(side.arcs, first + sizes_.slot_edges);
    const std::size_t slot = device.next_slot();
    device.send(slot, side.host.targets + first, needs_.weighted ? side.host.weights + first : nullptr,
                last - first);
    have_visited(device, slot, {which, first, last, false, sizes_.local && everyone}, sent);
  }
}

void WindowSupply::send_gathered(WindowDevice& device, std::size_t which, const Laid& laid, WindowsSent& sent) {
  const WindowSide& side = sides_[which];
  if (entries_.size() < laid.entries) {
    entries_ = {};
    starts_  = {};
    entries_ = {laid.entries, budget_, what_windows};
    starts_  = {laid.entries + 1, budget_, what_windows};
  }
  device.pieces_of_layout(laid, entries_.data(), starts_.data());
  for (EdgeIndex first = beyond_resident(side, laid); first < laid.edges; first += sizes_.slot_edges) {
    const EdgeIndex   last = std::min<EdgeIndex>(laid.edges, first + sizes_.slot_edges);
    const std::size_t slot = device.next_slot();
    for (EdgeIndex from = first; from < last; from += sizes_.stage_edges) {
      const EdgeIndex to = std::min(last, from + sizes_.stage_edges);
      gather(side, laid, from, to, device.stage(slot, from - first));
      device.send_staged(slot, from - first, to - from);
    }
    have_visited(device, slot, {which, first, last, true, sizes_.local}, sent);
  }
}

EdgeIndex WindowSupply::begin_of(const WindowSide& side, const LaidPiece& entry) const {
  return side.host.offsets[entry.vertex] + EdgeIndex{entry.piece} * piece_edges(options_);
}

/// Where the pieces begin that are not on the device, if all lie one behind the other.
EdgeIndex WindowSupply::beyond_resident(const WindowSide& side, const Laid& laid) const {
  const std::span entries{entries_.data(), laid.entries};
  const auto      first = std::ranges::partition_point(
           entries, [&](const LaidPiece& entry) { return begin_of(side, entry) < side.resident; });
  const auto k = static_cast<std::uint64_t>(first - entries.begin());
  if (k == 0) return 0;
  const EdgeIndex there = side.resident - begin_of(side, entries[k - 1]);  // of the piece before
  return std::min(starts_[k], starts_[k - 1] + there);
}

/// Subway's step 5, by all threads, each as many edges as the others.
void WindowSupply::gather(const WindowSide& side, const Laid& laid, EdgeIndex from, EdgeIndex to,
                          const EdgePointers& into) const {
  const std::span starts{starts_.data(), laid.entries};
  const int       threads = to - from < few_edges ? 1 : threads_;
  for_each_share(threads, to - from, [&](std::uint64_t begin, std::uint64_t end, int) {
    EdgeIndex at = from + begin;
    auto      k  = static_cast<std::uint64_t>(std::ranges::upper_bound(starts, at) - starts.begin()) - 1;
    for (; at < from + end; ++k) {
      if (k + ahead < laid.entries) __builtin_prefetch(side.host.targets + begin_of(side, entries_[k + ahead]));
      const EdgeIndex last   = std::min<EdgeIndex>(starts_[k + 1], from + end);
      const EdgeIndex source = begin_of(side, entries_[k]) + (at - starts_[k]);
      std::memcpy(into.targets + (at - from), side.host.targets + source, (last - at) * sizeof(Vertex));
      if (into.weights)
        std::memcpy(into.weights + (at - from), side.host.weights + source, (last - at) * sizeof(std::uint32_t));
      at = last;
    }
  });
}

void refuse_in_windows(const RunOptions& options, bool order_shows, bool local) {
  if (options.deterministic && order_shows)
    throw Error{ExitCode::usage, "--deterministic does not go with --method " +
                                     std::string{to_string(options.method)} +
                                     ": sums would depend on what is sent when; use --method zerocopy"};
  if (options.supply.async == Async::on && !local)
    throw Error{
        ExitCode::usage,
        "this program cannot run asynchronously: it does not promise that any order of updates reaches the "
        "same answer (order_free), or it walks edges both ways; leave out --async"};
}

}  // namespace spillway
