#include "supply/windows.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "supply/residency.hpp"

#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include <spillway/error.hpp>
#include <spillway/trace.hpp>

namespace spillway {
namespace {

constexpr auto what_windows = "windows of edges";

constexpr std::uint64_t usual_window = 16u << 20, small_window = 4u << 20;  ///< bytes
constexpr unsigned      slots_at_once = 3;                                  ///< brought, waiting, visited
constexpr unsigned      local_slots   = 2;     ///< a visit to the local fixed point takes longer than bringing
constexpr EdgeIndex     least_edges   = 16;    ///< of a window
constexpr EdgeIndex     few_edges     = 8192;  ///< that one thread has gathered before others are awake
constexpr std::uint64_t ahead         = 8;     ///< chunks that are asked for before they are copied

constexpr auto all_kept = "kept";  ///< what was needed

const char* name_of(Stretch::Way way) {
  return way == Stretch::Way::whole ? "whole" : way == Stretch::Way::gathered ? "gathered" : "in place";
}

}  // namespace

std::uint64_t WindowSizes::least(const WindowNeeds& needs) {
  return slots_at_once * least_edges * needs.edge_bytes();
}

/// Several windows take turns. Asynchronously the more edges one has, the further a visit gets: half of the room
/// is for them, unless all edges can stay.
WindowSizes WindowSizes::of(std::uint64_t room, EdgeIndex arcs, std::uint64_t vertices, const WindowNeeds& needs,
                            const RunOptions& options) {
  const std::uint64_t edge_bytes = needs.edge_bytes();
  WindowSizes         sizes;
  sizes.local             = needs.local && goes_asynchronously(options, vertices, arcs);
  sizes.slots             = sizes.local ? local_slots : slots_at_once;
  const std::uint64_t may = resident_bytes(room, 0, options.supply.resident);
  // What is for edges is mostly for those that stay; windows that are small do not keep the bus busy.
  const std::uint64_t turn =
      std::min(usual_window, std::max(may / 4 / sizes.slots, std::min(small_window, room / 4 / sizes.slots)));
  const bool    all_stay = arcs * edge_bytes + sizes.slots * turn <= may;
  std::uint64_t wish     = sizes.local && !all_stay ? std::max(may / 2 / sizes.slots, turn) : turn;
  if (options.supply.window > 0) wish = options.supply.window;
  const std::uint64_t least  = least_edges * edge_bytes;
  wish                       = std::clamp<std::uint64_t>(wish, least, std::max(least, room / sizes.slots));
  sizes.slot_edges           = std::min<EdgeIndex>(wish / edge_bytes, arcs);
  const std::uint64_t staged = options.supply.staged > 0 ? options.supply.staged : staged_bytes;
  sizes.stage_edges          = std::min<EdgeIndex>(sizes.slot_edges, std::max<EdgeIndex>(staged / edge_bytes, 1));
  sizes.left                 = may - std::min(may, sizes.slots * sizes.slot_edges * edge_bytes);
  return sizes;
}

EdgeIndex WindowSizes::resident_edges(EdgeIndex arcs, std::uint64_t bytes, const WindowNeeds& needs) const {
  if (slot_edges == 0) return 0;
  return std::min(arcs, bytes / needs.edge_bytes() / slot_edges * slot_edges);
}

WindowSupply::WindowSupply(std::vector<WindowSide> sides, const WindowSizes& sizes, const WindowNeeds& needs,
                           const RunOptions& options, std::shared_ptr<MemoryBudget> budget)
    : sides_(std::move(sides)),
      sizes_(sizes),
      needs_(needs),
      options_(options),
      edge_bytes_(needs.edge_bytes()),
      threads_(thread_count(options.threads)),
      parts_memory_(std::move(budget), what_windows),
      costs_(options.supply.rates.value_or(Rates{}), needs.weighted),
      slots_(sizes.slots) {}

WindowsSent WindowSupply::supply(WindowDevice& device) {
  WindowsSent sent;
  for (std::size_t turn = 0; turn < sides_.size(); ++turn) {
    const std::size_t side = last_side_first_ ? sides_.size() - 1 - turn : turn;
    if (sides_[side].arcs > 0) supply({device, side, sent});
  }
  first_           = false;
  last_side_first_ = !last_side_first_;  // slots hold what is of it
  return sent;
}

void WindowSupply::supply(Round round) {
  const WindowSide& side = sides_[round.side];
  if (lay_out(round).edges == 0) return;
  const auto          stretches = chosen(round);
  const auto          left      = visit_held(round, stretches);
  const std::uint64_t windows   = std::max<std::uint64_t>(windows_of(left), 1);
  // Asynchronously all that stays is one window, and gets what the others have found in the same iteration.
  round.kept_a_window = sizes_.local ? side.resident : (side.resident + windows - 1) / windows;
  for (const Stretch& stretch : left) bring(round, stretch);
  visit_kept(round, side.resident);
  if (sizes_.local && side.resident > 0 && !stretches.empty()) {
    WindowAt again = kept(round, 0, side.resident);
    again.again    = true;
    round.device.visit(WindowDevice::resident, again);
  }
  if (*round.sent.how == 0) round.sent.how = all_kept;
}

std::uint64_t WindowSupply::resident_bytes() const {
  std::uint64_t bytes = 0;
  for (const WindowSide& side : sides_) bytes += side.bytes(0, side.resident);
  return bytes;
}

LayoutSize WindowSupply::lay_out(const Round& round) {
  if (needs_.everyone && sides_.size() == 1 && !first_) return laid_;  // as it was
  const std::size_t parts = sides_[round.side].parts() + 1;
  parts_memory_.raise_to(parts * sizeof(PartAt));
  parts_.resize(parts);
  return laid_ = round.device.lay_out(round.side, needs_.everyone, parts_);
}

/// For every part that has edges of the layout, what takes least. Parts side by side that go the same way are one.
std::vector<Stretch> WindowSupply::chosen(Round& round) {
  const WindowSide& side  = sides_[round.side];
  const std::size_t first = side.resident, last = side.parts();
  if (first == last) return {};
  double& predicted = round.sent.predicted;
  // Asynchronously, the first round brings everything: whoever is reached goes on at once.
  if (needs_.everyone || (sizes_.local && first_) || options_.supply.all_parts || parts_.empty()) {
    predicted += costs_.bytes_sent(static_cast<double>(side.bytes(first, last) - bytes_in_slots(round.side)));
    return {{Way::whole, first, last}};
  }
  if (sizes_.local) return chosen_for_all(round, first);
  std::vector<Stretch> stretches;
  for (std::size_t i = first; i < last; ++i) {
    const EdgeIndex edges = parts_[i + 1].edges - parts_[i].edges;
    if (edges == 0) continue;
    const auto all   = slot_with(round.side, i) ? 0 : side.bytes(i, i + 1);
    const auto rows  = static_cast<double>(std::max<std::uint64_t>(parts_[i + 1].chunks - parts_[i].chunks, 1));
    double     takes = 0;
    const Way  way   = cheapest(static_cast<double>(edges), rows, all, takes);
    predicted += takes;
    // What is gathered or read skips empty parts by itself.
    if (!stretches.empty() && stretches.back().way == way && (way != Way::whole || stretches.back().last == i))
      stretches.back().last = i + 1;
    else
      stretches.push_back({way, i, i + 1});
  }
  return stretches;
}

Stretch::Way WindowSupply::cheapest(double edges, double chunks, std::uint64_t bytes, double& takes) const {
  Way way                = Way::whole;
  takes                  = costs_.bytes_sent(static_cast<double>(bytes));
  const auto try_instead = [&](Way other, double time) {
    if (time >= takes) return;
    way = other, takes = time;
  };
  if (options_.method->gathers) try_instead(Way::gathered, costs_.gathered(edges, chunks));
  if (options_.method->reads_in_place) try_instead(Way::in_place, costs_.read(edges, chunks));
  return way;
}

/// Asynchronously, all parts with active rows go one way. Gathered rows are cheap, but what they reach goes on in
/// the next iteration only; whole parts take it as far as it gets. So rows are gathered as long as that, all in
/// all, took less than the parts would have: at most about twice what the better way takes.
std::vector<Stretch> WindowSupply::chosen_for_all(Round& round, std::size_t first) {
  const WindowSide&    side = sides_[round.side];
  std::vector<Stretch> whole;
  std::uint64_t        all = 0;
  for (std::size_t i = first; i < side.parts(); ++i) {
    if (parts_[i + 1].edges == parts_[i].edges) continue;
    all += slot_with(round.side, i) ? 0 : side.bytes(i, i + 1);
    whole.push_back({Way::whole, i, i + 1});
  }
  if (whole.empty()) return {};
  double     takes  = 0;
  const auto edges  = static_cast<double>(parts_.back().edges - parts_[first].edges);
  const auto chunks = static_cast<double>(parts_.back().chunks - parts_[first].chunks);
  Way        way    = cheapest(edges, chunks, all, takes);
  const auto in_all = costs_.bytes_sent(static_cast<double>(all));
  gathered_since_ += costs_.step() + takes;
  if (way == Way::gathered && gathered_since_ > costs_.step() + in_all) way = Way::whole, takes = in_all;
  if (way == Way::whole) gathered_since_ = 0;
  round.sent.predicted += takes;
  return way == Way::whole ? whole : std::vector<Stretch>{{way, first, side.parts()}};
}

/// That will be sent.
std::uint64_t WindowSupply::windows_of(const std::vector<Stretch>& stretches) const {
  std::uint64_t windows = 0;
  for (const Stretch& stretch : stretches)
    if (stretch.way == Way::whole)
      windows += stretch.last - stretch.first;
    else if (stretch.way == Way::gathered)
      windows += 1 + (parts_[stretch.last].edges - parts_[stretch.first].edges) / sizes_.slot_edges;
  return windows;
}

void WindowSupply::bring(Round& round, const Stretch& stretch) {
  if (stretch.way == Way::whole)
    send_whole(round, stretch);
  else if (stretch.way == Way::gathered)
    send_gathered(round, stretch);
  else
    read_in_place(round, stretch);
}

/// Edges of a slot that are sent whole are there until others come.
auto WindowSupply::slot_with(std::size_t side, std::size_t part) const -> const SlotUse* {
  const auto found =
      std::ranges::find_if(slots_, [&](const SlotUse& use) { return use.side == side && use.part == part; });
  return found == slots_.end() ? nullptr : &*found;
}

std::uint64_t WindowSupply::bytes_in_slots(std::size_t side) const {
  std::uint64_t bytes = 0;
  for (const SlotUse& use : slots_) bytes += use.side == side ? sides_[side].bytes(use.part, use.part + 1) : 0;
  return bytes;
}

/// The one that was visited longest ago.
std::size_t WindowSupply::take_slot(WindowDevice& device) {
  const auto oldest = std::ranges::min_element(slots_, {}, &SlotUse::visited);
  oldest->side      = nowhere;
  const auto slot   = static_cast<std::size_t>(oldest - slots_.begin());
  device.reuse(slot);
  return slot;
}

/// While a window is under way, a share of the edges that stay is visited: all at once they would hold up the
/// slots, and so the bus.
void WindowSupply::visit_kept(Round& round, std::size_t parts) const {
  const WindowSide& side  = sides_[round.side];
  const std::size_t first = round.kept_visited, last = std::min(side.resident, first + parts);
  round.kept_visited = last;
  if (first == last || (!parts_.empty() && parts_[first].edges == parts_[last].edges)) return;
  round.device.visit(WindowDevice::resident, kept(round, first, last));
}

WindowAt WindowSupply::kept(const Round& round, std::size_t first, std::size_t last) const {
  const WindowSide& side = sides_[round.side];
  return {round.side, {side.edge_at(first), side.edge_at(last)}, sizes_.local, first, last};
}

/// Before others take their slots. What is left is to be brought.
std::vector<Stretch> WindowSupply::visit_held(Round& round, const std::vector<Stretch>& stretches) {
  std::vector<Stretch> left;
  for (const Stretch& stretch : stretches) {
    if (stretch.way != Way::whole) {
      left.push_back(stretch);
      continue;
    }
    for (std::size_t part = stretch.first; part < stretch.last; ++part)
      if (const SlotUse* held = slot_with(round.side, part))
        visit_part(round, static_cast<std::size_t>(held - slots_.data()), part);
      else if (!left.empty() && left.back().way == Way::whole && left.back().last == part)
        left.back().last = part + 1;
      else
        left.push_back({Way::whole, part, part + 1});
  }
  return left;
}

void WindowSupply::visit_part(Round& round, std::size_t slot, std::size_t part) {
  const WindowSide& side = sides_[round.side];
  have_visited(round, slot,
               {round.side, {side.edge_at(part), side.edge_at(part + 1)}, sizes_.local, part, part + 1});
}

void WindowSupply::have_visited(Round& round, std::size_t slot, const WindowAt& window) {
  round.device.visit(slot, window);
  slots_[slot].visited = ++visits_;
}

void WindowSupply::note_way(Round& round, Way way) {
  const std::string_view so_far = round.sent.how, now = name_of(way);
  round.sent.how = so_far.empty() || so_far == all_kept || so_far == now ? name_of(way) : "mixed";
}

void WindowSupply::count_sent(Round& round, Way way, std::uint64_t bytes) {
  ++round.sent.windows;
  round.sent.bytes += bytes;
  note_way(round, way);
}

void WindowSupply::send_whole(Round& round, const Stretch& stretch) {
  const WindowSide& side = sides_[round.side];
  for (std::size_t part = stretch.first; part < stretch.last; ++part) {
    const std::size_t slot = take_slot(round.device);
    round.device.send(slot, side, part);
    count_sent(round, Way::whole, side.bytes(part, part + 1));
    visit_kept(round, round.kept_a_window);
    visit_part(round, slot, part);
    if (!options_.supply.all_parts) slots_[slot].side = round.side, slots_[slot].part = part;
  }
}

void WindowSupply::send_gathered(Round& round, const Stretch& stretch) {
  const PartAt begin = parts_[stretch.first], end = parts_[stretch.last];
  // The chunk before may reach into the part.
  DescriptorCursor cursor{.next = begin.chunks - std::min<std::uint64_t>(begin.chunks, 1), .last = end.chunks};
  for (EdgeIndex first = begin.edges; first < end.edges; first += sizes_.slot_edges) {
    const EdgeIndex   last = std::min<EdgeIndex>(end.edges, first + sizes_.slot_edges);
    const std::size_t slot = take_slot(round.device);
    visit_kept(round, round.kept_a_window);
    for (EdgeIndex from = first, to = first; from < last; from = to) {
      to                       = std::min(last, from + sizes_.stage_edges);
      const EdgePointers stage = round.device.stage(slot, from - first);
      gather(round, cursor, from, to, stage);
      round.device.send_staged(slot, from - first, to - from);
    }
    count_sent(round, Way::gathered, (last - first) * edge_bytes_);
    have_visited(round, slot, {round.side, {first, last, /*compact=*/true}, sizes_.local});
  }
}

/// The host is told of chunks some at a time.
void WindowSupply::gather(Round& round, DescriptorCursor& cursor, EdgeIndex from, EdgeIndex to,
                          EdgePointers into) {
  while (from < to) {
    for (; from >= cursor.edges_to; cursor.edges_to = cursor.chunks.starts[cursor.chunks.count]) {
      cursor.chunks = round.device.chunks(cursor.next, cursor.last);
      cursor.next += cursor.chunks.count;
    }
    const EdgeIndex upto = std::min(to, cursor.edges_to);
    Stopwatch       clock;
    const TraceSpan span{options_.trace, Track::gathering, "gather", (upto - from) * edge_bytes_};
    gather_edges(sides_[round.side].host, cursor.chunks, from, upto, threads_, into);
    round.sent.gathering += clock.lap() / 1e3;
    into.targets += upto - from;
    if (into.weights) into.weights += upto - from;
    from = upto;
  }
}

void WindowSupply::read_in_place(Round& round, const Stretch& stretch) {
  const WindowSide& side = sides_[round.side];
  round.device.visit(
      WindowDevice::in_place,
      {round.side, {side.edge_at(stretch.first), side.edge_at(stretch.last)}, false, stretch.first, stretch.last});
  note_way(round, Way::in_place);
  round.sent.read += (parts_[stretch.last].edges - parts_[stretch.first].edges) * edge_bytes_;
}

void gather_edges(const Rows& rows, const ChunkLayout& chunks, EdgeIndex from, EdgeIndex to, int threads,
                  const EdgePointers& into) {
  const auto      begin_of = [&](std::uint64_t k) { return chunks.begin(k, rows.offsets, /*compact=*/false); };
  const std::span starts{chunks.starts, chunks.count};
  const auto      ask_for_later = [&](std::uint64_t k) {
    if (k + 2 * ahead < starts.size()) __builtin_prefetch(rows.offsets + chunks.entries[k + 2 * ahead].vertex);
    if (k + ahead >= starts.size()) return;
    const EdgeIndex begin = begin_of(k + ahead);
    __builtin_prefetch(rows.targets + begin);
    if (into.weights) __builtin_prefetch(rows.weights + begin);
  };
  // More pieces than threads: one that is not scheduled, on a host that others use, too, holds up its piece only.
  const int           at_once = to - from < few_edges ? 1 : threads;
  const std::uint64_t pieces  = at_once == 1 ? 1 : std::uint64_t{4} * static_cast<unsigned>(at_once);
  for_each_task(at_once, pieces, [&](std::uint64_t piece, int) {
    EdgeIndex       at  = from + (to - from) * piece / pieces;
    const EdgeIndex end = from + (to - from) * (piece + 1) / pieces;
    auto            k   = static_cast<std::uint64_t>(std::ranges::upper_bound(starts, at) - starts.begin()) - 1;
    for (; at < end; ++k) {
      ask_for_later(k);
      const EdgeIndex last   = std::min<EdgeIndex>(chunks.starts[k + 1], end);
      const EdgeIndex source = begin_of(k) + (at - starts[k]);
      std::memcpy(into.targets + (at - from), rows.targets + source, (last - at) * sizeof(Vertex));
      if (into.weights)
        std::memcpy(into.weights + (at - from), rows.weights + source, (last - at) * sizeof(std::uint32_t));
      at = last;
    }
  });
}

void refuse_in_windows(const RunOptions& options, bool order_sensitive, bool local) {
  if (options.deterministic && order_sensitive && options.method->streams_pages)
    throw Error{ExitCode::usage,
                "--deterministic does not go with pages on a GPU: sums would depend on what is sent when; use "
                "--device cpu"};
  if (options.deterministic && order_sensitive && options.method->of_edge_lists)
    throw Error{ExitCode::usage,
                "--deterministic does not go with --method edges: sums would depend on which thread comes first; "
                "leave out one of them"};
  if (options.deterministic && order_sensitive)
    throw Error{ExitCode::usage, "--deterministic does not go with --method " + std::string{options.method->name} +
                                     ": sums would depend on what is sent when; leave out one of them"};
  if (options.supply.async == Async::on && !local)
    throw Error{
        ExitCode::usage,
        "this program cannot run asynchronously: it does not promise that any order of updates reaches the "
        "same answer (order_free), or it walks edges both ways; leave out --async"};
}

}  // namespace spillway
