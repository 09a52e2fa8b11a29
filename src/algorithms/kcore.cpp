// Core numbers, or one k-core. The graph is taken as undirected and simple, whatever it was.
#include <atomic>
#include <mutex>
#include <numeric>

#include "algorithms/checking.hpp"
#include "algorithms/plain_rows.hpp"
#include "algorithms/programs/kcore.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/row_visits.hpp"

#include <spillway/run.hpp>

namespace spillway {
namespace {

/// 0: all cores.
std::uint32_t k_of(const ParameterValues& values) {
  const Parameters parameters{"kcore", values};
  return parameters.text("k") == "all" ? 0
                                       : static_cast<std::uint32_t>(parameters.number("k", 1, max_vertices - 1));
}

/// join(so far, entry) over all entries, a share a thread.
template <class Join>
std::uint64_t joined(std::span<const std::uint32_t> column, int threads, Join&& join) {
  std::vector<std::uint64_t> shares(static_cast<std::size_t>(threads));
  for_each_share(threads, column.size(), [&](std::uint64_t begin, std::uint64_t end, int thread) {
    std::uint64_t so_far = 0;
    for (const std::uint32_t entry : column.subspan(begin, end - begin)) so_far = join(so_far, entry);
    shares[static_cast<std::size_t>(thread)] = so_far;
  });
  return std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}, join);
}

Result all_cores(const Graph& graph, const RunOptions& options) {
  auto       outcome = run(AllCores{}, graph, options);
  const auto deepest = joined(std::get<0>(outcome.columns).span(), outcome.threads,
                              [](std::uint64_t most, std::uint64_t core) { return std::max(most, core); });
  Result     result;
  result.columns.push_back(outcome.column<0>("core"));
  result.facts      = {{"deepest core", deepest}};
  result.statistics = std::move(outcome.statistics);
  return result;
}

Result one_core(const Graph& graph, std::uint32_t k, const RunOptions& options) {
  auto       outcome = run(OneCore{k}, graph, options);
  const auto members = joined(std::get<0>(outcome.columns).span(), outcome.threads, std::plus<std::uint64_t>{});
  Result     result;
  result.columns.push_back(outcome.column<0>("member"));
  result.facts      = {{"members", members}};
  result.statistics = std::move(outcome.statistics);
  return result;
}

Result run_kcore(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const std::uint32_t k = k_of(values);
  return k == 0 ? all_cores(graph, options) : one_core(graph, k, options);
}

Plan plan_kcore(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const std::uint32_t k = k_of(values);
  return k == 0 ? plan_run(AllCores{}, graph, options) : plan_run(OneCore{k}, graph, options);
}

constexpr const char* verifying = "verifying the cores";

/// The oracle: vertices in an array sorted by degree, moved as degrees fall (Batagelj & Zaveršnik 2003), over
/// neighbours that it makes simple and undirected by itself.
class SerialCores {
 public:
  explicit SerialCores(const Graph& graph)
      : n_(static_cast<Vertex>(graph.vertex_count())),
        neighbors_(plain_neighbors(graph)),
        degree_(n_, graph.budget(), verifying),
        order_(n_, graph.budget(), verifying),
        place_(n_, graph.budget(), verifying) {
    std::uint32_t most = 0;
    for (Vertex v = 0; v < n_; ++v) {
      degree_[v] = static_cast<std::uint32_t>(neighbors_.of(v).size());
      most       = std::max(most, degree_[v]);
    }
    first_ = Buffer<Vertex>{std::uint64_t{most} + 2, graph.budget(), verifying};
    sort_by_degree();
    for (Vertex i = 0; i < n_; ++i) take_out(i);
  }

  std::span<std::uint32_t> cores() const { return degree_.span(); }

 private:
  void sort_by_degree() {
    for (Vertex v = 0; v < n_; ++v) ++first_[std::uint64_t{degree_[v]} + 1];
    std::partial_sum(first_.data(), first_.data() + first_.size(), first_.data());
    for (Vertex v = 0; v < n_; ++v) order_[place_[v] = first_[degree_[v]]++] = v;
    for (std::uint64_t d = first_.size() - 1; d > 0; --d) first_[d] = first_[d - 1];
    first_[0] = 0;
  }

  void take_out(Vertex i) {
    const Vertex v = order_[i];
    for (const Vertex u : neighbors_.of(v)) {
      if (degree_[u] <= degree_[v]) continue;
      const Vertex front = std::max(first_[degree_[u]], i + 1), w = order_[front];
      std::swap(order_[front], order_[place_[u]]);
      std::swap(place_[u], place_[w]);
      first_[degree_[u]] = front + 1;
      --degree_[u];
    }
  }

  const Vertex                n_;
  const PlainNeighbors        neighbors_;
  const Buffer<std::uint32_t> degree_;
  Buffer<Vertex>              first_;  ///< where each degree begins in the order
  const Buffer<Vertex>        order_, place_;
};

/// Vertices that leave one after the other.
class Peeling {
 public:
  explicit Peeling(const Graph& graph)
      : left_(graph.vertex_count(), graph.budget(), verifying),
        leaving_(graph.vertex_count(), graph.budget(), verifying) {}

  bool has_left(Vertex v) const { return left_[v]; }

  void let_go(Vertex v) {
    left_[v]           = true;
    leaving_[count_++] = v;
  }

  /// visit(vertex) for everyone who leaves, those included whom `visit` lets go. Returns how many they were.
  template <class Visit>
  std::uint64_t run(Visit&& visit) {
    for (std::uint64_t i = 0; i < count_; ++i) visit(leaving_[i]);
    return count_;
  }

 private:
  Buffer<bool>   left_;
  Buffer<Vertex> leaving_;
  std::uint64_t  count_ = 0;
};

/// Everyone has core(v) neighbours of at least its core, and removing those below some k one by one in the order
/// of their core never strands anyone above: each vertex has at most core(v) neighbours that leave with or after
/// it, which a peeling order shows.
std::string core_problem(const Graph& graph, std::span<const std::uint32_t> cores) {
  const Csr&                  simple = graph.simple();
  const auto                  n      = static_cast<Vertex>(simple.vertex_count());
  const Buffer<std::uint32_t> remaining{n, graph.budget(), verifying};
  for (Vertex v = 0; v < n; ++v) {
    for (const Vertex u : simple.neighbors(v)) remaining[v] += cores[u] >= cores[v];
    if (remaining[v] < cores[v])
      return fmt::format("vertex {} has {} neighbours in its core {}", graph.ids().name(v), remaining[v],
                         cores[v]);
  }
  // Peel each shell: everyone in it must go, or its members belong to a deeper core.
  Peeling peeling{graph};
  for (Vertex v = 0; v < n; ++v)
    if (remaining[v] <= cores[v]) peeling.let_go(v);
  const std::uint64_t gone = peeling.run([&](Vertex v) {
    for (const Vertex u : simple.neighbors(v))
      if (!peeling.has_left(u) && cores[u] == cores[v] && --remaining[u] <= cores[u]) peeling.let_go(u);
  });
  if (gone < n) return fmt::format("{} vertices belong to a deeper core than they are given", n - gone);
  return {};
}

/// Every member has k neighbours that are members, and no larger set has: of the others, all leave when those with
/// fewer than k neighbours do.
std::string member_problem(const Graph& graph, std::span<const std::uint32_t> members, std::uint32_t k) {
  const Csr&                  simple = graph.simple();
  const auto                  n      = static_cast<Vertex>(simple.vertex_count());
  const Buffer<std::uint32_t> remaining{n, graph.budget(), verifying};
  Peeling                     peeling{graph};
  for (Vertex v = 0; v < n; ++v) {
    std::uint64_t inside = 0;
    for (const Vertex u : simple.neighbors(v)) inside += members[u];
    if (members[v] > 1 || (members[v] == 1 && inside < k))
      return fmt::format("vertex {} is {} and has {} neighbours in the core of {}", graph.ids().name(v),
                         members[v], inside, k);
    remaining[v] = static_cast<std::uint32_t>(simple.degree(v));
    if (remaining[v] < k) peeling.let_go(v);
  }
  peeling.run([&](Vertex v) {
    for (const Vertex u : simple.neighbors(v))
      if (!peeling.has_left(u) && --remaining[u] < k) peeling.let_go(u);
  });
  for (Vertex v = 0; v < n; ++v)
    if (!peeling.has_left(v) && members[v] == 0)
      return fmt::format("vertex {} belongs to the core of {}", graph.ids().name(v), k);
  return {};
}

/// The same two properties, from pages.
class StreamedCores {
 public:
  StreamedCores(const Graph& graph, const VerifyOptions& options)
      : graph_(graph),
        threads_(thread_count(options.threads)),
        progress_(options.progress ? *options.progress : Progress::none()),
        rows_(*graph.simple_pages(threads_, progress_)),
        n_(static_cast<Vertex>(graph.vertex_count())),
        remaining_(n_, graph.budget(), verifying),
        left_(graph.vertex_count(), graph.budget()),
        leaving_(graph) {}

  std::string core_problem(std::span<const std::uint32_t> cores) {
    count([&](Vertex v, Vertex u) { return cores[u] >= cores[v]; });
    for (Vertex v = 0; v < n_; ++v) {
      if (remaining_[v] < cores[v])
        return fmt::format("vertex {} has {} neighbours in its core {}", graph_.ids().name(v), remaining_[v],
                           cores[v]);
      if (remaining_[v] == cores[v]) let_go(v);
    }
    peel([&](Vertex v, Vertex u) { return cores[u] == cores[v]; }, [&](Vertex u) { return cores[u]; });
    const std::uint64_t stay = staying([](Vertex) { return true; });
    if (stay > 0) return fmt::format("{} vertices belong to a deeper core than they are given", stay);
    return {};
  }

  std::string member_problem(std::span<const std::uint32_t> members, std::uint32_t k) {
    count([&](Vertex, Vertex u) { return members[u] == 1; });
    for (Vertex v = 0; v < n_; ++v)
      if (members[v] > 1 || (members[v] == 1 && remaining_[v] < k))
        return fmt::format("vertex {} is {} and has {} neighbours in the core of {}", graph_.ids().name(v),
                           members[v], remaining_[v], k);
    for (Vertex v = 0; v < n_; ++v) {
      remaining_[v] = static_cast<std::uint32_t>(rows_.offsets()[v + std::uint64_t{1}] - rows_.offsets()[v]);
      if (remaining_[v] < k) let_go(v);
    }
    peel([](Vertex, Vertex) { return true; }, [&](Vertex) { return k - 1; });
    const std::uint64_t stay = staying([&](Vertex v) { return members[v] == 0; });
    if (stay > 0) return fmt::format("{} vertices that are not members belong to the core of {}", stay, k);
    return {};
  }

 private:
  void let_go(Vertex v) {
    left_.insert(v);
    leaving_.add(v);
  }

  store::PageVisit how() const { return {threads_, "verifying", progress_, graph_.budget(), /*weighted=*/false}; }

  /// Of each vertex, the neighbours that counts(v, neighbour).
  template <class Counts>
  void count(Counts&& counts) {
    for_each_paged_row(rows_, how(), [&](Vertex v, std::span<const Vertex> neighbors, const std::uint32_t*) {
      std::uint32_t own = 0;
      for (const Vertex u : neighbors) own += counts(v, u);
      std::atomic_ref{remaining_[v]}.fetch_add(own, std::memory_order_relaxed);  // of a row in parts
    });
  }

  /// A neighbour that a vertex takes(v, neighbour) with it when it leaves has one less; with no more than bound(u)
  /// it leaves, too. One row at a time; pages are decoded on all threads.
  template <class Takes, class Bound>
  void peel(Takes&& takes, Bound&& bound) {
    std::mutex mutex;
    leaving_.visit(rows_, how(), [&](Vertex v, std::span<const Vertex> neighbors, const std::uint32_t*) {
      const std::scoped_lock lock{mutex};
      for (const Vertex u : neighbors)
        if (!left_.contains(u) && takes(v, u) && --remaining_[u] <= bound(u)) let_go(u);
    });
  }

  template <class Counts>
  std::uint64_t staying(Counts&& counts) const {
    std::uint64_t stay = 0;
    for (Vertex v = 0; v < n_; ++v) stay += !left_.contains(v) && counts(v);
    return stay;
  }

  const Graph&            graph_;
  int                     threads_;
  Progress&               progress_;
  const store::PagedRows& rows_;
  const Vertex            n_;
  Buffer<std::uint32_t>   remaining_;
  VertexSet               left_;
  AwaitedRows             leaving_;
};

std::string property_problem(const Graph& graph, std::span<const std::uint32_t> found, std::uint32_t k,
                             const VerifyOptions& options) {
  if (graph.pages()) {
    StreamedCores cores{graph, options};
    return k == 0 ? cores.core_problem(found) : cores.member_problem(found, k);
  }
  return k == 0 ? core_problem(graph, found) : member_problem(graph, found, k);
}

std::string fact_problem(const Result& result, std::uint32_t k) {
  const auto&         found = column_of<std::uint32_t>(result, 0);
  const std::uint64_t whole = k > 0           ? std::accumulate(found.begin(), found.end(), std::uint64_t{0})
                              : found.empty() ? 0
                                              : *std::max_element(found.begin(), found.end());
  const char* const   name  = k > 0 ? "members" : "deepest core";
  const auto          said  = fact_of<std::uint64_t>(result, name);
  return said == whole ? std::string{} : fmt::format("{} is {}, by the column it is {}", name, said, whole);
}

Verdict verify_kcore(const Graph& graph, const ParameterValues& values, const Result& result,
                     const VerifyOptions& options) {
  const std::uint32_t k         = k_of(values);
  const auto&         found     = column_of<std::uint32_t>(result, 0);
  const bool          by_serial = options.use_oracle(graph);
  const auto          how       = by_serial ? by_oracle : by_properties;
  if (found.size() != graph.vertex_count()) return {how, "the column has the wrong length"};
  if (std::string problem = fact_problem(result, k); !problem.empty()) return {how, problem};
  if (!by_serial) return {how, property_problem(graph, found.span(), k, options)};
  const SerialCores expected{graph};
  if (k > 0)
    for (std::uint32_t& core : expected.cores()) core = core >= k ? 1 : 0;
  return {how, difference<std::uint32_t, std::uint32_t>(graph, "core", found.span(), expected.cores())};
}

}  // namespace

Algorithm kcore_algorithm() {
  return {
      .name       = "kcore",
      .summary    = "core numbers: the largest k for which a vertex is in a k-core",
      .reference  = "Seidman: Network Structure and Minimum Degree, 1983; Dhulipala et al.: Julienne, SPAA 2017",
      .parameters = {{.name          = "k",
                      .help          = "all: core numbers; or a number: only which vertices are in that k-core",
                      .default_value = "all"}},
      .columns    = {{"core",
                      "the largest k for which it is in a k-core; with --k: member, 1 if it is in that core"}},
      .on_gpu     = gpu::built && has_device_code<AllCores>,
      .run        = run_kcore,
      .plan       = plan_kcore,
      .verify     = verify_kcore,
      .aliases    = {"core_number", "k_core"}};
}

}  // namespace spillway
