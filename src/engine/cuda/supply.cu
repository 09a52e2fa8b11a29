#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/cuda/coding.hpp"
#include "engine/cuda/outside.hpp"
#include "engine/rows.hpp"
#include "supply/residency.hpp"

#include <spillway/engine/parallel.hpp>
#include <spillway/plan.hpp>
#include "engine/cuda/supplies.hpp"

namespace spillway::cuda {
namespace {

/// Both directions, and both sides of an undirected view, may share rows: each is asked for once.
template <class Form, class Find>
Supply<Form> supplied(DeviceGraph& there, const Topology& topology, const Room& room, Find&& find) {
  using Kept = decltype(find(topology.push.front()));
  Supply<Form>                                supply;
  std::vector<std::pair<const Vertex*, Kept>> kept;
  for (const auto* blocks : {&topology.push, &topology.pull})
    for (const RowBlock& block : *blocks)
      if (std::ranges::find(kept, block.rows.targets, &std::pair<const Vertex*, Kept>::first) == kept.end())
        kept.emplace_back(block.rows.targets, find(block));
  Device& device = there.device();
  there.drop_idle_heads();
  std::uint64_t needed = room.state, held = 0;
  for (const auto& [targets, rows] : kept) needed += rows->places_bytes(), held += rows->held_bytes();
  if (device.room() < room.state) {
    for (const auto& [targets, rows] : kept) rows->drop_heads();
    held = 0;
  }
  device.require(room.state, "the state of the vertices");
  // What is held now is given up where it does not serve.
  const std::uint64_t stay  = resident_bytes(device.room() + held, needed, room.resident);
  const std::uint64_t share = kept.empty() ? 0 : stay / kept.size();
  for (const auto& [targets, rows] : kept) {
    if (rows->keep_heads(device, share)) supply.uploaded += rows->held_bytes();
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
  const auto        plain = [](const Rows& there) {
    return PlainRows{there.offsets, there.offsets + 1, there.targets, there.weights};
  };
  for (const Rows& there : rows.push) supply.push.push_back(plain(there));
  for (const Rows& there : rows.pull) supply.pull.push_back(plain(there));
  supply.order    = std::move(rows.order);
  supply.uploaded = rows.uploaded;
  for (auto& held : rows.held) supply.held.push_back(std::move(held));
  return supply;
}

Supply<PlainRows> plain_supply(DeviceGraph& there, const Graph& graph, const Topology& topology, bool weighted,
                               const Room& room) {
  return supplied<PlainRows>(there, topology, room, [&](const RowBlock& block) {
    auto rows = there.outside(block, weighted, graph);
    rows->may_keep_some(room.some_rows);
    return rows;
  });
}

Supply<CodedRows> coded_supply(DeviceGraph& there, const Graph& graph, const Topology& topology, bool weighted,
                               const Room& room, std::uint64_t chunk_arcs) {
  std::shared_ptr<const VertexMap> order;
  auto                             supply = supplied<CodedRows>(there, topology, room, [&](const RowBlock& block) {
    auto rows = there.coded(block, topology, weighted, graph, chunk_arcs);
    order     = rows->order();  // one for all of them
    return rows;
  });
  supply.order                            = std::move(order);
  return supply;
}

Supply<PlainRows> whole_supply(DeviceGraph& there, const Graph& graph, const Topology& topology, bool weighted,
                               std::uint64_t state) {
  Supply<PlainRows>          supply;
  std::vector<const Vertex*> counted;
  if (there.device().room() < state) there.drop_idle_heads();
  there.device().require(state, "the state of the vertices");
  const auto add = [&](const RowBlock& block, std::vector<PlainRows>& to) {
    auto       rows  = there.outside(block, weighted, graph);
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

std::uint64_t edge_bytes(const Wish& wish) { return wish.topology.arcs * spillway::edge_bytes(wish.weighted); }

/// Coded rows spare more than half of the bytes; coding goes at
/// so many a second (measured on an H200, docs/experiments.md).
constexpr double spared = 0.6, coding = 3.5e9;

/// Passes after which it pays to have coded.
double passes_to_pay(const Rates& rates) { return rates.read / coding / spared; }

/// It pays where rows are coded already, where this run makes good for it, or where the runs before it together
/// would have.
bool worth_coding(DeviceGraph& there, const Wish& wish, Choice& choice, Reasons& reasons) {
  if (wish.options.supply.compress == Compress::on) return true;
  if (wish.options.supply.compress == Compress::off || wish.form != RowForm::any || there.cannot_code)
    return false;
  const Topology& topology = wish.topology;
  const RowBlock& block    = topology.push.empty() ? topology.pull.front() : topology.push.front();
  if (there.has_coded(block, wish.weighted)) return true;
  const double passes = there.passes_uncoded + wish.passes;  // who comes again will come again
  const double needed = passes_to_pay(choice.rates);
  reasons.because(
      fmt::format("coding edges pays after some {:.0f} passes over all of them; this run, and those before it, "
                  "have about {:.1f}",
                  needed, passes));
  choice.may_code_later = passes <= needed;
  return !choice.may_code_later;
}

/// What says where rows are, about: their offsets, and where they are cut if they are read in place.
std::uint64_t places_of(const Wish& wish, Method method) {
  return (method->reads_in_place ? 3 : 2) * wish.topology.vertices * sizeof(EdgeIndex);
}

/// Below this windows would be too small to keep the bus busy.
bool room_for_windows(DeviceGraph& there, const Wish& wish) {
  const std::uint64_t places = places_of(wish, wish.all_active ? whole_partitions() : least_predicted());
  return there.room() >= wish.state_in_windows + places + (12u << 20);
}

/// Kept, the beginnings of all rows spare the bus most requests, and what is left is read nearly as fast as it
/// could be sent; but then it cannot be sent without them. With few of them, sending more than makes up for that.
bool keeps_many(DeviceGraph& there, const Wish& wish) {
  constexpr std::uint64_t enough = 16;  // one edge of so many (measured: docs/experiments.md)
  const std::uint64_t     beside = wish.state + places_of(wish, edges_in_place());
  return resident_bytes(there.room(), beside, wish.options.supply.resident) >= edge_bytes(wish) / enough;
}

Choice choice_of(DeviceGraph& there, const Wish& wish, Reasons& reasons) {
  const RunOptions& options = wish.options;
  const bool        free    = options.method.automatic();
  if (options.method->all_resident) return {};
  if (free && there.has_room_for(wish.topology, wish.weighted, wish.state)) {
    reasons.because("all edges fit on the GPU with the vertex state");
    return {};
  }
  if (free) reasons.because("not enough GPU memory for all edges and the vertex state");
  Choice choice{.method = options.method->transfers ? options.method : edges_in_place()};
  // Nothing is left to choose: what a machine can do need not be known.
  const bool no_code = options.supply.compress != Compress::automatic || there.cannot_code;
  const bool settled = !options.method->transfers && (wish.form != RowForm::any || (!free && no_code));
  if (options.supply.rates)
    choice.rates = *options.supply.rates;
  else if (!settled)
    choice.rates = rates_of(there.device(), thread_count(options.threads), wish.host);
  if (options.method->transfers) {
    choice.coded = options.supply.compress == Compress::on;
    return choice;
  }
  choice.coded = worth_coding(there, wish, choice, reasons);
  if (choice.coded && free && wish.all_active && wish.form == RowForm::any && room_for_windows(there, wish)) {
    choice.method = whole_partitions();
    reasons.because("all edges are needed in every iteration: whole partitions are transferred, compressed");
  }
  if (choice.coded || !free || wish.form != RowForm::any) return choice;
  // Values are improved until they are right, and ways are short: once or twice most edges are active.
  const bool dense = wish.improving && wish.topology.arcs >= few_neighbours * wish.topology.vertices;
  if (wish.voting) {
    reasons.because("one edge decides for a vertex: cached row prefixes answer nearly all requests");
  } else if (!wish.all_active && options.direction == Direction::pull) {
    reasons.because("--direction pull: transferred edges would be pushed");
  } else if (wish.prioritised) {
    reasons.because("bucketed programs have many small iterations, for which reading in place is fastest");
  } else if (!wish.all_active && !dense && keeps_many(there, wish)) {
    reasons.because("cached row prefixes spare most requests; the rest is read in place");
  } else if (!room_for_windows(there, wish)) {
    reasons.because("not enough GPU memory for transfer buffers");
  } else {
    choice.method = wish.all_active ? whole_partitions() : least_predicted();
    if (dense) reasons.because("most edges are active once or twice, which amortizes transferring them");
    reasons.because(
        wish.all_active
            ? "all edges are needed in every iteration: whole partitions are transferred"
            : "the transfer strategy with the least predicted time is chosen per iteration and partition");
  }
  return choice;
}

}  // namespace

Plan planned_supply(DeviceGraph& there, const Wish& wish) {
  Reasons      reasons;
  const Choice choice = choice_of(there, wish, reasons);
  Device&      device = there.device();
  Plan         plan;
  plan.device      = "cuda:" + std::to_string(device.index());
  plan.method      = choice.method->name;
  plan.coded       = choice.coded;
  plan.weighted    = wish.weighted;
  plan.room        = there.room();
  plan.state_bytes = choice.method->transfers ? wish.state_in_windows : wish.state;
  plan.edge_bytes  = edge_bytes(wish);
  plan.vertices    = wish.topology.vertices;
  plan.arcs        = wish.topology.arcs;
  if (!choice.method->all_resident) plan.rates = choice.rates;
  plan.why = reasons.why;
  if (wish.form == RowForm::whole && !choice.method->all_resident) return plan;  // nothing is kept
  const std::uint64_t taken =
      plan.state_bytes + (choice.method->all_resident ? 0 : places_of(wish, choice.method));
  plan.resident_bytes = std::min(plan.edge_bytes, resident_bytes(plan.room, taken, wish.options.supply.resident));
  return plan;
}

Choice chosen_supply(DeviceGraph& there, const Wish& wish) {
  Reasons      reasons;
  const Choice choice = choice_of(there, wish, reasons);
  if (choice.may_code_later) there.passes_uncoded.fetch_add(wish.passes);
  return choice;
}

}  // namespace spillway::cuda
