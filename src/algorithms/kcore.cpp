// Core numbers, or one k-core. The graph is taken as undirected and simple, whatever it was.
// All cores: vertices leave in the order of their degree, the engine's buckets holding them ready (Julienne:
// Dhulipala, Blelloch, Shun, SPAA 2017). One core: vertices below k leave until none is; a vertex that left takes
// no more updates (SIMD-X, section 6).
#include <numeric>

#include "algorithms/checking.hpp"
#include "algorithms/registry.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

struct AllCores {
  struct alignas(8) Value {
    std::uint32_t degree;  ///< among those that have not left; of those that have, their core
    std::uint32_t left;
  };
  using Update  = std::uint32_t;
  using Combine = Sum<std::uint32_t>;

  static constexpr double delta = 1;

  SPILLWAY_HD Value init(Vertex, EdgeIndex degree) const { return {static_cast<std::uint32_t>(degree), 0}; }
  SPILLWAY_HD std::uint32_t priority(const Value& value) const { return value.degree; }
  SPILLWAY_HD bool          open(const Value& value) const { return value.left == 0; }
  SPILLWAY_HD void          publish(Value& value, const Step<>&) const { value.left = 1; }
  SPILLWAY_HD std::uint32_t compute(const Edge<>&) const { return 1; }

  /// What would fall below the bucket that is leaving belongs to it.
  SPILLWAY_HD bool apply(Value& value, std::uint32_t lost, const Step<>& step) const {
    const auto          core   = static_cast<std::uint32_t>(step.bucket);
    const std::uint32_t before = value.degree;
    value.degree               = lost > before - core ? core : before - lost;
    return value.degree != before;
  }
};

struct OneCore {
  using Value   = std::uint32_t;  ///< degree among those that have not left
  using Combine = Sum<std::uint32_t>;

  std::uint32_t k;

  SPILLWAY_HD Value init(Vertex, EdgeIndex degree) const { return static_cast<std::uint32_t>(degree); }
  SPILLWAY_HD bool  starts(Vertex, Value degree) const { return degree < k; }
  SPILLWAY_HD bool  open(const Value& degree) const { return degree >= k; }
  SPILLWAY_HD std::uint32_t compute(const Edge<>&) const { return 1; }
  SPILLWAY_HD bool          apply(Value& degree, std::uint32_t lost) const {
             degree -= lost;
             return degree < k;
  }
};

Graph simple_graph(const Graph& graph) {
  Graph::Parts parts;
  parts.out       = graph.simple();
  parts.symmetric = true;
  parts.ids       = graph.ids();
  parts.budget    = graph.budget();
  return Graph{std::move(parts)};
}

/// 0: all cores.
std::uint32_t k_of(const ParameterValues& values) {
  const Parameters parameters{"kcore", values};
  return parameters.text("k") == "all" ? 0
                                       : static_cast<std::uint32_t>(parameters.number("k", 1, max_vertices - 1));
}

Result all_cores(const Graph& simple, const RunOptions& options) {
  auto          outcome = run(AllCores{}, simple, options);
  std::uint32_t deepest = 0;
  for (const AllCores::Value& value : outcome.values.span()) deepest = std::max(deepest, value.degree);
  Result result;
  result.columns.push_back(outcome.column("core", [](const AllCores::Value& value) { return value.degree; }));
  result.facts      = {{"deepest core", std::uint64_t{deepest}}};
  result.statistics = std::move(outcome.statistics);
  return result;
}

Result one_core(const Graph& simple, std::uint32_t k, const RunOptions& options) {
  auto          outcome = run(OneCore{k}, simple, options);
  std::uint64_t members = 0;
  for (const std::uint32_t degree : outcome.values.span()) members += degree >= k;
  Result result;
  result.columns.push_back(
      outcome.column("member", [k](std::uint32_t degree) { return std::uint32_t{degree >= k ? 1u : 0u}; }));
  result.facts      = {{"members", members}};
  result.statistics = std::move(outcome.statistics);
  return result;
}

Result run_kcore(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const std::uint32_t k      = k_of(values);
  const auto          start  = std::chrono::steady_clock::now();
  const Graph         simple = simple_graph(graph);
  const double        building =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  Result result = k == 0 ? all_cores(simple, options) : one_core(simple, k, options);
  result.statistics.prepare_ms += building;
  return result;
}

/// The oracle: vertices in an array sorted by degree, moved as degrees fall (Batagelj & Zaveršnik 2003), over
/// neighbours that it makes simple and undirected by itself.
std::vector<std::uint32_t> serial_cores(const Graph& graph) {
  const auto                       n = static_cast<Vertex>(graph.vertex_count());
  std::vector<std::vector<Vertex>> neighbors(n);
  for (Vertex u = 0; u < n; ++u)
    for (const Vertex v : graph.out().neighbors(u))
      if (u != v) neighbors[u].push_back(v), neighbors[v].push_back(u);
  std::vector<std::uint32_t> degree(n);
  std::uint32_t              most = 0;
  for (Vertex v = 0; v < n; ++v) {
    std::sort(neighbors[v].begin(), neighbors[v].end());
    neighbors[v].erase(std::unique(neighbors[v].begin(), neighbors[v].end()), neighbors[v].end());
    degree[v] = static_cast<std::uint32_t>(neighbors[v].size());
    most      = std::max(most, degree[v]);
  }
  std::vector<Vertex> first(most + 2), order(n), place(n);
  for (Vertex v = 0; v < n; ++v) ++first[degree[v] + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<Vertex> next{first};
  for (Vertex v = 0; v < n; ++v) order[place[v] = next[degree[v]]++] = v;
  for (Vertex i = 0; i < n; ++i) {
    const Vertex v = order[i];
    for (const Vertex u : neighbors[v]) {
      if (degree[u] <= degree[v]) continue;
      const Vertex front = std::max(first[degree[u]], i + 1), w = order[front];
      std::swap(order[front], order[place[u]]);
      std::swap(place[u], place[w]);
      first[degree[u]] = front + 1;
      --degree[u];
    }
  }
  return degree;
}

/// Everyone has core(v) neighbours of at least its core, and removing those below some k one by one in the order
/// of their core never strands anyone above: each vertex has at most core(v) neighbours that leave with or after
/// it, which a peeling order shows.
std::string core_problem(const Graph& graph, std::span<const std::uint32_t> cores) {
  const Csr&                 simple = graph.simple();
  const auto                 n      = static_cast<Vertex>(simple.vertex_count());
  std::vector<std::uint32_t> remaining(n);
  for (Vertex v = 0; v < n; ++v) {
    std::uint32_t as_deep = 0;
    for (const Vertex u : simple.neighbors(v)) as_deep += cores[u] >= cores[v];
    if (as_deep < cores[v])
      return fmt::format("vertex {} has {} neighbours in its core {}", graph.ids().name(v), as_deep, cores[v]);
    remaining[v] = as_deep;
  }
  // Peel each shell: everyone in it must go, or its members belong to a deeper core.
  std::vector<Vertex> leaving;
  std::vector<bool>   left(n);
  std::uint64_t       count = 0;
  for (Vertex v = 0; v < n; ++v)
    if (remaining[v] <= cores[v]) leaving.push_back(v), left[v] = true;
  while (!leaving.empty()) {
    const Vertex v = leaving.back();
    leaving.pop_back();
    ++count;
    for (const Vertex u : simple.neighbors(v))
      if (!left[u] && cores[u] == cores[v] && --remaining[u] <= cores[u]) leaving.push_back(u), left[u] = true;
  }
  if (count < n) return fmt::format("{} vertices belong to a deeper core than they are given", n - count);
  return {};
}

Verdict verify_kcore(const Graph& graph, const ParameterValues& values, const Result& result,
                     const VerifyOptions& options) {
  const std::uint32_t k     = k_of(values);
  const auto&         found = column_of<std::uint32_t>(result, 0);
  if (k == 0 && !options.use_oracle(graph)) return {by_properties, core_problem(graph, found.span())};
  auto expected = serial_cores(graph);
  if (k > 0)
    for (std::uint32_t& core : expected) core = core >= k ? 1 : 0;
  return {by_oracle, difference<std::uint32_t, std::uint32_t>(graph, "core", found.span(), expected)};
}

}  // namespace

Algorithm kcore_algorithm() {
  return {
      .name       = "kcore",
      .summary    = "how deep in the core of the graph each vertex is",
      .reference  = "Seidman: Network Structure and Minimum Degree, 1983; Dhulipala et al.: Julienne, SPAA 2017",
      .parameters = {{.name          = "k",
                      .help          = "all core numbers, or only who is in the core of this k",
                      .default_value = "all"}},
      .columns    = {{"core",
                      "the largest k for which it is in a k-core; with --k: member, 1 if it is in that core"}},
      .run        = run_kcore,
      .verify     = verify_kcore};
}

}  // namespace spillway
