// Betweenness centrality (Brandes 2001): for every source, path counts forwards and dependencies backwards over
// the same frontiers. Both phases choose push or pull by themselves, which is what makes Ligra's the fastest
// elsewhere (Shun & Blelloch, PPoPP 2013).
#include <atomic>
#include <numeric>
#include <optional>
#include <random>

#include "algorithms/checking.hpp"
#include "algorithms/path_counts.hpp"
#include "algorithms/registry.hpp"
#include "base/fail.hpp"

namespace spillway {
namespace {

struct Between {
  double        paths;
  double        dependency;
  std::uint32_t level;
  std::uint32_t done;  ///< its dependency is complete
};

/// Walks the frontiers of PathCounts from the last: a vertex that is done tells those before it. An arc that does
/// not lead one level up ends at a vertex that is done, or is a loop to itself.
struct Dependencies {
  using Value   = Between;
  using Update  = double;
  using Combine = Sum<double>;

  static constexpr Along along        = Along::in;
  static constexpr bool  reads_degree = false;

  SPILLWAY_HD Between init(Vertex) const { return {}; }
  SPILLWAY_HD bool    open(const Between& value) const { return value.done == 0 && value.level != no_level; }

  SPILLWAY_HD double publish(Between& value, const Step<>&) const {
    value.done = 1;
    return (1 + value.dependency) / value.paths;
  }
  SPILLWAY_HD double compute(double share, const Edge<>&) const { return share; }
  SPILLWAY_HD bool   apply(Between& value, double shares) const {
      value.dependency = value.paths * shares;
      return false;
  }
};

/// The same two phases for graphs with more paths than a number can count (a grid has C(2000, 1000) of them):
/// counts are kept as logarithms.
struct LogPathCounts {
  using Value   = Between;  ///< `paths` is the logarithm
  using Update  = double;
  using Combine = LogSum<double>;

  Vertex source;

  SPILLWAY_HD Between init(Vertex v) const {
    return {.paths = 0, .dependency = 0, .level = v == source ? 0 : no_level, .done = 0};
  }
  SPILLWAY_HD bool   starts(Vertex v) const { return v == source; }
  SPILLWAY_HD bool   open(const Between& value) const { return value.level == no_level; }
  SPILLWAY_HD double publish(const Between& value, const Step<>&) const { return value.paths; }
  SPILLWAY_HD double compute(double paths, const Edge<>&) const { return paths; }
  SPILLWAY_HD bool   apply(Between& value, double paths, const Step<>& step) const {
      value.level = step.iteration + 1;
      value.paths = paths;
      return true;
  }
};

struct LogDependencies {
  struct Message {
    double paths, share;
  };
  using Value   = Between;
  using Update  = double;
  using Combine = Sum<double>;

  static constexpr Along along        = Along::in;
  static constexpr bool  reads_degree = false;

  SPILLWAY_HD Between init(Vertex) const { return {}; }
  SPILLWAY_HD bool    open(const Between& value) const { return value.done == 0 && value.level != no_level; }
  SPILLWAY_HD Message publish(Between& value, const Step<>&) const {
    value.done = 1;
    return {value.paths, 1 + value.dependency};
  }
  SPILLWAY_HD double compute(const Message& message, const Edge<>&, const Between& to) const {
    return std::exp(to.paths - message.paths) * message.share;
  }
  SPILLWAY_HD bool apply(Between& value, double shares) const {
    value.dependency = shares;
    return false;
  }
};

std::vector<Vertex> sources_of(const Graph& graph, const ParameterValues& values) {
  const Parameters parameters{"bc", values};
  if (parameters.text("source") != "auto") return parameters.vertex_list(graph, "source");
  std::vector<Vertex> all(graph.vertex_count());
  std::iota(all.begin(), all.end(), Vertex{0});
  if (parameters.text("sources") == "all") return all;
  const std::uint64_t count = parameters.number("sources", 1, max_vertices);
  if (count >= all.size()) return all;
  std::mt19937_64 random{parameters.number("seed", 0, UINT64_MAX)};
  for (std::uint64_t i = 0; i < count; ++i) std::swap(all[i], all[i + random() % (all.size() - i)]);
  all.resize(count);
  return all;
}

double scale_of(const Graph& graph, const ParameterValues& values) {
  if (!Parameters{"bc", values}.yes("normalized")) return 1;
  const auto n = static_cast<double>(graph.vertex_count());
  return n > 2 ? 1 / ((n - 1) * (n - 2)) : 0;
}

void add_statistics(RunStatistics& total, const RunStatistics& part) {
  total.prepare_ms += part.prepare_ms;
  total.run_ms += part.run_ms;
  total.iterations += part.iterations;
  total.edges_processed += part.edges_processed;
  total.per_iteration.insert(total.per_iteration.end(), part.per_iteration.begin(), part.per_iteration.end());
}

bool countable(const Buffer<Between>& values, int threads) {
  std::atomic<bool> countable{true};
  for_each_share(threads, values.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t v = begin; v < end; ++v)
      if (std::isinf(values[v].paths)) return countable.store(false, std::memory_order_relaxed);
  });
  return countable;
}

template <class Forward, class Backward>
std::optional<Buffer<Between>> dependencies_of(const Graph& graph, Vertex source, const RunOptions& options,
                                               RunStatistics& statistics) {
  Schedule levels;
  auto     forward = run(Forward{source}, graph, options, {.record = &levels});
  add_statistics(statistics, forward.statistics);
  if (!countable(forward.values, thread_count(options.threads))) return std::nullopt;
  auto backward = run(Backward{}, graph, options, {.values = std::move(forward.values), .replay = &levels});
  add_statistics(statistics, backward.statistics);
  return std::move(backward.values);
}

/// Adds what paths from one source contribute to `centrality`.
void add_source(const Graph& graph, Vertex source, const RunOptions& options, Buffer<double>& centrality,
                RunStatistics& statistics) {
  auto found = dependencies_of<PathCounts<Between>, Dependencies>(graph, source, options, statistics);
  if (!found) found = dependencies_of<LogPathCounts, LogDependencies>(graph, source, options, statistics);
  for_each_share(thread_count(options.threads), centrality.size(),
                 [&](std::uint64_t begin, std::uint64_t end, int) {
                   for (std::uint64_t v = begin; v < end; ++v)
                     if (v != source) centrality[v] += (*found)[v].dependency;
                 });
}

Result run_bc(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  Result         result;
  Buffer<double> centrality{graph.vertex_count(), graph.budget(), "the result"};
  const auto     sources = sources_of(graph, values);
  const double   scale   = scale_of(graph, values);
  for (const Vertex source : sources) add_source(graph, source, options, centrality, result.statistics);
  for (double& value : centrality.span()) value *= scale;
  result.facts = {{"sources", static_cast<std::uint64_t>(sources.size())}};
  result.columns.push_back({.name = "centrality", .values = std::move(centrality).freeze()});
  return result;
}

/// The oracle: Brandes as published, one vertex at a time.
std::vector<double> serial_centrality(const Graph& graph, const std::vector<Vertex>& sources) {
  std::vector<double> centrality(graph.vertex_count());
  for (const Vertex source : sources) {
    const SerialPathCounts counts{graph, source};
    std::vector<double>    dependency(graph.vertex_count());
    for (auto at = counts.order.rbegin(); at != counts.order.rend(); ++at) {
      for (const Vertex v : graph.out().neighbors(*at))
        if (counts.levels[v] == counts.levels[*at] + 1)
          dependency[*at] += static_cast<double>(counts.paths[*at] / counts.paths[v]) * (1 + dependency[v]);
      if (*at != source) centrality[*at] += dependency[*at];
    }
  }
  return centrality;
}

/// Over one source, dependencies add up to the lengths of all shortest paths less one each.
std::string sum_problem(const Graph& graph, const std::vector<Vertex>& sources, std::span<const double> centrality,
                        double scale) {
  double expected = 0, found = 0;
  for (const Vertex source : sources)
    for (const std::uint32_t level : SerialPathCounts{graph, source}.levels)
      if (level != no_level && level > 0) expected += level - 1;
  for (const double value : centrality) {
    if (!(value >= 0)) return fmt::format("a centrality is {}", value);
    found += value;
  }
  if (!near(found, expected * scale)) return fmt::format("all add up to {}, expected {}", found, expected * scale);
  return {};
}

Verdict verify_bc(const Graph& graph, const ParameterValues& values, const Result& result,
                  const VerifyOptions& options) {
  const auto   sources = sources_of(graph, values);
  const double scale   = scale_of(graph, values);
  const auto&  found   = column_of<double>(result, 0);
  const bool   small   = sources.size() * (graph.arc_count() + graph.vertex_count()) <= options.oracle_arcs;
  if (options.by == CheckBy::properties || (options.by == CheckBy::automatic && !small))
    return {by_properties, sum_problem(graph, sources, found.span(), scale)};
  auto expected = serial_centrality(graph, sources);
  for (double& value : expected) value *= scale;
  return {by_oracle, difference<double, double>(graph, "centrality", found.span(), expected)};
}

}  // namespace

Algorithm bc_algorithm() {
  return {
      .name       = "bc",
      .summary    = "betweenness: how many shortest paths lead through each vertex",
      .reference  = "Brandes: A Faster Algorithm for Betweenness Centrality, 2001",
      .parameters = {{.name          = "source",
                      .help          = "paths from these vertices (a,b,c or @FILE); auto: --sources decides",
                      .default_value = "auto"},
                     {.name          = "sources",
                      .help          = "paths from all vertices, or from this many drawn at random",
                      .default_value = "4"},
                     {.name = "seed", .help = "what the draw depends on", .default_value = "1"},
                     {.name          = "normalized",
                      .help          = "divide by (n-1)(n-2)",
                      .default_value = "no",
                      .kind          = ParameterKind::flag}},
      .columns = {{"centrality", "share of shortest paths it is on, summed over ordered pairs of other vertices"}},
      .run     = run_bc,
      .verify  = verify_bc};
}

}  // namespace spillway
