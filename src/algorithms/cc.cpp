// Weakly connected components: arcs count in both directions, and the label of a component is its smallest vertex.
#include "algorithms/cc.hpp"
#include "algorithms/row_visits.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <numeric>

#include <spillway/engine/parallel.hpp>
#include <spillway/engine/stopwatch.hpp>
#include "algorithms/checking.hpp"
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/plain_rows.hpp"
#include "algorithms/registry.hpp"
#include "base/fail.hpp"
#include "generate/random.hpp"
#include "graph/split.hpp"

namespace spillway {
namespace {

constexpr std::uint64_t items_a_task = 1u << 16;

struct Form {
  const char* name;
  Components (*run)(const Graph&, const RunOptions&);
  Plan (*plan)(const Graph&, const RunOptions&);
};

Plan plan_sampling(const Graph& graph, const RunOptions& options) {
  return gpu::planned(graph, options, [&] { return work_of_components(graph); });
}

Components components_by_sampling(const Graph& graph, const RunOptions& options) {
  return gpu::or_else(
      graph, options, [&] { return work_of_components(graph); }, [&] { return gpu::components(graph, options); },
      [&] { return components_by_afforest(graph, options); });
}

constexpr Form  forms[]   = {{"afforest", components_by_sampling, plan_sampling},
                             {"propagate", components_by_propagation, plan_propagation}};
constexpr auto& afforest  = forms[0];
constexpr auto& propagate = forms[1];

/// The method brings edges in parts, for frontiers: of these there are none while trees are hooked. A list that is
/// in memory as a whole is hooked along.
bool needs_program(const Graph& graph, const RunOptions& options) {
  if (!options.method->of_edge_lists) return options.method->transfers;
  const bool in_memory = graph.edges() && options.device.memory == 0 && options.supply.window == 0;
  return !in_memory || options.device.kind->of_cpu_executors || gpu::wanted(options, graph);
}

/// Where the method needs no program.
const Form& form_for(const Graph& graph) {
  return graph.pages() || has_tree_vertices(graph) ? propagate : afforest;
}

bool is_left_to_method(const ParameterValues& values) { return Parameters{"cc", values}.text("form") == "auto"; }

const Form& form_of(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  std::vector<std::string> names{"auto"};
  for (const Form& form : forms) names.emplace_back(form.name);
  const std::string& chosen      = Parameters{"cc", values}.choice("form", names);
  const bool         for_program = needs_program(graph, options);
  if (chosen == "auto") return for_program ? propagate : form_for(graph);
  if (has_tree_vertices(graph) && chosen == afforest.name)
    throw usage_error("cc: --form {} is no vertex program, and only these run on split vertices; use --form {}",
                      afforest.name, propagate.name);
  if (for_program && chosen == afforest.name)
    throw usage_error(
        "cc: --form {} hooks along rows in memory, and --method {} brings edges otherwise; use --form {}",
        afforest.name, options.method->name, propagate.name);
  return *std::find_if(std::begin(forms), std::end(forms), [&](const Form& form) { return form.name == chosen; });
}

Plan plan_cc(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Form& form = form_of(graph, values, options);
  Plan        plan = form.plan(graph, options);
  if (is_left_to_method(values) && needs_program(graph, options))
    plan.why.push_back(
        fmt::format("--method {} needs a vertex program: the form is {}", options.method->name, form.name));
  return plan;
}

/// All, or as many as there is room for where the labels themselves are on disk.
std::uint64_t labels_counted_at_once(std::uint64_t labels, const MemoryBudget& budget) {
  const std::uint64_t room = budget.limit() - std::min(budget.limit(), budget.used());
  if (!has_any_on_disk()) return labels;
  return std::clamp<std::uint64_t>(room / 2 / sizeof(Vertex), std::min<std::uint64_t>(labels, 1u << 14), labels);
}

/// How many vertices have the most frequent label, counted label by label.
std::uint64_t largest_by_tally(std::span<const Vertex> labels, const Graph& graph, int threads) {
  static constexpr auto what = "the sizes of the components";
  const std::uint64_t   some = labels_counted_at_once(labels.size(), *graph.budget());
  const Buffer<Vertex>  counters{some, graph.budget(), what};
  Vertex                most = 0;
  for (std::uint64_t first = 0; first < labels.size(); first += some) {
    std::ranges::fill(counters.span(), Vertex{0});
    in_parts(labels.size(), [&](std::uint64_t from, std::uint64_t to) {
      for_each_share(threads, to - from, [&](std::uint64_t begin, std::uint64_t end, int) {
        for (std::uint64_t v = from + begin; v < from + end; ++v)
          if (labels[v] - first < some)
            std::atomic_ref{counters[labels[v] - first]}.fetch_add(1, std::memory_order_relaxed);
      });
    });
    most = std::max(most, *std::ranges::max_element(counters.span()));
  }
  return most;
}

}  // namespace

Components weak_components(const Graph& graph, const RunOptions& options) {
  return form_for(graph).run(graph, options);
}

Plan plan_weak_components(const Graph& graph, const RunOptions& options) {
  return form_for(graph).plan(graph, options);
}

/// One label is often that of half the vertices or more: then it is the largest, and no tally is needed.
ComponentSizes component_sizes(std::span<const Vertex> labels, const Graph& graph, int threads) {
  if (labels.empty()) return {};
  const Vertex               likely = frequent_label(labels);
  std::atomic<std::uint64_t> roots{0}, of_likely{0};
  in_parts(labels.size(), [&](std::uint64_t from, std::uint64_t to) {
    for_each_share(threads, to - from, [&](std::uint64_t begin, std::uint64_t end, int) {
      std::uint64_t own_roots = 0, own_likely = 0;
      for (std::uint64_t v = from + begin; v < from + end; ++v) {
        own_roots += labels[v] == v;
        own_likely += labels[v] == likely;
      }
      roots += own_roots;
      of_likely += own_likely;
    });
  });
  const bool is_half = of_likely >= labels.size() - of_likely;
  return {roots, is_half ? of_likely.load() : largest_by_tally(labels, graph, threads)};
}

namespace {

Result run_cc(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const int   threads    = thread_count(options.threads);
  const Form& form       = form_of(graph, values, options);
  Components  components = form.run(graph, options);
  Stopwatch   clock;
  Result      result;
  const auto  sizes = component_sizes(components.labels.span(), graph, threads);
  result.facts      = {{"components", sizes.components}, {"largest", sizes.largest}};
  if (is_left_to_method(values) && (needs_program(graph, options) || graph.pages()))
    result.facts.push_back({"form", std::string{form.name}});
  result.statistics = std::move(components.statistics);
  result.statistics.run_ms += clock.milliseconds();
  result.columns.push_back(
      {.name = "component", .values = std::move(components.labels).freeze(), .vertices = true});
  return result;
}

/// The oracle: sets that are merged arc by arc, the smaller into the larger, each with a list of its members.
std::vector<Vertex> labels_by_merging(const Graph& graph) {
  const std::uint64_t n = graph.vertex_count();
  std::vector<Vertex> set(n), next(n), last(n), size(n, 1), label(n);
  std::iota(set.begin(), set.end(), 0);
  std::iota(last.begin(), last.end(), 0);
  std::fill(next.begin(), next.end(), no_vertex);
  for (Vertex u = 0; u < n; ++u) {
    for (const Vertex v : graph.out().neighbors(u)) {
      Vertex into = set[u], from = set[v];
      if (into == from) continue;
      if (size[into] < size[from]) std::swap(into, from);
      for (Vertex member = from; member != no_vertex; member = next[member]) set[member] = into;
      next[last[into]] = from;
      last[into]       = last[from];
      size[into] += size[from];
    }
  }
  std::vector<Vertex> smallest(n, no_vertex);
  for (Vertex v = 0; v < n; ++v) smallest[set[v]] = std::min(smallest[set[v]], v);
  for (Vertex v = 0; v < n; ++v) label[v] = smallest[set[v]];
  return label;
}

/// What is wrong with one vertex; nothing if all is well.
std::string fault_at(const Graph& graph, std::span<const Vertex> labels, Vertex v) {
  const auto name = [&](Vertex u) { return graph.ids().name(u); };
  if (labels[v] > v) return fmt::format("vertex {}: the label is not the smallest of its component", name(v));
  if (labels[labels[v]] != labels[v])
    return fmt::format("vertex {}: its label {} is labelled otherwise", name(v), name(labels[v]));
  return {};
}

/// Neighbours with different labels; nothing if there are none.
std::string fault_of_arcs(const Graph& graph, std::span<const Vertex> labels, const VerifyOptions& options) {
  const auto  name = [&](Vertex u) { return graph.ids().name(u); };
  std::mutex  mutex;
  std::string fault;
  for_each_row(graph, options, [&](Vertex v, std::span<const Vertex> targets, const std::uint32_t*) {
    for (const Vertex target : targets) {
      if (labels[target] == labels[v]) continue;
      const std::scoped_lock lock{mutex};
      fault = fmt::format("vertices {} and {} are neighbours and have the labels {} and {}", name(v), name(target),
                          name(labels[v]), name(labels[target]));
      return;
    }
  });
  return fault;
}

/// Of a graph in pages, whose rows come once: how many components there are, by merging sets arc by arc.
std::uint64_t components_by_merging(const Graph& graph, const VerifyOptions& options) {
  const Buffer<Vertex> parent{graph.vertex_count(), graph.budget(), "verifying the components"};
  std::iota(parent.data(), parent.data() + parent.size(), Vertex{0});
  std::uint64_t components = graph.vertex_count();
  const auto    root       = [&](Vertex v) {
    for (; parent[v] != v; v = parent[v]) parent[v] = parent[parent[v]];
    return v;
  };
  for_each_row_alone(graph, options, [&](Vertex u, std::span<const Vertex> targets, const std::uint32_t*) {
    for (const Vertex v : targets) {
      const Vertex one = root(u), other = root(v);
      if (one == other) continue;
      parent[std::max(one, other)] = std::min(one, other);
      --components;
    }
  });
  return components;
}

std::string first_fault(const Graph& graph, std::span<const Vertex> labels, const VerifyOptions& options) {
  const std::uint64_t n = graph.vertex_count();
  std::string         fault;
  std::atomic<bool>   found{false};
  for_each_task(thread_count(options.threads), (n + items_a_task - 1) / items_a_task,
                [&](std::uint64_t task, int) {
                  if (options.progress) check_cancelled(*options.progress);
                  const std::uint64_t end = std::min(n, (task + 1) * items_a_task);
                  for (std::uint64_t v = task * items_a_task; v < end && !found; ++v) {
                    std::string here = fault_at(graph, labels, static_cast<Vertex>(v));
                    if (!here.empty() && !found.exchange(true)) fault = std::move(here);
                  }
                });
  return fault;
}

/// A vertex that its label cannot be reached from, against or along the arcs; no_vertex if there is none.
Vertex cut_off(const Graph& graph, std::span<const Vertex> labels) {
  const std::uint64_t  n = graph.vertex_count();
  const Buffer<Vertex> queue{n, graph.budget(), "verifying the components"};
  const Buffer<bool>   reached{n, graph.budget(), "verifying the components"};
  // Every arc of a symmetric graph has its reverse: its own rows are enough, and large graphs are checked in no
  // time.
  const PlainNeighbors neighbors = graph.symmetric() ? PlainNeighbors{} : both_ways(graph);
  std::uint64_t        filled    = 0;
  const auto           reach     = [&](Vertex v) {
    if (!reached[v]) queue[filled++] = v;
    reached[v] = true;
  };
  for (Vertex v = 0; v < n; ++v)
    if (labels[v] == v) reach(v);
  for (std::uint64_t i = 0; i < filled; ++i)
    if (graph.symmetric())
      std::ranges::for_each(graph.out().neighbors(queue[i]), reach);
    else
      std::ranges::for_each(neighbors.of(queue[i]), reach);
  for (Vertex v = 0; v < n; ++v)
    if (!reached[v]) return v;
  return no_vertex;
}

/// Labels that agree along every arc never part a component; that every vertex can be reached from a vertex that
/// is its own label, and so from the one label that its neighbours share, shows that none are merged.
std::string fault_by_properties(const Graph& graph, std::span<const Vertex> labels, const VerifyOptions& options) {
  const auto outside = std::find_if(labels.begin(), labels.end(), [&](Vertex l) { return l >= labels.size(); });
  if (labels.size() != graph.vertex_count())
    return fmt::format("component has {} entries, expected {}", labels.size(), graph.vertex_count());
  if (outside != labels.end()) return fmt::format("the label {} is no vertex", *outside);
  if (std::string fault = first_fault(graph, labels, options); !fault.empty()) return fault;
  if (std::string fault = fault_of_arcs(graph, labels, options); !fault.empty()) return fault;
  if (graph.pages()) {
    std::uint64_t own = 0;
    for (Vertex v = 0; v < labels.size(); ++v) own += labels[v] == v;
    const std::uint64_t components = components_by_merging(graph, options);
    return own == components ? "" : fmt::format("there are {} components, not {}", components, own);
  }
  const Vertex v = cut_off(graph, labels);
  if (v == no_vertex) return {};
  return fmt::format("vertex {} is not connected with its label {}", graph.ids().name(v),
                     graph.ids().name(labels[v]));
}

/// The facts, by a tally of the labels, which are known to be right.
std::string wrong_fact(const Graph& graph, std::span<const Vertex> labels, const Result& result) {
  const Buffer<Vertex> size{labels.size(), graph.budget(), "verifying the components"};
  for (const Vertex label : labels) ++size[label];
  const auto          sizes      = size.span();
  const auto          empty      = static_cast<std::uint64_t>(std::count(sizes.begin(), sizes.end(), Vertex{0}));
  const auto          components = sizes.size() - empty;
  const std::uint64_t largest    = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  if (fact_of<std::uint64_t>(result, "components") != components)
    return fmt::format("the number of components is not {}", components);
  if (fact_of<std::uint64_t>(result, "largest") != largest)
    return fmt::format("the largest component does not have {} vertices", largest);
  return {};
}

std::string fault_by_oracle(const Graph& graph, std::span<const Vertex> labels) {
  constexpr std::uint64_t bytes_a_vertex = 6 * sizeof(Vertex);
  Charge                  memory{graph.budget(), "verifying the components"};
  memory.raise_to(graph.vertex_count() * bytes_a_vertex);
  const std::vector<Vertex> expected = labels_by_merging(graph);
  return difference(graph, "component", labels, std::span<const Vertex>{expected});
}

Verdict verify_cc(const Graph& graph, const ParameterValues&, const Result& result, const VerifyOptions& options) {
  const std::span<const Vertex> labels = column_of<Vertex>(result, 0).span();
  const bool                    oracle = options.use_oracle(graph);
  Verdict                       verdict{.how = oracle ? by_oracle : by_properties, .problem = {}};
  verdict.problem = oracle ? fault_by_oracle(graph, labels) : fault_by_properties(graph, labels, options);
  if (verdict.problem.empty()) verdict.problem = wrong_fact(graph, labels, result);
  return verdict;
}

}  // namespace

Vertex frequent_label(std::span<const Vertex> labels) {
  constexpr std::uint64_t     samples = 1024;
  const RandomStream          random{1, RandomUse::samples};
  std::array<Vertex, samples> drawn;
  for (std::uint64_t i = 0; i < samples; ++i) drawn[i] = labels[random.below(i, labels.size())];
  std::sort(drawn.begin(), drawn.end());
  Vertex         best = drawn[0];
  std::ptrdiff_t most = 0;
  for (auto run = drawn.begin(); run != drawn.end();) {
    const auto end = std::upper_bound(run, drawn.end(), *run);
    if (end - run > most) {
      most = end - run;
      best = *run;
    }
    run = end;
  }
  return best;
}

Algorithm cc_algorithm() {
  return {.name    = "cc",
          .summary = "weakly connected components: directions do not count",
          .reference =
              "Sutton, Ben-Nun & Barak, Optimizing Parallel Graph Connectivity Computation via Subgraph "
              "Sampling, IPDPS 2018",
          .parameters     = {{.name = "form",
                              .help = "afforest: sampled union-find; propagate: the smallest label spreads; auto: "
                                          "propagate with methods that bring edges in parts, else afforest",
                              .default_value = "auto"}},
          .columns        = {{"component", "the smallest vertex of the component", ColumnOrder::by_group}},
          .on_gpu         = gpu::built,
          .vertex_program = false,
          .survives_split = true,
          .takes_lists    = true,
          .run            = run_cc,
          .plan           = plan_cc,
          .verify         = verify_cc,
          .aliases        = {"connected_components", "weakly_connected_components", "wcc", "components"}};
}

}  // namespace spillway
