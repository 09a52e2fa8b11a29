// Whether verification can fail. Every registered algorithm's right answers are changed, one entry or one fact at
// a time, by ten times what a check allows (whole numbers by one, exact ones by their last bit), and the oracle
// and the property checks must both complain. An algorithm joins by registering.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "algorithms/pagerank_verify.hpp"
#include "algorithms/tolerances.hpp"
#include "algorithms/trying.hpp"
#include "support.hpp"
#include "zoo.hpp"

#include <spillway/engine/memory.hpp>
#include <spillway/generate.hpp>

namespace spillway {
namespace {

using testing::as_text;
using testing::filled;
using testing::variants_of;
using testing::with_weights_for;

struct Try {
  const Algorithm& algorithm;
  Graph            graph;
  ParameterValues  values;
};

/// Facts that nobody could check without computing the answer: what the last iteration of a run changed, where it
/// was cut short.
struct Exception {
  std::string algorithm, what, with;  ///< `with`: parameters
};

const std::vector<Exception> unknown_to_properties{
    {"bp", "change", "--iterations 4"},
    {"pagerank", "residual", "--form pull --iterations 7"},
    {"ppr", "residual", "--form pull --iterations 5"},
};

bool is_exception(const Try& at, const std::string& what, CheckBy by) {
  return by == CheckBy::properties && std::ranges::any_of(unknown_to_properties, [&](const Exception& exception) {
           return exception.algorithm == at.algorithm.name && exception.what == what &&
                  as_text(at.values).find(exception.with) != std::string::npos;
         });
}

// --- what checks allow ---

/// How far a right number at a vertex may be from the one expected there. Facts have no vertex.
using Allowed = std::function<double(double right, std::size_t v)>;

Allowed within(const Tolerance& tolerance) {
  return [tolerance](double right, std::size_t) { return tolerance.at(right); };
}

PageRankSettings settings_of(const Try& at) {
  return pagerank_settings(at.algorithm.name.c_str(), at.graph, at.values);
}

Vertex restart_of(const Try& at) {
  return at.algorithm.name == "ppr" ? Parameters{"ppr", at.values}.vertex(at.graph) : no_vertex;
}

bool converged(const Result& result) { return fact_of<std::string>(result, "converged") == "yes"; }

/// Properties look at what one more step changes; ranks are off by 1 / (1 - damping) times that at most.
Allowed allowed_rank(const Try& at, const Result& right, CheckBy by) {
  const PageRankSettings settings = settings_of(at);
  if (by == CheckBy::properties)
    return within({0, allowed_change(at.graph, settings, right) / (1 - settings.damping)});
  if (!settings.residual_form) return within(rank_tolerance(right.statistics.iterations));
  const auto limits = std::make_shared<RankLimits>(
      rank_limits(at.graph, restart_of(at), settings, fact_of<double>(right, "residual")));
  if (!converged(right)) return within({residual_form_tolerance.relative, limits->all_slack});
  return [limits](double rank, std::size_t v) { return limits->slack[v] + residual_form_tolerance.at(rank); };
}

Allowed allowed_residual(const Try& at, const Result& right, CheckBy by) {
  const PageRankSettings settings = settings_of(at);
  if (!settings.residual_form)
    return within({0, by == CheckBy::oracle ? rank_rounding(settings.damping) : settings.tolerance});
  if (by == CheckBy::properties && !converged(right)) return within({0, 1});
  const auto [least, most] = residual_range(at.graph, restart_of(at), settings, right);
  return within({0, most - least});
}

/// Properties know that beliefs sum to 1, and of changes only whether they are within the tolerance of the run.
Allowed allowed_belief(const Try& at, const std::string& what, CheckBy by) {
  if (by == CheckBy::oracle) return within(belief_tolerance(at.graph));
  if (what == "change") return within({0, Parameters{"bp", at.values}.real("tolerance", 0, 1)});
  return within(belief_sum_tolerance);
}

/// Exact unless the algorithm says otherwise.
Allowed allowed_of(const Try& at, const Result& right, const std::string& what, CheckBy by) {
  const std::string& name = at.algorithm.name;
  if (name == "bc") return within(centrality_tolerance(at.graph));
  if (name == "bp") return allowed_belief(at, what, by);
  if (what == "mean coefficient") return within(mean_coefficient_tolerance(at.graph.vertex_count()));
  if (what == "rank") return allowed_rank(at, right, by);
  if (what == "residual") return allowed_residual(at, right, by);
  if (what == "reach") return within(reach_tolerance);
  if (what == "effective diameter") return within(diameter_tolerance);
  if (what == "paths")
    return [&](double paths, std::size_t) { return path_count_tolerance(at.graph, paths).at(paths); };
  return within(exact);
}

// --- changing ---

void expect_complaint(const Try& at, const Result& wrong, const std::string& what, const std::string& how,
                      CheckBy by) {
  EXPECT_NE(at.algorithm.verify(at.graph, at.values, wrong, {.by = by, .threads = 1}).problem, "")
      << at.algorithm.name << as_text(at.values) << ": " << what << how << " went unnoticed by "
      << (by == CheckBy::oracle ? "the oracle" : "the properties");
}

constexpr double times_the_tolerance = 10;
enum class Way { up, down };

template <class Real>
Real changed(Real entry, double allowed, Way way) {
  const Real far = std::numeric_limits<Real>::infinity();
  if (entry == far) return 1;
  const double by    = (way == Way::up ? times_the_tolerance : -times_the_tolerance) * allowed;
  const auto   wrong = static_cast<Real>(static_cast<double>(entry) + by);
  return wrong != entry ? wrong : std::nextafter(entry, way == Way::up ? far : -far);
}

/// No right entry: a vertex is its own parent, label or colour, or is not, in one way only.
std::uint32_t other_vertex(std::uint32_t entry, std::size_t v) {
  return entry == v ? static_cast<std::uint32_t>(v == 0 ? 1 : 0) : static_cast<std::uint32_t>(v);
}

/// change(entries, v) for each entry, one at a time; false if it has nothing to change there.
template <class Change>
void change_columns(const Try& at, const Result& right, CheckBy by, const std::string& how, Change&& change) {
  for (std::size_t c = 0; c < right.columns.size(); ++c)
    std::visit(
        [&]<class T>(const Array<T>& entries) {
          const Column& column  = right.columns[c];
          const Allowed allowed = allowed_of(at, right, column.name, by);
          if (is_exception(at, column.name, by)) return;
          for (std::size_t v = 0; v < entries.size(); ++v) {
            std::vector<T> wrong{entries.begin(), entries.end()};
            if (!change(column, wrong, v, allowed)) continue;
            Result result            = right;
            result.columns[c].values = Array<T>::own(std::move(wrong));
            expect_complaint(at, result, column.name, how + at.graph.ids().name(static_cast<Vertex>(v)), by);
          }
        },
        right.columns[c].values);
}

void change_entries(const Try& at, const Result& right, CheckBy by, Way way) {
  change_columns(
      at, right, by, way == Way::up ? ", too much, of vertex " : ", too little, of vertex ",
      [&]<class T>(const Column& column, std::vector<T>& entries, std::size_t v, const Allowed& allowed) {
        if constexpr (std::is_floating_point_v<T>)
          entries[v] = changed(entries[v], allowed(static_cast<double>(entries[v]), v), way);
        else if constexpr (std::is_same_v<T, std::uint32_t>)
          entries[v] = column.vertices ? other_vertex(entries[v], v) : entries[v] + 1;
        else
          ++entries[v];
        return way == Way::up || std::is_floating_point_v<T>;
      });
}

/// What is no number, or has no end, is near nothing.
template <class Real>
bool spoil(Real& value, double with) {
  if (static_cast<double>(value) == with) return false;
  value = static_cast<Real>(with);
  return true;
}

void spoil_entries(const Try& at, const Result& right, CheckBy by, double with) {
  change_columns(at, right, by, " is " + std::to_string(with) + " of vertex ",
                 [&]<class T>(const Column&, std::vector<T>& entries, std::size_t v, const Allowed&) {
                   if constexpr (std::is_floating_point_v<T>) return spoil(entries[v], with);
                   return false;
                 });
  for (std::size_t f = 0; f < right.facts.size(); ++f) {
    Result wrong = right;
    auto*  value = std::get_if<double>(&wrong.facts[f].value);
    if (value != nullptr && spoil(*value, with))
      expect_complaint(at, wrong, right.facts[f].name, " is " + std::to_string(with), by);
  }
}

/// Sums stay as they are. Entries that a result may have either of are left alone, and so are parents: each may be
/// one of the other's.
void exchange_entries(const Try& at, const Result& right, CheckBy by) {
  change_columns(
      at, right, by, " of two vertices, exchanged at ",
      []<class T>(const Column& column, std::vector<T>& entries, std::size_t v, const Allowed& allowed) {
        if (v == 0 || column.name == "parent") return false;
        T &a = entries[v], &b = entries[v - 1];
        if (a == b) return false;
        if constexpr (std::is_floating_point_v<T>) {
          const auto   x = static_cast<double>(a), y = static_cast<double>(b);
          const double most = std::max(allowed(x, v), allowed(y, v - 1));
          if (std::abs(x - y) <= times_the_tolerance * most) return false;
        }
        std::swap(a, b);
        return true;
      });
}

void change_facts(const Try& at, const Result& right, CheckBy by, Way way) {
  for (std::size_t f = 0; f < right.facts.size(); ++f) {
    const Fact& fact = right.facts[f];
    if (is_exception(at, fact.name, by)) continue;
    Result wrong = right;
    std::visit(
        [&]<class T>(T& value) {
          if constexpr (std::is_same_v<T, double>)
            value = changed(value, allowed_of(at, right, fact.name, by)(value, 0), way);
          else if constexpr (std::is_same_v<T, std::string>)
            value = value == "yes" ? "no" : "yes";
          else
            ++value;
        },
        wrong.facts[f].value);
    expect_complaint(at, wrong, fact.name, way == Way::up ? ", a fact," : ", a fact, less,", by);
  }
}

/// One arc of the answer leads elsewhere.
void change_graph(const Try& at, const Result& right, CheckBy by) {
  if (!right.graph || right.graph->arc_count() == 0 || right.graph->vertex_count() < 2) return;
  const Csr&          csr = right.graph->out();
  std::vector<Vertex> targets{csr.targets.begin(), csr.targets.end()};
  targets[0] = (targets[0] + 1) % static_cast<Vertex>(right.graph->vertex_count());
  Graph::Parts parts;
  parts.out         = {csr.offsets, Array<Vertex>::own(std::move(targets)), csr.weights};
  parts.ids         = right.graph->ids();
  parts.weight_type = right.graph->weight_type();
  parts.symmetric   = right.graph->symmetric();
  parts.budget      = right.graph->budget();
  Result wrong      = right;
  wrong.graph       = Graph{std::move(parts)};
  expect_complaint(at, wrong, "graph", "", by);
}

/// Random graphs of each type of weight, small enough to change every entry of every column.
std::vector<Graph> small_graphs() {
  std::vector<Graph> graphs;
  for (const WeightType type : {WeightType::none, WeightType::u32, WeightType::f32})
    for (std::uint64_t seed = 0;; ++seed) {
      Graph graph = testing::random_graph(seed);
      if (graph.weight_type() != type || graph.vertex_count() < 10 || graph.vertex_count() > 40 ||
          graph.arc_count() < 2 * graph.vertex_count() || graph.arc_count() > 10 * graph.vertex_count())
        continue;
      graphs.push_back(std::move(graph));
      break;
    }
  return graphs;
}

class EveryVerification : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryVerification, NoticesWhatWasChanged) {
  const Algorithm& algorithm = algorithm_named(GetParam());
  for (const Graph& given : small_graphs()) {
    const Graph graph = with_weights_for(algorithm, given);
    for (const ParameterValues& variant : variants_of(algorithm.name)) {
      const Try    at{algorithm, graph, *filled(algorithm, graph, variant)};
      const Result right = algorithm.run(graph, at.values, {.threads = 1});
      for (const CheckBy by : {CheckBy::oracle, CheckBy::properties}) {
        ASSERT_EQ(algorithm.verify(graph, at.values, right, {.by = by}).problem, "");
        for (const Way way : {Way::up, Way::down}) {
          change_entries(at, right, by, way);
          change_facts(at, right, by, way);
        }
        for (const double with : {std::nan(""), HUGE_VAL, -HUGE_VAL}) spoil_entries(at, right, by, with);
        exchange_entries(at, right, by);
        change_graph(at, right, by);
      }
    }
  }
}

/// All but a little of a budget, for as long as this lives.
class Occupied {
 public:
  explicit Occupied(const std::shared_ptr<MemoryBudget>& budget) : budget_(budget) {
    constexpr std::uint64_t a_little = 4096;
    bytes_                           = budget->limit() - budget->used() - a_little;
    budget->take(bytes_, "a test");
  }
  Occupied(const Occupied&) = delete;
  ~Occupied() { budget_->give(bytes_); }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  std::uint64_t                 bytes_;
};

/// Property checks of these look at a few vertices, or at what they are given, and need no memory that grows.
const std::set<std::string> modest{"lcc"};

TEST_P(EveryVerification, CountsItsMemory) {
  const Algorithm& algorithm = algorithm_named(GetParam());
  const Graph      graph = with_random_weights(generate("uniform", {{"vertices", "20000"}, {"degree", "3"}}), 1);
  const ParameterValues values = *filled(algorithm, graph, {});
  const Result          result = algorithm.run(graph, values, {});
  graph.in(), graph.simple();
  const Occupied rest{graph.budget()};
  for (const CheckBy by : {CheckBy::oracle, CheckBy::properties}) {
    if (by == CheckBy::properties && modest.contains(algorithm.name)) continue;
    const auto verify = [&] { algorithm.verify(graph, values, result, {.by = by}); };
    EXPECT_EQ(testing::failure_of(verify).first, ExitCode::does_not_fit);
  }
}

/// What a graph makes of itself for a run is not for checking it: in-edges that are wrong would be wrong in both.
TEST_P(EveryVerification, MakesItsOwnInEdges) {
  const Algorithm& algorithm = algorithm_named(GetParam());
  const auto       fresh     = [] {
    return with_random_weights(generate("uniform", {{"vertices", "50"}, {"degree", "3"}}), 1);
  };
  const Graph           graph  = fresh();
  const ParameterValues values = *filled(algorithm, graph, {});
  const Result          result = algorithm.run(graph, values, {});
  for (const CheckBy by : {CheckBy::oracle, CheckBy::properties}) {
    const Graph again = fresh();
    EXPECT_EQ(algorithm.verify(again, values, result, {.by = by}).problem, "");
    EXPECT_FALSE(again.has_in());
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Algorithm& algorithm : algorithms()) all.push_back(algorithm.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryVerification, ::testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace spillway
