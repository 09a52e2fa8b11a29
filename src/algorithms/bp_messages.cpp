// Belief propagation with a message for each arc. A row keeps both messages of each of its edges, the one that
// comes in and the one that goes out, so every message is kept and computed twice, at both its ends: all that a
// vertex needs of others is their beliefs. There is no index from an arc to its reverse, and no message is read or
// written out of order.
#include <algorithm>
#include <atomic>
#include <cmath>

#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "algorithms/bp.hpp"
#include "base/fail.hpp"
#include "graph/csr.hpp"

namespace spillway {
namespace {

constexpr std::uint64_t work_a_task = 1u << 15;
constexpr std::uint64_t ahead       = 48;  // arcs between asking for a belief and using it

// A product beyond this, or below its inverse, gives its exponent away. One message more cannot leave the range of
// doubles, since its ratios are within those of two factors: 1e-40 to 1e40.
constexpr double largest_product = 1e200;

// What is less likely than this has no say in any message.
constexpr double negligible = 1e-250;

/// The same number for the two ways along an edge. Both are computed at once: [0] is of what goes out to the
/// neighbour, [1] of what comes in from it. A kept message is at home where it is heard: [0] came in, [1] went
/// out.
using BothWays = double __attribute__((vector_size(2 * sizeof(double))));

/// [state of who speaks][state of who hears].
template <std::uint64_t states>
struct Factors {
  BothWays of[states][states];
};

/// What has been taken out of products that would leave the range of doubles.
template <std::uint64_t states>
class Exponents {
 public:
  [[gnu::noinline]] void take_from(double* products) {
    for (std::uint64_t x = 0; x < states; ++x) {
      int taken   = 0;
      products[x] = std::frexp(products[x], &taken);
      exponent_[x] += taken;
    }
    any_ = true;
  }

  /// Gives back what is left when the largest is left out: the proportions are the same.
  void give_back(double* products) {
    if (!any_) return;
    take_from(products);
    constexpr std::int64_t far_below = -4096;  // certainly nothing
    const std::int64_t     top       = *std::max_element(exponent_, exponent_ + states);
    for (std::uint64_t x = 0; x < states; ++x)
      products[x] = std::ldexp(products[x], static_cast<int>(std::max(exponent_[x] - top, far_below)));
  }

 private:
  std::int64_t exponent_[states] = {};
  bool         any_              = false;
};

template <std::uint64_t states>
class Messages {
 public:
  Messages(const Graph& graph, const Csr& csr, const BeliefModel& model, int threads, Progress& progress)
      : csr_(csr),
        model_(model),
        threads_(threads),
        progress_(progress),
        tasks_((csr.vertex_count() + csr.arc_count()) / work_a_task + 1),
        messages_(csr.arc_count() * ratios, graph.budget(), "a message each way for every arc of bp"),
        beliefs_(csr.vertex_count() * states, graph.budget(), "the beliefs of bp"),
        next_(csr.vertex_count() * states, graph.budget(), "the beliefs of bp") {
    for (std::uint64_t arcs = neither; arcs <= both; ++arcs)
      for (std::uint64_t x = 0; x < states; ++x)
        for (std::uint64_t y = 0; y < states; ++y)
          factors_[arcs].of[x][y] = BothWays{model.factor(x, y, static_cast<ArcsBetween>(arcs)),
                                             model.factor(y, x, static_cast<ArcsBetween>(arcs))};
    if (model.oriented) find_directions(graph);
    start();
  }

  /// Sends every message once; returns the largest change of a belief.
  double iterate() { return model_.oriented || model_.damping > 0 ? sweep<false>() : sweep<true>(); }

  Buffer<double> take_beliefs() && { return std::move(beliefs_); }

 private:
  static constexpr std::uint64_t ratios = states - 1;

  /// `plain`: one factor for all edges, and no damping.
  template <bool plain>
  double sweep() {
    std::atomic<double> largest{0};
    for_each_task(threads_, tasks_, [&](std::uint64_t task, int) {
      check_cancelled(progress_);
      const Vertex begin = row_at_share(csr_, task, tasks_), end = row_at_share(csr_, task + 1, tasks_);
      double       change = 0;
      for (Vertex v = begin; v < end; ++v) change = std::max(change, visit<plain>(v));
      for (double seen = largest; seen < change && !largest.compare_exchange_weak(seen, change);) {
      }
      progress_.advance(csr_.offsets[end] - csr_.offsets[begin]);
    });
    std::swap(beliefs_, next_);
    return largest;
  }

  /// Renews both messages of every edge of `v`, and its belief; returns the largest change of that. What all edges
  /// share is copied, so that no store can touch it and it stays in registers.
  template <bool plain>
  double visit(Vertex v) {
    const EdgeIndex       begin = csr_.offsets[v], end = csr_.offsets[v + 1], last = csr_.arc_count() - 1;
    const Vertex*         targets = csr_.targets.data();
    const double*         beliefs = beliefs_.data();
    BothWays*             message = messages_.data() + begin * ratios;
    const Factors<states> common  = factors_[0];
    double                own[states], product[states];
    Exponents<states>     exponents;
    std::copy_n(beliefs + v * states, states, own);
    std::copy_n(model_.prior(v), states, product);
    for (EdgeIndex i = begin; i < end; ++i, message += ratios) {
      __builtin_prefetch(beliefs + targets[std::min(i + ahead, last)] * states);
      const double* theirs = beliefs + targets[i] * states;
      BothWays      sent[ratios];
      if constexpr (plain) {
        exchange(own, theirs, message, common, sent);
      } else {
        exchange(own, theirs, message, factors_[model_.oriented ? directions_[i] : 0], sent);
        damp(message, sent);
      }
      for (std::uint64_t y = 0; y < ratios; ++y) message[y] = BothWays{sent[y][1], sent[y][0]};
      multiply(product, sent, exponents);
    }
    double* const renewed = next_.data() + v * states;
    std::copy_n(product, states, renewed);
    exponents.give_back(renewed);
    normalise(renewed);
    double change = 0;
    for (std::uint64_t x = 0; x < states; ++x) change = std::max(change, std::abs(renewed[x] - own[x]));
    return change;
  }

  /// Both messages of an edge: what one end believes, without what the other has told it, through the factor.
  static void exchange(const double* own, const double* theirs, const BothWays* told,
                       const Factors<states>& factors, BothWays* sent) {
    BothWays without[states], sums[states] = {};
    for (std::uint64_t x = 0; x < states; ++x) without[x] = BothWays{own[x], theirs[x]};
    if constexpr (states == 2) {  // proportions are enough: the other state is multiplied instead
      without[0] *= told[0];
    } else {
      for (std::uint64_t x = 1; x < states; ++x) without[x] /= told[x - 1];
    }
    for (std::uint64_t x = 0; x < states; ++x)
      for (std::uint64_t y = 0; y < states; ++y) sums[y] += without[x] * factors.of[x][y];
    if constexpr (states == 2) {
      sent[0] = sums[1] / sums[0];
    } else {
      const BothWays scale = 1 / sums[0];
      for (std::uint64_t y = 1; y < states; ++y) sent[y - 1] = sums[y] * scale;
    }
  }

  /// Mixes normalised messages, so that the share means the same for every state.
  void damp(const BothWays* kept, BothWays* sent) const {
    BothWays old_whole{1, 1}, new_whole{1, 1};
    for (std::uint64_t y = 0; y < ratios; ++y) {
      old_whole += BothWays{kept[y][1], kept[y][0]};
      new_whole += sent[y];
    }
    const BothWays old_share = model_.damping / old_whole, new_share = (1 - model_.damping) / new_whole;
    for (std::uint64_t y = 0; y < ratios; ++y)
      sent[y] = (old_share * BothWays{kept[y][1], kept[y][0]} + new_share * sent[y]) / (old_share + new_share);
  }

  static void multiply(double* product, const BothWays* sent, Exponents<states>& exponents) {
    bool within = true;
    for (std::uint64_t x = 1; x < states; ++x) {
      product[x] *= sent[x - 1][1];
      within &= (product[x] < largest_product) & (product[x] > 1 / largest_product);
    }
    if (within) [[likely]]
      return;
    double copy[states];  // the address of the product itself must not be taken: it is to stay in registers
    std::copy_n(product, states, copy);
    exponents.take_from(copy);
    std::copy_n(copy, states, product);
  }

  static void normalise(double* belief) {
    double whole = 0;
    for (std::uint64_t x = 0; x < states; ++x) whole += belief[x];
    const double scale = 1 / whole;
    for (std::uint64_t x = 0; x < states; ++x) belief[x] = belief[x] * scale < negligible ? 0 : belief[x] * scale;
  }

  /// Every message says nothing yet, so beliefs are the priors.
  void start() {
    for_each_share(threads_, messages_.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      std::fill(messages_.data() + begin, messages_.data() + end, BothWays{1, 1});
    });
    for_each_share(threads_, beliefs_.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      std::copy(model_.priors.data() + begin, model_.priors.data() + end, beliefs_.data() + begin);
    });
  }

  void find_directions(const Graph& graph) {
    directions_      = Buffer<std::uint8_t>{csr_.arc_count(), graph.budget(), "the directions of arcs in bp"};
    const auto leads = [&](Vertex from, Vertex to) {
      const auto row = graph.out().neighbors(from);
      return std::binary_search(row.begin(), row.end(), to);
    };
    for_each_row_range(csr_, threads_, [&](Vertex begin, Vertex end, int) {
      for (Vertex v = begin; v < end; ++v)
        for (EdgeIndex i = csr_.offsets[v]; i < csr_.offsets[v + 1]; ++i)
          directions_[i] = static_cast<std::uint8_t>((leads(v, csr_.targets[i]) ? forward : neither) |
                                                     (leads(csr_.targets[i], v) ? backward : neither));
    });
  }

  const Csr&           csr_;
  const BeliefModel&   model_;
  int                  threads_;
  Progress&            progress_;
  std::uint64_t        tasks_;
  Factors<states>      factors_[4];  ///< by ArcsBetween
  Buffer<std::uint8_t> directions_;  ///< ArcsBetween for each arc, where the factors are oriented
  Buffer<BothWays>     messages_;    ///< for each arc the ratios of its messages to their values for state 0
  Buffer<double>       beliefs_, next_;
};

template <std::uint64_t states>
Beliefs run_messages(const Graph& graph, const BeliefModel& model, int threads, Progress& progress) {
  Stopwatch        clock;
  Beliefs          result;
  RunStatistics&   statistics = result.statistics;
  const Csr&       csr        = graph.simple();
  Messages<states> messages{graph, csr, model, threads, progress};
  statistics.prepare_ms = clock.lap();
  progress.begin("belief propagation", model.iterations * csr.arc_count(), ProgressUnit::edges);
  Stopwatch iteration;
  while (statistics.iterations < model.iterations) {
    result.change = messages.iterate();
    ++statistics.iterations;
    statistics.per_iteration.push_back(
        {csr.vertex_count(), csr.arc_count(), csr.arc_count(), Direction::pull, iteration.lap()});
    if (model.tolerance > 0 && result.change <= model.tolerance) break;
  }
  progress.end();
  statistics.edges_processed = statistics.iterations * csr.arc_count();
  result.values              = std::move(messages).take_beliefs();
  statistics.run_ms          = clock.milliseconds();
  return result;
}

}  // namespace

Beliefs beliefs_by_messages(const Graph& graph, const BeliefModel& model, const RunOptions& options) {
  constexpr decltype(&run_messages<2>) runs[]   = {run_messages<2>, run_messages<3>, run_messages<4>,
                                                   run_messages<5>, run_messages<6>, run_messages<7>,
                                                   run_messages<8>};
  Progress&                            progress = options.progress ? *options.progress : Progress::none();
  return runs[model.states - 2](graph, model, thread_count(options.threads), progress);
}

}  // namespace spillway
