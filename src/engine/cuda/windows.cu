#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "engine/cuda/outside.hpp"

#include <spillway/engine/cuda/supply.cuh>
#include <spillway/engine/parallel.hpp>
#include <spillway/error.hpp>

namespace spillway::cuda {
namespace {

constexpr auto what_windows = "windows of edges";

/// Bytes a second, measured on an H200 and 16 cores (docs/performance.md): edges that are sent as they lie, and
/// edges that the host gathers first. It takes a while to turn to each piece of a row, too (seconds).
constexpr double sent_as_it_lies = 52e9, gathered_first = 25e9, turning_to_a_piece = 6e-9;
constexpr double hardly_worth_asking = 1u << 16;  ///< bytes that are gathered whatever else there is

constexpr std::uint64_t usual_window = 16u << 20, most_staged = 4u << 20;  ///< bytes
constexpr unsigned      slots_at_once = 3;                                 ///< brought, waiting, visited

class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&)            = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "sending edges"); }
  void hold_up(cudaStream_t stream) { check(cudaStreamWaitEvent(stream, event_, 0), "sending edges"); }
  void wait() { check(cudaEventSynchronize(event_), "sending edges"); }

 private:
  cudaEvent_t event_ = nullptr;
};

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

/// Edges, in device memory or in pinned host memory.
struct EdgePointers {
  Vertex*        targets = nullptr;
  std::uint32_t* weights = nullptr;
};

/// Where a window is brought to.
struct Slot {
  Slot(Device& device, std::uint64_t edges, bool weighted)
      : targets(device, edges, what_windows), weights(device, weighted ? edges : 0, what_windows) {}

  DeviceArray<Vertex>        targets;
  DeviceArray<std::uint32_t> weights;
  Event                      brought, visited;
};

/// Where the host gathers edges that are sent next.
class Stage {
 public:
  Stage(std::uint64_t edges, bool weighted) {
    check(cudaMallocHost(&memory_, edges * (weighted ? 8 : 4)), "pinning memory");
    edges_.targets = static_cast<Vertex*>(memory_);
    if (weighted) edges_.weights = static_cast<std::uint32_t*>(memory_) + edges;
  }
  ~Stage() { cudaFreeHost(memory_); }
  Stage(const Stage&)            = delete;
  Stage& operator=(const Stage&) = delete;

  const EdgePointers& edges() const { return edges_; }
  Event               sent;

 private:
  void*        memory_ = nullptr;
  EdgePointers edges_;
};

/// The rows of one block, on the host; its first edges are on the device all the time.
struct Side {
  std::shared_ptr<OutsideRows> outside;
  Rows                         host;
  EdgeIndex                    arcs     = 0;
  EdgeIndex                    resident = 0;
  DeviceArray<Vertex>          targets;
  DeviceArray<std::uint32_t>   weights;
  DeviceArray<unsigned char>   parts;  ///< windows of the whole array that have edges of the layout

  PlainRows rows() const {
    const EdgeIndex* const offsets = outside->whole().offsets;
    return {offsets, offsets + 1, nullptr, nullptr};
  }
};

class WindowsOfBlocks final : public Windows {
 public:
  WindowsOfBlocks(Device& device, const Graph& graph, std::vector<Side> sides, std::uint64_t vertices,
                  const RunOptions& options, const WindowNeeds& needs)
      : device_(device),
        budget_(graph.budget()),
        sides_(std::move(sides)),
        options_(options),
        needs_(needs),
        edge_bytes_(needs.weighted ? 8 : 4),
        threads_(thread_count(options.threads)) {
    const EdgeIndex arcs = most_arcs();
    local_               = needs.local && goes_asynchronously(options, vertices, arcs);
    if (arcs > 0) make_slots(arcs);
    if (arcs > 0) keep_first_edges();
  }

  Sent supply(const Steps& steps) override {
    Sent sent;
    for (Side& side : sides_) {
      if (side.arcs == 0) continue;
      // Asynchronously, the first round brings everything: whoever is reached goes on at once.
      bool       everyone = needs_.everyone || (local_ && first_);
      Laid       laid     = lay_out(side, steps, everyone);
      const bool gathers  = laid.edges > 0 && !everyone && pays_to_gather(side, laid);
      if (laid.edges == 0) continue;
      if (!gathers && local_ && !everyone) laid = lay_out(side, steps, everyone = true);
      if (side.resident > 0)
        steps.visit(window({side.targets.data(), side.weights.data()}, side, 0, side.resident, everyone));
      if (side.resident == side.arcs) continue;
      if (gathers)
        send_gathered(side, laid, steps, sent);
      else
        send_whole(side, everyone, steps, sent);
      sent.how = gathers ? "gathered" : "whole";
    }
    first_ = false;
    return sent;
  }

  std::uint64_t resident_bytes() const {
    std::uint64_t edges = 0;
    for (const Side& side : sides_) edges += side.resident;
    return edges * edge_bytes_;
  }

 private:
  static constexpr EdgeIndex     least_edges = 16;    ///< of a window
  static constexpr EdgeIndex     few_edges   = 8192;  ///< that one thread has gathered before others are awake
  static constexpr std::uint64_t ahead       = 8;     ///< pieces that are asked for before they are copied

  EdgeIndex most_arcs() const {
    EdgeIndex most = 0;
    for (const Side& side : sides_) most = std::max(most, side.arcs);
    return most;
  }

  /// Asynchronously one window is as large as there is room for; otherwise several take turns.
  void make_slots(EdgeIndex arcs) {
    const unsigned count = local_ ? 1 : slots_at_once;
    device_.require(needs_.state + count * least_edges * edge_bytes_, "the state of the vertices and a window");
    const std::uint64_t left = device_.room() - needs_.state;
    const std::uint64_t may  = std::min(left, options_.supply.resident.value_or(left));
    std::uint64_t       wish = local_ ? may : std::min(usual_window, may / 4 / count);
    if (options_.supply.window > 0) wish = options_.supply.window;
    wish         = std::clamp<std::uint64_t>(wish, least_edges * edge_bytes_, left / count);
    slot_edges_  = std::min<EdgeIndex>(wish / edge_bytes_, arcs);
    room_        = may - std::min(may, count * slot_edges_ * edge_bytes_);
    stage_edges_ = std::min<EdgeIndex>(slot_edges_, most_staged / edge_bytes_);
    for (unsigned i = 0; i < count; ++i)
      slots_.push_back(std::make_unique<Slot>(device_, slot_edges_, needs_.weighted));
    if (options_.method != Method::subgraph || needs_.everyone) return;  // nothing is ever gathered
    for (int i = 0; i < 2; ++i) stages_.push_back(std::make_unique<Stage>(stage_edges_, needs_.weighted));
  }

  /// Of every side its share, in whole windows.
  void keep_first_edges() {
    const std::uint64_t share = room_ / sides_.size();
    for (Side& side : sides_) {
      const EdgeIndex parts = (side.arcs + slot_edges_ - 1) / slot_edges_;
      if (device_.room() >= needs_.state + parts) side.parts = {device_, parts, what_windows};
      if (local_ || share < parts) continue;
      side.resident = std::min(side.arcs, (share - parts) / edge_bytes_ / slot_edges_ * slot_edges_);
      side.targets  = {device_, side.resident, what_windows};
      side.targets.upload(side.host.targets);
      if (!needs_.weighted) continue;
      side.weights = {device_, side.resident, what_windows};
      side.weights.upload(side.host.weights);
    }
  }

  Laid lay_out(Side& side, const Steps& steps, bool everyone) {
    if (needs_.everyone && sides_.size() == 1 && !first_) return laid_;  // as it was
    side.parts.clear();
    return laid_ = steps.laid_out({.rows       = side.rows(),
                                   .everyone   = everyone,
                                   .part_edges = slot_edges_,
                                   .parts      = everyone ? nullptr : side.parts.data()});
  }

  Window window(const EdgePointers& there, const Side& side, EdgeIndex first, EdgeIndex last, bool everyone,
                bool compact = false) const {
    PlainRows rows = side.rows();
    rows.targets = there.targets, rows.weights = there.weights;
    return {.rows     = rows,
            .first    = first,
            .last     = last,
            .compact  = compact,
            .everyone = needs_.everyone,
            .pull     = needs_.pulls,
            .local    = local_ && (everyone || compact)};
  }

  /// Which windows of the whole array have edges that are wanted.
  std::vector<unsigned char> wanted_parts(const Side& side, bool everyone) {
    std::vector<unsigned char> wanted((side.arcs + slot_edges_ - 1) / slot_edges_, 1);
    if (everyone || options_.supply.all_parts || side.parts.size() == 0) return wanted;
    side.parts.download(wanted.data());
    return wanted;
  }

  bool pays_to_gather(const Side& side, const Laid& laid) {
    if (options_.method != Method::subgraph) return false;
    if (static_cast<double>(laid.edges * edge_bytes_) < hardly_worth_asking && options_.supply.window == 0)
      return true;
    const auto wanted = wanted_parts(side, false);
    const auto parts =
        std::count(wanted.begin() + static_cast<std::ptrdiff_t>(side.resident / slot_edges_), wanted.end(), 1);
    const auto   whole  = static_cast<double>(parts) * static_cast<double>(slot_edges_);
    const double share  = 1 - static_cast<double>(side.resident) / static_cast<double>(side.arcs);
    const auto   bytes  = static_cast<double>(edge_bytes_);
    const double gather = static_cast<double>(laid.edges) * share * bytes / gathered_first +
                          static_cast<double>(laid.entries) * turning_to_a_piece;
    return gather < whole * bytes / sent_as_it_lies;
  }

  /// The next slot, when the device is done with what was there; whatever is sent to it waits for that.
  Slot& next_slot() {
    Slot& slot = *slots_[next_slot_++ % slots_.size()];
    slot.visited.hold_up(stream_);
    return slot;
  }

  /// The device visits it when it has come.
  void have_visited(Slot& slot, const Window& window, const Steps& steps, Sent& sent) {
    slot.brought.record(stream_);
    slot.brought.hold_up(nullptr);
    steps.visit(window);
    slot.visited.record(nullptr);
    ++sent.windows;
    sent.bytes += (window.last - window.first) * edge_bytes_;
  }

  void send(const EdgePointers& to, EdgeIndex at, const Vertex* targets, const std::uint32_t* weights,
            EdgeIndex count) {
    const auto copy = [&](auto* there, const auto* here) {
      check(cudaMemcpyAsync(there + at, here, count * sizeof(*here), cudaMemcpyHostToDevice, stream_),
            "sending edges");
    };
    copy(to.targets, targets);
    if (needs_.weighted) copy(to.weights, weights);
  }

  void send_whole(const Side& side, bool everyone, const Steps& steps, Sent& sent) {
    const auto wanted = wanted_parts(side, everyone);
    for (EdgeIndex first = side.resident; first < side.arcs; first += slot_edges_) {
      if (!wanted[first / slot_edges_]) continue;
      const EdgeIndex    last = std::min(side.arcs, first + slot_edges_);
      Slot&              slot = next_slot();
      const EdgePointers there{slot.targets.data(), slot.weights.data()};
      send(there, 0, side.host.targets + first, side.host.weights + (needs_.weighted ? first : 0), last - first);
      have_visited(slot, window(there, side, first, last, everyone), steps, sent);
    }
  }

  void send_gathered(const Side& side, const Laid& laid, const Steps& steps, Sent& sent) {
    if (entries_.size() < laid.entries) {
      entries_ = {laid.entries, budget_, what_windows};
      starts_  = {laid.entries + 1, budget_, what_windows};
    }
    device_.download(entries_.data(), steps.entries, laid.entries * sizeof(Entry));
    device_.download(starts_.data(), steps.starts, (laid.entries + 1) * sizeof(EdgeIndex));
    for (EdgeIndex first = beyond_resident(side, laid); first < laid.edges; first += slot_edges_) {
      const EdgeIndex    last = std::min<EdgeIndex>(laid.edges, first + slot_edges_);
      Slot&              slot = next_slot();
      const EdgePointers there{slot.targets.data(), slot.weights.data()};
      for (EdgeIndex from = first; from < last; from += stage_edges_) {
        const EdgeIndex to    = std::min(last, from + stage_edges_);
        Stage&          stage = *stages_[next_stage_++ % stages_.size()];
        stage.sent.wait();
        gather(side, laid, from, to, stage.edges());
        send(there, from - first, stage.edges().targets, stage.edges().weights, to - from);
        stage.sent.record(stream_);
      }
      have_visited(slot, window(there, side, first, last, false, true), steps, sent);
    }
  }

  EdgeIndex begin_of(const Side& side, const Entry& entry) const {
    return side.host.offsets[entry.vertex] + EdgeIndex{entry.piece} * options_.supply.piece;
  }

  /// Where the pieces begin that are not on the device, if all lie one behind the other.
  EdgeIndex beyond_resident(const Side& side, const Laid& laid) const {
    const std::span entries{entries_.data(), laid.entries};
    const auto      first = std::ranges::partition_point(
             entries, [&](const Entry& entry) { return begin_of(side, entry) < side.resident; });
    const auto k = static_cast<std::uint64_t>(first - entries.begin());
    if (k == 0) return 0;
    const EdgeIndex there = side.resident - begin_of(side, entries[k - 1]);  // of the piece before
    return std::min(starts_[k], starts_[k - 1] + there);
  }

  /// Subway's step 5, by all threads, each as many edges as the others.
  void gather(const Side& side, const Laid& laid, EdgeIndex from, EdgeIndex to, const EdgePointers& into) const {
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

  Device&                       device_;
  std::shared_ptr<MemoryBudget> budget_;
  std::vector<Side>             sides_;
  const RunOptions&             options_;
  WindowNeeds                   needs_;
  std::uint64_t                 edge_bytes_;
  int                           threads_;
  bool                          local_ = false, first_ = true;
  EdgeIndex                     slot_edges_ = 0, stage_edges_ = 0;
  std::uint64_t                 room_ = 0;  ///< for edges that stay
  Laid                          laid_{};

  Stream                              stream_;
  std::vector<std::unique_ptr<Slot>>  slots_;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::size_t                         next_slot_ = 0, next_stage_ = 0;
  Buffer<Entry>                       entries_;
  Buffer<EdgeIndex>                   starts_;
};

}  // namespace

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

Supply<PlainRows> window_supply(DeviceGraph& there, const Graph& graph, const Topology& topology,
                                const RunOptions& options, const WindowNeeds& needs) {
  Supply<PlainRows> supply;
  there.drop_idle_heads();
  const auto found = [&](const Block& block) {
    auto rows = there.outside(block, needs.weighted, graph);
    rows->drop_heads();
    supply.held.push_back(rows);
    return rows;
  };
  const auto add = [&](const std::vector<Block>& blocks, std::vector<PlainRows>& to, std::vector<Side>* sides) {
    for (const Block& block : blocks) {
      auto            rows    = found(block);
      const EdgeIndex arcs    = block.rows.offsets[topology.vertices];
      const auto*     offsets = rows->whole().offsets;
      to.push_back({offsets, offsets + 1, nullptr, nullptr});
      if (!sides) continue;
      Side side;
      side.outside = std::move(rows), side.host = block.rows, side.arcs = arcs;
      supply.on_host += arcs * (needs.weighted ? 8 : 4);
      sides->push_back(std::move(side));
    }
  };
  std::vector<Side> sides;
  add(topology.push, supply.push, needs.pulls ? nullptr : &sides);
  add(topology.pull, supply.pull, needs.pulls ? &sides : nullptr);
  auto windows    = std::make_shared<WindowsOfBlocks>(there.device(), graph, std::move(sides), topology.vertices,
                                                   options, needs);
  supply.resident = windows->resident_bytes();
  supply.uploaded = supply.resident;
  supply.windows  = std::move(windows);
  return supply;
}

}  // namespace spillway::cuda
