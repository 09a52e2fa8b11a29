#include "engine/cuda/device_graph.hpp"

#include <algorithm>

#include "engine/cuda/compression.hpp"
#include "engine/cuda/host_rows.hpp"
#include "engine/cuda/order.hpp"
#include "engine/cuda/pages_in_place.hpp"
#include "engine/rows.hpp"

#include <spillway/error.hpp>

namespace spillway::cuda {

namespace {

/// They take a part of the device's memory, and of the same budget.
std::shared_ptr<EdgesOnDevice> sent_edges(const Graph& graph, const DeviceChoice& choice) {
  auto edges = graph.edges() ? std::dynamic_pointer_cast<EdgesOnDevice>(graph.edges()->take_copy()) : nullptr;
  if (!edges || edges->device->index() != choice.index || edges->device->stated() != choice.memory) return nullptr;
  return edges;
}

}  // namespace

std::shared_ptr<DeviceGraph> DeviceGraph::of(const Graph& graph, const DeviceChoice& choice) {
  static std::mutex      making;  // two for one graph would have a whole budget each
  const std::scoped_lock lock{making};
  const std::string      key   = "cuda:" + std::to_string(choice.index);
  auto                   there = std::dynamic_pointer_cast<DeviceGraph>(graph.attachment(key));
  if (there && there->device_.stated() == choice.memory) return there;
  graph.attach(key, nullptr);  // gives its memory back before the next one asks how much there is
  there.reset();
  auto edges = sent_edges(graph, choice);
  there      = std::make_shared<DeviceGraph>(
      edges ? edges->device : std::make_shared<Device>(choice.index, choice.memory), graph.budget(), edges);
  graph.attach(key, there);
  return there;
}

std::shared_ptr<EdgesOnDevice> DeviceGraph::edges(const EdgeRun& all) {
  const std::scoped_lock lock{mutex_};
  return edges_ && edges_->on_host == all.words && edges_->words.size() == all.count * all.stride ? edges_ : nullptr;
}

void DeviceGraph::keep(std::shared_ptr<EdgesOnDevice> edges) {
  const std::scoped_lock lock{mutex_};
  edges_ = std::move(edges);
}

/// Rows that other runs have left are given up only where these need their room.
DeviceTopology DeviceGraph::topology(const Topology& topology, bool weighted) {
  const std::scoped_lock lock{mutex_};
  DeviceTopology         there;
  for (const auto* blocks : {&topology.push, &topology.pull})
    for (const RowBlock& block : *blocks)
      if (auto rows = found(block)) there.held.push_back(std::move(rows));  // not to be given up
  if (missing(topology, weighted) > device_.room()) give_up_idle();
  device_.require(missing(topology, weighted), "the rows of the graph");
  const auto add = [&](const RowBlock& block, std::vector<Rows>& to) {
    auto rows = resident(block, weighted, there.uploaded);
    to.push_back(rows->on_device());
    there.held.push_back(std::move(rows));
  };
  for (const RowBlock& block : topology.push) add(block, there.push);
  for (const RowBlock& block : topology.pull) add(block, there.pull);
  return there;
}

DeviceTopology DeviceGraph::reordered(const Topology& topology, DeviceTopology rows, bool weighted, bool insists) {
  const std::scoped_lock lock{mutex_};
  const std::uint64_t    n      = topology.vertices;
  const bool             pushes = !topology.push.empty();
  const RowBlock&        by     = order_block(topology);
  const auto             arcs   = [](const RowBlock& block) { return block.arcs(); };
  if (!insists && unskewed_ == by.rows.offsets) return rows;
  order_locked(by, pushes ? rows.push.front().offsets : rows.pull.front().offsets, n);
  if (!insists && !order_->skewed) {
    order_.reset();  // it is made again if somebody insists
    unskewed_ = by.rows.offsets;
    return rows;
  }
  DeviceTopology moved;
  moved.order    = order_;
  moved.uploaded = rows.uploaded;
  const auto add = [&](const RowBlock& block, const Rows& here, std::vector<Rows>& to) {
    const auto same = [&](const auto& other) {
      return other->on_host.targets == block.rows.targets && (!weighted || other->weights.size() > 0);
    };
    auto found = std::ranges::find_if(reordered_, same);
    if (found == reordered_.end()) {
      auto fresh =
          std::make_shared<ResidentRows>(cuda::reordered(device_, here, n, arcs(block), weighted, *order_));
      fresh->on_host   = block.rows;
      forgone_.ordered = 0;
      found            = reordered_.insert(reordered_.end(), std::move(fresh));
    }
    to.push_back((*found)->on_device());
    moved.held.push_back(*found);
  };
  for (std::size_t i = 0; i < topology.push.size(); ++i) add(topology.push[i], rows.push[i], moved.push);
  for (std::size_t i = 0; i < topology.pull.size(); ++i) add(topology.pull[i], rows.pull[i], moved.pull);
  return moved;
}

std::shared_ptr<const VertexMap> DeviceGraph::order(const RowBlock& by, const EdgeIndex* offsets,
                                                    std::uint64_t vertices) {
  const std::scoped_lock lock{mutex_};
  return order_locked(by, offsets, vertices);
}

std::shared_ptr<const VertexMap> DeviceGraph::order_locked(const RowBlock& by, const EdgeIndex* offsets,
                                                           std::uint64_t vertices) {
  if (!order_ || ordered_by_ != by.rows.offsets) {
    reordered_.clear();
    order_ = std::make_shared<VertexMap>(order_by_degree(device_, offsets, vertices, by.rows.offsets[vertices]));
    ordered_by_ = by.rows.offsets;
  }
  return order_;
}

void DeviceGraph::keep(ResidentRows rows) {
  const std::scoped_lock lock{mutex_};
  blocks_.push_back(std::make_shared<ResidentRows>(std::move(rows)));
}

bool DeviceGraph::make_room() {
  const std::scoped_lock lock{mutex_};
  return give_up_idle();
}

bool DeviceGraph::give_up_idle() {
  const auto        idle = [](const auto& block) { return block.use_count() == 1; };
  const std::size_t gone =
      std::erase_if(host_rows_, idle) + std::erase_if(coded_, idle) + std::erase_if(pages_, idle);
  return give_up_idle_blocks() || gone > 0;
}

bool DeviceGraph::give_up_idle_blocks() {
  const auto        idle = [](const auto& block) { return block.use_count() == 1; };
  const std::size_t gone = std::erase_if(reordered_, idle) + std::erase_if(blocks_, idle);
  if (reordered_.empty() && order_.use_count() == 1) order_.reset();
  const bool edges = edges_.use_count() == 1;
  if (edges) edges_.reset();
  return edges || gone > 0;
}

std::shared_ptr<ResidentRows> DeviceGraph::found(const RowBlock& block) const {
  const auto same = [&](const auto& other) {
    return other->on_host.offsets == block.rows.offsets && other->on_host.targets == block.rows.targets;
  };
  const auto place = std::ranges::find_if(blocks_, same);
  return place == blocks_.end() ? nullptr : *place;
}

bool DeviceGraph::fits(const Topology& topology, bool weighted, std::uint64_t state, std::uint64_t freed) const {
  const std::uint64_t room = device_.room() + freed;
  return state <= room && missing(topology, weighted) <= room - state;
}

bool DeviceGraph::could_hold(const Topology& topology, bool weighted, std::uint64_t state) {
  const std::scoped_lock lock{mutex_};
  const auto             held = held_rows(topology);
  return fits(topology, weighted, state, idle_blocks() + idle_prefixes());
}

void DeviceGraph::make_room_for(const Topology& topology, bool weighted, std::uint64_t state) {
  const std::scoped_lock lock{mutex_};
  if (fits(topology, weighted, state, 0)) return;
  {
    const auto held = held_rows(topology);
    give_up_idle_blocks();
    if (fits(topology, weighted, state, 0)) return;
    if (fits(topology, weighted, state, idle_prefixes())) return drop_idle_prefixes_locked();
  }
  give_up_idle_blocks();  // even the rows that were asked for do not fit: they only take room
}

/// Those of a topology that are on the device, which are not to be given up.
std::vector<std::shared_ptr<ResidentRows>> DeviceGraph::held_rows(const Topology& topology) const {
  std::vector<std::shared_ptr<ResidentRows>> held;
  for (const auto* blocks : {&topology.push, &topology.pull})
    for (const RowBlock& block : *blocks)
      if (auto rows = found(block)) held.push_back(std::move(rows));
  return held;
}

/// What `give_up_idle_blocks` would give back.
std::uint64_t DeviceGraph::idle_blocks() const {
  std::uint64_t bytes   = edges_.use_count() == 1 ? edges_->words.size() * sizeof(std::uint32_t) : 0;
  bool          ordered = false;
  for (const auto* blocks : {&blocks_, &reordered_})
    for (const auto& rows : *blocks) {
      const bool idle = rows.use_count() == 1;
      ordered |= !idle && blocks == &reordered_;
      if (idle)
        bytes += rows->offsets.size() * sizeof(EdgeIndex) +
                 (rows->targets.size() + rows->weights.size()) * sizeof(std::uint32_t);
    }
  if (!ordered && order_ && order_.use_count() == 1)
    bytes += (order_->original.size() + order_->place.size()) * sizeof(Vertex);
  return bytes;
}

std::uint64_t DeviceGraph::missing(const Topology& topology, bool weighted) const {
  std::uint64_t              bytes = 0;
  std::vector<const Vertex*> counted;
  for (const auto* blocks : {&topology.push, &topology.pull}) {
    for (const RowBlock& block : *blocks) {
      if (std::ranges::find(counted, block.rows.targets) != counted.end()) continue;
      counted.push_back(block.rows.targets);
      const std::uint64_t rows = std::uint64_t{block.last} - block.first, arcs = block.arcs();
      const auto          there = found(block);
      if (!there) bytes += (rows + 1) * sizeof(EdgeIndex) + arcs * sizeof(Vertex);
      if (weighted && (!there || there->weights.size() != arcs)) bytes += arcs * sizeof(std::uint32_t);
    }
  }
  return bytes;
}

std::shared_ptr<ResidentRows> DeviceGraph::resident(const RowBlock& block, bool weighted,
                                                    std::uint64_t& uploaded) {
  const std::uint64_t rows = std::uint64_t{block.last} - block.first, arcs = block.arcs();
  auto                there = found(block);
  if (!there) {
    refuse_long_rows(block);
    there          = std::make_shared<ResidentRows>();
    there->on_host = block.rows;
    there->offsets = {device_, rows + 1, "the offsets of the rows"};
    there->targets = {device_, arcs, "the arcs"};
    there->offsets.upload(block.rows.offsets);
    there->targets.upload(block.rows.targets);
    uploaded += (rows + 1) * sizeof(EdgeIndex) + arcs * sizeof(Vertex);
    blocks_.push_back(there);
  }
  if (weighted && there->weights.size() != arcs) {
    DeviceArray<std::uint32_t> weights{device_, arcs, "the weights"};
    weights.upload(block.rows.weights);
    there->weights = std::move(weights);
    uploaded += arcs * sizeof(std::uint32_t);
  }
  return there;
}

std::shared_ptr<HostRows> DeviceGraph::host_rows(const RowBlock& block, bool weighted, const Graph& graph) {
  const std::scoped_lock lock{mutex_};
  const auto             same = [&](const auto& other) {
    return other->on_host().offsets == block.rows.offsets && other->on_host().targets == block.rows.targets;
  };
  auto found = std::ranges::find_if(host_rows_, same);
  if (found == host_rows_.end())
    found = host_rows_.insert(host_rows_.end(), std::make_shared<HostRows>(device_, block, graph));
  if (weighted && !(*found)->has_weights()) (*found)->add_weights(block);
  return *found;
}

void DeviceGraph::drop_idle_prefixes() {
  const std::scoped_lock lock{mutex_};
  drop_idle_prefixes_locked();
}

void DeviceGraph::drop_idle_prefixes_locked() {
  for (const auto& rows : host_rows_)
    if (rows.use_count() == 1) rows->drop_prefixes();
  for (const auto& rows : coded_)
    if (rows.use_count() == 1) rows->drop_prefixes();
}

std::uint64_t DeviceGraph::room(bool with_idle_rows) {
  const std::scoped_lock lock{mutex_};
  return device_.room() + idle_prefixes() + (with_idle_rows ? idle_blocks() : 0);
}

std::uint64_t DeviceGraph::idle_prefixes() const {
  std::uint64_t bytes = 0;
  for (const auto& rows : host_rows_) bytes += rows.use_count() == 1 ? rows->held_bytes() : 0;
  for (const auto& rows : coded_) bytes += rows.use_count() == 1 ? rows->held_bytes() : 0;
  return bytes;
}

std::shared_ptr<PagesInPlace> DeviceGraph::pages_in_place(const store::PagedRows* pages) {
  const std::scoped_lock lock{mutex_};
  const auto found = std::ranges::find_if(pages_, [&](const auto& each) { return each->is_of(pages); });
  return found == pages_.end() ? nullptr : *found;
}

void DeviceGraph::keep(std::shared_ptr<PagesInPlace> pages) {
  const std::scoped_lock lock{mutex_};
  pages_.push_back(std::move(pages));
}

bool DeviceGraph::has_compressed(const RowBlock& block, bool weighted) {
  const std::scoped_lock lock{mutex_};
  return std::ranges::any_of(coded_, [&](const auto& other) {
    return other->on_host == block.rows.targets && other->weighted == weighted;
  });
}

bool DeviceGraph::has_resident(const Topology& topology, bool weighted) {
  const std::scoped_lock lock{mutex_};
  return missing(topology, weighted) == 0;
}

bool DeviceGraph::has_order(const RowBlock& block, bool weighted) {
  const std::scoped_lock lock{mutex_};
  return std::ranges::any_of(reordered_, [&](const auto& other) {
    return other->on_host.targets == block.rows.targets && (!weighted || other->weights.size() > 0);
  });
}

bool DeviceGraph::may_reorder(const RowBlock& block) {
  const std::scoped_lock lock{mutex_};
  return !cannot_reorder && unskewed_ != block.rows.offsets;
}

bool DeviceGraph::has_first(const RowBlock& block, bool weighted) {
  const std::scoped_lock lock{mutex_};
  return std::ranges::any_of(host_rows_, [&](const auto& other) {
    return other->on_host().targets == block.rows.targets && other->has_first(weighted);
  });
}

bool DeviceGraph::has_prefixes(const RowBlock& block, bool weighted) {
  const std::scoped_lock lock{mutex_};
  return std::ranges::any_of(host_rows_, [&](const auto& other) {
    return other->on_host().targets == block.rows.targets && other->has_prefixes(weighted);
  });
}

void DeviceGraph::use_gpu() {
  const std::scoped_lock lock{mutex_};
  forgone_.on_gpu = 0;
}

Forgone DeviceGraph::forgone() {
  const std::scoped_lock lock{mutex_};
  return forgone_;
}

void DeviceGraph::forgo(const Forgone& more) {
  const std::scoped_lock lock{mutex_};
  forgone_ += more;
}

bool DeviceGraph::has_pinned(const RowBlock& block, bool weighted) {
  const std::scoped_lock lock{mutex_};
  return std::ranges::any_of(host_rows_, [&](const auto& other) {
    return other->on_host().targets == block.rows.targets && other->is_pinned(weighted);
  });
}

std::shared_ptr<CompressedBlock> DeviceGraph::compressed(const RowBlock& block, const Topology& topology,
                                                         bool weighted, const Graph& graph,
                                                         std::uint64_t coding_batch_arcs) {
  const auto same = [&](const auto& other) {
    return other->on_host == block.rows.targets && other->weighted == weighted;
  };
  {
    const std::scoped_lock lock{mutex_};
    const auto             found = std::ranges::find_if(coded_, same);
    if (found != coded_.end()) return *found;
  }
  // Whatever the run, out-edges say who is a hub: both sides are in one order.
  const RowBlock by    = block_of(walked_rows(graph));
  const auto     rows  = host_rows(block, weighted, graph);
  const auto     among = block.rows.targets == by.rows.targets ? rows : host_rows(by, false, graph);
  drop_idle_prefixes();
  rows->drop_prefixes(), among->drop_prefixes();
  auto fresh = std::make_shared<CompressedBlock>(
      device_, rows->whole(), topology.vertices, block.rows.offsets[topology.vertices], weighted,
      order(by, among->offsets(), topology.vertices), graph.budget(), coding_batch_arcs);
  fresh->on_host = block.rows.targets;
  const std::scoped_lock lock{mutex_};
  forgone_.compressed = 0;
  // With or without weights: one of them is kept.
  std::erase_if(coded_, [&](const auto& other) { return other->on_host == block.rows.targets; });
  coded_.push_back(fresh);
  return fresh;
}

GraphSample DeviceGraph::sample(const RowBlock& block, std::uint64_t vertices, bool weighted, int threads) {
  const std::scoped_lock lock{mutex_};
  if (sampled_ != block.rows.targets || sampled_weights_ != weighted) {
    sample_          = sampled(block, vertices, weighted, threads);
    sampled_         = block.rows.targets;
    sampled_weights_ = weighted;
  }
  return sample_;
}

}  // namespace spillway::cuda
