// Strongly connected components: each named by its smallest vertex. The method is in scc/; here are the
// registration, the oracle (Kosaraju's two walks, by hand) and the properties that only a right answer has.
#include <atomic>
#include <vector>

#include "algorithms/checking.hpp"
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/plain_rows.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/scc/searches.hpp"
#include "algorithms/scc/strong_components.hpp"
#include "base/fail.hpp"

#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "engine/building.hpp"

namespace spillway {
namespace {

Components on_cpu(const Graph& graph, const RunOptions& options) {
  Progress&       progress = options.progress ? *options.progress : Progress::none();
  const Stopwatch clock;
  auto            found = scc::strong_components(graph, {}, thread_count(options.threads), progress);
  Components      components;
  components.labels                     = std::move(found.labels);
  components.statistics.iterations      = found.iterations;
  components.statistics.edges_processed = found.edges_processed;
  components.statistics.run_ms          = clock.milliseconds();
  return components;
}

Components of_a_directed_graph(const Graph& graph, const RunOptions& options) {
  Stopwatch clock;
  graph.out();
  build_in_edges(graph, options, gpu::wanted(options, graph));
  const double prepared = clock.lap();
  Components   found    = gpu::or_else(
           graph, options, [&] { return scc::work_of_searches(graph); },
           [&] { return gpu::strong_components(graph, options); }, [&] { return on_cpu(graph, options); });
  found.statistics.prepare_ms += prepared;
  return found;
}

/// Where every arc has its reverse, weak components are strong.
Result run_scc(const Graph& graph, const ParameterValues&, const RunOptions& options) {
  Components found = graph.symmetric() ? weak_components(graph, options) : of_a_directed_graph(graph, options);
  Stopwatch  clock;
  const auto sizes = component_sizes(found.labels.span(), graph, thread_count(options.threads));
  Result     result;
  result.facts      = {{"components", sizes.components}, {"largest", sizes.largest}};
  result.statistics = std::move(found.statistics);
  result.statistics.run_ms += clock.milliseconds();
  result.columns.push_back({.name = "component", .values = std::move(found.labels).freeze(), .vertices = true});
  return result;
}

Plan plan_scc(const Graph& graph, const ParameterValues&, const RunOptions& options) {
  if (graph.symmetric()) return plan_weak_components(graph, options);
  return gpu::planned(graph, options, [&] {
    build_in_edges(graph, options, /*on_gpu=*/true);
    return scc::work_of_searches(graph);
  });
}

// --- the oracle ---

/// Vertices in the order in which a walk in depth leaves them.
std::vector<Vertex> leaving_order(const Csr& csr) {
  std::vector<Vertex>                       order;
  std::vector<bool>                         seen(csr.vertex_count());
  std::vector<std::pair<Vertex, EdgeIndex>> path;
  for (Vertex start = 0; start < csr.vertex_count(); ++start) {
    if (seen[start]) continue;
    seen[start] = true;
    path.emplace_back(start, csr.offsets[start]);
    while (!path.empty()) {
      auto& [v, next] = path.back();
      if (next == csr.offsets[v + 1]) {
        order.push_back(v);
        path.pop_back();
        continue;
      }
      const Vertex w = csr.targets[next++];
      if (seen[w]) continue;
      seen[w] = true;
      path.emplace_back(w, csr.offsets[w]);
    }
  }
  return order;
}

std::vector<Vertex> oracle_labels(const Csr& csr) {
  const PlainRows           back  = turned_round(csr);
  const std::vector<Vertex> order = leaving_order(csr);
  std::vector<Vertex>       labels(csr.vertex_count(), no_vertex), members;
  for (auto start = order.rbegin(); start != order.rend(); ++start) {
    if (labels[*start] != no_vertex) continue;
    members        = {*start};
    labels[*start] = *start;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (const Vertex v : back.of(members[i])) {
        if (labels[v] != no_vertex) continue;
        labels[v] = *start;
        members.push_back(v);
      }
    }
    const Vertex least = *std::min_element(members.begin(), members.end());
    for (const Vertex v : members) labels[v] = least;
  }
  return labels;
}

// --- properties ---

std::string wrong_label(const Graph& graph, const Array<Vertex>& labels) {
  for (Vertex v = 0; v < labels.size(); ++v) {
    if (labels[v] > v)
      return fmt::format("vertex {}: its component is named by a later vertex", graph.ids().name(v));
    if (labels[labels[v]] != labels[v])
      return fmt::format("vertex {}: its component is named by {}, which is in another", graph.ids().name(v),
                         graph.ids().name(labels[v]));
  }
  return {};
}

/// A vertex that its label does not lead to along the neighbours given without leaving the component.
template <class NeighborsOf>
std::string not_reached(const Graph& graph, const Array<Vertex>& labels, NeighborsOf&& neighbors_of,
                        const char* how) {
  std::vector<bool>   seen(labels.size());
  std::vector<Vertex> list;
  for (Vertex v = 0; v < labels.size(); ++v) {
    if (labels[v] != v) continue;
    seen[v] = true;
    list.push_back(v);
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (const Vertex w : neighbors_of(list[i])) {
      if (seen[w] || labels[w] != labels[list[i]]) continue;
      seen[w] = true;
      list.push_back(w);
    }
  }
  const auto missed = std::find(seen.begin(), seen.end(), false);
  if (missed == seen.end()) return {};
  const auto v = static_cast<Vertex>(missed - seen.begin());
  return fmt::format("vertex {} {} {} inside their component", graph.ids().name(v), how,
                     graph.ids().name(labels[v]));
}

/// Components that lie on a cycle should have been one: peeling off those that no arc enters must take them all.
std::string cycle_of_components(const Graph& graph, const Array<Vertex>& labels) {
  const Csr&             csr = graph.out();
  const std::size_t      n   = labels.size();
  std::vector<EdgeIndex> entering(n), first(n + 2);
  for (Vertex v = 0; v < n; ++v) {
    ++first[labels[v] + 2];
    for (const Vertex w : csr.neighbors(v)) entering[labels[w]] += labels[w] != labels[v];
  }
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<Vertex> members(n), free;
  for (Vertex v = 0; v < n; ++v) members[first[labels[v] + 1]++] = v;

  std::size_t components = 0;
  for (Vertex v = 0; v < n; ++v) {
    if (labels[v] != v) continue;
    ++components;
    if (entering[v] == 0) free.push_back(v);
  }
  for (std::size_t i = 0; i < free.size(); ++i)
    for (EdgeIndex m = first[free[i]]; m < first[free[i] + 1]; ++m)
      for (const Vertex w : csr.neighbors(members[m]))
        if (labels[w] != free[i] && --entering[labels[w]] == 0) free.push_back(labels[w]);
  if (free.size() == components) return {};
  return fmt::format("{} components lie on cycles of components", components - free.size());
}

std::string wrong_property(const Graph& graph, const Array<Vertex>& labels) {
  if (labels.size() != graph.vertex_count())
    return fmt::format("component has {} entries, expected {}", labels.size(), graph.vertex_count());
  if (auto problem = wrong_label(graph, labels); !problem.empty()) return problem;
  const auto along = [&](Vertex v) { return graph.out().neighbors(v); };
  if (auto problem = not_reached(graph, labels, along, "is not reached from"); !problem.empty()) return problem;
  if (graph.symmetric()) return cycle_of_components(graph, labels);  // the way back is the same
  const PlainRows back    = turned_round(graph.out());
  const auto      against = [&](Vertex v) { return back.of(v); };
  if (auto problem = not_reached(graph, labels, against, "does not reach"); !problem.empty()) return problem;
  return cycle_of_components(graph, labels);
}

std::string wrong_fact(const Result& result, const Array<Vertex>& labels) {
  std::vector<std::uint64_t> sizes(labels.size());
  for (const Vertex label : labels) ++sizes[label];
  const std::uint64_t components =
      sizes.size() - static_cast<std::uint64_t>(std::count(sizes.begin(), sizes.end(), 0u));
  const std::uint64_t largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  if (std::get<std::uint64_t>(result.facts.at(0).value) != components)
    return fmt::format("the number of components is not {}", components);
  if (std::get<std::uint64_t>(result.facts.at(1).value) != largest)
    return fmt::format("the largest component does not have {} vertices", largest);
  return {};
}

Verdict verify_scc(const Graph& graph, const ParameterValues&, const Result& result,
                   const VerifyOptions& options) {
  const bool oracle = options.use_oracle(graph);
  Charge     memory{graph.budget(), "verifying the result"};
  memory.raise_to(graph.vertex_count() * 48 + graph.arc_count() * sizeof(Vertex));
  const auto& labels = column_of<Vertex>(result, 0);
  Verdict     verdict{.how = oracle ? by_oracle : by_properties, .problem = {}};
  verdict.problem = oracle
                        ? difference<Vertex, Vertex>(graph, "component", labels.span(), oracle_labels(graph.out()))
                        : wrong_property(graph, labels);
  if (verdict.problem.empty()) verdict.problem = wrong_fact(result, labels);
  return verdict;
}

}  // namespace

Algorithm scc_algorithm() {
  return {.name    = "scc",
          .summary = "strongly connected components: vertices that reach each other",
          .reference =
              "Slota, Rajamanickam, Madduri, BFS and Coloring-based Parallel Algorithms for Strongly Connected "
              "Components and Related Problems, IPDPS 2014",
          .parameters     = {},
          .columns        = {{"component", "the smallest vertex of the component", ColumnOrder::by_group}},
          .on_gpu         = gpu::built,
          .vertex_program = false,
          .run            = run_scc,
          .plan           = plan_scc,
          .verify         = verify_scc,
          .aliases        = {"strongly_connected_components", "strong_components"}};
}

}  // namespace spillway
