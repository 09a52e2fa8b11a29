// Betweenness centrality (Brandes 2001): for every source, path counts forwards and dependencies backwards over
// the same frontiers. Both phases choose push or pull by themselves, which is what makes Ligra's the fastest
// elsewhere (Shun & Blelloch, PPoPP 2013).
#include <algorithm>
#include <atomic>
#include <climits>
#include <numeric>
#include <random>
#include <unordered_map>

#include "algorithms/checking.hpp"
#include "algorithms/gpu/gpu.hpp"
#include "algorithms/path_counts.hpp"
#include "algorithms/programs/betweenness.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/several_runs.hpp"
#include "algorithms/tolerances.hpp"
#include "base/fail.hpp"
#include "base/text.hpp"
#include "graph/split.hpp"

#include <spillway/checkpoint.hpp>
#include <spillway/run.hpp>

namespace spillway {
namespace {

std::vector<Vertex> all_vertices(const Graph& graph) {
  std::vector<Vertex> all(graph.vertex_count());
  std::iota(all.begin(), all.end(), Vertex{0});
  return all;
}

/// The first `count` of all vertices, shuffled. Only those that the shuffle has moved are written down.
std::vector<Vertex> drawn(std::uint64_t count, std::uint64_t n, std::uint64_t seed) {
  std::mt19937_64                           random{seed};
  std::unordered_map<std::uint64_t, Vertex> moved;
  std::vector<Vertex>                       sources;
  const auto                                at = [&](std::uint64_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? static_cast<Vertex>(place) : found->second;
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t place = i + random() % (n - i);
    sources.push_back(at(place));
    moved[place] = at(i);
  }
  return sources;
}

/// Arcs that paths from all vertices lead over.
double work_of_all(const Graph& graph) {
  const auto n = static_cast<double>(graph.vertex_count());
  return n * (n + static_cast<double>(graph.arc_count()));
}

/// Hours of work, and estimates, must be asked for.
void refuse_long_work(const Graph& graph) {
  constexpr double most_work = std::uint64_t{1} << 31;  // some ten seconds on two cores
  constexpr double a_second  = 2e8;                     // arcs, measured there
  const double     work      = work_of_all(graph);
  if (work <= most_work) return;
  const double      seconds = work / a_second;
  const std::string time    = seconds < 120    ? fmt::format("{:.0f} seconds", seconds)
                              : seconds < 7200 ? fmt::format("{:.0f} minutes", seconds / 60)
                                               : fmt::format("{:.0f} hours", seconds / 3600);
  throw usage_error(
      "bc from all {} vertices follows some {:.1e} arcs (two cores take about {}); --sources N estimates from N "
      "vertices drawn at random, --source takes those that you name, --sources all takes all",
      with_commas(graph.vertex_count()), work, time);
}

struct Sources {
  std::vector<Vertex> vertices;
  bool                drawn = false;  ///< a sample of all, which the answer is an estimate from
};

Sources sources_of(const Graph& graph, const ParameterValues& values) {
  const Parameters   parameters{"bc", values};
  const std::string& sources = parameters.text("sources");
  if (parameters.text("source") != "auto") return {parameters.vertex_list(graph, "source")};
  if (sources == "auto") refuse_long_work(graph);
  if (sources == "auto" || sources == "all") return {all_vertices(graph)};
  const std::uint64_t count = parameters.number("sources", 1, max_vertices);
  if (count >= graph.vertex_count()) return {all_vertices(graph)};
  return {drawn(count, graph.vertex_count(), parameters.number("seed", 0, UINT64_MAX)), true};
}

/// Each of a sample stands for as many as there are for each of them.
double scale_of(const Graph& graph, const Sources& sources, const ParameterValues& values) {
  const auto   n     = static_cast<double>(graph.vertex_count());
  const double stand = sources.drawn ? n / static_cast<double>(sources.vertices.size()) : 1;
  if (!Parameters{"bc", values}.yes("normalized")) return stand;
  return n > 2 ? stand / ((n - 1) * (n - 2)) : 0;
}

bool beyond_count(double paths) { return std::isinf(paths); }
bool beyond_count(Large paths) { return paths == Large::highest(); }

template <class Count>
bool countable(const Buffer<Between<Count>>& values, int threads) {
  std::atomic<bool> countable{true};
  for_each_share(threads, values.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
    for (std::uint64_t v = begin; v < end; ++v)
      if (beyond_count(values[v].paths)) return countable.store(false, std::memory_order_relaxed);
  });
  return countable;
}

/// One source after the other, into one result.
class Centrality {
 public:
  Centrality(const Graph& graph, const RunOptions& options, bool keeps_iterations)
      : graph_(graph),
        options_(options),
        keeps_iterations_(keeps_iterations),
        doubles_count_(doubles_count(graph)),
        of_(graph.vertex_count(), graph.budget(), "the result") {}

  /// From all of them, one after the other; from a checkpoint on, where there is one.
  void add_all(std::span<const Vertex> sources) {
    if (options_.checkpoints) options_.checkpoints->begin_parts([this](StateExchange& with) { exchange(with); });
    if (added_ > sources.size()) refuse_checkpoint();
    const EndParts ending{options_.checkpoints};
    while (added_ < sources.size()) {
      add(sources[added_]);
      ++added_;
      if (options_.checkpoints) options_.checkpoints->end_part();
    }
  }

  Result result(double scale) && {
    for (double& value : of_.span()) value *= scale;
    Result result;
    result.statistics = std::move(statistics_);
    result.columns.push_back({.name = "centrality", .values = std::move(of_).freeze()});
    return result;
  }

  /// Along long paths, their number doubles with every step or two.
  static bool doubles_count(const Graph& graph) {
    return !has_long_paths(graph.vertex_count(), graph.arc_count());
  }

 private:
  /// Adds what paths from it contribute. Some graphs have more than a double can count: a grid has C(2000, 1000).
  void add(Vertex source) {
    if (has_tree_vertices(graph_)) return add_over_split(source);
    if (doubles_count_ && add_counted<double>(source)) return;
    if (!add_counted<Large>(source))
      throw bad_input("bc: there are more shortest paths from vertex {} than 2^8388607",
                      graph_.ids().name(source));
    doubles_count_ = false;  // and they hardly will from another source
  }

  /// Checkpoints may outlive this.
  struct EndParts {
    Checkpoints* of;
    ~EndParts() {
      if (of) of->end_parts();
    }
  };

  /// What the sources so far have come to.
  void exchange(StateExchange& with) {
    with.exchange(added_);
    with.exchange(doubles_count_);
    with.exchange(of_.data(), of_.size() * sizeof(double));
    for (std::uint64_t* const count :
         {&statistics_.iterations, &statistics_.edges_processed, &statistics_.bytes_read,
          &statistics_.pages_wanted, &statistics_.pages_read})
      with.exchange(*count);
  }

  /// False, and nothing added, if there are more paths than can be counted so.
  template <class Count>
  bool add_counted(Vertex source) {
    const int threads = thread_count(options_.threads);
    Schedule  levels;
    auto forward = run(PathCounts<Between<Count>>{source}, graph_, options_, {.record = &levels, .keep = true});
    add_statistics(statistics_, forward.statistics, keeps_iterations_);
    const bool on_host = !forward.resident && leaves_device_open(options_);  // where the values stay
    auto       backward =
        run(Dependencies<Count>{}, graph_, on_host ? gpu::without(options_) : options_,
            {.values = std::move(forward.values), .resident = std::move(forward.resident), .replay = &levels});
    add_statistics(statistics_, backward.statistics, keeps_iterations_);
    if (!countable(backward.values, threads)) return false;
    for_each_share(threads, of_.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      for (std::uint64_t v = begin; v < end; ++v)
        if (v != source) of_[v] += backward.values[v].dependency;
    });
    return true;
  }

  /// What is known of each vertex and each part of one after the way there: in whose turn it tells those before
  /// it.
  Buffer<SplitDependencies::Value> waiting(std::span<const AccumulativePathCounts::Value> counted) const {
    const SplitRows&     split   = *graph_.split();
    const int            threads = thread_count(options_.threads);
    const Buffer<Vertex> hops    = split.hops(threads);
    const std::uint64_t  most    = split.most_hops();
    std::uint64_t        levels  = 0;
    for (const auto& value : counted)
      if (value.level != no_level) levels = std::max<std::uint64_t>(levels, value.level);
    const std::uint64_t              last = levels * (most + 1) + most;
    Buffer<SplitDependencies::Value> values{counted.size(), graph_.budget(), "the values of the vertices"};
    if (last >= no_level)
      throw does_not_fit("bc: {} levels of trees of {} are more than can be numbered", levels, most);
    for_each_share(threads, counted.size(), [&](std::uint64_t begin, std::uint64_t end, int) {
      for (std::uint64_t v = begin; v < end; ++v) {
        const std::uint64_t within = split.form().in_edges ? most - hops[v] : hops[v];
        const std::uint64_t turn   = last - (std::uint64_t{counted[v].level} * (most + 1) + within);
        values[v]                  = {counted[v].paths, 0, counted[v].level, static_cast<std::uint32_t>(turn)};
      }
    });
    return values;
  }

  void add_over_split(Vertex source) {
    auto forward = run(AccumulativePathCounts{source}, graph_, options_, {.whole = true});
    add_statistics(statistics_, forward.statistics, keeps_iterations_);
    for (const auto& value : forward.values.span())
      if (beyond_count(value.paths))
        throw bad_input(
            "bc: there are more shortest paths from vertex {} than a 64-bit floating number can count; "
            "convert the graph with --split none",
            graph_.ids().name(source));
    auto values    = waiting(forward.values.span());
    forward.values = {};
    auto backward  = run(SplitDependencies{static_cast<Vertex>(graph_.vertex_count())}, graph_, options_,
                         {.values = std::move(values), .whole = true});
    add_statistics(statistics_, backward.statistics, keeps_iterations_);
    for (std::uint64_t v = 0; v < of_.size(); ++v)
      if (v != source) of_[v] += backward.values[v].dependency;
  }

  const Graph&      graph_;
  const RunOptions& options_;
  bool              keeps_iterations_;
  bool              doubles_count_;
  Buffer<double>    of_;
  std::uint64_t     added_ = 0;  ///< sources
  RunStatistics     statistics_;
};

std::string estimate_text(const Graph& graph, std::uint64_t sources) {
  return fmt::format("from {} of {} sources", with_commas(sources), with_commas(graph.vertex_count()));
}

/// What one source prepares, the others find, and the way back finds what the way there has.
RunOptions shared_by(RunOptions options, std::uint64_t sources) {
  constexpr std::uint64_t passes = 2;
  options.runs =
      static_cast<unsigned>(std::min<std::uint64_t>(passes * std::uint64_t{options.runs} * sources, UINT_MAX));
  return options;
}

Result run_bc(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Sources       sources = sources_of(graph, values);
  const std::uint64_t count   = sources.vertices.size();
  const RunOptions    shared  = shared_by(options, count);
  Centrality          centrality{graph, shared, count == 1};
  centrality.add_all(sources.vertices);
  Result result = std::move(centrality).result(scale_of(graph, sources, values));
  result.facts  = {{"sources", count}};
  if (sources.drawn) result.facts.push_back({"estimated", estimate_text(graph, count)});
  return result;
}

/// Of the forward run from the first source.
Plan plan_bc(const Graph& graph, const ParameterValues& values, const RunOptions& options) {
  const Sources sources = sources_of(graph, values);
  const Vertex  first   = sources.vertices.empty() ? 0 : sources.vertices.front();
  if (has_tree_vertices(graph))
    return plan_run(AccumulativePathCounts{first}, graph, shared_by(options, sources.vertices.size()));
  const auto plan = [&]<class Count>(Count) {
    Schedule         levels;
    const RunOptions shared = shared_by(options, sources.vertices.size());
    return plan_run(PathCounts<Between<Count>>{first}, graph, shared, {.record = &levels, .keep = true});
  };
  return Centrality::doubles_count(graph) ? plan(double{}) : plan(Large{});
}

/// The oracle: Brandes as published, one vertex at a time. What it finds is multiplied by `share`.
Buffer<double> serial_centrality(const Graph& graph, std::span<const Vertex> sources, double share) {
  const char* const    what = "verifying the centralities";
  Buffer<double>       centrality{graph.vertex_count(), graph.budget(), what};
  const Buffer<double> dependency{graph.vertex_count(), graph.budget(), what};
  for (const Vertex source : sources) {
    const SerialPathCounts counts{graph, source};
    std::fill_n(dependency.data(), dependency.size(), 0.0);
    for (std::size_t at = counts.order().size(); at-- > 1;) {  // the source itself comes first
      const Vertex u = counts.order()[at];
      for (const Vertex v : graph.out().neighbors(u))
        if (counts.levels()[v] == counts.levels()[u] + 1)
          dependency[u] += counts.paths()[u].over(counts.paths()[v]) * (1 + dependency[v]);
      centrality[u] += dependency[u];
    }
  }
  for (double& value : centrality.span()) value *= share;
  return centrality;
}

/// Every source can only add: what some of them give is a lower bound.
std::string bound_problem(const Graph& graph, std::span<const double> found, std::span<const double> least) {
  for (Vertex v = 0; v < graph.vertex_count(); ++v)
    if (!(found[v] >= least[v]) && !near(found[v], least[v], centrality_tolerance(graph)))
      return fmt::format("vertex {}: centrality is {}, and some of the sources alone give {}", graph.ids().name(v),
                         found[v], least[v]);
  return {};
}

/// As many sources as the oracle can walk from in the time it is given; where these are not all, from a few that
/// lie far apart in the list.
std::vector<Vertex> sources_to_check(const Graph& graph, const std::vector<Vertex>& sources,
                                     const VerifyOptions& options) {
  constexpr std::uint64_t a_few = 4;
  const std::uint64_t     work  = graph.arc_count() + graph.vertex_count();
  const std::uint64_t     most  = std::max(a_few, options.oracle_arcs / std::max<std::uint64_t>(work, 1));
  if (options.by == CheckBy::oracle || sources.size() <= most) return sources;
  std::vector<Vertex> some;
  for (std::uint64_t i = 0; i < most; ++i) some.push_back(sources[i * sources.size() / most]);
  return some;
}

/// As many as the parameters ask for, none of them twice.
std::string source_problem(const Graph& graph, const ParameterValues& values, std::vector<Vertex> sources) {
  const Parameters parameters{"bc", values};
  if (parameters.text("source") != "auto") return {};
  const std::uint64_t n      = graph.vertex_count();
  const bool          all    = parameters.text("sources") == "all" || parameters.text("sources") == "auto";
  const std::uint64_t wanted = all ? n : std::min(n, parameters.number("sources", 1, max_vertices));
  if (sources.size() != wanted) return fmt::format("{} sources, expected {}", sources.size(), wanted);
  std::sort(sources.begin(), sources.end());
  const bool distinct = std::adjacent_find(sources.begin(), sources.end()) == sources.end();
  return distinct ? std::string{} : "a source was drawn twice";
}

/// The ordered pairs of other vertices that centralities are shares of; with fewer than three vertices there are
/// none, and all centralities are 0. 1 where they are not to be divided.
double pairs_of(const Graph& graph, const ParameterValues& values) {
  const auto others = static_cast<double>(graph.vertex_count()) - 1;
  if (!Parameters{"bc", values}.yes("normalized") || others < 2) return 1;
  return others * (others - 1);
}

/// How many vertices each of a sample stands for.
double sample_weight(const Graph& graph, const ParameterValues& values) {
  const Parameters parameters{"bc", values};
  const auto       drawn = parse_number(parameters.text("sources"));
  if (parameters.text("source") != "auto" || !drawn || *drawn >= graph.vertex_count()) return 1;
  return static_cast<double>(graph.vertex_count()) / static_cast<double>(*drawn);
}

/// An estimate says that it is one, and nothing else does.
std::string estimate_problem(const Graph& graph, const ParameterValues& values, const Result& result,
                             std::uint64_t sources) {
  std::string stated, expected;
  for (const Fact& fact : result.facts)
    if (fact.name == "estimated") stated = std::get<std::string>(fact.value);
  if (sample_weight(graph, values) > 1)
    expected = "from " + with_commas(sources) + " of " + with_commas(graph.vertex_count()) + " sources";
  return stated == expected ? "" : fmt::format("estimated is said to be '{}', not '{}'", stated, expected);
}

Verdict verify_bc(const Graph& graph, const ParameterValues& values, const Result& result,
                  const VerifyOptions& options) {
  const auto asked   = sources_of(graph, values);
  const auto sources = asked.vertices;
  const auto checked = sources_to_check(graph, sources, options);
  const auto found   = column_of<double>(result, 0).span();
  const bool all     = checked.size() == sources.size();
  const auto how     = all ? std::string{by_oracle}
                           : fmt::format("lower bounds by {} of {} sources", checked.size(), sources.size());
  if (found.size() != graph.vertex_count()) return {how, "centrality has the wrong length"};
  if (fact_of<std::uint64_t>(result, "sources") != sources.size())
    return {how, fmt::format("the result is of {} sources, expected {}", fact_of<std::uint64_t>(result, "sources"),
                             sources.size())};
  if (std::string problem = source_problem(graph, values, sources); !problem.empty()) return {how, problem};
  if (std::string problem = estimate_problem(graph, values, result, sources.size()); !problem.empty())
    return {how, problem};
  const Buffer<double> expected =
      serial_centrality(graph, checked, sample_weight(graph, values) / pairs_of(graph, values));
  if (!all) return {how, bound_problem(graph, found, expected.span())};
  return {how,
          difference<double, double>(graph, "centrality", found, expected.span(), centrality_tolerance(graph))};
}

}  // namespace

Algorithm bc_algorithm() {
  return {
      .name       = "bc",
      .summary    = "betweenness centrality: the share of shortest paths through each vertex",
      .reference  = "Brandes: A Faster Algorithm for Betweenness Centrality, 2001",
      .parameters = {{.name = "source",
                      .help =
                          "paths from these vertices (a,b,c or @FILE; can be repeated); auto: --sources decides",
                      .default_value = "auto",
                      .kind          = ParameterKind::vertices},
                     {.name = "sources",
                      .help = "all: paths from all vertices; N: an estimate from N drawn at random; auto: "
                              "all, where that is a matter of seconds",
                      .default_value = "auto"},
                     {.name = "seed", .help = "of the random sources", .default_value = "1"},
                     {.name          = "normalized",
                      .help          = "divide by (n-1)(n-2)",
                      .default_value = "no",
                      .kind          = ParameterKind::flag}},
      .columns = {{"centrality", "share of shortest paths it is on, summed over ordered pairs of other vertices"}},
      .on_gpu  = gpu::built && has_device_code<Dependencies<double>>,
      .run     = run_bc,
      .plan    = plan_bc,
      .verify  = verify_bc,
      .aliases = {"betweenness", "betweenness_centrality"}};
}

}  // namespace spillway
