#include "algorithms/graph_answers.hpp"

#include <algorithm>
#include <tuple>

#include <spillway/engine/parallel.hpp>
#include "algorithms/checking.hpp"
#include "base/fail.hpp"
#include "graph/csr.hpp"
#include "graph/symmetry.hpp"

namespace spillway {

VertexSet set_of(const Graph& graph, const std::vector<Vertex>& list) {
  VertexSet set{graph.vertex_count(), graph.budget()};
  for (const Vertex v : list) set.insert(v);
  set.close();
  return set;
}

std::vector<bool> plain_set_of(const Graph& graph, const std::vector<Vertex>& list) {
  std::vector<bool> set(graph.vertex_count());
  for (const Vertex v : list) set[v] = true;
  return set;
}

Result graph_result(Subgraph answer, double prepare_ms, double run_ms) {
  Result result;
  result.facts = {{"vertices", answer.graph.vertex_count()}, {"arcs", answer.graph.arc_count()}};
  result.graph = std::move(answer.graph);

  result.statistics.prepare_ms      = prepare_ms;
  result.statistics.run_ms          = run_ms;
  result.statistics.iterations      = 1;
  result.statistics.edges_processed = answer.edges_processed;
  return result;
}

namespace {

using PlainArc = std::tuple<Vertex, Vertex, std::uint32_t>;  ///< in the numbers of the whole graph

std::uint32_t weight_at(const Csr& csr, EdgeIndex i) { return csr.weights.empty() ? 0 : csr.weights[i]; }

/// The vertices of the answer under their numbers in the graph; by their names, so that those are checked too.
std::string find_members(const Graph& graph, const Graph& answer, const ExpectedGraph& expected,
                         std::vector<Vertex>& members) {
  for (Vertex v = 0; v < answer.vertex_count(); ++v) {
    const std::string name  = answer.ids().name(v);
    const auto        found = graph.ids().find(name, graph.vertex_count());
    if (!found) return fmt::format("vertex {} is not in the graph", name);
    if (!members.empty() && *found <= members.back()) return fmt::format("vertex {} is out of order", name);
    if (!expected.members[*found]) return fmt::format("vertex {} does not belong there", name);
    members.push_back(*found);
  }
  const auto count =
      static_cast<std::uint64_t>(std::count(expected.members.begin(), expected.members.end(), true));
  if (count != members.size()) return fmt::format("{} vertices, expected {}", members.size(), count);
  return {};
}

std::string described(const Graph& graph, const PlainArc& arc) {
  return fmt::format("the arc from {} to {}", graph.ids().name(std::get<0>(arc)),
                     graph.ids().name(std::get<1>(arc)));
}

EdgeIndex kept_arcs(const Graph& graph, const ExpectedGraph& expected) {
  EdgeIndex count = 0;
  for (Vertex v = 0; v < graph.vertex_count(); ++v)
    for (const Vertex target : graph.out().neighbors(v)) count += expected.keeps(v, target);
  return count;
}

// --- the oracle ---

std::string compare_arcs(const Graph& graph, const Graph& answer, const ExpectedGraph& expected,
                         const std::vector<Vertex>& members) {
  Charge          memory{graph.budget(), "verifying the result"};
  const EdgeIndex count = kept_arcs(graph, expected);
  memory.raise_to((count + answer.arc_count()) * sizeof(PlainArc));
  std::vector<PlainArc> wanted, found;
  wanted.reserve(count);
  found.reserve(answer.arc_count());
  const Csr& whole = graph.out();
  const Csr& part  = answer.out();
  for (Vertex v = 0; v < graph.vertex_count(); ++v)
    for (EdgeIndex i = whole.offsets[v]; i < whole.offsets[v + 1]; ++i)
      if (expected.keeps(v, whole.targets[i])) wanted.emplace_back(v, whole.targets[i], weight_at(whole, i));
  for (Vertex v = 0; v < answer.vertex_count(); ++v)
    for (EdgeIndex i = part.offsets[v]; i < part.offsets[v + 1]; ++i)
      found.emplace_back(members[v], members[part.targets[i]], weight_at(part, i));
  std::sort(wanted.begin(), wanted.end());
  std::sort(found.begin(), found.end());
  const auto [missing, extra] = std::mismatch(wanted.begin(), wanted.end(), found.begin(), found.end());
  if (missing == wanted.end() && extra == found.end()) return {};
  if (extra == found.end() || (missing != wanted.end() && *missing < *extra))
    return described(graph, *missing) + " is missing or has another weight";
  return described(graph, *extra) + " should not be there";
}

// --- properties ---

/// Arcs [begin, end) of a row that have the target of `begin`.
EdgeIndex end_of_run(const Csr& csr, EdgeIndex begin, EdgeIndex row_end) {
  EdgeIndex end = begin;
  while (end < row_end && csr.targets[end] == csr.targets[begin]) ++end;
  return end;
}

/// True when the graph has exactly the arcs [begin, end) of `part` between the two vertices.
bool same_run(const Csr& whole, Vertex source, Vertex target, const Csr& part, EdgeIndex begin, EdgeIndex end) {
  const auto row   = whole.neighbors(source);
  const auto equal = std::equal_range(row.begin(), row.end(), target);
  if (static_cast<EdgeIndex>(equal.second - equal.first) != end - begin) return false;
  if (part.weights.empty()) return true;
  const EdgeIndex first = whole.offsets[source] + static_cast<EdgeIndex>(equal.first - row.begin());
  return std::equal(part.weights.begin() + begin, part.weights.begin() + end, whole.weights.begin() + first);
}

std::string wrong_run(const Graph& graph, const Graph& answer, const ExpectedGraph& expected,
                      const std::vector<Vertex>& members) {
  const Csr& part = answer.out();
  for (Vertex v = 0; v < answer.vertex_count(); ++v) {
    for (EdgeIndex i = part.offsets[v]; i < part.offsets[v + 1];) {
      const EdgeIndex end    = end_of_run(part, i, part.offsets[v + 1]);
      const Vertex    target = members[part.targets[i]];
      if (!expected.keeps(members[v], target) || !same_run(graph.out(), members[v], target, part, i, end))
        return described(graph, {members[v], target, 0}) + " should not be there, or not so";
      i = end;
    }
  }
  return {};
}

std::string wrong_property(const Graph& graph, const Graph& answer, const ExpectedGraph& expected,
                           const std::vector<Vertex>& members) {
  if (auto problem = wrong_run(graph, answer, expected, members); !problem.empty()) return problem;
  const EdgeIndex count = kept_arcs(graph, expected);
  return count == answer.arc_count() ? "" : fmt::format("{} arcs, expected {}", answer.arc_count(), count);
}

// --- both ---

std::string wrong_frame(const Graph& graph, const Graph& answer, const Result& result,
                        const VerifyOptions& options) {
  const int threads = thread_count(options.threads);
  if (answer.weight_type() != graph.weight_type()) return "the weights are of another type";
  if (!rows_sorted(answer.out(), answer.weight_type(), threads)) return "its rows do not ascend";
  const Progress& progress = options.progress ? *options.progress : Progress::none();
  if (answer.symmetric() && find_lone_arc(answer.out(), threads, progress))
    return "it is said to be symmetric and is not";
  if (std::get<std::uint64_t>(result.facts.at(0).value) != answer.vertex_count() ||
      std::get<std::uint64_t>(result.facts.at(1).value) != answer.arc_count())
    return "the stated number of vertices or arcs is wrong";
  return {};
}

std::string problem_of(const Graph& graph, const Result& result, const VerifyOptions& options,
                       const ExpectedGraph& expected) {
  if (!result.graph) return "there is no graph";
  const Graph& answer = *result.graph;
  if (auto problem = wrong_frame(graph, answer, result, options); !problem.empty()) return problem;
  Charge memory{graph.budget(), "verifying the result"};
  memory.raise_to(2 * answer.vertex_count() * sizeof(Vertex));
  std::vector<Vertex> members;
  if (auto problem = find_members(graph, answer, expected, members); !problem.empty()) return problem;
  return options.use_oracle(graph) ? compare_arcs(graph, answer, expected, members)
                                   : wrong_property(graph, answer, expected, members);
}

}  // namespace

Verdict verify_graph(const Graph& graph, const Result& result, const VerifyOptions& options,
                     const ExpectedGraph& expected) {
  return {.how     = options.use_oracle(graph) ? by_oracle : by_properties,
          .problem = problem_of(graph, result, options, expected)};
}

}  // namespace spillway
