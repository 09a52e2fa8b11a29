// How radius and reach are checked. The sketches are defined by their hash, which is written out here once more,
// in other words; what is made of them is computed by other means.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "algorithms/checking.hpp"
#include "algorithms/radius.hpp"
#include "algorithms/tolerances.hpp"
#include "generate/random.hpp"

#include <spillway/engine/memory.hpp>

namespace spillway {
namespace {

constexpr const char* verifying = "verifying the sketches";

/// SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014).
std::uint64_t finalised(std::uint64_t x) {
  x ^= x >> 30;
  x *= 13787848793156543929u;
  x ^= x >> 27;
  x *= 10723151780598845931u;
  return x ^ (x >> 31);
}

/// The strings of all vertices, 32 bits each.
class Sketches {
 public:
  Sketches(const Graph& graph, const Parameters& parameters)
      : count_(parameters.number("sketches", 8, 64)),
        strings_(graph.vertex_count() * count_, graph.budget(), verifying) {
    const std::uint64_t seed = parameters.number("seed", 0, UINT64_MAX);
    for (std::uint64_t v = 0; v < graph.vertex_count(); ++v)
      for (std::uint64_t i = 0; i < count_; ++i) {
        const std::uint64_t draw = finalised(finalised(seed + i) ^ (v + 11400714819323198485u));
        strings_[v * count_ + i] = 1u << std::min(std::countr_zero(draw), 31);
      }
  }

  std::span<std::uint32_t> of(std::uint64_t v) const { return strings_.span().subspan(v * count_, count_); }

 private:
  std::uint64_t         count_;
  Buffer<std::uint32_t> strings_;
};

/// Adds the bits; true if one was new.
bool join(std::span<std::uint32_t> strings, std::span<const std::uint32_t> others) {
  std::uint32_t added = 0;
  for (std::size_t i = 0; i < strings.size(); ++i) {
    added |= others[i] & ~strings[i];
    strings[i] |= others[i];
  }
  return added != 0;
}

/// Flajolet and Martin's estimate: 2 to the mean position of the lowest bit that is not set, corrected.
double estimate(std::span<const std::uint32_t> strings) {
  double lowest = 0;
  for (const std::uint32_t string : strings) lowest += std::countr_one(string);
  return std::pow(2.0, lowest / static_cast<double>(strings.size())) / 0.77351;
}

/// Where a curve through `totals`, one a step, comes to `wanted`.
double steps_to(double wanted, const std::vector<double>& totals) {
  const auto above = std::find_if(totals.begin(), totals.end(), [&](double total) { return total >= wanted; });
  if (above == totals.begin()) return 0;
  const double before = *(above - 1);
  return static_cast<double>(above - totals.begin()) - 1 + (wanted - before) / (*above - before);
}

/// Nine tenths of all pairs. Totals are sums over all vertices, taken in another order, and step by step: where
/// the curve is flat, what they have lost moves the place by more.
std::string diameter_problem(const Graph& graph, const Result& result, const std::vector<double>& totals) {
  const double stated    = fact_of<double>(result, effective_diameter_fact);
  const double roundings = static_cast<double>(graph.vertex_count() + totals.size());
  const double lost      = roundings * double_rounding * totals.back();
  const double least     = steps_to(0.9 * totals.back() - lost, totals);
  const double most      = steps_to(0.9 * totals.back() + lost, totals);
  if (near(std::clamp(stated, least, most), stated, diameter_tolerance)) return {};
  return fmt::format("the effective diameter is {}, expected {}", stated, steps_to(0.9 * totals.back(), totals));
}

/// The oracle: all strings of all vertices, step by step, over the arcs as they stand.
class AllSteps {
 public:
  AllSteps(const Graph& graph, const Parameters& parameters)
      : graph_(graph),
        now_(graph, parameters),
        then_(graph, parameters),
        radius_(graph.vertex_count(), graph.budget(), verifying),
        reach_(graph.vertex_count(), graph.budget(), verifying) {
    const std::uint64_t most = parameters.number("steps", 1, 1u << 30);
    totals_.push_back(total());
    for (std::uint32_t step = 1; step <= most && take(step); ++step) totals_.push_back(total());
  }

  std::string problem(const Result& result) const {
    const auto  radius  = column_of<std::uint32_t>(result, 0).span();
    const auto  reach   = column_of<double>(result, 1).span();
    std::string problem = difference<std::uint32_t, std::uint32_t>(graph_, "radius", radius, radius_.span());
    if (problem.empty())
      problem = difference<double, double>(graph_, "reach", reach, reach_.span(), reach_tolerance);
    return problem.empty() ? diameter_problem(graph_, result, totals_) : problem;
  }

 private:
  /// False if it brought nobody anything new.
  bool take(std::uint32_t step) {
    bool changed = false;
    for (Vertex u = 0; u < graph_.vertex_count(); ++u) {
      bool here = false;
      for (const Vertex v : graph_.out().neighbors(u)) here |= join(now_.of(u), then_.of(v));
      if (here) radius_[u] = step;
      changed |= here;
    }
    for (Vertex u = 0; u < graph_.vertex_count(); ++u) std::ranges::copy(now_.of(u), then_.of(u).begin());
    return changed;
  }

  double total() {
    double sum = 0;
    for (Vertex v = 0; v < graph_.vertex_count(); ++v) sum += reach_[v] = estimate(now_.of(v));
    return sum;
  }

  const Graph&          graph_;
  Sketches              now_, then_;
  Buffer<std::uint32_t> radius_;
  Buffer<double>        reach_;
  std::vector<double>   totals_;
};

/// One vertex at a time: everyone within h arcs of it has a part in its strings after h steps.
class Walks {
 public:
  Walks(const Graph& graph, const Parameters& parameters)
      : graph_(graph),
        steps_(parameters.number("steps", 1, 1u << 30)),
        sketches_(graph, parameters),
        last_walk_(graph.vertex_count(), graph.budget(), verifying),
        queue_(graph.vertex_count(), graph.budget(), verifying) {}

  struct Seen {
    std::uint32_t       radius = 0;
    std::vector<double> reach;  ///< after each step, up to the last that found a vertex
  };

  Seen from(Vertex source) {
    Seen                       seen;
    std::vector<std::uint32_t> strings(sketches_.of(source).begin(), sketches_.of(source).end());
    std::uint64_t              begin = 0, end = 0;
    ++walk_;
    seen.reach.push_back(estimate(strings));
    const auto enter = [&](Vertex v) {
      if (last_walk_[v] != walk_) queue_[end++] = v;
      last_walk_[v] = walk_;
    };
    enter(source);
    for (std::uint32_t step = 1; step <= steps_ && begin < end; ++step) {
      const std::uint64_t last = end;
      for (; begin < last; ++begin) {
        std::ranges::for_each(graph_.out().neighbors(queue_[begin]), enter);
        arcs_ += graph_.out().degree(queue_[begin]);
      }
      for (std::uint64_t i = last; i < end; ++i)
        if (join(strings, sketches_.of(queue_[i]))) seen.radius = step;
      seen.reach.push_back(estimate(strings));
    }
    return seen;
  }

  std::uint64_t arcs() const { return arcs_; }

 private:
  const Graph&          graph_;
  std::uint64_t         steps_;
  Sketches              sketches_;
  Buffer<std::uint32_t> last_walk_;
  Buffer<Vertex>        queue_;
  std::uint32_t         walk_ = 0;
  std::uint64_t         arcs_ = 0;
};

/// What was new to a vertex in its last step was new to one that it leads to in the step before; and where steps
/// did not run out, it reaches whatever that one does.
std::string arc_problem(const Graph& graph, const Result& result, bool complete) {
  const auto& radius = column_of<std::uint32_t>(result, 0);
  const auto& reach  = column_of<double>(result, 1);
  for (Vertex u = 0; u < graph.vertex_count(); ++u) {
    bool explained = radius[u] == 0;
    for (const Vertex v : graph.out().neighbors(u)) {
      explained = explained || radius[v] + 1 >= radius[u];
      if (complete && reach[u] < reach[v] - reach_tolerance.at(reach[v]))
        return fmt::format("vertex {} reaches less than {}, which it leads to", graph.ids().name(u),
                           graph.ids().name(v));
    }
    if (!explained)
      return fmt::format("vertex {} has radius {}, and nobody that it leads to has one less", graph.ids().name(u),
                         radius[u]);
  }
  return {};
}

/// Of all walks together, after each step. A walk that has ended stays where it is.
struct Totals {
  std::vector<double> after;
  double              ended = 0;

  void add(const std::vector<double>& reach) {
    if (after.size() < reach.size()) after.resize(reach.size(), ended);
    for (std::size_t i = 0; i < after.size(); ++i) after[i] += reach[std::min(i, reach.size() - 1)];
    ended += reach.back();
  }
};

/// Walks from as many vertices as there is time for, from one at least; from all, their totals tell the diameter.
std::string walk_problem(const Graph& graph, const Parameters& parameters, const Result& result,
                         const VerifyOptions& options) {
  const std::uint64_t n   = graph.vertex_count();
  const bool          all = n == 0 || n + graph.arc_count() <= options.oracle_arcs / n;
  const RandomStream  random{1, RandomUse::samples};
  Walks               walks{graph, parameters};
  Totals              totals;
  for (std::uint64_t i = 0; i < n && (i == 0 || all || walks.arcs() < options.oracle_arcs); ++i) {
    const auto v     = static_cast<Vertex>(all ? i : random.below(i, n));
    const auto walk  = walks.from(v);
    const auto found = column_of<std::uint32_t>(result, 0)[v];
    if (found != walk.radius)
      return fmt::format("vertex {}: radius is {}, expected {}", graph.ids().name(v), found, walk.radius);
    if (const double reach = column_of<double>(result, 1)[v]; !near(reach, walk.reach.back(), reach_tolerance))
      return fmt::format("vertex {}: reach is {}, expected {}", graph.ids().name(v), reach, walk.reach.back());
    totals.add(walk.reach);
  }
  return all && n > 0 ? diameter_problem(graph, result, totals.after) : std::string{};
}

std::string fault_by_properties(const Graph& graph, const Parameters& parameters, const Result& result,
                                const VerifyOptions& options) {
  const bool   complete = result.statistics.iterations < parameters.number("steps", 1, 1u << 30);
  const auto   radius   = column_of<std::uint32_t>(result, 0).span();
  const double most     = radius.empty() ? 0 : *std::max_element(radius.begin(), radius.end());
  const double stated   = fact_of<double>(result, effective_diameter_fact);
  if (!(stated >= 0 && stated <= most + diameter_tolerance.at(most)))
    return fmt::format("the effective diameter is {}, where no radius exceeds {}", stated, most);
  std::string problem = arc_problem(graph, result, complete);
  return problem.empty() ? walk_problem(graph, parameters, result, options) : problem;
}

}  // namespace

Verdict verify_radius(const Graph& graph, const ParameterValues& values, const Result& result,
                      const VerifyOptions& options) {
  const Parameters parameters{"radius", values};
  const bool       by_serial = options.use_oracle(graph);
  const auto       how       = by_serial ? by_oracle : by_properties;
  if (column_of<std::uint32_t>(result, 0).size() != graph.vertex_count() ||
      column_of<double>(result, 1).size() != graph.vertex_count())
    return {how, "a column has the wrong length"};
  if (!by_serial) return {how, fault_by_properties(graph, parameters, result, options)};
  return {how, AllSteps{graph, parameters}.problem(result)};
}

}  // namespace spillway
