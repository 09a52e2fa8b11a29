// Belief propagation with a message for each arc, on a GPU. As on the CPU (bp_messages.cpp), a row keeps both
// messages of each of its edges, so that all that a vertex needs of others is their beliefs of the iteration
// before: a thread reads and writes the messages of its own arcs only.
#include "algorithms/gpu/belief_rows.cuh"
#include "algorithms/gpu/rows.cuh"

namespace spillway::gpu {
namespace {

// A product beyond this, or below its inverse, gives its exponent away. One message more cannot leave the range of
// doubles, since its ratios are within those of two factors: 1e-40 to 1e40.
constexpr double largest_product = 1e200;

// What is less likely than this has no say in any message.
constexpr double negligible = 1e-250;

/// The product of messages: of each state's ratio to state 0, with exponents taken out.
template <unsigned states>
struct Product {
  static constexpr unsigned ratios = states - 1;

  double    factor[ratios];
  long long exponent[ratios];

  __device__ static Product nothing() {
    Product one;
#pragma unroll
    for (unsigned y = 0; y < ratios; ++y) one.factor[y] = 1, one.exponent[y] = 0;
    return one;
  }

  __device__ void times(unsigned y, double ratio) {
    factor[y] *= ratio;
    if (!(factor[y] < largest_product && factor[y] > 1 / largest_product)) take_exponent(y);
  }

  /// The factor is from 1/2 to 1 then.
  __device__ void take_exponent(unsigned y) {
    int taken = 0;
    factor[y] = frexp(factor[y], &taken);
    exponent[y] += taken;
  }

  __device__ void join(const Product& other) {
#pragma unroll
    for (unsigned y = 0; y < ratios; ++y) {
      factor[y] *= other.factor[y];
      exponent[y] += other.exponent[y];
      take_exponent(y);
    }
  }

  __device__ void join_lanes(unsigned lanes) {
#pragma unroll
    for (unsigned y = 0; y < ratios; ++y) {
      take_exponent(y);
      for (unsigned offset = lanes / 2; offset > 0; offset /= 2) {
        factor[y] *= __shfl_xor_sync(all_lanes, factor[y], static_cast<int>(offset));
        exponent[y] += __shfl_xor_sync(all_lanes, exponent[y], static_cast<int>(offset));
      }
    }
  }
};

template <unsigned count>
__device__ void load(const double* from, double* to) {
  if constexpr (count % 2 == 0) {
#pragma unroll
    for (unsigned i = 0; i < count; i += 2) {
      const double2 pair = __ldg(reinterpret_cast<const double2*>(from + i));
      to[i] = pair.x, to[i + 1] = pair.y;
    }
  } else {
#pragma unroll
    for (unsigned i = 0; i < count; ++i) to[i] = __ldg(from + i);
  }
}

/// `plain`: one factor for all edges, and no damping.
template <unsigned states, bool plain>
struct MessageForm {
  using Part = Product<states>;
  struct Own {
    double belief[states];
  };
  static constexpr unsigned ratios   = states - 1;
  static constexpr unsigned resident = states == 2 ? 4 : states == 3 ? 3 : states <= 6 ? 2 : 1;

  const Vertex*       targets;
  EdgeIndex           arcs;
  const std::uint8_t* directions;  ///< ArcsBetween for each arc; null where factors are not oriented
  const double*       priors;
  const double*       before;  ///< beliefs
  double*             after;
  double2*            messages;  ///< for each ratio, for each arc: what came in, what went out
  double              damping;
  double              factors[4][states][states];  ///< by ArcsBetween

  __device__ Own own(Vertex v) const {
    Own own;
    load<states>(before + std::uint64_t{v} * states, own.belief);
    return own;
  }

  /// Both messages of an edge are renewed; the one that comes in is part of the belief.
  __device__ void add(Part& part, const Own& own, EdgeIndex i) const {
    double theirs[states], came[ratios], went[ratios], comes[ratios], goes[ratios];
    load<states>(before + std::uint64_t{__ldcs(targets + i)} * states, theirs);
#pragma unroll
    for (unsigned y = 0; y < ratios; ++y) {
      const double2 kept = __ldcs(messages + y * arcs + i);
      came[y] = kept.x, went[y] = kept.y;
    }
    if constexpr (plain) {
      send(own.belief, came, factors[0], goes);
      send(theirs, went, factors[0], comes);
    } else {
      const unsigned out = directions != nullptr ? directions[i] : neither;
      const unsigned in  = (out & forward ? backward : neither) | (out & backward ? forward : neither);
      send(own.belief, came, factors[out], goes);
      send(theirs, went, factors[in], comes);
      damp(went, goes);
      damp(came, comes);
    }
#pragma unroll
    for (unsigned y = 0; y < ratios; ++y) {
      __stcs(messages + y * arcs + i, make_double2(comes[y], goes[y]));
      part.times(y, comes[y]);
    }
  }

  /// What one end believes, without what the other has told it, through the factor.
  __device__ static void send(const double* belief, const double* told, const double (&factor)[states][states],
                              double* sent) {
    double without[states], sums[states];
    without[0] = belief[0];
    if constexpr (states == 2) {  // proportions are enough: the other state is multiplied instead
      without[0] *= told[0];
      without[1] = belief[1];
    } else {
#pragma unroll
      for (unsigned x = 1; x < states; ++x) without[x] = belief[x] / told[x - 1];
    }
#pragma unroll
    for (unsigned y = 0; y < states; ++y) {
      sums[y] = 0;
#pragma unroll
      for (unsigned x = 0; x < states; ++x) sums[y] += without[x] * factor[x][y];
    }
    if constexpr (states == 2) {
      sent[0] = sums[1] / sums[0];
    } else {
      const double scale = 1 / sums[0];
#pragma unroll
      for (unsigned y = 1; y < states; ++y) sent[y - 1] = sums[y] * scale;
    }
  }

  /// Mixes normalised messages, so that the share means the same for every state.
  __device__ void damp(const double* kept, double* sent) const {
    double old_whole = 1, new_whole = 1;
#pragma unroll
    for (unsigned y = 0; y < ratios; ++y) old_whole += kept[y], new_whole += sent[y];
    const double old_share = damping / old_whole, new_share = (1 - damping) / new_whole;
#pragma unroll
    for (unsigned y = 0; y < ratios; ++y)
      sent[y] = (old_share * kept[y] + new_share * sent[y]) / (old_share + new_share);
  }

  __device__ double update_belief(Vertex v, const Part& part) const {
    double belief[states], known[states], whole = 0;
    load<states>(priors + std::uint64_t{v} * states, belief);
    load<states>(before + std::uint64_t{v} * states, known);
    bring_together(part, belief);
#pragma unroll
    for (unsigned x = 0; x < states; ++x) whole += belief[x];
    const double scale  = 1 / whole;
    double       change = 0;
#pragma unroll
    for (unsigned x = 0; x < states; ++x) {
      const double renewed                 = belief[x] * scale < negligible ? 0 : belief[x] * scale;
      change                               = fmax(change, fabs(renewed - known[x]));
      after[std::uint64_t{v} * states + x] = renewed;
    }
    return change;
  }

  /// Prior times product, with the largest exponent left out: the proportions are the same.
  __device__ static void bring_together(const Part& part, double* weight) {
    constexpr long long far_below = -4096;  // certainly nothing
    long long           exponent[states], top = 0;
#pragma unroll
    for (unsigned x = 0; x < states; ++x) {
      int taken   = 0;
      weight[x]   = frexp(x == 0 ? weight[x] : weight[x] * part.factor[x - 1], &taken);
      exponent[x] = taken + (x == 0 ? 0 : part.exponent[x - 1]);
      top         = x == 0 || exponent[x] > top ? exponent[x] : top;
    }
#pragma unroll
    for (unsigned x = 0; x < states; ++x) {
      const long long below = exponent[x] - top;
      weight[x]             = ldexp(weight[x], static_cast<int>(below > far_below ? below : far_below));
    }
  }
};

/// Nobody has said anything yet.
__global__ void say_nothing(double2* messages, std::uint64_t count) {
  for (std::uint64_t i = first_item(); i < count; i += item_stride()) messages[i] = make_double2(1, 1);
}

__device__ Vertex source_of(const EdgeIndex* offsets, std::uint64_t n, EdgeIndex arc) {
  const auto begun = [&](std::uint64_t v) { return offsets[v] <= arc; };
  return static_cast<Vertex>(partition_point(std::uint64_t{1}, n, begun) - 1);
}

__device__ bool leads(const Rows& out, Vertex from, Vertex to) {
  return contains(out.targets + out.offsets[from], out.degree(from), to);
}

__global__ void find_directions(Rows simple, std::uint64_t n, EdgeIndex arcs, Rows out, std::uint8_t* directions) {
  for (EdgeIndex i = first_item(); i < arcs; i += item_stride()) {
    const Vertex v = source_of(simple.offsets, n, i), u = simple.targets[i];
    directions[i] = static_cast<std::uint8_t>((leads(out, v, u) ? forward : neither) |
                                              (leads(out, u, v) ? backward : neither));
  }
}

template <unsigned states>
class Messages {
 public:
  Messages(Session& session, const Csr& csr, const BeliefModel& model, const RunOptions& options)
      : model_(model),
        rows_(session.rows().push[0]),
        arcs_(csr.arc_count()),
        messages_(session.device(), arcs_ * ratios, "a message each way for every arc of bp"),
        directions_(session.device(), model.oriented ? arcs_ : 0, "the directions of arcs in bp"),
        priors_(session.device(), csr.vertex_count() * states, "the priors of bp"),
        beliefs_{{session.device(), csr.vertex_count() * states, "the beliefs of bp"},
                 {session.device(), csr.vertex_count() * states, "the beliefs of bp"}},
        walk_(session.device(), rows_, csr.vertex_count(), arcs_, options.cuda.large_degree) {
    priors_.upload(model.priors.data());
    if (arcs_ == 0) return;
    SPILLWAY_LAUNCH(say_nothing, blocks_for(messages_.size()), block_threads, messages_.data(), messages_.size());
    if (model.oriented)
      SPILLWAY_LAUNCH(find_directions, blocks_for(arcs_), block_threads, rows_, csr.vertex_count(), arcs_,
                      session.rows().pull[0], directions_.data());
  }

  double iterate() {
    const double change =
        model_.oriented || model_.damping > 0 ? walk_.once(form<false>()) : walk_.once(form<true>());
    ++made_;
    return change;
  }

  const DeviceArray<double>& beliefs() const { return made_ == 0 ? priors_ : beliefs_[(made_ - 1) % 2]; }
  std::uint64_t              kernels() const { return walk_.kernels(); }

 private:
  static constexpr unsigned ratios = states - 1;

  template <bool plain>
  MessageForm<states, plain> form() const {
    MessageForm<states, plain> form{.targets    = rows_.targets,
                                    .arcs       = arcs_,
                                    .directions = directions_.data(),
                                    .priors     = priors_.data(),
                                    .before     = beliefs().data(),
                                    .after      = beliefs_[made_ % 2].data(),
                                    .messages   = messages_.data(),
                                    .damping    = model_.damping,
                                    .factors    = {}};
    for (unsigned arcs = neither; arcs <= both; ++arcs)
      for (unsigned x = 0; x < states; ++x)
        for (unsigned y = 0; y < states; ++y)
          form.factors[arcs][x][y] = model_.factor(x, y, static_cast<ArcsBetween>(arcs));
    return form;
  }

  const BeliefModel&        model_;
  Rows                      rows_;
  EdgeIndex                 arcs_;
  DeviceArray<double2>      messages_;
  DeviceArray<std::uint8_t> directions_;
  DeviceArray<double>       priors_, beliefs_[2];  ///< the first iteration starts from the priors
  RowWalk<Product<states>>  walk_;
  std::uint64_t             made_ = 0;  ///< iterations
};

template <unsigned states>
Beliefs run_messages(const Graph& graph, const BeliefModel& model, const RunOptions& options) {
  const Csr&    simple = graph.simple();
  AlgorithmWork work   = work_of_messages(simple, model.iterations, model.states);
  if (model.oriented) work.topology.pull = {block_of(graph.out())};  // who has arcs to whom
  Session          session{graph, options, work};
  Messages<states> messages{session, simple, model, options};
  return propagate(session, graph, model, options, messages);
}

}  // namespace

Beliefs beliefs_by_messages(const Graph& graph, const BeliefModel& model, const RunOptions& options) {
  constexpr decltype(&run_messages<2>) runs[] = {run_messages<2>, run_messages<3>, run_messages<4>,
                                                 run_messages<5>, run_messages<6>, run_messages<7>,
                                                 run_messages<8>};
  return runs[model.states - 2](graph, model, options);
}

}  // namespace spillway::gpu
