// Belief propagation with state on vertices only, on a GPU (see bp_vertices.cpp): what a vertex says to all its
// neighbours is published first, then every vertex adds up the logarithms that it hears.
#include "algorithms/gpu/belief_rows.cuh"

namespace spillway::gpu {
namespace {

/// The logarithm of a product of messages: of each state's ratio to state 0.
template <unsigned states>
struct LogSum {
  static constexpr unsigned ratios = states - 1;

  double of[ratios];

  __device__ static LogSum nothing() {
    LogSum zero;
#pragma unroll
    for (double& sum : zero.of) sum = 0;
    return zero;
  }

  __device__ void join(const LogSum& other) {
#pragma unroll
    for (unsigned y = 0; y < ratios; ++y) of[y] += other.of[y];
  }

  __device__ void join_lanes(unsigned lanes) {
#pragma unroll
    for (unsigned y = 0; y < ratios; ++y)
      for (unsigned offset = lanes / 2; offset > 0; offset /= 2)
        of[y] += __shfl_xor_sync(all_lanes, of[y], static_cast<int>(offset));
  }
};

template <unsigned states>
struct VertexForm {
  using Part = LogSum<states>;
  struct Own {};
  static constexpr unsigned ratios   = states - 1;
  static constexpr unsigned resident = 4;

  const Vertex* targets;
  const double* log_priors;
  const double* messages;  ///< the ratios of each vertex, as logarithms
  double*       beliefs;   ///< nobody but the vertex itself asks for its own
  double        damping;

  __device__ Own own(Vertex) const { return {}; }

  __device__ void add(Part& part, const Own&, EdgeIndex i) const {
    const double* const message = messages + std::uint64_t{__ldcs(targets + i)} * ratios;
#pragma unroll
    for (unsigned y = 0; y < ratios; ++y) part.of[y] += __ldg(message + y);
  }

  __device__ double update_belief(Vertex v, const Part& part) const {
    double* const belief = beliefs + std::uint64_t{v} * states;
    double        weight[states], most = 0, sum = 0, change = 0;
#pragma unroll
    for (unsigned x = 0; x < states; ++x) {
      weight[x] = __ldg(log_priors + std::uint64_t{v} * states + x) + (x == 0 ? 0 : part.of[x - 1]);
      most      = x == 0 ? weight[x] : fmax(most, weight[x]);
    }
#pragma unroll
    for (double& w : weight) sum += w = exp(w - most);
#pragma unroll
    for (unsigned x = 0; x < states; ++x) {
      const double next = (1 - damping) * weight[x] / sum + damping * belief[x];
      change            = fmax(change, fabs(next - belief[x]));
      belief[x]         = next;
    }
    return change;
  }
};

template <unsigned states>
struct Table {
  double of[states][states];
};

template <unsigned states>
__global__ void publish(const __grid_constant__ Table<states> table, std::uint64_t n, const double* beliefs,
                        double* messages) {
  for (std::uint64_t v = first_item(); v < n; v += item_stride()) {
    double sums[states] = {};
#pragma unroll
    for (unsigned from = 0; from < states; ++from) {
      const double belief = beliefs[v * states + from];
#pragma unroll
      for (unsigned to = 0; to < states; ++to) sums[to] += table.of[from][to] * belief;
    }
#pragma unroll
    for (unsigned to = 1; to < states; ++to) messages[v * (states - 1) + to - 1] = log(sums[to] / sums[0]);
  }
}

__global__ void take_logarithms(const double* values, std::uint64_t count, double* logarithms) {
  for (std::uint64_t i = first_item(); i < count; i += item_stride()) logarithms[i] = log(values[i]);
}

template <unsigned states>
class Vertices {
 public:
  Vertices(Session& session, const Csr& csr, const BeliefModel& model, const RunOptions& options)
      : rows_(session.rows().push[0]),
        vertices_(csr.vertex_count()),
        damping_(model.damping),
        beliefs_(session.device(), vertices_ * states, "the beliefs of bp"),
        log_priors_(session.device(), vertices_ * states, "the priors of bp"),
        messages_(session.device(), vertices_ * (states - 1), "the messages of bp"),
        walk_(session.device(), rows_, vertices_, csr.arc_count(), options.cuda.large_degree) {
    for (unsigned x = 0; x < states; ++x)
      for (unsigned y = 0; y < states; ++y) table_.of[x][y] = model.table[x][y];
    if (vertices_ == 0) return;
    beliefs_.upload(model.priors.data());
    SPILLWAY_LAUNCH(take_logarithms, blocks_for(beliefs_.size()), block_threads, beliefs_.data(), beliefs_.size(),
                    log_priors_.data());
  }

  double iterate() {
    SPILLWAY_LAUNCH(publish<states>, blocks_for(vertices_), block_threads, table_, vertices_, beliefs_.data(),
                    messages_.data());
    ++published_;
    return walk_.once(VertexForm<states>{.targets    = rows_.targets,
                                         .log_priors = log_priors_.data(),
                                         .messages   = messages_.data(),
                                         .beliefs    = beliefs_.data(),
                                         .damping    = damping_});
  }

  const DeviceArray<double>& beliefs() const { return beliefs_; }
  std::uint64_t              kernels() const { return published_ + walk_.kernels(); }

 private:
  Rows                    rows_;
  std::uint64_t           vertices_;
  double                  damping_;
  Table<states>           table_;
  DeviceArray<double>     beliefs_, log_priors_, messages_;
  RowWalk<LogSum<states>> walk_;
  std::uint64_t           published_ = 0;
};

template <unsigned states>
Beliefs run_vertices(const Graph& graph, const BeliefModel& model, const RunOptions& options) {
  const Csr&     simple = graph.simple();
  const Topology topology{
      .vertices = simple.vertex_count(), .arcs = simple.arc_count(), .push = {block_of(simple)}, .pull = {}};
  Session          session{graph, options, topology};
  Vertices<states> vertices{session, simple, model, options};
  // As on the CPU, where nobody is active there is no iteration.
  const std::uint64_t most_iterations = simple.vertex_count() == 0 ? 0 : model.iterations;
  return propagate(session, graph, model, options, most_iterations, vertices);
}

}  // namespace

Beliefs beliefs_by_vertices(const Graph& graph, const BeliefModel& model, const RunOptions& options) {
  constexpr decltype(&run_vertices<2>) runs[] = {run_vertices<2>, run_vertices<3>, run_vertices<4>,
                                                 run_vertices<5>, run_vertices<6>, run_vertices<7>,
                                                 run_vertices<8>};
  return runs[model.states - 2](graph, model, options);
}

}  // namespace spillway::gpu
