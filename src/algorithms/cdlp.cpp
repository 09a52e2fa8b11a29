// Communities by label propagation as LDBC Graphalytics defines it: in every round, at the same time, each vertex
// takes the label that most of its neighbours have, the smallest where several are as frequent. The idea is that
// of Raghavan, Albert and Kumara, Near linear time algorithm to detect community structures in large-scale
// networks, Phys. Rev. E 2007.
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>

#include "algorithms/checking.hpp"
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/label_tally.hpp"
#include "algorithms/plain_rows.hpp"
#include "algorithms/registry.hpp"
#include "base/fail.hpp"
#include "graph/vertex_set.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/engine/parallel.hpp>
#include <spillway/engine/search.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "engine/building.hpp"

namespace spillway {
namespace {

/// A vertex's neighbours: over out- and in-edges of a directed graph, over out-edges of a symmetric one.
class Neighborhoods {
 public:
  explicit Neighborhoods(const Graph& graph) : out_(graph.out()), in_(graph.symmetric() ? nullptr : &graph.in()) {}

  std::uint64_t vertex_count() const { return out_.vertex_count(); }
  EdgeIndex     degree(Vertex v) const { return out_.degree(v) + (in_ ? in_->degree(v) : 0); }
  EdgeIndex     arc_count() const { return out_.arc_count() + (in_ ? in_->arc_count() : 0); }

  template <class Visit>
  void for_each(Vertex v, Visit&& visit) const {
    for (const Vertex u : out_.neighbors(v)) visit(u);
    if (!in_) return;
    for (const Vertex u : in_->neighbors(v)) visit(u);
  }

  /// visit(neighbour, times) in ascending order.
  template <class Visit>
  void for_each_run(Vertex v, Visit&& visit) const {
    auto left  = out_.neighbors(v);
    auto right = in_ ? in_->neighbors(v) : std::span<const Vertex>{};
    while (!left.empty() || !right.empty()) {
      const Vertex u =
          std::min(left.empty() ? no_vertex : left.front(), right.empty() ? no_vertex : right.front());
      visit(u, skip(left, u) + skip(right, u));
    }
  }

  /// The first vertex at or past an even share of vertices and arcs.
  Vertex at_share(std::uint64_t part, std::uint64_t parts) const {
    if (part == parts) return static_cast<Vertex>(vertex_count());
    const auto before   = [&](std::uint64_t v) { return v + out_.offsets[v] + (in_ ? in_->offsets[v] : 0); };
    const auto goal     = before(vertex_count()) / parts * part;
    const auto short_of = [&](std::uint64_t v) { return before(v) < goal; };
    return static_cast<Vertex>(partition_point(std::uint64_t{0}, vertex_count(), short_of));
  }

 private:
  static std::uint64_t skip(std::span<const Vertex>& row, Vertex u) {
    std::uint64_t times = 0;
    while (times < row.size() && row[times] == u) ++times;
    row = row.subspan(times);
    return times;
  }

  const Csr& out_;
  const Csr* in_;
};

class Propagation {
 public:
  Propagation(const Graph& graph, int threads, Progress& progress)
      : threads_(threads),
        progress_(progress),
        neighborhoods_(graph),
        labels_(graph.vertex_count(), graph.budget(), "the result"),
        next_(graph.vertex_count(), graph.budget(), "the labels of the next round"),
        stale_(graph.vertex_count(), graph.budget(), "the vertices to look at") {
    for (int thread = 0; thread < threads; ++thread) iteration_counters_.emplace_back(graph.budget());
  }

  RunStatistics run(std::uint64_t rounds) {
    RunStatistics statistics;
    progress_.begin("label propagation", rounds, ProgressUnit::items);
    for_each_share(threads_, labels_.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      std::iota(&labels_[begin], &labels_[begin] + (end - begin), static_cast<Vertex>(begin));
    });
    bool all = true;
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      Stopwatch   clock;
      const Round done = round == 1 ? first_round() : later_round(all);
      std::swap(labels_, next_);
      statistics.per_iteration.push_back(
          {done.looked_at, done.arcs, done.arcs, Direction::pull, clock.milliseconds()});
      statistics.edges_processed += done.arcs;
      ++statistics.iterations;
      progress_.advance(1);
      if (done.changed == 0 || round == rounds) break;
      all = done.changed_arcs > neighborhoods_.arc_count() / worth_following;
      if (!all) follow_changes();
    }
    progress_.end();
    return statistics;
  }

  Buffer<Vertex> labels() && { return std::move(labels_); }

 private:
  /// Looking at the neighbours of what changed, rather than at all vertices, pays below this share of the arcs.
  static constexpr std::uint64_t worth_following = 8;

  struct Round {
    std::uint64_t looked_at = 0, arcs = 0, changed = 0, changed_arcs = 0;

    Round& operator+=(const Round& other) {
      looked_at += other.looked_at;
      arcs += other.arcs;
      changed += other.changed;
      changed_arcs += other.changed_arcs;
      return *this;
    }
  };

  /// Every label occurs once, so that only parallel arcs make one more frequent: rows are sorted, no table is
  /// needed.
  Round first_round() {
    return for_all([&](Vertex v, LabelTally&) {
      Vertex        best       = v;
      std::uint64_t best_times = 0;
      neighborhoods_.for_each_run(v, [&](Vertex u, std::uint64_t times) {
        if (times <= best_times) return;
        best       = u;
        best_times = times;
      });
      return best;
    });
  }

  Round later_round(bool all) {
    return for_all(
        [&](Vertex v, LabelTally& counters) { return all || stale_[v] ? most_frequent(v, counters) : no_vertex; });
  }

  Vertex most_frequent(Vertex v, LabelTally& counters) const {
    constexpr std::size_t  few = 8;
    std::array<Vertex, 64> batch;  // labels come from all over memory: they are fetched together, then counted
    std::size_t            filled = 0;
    if (neighborhoods_.degree(v) > few) counters.begin(neighborhoods_.degree(v));
    neighborhoods_.for_each(v, [&](Vertex u) {
      batch[filled++] = labels_[u];
      if (filled < batch.size()) return;
      for (const Vertex label : batch) counters.add(label);
      filled = 0;
    });
    const auto rest = std::span{batch}.first(filled);
    if (neighborhoods_.degree(v) <= few) return most_frequent_of_few(rest);
    for (const Vertex label : rest) counters.add(label);
    return counters.winner();
  }

  /// next = label_of(v, tally) for every vertex with neighbours; `no_vertex` leaves the label as it is.
  template <class LabelOf>
  Round for_all(LabelOf&& label_of) {
    constexpr std::uint64_t work_a_task = 1u << 15;
    const std::uint64_t     tasks = (neighborhoods_.vertex_count() + neighborhoods_.arc_count()) / work_a_task + 1;
    std::vector<Round>      rounds(static_cast<std::size_t>(threads_));
    for_each_task(threads_, tasks, [&](std::uint64_t task, int thread) {
      check_cancelled(progress_);
      Round        mine;
      LabelTally&  counters = iteration_counters_[static_cast<std::size_t>(thread)];
      const Vertex last     = neighborhoods_.at_share(task + 1, tasks);
      for (Vertex v = neighborhoods_.at_share(task, tasks); v < last; ++v) {
        const EdgeIndex degree = neighborhoods_.degree(v);
        const Vertex    label  = degree == 0 ? no_vertex : label_of(v, counters);
        next_[v]               = label == no_vertex ? labels_[v] : label;
        if (label == no_vertex) continue;
        ++mine.looked_at;
        mine.arcs += degree;
        if (label == labels_[v]) continue;
        ++mine.changed;
        mine.changed_arcs += degree;
      }
      rounds[static_cast<std::size_t>(thread)] += mine;
    });
    return std::accumulate(rounds.begin(), rounds.end(), Round{},
                           [](Round sum, const Round& of) { return sum += of; });
  }

  /// A vertex none of whose neighbours changed would take the label it has.
  void follow_changes() {
    for_each_share(threads_, stale_.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      std::memset(&stale_[begin], 0, end - begin);
    });
    for_each_share(threads_, labels_.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      for (std::uint64_t v = begin; v < end; ++v)
        if (labels_[v] != next_[v])
          neighborhoods_.for_each(static_cast<Vertex>(v), [&](Vertex u) {
            std::atomic_ref{stale_[u]}.store(1, std::memory_order_relaxed);
          });
    });
  }

  int                     threads_;
  Progress&               progress_;
  Neighborhoods           neighborhoods_;
  Buffer<Vertex>          labels_;
  Buffer<Vertex>          next_;
  Buffer<std::uint8_t>    stale_;  ///< 1: a neighbour changed
  std::vector<LabelTally> iteration_counters_;
};

/// What each round took is kept, and many graphs never settle.
constexpr std::uint64_t most_rounds = 1'000'000;

std::uint64_t rounds_of(const ParameterValues& values) {
  return Parameters{"cdlp", values}.number("iterations", 1, most_rounds);
}

Components on_cpu(const Graph& graph, std::uint64_t rounds, const RunOptions& options) {
  Progress&    progress = options.progress ? *options.progress : Progress::none();
  Stopwatch    clock;
  Propagation  propagation{graph, thread_count(options.threads), progress};
  const double prepared = clock.lap();
  Components   found;
  found.statistics            = propagation.run(rounds);
  found.statistics.prepare_ms = prepared;
  found.statistics.run_ms     = clock.milliseconds();
  found.labels                = std::move(propagation).labels();
  return found;
}

std::uint64_t communities(const Buffer<Vertex>& labels, const Graph& graph, int threads) {
  VertexSet used{labels.size(), graph.budget()};
  for_each_share(threads, labels.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t v = begin; v < end; ++v) used.insert(labels[v]);
  });
  used.close();
  return used.size();
}

Result run_cdlp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const std::uint64_t rounds = rounds_of(values);
  Stopwatch           clock;
  if (!graph.symmetric()) build_in_edges(graph, options, gpu::wanted(options, graph));
  const double prepared = clock.lap();
  Components   found    = gpu::or_else(
           graph, options, [&] { return work_of_labels(graph, static_cast<double>(rounds)); },
           [&] { return gpu::propagated_labels(graph, rounds, options); },
           [&] { return on_cpu(graph, rounds, options); });
  clock.lap();
  Result result;
  result.statistics = std::move(found.statistics);
  result.facts.push_back({"communities", communities(found.labels, graph, thread_count(options.threads))});
  result.columns.push_back({.name = "label", .values = std::move(found.labels).freeze(), .vertices = true});
  result.statistics.prepare_ms += prepared;
  result.statistics.run_ms += clock.milliseconds();
  return result;
}

Plan plan_cdlp(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  return gpu::planned(graph, options, [&] {
    if (!graph.symmetric()) build_in_edges(graph, options, /*on_gpu=*/true);
    return work_of_labels(graph, static_cast<double>(rounds_of(values)));
  });
}

/// What each vertex takes its label from, for checking: the arcs that leave it, and in a directed graph those that
/// arrive, collected by hand.
class Surroundings {
 public:
  explicit Surroundings(const Graph& graph)
      : out_(graph.out()), memory_(graph.budget(), "verifying the result"), directed_(!graph.symmetric()) {
    if (!directed_) return;
    memory_.raise_to((graph.vertex_count() + 2) * sizeof(EdgeIndex) + graph.arc_count() * sizeof(Vertex));
    back_ = turned_round(out_);
  }

  template <class Visit>
  void for_each(Vertex v, Visit&& visit) const {
    std::ranges::for_each(out_.neighbors(v), visit);
    if (directed_) std::ranges::for_each(back_.of(v), visit);
  }

 private:
  const Csr& out_;
  Charge     memory_;
  bool       directed_;
  PlainRows  back_;
};

/// Rounds of round(labels, next), until no label changes.
template <class Round>
std::vector<Vertex> labels_after(std::uint64_t rounds, std::uint64_t n, Round&& round) {
  std::vector<Vertex> labels(n), next(n);
  std::iota(labels.begin(), labels.end(), 0u);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    round(labels, next);
    std::swap(labels, next);
    if (labels == next) break;
  }
  return labels;
}

/// The oracle: a count for every label of the graph, one vertex after the other.
std::vector<Vertex> labels_by_counting(const Graph& graph, std::uint64_t rounds) {
  Charge memory{graph.budget(), "verifying the result"};
  memory.raise_to(graph.vertex_count() * sizeof(EdgeIndex));
  const Surroundings     surroundings{graph};
  std::vector<EdgeIndex> count(graph.vertex_count());
  return labels_after(rounds, graph.vertex_count(), [&](const auto& labels, auto& next) {
    for (Vertex v = 0; v < graph.vertex_count(); ++v) {
      Vertex best = labels[v];
      surroundings.for_each(v, [&](Vertex u) { ++count[labels[u]]; });
      surroundings.for_each(v, [&](Vertex u) {
        const Vertex label = labels[u];
        if (count[label] > count[best] || (count[label] == count[best] && label < best)) best = label;
      });
      surroundings.for_each(v, [&](Vertex u) { count[labels[u]] = 0; });
      next[v] = best;
    }
  });
}

/// The labels around a vertex, sorted: the first of the longest runs.
Vertex longest_run(Vertex own, std::vector<Vertex>& around) {
  std::sort(around.begin(), around.end());
  Vertex      best = own;
  std::size_t most = 0;
  for (std::size_t i = 0, run = 0; i < around.size(); ++i) {
    run = i > 0 && around[i] == around[i - 1] ? run + 1 : 1;
    if (run <= most) continue;
    most = run;
    best = around[i];
  }
  return best;
}

/// By many threads, for graphs that are too large for the oracle.
std::vector<Vertex> labels_by_sorting(const Graph& graph, std::uint64_t rounds, int threads) {
  const Surroundings surroundings{graph};
  return labels_after(rounds, graph.vertex_count(), [&](const auto& labels, auto& next) {
    for_each_share(threads, labels.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      std::vector<Vertex> around;
      for (std::uint64_t v = begin; v < end; ++v) {
        around.clear();
        surroundings.for_each(static_cast<Vertex>(v), [&](Vertex u) { around.push_back(labels[u]); });
        next[v] = longest_run(labels[v], around);
      }
    });
  });
}

Verdict verify_cdlp(const Graph& graph, const ParameterValues& values, const Result& result,
                    const VerifyOptions& options) {
  Charge memory{graph.budget(), "verifying the result"};
  memory.raise_to(3 * graph.vertex_count() * sizeof(Vertex));
  const bool                oracle = options.use_oracle(graph);
  const std::uint64_t       rounds = rounds_of(values);
  const auto&               found  = column_of<Vertex>(result, 0);
  const std::vector<Vertex> expected =
      oracle ? labels_by_counting(graph, rounds) : labels_by_sorting(graph, rounds, thread_count(options.threads));
  Verdict verdict{oracle ? by_oracle : by_properties,
                  difference(graph, "label", found.span(), std::span<const Vertex>{expected})};
  if (!verdict.problem.empty()) return verdict;
  std::vector<Vertex> sorted = expected;
  std::sort(sorted.begin(), sorted.end());
  const auto communities = static_cast<std::uint64_t>(std::unique(sorted.begin(), sorted.end()) - sorted.begin());
  const auto stated      = std::get<std::uint64_t>(result.facts.at(0).value);
  if (stated != communities) verdict.problem = fmt::format("{} communities, expected {}", stated, communities);
  return verdict;
}

}  // namespace

Algorithm cdlp_algorithm() {
  return {
      .name           = "cdlp",
      .summary        = "community detection by label propagation",
      .reference      = "Iosup et al., LDBC Graphalytics, PVLDB 2016",
      .parameters     = {{.name          = "iterations",
                          .help          = "at most this many; fewer when no label changes",
                          .default_value = "10"}},
      .columns        = {{"label",
                          "the most frequent label among the neighbours, first each its own id; out- and in-neighbours "
                                 "both count, parallel arcs and loops as often as the graph holds them",
                          ColumnOrder::by_group}},
      .on_gpu         = gpu::built,
      .vertex_program = false,
      .run            = run_cdlp,
      .plan           = plan_cdlp,
      .verify         = verify_cdlp,
      .aliases        = {"label_propagation", "communities"}};
}

}  // namespace spillway
