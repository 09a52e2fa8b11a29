// Rows as they are, in host memory that the device reads in place; their prefixes may lie on the device.
#pragma once

#include "engine/cuda/host_memory.hpp"

#include "engine/cuda/supplies.hpp"

namespace spillway::cuda {

/// Of how many edges cached row prefixes are that a device keeps, at most, or the first rows if there is no
/// room for all.
struct PrefixLengths {
  EdgeIndex     of_all = 0, of_first = 0;
  std::uint64_t first = 0;
};

/// Edges from the first on that a run in windows had on the device.
struct FirstEdges {
  DeviceArray<Vertex>        targets;
  DeviceArray<std::uint32_t> weights;

  std::uint64_t bytes() const { return (targets.size() + weights.size()) * sizeof(Vertex); }
};

class HostRows {
 public:
  /// Where rows lie is known to the device from now on; edges are pinned when somebody asks for them.
  HostRows(Device& device, const RowBlock& block, const Graph& graph);

  /// Those of `block`, which has the same rows: a simple graph shares them with the one it was made of, weights
  /// apart.
  void add_weights(const RowBlock& block) { on_host_.weights = block.rows.weights; }

  const EdgeIndex* offsets() const { return offsets_.data(); }
  /// The edges where the host has pinned them, weights too if they were added.
  Rows pinned();
  /// Also while another run pins them.
  bool is_pinned(bool weighted) const { return weighted ? weights_pinned_ : targets_pinned_; }

  /// The first edges of every row are kept on the device, as many of each as make no more than `room` bytes, or
  /// some rows; where not all fit, `places_bytes` more say where the others begin.
  bool keep_prefixes(Device& device, std::uint64_t room);  ///< true if they were not there before
  /// Whether some rows are kept where there is no room for the first edge of each.
  void          may_keep_some(bool yes) { some_rows_ = yes; }
  void          drop_prefixes();
  std::uint64_t held_bytes() const;  ///< by prefixes, and by what says where they are, or by first edges
  /// Those that the last run in windows has left; they go with prefixes.
  bool has_first(bool weighted) const {
    return first_.targets.size() > 0 && (!weighted || first_.weights.size() > 0);
  }
  bool has_prefixes(bool weighted) const {
    return prefix_targets_.size() > 0 && (!weighted || prefix_weights_.size() > 0);
  }
  FirstEdges    take_first() { return std::exchange(first_, {}); }
  void          leave_first(FirstEdges first) { first_ = std::move(first); }
  std::uint64_t places_bytes() const { return (2 * vertices_ + 1) * sizeof(EdgeIndex); }

  std::vector<PlainRows> parts();
  /// All of every row where the host has it, in the form of algorithms that are no programs.
  Rows          whole();
  std::uint64_t resident_bytes() const {
    return (prefix_targets_.size() + prefix_weights_.size()) * sizeof(Vertex);
  }
  std::uint64_t bytes() const { return arcs_ * on_host_.edge_bytes(); }

  const Rows& on_host() const { return on_host_; }
  bool        has_weights() const { return on_host_.weights != nullptr || arcs_ == 0; }

 private:
  PrefixLengths prefix_lengths(Device& device, EdgeIndex most) const;
  void          pin();

  Rows                          on_host_;
  std::shared_ptr<MemoryBudget> budget_;
  std::uint64_t                 vertices_;
  EdgeIndex                     arcs_;
  DeviceArray<EdgeIndex>        offsets_;
  HostReadable                  targets_, weights_;
  std::atomic<bool>             targets_pinned_ = false, weights_pinned_ = false;
  std::uint64_t                 room_ = no_prefixes;  ///< that prefixes were chosen for
  PrefixLengths                 lengths_;             ///< that were
  bool                          some_rows_ = true, chosen_with_some_ = true;
  DeviceArray<EdgeIndex>        prefix_offsets_, tail_begins_;
  DeviceArray<Vertex>           prefix_targets_;
  DeviceArray<std::uint32_t>    prefix_weights_;
  FirstEdges                    first_;
};

}  // namespace spillway::cuda
