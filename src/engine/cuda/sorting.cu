// Rows of a list of edges, sorted on a GPU by source, target and weight: all at once, or the rows of some vertices
// after those of others, as its memory asks for. For each part the list goes over the bus once.
#include <cub/device/device_radix_sort.cuh>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "engine/cuda/building.hpp"
#include "engine/cuda/device_graph.hpp"
#include "engine/cuda/grid.cuh"
#include "engine/rows.hpp"
#include "graph/weight_order.hpp"

#include <spillway/edge_list.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/error.hpp>

namespace spillway {
namespace cuda {
namespace {

constexpr auto what_sorted = "the rows of a list of edges";

using ArcKey = unsigned long long;  ///< source and target; as many bits each as vertices have

/// How keys are made, and of which arcs.
struct KeyPacking {
  VertexRange sources;
  unsigned    bits;
  bool        both_ways;
  WeightType  weight_type;

  __device__ bool   has(Vertex source) const { return source >= sources.first && source < sources.last; }
  __device__ ArcKey key(Vertex source, Vertex target) const { return ArcKey{source} << bits | target; }
  __device__ Vertex source(ArcKey key) const { return static_cast<Vertex>(key >> bits); }
  __device__ Vertex target(ArcKey key) const { return static_cast<Vertex>(key & ((ArcKey{1} << bits) - 1)); }
};

/// Arcs are dealt out as they come: they are sorted after that.
__global__ void pack_arcs(EdgeRun edges, KeyPacking packing, ArcKey* keys, std::uint32_t* ranks, Count* packed) {
  deal_to_lanes(std::uint64_t{0}, edges.count, [&](std::uint64_t i, bool mine) {
    const Vertex u = mine ? edges.source(i) : 0, v = mine ? edges.target(i) : 0;
    const auto   add = [&](Vertex source, Vertex target, bool wants) {
      wants             = wants && packing.has(source);
      const Count place = reserve(packed, wants);
      if (!wants) return;
      keys[place] = packing.key(source, target);
      if (ranks != nullptr) ranks[place] = weight_rank(packing.weight_type, edges.weight(i));
    };
    add(u, v, mine);
    if (packing.both_ways) add(v, u, mine && u != v);
  });
}

__global__ void count_sources(EdgeRun edges, bool both_ways, EdgeIndex* degrees) {
  const EdgeDirections directions{true, both_ways, true};
  for (std::uint64_t i = first_item(); i < edges.count; i += item_stride())
    for_each_arc(edges, i, directions,
                 [&](Vertex from, Vertex) { atomicAdd(reinterpret_cast<Count*>(degrees + from), Count{1}); });
}

/// Of sorted keys. `before`: arcs of rows before these.
__global__ void unpack_rows(const ArcKey* keys, EdgeIndex count, KeyPacking packing, EdgeIndex before,
                            EdgeIndex* offsets, Vertex* targets, std::uint32_t* ranks) {
  for (EdgeIndex i = first_item(); i < count; i += item_stride()) {
    targets[i] = packing.target(keys[i]);
    if (ranks != nullptr) ranks[i] = weight_from_rank(packing.weight_type, ranks[i]);
  }
  for (std::uint64_t v = packing.sources.first + first_item(); v <= packing.sources.last; v += item_stride())
    offsets[v - packing.sources.first] =
        before + partition_point(EdgeIndex{0}, count, [&](EdgeIndex i) { return packing.source(keys[i]) < v; });
}

/// An array and its shadow, which a sort goes to and fro between.
template <class T>
struct TwoArrays {
  TwoArrays(Device& device, std::uint64_t count)
      : arrays{{device, count, what_sorted}, {device, count, what_sorted}} {}

  cub::DoubleBuffer<T> buffers() { return {arrays[now].data(), arrays[1 - now].data()}; }
  void                 take(cub::DoubleBuffer<T>& sorted) { now = sorted.Current() == arrays[0].data() ? 0 : 1; }
  DeviceArray<T>&      sorted() { return arrays[now]; }
  void                 drop_other() { arrays[1 - now] = {}; }

  DeviceArray<T> arrays[2];
  int            now = 0;
};

class RowSorter {
 public:
  RowSorter(const Graph& graph, const RunOptions& options)
      : graph_(graph),
        options_(options),
        list_(*graph.edges()),
        threads_(thread_count(options.threads)),
        run_(list_.edges(threads_)),
        there_(DeviceGraph::of(graph, options.device)),
        device_(there_->device()),
        weighted_(list_.weighted()),
        vertices_(list_.vertex_count()),
        arcs_(list_.arc_count()),
        bits_(std::max(static_cast<unsigned>(std::bit_width(vertices_ - 1)), 1u)) {
    device_.enter();
    sent_ = there_->edges(run_);
    there_->keep(std::shared_ptr<EdgesOnDevice>{});  // rows are what is wanted
    there_->make_room();
  }

  /// In so many parts.
  std::size_t build() {
    const std::uint64_t rest = (vertices_ + 1) * sizeof(EdgeIndex) + slack, fixed = stretch_bytes() + rest;
    if (sent_ && device_.room() < rest + arcs_ * arc_bytes())
      sent_.reset();  // without it all may be sorted at once
    if (!sent_) device_.require(fixed, what_sorted);
    const EdgeIndex most = (device_.room() - (sent_ ? rest : fixed)) / arc_bytes();
    if (!sent_) stretch_ = {device_, stretch_bytes() / sizeof(std::uint32_t), what_sorted};
    offsets_there_   = {device_, vertices_ + 1, what_sorted};
    offsets_         = {vertices_ + 1, graph_.budget(), what_sorted};
    targets_         = {arcs_, graph_.budget(), what_sorted};
    weights_         = {weighted_ ? arcs_ : 0, graph_.budget(), what_sorted};
    const auto parts = arcs_ <= most ? std::vector<VertexRange>{{0, vertices_}} : parts_of(most);
    for (const VertexRange& part : parts) build_part(part, most);
    sent_.reset();
    keep_on_host();
    return parts.size();
  }

 private:
  static constexpr std::uint64_t slack = 1u << 16;  // rounding of some allocations, and counters

  /// Of the list, as much as is brought at once.
  std::uint64_t stretch_bytes() const {
    return std::min<std::uint64_t>(options_.cuda.sort_stretch, run_.count) * run_.edge_bytes();
  }

  /// What an arc takes while it is sorted; rows take less when they are unpacked. An eighth is for the sort's own.
  std::uint64_t arc_bytes() const {
    const std::uint64_t sorted = 2 * (sizeof(ArcKey) + (weighted_ ? sizeof(std::uint32_t) : 0));
    return sorted + sorted / 8;
  }

  template <class Act>
  void for_each_stretch(Act&& act) {
    const std::uint64_t some = stretch_bytes() / run_.edge_bytes();
    for (std::uint64_t first = 0; first < run_.count; first += some) {
      if (options_.progress) check_cancelled(*options_.progress);
      const EdgeRun part = run_.part(first, std::min(run_.count, first + some));
      if (!sent_) device_.upload(stretch_.data(), part.words, part.bytes());
      act(EdgeRun{sent_ ? sent_->words.data() + first * part.stride : stretch_.data(), part.count, part.stride});
    }
  }

  /// Vertices side by side whose arcs are sorted at once.
  std::vector<VertexRange> parts_of(EdgeIndex most) {
    offsets_there_.clear();
    for_each_stretch([&](const EdgeRun& edges) {
      SPILLWAY_LAUNCH(count_sources, blocks_for(edges.count), block_threads, edges, list_.both_ways(),
                      offsets_there_.data());
    });
    offsets_there_.download(offsets_.data());  // of each vertex how many; sums are taken below
    std::vector<VertexRange> parts{{0, 0}};
    EdgeIndex                taken = 0;
    for (std::uint64_t v = 0; v < vertices_; ++v) {
      if (offsets_[v] > most)
        throw DeviceError{ExitCode::does_not_fit, "a vertex has more edges than the GPU can sort at once"};
      if (taken + offsets_[v] > most) parts.push_back({v, v}), taken = 0;
      taken += offsets_[v];
      parts.back().last = v + 1;
    }
    return parts;
  }

  void build_part(const VertexRange& part, EdgeIndex most) {
    const KeyPacking                        packing{part, bits_, list_.both_ways(), list_.weight_type()};
    const EdgeIndex                         room = std::min(most, arcs_);
    TwoArrays<ArcKey>                       keys{device_, room};
    std::optional<TwoArrays<std::uint32_t>> ranks;
    if (weighted_) ranks.emplace(device_, room);
    DeviceArray<Count> counted{device_, 1, what_sorted};
    counted.clear();
    for_each_stretch([&](const EdgeRun& edges) {
      SPILLWAY_LAUNCH(pack_arcs, blocks_for(edges.count), block_threads, edges, packing, keys.sorted().data(),
                      ranks ? ranks->sorted().data() : nullptr, counted.data());
    });
    Count count = 0;
    counted.download(&count);
    sort(keys, ranks, count);
    hand_over(packing, keys.sorted(), ranks ? &ranks->sorted() : nullptr, count);
  }

  /// By weight first: sorts are stable.
  void sort(TwoArrays<ArcKey>& keys, std::optional<TwoArrays<std::uint32_t>>& ranks, Count count) {
    if (ranks) {
      sort_pairs(*ranks, keys, count, 32);
      sort_pairs(keys, *ranks, count, 2 * bits_);
      ranks->drop_other();
    } else {
      auto buffers = keys.buffers();
      with_room([&](void* room, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortKeys(room, bytes, buffers, count, 0, static_cast<int>(2 * bits_));
      });
      keys.take(buffers);
    }
    keys.drop_other();
  }

  template <class K, class V>
  void sort_pairs(TwoArrays<K>& by, TwoArrays<V>& carried, Count count, unsigned bits) {
    auto keys   = by.buffers();
    auto values = carried.buffers();
    with_room([&](void* room, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(room, bytes, keys, values, count, 0, static_cast<int>(bits));
    });
    by.take(keys), carried.take(values);
  }

  template <class Sort>
  void with_room(Sort&& sort) {
    std::size_t bytes = 0;
    check(sort(nullptr, bytes), "sorting edges");
    const DeviceArray<char> room{device_, std::max<std::size_t>(bytes, 1), what_sorted};
    check(sort(room.data(), bytes), "sorting edges");
  }

  /// Rows go to the host; all of them stay on the device as well.
  void hand_over(const KeyPacking& packing, const DeviceArray<ArcKey>& keys, DeviceArray<std::uint32_t>* ranks,
                 Count count) {
    const VertexRange&  part = packing.sources;
    DeviceArray<Vertex> targets{device_, count, what_sorted};
    SPILLWAY_LAUNCH(unpack_rows, blocks_for(std::max<std::uint64_t>(count, part.last - part.first + 1)),
                    block_threads, keys.data(), count, packing, built_, offsets_there_.data(), targets.data(),
                    ranks ? ranks->data() : nullptr);
    device_.download(offsets_.data() + part.first, offsets_there_.data(),
                     (part.last - part.first + 1) * sizeof(EdgeIndex));
    device_.download(targets_.data() + built_, targets.data(), count * sizeof(Vertex));
    if (ranks) device_.download(weights_.data() + built_, ranks->data(), count * sizeof(std::uint32_t));
    built_ += count;
    if (part.last - part.first < vertices_) return;
    kept_.emplace();
    kept_->offsets = std::move(offsets_there_);
    kept_->targets = std::move(targets);
    if (ranks && count == arcs_) kept_->weights = std::move(*ranks);
  }

  void keep_on_host() {
    graph_.give_out({std::move(offsets_).freeze(), std::move(targets_).freeze(), std::move(weights_).freeze()});
    if (!kept_) return;
    const Csr& out = graph_.out();
    kept_->on_host = {out.offsets.data(), out.targets.data(), weighted_ ? out.weights.data() : nullptr};
    refuse_long_rows(block_of(out));
    there_->keep(std::move(*kept_));
  }

  const Graph&                 graph_;
  const RunOptions&            options_;
  const EdgeList&              list_;
  int                          threads_;
  EdgeRun                      run_;
  std::shared_ptr<DeviceGraph> there_;
  Device&                      device_;
  bool                         weighted_;
  std::uint64_t                vertices_;
  EdgeIndex                    arcs_;
  unsigned                     bits_;
  /// All edges, if they are there already.
  std::shared_ptr<EdgesOnDevice> sent_;
  DeviceArray<std::uint32_t>     stretch_;
  DeviceArray<EdgeIndex>         offsets_there_;
  Buffer<EdgeIndex>              offsets_;
  Buffer<Vertex>                 targets_;
  Buffer<std::uint32_t>          weights_;
  EdgeIndex                      built_ = 0;
  std::optional<ResidentRows>    kept_;
};

}  // namespace

std::size_t build_rows_on(const Graph& graph, const RunOptions& options) {
  return RowSorter{graph, options}.build();
}

}  // namespace cuda
}  // namespace spillway
