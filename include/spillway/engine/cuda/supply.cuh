// What a program's executor on a GPU is given: rows, in one of several forms, and the session that brings them.
#pragma once

#include <functional>
#include <variant>

#include <spillway/engine/cuda/memory.hpp>
#include <spillway/engine/cuda/rows.cuh>
#include <spillway/engine/cuda/window_steps.cuh>
#include <spillway/error.hpp>
#include <spillway/plan.hpp>
#include <spillway/result.hpp>

namespace spillway {

struct AlgorithmWork;

}  // namespace spillway

namespace spillway::cuda {

/// The rows of a run in one form; a row may lie in several parts.
template <class Form>
struct Supply {
  std::shared_ptr<const VertexMap>         order;  ///< that the rows are in; none: that of the host
  std::vector<std::shared_ptr<const void>> held;
  std::vector<Form>                        push, pull;
  std::uint64_t                            uploaded = 0;  ///< bytes that were not there before
  std::uint64_t                            resident = 0;  ///< bytes of edges on the device
  std::uint64_t                            on_host  = 0;  ///< and in host memory
  std::shared_ptr<EdgeSupply>              windows;       ///< what brings edges while a run lasts
};

/// What the supplies need to know of a program, or of another algorithm.
struct ProgramNeeds {
  ProgramFacts  facts;
  std::string   program        = {};  ///< its name, for what earlier runs of it did; empty: it is none
  RowForm       form           = RowForm::any;
  bool          prioritised    = false;
  bool          may_reorder    = false;
  bool          may_use_cpu    = false;
  std::uint64_t max_iterations = 0;
  std::uint64_t entry_bytes    = sizeof(Vertex);  ///< of what an edge leads to
  std::uint64_t answer_bytes   = 0;               ///< of host memory, when it is done

  const AlgorithmWork* work = nullptr;  ///< of an algorithm that is none, for the planner

  /// How many hubs get their sums in shared memory, at most, if rows are alike in both directions.
  std::function<Vertex()> summed_hubs = {};
  /// Device memory of the vertex state, if edges are supplied by this method.
  std::function<std::uint64_t(Method)> state_bytes;
  /// And if they are in pages, of state in so many chunks.
  std::function<Device::Bytes(std::uint64_t)> state_bytes_in_chunks = {};
};

/// What every run on a GPU says of its rows.
template <class Form>
void note_supply(Device& device, const Supply<Form>& rows, const RunStatistics& so_far,
                 RunStatistics& statistics) {
  statistics.prepare_ms = so_far.prepare_ms;
  statistics.method     = so_far.method;
  statistics.compressed |= so_far.compressed;  // or the supply has said so
  statistics.candidates     = so_far.candidates;
  statistics.device         = "cuda:" + std::to_string(device.index());
  statistics.device_bytes   = device.peak();
  statistics.uploaded_bytes = rows.uploaded;
  statistics.edges_resident = rows.resident;
  statistics.edges_on_host  = rows.on_host;
  if (so_far.page_io.empty()) return;
  statistics.page_io = so_far.page_io;  // pages that were all read before the run
  statistics.pages_wanted += so_far.pages_wanted;
  statistics.pages_in_place += so_far.pages_in_place;
  statistics.pages_read += so_far.pages_read;
  statistics.bytes_read += so_far.bytes_read;
}

/// Rows in the form that the chosen supply has them in, and what bringing them took.
struct SuppliedRows {
  std::variant<Supply<PlainRows>, Supply<CompressedRows>> rows;

  RunOptions    options;  ///< those of the run, with what was left to choose
  RunStatistics so_far;
};

/// A run's hold on a GPU and on what that keeps of a graph: chooses the supply and has it bring the rows.
class Session {
 public:
  Session(const Graph& graph, const Topology& topology, const RunOptions& options, ProgramNeeds needs);
  ~Session();
  Session(const Session&)            = delete;
  Session& operator=(const Session&) = delete;

  Device&                        device() const;
  const std::shared_ptr<Device>& shared_device() const;
  /// What `rows` would do, and why.
  Plan         plan();
  SuppliedRows rows();
  /// Whether the CPU is predicted to be done sooner than any candidate of this GPU.
  bool prefers_cpu();
  /// Every candidate, the one that was chosen first; none: nothing was priced.
  std::vector<PlanCandidate> candidates() const;
  /// What choosing took.
  double choosing_ms() const;
  /// After an error: whether `rows` has another way to try.
  bool falls_back(const Error& error);
  /// After a run: what the planner would have predicted of each iteration, had it known what is active. Rates that
  /// were off are corrected.
  void predict_iterations(RunStatistics& statistics);
  /// Frees rows that no run uses; false if there are none.
  bool make_room();

 private:
  struct State;
  static Plan plan_of_pages(const State& state);
  static Plan plan_of_list(const State& state);

  std::unique_ptr<State> state_;
};

}  // namespace spillway::cuda
