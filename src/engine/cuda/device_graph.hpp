// What a device keeps of a graph from run to run.
#pragma once

#include <spillway/engine/cuda/memory.hpp>
#include "engine/cuda/edge_copy.hpp"
#include "plan/planner.hpp"
#include "plan/rates.hpp"

namespace spillway::cuda {

/// What this machine does to bring edges there (plan/rates.hpp); measured at first, within both budgets.
Rates rates_of(Device& device, int threads, const std::shared_ptr<MemoryBudget>& host);
/// As they are known already, or of another machine.
Rates known_rates_of(Device& device, int threads);
/// By what iterations took; `keep`: for other processes, too.
void correct_rates(Device& device, int threads, std::span<const RateObservation> observations, bool keep);

/// Rows by whose lengths vertices are put in another order.
const RowBlock& order_block(const Topology& topology);

/// Rows of 2^31 arcs and more are for the CPU.
void              refuse_long_rows(const RowBlock& block);
[[noreturn]] void refuse_long_row();

/// Rows that lie on a device, and where they lie on the host.
struct ResidentRows {
  Rows                       on_host;
  DeviceArray<EdgeIndex>     offsets;
  DeviceArray<Vertex>        targets;
  DeviceArray<std::uint32_t> weights;

  Rows on_device() const { return {offsets.data(), targets.data(), weights.data()}; }
};

class HostRows;
class CompressedBlock;
class PagesInPlace;

/// What a run needs of a graph, held on the device while the run lasts.
struct DeviceTopology {
  std::shared_ptr<const VertexMap>         order;  ///< that the rows are in; none: that of the host
  std::vector<std::shared_ptr<const void>> held;
  std::vector<Rows>                        push, pull;
  std::uint64_t                            uploaded = 0;  ///< bytes that were not there before
};

/// What a device keeps of a graph from run to run.
class DeviceGraph : public Graph::Attachment {
 public:
  /// What is attached to the graph for this device, or a new one where another budget is asked for.
  static std::shared_ptr<DeviceGraph> of(const Graph& graph, const DeviceChoice& choice);

  DeviceGraph(std::shared_ptr<Device> device, std::shared_ptr<MemoryBudget> host,
              std::shared_ptr<EdgesOnDevice> edges)
      : shared_device_(std::move(device)), device_(*shared_device_), edges_(std::move(edges)) {
    device_.set_host_budget(std::move(host));
  }

  Device& device() { return device_; }
  /// For what may outlive the rows.
  const std::shared_ptr<Device>& shared_device() const { return shared_device_; }
  /// The words of this list, if they were sent while they were read; or null.
  std::shared_ptr<EdgesOnDevice> edges(const EdgeRun& all);
  /// For the next run; null: none.
  void keep(std::shared_ptr<EdgesOnDevice> edges);
  /// Brings what is not there yet. Blocks that share arrays on the host share them there.
  DeviceTopology topology(const Topology& topology, bool weighted);
  /// The same rows, hubs first. Without `insists`, those of the host where that would not pay.
  DeviceTopology reordered(const Topology& topology, DeviceTopology rows, bool weighted, bool insists);
  /// An order by falling degree in `by`, whose offsets are on the device.
  std::shared_ptr<const VertexMap> order(const RowBlock& by, const EdgeIndex* offsets, std::uint64_t vertices);
  /// The block, which stays where it is, for the device to read.
  std::shared_ptr<HostRows> host_rows(const RowBlock& block, bool weighted, const Graph& graph);
  /// The block in compressed form; `coding_batch_arcs` as for `compressed_supply`.
  std::shared_ptr<CompressedBlock> compressed(const RowBlock& block, const Topology& topology, bool weighted,
                                              const Graph& graph, std::uint64_t coding_batch_arcs);
  /// Pages that a run has left in host memory for the next to read there; null: there are none.
  std::shared_ptr<PagesInPlace> pages_in_place(const store::PagedRows* pages);
  void                          keep(std::shared_ptr<PagesInPlace> pages);
  bool                          has_compressed(const RowBlock& block, bool weighted);
  bool                          has_pinned(const RowBlock& block, bool weighted);
  bool                          has_resident(const Topology& topology, bool weighted);
  bool                          has_order(const RowBlock& block, bool weighted);
  /// Another order can be made of these rows, and would change something, for all that was tried.
  bool may_reorder(const RowBlock& block);
  /// Edges that a run in windows, or in place, has left on the device for the next.
  bool has_first(const RowBlock& block, bool weighted);
  bool has_prefixes(const RowBlock& block, bool weighted);
  /// What runs so far would have taken less.
  Forgone           forgone();
  void              forgo(const Forgone& more);
  void              use_gpu();                                        ///< what the CPU's runs have forgone is paid
  std::atomic<bool> cannot_compress = false, cannot_reorder = false;  ///< was tried
  /// What a few of these rows tell of them; looked at once.
  GraphSample sample(const RowBlock& block, std::uint64_t vertices, bool weighted, int threads);
  /// Runs over host-resident rows change what is kept of them: one at a time.
  std::unique_lock<std::mutex> exclusive_host_rows() { return std::unique_lock{outside_mutex_}; }
  /// Cached row prefixes that nobody uses now are given up.
  void drop_idle_prefixes();
  /// Bytes that are left of the device's budget, with those that they hold, and perhaps those of idle rows.
  std::uint64_t room(bool with_idle_rows);
  /// Whether these rows, and `state` bytes, can be on the device, if idle ones go that are in the way.
  bool could_hold(const Topology& topology, bool weighted, std::uint64_t state);
  /// Those go, or, if that would not do, all that no run uses.
  void make_room_for(const Topology& topology, bool weighted, std::uint64_t state);
  /// Rows that were made on the device, of those on the host that they say.
  void keep(ResidentRows rows);
  /// Gives up rows that nobody uses now; false if there are none.
  bool make_room();

 private:
  bool          give_up_idle();
  bool          give_up_idle_blocks();
  void          drop_idle_prefixes_locked();
  std::uint64_t idle_prefixes() const;
  std::uint64_t idle_blocks() const;

  bool fits(const Topology& topology, bool weighted, std::uint64_t state, std::uint64_t freed) const;
  std::vector<std::shared_ptr<ResidentRows>> held_rows(const Topology& topology) const;

  std::shared_ptr<ResidentRows>    found(const RowBlock& block) const;
  std::uint64_t                    missing(const Topology& topology, bool weighted) const;
  std::shared_ptr<const VertexMap> order_locked(const RowBlock& by, const EdgeIndex* offsets,
                                                std::uint64_t vertices);
  std::shared_ptr<ResidentRows>    resident(const RowBlock& block, bool weighted, std::uint64_t& uploaded);

  std::shared_ptr<Device>                       shared_device_;
  Device&                                       device_;
  std::shared_ptr<EdgesOnDevice>                edges_;  ///< of a list; those of its rows are apart
  std::mutex                                    mutex_, outside_mutex_;
  std::vector<std::shared_ptr<ResidentRows>>    blocks_, reordered_;
  std::vector<std::shared_ptr<HostRows>>        host_rows_;
  std::vector<std::shared_ptr<CompressedBlock>> coded_;
  std::vector<std::shared_ptr<PagesInPlace>>    pages_;
  Forgone                                       forgone_;
  std::shared_ptr<const VertexMap>              order_;
  const EdgeIndex*                              ordered_by_ = nullptr;  ///< offsets, on the host
  const EdgeIndex*                              unskewed_   = nullptr;  ///< those by which no order would pay
  GraphSample                                   sample_;
  const Vertex*                                 sampled_         = nullptr;  ///< on the host, of these rows
  bool                                          sampled_weights_ = false;
};

}  // namespace spillway::cuda
