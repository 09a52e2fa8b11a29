#include <algorithm>
#include <utility>

#include "engine/cuda/compression.hpp"
#include "engine/cuda/host_memory.hpp"
#include "engine/cuda/host_rows.hpp"
#include "engine/rows.hpp"
#include "supply/residency.hpp"

#include <spillway/engine/parallel.hpp>
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

/// The rows that will be walked most.
const std::vector<RowBlock>& main_blocks(const Topology& topology, const RunFacts& run) {
  const bool pulls = topology.push.empty() || (run.all_active && !topology.pull.empty());
  return pulls ? topology.pull : topology.push;
}

}  // namespace

const RowBlock& order_block(const Topology& topology) {
  return topology.push.empty() ? topology.pull.front() : topology.push.front();
}

GraphSample sample_of(DeviceGraph& device_graph, const Topology& topology, const RunFacts& run) {
  const auto& blocks = main_blocks(topology, run);
  return blocks.empty() ? GraphSample{}
                        : device_graph.sample(blocks.front(), topology.vertices, run.weighted,
                                              thread_count(run.options.threads));
}

namespace {

GpuFacts facts_of(DeviceGraph& device_graph, const Topology& topology, const RunFacts& run,
                  const std::shared_ptr<MemoryBudget>& host) {
  const auto& blocks = main_blocks(topology, run);
  const bool  free   = run.options.method.automatic();
  return {.name           = "cuda:" + std::to_string(device_graph.device().index()),
          .room           = device_graph.room(/*with_idle_rows=*/free),
          .host_room      = host->limit() - std::min(host->limit(), host->used()),
          .holds_all      = device_graph.could_hold(topology, run.weighted, run.state),
          .has_compressed = !blocks.empty() && device_graph.has_compressed(blocks.front(), run.weighted),
          .may_compress   = !device_graph.cannot_compress,
          .has_pinned     = !blocks.empty() && device_graph.has_pinned(blocks.front(), run.weighted),
          .has_resident   = device_graph.has_resident(topology, run.weighted),
          .has_order      = !blocks.empty() && device_graph.has_order(blocks.front(), run.weighted),
          .may_reorder    = !blocks.empty() && device_graph.may_reorder(order_block(topology)),
          .has_first      = !blocks.empty() && device_graph.has_first(blocks.front(), run.weighted),
          .has_prefixes   = !blocks.empty() && device_graph.has_prefixes(blocks.front(), run.weighted),
          .cache          = device_graph.device().cache_bytes(),
          .forgone        = device_graph.forgone(),
          .copies =
              [&] {
                return !blocks.empty() && is_copied(blocks.front().rows.targets, run.arcs * sizeof(Vertex), host);
              },
          .rates       = [&] { return rates_of(device_graph.device(), thread_count(run.options.threads), host); },
          .known_rates = [&] { return known_rates_of(device_graph.device(), thread_count(run.options.threads)); },
          .sample      = [&] { return sample_of(device_graph, topology, run); }};
}

}  // namespace

Plan planned_supply(DeviceGraph& device_graph, const Topology& topology, const RunFacts& run,
                    const std::shared_ptr<MemoryBudget>& host) {
  return planned_placement(run, facts_of(device_graph, topology, run, host));
}

Placement chosen_supply(DeviceGraph& device_graph, const Topology& topology, const RunFacts& run,
                        const std::shared_ptr<MemoryBudget>& host) {
  Placement choice = chosen_placement(run, facts_of(device_graph, topology, run, host), run.options.explain);
  if (run.options.method.automatic() && !choice.best().on_cpu())
    device_graph.make_room_for(topology, run.weighted, run.state);
  device_graph.forgo(choice.forgone);
  return choice;
}

}  // namespace spillway::cuda
