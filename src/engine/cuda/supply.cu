#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/cuda/compression.hpp"
#include "engine/cuda/host_rows.hpp"
#include "engine/rows.hpp"
#include "supply/residency.hpp"

#include <spillway/engine/parallel.hpp>
#include <spillway/plan.hpp>
#include "engine/cuda/supplies.hpp"

namespace spillway::cuda {
namespace {

/// Both directions, and both sides of an undirected view, may share rows: each is asked for once.
template <class Form, class Find>
Supply<Form> supplied(DeviceGraph& device_graph, const Topology& topology, const Room& room, Find&& find) {
  using Kept = decltype(find(topology.push.front()));
  Supply<Form>                                supply;
  std::vector<std::pair<const Vertex*, Kept>> kept;
  for (const auto* blocks : {&topology.push, &topology.pull})
    for (const RowBlock& block : *blocks)
      if (std::ranges::find(kept, block.rows.targets, &std::pair<const Vertex*, Kept>::first) == kept.end())
        kept.emplace_back(block.rows.targets, find(block));
  Device& device = device_graph.device();
  device_graph.drop_idle_prefixes();
  std::uint64_t needed = room.state, held = 0;
  for (const auto& [targets, rows] : kept) needed += rows->places_bytes(), held += rows->held_bytes();
  if (device.room() < room.state) {
    for (const auto& [targets, rows] : kept) rows->drop_prefixes();
    held = 0;
  }
  device.require(room.state, "the state of the vertices");
  // What is held now is given up where it does not serve.
  const std::uint64_t stay  = resident_bytes(device.room() + held, needed, room.resident);
  const std::uint64_t share = kept.empty() ? 0 : stay / kept.size();
  for (const auto& [targets, rows] : kept) {
    if (rows->keep_prefixes(device, share)) supply.uploaded += rows->held_bytes();
    supply.resident += rows->resident_bytes();
    supply.on_host += rows->bytes();
    supply.held.push_back(rows);
  }
  const auto add = [&](const RowBlock& block, std::vector<Form>& to) {
    const auto found = std::ranges::find(kept, block.rows.targets, &std::pair<const Vertex*, Kept>::first);
    for (const Form& part : found->second->parts()) to.push_back(part);
  };
  for (const RowBlock& block : topology.push) add(block, supply.push);
  for (const RowBlock& block : topology.pull) add(block, supply.pull);
  return supply;
}

}  // namespace

Supply<PlainRows> resident_supply(DeviceTopology rows) {
  Supply<PlainRows> supply;
  const auto        plain = [](const Rows& rows_there) {
    return PlainRows{rows_there.offsets, rows_there.offsets + 1, rows_there.targets, rows_there.weights};
  };
  for (const Rows& rows_there : rows.push) supply.push.push_back(plain(rows_there));
  for (const Rows& rows_there : rows.pull) supply.pull.push_back(plain(rows_there));
  supply.order    = std::move(rows.order);
  supply.uploaded = rows.uploaded;
  for (auto& held : rows.held) supply.held.push_back(std::move(held));
  return supply;
}

Supply<PlainRows> plain_supply(DeviceGraph& device_graph, const Graph& graph, const Topology& topology,
                               bool weighted, const Room& room) {
  return supplied<PlainRows>(device_graph, topology, room, [&](const RowBlock& block) {
    auto rows = device_graph.host_rows(block, weighted, graph);
    rows->may_keep_some(room.some_rows);
    return rows;
  });
}

Supply<CompressedRows> compressed_supply(DeviceGraph& device_graph, const Graph& graph, const Topology& topology,
                                         bool weighted, const Room& room, std::uint64_t coding_batch_arcs) {
  std::shared_ptr<const VertexMap> order;
  auto supply  = supplied<CompressedRows>(device_graph, topology, room, [&](const RowBlock& block) {
    auto rows = device_graph.compressed(block, topology, weighted, graph, coding_batch_arcs);
    order     = rows->order();  // one for all of them
    return rows;
  });
  supply.order = std::move(order);
  return supply;
}

Supply<PlainRows> whole_supply(DeviceGraph& device_graph, const Graph& graph, const Topology& topology,
                               bool weighted, std::uint64_t state) {
  Supply<PlainRows>          supply;
  std::vector<const Vertex*> counted;
  if (device_graph.device().room() < state) device_graph.drop_idle_prefixes();
  device_graph.device().require(state, "the state of the vertices");
  const auto add = [&](const RowBlock& block, std::vector<PlainRows>& to) {
    auto       rows  = device_graph.host_rows(block, weighted, graph);
    const Rows whole = rows->whole();
    to.push_back({whole.offsets, whole.offsets + 1, whole.targets, weighted ? whole.weights : nullptr, true});
    if (std::ranges::find(counted, block.rows.targets) == counted.end()) supply.on_host += rows->bytes();
    counted.push_back(block.rows.targets);
    supply.held.push_back(std::move(rows));
  };
  for (const RowBlock& block : topology.push) add(block, supply.push);
  for (const RowBlock& block : topology.pull) add(block, supply.pull);
  return supply;
}

namespace {

/// What the plan says, beside the choice.
struct Reasons {
  std::vector<std::string> why;
  void                     because(std::string text) { why.push_back(std::move(text)); }
};

std::uint64_t edge_bytes(const PlacementRequest& request) {
  return request.topology.arcs * spillway::edge_bytes(request.weighted);
}

/// Compressed rows spare more than half of the bytes; compressing goes at
/// so many a second (measured on an H200, docs/experiments.md).
constexpr double spared = 0.6, coding = 3.5e9;

/// Passes after which it pays to have compressed.
double passes_to_pay(const Rates& rates) { return rates.read / coding / spared; }

/// It pays where rows are compressed already, where this run makes good for it, or where the runs before it
/// together would have.
bool worth_compressing(DeviceGraph& device_graph, const PlacementRequest& request, Choice& choice,
                       Reasons& reasons) {
  if (request.options.supply.compress == Compress::on) return true;
  if (request.options.supply.compress == Compress::off || request.form != RowForm::any ||
      device_graph.cannot_compress)
    return false;
  const Topology& topology = request.topology;
  const RowBlock& block    = topology.push.empty() ? topology.pull.front() : topology.push.front();
  if (device_graph.has_compressed(block, request.weighted)) return true;
  const double passes = device_graph.passes_uncompressed + request.passes;  // who comes again will come again
  const double needed = passes_to_pay(choice.rates);
  reasons.because(
      fmt::format("coding edges pays after some {:.0f} passes over all of them; this run, and those before it, "
                  "have about {:.1f}",
                  needed, passes));
  choice.may_compress_later = passes <= needed;
  return !choice.may_compress_later;
}

/// What says where rows are, about: their offsets, and where they are cut if they are read in place.
std::uint64_t places_of(const PlacementRequest& request, Method method) {
  return (method->reads_in_place ? 3 : 2) * request.topology.vertices * sizeof(EdgeIndex);
}

/// Below this windows would be too small to keep the bus busy.
bool room_for_windows(DeviceGraph& device_graph, const PlacementRequest& request) {
  const std::uint64_t places = places_of(request, request.all_active ? whole_partitions() : least_predicted());
  return device_graph.room(request.options.method.automatic()) >= request.state_in_windows + places + (12u << 20);
}

/// Kept, prefixes of all rows spare the bus most requests, and what is left is read nearly as fast as it
/// could be sent; but then it cannot be sent without them. With few of them, sending more than makes up for that.
bool keeps_many(DeviceGraph& device_graph, const PlacementRequest& request) {
  constexpr std::uint64_t enough = 16;  // one edge of so many (measured: docs/experiments.md)
  const std::uint64_t     beside = request.state + places_of(request, edges_in_place());
  return resident_bytes(device_graph.room(request.options.method.automatic()), beside,
                        request.options.supply.resident) >= edge_bytes(request) / enough;
}

Choice choice_of(DeviceGraph& device_graph, const PlacementRequest& request, Reasons& reasons) {
  const RunOptions& options = request.options;
  const bool        free    = options.method.automatic();
  if (options.method->all_resident) return {};
  if (free && device_graph.could_hold(request.topology, request.weighted, request.state)) {
    reasons.because("all edges fit on the GPU with the vertex state");
    return {};
  }
  if (free) reasons.because("not enough GPU memory for all edges and the vertex state");
  Choice choice{.method = options.method->transfers ? options.method : edges_in_place()};
  // Nothing is left to choose: what a machine can do need not be known.
  const bool no_code = options.supply.compress != Compress::automatic || device_graph.cannot_compress;
  const bool settled = !options.method->transfers && (request.form != RowForm::any || (!free && no_code));
  if (options.supply.rates)
    choice.rates = *options.supply.rates;
  else if (!settled)
    choice.rates = rates_of(device_graph.device(), thread_count(options.threads), request.host);
  if (options.method->transfers) {
    choice.compressed = options.supply.compress == Compress::on;
    return choice;
  }
  choice.compressed = worth_compressing(device_graph, request, choice, reasons);
  if (choice.compressed && free && request.all_active && request.form == RowForm::any &&
      room_for_windows(device_graph, request)) {
    choice.method = whole_partitions();
    reasons.because("all edges are needed in every iteration: whole partitions are transferred, compressed");
  }
  if (choice.compressed || !free || request.form != RowForm::any) return choice;
  // Values are improved until they are right, and ways are short: once or twice most edges are active.
  const bool dense = request.improving && request.topology.arcs >= few_neighbours * request.topology.vertices;
  if (request.voting) {
    reasons.because("one edge decides for a vertex: cached row prefixes answer nearly all requests");
  } else if (!request.all_active && options.direction == Direction::pull) {
    reasons.because("--direction pull: transferred edges would be pushed");
  } else if (request.prioritised) {
    reasons.because("bucketed programs have many small iterations, for which reading in place is fastest");
  } else if (!request.all_active && !dense && keeps_many(device_graph, request)) {
    reasons.because("cached row prefixes spare most requests; the rest is read in place");
  } else if (!room_for_windows(device_graph, request)) {
    reasons.because("not enough GPU memory for transfer buffers");
  } else {
    choice.method = request.all_active ? whole_partitions() : least_predicted();
    if (dense) reasons.because("most edges are active once or twice, which amortizes transferring them");
    reasons.because(
        request.all_active
            ? "all edges are needed in every iteration: whole partitions are transferred"
            : "the transfer strategy with the least predicted time is chosen per iteration and partition");
  }
  return choice;
}

}  // namespace

Plan planned_supply(DeviceGraph& device_graph, const PlacementRequest& request) {
  Reasons      reasons;
  const Choice choice = choice_of(device_graph, request, reasons);
  Device&      device = device_graph.device();
  Plan         plan;
  plan.device      = "cuda:" + std::to_string(device.index());
  plan.method      = choice.method->name;
  plan.compressed  = choice.compressed;
  plan.weighted    = request.weighted;
  plan.room        = device_graph.room(request.options.method.automatic());
  plan.state_bytes = choice.method->transfers ? request.state_in_windows : request.state;
  plan.edge_bytes  = edge_bytes(request);
  plan.vertices    = request.topology.vertices;
  plan.arcs        = request.topology.arcs;
  if (!choice.method->all_resident) plan.rates = choice.rates;
  plan.why = reasons.why;
  if (request.form == RowForm::whole && !choice.method->all_resident) return plan;  // nothing is kept
  const std::uint64_t taken =
      plan.state_bytes + (choice.method->all_resident ? 0 : places_of(request, choice.method));
  plan.resident_bytes =
      std::min(plan.edge_bytes, resident_bytes(plan.room, taken, request.options.supply.resident));
  return plan;
}

Choice chosen_supply(DeviceGraph& device_graph, const PlacementRequest& request) {
  Reasons      reasons;
  const Choice choice = choice_of(device_graph, request, reasons);
  if (request.options.method.automatic())
    device_graph.make_room_for(request.topology, request.weighted, request.state);
  if (choice.may_compress_later) device_graph.passes_uncompressed.fetch_add(request.passes);
  return choice;
}

}  // namespace spillway::cuda
